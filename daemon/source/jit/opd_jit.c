// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process gets an entry at its first sample in anonymous memory, or when it
 * maps a jitdump, which tells more than a map and is read instead of it. The
 * entry holds the folder /tmp of the process's own root open, since a map may
 * be written when the process is about to end and be gone from /proc when the
 * daemon hears of that.
 *
 * A jitdump has times: its records count for the samples from their time on. A
 * perf map has none: code that is in it was there when it was read. So a
 * map is read after the samples of a round have been looked for, and code that
 * takes the place of older code counts from the next round on, a tenth of a
 * second later at most. Before a sample is given up the map is read once more.
 *
 * Of a map only addresses and where its lines are stay in memory. The line is
 * read again when its code has the first sample; one that is another line by
 * now shows that the map was written anew, and it is read from its start.
 *
 * Addresses that no map tells are remembered. When the process ends, or the
 * session is saved, those that a map tells by now get their names in a file by
 * address, since their samples have been counted in anonymous memory.
 */

#include "daemon/source/jit/opd_jit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/source/jit/opd_jit_codes.h"
#include "daemon/source/jit/opd_jit_frames.h"
#include "libop/session/op_code_image.h"
#include "daemon/source/jit/opd_jitdump.h"
#include "daemon/source/perf/opd_perf_image.h"
#include "libop/base/op_array.h"
#include "libop/files/op_file.h"
#include "libop/base/op_log.h"
#include "libop/files/op_open.h"
#include "libop/image/op_perf_map.h"
#include "libop/base/op_search.h"
#include "libop/session/op_session_readers.h"

#define SECOND UINT64_C(1000000000)
#define SAVE_EVERY (10 * SECOND)

#define MAX_PROCESSES 128
#define MAX_CODES 1000000 /* of a process */
#define MAX_ALL_CODES 4000000
#define MAX_LOST 65536 /* addresses of a process */
#define MAX_READ (4u << 20) /* bytes of a map at a time */
#define MAX_READ_AT_END (16u << 20)
/* Records of dumps, and lines of maps, of all processes in a tenth of a second,
 * and in a second when processes end and what is known is saved. */
#define TENTH (SECOND / 10)
#define MOST_IN_TENTH 50000
#define MOST_AT_END 500000
#define LINE_BYTES 32 /* that a short line has */
#define STATUS_MAX 4096

struct opd_jit {
	struct opd_jit *next; /* with the same hash */
	uint32_t tgid;
	uid_t owner;
	char map_name[32]; /* "perf-PID.map", as the process has its number */
	int folder_fd; /* its /tmp; -1: not to be had */
	int map_fd; /* -1: none yet */
	ino_t map_ino;
	struct opd_untrusted_map map;
	bool is_used; /* in this round */
	uint64_t round; /* in which the map was read */
	uint64_t dump_round; /* and the dump, up to its end or next_time */
	uint64_t look_at; /* when to look for a map again, ns */
	struct opd_jitdump dump;
	uint64_t
		dump_until; /* ns; its parent's after a fork: the fork's time */
	struct opd_jit_codes codes;
	size_t nr_counted; /* of them, in the number of all */
	struct opd_jit_frames frames; /* of the dump's code */
	struct op_code_image *image; /* NULL: nothing is kept */
	uint64_t *lost; /* addresses without code */
	size_t nr_lost;
	struct op_hash lost_index; /* from 1 */
};

/* ---- processes --------------------------------------------------------------
 */

void opd_jits_init(struct opd_jits *jits, struct opd_perf_images *images)
{
	memset(jits, 0, sizeof(*jits));
	jits->proc = "/proc";
	jits->images = images;
	opd_untrusted_init(&jits->untrusted);
	jits->left = MOST_IN_TENTH;
	jits->left_at_end = MOST_AT_END;
}

