#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stripped static programs, with and without the table that unwinders search: each
# function has its row, as in the twin that has its symbols; from the file, from
# the store once it is gone, and from archives.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../stripped.sh"

SESSION=$TMP/session CURRENT=$TMP/session/samples/current
E=CPU_CLK_UNHALTED.100000.0.all.all.all
mkdir "$TMP/bin" && cd "$TMP" || exit 1
cat >prog.c <<'END2'
#define FAR __attribute__((noinline, noclone))
static FAR int first(int x) { return x * 3 + 1; }
static FAR int second(int x) { return x * 5 + 2; }
int main(int argc, char **argv) { (void)argv; return first(argc) + second(argc); }
END2
id_of() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}
# points FILE: a line for each function that the unwind data of the file describe:
# its offset in the file and a number of samples, 1 for the first and so on. The
# rows that these make without names go to "wanted".
points() {
	readelf --debug-dump=frames "$1" 2>/dev/null |
		sed -n 's/.* FDE .*pc=0*\([0-9a-f]*\)\.\..*/\1/p' | sort -u >starts
	readelf -SW "$1" | sed 's/\[ */[/' | awk '$2 == ".text" {
		print $4, $5, $6 }' >text
	nm --defined-only "$1" | awk '$2 ~ /^[tTiW]$/ {
		sub(/^0+/, "", $1); print $1 }' | sort -u >named
	comm -12 starts named | perl -e '
		open(my $text, "<", "text") or die;
		my ($vma, $at, $len) = map { hex } split " ", <$text>;
		open(my $wanted, ">", "wanted") or die;
		while (<STDIN>) {
			chomp;
			my $offset = hex($_) - $vma;
			next if $offset < 0 || $offset >= $len;
			printf "0x%x %d\n", $offset + $at, ++$n;
			print $wanted "$n (0x$_)\n";
		}'
}
# sample NAME FILE: these samples, in the session and as those of bin/NAME.
sample() {
	"$TESTBIN/mkodb" \
		"$CURRENT/{root}$TMP/bin/$1/{dep}/{root}$TMP/bin/$1/$E" \
		event=118 count=100000 build-id="$(id_of "bin/$1")" <"$2"
}
# rows NAME [ARG...]: counts and names of the rows of bin/NAME.
rows() {
	image=$TMP/bin/$1
	shift
	"$BIN/opreport" --session-dir="$SESSION" -n -l image:"$image" "$@" \
		2>"$TMP/err" | awk '{ print $1, $NF }' | sort -n
}

for how in --no-eh-frame-hdr --eh-frame-hdr; do
	rm -rf "$SESSION" archive bin/*
	${CC:-cc} -O1 -static -Wl,--build-id "-Wl,$how" -o bin/twin prog.c ||
		exit 1
	strip -o bin/prog bin/twin
	is "$how: the linker's table" \
		"$(readelf -SW bin/prog | grep -c '[.]eh_frame_hdr')" \
		"$([ "$how" = --eh-frame-hdr ] && echo 1 || echo 0)"
	points bin/twin >samples
	nr=$(wc -l <samples)
	ok "$how: $nr functions are described" test "$nr" -gt 500
	sample twin samples
	sample prog samples
	printf '%s\n' 'source = test' "taken = $((nr * (nr + 1)))" \
		"stored = $((nr * (nr + 1)))" 'pending = 0' >"$CURRENT/ledger"
	is "$how: a row for each in the twin" "$(rows twin | wc -l)" "$nr"
	is "$how: and none else without names" "$(rows prog)" "$(cat wanted)"
	rows_stay "$how"
done
done_testing
