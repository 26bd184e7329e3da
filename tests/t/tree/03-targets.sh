#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each target of `make help` can be asked for first, in a tree that was never built:
# make finds rules for all that it needs (make -n), scripts ask make for targets that
# there are, and what a check needs is installed before anything else.
# timeout: 600

. "$(dirname "$0")/../lib.sh"

case $O in */sanitized) skip_all "the same for all builds" ;; esac
git -C "$TOP" rev-parse HEAD >/dev/null 2>&1 || skip_all "no clone of git here"
mkdir -p "$TMP/tree" "$TMP/path" "$TMP/o"
(cd "$TOP" && git ls-files -co --exclude-standard -z |
	tar --null --no-recursion -cf - -T - --ignore-failed-read) 2>/dev/null |
	tar -xf - -C "$TMP/tree" || exit 1
cd "$TMP/tree" || exit 1
unset O MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES
real_make=$(command -v make)

# Instead of installing: what was asked for, and the answer.
cat >utils/install-deps <<END
#!/bin/sh
echo "asked for \${*:-all}" >>"$TMP/asked"
exit \$(cat "$TMP/answer")
END
echo 0 >"$TMP/answer"
: >"$TMP/asked"

# asks FLAGS GOAL: what is asked for, when it cannot be installed.
asks() {
	: >"$TMP/asked"
	echo 1 >"$TMP/answer"
	# shellcheck disable=SC2086 # several
	"$real_make" $1 "$2" O="$TMP/none" >"$TMP/out" 2>&1
	echo "$? $(cat "$TMP/asked") $(sed -n 's/^.*Stop\.$/stopped/p' "$TMP/out")"
	echo 0 >"$TMP/answer"
}
for flags in '' -s -j2 V=1 --no-print-directory "-I $TMP/nothing"; do
	is "make $flags check: nothing before its packages" "$(asks "$flags" check)" \
		"2 asked for all stopped"
done
is "it says so" "$(grep -o 'cannot .*' "$TMP/out")" \
	"cannot check yet, see above.  Stop."
is "make check-fast" "$(asks '' check-fast)" "2 asked for all stopped"
: >"$TMP/asked"
"$real_make" -n help >/dev/null
is "make help installs nothing" "$(cat "$TMP/asked")" ""
ok "nothing was built" test ! -e "$TMP/none"

# ---- rules -----------------------------------------------------------------------

# Configured, as that is the same for each target and takes a while: also the
# folders of other compilers.
ok "make -n check" "$real_make" -n check O="$TMP/configured"
is "it asked for no more than another machine's compiler" \
	"$(sort -u "$TMP/asked")" "asked for vm-arm64"

help=$("$real_make" help)
unconfigured=$(sed -n 's/^UNCONFIGURED := //p' Makefile)
phony=$(sed -n '/^\.PHONY/,/[^\]$/{s/^\.PHONY:\|[\]$//g; p}' Makefile)
targets=
for target in $phony; do
	case " $unconfigured " in
	*" $target "*)
		ok "make -n $target" \
			"$real_make" -n "$target" O="$TMP/configured"
		;;
	*)
		# Of what module-debug calls make for, it builds kernels first.
		[ "$target" = check-debug ] ||
			! echo "$help" | grep -qw -e "$target" ||
			targets="$targets $target"
		;;
	esac
done
ok "the help has many targets" test "$(echo "$targets" | wc -w)" -gt 25
# shellcheck disable=SC2086 # several
ok "make -n $targets" \
	"$real_make" -k -n O="$TMP/configured" DESTDIR="$TMP/root" $targets

# ---- scripts -----------------------------------------------------------------------

# The first make of a script: its goals, and whether there are rules for them.
cat >"$TMP/path/make" <<END
#!/bin/sh
"$real_make" -n "\$@" >"$TMP/out" 2>&1
echo "\$? \$*" >"$TMP/made"
exit 1
END
chmod +x "$TMP/path/make"

# first_make GOAL O: that of make GOAL.
first_make() {
	rm -f "$TMP/made"
	PATH=$TMP/path:$PATH "$real_make" "$1" O="$2" >/dev/null 2>&1
	sed 's/ .* / /' "$TMP/made"
}
mkdir "$TMP/an o"
for folder in build ./build//new "$TMP/o" "$TMP/an o/build"; do
	is "make demo O=$folder asks for what there is" \
		"$(first_make demo "$folder")" "0 demo-programs"
done
like "make vm-demo as well" "$(first_make vm-demo "$TMP/o")" '^0 '
done_testing
