#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What inlined functions cost: opreport -l on a C++ program of some 25 MB with
# debug information, without them, when they are looked for in that information,
# and when the session's store has them. Once for samples of a run of 200 rounds,
# once for 3,000 addresses all over the code. Prints instructions
# (valgrind) and the least seconds of the processor of 25 runs.
. "$(dirname "$0")/../t/lib.sh"
. "$TOP/tests/bench/rows.sh"

for program in perl valgrind python3; do
	command -v $program >/dev/null ||
		skip_all "no $program; run utils/install-deps"
done
cache=$O/bench-inlines
cxx=${CXX:-g++}

# 12 files, each with containers and algorithms of the standard library over
# types of its own.
make_sources() {
	perl -e '
	my ($files, $types) = (12, 4);
	open M, ">", "main.cc";
	print M "#include <cstdlib>\n", map({ "unsigned run$_(unsigned);\n" } 1 .. $files),
		"int main(int c, char **v)\n{\n\tunsigned r = 0;\n\tfor (long n = c > 1 ? atol(v[1]) : 1; n; n--)\n\t\tr ^= ",
		join(" ^ ", map { "run$_(r + n)" } 1 .. $files), ";\n\treturn r == 42;\n}\n";
	for my $f (1 .. $files) {
		open F, ">", "f$f.cc";
		print F map({ "#include <$_>\n" } qw(algorithm functional map numeric string unordered_map vector)), "namespace f$f {\n";
		for my $t (1 .. $types) {
			my $m = 3 + 2 * ($f + $t);
			print F <<"EOF";
struct key$t {
	unsigned a;
	std::string b;
	bool operator<(const key$t &o) const { return a * ${m}u < o.a * ${m}u || (a == o.a && b < o.b); }
	bool operator==(const key$t &o) const { return a == o.a && b == o.b; }
};
struct hash$t {
	size_t operator()(const key$t &k) const { return k.a * ${m}u ^ std::hash<std::string>()(k.b); }
};
__attribute__((noinline)) unsigned work$t(unsigned x)
{
	std::map<key$t, unsigned> tree;
	std::unordered_map<key$t, std::vector<unsigned>, hash$t> table;
	std::vector<key$t> keys;
	for (unsigned i = 0; i < 40; i++)
		keys.push_back({ i * x % 17, std::to_string(i % 7) });
	std::sort(keys.begin(), keys.end());
	std::stable_sort(keys.begin(), keys.end(), [x](const key$t &p, const key$t &q) { return (p.a ^ x) < (q.a ^ x); });
	for (const key$t &k : keys) {
		tree[k] += x;
		table[k].push_back(k.a);
	}
	std::function<unsigned(unsigned)> add = [&](unsigned y) {
		return std::accumulate(keys.begin(), keys.end(), y, [](unsigned s, const key$t &k) { return s + k.a; });
	};
	unsigned sum = add(x);
	for (auto &e : tree)
		sum += e.second;
	for (auto &e : table)
		sum ^= std::accumulate(e.second.begin(), e.second.end(), 0u);
	return sum;
}
EOF
		}
		print F "}\nunsigned run$f(unsigned x)\n{\n\treturn ", join(" + ", map { "f${f}::work$_(x)" } 1 .. $types), ";\n}\n";
	}'
}

if [ ! -x "$cache/big" ]; then
	mkdir -p "$cache" && cd "$cache" && make_sources || exit 1
	for source in *.cc; do echo "$source"; done |
		xargs -P "$(nproc)" -n 1 "$cxx" -O2 -g -c || exit 1
	"$cxx" -Wl,--build-id -o big ./*.o || exit 1
	rm ./*.o
fi
cd "$TMP" || exit 1
big=$cache/big

# cost NAME OPTION...: of a report on the session NAME.
cost() {
	name=$1
	shift
	instructions=$(valgrind --tool=callgrind --callgrind-out-file=callgrind.out \
		"$BIN/opreport" --session-dir="$name" -l "$@" 2>&1 >/dev/null |
		awk '/Collected/ { print $NF }')
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
		"$TESTBIN/cost" cost "$BIN/opreport" --session-dir="$name" -l "$@" \
			>/dev/null 2>&1
		awk '$1 == "cpu" { print $2 }' cost
	done | sort -n | awk -v i="$instructions" 'NR == 1 {
		printf "%.1f million instructions, %.1f ms\n", i / 1e6, $1 * 1e3 }'
}

E=TIMER.0.0.all.all.all
P="{root}$big"
id=$(readelf -n "$big" | sed -n 's/.*Build ID: //p')
"$BIN/operf" --session-dir=run --symbol-store=0 "$big" 200 2>/dev/null || exit 1
readelf -SW "$big" | perl -ne '
	next unless / \.text +PROGBITS +(\w+) (\w+) (\w+)/;
	my ($at, $len) = (hex $2, hex $3);
	print $at + int($_ * $len / 3000), " 1\n" for 0 .. 2999;' |
	"$TESTBIN/mkodb" "wide/samples/current/$P/{dep}/$P/$E" timer-hz=1000 \
		build-id="$id" || exit 1
echo "binary: $(du -h "$big" | cut -f 1)"
# row WHAT COST WITHOUT BAR: of what cost() says. Some milliseconds are too few to
# be compared.
row() {
	bench_row "opreport -l with inlines, $1" 'million instructions' \
		"${2%% million*}" 'opreport without' "${3%% million*}" "$4"
}
for session in run wide; do
	without=$(cost $session --no-inlines)
	echo "$session, without inlined functions: $without"
	first=$(cost $session)
	echo "$session, from debug information:    $first"
	"$BIN/opsymbols" --session-dir="$TMP/$session" || exit 1
	kept=$(cost $session)
	echo "$session, from the store:            $kept"
	row "$session, first" "$first" "$without" '<=2x'
	row "$session, then" "$kept" "$without" '<=1.2x'
done
test_finished=yes
