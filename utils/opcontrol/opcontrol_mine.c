// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The daemon sends a stream, which is kept in memory and replayed by a daemon
 * of the user's own, like any recording. The stream is complete if it ends with
 * the number of samples taken.
 */

#include "utils/opcontrol/opcontrol_mine.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/files/op_process.h"
#include "libop/session/op_control.h"
#include "libop/session/op_session.h"
#include "module/uapi/oprofile.h"
#include "utils/opcontrol/opcontrol_run.h"
#include "utils/say.h"

#define TIMEOUT_MS 90000 /* the daemon gives up before that */

int oc_mine_check(const char *folder, struct op_diag *diag)
{
	if (*folder)
		return 0;
	return op_diag_set(diag, -EINVAL,
			   "--mine=: not a folder; give one for the samples, "
			   "such as --mine=samples-of-mine");
}

static int find_own_session(struct op_session *own, const char *folder,
			    struct op_diag *diag)
{
	int err = op_session_init(own, folder, diag);

	if (err || access(own->current, F_OK))
		return err;
	return op_diag_set(
		diag, -EEXIST,
		"--mine=%s: there are samples already; name another folder",
		folder);
}

static int explain_refusal(const struct op_session *session, int err,
			   struct op_diag *diag)
{
	char why[OP_DIAG_MAX];

	if (err == -ENOENT || err == -ECONNREFUSED || err == -EACCES) {
		diag->text[0] = '\0';
		return op_diag_set(
			diag, err,
			"%s: no daemon hands over samples there; root must start one, with a line such as mine = all in the policy file, see oprofiled(8)",
			session->mine);
	}
	if (err != -EREMOTEIO)
		return err;
	snprintf(why, sizeof(why), "%s", diag->text);
	diag->text[0] = '\0';
	return op_diag_set(diag, err, DAEMON_NAME ": %s", why);
}

/* *@taken = the number of samples in the stream @fd, if it is whole. */
static int read_end(int fd, uint64_t *taken, struct op_diag *diag)
{
	uint64_t words[3];
	struct stat st;
	const size_t len = sizeof(words);

	if (fstat(fd, &st) || (size_t)st.st_size < len ||
	    st.st_size % (off_t)sizeof(words[0]) ||
	    pread(fd, words, len, st.st_size - (off_t)len) != (ssize_t)len ||
	    words[0] != OP_ESCAPE || words[1] != OP_CODE_WORD(OP_TAKEN, 0, 1))
		return op_diag_set(
			diag, -EPROTO,
			DAEMON_NAME
			": the samples ended in the middle; try again");
	*taken = words[2];
	return 0;
}

/* Give the option for each line of the daemon's answer. */
static void add_separations(struct op_process_args *args, const char *reply)
{
	static const char *const keys[] = {
		"separate-lib", "separate-kernel", "separate-thread",
		"separate-cpu", "separate-cgroup",
	};
	char value[8];

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		daemon_reply_find(reply, keys[i], value, sizeof(value));
		op_process_args_add(args, "--%s=%d", keys[i],
				    !strcmp(value, "1"));
	}
}

/* Have a daemon of our own count the stream @fd in the session @own. */
static int count_stream(struct opcontrol *oc, const struct op_session *own,
			const char *reply, int fd)
{
	struct op_process_args args = { .nr = 0 };
	char path[OC_PATH_MAX + 16];
	char words[OP_DIAG_MAX] = "";
	int status = op_process_find_own(path, sizeof(path), DAEMON_NAME,
					 oc->tools, &oc->diag);

	if (status)
		return status;
	op_process_args_add(&args, DAEMON_NAME);
	op_process_args_add(&args, "--session-dir=%s", own->dir);
	op_process_args_add(&args, "--source=file:/dev/fd/%d", fd);
	op_process_args_add(&args, "--no-vmlinux");
	add_separations(&args, reply);
	status = args.failed ? op_out_of_memory(&oc->diag)
			     : op_process_run(path, args.argv, environ, words,
					      sizeof(words), &oc->diag);
	op_process_args_release(&args);
	words[strcspn(words, "\n")] = '\0';
	return status <= 0
		       ? status
		       : op_diag_set(&oc->diag, -EIO, "%s",
				     *words ? words : "the daemon has failed");
}

int oc_mine(struct opcontrol *oc)
{
	const char *dir = oc->request.values[OC_SESSION_DIR];
	const char *folder = oc->request.argument;
	struct op_session *own = &oc->session, of;
	char reply[1024];
	uint64_t taken = 0;
	int fd, err;

	err = find_own_session(own, folder, &oc->diag);
	if (!err)
		err = op_session_init(&of, dir ? dir : OP_SESSION_DIR_DEFAULT,
				      &oc->diag);
	if (err)
		return err;
	fd = memfd_create("samples", 0);
	if (fd < 0)
		return op_diag_set(&oc->diag, -errno, "memory: %s",
				   strerror(errno));
	say_step(oc->request.verbose, "ask at %s", of.mine);
	err = op_control_fetch(of.mine, reply, sizeof(reply), fd, TIMEOUT_MS,
			       &oc->diag);
	err = err ? explain_refusal(&of, err, &oc->diag)
		  : read_end(fd, &taken, &oc->diag);
	if (!err)
		err = count_stream(oc, own, reply, fd);
	close(fd);
	if (!err)
		printf("%" PRIu64
		       " samples of your processes are in %s; see them with "
		       "opreport --session-dir=%s\n",
		       taken, folder, folder);
	return err;
}
