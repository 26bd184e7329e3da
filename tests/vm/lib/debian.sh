# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A Debian of a given release in a folder of its own, by debootstrap, and commands
# in it. Sourced by tests/t/debian.sh and tests/vm/debian-kernel; both need root.

# debian_make SUITE DIR: a minimal Debian in DIR, unless there is one. It is there
# as a whole or not at all.
debian_make() {
	[ ! -d "$2" ] || return 0
	rm -rf "$2.new"
	debootstrap --variant=minbase "$1" "$2.new" || return
	debian_mirror=$(sed -n "s/^deb \([^ ]*\) $1 .*/\1/p" \
		"$2.new/etc/apt/sources.list" | head -n 1)
	# Updates of kernels are in these suites only; sid has neither.
	{
		echo "deb $debian_mirror $1 main"
		[ "$1" = sid ] || cat <<-END
			deb $debian_mirror $1-updates main
			deb ${debian_mirror%/debian}/debian-security $1-security main
		END
	} >"$2.new/etc/apt/sources.list"
	mv "$2.new" "$2"
}

# debian_connect DIR: let the Debian in DIR reach its repository the way that this
# machine does.
debian_connect() {
	cp /etc/resolv.conf "$1/etc" || return
	apt-config dump | sed -nE '/^Acquire::(http|https|Check)[^ ]* "/p' \
		>"$1/etc/apt/apt.conf.d/99here"
}

# debian_inside DIR [FOLDER AT]... -- COMMAND...: run COMMAND as root of the Debian
# in DIR, where each FOLDER of this machine is at the path AT. It is the root of the
# mounts, as on a machine: with chroot alone users may make no namespaces there. Its
# mounts and all that it has started are gone when the command ends.
debian_inside() {
	# shellcheck disable=SC2016 # by that shell
	unshare --mount --pid --fork --kill-child sh -c '
		root=$1
		shift
		mount --bind "$root" "$root" &&
			mount -t proc proc "$root/proc" &&
			mount --rbind /sys "$root/sys" &&
			mount --rbind /dev "$root/dev" || exit 125
		while [ "$1" != -- ]; do
			mkdir -p "$root$2" && mount --bind "$1" "$root$2" || exit 125
			shift 2
		done
		shift
		cd "$root" && pivot_root . mnt && umount --lazy /mnt || exit 125
		cd / && exec env -i HOME=/root TERM=dumb LANG=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive INITRD=No \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			${http_proxy:+"http_proxy=$http_proxy"} "$@"
	' sh "$@" </dev/null
}
