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
binutils-dev libc6-dev libcmocka-dev libdebuginfod-dev libdeflate-dev libiberty-dev liblzma-dev libncurses-dev libpfm4-dev
libpopt-dev libprotobuf-c-dev libzstd-dev nettle-dev zlib1g-dev"

# root_fetch ARCH: the folder, kept under a name made of what makes it.
root_fetch() (
	key=$( (echo "$vm_root_packages" && declare -f unpack_root finish_root) |
		sha256sum | cut -c1-16)
	dir=$vm_cache/root-$1-$key
	mkdir -p "$vm_cache" || return
	exec 9>"$vm_cache/lock" && flock 9 || return
	[ -e "$dir/ready" ] || make_root "$dir" "$1" || return
	echo "$dir"
)

# make_root DIR ARCH
make_root() {
	local tmp status
	# No package is installed as far as apt knows here, so that it tells all
	# that are needed.
	local apt_for=(-q -o APT::Sandbox::User=root -o "APT::Architecture=$2"
		-o "APT::Architectures=$2" -o Dir::State::status=/dev/null
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
	echo "tests/vm/run: fetching a small Debian for $2" >&2
	rm -rf "$1"
	tmp=$(mktemp -d "$vm_cache/fetch.XXXXXX") || return
	(
		set -o pipefail
		cd "$tmp" || exit
		# shellcheck disable=SC2086 # a list
		apt_patiently log unpack_root $vm_root_packages ||
			{ [ $? -eq 1 ] && unpack_offered; } || {
			echo "tests/vm/run: Debian for $2: cannot be fetched: $apt_why" >&2
			exit 1
		}
		finish_root root && touch root/ready && mv root "$1"
	)
	status=$?
	rm -rf "$tmp"
	return $status
}

# Without the packages that Debian has no more; a test that needs one tells.
unpack_offered() {
	local offered package kept=()
	# shellcheck disable=SC2086 # a list
	offered=$(apt_offered "${apt_for[@]}" $vm_root_packages)
	for package in $vm_root_packages; do
		if grep -Fqx "$package" <<<"$offered"; then
			kept+=("$package")
		else
			echo "tests/vm/run: $package: not in apt's lists; correct vm_root_packages in tests/vm/lib/root.sh" >&2
		fi
	done
	[ ${#kept[@]} -gt 0 ] && unpack_root "${kept[@]}" >log 2>&1
}

# unpack_root PACKAGE...: into root/.
unpack_root() {
	local deb names
	rm -rf root ./*.deb
	names=$(apt-get "${apt_for[@]}" -s --no-install-recommends install "$@" |
		sed -n 's/^Inst \([^ ]*\) (\([^ ]*\).*/\1=\2/p') || return
	# shellcheck disable=SC2086 # a list
	apt-get "${apt_for[@]}" download $names || return
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
