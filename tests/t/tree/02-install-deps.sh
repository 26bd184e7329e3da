#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# utils/install-deps, and how tests/vm finds kernels, with an apt of our own:
# packages that Debian has renamed or dropped, repositories that are away.

# Lists of packages are split at blanks on purpose.
# shellcheck disable=SC2086

. "$(dirname "$0")/../lib.sh"

# ---- a false apt -----------------------------------------------------------------
#
# Its state is in the folder $FAKE:
#	repository	what Debian has: lines NAME [NAME it depends on]
#	lists		what apt knows of that; apt-get update copies it
#	installed	names
#	broken		names that apt-get cannot install
#	away		how many tries to reach the repository fail
#	arch		foreign architectures
#	uid		who runs it
#	calls		what was called, and how long was waited

FAKE=$TMP/fake
export FAKE
mkdir -p "$TMP/bin"
PATH=$TMP/bin:$PATH
OPROFILE_APT_WAITS='7 8 9'
export OPROFILE_APT_WAITS

# program NAME: stdin is a program on the PATH.
program() {
	{
		echo '#!/bin/sh'
		# shellcheck disable=SC2016 # by that shell
		echo 'echo "${0##*/} $*" >>"$FAKE/calls"'
		cat
	} >"$TMP/bin/$1"
	chmod +x "$TMP/bin/$1"
}

program sleep <<'END'
END
program id <<'END'
cat "$FAKE/uid"
END
program dpkg <<'END'
case $1 in
--print-architecture) echo amd64 ;;
--print-foreign-architectures) cat "$FAKE/arch" ;;
--add-architecture) echo "$2" >>"$FAKE/arch" ;;
esac
END
program dpkg-query <<'END'
shift 3
for pattern; do
	while read -r name; do
		case $name in $pattern) echo "installed $name" ;; esac
	done <"$FAKE/installed"
done
END
program apt-cache <<'END'
command=$1
shift
case $command in
policy)
	for name; do
		name=${name%:amd64}
		short=${name%:*}
		grep -q "^$short\( \|\$\)" "$FAKE/lists" && from='500 http://deb.debian.org/debian bookworm/main amd64 Packages' ||
			from='100 /var/lib/dpkg/status'
		grep -qx "$short" "$FAKE/installed" && is=1:2-3 || is='(none)'
		case $from$is in 100*none*) continue ;; esac
		printf '%s:\n  Installed: %s\n  Candidate: 1:2-3\n  Version table:\n *** 1:2-3 500\n        %s\n' \
			"$name" "$is" "$from"
	done
	;;
pkgnames) sed -n "s/^\($1[^ ]*\).*/\1/p" "$FAKE/lists" ;;
depends)
	sed -n "s/^\($1\) \(.*\)/\1\n  Depends: \2/p" "$FAKE/lists"
	;;
esac
END
program apt-get <<'END'
is_away() {
	n=$(cat "$FAKE/away")
	[ "$n" -gt 0 ] || return
	echo $((n - 1)) >"$FAKE/away"
}
away='http://deb.debian.org/debian/x  Temporary failure resolving'
command=
for arg; do
	shift
	case $arg in
	update | install | download) command=$arg ;;
	-* | *::*) ;;
	*) set -- "$@" "$arg" ;;
	esac
done
case $command in
update)
	if is_away; then
		echo "W: Failed to fetch $away"
	else
		cp "$FAKE/repository" "$FAKE/lists"
	fi
	echo 'E: The repository http://elsewhere.example.org/x has no Release file.'
	exit 0
	;;
esac
for name; do
	short=${name%%=*}
	grep -q "^${short%:*}\( \|\$\)" "$FAKE/lists" || {
		echo "E: Unable to locate package $name"
		exit 100
	}
	if grep -qx "$name" "$FAKE/broken"; then
		echo "The following packages have unmet dependencies:"
		echo " $name : Depends: libgone (>= 2) but it is not installable"
		echo "E: Unable to correct problems, you have held broken packages."
		exit 100
	fi
	if is_away; then
		echo "E: Failed to fetch $away"
		exit 100
	fi
	for needed in $(sed -n "s/^${short%:*}\( \|\$\)/&/p" "$FAKE/lists"); do
		grep -q "^$needed\( \|\$\)" "$FAKE/repository" || {
			echo "E: Failed to fetch http://deb.debian.org/debian/$needed.deb  404  Not Found [IP: 192.0.2.1 80]"
			exit 100
		}
	done
