#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The time line of a session: which times reports choose by it, that slices add up to
# the sample files, also of a daemon that was killed, and that there are few.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"
cd "$TMP" || exit 1

# report WORD...: opreport of the session.
report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@"
}

# phases SECONDS MS: a sample of each of two CPUs each MS milliseconds, of a program that
# is in another function each second, of three. One CPU comes after the other for each
# second, as they do from the kernel.
phases() {
	awk -v seconds="$1" -v every="$2" 'BEGIN {
		print "stream 1 8\ncookie 1 0 0 0 0 - /opt/app"
		print "cookie 2 0 0 0 0 - /opt/lib"
		for (s = 0; s < seconds; s++)
			for (cpu = 0; cpu < 2; cpu++) {
				print "cpu " cpu "\nctx 1 1\ntgid 1\nuser"
				for (ms = 0; ms < 1000; ms += every) {
					printf "time %d%03d000000\n", 1774965500 + s, ms
					print "image 1\ntrace\nsample " s % 3 * 16 + 16 " 0"
					print "image 2\nuser\nsample " s % 3 + 65 " 0\ntrace-end 0"
				}
			}
	}'
}
phases 30 125 | stream half
replay half --slices=256 --separate-lib=1
like "all that is there adds up" "$(report --check)" "480 samples: all sound"

# of WORD...: how many samples each function has, by its place.
of() {
	report -d --no-header "$@" 2>&1 |
		sed -n 's/^  0*\([0-9a-f]*\) \([0-9]*\) .*/\1:\2/p' | sort | xargs
}
is "all of them" "$(of)" "10:160 20:160 30:160"
is "a second" "$(of time:4s-5s)" "20:16"
is "two that follow on each other" "$(of time:4s-5s,5s-6s)" "20:16 30:16"
is "a part of two" "$(of time:4.5s-5250ms)" "20:8 30:4"
is "before the end" "$(of time:-2s)" "20:16 30:16"
is "from a time on" "$(of time:28s)" "20:16 30:16"
is "by the clock" "$(TZ=UTC of time:@1774965503-@1774965505)" "10:16 20:16"
is "by the clock of the wall" \
	"$(TZ=UTC of "time:2026-03-31 13:58:23-13:58:25")" "10:16 20:16"
is "all times" "$(of time:0s)" "$(of)"
is "stacks, too" "$(report --format=folded time:4s-5s 2>/dev/null)" \
	"app;[lib];[app] 16"
like "spans of one session are compared" \
	"$(report -l "{" time:0s-3s "}" "{" time:3s-5s "}" 2>&1)" "^32 *100.000 *0 "
exits "a time that is not there" 1 report time:40s-50s
like "when the session was" "$(cat "$test_log")" \
	"nothing was sampled then; the session begins at .* and has 29.9375s"
exits "a time that ends before it begins" 1 report time:5s-4s

report --over-time --format=json >json 2>/dev/null
is "columns add up" "$(grep -c '"begin"' json)" 241

# ---- archives -----------------------------------------------------------------------

"$BIN/oparchive" --session-dir="$SESSION" --output-directory="$TMP/archive" >/dev/null 2>&1
is "an archive has the times" "$(of archive:"$TMP/archive" time:4s-5s)" "20:16"
exits "a part of the time is no archive" 1 "$BIN/oparchive" --session-dir="$SESSION" \
	--output-directory="$TMP/part" time:4s-5s

# ---- damage, death, and daemons without a time line ---------------------------------

replay_more half --slices=256 --separate-lib=1
is "a later daemon goes on" "$(of time:4s-5s)" "20:32"
like "that adds up" "$(report --check)" "960 samples: all sound"
replay_more half --separate-lib=1
like "one without a time line is no damage" "$(report --check)" "1440 samples: all sound"
like "its samples have no time" "$(report time:4s-5s 2>&1)" \
	"480 samples are of an unknown time"
is "nor are they in one" "$(of time:4s-5s)" "20:32"

# Samples of an unknown time, or from well before the begin, are in no slice.
stream odd <<'END'
stream 1 8
cookie 1 0 0 0 0 - /opt/app
cpu 0
ctx 1 1
tgid 1
user
image 1
time 1774965500000000000
sample 16 0
time 1774965499500000000
sample 17 0
time 1774965490000000000
sample 32 0
time 1774965500000000000
sample 16 0
time 0
sample 48 0
time 1774965501000000000
sample 64 0
END
replay odd --slices=256
is "samples without a time are in no slice" "$(of time:0s)" "10:2 11:1 40:1"
like "they are said" "$(report time:0s 2>&1)" "2 samples are of an unknown time"
is "those a little before the first are in the first" "$(of time:0s-1s)" "10:2 11:1"

# A recording whose clock began at a boot has no dates.
stream undated <<'END'
stream 1 8
cookie 1 0 0 0 0 - /opt/app
cpu 0
ctx 1 1
tgid 1
user
image 1
time 5000000000000
sample 16 0
time 5700000000000
sample 32 0
END
replay undated --slices=256
is "without dates, times are from the begin on" "$(of time:699s-701s)" "20:1"
like "that is said" "$(report time:699s-701s 2>&1)" \
	"^Time: 700s to 700.0625s, 1 slice; the recording has no dates;"
exits "there is no clock" 1 report time:00:00-23:59
like "what is there instead" "$(cat "$test_log")" \
	"the recording has no dates and is 700.0625s long: ask for times such as time:2s-3s"
like "as text over time" "$(report --over-time 2>&1)" "^samples +% +0s +700.0625s +peak"

# A date of a few seconds ago is that date, not "until now".
now=$(date +%s)
stream late <<END
stream 1 8
cookie 1 0 0 0 0 - /opt/app
cpu 0
ctx 1 1
tgid 1
user
image 1
time $((now - 4))000000000
sample 16 0
time $((now - 1))000000000
sample 32 0
END
replay late --slices=256
is "a time that has just ended" "$(of "time:@$((now - 5))-@$((now - 2))")" "10:1"

replay half --slices=256 --separate-lib=1
printf '\377' | dd of="$CURRENT/timeline" bs=1 seek=100 conv=notrunc 2>/dev/null
exits "a changed byte is noticed" 1 report --check
like "as what it is" "$(cat "$test_log")" "timeline: its end is damaged"

for slices in 1 15 4097; do
	exits "--slices=$slices is refused" 2 "$BIN/oprofiled" --slices=$slices
done

# Killed at each call that writes the time line: no slice has more than there is, and what
# is missing is of an unknown time.
phases 40 500 | stream long
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	wrong='' killed=0
	for at in 1 2 3 4 5 6 7 8 9 10 11 12; do
		rm -rf "$SESSION"
		strace -f -o /dev/null -P "$CURRENT/timeline" -P "$CURRENT/.timeline.grow" \
			-e trace=pwrite64,rename,ftruncate \
			-e inject=pwrite64,rename,ftruncate:signal=KILL:when=$at \
			"$BIN/oprofiled" --session-dir="$SESSION" --source=file:long \
			--slices=16 --separate-lib=1 2>/dev/null || killed=$((killed + 1))
		report --check | grep -q "slices have" && wrong="$wrong $at"
		"$BIN/oprofiled" --session-dir="$SESSION" --source=file:long --slices=16 \
			--separate-lib=1
		report --check | grep "slices have" && wrong="$wrong $at+"
	done
	is "a daemon that is killed leaves no slice with too much" "$wrong" ""
	is "it was killed each time" "$killed" 12
else
	skip "no strace"
fi
done_testing
