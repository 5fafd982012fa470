/* Searches: finding, opening, claiming and creating them. */
#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/store_parts.h"

#define SLUG_NAME 30		/* characters of the kernel's name */
#define LOOKS 5			/* tries to claim what another looks at */
#define LOOK_MS 10

/* ---- one that is open ---- */

static int search_new(struct repo *r, struct spec *spec,
		      const struct oid *commit, struct search **out,
		      struct err *err)
{
	struct search *s = xcalloc(1, sizeof(*s));
	char hash[13];

	s->claim_fd = -1;
	s->repo = r;
	s->spec_commit = *commit;
	spec_copy(&s->spec, spec);
	store_section_hash(spec->section, hash);
	s->section_hash = xstrdup(hash);
	if (store_worker(r, &s->worker, err) < 0) {
		store_close(s);
		return err->code;
	}
	*out = s;
	return 0;
}

/* Whoever looks if the search runs has its file for a moment. */
static bool take(int fd)
{
	bool taken = !flock(fd, LOCK_EX | LOCK_NB);

	for (int i = 0; i < LOOKS && !taken; i++) {
		poll(NULL, 0, LOOK_MS);
		taken = !flock(fd, LOCK_EX | LOCK_NB);
	}
	return taken;
}

/* One slot of a search; the first has the plain name. */
static int claim(struct search *s, int slot, struct err *err)
{
	char *number = slot > 1 ? xasprintf(".%d", slot) : xstrdup("");
	char *path = xasprintf("%smaxkernel/log/%s%s.lock",
			       repo_gitdir(s->repo), s->spec.slug, number);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);

	free(number);
	if (fd < 0) {
		err_sys(err, "cannot create '%s'", path);
	} else if (!take(fd)) {
		err_set(err, ERR_RACE, "another process works on search %s: "
			"wait for its end, or stop it with 'git maxkernel halt "
			"%s'", s->spec.slug, s->spec.slug);
		close(fd);
		fd = -1;
	}
	free(path);
	if (fd < 0)
		return err->code;
	s->claim_fd = fd;
	s->slot = slot;
	return 0;
}

int store_claim(struct search *s, struct err *err)
{
	return s->claim_fd >= 0 ? 0 : claim(s, 1, err);
}

int store_claim_slot(struct search *s, struct err *err)
{
	int slot = 1, ret = store_claim(s, err);
	char *worker;

	while (ret == ERR_RACE && slot < STORE_MAX_SLOTS)
		ret = claim(s, ++slot, err);
	if (ret || slot == 1)
		return ret;
	err->code = ERR_NONE;
	worker = xasprintf("%s-%d", s->worker, slot);
	free(s->worker);
	s->worker = worker;
	return 0;
}

void store_close(struct search *s)
{
	if (!s)
		return;
	store_tidy(s, true);
	if (s->claim_fd >= 0)
		close(s->claim_fd);
	judged_free(s->judged);
	free(s->ledger);
	ledger_release_paid(s);
	spec_release(&s->spec);
	free(s->worker);
	free(s->section_hash);
	free(s);
}

/* ---- finding searches ---- */

static int slug_of_ref(void *ctx, const char *name, const struct oid *id)
{
	struct strv *slugs = ctx;
	const char *slug = name + strlen("refs/maxkernel/");
	const char *slash = strchr(slug, '/');

	(void)id;
	if (slash && !strcmp(slash, "/spec"))
		strv_pushf(slugs, "%.*s", (int)(slash - slug), slug);
	return 0;
}

int store_open(struct repo *r, const char *slug, struct search **out,
	       struct err *err)
{
	struct strv slugs = STRV_INIT;
	const char *found = NULL;
	struct spec spec;
	struct oid commit;
	int nr = 0, ret;

	*out = NULL;
	ret = repo_ref_each(r, "refs/maxkernel/", slug_of_ref, &slugs, err);
	if (!ret && strv_has(&slugs, slug))
		found = slug;
	for (size_t i = 0; !ret && !found && i < slugs.nr; i++)
		if (*slug && !strncmp(slugs.v[i], slug, strlen(slug)))
			nr++;
	for (size_t i = 0; nr == 1 && !found; i++)
		if (!strncmp(slugs.v[i], slug, strlen(slug)))
			found = slugs.v[i];
	if (!ret && nr > 1)
		ret = err_set(err, ERR_FORMAT, "'%s' could be any of %d "
			      "searches", slug, nr);
	else if (!ret && !found)
		ret = err_set(err, ERR_NOTFOUND, "there is no search '%s'",
			      slug);
	if (!ret)
		ret = store_spec_read(r, found, &spec, &commit, err);
	if (!ret) {
		ret = search_new(r, &spec, &commit, out, err);
		spec_release(&spec);
	}
	strv_release(&slugs);
	return ret;
}

static int newest_first(const void *a, const void *b)
{
	const struct spec *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? 1 : -1;
	return strcmp(x->slug, y->slug);
}

