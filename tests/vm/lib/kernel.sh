# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Debian's kernel images for the rig: fetched by apt, unpacked below
# ${XDG_CACHE_HOME:-~/.cache}/oprofile-vm and never installed. Sourced by
# tests/vm/headers and, with root.sh, by tests/vm/run and tests/vm/sysroot.
# Functions print their result and say errors on stderr, the reason last. Those
# that need apt return what apt_patiently() does: 1 there is no such thing, 2
# a repository is away.

apt_caller=tests/vm/run
# shellcheck source=utils/apt.sh
. "${BASH_SOURCE[0]%/*}/../../../utils/apt.sh"

# The series that tests/vm/debug-kernel builds, which has a source in Debian.
# shellcheck disable=SC2034 # for who sources this
debug_series=6.1

# The releases of Debian whose newest kernels tests/vm/debian-kernel builds for.
# shellcheck disable=SC2034 # for who sources this
debian_suites='bullseye bookworm trixie sid'

vm_cache=${XDG_CACHE_HOME:-$HOME/.cache}/oprofile-vm

# Modules that the guest needs before it has a root; where a kernel has one
# built in, there is no file and it is left out. In the order of loading.
vm_modules="virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev
virtio_pci netfs fscache 9pnet 9pnet_virtio 9p overlay"

# kernel_ending KERNEL ARCH: what the releases of a kernel end in, by which they
# are found: 6.1-56-amd64, 6.1-56-rt-amd64, 6.1.192-kasan. KERNEL is a series or
# SERIES-FLAVOUR.
kernel_ending() {
	case $1 in
	*-rt) echo "rt-$2" ;;
	*-*) echo "${1#*-}" ;;
	*) echo "$2" ;;
	esac
}

# is_suite KERNEL: whether it is named by a release of Debian.
is_suite() {
	case " $debian_suites " in
	*" $1 "*) ;;
	*) return 1 ;;
	esac
}

# is_release KERNEL ARCH: whether it is one release of Debian's, 6.1.0-56-amd64.
is_release() {
	[[ $1 =~ ^[0-9]+\.[0-9]+\.[0-9].*-$2$ ]]
}

# kernel_is_known KERNEL ARCH
kernel_is_known() {
	local series=${1%%-*}
	! is_suite "$1" || { [ "$2" = amd64 ] && return; }
	case " $apt_kernel_series " in
	*" $series "*) ;;
	*) return 1 ;;
	esac
	case ${1#"$series"} in
	'' | -rt) return 0 ;;
	-kasan | -kcsan) [ "$series $2" = "$debug_series amd64" ] ;;
	*) return 1 ;;
	esac
}

# kernel_release KERNEL ARCH BUILD: which kernel to boot, as uname -r says it:
# that release, or of a series the newest that has a built module, else headers,
# else the newest there is.
# Its image is fetched, too: of old headers Debian may not have one any more,
# and then the next kernel is taken.
kernel_release() {
	local series=${1%%-*} ending build=$3 found status
	if is_release "$1" "$2"; then
		kernel_fetch "$1" "$2" >/dev/null && echo "$1"
		return
	fi
	ending=$(kernel_ending "$1" "$2")
	kernel_is_known "$1" "$2" || {
		echo "tests/vm/run: --kernel $1: ${apt_kernel_series// / or }; see --help for those with a flavour" >&2
		return 1
	}
	if is_suite "$1"; then
		found=$(cat "$vm_cache/debian-$1.release" 2>/dev/null)
		[ -e "$vm_cache/$found/ready" ] && echo "$found" && return
		echo "tests/vm/run: --kernel $1: not built; run make check-kernels" >&2
		return 1
	fi
	for found in $(kernels_in "$series" "$ending" "$build/module/" /oprofile.ko) \
		$(kernels_in "$series" "$ending" /lib/modules/ /build/Module.symvers); do
		kernel_fetch "$found" "$2" >/dev/null
		status=$?
		[ $status -ne 0 ] || echo "$found"
		[ $status -eq 1 ] || return $status
	done
	case $1 in
	*-kasan | *-kcsan)
		echo "tests/vm/run: --kernel $1: not built; run make check-debug" >&2
		return 1
		;;
	esac
	kernel_newest "$1" "$2" "$vm_cache/"
}

