/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_KERNEL_OP_KSYMS_H
#define LIBOP_KERNEL_OP_KSYMS_H

/*
 * Symbols of the kernel and of its modules, taken from /proc/kallsyms while
 * the kernel runs and kept in the session, so that a report needs neither a
 * vmlinux nor the same boot, address-space layout or machine.
 *
 * A snapshot lies in the session's symbols/ folder as NAME-BUILDID, or NAME
 * without one. It is packed to a tenth of the text that it would be
 * (op_ksyms_form.h): a kernel of 117,000 symbols takes 0.4 MB and is read in
 * less time than that text.
 */

#include <stddef.h>
#include <stdint.h>

#include "libop/image/op_build_id.h"
#include "libop/base/op_diag.h"

/*
 * The text of /proc/kallsyms at one moment. The kernel takes 40 ms and more to
 * write it, so whoever needs it for several things reads it once.
 */
struct op_kallsyms {
	char *path; /* of the file, for messages */
	char *text; /* NULL: nothing was read */
	size_t len; /* bytes */
};

/*
 * Read the file @path. Returns 0, or -errno with the reason in @diag and
 * nothing to release.
 */
int op_kallsyms_read(struct op_kallsyms *all, const char *path,
		     struct op_diag *diag);

/* Nothing is read then. All zero will do as well. */
void op_kallsyms_release(struct op_kallsyms *all);

struct op_ksym {
	uint64_t offset; /* bytes from the image's start */
	const char *name;
	char type; /* as in nm(1) */
};

struct op_ksyms {
	struct op_ksym *syms; /* ascending offset */
	size_t nr;
	uint64_t size; /* bytes from the image's start to its end; 0: unknown */
	char *strings; /* where the names are; they may share bytes */
};

/*
 * Path of the snapshot of image @name in folder @dir. Slashes, blanks, bytes
 * that are no printable ASCII and a leading dot of @name are written as %XX.
 * 0, -ENAMETOOLONG, or -EINVAL for an empty name.
 */
int op_ksyms_path(char *buf, size_t len, const char *dir, const char *name,
		  const struct op_build_id *build_id);

/* The same with the text @build, which is left out if it is empty. */
int op_ksyms_path_of(char *buf, size_t len, const char *dir, const char *name,
		     const char *build);

/*
 * Read a snapshot; everything in it is checked. Returns 0, -ENOENT without one
 * (no reason in @diag), or -errno with the reason in @diag, -EINVAL for
 * anything that is not a whole snapshot. op_ksyms_release() frees what is in
 * it; after a failure there is nothing in it.
 */
int op_ksyms_read(struct op_ksyms *ksyms, const char *path,
		  struct op_diag *diag);

/* Offsets that somebody asks about, ascending. */
struct op_ksyms_wanted {
	const uint64_t *offsets; /* bytes from the image's start */
	size_t nr;
};

/*
 * The same in a third of the time and a fifth of the memory for whoever needs
 * only the symbols that @wanted offsets are in. The one behind each of them,
 * which tells where it ends, and the first of all are read, too, and more may
 * be; names of others are not checked.
 */
int op_ksyms_read_wanted(struct op_ksyms *ksyms, const char *path,
			 const struct op_ksyms_wanted *wanted,
			 struct op_diag *diag);

/*
 * Snapshots with a build-id are kept in the cache of sessions (op_cache.h),
 * too, as most sessions of a machine have the same kernel. The first of these
 * puts the cache's snapshot into the folder @dir, without looking into it; the
 * second one from there into the cache. 0 or -errno; -ENOENT if there is none.
 */
int op_ksyms_get(const char *dir, const char *name,
		 const struct op_build_id *build_id);
int op_ksyms_keep(const char *dir, const char *name,
		  const struct op_build_id *build_id);

/*
 * The code symbols that @all lists for module @module, or for the kernel itself
 * if @module is NULL, between @start and @end, as offsets from @start: types t,
 * T, w and W, without the markers of assemblers ($x, $d, .L1). Of several names
 * at one address the global one is kept, then the one without a leading
 * underscore, then the shorter, then the first. Returns 0, with 0 symbols if
 * there are none; -EACCES with a reason when the addresses are hidden (all
 * zero), -errno with a reason else.
 */
int op_ksyms_scan(struct op_ksyms *ksyms, const struct op_kallsyms *all,
		  const char *module, uint64_t start, uint64_t end,
		  struct op_diag *diag);

/* A symbol of a module, in the text of /proc/kallsyms: nothing is terminated.
 */
struct op_ksym_line {
	uint64_t address;
	const char *name;
	size_t name_len;
	const char *module; /* without brackets: "ext4", "bpf" */
	size_t module_len;
};

/*
 * Call @fn for each code symbol that @all lists for a module, or for what
 * it calls one, as "bpf" and "__builtin__ftrace", until @fn returns other than
 * 0, which is then returned. Else errors as above.
 */
int op_ksyms_each_of_modules(const struct op_kallsyms *all,
			     int (*fn)(void *arg,
				       const struct op_ksym_line *line),
			     void *arg, struct op_diag *diag);

/*
 * Write a snapshot by way of a temporary file and rename(2), mode 0444. 0 or
 * -errno with the reason in @diag; -EINVAL for symbols that op_ksyms_read()
 * would not take back.
 */
int op_ksyms_write(const struct op_ksyms *ksyms, const char *path,
		   const char *name, const struct op_build_id *build_id,
		   struct op_diag *diag);

void op_ksyms_release(struct op_ksyms *ksyms);

#endif /* LIBOP_KERNEL_OP_KSYMS_H */
