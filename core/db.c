#include "core/db.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

struct db {
	sqlite3 *lite;
};

struct db_query {
	sqlite3 *lite;		/* its database's */
	sqlite3_stmt *stmt;
	int bad;		/* code of a parameter that was refused */
};

static int fail(sqlite3 *lite, int code, struct err *err)
{
	enum err_code kind = ERR_SYS;

	if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
		kind = ERR_FORMAT;
	else if (code == SQLITE_TOOBIG || code == SQLITE_FULL)
		kind = ERR_LIMIT;
	return err_set(err, kind, "SQLite: %s", lite ? sqlite3_errmsg(lite) :
		       sqlite3_errstr(code));
}

/* What an image holds must run nothing. */
static int open_plain(struct db **out, struct err *err)
{
	static const int off[] = {
		SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
		SQLITE_DBCONFIG_TRUSTED_SCHEMA,
	};
	struct db *d = xcalloc(1, sizeof(*d));
	int code = sqlite3_open_v2(":memory:", &d->lite,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
				   SQLITE_OPEN_NOMUTEX, NULL);

	for (size_t i = 0; !code && i < ARRAY_SIZE(off); i++)
		code = sqlite3_db_config(d->lite, off[i], 0, NULL);
	if (code) {
		fail(d->lite, code, err);
		db_close(d);
		return err->code;
	}
	sqlite3_limit(d->lite, SQLITE_LIMIT_ATTACHED, 0);
	*out = d;
	return 0;
}

int db_open(struct db **out, struct err *err)
{
	if (!sqlite3_compileoption_used("ENABLE_FTS5"))
		return err_set(err, ERR_SYS, "this SQLite (%s) was built "
			       "without FTS5", sqlite3_libversion());
	return open_plain(out, err);
}

int db_open_image(struct db **out, const void *image, size_t len,
		  struct err *err)
{
	unsigned char *copy = sqlite3_malloc64(len ? len : 1);
	struct db *d = NULL;
	int code, ret;

	if (!copy)
		return err_set(err, ERR_LIMIT, "no memory for a database");
	memcpy(copy, image, len);
	ret = open_plain(&d, err);
	if (ret) {
		sqlite3_free(copy);
		return ret;
	}
	/* It frees the copy when it fails, too. */
	code = sqlite3_deserialize(d->lite, "main", copy, (sqlite3_int64)len,
				   (sqlite3_int64)len,
				   SQLITE_DESERIALIZE_FREEONCLOSE |
				   SQLITE_DESERIALIZE_READONLY);
	if (code) {
		fail(d->lite, code, err);
		db_close(d);
		return err->code;
	}
	*out = d;
	return 0;
}

void db_close(struct db *d)
{
	if (!d)
		return;
	sqlite3_close(d->lite);
	free(d);
}

int db_image(struct db *d, struct buf *out, struct err *err)
{
	sqlite3_int64 len = 0;
	unsigned char *image = sqlite3_serialize(d->lite, "main", &len, 0);

	if (!image)
		return err_set(err, ERR_SYS, "SQLite gives no image");
	buf_add(out, image, (size_t)len);
	sqlite3_free(image);
	return 0;
}

int db_exec(struct db *d, const char *sql, struct err *err)
{
	int code = sqlite3_exec(d->lite, sql, NULL, NULL, NULL);

	return code ? fail(d->lite, code, err) : 0;
}

int db_query(struct db *d, const char *sql, struct db_query **out,
	     struct err *err)
{
	struct db_query *q = xcalloc(1, sizeof(*q));
	int code = sqlite3_prepare_v2(d->lite, sql, -1, &q->stmt, NULL);

	q->lite = d->lite;
	if (code) {
		free(q);
		return fail(d->lite, code, err);
	}
	*out = q;
	return 0;
}

void db_text(struct db_query *q, int nr, const char *text, size_t len)
{
	int code = sqlite3_bind_text64(q->stmt, nr, text, len, SQLITE_STATIC,
				       SQLITE_UTF8);

	q->bad = q->bad ? q->bad : code;
}

void db_int(struct db_query *q, int nr, int64_t value)
{
	int code = sqlite3_bind_int64(q->stmt, nr, value);

	q->bad = q->bad ? q->bad : code;
}

int db_step(struct db_query *q, struct err *err)
{
	int code;

	if (q->bad)
		return fail(NULL, q->bad, err);
	code = sqlite3_step(q->stmt);
	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_DONE ? 0 : fail(q->lite, code, err);
}

int64_t db_get_int(struct db_query *q, int column)
{
	return sqlite3_column_int64(q->stmt, column);
}

double db_get_double(struct db_query *q, int column)
{
	return sqlite3_column_double(q->stmt, column);
}

void db_again(struct db_query *q)
{
	sqlite3_reset(q->stmt);
	sqlite3_clear_bindings(q->stmt);
	q->bad = 0;
}

void db_query_end(struct db_query *q)
{
	if (!q)
		return;
	sqlite3_finalize(q->stmt);
	free(q);
}
