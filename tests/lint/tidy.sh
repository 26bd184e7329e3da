#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# clang-tidy and the compiler clang have no complaint; in the first tier about
# files that have changed. What is shown is where; `clang-tidy FILE -- FLAGS`
# tells how it came to think so.
# timeout: 2400

. "$(dirname "$0")/lib"
need clang-tidy clang-tidy
compile_flags >"$TMP/flags"

# tidy FLAGS FILE...
cat >"$TMP/tidy" <<'END'
#!/bin/sh
flags=$1
shift
out=$(clang-tidy --quiet "$@" -- $(cat "$flags") 2>&1) && exit 0
found=$(echo "$out" | grep -E ': (warning|error):')
echo "${found:-$out}"
exit 1
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
	ok "clang-tidy $folder" xargs -a "$TMP/files" -P "$(nproc)" -n 4 \
		sh "$TMP/tidy" "$TMP/flags"
done
done_checking
