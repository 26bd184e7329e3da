#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# operf's command line. What is wrong in it is said before anything is made.

. "$(dirname "$0")/lib.sh"

cd "$TMP" || exit 1

# says NAME TEXT ARG...: fails with operf's own status, and that is all.
says() {
	name=$1 text=$2
	shift 2
	status=0
	got=$("$BIN/operf" "$@" 2>&1) || status=$?
	is "$name" "$status $got" "125 operf: $text"
}

# ---- modes

says "nothing to profile" "nothing to profile; give a command, --pid or \
--system-wide, see operf --help"
says "only options" "nothing to profile; give a command, --pid or \
--system-wide, see operf --help" --append -t
says "two modes" "--pid and --system-wide: give one of them" -s -p 1
says "a command and --pid" "true: a command cannot be given with --pid; leave \
one out" --pid=1 true
says "a command and --system-wide" "true: a command cannot be given with \
--system-wide; leave one out" -s true
says "an unknown option" "--nonsense: unknown option; see operf --help" \
	--nonsense true
says "a short one" "-g: unknown option; see operf --help" -g true
says "an argument that is missing" "--pid: missing argument; see operf --help" \
	--pid

# ---- values

for pid in x 0 -1 1x 4294967297 ''; do
	says "--pid '$pid'" "--pid=$pid: not the number of a process; ps lists \
them" "--pid=$pid"
done
for rate in x 0 -5 100001 1e3 ''; do
	says "--rate '$rate'" "--rate=$rate: not a number of samples per \
second; give one from 1 to 100000" "--rate=$rate" true
done
says "--rate with events" "--rate and --events: the rate is that of the CPU \
clock, which is sampled without --events; give one of them" \
	--rate=100 -e cpu-clock:1000000 true
says "--verbose with a word that is none" "--verbose=sfiles: no such word; \
known are debug, sfile, arcs, samples, module, misc, ext and all" \
	-V debug,sfiles true

# ---- events

says "an unknown event" "--events=nonsense: no such event; man operf lists \
them" -e nonsense:1000 true
says "no count" "--events=cpu-clock: no count; say after how many to take a \
sample, such as cpu-clock:100000" -e cpu-clock true
says "an empty count" "--events=cpu-clock: no count; say after how many to take \
a sample, such as cpu-clock:100000" -e cpu-clock::0 true
for count in 0 x -1 1.5 9223372036854775808 99999999999999999999; do
	says "a count of $count" "--events=cpu-clock:$count: the count is not a \
number above 0" -e "cpu-clock:$count" true
done
says "a unit mask" "--events=cpu-clock: unit mask 0x01: this event has none; \
give 0" -e cpu-clock:1000:0x01 true
says "a kernel flag" "--events=cpu-clock: kernel: 2: give 0 or 1" \
	-e cpu-clock:1000:0:2 true
says "a user flag" "--events=cpu-clock: user: yes: give 0 or 1" \
	-e cpu-clock:1000:0:1:yes true
says "neither kernel nor user" "--events=cpu-clock: neither kernel nor user \
code is left; give 1 for one of them" -e cpu-clock:1000:0:0:0 true
says "too many parts" "--events=cpu-clock:...: too many parts; \
NAME:COUNT[:UM[:KERNEL[:USER]]] is wanted" -e cpu-clock:1000:0:1:1:1 true
says "one bad of two" "--events=y: no such event; man operf lists them" \
	-e cpu-clock:1000,y:1000 true
says "no event in the list" "--events=,: names no event; man operf lists them" \
	-e , true

# ---- help

for option in --help -h "-?"; do
	got=$("$BIN/operf" "$option" 2>&1)
	is "$option exits with 0" $? 0
	like "$option tells the options" "$got" '^ +-p, --pid=PID'
done
for option in --usage -u; do
	got=$("$BIN/operf" "$option" 2>&1)
	is "$option exits with 0" $? 0
	like "$option tells the options" "$got" '\[-s\|--system-wide\]'
done
like "the version" "$("$BIN/operf" --version)" '^operf: oprofile [0-9.]+$'
is "-v is the same" "$("$BIN/operf" -v)" "$("$BIN/operf" --version)"
if [ -e /dev/full ]; then
	exits "a full disk is noticed" 125 sh -c "'$BIN/operf' -v >/dev/full"
else
	skip "a full disk is noticed" "no /dev/full"
fi

is "nothing was made" "$(ls "$TMP")" ""
done_testing
