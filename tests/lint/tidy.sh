#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# clang-tidy and the compiler clang have no complaint; in the first tier about
# files that have changed. What is shown is where; `clang-tidy FILE -- FLAGS`
# tells how it came to think so.
# timeout: 2400

. "$(dirname "$0")/lib"
need clang-tidy clang-tidy
compile_flags >"$TMP/flags"

# tidy FLAGS FILE
cat >"$TMP/tidy" <<'END'
#!/bin/sh
out=$(clang-tidy --quiet "$2" -- $(cat "$1") 2>&1) && exit 0
found=$(echo "$out" | grep -E ': (warning|error):')
echo "${found:-$out}"
exit 1
END

# What each verdict depends on besides the sources.
{
	clang-tidy --version
	cat .clang-tidy "$TMP/flags" "$TMP/tidy"
} >"$TMP/settings"

# once_tidy TMP FOLDER FILE: unless the file and all that it includes have passed.
# A file whose headers are not found is always checked.
cat >"$TMP/once_tidy" <<'END'
#!/bin/sh
sources=$(cc -M -MT . $(cat "$1/flags") "$3" 2>/dev/null) ||
	exec sh "$1/tidy" "$1/flags" "$3"
sources=$(echo "$sources" | sed 's/^[.]://; s/\\$//')
{
	cat "$1/settings" $sources
	echo $sources
} | tests/lint/once "$2" sh "$1/tidy" "$1/flags" "$3"
END

# Where Java's headers are not here its agent is not built.
unbuilt=
grep -q '^JAVA_CFLAGS := .' "$O/config.mk" || unbuilt=jvmti_oprofile.c
for folder in $(each_folder); do
	# What is the kernel's does not compile with our flags.
	find "$folder" -name '*.c' ! -path 'tests/module/*' \
		! -name "${unbuilt:-.}" | sort |
		to_check >"$TMP/files"
	[ -s "$TMP/files" ] || continue
	ok "clang-tidy $folder" xargs -a "$TMP/files" -P "$(nproc)" -n 1 \
		sh "$TMP/once_tidy" "$TMP" "$O/lint"
done
done_checking