# kernels_in SERIES ENDING BEFORE AFTER: the releases of a series for which there
# is a file BEFORERELEASEAFTER, the newest first.
kernels_in() {
	local file
	for file in "$3"*"$4"; do
		[ -e "$file" ] || continue
		file=${file#"$3"}
		echo "linux-image-${file%"$4"}"
	done | apt_kernels image "$1" "$2"
}

# kernel_newest KERNEL ARCH CACHE: its newest release in apt's lists. Without
# one, the newest that was fetched before to CACHERELEASE.
kernel_newest() {
	local series=${1%%-*} ending log status found
	ending=$(kernel_ending "$1" "$2")
	mkdir -p "$vm_cache" && log=$(mktemp "$vm_cache/log.XXXXXX") || return
	apt_patiently "$log" find_kernel "$series" "$ending"
	status=$?
	if [ $status -ne 0 ]; then
		found=$(kernels_in "$series" "$ending" "$3" /ready | head -n 1)
		[ -z "$found" ] || status=0
	fi
	case $status in
	0) echo "$found" ;;
	2) echo "tests/vm/run: Linux $1 for $2: $apt_why" >&2 ;;
	*) echo "tests/vm/run: Linux $1 for $2: not in apt's lists; run apt-get update, or add a suite that has linux-headers-$series.*-$ending (security or backports) to /etc/apt/sources.list.d" >&2 ;;
	esac
	rm -f "$log"
	return $status
}

find_kernel() {
	found=$(apt_kernel "$1" "$2")
}

# apt_fetch DIR PACKAGE[:ARCH]...: unpack the newest versions of packages in DIR.
# Prints what they depend on.
apt_fetch() {
	local dir=$1 tmp deb status
	shift
	mkdir -p "$dir" && tmp=$(mktemp -d "$vm_cache/fetch.XXXXXX") || return
	echo "tests/vm/run: fetching the package $*" >&2
	(
		cd "$tmp" || exit
		apt_patiently log apt-get -q -o APT::Sandbox::User=root \
			download "$@" || {
			status=$?
			echo "tests/vm/run: $*: cannot be fetched: $apt_why" >&2
			exit $status
		}
		for deb in ./*.deb; do
			dpkg-deb -x "$deb" "$dir" &&
				dpkg-deb -f "$deb" Depends || exit
		done
	)
	status=$?
	rm -rf "$tmp"
	return $status
}

# kernel_fetch RELEASE ARCH: a folder with the unpacked image package, its
# modules indexed.
kernel_fetch() (
	dir=$vm_cache/$1
	mkdir -p "$vm_cache" || return
	exec 9>"$vm_cache/lock" && flock 9 || return
	[ -e "$dir/ready" ] || {
		rm -rf "$dir"
		copy_image "$dir" "$1" ||
			apt_fetch "$dir" "linux-image-$1:$2" >/dev/null || return
		index_modules "$dir" "$1" && touch "$dir/ready" || return
	}
	echo "$dir"
)

# copy_image DIR RELEASE: from where it is installed, as some headers have their
# image installed along with them.
copy_image() {
	local from=/lib/modules/$2 to=$1/lib/modules/$2
	dpkg-query -W -f '${db:Status-Status}\n' "linux-image-$2" 2>/dev/null |
		grep -qx installed && [ -r "/boot/vmlinuz-$2" ] || return
	mkdir -p "$1/boot" "$to" && cp "/boot/vmlinuz-$2" "$1/boot" &&
		cp -R "$from"/kernel "$from"/modules.{order,builtin*} "$to"
}

# headers_fetch RELEASE ARCH: a folder for KDIR= with the headers of a foreign
# kernel, and in it all that they need of the same version: what is installed
# may be older or newer.
headers_fetch() (
	dir=$vm_cache/headers-$1
	common=linux-headers-${1%-"$2"}
	# As Debian names them: 6.1.0-56-common and 6.1.0-56-common-rt.
	case $common in
	*-rt) common=${common%-rt}-common-rt ;;
	*) common=$common-common ;;
	esac
	mkdir -p "$vm_cache" || return
	exec 9>"$vm_cache/lock" && flock 9 || return
	if [ ! -e "$dir/ready" ] || [ ! -e "$dir/usr/src/$common" ]; then
		rm -rf "$dir"
		depends=$(apt_fetch "$dir" "linux-headers-$1:$2") || return
		# The programs of the kernel's build are those for this machine.
		kbuild=$(grep -o 'linux-kbuild-[^ ,]*' <<<"$depends") &&
			apt_fetch "$dir" "$common" "$kbuild" >/dev/null &&
			touch "$dir/ready" || return
	fi
	kdir=$dir/usr/src/linux-headers-$1
	# As packaged this is the path where they would be installed.
	makefile="include $dir/usr/src/$common/Makefile"
	[ "$(cat "$kdir/Makefile")" = "$makefile" ] ||
		echo "$makefile" >"$kdir/Makefile" || return
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
