#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Sessions that OProfile 0.9.9 recorded, imported and reported with ours, held
# against what its own programs said about them, to the byte.
#
# They are not in the tree: GOLDEN (/opt/golden) is a folder with bin/ (what was
# profiled), sessions/NAME/ and cases/NAME/{cmd,stdout,rc}. The paths in them
# are those of that folder.
# timeout: 300
. "$(dirname "$0")/../lib.sh"

: "${GOLDEN:=/opt/golden}"
[ -d "$GOLDEN/cases" ] ||
	skip_all "$GOLDEN: no sessions of OProfile 0.9.9 to compare with; GOLDEN= names their folder"

"$BIN/opreport" --help >"$TMP/help" 2>&1
for s in "$GOLDEN"/sessions/*; do
	ok "import of $(basename "$s")" "$BIN/opimport" --session "$s" \
		--output "$TMP/$(basename "$s")"
done

# What may differ, and why:
#  - what the original has in its log alone is in our account: lost samples
#  - descriptions of events and unit masks are in our own words; but there is
#    one wherever the original has one
#  - symbols of a stripped library, with their addresses, come from what it
#    exports; the original has none for it
#  - functions of a program without symbols come from its unwind data, and have
#    their address for a name; the original has one for the whole program
#  - sample files that were imported one by one are in a folder of their own
#  - a library that ran in another application on each side of a comparison is
#    compared with itself; the original calls it gone and new
#  - the title in XML, and the first comment of opannotate, is the command line,
#    which names another folder
same_but_for() {
	sed -E \
		-e '/^ \* Command line: /d' \
		-e 's|^(( \* )?Counted [^ ]+ events) \([^()]+(\([^()]*\)[^()]*)*\) (with a unit mask of 0x[0-9a-f]+) \([^()]+(\([^()]*\)[^()]*)*\) (count [0-9]+)$|\1 (what) \4 (what) \6|' \
		-e '/^ title="/d' \
		-e '/^( \* )?Samples( of the old profile)?: [0-9]+ taken = /d' \
		-e '/^<account  /,/^<\/account>/d' \
		-e 's@(name="([^"]*/libnodbg\.so|libnodbg_entry)") *startingaddr="[0-9a-f]+"@\1@' \
		-e 's@(^[0-9].* |name=")[^ "]*/bin/nosyms("|$)@\1(0x401000)\2@' \
		-e 's@(name="\(0x401000\)") *startingaddr="[0-9a-f]+"@\1@' \
		-e "s@(libnodbg\\.so  .*|^[0-9].* |name=\")[^ \"]*/bin/libnodbg\\.so(\"|\$)@\\1libnodbg_entry\\2@"
}

# The original read what objdump wrote anew after a warning of objdump's, so a
# symbol's title may come several times before the listing of the symbol. Drop
# a part that the next one starts with.
drop_repeated() {
	awk '
	{ line[NR] = $0 }
	/:     file format / { start[++nr] = NR - 1 }
	function is_repeated(k, i, len) {
		len = start[k + 1] - start[k]
		for (i = 0; i < len; i++)
			if (line[start[k] + i] != line[start[k + 1] + i])
				return 0
		return 1
	}
	END {
		start[nr + 1] = NR + 1
		for (i = 1; i < (nr ? start[1] : NR + 1); i++)
			print line[i]
		for (k = 1; k <= nr; k++)
			if (k == nr || !is_repeated(k))
				for (i = start[k]; i < start[k + 1]; i++)
					print line[i]
	}'
}

# Why a case cannot be run; nothing if it can.
obstacle() {
	case $1 in
	*' -c' | *' -c '*) grep -q -e --callgraph "$TMP/help" || echo "needs call graphs" ;;
	esac
}

# report COMMAND: run a command of the original with ours.
report() {
	set -f
	eval "set -- $1"
	set +f
	program=$1
	shift
	for word; do
		shift
		case $word in
		--session-dir=*) word=--session-dir=$TMP/${word##*/} ;;
		archive:/tmp/*) word=archive:$TMP/${word#archive:/tmp/} ;;
		esac
		set -- "$@" "$word"
	done
	# The original counts inlined functions for those that they are in, and has
	# whole names unless it is asked for others.
	[ "$program" != opreport ] || set -- --no-inlines --demangle=normal "$@"
	# It had tasks in columns alone; XML has neither.
	case " $program $* " in
	*' -X '* | *' --xml '*) ;;
	' opreport '*) set -- --layout=columns "$@" ;;
	esac
	# Only --all shows whole files and symbols.
	[ "$program" != opannotate ] || set -- --all "$@"
	"$BIN/$program" "$@" >"$TMP/out" 2>"$TMP/err"
}

# compare NAME COMMAND: text and numbers are those of the original; what it
# refused is refused, in our own words.
compare() {
	case=$GOLDEN/cases/$1
	report "$2"
	got=$?
	if [ "$(cat "$case/rc")" -ne 0 ]; then
		like "$1 is refused in one line" \
			"$got $(wc -l <"$TMP/err") $(wc -c <"$TMP/out")" '^[12] 1 0$'
		return
	fi
	# It says why it has nothing to show, where the original writes a head alone.
	if [ "$1" = an-nodebug ]; then
		like "$1 fails" "$got $(tail -n 1 "$TMP/err")" '^1 .*has source lines'
		return
	fi
	moved='a line of no report'
	[ "$1" != diff-apps ] || moved=' liba\.so  '
	drop_repeated <"$case/stdout" | same_but_for | grep -v "$moved" >"$TMP/wanted"
	same_but_for <"$TMP/out" | grep -v "$moved" >"$TMP/got"
	ok "$1: $2" diff "$TMP/wanted" "$TMP/got"
}

# archived NAME COMMAND: what is archived, below $TMP. The layout is the same,
# but for our own folder, account and labels, and two files that ours need not
# have.
archived() {
	case=$GOLDEN/cases/$1
	here="s@$GOLDEN/sessions/@$TMP/@g; s@/tmp/gold@$TMP/gold@g"
	sh -c "$(printf '%s\n' "$2" |
		sed -e "$here" -e "s@oparchive @$BIN/&@")" >"$TMP/out" 2>"$TMP/err"
	got=$?
	if [ "$(cat "$case/rc")" -ne 0 ]; then
		like "$1 is refused in one line" \
			"$got $(wc -l <"$TMP/err") $(wc -c <"$TMP/out")" '^[12] 1 0$'
		return
	fi
	sed -e "$here" -e '/\/abi$/d' -e '/\/oprofiled\.log$/d' \
		"$case/stdout" | sort >"$TMP/wanted"
	grep -v -e /.oparchive/ -e '/ledger$' -e '/labels$' "$TMP/out" |
		sed '/{loose}/{ s@{loose}/@@; s@%-@/@g }' | sort >"$TMP/got"
	ok "$1: $2" diff "$TMP/wanted" "$TMP/got"
}

for case in "$GOLDEN"/cases/*/; do
	cmd=$(cat "$case/cmd")
	case $cmd in
	*'oparchive --help'*) ;;
	*'oparchive --session-dir='*) archived "$(basename "$case")" "$cmd" ;;
	esac
