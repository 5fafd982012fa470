/*
 * SQLite: core/db.c alone knows it.  A database lives in memory; it may begin
 * as the image of one that was made before, and gives its own image.  So no
 * file is ever opened by SQLite: who keeps images checks them first.
 */
#ifndef CORE_DB_H
#define CORE_DB_H

#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"

struct db;
struct db_query;

/* An empty one.  ERR_SYS when SQLite has no FTS5. */
int db_open(struct db **out, struct err *err);
/* A copy of an image, which cannot be written to. */
int db_open_image(struct db **out, const void *image, size_t len,
		  struct err *err);
void db_close(struct db *d);	/* its queries are ended before; NULL is fine */
int db_image(struct db *d, struct buf *out, struct err *err);

/* Statements without parameters or results. */
int db_exec(struct db *d, const char *sql, struct err *err);

/*
 * A statement, run as often as wanted:
 *	db_query(d, "SELECT a FROM t WHERE b = ?1", &q, err);
 *	db_text(q, 1, text, len);		borrowed until db_again()
 *	while ((ret = db_step(q, err)) > 0)	1: a row, 0: the end
 *		use(db_get_int(q, 0));
 *	db_query_end(q);
 */
int db_query(struct db *d, const char *sql, struct db_query **out,
	     struct err *err);
void db_text(struct db_query *q, int nr, const char *text, size_t len);
void db_int(struct db_query *q, int nr, int64_t value);
int db_step(struct db_query *q, struct err *err);
int64_t db_get_int(struct db_query *q, int column);
double db_get_double(struct db_query *q, int column);
void db_again(struct db_query *q);	/* to its beginning, no parameters */
void db_query_end(struct db_query *q);	/* NULL is fine */

#endif
