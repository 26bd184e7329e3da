// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The check visits what db_folder finds in each folder of samples/, as a report
 * does, and opens each member with the function that a report opens it with.
 * What a report passes over is looked at besides: the groups of a sound pack,
 * which will be needed when its index is damaged, unfinished files, the
 * account.
 *
 * A repair takes the daemon's lock first, so that no daemon starts meanwhile,
 * and waits for readers before it puts another pack in place. It rebuilds packs
 * and removes unfinished files. A damaged table or tree stays where it is: the
 * next daemon sets it aside, and the account of what it held is the daemon's.
 */

#include "libpp/check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "libdb/db_folder.h"
#include "libdb/pack.h"
#include "libop/image/op_build_id.h"
#include "libop/base/op_clock.h"
#include "libop/files/op_config.h"
#include "libop/kernel/op_ksyms.h"
#include "libop/session/op_ledger.h"
#include "libop/files/op_lock.h"
#include "libop/session/op_mangle.h"
#include "libop/base/op_plural.h"
#include "libop/session/op_sample_file.h"
#include "libop/session/op_span.h"
#include "libop/files/op_walk.h"
#include "libpp/check_times.h"
#include "libpp/messages.h"
#include "libpp/select/sample_list.h"
#include "libpp/symbols/inline_answers.h"
#include "libpp/symbols/op_bfd.h"

#define READERS_WAIT 60000 /* milliseconds */

struct checking {
	struct pp_check *check;
	const struct op_session *session;
	bool is_running; /* a daemon has the lock */
	/* the folder of samples/ under way */
	struct db_folder *folder;
	char *scratch; /* OP_MANGLE_MAX */
	uint64_t stored; /* samples that were found in it */
	uint64_t beside; /* in spans that its ledger is about */
	uint64_t nr_bad_entries; /* of its pack */
	struct pp_check_times times;
	bool is_torn; /* the member under way */
	int err; /* something could not be looked at */
};

/* ---- saying it ----------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void
say_line(const struct checking *c, const char *fmt, ...)
{
	char line[2 * PATH_MAX + 256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	for (char *at = line; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	c->check->say(c->check->ctx, line);
}

/* @what is wrong with @path; @lost says what that costs. */
static void say_damage(struct checking *c, const char *path, const char *what,
		       const char *lost)
{
	c->check->nr_damaged++;
	say_line(c, "%s: %s: %s", path, what, lost);
}

/* For a file that @err came of reading it. */
static const char *what_is_wrong(int err)
{
	return pp_is_fault(err) || err == -EACCES ? strerror(-err)
						  : "it is damaged";
}

static void say_repaired(struct checking *c, const char *path, const char *how)
{
	c->check->nr_repaired++;
	say_line(c, "%s: %s", path, how);
}

/* Whether @entry is a part of the session that cannot be looked at. */
static bool is_unread(struct checking *c, const struct op_walk_entry *entry)
{
	if (entry->kind != OP_WALK_UNREAD)
		return false;
	say_damage(c, entry->path, strerror(-entry->err), "it is not checked");
	return true;
}

/* ---- sample files -------------------------------------------------------- */

static int check_table(struct checking *c, const struct db_member *member,
		       bool is_flat)
{
	struct op_sample_header header;
	struct odb_stat stat;
	struct odb *odb;
	int err = db_folder_table(c->folder, member, &odb);

	if (err)
		return err;
	c->is_torn = odb_is_torn(odb);
	odb_stat(odb, &stat);
	memcpy(&header, odb_user(odb), sizeof(header));
	/* One that was made and never counted in has no header yet. */
	if (stat.nr_keys)
		err = op_sample_header_check(&header, member->path, NULL);
	if (!err && is_flat && stat.nr_keys)
		c->stored += op_sample_header_samples(&header, stat.total);
	if (!err && is_flat && stat.nr_keys && !header.derived)
		err = pp_check_times_table(&c->times, member->name, odb);
	odb_close(odb);
	return err;
}

static int check_call_tree(struct checking *c, const struct db_member *member)
{
	struct op_sample_header header;
	struct ctree *tree;
	int err = db_folder_tree(c->folder, member, &tree);

	if (err)
		return err;
	c->is_torn = ctree_is_torn(tree);
	memcpy(&header, ctree_user(tree), sizeof(header));
	if (ctree_nr_nodes(tree))
		err = op_sample_header_check(&header, member->path, NULL);
	if (!err)
		err = pp_check_times_tree(&c->times, member->name, tree);
	ctree_close(tree);
	return err;
}