done
for name; do
	case $command in
	install) sed -n "s/^$name\( \|\$\)/$name /p" "$FAKE/lists" | tr ' ' '\n' |
		grep . >>"$FAKE/installed" ;;
	download) echo "${name%:*}" >"$name.deb" ;;
	esac
done
END
program dpkg-deb <<'END'
name=$(cat "$2")
case $1 in
-f)
	case $name in
	linux-headers-*-arm64) echo "linux-headers-x-common (= 1), linux-kbuild-6.1 (>= 1), gcc" ;;
	esac
	exit
	;;
esac
mkdir -p "$3/boot" "$3/usr/src/$name"
: >"$3/boot/$name"
echo "include /usr/src/common/Makefile" >"$3/usr/src/$name/Makefile"
END
program depmod <<'END'
END

build='autoconf binutils-dev gcc libc6-dev libcurl4-openssl-dev libdebuginfod-dev
libdeflate-dev libiberty-dev liblzma-dev libncurses-dev libpfm4-dev libpopt-dev libprotobuf-c-dev libzstd-dev make
nettle-dev protobuf-c-compiler zlib1g-dev'
vm='busybox-static cpio kmod qemu-system-x86 xz-utils'
debian() {
	# shellcheck disable=SC2086 # lists
	printf '%s\n' $build $vm clang gcc-aarch64-linux-gnu qemu-system-arm
}
kernels='linux-headers-amd64 linux-headers-6.1.0-900-amd64
linux-headers-6.1.0-900-amd64
linux-headers-6.1.0-900-rt-amd64
linux-image-6.1.0-900-amd64
linux-headers-6.12-amd64 linux-headers-6.12.930+deb12-amd64
linux-headers-6.12.909+bpo-amd64
linux-image-6.12.909+bpo-amd64
linux-headers-6.12.930+deb12-amd64
linux-image-6.12.930+deb12-amd64
linux-headers-6.12.930+deb12-cloud-amd64'

# machine: a fresh one, of root, whose apt has lists.
machine() {
	rm -rf "$FAKE"
	mkdir "$FAKE"
	{
		debian
		echo "$kernels"
	} >"$FAKE/repository"
	cp "$FAKE/repository" "$FAKE/lists"
	: >"$FAKE/installed"
	: >"$FAKE/broken"
	: >"$FAKE/arch"
	: >"$FAKE/calls"
	echo 0 >"$FAKE/away"
	echo 0 >"$FAKE/uid"
}

# drop NAME... : Debian has them no more, and apt knows.
drop() {
	for name; do
		sed -i "/^$name\( \|\$\)/d" "$FAKE/repository" "$FAKE/lists"
	done
}

# deps ARG...: sets $status and $out; stderr is in $err.
deps() {
	out=$("$TOP/utils/install-deps" "$@" 2>"$TMP/err")
	status=$?
	err=$(cat "$TMP/err")
}
installed() {
	sort "$FAKE/installed" | tr '\n' ' '
}
calls() {
	grep -c "^$1" "$FAKE/calls"
}
all_of() {
	printf '%s\n' "$@" | sort | tr '\n' ' '
}
headers='linux-headers-6.1.0-900-amd64 linux-headers-6.12-amd64
linux-headers-6.12.930+deb12-amd64 linux-headers-amd64'

# ---- utils/install-deps -----------------------------------------------------------

machine
deps --check build
is "what is missing is listed" "$status $(echo "$out" | sort | tr '\n' ' ')" \
	"1 $(all_of $build linux-headers-amd64 linux-headers-6.12-amd64)"
is "and not installed" "$(installed)" ''
deps build vm
is "a bare machine" "$status $err" '0 '
is "has all after that" "$(installed)" "$(all_of $build $vm $headers)"
: >"$FAKE/calls"
deps build vm
is "the second time says nothing" "$status $out$err" '0 '
is "and does nothing" "$(calls apt-get)" 0
deps --check build vm
is "nothing is missing" "$status $out$err" '0 '
deps --check check vm-arm64
is "a package of two groups is listed once" "$(echo "$out" | grep -cx clang)" 1
deps --check languages
is "compilers of other languages" "$(echo "$out" | grep -cx -e ghc -e php-cli)" 2
deps vm-arm64
is "a foreign architecture" "$status $(cat "$FAKE/arch")" '0 arm64'
is "needs lists of its own" "$(calls 'apt-get -q update')" 1
deps no-such
is "a group that there is not" "$status $err" \
	'2 install-deps: no-such: no such group; build, build-tools, check, vm, vm-arm64, debug-kernel, packages or languages'

