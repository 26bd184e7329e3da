# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How utils/install-deps and tests/vm ask apt. Debian renames its kernels with
# every update of them, so a kernel is found by its series; and repositories
# are away at times, so what fails for that reason is tried again. Sourced, by
# sh or bash. Whoever sources it sets apt_caller, which messages begin with.

: "${apt_caller:?}"

# The series of kernels that the module is built for and tested on.
# shellcheck disable=SC2034 # for who sources this
apt_kernel_series='6.1 6.12'

# Seconds to wait before each further try while a repository is away.
apt_waits=${OPROFILE_APT_WAITS-10 20 40 80 120}

# apt_offered NAME[:ARCH]...: those of the packages that a repository in apt's
# lists has, without the :ARCH. A package that is only installed is not offered.
apt_offered() {
	LC_ALL=C apt-cache policy "$@" 2>/dev/null | awk '
	/^[^ ]/ { name = $1; sub(/:.*/, "", name); has = 0; next }
	$1 == "Candidate:" { has = $2 != "(none)"; next }
	# Where a version comes from: priority and address.
	has && $1 ~ /^[0-9]+$/ && $2 ~ /^[a-z+]+:/ { print name; has = 0 }'
}

# apt_kernels KIND SERIES ENDING: on stdin names of packages linux-KIND-RELEASE;
# the releases, as uname -r says them, of the series and of the flavour that they
# end in, the newest first. ENDING is ARCH for Debian's default flavour (so not rt
# or cloud), rt-ARCH for PREEMPT_RT.
apt_kernels() {
	sed -n "s/^linux-$1-\($(echo "$2" | sed 's/\./\\./g')\.[^-]*\(-[0-9][^-]*\)\{0,1\}-$3\)\$/\1/p" |
		sort -Vr
}

# apt_kernel SERIES ENDING: the release of the newest kernel whose headers and
# image are offered (an image may come hours after its headers); if there is
# none, of the newest headers. Fails if there are no headers either.
apt_kernel() {
	apt_names=$(LC_ALL=C apt-cache pkgnames "linux-headers-$1." 2>/dev/null |
		apt_kernels headers "$1" "$2" |
		sed "s/.*/linux-headers-&:${2#rt-} linux-image-&:${2#rt-}/")
	[ -n "$apt_names" ] || return
	# shellcheck disable=SC2086 # a list
	apt_names=$(apt_offered $apt_names)
	echo "$apt_names" | apt_kernels headers "$1" "$2" | {
		apt_newest=
		while read -r apt_release; do
			: "${apt_newest:=$apt_release}"
			echo "$apt_names" |
				grep -Fqx "linux-image-$apt_release" || continue
			echo "$apt_release"
			exit
		done
		echo "$apt_newest" | grep .
	}
}

# apt_patiently LOG COMMAND...: run a command that fails while apt lacks
# something, its output in LOG. If it fails, update apt's lists and run it
# again; wait and do both again for as long as a repository is away. Returns 0,
# 1 (it failed) or 2 (the repository did not come back); $apt_why says why.
apt_patiently() {
	apt_log=$1
	shift
	"$@" >"$apt_log" 2>&1 && return
	for apt_wait in $apt_waits last; do
		apt_update "$apt_log"
		apt_why=$(apt_away "$apt_log")
		"$@" >"$apt_log" 2>&1 && return
		apt_why=$(apt_away "$apt_log" || echo "$apt_why")
		[ -n "$apt_why" ] || {
			apt_why=$(apt_reason "$apt_log")
			return 1
		}
		[ "$apt_wait" != last ] || return 2
		echo "$apt_caller: $apt_why; trying again in $apt_wait s" >&2
		sleep "$apt_wait"
	done
}

# apt_update LOG: has no status, as only the command that needs a package can
# tell whether what could not be updated matters.
apt_update() {
	: >"$1"
	[ "$(id -u)" -eq 0 ] || return 0
	echo "$apt_caller: updating apt's lists" >&2
	apt-get -q update >"$1" 2>&1 || :
}

# Says what a log of apt-get tells of a repository that is away or of another
# apt that works; fails if it tells nothing of that kind. A repository that
# answers "no" is not away, and of other repositories than Debian's nothing is
# needed.
apt_away() {
	sed -n -e '/  40[0134] /d; /  410 /d' \
		-e 's/^[EW]: \(Failed to fetch [^ ]*\/debian.*\)/\1/p' \
		-e 's/^E: \(Could not get lock .*\)/\1/p' "$1" |
		head -n 1 | grep .
}

# The reason in a log of apt-get, in one line.
apt_reason() {
	sed -n -e 's/^ [^ ]* : \([A-Za-z]*: .*\)/\1/p' -e 's/^E: //p' "$1" |
		sed 's/ or$//; q' | grep . || tail -n 1 "$1"
}
