/* One entry: a strict reader of its head, and what text may hold. */
#include <stdlib.h>
#include <string.h>

#include "core/knowledge_parts.h"
#include "core/mem.h"

#define MAX_ID 64
#define MAX_TITLE 120
#define MAX_SOURCE 400
#define MAX_APPLIES 24		/* words */
#define MAX_WORD 32

enum { KEY_ID, KEY_TITLE, KEY_APPLIES, KEY_SOURCE, KEY_SINCE, NR_KEYS };
static const char *const keys[NR_KEYS] = {
	"id", "title", "applies", "source", "since"
};

struct reader {
	const char *name;	/* of the file, for messages */
	const char *at, *end;
	int line;		/* of what was read last */
	char *value[NR_KEYS];
	int at_line[NR_KEYS];
	int head_end;		/* its empty line */
};

size_t utf8_code(const char *s, size_t left, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)s;
	size_t n = *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 :
		*p >> 3 == 30 ? 4 : 0;

	if (!n || n > left)
		return 0;
	*code = n == 1 ? *p : *p & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		*code = *code << 6 | (p[i] & 0x3f);
	}
	if (n > 1 && (*code < least[n] || *code > 0x10ffff ||
		      (*code >= 0xd800 && *code <= 0xdfff)))
		return 0;
	return n;
}

static int bad(const struct reader *r, struct err *err, const char *what,
	       const char *word)
{
	struct buf clean = BUF_INIT;
	size_t len = strlen(word);

	buf_add_clean(&clean, word, len > 60 ? 60 : len, false);
	err_set(err, ERR_FORMAT, "%s:%d: %s%s%s%s",
		r->name ? r->name : "entry", r->line, what, *word ? " '" : "",
		clean.ptr, *word ? "'" : "");
	buf_release(&clean);
	return ERR_FORMAT;
}

