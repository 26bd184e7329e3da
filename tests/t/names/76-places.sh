#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs and libraries that a path does not lead to, or not any more: in
# memory, unlinked, replaced, in another root, mount or process namespace, on an
# overlay. Their samples have the names of their functions.
# timeout: 300
# The sanitizers would take a tenth of the samples at the start of a program.
# sanitized: no
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

RATE=1000
needs_perf own
cd "$TMP" || exit 1

# Each function burns 200 ms of CPU time.
cat >hot.c <<'END'
#include <time.h>

static long long used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
/* ld(1) makes the build-id of what is loaded: names of symbols are not. */
const char name[] = TEXT(HOT);

__attribute__((noipa)) void HOT(long n)
{
	while (n--)
		__asm__ volatile("");
}

void burn(void)
{
	long long start = used();

	while (used() - start < 200000000)
		HOT(1000000);
}

#ifndef LIBRARY
int main(void)
{
	burn();
	return 0;
}
#endif
END
# program NAME: it spends its time in hot_NAME.
program() {
	gcc -O2 "-DHOT=hot_$1" -o "$1" hot.c || exit 1
}
# library NAME: likewise.
library() {
	gcc -O2 -shared -fPIC -DLIBRARY "-DHOT=hot_$1" -o "$1.so" hot.c || exit 1
}

# in_memory FILE: run a copy of it that is on no disk.
cat >in_memory.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv, char **env)
{
	char *args[] = { "app", NULL }, buf[65536];
	int in = open(argv[argc - 1], O_RDONLY);
	int out = memfd_create("app", MFD_CLOEXEC);
	ssize_t len;

	while ((len = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, (size_t)len) != len)
			return 1;
	fexecve(out, args, env);
	return 1;
}
END
# loads LIBRARY [NEW]: call its burn() when it is unlinked, or replaced by NEW;
# then that of NEW, too.
cat >loads.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

static void burn_in(void *library)
{
	void (*burn)(void) = (void (*)(void))dlsym(library, "burn");

	burn();
	dlclose(library);
}

int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);

	if (argc < 3)
		unlink(argv[1]);
	else
		rename(argv[2], argv[1]);
	burn_in(library);
	if (argc >= 3)
		burn_in(dlopen(argv[1], RTLD_NOW));
	return 0;
}
END
gcc -o in_memory in_memory.c && gcc -o loads loads.c || exit 1
program memfd
library unlinked
library old
library new
wanted='memfd unlinked old new'
cat >run <<'END'
./in_memory ./memfd
./loads ./unlinked.so
./loads ./old.so ./new.so
END

if [ "$(id -u)" -eq 0 ]; then
	for place in pids chroot tmpfs bound; do
		program $place
		wanted="$wanted $place"
	done
	mkdir -p root tmp bound_here
	cp chroot root/
	for file in $(ldd chroot | grep -o '/[^ ]*'); do
		mkdir -p "root${file%/*}" && cp "$file" "root$file"
	done
	cat >>run <<-'END'
	unshare --pid --fork --mount-proc ./pids
	chroot root /chroot
	unshare --mount sh -c 'mount -t tmpfs none tmp && cp tmpfs tmp/ && tmp/tmpfs'
	unshare --mount sh -c 'touch here && mount --bind bound here && ./here'
	END
	# What is profiled can be unmounted: its file is not held for long.
	program unmounted
	wanted="$wanted unmounted"
	cat >>run <<-'END'
	unshare --mount sh -c 'mount -t tmpfs none tmp && cp unmounted tmp/ &&
		tmp/unmounted && for _ in 1 2 3 4 5 6 7 8 9 10; do
			umount tmp && exit
			sleep 0.5
		done; echo "it is still mounted"'
	END
	mkdir -p lower upper work overlay
	if unshare --mount mount -t overlay none overlay \
		-o "lowerdir=lower,upperdir=upper,workdir=work" 2>why; then
		program lower_file && mv lower_file lower/
		program upper_file
		wanted="$wanted lower_file upper_file"
		cat >>run <<-'END'
		unshare --mount sh -c 'mount -t overlay none overlay \
			-o lowerdir=lower,upperdir=upper,workdir=work &&
			overlay/lower_file && cp upper_file overlay/ &&
			overlay/upper_file'
		END
	else
		skip "an overlay" "$(cat why)"
	fi
else
	skip "other roots and namespaces" "only root may make them"
fi

profiled "all kinds of places" sh run 2>run.err
is "all of them ran" "$(cat run.err)" ''
is "nothing holds a file system" "$(grep 'still' truth)" ''
is "none is lost" "$(ledger lost)" 0
rows --demangle=none >all
few=''
for name in $wanted; do
	nr=$(sum '.*' "hot_$name" <all)
	ok "$name: $nr of about 200 samples have the name of its function" \
		[ "$nr" -ge 100 ]
	[ "$nr" -ge 100 ] || few=$name
done
[ -z "$few" ] || diag "$(cat "$TMP/operf.err" all)"
nr=$(user_rows <all | sum '.*' 'hot_.*')
# What the shell, the loader and mount(8) do is no part of this.
ok "no program has samples that are not in its function" \
	rarely "$(user_rows <all | awk -F '\t' '
		$2 ~ /^(memfd:app|pids|chroot|tmpfs|here|unmounted|.*_file|.*\.so)$/ &&
		$2 !~ /^(ld-linux|libc|libdl|libselinux|libmount)/ &&
		$3 !~ /^hot_/ { n += $1 } END { print n + 0 }')" "$nr" 1
# What no path led to was copied while it ran.
rm -rf chroot tmpfs bound root lower upper
rows --demangle=none >later
ok "the names stay when those files are gone" \
	[ "$(sum '.*' 'hot_.*' <later)" -ge $((nr * 99 / 100)) ]
# Numbers of processes are those of a namespace: in another one's /proc they are of
# other programs.
exits "a /proc of another pid namespace" 125 \
	unshare --pid --fork "$BIN/operf" -d other true
like "is refused" "$(cat "$test_log")" '^operf: /proc: is not that of this pid namespace'
ok "its own is not" unshare --pid --fork --mount-proc "$BIN/operf" -d other true
done_testing
