#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# In a virtual machine whose root has the Debian packages: a profile with the
# module that dkms has built there. 09-packages.sh runs it. The last line is
# "RELEASE profiled" if all is well.
set -e

release=$(uname -r)
file=$(modinfo -F filename oprofile)
case $file in
"/lib/modules/$release/updates/dkms/"*) ;;
*)
	echo "oprofile: $file: not built by dkms"
	exit 1
	;;
esac
/usr/bin/opcontrol --init
[ "$(cat /sys/module/oprofile/srcversion)" = "$(modinfo -F srcversion oprofile)" ]
/usr/bin/opcontrol --start --event=timer
"$O/tests/burnmix" 1 >/dev/null
/usr/bin/opcontrol --dump
daemon=$(cat /proc/[0-9]*/comm | grep -cx oprofiled)
[ "$daemon" -gt 0 ]
/usr/bin/opcontrol --shutdown
/usr/bin/opreport -l image:"$O/tests/burnmix"
/usr/bin/opreport -l image:"$O/tests/burnmix" 2>/dev/null | grep -q ' burn_'
/usr/bin/opcontrol --deinit
[ ! -e /sys/module/oprofile ]
if dmesg | grep -E 'WARNING|BUG|Oops'; then
	exit 1
fi
echo "$release profiled"