/* Controls, and what turns the direction of a line or hides in it. */
static bool unfit(uint32_t c)
{
	return (c < 0x20 && c != '\t' && c != '\n') ||
		(c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
		(c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
		c == 0xfeff || (c >= 0xe0000 && c <= 0xe0fff);
}

/* The text with CRLF as LF, if every character of it is fit. */
static int copy_clean(struct reader *r, const char *text, size_t len,
		      struct buf *out, struct err *err)
{
	uint32_t code;
	size_t n;

	for (r->line = 1; len; text += n, len -= n) {
		if (len > 1 && text[0] == '\r' && text[1] == '\n') {
			n = 1;
			continue;
		}
		n = utf8_code(text, len, &code);
		if (!n)
			return bad(r, err, "this is not UTF-8", "");
		if (unfit(code))
			return bad(r, err, "a control character", "");
		buf_add(out, text, n);
		r->line += code == '\n';
	}
	return 0;
}

/* The next line, ended in place. */
static char *next_line(struct reader *r)
{
	char *line = (char *)r->at, *nl;

	if (r->at >= r->end)
		return NULL;
	nl = memchr(line, '\n', (size_t)(r->end - r->at));
	r->at = nl ? nl + 1 : r->end;
	if (nl)
		*nl = '\0';
	r->line++;
	return line;
}

static int take_key(struct reader *r, char *line, struct err *err)
{
	char *colon = strchr(line, ':'), *value;
	size_t len;

	if (!colon)
		return bad(r, err, "no 'key: value', and no empty line before "
			   "the text", "");
	*colon = '\0';
	value = colon + 1 + strspn(colon + 1, " \t");
	len = strlen(value);
	while (len && strchr(" \t", value[len - 1]))
		value[--len] = '\0';
	for (int i = 0; i < NR_KEYS; i++) {
		if (strcmp(keys[i], line))
			continue;
		if (r->value[i])
			return bad(r, err, "a second", line);
		if (!len)
			return bad(r, err, "nothing behind", line);
		r->value[i] = xstrdup(value);
		r->at_line[i] = r->line;
		return 0;
	}
	return bad(r, err, "unknown key", line);
}

static bool is_word(const char *s, size_t max, const char *more)
{
	size_t len = strlen(s);

	if (!len || len > max || strchr(more, s[0]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') ||
		      (s[i] >= '0' && s[i] <= '9') || strchr(more, s[i])))
			return false;
	return true;
}

static bool is_date(const char *s)
{
	static const char form[] = "dddd-dd-dd";
	int month, day;

	if (strlen(s) != sizeof(form) - 1)
		return false;
	for (int i = 0; form[i]; i++)
		if (form[i] == 'd' ? s[i] < '0' || s[i] > '9' : s[i] != '-')
			return false;
	month = (s[5] - '0') * 10 + s[6] - '0';
	day = (s[8] - '0') * 10 + s[9] - '0';
	return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static int take_applies(struct reader *r, struct entry *e, struct err *err)
{
	char *p = r->value[KEY_APPLIES];

	r->line = r->at_line[KEY_APPLIES];
	while (*p) {
		char *word = p + strspn(p, " \t");
		size_t len = strcspn(word, " \t");

		p = word + len + (word[len] != '\0');
		word[len] = '\0';
		if (!len)
			break;
		if (!is_word(word, MAX_WORD, "-.+_"))
			return bad(r, err, "applies takes words of small "
				   "letters, digits and -.+_, not", word);
		if (strv_has(&e->applies, word))
			return bad(r, err, "applies has twice", word);
		if (e->applies.nr >= MAX_APPLIES)
			return bad(r, err, "applies has too many words", "");
		strv_push(&e->applies, word);
	}
	return 0;
}

/* The name of the file ties the id: no two files of a folder share one. */
static int check_head(struct reader *r, struct err *err)
{
	const char *id = r->value[KEY_ID];
	size_t len;

	for (int i = 0; i < NR_KEYS; i++)
		if (!r->value[i])
			return bad(r, err, "the head has no", keys[i]);
	r->line = r->at_line[KEY_ID];
	if (!is_word(id, MAX_ID, "-."))
		return bad(r, err, "an id has at most 64 small letters, "
			   "digits, '-' and '.', not", id);
	len = strlen(id);
	if (r->name && (strncmp(r->name, id, len) ||
			strcmp(r->name + len, ".md")))
		return bad(r, err, "the id must be the name of the file, not",
			   id);
	r->line = r->at_line[KEY_TITLE];
	if (strlen(r->value[KEY_TITLE]) > MAX_TITLE)
		return bad(r, err, "the title is longer than 120 bytes", "");
	r->line = r->at_line[KEY_SOURCE];
	if (strlen(r->value[KEY_SOURCE]) > MAX_SOURCE)
		return bad(r, err, "the source is longer than 400 bytes", "");
	r->line = r->at_line[KEY_SINCE];
	if (!is_date(r->value[KEY_SINCE]))
		return bad(r, err, "since is a date, 2026-12-31, not",
			   r->value[KEY_SINCE]);
	return 0;
}

static int read_head(struct reader *r, struct err *err)
{
	char *line;
	int ret;

	r->line = 0;
	for (;;) {
		line = next_line(r);
		if (!line)
			return bad(r, err, "it ends within the head", "");
		if (!*line) {
			r->head_end = r->line;
			return check_head(r, err);
		}
		ret = take_key(r, line, err);
		if (ret)
			return ret;
	}
}

static int read_text(struct reader *r, struct entry *e, struct err *err)
{
	const char *end = r->end;

	r->line = r->head_end;
	while (r->at < end && *r->at == '\n')
		r->at++;
	while (end > r->at && strchr(" \t\n", end[-1]))
		end--;
	if (end == r->at)
		return bad(r, err, "there is no text behind the head", "");
	e->text = xasprintf("%.*s\n", (int)(end - r->at), r->at);
	return 0;
}

static char *give(struct reader *r, int key)
{
	char *value = r->value[key];

	r->value[key] = NULL;
	return value;
}

int entry_parse(struct entry *e, enum entry_kind kind, const char *name,
		const char *text, size_t len, struct err *err)
{
	struct reader r = { .name = name, .line = 1 };
	struct buf clean = BUF_INIT;
	int ret = 0;

	memset(e, 0, sizeof(*e));
	if (len > KNOWLEDGE_MAX_FILE)
		ret = bad(&r, err, "longer than 65536 bytes", "");
	if (!ret)
		ret = copy_clean(&r, text, len, &clean, err);
	r.at = clean.ptr;
	r.end = clean.ptr + clean.len;
	if (!ret)
		ret = read_head(&r, err);
	if (!ret)
		ret = take_applies(&r, e, err);
	if (!ret)
		ret = read_text(&r, e, err);
	if (!ret) {
		e->kind = kind;
		e->id = kind == ENTRY_LOCAL ?
			xasprintf("local/%s", r.value[KEY_ID]) :
			give(&r, KEY_ID);
		e->title = give(&r, KEY_TITLE);
		e->source = give(&r, KEY_SOURCE);
		e->since = give(&r, KEY_SINCE);
	} else {
		entry_release(e);
	}
	for (int i = 0; i < NR_KEYS; i++)
		free(r.value[i]);
	buf_release(&clean);
	return ret;
}

void entry_release(struct entry *e)
{
	free(e->id);
	free(e->title);
	free(e->source);
	free(e->since);
	free(e->text);
	strv_release(&e->applies);
	memset(e, 0, sizeof(*e));
}

bool entry_applies(const struct entry *e, const struct strv *words)
{
	if (strv_has(&e->applies, "any"))
		return true;
	for (size_t i = 0; words && i < words->nr; i++)
		if (!strv_has(&e->applies, words->v[i]))
			return false;
	return true;
}