/* The number of the process in its own namespace, which names its files. */
static uint64_t own_number_of(const struct opd_jits *jits, uint32_t tgid)
{
	char path[PATH_MAX], text[STATUS_MAX];
	unsigned long long number = tgid;
	const char *line;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/%" PRIu32 "/status", jits->proc, tgid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return tgid;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	line = strstr(text, "\nNSpid:");
	if (!line)
		return tgid;
	/* From the outermost namespace to its own. */
	for (const char *at = line + 7; *at == '\t' || *at == ' ';) {
		char *end;
		unsigned long long next = strtoull(at, &end, 10);

		if (end == at)
			break;
		number = next;
		at = end;
	}
	return number;
}

static void open_own_folder(const struct opd_jits *jits, struct opd_jit *jit)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%" PRIu32, jits->proc, jit->tgid);
	if (stat(path, &st))
		return;
	jit->owner = st.st_uid;
	snprintf(path, sizeof(path), "%s/%" PRIu32 "/root/tmp", jits->proc,
		 jit->tgid);
	jit->folder_fd =
		open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	snprintf(jit->map_name, sizeof(jit->map_name), "perf-%" PRIu64 ".map",
		 own_number_of(jits, jit->tgid));
}

static struct opd_jit **jit_slot(struct opd_jits *jits, uint32_t tgid)
{
	struct opd_jit **slot = &jits->bucket[tgid % OPD_JIT_BUCKETS];

	while (*slot && (*slot)->tgid != tgid)
		slot = &(*slot)->next;
	return slot;
}

static void say_crowded(struct opd_jits *jits)
{
	if (!jits->is_crowded && jits->log)
		op_log(jits->log,
		       "%d processes have code in anonymous memory; samples in that of further ones have no name",
		       MAX_PROCESSES);
	jits->is_crowded = true;
}

static struct opd_jit *jit_new(struct opd_jits *jits, uint32_t tgid)
{
	struct opd_jit **slot = jit_slot(jits, tgid);
	struct opd_jit *jit;

	if (jits->nr == MAX_PROCESSES) {
		say_crowded(jits);
		return NULL;
	}
	jit = calloc(1, sizeof(*jit));
	if (!jit)
		return NULL;
	jit->tgid = tgid;
	jit->folder_fd = jit->map_fd = jit->dump.fd = -1;
	jit->dump_until = UINT64_MAX;
	open_own_folder(jits, jit);
	*slot = jit;
	jits->nr++;
	return jit;
}

static size_t count_codes(const struct opd_jit *jit)
{
	return jit->codes.nr + jit->codes.nr_more;
}

/* How many codes @jit may have. */
static size_t most_codes(const struct opd_jits *jits, const struct opd_jit *jit)
{
	size_t most = MAX_ALL_CODES - (jits->nr_codes - jit->nr_counted);

	return most < MAX_CODES ? most : MAX_CODES;
}

/* Codes of @jit have come, or were dropped for newer ones. */
static void count_again(struct opd_jits *jits, struct opd_jit *jit)
{
	jits->nr_codes += count_codes(jit) - jit->nr_counted;
	jit->nr_counted = count_codes(jit);
}

/* So much was read that counts as @nr records. */
static void use_up(struct opd_jits *jits, size_t nr)
{
	jits->left -= nr < jits->left ? nr : jits->left;
}

static void close_map(struct opd_jits *jits, struct opd_jit *jit)
{
	if (jit->map_fd >= 0)
		close(jit->map_fd);
	jit->map_fd = -1;
	jit->map = (struct opd_untrusted_map){ 0 };
	opd_jit_codes_release(&jit->codes);
	count_again(jits, jit);
}

static void jit_drop(struct opd_jits *jits, struct opd_jit **slot)
{
	struct opd_jit *jit = *slot;

	*slot = jit->next;
	jits->nr--;
	close_map(jits, jit);
	opd_jitdump_close(&jit->dump);
	opd_jit_frames_release(&jit->frames);
	if (jit->folder_fd >= 0)
		close(jit->folder_fd);
	if (jit->image)
		op_code_image_release(jit->image);
	free(jit->image);
	free(jit->lost);
	op_hash_release(&jit->lost_index);
	free(jit);
}

