# git maxkernel: build, tests, install.  `make demo` and `make check` are all
# that a new machine needs.

CC = gcc
CFLAGS = -O2 -g
CPPFLAGS =
LDFLAGS =
WARN = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wwrite-strings -Wvla -Wformat=2
WERROR =
SANITIZE =
PKG_CONFIG = pkg-config
PREFIX = /usr/local
DESTDIR =
BINDIR = $(PREFIX)/bin
LIBEXECDIR = $(PREFIX)/libexec/git-maxkernel
DATADIR = $(PREFIX)/share/git-maxkernel
MANDIR = $(PREFIX)/share/man
COMPDIR = $(PREFIX)/share/bash-completion/completions

# The build goes to O; WITH_CURL= and WITH_SSH= leave a library out.
O = build
WITH_CURL = yes
WITH_SSH = yes
# How often a randomised test repeats itself.
CHECK_N = 1
VERSION := $(shell cat version 2>/dev/null || \
	git describe --tags --always --dirty 2>/dev/null || echo 0)

# A library is linked from the day on which its one file under core/ exists.
NOT_BUILT = $(if $(WITH_CURL),,core/http.c) $(if $(WITH_SSH),,core/ssh.c)
HAVE = $(filter-out $(NOT_BUILT),$(wildcard core/*.c))
LIBS_MAIN = libgit2 libcjson $(if $(filter core/http.c,$(HAVE)),libcurl) \
	$(if $(filter core/ssh.c,$(HAVE)),libssh2) \
	$(if $(filter core/db.c,$(HAVE)),sqlite3)
STD = -std=c11 -D_GNU_SOURCE -I.
MAIN_CFLAGS = $(shell $(PKG_CONFIG) --cflags $(LIBS_MAIN))
MAIN_LIBS = $(shell $(PKG_CONFIG) --libs $(LIBS_MAIN)) -lm
JUDGE_LIBS = $(shell $(PKG_CONFIG) --libs libseccomp) -lm
COMPILE = $(CC) $(STD) $(CPPFLAGS) $(CFLAGS) $(WARN) $(WERROR)

BASE_SRC = core/err.c core/mem.c core/buf.c core/oid.c
# Shared by the program and the judge: text in, plain data out.
TASK_SRC = $(wildcard core/dtype.c core/expr.c core/ini.c core/kernel*.c \
	core/paths.c core/record.c core/sha1.c core/source.c)
CORE_SRC = $(filter-out $(BASE_SRC) $(TASK_SRC),$(HAVE))
MAIN_SRC = $(BASE_SRC) $(TASK_SRC) $(CORE_SRC) $(wildcard cmd/*.c) \
	$(wildcard agents/*.c agents/*/*.c hooks/*.c)
WORKER_SRC = core/judge/worker_main.c core/judge/jail.c
JUDGE_SRC = $(BASE_SRC) $(TASK_SRC) \
	$(filter-out core/judge/worker_main.c,$(wildcard core/judge/*.c))

MAIN_OBJ = $(MAIN_SRC:%.c=$O/obj/%.o)
JUDGE_OBJ = $(JUDGE_SRC:%.c=$O/obj/%.o)
WORKER_OBJ = $(WORKER_SRC:%.c=$O/worker/%.o)
PROGRAMS = $O/bin/git-maxkernel $O/libexec/git-maxkernel-judge \
	$O/libexec/git-maxkernel-worker

all: $(PROGRAMS)

$O/bin/git-maxkernel: $(MAIN_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(MAIN_LIBS)

$O/libexec/git-maxkernel-judge: $(JUDGE_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(JUDGE_LIBS)

# Never with sanitizers: its memory map and its system calls are the jail's.
$O/libexec/git-maxkernel-worker: $(WORKER_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(JUDGE_LIBS) -ldl

$O/obj/%.o: %.c $O/.flags
	@mkdir -p $(@D)
	$(COMPILE) $(SANITIZE) $(MAIN_CFLAGS) $(DEFINE) -MMD -MP -c -o $@ $<

$O/worker/%.o: %.c $O/.flags
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -c -o $@ $<

VERSION_OBJ := $(patsubst %.c,$O/obj/%.o,$(shell grep -lw VERSION $(MAIN_SRC)))
$(VERSION_OBJ): DEFINE = -DVERSION='"$(VERSION)"'
$(VERSION_OBJ): $O/.version
$O/obj/core/paths.o: DEFINE = -DLIBEXECDIR='"$(LIBEXECDIR)"' \
	-DDATADIR='"$(DATADIR)"'
$O/obj/core/paths.o: $O/.prefix

# Files that change only when what they hold does: a build with other flags,
# another prefix or another version is never a mixture.
$O/.flags: held = $(COMPILE) $(SANITIZE)
$O/.version: held = $(VERSION)
$O/.prefix: held = $(LIBEXECDIR) $(DATADIR)
$O/.flags $O/.version $O/.prefix: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(held)' | cmp -s - $@ || \
		printf '%s\n' '$(held)' >$@

# ---- tests ----

UNITS = $(patsubst tests/unit/%.c,$O/unit/%,$(wildcard tests/unit/u-*.c))
FUZZ = $(patsubst tests/fuzz/f-%.c,%,$(wildcard tests/fuzz/f-*.c))
REPLAYS = $(FUZZ:%=$O/replay/f-%)
HELPERS = $(patsubst tests/helper/%.c,$O/helper/%,$(wildcard tests/helper/*.c))

# Which sources a test program needs is said by its first comment,
# "needs: core/foo.c core/bar.c"; $O/needs.mk has it as rules.
$O/needs.mk: tests/needs.sh core $(wildcard tests/unit/u-*.c tests/fuzz/f-*.c \
		tests/helper/*.c)
	@mkdir -p $(@D)
	@sh tests/needs.sh >$@.new && mv $@.new $@

LINK_TEST = $(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -o $@ $(filter %.o,$^) \
	$(MAIN_LIBS) $(JUDGE_LIBS) -ldl

$O/unit/%: $(BASE_SRC:%.c=$O/obj/%.o)
	@mkdir -p $(@D)
	$(LINK_TEST)

$O/helper/%: $(BASE_SRC:%.c=$O/obj/%.o)
	@mkdir -p $(@D)
	$(LINK_TEST)

$O/replay/%: $O/obj/tests/fuzz/replay.o $(BASE_SRC:%.c=$O/obj/%.o)
	@mkdir -p $(@D)
	$(LINK_TEST)

test-programs: $(UNITS) $(REPLAYS) $(HELPERS)

deps:
	@WITH_CURL='$(WITH_CURL)' WITH_SSH='$(WITH_SSH)' \
		PKG_CONFIG='$(PKG_CONFIG)' sh tests/deps.sh

check: deps
	+@$(MAKE) --no-print-directory all test-programs
	@CC='$(CC)' CHECK_N='$(CHECK_N)' MAXKERNEL_BUILD='$O' \
		CHECK_MAKE="CC='$(CC)' CFLAGS='$(CFLAGS)' WERROR='$(WERROR)' \
		SANITIZE='$(SANITIZE)'" sh tests/run.sh

check-long: CHECK_N = 10
check-long: check

# Every header compiles alone.
HEADERS = $(wildcard core/*.h core/*/*.h agents/*.h agents/*/*.h cmd/*.h \
	hooks/*.h tests/unit/*.h)
check-headers:
	@for h in $(HEADERS); do \
		printf '#include "%s"\nextern int alone;\n' "$$h" | $(COMPILE) -Werror \
			-fsyntax-only -x c - || \
			{ echo "$$h does not compile alone" >&2; exit 1; }; \
	done

# make fuzz-<name> [FUZZ_TIME=60]: fuzzes with clang, adds to the corpus.
FUZZ_TIME = 60
FUZZ_SANITIZE = -fsanitize=fuzzer-no-link,address,undefined
fuzz-%: deps
	+@$(MAKE) --no-print-directory O='$O/fuzz' CC=clang \
		SANITIZE='$(FUZZ_SANITIZE)' link-fuzz-$*
	@mkdir -p tests/fuzz/corpus/$*
	$O/fuzz/fuzz/f-$* -max_total_time=$(FUZZ_TIME) -timeout=10 \
		-artifact_prefix=$O/fuzz/ tests/fuzz/corpus/$*
link-fuzz-%: $O/fuzz/f-% ;
$O/fuzz/%: $(BASE_SRC:%.c=$O/obj/%.o)
	@mkdir -p $(@D)
	$(LINK_TEST) -fsanitize=fuzzer

demo: deps
	+@$(MAKE) --no-print-directory all
	@MAXKERNEL_BUILD='$O' bash knowledge/demo.sh

bench: deps
	+@$(MAKE) --no-print-directory all
	@MAXKERNEL_BUILD='$O' bash tests/bench/bench.sh

# How often the judge is right, on this machine as it is loaded now;
# BENCH_JUDGE="--call 5 --scale 0.1 aa" picks, see tests/helper/bench_judge.c.
bench-judge: deps
	+@$(MAKE) --no-print-directory all $O/helper/bench_judge
	@MAXKERNEL_EXEC_PATH='$O/libexec' $O/helper/bench_judge $(BENCH_JUDGE)

# BENCH_STORE_SIZES="1000 10000": how many nodes; BENCH_STORE_DIR: where.
bench-store: deps
	+@$(MAKE) --no-print-directory all $O/helper/store_fill
	@MAXKERNEL_BUILD='$O' bash tests/bench/store.sh

# How good the search is; see tests/bench/search.sh for what can be chosen.
BENCH_SEARCH_NEEDS = $O/helper/replay $O/helper/record_table \
	$O/helper/store_dump
bench-search bench-search-record bench-search-prior: deps
	+@$(MAKE) --no-print-directory all $(BENCH_SEARCH_NEEDS)
	@MAXKERNEL_BUILD='$O' bash tests/bench/search.sh \
		$(patsubst bench-search-%,%,$(filter-out bench-search,$@))

# How many questions of bug reports the entries answer; BENCH_KNOWLEDGE=tune
# names those that they do not, held is the default.
bench-knowledge: deps
	+@$(MAKE) --no-print-directory all
	@MAXKERNEL_DATA='$(CURDIR)/knowledge' PATH="$(abspath $O)/bin:$$PATH" \
		sh tests/knowledge/recall.sh $(if $(filter tune,$(BENCH_KNOWLEDGE)),-v) \
		tests/knowledge/questions-$(or $(BENCH_KNOWLEDGE),held).tsv

# ---- install ----

MANPAGE = $(DESTDIR)$(MANDIR)/man1/git-maxkernel.1
COMPLETION = $(DESTDIR)$(COMPDIR)/git-maxkernel

install: all
	mkdir -p '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(LIBEXECDIR)' \
		'$(DESTDIR)$(DATADIR)' '$(DESTDIR)$(MANDIR)/man1' \
		'$(DESTDIR)$(COMPDIR)'
	cp $O/bin/git-maxkernel '$(DESTDIR)$(BINDIR)/'
	cp $O/libexec/git-maxkernel-judge $O/libexec/git-maxkernel-worker \
		'$(DESTDIR)$(LIBEXECDIR)/'
	cp -R knowledge/. '$(DESTDIR)$(DATADIR)/'
	cp git-maxkernel.1 '$(MANPAGE)'
	cp cmd/completion.bash '$(COMPLETION)'
	chmod -R u=rwX,go=rX '$(DESTDIR)$(LIBEXECDIR)' '$(DESTDIR)$(DATADIR)'
	chmod 755 '$(DESTDIR)$(BINDIR)/git-maxkernel'
	chmod 644 '$(MANPAGE)' '$(COMPLETION)'

uninstall:
	rm -f '$(DESTDIR)$(BINDIR)/git-maxkernel' '$(MANPAGE)' '$(COMPLETION)'
	rm -rf '$(DESTDIR)$(LIBEXECDIR)' '$(DESTDIR)$(DATADIR)'

# A tarball of HEAD that knows its version without Git.
DIST = git-maxkernel-$(VERSION:-dirty=)
dist:
	git archive --format=tar.gz --prefix='$(DIST)/' \
		--add-virtual-file='$(DIST)/version:$(VERSION:-dirty=)' \
		-o '$(DIST).tar.gz' HEAD

clean:
	rm -rf $O

FORCE:
.PHONY: all clean test-programs deps check check-long check-headers demo \
	bench bench-judge bench-store bench-search bench-search-record \
	bench-search-prior bench-knowledge install uninstall dist FORCE
.SECONDARY:

ifeq ($(filter clean deps uninstall dist,$(MAKECMDGOALS)),)
-include $O/needs.mk
-include $(shell find $O -name '*.d' 2>/dev/null)
endif
