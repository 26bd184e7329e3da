#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands that README, the manual and the other pages of doc/ mark as those
# that need the module, and README's quick start, line by line as a user would
# type them; each block in a folder and with settings of its own. The other
# blocks have tests/t/tree/07-commands.sh.
# timeout: 900
. "$(dirname "$0")/../../t/lib.sh"
. "$(dirname "$0")/../lib.sh"

PATH=$BIN:$PATH
howto=$TOP/tests/t/howto.py

# A file system that does not tell when a folder was made (before Linux 6.0 that is
# so of tmpfs) has no begin of the first minute either.
has_a_minute() {
	set -- /var/lib/oprofile/samples/current/.span-*
	[ "$(stat -c %W "${1%/*}")" -gt 0 ] || [ -e "$1" ]
}

# type_block FILE: run its lines in a folder that has the tree beside it.
type_block() {
	HOME=$(mktemp -d "$TMP/block.XXXX")
	export HOME
	cd "$HOME" || exit
	ln -s "$TOP"/* . # the manual's examples
	while read -r line; do
		case $line in
		*' time:'*) wait_until "a minute of history" has_a_minute ;;
		esac
		ok "$line" sh -c "$line >'$TMP/out'"
		case $line in
		opreport*session:gzip | "opreport -l" | opreport)
			sed 's/^/# /' "$TMP/out" | head -12
			ok "it reports gzip" grep -q gzip "$TMP/out"
			;;
		*image:*gzip*)
			ok "it names functions of libraries or the kernel" \
				grep -Eq 'vmlinux|libc|ld-linux|gzip' "$TMP/out"
			;;
		*image:*find*)
			ok "it has the kernel's part of find" \
				grep -Eq 'vmlinux|getdents' "$TMP/out"
			;;
		esac
	done <"$1"
	opcontrol --deinit >"$TMP/out" 2>&1
	opcontrol --reset >"$TMP/out" 2>&1
}

# blocks PAGE: lines of FILE NEEDS.
blocks() {
	folder=$TMP/blocks/$(echo "$1" | tr / -)
	mkdir -p "$folder"
	"$howto" blocks "$TOP/$1" "$folder" |
		while read -r name _ needs; do echo "$folder/$name $needs"; done
}

blocks README.md >"$TMP/readme"
quick=$(awk '$2 == "" { print $1 }' "$TMP/readme")
like "README has one block that needs nothing, with operf" \
	"$(cat "$quick")" '^operf '
machine=$(awk '/ the module$/ { print $1 }' "$TMP/readme")
like "and one for the machine" "$(cat "$machine")" '^opcontrol --start'
type_block "$quick"
type_block "$machine"

for page in "$TOP"/doc/*.md "$TOP"/doc/manual/*.md; do
	blocks "${page#"$TOP/"}"
done | sed -n 's/ the module$//p' >"$TMP/others"
ok "the manual has some, too" [ "$(wc -l <"$TMP/others")" -ge 3 ]
while read -r block; do
	diag "${block#"$TMP/blocks/"}"
	type_block "$block"
done <"$TMP/others"
ok "no complaint from the kernel" kernel_is_content
done_testing
