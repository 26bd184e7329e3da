#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The check of includes (tests/lint/rooms.py) finds what it is there for: each is
# planted in a copy of the tree.
# sanitized: no
. "$(dirname "$0")/../lib.sh"

rooms=$TOP/tests/lint/rooms.py

# plant NAME FILE INCLUDE... WANTED: the only complaint of a tree where FILE also
# includes these.
plant() {
	name=$1 file=$TMP/tree/$2
	shift 2
	cp "$file" "$TMP/kept"
	while [ $# -gt 1 ]; do
		echo "#include $1" >>"$file"
		shift
	done
	is "$name" "$("$rooms" "$TMP/tree"; echo $?)" "$1
1"
	cp "$TMP/kept" "$file"
}

mkdir "$TMP/tree"
(cd "$TOP" && find libop libdb libcfi libpp daemon pp utils events module \
	-name '*.[ch]' | cpio -pdm --quiet "$TMP/tree")
is "the tree is as it should be" "$("$rooms" "$TMP/tree"; echo $?)" 0
plant "a step upwards" libop/base/op_log.c '"pp/options.h"' \
	"libop/base/op_log.c: pp/options.h: libop/base may not include from pp"
plant "a source that knows the daemon" daemon/source/oprofilefs/opd_feed.c \
	'"daemon/context/opd_anon.h"' "daemon/source/oprofilefs/opd_feed.c: daemon/context/opd_anon.h: \
daemon/source/oprofilefs may not include from daemon/context"
plant "a store that knows the daemon" daemon/store/opd_sfile.c \
	'"daemon/context/opd_anon.h"' "daemon/store/opd_sfile.c: daemon/context/opd_anon.h: \
daemon/store may not include from daemon/context"
plant "a private header" daemon/context/opd_trans.c '"libdb/table/db_table.h"' \
	"daemon/context/opd_trans.c: libdb/table/db_table.h: daemon/context may not include from \
libdb/table"
plant "a header that is not among the public ones" pp/opreport/opreport.c \
	'"libpp/format/xml.h"' \
	"pp/opreport/opreport.c: libpp/format/xml.h: is private to libpp/format"
plant "one of ours in angle brackets" libpp/report/sort.c '<libdb/odb.h>' \
	"libpp/report/sort.c: libdb/odb.h: is ours: include it with quotes"
plant "libbfd outside of its files" libpp/report/report.h '<bfd.h>' \
	"libpp/report/report.h: bfd.h: only libpp/symbols/op_bfd\\w*\\.[ch] may include it"
plant "no folder" libop/base/op_log.c '"op_diag.h"' \
	"libop/base/op_log.c: op_diag.h: names no folder"

# Files in a ring, each of which includes the next one.
nr=30
for i in $(seq $nr); do
	echo "#include \"libop/base/ring_$((i % nr + 1)).h\"" >"$TMP/tree/libop/base/ring_$i.h"
done
like "a circle of files" "$("$rooms" "$TMP/tree")" \
	'^30 files include one another: libop/base/ring_1 libop/base/ring_10 '
like "a room that is too full" "$("$rooms" "$TMP/tree")" \
	'^libop/base: [0-9]+ files; a room has at most 40$'
done_testing
