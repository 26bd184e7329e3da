#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# libopagent as it is installed: a program finds it by pkg-config, and it gives
# away no other names.

. "$(dirname "$0")/../lib.sh"

root=$TMP/root
if ! made install-agent DESTDIR="$root" prefix=/usr \
	>"$TMP/out" 2>&1; then
	diag "$(tail -n 5 "$TMP/out")"
	ok "make install-agent" false
	done_testing
fi
lib=$root/usr/lib
ok "the shared library" test -e "$lib/libopagent.so.2"
is "and the name that is linked with" "$(readlink "$lib/libopagent.so")" \
	libopagent.so.2
is "only the functions of the header have names" \
	"$(nm -D --defined-only "$lib/libopagent.so.2" |
		awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort |
		paste -sd' ')" \
	"op_close_agent op_major_version op_minor_version op_open_agent \
op_unload_native_code op_write_debug_line_info op_write_native_code \
op_write_native_code_frames"
is "the folders of the .pc file" \
	"$(sed -n 's/^Libs: //p; s/^Cflags: //p' "$lib/pkgconfig/opagent.pc" |
		paste -sd' ')" "-L/usr/lib -lopagent -I/usr/include"

cat >"$TMP/user.c" <<'END'
#include <opagent.h>

int main(void)
{
	op_agent_t agent = op_open_agent();

	if (!agent || op_major_version() != 2)
		return 1;
	if (op_write_native_code(agent, "f", 0x1000, 0, 16))
		return 2;
	if (!op_write_native_code(agent, "", 0x1000, 0, 16))
		return 3;
	if (!op_write_native_code(agent, "f", 0x1000, 0, 0))
		return 4;
	/* Bytes that cannot be read are an error, and no end of the program. */
	if (!op_write_native_code(agent, "g", 0x1000, (void *)16, 16))
		return 5;
	if (op_write_debug_line_info(agent, (void *)0x1000, 0, 0))
		return 6;
	if (op_write_native_code_frames(agent, "h", 0x1000, 0, 16, 0, 0))
		return 7;
	if (!op_write_native_code_frames(agent, "h", 0x1000, 0, 16, 0, 8))
		return 8;
	if (!op_write_native_code_frames(agent, "h", 0x1000, 0, 16,
					 (void *)16, 8))
		return 9;
	return op_close_agent(agent) || !op_close_agent(0);
}
END
for how in "-L$lib -lopagent" "$lib/libopagent.a"; do
	# shellcheck disable=SC2086 # several words
	"${CC:-cc}" -I"$root/usr/include" -o "$TMP/user" "$TMP/user.c" $how \
		2>"$TMP/err" || diag "$(cat "$TMP/err")"
	rm -f "$TMP"/jit-*.dump
	status=0
	JITDUMPDIR=$TMP LD_LIBRARY_PATH=$lib "$TMP/user" || status=$?
	is "a program with ${how##*/} works" "$status" 0
	# Header 40, f and h 56 + 2 each, close 16: nothing of g.
	is "and has told what it should" \
		"$(stat -c '%s %a' "$TMP"/jit-*.dump)" "172 600"
done
status=0
JITDUMPDIR=$TMP/nowhere LD_LIBRARY_PATH=$lib "$TMP/user" || status=$?
is "without a folder there is no agent" "$status" 1

# What lies in the place of the dump belongs to somebody.
mkdir "$TMP/taken"
cat >"$TMP/take" <<'END'
mkdir "$TMP/taken/jit-$$.dump"
JITDUMPDIR=$TMP/taken exec "$TMP/user"
END
export TMP
status=0
LD_LIBRARY_PATH=$lib sh "$TMP/take" 2>/dev/null || status=$?
is "something else in its place is left alone" "$status" 1

# A program that becomes a daemon closes all descriptors, and has files of its own at
# their numbers, also after a fork.
cat >"$TMP/closer.c" <<'END'
#include <fcntl.h>
#include <opagent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int take_all(void)
{
	for (int fd = 3; fd < 16; fd++)
		close(fd);
	for (int fd = 3; fd < 16; fd++)
		if (open("own", O_RDWR | O_CREAT, 0600) != fd)
			return -1;
	return 0;
}

int main(void)
{
	op_agent_t agent = op_open_agent();
	struct stat st;
	int status = 0;
	pid_t child;

	if (!agent || take_all() ||
	    op_write_native_code(agent, "f", 0x1000, 0, 16))
		return 1;
	child = fork();
	if (!child)
		_exit(op_write_native_code(agent, "g", 0x1000, 0, 16) ||
		      fcntl(3, F_GETFD) < 0);
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		return 2;
	return op_write_native_code(agent, "h", 0x1000, 0, 16) ||
	       fstat(3, &st) || st.st_size;
}
END
"${CC:-cc}" -I"$root/usr/include" -o "$TMP/closer" "$TMP/closer.c" \
	"$lib/libopagent.a" 2>"$TMP/err" || diag "$(cat "$TMP/err")"
rm -f "$TMP"/jit-*.dump
status=0
(cd "$TMP" && JITDUMPDIR=$TMP ./closer) || status=$?
is "the files of a program that has closed all others stay empty" "$status" 0
is "and the dumps have what it told, of the child, too" \
	"$(stat -c %s "$TMP"/jit-*.dump | sort -n | paste -sd' ')" "98 156"
mkdir "$TMP/dumps" "$TMP/wanted"
for wanted in '' "$TMP/wanted"; do
	JITDUMPDIR=$wanted OPROFILE_DUMPS=$TMP/dumps "$TMP/user"
done
is "the folder of operf is used, but not where the user has named one" \
	"$(cd "$TMP" && ls dumps wanted | grep -c dump$) $(ls "$TMP/wanted" | wc -l)" "2 1"

done_testing
