#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks and names of code that is in memory and not in a mapping of its file,
# from perf_events: tests/vm/t/38-memory.sh has the same of the module.
# sanitized: no
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"
. "$(dirname "$0")/../elsewhere.sh"

RATE=1000
needs_perf own

for mode in plain copied part; do
	profiled "$mode" -g "$TESTBIN/elsewhere" $mode 0.3 </dev/null
	known_tree "$mode" elsewhere
done
profiled memfd -g "$TESTBIN/elsewhere" memfd 0.3 </dev/null
known_tree memfd memfd:elsewhere

"$TESTBIN/elsewhere" copied 60 </dev/null >"$TMP/ready" &
await line "$TMP/ready" ready
profiled "copied before the start" -g --pid=$! --duration=1
kill $!
known_tree "copied before the start" elsewhere

# Perf_events are not told that code is moved; in all it burns 0.8 s of CPU time.
cat >"$TMP/moves.c" <<'END'
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

__attribute__((noipa, aligned(4096), section("own_page"))) void moving_leaf(long n)
{
	while (n--)
		__asm__ volatile("");
}

/* The function has the page for itself. */
__attribute__((noipa, aligned(4096), section("own_page"))) void stays(void)
{
}

int main(void)
{
	char *at = (char *)(uintptr_t)moving_leaf;
	double end = 0;

	for (int i = 0; i < 4; i++) {
		char *to = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		at = mremap(at, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to);
		if (at == MAP_FAILED)
			return 1;
		for (end += 0.2; (double)clock() / CLOCKS_PER_SEC < end;)
			((void (*)(long))(uintptr_t)at)(100000);
	}
	return 0;
}
END
gcc -O2 -o "$TMP/moves" "$TMP/moves.c" || exit 1
rm -rf "$SESSION"
profiled "code that moves" "$TMP/moves"
nr=$(rows --threshold=0 | awk '$3 == "moving_leaf" { n += $1 } END { print n + 0 }')
ok "code that moves: $nr samples have its name" [ "$nr" -ge 500 ]
is "code that moves: none is lost for it" \
	"$(sed -n 's/^lost\.sample_lost_no_mapping = //p' "$CURRENT/ledger")" ""

# ---- as an ordinary user, who may not open what is mapped

[ "$(id -u)" -ne 0 ] || AS=as_user
user_folder work
profiled "a user's memfd" -g "$TESTBIN/elsewhere" memfd 0.3 </dev/null
known_tree "a user's memfd" memfd:elsewhere

cat >"$TMP/library.c" <<'END'
#include <time.h>
#define OWN __attribute__((noipa))

OWN void lib_leaf(long n)
{
	while (n--)
		__asm__ volatile("");
}

OWN void lib_middle(double seconds)
{
	double end = (double)clock() / CLOCKS_PER_SEC + seconds;

	while ((double)clock() / CLOCKS_PER_SEC < end)
		lib_leaf(100000);
}

OWN void lib_burn(double seconds)
{
	lib_middle(seconds);
	__asm__ volatile("");
}
END
cat >"$TMP/unlinks.c" <<'END'
#include <dlfcn.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	void *library = dlopen(argv[argc - 1], RTLD_NOW);

	unlink(argv[argc - 1]);
	((void (*)(double))dlsym(library, "lib_burn"))(0.4);
	return 0;
}
END
cd "$TMP" || exit 1
gcc -O2 -o work/unlinks unlinks.c || exit 1
# A linker's other ways to write the tables that the symbols are found by, too.
for style in sysv gnu; do
	gcc -O2 -shared -fPIC -Wl,--hash-style=$style -o work/gone.so library.c ||
		exit 1
	profiled "an unlinked library, $style" -g work/unlinks "$TMP/work/gone.so"
	report --format=folded --no-inlines
	awk '/;main;/ { all += $NF }
		/;_start;.*;main;lib_burn;lib_middle;lib_leaf/ { true += $NF }
		END { print all + 0, true + 0 }' report >sums
	read -r all true <sums
	ok "$style: $true of $all samples have their stack and all names" \
		[ "$all" -ge 100 -a $((true * 10)) -ge $((all * 9)) ]
	rm -rf "$SESSION"
done
done_testing