machine
drop kmod cpio
deps vm
is "packages that are gone" "$status" 3
is "are named in a line each" "$(echo "$err" | grep -c "^install-deps: \(cpio\|kmod\): not in apt's lists; ")" 2
is "the others are installed" "$(installed)" \
	"$(all_of busybox-static qemu-system-x86 xz-utils)"
is "nothing is waited for" "$(calls sleep)" 0

machine
echo qemu-system-x86 >"$FAKE/broken"
deps vm
is "one that cannot be installed" "$status $(echo "$err" | grep -v updating)" \
	"3 install-deps: qemu-system-x86: apt-get cannot install it: Depends: libgone (>= 2) but it is not installable; see 'apt-get install qemu-system-x86', or do without what needs it"
is "keeps no other away" "$(installed)" "$(all_of busybox-static cpio kmod xz-utils)"

machine
: >"$FAKE/lists"
deps build
is "lists that are empty" "$status $(installed)" "0 $(all_of $build $headers)"

machine
sed -i s/6.12.930/6.12.931/g "$FAKE/repository"
sed -i s/6.1.0-900/6.1.0-901/g "$FAKE/repository"
deps build
is "lists that are old" "$status $(grep linux- "$FAKE/installed" | sort | tr '\n' ' ')" \
	"0 linux-headers-6.1.0-901-amd64 linux-headers-6.12-amd64 linux-headers-6.12.931+deb12-amd64 linux-headers-amd64 "

# ---- kernels -----------------------------------------------------------------------

headers_installed() {
	sed -n 's/^linux-headers-\([0-9]*\.[0-9]*\..*-amd64\)$/\1/p' "$FAKE/installed" | sort -V | tr '\n' ' '
}

machine
drop linux-headers-6.12-amd64 linux-headers-amd64
deps build
is "meta packages that are gone" "$status $err" '0 '
is "the newest of the series are found" "$(headers_installed)" \
	'6.1.0-900-amd64 6.12.930+deb12-amd64 '
sed -i '/6.12/d' "$FAKE/installed"
deps --check build
is "and named" "$status $out" '1 linux-headers-6.12.930+deb12-amd64'

machine
sed -i 's/^linux-headers-amd64 .*/linux-headers-amd64 linux-headers-6.12.930+deb12-amd64/' \
	"$FAKE/repository"
drop linux-headers-6.12-amd64
deps build
is "a meta package that is of another series now" "$status $(headers_installed)" \
	'0 6.1.0-900-amd64 6.12.930+deb12-amd64 '

machine
drop linux-image-6.12.930+deb12-amd64
deps build
is "headers without an image yet" "$status $(headers_installed)" \
	'0 6.1.0-900-amd64 6.12.909+bpo-amd64 '
machine
drop linux-image-6.12.930+deb12-amd64 linux-image-6.12.909+bpo-amd64
deps build
is "headers without any image" "$status $(headers_installed)" \
	'0 6.1.0-900-amd64 6.12.930+deb12-amd64 '

machine
drop 'linux-headers-6\.12.*'
deps build
is "a series that is gone" "$status $(echo "$err" | grep -v updating)" \
	"0 install-deps: Linux 6.12: no headers for amd64 in apt's lists, so there is no module for it and its tests are skipped; add a suite that has linux-headers-6.12.*-amd64 (security or backports) to /etc/apt/sources.list.d"
is "the other is there" "$(headers_installed)" '6.1.0-900-amd64 '
is "and all else" "$(grep -vc linux- "$FAKE/installed")" "$(echo "$build" | wc -w)"

machine
deps build
sed -i s/6.12.930/6.12.931/g "$FAKE/repository"
cp "$FAKE/repository" "$FAKE/lists"
deps build
is "headers that Debian has no more" "$status $(headers_installed)" \
	'0 6.1.0-900-amd64 6.12.930+deb12-amd64 6.12.931+deb12-amd64 '
machine
deps build
: >"$FAKE/lists"
deps build
is "are enough without a list" "$status $out$err" '0 '

# ---- a repository that is away --------------------------------------------------------

waited() {
	sed -n 's/^sleep //p' "$FAKE/calls" | tr '\n' ' '
}

machine
: >"$FAKE/lists"
echo 2 >"$FAKE/away"
deps vm
is "away twice" "$status $(installed)" "0 $(all_of $vm)"
is "then it comes" "$(waited)" '7 8 '
is "what is waited for is told" "$(echo "$err" | grep again)" \
	"install-deps: Failed to fetch http://deb.debian.org/debian/x  Temporary failure resolving; trying again in 7 s
install-deps: Failed to fetch http://deb.debian.org/debian/x  Temporary failure resolving; trying again in 8 s"

