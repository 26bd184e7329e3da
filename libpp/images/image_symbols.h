/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_IMAGES_IMAGE_SYMBOLS_H
#define LIBPP_IMAGES_IMAGE_SYMBOLS_H

/*
 * The symbols of one image, wherever they come from: its binary, a vmlinux, a
 * module's file, or the session's snapshot of kernel symbols. What is wrong
 * with an image is said once, when it is opened; an image without symbols is
 * not an error.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/kernel/op_ksyms.h"
#include "libop/session/op_session.h"
#include "libpp/images/locate_images.h"
#include "libpp/messages.h"
#include "libpp/symbols/inline_answers.h"
#include "libpp/symbols/op_bfd.h"
#include "libpp/report/report.h"
#include "libop/base/op_strings.h"
#include "libpp/symbols/symtab.h"

/* libbfd passes over what it cannot read: that becomes a message, which says
 * that @missing may be. @bfd may be NULL. */
void pp_warn_of_fault(struct pp_messages *messages, const struct op_bfd *bfd,
		      const char *missing);

struct pp_image_symbols {
	struct pp_symbol *table; /* ascending keys, see pp_symtab_build() */
	size_t nr;
	const char *whole; /* one name for all samples, or NULL */
	bool is_stripped; /* and its debug file is missing */
	const char *path; /* the file they are from, in the locator's arena; or
			     NULL */

	/* For the functions below. */
	unsigned int wants; /* PP_WANT_ */
	struct pp_messages *messages; /* borrowed */
	struct op_bfd *bfd;
	struct op_ksyms ksyms;
	uint64_t base; /* address of key 0, unless the keys are file offsets */
	bool offsets; /* the keys are file offsets */
	bool is_other_code; /* a file was refused for that, of this build-id */
	bool is_perf_copy; /* @path is what pp_locate_perf_copy() found */
	uint64_t text; /* what to add to a module's keys for addresses */
	struct op_strings files; /* names of sources, in the report's arena */
	const char *last_file, *last_copy; /* a name of bfd's and its copy */
	struct pp_inline_answers kept; /* of the store; mostly empty */
	struct pp_inline_answers added; /* with PP_KEEP_INLINES */
};

/* Source lines: for these the kernel's binary is worth a search. */
#define PP_WANT_LINES 1u
/* The functions of a stripped binary, called by their addresses. */
#define PP_WANT_UNNAMED 2u
/* Inlined functions, of files. */
#define PP_WANT_INLINES 4u
/* Where functions are declared, of files. */
#define PP_WANT_DECLARATIONS 8u
/* New answers about inlined functions are added to pp_image_symbols.added. The
 * bit is gone from there once they are not to be kept. */
#define PP_KEEP_INLINES 16u

/*
 * @wants are bits PP_WANT_. Returns 0 or -ENOMEM. To be released either way.
 */
int pp_image_symbols_open(struct pp_image_symbols *symbols,
			  const struct pp_image *image,
			  const struct op_session *session,
			  struct pp_locator *locator, unsigned int wants,
			  struct pp_messages *messages);
/* The same for whoever asks about the keys @wanted alone; NULL: about any. */
int pp_image_symbols_open_wanted(struct pp_image_symbols *symbols,
				 const struct pp_image *image,
				 const struct op_session *session,
				 struct pp_locator *locator, unsigned int wants,
				 const struct op_ksyms_wanted *wanted,
				 struct pp_messages *messages);
void pp_image_symbols_release(struct pp_image_symbols *symbols);

/*
 * The same from the open file @fd at @path alone, which is closed in any case.
 * Returns also what op_bfd_open() does, and -ESTALE for another build.
 */
int pp_image_symbols_take(struct pp_image_symbols *symbols,
			  const struct pp_image *image, const char *path,
			  int fd, const struct op_debug_places *places,
			  unsigned int wants, struct pp_messages *messages);

/* The address to show for @key. */
uint64_t pp_image_symbols_vma(const struct pp_image_symbols *symbols,
			      const struct pp_image *image, uint64_t key);

/* Fill @place with the source line of @key, the name in @arena (of the same one
 * in all calls); leave it when that is not known. */
void pp_image_symbols_place(struct pp_image_symbols *symbols, uint64_t key,
			    struct op_arena *arena, struct pp_place *place);

/* Likewise the line where the function at @key is declared or, where that is
 * not known or not wanted, the line of @key. */
void pp_image_symbols_declared(struct pp_image_symbols *symbols, uint64_t key,
			       struct op_arena *arena, struct pp_place *place);

/* Likewise the line where the innermost function at @key was inlined. */
void pp_image_symbols_inlined_at(struct pp_image_symbols *symbols, uint64_t key,
				 struct op_arena *arena,
				 struct pp_place *place);

/* Likewise fill @nr of @places: that of @key, then for each function that was
 * inlined there, the innermost first, where that was. */
void pp_image_symbols_chain(struct pp_image_symbols *symbols, uint64_t key,
			    struct op_arena *arena, struct pp_place *places,
			    size_t nr);

/*
 * Set *@out to the *@nr functions that the code at @key was written in, the
 * outermost first; it is called @name where debug information has no name. All
 * is in @arena. Returns 0 or -ENOMEM.
 */
int pp_image_symbols_frames(struct pp_image_symbols *symbols, uint64_t key,
			    const char *name, struct op_arena *arena,
			    const struct pp_code_frame **out, size_t *nr);

/* The bytes of @symbol, in @arena; NULL when they are not to be had. */
const uint8_t *pp_image_symbols_code(struct pp_image_symbols *symbols,
				     const struct pp_symbol *symbol,
				     struct op_arena *arena);

/* Put the functions that were inlined at @key into @out, the innermost first.
 * Returns how many; 0 unless they are wanted. */
size_t pp_image_symbols_inlined(struct pp_image_symbols *symbols, uint64_t key,
				struct op_bfd_inlined out[OP_BFD_MAX_INLINED]);

/* Likewise put the name and the declaration of @symbol into @out. Returns false
 * when that is not known, or if inlined functions are not wanted. */
bool pp_image_symbols_function(struct pp_image_symbols *symbols,
			       const struct pp_symbol *symbol,
			       struct op_bfd_inlined *out);

#endif /* LIBPP_IMAGES_IMAGE_SYMBOLS_H */
