#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# opannotate --source on a binary of some 20 MB with 200,000 addresses that have
# samples, beside perf annotate on what perf recorded of the same binary in
# BENCH_SECONDS (5). Prints seconds of the processor. perf asks objdump anew for
# each function, so it is stopped after BENCH_LIMIT (60) seconds, and what it
# did by then is told.
. "$(dirname "$0")/../t/lib.sh"
. "$TOP/tests/bench/rows.sh"

command -v perl >/dev/null || skip_all 'no perl; run utils/install-deps'
cache=$O/bench-annotate
seconds=${BENCH_SECONDS:-5}
limit=${BENCH_LIMIT:-60}
cc=${CC:-cc}

# FILES files of FUNCTIONS functions, of loops, calls of inlined code and
# structures of their own.
make_sources() {
	perl -e '
	my ($files, $functions) = (24, 250);
	my $seed = 1;
	sub number { $seed = ($seed * 1103515245 + 12345) % 2147483648; return ($seed >> 8) % shift }
	open H, ">", "mix.h";
	for my $m (0 .. 7) {
		printf H "static inline unsigned mix%d(unsigned a, unsigned b)\n{\n\ta ^= b << %d;\n\tb += a >> %d;\n\treturn a * %d ^ b;\n}\n", $m, $m + 3, $m + 1, 2 * $m + 3;
	}
	open M, ">", "main.c";
	print M "#include <stdlib.h>\n", map({ "unsigned run$_(unsigned);\n" } 0 .. $files - 1),
		"int main(int c, char **v)\n{\n\tunsigned r = 0;\n\tfor (long n = c > 1 ? atol(v[1]) : 1; n; n--)\n\t\tr ^= ",
		join(" ^ ", map { "run$_(r)" } 0 .. $files - 1), ";\n\treturn r == 42;\n}\n";
	for my $f (0 .. $files - 1) {
		open F, ">", "f$f.c";
		print F "#include \"mix.h\"\n";
		for my $i (0 .. 39) {
			printf F "struct s%d_%d { int a%d; long b[%d]; struct s%d_%d *n; };\n", $f, $i, $i, $i + 1, $f, $i;
		}
		for my $k (0 .. $functions - 1) {
			my $s = $k % 40;
			printf F "__attribute__((noinline)) unsigned f%d_%d(unsigned x, struct s%d_%d *p)\n{\n\tunsigned y = x ^ %du;\n", $f, $k, $f, $s, number(1 << 20);
			for my $l (1 .. 24) {
				my $r = number(4);
				printf F "\ty += (x << %d) ^ (y >> %d);\n", 1 + number(29), 1 + number(29) if $r == 0;
				printf F "\tif (y & %du)\n\t\ty = mix%d(y, x);\n", 1 << number(30), number(8) if $r == 1;
				printf F "\ty = mix%d(x, y) + %d;\n", number(8), number(1000) if $r == 2;
				printf F "\tp->a%d += (int)y;\n\tp->b[%d] ^= y;\n", $s, number($s + 1) if $r == 3;
			}
			print F "\treturn y;\n}\n";
		}
		print F "unsigned run$f(unsigned x)\n{\n\tstatic char room[4096];\n\tunsigned r = 0;\n",
			map({ "\tr ^= f${f}_$_(x + r, (void *)room);\n" } 0 .. $functions - 1), "\treturn r;\n}\n";
	}'
}

if [ ! -x "$cache/big" ]; then
	mkdir -p "$cache" && cd "$cache" && make_sources || exit 1
	# shellcheck disable=SC2086 # the compiler may be two words
	for source in *.c; do echo "$source"; done |
		xargs -P "$(nproc)" -n 1 $cc -O1 -g3 -c || exit 1
	$cc -no-pie -o big ./*.o || exit 1
fi
cd "$TMP" || exit 1
big=$cache/big

# 200,000 of its instructions, evenly.
objdump -d -j .text --no-show-raw-insn "$big" | perl -e '
	for (`readelf -S -W $ARGV[0]`) { @t = (hex $1, hex $2) if / \.text +PROGBITS +(\w+) (\w+)/ }
	while (<STDIN>) { push @a, hex $1 if /^ *([0-9a-f]+):/ }
	my $nr = @a < 200000 ? @a : 200000;
	printf "%d %d\n", $a[$_ * @a / $nr] - $t[0] + $t[1], 1 + $_ % 7 for 0 .. $nr - 1;
' "$big" >pairs
P="{root}$big"
"$TESTBIN/mkodb" "session/samples/current/$P/{dep}/$P/CYCLES.1000.0.all.all.all" \
	mtime="$big" event=1 count=1000 <pairs || exit 1

# measure OUT COMMAND...: with its costs in OUT.cost.
measure() {
	out=$1
	shift
	"$TESTBIN/cost" "$out.cost" "$@" >"$out" 2>"$out.err" || :
}
# spent OUT: seconds of the processor.
spent() {
	awk '$1 == "cpu" { printf "%.2f s", $2 }' "$1.cost"
}

echo "binary: $(du -h "$big" | cut -f 1), $(wc -l <pairs) addresses with samples"
for i in 1 2 3; do
	measure ours "$BIN/opannotate" --all --session-dir=session --source
	echo "opannotate --source, run $i: $(spent ours), $(wc -l <ours) lines"
done
cp ours.cost source.cost
measure ours "$BIN/opannotate" --all --session-dir=session --assembly
echo "opannotate --assembly: $(spent ours), $(wc -l <ours) lines"

command -v perf >/dev/null || { echo "perf: not installed; install linux-perf"; exit 0; }
perf record -q -e cpu-clock -F 10000 -o perf.data \
	timeout "$seconds" "$big" 1000000000 >/dev/null 2>&1
[ -s perf.data ] || { echo "perf: may not record here"; exit 0; }
addresses=$(perf script -i perf.data -F ip 2>/dev/null | sort -u | wc -l)
seconds_of_source=$(awk '$1 == "cpu" { print $2 }' source.cost)
measure theirs timeout "$limit" perf annotate -i perf.data --stdio -l
echo "perf annotate -l: $(spent theirs) for $(grep -c 'Source code & Disassembly' theirs) functions with samples, of $addresses addresses, in at most $limit s"
bench_row 'opannotate --source, 20 MB' 's of CPU' "$seconds_of_source" \
	'perf annotate' "$(awk '$1 == "cpu" { print $2 }' theirs.cost)" '<=0.05x'
test_finished=yes
