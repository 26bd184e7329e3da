#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The tables that stacks are unwound with hold what binutils say is in a file:
# each row of it, for both machines.
# timeout: 300
. "$(dirname "$0")/../lib.sh"

command -v readelf >/dev/null ||
	skip_all 'readelf not found; install the Debian package binutils'

compare() {
	readelf -W --debug-dump=frames-interp "$1" 2>/dev/null |
		"$TESTBIN/cficheck" "$1" >"$TMP/counts"
}

# rows NAME LEAST FILE: all that are in FILE, at least so many.
rows() {
	if [ ! -e "$3" ]; then
		skip "$1" "${3:-it} is not here"
		return
	fi
	ok "$1: no row differs" compare "$3"
	nr=$(sed -n 's/^rows //p' "$TMP/counts")
	ok "$1: $nr rows" [ "${nr:-0}" -ge "$2" ]
}

rows libc 10000 "$(library 'libc\.so\.6')"
rows libstdc++ 10000 "$(library 'libstdc++\.so\.6')"
rows 'a program' 100 "$BIN/oprofiled"

cat >"$TMP/work.c" <<'END'
long leaf(long a) { return a * 3; }
extern long other(long *, long);
long one(long n) { long a[40]; for (int i = 0; i < 40; i++) a[i] = n + i;
	return n > 1 ? one(n - 1) + other(a, n) : leaf(n); }
long two(long n) { long a[n]; a[0] = n; return other(a, n) + one(a[n - 1]); }
double three(double x, long n) { for (; n; n--) x = x * other(0, n) + x; return x; }
END
# What is compiled with these: also what says that addresses are signed, and
# sections of debuggers, packed.
for flags in '-O2' '-O0' '-O2 -mbranch-protection=pac-ret' \
	'-O2 -g -gz=zlib -fno-asynchronous-unwind-tables'; do
	name="AArch64 $flags"
	cc=aarch64-linux-gnu-gcc
	command -v $cc >/dev/null || {
		skip "$name" "$cc is not installed"
		continue
	}
	# shellcheck disable=SC2086 # flags
	ok "$name compiles" $cc $flags -fPIC -shared -nostdlib \
		-o "$TMP/work.so" "$TMP/work.c"
	rows "$name" 10 "$TMP/work.so"
done

# It must be able to see a difference.
other=$(library 'libm\.so\.6')
readelf -W --debug-dump=frames-interp "$(library 'libc\.so\.6')" 2>/dev/null |
	"$TESTBIN/cficheck" "$other" >"$TMP/counts" 2>/dev/null
like 'rows of another file differ' "$(cat "$TMP/counts")" '^wrong [1-9]'
done_testing
