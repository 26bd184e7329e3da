#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --reset, --save and the counts of --status while no daemon runs.

. "$(dirname "$0")/../lib.sh"

HOME=$TMP/home
OPROFILE_FS=$TMP/fs
export HOME OPROFILE_FS
mkdir "$HOME" "$OPROFILE_FS"
samples=$TMP/session/samples
opcontrol() {
	"$BIN/opcontrol" "$@"
}
fill() {
	mkdir -p "$samples/current/{root}/bin/ls/{dep}/{root}/lib/libc.so.6" \
		"$samples/current/{kern}/vmlinux" \
		"$samples/current/{anon:[heap]}/12.0x1000.0x2000"
	for folder in "{root}/bin/ls/{dep}/{root}/lib/libc.so.6" \
		"{kern}/vmlinux" "{anon:[heap]}/12.0x1000.0x2000"; do
		echo x >"$samples/current/$folder/TIMER.0.0.all.all.all"
	done
	cat >"$samples/current/ledger" <<-END
		source = module/timer
		taken = 18446744073709551615
		stored = 90
		pending = 0
		lost.sample_lost_overflow = 10
		lost.lost_bad_record = 0
	END
}
listing() {
	(cd "$TMP/session" && find . | LC_ALL=C sort | tr '\n' ' ')
}

ok "settings" opcontrol --session-dir="$TMP/session"
ok "--reset without a session" opcontrol --reset
got=$(opcontrol --save=x 2>&1)
like "--save without a session" "$? $got" \
	"^1 opcontrol: --save=x: there is nothing to save in $samples/current"

# ---- the last daemon's ledger

fill
is "--status shows the last ledger" "$(opcontrol --status | sed -n '/^Sample/p')" \
	"Sample source: module/timer
Samples taken: 18446744073709551615
Samples stored: 90
Samples pending: 0
Samples lost (sample_lost_overflow): 10"
echo "taken = many" >"$samples/current/ledger"
got=$(opcontrol --status 2>"$TMP/err")
like "a damaged ledger" "$? $(cat "$TMP/err")" \
	"^1 opcontrol: .*$samples/current/ledger"

# ---- reset

fill
mkdir -p "$samples/saved/{root}"
echo keep >"$samples/current/notes"
echo keep >"$samples/oprofiled.log"
ok "--reset" opcontrol --reset
is "removes samples and nothing else" "$(listing)" ". ./samples \
./samples/current ./samples/current/notes ./samples/oprofiled.log \
./samples/saved ./samples/saved/{root} "

fill
mkdir -p "$samples/current/.packing-7/{root}/bin"
echo x >"$samples/current/.packing-7/{root}/bin/file"
for name in packed packed.bad .packed.grow; do
	echo x >"$samples/current/$name"
done
ok "--reset of a packed session" opcontrol --reset
is "removes the pack and all that was on its way" \
	"$(ls -A "$samples/current")" notes

mkdir "$TMP/victim"
echo keep >"$TMP/victim/file"
mkdir -p "$samples/current/{kern}/deep"
ln -s "$TMP/victim" "$samples/current/{root}"
ln -s "$TMP/victim" "$samples/current/{kern}/deep/link"
ln -s "$TMP/victim/file" "$samples/current/{kern}/link"
ok "--reset with symbolic links" opcontrol --reset
is "follows none" "$(cat "$TMP/victim/file")" keep
is "removes them" "$(ls "$samples/current")" notes

# Deeper than a path can be and than files can be open.
(
	# shellcheck disable=SC3045 # dash and bash have it
	ulimit -n 64
	mkdir "$samples/current/{root}" && cd "$samples/current/{root}" || exit
	part=$(printf '%0200d' 0)
	i=0
	while [ $i -lt 100 ]; do
		mkdir "$part" && cd -P "./$part" || exit
		echo x >file
		i=$((i + 1))
	done
	opcontrol --reset
)
is "--reset of a deep tree" "$? $(ls -A "$samples/current" "$samples")" \
	"0 $samples:
current
oprofiled.log
saved

$samples/current:
notes"

# What a reset that was cut off leaves.
mkdir -p "$samples/.reset/0/left/over" "$samples/.reset/1"
echo x >"$samples/.reset/0/left/file"
echo x >"$samples/.reset/2"
fill
ok "--reset after one that was cut off" opcontrol --reset
ok "removes its rest too" not test -e "$samples/.reset"
is "and its own" "$(ls "$samples/current")" notes

mv "$samples/current" "$samples/elsewhere"
ln -s elsewhere "$samples/current"
mkdir "$samples/elsewhere/{root}"
got=$(opcontrol --reset 2>&1)
like "a link in place of the session" "$? $got" \
	"^1 opcontrol: $samples/current: cannot remove the samples: Not a dir"
ok "is not followed" test -d "$samples/elsewhere/{root}"
rm "$samples/current"

# ---- save

fill
ok "--save" opcontrol --save="a name with blanks"
ok "has moved the session" \
	test -f "$samples/a name with blanks/{kern}/vmlinux/TIMER.0.0.all.all.all"
ok "away" not test -e "$samples/current"
fill
got=$(opcontrol --save="a name with blanks" 2>&1)
like "a name that is taken" "$? $got" \
	'^1 opcontrol: --save=a name with blanks: .* already exists; choose'
mkdir "$samples/empty"
got=$(opcontrol --save=empty 2>&1)
like "even by an empty session" "$? $got" '^1 opcontrol: .* already exists'
ok "nothing has moved" test -f "$samples/current/ledger"

done_testing
