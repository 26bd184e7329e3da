#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stripped static programs that are profiled live: a static program in C has the
# function that runs as a row of its own, as many rows as the twin with symbols has
# functions, and a Go program, which is gone by then, has names and whole stacks.
# sanitized: no
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"
needs_perf own
RATE=1000
cd "$TMP" || exit 1

# share COUNT: of all samples of programs in the rows, it is at least half. The
# function burns nine tenths of the time, the kernel has some.
share() {
	[ $(($1 * 2)) -ge "$(user_rows <found | sum '.*' '.*')" ]
}

cat >burn.c <<'END2'
#include <time.h>
static volatile unsigned long sum;
static __attribute__((noinline, noclone)) void burn(void)
{
	for (unsigned long i = 0; i < 1000000; i++)
		sum += i;
}
int main(void)
{
	while (clock() < CLOCKS_PER_SEC)
		burn();
	return 0;
}
END2
${CC:-cc} -O1 -static -Wl,--build-id -Wl,--no-eh-frame-hdr -o twin burn.c &&
	strip -o prog twin || exit 1
profiled "C" "$TMP/prog"
rows image:"*" >found
address=$(nm twin | sed -n 's/^0*\([0-9a-f]*\) . burn$/\1/p')
burn=$(sum prog "[(]0x${address}[)]" <found)
ok "C: $burn samples are in the function that runs" share "$burn"
functions=$(nm twin | grep -c ' [tTiW] ')
ok "C: no more rows than $functions functions" \
	test "$(awk -F '\t' '$2 == "prog"' found | wc -l)" -le "$functions"

command -v go >/dev/null || {
	skip "Go" "no go; install the Debian package golang-go"
	done_testing
}
cat >burn.go <<'END2'
package main

import (
	"os"
	"time"
)

var sum uint64

//go:noinline
func burn() {
	for i := uint64(0); i < 1000000; i++ {
		sum += i
	}
}

type work interface{ do() }
type worker struct{}

//go:noinline
func (w *worker) do() {
	burn()
	sum++
}

func main() {
	var w work = &worker{}
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		w.do()
	}
	os.Remove(os.Args[0])
}
END2
HOME=$TMP GOCACHE=$TMP/cache GO111MODULE=off GOFLAGS='' go build \
	-ldflags='-s -w' -o goprog burn.go || exit 1
cp goprog again
rm -rf "$SESSION"
profiled "Go" "$TMP/goprog"
is "Go: the program is gone" "$(ls goprog 2>/dev/null)" ""
rows image:"*" >found
burn=$(sum goprog 'main[.]burn' <found)
ok "Go: $burn samples are in the function that runs" share "$burn"
# A function that calls nothing has its caller's frame pointer: it is the caller's
# caller that this leads to.
profiled "Go, with stacks" -g "$TMP/again"
report --format=folded
all=$(awk '/main[.]burn[; ]/ { n += $NF } END { print n + 0 }' "$TMP/report")
right=$(awk '/^again;runtime[.]goexit[^;]*;runtime[.]main;main[.]main;main[.][^;]*do;main[.]burn[; ]/ {
	n += $NF } END { print n + 0 }' "$TMP/report")
wrong=$(awk '!/^again;\[/ && /main[.]burn[; ]/ && !/;main[.][^;]*do;main[.]burn[; ]/ {
	n += $NF } END { print n + 0 }' "$TMP/report")
ok "Go: $right of $all stacks have all its callers" \
	[ "$all" -gt 50 -a $((right * 10)) -ge $((all * 9)) ]
is "Go: no whole stack lacks one" "$wrong" 0
done_testing
