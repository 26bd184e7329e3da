#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who may read a session: what root profiles is for root, and for a group that root
# names. Other users' sessions are as open as their folders always are.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

GROUP=777 # nobody is in it
SESSION=$TMP/session

[ "$(id -u)" -eq 0 ] || {
	skip "all of it" "only root can make sessions of two users"
	done_testing
}
chmod 755 "$TMP"
cp "$BIN/opreport" "$TMP/program"
id=$(readelf -n "$TMP/program" | sed -n 's/.*Build ID: //p')
stream "$TMP/stream" <<END
stream 1 8
cookie 1 0 0 0 0 $id $TMP/program
cpu 0
ctx 1 1
tgid 1
image 1
user
sample 0x10 0
END

# profile USER OPTION...: a session of that stream.
profile() {
	as=$1
	shift
	[ "$as" = root ] || set -- as_user "$BIN/oprofiled" "$@"
	[ "$as" != root ] || set -- "$BIN/oprofiled" "$@"
	"$@" --session-dir="$SESSION" --source=file:"$TMP/stream" --no-vmlinux
}

# modes: of the folders of the session, with their groups.
modes() {
	(cd "$SESSION" && stat -c '%n %a %g' samples symbols)
}

member() {
	setpriv --reuid="$test_user" --regid="$GROUP" --clear-groups "$@"
}

ok "root profiles" profile root
is "the session is root's" "$(modes)" "samples 700 0
symbols 700 0"
ok "root reads it" "$BIN/opreport" --session-dir="$SESSION"
as_user "$BIN/opreport" --session-dir="$SESSION" >"$TMP/out" 2>&1
like "nobody else does" "$? $(cat "$TMP/out")" \
	'^1 opreport: .*/samples/current: Permission denied; .*--readable-by=GROUP$'

ok "root names a group" profile root --readable-by=$GROUP
is "that opens the folders that were there" "$(modes)" "samples 750 $GROUP
symbols 750 $GROUP"
ok "a member reads it" member "$BIN/opreport" --session-dir="$SESSION"
ok "nobody else" not as_user "$BIN/opreport" --session-dir="$SESSION"
ok "a member writes nothing there" not member touch "$SESSION/samples/x"
ok "symbols are stored for them" "$BIN/opsymbols" --session-dir="$SESSION"
is "as open as the samples" "$(stat -c '%a %g' "$SESSION/store")" "750 $GROUP"
ok "root profiles again without a group" profile root
is "which leaves it as it is" "$(modes)" "samples 750 $GROUP
symbols 750 $GROUP"

rm -r "$SESSION"
mkdir "$SESSION" && chown "$test_user" "$SESSION"
ok "another user profiles" profile user
is "their folders are as always" \
	"$(cd "$SESSION" && stat -c '%n %a' samples symbols)" "samples 755
symbols 755"
profile user --readable-by=0 2>"$TMP/err"
like "a group that they are not in" "$? $(cat "$TMP/err")" \
	'^1 oprofiled: --readable-by: .*/samples: cannot be given to the group: .*; give a group that you are in$'

rm -r "$SESSION/symbols"
ln -s "$TMP" "$SESSION/symbols"
profile root --readable-by=$GROUP 2>"$TMP/err"
like "root follows no link of another user" \
	"$? $(stat -c %g "$TMP") $(cat "$TMP/err")" '^1 0 oprofiled: --readable-by: '
done_testing
