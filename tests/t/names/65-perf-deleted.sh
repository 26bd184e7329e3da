#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs that are not there any more when the report is made: their samples
# keep the name of the image, and symbols have their names.
# timeout: 900
# The sanitizers would take a tenth of the samples at the start of the program.
# sanitized: no
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

needs_perf own
cd "$TMP" || exit 1

# symbol NAME: samples of the program's function NAME.
symbol() {
	sum prog "$1" <"$TMP/all"
}
# profile NAME COMMAND: of the shell, in a new session and with a new program.
# With "held FILE" the command waits until the daemon has seen a sample of it:
# that it has looked at all there is by then it answers to a dump.
profile() {
	name=$1$WHO
	rm -rf session work
	user_folder work
	cp "$TESTBIN/forkstorm" work/prog
	cp "$TESTBIN/burnmix" work/new
	cp "$TESTBIN/libburn.so" work/
	mkfifo work/gate
	chmod -R a+rX work
	[ -z "$AS" ] || give_to_user work
	# shellcheck disable=SC2016 # for the command
	profiled "$name" sh -c 'control=$2
	held() {
		for _ in $(seq 1000); do
			"$control" "$0/run/control" dump || exit
			ls -l "/proc/$(cat "$0/run/lock")/fd" |
				grep -q " $PWD/$1\$" && return
		done
		echo "after 1,000 dumps the daemon holds no $1" >&2
		exit 1
	}
	cd work && eval "$1"' "$SESSION" "$2" \
		"$TESTBIN/control"
	rows --demangle=none >"$TMP/all" || cp /dev/null "$TMP/all"
	head -n 3 "$TMP/all" | sed 's/^/# /'
}
# is_named: samples of the program are of its hot function; the code around that
# has less than 1 % of them.
is_named() {
	nr=$(($(symbol '.*') + $(ledger lost)))
	others=$((nr - $(symbol burn_child)))
	ok "$name: $others of $nr samples in the image, or lost, are of \
another function" rarely $others $nr 1
}

deleted() {
	profile "deleted by the command that ran it" './prog 15 2; held prog; rm prog'
	is_named
	profile "deleted while it runs" \
		'./prog 16 2 gate & held prog; rm prog; : >gate; wait'
	is_named
	profile "its folder is deleted, too" \
		'mkdir sub; mv prog sub; sub/prog 15 2; held sub/prog; rm -r sub'
	is_named
	# Each child of the program is an exec of what has been replaced.
	profile "replaced while it runs" \
		'./prog 16 2 gate & held prog; mv new prog; : >gate; wait'
	is_named

	# It may be gone before anybody has looked at it.
	profile "deleted after some ms" 'mv prog kept; for i in 1 2 3 4 5 6 7 8
		do cp kept prog && ./prog child 20000000; rm prog; done'
	nr=$(symbol '.*')
	ok "$name: $nr samples in the image, $(ledger lost) are lost" \
		rarely "$(ledger lost)" $((nr + $(ledger lost))) 1

	profile "deleted when the profile is done" './prog 15 2'
	rm work/prog
	rows --demangle=none >"$TMP/all"
	ok "$name: the image keeps its name" \
		[ "$(symbol '.*')" -gt 0 ]
	[ "$(symbol burn_child)" -gt 0 ] ||
		like "$name: that there are no names is told" \
			"$(cat "$TMP/report.err")" '/work/prog: '

	# Each build has its own symbols.
	profile "two builds of a program" \
		'./prog 15 2; mv new prog; ./prog 0.5'
	alpha=$(symbol burn_alpha)
	# It spends 40 of each 85 ms there; nothing of the other is among them.
	work=$((alpha + $(symbol burn_beta) +
		$(sum libburn.so burn_lib <"$TMP/all")))
	share=$(percent "$alpha" $work)
	ok "$name: $share % of its work is in burn_alpha" \
		near "$share" 47.06 "$(chance 47.06 $work)"
	nr=$(($(symbol '.*') - $(symbol 'burn_.*')))
	ok "$name: $nr samples elsewhere in it" rarely $nr $((nr + work)) 1
	is "$name: none is lost" "$(ledger lost)" 0
	ok "$name: the earlier one is there" [ "$(symbol burn_child)" -gt 0 ]
}

AS='' WHO=''
deleted
if [ "$(id -u)" -eq 0 ]; then
	for_users "$BIN/operf" "$BIN/oprofiled" "$BIN/opreport" \
		"$TESTBIN/canperf" "$TESTBIN/forkstorm" "$TESTBIN/burnmix" \
		"$TESTBIN/libburn.so" "$TESTBIN/control"
	AS=as_user WHO=', an ordinary user'
	if as_user "$TESTBIN/canperf" own 2>"$TMP/why"; then
		deleted
	else
		skip "an ordinary user" "$(cat "$TMP/why")"
	fi
fi
done_testing
