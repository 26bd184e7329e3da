#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Callers are found by reading code, too: instructions are decoded as binutils
# do, and the code of a binary says of its frames what its unwind data say.
# timeout: 300
. "$(dirname "$0")/../lib.sh"

case $(uname -m) in
x86_64) here=x86-64 ;;
*) here=AArch64 ;;
esac

decode() {
	objdump -d -w "$1" 2>/dev/null | "$TESTBIN/insncheck" >"$TMP/counts"
}

# decodes NAME LEAST FILE: the same lengths and kinds of at least so many.
decodes() {
	ok "$1: no instruction differs" decode "$3"
	nr=$(sed -n 's/^instructions //p' "$TMP/counts")
	ok "$1: $nr instructions" [ "${nr:-0}" -ge "$2" ]
}

compare() {
	"$TESTBIN/returncheck" "$@" >"$TMP/counts"
}

# returns NAME LEAST ARG... FILE: no more differ than may, and at least LEAST
# percent of all have an answer.
returns() {
	name=$1 least=$2
	shift 2
	ok "$name: code and unwind data agree" compare "$@"
	diag "$(cat "$TMP/counts")"
	share=$(sed -n 's/.*checked \([0-9]*\) equal \([0-9]*\).*/100*\2\/\1/p' "$TMP/counts")
	share=$((${share:-0}))
	ok "$name: $share % have an answer" [ "$share" -ge "$least" ]
}

libc=$(library 'libc\.so\.6')
if [ $here != x86-64 ]; then
	skip 'instructions' 'the binaries here are not of x86-64'
elif ! command -v objdump >/dev/null; then
	skip 'instructions' 'objdump not found; install the Debian package binutils'
else
	decodes libc 100000 "$libc"
	decodes 'a program' 10000 "$BIN/oprofiled"
fi
# Functions of libc that are written in assembly have no unwind data of what they
# push.
returns libc 90 -k 7 -m 1000 "$libc"
# Landing pads of exceptions end in calls that never return, with those of other
# functions after them.
returns libstdc++ 80 -k 7 -m 500 "$(library 'libstdc++\.so\.6')"
returns 'a program' 80 "$BIN/oprofiled"

cat >"$TMP/work.c" <<'END'
long leaf(long a) { return a * 3; }
extern long other(long *, long, long, long, long, long, long, long);
extern void fail(const char *) __attribute__((noreturn));
long one(long n) { long a[40]; for (int i = 0; i < 40; i++) a[i] = n + i;
	if (n == 7) fail("one");
	return n > 1 ? one(n - 1) + other(a, n, 1, 2, 3, 4, 5, 6) : leaf(n); }
long two(long n) { long a[n]; a[0] = n;
	return other(a, n, n, n, n, n, n, a[0]) + one(a[n - 1]); }
long three(long n) { long a[32] __attribute__((aligned(64))); a[0] = n;
	return other(a, n, n, n, n, n, n, a[0]) + n; }
long four(long (*f)(long), long n) { return n ? f(one(n)) : f(two(n)); }
END
# compiled CC FLAGS
compiled() {
	name="$1 $2"
	command -v "$1" >/dev/null || {
		skip "$name" "$1 is not installed"
		return
	}
	# shellcheck disable=SC2086 # flags
	ok "$name compiles" "$1" $2 -fPIC -shared -nostdlib \
		-o "$TMP/work.so" "$TMP/work.c"
	returns "$name" 60 -m 1000000 "$TMP/work.so"
}

for flags in -O0 -O2 -Os '-O2 -fno-omit-frame-pointer' \
	'-O2 -fno-asynchronous-unwind-tables -g'; do
	compiled gcc "$flags"
	compiled clang "$flags"
	compiled aarch64-linux-gnu-gcc "$flags"
done
compiled aarch64-linux-gnu-gcc '-O2 -mbranch-protection=pac-ret'
other=$(aarch64-linux-gnu-gcc -print-file-name=libc.so.6 2>/dev/null)
if [ -f "$other" ]; then
	returns 'libc of AArch64' 90 -k 7 -m 1000 "$other"
else
	skip 'libc of AArch64' 'aarch64-linux-gnu-gcc is not installed'
fi

# They must be able to see a difference.
printf '  1000:\t48 83 ec 08          \tret\n  1004:\tc3 90                \tret\n' |
	"$TESTBIN/insncheck" >"$TMP/counts" 2>/dev/null
is 'other instructions differ' "$(sed -n 's/^wrong //p' "$TMP/counts")" 2
cat >"$TMP/wrong.s" <<'END'
	.text
f:	.cfi_startproc
	.cfi_def_cfa_offset 64
	ret
	.cfi_endproc
END
ok 'wrong data compile' gcc -shared -nostdlib -o "$TMP/wrong.so" "$TMP/wrong.s"
compare "$TMP/wrong.so" 2>/dev/null
like 'other frames differ' "$(cat "$TMP/counts")" 'wrong 1 returned'
done_testing
