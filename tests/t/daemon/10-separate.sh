#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# From a stream to sample files, as the daemon is told on its command line.
# What each option does alone is in tests/unit/daemon/context/test_opd_trans.c.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../daemon.sh"

stream "$TMP/tour" <<'END'
stream 1 8
cookie 1 0 0 0 0 - /bin/sh
cookie 2 0 0 0 0 - /lib/libc.so.6
kernel-range first 0xffffffff81000000 0xffffffff82000000 - vmlinux
kernel-range 0xffffffffc0000000 0xffffffffc0001000 - ext4
cpu 1
ctx 7424 1
tgid 7423
image 2
user
sample 0x2000 0 x2
sample 0x2008 0
kernel
sample 0xffffffff81000010 0 x4
sample 0xffffffffc0000020 0
END

ok 'by everything' replay "$TMP/tour" --separate-kernel=1 \
	--separate-thread=1 --separate-cpu=1 --vmlinux=/boot/vmlinux-6 \
	--events=CPU_CLK_UNHALTED:118:0:100000:0:1:1,
event=CPU_CLK_UNHALTED.100000.0.7423.7424.1
is 'a file for each part' "$(files)" \
	"{root}/bin/sh/{dep}/{kern}/ext4/$event
{root}/bin/sh/{dep}/{root}/boot/vmlinux-6/$event
{root}/bin/sh/{dep}/{root}/lib/libc.so.6/$event"
is 'offsets and counts' \
	"$(pairs "{root}/bin/sh/{dep}/{root}/lib/libc.so.6/$event")" \
	'0x2000 2
0x2008 1'

ok 'with a filter' replay "$TMP/tour" --image=/bin/sh,ext4
is 'only these images are stored' "$(files)" \
	'{kern}/ext4/{dep}/{kern}/ext4/TIMER.0.0.all.all.all'
is 'the others have a cause' "$(ledger)" 'taken = 8
stored = 1
pending = 0
lost.lost_image_filter = 7'

# Code that a program made at run time is in an image without a file.
stream "$TMP/made" <<'END'
stream 1 8
cookie 1 0 0 0 0 - /usr/bin/node
cookie 2 2 0 0 0 - /7423.jo
cpu 1
ctx 7424 1
tgid 7423
image 2
user
sample 0x1000 0 x3
END
ok 'code made at run time' replay "$TMP/made"
is 'it is kept apart by application like the memory it was in' "$(files)" \
	'{root}/usr/bin/node/{dep}/{root}/7423.jo/TIMER.0.0.all.all.all'

done_testing
