#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A manual page describes the options that --help lists, and no others. The
# tables of options in the programs are what --help is made of. Long help is in
# groups.

. "$(dirname "$0")/../lib.sh"

# helped PROGRAM: the options in its help, one a line.
helped() {
	"$BIN/$1" --help | sed -n 's/^ \{2,6\}\(-.*\)/\1/p' | tr ', =[' '\n' |
		grep -E '^(-[A-Za-z?]|--[a-z][a-z-]*)$' | sort -u
}

# described PROGRAM: the options that are items of its page, one a line. mdoc(7)
# puts a dash before each word behind Fl.
described() {
	sed -n -e 's/\\&//g' -e 's/Fl Fl /Fl -/g' -e 's/^\.It \(Fl .*\)/\1/p' \
		"$TOP/doc/man/$1".[18] |
		grep -oE '(Fl |, )(-[a-z][a-z-]*|[^ ,-])( |$)' |
		sed -e 's/^Fl //' -e 's/^, //' -e 's/ $//' -e 's/^/-/' | sort
}

for program in opcontrol operf ocount ophelp opstream opreport opannotate \
	oparchive opmerge opgprof opimport opsymbols optop op-check-perfevents opjitconv \
	oprofiled; do
	helped "$program" >"$TMP/help"
	described "$program" >"$TMP/items"
	sort -u "$TMP/items" >"$TMP/man"
	ok "$program --help lists options" test -s "$TMP/help"
	is "$program: the page describes what --help lists" \
		"$(comm -23 "$TMP/help" "$TMP/man")" ""
	# Some letters, such as -?, are kept out of the help.
	is "$program: --help lists what the page describes" \
		"$(grep ^-- "$TMP/man" | comm -13 "$TMP/help" -)" ""
	is "$program: the page describes each once" "$(grep ^-- "$TMP/items" | uniq -d)" ""
done

# Each cause for which a sample is lost, of the daemon and of the module.
for cause in $(sed -n 's/.*"\(lost_[a-z_]*\)".*/\1/p' "$TOP/daemon/opd_stats.h"; sed -n \
	's/.*X([A-Z_]*, \([a-z_]*_\(lost\|invalid\)_[a-z_]*\),.*/\1/p' \
	"$TOP/module/oprofile_stats.h"); do
	ok "oprofiled: the page has the cause $cause" \
		grep -q "^[.]It Ql.* $cause\b" "$TOP/doc/man/oprofiled.8"
done

# Lines of options below each title, and those above the first title.
for program in opreport opannotate operf; do
	"$BIN/$program" --help | awk '
		/^[A-Z].*:$/ { title = $0; next }
		/^ +-/ { nr[title]++ }
		END { for (title in nr) if (title == "" || nr[title] > 13) print title, nr[title] }
	' >"$TMP/groups"
	is "$program: no group of options has more than 13" "$(cat "$TMP/groups")" ""
done
done_testing
