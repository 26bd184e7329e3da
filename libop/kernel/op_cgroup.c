// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The path is looked at from its end, since the innermost container or unit is
 * what people mean: a container in a pod in a slice is that container. A
 * component that is a container's names it by a long number, with words before
 * and behind it that depend on the program that made it and on whether systemd
 * or the program itself makes cgroups:
 *
 *	/docker/ID			/system.slice/docker-ID.scope
 *	/libpod_parent/libpod-ID	/machine.slice/libpod-ID.scope/container
 *	/kubepods/burstable/podUID/ID
 *	/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice/
 *		cri-containerd-ID.scope (or crio-ID.scope, docker-ID.scope)
 *
 * (systemd.unit(5), kubelet's and the runtimes' cgroup drivers.)
 */

#include "libop/kernel/op_cgroup.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libop/files/op_config.h"

#define ID_MIN 32 /* digits that make a number of a container */
#define ID_SHOWN 12
#define POD_SHOWN 8

/* A part of a path, without slashes. */
struct part {
	const char *text;
	size_t len;
};

static bool starts_with(struct part part, const char *word)
{
	return part.len >= strlen(word) &&
	       !strncmp(part.text, word, strlen(word));
}

static bool ends_with(struct part part, const char *word)
{
	size_t len = strlen(word);

	return part.len > len &&
	       !strncmp(part.text + part.len - len, word, len);
}

static void skip_bytes(struct part *part, size_t len)
{
	part->text += len;
	part->len -= len;
}

/* The part before @end, which is behind a slash or at the end of @path. */
static struct part part_before(const char *path, const char *end)
{
	const char *start = end;

	while (start > path && start[-1] != '/')
		start--;
	return (struct part){ start, (size_t)(end - start) };
}

/* Whether all of @part is the number of a container. */
static bool is_id(struct part part)
{
	size_t digits = 0;

	while (digits < part.len && op_hex_digit(part.text[digits]) >= 0 &&
	       !isupper((unsigned char)part.text[digits]))
		digits++;
	return digits == part.len && digits >= ID_MIN;
}

/* The number of a pod in "podUID", "kubepods-besteffort-podUID.slice"; empty if
 * there is none. */
static struct part pod_in(struct part part)
{
	const char *found = NULL;

	if (ends_with(part, ".slice"))
		part.len -= strlen(".slice");
	if (starts_with(part, "pod"))
		found = part.text;
	else if (starts_with(part, "kubepods"))
		found = memmem(part.text, part.len, "-pod", 4);
	if (!found)
		return (struct part){ part.text, 0 };
	skip_bytes(&part, (size_t)(found - part.text) + 3 + (*found == '-'));
	/* The number begins with eight digits. */
	for (size_t i = 0; i < POD_SHOWN; i++)
		if (i >= part.len || op_hex_digit(part.text[i]) < 0)
			return (struct part){ part.text, 0 };
	part.len = POD_SHOWN;
	return part;
}

/* The words before the number in the last component, and what they stand for.
 */
static const struct {
	const char *before, *kind;
} makers[] = {
	{ "docker-", "docker:" },
	{ "libpod-", "podman:" },
	{ "cri-containerd-", "containerd:" },
	{ "crio-", "crio:" },
	{ "nerdctl-", "containerd:" },
	{ "cri-o-", "crio:" },
};

#define NR_MAKERS (sizeof(makers) / sizeof(makers[0]))

/* Folders whose entries are bare numbers, and the kind of cgroup that these
 * are. */
static const struct {
	const char *folder, *kind;
} parents[] = {
	{ "docker", "docker:" },
	{ "libpod_parent", "podman:" },
	{ "containerd", "containerd:" },
	{ "default", "containerd:" }, /* namespaces of containerd */
	{ "k8s.io", "containerd:" },
};

#define NR_PARENTS (sizeof(parents) / sizeof(parents[0]))

static bool is_part(struct part part, const char *word)
{
	return part.len == strlen(word) && starts_with(part, word);
}

/* Whether @part, in the folder @parent, is a container: its number and what it
 * is one of. */
static bool is_container(struct part part, struct part parent, struct part *id,
			 const char **kind)
{
	*kind = NULL;
	*id = part;
	if (ends_with(*id, ".scope"))
		id->len -= strlen(".scope");
	for (size_t i = 0; i < NR_MAKERS && !*kind; i++)
		if (starts_with(*id, makers[i].before)) {
			skip_bytes(id, strlen(makers[i].before));
			*kind = makers[i].kind;
		}
	for (size_t i = 0; i < NR_PARENTS && !*kind; i++)
		if (is_part(parent, parents[i].folder))
			*kind = parents[i].kind;
	if (!is_id(*id))
		return false;
	return *kind || pod_in(parent).len;
}

static bool is_unit(struct part part)
{
	static const char *const suffixes[] = {
		".service", ".scope", ".slice",	 ".socket",
		".mount",   ".swap",  ".target", ".timer",
	};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (ends_with(part, suffixes[i]))
			return true;
	return false;
}

/* Where a name is put together. */
struct name {
	char *at, *end;
};

static void put_char(struct name *name, char c)
{
	if (name->at + 1 >= name->end)
		return;
	*name->at++ = iscntrl((unsigned char)c) ? '?' : c;
	*name->at = '\0';
}

static void put_part(struct name *name, const char *text, size_t len)
{
	while (len--)
		put_char(name, *text++);
}

/* systemd writes bytes that a unit may not be called by as \xXX. */
static void put_unescaped(struct name *name, const char *text)
{
	while (*text) {
		if (text[0] == '\\' && text[1] == 'x' &&
		    op_hex_digit(text[2]) >= 0 && op_hex_digit(text[3]) >= 0) {
			put_char(name, (char)(op_hex_digit(text[2]) << 4 |
					      op_hex_digit(text[3])));
			text += 4;
		} else {
			put_char(name, *text++);
		}
	}
}

static bool put_container(struct name *name, struct part part,
			  struct part parent)
{
	const char *kind;
	struct part id, pod = pod_in(parent);

	if (!is_container(part, parent, &id, &kind))
		return false;
	if (pod.len) {
		put_part(name, "pod:", 4);
		put_part(name, pod.text, pod.len);
		put_char(name, '/');
	} else {
		put_part(name, kind, strlen(kind));
	}
	put_part(name, id.text, ID_SHOWN);
	return true;
}

/* Containers that have names of their own. */
static bool put_lxc(struct name *name, struct part part, struct part parent)
{
	if (starts_with(part, "lxc.payload."))
		skip_bytes(&part, strlen("lxc.payload."));
	else if (!is_part(parent, "lxc"))
		return false;
	put_part(name, "lxc:", 4);
	put_part(name, part.text, part.len);
	return true;
}

void op_cgroup_name(const char *path, char *buf, size_t len)
{
	const char *end = path + strlen(path);
	struct name name = { buf, buf + len };

	if (!len)
		return;
	*buf = '\0';
	while (end > path) {
		struct part part = part_before(path, end);
		struct part parent = { part.text, 0 }, pod = pod_in(part);

		if (part.text > path)
			parent = part_before(path, part.text - 1);
		if (put_container(&name, part, parent) ||
		    put_lxc(&name, part, parent))
			return;
		if (pod.len) {
			put_part(&name, "pod:", 4);
			put_part(&name, pod.text, pod.len);
			return;
		}
		if (is_unit(part)) {
			put_unescaped(&name, part.text);
			return;
		}
		end = part.text > path ? part.text - 1 : path;
	}
	put_part(&name, path, strlen(path));
}
