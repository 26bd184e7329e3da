#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Completion for bash, as bash asks for it: which words a command line may go on
# with.

. "$(dirname "$0")/../lib.sh"

command -v bash >/dev/null || skip_all "no bash"
PATH=$BIN:$PATH
cd "$TMP" || exit 1
session=$TMP/oprofile_data/samples
sample() {
	file=$session/$1
	shift
	"$TESTBIN/mkodb" "$file" cpu-khz=2400000 cpu-type=x86-64/zen3 "$@" || exit 1
}
cat >prog.c <<'END'
int hot_function(int x) { return x * 3; }
int hot_stuff(int x) { return x * 5; }
int main(int argc, char **argv) { return hot_function(hot_stuff(argc)) + !argv; }
END
"${CC:-cc}" -O0 -Wl,--build-id -o prog prog.c || exit 1
at() {
	nm prog | awk -v name="$1" '$3 == name { print "0x" $1 }'
}
program="{root}$TMP/prog"
for name in current before; do
	printf '%s\n' "$(at hot_function) 20" "$(at hot_stuff) 10" "$(at main) 1" |
		sample "$name/$program/{dep}/$program/CYCLES.100000.0.all.all.all" \
			mtime="$TMP/prog"
done

# Set up as bash does it; the words come sorted, one a line.
cat >"$TMP/complete.bash" <<'END'
source "$1"
ophelp() { # this machine may be of any kind
	command ophelp --cpu-type=x86-64/zen3 "$@"
}
COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
_oprofile "${2%% *}"
printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort
END
# completes LINE WORDS: words separated by blanks.
completes() {
	is "$1<TAB>" "$(bash "$TMP/complete.bash" "$O/completion/oprofile" "$1" 2>&1 |
		paste -sd' ')" "$2"
}

# ---- options, as --help has them -------------------------------------------------

for program in opcontrol operf ocount ophelp opstream opreport opannotate oparchive \
	opmerge opgprof opimport oppush opsymbols optop; do
	is "$program: the options that --help lists" \
		"$(bash "$TMP/complete.bash" "$O/completion/oprofile" "$program -" |
			sed 's/=$//' | sort -u)" \
		"$("$BIN/$program" --help | sed -n 's/^  *\(-.*\)/\1/p' |
			tr ', =[' '\n' | grep -E '^(-[A-Za-z?%]|--[a-z][a-z0-9-]*)$' |
			sort -u)"
done
completes "opreport --form" "--format="
completes "opreport -l --ver" "--verbose --verbose= --version"
completes "opreport --format=f" "firefox flamegraph folded"
completes "opreport --layout=" "columns rows"
completes "opreport -l -s sample,im" "sample,image"
completes "opcontrol --separate=lib,k" "lib,kernel"
completes "opcontrol --source=" "auto module perf"
completes "optop --view=" "cgroup image line process symbol thread"
completes "opreport --threshold=" ""

# ---- events ----------------------------------------------------------------------

completes "ophelp RETIRED_OP" "RETIRED_OPS"
completes "operf -e CYCLES_N" "CYCLES_NOT_IN_HALT"
completes "operf --events=CYCLES_NOT_IN_HALT:50000,RETIRED_OP" \
	"50000,RETIRED_OPS" # bash has a word begin behind each ':'
completes "opcontrol --event=def" "default"
completes "ophelp --cpu-type=x86-64/zen" \
	"x86-64/zen1 x86-64/zen2 x86-64/zen3 x86-64/zen4 x86-64/zen5"

# ---- the session of the folder ---------------------------------------------------

completes "opreport $TMP/p" "$TMP/prog"
completes "opreport image:$TMP/p" "$TMP/prog"
completes "opreport sess" "session-exclude: session:"
completes "opreport session:" "before current"
completes "opreport session:b" "before"
completes "opreport -l --include-symbols=hot" "hot_function hot_stuff"
completes "opannotate --source -i hot_stuff,m" "hot_stuff,main"
mv oprofile_data elsewhere
completes "opreport --session-dir=elsewhere session:" "before current"
completes "opreport --session-dir=elsewhere -i hot_s" "hot_stuff"
completes "opreport --session-dir=nowhere -i hot_s" ""

# ---- programs and files ----------------------------------------------------------

mkdir "a folder"
touch "a file"
completes "operf bas" "$(bash -c 'compgen -c bas' | sort -u | paste -sd' ')"
completes "operf -e default ./prog elsew" "elsewhere"
completes "operf ./prog --form" ""
completes "opreport -o elsew" "elsewhere"
completes "opmerge -o new elsew" "elsewhere"
completes "opreport --root=elsew" "elsewhere"
completes "opcontrol --readable-by=roo" "root"
completes "oprofiled --se" ""

# ---- zsh ---------------------------------------------------------------------------

if command -v zsh >/dev/null; then
	ok "zsh takes its own" zsh -n "$O/completion/_oprofile"
else
	skip "zsh takes its own" "no zsh"
fi
done_testing
