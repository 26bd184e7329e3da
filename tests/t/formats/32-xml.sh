#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# XML: every form is valid by the schema that is installed; --xml=classic has
# nothing that programs do not expect which know the schema of the original
# (tests/t/reports/33-golden.sh holds it against that one).
. "$(dirname "$0")/../lib.sh"

command -v xmllint >/dev/null ||
	skip_all "no xmllint; install the Debian package libxml2-utils"
XSD=$(pwd)/libpp/format/opreport.xsd
cd "$TMP" || exit 1
cat >prog.c <<'END'
int hot(int x)
{
	return x * 3 + 1;
}
int main(int argc, char **argv)
{
	(void)argv;
	return hot(argc) & 1;
}
END
${CC:-cc} -O0 -g -Wl,--build-id -o prog prog.c || exit 1
where() {
	nm prog | awk -v f="$1" '$3 == f { sub(/^0+/, "", $1); print "0x" $1 }'
}
HOT=$(where hot) MAIN=$(where main) P="{root}$TMP/prog"
E=CPU_CLK_UNHALTED.100000.0

# samples SESSION IMAGE EVENT [OPTION...] <pairs
samples() {
	session=$1 image=$2 event=$3
	shift 3
	"$TESTBIN/mkodb" "$session/samples/current/$P/{dep}/$image/$event" "$@" ||
		exit 1
}
# cycles SESSION TASK: 10 samples in the program.
cycles() {
	printf '%s 8\n%s 2\n' "$HOT" "$MAIN" | samples "$1" "$P" "$E.$2" \
		event=118 count=100000 cpu-type=x86-64/family10 mtime="$TMP/prog"
}
for session in one two stacks; do
	cycles $session all.all.all
done
cycles cpus all.all.0
cycles cpus all.all.1
cycles threads 7.7.all
cycles threads 7.8.all
echo "$HOT 10" | samples timer "$P" TIMER.0.0.all.all.all timer-hz=1000 \
	mtime="$TMP/prog"
echo "$HOT 3" | samples two "$P" DATA_CACHE_MISSES.5000.0.all.all.all event=64 \
	count=5000 cpu-type=x86-64/family10 mtime="$TMP/prog"
# An application that has samples in a library alone.
echo 0x10 5 | samples lib '{root}/lib/x.so' $E.all.all.all event=118 \
	count=100000 cpu-type=x86-64/family10
for session in one timer; do
	printf '%s\n' 'source = test' 'taken = 12' 'stored = 10' 'pending = 0' \
		'lost_busy = 2' >$session/samples/current/ledger
done
"$TESTBIN/mktree" "stacks/samples/current/$P/{tree}/$E.all.all.all" <<END || exit 1
image a root:$TMP/prog
stack 5 a+$MAIN a+$HOT
END

# report SESSION OPTION...: to the file xml.
report() {
	session=$1
	shift
	"$BIN/opreport" --session-dir="$TMP/$session" "$@" >xml 2>err
}
valid() {
	xmllint --noout --schema "$XSD" xml >lint 2>&1 || { cat lint >&2; false; }
}
for session in one two timer cpus threads lib stacks; do
	for options in '' '-l -g' '-d -g' --lines -c '-l --threshold=100'; do
		for how in -X --xml=classic; do
			# shellcheck disable=SC2086 # words
			report $session $how $options
			is "$session $how $options" "$? $(head -n 1 xml)" \
				'0 <?xml version="1.0" ?>'
			ok "is valid" valid
		done
		unlike "classic $options" "$(cat xml)" \
			'<account|<loss| comm=| cgroup=| source='
	done
done

# The schema tells right from wrong.
report one -X -d
mv xml right
for wrong in 's/<symboltable>/<table\/>&/' 's/ taken="12"//' \
	's/idref="0"/idref="x"/' 's/<setup>/<classes\/>&/' \
	's/schemaversion="3/schemaversion="4/' 's/vmaoffset="/&x/' \
	's/^10<\/count>/-10<\/count>/'; do
	sed "$wrong" right >xml
	exits "not valid: $wrong" 3 xmllint --noout --schema "$XSD" xml
done

# ---- as the original had it --------------------------------------------------

report one --xml=classic -d
like "the digits of code are capitals" "$(cat xml)" '^[0-9A-F]{16,}</bytes>$'
report threads --xml=classic
is "a process has one count" \
	"$(sed -n '/<process/,/<thread/p' xml | grep '</count>')" '20</count>'
report threads -X
is "else it has one for each thread" \
	"$(sed -n '/<process/,/<thread/p' xml | grep '</count>' | tr '\n' ' ')" \
	'10</count> 10</count> '
report lib --xml=classic
is "a binary has a count" "$(sed -n '/<binary/,/<module/p' xml | grep '</count>')" \
	'0</count>'
report cpus --xml=classic cpu:1
is "one CPU that was chosen is told" \
	"$(grep -E 'separatedcpus|<class |<count' xml | sort -u)" \
	' separatedcpus="1"
<class  name="c0" cpu="1"/>
<count  class="c0">'
ok "and is valid" valid
for how in -X --xml=classic; do
	report one $how -s vma
	is "$how -s vma" "$? $(cat err)" \
		'0 opreport: warning: --sort has no effect on XML'
	ok "is valid" valid
done
report one --xml=modern
is "another form is refused" "$? $(cat err)" \
	'2 opreport: --xml=modern: unknown; use --xml or --xml=classic'
done_testing
