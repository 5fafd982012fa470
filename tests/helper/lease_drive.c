/* needs: core/oid.c core/dtype.c core/expr.c core/ini.c core/kernel*.c
 * core/record.c core/source.c core/sha1.c core/oidset.c core/repo*.c core/git.c
 * core/notes*.c core/json.c core/metrics*.c core/usage.c core/lesson.c core/prior.c core/graph.c core/store*.c
 * core/remote*.c core/share*.c core/incoming*.c core/lease*.c core/prune_names.c
 *
 * Leases for the shell tests.  lease_drive <remote> <command...>; plain lines
 * out, exit status 0, 1 ("no") or 128 with the message on stderr.
 *
 *	race <rounds> <contenders>	"<round> <contender>" of each win
 *	script <ttl> <step>...		steps of one holder, in one process:
 *		claim:<key> held:<key> drop:<key> release:<key>
 *		look renew sleep:<ms> wait-for:<file> touch:<file>
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/lease.h"
#include "core/mem.h"

#define SLUG "race-aaaaaa"

static struct err err;

static int failed(void)
{
	fprintf(stderr, "fatal: %s\n", err.msg);
	return 128;
}

static int begin(const char *remote, const char *worker, int ttl_s,
		 struct repo **repo, struct leases **l)
{
	struct remote_opts o = { .name = remote, .background = true,
				 .stop_fd = -1 };
	int ret = repo_open(repo, ".", &err);

	return ret ? ret : leases_open(*repo, &o, SLUG, worker, ttl_s, l, &err);
}

/* One contender: every round begins for all at once. */
static int contend(const char *remote, int rounds, int me,
		   pthread_barrier_t *barrier)
{
	struct repo *repo = NULL;
	struct leases *l = NULL;
	char *worker = xasprintf("host-%04x", (unsigned)me);
	int ret = begin(remote, worker, 900, &repo, &l);

	for (int i = 0; i < rounds; i++) {
		char *key = xasprintf("round-%d", i);

		pthread_barrier_wait(barrier);
		if (ret >= 0)
			ret = lease_claim(l, key, &err);
		if (ret == 1) {
			printf("%d %d\n", i, me);
			fflush(stdout);
		}
		free(key);
	}
	free(worker);
	return ret < 0 ? failed() : 0;
}

static int do_race(const char *remote, int rounds, int contenders)
{
	pthread_barrier_t *barrier;
	pthread_barrierattr_t attr;
	int bad = 0, status;

	barrier = mmap(NULL, sizeof(*barrier), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (barrier == MAP_FAILED)
		return 128;
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(barrier, &attr, (unsigned)contenders);
	for (int i = 0; i < contenders; i++)
		if (fork() == 0)
			_exit(contend(remote, rounds, i, barrier));
	while (wait(&status) > 0)
		bad |= status;
	return bad ? 128 : 0;
}

static void pause_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

/* 0, or 1 when a claim or "held" said no. */
static int step(struct leases *l, char *text)
{
	char *arg = strchr(text, ':');
	size_t lost = 0;
	FILE *f;
	int ret = 0;

	if (arg)
		*arg++ = '\0';
	if (!strcmp(text, "look")) {
		ret = leases_look(l, &err);
	} else if (!strcmp(text, "renew")) {
		ret = leases_renew(l, &lost, &err);
		printf("lost %zu\n", lost);
	} else if (!strcmp(text, "claim")) {
		ret = lease_claim(l, arg, &err);
		printf("claim %s %s\n", arg, ret == 1 ? "won" : "lost");
	} else if (!strcmp(text, "held")) {
		printf("%s %s\n", arg, lease_held(l, arg) ? "held" : "free");
	} else if (!strcmp(text, "release")) {
		ret = lease_release(l, arg, &err);
	} else if (!strcmp(text, "drop")) {
		lease_drop(l, arg);
	} else if (!strcmp(text, "sleep")) {
		pause_ms(strtol(arg, NULL, 10));
	} else if (!strcmp(text, "wait-for")) {
		while (access(arg, F_OK) != 0)
			pause_ms(20);
	} else if (!strcmp(text, "touch")) {
		f = fopen(arg, "w");
		if (f)
			fclose(f);
	} else {
		ret = err_set(&err, ERR_USAGE, "no step '%s'", text);
	}
	fflush(stdout);
	return ret;
}

static int do_script(const char *remote, int ttl_s, char **v, int nr)
{
	struct repo *repo = NULL;
	struct leases *l = NULL;
	char *worker = xasprintf("host-%04x", (unsigned)getpid() & 0xffff);
	int ret = begin(remote, worker, ttl_s, &repo, &l);

	/* A step that fails is told of; the rest goes on. */
	for (int i = 0; ret >= 0 && i < nr; i++)
		if (step(l, v[i]) < 0)
			printf("error: %s\n", err.msg);
	if (ret < 0)
		ret = failed();
	leases_close(l);
	repo_close(repo);
	free(worker);
	return ret;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[2], "race"))
		return do_race(argv[1], (int)strtol(argv[3], NULL, 10),
			       (int)strtol(argv[4], NULL, 10));
	if (argc > 4 && !strcmp(argv[2], "script"))
		return do_script(argv[1], (int)strtol(argv[3], NULL, 10),
				 argv + 4, argc - 4);
	fprintf(stderr, "usage: lease_drive <remote> race|script ...\n");
	return 129;
}
