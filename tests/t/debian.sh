# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests on a Debian of their own, sourced after lib.sh: a fresh one in
# $DEBIAN, where nothing is installed but what debootstrap installs. It is a copy
# of $O/debian-root, which is made if it is not there.
# Packages that are fetched are kept in $O/debian-packages.

# shellcheck source=tests/vm/lib/debian.sh
. "$TOP/tests/vm/lib/debian.sh"

[ "$(id -u)" -eq 0 ] || skip_all "not root"
git -C "$TOP" rev-parse HEAD >/dev/null 2>&1 || skip_all "no clone of git here"
case $O in */sanitized) skip_all "the same for all builds" ;; esac
unshare --mount --pid --fork true || skip_all "cannot unshare mounts here"
command -v debootstrap >/dev/null ||
	skip_all "no debootstrap; run utils/install-deps"

DEBIAN=$TMP/root
debian_origin=$O/debian-root
debian_make bookworm "$debian_origin" >"$TMP/log" 2>&1 || {
	diag "$(tail -n 5 "$TMP/log")"
	exit 1
}
mkdir -p "$O/debian-packages/partial"

# debian_fresh: nothing that was done in $DEBIAN before is there.
debian_fresh() {
	rm -rf "$DEBIAN"
	cp -a "$debian_origin" "$DEBIAN" && debian_connect "$DEBIAN" || exit 1
}
debian_fresh

# inside COMMAND...: as root of the machine. No machine boots from here, so kernels
# need no initrd.
inside() {
	debian_inside "$DEBIAN" "$O/debian-packages" /var/cache/apt/archives -- "$@"
}

# install_inside PACKAGE...: from Debian.
install_inside() {
	inside apt-get -q -y --no-install-recommends install "$@"
}
