# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A program and its library, and those of somebody who has given his own library the
# same build-id: source it after perf.sh, in $TMP.

id=0123456789abcdef0123456789abcdef01234567

# make_victim: victim and libvic.so; attack and libevil.so, which has no unwind data and
# another name for each place in the code.
make_victim() {
	cat >vic.c <<'END'
#define CALL(name, next) \
	__attribute__((noinline)) long name(long n) { return next(n) + 1; }
volatile long sum;
__attribute__((noinline)) long vic_leaf(long n)
{
	for (long i = 0; i < n * 1000; i++)
		sum += i;
	return sum;
}
CALL(vic_inner, vic_leaf)
CALL(vic_middle, vic_inner)
CALL(vic_entry, vic_middle)
END
	cat >burn.c <<'END'
#include <stdlib.h>
#include <time.h>
long CALLED(long n);
int main(int argc, char **argv)
{
	double end = argc > 1 ? atof(argv[1]) : 1;

	while ((double)clock() / CLOCKS_PER_SEC < end)
		CALLED(2000);
	return 0;
}
END
	sed 's/vic_/evil_/g' vic.c >evil.c
	${CC:-cc} -O2 -fPIC -shared -Wl,--build-id=0x$id -o libvic.so vic.c &&
		${CC:-cc} -O2 -DCALLED=vic_entry -o victim burn.c -L. -lvic -Wl,-rpath,"$TMP" &&
		${CC:-cc} -O2 -fno-asynchronous-unwind-tables -fPIC -shared \
			-Wl,--build-id=0x$id -o libevil.so evil.c &&
		${CC:-cc} -O2 -DCALLED=evil_entry -o attack burn.c -L. -levil \
			-Wl,-rpath,"$TMP" || exit 1
	is "both have one build-id" "$(readelf -n libvic.so libevil.so | grep -c "$id")" 2
}

# of_victim ERE: of the stacks of the victim those that match.
of_victim() {
	awk -v re="$1" '/^victim;/ { n = $NF; sub(/ [0-9]+$/, "") }
		/^victim;/ && $0 ~ re { sum += n } END { print sum + 0 }' "$TMP/report"
}
