#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An ordinary user does all that he can to root's session of the whole machine: files
# with the build-id of root's library, run, kept and deleted; tables of symbols that are
# holes of gigabytes; files without end that vanish; signals to whatever runs as him.
# Root's rows are what they are without him, the session ends as soon, nothing takes
# much memory, and what is left out is said.
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"
. "$(dirname "$0")/../victim.sh"

[ "$(id -u)" -eq 0 ] || skip_all "only root profiles other users' programs"
needs_perf system
cd "$TMP" || exit 1

MOST_MEMORY=$((300 << 10)) # KiB
MOST_SECONDS=3 # that the end takes; on a slow machine 2 s more than without the attack
case $(cat "$O/flags") in
*-fsanitize=*) MOST_MEMORY=$((3 << 20)) MOST_SECONDS=30 ;;
esac
NR_FLOOD=$(by_tier 200 3000)

at_exit() {
	# shellcheck disable=SC2086 # numbers
	kill -9 $stopper $profiler 2>/dev/null
}

make_victim
user_folder theirs
cp attack libevil.so theirs/
# bomb BYTES: theirs/bombBYTES, whose table of symbols is a hole of that size.
cat >bomb.c <<'END'
volatile long bomb_sum;
long bomb_leaf(long n)
{
	for (long i = 0; i < n * 1000; i++)
		bomb_sum += i;
	return bomb_sum;
}
END
cat >bomb.py <<'END'
import struct, sys
path, size = sys.argv[1], int(sys.argv[2])
elf = bytearray(open(path, 'rb').read())
at, = struct.unpack_from('<Q', elf, 0x28)
entry, nr = struct.unpack_from('<HH', elf, 0x3a)
base = (len(elf) + 4095) & ~4095
headers = bytearray(elf[at:at + entry * nr])
for i in range(nr):
    if struct.unpack_from('<I', headers, i * entry + 4)[0] == 2:
        struct.pack_into('<QQ', headers, i * entry + 0x18, base, size // 24 * 24)
struct.pack_into('<Q', elf, 0x28, base + size)
with open(path, 'r+b') as file:
    file.write(elf)
    file.seek(base + size)
    file.write(headers)
END
bomb() {
	${CC:-cc} -O2 -DCALLED=bomb_leaf -Wl,--build-id -o "theirs/bomb$1" burn.c bomb.c &&
		python3 bomb.py "theirs/bomb$1" "$1" || exit 1
}
bomb 1572864000
bomb 30000000000
is "bombs take little of the disk" \
	"$(du -k theirs/bomb* | awk '$1 > 1000' | wc -l)" 0
# Files without end: each is run and deleted.
cat >flood.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	/* mov $300000,%ecx; dec %ecx; jne; ret: some samples */
	static const unsigned char code[] = { 0xb9, 0xe0, 0x93, 0x04, 0, 0xff, 0xc9,
					      0x75, 0xfc, 0xc3 };
	char folder[201], name[32];
	int nr = argc > 1 ? atoi(argv[1]) : 0;

	memset(folder, 'a', 200);
	folder[200] = '\0';
	for (int i = 0; i < 8; i++)
		if ((mkdir(folder, 0755), chdir(folder)))
			return 1;
	for (int i = 0; i < nr; i++) {
		void (*run)(void);
		int fd;

		snprintf(name, sizeof(name), "f%d", i);
		fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0755);
		if (fd < 0 || write(fd, code, sizeof(code)) < 0)
			return 2;
		run = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		for (int k = 0; k < 10; k++)
			run();
		munmap((void *)run, 4096);
		close(fd);
		unlink(name);
	}
	return 0;
}
END
${CC:-cc} -O2 -o theirs/flood flood.c || exit 1
chmod -R a+rX theirs
give_to_user theirs

