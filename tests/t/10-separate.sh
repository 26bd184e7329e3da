#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# From a stream to sample files, with each way to separate them.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/daemon.sh"

stream "$TMP/tour" <<'END'
stream 1 8
cookie 1 0 0 0 0 - /bin/sh
cookie 2 0 0 0 0 - /lib/libc.so.6
cookie 3 2 0 0 0 - [vdso]
kernel-range first 0xffffffff81000000 0xffffffff82000000 - vmlinux
kernel-range 0xffffffffc0000000 0xffffffffc0001000 - ext4
cpu 1
ctx 7424 1
tgid 7423
image 1
user
sample 0x1000 0 x3
image 2
sample 0x2000 0 x2
sample 0x2008 0
image 3
sample 0x9 0
anon 0x7f0000000000 0x7f0000021000 anon
sample 0x40 0
kernel
sample 0xffffffff81000010 0 x4
sample 0xffffffffc0000020 0
sample 0xffffffffd0000000 0
ctx 12 0
tgid 12
sample 0xffffffffc0000024 0
END

all=/TIMER.0.0.all.all.all
anon='{anon:anon}/7423.0x7f0000000000.0x7f0000021000'

ok 'a stream replays' replay "$TMP/tour"
is 'nothing separated' "$(files)" "{kern}/[kernel-other]/{dep}/{kern}/[kernel-other]$all
{kern}/[vdso]/{dep}/{kern}/[vdso]$all
{kern}/ext4/{dep}/{kern}/ext4$all
{kern}/vmlinux/{dep}/{kern}/vmlinux$all
{root}/bin/sh/{dep}/$anon$all
{root}/bin/sh/{dep}/{root}/bin/sh$all
{root}/lib/libc.so.6/{dep}/{root}/lib/libc.so.6$all"
is 'offsets and counts of a library' \
	"$(pairs "{root}/lib/libc.so.6/{dep}/{root}/lib/libc.so.6$all")" \
	'0x2000 2
0x2008 1'
is 'of the kernel, from its start' \
	"$(pairs "{kern}/vmlinux/{dep}/{kern}/vmlinux$all")" '0x10 4'
is 'of a module, from its start' \
	"$(pairs "{kern}/ext4/{dep}/{kern}/ext4$all")" '0x20 1
0x24 1'
is 'of anonymous memory, from its start' \
	"$(pairs "{root}/bin/sh/{dep}/$anon$all")" '0x40 1'
is 'of unknown kernel code, without addresses' \
	"$(pairs "{kern}/[kernel-other]/{dep}/{kern}/[kernel-other]$all")" \
	'0x0 1'
is 'the ledger' "$(ledger)" 'taken = 15
stored = 15
pending = 0'

ok 'by library' replay "$TMP/tour" --separate-lib=1
is 'libraries are below their application' "$(files)" \
	"{kern}/[kernel-other]/{dep}/{kern}/[kernel-other]$all
{kern}/ext4/{dep}/{kern}/ext4$all
{kern}/vmlinux/{dep}/{kern}/vmlinux$all
{root}/bin/sh/{dep}/$anon$all
{root}/bin/sh/{dep}/{kern}/[vdso]$all
{root}/bin/sh/{dep}/{root}/bin/sh$all
{root}/bin/sh/{dep}/{root}/lib/libc.so.6$all"

ok 'by kernel' replay "$TMP/tour" --separate-kernel=1
is 'the kernel is below its application, but not in kernel threads' \
	"$(files)" \
	"{kern}/ext4/{dep}/{kern}/ext4$all
{root}/bin/sh/{dep}/$anon$all
{root}/bin/sh/{dep}/{kern}/[kernel-other]$all
{root}/bin/sh/{dep}/{kern}/[vdso]$all
{root}/bin/sh/{dep}/{kern}/ext4$all
{root}/bin/sh/{dep}/{kern}/vmlinux$all
{root}/bin/sh/{dep}/{root}/bin/sh$all
{root}/bin/sh/{dep}/{root}/lib/libc.so.6$all"

ok 'by thread' replay "$TMP/tour" --separate-thread=1
is 'each thread has files' "$(files | grep -e ext4 -e libc)" \
	'{kern}/ext4/{dep}/{kern}/ext4/TIMER.0.0.12.12.all
{kern}/ext4/{dep}/{kern}/ext4/TIMER.0.0.7423.7424.all
{root}/lib/libc.so.6/{dep}/{root}/lib/libc.so.6/TIMER.0.0.7423.7424.all'

ok 'by CPU' replay "$TMP/tour" --separate-cpu=1
is 'each CPU has files' "$(files | grep -e ext4 -e libc)" \
	'{kern}/ext4/{dep}/{kern}/ext4/TIMER.0.0.all.all.1
{root}/lib/libc.so.6/{dep}/{root}/lib/libc.so.6/TIMER.0.0.all.all.1'

ok 'by everything' replay "$TMP/tour" --separate-kernel=1 \
	--separate-thread=1 --separate-cpu=1
is 'all at once' "$(files | grep -e ext4 -e libc)" \
	'{kern}/ext4/{dep}/{kern}/ext4/TIMER.0.0.12.12.1
{root}/bin/sh/{dep}/{kern}/ext4/TIMER.0.0.7423.7424.1
{root}/bin/sh/{dep}/{root}/lib/libc.so.6/TIMER.0.0.7423.7424.1'

ok 'with a kernel image' replay "$TMP/tour" --vmlinux=/boot/vmlinux-6
is 'the kernel is filed under its path' "$(files | grep boot)" \
	"{root}/boot/vmlinux-6/{dep}/{root}/boot/vmlinux-6$all"

ok 'with a filter' replay "$TMP/tour" --image=/bin/sh,ext4
is 'only these images are stored' "$(files)" \
	"{kern}/ext4/{dep}/{kern}/ext4$all
{root}/bin/sh/{dep}/$anon$all
{root}/bin/sh/{dep}/{root}/bin/sh$all"
is 'the others have a cause' "$(ledger)" 'taken = 15
stored = 6
pending = 0
lost.lost_image_filter = 9'

ok 'with events' replay "$TMP/tour" \
	--events=CPU_CLK_UNHALTED:118:0:100000:0:1:1,
like 'files tell event, count and unit mask' "$(files)" \
	'/CPU_CLK_UNHALTED.100000.0.all.all.all$'

done_testing
