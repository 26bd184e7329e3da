// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Imports a whole session folder of the original profiler, sessions, call
 * graphs and JIT code included. Each sample file is converted on its own, and
 * one that fails is said and counted, while the others go on. Samples in
 * anonymous memory that are in JIT code, which the original kept in .jo files,
 * become samples of that file; those beside it stay what they were.
 */

#include "pp/opimport/opimport_session.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libdb/db_folder.h"
#include "libop/base/op_array.h"
#include "libop/files/op_folder.h"
#include "libop/session/op_session.h"
#include "libop/files/op_walk.h"
#include "pp/opimport/opimport_file.h"
#include "pp/opimport/opimport_loss.h"

/* A session in the folder. */
struct imported {
	char name[NAME_MAX + 1];
	uint64_t stored; /* samples */
};

/* An import at work. */
struct import {
	const struct opimport_options *options;
	struct opimport_counts *counts;
	struct op_diag *diag;
	struct op_session session; /* the new one */
	struct op_classic_abi abi_buf;
	const struct op_classic_abi *abi; /* NULL: found out for each file */
	char scratch[OP_MANGLE_MAX];
	char name[OP_MANGLE_MAX]; /* of the file that is being written */
	struct imported *sessions;
	size_t nr_sessions;
};

static void note_failed_file(const struct import *import,
			     const struct op_diag *why, int err)
{
	import->counts->failed++;
	import->options->complain(*why->text ? why->text : strerror(-err));
}

static void remark_on_file(const struct import *import, const char *path,
			   const char *what)
{
	struct op_diag text = { "" };

	if (!import->options->remark)
		return;
	op_diag_set(&text, 0, "%s: %s", path, what);
	import->options->remark(text.text);
}

/* The samples of @m's file that are now in the session @name. */
static int count_stored(struct import *import, const char *name,
			const struct op_mangle *m, uint64_t samples)
{
	size_t nr = 0;

	if (m->cg.space != OP_SPACE_NONE)
		return 0;
	while (nr < import->nr_sessions &&
	       strcmp(import->sessions[nr].name, name) != 0)
		nr++;
	if (nr == import->nr_sessions) {
		if (op_array_reserve(&import->sessions, nr, 1))
			return -ENOMEM;
		import->sessions[nr] = (struct imported){ .stored = 0 };
		strcpy(import->sessions[nr].name, name);
		import->nr_sessions++;
	}
	import->sessions[nr].stored += samples;
	return 0;
}

/* Whether offsets in @image may have more than the 32 bits that call graphs of
 * the original keep. No file or kernel is as large. */
static bool has_far_offsets(const struct op_image_name *image)
{
	return image->space == OP_SPACE_ANON &&
	       image->end - image->start > (uint64_t)UINT32_MAX + 1;
}

/* ---- one file ------------------------------------------------------------ */

/* Where samples of import->name go in @to, of PATH_MAX bytes. */
static int path_of_samples(const struct import *import,
			   const char *session_name, char *to)
{
	char dir[PATH_MAX];
	int len = snprintf(dir, sizeof(dir), "%s/%s", import->session.samples,
			   session_name);

	if (len < 0 || (size_t)len >= sizeof(dir))
		return -ENAMETOOLONG;
	return db_folder_loose(dir, import->name, to, PATH_MAX);
}

/* The samples of @from that are in @m, as far as they are of @part. */
static int convert_part(struct import *import, const char *from,
			const char *session_name, const struct op_mangle *m,
			const struct opimport_part *part, struct op_diag *why)
{
	struct opimport_result result;
	char to[PATH_MAX];
	int err = op_mangle_build(m, import->name, sizeof(import->name));

	if (err >= 0)
		err = path_of_samples(import, session_name, to)
			      ?: op_make_parents(to, 0755);
	if (err)
		return op_diag_set(why, err, "%s: cannot be written: %s", from,
				   strerror(-err));
	err = opimport_file(from, to, m, import->abi, part, &result, why);
	if (!err && result.unknown_cpu_type)
		remark_on_file(import, from, "its CPU type is unknown");
	if (!err && m->cg.space != OP_SPACE_NONE &&
	    (has_far_offsets(&m->dep) || has_far_offsets(&m->cg)))
		import->counts->cut_calls += result.samples;
	return err ?: count_stored(import, session_name, m, result.samples);
}

/* Samples in anonymous memory: those in @jit's code become its own. */
static int convert_jit(struct import *import, const char *from,
		       const char *session_name, const struct op_mangle *m,
		       const struct opimport_jit *jit, struct op_diag *why)
{
	const struct opimport_part others = { jit, false };
	const struct opimport_part inside = { jit, true };
	struct op_mangle in_jit = *m;
	int err = convert_part(import, from, session_name, m, &others, why);

	in_jit.dep = (struct op_image_name){ .space = OP_SPACE_ROOT,
					     .name = jit->path };
	return err ? err
		   : convert_part(import, from, session_name, &in_jit, &inside,
				  why);
}

/* In arcs both ends are offsets in memory, and stay that; other samples in
 * anonymous memory may be in JIT code. */
static void import_session_file(struct import *import, const char *from,
				const char *session_name, const char *name)
{
	struct op_diag why = { "" };
	struct opimport_jit jit;
	struct op_mangle m;
	int err = op_classic_name_parse(name, &m, import->scratch,
					sizeof(import->scratch), &why);

	if (!err && m.dep.space == OP_SPACE_ANON &&
	    m.cg.space == OP_SPACE_NONE &&
	    !opimport_jit_open(&jit, from, &m.dep)) {
		err = convert_jit(import, from, session_name, &m, &jit, &why);
		opimport_jit_close(&jit);
	} else if (!err) {
		err = convert_part(import, from, session_name, &m, NULL, &why);
	}
	if (err) {
		note_failed_file(import, &why, err);
		return;
	}
	import->counts->files++;
	import->counts->call_graphs += m.cg.space != OP_SPACE_NONE;
	remark_on_file(import, from, "converted");
}

