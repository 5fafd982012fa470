/* Where objects lie in packs: what is read in that order is read once. */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/repo_parts.h"

#define IDX_MAGIC 0xff744f63u
#define IDX_HEAD 8		/* bytes: magic, version */
#define IDX_FANOUT (256 * 4)
#define IDX_END 40		/* two hashes */
#define OFFSET_BITS 40		/* of a place; above it stands the pack */

struct idx {
	const unsigned char *map;
	size_t len;
	uint32_t nr;
	const unsigned char *id, *offset;	/* of each */
};

static uint32_t be32(const unsigned char *p)
{
	uint32_t x;

	memcpy(&x, p, sizeof(x));
	return ntohl(x);
}

static uint32_t fanout(const struct idx *x, unsigned first)
{
	return be32(x->map + IDX_HEAD + 4 * first);
}

/* Version 2, the one that git has written since 1.6. */
static bool is_whole(struct idx *x)
{
	uint64_t each = OID_RAW + 4 + 4;	/* id, sum, offset */

	if (x->len < IDX_HEAD + IDX_FANOUT + IDX_END ||
	    be32(x->map) != IDX_MAGIC || be32(x->map + 4) != 2)
		return false;
	x->nr = fanout(x, 255);
	if (x->len - IDX_HEAD - IDX_FANOUT - IDX_END < each * x->nr)
		return false;
	x->id = x->map + IDX_HEAD + IDX_FANOUT;
	x->offset = x->id + (size_t)x->nr * (OID_RAW + 4);
	return true;
}

static bool idx_open(struct idx *x, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
		x->len = (size_t)st.st_size;
		map = mmap(NULL, x->len, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return false;
	x->map = map;
	if (is_whole(x))
		return true;
	munmap(map, x->len);
	return false;
}

static bool idx_find(const struct idx *x, const struct oid *id,
		     uint32_t *offset)
{
	uint32_t lo = id->id[0] ? fanout(x, id->id[0] - 1u) : 0;
	uint32_t hi = fanout(x, id->id[0]);

	if (hi > x->nr)
		return false;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		int c = memcmp(x->id + (size_t)mid * OID_RAW, id->id, OID_RAW);

		if (!c) {
			*offset = be32(x->offset + (size_t)mid * 4);
			return true;
		}
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

void repo_places(struct repo *r, const struct oid *id, size_t nr,
		 uint64_t *place)
{
	char *dir = xasprintf("%sobjects/pack", r->gitdir);
	DIR *d = opendir(dir);
	struct dirent *e;
	uint64_t pack = 0;

	for (size_t i = 0; i < nr; i++)
		place[i] = UINT64_MAX;
	for (e = d ? readdir(d) : NULL; e; e = readdir(d)) {
		size_t len = strlen(e->d_name);
		char *path;
		struct idx x;
		uint32_t offset;

		if (len < 4 || strcmp(e->d_name + len - 4, ".idx"))
			continue;
		path = xasprintf("%s/%s", dir, e->d_name);
		if (idx_open(&x, path)) {
			for (size_t i = 0; i < nr; i++)
				if (idx_find(&x, &id[i], &offset))
					place[i] = pack << OFFSET_BITS | offset;
			munmap((void *)(uintptr_t)x.map, x.len);
			pack++;
		}
		free(path);
	}
	if (d)
		closedir(d);
	free(dir);
}
