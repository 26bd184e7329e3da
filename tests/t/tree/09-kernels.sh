#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The module builds without a warning for the newest kernel of each Debian release
# that it is for, with that release's own compiler, by this tree and by dkms. sid has
# the newest kernel there is, so an interface that Linux takes away is noticed here
# first. Fetches some gigabytes once, which stay below ~/.cache/oprofile-vm.
# tier: all
# sanitized: no
# timeout: 5400

. "$(dirname "$0")/../lib.sh"
. "$TOP/tests/vm/lib/debian.sh"

[ "$(id -u)" -eq 0 ] || skip_all "not root"
unshare --mount --pid --fork true || skip_all "cannot unshare mounts here"
command -v debootstrap >/dev/null ||
	skip_all "no debootstrap; run utils/install-deps"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/oprofile-vm

make -C "$TOP" O="$TMP/dkms" KDIRS= DESTDIR="$TMP/sources" install-dkms >/dev/null || exit 1
sources=$(echo "$TMP"/sources/usr/src/oprofile-*)
version=${sources##*-}

# by_dkms RELEASE COMMAND...: a command of dkms for that kernel, in $root.
by_dkms() {
	kernel=$1
	shift
	debian_inside "$root" "$sources" "/usr/src/oprofile-$version" -- \
		dkms "$@" "oprofile/$version" -k "$kernel"
}

# kernels_of SUITE SERIES
kernels_of() {
	root=$cache/debian-$1
	ok "$1: the module for its newest kernel" "$TOP/tests/vm/debian-kernel" "$1"
	release=$(tail -n 1 "$test_log")
	case $release in
	[0-9]*.*-amd64) ;;
	*) return ;;
	esac
	diag "$1 has Linux $release"
	like "$1: of the series that it has had since its release" "$release" "^$2"
	rm -rf "$root/var/lib/dkms/oprofile"
	ok "$1: dkms builds the module" by_dkms "$release" install
	is "$1: for that kernel" "$(debian_inside "$root" -- modinfo -k "$release" \
		-F vermagic oprofile | cut -d ' ' -f 1)" "$release"
	ok "$1: dkms removes the module" by_dkms "$release" remove
}

kernels_of bullseye '5\.10\.'
kernels_of bookworm '6\.1\.'
kernels_of trixie '6\.12\.'
kernels_of sid '([7-9]|[1-9][0-9])\.'
done_testing