void opd_jits_release(struct opd_jits *jits)
{
	for (unsigned int i = 0; i < OPD_JIT_BUCKETS; i++)
		while (jits->bucket[i])
			jit_drop(jits, &jits->bucket[i]);
	opd_untrusted_release(&jits->untrusted);
}

/* The sources of @from for its child @jit, which reads them for itself. */
static void inherit_sources(struct opd_jit *jit, const struct opd_jit *from,
			    uint64_t now)
{
	jit->owner = from->owner;
	/* The child may be gone from /proc already. */
	if (jit->folder_fd < 0)
		jit->folder_fd = fcntl(from->folder_fd, F_DUPFD_CLOEXEC, 0);
	if (from->dump.fd < 0) {
		jit->map_fd = fcntl(from->map_fd, F_DUPFD_CLOEXEC, 0);
		jit->map_ino = from->map_ino;
		return;
	}
	if (!opd_jitdump_open(&jit->dump, from->dump.untrusted,
			      fcntl(from->dump.fd, F_DUPFD_CLOEXEC, 0)))
		jit->dump_until =
			now < from->dump_until ? now : from->dump_until;
}

void opd_jits_fork(struct opd_jits *jits, uint32_t parent, uint32_t child,
		   uint64_t now)
{
	const struct opd_jit *from = *jit_slot(jits, parent);
	struct opd_jit *jit;

	opd_jits_exit(jits, child); /* of an earlier process */
	if (!from || (from->map_fd < 0 && from->dump.fd < 0))
		return;
	jit = jit_new(jits, child);
	if (jit)
		inherit_sources(jit, from, now);
}

/* ---- the map ----------------------------------------------------------------
 */

/*
 * Only a regular file of the process's own owner: whoever else could put a file
 * there must not have the daemon read what its owner keeps to himself, or wait
 * for what never comes. A link to a file has more than one name.
 */
static bool may_read(const struct opd_jit *jit, const struct stat *st)
{
	return st->st_uid == jit->owner && st->st_nlink == 1;
}

/* A descriptor, or -1; *@ino is the file's. */
static int open_own_file(const struct opd_jit *jit, int folder,
			 const char *name, ino_t *ino)
{
	int at = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int fd = -1;

	if (at < 0)
		return -1;
	if (!fstat(at, &st) && may_read(jit, &st))
		fd = op_reopen_regular(at);
	*ino = st.st_ino;
	close(at);
	return fd;
}

/* A map that was written anew is another file, or shorter than it was. */
static bool is_map_current(const struct opd_jit *jit)
{
	struct stat by_name, st;

	if (fstat(jit->map_fd, &st) || (uint64_t)st.st_size < jit->map.at)
		return false;
	/* A map that was removed has said all that it will. */
	return fstatat(jit->folder_fd, jit->map_name, &by_name,
		       AT_SYMLINK_NOFOLLOW) ||
	       by_name.st_ino == jit->map_ino;
}

static void say_full(struct opd_jits *jits, const struct opd_jit *jit)
{
	if (!jits->is_full && jits->log)
		op_log(jits->log,
		       "%s of process %" PRIu32
		       ": too many functions to keep in memory; samples in further ones have no name",
		       jit->map_name, jit->tgid);
	jits->is_full = true;
}

/* The code that lines of the map tell, in @room. */
static void add_map_codes(struct opd_jits *jits, struct opd_jit *jit,
			  const struct opd_jit_code *room, uint64_t nr)
{
	int err = 0;

	if (nr > OPD_UNTRUSTED_ROOM / sizeof(room[0]))
		return;
	for (uint64_t i = 0; i < nr && !err; i++) {
		/* A copy: the room may change. */
		struct opd_jit_code code = room[i];

		if (opd_jit_code_is_sound(&code))
			err = opd_jit_codes_add(&jit->codes, &code,
						most_codes(jits, jit));
	}
	if (err == -ENOSPC)
		say_full(jits, jit);
}

