// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Images are found as for a report, at their paths or among the session's own
 * copies, and only those whose build-id and fingerprint are those of the
 * samples are stored: these are the key, and a wrong file under it would name
 * functions wrongly for ever. A binary that nobody but its owner may read has a
 * digest with the same rights; it belongs to whoever stores it, who can read
 * the binary.
 *
 * Most digests are the same in all sessions: they come from the cache of
 * sessions (op_cache.h) as links. There the build-id is not enough, as a digest
 * outlives the session, and anybody may make a binary with any build-id: a name
 * in the cache has the file's size, times and rights, too, and the file is one
 * that only root or this user may write.
 *
 * Root parses no file that another user could have written. A child does, with
 * the rights of the file's owner, or of nobody where that is not known, and
 * confined to reading (op_confine.h). It is handed the file and those that it
 * makes, and tells what came of it over a pipe. So whoever finds a fault in
 * libbfd is no more than he was. The path of a file is the same in both ways.
 *
 * As anybody may make a binary with the build-id of a library, what comes of
 * such a file is marked, and gives way to what comes of root's.
 */

#include "libpp/images/store_image.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libop/base/op_array.h"
#include "libop/files/op_cache.h"
#include "libop/files/op_confine.h"
#include "libop/files/op_file.h"
#include "libop/files/op_folder.h"
#include "libop/files/op_open.h"
#include "libop/session/op_session_readers.h"
#include "libpp/symbols/elf_digest.h"

#define NEW_SUFFIX ".new"
#define PART_PATH_MAX (PATH_MAX + 16)
#define NEW_PATH_MAX (PART_PATH_MAX + sizeof(NEW_SUFFIX))
#define NOBODY ((uid_t)65534) /* has no files and no rights, everywhere */
#define LOOK_MS 200 /* how often a child is looked at */
#define CHILD_SECONDS 20 /* of CPU time */
#define CHILD_MEMORY (UINT64_C(1) << 30) /* bytes */

enum part {
	PART_DIGEST,
	PART_DEBUG, /* the digest of the debug file */
	PART_INLINES,
	NR_PARTS
};

static const char *const suffixes[NR_PARTS] = { "", ".debug",
						PP_INLINES_SUFFIX };

/* The outcome of the work of a child, as it reports it. */
struct outcome {
	int err;
	unsigned int debug_mode; /* of the debug file */
	unsigned int has_inlines; /* not 0: these are whole */
};

struct making {
	struct pp_storing *s;
	const struct pp_image *image;
	struct pp_point *points;
	size_t nr_points;
	char paths[NR_PARTS][PART_PATH_MAX];
	const char *from; /* the binary */
	unsigned int mode; /* of that, for those who may read */
	struct pp_inline_answers kept; /* from earlier sessions */
	bool is_foreign;

	/* In a child. */
	const int *handed; /* files for the parts; -1: not needed */
	struct outcome outcome;
};

/* This bit marks what came of a file that another user could have written;
 * Linux takes no notice of it but in folders (inode(7)). */
#define MARK_FOREIGN S_ISVTX

static bool touch(const char *path)
{
	return !utimensat(AT_FDCWD, path, NULL, 0);
}

/* ---- digests ------------------------------------------------------------- */

static int write_digest_file(int from, const struct stat *st, const char *path)
{
	int to = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int err;

	if (to < 0)
		return -errno;
	err = pp_elf_digest(from, to);
	if (!err && fchmod(to, st->st_mode & 0444))
		err = -errno;
	close(to);
	return err;
}

/* The name in the cache of the digest of a file with the status @st, which is
 * stored as @path. Returns 0 or -EPERM for a file that others may change. */
