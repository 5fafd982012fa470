# bash completion for git maxkernel.  Git's own completion loads this file and
# calls _git_maxkernel; the names come from the program and the repository.
# shellcheck shell=bash disable=SC2154

# Names of the kernels of `.maxkernel`; with $1, each followed by it too.
__git_maxkernel_kernels ()
{
	local top
	top=$(__git rev-parse --show-toplevel 2>/dev/null) || return
	git config -f "$top/.maxkernel" --name-only \
		--get-regexp '^kernel\..*\.entry$' 2>/dev/null |
		sed -n "s/^kernel\\.\\(.*\\)\\.entry\$/\\1${1-}/p"
}

# Slugs of the searches that are here.
__git_maxkernel_searches ()
{
	__git for-each-ref --format='%(refname:lstrip=2)' \
		'refs/maxkernel/*/spec' | sed 's,/spec$,,'
}

# The word after "maxkernel" that is neither an option nor an option's value.
__git_maxkernel_command ()
{
	local i
	for ((i = 1; i < cword; i++)); do
		[ "${words[i]}" = maxkernel ] && break
	done
	for ((i++; i < cword; i++)); do
		case ${words[i]} in
		-C) ((i++)) ;;
		-*) ;;
		*)
			echo "${words[i]}"
			return
			;;
		esac
	done
}

_git_maxkernel ()
{
	local command
	command=$(__git_maxkernel_command)
	if [ -z "$command" ]; then
		case $cur in
		-*) __gitcomp "-C -h --help --version" ;;
		*) __gitcomp "$(git maxkernel --list-commands 2>/dev/null)" ;;
		esac
		return
	fi
	case $cur in
	--policy=*)
		__gitcomp "adaptive greedy beam learn evolve hybrid bestofn \
			parallel" "" "${cur#--policy=}"
		return
		;;
	--branches=*)
		[ "$command" != push ] ||
			__gitcomp "best beam none" "" "${cur#--branches=}"
		return
		;;
	--remote=* | --push=*)
		__gitcomp_nl "$(__git remote)" "" "${cur#--*=}"
		return
		;;
	--search=*)
		__gitcomp_nl "$(__git_maxkernel_searches)" "" "${cur#--search=}"
		return
		;;
	-*)
		__gitcomp "$(git maxkernel "$command" \
			--git-completion-helper 2>/dev/null)"
		return
		;;
	esac
	case $prev in
	--by)
		__gitcomp "search agent model node"
		return
		;;
	--policy)
		__gitcomp "adaptive greedy beam learn evolve hybrid bestofn \
			parallel"
		return
		;;
	--branches)
		if [ "$command" = push ]; then
			__gitcomp "best beam none"
			return
		fi
		;;
	--search)
		__gitcomp_nl "$(__git_maxkernel_searches)"
		return
		;;
	esac
	case $command in
	resume | halt | status | graph | frontier | cost)
		__gitcomp_nl "$(__git_maxkernel_kernels
			__git_maxkernel_searches)"
		;;
	audit | explore | measure | best)
		__gitcomp "$(__git_maxkernel_kernels)"
		;;
	log)
		__gitcomp_nl "$(__git_maxkernel_kernels
			__git_maxkernel_searches)"
		;;
	show | diff | pick | verify | tune)
		__gitcomp_nl "$(__git_maxkernel_kernels @best
			__git_maxkernel_kernels @root
			__git for-each-ref --format='%(refname:short)' \
				refs/heads/maxkernel/)"
		;;
	hook)
		case $prev in
		hook) __gitcomp "install remove run" ;;
		run) __gitcomp "pre-push pre-receive" ;;
		esac
		;;
	knowledge)
		[ "$prev" != knowledge ] || __gitcomp "search list show add \
			learn lessons forget"
		;;
	worker)
		__gitcomp_nl "$(__git remote)"
		;;
	push | pull)
		if [ "$prev" = "$command" ]; then
			__gitcomp_nl "$(__git remote)"
		else
			__gitcomp_nl "$(__git for-each-ref \
				--format='%(refname:lstrip=2)' \
				'refs/maxkernel/*/spec' | sed 's,/spec$,,')"
		fi
		;;
	prune)
		__gitcomp_nl "$(__git for-each-ref \
			--format='%(refname:lstrip=2)' 'refs/maxkernel/*/spec' |
			sed 's,/spec$,,')"
		;;
	merge)
		__gitcomp_nl "$(__git for-each-ref \
			--format='%(refname:lstrip=2)' 'refs/maxkernel/*/spec' |
			sed 's,/spec$,,'
			__git for-each-ref --format='%(refname:short)' \
				refs/heads/maxkernel/)"
		;;
	add)
		COMPREPLY=()	# bash completes file names
		;;
	esac
}
