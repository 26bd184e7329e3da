# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests on a Debian of their own, sourced after lib.sh: a fresh one in
# $DEBIAN, where nothing is installed but what debootstrap installs. It is a copy
# of DEBIAN_ROOT=DIR, or of $O/debian-root, which is made if it is not there.
# Packages that are fetched are kept in $O/debian-packages.

[ "$(id -u)" -eq 0 ] || skip_all "not root"
git -C "$TOP" rev-parse HEAD >/dev/null 2>&1 || skip_all "no clone of git here"
case $O in */sanitized) skip_all "the same for all builds" ;; esac
unshare --mount --pid --fork true || skip_all "cannot unshare mounts here"

DEBIAN=$TMP/root
debian_origin=${DEBIAN_ROOT:-$O/debian-root}
if [ ! -d "$debian_origin" ]; then
	command -v debootstrap >/dev/null ||
		skip_all "no debootstrap; run utils/install-deps"
	rm -rf "$debian_origin.new"
	if ! debootstrap --variant=minbase bookworm "$debian_origin.new" \
		>"$TMP/log" 2>&1; then
		diag "$(tail -n 5 "$TMP/log")"
		exit 1
	fi
	mv "$debian_origin.new" "$debian_origin" || exit 1
fi
mkdir -p "$O/debian-packages/partial"
cp -a "$debian_origin" "$DEBIAN" || exit 1
cp /etc/resolv.conf "$DEBIAN/etc"
# How this machine reaches Debian is nothing that a bare one must find out.
apt-config dump | grep -E '^Acquire::(http|https|Check)[^ ]* "' \
	>"$DEBIAN/etc/apt/apt.conf.d/99here"
# Updates of kernels are there only.
mirror=$(sed -n 's/^deb \([^ ]*\) bookworm .*/\1/p' \
	"$debian_origin/etc/apt/sources.list" | head -n 1)
cat >"$DEBIAN/etc/apt/sources.list" <<END
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
			DEBIAN_FRONTEND=noninteractive \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			${http_proxy:+"http_proxy=$http_proxy"} "$@"
	' sh "$DEBIAN" "$O/debian-packages" "$@" </dev/null
}

# install_inside PACKAGE...: from Debian. No machine boots from here, so kernels need
# no initrd.
install_inside() {
	inside env INITRD=No apt-get -q -y --no-install-recommends install "$@"
}
