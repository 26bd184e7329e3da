#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/mutate itself, on a tree of one library, one unit test and one script:
# which changes it makes, which of these are killed, survive or are run by no
# test, and that a mutant can do no harm.
#
# timeout: 600

. "$(dirname "$0")/../lib.sh"

# mutate ARG...: tests/mutate on the small tree; its output and status.
mutate() {
	status=0
	out=$(O=build "$TOP/tests/mutate" --tree "$TMP/tree" --jobs 1 "$@" 2>&1) ||
		status=$?
}

mkdir -p "$TMP/tree/calc" "$TMP/tree/other" "$TMP/tree/tests/unit" \
	"$TMP/tree/tests/t"
cd "$TMP/tree" || exit 1

cat >Makefile <<'END'
O ?= build
tools: $(O)/bin/calc $(O)/bin/idle
test-tools: $(O)/tests/unit/test_calc
$(O)/flags:
	@mkdir -p $(@D) && touch $@
$(O)/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	gcc -I. $(CFLAGS) -MMD -MP -c -o $@ $<
$(O)/calc/calc.a: $(O)/calc/calc.o
	@rm -f $@
	ar rcs $@ $^
$(O)/bin/calc: $(O)/calc/main.o $(O)/other/outside.o $(O)/calc/calc.a $(O)/flags
	@mkdir -p $(@D)
	gcc $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^)
$(O)/bin/idle: $(O)/other/idle.o $(O)/calc/calc.a $(O)/flags
	gcc $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^)
$(O)/tests/unit/test_calc: $(O)/tests/unit/test_calc.o $(O)/other/outside.o $(O)/calc/calc.a $(O)/flags
	gcc $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^)
END

cat >calc/calc.h <<'END'
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
int limit(int n);
int twice(int n);
int at_most(int n);
int product(int n);
int never(int n);
void clear(const char *path);
int room(int n);
int is_open(int fd);
int outside(void);
END

# The lines of the text below are known by their numbers.
cat >calc/calc.c <<'END'
#include <assert.h>
#include <unistd.h>
#include "calc/calc.h"
#define TEN (9 + 1)
static const int table[] = { 1, 2, 3 };
/* At most 10: if (n > 10) return 10; */
int limit(int n)
{
	assert(n > 0 - 100);
	if (n > TEN)
		return -n;
	return n;
}
int twice(int n)
{
	const char *text = "n + 1 == 2";

	return text[0] == 'n' ? n + n : 1;
}
int at_most(int n)
{
	return n > 5 ? 5 : n;
}
int product(int n)
{
	while (n < 1)
		n++;
	return n * table[2];
}
int never(int n)
{
	return n == 7;
}
void clear(const char *path)
{
	unlink(path);
}
int room(int n)
{
	void *bytes = malloc(n + 1), *more = malloc(n + 2);

	if (!bytes || !more)
		return -ENOMEM;
	madvise(bytes, n + 1, MADV_WILLNEED);
	for (int i = 0; i < n; i++)
		free(bytes);
	return 0;
}
int is_open(int fd)
{
	return fd >= 0;
}
int (*const elsewhere)(void) = outside;
END

# A program that has the library, but nothing of it, nor what calc.o needs.
echo 'int main(void) { return 0; }' >other/idle.c
echo 'int outside(void) { return 1; }' >other/outside.c

cat >calc/main.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include "calc/calc.h"
int main(int argc, char **argv)
{
	printf("%d\n", twice(argc > 1 ? atoi(argv[1]) : 21));
	return 0;
}
END

cat >tests/unit/test_calc.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "calc/calc.h"
static int in_a_child(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(product(2) != 6 || product(-1) != 3);
	return waitpid(pid, &status, 0) != pid || status;
}
static int clears(void)
{
	close(open("/tmp/cleared", O_CREAT | O_WRONLY, 0600));
	clear("/tmp/cleared");
	return !access("/tmp/cleared", F_OK);
}
int main(void)
{
	if (limit(11) != -11 || limit(3) != 3 || at_most(7) != 5) {
		puts("not ok 1 - limit");
		return 0;
	}
	return in_a_child() || clears();
}
END

cat >tests/t/10-calc.sh <<'END'
#!/bin/sh
[ "$("$O/bin/calc" 4)" = 8 ]
END
cat >tests/t/11-broken.sh <<'END'
#!/bin/sh
exit 1
END
chmod +x tests/t/*.sh

# ---- what is changed ----

mutate --list --file calc/calc.c
lines=$(echo "$out" | sed -n 's/^calc\/calc.c:\([0-9]*\): .*/\1/p' |
	sort -nu | tr '\n' ' ')
is "code is changed, not tables, asserts, comments, macros, strings, lack of memory, loops that free" \
	"$lines" '10 11 12 18 22 26 27 28 32 36 42 47 51 '
mutate --list --file calc/calc.c:10
is "a comparison becomes its neighbour and its opposite" "$out" \
	'calc/calc.c:10: relation
-	if (n > TEN)
+	if (n <= TEN)
calc/calc.c:10: relation
-	if (n > TEN)
+	if (n >= TEN)'
mutate --list --file calc/calc.c:42
is "with memory it makes no difference whether one or all are lacking" "$out" \
	'calc/calc.c:42: negate
-	if (!bytes || !more)
+	if (!(!bytes || !more))
calc/calc.c:42: drop !
-	if (!bytes || !more)
+	if (bytes || !more)
calc/calc.c:42: drop !
-	if (!bytes || !more)
+	if (!bytes || more)'
mutate --list --file calc/calc.c:36
is "a call is dropped" "$out" 'calc/calc.c:36: drop call
-	unlink(path);
+	;'
mutate --list --file calc/calc.c:51
is "a file that was opened never has descriptor 0" "$out" \
	'calc/calc.c:51: relation
