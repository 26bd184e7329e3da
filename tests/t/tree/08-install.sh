#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make install, uninstall, dist and help.

. "$(dirname "$0")/../lib.sh"

case $O in */sanitized) skip_all "the same for all builds" ;; esac

root="$TMP/root of it"
set -- DESTDIR="$root" prefix=/usr
# listing FOLDER: its files with their modes, and its folders.
listing() {
	(cd "$1" && find . -mindepth 1 -printf '%M %p %l\n' | sort)
}

# ---- install -------------------------------------------------------------------

# What is there already, in the same folders, stays.
mkdir -p "$root/usr/bin" "$root/usr/include" "$root/usr/lib/pkgconfig" \
	"$root/usr/lib/systemd/system" "$root/usr/lib/sysusers.d" \
	"$root/usr/share/bash-completion/completions" \
	"$root/usr/share/zsh/site-functions" "$root/usr/share/doc" "$root/usr/share/man/man1" \
	"$root/usr/share/man/man3" "$root/usr/share/man/man5" \
	"$root/usr/share/man/man7" "$root/usr/share/man/man8"
for kdir in "$O"/module/*/; do
	mkdir -p "$root/lib/modules/$(basename "$kdir")/updates"
done
touch "$root/usr/bin/another" "$root/usr/share/man/man1/another.1"
listing "$root" >"$TMP/before"
flags=$(stat -c %y "$O/flags")

(umask 077 && made install "$@") >"$TMP/log" 2>&1
ok "make install" test $? -eq 0
[ "$test_failed" -eq 0 ] || diag "$(tail -n 5 "$TMP/log")"
is "nothing was compiled for that" "$(stat -c %y "$O/flags")" "$flags"
# Root may install what another user has built.
is "nothing was written into the build folder" "$(find "$O/html" "$O/lib" "$O/utils" \
	"$O/uninstall" "$O/dkms.conf" -newer "$TMP/before" 2>/dev/null)" ""
is "the programs, and none of the tests" \
	"$(cd "$root/usr/bin" && echo *)" \
	"another ocount op-check-perfevents opannotate oparchive opcontrol operf \
opgprof ophelp opimport opjitconv opmerge oppush opreport oprofiled opstream opsymbols optop"
for program in "$root"/usr/bin/op* "$root/usr/bin/ocount"; do
	name=${program##*/}
	is "$name has a manual page" "$(cd "$root/usr/share/man" && ls man?/"$name".?)" \
		"$(cd "$TOP/doc/man" && for page in "$name".?; do
			echo "man${page##*.}/$page"; done)"
done
is "each page of doc/ is there" \
	"$(cd "$root/usr/share/doc/oprofile/doc" && find . -type f | sort)" \
	"$(cd "$TOP/doc" && find . -name man -prune -o -type f -print | sort)"
ok "and the README that leads to them" \
	cmp "$TOP/README.md" "$root/usr/share/doc/oprofile/README.md"
if command -v lowdown >/dev/null && command -v mandoc >/dev/null; then
	ok "the manual is there as HTML" \
		test -s "$root/usr/share/doc/oprofile/html/doc/manual/index.html"
else
	skip "the manual as HTML" "no lowdown or mandoc; run utils/install-deps"
fi
is "everybody may read all of it" "$(find "$root" ! -type l ! -perm -o=r)" ""
is "no file names the build folder" \
	"$(grep -rlF --exclude='*.ko' --exclude='lib*' --exclude-dir=bin "$O" "$root")" ""
ok "an installed program finds the events" \
	env -u OPROFILE_EVENTS_DIR "$root/usr/bin/ophelp" \
	--cpu-type=x86-64/zen3 RETIRED_INSTRUCTIONS
mv "$root/usr/share/oprofile" "$TMP/events"
is "those that were installed" "$(diff -rq "$TMP/events" "$O/events" 2>&1 |
	grep -v -e '^Only in .*/events: \(made\|pfm[^ ]*\)$')" \
	"Only in $TMP/events: opreport.xsd"
mv "$TMP/events" "$root/usr/share/oprofile"

# ---- the service -----------------------------------------------------------------

# filter_words: names of system calls and of sets, from what lists the latter.
filter_words() {
	sed -n 's/^ *\([@a-z0-9_-]*\)$/\1/p'
}
# allowed_calls WORD...: the system calls of a filter.
allowed_calls() {
	for word in "$@"; do
		# shellcheck disable=SC2046 # words
		case $word in
		@*) allowed_calls $(systemd-analyze syscall-filter "$word" |
			filter_words | grep -vxF -e "$word") ;;
		*) echo "$word" ;;
		esac
	done
}