static void read_map(struct opd_jits *jits, struct opd_jit *jit, size_t most)
{
	struct opd_untrusted_call call = { .what = OPD_UNTRUSTED_MAP,
					   .map = jit->map };
	const void *room = NULL;
	size_t left = jits->left * LINE_BYTES;

	call.most = most < left ? most : left;
	if (!call.most || count_codes(jit) >= most_codes(jits, jit))
		return;
	if (!opd_untrusted_do(&jits->untrusted, jit->map_fd, &call, &room)) {
		jit->map = call.map;
		add_map_codes(jits, jit, room, call.nr);
		if (call.map.taken)
			use_up(jits, call.map.taken / LINE_BYTES + 1);
	}
	opd_untrusted_done(&jits->untrusted, room);
}

/* ---- the jitdump ------------------------------------------------------------
 */

void opd_jits_see_mapping(struct opd_jits *jits, uint32_t tgid,
			  const char *name, uint64_t ino)
{
	char path[PATH_MAX];
	struct opd_jit *jit;
	ino_t found;
	int fd;

	if (!jits->folder || !opd_jitdump_is_name(name))
		return;
	jit = *jit_slot(jits, tgid) ?: jit_new(jits, tgid);
	if (!jit || jit->folder_fd < 0 ||
	    (jit->dump.fd >= 0 && jit->dump_until == UINT64_MAX) ||
	    snprintf(path, sizeof(path), "%s/%" PRIu32 "/root%s", jits->proc,
		     tgid, name) >= (int)sizeof(path))
		return;
	fd = open_own_file(jit, AT_FDCWD, path, &found);
	if (fd >= 0 && found != ino) {
		close(fd);
		return;
	}
	if (fd < 0)
		return;
	/* Code that a parent's dump describes is found no more. */
	opd_jitdump_close(&jit->dump);
	opd_jit_frames_release(&jit->frames);
	jit->dump_until = UINT64_MAX;
	if (!opd_jitdump_open(&jit->dump, &jits->untrusted, fd))
		close_map(jits, jit);
}

/* Take the records of the dump up to @now, in the time of samples. */
static void run_dump(struct opd_jits *jits, struct opd_jit *jit, uint64_t now)
{
	size_t max = most_codes(jits, jit);
	uint64_t until = now < jit->dump_until ? now : jit->dump_until;

	if (until != UINT64_MAX)
		until -= (uint64_t)jits->ahead;
	if (jit->dump_round == jits->round && until < jit->dump.state.next_time)
		return;
	if (!jits->left)
		return;
	jit->dump_round = jits->round;
	jit->dump.most = jits->left < OPD_JITDUMP_AT_ONCE ? jits->left
							  : OPD_JITDUMP_AT_ONCE;
	if (opd_jitdump_run(&jit->dump, &jit->codes, until, max) == -ENOSPC)
		say_full(jits, jit);
	use_up(jits, jit->dump.state.nr_taken);
	count_again(jits, jit);
}

/* ---- both -------------------------------------------------------------------
 */

/* Read what is new, at most @most bytes. */
static void refresh_map(struct opd_jits *jits, struct opd_jit *jit, size_t most)
{
	jit->round = jits->round;
	if (jit->folder_fd < 0 || jit->dump.fd >= 0)
		return;
	if (jit->map_fd >= 0 && !is_map_current(jit))
		close_map(jits, jit);
	if (jit->map_fd < 0)
		jit->map_fd = open_own_file(jit, jit->folder_fd, jit->map_name,
					    &jit->map_ino);
	if (jit->map_fd < 0)
		return;
	read_map(jits, jit, most);
	count_again(jits, jit);
}

