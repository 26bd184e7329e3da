#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The RPM packages: they build from what make dist packs, have all that make
# install installs, each file in one of them, and the programs in those that have
# them in Debian. What they are built from has other names in Debian, so its
# presence is not asked for.
# tier: all
# timeout: 1800

. "$(dirname "$0")/../lib.sh"
command -v rpmbuild >/dev/null || skip_all "no rpmbuild; run utils/install-deps packages"
git -C "$TOP" rev-parse HEAD >/dev/null 2>&1 || skip_all "no clone of git here"
case $O in */sanitized) skip_all "the same for all builds" ;; esac

git clone -q "$TOP" "$TMP/clone" && make -C "$TMP/clone" dist >/dev/null || exit 1
tarball=$(echo "$TMP"/clone/oprofile-*.tar.gz)
version=$(basename "$tarball" .tar.gz | sed 's/.*-//')
is "the packages have the version of the product" "$(sed -n \
	's/^Version: *//p' "$TMP/clone/utils/rpm/oprofile.spec")" "$version"

# rpmbuild fails for a file that is in no package, or is not there.
build_packages() {
	rpmbuild -tb --nodeps --define "_topdir $TMP/rpm" \
		--define 'debug_package %{nil}' "$tarball"
}
ok "rpmbuild" build_packages
[ "$test_failed" -eq 0 ] || done_testing

# file_of PACKAGE
file_of() {
	echo "$TMP"/rpm/RPMS/*/"$1-$version"-*.rpm
}
packages=$(sed -n 's/^Package: //p' "$TOP/debian/control")
for package in $packages; do
	case $package in
	libopagent2) rpm=libopagent ;;
	libopagent-dev) rpm=libopagent-devel ;;
	*) rpm=$package ;;
	esac
	rpm -qlp "$(file_of "$rpm")" >"$TMP/$rpm.files"
	ok "$rpm: $(wc -l <"$TMP/$rpm.files") files" test -s "$TMP/$rpm.files"
	cat "$TMP/$rpm.files" >>"$TMP/all"
	is "$rpm: the programs of $package" \
		"$(sed -n 's|^/usr/bin/||p' "$TMP/$rpm.files" | sort)" \
		"$(sed -n 's|^usr/bin/||p' "$TOP/debian/$package.install" | sort)"
done
is "no file is in two of them" "$(grep -v '/.build-id' "$TMP/all" |
	sort | uniq -d | grep -v -e '/oprofile$')" ""

# They hold what was built, which runs.
mkdir "$TMP/root"
for package in oprofile oprofile-daemon; do
	ok "$package is unpacked" sh -c "rpm2cpio '$(file_of $package)' |
		(cd '$TMP/root' && cpio -idm --quiet)"
done
like "opreport --version" "$("$TMP/root/usr/bin/opreport" --version)" "$version"
like "oprofiled --version" "$("$TMP/root/usr/bin/oprofiled" --version)" "$version"
done_testing