if command -v systemd-analyze >/dev/null; then
	mkdir "$TMP/units"
	for unit in "$root"/usr/lib/systemd/system/*; do
		sed "s|=/usr/bin/|=$BIN/|" "$unit" >"$TMP/units/${unit##*/}"
	done
	is "systemd finds no fault with the units" \
		"$(systemd-analyze verify --man=no "$TMP"/units/* 2>&1)" ""
	for unit in oprofile oppush; do
		ok "$unit.service may do little that it does not need" \
			systemd-analyze security --offline=true --threshold=40 \
			"$TMP/units/$unit.service"
	done
	# The names of system calls that the daemon's sources hold, apart from pages
	# of manuals and a function that has the name of one.
	systemd-analyze syscall-filter 2>/dev/null | filter_words | sort -u >"$TMP/calls"
	find "$TOP/daemon" "$TOP/libop" "$TOP/libdb" "$TOP/libcfi" -name '*.[ch]' \
		-exec sed 's/[a-z0-9_]*([0-9])//g' {} + |
		grep -oE '\<(SYS_[a-z0-9_]+|[a-z0-9_]+\()' | sed 's/^SYS_//; s/($//' |
		grep -vx -e syscall -e open_tree | sort -u |
		comm -12 - "$TMP/calls" >"$TMP/made"
	like "the daemon makes system calls" "$(cat "$TMP/made")" '^perf_event_open$'
	# shellcheck disable=SC2046 # words
	allowed_calls $(sed -n 's/^SystemCallFilter=//p' \
		"$TMP/units/oprofile.service") | sort -u >"$TMP/allowed"
	is "its service lets it make all of them" \
		"$(comm -23 "$TMP/made" "$TMP/allowed")" ""
	is "no setting hides /proc/kallsyms from it, or refuses SCHED_RESET_ON_FORK" \
		"$(grep -xE '(ProtectKernelTunables|RestrictRealtime)=yes' \
			"$TMP/units/oprofile.service")" ""
else
	skip "the units of systemd" "no systemd-analyze here"
fi

# Of a machine that is installed on itself, the linker and systemd are told.
mkdir "$TMP/tools"
for tool in ldconfig systemd-sysusers; do
	# shellcheck disable=SC2016 # by that script
	printf '#!/bin/sh\necho "${0##*/}" "$@" >>"%s"\n' "$TMP/told" >"$TMP/tools/$tool"
done
chmod +x "$TMP/tools"/*
told() {
	: >"$TMP/told"
	PATH=$TMP/tools:$PATH made install-agent install-systemd \
		prefix="$TMP/own" "$@" >"$TMP/log" 2>&1 || diag "$(cat "$TMP/log")"
	sort "$TMP/told"
}
if [ "$(id -u)" -eq 0 ]; then
	is "root tells the linker, and makes the group" "$(told)" "ldconfig
systemd-sysusers $TMP/own/lib/sysusers.d/oprofile.conf"
else
	is "who is not root tells nobody" "$(told)" ""
fi
is "with DESTDIR nobody is told" "$(told DESTDIR="$TMP/for")" ""

# ---- removing packages -----------------------------------------------------------

for tool in opcontrol deb-systemd-invoke; do
	cp "$TMP/tools/ldconfig" "$TMP/tools/$tool"
done
# before ACTION: what the daemon's package asks of opcontrol.
before() {
	: >"$TMP/told"
	PATH=$TMP/tools:$PATH sh "$TOP/debian/oprofile-daemon.prerm" "$@"
	grep '^opcontrol ' "$TMP/told"
}
is "the daemon's package ends the daemon when it is removed" "$(before remove)" \
	"opcontrol --shutdown"
is "but not when it is upgraded" "$(before upgrade 2.0.1)" ""

# ---- uninstall -----------------------------------------------------------------

made uninstall "$@" >"$TMP/log" 2>&1
ok "make uninstall" test $? -eq 0
[ "$test_failed" -eq 0 ] || diag "$(tail -n 5 "$TMP/log")"
listing "$root" >"$TMP/after"
is "everything is as it was" "$(diff "$TMP/before" "$TMP/after")" ""
ok "a second time there is nothing to remove" made uninstall "$@"

# ---- dist ----------------------------------------------------------------------

if git -C "$TOP" rev-parse HEAD >/dev/null 2>&1; then
	(umask 022 && git clone -q "$TOP" "$TMP/one") || exit 1
	(umask 077 && git clone -q "$TOP" "$TMP/another one") || exit 1
	git -C "$TMP/another one" config tar.umask user
	ok "make dist" make -C "$TMP/one" dist
	(umask 077 && TZ=Asia/Tokyo make -C "$TMP/another one" dist) >/dev/null
	name=$(cd "$TMP/one" && echo oprofile-*.tar.gz)
	ok "the same commit gives the same bytes" \
		cmp "$TMP/one/$name" "$TMP/another one/$name"
	is "all files of the commit are in it" \
		"$(tar tzf "$TMP/one/$name" | grep -v '/$' |
			sed 's|^[^/]*/||' | sort)" \
		"$(git -C "$TMP/one" ls-files | sort)"
else
	skip "make dist" "no clone of git here"
fi

# ---- help ----------------------------------------------------------------------

help=$(made help)
missing=
targets=$(sed -n '/^\.PHONY/,/[^\\]$/{s/^\.PHONY:\|[\]$//g; p}' "$TOP/Makefile")
for target in $targets; do
	# What only other targets need.
	case $target in
	FORCE | tools | test-* | fuzzers | deps-arm64 | arm64-for-tests | \
		module-debug | install-doc | install-systemd | install-completion) continue ;;
	esac
	echo "$help" | grep -qw -e "$target" || missing="$missing $target"
done
is "make help names every target" "$missing" ""
done_testing