static int name_in_cache(char name[NAME_MAX + 1], const char *path,
			 const struct stat *st)
{
	const char *id = strstr(path, "/.build-id/");
	int len;

	if (!op_is_own_file(st))
		return -EPERM;
	id += strlen("/.build-id/");
	len = snprintf(name, NAME_MAX + 1, "digest%d-%.2s%s-%jx-%jx.%lx-%o",
		       PP_ELF_DIGEST_VERSION, id, id + 3,
		       (uintmax_t)st->st_size, (uintmax_t)st->st_mtim.tv_sec,
		       st->st_mtim.tv_nsec, st->st_mode & 07777);
	return len > NAME_MAX ? -EPERM : 0;
}

/* The digest of @from, of which it makes no difference who made it. */
static int make_digest_file(const struct pp_storing *s, int from,
			    const struct stat *st, const char *path,
			    const char *tmp)
{
	char name[NAME_MAX + 1];
	int no_name = name_in_cache(name, path, st), err;

	if (s->cache >= 0 && !no_name && !op_cache_get(s->cache, name, tmp))
		return touch(tmp) ? 0 : -errno;
	err = write_digest_file(from, st, tmp);
	if (!err && s->cache >= 0 && !no_name)
		op_cache_put(s->cache, name, tmp, &op_cache_bounds);
	return err;
}

/* Returns -EFBIG for a file that would push all others out. */
static int put_in_place(const struct pp_storing *s, const char *tmp,
			const char *path)
{
	struct stat made;

	if (stat(tmp, &made))
		return -errno;
	if ((uint64_t)made.st_blocks * 512 > s->max / 2)
		return -EFBIG;
	return rename(tmp, path) ? -errno : 0;
}

static void say_stored(const struct making *m, const char *from, enum part part)
{
	pp_message(m->s->messages, PP_REMARK_BFD, "%s: stored as %s", from,
		   m->paths[part]);
}

static int make_folders(const struct making *m)
{
	return op_session_make_folder(m->s->session->store)
		       ?: op_make_parents(m->paths[0], 0755);
}

static int store_digest_here(const struct making *m, enum part part,
			     const char *path, int from, const struct stat *st)
{
	const char *to = m->paths[part];
	char tmp[NEW_PATH_MAX];
	int err;

	if (touch(to))
		return 0;
	snprintf(tmp, sizeof(tmp), "%s" NEW_SUFFIX, to);
	unlink(tmp);
	err = make_folders(m) ?: make_digest_file(m->s, from, st, to, tmp) ?:
	      put_in_place(m->s, tmp, to);
	if (err)
		unlink(tmp);
	else
		say_stored(m, path, part);
	return err;
}

/* Store the digest of the file @from at @path. */
static int store_digest(struct making *m, enum part part, const char *path,
			int from)
{
	struct stat st;

	if (fstat(from, &st))
		return -errno;
	if (!m->handed)
		return store_digest_here(m, part, path, from, &st);
	if (part == PART_DEBUG)
		m->outcome.debug_mode = st.st_mode & 0444;
	return m->handed[part] < 0 ? 0 : pp_elf_digest(from, m->handed[part]);
}

static int store_debug_file(struct making *m, const char *path)
{
	int fd = op_open_regular(path), err;
	struct stat st;

	if (fd < 0)
		return -errno;
	/* Another file may be there by now. */
	err = fstat(fd, &st) ? -errno
	      : m->s->locator->debug.only_own && !op_is_own_file(&st)
		      ? -EPERM
		      : store_digest(m, PART_DEBUG, path, fd);
	close(fd);
	return err;
}

/* ---- inlined functions --------------------------------------------------- */

static int hand_inlines_back(struct making *m,
			     struct pp_inline_answers *answers)
{
	FILE *file = fdopen(m->handed[PART_INLINES], "w");
	int err = file ? pp_inline_answers_write(answers, file,
						 m->image->build_id.bytes,
						 m->image->build_id.len)
		       : -errno;

	m->outcome.has_inlines = !err;
	return err;
}

static int write_inlines(const struct making *m,
			 struct pp_inline_answers *answers)
{
	const struct pp_image *image = m->image;
	struct op_diag unsaid = { 0 };
	struct op_replace to;
	int err =
		op_replace_open(&to, m->paths[PART_INLINES], m->mode, &unsaid);

