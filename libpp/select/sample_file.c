// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The name of a sample file: its image, event and kind. And the words for a
 * file that cannot be used.
 */

#include <errno.h>
#include <string.h>

#include "libpp/select/sample_list.h"

const char *pp_image_name(struct op_arena *arena,
			  const struct op_image_name *name)
{
	switch (name->space) {
	case OP_SPACE_KERN:
		/* [vdso] and the like look like nothing that has a path. */
		if (*name->name == '[' || *name->name == '/')
			return op_arena_strdup(arena, name->name);
		return op_arena_printf(arena, "/%s", name->name);
	case OP_SPACE_ANON:
		return op_arena_printf(arena,
				       "%s (tgid:%lld range:0x%llx-0x%llx)",
				       name->name, (long long)name->tgid,
				       (unsigned long long)name->start,
				       (unsigned long long)name->end);
	default:
		return op_arena_strdup(arena, name->name);
	}
}

const char *pp_base_name(const char *name)
{
	const char *slash = *name == '/' ? strrchr(name, '/') : NULL;

	return slash && slash[1] ? slash + 1 : name;
}

bool pp_is_of_event(const struct op_mangle *a, const struct op_mangle *b)
{
	return !strcmp(a->event, b->event) && a->count == b->count &&
	       a->unit_mask == b->unit_mask;
}

bool pp_is_call_graph(const struct pp_sample_file *file)
{
	return file->name.cg.space != OP_SPACE_NONE;
}

const char *pp_why_not_opened(int err)
{
	switch (err) {
	case -EBADMSG:
		return "it is damaged";
	case -EPROTO:
		return "it is of another version or byte order";
	case -EACCES:
	case -EPERM:
		return "permission denied (run as the user who profiled, or as root)";
	default:
		return pp_archive_refusal(err) ?: strerror(-err);
	}
}

void pp_message_of_torn(struct pp_messages *messages, const char *label)
{
	pp_message(
		messages, PP_WARNING,
		"%s: pages are missing, probably after a power failure; samples since the opcontrol --dump before it may be missing",
		label);
}
