#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Several builds of one path, one after another and at once: none of their
# samples are lost, shares are what the programs themselves have counted, and
# reports add builds up or keep them apart.
# timeout: 600
# The sanitizers would take a tenth of the samples at the start of a program.
# sanitized: no
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"
. "$(dirname "$0")/../perf.sh"

RATE=1000
cd "$TMP" || exit 1

# ---- recorded: ten thousand builds of one path

# Ten builds are not known by build-id, but by inode.
awk 'BEGIN {
	print "stream 1 8\ncpu 0"
	for (i = 1; i <= 10000; i++) {
		id = i % 1000 ? sprintf("%08x", i) : "-"
		print "cookie " i " 0 2049 " i " 7 " id " /opt/app/app"
		print "ctx 1 " i "\ntgid 1\nimage " i "\nuser"
		print "sample " i % 3 * 16 " 0 x2"
	}
}' >many
stream many.stream <many
replay many.stream --pack-at=1
is "ten thousand builds: all samples are stored" "$(ledger stored)" 20000
ok "in few files: $(find "$CURRENT" -type f | wc -l)" \
	[ "$(find "$CURRENT" -type f | wc -l)" -lt 5 ]
ok "and little room: $(du -sk "$CURRENT" | cut -f1) KiB" \
	[ "$(du -sk "$CURRENT" | cut -f1)" -lt 4000 ]
ok "they have a report" report -l
is "which adds them up" "$(sed -n 's/^\([0-9]* .*%*\) .*/\1/p' report | awk '/^[0-9]/ { print $1, $2 }')" \
	'20000 100.000'
like "and says that" "$(cat report)" '^Builds added up: 10000 of app \(--by-build'
ok "one of them" report build-id:00001234
like "has its own samples" "$(cat report)" '^ *2 100.000 app$'
ok "one without a build-id" report build-id:file-801-3e8-7
like "has its own samples" "$(cat report)" '^ *2 100.000 app$'
report build-id:00ff1234
is "a build that is not there" $? 1
like "is said" "$(cat report.err)" 'build-id:00ff1234: no sample files match; '

# ---- live

"$TESTBIN/canperf" own 2>canperf ||
	skip_all "no perf events for this user: $(cat canperf)"

# A program whose builds differ in what they do besides alpha(): it tells the
# milliseconds of CPU time that it spent in each of its functions.
cat >app.c <<'END'
#include <stdio.h>
#include <time.h>

static long long used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

#define FUNCTION(name)                                                         \
	__attribute__((noipa)) static void name(long n)                     \
	{                                                                      \
		while (n--)                                                    \
			__asm__ volatile("");                                  \
	}                                                                      \
	static void spend_##name(long long ns)                                 \
	{                                                                      \
		long long start = used(), now;                                 \
									       \
		do {                                                           \
			name(3000000);                                         \
			now = used();                                          \
		} while (now - start < ns);                                    \
		printf(#name " %lld\n", (now - start) / 1000);                 \
	}

#ifdef OTHER
FUNCTION(other)
#endif
FUNCTION(alpha)

int main(int argc, char **argv)
{
	/* Who waits for its start reads there. */
	FILE *started = argc > 1 ? fopen(argv[1], "w") : NULL;

	if (started)
		fclose(started);
	for (int i = 0; i < ROUNDS; i++) {
#ifdef OTHER
		spend_other(60000000);
#endif
		spend_alpha(40000000);
	}
	return 0;
}
END
mkdir builds
gcc -g -O2 -DROUNDS=8 -o builds/one app.c || exit 1
gcc -g -O2 -DROUNDS=8 -DOTHER -o builds/two app.c || exit 1
chmod -R a+rX builds

# counted: what is stored of the programs, and that no sample is lost.
counted() {
	is "$name: none is lost" "$(ledger lost)" 0
	rows --demangle=none >all || cp /dev/null all
	for function in alpha other; do
		nr=$(sum app $function <all)
		both=$(sum app 'alpha|other' <all)
		want=$(awk -v of=$function '{ all += $2 } $1 == of { n += $2 }
			END { printf "%.2f", 100 * n / all }' truth)
		share=$(percent "$nr" "$both")
		ok "$name: $function has $share % of $both samples, $want % of the time" \
			near "$share" "$want" "$(chance "$want" "$both")"
	done
	like "$name: the report says that builds are added up" \
		"$(cat report)" '^Builds added up: .*of app'
	report -l --by-build
	is "$name: or it keeps them apart" \
		"$(grep -cE " app \\(build [0-9a-f]{12}\\) (.* )?alpha\$" report)" 2
	# Where all samples are of one application its name is no column. Its
	# source lines are those of one build.
	id=$(sed -n 's/.* app (build \([0-9a-f]*\)) \(.* \)*other$/\1/p' report)
	"$BIN/opannotate" --session-dir="$SESSION" --all -s "build-id:$id" \
		--include-symbols=other >annotated 2>annotate.err
	like "$name: one build is annotated" "$(cat annotated)" '/\* other total: '
	"$BIN/opannotate" --session-dir="$SESSION" -s image:"*/app" \
		>annotated 2>annotate.err
	like "$name: the other one is left out, which is said" \
		"$(cat annotate.err)" \
		"app \(build $id\) is shown; [0-9]* samples of its other builds are left out"
}

builds() {
	rm -rf session work
	user_folder work
	cp builds/* work/
	[ -z "$AS" ] || give_to_user work

	profiled "compiled and run in turns$WHO" sh -c '
		cd work && for i in 1 2 3; do
			cp one new && mv new app && ./app
			cp two new && mv new app && ./app
		done'
	counted

	rm -rf session
	profiled "replaced while it runs$WHO" sh -c '
		cd work && mkfifo started && cp one new && mv new app || exit
		./app started &
		read -r _ <started
		cp two new && mv new app && ./app
		wait'
	counted
}

AS='' WHO=''
builds
if [ "$(id -u)" -eq 0 ]; then
	# Each has its own file system, with another build under the same path.
	mkdir -p root/opt/app
	rm -rf session
	# shellcheck disable=SC2016 # for the command
	profiled "two mount namespaces" sh -c '
		for build in one two; do
			unshare --mount sh -c "
				mount --bind builds/$build work/app &&
				exec work/app" &
		done
		wait'
	counted

	# One of them is in a root of its own.
	for file in $(ldd builds/two | grep -o '/[^ ]*'); do
		mkdir -p "root${file%/*}" && cp "$file" "root$file"
	done
	mkdir -p "root$TMP/work" && cp builds/two "root$TMP/work/app"
	cp builds/one work/app
	rm -rf session
	# shellcheck disable=SC2016 # for the command
	profiled "the same path in a root of its own" sh -c '
		chroot root "$0/work/app" & "$0/work/app" & wait' "$TMP"
	counted

	for_users "$BIN/operf" "$BIN/oprofiled" "$BIN/opreport" "$BIN/opannotate" \
		"$TESTBIN/canperf"
	AS=as_user WHO=', an ordinary user'
	if as_user "$TESTBIN/canperf" own 2>"$TMP/why"; then
		builds
	else
		skip "an ordinary user" "$(cat "$TMP/why")"
	fi
fi
done_testing
