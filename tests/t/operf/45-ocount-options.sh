#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What ocount makes of its command line, before it counts anything.

. "$(dirname "$0")/../lib.sh"

ocount=$BIN/ocount
ran=$TMP/ran

# error NAME STATUS ERE ARG...: ocount ends with STATUS, says one line that
# matches on stderr and nothing on stdout, and does not run the command.
error() {
	name=$1 wanted=$2 ere=$3
	shift 3
	status=0
	out=$("$ocount" "$@" 2>"$TMP/err") || status=$?
	is "$name: exit status" "$status" "$wanted"
	like "$name: says so" "$(cat "$TMP/err")" "^ocount: $ere"
	is "$name: in one line" "$(wc -l <"$TMP/err") $out" "1 "
	ok "$name: runs nothing" not test -e "$ran"
}

like '--version' "$("$ocount" --version)" '^ocount: oprofile [0-9]'
like '-v is --version' "$("$ocount" -v)" '^ocount: oprofile [0-9]'
help=$("$ocount" --help)
for word in events= system-wide cpu-list= process-list= thread-list= \
	separate-cpu separate-thread time-interval= brief-format \
	output-file= verbose version help usage; do
	like "--help names --$word" "$help" "--$word"
done
is '-h is --help' "$("$ocount" -h)" "$help"
is '-u is --usage' "$("$ocount" -u)" "$("$ocount" --usage)"

error 'nothing' 125 'nothing to count: give a command, .*--help'
error 'an unknown option' 125 '--foo: unknown option; see ocount --help' --foo
error 'a missing value' 125 '-e: missing argument; see' -e

error 'system and command' 125 '--system-wide and a command: only one' \
	-s touch "$ran"
error 'CPUs and processes' 125 '--cpu-list and --process-list: only one' \
	-C 0 -p 1
error 'processes and threads' 125 '--process-list and --thread-list: only' \
	--process-list=1 --thread-list=1
error 'CPUs of a command' 125 '--separate-cpu with a command: ' -c touch "$ran"
error 'CPUs of a process' 125 '--separate-cpu with --process-list: ' -c -p 1
error 'threads of a command' 125 '--separate-thread with a command: ' \
	-t touch "$ran"
error 'threads of the system' 125 '--separate-thread with --system-wide: ' -t -s

error 'an unknown event' 125 'foo: .* has no event of this name' -e foo touch "$ran"
error 'an empty event' 125 '"": the name of an event is missing' -e cs,,cs touch "$ran"
error 'a unit mask' 125 'context-switches:1: unit mask 1 is not possible' \
	-e cs:1 touch "$ran"
error 'a modifier' 125 'cycles:u: unit mask u is no name' -e cycles:u touch "$ran"
error 'no number for a mode' 125 'page-faults:0:2: "2" for kernel is neither' \
	-e faults:0:2 touch "$ran"
error 'no mode' 125 'page-faults:0:0:0: counts neither the kernel' \
	-e faults:0:0:0 touch "$ran"
error 'the wrong mode' 125 'cs:0:0:1: it happens only in kernel mode' \
	-e cs:0:0:1 touch "$ran"
error 'the second of two events' 125 'foo: .* has no event of this name' -e cs -e foo \
	touch "$ran"

for list in x ',' 0- 3-1 0,x -1 '0 1' 99999999; do
	error "CPUs $list" 125 "--cpu-list=$list: not a list of CPUs" -C "$list"
done
error 'a CPU that is not there' 125 'CPU 65535: offline or missing' \
	-C 65535
for list in x 0 -1 '1,' 1-2 99999999999; do
	error "processes $list" 125 "--process-list=$list: not a list" \
		-p "$list"
	error "threads $list" 125 "--thread-list=$list: not a list" -r "$list"
done
error 'no such process' 125 'process 2147483646: not running' -p 2147483646
error 'no such thread' 125 'thread 2147483646: not running' -r 2147483646

for interval in x 0 9 100: 100:0 100:x 100x -100 100:1:1; do
	error "interval $interval" 125 "--time-interval=$interval: not" \
		-i "$interval" touch "$ran"
done

# Folders that one may not look into would be another reason.
PATH=/usr/bin:/bin
error 'no such program' 127 'ocount-test-nosuch: no such program' \
	ocount-test-nosuch
error 'no such path' 127 "$TMP/nosuch: no such program" "$TMP/nosuch"
echo text >"$TMP/text"
error 'no program' 126 "$TMP/text: may not be executed" "$TMP/text"
error 'a folder' 126 "$TMP: " "$TMP"
error 'an output file that cannot be' 125 \
	"--output-file=$TMP/no/file: cannot open it: No such file" \
	-f "$TMP/no/file" touch "$ran"
echo old >"$TMP/out"
error 'no such program, an output file' 127 'ocount-test-nosuch: ' \
	-f "$TMP/out" ocount-test-nosuch
is 'what the file held stays' "$(cat "$TMP/out")" old
done_testing
