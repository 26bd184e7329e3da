#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The Debian packages: they build from what make dist packs, lintian finds
# nothing, and in a fresh Debian they install, build the module for the kernels
# that this tree is for, profile a program, and leave nothing when purged. A
# machine with that Debian and each of these kernels profiles with that module.
# tier: all
# timeout: 3600

. "$(dirname "$0")/../lib.sh"
for program in dh dh_dkms dpkg-buildpackage lintian; do
	command -v $program >/dev/null ||
		skip_all "no $program; run utils/install-deps packages"
done
. "$(dirname "$0")/../debian.sh"

# ---- building ------------------------------------------------------------------

git clone -q "$TOP" "$TMP/clone" && make -C "$TMP/clone" dist >/dev/null || exit 1
tar xzf "$TMP"/clone/oprofile-*.tar.gz -C "$TMP" || exit 1
source=$(echo "$TMP"/oprofile-*/)
version=$(basename "$source" | sed 's/.*-//')
is "the packages have the version of the product" \
	"$(cd "$source" && dpkg-parsechangelog -S Version)" "$version"
build_packages() (
	cd "$source" || exit
	DEB_BUILD_OPTIONS=parallel=${JOBS:-$(nproc)} dpkg-buildpackage -us -uc -b
)
ok "dpkg-buildpackage" build_packages
[ "$test_failed" -eq 0 ] || done_testing
ours=$(sed -n 's/^Package: //p' "$source/debian/control")
for package in $ours; do
	ok "the package $package" test -s "$(echo "$TMP/${package}_"*.deb)"
done
is "lintian finds nothing" "$(lintian "$TMP"/*.changes 2>&1 |
	grep -v '^running with root privileges')" ""

# ---- in a fresh Debian ---------------------------------------------------------

mkdir "$DEBIAN/packages"
for package in $ours; do
	cp "$TMP/${package}_"*.deb "$DEBIAN/packages"
done
cp -r "$source/debian/tests" "$DEBIAN/packages"

# kernels: the newest headers of each series; their packages.
kernels() {
	inside apt-cache pkgnames linux-headers-6. | grep -E \
		'^linux-headers-(6\.1|6\.12)\.[^-]*(-[0-9]+)?-amd64$' | sort -V |
		awk -F. '{ newest[$2] = $0 } END { for (i in newest) print newest[i] }'
}
# files: all that is there, but for what apt and dpkg note down.
files() {
	(cd "$DEBIAN" && find . -path ./packages -prune -o -path ./var/cache -prune \
		-o -path ./var/lib/apt -prune -o -path ./var/lib/dpkg -prune \
		-o -path ./var/log -prune -o -path ./tmp -prune -o -print | sort)
}
in_packages() {
	inside sh -c "cd /packages && $1"
}

# in_machine RELEASE: what tests/t/packaged.sh finds in a machine with this root.
in_machine() {
	"$TOP/tests/vm/run" --kernel "$1" --root "$DEBIAN" --timeout 300 \
		"$TOP/tests/t/packaged.sh"
}

ok "apt's lists" inside apt-get -q update
# What the packages and their tests need comes first, so that what is there
# without them is known.
needed=$(in_packages "apt-get -s --no-install-recommends install ./*.deb" |
	sed -n 's/^Inst \([^ ]*\) .*/\1/p' | grep -vx -e "$ours")
# shellcheck disable=SC2046,SC2086 # lists
ok "what they depend on" install_inside $needed gcc libc6-dev pkg-config busybox-static \
	$(kernels)
# As it is where a kernel is installed, not just its headers.
# shellcheck disable=SC2016 # by that shell
ok "lists of modules" inside sh -c \
	'for release in $(cd /lib/modules && echo *); do depmod $release || exit; done'
files >"$TMP/before"

ok "apt install ./*.deb" in_packages \
	"apt-get -q -y --no-install-recommends install ./*.deb"
nr=0
for release in $(cd "$DEBIAN/lib/modules" && echo *); do
	nr=$((nr + 1))
	ok "dkms builds the module for $release" inside sh -c \
		"dkms build oprofile/$version -k $release &&
		dkms install oprofile/$version -k $release"
	is "it is one for that kernel" "$(inside modinfo -k "$release" \
		-F vermagic oprofile | cut -d' ' -f1)" "$release"
	in_machine "$release" >"$TMP/log" 2>&1 || diag "$(cat "$TMP/log")"
	is "a machine with $release profiles with it" \
		"$(sed -n '$p' "$TMP/log")" "$release profiled"
done
is "of both series of kernels" "$nr" 2
like "the group that may read sessions" "$(cat "$DEBIAN/etc/group")" '^oprofile:'
for test in profile agent; do
	status=0
	in_packages "mkdir /tmp/$test && AUTOPKGTEST_TMP=/tmp/$test tests/$test" \
		>"$TMP/log" 2>&1 || status=$?
	[ "$status" -eq 0 ] || diag "$(cat "$TMP/log")"
	if [ "$status" -eq 77 ]; then
		skip "debian/tests/$test" "the kernel lets nobody sample here"
	else
		is "debian/tests/$test" "$status" 0
	fi
done
# As in a container that is privileged and sees the processes of its host
# (utils/container/Containerfile); the program is in no folder of this root.
in_container() {
	# shellcheck disable=SC2016 # by that shell
	unshare --mount sh -c '
		mount -t proc proc "$1/proc" && mount --rbind /sys "$1/sys" &&
			mount --rbind /dev "$1/dev" && cd / &&
			exec chroot "$1" sh -c "cd /tmp && $2"
	' sh "$DEBIAN" "$1" </dev/null
}
"$TESTBIN/burnmix" 1000 >"$TMP/burnt" &
busy=$!
if in_container "operf --system-wide --duration=3" >"$TMP/log" 2>&1; then
	kill $busy
	wait $busy 2>/dev/null
	like "a container names functions of its host's programs" \
		"$(in_container "opreport -l" 2>&1)" 'burnmix +burn_(alpha|beta)$'
else
	kill $busy
	diag "$(cat "$TMP/log")"
	skip "a container profiles its host" "the kernel lets nobody sample here"
fi
rm -rf "$DEBIAN/tmp/oprofile_data"
ok "the manual pages" test -s "$DEBIAN/usr/share/man/man1/operf.1.gz"

# What the services keep.
ok "state" inside mkdir -p /var/lib/oprofile/samples /var/lib/oppush/spool
# shellcheck disable=SC2086 # a list
ok "apt purge" inside apt-get -q -y purge $ours
files >"$TMP/after"
is "leaves nothing" "$(diff "$TMP/before" "$TMP/after")" ""
done_testing