static const char *what_is_lost(const struct op_mangle *name)
{
	return name->is_tree ? "the stacks in it are lost, not their samples"
	       : name->cg.space != OP_SPACE_NONE
		       ? "the calls in it are lost, not their samples"
		       : "the samples in it are lost";
}

static int check_member(const struct db_member *member, void *ctx)
{
	struct checking *c = ctx;
	struct op_mangle name;
	char path[2 * PATH_MAX];
	int err;

	if (op_sample_file_is_set_aside(member->name)) {
		say_line(c, "%s: set aside by a daemon: it is not counted",
			 member->path);
		return 0;
	}
	snprintf(path, sizeof(path), "%s%s%s", member->path,
		 member->entry ? ": " : "", member->entry ? member->name : "");
	c->check->nr_files++;
	c->is_torn = false;
	if (op_mangle_parse(member->name, &name, c->scratch, OP_MANGLE_MAX,
			    NULL)) {
		say_damage(c, path, "it has no name of a sample file",
			   "its samples are left out");
		return 0;
	}
	err = name.is_tree
		      ? check_call_tree(c, member)
		      : check_table(c, member, name.cg.space == OP_SPACE_NONE);
	if (!err && c->is_torn)
		say_damage(
			c, path,
			"pages are missing, probably after a power failure",
			"samples since the last opcontrol --dump may be missing");
	if (!err)
		return 0;
	say_damage(c, path, pp_why_not_opened(err), what_is_lost(&name));
	c->nr_bad_entries += member->entry != NULL;
	return 0;
}

static int say_unlisted(const char *path, int err, void *ctx)
{
	struct checking *c = ctx;

	say_damage(c, path, strerror(-err), "its samples are left out");
	return 0;
}

/* ---- packs --------------------------------------------------------------- */

/* Say how much of a damaged pack can be read. */
static void say_recovered_pack(struct checking *c, const char *path)
{
	uint64_t nr = pack_nr_missing(db_folder_pack(c->folder));
	size_t nr_found = pack_nr(db_folder_pack(c->folder));
	char lost[80];

	if (!nr)
		snprintf(lost, sizeof(lost), "nothing is lost");
	else if (nr == UINT64_MAX)
		snprintf(lost, sizeof(lost),
			 "its end is lost; %zu sample file%s found in it",
			 nr_found, op_plural(nr_found));
	else
		snprintf(lost, sizeof(lost),
			 "%" PRIu64 " sample file%s in it lost", nr,
			 op_plural(nr));
	say_damage(c, path, "its header or index is damaged", lost);
}

/* The groups of @indexed, the pack at @path, whose index is sound. */
static bool has_bad_groups(const struct pack *indexed, const char *path)
{
	struct pack *pack = NULL;
	bool is_bad;
	int err;

	if (!pack_has_groups(indexed))
		return false;
	err = pack_recover(&pack, path);
	is_bad = err ? err == -EBADMSG : pack_nr_missing(pack) != 0;
	pack_close(pack);
	return is_bad;
}

static void repair_pack(struct checking *c, const char *path, const char *dir)
{
	int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = lock < 0 ? -errno : op_lock(lock, READERS_WAIT, &op_clock);
	char bad[PATH_MAX + 8];
	uint64_t nr_lost = 0;
	bool is_kept;

	snprintf(bad, sizeof(bad), "%s.bad", path);
	is_kept = !err && !link(path, bad);
	if (!err)
		err = pack_rebuild(path, &nr_lost);
	if (is_kept && (err || !nr_lost))
		unlink(bad);
	if (lock >= 0)
		close(lock);
	if (err)
		say_line(c, "%s: cannot be repaired: %s", path, strerror(-err));
	else
		say_repaired(
			c, path,
			nr_lost ? "rebuilt from what can be read; the damaged one is kept as packed.bad"
				: "rebuilt; nothing is lost");
}