static void keep_jit(struct import *import, const char *path)
{
	struct op_diag why = { "" };
	int err = opimport_jit_keep(path, &import->session);

	if (!err) {
		remark_on_file(import, path, "JIT code, kept");
		return;
	}
	op_diag_set(
		&why, err, "%s: %s; the samples in it have no symbols", path,
		err == -ENOEXEC ? "is not a sound ELF file" : strerror(-err));
	note_failed_file(import, &why, err);
}

/* ---- folders ------------------------------------------------------------- */

/* @entry lies in folder samples/. Symbolic links are not followed: a session is
 * one tree. */
static int visit_session_entry(const struct op_walk_entry *entry, void *ctx)
{
	struct import *import = ctx;
	char session_name[NAME_MAX + 1];
	const char *slash = strchr(entry->below, '/');
	struct op_diag why = { "" };

	if (entry->depth == 1 && entry->kind == OP_WALK_FOLDER)
		import->counts->sessions++;
	if (entry->kind == OP_WALK_UNREAD && entry->depth) {
		op_diag_set(&why, entry->err, "%s: %s", entry->path,
			    strerror(-entry->err));
		note_failed_file(import, &why, entry->err);
	}
	if (entry->kind == OP_WALK_UNREAD && !entry->depth)
		return entry->err;
	/* Files that lie beside the sessions are logs. */
	if (entry->kind != OP_WALK_FILE || !slash ||
	    (size_t)(slash - entry->below) > NAME_MAX)
		return 0;
	snprintf(session_name, sizeof(session_name), "%.*s",
		 (int)(slash - entry->below), entry->below);
	/* A file whose name does not begin like an image has statistics of the
	 * daemon. */
	if (slash[1] != '{')
		return 0;
	if (opimport_ends_with(slash, ".jo"))
		keep_jit(import, entry->path);
	else
		import_session_file(import, entry->path, session_name,
				    slash + 1);
	return 0;
}

/* ---- the whole ----------------------------------------------------------- */

static int check_from(const char *samples, const char *from,
		      struct op_diag *diag)
{
	struct stat st;

	if (stat(samples, &st))
		return op_diag_set(
			diag, -errno,
			"%s: %s; name the folder that samples/ is in",
			errno == ENOENT ? from : samples,
			errno == ENOENT ? "contains no folder samples"
					: strerror(errno));
	if (S_ISDIR(st.st_mode))
		return 0;
	return op_diag_set(diag, -ENOTDIR, "%s: not a folder", samples);
}

/* The abi file that was named, or that of the session where it has one. */
static int read_abi(struct import *import)
{
	const struct opimport_options *options = import->options;
	char path[PATH_MAX];
	int err;

	if (snprintf(path, sizeof(path), "%s/abi", options->from) >=
	    (int)sizeof(path))
		return op_diag_set(import->diag, -ENAMETOOLONG, "%s: too long",
				   options->from);
	if (!options->abi && access(path, F_OK))
		return 0;
	err = op_classic_abi_read(&import->abi_buf,
				  options->abi ? options->abi : path,
				  import->diag);
	if (!err)
		import->abi = &import->abi_buf;
	return err;
}

/* Import the losses of each session, as far as they are known. */
static int import_losses(struct import *import, const char *samples)
{
	struct opimport_loss loss = {
		.from = samples,
		.to = import->session.samples,
		.complain = import->options->complain,
	};
	int err = 0;

	for (size_t i = 0; !err && i < import->nr_sessions; i++) {
		loss.name = import->sessions[i].name;
		loss.stored = import->sessions[i].stored;
		err = opimport_loss_write(&loss, import->diag);
	}
	return err;
}

static int import_folder(struct import *import)
{
	const char *from = import->options->from;
	char samples[PATH_MAX];
	int err;

	if (snprintf(samples, sizeof(samples), "%s/samples", from) >=
	    (int)sizeof(samples))
		return op_diag_set(import->diag, -ENAMETOOLONG, "%s: too long",
				   from);
	err = check_from(samples, from, import->diag)
		      ?: op_session_init(&import->session, import->options->to,
					 import->diag);
	if (err)
		return err;
	/* Samples that are there already would become one profile with ours. */
	if (!access(import->session.samples, F_OK))
		return op_diag_set(
			import->diag, -EEXIST,
			"%s: it already contains samples; name another folder with --output",
			import->session.samples);
	err = read_abi(import) ?: op_walk(samples, visit_session_entry, import)
			?: import_losses(import, samples);
	if (err)
		return op_diag_set(import->diag, err, "%s: %s", samples,
				   strerror(-err));
	if (import->counts->files || import->counts->failed)
		return 0;
	return op_diag_set(
		import->diag, -ENOENT,
		"%s: there are no sample files; name the folder that samples/ is in",
		samples);
}

int opimport_session(const struct opimport_options *options,
		     struct opimport_counts *counts, struct op_diag *diag)
{
	struct import *import = calloc(1, sizeof(*import));
	int err;

	memset(counts, 0, sizeof(*counts));
	if (!import)
		return op_out_of_memory(diag);
	import->options = options;
	import->counts = counts;
	import->diag = diag;
	err = import_folder(import);
	free(import->sessions);
	free(import);
	return err;
}
