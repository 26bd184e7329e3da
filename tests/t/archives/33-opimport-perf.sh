#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# opimport reads what perf record wrote of this machine: the same samples as
# perf report, symbol by symbol, stacks by frame pointers and by unwinding, and
# the account of what perf lost. Files that are cut or changed are refused with
# a reason, or give what is sound in them.
# sanitized: yes
# timeout: 600
# alone: yes
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

perf --version >/dev/null 2>&1 ||
	skip_all "no perf here: install linux-perf"
needs_perf own

cat >"$TMP/work.c" <<'END'
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
#define QUIET __attribute__((noinline, noclone))
QUIET void hot(int n) { while (n--) sink += 3 * (unsigned long)n; }
QUIET void cold(int n) { while (n--) sink ^= 5 * (unsigned long)n; }
QUIET void deep(int n) {
	if (n)
		deep(n - 1);
	else {
		hot(30000);
		cold(10000);
	}
	sink++;
}
int main(int argc, char **argv) {
	clock_t ms = argc > 1 ? atoi(argv[1]) : 1; /* of CPU time */
	for (int i = 0; clock() < ms * (CLOCKS_PER_SEC / 1000); i++)
		deep(i % 20);
	return 0;
}
END
cc=${CC:-cc}
WORK=work$$ # nobody else on the machine runs a program of this name
for how in no- ''; do
	$cc -O2 -fno-optimize-sibling-calls "-f${how}omit-frame-pointer" \
		-o "$TMP/$WORK.${how:-with-}fp" "$TMP/work.c" || exit 1
done
POINTERS=$TMP/$WORK.no-fp NONE=$TMP/$WORK.with-fp MS=300
E=cpu-clock

# Where somebody else profiles at the same time the kernel may have perf believe
# that inodes are build-ids, and perf aborts. So it is to have build-ids.
RECORD='perf record -q -F 997 --buildid-mmap'

# record FILE ARG...: of perf record; another -F is one of the ARGs.
record() {
	file=$1
	shift
	$RECORD -o "$TMP/$file" "$@" >/dev/null 2>"$TMP/perf.err" && return
	diag "$(cat "$TMP/perf.err")"
	return 1
}

# import FILE...: into the session, which begins anew.
import() {
	rm -rf "$SESSION"
	"$BIN/opimport" --output="$SESSION" "$@" 2>"$TMP/import.err" && return
	diag "$(cat "$TMP/import.err")"
	return 1
}

# theirs FILE [ARG]...: perf report's counts as COUNT, IMAGE and SYMBOL with tabs
# between; what is in the kernel is one line.
theirs() {
	file=$1
	shift
	perf report -i "$TMP/$file" --stdio --no-children -g none -n \
		--sort dso,sym "$@" 2>/dev/null | awk -v OFS='\t' '
	/^#/ || !NF { next }
	{ $1 = $1; split($0, field, "\t") }
	field[4] == "[k]" { kernel += field[2]; next }
	{ print field[2], field[3], field[5] }
	END { print kernel + 0, "kernel", "all" }'
}