/* All of the folder's members. Sets *@repair if its pack should be rebuilt. */
static int check_members(struct checking *c, bool *repair)
{
	const struct db_visitor visitor = { .member = check_member,
					    .unlisted = say_unlisted,
					    .ctx = c };
	const char *path = db_folder_pack_path(c->folder);
	int err = db_folder_pack_error(c->folder);

	if (err)
		say_damage(c, path, pp_why_not_opened(err),
			   "all that it holds is lost");
	*repair = db_folder_pack_is_recovered(c->folder);
	if (*repair) {
		say_recovered_pack(c, path);
	} else if (db_folder_pack(c->folder) &&
		   has_bad_groups(db_folder_pack(c->folder), path)) {
		say_damage(c, path,
			   "the data to rebuild its index from is damaged",
			   "nothing is lost");
		*repair = true;
	}
	err = db_folder_each(c->folder, &visitor);
	*repair |= c->nr_bad_entries != 0;
	return err;
}

/* ---- the account --------------------------------------------------------- */

static void check_ledger(struct checking *c, const char *dir)
{
	struct op_ledger ledger;
	struct op_diag why = { "" };
	char path[PATH_MAX + 16];
	char text[160];
	int err;

	snprintf(path, sizeof(path), "%s/ledger", dir);
	err = op_ledger_read(&ledger, path, &why);
	if (err == -ENOENT)
		return;
	c->check->nr_files++;
	if (err) {
		say_damage(c, path, what_is_wrong(err),
			   "the number of samples lost before is unknown");
		return;
	}
	/* Who runs has counted more by now. Who was killed may have, too: the
	 * next daemon sees that. */
	if (c->is_running || ledger.stored <= c->stored + c->beside)
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64 " of the %" PRIu64
		 " sample%s in it are in no file that can be read",
		 ledger.stored - c->stored - c->beside, ledger.stored,
		 op_plural(ledger.stored));
	say_damage(c, path, text, "they are missing");
}

/* ---- the time line ------------------------------------------------------- */

static void say_bad_timeline(struct checking *c, const char *dir,
			     const char *what)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/" TIMELINE_FILE, dir);
	say_damage(c, path, what,
		   "reports of a part of the time may be wrong, sums are not");
}

static int check_timeline(struct checking *c, const char *dir)
{
	const struct timeline_head *head = &c->times.timeline.head;
	int err = pp_check_times_compare(&c->times);
	char text[120];

	if (err || !c->times.is_open)
		return err;
	c->check->nr_files++;
	/* A daemon at work writes on, and one that was killed has told. */
	if (c->times.timeline.is_cut && !head->is_open && !head->is_dirty)
		say_bad_timeline(c, dir, "its end is damaged");
	if (c->times.more) {
		snprintf(text, sizeof(text),
			 "slices have %" PRIu64 " more than sample files",
			 c->times.more);
		say_bad_timeline(c, dir, text);
	}
	if (c->times.less && !head->is_open && !head->is_dirty) {
		snprintf(text, sizeof(text),
			 "slices have %" PRIu64 " less than sample files",
			 c->times.less);
		say_bad_timeline(c, dir, text);
	}
	return 0;
}

/* ---- a folder of samples/ -------------------------------------------------
 */

static int check_session_folder(struct checking *c, const char *dir)
{
	bool repair = false;
	char *path = NULL;
	int err = db_folder_open(&c->folder, dir), bad;

	if (err)
		return err;
	c->stored = c->nr_bad_entries = 0;
	bad = pp_check_times_open(&c->times, dir);
	if (bad)
		say_bad_timeline(c, dir, what_is_wrong(bad));
	err = check_members(c, &repair);
	if (!err)
		err = check_timeline(c, dir);
	pp_check_times_close(&c->times);
	path = strdup(db_folder_pack_path(c->folder));
	db_folder_close(c->folder);
	if (!err)
		check_ledger(c, dir);
	c->check->nr_samples += c->stored;
	if (!err && repair && c->check->repair && path)
		repair_pack(c, path, dir);
	free(path);
	return err;
}

/* ---- its history -----------------------------------------------------------
 */

/* A folder with nothing but an account. */
static void check_dropped(struct checking *c, const char *path)
{
	struct op_ledger *ledger = malloc(sizeof(*ledger));
	char file[PATH_MAX + 16];
	int err;

	snprintf(file, sizeof(file), "%s/ledger", path);
	err = ledger ? op_ledger_read(ledger, file, NULL) : -ENOMEM;
	if (err)
		say_damage(c, file, what_is_wrong(err),
			   "how many samples were dropped before is unknown");
	c->check->nr_files++;
	free(ledger);
}

/* A span that was closed in part has no ledger: that of the session tells of
 * its samples. */
