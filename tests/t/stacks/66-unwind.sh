#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks of real programs without frame pointers, stopped at random moments and
# at each of the instructions that follow: what the daemon unwinds from the
# registers and the top of the stack is whole, and is what elfutils say of the
# process itself. Where a program is stopped is chance; that the two agree is
# not.
# timeout: 600
# sanitized: yes
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

[ -x "$TESTBIN/unwindcheck" ] ||
	skip_all 'unwindcheck was not built; install the Debian package libdw-dev'
unset DEBUGINFOD_URLS
case $("$TESTBIN/unwindcheck" -n 1 true 2>&1) in
*'Operation not permitted'*) skip_all 'ptrace(2) is not permitted here' ;;
esac

# count NAME: of what unwindcheck printed.
count() {
	awk -v name="$1" '$1 == name { print $2 }' "$TMP/counts"
}

check() {
	"$TESTBIN/unwindcheck" "$@" >"$TMP/counts"
}

# Where a program is stopped so often, half as often will do for each commit.
part=2
[ "${TIER:-check}" = check ] || part=1

# unwinds NAME STOPS STEPS [OPTION]... CMD...: stopped as often, with so many
# instructions after each, no stack is wrong, and $percent in 100 are not whole,
# but for chance (rarely). What follows on a stop is much like it: as many stacks
# say no more than one stop.
percent=1
unwinds() {
	name=$1 nr=$(($2 / part)) steps=$3
	shift 3
	ok "$name: no stack differs" check -v -n $nr -b "$steps" "$@"
	stops=$(count stops)
	# It may end within these instructions, and is run again.
	ok "$name: $stops stacks" [ "$stops" -ge $((nr * steps)) ]
	whole=$(count whole)
	ok "$name: $whole are whole" rarely \
		$(((stops - whole + steps) / (steps + 1))) $nr $percent
	# Or it would say nothing that none differs. The model does not know how
	# a program starts, in ld.so.
	model=$(count model-whole)
	ok "$name: $model of the model are whole" [ $((model * 2)) -ge "$stops" ]
	diag "$(tr '\n' ' ' <"$TMP/counts")"
}

# ---- each instruction of a program ----------------------------------------------

# The model does not know how one starts, in ld.so, only where libraries that
# are not bound yet call each other.
if [ $part -eq 1 ]; then
	ok 'from the first instruction to the last: no stack differs' \
		check -v -n 1 -b 1000000 true
	ok "$(count stops) instructions" [ "$(count stops)" -ge 20000 ]
	ok "$(count model-whole) stacks are compared" \
		[ "$(count model-whole)" -ge 500 ]
else
	ok 'the first 20,000 instructions: no stack differs' \
		check -v -n 1 -b 20000 true
	is 'so many' "$(count stops)" 20001
fi

# ---- shapes of stacks ------------------------------------------------------------

for flags in -O2 -O0 '-O2 -fomit-frame-pointer -fcf-protection' -Os; do
	# shellcheck disable=SC2086 # flags
	ok "shapes $flags compile" "${CC:-gcc}" $flags -o "$TMP/shapes" \
		"$TOP/tests/helper/shapes.c"
	unwinds "shapes $flags" 100 30 "$TMP/shapes"
done

cat >"$TMP/throw.cc" <<'END'
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
struct Guard { std::string s; ~Guard() { s += "x"; } };
static std::map<int, std::string> seen;
__attribute__((noinline)) static int fall(int n)
{
	Guard guard;
	if (!n)
		throw std::runtime_error(std::to_string(rand()));
	int m = fall(n - 1);
	seen[m] = guard.s;
	return m;
}
int main()
{
	for (;;)
		try {
			fall(rand() % 12);
		} catch (const std::exception &e) {
			seen[atoi(e.what()) % 99] = e.what();
		}
}
END
if command -v c++ >/dev/null; then
	ok 'exceptions compile' c++ -O2 -o "$TMP/throw" "$TMP/throw.cc"
	# While a stack is being left, what is on it is no stack.
	percent=5
	unwinds exceptions 200 15 "$TMP/throw"
	percent=1
else
	skip exceptions 'c++ is not installed; install the Debian package g++'
fi

# ---- programs of Debian's --------------------------------------------------------

cat >"$TMP/work.sql" <<'END'
create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 200000)
	insert into t select x, hex(x * x) from c;
create index i on t(b);
select count(*), max(b), sum(length(b)) from t where b like '%A%';
END
cat >"$TMP/work.py" <<'END'
import functools, json, re
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
for i in range(30):
    fib(20)
    re.findall(r'(a|b)*c', 'abcabc' * 2000)
    json.loads(json.dumps([{'a': i} for i in range(20000)]))
    sorted(range(20000), key=functools.cmp_to_key(lambda a, b: a - b))
END
cat "$BIN"/* "$BIN"/* >"$TMP/work.bin"
cat >"$TMP/work.c" <<'END'
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define F(n) int f##n(int *p, int k) { int s = 0; for (int i = 0; i < k; i++) \
	{ switch (p[i] % 7) { case 0: s += p[i]; break; case 1: s ^= f##n(p, i); \
	break; case 3: s -= k / (i + 1); break; default: s *= n; } } return s; }
#define T(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7)
T(1) T(2) T(3) T(4) T(5) T(6) T(7) T(8) T(9)
END

# program NAME STOPS STEPS [-s BYTES] CMD...: skipped if it is not there.
program() {
	name=$1 stops=$2 steps=$3
	shift 3
	bytes=65536
	[ "$1" != -s ] || { bytes=$2 && shift 2; }
	if command -v "$1" >/dev/null; then
		unwinds "$name" "$stops" "$steps" -s "$bytes" "$@"
	else
		skip "$name" "$1 is not installed"
	fi
}

program gzip 150 10 gzip -9c "$TMP/work.bin"
program sqlite3 150 10 sqlite3 :memory: ".read $TMP/work.sql"
program python3 150 10 /usr/bin/python3 "$TMP/work.py"
cc1=$(gcc -print-prog-name=cc1 2>/dev/null)
gcc -E "$TMP/work.c" -o "$TMP/work.i" 2>/dev/null
# Some passes of it have more on the stack than a sample takes along.
program cc1 150 10 -s 1048576 "${cc1:-cc1}" -quiet -O2 "$TMP/work.i" -o "$TMP/work.s"
done_testing