/* All that there is by now, whatever its time. */
static void refresh_all(struct opd_jits *jits, struct opd_jit *jit, size_t most)
{
	size_t left = jits->left;

	jits->left = jits->left_at_end;
	if (jit->dump.fd >= 0) {
		jit->dump.state.next_time = 0;
		run_dump(jits, jit, UINT64_MAX);
	}
	refresh_map(jits, jit, most);
	jits->left_at_end = jits->left;
	jits->left = left;
}

/* ---- keeping ----------------------------------------------------------------
 */

/* -ESTALE if the map has something else there by now. */
static int read_name_in_map(struct opd_jits *jits, const struct opd_jit *jit,
			    const struct opd_jit_code *code, char *name)
{
	struct opd_untrusted_call call = { .what = OPD_UNTRUSTED_MAP_NAME,
					   .code = *code };
	const void *room = NULL;
	int err = opd_untrusted_do(&jits->untrusted, jit->map_fd, &call, &room);

	if (!err)
		op_perf_map_copy_name(name, OP_CODE_NAME_MAX, room,
				      strnlen(room, OP_CODE_NAME_MAX - 1));
	opd_untrusted_done(&jits->untrusted, room);
	return err;
}

/* Read what is known of @code; to be freed with opd_jitdump_free_function(). */
static int read_function(struct opd_jits *jits, const struct opd_jit *jit,
			 const struct opd_jit_code *code,
			 struct op_code_function *function)
{
	if (jit->dump.fd >= 0)
		return opd_jitdump_read(&jit->dump, code, function);
	memset(function, 0, sizeof(*function));
	function->size = code->size;
	return read_name_in_map(jits, jit, code, function->room);
}

static int make_jit_image(struct opd_jits *jits, struct opd_jit *jit)
{
	struct opd_perf_image_id id = { .pid = jit->tgid, .is_made = true };
	struct op_code_image *image = calloc(1, sizeof(*image));
	int err = image ? op_code_image_init_jit(image, jits->folder, jit->tgid)
			: -ENOMEM;

	if (!err) {
		id.name = image->name;
		id.build_id = image->build_id;
		image->cookie = opd_perf_image_cookie(jits->images, &id);
		err = image->cookie == OP_NO_COOKIE ? -ENOMEM : 0;
	}
	if (!err && jit->dump.state.machine)
		image->machine = jit->dump.state.machine;
	if (!err) {
		jit->image = image;
		return 0;
	}
	if (image)
		op_code_image_release(image);
	free(image);
	return err;
}

/* Give @code its place in the image. */
static int keep_code(struct opd_jits *jits, struct opd_jit *jit,
		     struct opd_jit_code *code)
{
	struct op_code_function function;
	int err = read_function(jits, jit, code, &function);

	if (!err && !jit->image)
		err = make_jit_image(jits, jit);
	if (!err)
		err = op_code_image_keep(jit->image, &function, &code->number);
	opd_jitdump_free_function(&function);
	/* A map that was written anew: the next look reads all of it. */
	if (err == -ESTALE && jit->dump.fd < 0)
		close_map(jits, jit);
	return err;
}

static void add_lost_code(struct opd_jit *jit, uint64_t addr)
{
	uint64_t hash;
	uint32_t number;

	if (jit->nr_lost == MAX_LOST || jit->folder_fd < 0 ||
	    op_array_reserve(&jit->lost, jit->nr_lost, 1) ||
	    op_hash_reserve(&jit->lost_index, jit->nr_lost + 1))
		return;
	hash = op_hash_mix(jit->lost_index.seed, addr);
	op_hash_each(&jit->lost_index, hash, number)
		if (jit->lost[number - 1] == addr)
			return;
	jit->lost[jit->nr_lost++] = addr;
	op_hash_add(&jit->lost_index, hash, (uint32_t)jit->nr_lost);
}

