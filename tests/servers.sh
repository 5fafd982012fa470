# Sourced by tests that need a Git remote: private servers of the current user
# on the loopback, on free ports, ended with the script.
#
#	bare_repo <dir>			the repository that they serve
#	start_git <base> || reason
#	start_http <base> [<user>:<password>] || reason
#	start_ssh <base> || reason
#
# Each sets URL to that of the base folder and adds to SERVERS; where it can't,
# it sets NO_SERVER to the reason and fails.  stop_servers ends them.

# shellcheck shell=sh disable=SC2034
SERVERS=
URL=
NO_SERVER=

stop_servers()
{
	for server in $SERVERS; do
		kill "$server" 2>/dev/null
		wait "$server" 2>/dev/null
	done
	SERVERS=
}

# bare_repo <dir>: takes pushes of all kinds
bare_repo()
{
	git init -q --bare "$1" && git -C "$1" config http.receivepack true
}

# A port that nobody listens on, as far as can be told.
free_port()
{
	perl -MIO::Socket::INET -e '
		$s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1:0")
			or exit 1;
		print $s->sockport'
}

# waits until <port> takes connections and <pid> lives
answers()
{
	tries=0
	while [ $tries -lt 100 ]; do
		kill -0 "$2" 2>/dev/null || return 1
		perl -MIO::Socket::INET -e '
			exit !IO::Socket::INET->new("127.0.0.1:" . shift)' "$1" &&
			return 0
		sleep 0.1
		tries=$((tries + 1))
	done
	return 1
}

# started <name> <port>: the last background process is that server
started()
{
	if answers "$2" $!; then
		SERVERS="$SERVERS $!"
		return 0
	fi
	kill $! 2>/dev/null
	NO_SERVER="$1 did not start"
	return 1
}

no_program()
{
	command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] && return 1
	NO_SERVER="there is no $1"
}

start_git()
{
	[ -x "$(git --exec-path)/git-daemon" ] || {
		NO_SERVER='there is no git daemon'
		return 1
	}
	port=$(free_port) || return 1
	# Not through git: its wrapper would be what is ended.
	"$(git --exec-path)/git-daemon" --reuseaddr --listen=127.0.0.1 \
		--port="$port" --base-path="$1" --export-all \
		--enable=receive-pack --informative-errors "$1" \
		</dev/null >"$1/git-daemon.log" 2>&1 &
	URL=git://127.0.0.1:$port
	started 'git daemon' "$port"
}

start_http()
{
	no_program lighttpd && return 1
	port=$(free_port) || return 1
	: >"$1/lighttpd.auth"
	[ -z "${2-}" ] || {
		printf '%s\n' "$2" >"$1/lighttpd.users"
		cat >"$1/lighttpd.auth" <<-END
		server.modules += ( "mod_auth", "mod_authn_file" )
		auth.backend = "plain"
		auth.backend.plain.userfile = "$1/lighttpd.users"
		auth.require = ( "" => ( "method" => "basic",
			"realm" => "search", "require" => "valid-user" ) )
		END
	}
	cat >"$1/lighttpd.conf" <<-END
	server.modules = ( "mod_cgi", "mod_alias", "mod_setenv" )
	include "lighttpd.auth"
	server.document-root = "$1"
	server.bind = "127.0.0.1"
	server.port = $port
	server.errorlog = "$1/lighttpd.log"
	server.upload-dirs = ( "$1" )
	\$HTTP["url"] =~ "^/git/" {
		alias.url = ( "/git" => "$(git --exec-path)/git-http-backend" )
		cgi.assign = ( "" => "" )
		setenv.add-environment = (
			"GIT_PROJECT_ROOT" => "$1",
			"GIT_HTTP_EXPORT_ALL" => "1",
			"HOME" => "$HOME",
			"REMOTE_USER" => "somebody"
		)
	}
	END
	PATH=$PATH:/usr/sbin lighttpd -D -f "$1/lighttpd.conf" \
		</dev/null >"$1/lighttpd.out" 2>&1 &
	URL=http://127.0.0.1:$port/git
	started lighttpd "$port"
}

# The client's side is in <base>/ssh_config: core.sshCommand = "ssh -F ..."
start_ssh()
{
	no_program sshd && return 1
	no_program ssh && return 1
	[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd 2>/dev/null || {
		NO_SERVER='sshd has no folder to separate privileges in'
		return 1
	}
	port=$(free_port) || return 1
	ssh-keygen -q -t ed25519 -N '' -f "$1/host_key" &&
		ssh-keygen -q -t ed25519 -N '' -f "$1/user_key" &&
		cp "$1/user_key.pub" "$1/authorized_keys" || return 1
	printf '[127.0.0.1]:%s %s\n' "$port" \
		"$(cut -d' ' -f1,2 "$1/host_key.pub")" >"$1/known_hosts"
	cat >"$1/sshd_config" <<-END
	ListenAddress 127.0.0.1:$port
	HostKey $1/host_key
	PidFile none
	AuthorizedKeysFile $1/authorized_keys
	StrictModes no
	PermitRootLogin yes
	PasswordAuthentication no
	KbdInteractiveAuthentication no
	UsePAM no
	END
	cat >"$1/ssh_config" <<-END
	Host search-host
		HostName 127.0.0.1
		Port $port
		User $(id -un)
		IdentityFile $1/user_key
		IdentitiesOnly yes
		UserKnownHostsFile $1/known_hosts
		ControlMaster auto
		ControlPath $1/master-%C
		ControlPersist 60
	END
	/usr/sbin/sshd -D -e -f "$1/sshd_config" \
		</dev/null >"$1/sshd.log" 2>&1 &
	URL=ssh://search-host$1
	started sshd "$port" || return 1
	ssh -F "$1/ssh_config" search-host true >/dev/null 2>&1 && return 0
	NO_SERVER='sshd lets nobody in here'
	return 1
}
