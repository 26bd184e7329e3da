# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Debian's kernel images for the rig: fetched by apt, unpacked below
# ${XDG_CACHE_HOME:-~/.cache}/oprofile-vm and never installed. Sourced by
# tests/vm/headers and, with root.sh, by tests/vm/run and tests/vm/sysroot.
# Functions print their result and say errors on stderr.

vm_cache=${XDG_CACHE_HOME:-$HOME/.cache}/oprofile-vm

# Modules that the guest needs before it has a root; where a kernel has one
# built in, there is no file and it is left out. In the order of loading.
vm_modules="virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev
virtio_pci netfs fscache 9pnet 9pnet_virtio 9p overlay"

# kernel_release SERIES ARCH BUILD: which kernel to boot, as uname -r says it:
# the newest that has a built module, else headers, else the newest there is.
kernel_release() {
	local series=$1 arch=$2 build=$3 found
	case $series in
	6.1 | 6.12) ;;
	*)
		echo "tests/vm/run: --kernel $series: 6.1 or 6.12" >&2
		return 1
		;;
	esac
	for found in "$build"/module/"$series".*-"$arch"/oprofile.ko \
		/lib/modules/"$series".*-"$arch"/build/Module.symvers; do
		found=${found%/oprofile.ko}
		found=${found%/build/Module.symvers}
		found=${found##*/}
		case $found in *'*'* | *-rt-* | *-cloud-*) continue ;; esac
		echo "$found"
	done | sort -V | tail -n 1 | grep . && return
	kernel_newest "$series" "$arch"
}

# The newest release of a series in apt's lists, through Debian's meta package.
kernel_newest() {
	local meta=linux-image-$1-$2 found try
	[ "$1" != 6.1 ] || meta=linux-image-$2
	for try in 1 2; do
		found=$(apt-cache depends "$meta:$2" 2>/dev/null |
			sed -n "s/^ *Depends: linux-image-\($1\.[^:]*\).*/\1/p" |
			sort -V | tail -n 1)
		[ -z "$found" ] || break
		[ $try -eq 2 ] || apt_lists_update
	done
	[ -n "$found" ] || {
		echo "tests/vm/run: $meta: not in apt's lists; run apt-get update" >&2
		return 1
	}
	echo "$found"
}

# apt_fetch PACKAGE[:ARCH] DIR: unpack a package's newest version in DIR.
apt_fetch() {
	local tmp status
	tmp=$(mktemp -d "$vm_cache/fetch.XXXXXX") || return
	echo "tests/vm/run: fetching the package $1" >&2
	(
		cd "$tmp" || exit
		download() {
			apt-get -q -o APT::Sandbox::User=root download "$1" >log 2>&1
		}
		download "$1" || { apt_lists_update && download "$1"; } || {
			tail -n 3 log
			exit 1
		}
		mkdir root && dpkg-deb -x ./*.deb root
	) >&2
	status=$?
	if [ $status -eq 0 ]; then
		mkdir -p "$2" && cp -a "$tmp/root/." "$2/" || status=1
	else
		echo "tests/vm/run: $1: cannot be fetched" >&2
	fi
	rm -rf "$tmp"
	return $status
}

apt_lists_update() {
	[ "$(id -u)" -eq 0 ] || return
	echo "tests/vm/run: updating apt's lists" >&2
	apt-get -q update >/dev/null 2>&1
}

# kernel_fetch RELEASE ARCH: a folder with the unpacked image package, its
# modules indexed.
kernel_fetch() (
	dir=$vm_cache/$1
	mkdir -p "$vm_cache" || return
	exec 9>"$vm_cache/lock" && flock 9 || return
	[ -e "$dir/ready" ] || {
		rm -rf "$dir"
		apt_fetch "linux-image-$1:$2" "$dir" && index_modules "$dir" "$1" &&
			touch "$dir/ready" || return
	}
	echo "$dir"
)

# headers_fetch RELEASE ARCH: a folder for KDIR= with the headers of a foreign
# kernel. Its parts that all machines share are those of the same version here.
headers_fetch() (
	dir=$vm_cache/headers-$1
	common=${1%-"$2"}-common
	mkdir -p "$vm_cache" || return
	exec 9>"$vm_cache/lock" && flock 9 || return
	[ -e "$dir/ready" ] || {
		rm -rf "$dir"
		apt_fetch "linux-headers-$1:$2" "$dir" && touch "$dir/ready" || return
	}
	kdir=$dir/usr/src/linux-headers-$1
	[ -e "/usr/src/linux-headers-$common/Makefile" ] || {
		echo "tests/vm/run: linux-headers-$common is not installed; run utils/install-deps" >&2
		return 1
	}
	# They point to the tools for this machine by relative links.
	for link in scripts tools; do
		ln -sfn "$(readlink -f "/usr/src/linux-headers-$common/$link")" \
			"$kdir/$link" || return
	done
	echo "$kdir"
)

index_modules() {
	PATH=$PATH:/sbin:/usr/sbin depmod -b "$1" "$2" 2>/dev/null
}

# kernel_initrd DIR RELEASE BUSYBOX INIT: an initrd of a static BUSYBOX, the
# modules and INIT, kept under a name made of all that is in it.
kernel_initrd() (
	key=$(cat "$4" "$3" - <<<"$vm_modules" | sha256sum | cut -c1-16)
	initrd=$vm_cache/initrd-$2-$key
	exec 9>"$vm_cache/lock" && flock 9 || return
	[ -e "$initrd" ] || make_initrd "$1" "$2" "$3" "$4" "$initrd" || return
	echo "$initrd"
)

make_initrd() {
	local root module file
	root=$(mktemp -d "$vm_cache/initrd.XXXXXX") || return
	mkdir -p "$root"/{bin,m,proc,sys,dev,r,own,ov,job}
	cp "$3" "$root/bin/busybox" && cp "$4" "$root/init" || return
	chmod +x "$root/init"
	for module in $vm_modules; do
		file=$(find "$1/lib/modules/$2/kernel" -name "$module.ko*" | head -n 1)
		case $file in
		'') continue ;;
		*.xz) xz -dc "$file" >"$root/m/$module.ko" ;;
		*) cp "$file" "$root/m/" ;;
		esac || return
		echo "$module" >>"$root/m/order"
	done
	(cd "$root" && find . | cpio -o -H newc --quiet) >"$5.new" &&
		mv "$5.new" "$5"
	local status=$?
	rm -rf "$root"
	return $status
}