done

for case in "$GOLDEN"/cases/*/; do
	name=$(basename "$case")
	cmd=$(cat "$case/cmd")
	case $cmd in
	'opreport --session-dir='* | 'opannotate --session-dir='*) ;;
	*) continue ;;
	esac
	why=$(obstacle "$cmd")
	if [ -n "$why" ]; then
		skip "$name" "$why"
	else
		compare "$name" "$cmd"
	fi
done

# XML for programs that know the original's schema.
if [ -e "$GOLDEN/opreport.xsd" ] && command -v xmllint >/dev/null; then
	for session in "$GOLDEN"/sessions/*; do
		for options in '' '-l -g' '-d -g' -c --lines; do
			# shellcheck disable=SC2086 # words
			"$BIN/opreport" --session-dir="$TMP/$(basename "$session")" \
				--xml=classic --merge=cpu,unitmask $options \
				event:CPU_CLK_UNHALTED >"$TMP/xml" 2>"$TMP/err" ||
				continue
			ok "--xml=classic $options of $(basename "$session") is valid" \
				xmllint --noout --schema "$GOLDEN/opreport.xsd" "$TMP/xml"
		done
	done
else
	skip "--xml=classic" "no xmllint or no schema of the original"
fi

# The same samples, separated in several ways: without that they are one profile.
for how in 'thread --merge=all' 'lib --merge=lib' 'kernel --merge=lib' \
	'kernel --merge=all'; do
	for options in '' -l -d '-l -a -g -w' '-d -a -%' -c '-r -n' '*liba.so'; do
		set -f
		# shellcheck disable=SC2086 # words
		{
			"$BIN/opreport" --session-dir="$TMP/flat" $options \
				>"$TMP/wanted" 2>"$TMP/err"
			"$BIN/opreport" --session-dir="$TMP/${how%% *}" "${how#* }" \
				$options >"$TMP/got" 2>"$TMP/err"
		}
		set +f
		ok "$how ${options:-alone}: as without separation" \
			diff "$TMP/wanted" "$TMP/got"
	done
done

# A profile for gprof, and what gprof made of it.
case=$GOLDEN/cases/gp-cg
if [ -e "$case" ] && command -v gprof >/dev/null; then
	ok "gp-cg: a profile for gprof" "$BIN/opgprof" \
		--session-dir="$TMP/cgflat" "$GOLDEN/bin/tprog" -o "$TMP/gmon"
	gprof -b "$GOLDEN/bin/tprog" "$TMP/gmon" >"$TMP/got"
	ok "gp-cg: what gprof makes of it" diff "$case/stdout" "$TMP/got"
	exits "gp-err: several binaries" 1 "$BIN/opgprof" \
		--session-dir="$TMP/flat" -o "$TMP/gmon"
else
	skip "gp-cg: a profile for gprof" "no such case, or no gprof"
fi

# Annotated files, one for each source file. In the case the folder for them is
# a fixed one.
case=$GOLDEN/cases/an-src-out
if [ -e "$case" ]; then
	report "opannotate --session-dir=x/flat --source \
		--output-dir=$TMP/annotated event:CPU_CLK_UNHALTED"
	{
		cat "$TMP/out"
		find "$TMP/annotated" -type f | sort
		cat "$TMP/annotated/$GOLDEN/src/liba.c"
	} | sed "s|$TMP/annotated|/tmp/gold-ann|" | same_but_for >"$TMP/got"
	same_but_for <"$case/stdout" >"$TMP/wanted"
	ok "an-src-out: annotated files" diff "$TMP/wanted" "$TMP/got"
fi

# The original's own example of another machine's file, converted by it.
case=$GOLDEN/cases/imp/stdout
if [ -e "$case" ]; then
	ok "a file of a machine of the other byte order" "$BIN/opimport" \
		-a "$GOLDEN/src/be32.abi" -o "$TMP/be32" "$GOLDEN/src/be32.sample"
	is "its samples" "$("$TESTBIN/mkodb" --dump "$TMP/be32" | grep ^0x)" \
		"$(grep ^0x "$case")"
fi
done_testing
