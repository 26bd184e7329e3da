#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# README's first minutes: in a Debian with git, gcc and make `make demo` and the
# commands of "Five minutes", as they are printed, lead from a copy of the tree to the
# flame graph of a program. How long that takes is printed. It takes $O/debian-root, as
# make check-debian does, and fetches some 100 MB of packages, which it keeps in
# $O/debian-packages.
# tier: all
# timeout: 1800

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../debian.sh"

"$TESTBIN/canperf" own 2>"$TMP/canperf" ||
	skip_all "no perf events for this user: $(cat "$TMP/canperf")"

# The blocks of the section, one script.
mkdir "$TMP/blocks"
first=$(grep -n '^## Five minutes' "$TOP/README.md" | cut -d : -f 1)
last=$(awk -v first="$first" 'NR > first && /^## / { print NR; exit }' "$TOP/README.md")
"$TOP/tests/t/howto.py" blocks "$TOP/README.md" "$TMP/blocks" |
	while read -r name line _; do
		[ "$line" -lt "$first" ] || [ "$line" -gt "$last" ] ||
			cat "$TMP/blocks/$name"
	done >"$TMP/commands"
like "it ends with a flame graph" "$(tail -n 1 "$TMP/commands")" 'flamegraph'

ok "apt's lists" inside apt-get -q update
ok "a bare machine" install_inside gcc make git
mkdir -p "$DEBIAN/src/oprofile"
git -C "$TOP" archive HEAD | tar -x -C "$DEBIAN/src/oprofile"
cp "$TMP/commands" "$DEBIAN/src/commands"
before=$(date +%s)
ok "make demo" inside sh -c 'cd /src/oprofile && make demo'
like "it shows what is hot" "$(cat "$test_log")" ' demo_work +escape_time'
ok "a compiler for C++" install_inside g++
ok "README's commands" inside sh -c 'cd /src/oprofile && sh -eux ../commands'
diag "$(($(date +%s) - before)) seconds from the first command to the flame graph"
like "the flame graph has the program's functions" \
	"$(grep -o 'make_text' "$DEBIAN/src/oprofile/flamegraph.html" | head -n 1)" make_text
like "so has the page" \
	"$(grep -o 'make_text' "$DEBIAN/src/oprofile/report.html" | head -n 1)" make_text
done_testing