/* A process without a map is looked at once a second. */
static struct opd_jit_code *look_again(struct opd_jits *jits,
				       struct opd_jit *jit, uint64_t addr,
				       uint64_t now)
{
	if (jit->dump.fd >= 0 || (jit->map_fd < 0 && now < jit->look_at))
		return NULL;
	if (jit->round == jits->round && jit->look_at)
		return NULL;
	jit->look_at = now + SECOND;
	refresh_map(jits, jit, MAX_READ);
	return opd_jit_codes_find(&jit->codes, addr);
}

bool opd_jits_find(struct opd_jits *jits, uint32_t tgid, uint64_t addr,
		   uint64_t now, uint64_t *cookie, uint64_t *key)
{
	struct opd_jit_code *code;
	struct opd_jit *jit;

	if (!jits->folder)
		return false;
	jit = *jit_slot(jits, tgid) ?: jit_new(jits, tgid);
	if (!jit)
		return false;
	jit->is_used = true;
	if (jit->dump.fd >= 0)
		run_dump(jits, jit, now);
	code = opd_jit_codes_find(&jit->codes, addr)
		       ?: look_again(jits, jit, addr, now);
	if (!code ||
	    (code->where == OPD_JIT_GONE && !(jits->is_late && code->number)) ||
	    (!code->number && keep_code(jits, jit, code))) {
		add_lost_code(jit, addr);
		return false;
	}
	*cookie = jit->image->cookie;
	*key = jit->image->kept[code->number - 1].key + (addr - code->start);
	return true;
}

const struct cfi_table *opd_jits_find_frames(struct opd_jits *jits,
					     uint32_t tgid, uint64_t addr,
					     uint64_t now, uint64_t *start)
{
	struct opd_jit *jit = *jit_slot(jits, tgid);
	const struct opd_jit_code *code;

	if (!jit || jit->dump.fd < 0)
		return NULL;
	run_dump(jits, jit, now);
	code = opd_jit_codes_find(&jit->codes, addr);
	if (!code || code->where == OPD_JIT_GONE)
		return NULL;
	*start = code->start;
	return opd_jit_frames_find(&jit->frames, &jit->dump, code);
}

/* ---- saving -----------------------------------------------------------------
 */

/* Write the names of addresses that were lost and are known by now. */
static void write_late_names(struct opd_jits *jits, struct opd_jit *jit,
			     FILE *file)
{
	struct op_code_function function;
	uint64_t last = UINT64_MAX;
	size_t kept = 0;

	for (size_t i = 0; i < jit->nr_lost; i++) {
		const struct opd_jit_code *code =
			opd_jit_codes_find(&jit->codes, jit->lost[i]);

		if (!code || code->where == OPD_JIT_GONE) {
			jit->lost[kept++] = jit->lost[i];
			continue;
		}
		if (code->start == last)
			continue;
		last = code->start;
		if (!read_function(jits, jit, code, &function))
			fprintf(file, "%" PRIx64 " %" PRIx32 " %s\n",
				code->start, code->size,
				op_code_function_name(&function));
		opd_jitdump_free_function(&function);
	}
	jit->nr_lost = kept;
}

/* After @lost was sorted and shortened. */
static void index_lost_anew(struct opd_jit *jit)
{
	op_hash_release(&jit->lost_index);
	if (op_hash_reserve(&jit->lost_index, jit->nr_lost))
		jit->nr_lost = 0;
	for (size_t i = 0; i < jit->nr_lost; i++)
		op_hash_add(&jit->lost_index,
			    op_hash_mix(jit->lost_index.seed, jit->lost[i]),
			    (uint32_t)i + 1);
}

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return op_compare(*x, *y);
}