machine
echo 3 >"$FAKE/away"
deps vm
is "away while packages are fetched" "$status $(installed)$(waited)" \
	"0 $(all_of $vm)7 "

machine
echo 99 >"$FAKE/away"
echo busybox-static >"$FAKE/installed"
drop cpio
deps vm
is "away for too long" "$status $(waited)$(echo "$err" | tail -n 1)" \
	"1 7 8 9 install-deps: not installed: kmod qemu-system-x86 xz-utils cpio: Failed to fetch http://deb.debian.org/debian/x  Temporary failure resolving; run it again when the repository is back"

# ---- no root ---------------------------------------------------------------------------

machine
echo 1000 >"$FAKE/uid"
deps vm
line='apt-get update && apt-get install -y --no-install-recommends'
is "no root" "$status $(echo "$err" | head -n 1)" \
	'1 install-deps: packages are missing; as root, run this line:'
is "is given a line for root" "$out$(echo "$err" | tail -n +2)" \
	"$line busybox-static cpio kmod qemu-system-x86 xz-utils"
is "nothing is tried" "$(calls apt-get)" 0
echo 0 >"$FAKE/uid"
ok "root runs that line" sh -c "$(echo "$err" | tail -n 1)"
echo 1000 >"$FAKE/uid"
deps vm
is "nothing is missing then" "$status $out$err" '0 '
deps build vm-arm64
is "another machine and headers are in that line, too" "$(echo "$err" | tail -n 1)" \
	"dpkg --add-architecture arm64 && $line $(printf '%s\n' $build | paste -s -d ' ') clang gcc-aarch64-linux-gnu qemu-system-arm linux-headers-amd64 linux-headers-6.12-amd64"
machine
echo 1000 >"$FAKE/uid"
drop kmod
deps vm
is "what Debian has no more is not in that line" "$(echo "$err" | tail -n 1)" \
	"$line busybox-static cpio qemu-system-x86 xz-utils"
printf '%s\n' busybox-static cpio qemu-system-x86 xz-utils >"$FAKE/installed"
deps vm
is "and keeps nobody from going on" "$status $err" \
	"3 install-deps: not in apt's lists, so what needs them is left out: kmod"
machine
echo 1000 >"$FAKE/uid"
: >"$FAKE/lists"
deps vm
is "on a bare machine nothing is known of what Debian has" "$(echo "$err" | tail -n 1)" \
	"$line busybox-static cpio kmod qemu-system-x86 xz-utils"

# ---- tests/vm ----------------------------------------------------------------------------

XDG_CACHE_HOME=$TMP/cache
export XDG_CACHE_HOME
VM=$XDG_CACHE_HOME/oprofile-vm
foreign='linux-headers-6.1.0-900-common
linux-kbuild-6.1
linux-headers-6.1.0-900-arm64
linux-image-6.1.0-900-arm64
linux-headers-6.1.0-899-arm64
linux-image-6.1.0-899-arm64'

# vm_machine: a fresh one whose apt has packages for arm64, too.
vm_machine() {
	machine
	echo "$foreign" >>"$FAKE/repository"
	cp "$FAKE/repository" "$FAKE/lists"
	rm -rf "$XDG_CACHE_HOME" "$TMP/build"
}
# vm FUNCTION ARG...: sets $status and $out; stderr is in $err.
vm() {
	out=$(bash -c '. "$0/tests/vm/lib/kernel.sh" && "$@"' "$TOP" "$@" \
		2>"$TMP/err" </dev/null)
	status=$?
	err=$(cat "$TMP/err")
}
# built RELEASE...: modules are built for these.
built() {
	for release; do
		mkdir -p "$TMP/build/module/$release"
		: >"$TMP/build/module/$release/oprofile.ko"
	done
}

vm_machine
vm kernel_release 6.1 arm64 "$TMP/build"
is "the newest kernel there is" "$status $out $err" '0 6.1.0-900-arm64 '
built 6.1.0-899-arm64 6.12.930+deb12-arm64 6.1.0-898-rt-arm64
vm kernel_release 6.1 arm64 "$TMP/build"
is "one that the module is built for is better" "$status $out" \
	'0 6.1.0-899-arm64'
is "its image is fetched" "$(ls "$VM/6.1.0-899-arm64/boot")" \
	linux-image-6.1.0-899-arm64
