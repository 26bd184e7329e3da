# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A small Debian of a machine that this one is not: what the cross-compiler
# links against is what the guest then runs with. Its packages are unpacked
# below the cache of kernel.sh; nothing of them is installed or run here.

# shellcheck source=tests/vm/lib/kernel.sh
. "${BASH_SOURCE[0]%/*}/kernel.sh"

# What tests call, and what the tools are built from; apt adds what these
# depend on.
vm_root_packages="base-files base-passwd bash busybox-static coreutils dash
diffutils findutils grep gzip kmod mawk mount procps sed usr-is-merged util-linux
binutils-dev libc6-dev libcmocka-dev libiberty-dev libpfm4-dev
libpopt-dev nettle-dev zlib1g-dev"

# root_fetch ARCH: the folder, kept under a name made of what makes it.
root_fetch() (
	key=$( (echo "$vm_root_packages" && declare -f make_root unpack_root finish_root) |
		sha256sum | cut -c1-16)
	dir=$vm_cache/root-$1-$key
	mkdir -p "$vm_cache" || return
	exec 9>"$vm_cache/lock" && flock 9 || return
	[ -e "$dir/ready" ] || make_root "$dir" "$1" || return
	echo "$dir"
)

make_root() {
	local tmp status
	echo "tests/vm/run: fetching a small Debian for $2" >&2
	rm -rf "$1"
	tmp=$(mktemp -d "$vm_cache/fetch.XXXXXX") || return
	(
		set -o pipefail
		cd "$tmp" || exit
		unpack_root "$2" || { apt_lists_update && unpack_root "$2"; } || {
			tail -n 3 log
			exit 1
		}
		finish_root root && touch root/ready && mv root "$1"
	) >&2
	status=$?
	rm -rf "$tmp"
	[ $status -eq 0 ] ||
		echo "tests/vm/run: Debian for $2: cannot be fetched" >&2
	return $status
}

# Into root/. No package is installed as far as apt knows here, so that it
# tells all that are needed.
unpack_root() {
	local apt deb names
	apt=(apt-get -q -o APT::Sandbox::User=root -o "APT::Architecture=$1"
		-o "APT::Architectures=$1" -o Dir::State::status=/dev/null
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
	# shellcheck disable=SC2086 # lists
	names=$("${apt[@]}" -s --no-install-recommends install \
		$vm_root_packages 2>log |
		sed -n 's/^Inst \([^ ]*\) (\([^ ]*\).*/\1=\2/p') &&
		"${apt[@]}" download $names >log 2>&1 || return
	rm -rf root
	mkdir -p root/usr/{bin,lib,sbin} && ln -s usr/{bin,lib,sbin} root || return
	for deb in ./*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -C root -x \
			--keep-directory-symlink --exclude='./usr/share/doc/*' \
			--exclude='./usr/share/locale/*' \
			--exclude='./usr/share/man/*' || return
	done
}

# What the packages' scripts would do, and links that hold wherever it lies.
finish_root() {
	local link to
	cp "$1/usr/share/base-passwd/passwd.master" "$1/etc/passwd" &&
		cp "$1/usr/share/base-passwd/group.master" "$1/etc/group" &&
		ln -s mawk "$1/usr/bin/awk" || return
	find "$1/usr/lib" -type l -lname '/*' | while read -r link; do
		to=$1$(readlink "$link")
		ln -sfnr "$to" "$link" || exit
	done
}
