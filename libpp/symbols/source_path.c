// SPDX-License-Identifier: GPL-2.0-or-later

#include "libpp/symbols/source_path.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A path that is being put together. */
struct path {
	char *base; /* behind the root's slash, if it has one */
	char *end;
	bool is_absolute;
	const char *separators;
};

bool pp_source_path_has_drive(const char *path)
{
	return isalpha((unsigned char)path[0]) && path[1] == ':' &&
	       (path[2] == '/' || path[2] == '\\');
}

/* Where the last component starts. */
static char *last_component(const struct path *p)
{
	char *slash = memrchr(p->base, '/', (size_t)(p->end - p->base));

	return slash ? slash + 1 : p->base;
}

/* Take the last component away. Returns false if there is none to take. */
static bool go_up(struct path *p)
{
	char *last = last_component(p);

	if (p->end == p->base)
		return p->is_absolute;
	if (p->end - last == 2 && !memcmp(last, "..", 2))
		return false;
	p->end = last > p->base ? last - 1 : last;
	return true;
}

static void append_components(struct path *p, const char *part)
{
	for (size_t len; *part; part += len) {
		part += strspn(part, p->separators);
		len = strcspn(part, p->separators);
		if (!len || (len == 1 && *part == '.'))
			continue;
		if (len == 2 && !memcmp(part, "..", 2) && go_up(p))
			continue;
		if (p->end > p->base)
			*p->end++ = '/';
		p->end = mempcpy(p->end, part, len);
	}
}

char *pp_source_path_join(const char *dir, const char *sub, const char *name)
{
	const char *parts[] = { dir, sub, name };
	const size_t nr = sizeof(parts) / sizeof(parts[0]);
	size_t first = 0, len = 2, root = 0;
	struct path p = { .separators = "/" };
	char *path;

	for (size_t i = 0; i < nr; i++) {
		len += parts[i] ? strlen(parts[i]) + 1 : 0;
		if (!parts[i])
			continue;
		if (*parts[i] == '/' || pp_source_path_has_drive(parts[i])) {
			first = i;
			root = *parts[i] == '/' ? 1 : strlen("C:/");
		}
	}
	path = malloc(len);
	if (!path)
		return NULL;
	p.is_absolute = root;
	p.base = p.end = path + root;
	*path = '/';
	if (root > 1) {
		memcpy(path, parts[first], root);
		path[root - 1] = '/';
		parts[first] += root;
		p.separators = "/\\";
	}
	for (size_t i = first; i < nr; i++)
		if (parts[i])
			append_components(&p, parts[i]);
	*p.end = '\0';
	return path;
}