int store_list(struct repo *r, struct spec_list *out, struct strv *warn,
	       struct err *err)
{
	struct strv slugs = STRV_INIT;
	struct spec spec;
	struct oid commit;
	struct err why;
	int ret;

	memset(out, 0, sizeof(*out));
	ret = repo_ref_each(r, "refs/maxkernel/", slug_of_ref, &slugs, err);
	for (size_t i = 0; !ret && i < slugs.nr; i++) {
		if (!store_slug_ok(slugs.v[i]))
			continue;
		if (store_spec_read(r, slugs.v[i], &spec, &commit, &why) < 0) {
			store_warn(warn, "%s", why.msg);
			continue;
		}
		GROW(out->v, out->nr, out->cap);
		out->v[out->nr++] = spec;
	}
	strv_release(&slugs);
	if (out->nr > 1)
		qsort(out->v, out->nr, sizeof(*out->v), newest_first);
	return ret;
}

/* ---- a new search ---- */

static int make_slug(const char *kernel, char **out, struct err *err)
{
	static const char base32[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char r[6];
	struct buf b = BUF_INIT;

	for (const char *p = kernel; *p && b.len < SLUG_NAME; p++) {
		unsigned char c = (unsigned char)*p;

		if (c < 0x80 && isalnum(c))
			buf_addch(&b, tolower(c));
		else if (b.len && b.ptr[b.len - 1] != '-')
			buf_addch(&b, '-');
	}
	while (b.len && b.ptr[b.len - 1] == '-')
		b.ptr[--b.len] = '\0';
	if (!b.len)
		buf_addstr(&b, "kernel");
	buf_addch(&b, '-');
	if (getrandom(r, sizeof(r), 0) != sizeof(r)) {
		buf_release(&b);
		return err_sys(err, "cannot get random bytes");
	}
	for (size_t i = 0; i < sizeof(r); i++)
		buf_addch(&b, base32[r[i] & 31]);
	*out = buf_detach(&b);
	return 0;
}

static int check_spec(const struct spec *s, struct err *err)
{
	if (!s->kernel || !*s->kernel || strlen(s->kernel) > STORE_MAX_NAME ||
	    strchr(s->kernel, '\n'))
		return err_set(err, ERR_FORMAT, "a kernel needs a name of 1 "
			       "to %d bytes", STORE_MAX_NAME);
	if (!s->section || !s->policy || !store_word_ok(s->policy) ||
	    !s->proposer || !store_word_ok(s->proposer))
		return err_set(err, ERR_FORMAT, "the search has no section, "
			       "policy or proposer");
	if (!s->device || !store_word_ok(s->device))
		return err_set(err, ERR_FORMAT, "'%s' is not the name of a "
			       "device class", s->device ? s->device : "");
	return 0;
}

static int write_spec(struct repo *r, const struct spec *s, struct oid *out,
		      struct err *err)
{
	struct oid parents[2] = { s->base, s->root }, blob, tree;
	struct tree t = { NULL, 0, 0 };
	struct buf text = BUF_INIT;
	char *message = xasprintf("maxkernel: search %s\n\n"
				  "Maxkernel-Search: %s\n", s->slug, s->slug);
	int ret;

	store_spec_format(&text, s);
	ret = repo_blob_write(r, text.ptr, text.len, &blob, err);
	if (!ret) {
		tree_put(&t, "spec", &blob, 0100644);
		ret = repo_tree_write(r, &t, &tree, err);
	}
	if (!ret)
		ret = repo_commit_write(r, &tree, parents,
					oid_eq(&s->base, &s->root) ? 1 : 2,
					message, out, err);
	tree_release(&t);
	buf_release(&text);
	free(message);
	return ret;
}

static int create(struct repo *r, struct spec *spec, struct search **out,
		  struct err *err)
{
	struct oid commit;
	char *ref;
	int ret = write_spec(r, spec, &commit, err);

	if (!ret)
		ret = repo_sync(r, err);
	if (ret < 0)
		return ret;
	ref = store_spec_ref(spec->slug);
	ret = repo_ref_cas(r, ref, NULL, &commit, "maxkernel: new search",
			   err);
	free(ref);
	return ret ? ret : search_new(r, spec, &commit, out, err);
}

int store_create(struct repo *r, struct spec *spec, struct search **out,
		 struct err *err)
{
	int ret = check_spec(spec, err);

	*out = NULL;
	if (!ret)
		ret = repo_lock(r, err);
	if (ret < 0)
		return ret;
	for (int try = 0; try < 5; try++) {
		free(spec->slug);
		spec->slug = NULL;
		spec->time = (int64_t)time(NULL);
		ret = make_slug(spec->kernel, &spec->slug, err);
		if (!ret)
			ret = create(r, spec, out, err);
		if (ret != ERR_RACE)
			break;
	}
	repo_unlock(r);
	return ret < 0 ? err_wrap(err, "cannot start a search") : 0;
}
