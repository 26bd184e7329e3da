#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A Debian with gcc, make and git and nothing else: with utils/install-deps it
# builds everything and tests find what they need. It takes $O/debian-root, as
# make check-debian does, and fetches about a gigabyte of packages, which it
# keeps in $O/debian-packages.
# tier: all
# timeout: 5400

. "$(dirname "$0")/lib.sh"

[ "$(id -u)" -eq 0 ] || skip_all "not root"
git -C "$TOP" rev-parse HEAD >/dev/null 2>&1 || skip_all "no clone of git here"
case $O in */sanitized) skip_all "the same for all builds" ;; esac
unshare --mount --pid --fork true || skip_all "cannot unshare mounts here"

B=${DEBIAN_ROOT:-$O/debian-root} R=$TMP/root
if [ ! -d "$B" ]; then
	command -v debootstrap >/dev/null ||
		skip_all "no debootstrap; run utils/install-deps"
	rm -rf "$B.new"
	if ! debootstrap --variant=minbase bookworm "$B.new" >"$TMP/log" 2>&1; then
		diag "$(tail -n 5 "$TMP/log")"
		exit 1
	fi
	mv "$B.new" "$B" || exit 1
fi
mkdir -p "$O/debian-packages/partial"
cp -a "$B" "$R" || exit 1
cp /etc/resolv.conf "$R/etc"
# How this machine reaches Debian is nothing that a bare one must find out.
apt-config dump | grep -E '^Acquire::(http|https|Check)[^ ]* "' \
	>"$R/etc/apt/apt.conf.d/99here"
# Updates of kernels are there only.
mirror=$(sed -n 's/^deb \([^ ]*\) bookworm .*/\1/p' "$B/etc/apt/sources.list" | head -n 1)
cat >"$R/etc/apt/sources.list" <<END
deb $mirror bookworm main
deb $mirror bookworm-updates main
deb ${mirror%/debian}/debian-security bookworm-security main
END

# inside COMMAND...: as root of the machine. Its mounts and whatever it starts
# are gone when the command ends.
inside() {
	# shellcheck disable=SC2016 # by that shell
	unshare --mount --pid --fork --kill-child sh -c '
		root=$1 packages=$2
		shift 2
		mount -t proc proc "$root/proc" &&
			mount --rbind /sys "$root/sys" &&
			mount --rbind /dev "$root/dev" &&
			mount --bind "$packages" "$root/var/cache/apt/archives" ||
			exit 125
		exec chroot "$root" env -i HOME=/root TERM=dumb LANG=C.UTF-8 \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			${http_proxy:+"http_proxy=$http_proxy"} "$@"
	' sh "$R" "$O/debian-packages" "$@" </dev/null
}
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

ok "a bare machine" inside sh -c 'export DEBIAN_FRONTEND=noninteractive
	apt-get -q update &&
	apt-get -q -y --no-install-recommends install gcc make git'
mkdir -p "$R/src"
ok "a clone" git clone -q "$TOP" "$R/src/oprofile"

ok "utils/install-deps" in_tree utils/install-deps
is "nothing is missing then" "$(in_tree 'utils/install-deps --check' 2>&1)" ''
is "no initrd was made for a machine that does not boot" \
	"$(cd "$R/boot" && ls -d initrd* 2>/dev/null)" ''
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