	if (err)
		return err;
	err = pp_inline_answers_write(answers, to.file, image->build_id.bytes,
				      image->build_id.len);
	if (err)
		op_replace_abort(&to);
	return err ? err : op_replace_commit(&to, &unsaid);
}

/* Ask what a report would, and keep what it finds out, if libbfd could read all
 * of it. What else goes wrong costs the next report its speed. */
static int store_inlines(struct making *m, struct pp_image_symbols *symbols)
{
	struct pp_owners owners = { .symbols = symbols, .has_inlines = true };
	struct pp_inline_answers *added = &symbols->added;
	int err = pp_find_owners(&owners, m->points, m->nr_points)
			  ?: op_bfd_fault(symbols->bfd, NULL);

	pp_owners_release(&owners);
	if (!err && !added->nr_addresses)
		touch(m->paths[PART_INLINES]);
	else if (!err && symbols->wants & PP_KEEP_INLINES)
		err = pp_inline_answers_add_all(added, &symbols->kept)
			      ?: m->handed ? hand_inlines_back(m, added)
					   : write_inlines(m, added);
	return pp_is_fault(err) ? err : 0;
}

/* ---- one binary ---------------------------------------------------------- */

/* All parts of the open file @fd. */
static int make_parts(struct making *m, int fd)
{
	struct op_arena arena;
	struct pp_messages unsaid = { .arena = &arena };
	struct pp_image_symbols symbols;
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0), err;
	const char *debug;

	if (own < 0)
		return -errno;
	op_arena_init(&arena);
	err = pp_image_symbols_take(&symbols, m->image, m->from, own,
				    &m->s->locator->debug,
				    PP_WANT_INLINES | PP_KEEP_INLINES, &unsaid);
	symbols.kept = m->kept;
	memset(&m->kept, 0, sizeof(m->kept));
	err = err ?: store_digest(m, PART_DIGEST, m->from, fd);
	debug = err ? NULL : op_bfd_debug_path(symbols.bfd);
	if (debug)
		err = store_debug_file(m, debug);
	else
		touch(m->paths[PART_DEBUG]);
	err = err ?: store_inlines(m, &symbols);
	pp_image_symbols_release(&symbols);
	op_arena_release(&arena);
	return err;
}

/* ---- in a child ---------------------------------------------------------- */

/* The child has a copy of this process, to which so much may come. */
static int limit_memory(void)
{
	struct rlimit most = { CHILD_MEMORY, CHILD_MEMORY };
	unsigned long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "re");

	if (!statm)
		return -1;
	if (fscanf(statm, "%lu", &pages) == 1)
		most.rlim_cur += pages * (rlim_t)sysconf(_SC_PAGESIZE);
	fclose(statm);
	most.rlim_max = most.rlim_cur;
	return setrlimit(RLIMIT_AS, &most);
}

static int become(uid_t user, uint64_t max_file)
{
	const struct rlimit largest = { max_file, max_file };
	const struct rlimit longest = { CHILD_SECONDS, CHILD_SECONDS };

	if (limit_memory() || setgroups(0, NULL) || setgid(NOBODY) ||
	    setuid(user) || prctl(PR_SET_PDEATHSIG, SIGKILL) ||
	    setrlimit(RLIMIT_FSIZE, &largest) ||
	    setrlimit(RLIMIT_CPU, &longest))
		return -errno;
	signal(SIGXFSZ, SIG_IGN); /* then write(2) fails */
	return op_confine(OP_CONFINE_TO_WRITING);
}

/* The child, which has not much of its parent but memory. */
static void be_child(struct making *m, int fd, uid_t user,
		     const int parts[NR_PARTS], int to)
{
	int kept[] = { fd, parts[0], parts[1], parts[2], to };
	struct outcome *outcome = &m->outcome;

	op_close_others(kept, sizeof(kept) / sizeof(kept[0]));
	m->handed = parts;
	outcome->err = become(user, m->s->max / 2) ?: make_parts(m, fd);
	while (write(to, outcome, sizeof(*outcome)) < 0 && errno == EINTR)
		;
	op_confine_end();
}