-	return fd >= 0;
+	return fd < 0;'

# ---- what is asked for wrongly ----

mutate
is "nothing to do is a wrong command line" "$status" 2
mutate --list nowhere
is "so is a folder without C files" "$status" 1
like "which is named" "$out" '^mutate: nowhere: no C files'
mutate --list --file calc/calc.c:x
is "and a line that is none" "$status" 2
like "and shown" "$out" 'calc/calc.c:x: not FILE:LINE'

# ---- what becomes of mutants ----

mutate --file calc/calc.c --out "$TMP/all.json"
case $out in
*'need namespaces'*)
	skip "what becomes of mutants" "no namespaces here"
	done_testing
	;;
esac

# result LINE BEFORE AFTER: what became of a mutant of calc.c.
result() {
	python3 - "$TMP/all.json" "$@" <<'END'
import json, sys
path, line, before, after = sys.argv[1:]
for mutant in json.load(open(path))["calc/calc.c"]:
    if (
        mutant["line"] == int(line)
        and "".join(mutant["before"]).strip() == before
        and "".join(mutant["after"]).strip() == after
    ):
        print(mutant["result"])
END
}

is "the run succeeds" "$status" 0
is "what a test tells with 'not ok' is killed, whatever its status" \
	"$(result 10 'if (n > TEN)' 'if (n <= TEN)')" killed
is "and what it tells with its status" \
	"$(result 36 'unlink(path);' ';')" killed
is "a number that no test asks for survives" \
	"$(result 10 'if (n > TEN)' 'if (n >= TEN)')" survived
is "a child that ends by _exit runs lines too" \
	"$(result 28 'return n * table[2];' 'return n / table[2];')" killed
is "a loop without end is killed" \
	"$(result 27 'n++;' 'n--;')" killed
is "a line that no test runs" \
	"$(result 32 'return n == 7;' 'return n != 7;')" 'not covered'
is "what a script runs is not covered by unit tests" \
	"$(result 18 "return text[0] == 'n' ? n + n : 1;" \
		"return text[0] == 'n' ? n - n : 1;")" 'not covered'
is "what compiles to the same object code is no mutant" \
	"$(result 22 'return n > 5 ? 5 : n;' 'return n >= 5 ? 5 : n;')" ''
like "a survivor is shown" "$out" '^calc/calc.c:10: survived \(relation; 1 test'
like "with the line before" "$out" '^-	if \(n > TEN\)$'
like "and after" "$out" '^\+	if \(n >= TEN\)$'
unlike "what is killed is not" "$out" '^\+	if \(n <= TEN\)$'

counts=$(echo "$out" | tail -n 1)
like "the last line counts" "$counts" \
	'^calc/calc.c +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9.]+ %$'
# shellcheck disable=SC2086 # the words
set -- $counts
is "the counts are those of the results" "$2 $3 $4 $5" \
	"$(python3 - "$TMP/all.json" <<'END'
import json, sys
results = [m["result"] for m in json.load(open(sys.argv[1]))["calc/calc.c"]]
kinds = ["killed", "survived", "not covered"]
print(len(results), *(results.count(kind) for kind in kinds))
END
)"

mutate --tests all --file calc/calc.c:18
like "a script kills its mutants" "$out" '100.0 %$'
like "a test that fails anyhow is left out and named" "$out" \
	'^note: tests/t/11-broken.sh is not used: fails without a change: exit status 1'

mutate --tests '11-*' --file calc/calc.c:18
like "scripts may be chosen" "$out" ' 0.0 %$'

mutate --file calc/calc.c:10 --at-least 50
is "--at-least: enough" "$status" 0
mutate --file calc/calc.c:10 --at-least 51
is "--at-least: too few" "$status" 1

mutate --sample 5 --seed 3 calc
first=$out
is "a sample has its size" \
	"$(echo "$out" | tail -n 1 | awk '{ print $2 }')" 5
mutate --sample 5 --seed 3 calc
is "and is the same for the same seed" "$out" "$first"

# ---- what changes ----

sed -i 's/limit(11) != -11/limit(11) != -11 || never(7) != 1/' \
	tests/unit/test_calc.c
mutate --file calc/calc.c:32
like "a test that was written kills what nothing killed" "$out" '100.0 %$'
is "the tree has nothing new but its build folder" \
	"$(find . -newer tests/unit/test_calc.c -type f ! -path './build/*')" ''

# ---- no harm ----

"$TESTBIN/hold" $$ &
bystander=$!
at_exit() { kill "$bystander" 2>/dev/null; }
cat >calc/calc.c <<END
#include <signal.h>
#include <unistd.h>
#include "calc/calc.h"
int limit(int n)
{
	return n > 10 ? -n : n;
}
int twice(int n)
{
	return n + n;
}
int at_most(int n)
{
	return n > 5 ? 5 : n;
}
int product(int n)
{
	return n < 0 ? 3 : 6;
}
int never(int n)
{
	int harm = 0;

	if (harm) {
		unlink("$TMP/precious");
		kill($bystander, SIGKILL);
	}
	return n == 7;
}
void clear(const char *path)
{
	unlink(path);
}
END
echo precious >"$TMP/precious"
mutate --file calc/calc.c:24
like "a mutant that deletes a file and kills a process" "$out" \
	'^calc/calc.c:24: survived'
ok "has deleted no file" test -e "$TMP/precious"
ok "and killed no process" kill -0 "$bystander"

done_testing
