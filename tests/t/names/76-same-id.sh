#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A build-id is a note that whoever makes a file chooses. A program of an ordinary user
# that has the build-id of a library takes neither callers nor names away from those
# who use the library, whether it is sampled before or after.
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"
. "$(dirname "$0")/../victim.sh"
needs_perf own
cd "$TMP" || exit 1

make_victim

# holds NAME COMMAND...: the victim's stacks are its own.
holds() {
	name=$1
	shift
	profiled "$name" -g "$@"
	report --format=folded
	all=$(of_victim .)
	true=$(of_victim ';main;vic_entry;vic_middle;vic_inner;vic_leaf(;|$)')
	ok "$name: $true of $all stacks of the victim are its own" \
		[ "$all" -gt 100 -a $((true * 100)) -ge $((all * 97)) ]
	is "$name: none has a name of the attacker's" "$(of_victim evil)" 0
}
holds "before" sh -c './attack 0.3; ./victim 0.6'
holds "after" sh -c './victim 0.3; ./attack 0.3; ./victim 0.3'

# ---- libraries of one name that are deleted while they are used -------------------

[ "$(id -u)" -eq 0 ] || {
	skip "copies of deleted files" "only root profiles other users' programs"
	done_testing
}
user_folder theirs
mkdir mine
for who in mine:vic theirs:evil; do
	folder=${who%:*} name=${who#*:}
	cp "lib$name.so" "$folder/libvic.so"
	${CC:-cc} -O2 -DCALLED="${name}_entry" -o "$folder/run_$name" burn.c \
		"$folder/libvic.so" -Wl,-rpath,"$TMP/$folder" || exit 1
done
chmod -R a+rX mine theirs
give_to_user theirs/libvic.so theirs/run_evil
cat >both.sh <<'END'
setpriv --reuid="$1" --regid="$1" --clear-groups theirs/run_evil 0.6 &
sleep 0.3
rm theirs/libvic.so
wait
mine/run_vic 0.6 &
sleep 0.3
rm mine/libvic.so
wait
END
profiled "deleted libraries of one name" sh both.sh "$test_user"
report -l
sed -n 's/^/# /; 1,12p' "$TMP/report"
of_run() {
	awk -v of="$1" -v re="$2" '$4 == of && $NF ~ re { n += $1 } END { print n + 0 }' \
		"$TMP/report"
}
ok "root's has its own names: $(of_run run_vic '^vic_leaf$')" \
	[ "$(of_run run_vic '^vic_leaf$')" -gt 100 ]
is "and none of the user's" "$(of_run run_vic '^evil')" 0
done_testing