static bool is_given_up(const struct pp_storing *s, uid_t user)
{
	for (size_t i = 0; i < s->nr_given_up; i++)
		if (s->given_up[i] == user)
			return true;
	return false;
}

static int give_up(struct pp_storing *s, uid_t user)
{
	if (!op_array_reserve(&s->given_up, s->nr_given_up, 1))
		s->given_up[s->nr_given_up++] = user;
	return -ETIMEDOUT;
}

/* The user that the child runs as may stop it, and would hold up the end of a
 * session. */
static bool is_stopped(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return !waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG) &&
	       info.si_pid;
}

/* The child's answer may be wrong. All children of a session together have
 * patience_ms. */
static int await_child(struct pp_storing *s, uid_t user, pid_t pid, int from,
		       struct outcome *outcome)
{
	struct pollfd end = { .fd = from, .events = POLLIN };
	int ready;

	while ((ready = poll(&end, 1, LOOK_MS)) <= 0) {
		if (ready < 0 && errno != EINTR)
			return -errno;
		s->patience_ms -= ready ? 0 : LOOK_MS;
		if (s->patience_ms <= 0 || is_stopped(pid))
			return give_up(s, user);
	}
	if (op_file_read_next(from, outcome, sizeof(*outcome)) !=
	    sizeof(*outcome))
		return -EIO;
	return outcome->err <= 0 && outcome->err > -4096 ? outcome->err : -EIO;
}