# ours [ARG]...: the same of the session.
ours() {
	kernel_images >"$TMP/kernel_images"
	report -l --format=csv "$@"
	awk -F , -v OFS='\t' -v kernel="$TMP/kernel_images" '
	BEGIN { while ((getline < kernel) > 0) is_kernel["/" $1] = 1 }
	$2 != "symbol" || !$10 { next }
	$5 in is_kernel { sum += $10; next }
	{ sub(/.*\//, "", $5); print $10, $5, $6 }
	END { print sum + 0, "kernel", "all" }' "$TMP/report"
}

# programs: of the rows on stdin those of our programs, and the kernel's sum.
programs() {
	grep -E "	$WORK\.(no|with)-fp	(hot|cold|deep|main)\$|	kernel	" | sort
}

sum_of() {
	awk -F '\t' '{ n += $1 } END { print n + 0 }'
}

# same NAME FILE: imported samples are those of perf report.
same() {
	theirs "$2" >"$TMP/theirs"
	ours >"$TMP/ours"
	is "$1: the symbols" "$(programs <"$TMP/ours")" \
		"$(programs <"$TMP/theirs")"
	ok "$1: there are samples" [ "$(sum_of <"$TMP/ours")" -gt 50 ]
	is "$1: the sum" "$(sum_of <"$TMP/ours")" "$(sum_of <"$TMP/theirs")"
	is "$1: what is stored" "$(ledger stored)" "$(sum_of <"$TMP/ours")"
	ok "$1: taken = stored + lost" sums_up
}

# ---- flat ----------------------------------------------------------------------

ok "perf record" record flat -e $E "$POINTERS" $MS
ok "a file" import "$TMP/flat"
same "a file" flat
like "what became of the samples is said" "$(cat "$TMP/import.err")" \
	'^opimport: [0-9]* samples = [0-9]* stored \+ 0 lost$'
report
like "the event" "$(cat "$TMP/report")" \
	"Counted $E events .* count 1003009"
SESSION=$TMP/apart
ok "threads and CPUs" "$BIN/opimport" -t -c -o "$SESSION" "$TMP/flat" 2>/dev/null
CURRENT=$SESSION/samples/current
like "are kept apart" "$(sample_files)" '\.[0-9]+\.[0-9]+\.[0-9]+$'
CURRENT=$TMP/session/samples/current
ok "a pipe" sh -c "$RECORD -e $E -o - '$POINTERS' $MS |
	'$BIN/opimport' -o '$TMP/piped' - 2>'$TMP/err'"
SESSION=$TMP/piped
ok "its samples have symbols" [ "$(ours | sum "$WORK.*" hot)" -gt 50 ]
SESSION=$TMP/session

if "$TESTBIN/canperf" system 2>/dev/null; then
	ok "perf record -a -z" record all -a -z -e $E "$POINTERS" $MS
	ok "the whole machine, packed" import "$TMP/all"
	theirs all >"$TMP/theirs"
	ours >"$TMP/ours"
	is "the program's symbols" "$(programs <"$TMP/ours")" \
		"$(programs <"$TMP/theirs")"
	ok "taken = stored + lost" sums_up
	is "nothing is missing" "$(ledger taken)" "$(sum_of <"$TMP/theirs")"
else
	skip "the whole machine" "not for this user"
fi

ok "perf record of two events" record two -e $E,task-clock "$POINTERS" $MS
ok "two events" import "$TMP/two"
for event in $E task-clock; do
	is "the samples of $event" \
		"$(ours "event:$event" | programs | grep "$WORK")" \
		"$(perf report -i "$TMP/two" --stdio -n --sort dso,sym \
			2>/dev/null | awk -v OFS='\t' -v event="'$event'" '
			/^# Samples:/ { on = $0 ~ event; next }
			on && /work/ { print $2, $3, $5 }' | programs |
			grep "$WORK")"
done

mkdir "$TMP/pieces"
record pieces/data -m 1 -e $E --switch-output=4K "$POINTERS" $MS
set -- "$TMP/pieces"/data.*
ok "perf record wrote pieces" [ $# -gt 1 ]
ok "pieces" import "$@"
ok "taken = stored + lost" sums_up
# To perf each piece is a file of its own, which may not tell of all mappings.
for piece; do
	theirs "pieces/${piece##*/}"
done >"$TMP/theirs"
ours >"$TMP/ours"
is "all of them" \
	"$(($(ledger taken) - $(ledger lost.sample_lost_overflow)))" \
	"$(sum_of <"$TMP/theirs")"
ok "and of the symbols no fewer than perf" \
	[ "$(sum "$WORK.*" hot <"$TMP/ours")" -ge \
		"$(sum "$WORK.*" hot <"$TMP/theirs")" ]

# ---- stacks ----------------------------------------------------------------------

ok "perf record -g" record fp -g -e $E "$POINTERS" $MS
ok "stacks by frame pointers" import "$TMP/fp"
same "stacks by frame pointers" fp
# stacks FILE: perf's as COUNT and functions, from main on.
stacks() {
	perf script -i "$TMP/$1" -F ip,sym 2>/dev/null | awk '
	NF { chain = (chain == "" ? "" : ";" ) $2 (chain == "" ? "" : ";" chain)
	     line = $2 (line == "" ? "" : ";" line); next }
	line != "" { n[line]++; line = "" }
	END { if (line != "") n[line]++
	      for (l in n) print n[l], l }' | from_main
}
from_main() {
	sed -n 's/^\([0-9]*\) .*;\(main;.*\(hot\|cold\)\)$/\1 \2/p' | sort
}
folded() {
	report --format=folded
	sed 's/^\(.*\) \([0-9]*\)$/\2 \1/' "$TMP/report" | from_main
}
is "each of the stacks" "$(folded)" "$(stacks fp)"

ok "perf record --call-graph dwarf" \
	record dwarf --call-graph dwarf -e $E "$NONE" $MS
ok "stacks that are unwound" import "$TMP/dwarf"
same "stacks that are unwound" dwarf
whole=$(perf script -i "$TMP/dwarf" -F ip,sym 2>/dev/null |
	awk '$2 == "_start" { n++ } END { print n + 0 }')
ok "$(ledger stacks.whole) are whole, of perf's $whole" \
	[ "$(ledger stacks.whole)" -ge "$whole" -a "$whole" -gt 50 ]
is "each of those" "$(folded)" "$(stacks dwarf)"

# ---- losses ----------------------------------------------------------------------

# A ring that holds one sample, and perf stands still while the program runs.
cat >"$TMP/halt" <<'END'
kill -STOP $PPID
"$@"
kill -CONT $PPID
"$@"
exit
END
ok "perf record with a small ring" \
	record lost -m 4 -e $E --call-graph dwarf,8192 sh "$TMP/halt" \
		"$NONE" $MS
ok "a file with losses" import "$TMP/lost"
perf report -i "$TMP/lost" -D 2>/dev/null | awk '
	/PERF_RECORD_LOST_SAMPLES/ { sub(/.*:/, ""); samples += $1 }
	/PERF_RECORD_LOST:/ { sub(/.*:/, ""); records += $1 }
	END { print (samples ? samples : records) + 0 }' >"$TMP/lost.nr"
ok "perf has lost some" [ "$(cat "$TMP/lost.nr")" -gt 0 ]
is "they are in the account" "$(ledger lost.sample_lost_overflow)" \
	"$(cat "$TMP/lost.nr")"
ok "taken = stored + lost" sums_up

# What the kernel does for a program that begins, before it maps its file.
# shellcheck disable=SC2016 # for the command
ok "perf record of programs that begin" record programs -e $E -F 4000 sh -c \
	'for i in $(seq 300); do seq 1; done'
ok "they are imported" import "$TMP/programs"
report -l --csv
sums=$(awk -F , '$2 == "symbol" { all += $10; if ($4 == "/vmlinux") own += $10 }
	END { print own + 0, all + 0 }' "$TMP/report")
ok "${sums% *} of ${sums#* } samples are of no program" \
	rarely "${sums% *}" "${sums#* }" 1

# ---- times -----------------------------------------------------------------------

# Each function for half a second, by the clock of the wall.
cat >"$TMP/phases.c" <<'END'
#include <time.h>
#define QUIET __attribute__((noinline, noclone))
static volatile unsigned long x;
static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
#define PHASE(name, op) QUIET void name(double end) \
	{ while (now() < end) for (int i = 0; i < 100000; i++) x op i; }
PHASE(first, +=)
PHASE(second, ^=)
PHASE(third, -=)
int main(void) {
	double start = now();
	first(start + 0.5);
	second(start + 1);
	third(start + 1.5);
	return 0;
}
END
$cc -O2 -fno-omit-frame-pointer -o "$TMP/$WORK.phases" "$TMP/phases.c" || exit 1
# share NAME TIME: of the samples of the program that came then, in percent.
share() {
	report -l --csv "time:$2"
	awk -F , -v name="$1" -v app="$WORK.phases" '
		$2 == "symbol" && $5 ~ app { all += $10; if ($6 == name) own += $10 }
		END { printf "%d\n", all ? own * 100 / all : 0 }' "$TMP/report"
}
# A border is within one slice, an eighth of such a time.
phases_apart() {
	for phase in first:0s-0.5s second:0.5s-1s third:1s-1.5s; do
		got=$(share "${phase%:*}" "${phase#*:}")
		ok "$1: $got % of ${phase#*:} are ${phase%:*}" [ "$got" -ge 80 ]
	done
	like "$1: slices add up" "$(report --check; cat "$TMP/report")" "samples: all sound"
}
for how in '' -g; do
	# shellcheck disable=SC2086 # no or one argument
	ok "perf record $how of phases" record phases $how -e $E "$TMP/$WORK.phases"
	ok "phases are imported" import "$TMP/phases"
	phases_apart "perf record $how"
done
like "perf's own clock has no dates" "$(report time:0s-1s; cat "$TMP/report")" \
	"^Time: 0s to 1s, 16 slices; the recording has no dates"
before=$(date +%s)
ok "perf record -k" record dated -k CLOCK_MONOTONIC -e $E "$TMP/$WORK.phases"
after=$(date +%s)
ok "dates are imported" import "$TMP/dated"
phases_apart "perf record -k"
report --format=json time:0s-1s
began=$(sed -n 's/^ *"begin": \([0-9]*\).*/\1/p' "$TMP/report" | head -n 1)
ok "it began at $began, from $before to $after" \
	[ "$began" -ge "$before" -a "$began" -le "$after" ]

# ---- samples that count for their periods ---------------------------------------

# Where a number of samples a second is asked for the kernel changes the period
# all the time: few page faults have as many samples as many do.
cat >"$TMP/faults.c" <<'END'
#define _GNU_SOURCE
#include <sys/mman.h>
#include <time.h>
#define QUIET __attribute__((noinline, noclone))
QUIET void rare(volatile char *p) {
	for (int i = 0; i < 400; i++) {
		struct timespec some = { 0, 800000 };
		p[i * 4096] = 1;
		nanosleep(&some, 0);
	}
}
QUIET void often(volatile char *p, long n) {
	for (long i = 0; i < n; i++) p[i * 4096] = 1;
}
static char *fresh(long n) {
	char *p = mmap(0, n * 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, n * 4096, MADV_NOHUGEPAGE);
	return p;
}
int main(void) {
	rare(fresh(400));
	for (int k = 0; k < 8; k++) {
		char *p = fresh(20000);
		often(p, 20000);
		munmap(p, 20000 * 4096L);
	}
	return 0;
}
END
$cc -O2 -fno-omit-frame-pointer -o "$TMP/$WORK.faults" "$TMP/faults.c" || exit 1

# periods FILE: of perf script, their sums for "often" and "rare", their number
# and their sum, of the event page-faults.
periods() {
	perf script -i "$TMP/$1" -G -F event,period,ip,sym 2>/dev/null | awk '
	/page-faults/ { nr++; all += $1; of[$NF] += $1 }
	END { printf "%d %d %d %d\n", of["often"], of["rare"], nr, all }'
}

# as_periods NAME FILE: the same of the session that the file becomes.
as_periods() {
	periods "$2" >"$TMP/wanted"
	read -r often rare nr all <"$TMP/wanted"
	ok "$1" import "$TMP/$2"
	like "$1: it is said" "$(cat "$TMP/import.err")" \
		"opimport: $nr samples of page-faults, each counted for its period, [0-9.]+ events on average\$"
	report -l --csv event:page-faults
	row() {
		awk -F , -v name="$1" '$2 == "symbol" && $6 == name {
			n += $10 } END { print n + 0 }' "$TMP/report"
	}
	is "$1: each sample counts for its period" "$(row often) $(row rare)" \
		"$often $rare"
	ok "$1: $nr samples of $all events" [ "$all" -gt "$nr" ]
	is "$1: how many samples there were" \
		"$(sed -n 's/^periods.page-faults:1:0 = \(.*\), .*/\1/p' \
			"$CURRENT/ledger")" "$nr samples of $all events"
	report event:page-faults
	like "$1: the head says so" "$(cat "$TMP/report")" \
		"^$nr samples of page-faults, each counted for its period, [0-9.]+ events on average\$"
	ok "$1: taken = stored + lost" sums_up
}

for how in '' -g -z; do
	# shellcheck disable=SC2086 # no or one argument
	ok "perf record -F $how" record periods -e page-faults -F 1000 $how \
		"$TMP/$WORK.faults"
	as_periods "periods, perf record $how" periods
done
ok "perf record of two events" record two -e page-faults,$E -F 1000 \
	"$TMP/$WORK.faults"
as_periods "two events" two
report event:$E
like "the clock's samples count once" "$(cat "$TMP/report")" \
	"Counted $E events .* count 1000000\$"
RECORD=${RECORD%%-F*}--buildid-mmap
ok "perf record -c" record fixed -e page-faults -c 500 "$TMP/$WORK.faults"
ok "samples of a fixed period" import "$TMP/fixed"
is "count once" "$(ledger stored)" "$(periods fixed | cut -d ' ' -f 3)"

# ---- what is refused -------------------------------------------------------------

# refuses NAME STATUS ERE ARG...: the last line is about it.
refuses() {
	name=$1 wanted=$2 ere=$3
	shift 3
	"$BIN/opimport" "$@" >"$TMP/out" 2>"$TMP/err"
	got=$?
	like "$name" "$got $(tail -n 1 "$TMP/err")" "^$wanted opimport: .*$ere"
}
refuses "a folder with samples" 1 "there are samples already; name another" \
	--output "$SESSION" "$TMP/flat"
printf '2ELIFREP' | cat - /dev/zero | head -c 200 >"$TMP/other"
refuses "the other byte order" 1 "other: was recorded on a machine of the other" \
	--output "$TMP/new" "$TMP/other"
printf PERFILE2 >"$TMP/magic"
refuses "nothing but the magic" 1 "magic: is " --output "$TMP/new" "$TMP/magic"
head -c 60 "$TMP/flat" >"$TMP/head"
refuses "half a header" 1 "head: is cut short: it ends in its header" \
	--output "$TMP/new" "$TMP/head"
head -c 300 "$TMP/flat" >"$TMP/events"
refuses "no samples at all" 1 "events: is cut short" \
	--output "$TMP/again" "$TMP/events"
ok "the whole file goes into the same folder then" \
	"$BIN/opimport" --output "$TMP/again" "$TMP/flat" 2>/dev/null
refuses "one that is none" 1 "work.c:1: no count after the stack" \
	--output "$TMP/new" "$TMP/work.c"
refuses "one that is missing" 1 "none: No such file or directory; give a file of perf record" \
	--output "$TMP/new" "$TMP/none"
refuses "a second one that is none" 1 "work.c: is no file of perf" \
	--output "$TMP/new" "$TMP/flat" "$TMP/work.c"
refuses "one that is not there" 1 "none: No such file" \
	--output "$TMP/new" "$TMP/flat" "$TMP/none"
# In its last record: what a CPU wrote first may need mappings that another CPU
# wrote, which stand behind it. Bytes 40 to 55 say where the records are.
# shellcheck disable=SC2046
set -- $(od -A n -t u8 -j 40 -N 16 "$TMP/flat")
head -c $(($1 + $2 - 4)) "$TMP/flat" >"$TMP/short"
refuses "a file that is cut short" 1 "short: is cut short; samples up to byte" \
	--output "$TMP/new" "$TMP/short"
SESSION=$TMP/new
ok "what is before the cut is there" [ "$(ours | sum "$WORK.*" hot)" -gt 0 ]
ok "taken = stored + lost" sums_up

# Without a time line there is no time to choose.
ok "no time line" "$BIN/opimport" --no-timeline -o "$TMP/timeless" "$TMP/phases" 2>/dev/null
ok "it has no file of it" [ ! -e "$TMP/timeless/samples/current/timeline" ]
ok "few slices" "$BIN/opimport" --slices=16 -o "$TMP/few" "$TMP/phases" 2>/dev/null
few=$("$BIN/opreport" --session-dir="$TMP/few" time:0s 2>/dev/null |
	sed -n 's/^Time: .*, \([0-9]*\) slices.*/\1/p')
ok "they are $few" [ "$few" -ge 8 -a "$few" -le 16 ]
refuses "too few slices" 2 "--slices=15: must be a number from 16 to 4096" \
	--slices=15 -o "$TMP/other" "$TMP/flat"
refuses "slices and none" 2 "give only one of them" \
	--slices=16 --no-timeline -o "$TMP/other" "$TMP/flat"

# ---- packed, and through a pipe --------------------------------------------------

# as_the_file NAME ARG...: what opimport makes of them is what the file itself gives.
ok "the file itself" "$BIN/opimport" -o "$TMP/plain" "$TMP/flat" 2>/dev/null
rows_of() {
	"$BIN/opreport" --session-dir="$1" -n -l --format=csv 2>/dev/null
}
rows_of "$TMP/plain" >"$TMP/plain.rows"
as_the_file() {
	name=$1
	shift
	rm -rf "$TMP/other"
	ok "$name" "$BIN/opimport" -o "$TMP/other" "$@" 2>/dev/null
	rows_of "$TMP/other" | cmp - "$TMP/plain.rows"
	is "$name: the same report" "$?" 0
}
for packer in gzip xz zstd; do
	if ! command -v $packer >/dev/null; then
		skip "packed by $packer" "no $packer"
		continue
	fi
	$packer -c "$TMP/flat" >"$TMP/packed"
	as_the_file "packed by $packer" "$TMP/packed"
done
mkfifo "$TMP/pipe"
cat "$TMP/flat" >"$TMP/pipe" &
as_the_file "a file through a pipe" - <"$TMP/pipe"
wait $!
gzip -c "$TMP/flat" >"$TMP/pipe" &
as_the_file "a packed file through a pipe" - <"$TMP/pipe"
wait $!
cat "$TMP/flat" >"$TMP/pipe" &
as_the_file "a file through a pipe that has a name" "$TMP/pipe"
wait $!
as_the_file "a file as standard input" - <"$TMP/flat"
# What perf streams is not held: with nowhere to hold it the import goes well.
sh -c "$RECORD -e $E -o - '$POINTERS' $MS" >"$TMP/stream"
ok "what perf streamed, as a file" "$BIN/opimport" -o "$TMP/streamed" "$TMP/stream" 2>/dev/null
rows_of "$TMP/streamed" >"$TMP/plain.rows"
cat "$TMP/stream" >"$TMP/pipe" &
as_the_file "a stream through a pipe that has a name" "$TMP/pipe"
wait $!
cat "$TMP/stream" >"$TMP/pipe" &
TMPDIR=$TMP/none as_the_file "a stream as standard input" - <"$TMP/pipe"
wait $!
rm -rf "$TMP/other"
ok "a stream by its descriptor" sh -c "cat '$TMP/stream' |
	TMPDIR=/none '$BIN/opimport' -o '$TMP/other' /dev/fd/0 2>/dev/null"
is "a stream by its descriptor: the same report" "$(rows_of "$TMP/other")" \
	"$(cat "$TMP/plain.rows")"
head -c 300 "$TMP/flat" | gzip >"$TMP/packed"
refuses "a packed one that is cut" 1 "packed: is cut short; samples up to byte" \
	-o "$TMP/other2" "$TMP/packed"
gzip -c "$TMP/flat" | head -c 2000 >"$TMP/packed"
refuses "one whose packing is cut" 1 "packed: is packed and damaged" \
	-o "$TMP/other2" "$TMP/packed"

cp "$TMP/flat" "$TMP/a,b\\c"
SESSION=$TMP/session
ok "a name with a comma" import "$TMP/a,b\\c"

done_testing