: >"$FAKE/lists"
vm kernel_release 6.1 arm64 "$TMP/build"
is "and kept" "$status $out $err" '0 6.1.0-899-arm64 '
vm_machine
built 6.1.0-899-arm64
drop linux-image-6.1.0-899-arm64
vm kernel_release 6.1 arm64 "$TMP/build"
is "one whose image Debian has no more" "$status $out" '0 6.1.0-900-arm64'
like "is told" "$err" \
	'run: linux-image-6.1.0-899-arm64:arm64: cannot be fetched: Unable to locate package'
vm_machine
built 6.1.0-899-arm64 6.1.0-900-arm64
echo 99 >"$FAKE/away"
vm kernel_release 6.1 arm64 "$TMP/build"
is "one that cannot be fetched now" "$status $out$(waited)$(echo "$err" | tail -n 1)" \
	"2 7 8 9 tests/vm/run: linux-image-6.1.0-900-arm64:arm64: cannot be fetched: Failed to fetch http://deb.debian.org/debian/x  Temporary failure resolving"
vm_machine
built 6.1.0-899-arm64
vm kernel_release 6.1.0-900-arm64 arm64 "$TMP/build"
is "a release is that one, whatever is built" "$status $out" '0 6.1.0-900-arm64'
vm kernel_release 6.1.0-901-arm64 arm64 "$TMP/build"
like "one that is not there is told" "$status $(echo "$err" | tail -n 1)" \
	'^1 .*run: linux-image-6.1.0-901-arm64:arm64: cannot be fetched: '
vm kernel_release 6.1.0-900-arm64 amd64 "$TMP/build"
like "one of another machine" "$status $err" '^1 .*: --kernel 6.1.0-900-arm64: '
vm kernel_release 6.7 arm64 "$TMP/build"
is "another series" "$status $err" \
	'1 tests/vm/run: --kernel 6.7: 6.1 or 6.12; see --help for those with a flavour'
vm kernel_release sid arm64 "$TMP/build"
like "a release of Debian is for this machine" "$status $err" '^1 .*: --kernel sid: '
vm kernel_release sid amd64 "$TMP/build"
is "and to be built" "$status $err" \
	'1 tests/vm/run: --kernel sid: not built; run make check-kernels'
mkdir -p "$VM/9.9.9+deb99-amd64"
: >"$VM/9.9.9+deb99-amd64/ready"
echo 9.9.9+deb99-amd64 >"$VM/debian-sid.release"
vm kernel_release sid amd64 "$TMP/build"
is "its newest kernel" "$status $out $err" '0 9.9.9+deb99-amd64 '
vm kernel_release 6.1-kasan arm64 "$TMP/build"
like "a flavour that this machine does not have" "$status $err" '^1 .*: --kernel 6.1-kasan'
vm kernel_release 6.1-kasan amd64 "$TMP/build"
is "one that nobody has built" "$status $err" \
	'1 tests/vm/run: --kernel 6.1-kasan: not built; run make check-debug'
vm_machine
built 6.1.192-kasan
mkdir -p "$VM/6.1.192-kasan"
: >"$VM/6.1.192-kasan/ready"
vm kernel_release 6.1-kasan amd64 "$TMP/build"
is "and one that is there" "$status $out $err" '0 6.1.192-kasan '

vm_machine
vm headers_fetch 6.1.0-900-arm64 arm64
src=$VM/headers-6.1.0-900-arm64/usr/src
is "headers of another machine" "$status $out" "0 $src/linux-headers-6.1.0-900-arm64"
is "use what was fetched with them" \
	"$(cat "$src/linux-headers-6.1.0-900-arm64/Makefile") $(cd "$src" && echo linux-[hk]*)" \
	"include $src/linux-headers-6.1.0-900-common/Makefile linux-headers-6.1.0-900-arm64 linux-headers-6.1.0-900-common linux-kbuild-6.1"
rm -r "$src/linux-headers-6.1.0-900-common"
vm headers_fetch 6.1.0-900-arm64 arm64
ok "they are fetched again if half are gone" \
	test -e "$src/linux-headers-6.1.0-900-common/Makefile"
drop 'linux-headers-6\.1\..*-arm64'
is "Debian has none any more" \
	"$("$TOP/tests/vm/headers" --kernel 6.1 --arch arm64 2>/dev/null)" \
	"$src/linux-headers-6.1.0-900-arm64"
rm -r "$VM"
exits "and none were kept" 3 "$TOP/tests/vm/headers" --kernel 6.1 --arch arm64
is "is said last" "$(tail -n 1 "$test_log")" \
	"tests/vm/run: Linux 6.1 for arm64: not in apt's lists; run apt-get update, or add a suite that has linux-headers-6.1.*-arm64 (security or backports) to /etc/apt/sources.list.d"

done_testing
