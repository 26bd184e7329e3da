#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opreport --format=pprof, read by `go tool pprof`: samples and totals are those of
# opreport -l; what is known of mappings, functions, inlined functions, tasks,
# events and losses; profiles are added up and compared.
# timeout: 300
# shellcheck disable=SC1083 # the braces of comparisons
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../viewers.sh"

go=$(command -v go) || skip_all "go: not found; utils/install-deps check"
viewers_sessions
cd "$TMP" || exit 1
export HOME="$TMP" PPROF_TMPDIR="$TMP/pprof"

# profile_of FILE ARG...: a file there.
profile_of() {
	file=$1
	shift
	report --format=pprof -o "$file" "$@"
}

pprof() {
	"$go" tool pprof "$@" 2>go.err
}

# top FILE [OPTION...]: "SELF TOTAL NAME" of each function, as symbols() has them.
top() {
	file=$1
	shift
	pprof -top -nodefraction=0 -edgefraction=0 -nodecount=100000 "$@" "$file" |
		awk '/^ +flat  flat%/ { rows = 1; next } rows {
			name = $6
			for (i = 7; i <= NF; i++)
				name = name " " $i
			sub(/ \((partial-)?inline\)$/, "", name)
			print $1 + 0, $4 + 0, name }' | sort
}

# ---- samples and totals ----------------------------------------------------------

for name in current flat mixed inlines; do
	ok "a file of $name" profile_of $name.pb.gz session:$name
	is "$name: samples and totals are those of the table" \
		"$(top $name.pb.gz | grep -v truncated)" "$(symbols session:$name)"
done
is "stacks that are not whole" "$(top current.pb.gz | grep truncated)" \
	"0 10 [truncated]"
profile_of again.pb.gz session:current
profile_of again.pb.gz session:current
cp again.pb.gz first.pb.gz
profile_of again.pb.gz session:current
is "the same again" "$(cksum <again.pb.gz)" "$(cksum <first.pb.gz)"
ok "two events" profile_of two.pb.gz session:two
for event in CPU MISS; do
	is "samples and totals of $event" \
		"$(top two.pb.gz -sample_index=samples:$event | grep -v truncated)" \
		"$(symbols session:two event:$event)"
done
is "a stack has the samples of both" "$(pprof -raw two.pb.gz |
	sed -n '/^samples:/p; s/^ *\(10 .* 4500000\):.*/\1/p' | tr -s ' ')" "\
samples:CPU/count[dflt] CPU/count samples:MISS/count MISS/count
10 1000000 900 4500000"
is "how many events that is" "$(top two.pb.gz -sample_index=MISS | grep ' main$')" \
	"75000 4950000 main"
like "of the timer it is time" "$(pprof -top -unit=ms -sample_index=TIMER current.pb.gz)" \
	'^ *15ms  1.50%  *[0-9.]+%  *990ms 99.00%  main$'
ok "threads" profile_of threads.pb.gz session:threads
ok "without the application's libraries" profile_of own.pb.gz session:current -x
like "samples in the application" "$(pprof -top own.pb.gz)" ' 925 total$'
ok "what is small" profile_of cut.pb.gz session:current -t 5
is "is cut off" "$(top cut.pb.gz | grep below)" "85 85 (below the threshold)"

# ---- what is known ---------------------------------------------------------------

pprof -raw inlines.pb.gz >raw
is "mappings" "$(sed '1,/^Mappings/d' raw)" \
	"1: 0x0/0x$(printf %x $((($(at inlines 0) / 4096 + 1) * 4096)))/0x0 $TMP/prog $BUILD_ID [FN][FL][IN]"
is "locations have inlined functions, the innermost first" "$(sed -n \
	'/^Locations/,/^Mappings/s/^ *[0-9]*: \(0x[0-9a-f]*\) M=1 inner .* s=\([0-9]*\)$/\1 \2/p' raw)" \
	"0x$(printf %x "$(at inlines 0)") 1"
is "the functions around it" "$(grep -A 2 'M=1 inner ' raw | awk '
	NR > 1 { print $1, $NF }')" "\
middle s=7
inlines s=11"
like "names of sources" "$(cat raw)" "M=1 main $TMP/prog.c:0 s=15\$"
is "labels of tasks" "$(pprof -tags threads.pb.gz | sed -n \
	-e 's/^ *\([a-z]*:\) Total .*/\1/p' -e "s|$TMP/||" \
	-e 's/^.*%): //p' | xargs)" \
	"application: prog cgroup: /web.slice/nginx.service / process: prog tgid: 7 9 thread: prog worker tid: 7 8 9"
profile_of merged.pb.gz session:threads --merge=all
is "those that are not merged" "$(pprof -tags merged.pb.gz | grep -c Total)" 0
is "by session" "$(profile_of both.pb.gz session:current,mixed --by-session &&
	pprof -tags both.pb.gz | grep -A 2 session: | awk '{ print $1, $NF }' | xargs)" \
	"session: 1550.0 1000.0 current 550.0 mixed"
is "comments" "$(pprof -comments current.pb.gz | sed 's/ $//' | "$TESTBIN/facts")" "\
CPU with timer interrupt, 1000 samples per second and CPU — opreport --session-dir=$SESSION --format=pprof -o current.pb.gz session:current
Samples: 1012 = 1000 + 12 (12 lost_overflow)
Stacks: 1000 stored = 990 whole + 10 truncated"
like "the program comes first" "$(pprof -top mixed.pb.gz)" "^File: prog\$"

# ---- what people do with it --------------------------------------------------------

is "callers and callees" "$(pprof -peek '^busy$' current.pb.gz | awk '
	$3 == "|" { print $1, $4 }')" "\
775 main
700 leaf
40 do_syscall_64
35 [libz.so.1]"
is "changes" "$(top current.pb.gz -diff_base=mixed.pb.gz | grep -E 'leaf|busy|main')" "\
-2 398 busy
0 500 main
460 460 leaf"
ok "profiles are added up" pprof -proto -output=sum.pb.gz current.pb.gz mixed.pb.gz
is "to the sum of both" "$(top sum.pb.gz | grep -v truncated)" \
	"$(symbols session:current,mixed)"

# ---- what cannot be ----------------------------------------------------------------

report --format=pprof { session:current } { session:mixed } >out
is "a comparison" "$?: $(cat out err)" \
	"1: opreport: --format=pprof does not show comparisons; write each profile by itself, or use another format"
report --format=pprof --tree=callers >out
is "callers below callees" "$?: $(cat out err)" \
	"2: opreport: --tree=callers has no effect on --format=pprof, whose readers show callers themselves; leave it out"
report --format=pprof -o /dev/full
like "a full disk" "$?: $(cat err)" 'opreport: /dev/full: cannot be written: No space'
done_testing
