# SPDX-License-Identifier: GPL-2.0-or-later
"""Where tests of mutants run: they can reach nothing of the machine."""

import collections
import os
import re
import signal
import subprocess
import threading
import time

# A mutant may kill, delete and allocate whatever it can reach. So there are no
# other processes here, and nothing can be written but $own, /tmp, /var/tmp and
# /dev/shm, which are this test's alone. $state, which holds $own and the builds,
# may be below one of them. A shell is the first process, as the first is
# special: signals do not end it, and it must wait for orphans. $id is who runs
# the tests.
SANDBOX = """
set -e
own=$1 state=$2 cwd=$3 id=$4 memory=$5 cpu=$6
shift 6
exec 9<"$state"
mount -t tmpfs -o size=2g,mode=1777 none /tmp
[ ! -d /var/tmp ] || mount -t tmpfs -o size=2g,mode=1777 none /var/tmp
mount -t tmpfs -o size=2g,mode=1777 none /dev/shm
mkdir -p "$state"
mount -c --bind /proc/self/fd/9 "$state"
exec 9<&-
mount --bind "$own" "$own"
for mounted in "$state" / /dev /run; do
	! mountpoint -q "$mounted" || mount -o remount,bind,ro "$mounted"
done
mkdir -m 755 /tmp/home /tmp/tmp
cd "$cwd"
ulimit -c 0
ulimit -d "$memory"
ulimit -t "$cpu"
[ "$id" = 0 ] || {
	chmod 777 /tmp/home /tmp/tmp
	set -- unshare --user --map-user="$id" --map-group="$id" -- "$@"
}
set +e
"$@"
exit $?
"""

# What may be written. A browser reserves far more addresses than that.
MEMORY_KIB = 8 << 20
OUTPUT_KEPT = 1 << 20

Outcome = collections.namedtuple("Outcome", "passed why seconds output")


class Sandbox:
    def __init__(self, state, sanitized):
        self.state = str(state)
        # AddressSanitizer reserves more than anybody has.
        self.memory = "unlimited" if sanitized else str(MEMORY_KIB)
        self.lock = threading.Lock()
        self.running = set()
        self.words = ["setpriv", "--pdeathsig", "KILL", "unshare"]
        if os.geteuid() != 0:
            self.words += ["--user", "--map-root-user"]
        self.words += ["--mount", "--pid", "--fork", "--kill-child"]
        self.words += ["--mount-proc", "sh", "-c", SANDBOX, "sandbox"]

    def why_not(self):
        """What keeps tests from running here; '' if nothing does."""
        done = self.run(self.state, self.state, ["true"], {}, 60)
        return "" if done.passed else done.output.decode(errors="replace")

    def run(self, own, cwd, command, env, limit, cpu="unlimited"):
        """Run a test that may write to the folder own, for limit seconds. Each
        of its processes may use so many seconds of CPU time."""
        words = [*self.words, str(own), self.state, str(cwd)]
        words += [str(os.geteuid()), self.memory, str(cpu), *command]
        begin = time.monotonic()
        process = subprocess.Popen(
            words,
            env=env_for_tests(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        with self.lock:
            self.running.add(process)
        expired = threading.Event()

        def expire():
            expired.set()
            process.kill()  # and with it all that is inside

        timer = threading.Timer(limit, expire)
        timer.start()
        output = b""
        while chunk := os.read(process.stdout.fileno(), 65536):
            if len(output) < OUTPUT_KEPT:
                output += chunk
        process.stdout.close()
        status = process.wait()
        timer.cancel()
        with self.lock:
            self.running.discard(process)
        seconds = time.monotonic() - begin
        why = judge(status, expired.is_set(), output.decode(errors="replace"))
        return Outcome(not why, why, seconds, output)

    def stop(self):
        with self.lock:
            for process in self.running:
                process.send_signal(signal.SIGKILL)


def judge(status, expired, output):
    """Why a test failed; '' if it passed."""
    if expired:
        return "timeout"
    m = re.search(r"^(not ok(?!.*# *SKIP)|Bail out!).*", output, re.M | re.I)
    if m:
        return m.group()
    return f"exit status {status}" if status else ""


def env_for_tests(more):
    """What people have set for themselves must not matter; as in tests/run."""
    env = dict(os.environ)
    for name in (
        "OPROFILE_MODULE OPROFILE_FS OPROFILE_EVENTS_DIR NO_COLOR COLUMNS"
        " CMOCKA_XML_FILE MAKEFLAGS MAKELEVEL MFLAGS O"
    ).split():
        env.pop(name, None)
    env.setdefault("XDG_CACHE_HOME", env.get("HOME", "/root") + "/.cache")
    env.update(
        CCACHE_DISABLE="1",  # what it would write to is read-only
        HOME="/tmp/home",
        TMPDIR="/tmp/tmp",
        CMOCKA_MESSAGE_OUTPUT="TAP",
        ASAN_OPTIONS="exitcode=99:hard_rss_limit_mb=4000",
        UBSAN_OPTIONS="exitcode=99:print_stacktrace=1",
        **more,
    )
    return env