static int save_late_names(struct opd_jits *jits, struct opd_jit *jit)
{
	char path[PATH_MAX];
	FILE *file;
	int err;

	if (!jit->nr_lost || (jit->map_fd < 0 && jit->dump.fd < 0))
		return 0;
	if (op_perf_map_path(path, sizeof(path), jits->folder, jit->tgid))
		return -ENAMETOOLONG;
	err = op_session_make_folder(jits->folder);
	if (err)
		return err;
	file = fopen(path, "ae");
	if (!file)
		return -errno;
	/* Neighbours are in the same code. */
	qsort(jit->lost, jit->nr_lost, sizeof(*jit->lost), compare_addresses);
	write_late_names(jits, jit, file);
	index_lost_anew(jit);
	err = ferror(file) ? -EIO : 0;
	return fclose(file) ? -EIO : err;
}

static void save_jit(struct opd_jits *jits, struct opd_jit *jit)
{
	struct op_diag diag = { "" };
	int err = save_late_names(jits, jit);

	if (!err && jit->image)
		err = op_code_image_save(jit->image, &diag);
	if (err && jits->log)
		op_log(jits->log,
		       "names of code that process %" PRIu32
		       " made at run time: %s",
		       jit->tgid, op_diag_text(&diag, err));
}

void opd_jits_exit(struct opd_jits *jits, uint32_t tgid)
{
	struct opd_jit **slot = jit_slot(jits, tgid);

	if (!*slot)
		return;
	if ((*slot)->nr_lost)
		refresh_all(jits, *slot, MAX_READ_AT_END);
	save_jit(jits, *slot);
	jit_drop(jits, slot);
}

/* Only what may be read: the owner's file, under its only name. */
static void remove_own_map(const struct opd_jit *jit)
{
	struct stat st;

	if (!fstatat(jit->folder_fd, jit->map_name, &st, AT_SYMLINK_NOFOLLOW) &&
	    S_ISREG(st.st_mode) && may_read(jit, &st))
		unlinkat(jit->folder_fd, jit->map_name, 0);
}

void opd_jits_remove_map(struct opd_jits *jits, uint32_t tgid)
{
	struct opd_jit *jit = *jit_slot(jits, tgid);
	struct opd_jit other = { .owner = geteuid(), .folder_fd = -1 };

	if (!jits->removes_maps)
		return;
	if (!jit) {
		other.folder_fd =
			open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
		snprintf(other.map_name, sizeof(other.map_name),
			 "perf-%" PRIu32 ".map", tgid);
		jit = &other;
	} else {
		refresh_map(jits, jit, 0); /* opens it */
	}
	if (jit->folder_fd >= 0)
		remove_own_map(jit);
	if (other.folder_fd >= 0)
		close(other.folder_fd);
}

static void allow_more(struct opd_jits *jits, uint64_t now)
{
	if (now >= jits->more_at) {
		jits->left = MOST_IN_TENTH;
		jits->more_at = now + TENTH;
	}
	if (now >= jits->more_at_end) {
		jits->left_at_end = MOST_AT_END;
		jits->more_at_end = now + SECOND;
	}
}

void opd_jits_end_round(struct opd_jits *jits, uint64_t now)
{
	bool save = now >= jits->save_at;

	if (!jits->nr)
		return;
	for (unsigned int i = 0; i < OPD_JIT_BUCKETS; i++)
		for (struct opd_jit *jit = jits->bucket[i]; jit;
		     jit = jit->next) {
			if (jit->is_used && jit->map_fd >= 0)
				refresh_map(jits, jit, MAX_READ);
			jit->is_used = false;
			if (save && jit->image)
				save_jit(jits, jit);
		}
	if (save)
		jits->save_at = now + SAVE_EVERY;
	jits->round++;
	allow_more(jits, now);
}

void opd_jits_save(struct opd_jits *jits)
{
	for (unsigned int i = 0; i < OPD_JIT_BUCKETS; i++)
		for (struct opd_jit *jit = jits->bucket[i]; jit;
		     jit = jit->next) {
			refresh_all(jits, jit, MAX_READ);
			save_jit(jits, jit);
		}
}