static int run_child(struct making *m, int fd, uid_t user,
		     const int parts[NR_PARTS], struct outcome *outcome)
{
	int ends[2], err;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		be_child(m, fd, user, parts, ends[1]);
	err = pid < 0 ? -errno : 0;
	close(ends[1]);
	if (pid > 0) {
		err = await_child(m->s, user, pid, ends[0], outcome);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	close(ends[0]);
	return err;
}

/* Files for the parts that are missing; inlined functions may be new ones. */
static int open_parts(const struct making *m, int parts[NR_PARTS],
		      char tmp[NR_PARTS][NEW_PATH_MAX])
{
	int err = make_folders(m);

	for (int i = 0; i < NR_PARTS && !err; i++) {
		snprintf(tmp[i], sizeof(tmp[i]), "%s" NEW_SUFFIX, m->paths[i]);
		if (touch(m->paths[i]) && i != PART_INLINES)
			continue;
		unlink(tmp[i]);
		parts[i] = open(tmp[i], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
				0600);
		if (parts[i] < 0)
			err = -errno;
	}
	return err;
}

/* Nothing that the child did not fill. */
static int take_part(const struct making *m, enum part part, int fd,
		     const char *tmp, const struct outcome *outcome)
{
	unsigned int mode = part == PART_DEBUG ? outcome->debug_mode : m->mode;
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (!st.st_size || (part == PART_INLINES && !outcome->has_inlines))
		return unlink(tmp) ? -errno : 0;
	err = fchmod(fd, (mode & m->mode) | MARK_FOREIGN)
		      ? -errno
		      : put_in_place(m->s, tmp, m->paths[part]);
	if (!err)
		say_stored(m, m->from, part);
	return err;
}

static int store_by_child(struct making *m, int fd, uid_t user)
{
	char tmp[NR_PARTS][NEW_PATH_MAX];
	int parts[NR_PARTS] = { -1, -1, -1 }, err;
	struct outcome outcome = { 0 };

	if (m->s->patience_ms <= 0 || is_given_up(m->s, user))
		return -ETIMEDOUT;
	err = open_parts(m, parts, tmp)
		      ?: run_child(m, fd, user, parts, &outcome);
	for (int i = 0; i < NR_PARTS; i++) {
		if (parts[i] < 0)
			continue;
		if (!err)
			err = take_part(m, (enum part)i, parts[i], tmp[i],
					&outcome);
		if (err)
			unlink(tmp[i]);
		close(parts[i]);
	}
	return err;
}

/* ---- one image ----------------------------------------------------------- */

/* The user who is to parse a file of @owner, which others may have written. The
 * owner of a copy made it, not what is in it. */
static uid_t parser_of(uid_t owner, bool is_copy)
{
	return is_copy || !owner ? NOBODY : owner;
}

/* Parts of that build-id that are of files of others, who chose it. */
static void drop_foreign_parts(const struct making *m)
{
	struct stat st;

	for (int i = 0; i < NR_PARTS; i++)
		if (!lstat(m->paths[i], &st) && (st.st_mode & MARK_FOREIGN))
			unlink(m->paths[i]);
}

static int store_open_binary(struct making *m, int fd, bool is_copy)
{
	const struct pp_image *image = m->image;
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	m->mode = st.st_mode & 0444;
	m->is_foreign = m->s->locator->debug.only_own &&
			(is_copy || !op_is_own_file(&st));
	if (!m->is_foreign)
		drop_foreign_parts(m);
	err = pp_inline_answers_read(&m->kept, m->paths[PART_INLINES],
				     image->build_id.bytes,
				     image->build_id.len);
	if (err == -ENOMEM)
		return err;
	err = m->is_foreign
		      ? store_by_child(m, fd, parser_of(st.st_uid, is_copy))
		      : make_parts(m, fd);
	pp_inline_answers_release(&m->kept);
	return err;
}

static int store_binary(struct making *m, const char *from, bool is_copy)
{
	int fd = op_open_regular(from), err;

	if (fd < 0)
		return -errno;
	m->from = from;
	err = store_open_binary(m, fd, is_copy);
	m->from = NULL;
	close(fd);
	return err;
}

static int find_and_store(struct making *m)
{
	const struct op_session *session = m->s->session;
	const struct pp_image *image = m->image;
	char copy[PATH_MAX];
	const char *from;
	int err = pp_locate(m->s->locator, image->path, &from)
			  ?: store_binary(m, from, false);

	if (err == -ENOENT || err == -ESTALE)
		err = op_session_image(session, image->path, &image->build_id,
				       image->mtime, copy, sizeof(copy))
			      ?: store_binary(m, copy, true);
	/* What is stored already is needed even if both are gone. */
	if ((err == -ENOENT || err == -ESTALE) &&
	    touch(m->paths[PART_DIGEST])) {
		touch(m->paths[PART_DEBUG]);
		err = 0;
	}
	return err;
}

int pp_store_image(struct pp_storing *s, const struct pp_image *image,
		   struct pp_point *points, size_t nr)
{
	struct making m = {
		.s = s, .image = image, .points = points, .nr_points = nr
	};
	int err = op_session_digest(s->session, &image->build_id, m.paths[0],
				    PATH_MAX);

	if (err)
		return 0;
	for (int i = 1; i < NR_PARTS; i++)
		snprintf(m.paths[i], sizeof(m.paths[i]), "%.*s%s", PATH_MAX - 1,
			 m.paths[0], suffixes[i]);
	err = find_and_store(&m);
	if (m.is_foreign && (err == -EPERM || err == -ETIMEDOUT)) {
		s->nr_unread++;
		s->unread_err = err;
	}
	if (pp_is_fault(err) && err != -ENOMEM && !m.is_foreign)
		pp_message_of_error(s->messages, err,
				    "%s: its symbols are not stored: %s",
				    image->path, strerror(-err));
	else if (err && (err != -ENOMEM || m.is_foreign))
		pp_message(s->messages, PP_REMARK_BFD,
			   "%s: its symbols are not stored: %s", image->path,
			   strerror(-err));
	return !m.is_foreign && (err == -ENOMEM || err == -ENOSPC) ? err : 0;
}
