#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A stop does not wait for programs that get hardly any CPU time: what is deferred to
# their threads is counted as lost after a while.
# timeout: 600
# vm-smp: 2
# vm-check: 6.1
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

GROUP=/sys/fs/cgroup/throttled
cat >"$TMP/map.c" <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#define SIZE (64 << 20)
static void *map(void *unused)
{
	for (;;) {
		void *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		if (at != MAP_FAILED)
			munmap(at, SIZE);
	}
	return unused;
}
static void *spin(void *unused)
{
	for (volatile unsigned long i = 0;; i++)
		;
	return unused;
}
int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t thread;

	for (int i = 0; i < nr; i++)
		if (pthread_create(&thread, NULL, i < 2 ? map : spin, NULL))
			return 1;
	pause();
	return 0;
}
END
chmod 755 "$TMP"
cc -O2 -pthread -o "$TMP/map" "$TMP/map.c" || exit 1

mapping=
at_exit() {
	[ -z "$mapping" ] || { echo max >$GROUP/cpu.max && kill -9 "$mapping"; }
}

[ -e /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 none /sys/fs/cgroup
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control && mkdir $GROUP
made=$?
[ $made -ne 0 ] || [ -e $GROUP/cpu.max ] || skip_all "this kernel throttles no cgroup"
ok "a cgroup" test $made -eq 0
as_user "$TMP/map" 22 &
mapping=$!
has_threads() {
	mapping=$(pidof map) && [ "$(sed -n "s/^Threads:[^0-9]*//p" "/proc/$mapping/status")" -gt 22 ]
}
wait_until "all threads are there" has_threads
ok "start" start --separate=lib --callgraph=16
"$TESTBIN/burnmix" 0.5 >/dev/null
echo "$mapping" >$GROUP/cgroup.procs
ok "a thousandth of a CPU" sh -c "echo '1000 1000000' >$GROUP/cpu.max"
"$TESTBIN/burnmix" 3 >/dev/null
# What takes a second without throttled threads, and minutes if it waits for each.
ok "stop" timeout 60 "$BIN/opcontrol" --stop
at_exit
ok "taken = stored + lost" sums_up
diag "$(module_stat sample_lost_busy) samples were given up"
end_profiler
done_testing
