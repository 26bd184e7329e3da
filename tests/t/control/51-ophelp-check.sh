#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The event files: every one is sound, and says the same as libpfm4.

. "$(dirname "$0")/../lib.sh"

ophelp=$BIN/ophelp
unset OPROFILE_EVENTS_DIR

got=$("$ophelp" --check 2>&1)
is "ophelp --check finds nothing wrong" "$? ${got##*: }" "0 0 wrong"
diag "$got"

for cpu in i386/arch_perfmon i386/ppro i386/pii i386/piii i386/p4 i386/p4-ht \
	i386/core_2 i386/nehalem i386/westmere i386/sandybridge \
	i386/ivybridge i386/haswell i386/broadwell i386/skylake i386/icelake \
	i386/sapphirerapids i386/alderlake-p i386/alderlake-e i386/goldmont \
	i386/goldmontplus i386/tremont i386/athlon x86-64/hammer x86-64/family10 \
	x86-64/family11h x86-64/family12h x86-64/family14h x86-64/family15h \
	x86-64/zen5 x86-64/generic \
	x86-64/zen1 x86-64/zen2 x86-64/zen3 x86-64/zen4 arm/armv7-pmuv2 \
	arm/armv7-ca5 arm/armv7-ca7 arm/armv7-ca9 arm/armv7-ca15 \
	arm/armv7-ca17 arm/armv8-pmuv3 arm/armv8-ca53 arm/armv8-ca57 \
	arm/armv8-ca72 arm/armv8-ca76 arm/armv8-ca78 arm/armv8-neoverse-n1 \
	arm/armv8-neoverse-v1 arm/armv8-thunderx2 arm/armv8-xgene \
	arm/armv9-neoverse-n2 \
	ppc64/power7 ppc64/power8 ppc64/power9 ppc64/power10 ppc/e500mc \
	ppc/e6500 mips/24K mips/34K mips/74K mips/1004K s390/z10 \
	s390/z196 s390/zEC12 s390/z13 s390/z14 s390/z15 s390/z16; do
	ok "$cpu is there, and sound" "$ophelp" --check -c "$cpu"
	unlike "$cpu is described by a vendor's manual" \
		"$(cat "$TOP/events/$cpu/cpu")" '^manual = libpfm4'
done

is "no two folders claim the same CPU" \
	"$(sed -n 's/^match = //p' "$O"/events/*/*/cpu | sort | uniq -d)" ""

# ---- broken files ----

# broken NAME FILE TEXT ERE: with TEXT as FILE, --check says FILE:LINE: ERE.
broken() {
	rm -rf "$TMP/e"
	mkdir -p "$TMP/e/x/y"
	printf 'name = Y\ncounters = 2\ndefault = E:1\nmanual = M\n' \
		>"$TMP/e/x/y/cpu"
	printf 'name:u type:mandatory default:0x0\n\t0x0 None\n' \
		>"$TMP/e/x/y/unit_masks"
	echo 'event:1 counters:0 um:u minimum:1 name:E : D' >"$TMP/e/x/y/events"
	printf '%b' "$3" >"$TMP/e/x/y/$2"
	got=$(OPROFILE_EVENTS_DIR=$TMP/e "$ophelp" --check 2>&1)
	like "$1" "$? $got" "^1 ophelp: $TMP/e/x/y/$2$4"
}

broken "no events" events '# none\n' ': no events'
broken "a line cut short" events 'event:1 counters:0\n' ':1: no " : "'
broken "a comment in the middle" events 'event:1 counters:0 # um:u\n' ':1: no '
broken "a counter that is not there" events \
	'\nevent:1 counters:2 um:u minimum:1 name:E : D\n' ':2: counters: 2: not'
broken "a unit mask that is not there" events \
	'event:1 counters:0 um:v minimum:1 name:E : D\n' ':1: um:v: no such'
broken "an entry without its unit mask" unit_masks '\t0x1 A\n' ':1: no unit mask'
broken "a zero byte" unit_masks 'name:u\0000' ':1: byte 0x00'
broken "an unknown key" cpu 'name = Y\ncolour = red\n' ':2: colour: unknown'
broken "no cpu file's key" cpu 'name = Y\n' ':1: counters: not given'
broken "a default event that is not there" cpu \
	'name = Y\ncounters = 2\ndefault = F:1\nmanual = M\n' '|^1 ophelp: .*F: .* has no event'

# ---- libpfm4 ----

if [ -x "$TESTBIN/pfmcompare" ]; then
	status=0
	table=$("$TESTBIN/pfmcompare" "$TOP/events" 2>"$TMP/differences") ||
		status=$?
	is "libpfm4 encodes all events of CPUs known to both alike, or the file says why" \
		"$status $(cat "$TMP/differences")" "0 "
	diag "$table"
	if [ "$(uname -m)" = x86_64 ]; then
		like "all x86-64 CPUs were compared" "$table" \
			'^(2[3-9]|[3-9][0-9]) CPUs known to both'
	fi
	cp -r "$TOP/events" "$TMP/copy"
	sed -i '/name:CPU_CLK_UNHALTED /s/0x76/0x77/' \
		"$TMP/copy/x86-64/family10/events"
	got=$("$TESTBIN/pfmcompare" "$TMP/copy" 2>&1 >/dev/null)
	like "an event file that differs is found" "$? $got" \
		'^1 .*/x86-64/family10/events:[0-9]+: CPU_CLK_UNHALTED.* 0x77:'
	ok "CPUs of libpfm4 alone have folders" "$ophelp" --check \
		-c "$("$ophelp" -l | sed -n 's/ .*Silvermont$//p;s/ .*Cortex A57$//p' | head -n 1)"
else
	skip "libpfm4 encodes all events alike" "not built with libpfm4-dev"
fi

done_testing
