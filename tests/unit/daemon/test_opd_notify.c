// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each row names a socket as $NOTIFY_SOCKET ($ is a folder of the test's, N a
 * name that nobody else has) and tells what comes of a message to it.
 */

#include "daemon/opd_notify.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/rows.h"

#define LONG_NAME                                                              \
	"0123456789012345678901234567890123456789012345678901234"              \
	"5678901234567890123456789012345678901234567890123456"

static char folder[] = "/tmp/test_opd_notify.XXXXXX";

/* Put what @text stands for into @name. */
static void socket_name(const char *text, char *name, size_t size)
{
	if (*text == '$')
		snprintf(name, size, "%s%s", folder, text + 1);
	else if (!strcmp(text, "@N"))
		snprintf(name, size, "@%s", folder);
	else
		snprintf(name, size, "%s", text);
}

/* A manager that listens at @name, or -1. */
static int listen_at(const char *name)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	size_t len = strlen(name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0 && len < sizeof(addr.sun_path));
	memcpy(addr.sun_path, name, len);
	if (*name == '@')
		addr.sun_path[0] = '\0';
	assert_int_equal(
		bind(fd, (struct sockaddr *)&addr,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
		0);
	return fd;
}

/* given: where a manager listens; script: $NOTIFY_SOCKET, none if empty. */
static void run_notify(const struct row *row, FILE *out)
{
	char name[256], got[256];
	int fd = -1;
	ssize_t len;
	int err;

	if (row->given) {
		socket_name(row->given, name, sizeof(name));
		fd = listen_at(name);
	}
	unsetenv("NOTIFY_SOCKET");
	if (*row->script) {
		socket_name(row->script, name, sizeof(name));
		setenv("NOTIFY_SOCKET", name, 1);
	}
	err = opd_notify("STOPPING=1");
	fprintf(out, "%s\n", err ? strerrorname_np(-err) : "0");
	if (fd < 0)
		return;
	while ((len = recv(fd, got, sizeof(got), 0)) > 0)
		fprintf(out, "%.*s\n", (int)len, got);
	close(fd);
	if (*row->given == '$') {
		socket_name(row->given, name, sizeof(name));
		unlink(name);
	}
}

static const struct row notify_rows[] = {
	{ "a path", "$/s", "$/s", "0\nSTOPPING=1\n" },
	{ "an abstract name", "@N", "@N", "0\nSTOPPING=1\n" },
	{ "no manager", "$/s", "", "0\n" },
	{ "nobody listens at the path", "$/s", "$/t", "ENOENT\n" },
	{ "nobody listens at the name", NULL, "@N", "ECONNREFUSED\n" },
	{ "a path that depends on the folder", NULL, "s", "EINVAL\n" },
	{ "a name of nothing", NULL, "@", "EINVAL\n" },
	{ "an address of another kind", NULL, "vsock:2:1", "EINVAL\n" },
	{ "a path that is too long", NULL, "/" LONG_NAME, "EINVAL\n" },
};

/* The daemon is not the process that the manager started. */
TEST(test_ready)
{
	char name[256], got[256], wanted[256];
	ssize_t len;
	int fd;

	socket_name("$/s", name, sizeof(name));
	fd = listen_at(name);
	setenv("NOTIFY_SOCKET", name, 1);
	assert_int_equal(opd_notify_ready(), 0);
	len = recv(fd, got, sizeof(got) - 1, 0);
	assert_true(len > 0);
	got[len] = '\0';
	sprintf(wanted, "MAINPID=%ld\nREADY=1", (long)getpid());
	assert_string_equal(got, wanted);
	close(fd);
	unlink(name);
}

TEST_ROWS(notify_row, notify_rows)
{
	check_row(*state, run_notify);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

TEST_GROUP(make_folder, remove_folder)
