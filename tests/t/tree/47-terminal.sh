#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What reports look like on terminals of three sizes: each row is one line, the
# hottest is in sight, and the pager shows the beginning first. SCREENS=FOLDER
# keeps the screens.
# timeout: 120
. "$(dirname "$0")/../lib.sh"

command -v tmux >/dev/null || skip_all "no tmux"
unset NO_COLOR PAGER OPROFILE_PAGER LESS COLUMNS
: "${SCREENS:=$TMP/screens}"
mkdir -p "$SCREENS"
socket=
# shellcheck disable=SC2317 # lib.sh calls it
at_exit() {
	[ -z "$socket" ] || tmux -S "$socket" kill-server 2>/dev/null
}

cat >"$TMP/sort.cc" <<'END'
#include <algorithm>
#include <map>
#include <string>
#include <vector>
template <class T> __attribute__((noinline)) size_t count(const std::vector<T> &v)
{
	std::map<T, std::vector<T>> m;
	for (const T &x : v)
		m[x].push_back(x);
	return m.size();
}
int main()
{
	std::vector<std::string> names;
	size_t n = 0;
	for (int i = 0; i < 3000; i++)
		names.push_back(std::to_string(i * 7919L % 100003));
	for (int i = 0; i < 40; i++) {
		std::vector<std::string> copy = names;
		std::sort(copy.begin(), copy.end());
		n += count(copy);
	}
	return n == 1;
}
END
${CXX:-c++} -O1 -g -o "$TMP/sort" "$TMP/sort.cc" || exit 1
"$BIN/operf" -g --session-dir="$TMP" "$TMP/sort" >"$TMP/operf.out" 2>&1 ||
	skip_all "operf cannot profile here: $(tail -n 1 "$TMP/operf.out")"

# screen WIDTHxHEIGHT NAME COMMAND: what a terminal of that size shows. The pager
# is one that leaves the first screen and ends, which is the event to wait for.
screen() {
	width=${1%x*} height=${1#*x} socket=$TMP/tmux-$2-$1
	tmux -S "$socket" -f /dev/null new-session -d -x "$width" -y "$height" \
		"OPROFILE_PAGER='head -n $((height - 1))' $3 2>/dev/null
		tmux -S $socket wait-for -S shown; exec cat"
	tmux -S "$socket" wait-for shown
	tmux -S "$socket" capture-pane -p >"$SCREENS/$2-$1"
	tmux -S "$socket" kill-server
}

for size in 80x24 120x40 200x60; do
	screen $size symbols "$BIN/opreport --session-dir=$TMP -l"
	shown=$SCREENS/symbols-$size
	like "-l $size: begins with the header" "$(sed 1q "$shown")" '^CPU: '
	is "-l $size: what ran takes one line" \
		"$(sed -n '/^Run: /{n;s/: .*//p;}' "$shown")" Samples
	is "-l $size: each row is one line" "$(sed -n '/^samples/,$p' "$shown" |
		sed 1d | grep -Evc '^([0-9]+ +([0-9.e-]+|0) |$)')" 0
	screen $size tree "$BIN/opreport --session-dir=$TMP --tree"
	shown=$SCREENS/tree-$size
	like "--tree $size: the whole is on top" "$(cat "$shown")" ' 100\.000 '
	like "--tree $size: main is in sight" "$(cat "$shown")" ' main'
	screen $size annotate "$BIN/opannotate --session-dir=$TMP -s"
	shown=$SCREENS/annotate-$size
	like "opannotate $size: a title takes one line" "$(cat "$shown")" \
		'^ +[0-9]+ +[0-9.]+ +[0-9.]+ :[^ ].*[^,]$'
	like "opannotate $size: lines have numbers" "$(cat "$shown")" \
		'^ +[0-9]+ +[0-9.]+ +[0-9.]+ : +[0-9]+( |$)'
done
done_testing
