#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The pager and colours: on a terminal only, chosen by the environment, and with
# the exit status of the program whatever the user does in the pager.
. "$(dirname "$0")/../lib.sh"

command -v script >/dev/null || skip_all "no script(1), which makes a terminal"
unset PAGER OPROFILE_PAGER LESS NO_COLOR COLUMNS
SESSION=$TMP/session
echo "0x10 5" | "$TESTBIN/mkodb" \
	"$SESSION/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100000.0.all.all.all" \
	event=118 count=100000 cpu-type=x86-64/family10
report="$BIN/opreport --session-dir=$SESSION -l -n"

# tty SETTINGS COMMAND: on a terminal of 24 lines; its status is the last line.
tty() {
	printf '%s\n' "stty cols 80 rows 24; export TERM=xterm $1" "$2" \
		'echo "status $?"' >"$TMP/command"
	script -qec "sh $TMP/command" /dev/null </dev/null 2>&1 | tr -d '\r'
}
mark="PAGER='sed s/^/paged:/'"

like "PAGER is used" "$(tty "$mark" "$report 2>/dev/null")" '^paged:5 '
like "OPROFILE_PAGER wins" \
	"$(tty "$mark OPROFILE_PAGER='sed s/^/ours:/'" "$report 2>/dev/null")" '^ours:5 '
unlike "--no-pager" "$(tty "$mark" "$report --no-pager 2>/dev/null")" 'paged:'
unlike "not with an empty one" "$(tty "PAGER=sed OPROFILE_PAGER=" "$report")" 'sed:'
unlike "not for a file" "$(tty "$mark" "$report -o $TMP/file; cat $TMP/file")" 'paged:'
unlike "not on a dumb terminal" "$(tty "$mark TERM=dumb" "$report")" 'paged:'
unlike "not in a pipe" "$(PAGER='sed s/^/paged:/' TERM=xterm $report 2>&1)" 'paged:'
like "less gets its options" "$(tty "PAGER='cat >/dev/null; echo \$LESS'" "$report")" '^FRX$'
like "unless the user has some" \
	"$(tty "LESS=abc PAGER='cat >/dev/null; echo \$LESS'" "$report")" '^abc$'
like "who leaves early is not told of it" "$(tty "PAGER=true" "$BIN/ophelp -c x86-64/zen3")" \
	'^status 0$'
unlike "nor of a pipe" "$(tty "PAGER=true" "$BIN/ophelp -c x86-64/zen3")" '[Bb]roken'
like "a pager that is not there" "$(tty "PAGER=nonesuch" "$report")" \
	'^opreport: the pager "nonesuch" cannot be run; correct PAGER or OPROFILE_PAGER, or use --no-pager$'
like "is a failure" "$(tty "PAGER=nonesuch" "$report")" '^status 1$'
like "a failure is one with a pager, too" \
	"$(tty "$mark" "$report image:nonesuch 2>/dev/null")" '^status 1$'
like "ophelp pages lists" "$(tty "$mark" "$BIN/ophelp -c x86-64/zen3")" '^paged:'
unlike "not what scripts ask for" "$(tty "$mark" "$BIN/ophelp -r")" '^paged:'
echo 0 | "$TESTBIN/mkstream" >"$TMP/stream" 2>/dev/null || printf '%08d' 0 >"$TMP/stream"
like "opstream pages a file" "$(tty "$mark" "$BIN/opstream $TMP/stream")" '^paged:'

# less itself, if it keeps lines in sight; else it is not asked to.
mkdir "$TMP/bin"
for version in 590 632; do
	# shellcheck disable=SC2016 # for that script
	printf '%s\n' '#!/bin/sh' "[ \"\$1\" = --version ] && echo 'less $version (x)' && exit" \
		'cat >/dev/null; echo "LESS=$LESS"' >"$TMP/bin/less"
	chmod +x "$TMP/bin/less"
	tty "PATH=$TMP/bin:$PATH" "$BIN/opreport --session-dir=$SESSION -l 2>/dev/null" |
		grep LESS= >"$TMP/less$version"
done
is "an old less" "$(cat "$TMP/less590")" "LESS=FRX"
is "a new one keeps the heads of columns in sight" "$(cat "$TMP/less632")" \
	"LESS=FRX --header=3"

# Columns are as wide as their names, a quarter of the terminal at most.
long=a-library-that-has-a-name-of-many-words.so
for image in bin/x "lib/$long"; do
	echo "0x10 3" | "$TESTBIN/mkodb" \
		"$SESSION/samples/current/{root}/bin/x/{dep}/{root}/$image/CYCLES.100000.0.all.all.all" \
		event=118 count=100000 cpu-type=x86-64/family10
done
head='samples  %        image name'
rows() {
	tty "PAGER=$1" "$BIN/opreport --session-dir=$SESSION -l $2 2>/dev/null" |
		grep -A 2 '^samples'
}
is "columns on a terminal" "$(rows)" "$head            symbol name
8        72.7273  x                     /bin/x
3        27.2727  a-library...words.so  /lib/a-library-that...e-of-many-words.so"
is "on one of 40 columns" "$(rows "; stty cols 40")" "$head        symbol name
8        72.7273  x                 /bin/x
3        27.2727  a-libra...rds.so  /lib/a-...rds.so"
is "and whole, and in a pipe" "$(rows "" --wide)
$($report | tail -n 2)" "$head               symbol name
8        72.7273  x                        /bin/x
3        27.2727  $long /lib/$long
8        72.7273  x                        /bin/x
3        27.2727  $long /lib/$long"

esc=$(printf '\033')
src=$TMP/one.c
echo 'int main(int argc, char **argv) { return argc + !argv; }' >"$src"
${CC:-cc} -g -no-pie -Wl,--build-id -o "$TMP/one" "$src" || exit 1
rm -r "$SESSION"
at=$(nm "$TMP/one" | awk '$3 == "main" { print $1 }')
section=$(readelf -S -W "$TMP/one" | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\) \([0-9a-f]*\) .*/0x\1 0x\2/p')
echo "$((0x$at - ${section% *} + ${section#* })) 5" | "$TESTBIN/mkodb" \
	"$SESSION/samples/current/{root}$TMP/one/{dep}/{root}$TMP/one/CYCLES.100000.0.all.all.all" \
	mtime="$TMP/one" event=118 count=100000 cpu-type=x86-64/family10
annotate="$BIN/opannotate --session-dir=$SESSION -s -n"
like "colour by heat on a terminal" "$(tty PAGER= "$annotate")" "${esc}\\[1;31m +5 100"
unlike "not with NO_COLOR" "$(tty "PAGER= NO_COLOR=1" "$annotate")" "$esc"
unlike "not in a pipe" "$($annotate)" "$esc"
is "which has the same text" "$($annotate)" \
	"$(tty "PAGER= NO_COLOR=1" "$annotate" | grep -v '^status')"
done_testing
