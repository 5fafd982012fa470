#!/bin/sh
# Finds what the build and the tests need and this machine lacks, and installs
# it through apt-get.  Where that can't be done it names the packages.
set -u

PKG_CONFIG=${PKG_CONFIG:-pkg-config}
apt='' dnf='' lacks=''

missing()	# <what> <apt package> <dnf package>
{
	lacks="$lacks $1"
	apt="$apt $2"
	dnf="$dnf $3"
}

command_()	# <command> <apt package> <dnf package>
{
	command -v "$1" >/dev/null 2>&1 || missing "$@"
}

# Servers stand where the path of a user may not lead.
server_()	# <command> <apt package> <dnf package>
{
	[ -x "/usr/sbin/$1" ] || command_ "$@"
}

library()	# <pkg-config name> <apt package> <dnf package>
{
	$PKG_CONFIG --exists "$1" 2>/dev/null || missing "$@"
}

# The sanitizers' libraries of the clang that is here, or will be.
clang_runtime()
{
	if command -v clang >/dev/null 2>&1; then
		ls "$(clang -print-resource-dir)"/lib/*/libclang_rt.asan*.a \
			>/dev/null 2>&1 && return
		version=$(clang -dumpversion)
	else
		version=$(apt-cache depends clang 2>/dev/null |
			sed -n 's/.*Depends: clang-\([0-9][0-9]*\)$/\1/p')
	fi
	version=${version%%.*}
	missing libclang_rt "libclang-rt-${version:-14}-dev" compiler-rt
}

find_missing()
{
	apt='' dnf='' lacks=''
	command_ gcc gcc gcc
	[ -f /usr/include/stdio.h ] ||
		missing stdio.h libc6-dev glibc-devel
	command_ clang clang clang
	clang_runtime
	command_ make make make
	command_ "${PKG_CONFIG%% *}" pkg-config pkgconf-pkg-config
	command_ git git git
	command_ prove perl perl-Test-Harness
	command_ mandoc mandoc mandoc
	command_ man man-db man-db
	command_ shellcheck shellcheck ShellCheck
	command_ bash bash bash
	command_ ssh openssh-client openssh-clients
	server_ sshd openssh-server openssh-server
	server_ lighttpd lighttpd lighttpd
	[ -f /usr/share/bash-completion/bash_completion ] ||
		missing bash_completion bash-completion bash-completion
	set -- libgit2 libcjson sqlite3 libseccomp
	[ -z "${WITH_CURL-yes}" ] || set -- "$@" libcurl
	[ -z "${WITH_SSH-yes}" ] || set -- "$@" libssh2
	$PKG_CONFIG --exists "$@" 2>/dev/null && return
	library libgit2 libgit2-dev libgit2-devel
	library libcjson libcjson-dev cjson-devel
	library sqlite3 libsqlite3-dev sqlite-devel
	library libseccomp libseccomp-dev libseccomp-devel
	[ -z "${WITH_CURL-yes}" ] ||
		library libcurl libcurl4-openssl-dev libcurl-devel
	[ -z "${WITH_SSH-yes}" ] ||
		library libssh2 libssh2-1-dev libssh2-devel
}

# The words that run a command as root; fails where there are none.
find_root()
{
	as_root=
	[ "$(id -u)" -ne 0 ] || return 0
	command -v sudo >/dev/null 2>&1 || return 1
	as_root='sudo -n'
	sudo -n true 2>/dev/null && return 0
	as_root=sudo
	[ -t 0 ] && [ -t 2 ]
}

apt_get()
{
	# shellcheck disable=SC2086
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" >&2
}

# shellcheck disable=SC2086
install_missing()
{
	command -v apt-get >/dev/null 2>&1 && find_root || return 1
	echo "installing:$apt" >&2
	apt_get install --no-install-recommends $apt && return 0
	apt_get update && apt_get install --no-install-recommends $apt
}

find_missing
[ -n "$lacks" ] || exit 0
install_missing && find_missing
[ -n "$lacks" ] || exit 0
echo "missing:$lacks" >&2
echo "on Debian and Ubuntu: apt-get install$apt" >&2
echo "on Fedora: dnf install$dnf" >&2
exit 1