# the_attack: before root's program runs for the first time.
the_attack() {
	as_user theirs/attack 0.3
	cp theirs/attack theirs/gone
	give_to_user theirs/gone
	as_user theirs/gone 0.3 &
	gone=$!
	"$TESTBIN/burnmix" 0.05 >/dev/null
	rm theirs/gone
	wait "$gone"
	for size in 1572864000 30000000000; do
		as_user "theirs/bomb$size" 0.1
	done
	(cd theirs && as_user ./flood "$NR_FLOOD")
}

# session NAME: root's of all there is, with the attack unless NAME is quiet. Sets
# $took, what its end took in seconds, and $memory, the most that it had in KiB.
stopper='' profiler=''
session() {
	rm -rf "$SESSION"
	mkdir -p "$SESSION"
	"$TESTBIN/cost" cost "$BIN/operf" --session-dir="$SESSION" -s -g \
		--rate=$RATE --cpu-budget=none 2>operf.err &
	profiler=$!
	await line operf.err 'Profiler started'
	if [ "$1" = quiet ]; then
		./victim 0.6
	else
		the_attack
		./victim 0.6
		# Not as_user, which would be a process between.
		setpriv --reuid="$test_user" --regid="$test_user" --clear-groups \
			sh -c 'while :; do kill -STOP -1; done' 2>/dev/null &
		stopper=$!
	fi
	begin=$(cut -d ' ' -f 1 /proc/uptime)
	kill -INT "$profiler"
	wait "$profiler"
	is "$1: the session ends well" $? 0
	took=$(awk -v begin="$begin" '{ print $1 - begin }' /proc/uptime)
	profiler=
	if [ "$stopper" ]; then
		kill -9 "$stopper"
		wait "$stopper" 2>/dev/null
		stopper=
	fi
	ok "$1: taken = stored + lost" sums_up
	memory=$(sed -n 's/^memory //p' cost)
	diag "$1: the end took $took s; $memory KiB"
}

# bounded_report NAME ARG...: opreport, which takes no more memory either.
bounded_report() {
	name=$1
	shift
	"$TESTBIN/cost" cost "$BIN/opreport" --session-dir="$SESSION" "$@" \
		>"$TMP/report" 2>"$TMP/report.err"
	memory=$(sed -n 's/^memory //p' cost)
	ok "$name: opreport has $memory KiB at most" [ "$memory" -lt "$MOST_MEMORY" ]
}

# rows_of_victim NAME: its functions and their callers are its own.
rows_of_victim() {
	bounded_report "$1" --format=folded
	all=$(of_victim .)
	true=$(of_victim ';main;vic_entry;vic_middle;vic_inner;vic_leaf(;|$)')
	ok "$1: $true of $all stacks of the victim are its own" \
		[ "$all" -gt 100 -a $((true * 100)) -ge $((all * 95)) ]
	is "$1: none has a name of the attacker's" "$(of_victim evil)" 0
}

session quiet
quiet=$took
rows_of_victim quiet

# Other load may be what takes the time; an attack that holds up the end does so each
# time.
ends_soon() {
	awk -v took="$took" -v quiet="$quiet" -v most=$MOST_SECONDS \
		'BEGIN { exit !(took <= most || took <= quiet + most * 2 / 3) }'
}
for _ in 1 2 3; do
	session attack
	ends_soon && break
done
ok "the end takes $took s, and $quiet s without the attack" ends_soon
ok "the profiler and its helpers have $memory KiB at most" \
	[ "$memory" -lt "$MOST_MEMORY" ]
grep warning operf.err | sed 's/^/# /'
log=$(stat -c %s "$SESSION/samples/oprofiled.log")
ok "the log has $log bytes" [ "$log" -lt 4500000 ]
rows_of_victim attack
bounded_report "each program" -l
like "each program: the bombs are in it" "$(cat "$TMP/report")" 'bomb30000000000'
like "and what is wrong with them is said" "$(cat "$TMP/report.err")" \
	'bomb30000000000.*(not in a usable|no symbols|damaged)'

# The names come from the store now, or from a copy.
rm libvic.so
rows_of_victim "its library is gone"
done_testing