static int check_span(struct checking *c, const char *dir,
		      const struct op_span *span, uint64_t *beside)
{
	char name[OP_SPAN_NAME_MAX], path[PATH_MAX], ledger[PATH_MAX + 16];
	int err, len;

	op_span_name(span, name);
	len = snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENAMETOOLONG;
	if (span->state == OP_SPAN_DROPPED) {
		check_dropped(c, path);
		return 0;
	}
	c->beside = 0;
	err = check_session_folder(c, path);
	snprintf(ledger, sizeof(ledger), "%s/ledger", path);
	if (!err && access(ledger, F_OK))
		*beside += c->stored;
	return err;
}

/* The lock of the session's folder keeps its spans as they are. */
static int check_spans(struct checking *c, const char *dir)
{
	struct db_folder *lock = NULL;
	struct op_span *spans = NULL;
	uint64_t beside = 0;
	size_t nr = 0;
	int err = db_folder_open(&lock, dir) ?: op_spans_list(dir, &spans, &nr);

	for (size_t i = 0; i < nr && !err; i++)
		if (op_span_counts(&spans[i]) ||
		    (spans[i].state == OP_SPAN_DROPPED &&
		     !spans[i].is_replaced))
			err = check_span(c, dir, &spans[i], &beside);
	free(spans);
	db_folder_close(lock);
	c->beside = beside;
	return err;
}

static int check_entry_of_samples(const struct op_walk_entry *entry, void *ctx)
{
	struct checking *c = ctx;

	if (entry->kind == OP_WALK_UNREAD && !entry->depth)
		return entry->err;
	if ((entry->kind == OP_WALK_FILE || entry->kind == OP_WALK_OTHER) &&
	    !entry->depth)
		return -ENOTDIR;
	if (is_unread(c, entry) || entry->kind != OP_WALK_FOLDER ||
	    !entry->depth)
		return 0;
	if (entry->name[0] == '.')
		return OP_WALK_SKIP;
	return check_spans(c, entry->path)
		       ?: check_session_folder(c, entry->path)
		       ?: OP_WALK_SKIP;
}

/* ---- unfinished files ------------------------------------------------------
 */

/* Folders that cannot be looked at are told when what is in them is checked. */
static int check_unfinished(const struct op_walk_entry *entry, void *ctx)
{
	struct checking *c = ctx;

	if (entry->kind != OP_WALK_FILE ||
	    !op_session_is_unfinished(entry->name))
		return 0;
	say_damage(c, entry->path, "it is unfinished, as its daemon was killed",
		   "nothing is lost");
	if (!c->check->repair)
		return 0;
	if (unlink(entry->path))
		say_line(c, "%s: cannot be removed: %s", entry->path,
			 strerror(errno));
	else
		say_repaired(c, entry->path, "removed");
	return 0;
}

/* ---- symbols ------------------------------------------------------------- */

static int check_kernel_symbols(const struct op_walk_entry *entry, void *ctx)
{
	struct checking *c = ctx;
	struct op_diag why = { "" };
	struct op_ksyms ksyms;
	int err;

	if (is_unread(c, entry) || entry->kind != OP_WALK_FILE ||
	    entry->name[0] == '.')
		return 0;
	c->check->nr_files++;
	err = op_ksyms_read(&ksyms, entry->path, &why);
	if (err)
		say_damage(c, entry->path, what_is_wrong(err),
			   "that kernel's samples have no names");
	else
		op_ksyms_release(&ksyms);
	return 0;
}

/* The build-id that is the end of a path of the store, XX/REST.inlines, where
 * REST may end in the fingerprint. Returns its bytes, 0 for another name. */
static size_t build_id_of_answers(const struct op_walk_entry *entry,
				  uint8_t id[OP_BUILD_ID_MAX])
{
	const char *hex = entry->name - 3;
	const char *end = strstr(entry->name, PP_INLINES_SUFFIX);
	size_t len = 0;

	if (entry->depth < 2 || !end || end[sizeof(PP_INLINES_SUFFIX) - 1])
		return 0;
	if (end - hex > OP_FINGERPRINT_TEXT_LEN &&
	    end[-OP_FINGERPRINT_TEXT_LEN] == '-')
		end -= OP_FINGERPRINT_TEXT_LEN;
	while (hex < end && len < OP_BUILD_ID_MAX) {
		int high = op_hex_digit(hex[0]), low = op_hex_digit(hex[1]);

		if (high < 0 || low < 0)
			return 0;
		id[len++] = (uint8_t)(high << 4 | low);
		hex += hex[2] == '/' ? 3 : 2;
	}
	return hex == end ? len : 0;
}

