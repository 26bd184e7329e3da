#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A Debian with gcc, make and git and nothing else: with utils/install-deps it
# builds everything and tests find what they need. It takes $O/debian-root, as
# make check-debian does, and fetches about a gigabyte of packages, which it
# keeps in $O/debian-packages.
# tier: all
# timeout: 5400

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/debian.sh"

# in_tree SCRIPT: lines for sh, in the tree there.
in_tree() {
	inside sh -c "cd /src/oprofile && $1"
}
# run_tests FILE...: they find all they need, so that nothing is skipped but what
# has no work to do.
run_tests() {
	in_tree "tests/run $*" >"$TMP/results"
	cat "$TMP/results"
	tail -n 1 "$TMP/results" | grep -q '^[1-9][0-9]* passed, 0 failed, ' &&
		! grep SKIP "$TMP/results" |
		grep -qv 'nothing of this kind has changed$'
}

ok "apt's lists" inside apt-get -q update
ok "a bare machine" install_inside gcc make git
mkdir -p "$DEBIAN/src"
ok "a clone" git clone -q "$TOP" "$DEBIAN/src/oprofile"

ok "utils/install-deps" in_tree utils/install-deps
is "nothing is missing then" "$(in_tree 'utils/install-deps --check' 2>&1)" ''
is "no initrd was made for a machine that does not boot" \
	"$(cd "$DEBIAN/boot" && ls -d initrd* 2>/dev/null)" ''
ok "make all" in_tree "make -j$(nproc) all"
for series in 6.1 6.12; do
	ok "the module for $series" \
		in_tree "ls build/module/$series.*-amd64/oprofile.ko"
done
ok "a unit test" in_tree 'build/tests/unit/test_odb'
# These need most programs that are not for the build.
ok "tests" run_tests tests/t/10-separate.sh tests/t/36-opreport-flamegraph.sh \
	tests/t/37-opannotate-languages.sh tests/t/66-unwind.sh
ok "lint" run_tests tests/lint/checkpatch.sh tests/lint/format.sh \
	tests/lint/man.sh tests/lint/shell.sh tests/lint/sparse.sh
ok "make arm64" in_tree "make -j$(nproc) arm64"
for arch in amd64 arm64; do
	build=build
	[ $arch = amd64 ] || build=build/arm64
	for series in 6.1 6.12; do
		ok "a kernel $series for $arch, and the module for it" in_tree "
			release=\$(tests/vm/run --prepare --kernel $series --arch $arch) &&
			ls $build/module/\$release/oprofile.ko"
	done
done
like "a virtual machine" \
	"$(in_tree "echo 'uname -r; id -u' | tests/vm/run -" 2>&1 | tr '\n' ' ')" \
	'^6\.1\.[^ ]*-amd64 0 $'
done_testing
