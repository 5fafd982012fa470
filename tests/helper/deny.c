/* needs:
 *
 *	deny <what>... -- <command...>
 *
 * Runs a command where some of the kernel cannot be had, as in a container:
 * "namespaces" (unshare, setns and clone with new ones: EPERM), "landlock"
 * (ENOSYS, an old kernel), "seccomp" (filters: EINVAL).
 */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>


static int deny_namespaces(scmp_filter_ctx c)
{
	static const unsigned long bit[] = {
		CLONE_NEWUSER, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWNS,
		CLONE_NEWPID, CLONE_NEWUTS
	};
	int ret = seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM),
				   SCMP_SYS(unshare), 0);

	ret |= seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(setns), 0);
	/* What it is asked for lies behind a pointer: as if there were none. */
	ret |= seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3),
				0);
	for (size_t i = 0; i < sizeof(bit) / sizeof(bit[0]); i++) {
		const struct scmp_arg_cmp first = {
			0, SCMP_CMP_MASKED_EQ, bit[i], bit[i]
		};

		ret |= seccomp_rule_add_array(c, SCMP_ACT_ERRNO(EPERM),
					      SCMP_SYS(clone), 1, &first);
	}
	return ret;
}

static int deny_landlock(scmp_filter_ctx c)
{
	return seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), 444, 0) |
		seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), 445, 0) |
		seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), 446, 0);
}

static int deny_seccomp(scmp_filter_ctx c)
{
	const struct scmp_arg_cmp first = {
		0, SCMP_CMP_EQ, PR_SET_SECCOMP, 0
	};

	return seccomp_rule_add(c, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(seccomp),
				0) |
		seccomp_rule_add_array(c, SCMP_ACT_ERRNO(EINVAL),
				       SCMP_SYS(prctl), 1, &first);
}

int main(int argc, char **argv)
{
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);
	int i, ret = c ? 0 : -1;

	for (i = 1; i < argc && strcmp(argv[i], "--") && !ret; i++) {
		if (!strcmp(argv[i], "namespaces"))
			ret = deny_namespaces(c);
		else if (!strcmp(argv[i], "landlock"))
			ret = deny_landlock(c);
		else if (!strcmp(argv[i], "seccomp"))
			ret = deny_seccomp(c);
		else
			ret = -1;
	}
	if (ret || i + 1 >= argc) {
		fputs("usage: deny <what>... -- <command...>\n", stderr);
		return 129;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || seccomp_load(c) < 0) {
		perror("deny");
		return 128;
	}
	seccomp_release(c);
	execvp(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	return 127;
}