static void check_answers(struct checking *c, const char *path,
			  const uint8_t *id, size_t id_len)
{
	struct pp_inline_answers answers;
	int err = pp_inline_answers_read(&answers, path, id, id_len);

	if (!err)
		pp_inline_answers_release(&answers);
	else if (err != -ESTALE)
		say_damage(c, path, what_is_wrong(err),
			   "reports read again what was inlined");
}

/* The fingerprint at the end of the name of a file of the store or of images/.
 * 0: the name has none. */
static uint64_t fingerprint_in_name(const char *name)
{
	const char *end = name + strlen(name);
	char build[OP_BUILD_TEXT_MAX];

	if (end - name < OP_FINGERPRINT_TEXT_LEN + 2)
		return 0;
	/* What is before it may be a part of the build-id. */
	snprintf(build, sizeof(build), "00%s", end - OP_FINGERPRINT_TEXT_LEN);
	return op_build_text_ok(build) ? strtoull(build + 3, NULL, 16) : 0;
}

/* Files of the store are called by their build-id; so are those of images/,
 * behind a name. */
static int check_stored(const struct op_walk_entry *entry, void *ctx)
{
	static const struct op_debug_places nowhere;
	struct checking *c = ctx;
	uint8_t id[OP_BUILD_ID_MAX];
	uint64_t is = 0, said = fingerprint_in_name(entry->name);
	struct op_bfd *bfd;
	size_t id_len;
	int err;

	if (is_unread(c, entry) || entry->kind != OP_WALK_FILE ||
	    entry->name[0] == '.')
		return 0;
	c->check->nr_files++;
	id_len = build_id_of_answers(entry, id);
	if (id_len > 0) {
		check_answers(c, entry->path, id, id_len);
		return 0;
	}
	err = op_bfd_open(&bfd, entry->path, &nowhere);
	if (!err) {
		is = op_bfd_fingerprint(bfd);
		err = op_bfd_fault(bfd, NULL);
		op_bfd_close(bfd);
	}
	if (!err && is && said && is != said)
		say_damage(c, entry->path,
			   "it is other code than its name says",
			   "samples of that file have no names from here");
	if (err)
		say_damage(c, entry->path, what_is_wrong(err),
			   "samples of that file have no names from here");
	return 0;
}

/* ---- all of it ----------------------------------------------------------- */

/* A user who may not open the lock cannot repair the session either. */
static int take_daemon_lock(struct checking *c, struct op_diag *diag)
{
	const char *path = c->session->lock;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return fd;
	if (!flock(fd, (c->check->repair ? LOCK_EX : LOCK_SH) | LOCK_NB)) {
		if (c->check->repair)
			return fd;
		close(fd);
		return -1;
	}
	c->is_running = errno == EWOULDBLOCK;
	close(fd);
	if (c->check->repair)
		op_diag_set(
			diag, -EBUSY,
			"%s: a daemon or another check uses this session; end the daemon with opcontrol --shutdown, then repair",
			c->session->dir);
	return -1;
}

static int walk_part(struct checking *c, const char *path,
		     int (*visit)(const struct op_walk_entry *, void *))
{
	return access(path, F_OK) && errno == ENOENT ? 0
						     : op_walk(path, visit, c);
}

int pp_check_session(struct pp_check *check, const struct op_session *session,
		     struct op_diag *diag)
{
	struct checking c = { .check = check, .session = session };
	int lock = take_daemon_lock(&c, diag);
	int err = 0;

	if (check->repair && c.is_running)
		return -EBUSY;
	c.scratch = malloc(OP_MANGLE_MAX);
	err = c.scratch ? op_walk(session->samples, check_entry_of_samples, &c)
			: -ENOMEM;
	if (!err && !c.is_running)
		err = walk_part(&c, session->samples, check_unfinished)
			      ?: walk_part(&c, session->symbols,
					   check_unfinished);
	if (!err)
		err = walk_part(&c, session->symbols, check_kernel_symbols)
			      ?: walk_part(&c, session->store, check_stored);
	free(c.scratch);
	if (lock >= 0)
		close(lock);
	return err ? op_diag_set(diag, err, "%s: %s", session->samples,
				 strerror(-err))
		   : 0;
}
