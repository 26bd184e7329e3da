#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two programs with one build-id and other code, as llvm-bolt makes of each release:
# samples of one never get names of the other, whichever of them is at the path.
# timeout: 600
# sanitized: no
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"
. "$(dirname "$0")/../perf.sh"
needs_perf own

RATE=1000
cd "$TMP" || exit 1
id=0123456789abcdef0123456789abcdef01234567

# build NAME FUNCTION...: a program with these functions in this order, which spends
# its time in spin() and, a third of that, in walk().
cat >head.h <<'END'
#include <stdlib.h>
#include <time.h>
#define FUNCTION(name, code)                                                   \
	__attribute__((noipa)) long name(long n)                               \
	{                                                                      \
		while (n--)                                                    \
			__asm__ volatile(code);                                \
		return n;                                                      \
	}
#define spin FUNCTION(spin, "")
#define walk FUNCTION(walk, "nop; nop")
#define rest FUNCTION(rest, ".skip 300, 0x90")
END
cat >main.h <<'END'
#undef spin
#undef walk
#undef rest
int main(int argc, char **argv)
{
	double end = atof(argv[argc - 1]);

	while ((double)clock() / CLOCKS_PER_SEC < end) {
		spin(90000);
		walk(30000);
		rest(1);
	}
	return 0;
}
END
build() {
	to=$1
	shift
	{
		echo '#include "head.h"'
		printf '%s\n' "$@"
		echo '#include "main.h"'
	} >"$to.c"
	${CC:-cc} -O2 -g -fno-toplevel-reorder -Wl,--build-id=0x$id -o "$to" "$to.c" ||
		exit 1
}
build one spin rest walk
build two rest walk spin
is "both have one build-id" "$(readelf -n one two | grep -c "$id")" 2
# Where spin() is in one of them is no function, or another one, in the other.
is "and other code" "$(nm one | grep -c "$(nm two | sed -n 's/ T spin$//p') T spin")" 0

# of_app NAME FUNCTION: of the rows all samples of the program that are in it.
of_app() {
	sum 'app' "$1" <all
}

# named NAME: most samples of the program are in spin(), few in walk(), as they
# were, and none are elsewhere or have no name.
named() {
	rows --demangle=none >all || cp /dev/null all
	spin=$(of_app spin) walk=$(of_app walk)
	whole=$(of_app '.*')
	ok "$1: spin() has $spin and walk() $walk of $whole samples" \
		[ "$walk" -gt 20 -a "$spin" -gt $((walk * 3 / 2)) -a \
		$(((spin + walk) * 100)) -ge $((whole * 95)) ]
}

# ---- one after the other, each in a session of its own

cp one app
profiled "the first program" ./app 0.6
named "at its path"
is "its samples have its fingerprint" \
	"$(sample_files | grep -cE "build:$id-[0-9a-f]{16}\\}")" 1
mv session first
cp two new && mv new app

SESSION=$TMP/first
CURRENT=$SESSION/samples/current
named "replaced, by the store"
mv first/store store
rows --demangle=none >all
is "replaced, without a store: no name of the other" "$(of_app 'spin|walk|rest|main')" 0
like "which is said with the reason" "$(cat report.err)" \
	'/app: no symbols: the file has the same build-id but other code; '
"$BIN/opannotate" --session-dir=first --assembly >annotated 2>annotate.err
unlike "no code of the other is shown" "$(cat annotated)" '^ *[0-9]+ +[0-9.]+.* nop'
strip -o app one
report -l
unlike "a stripped twin is the same code" "$(cat report.err)" 'other code'
cp two new && mv new app
mv store first/store
ok "checks find nothing wrong" "$BIN/opreport" --session-dir=first --check
stored=$(find first/store -name '*4567-*' ! -name '*.*')
mv "$stored" "${stored%?????}00000"
"$BIN/opreport" --session-dir=first --check >checked 2>&1
like "but what is stored as what it is not" "$(cat checked)" \
	'4567-[0-9a-f]{11}00000: it is other code than its name says'
mv "${stored%?????}00000" "$stored"

# ---- both in one session

profiled "the second program, into the same session" -a ./app 0.6
is "there are two builds" \
	"$(sample_files | grep -oE "build:$id-[0-9a-f]{16}" | sort -u | wc -l)" 2
named "both"
like "which are added up" "$(cat report)" '^Builds added up: 2 of app'
report -l --by-build
is "or kept apart, by build-id and fingerprint" \
	"$(grep -cE "app \\(build 0123456789ab-[0-9a-f]{16}\\) +spin\$" report)" 2
rm app
named "both, and no file left"
is "the store has both" \
	"$(find first/store -name "*4567-*[0-9a-f]" -path '*/01/*' | wc -l)" 2

# ---- one in the place of the other, in one run

SESSION=$TMP/session
CURRENT=$SESSION/samples/current
# shellcheck disable=SC2016 # for the command
profiled "in turns" sh -c 'for i in 1 2; do
	for program in one two; do
		cp $program new && mv new app && ./app 0.3
	done
done'
is "in turns: there are two builds" \
	"$(sample_files | grep -oE "build:$id-[0-9a-f]{16}" | sort -u | wc -l)" 2
named "in turns"

# ---- elsewhere

ok "an archive" "$BIN/oparchive" --session-dir=first -o archive
rm -rf other && mkdir other
SESSION=$TMP/other
CURRENT=$SESSION/samples/current
cp two app
profiled "the second program on another machine" ./app 0.6
ok "and its archive" "$BIN/oparchive" --session-dir=other -o archive2
ok "their sum" "$BIN/opmerge" archive archive2 -o merged
rm app
# of_archive FOLDER: as named.
of_archive() {
	"$BIN/opreport" "archive:$1" -l --format=csv >csv 2>csv.err
	awk -F , '$5 ~ /\/app$/ { all += $10; of[$6] += $10 }
		END {
			print of["spin"] " and " of["walk"] " of " all \
				" in spin() and walk()"
			exit !(of["walk"] > 20 && of["spin"] > of["walk"] * 1.5 &&
				(of["spin"] + of["walk"]) * 100 >= all * 95)
		}' csv
}
for archive in archive archive2 merged; do
	ok "$archive: $(of_archive $archive)" of_archive $archive
done
is "the sum has both" "$(find merged -name '*4567-*' ! -name '*.*' |
	sed 's/.*-//' | sort -u | wc -l)" 2
done_testing
