// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loading and unloading the kernel module.
 *
 * A file of the module is loaded by finit_module(2), whose error says why the
 * kernel refuses it. modprobe, which also finds modules of dkms, says it only
 * in words, so the words of the C library are looked for in them. What can be
 * done about each error is another thing on each kernel: unsigned modules,
 * another kernel's, a container.
 */

#include "utils/opcontrol/opcontrol_module.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "libop/files/op_process.h"
#include "utils/opcontrol/opcontrol_settings.h"
#include "utils/say.h"

#define MODULE "oprofile"

/* Whether one of the lines of @name below @root has @word as its word number
 * @nth. */
static bool file_has_word(const char *root, const char *name, int nth,
			  const char *word)
{
	char path[PATH_MAX], words[2][64], *line = NULL;
	bool found = false;
	size_t len = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", root, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && getline(&line, &len, file) > 0)
		found = sscanf(line, "%63s %63s", words[0], words[1]) > nth &&
			!strcmp(words[nth], word);
	free(line);
	fclose(file);
	return found;
}

bool oc_module_is_present(const char *root)
{
	return file_has_word(root, "/proc/filesystems", 1, "oprofilefs");
}

const char *oc_module_is_refused(const char *root)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/modules", root);
	if (access(path, F_OK))
		return "this kernel cannot load modules; boot one that can, "
		       "such as Debian's, or profile inside a virtual machine";
	if (file_has_word(root, "/proc/sys/kernel/modules_disabled", 0, "1"))
		return "loading modules is disabled until the next boot "
		       "(kernel.modules_disabled or nomodule); boot without "
		       "it";
	return NULL;
}

static const char *explain_module_error(int err)
{
	switch (err) {
	case EPERM:
		return "not permitted: the kernel refuses unsigned modules "
		       "(Secure Boot, lockdown), or this is a container; sign "
		       "the module with an enrolled key, or run opcontrol on "
		       "the host";
	case ENOKEY:
	case EKEYREJECTED:
		return "it is not signed by a key that the kernel trusts "
		       "(Secure Boot, module.sig_enforce); sign it with an "
		       "enrolled key, as dkms does";
	case EBADMSG:
		return "its signature is damaged; build and sign it again";
	case ENOEXEC:
		return "it is not a module, or is for another kernel; build it "
		       "for this kernel with make module";
	case EINVAL:
		return "it is damaged; build it again with make module";
	case ENOENT:
		return "it needs functions that this kernel does not have; "
		       "rebuild it for this kernel with make module";
	case ENOMEM:
		return "out of memory; end some programs and try again";
	}
	return NULL;
}

int oc_module_explain(const char *what, int err, struct op_diag *diag)
{
	const char *why = explain_module_error(err);

	if (why)
		return op_diag_set(diag, -err, "%s: cannot load: %s", what,
				   why);
	return op_diag_set(diag, -err, "%s: cannot load: %s; see dmesg", what,
			   strerror(err));
}

/* Where to look for the module, and whether to load what is found. */
struct module_search {
	const char *tools;
	bool only_find;
	bool verbose;
};

static int load_module_file(const char *path,
			    const struct module_search *search,
			    struct op_diag *diag)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return op_diag_set(diag, -errno,
				   "%s: cannot open the module: %s; build it "
				   "with make module",
				   path, strerror(errno));
	if (!search->only_find) {
		say_step(search->verbose, "load module %s", path);
		if (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST)
			err = oc_module_explain(path, errno, diag);
	}
	close(fd);
	return err;
}

/* modprobe tells the cause only in words; these are the C library's. */
static int modprobe_errno(const char *text)
{
	static const int known[] = { EPERM,   ENOKEY,  EKEYREJECTED,
				     EBADMSG, ENOEXEC, ENOMEM };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strstr(text, strerror(known[i])))
			return known[i];
	}
	return 0;
}

static bool is_unknown_to_modprobe(const char *text)
{
	return strstr(text, "not found");
}

static int explain_modprobe(char *text, struct op_diag *diag)
{
	int err = modprobe_errno(text);

	if (is_unknown_to_modprobe(text))
		return -ENOENT;
	if (err)
		return oc_module_explain("modprobe " MODULE, err, diag);
	text[strcspn(text, "\n")] = '\0';
	return op_diag_set(diag, -EIO, "modprobe " MODULE ": %s; see dmesg",
			   *text ? text : "failed");
}

/*
 * Whether modprobe would take the driver of the original OProfile, which came
 * with Linux before 5.12, has this module's name and another interface. Where a
 * module of ours is installed, the list (depmod(8)) has that instead.
 */
static bool is_linux_own_driver(void)
{
	char path[OC_PATH_MAX], *line = NULL;
	struct utsname names;
	bool found = false;
	size_t len = 0;
	FILE *file;

	uname(&names);
	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep",
		 names.release);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && getline(&line, &len, file) > 0)
		found = !strncmp(line, "kernel/arch/", 12) &&
			strstr(line, "/oprofile/" MODULE ".ko");
	free(line);
	fclose(file);
	return found;
}

/* Returns -ENOENT without a reason when modprobe knows no such module. */
static int load_by_modprobe(const struct module_search *search,
			    struct op_diag *diag)
{
	char *argv[] = { "modprobe", MODULE,
			 search->only_find ? "--dry-run" : NULL, NULL };
	char *envp[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C",
			 NULL };
	char path[OC_PATH_MAX], text[1024];
	int status;

	if (op_process_find(path, sizeof(path), argv[0], "/usr/sbin:/sbin") ||
	    is_linux_own_driver())
		return -ENOENT;
	if (!search->only_find)
		say_step(search->verbose, "%s " MODULE, path);
	status = op_process_run(path, argv, envp, text, sizeof(text), diag);
	/* Not every modprobe can only look. */
	if (status > 0 && search->only_find)
		return is_unknown_to_modprobe(text) ? -ENOENT : 0;
	return status > 0 ? explain_modprobe(text, diag) : status;
}

static int load_from_tree(const struct module_search *search,
			  struct op_diag *diag)
{
	char path[OC_PATH_MAX + 256];
	struct utsname names;

	uname(&names);
	snprintf(path, sizeof(path), "%s/../module/%s/" MODULE ".ko",
		 search->tools, names.release);
	if (!access(path, F_OK))
		return load_module_file(path, search, diag);
	return op_diag_set(diag, -ENOENT,
			   MODULE ": no such module for kernel %s, neither by "
				  "modprobe nor as %s; build it with make "
				  "module, or name it in $OPROFILE_MODULE",
			   names.release, path);
}

static int search_module(const struct module_search *search,
			 struct op_diag *diag)
{
	const char *off = oc_module_is_refused("");
	const char *path;
	int err;

	if (off)
		return op_diag_set(diag, -EPERM, MODULE ": cannot load: %s",
				   off);
	err = op_process_environment(&path, "OPROFILE_MODULE", diag);
	if (err)
		return err;
	if (path)
		return load_module_file(path, search, diag);
	err = load_by_modprobe(search, diag);
	return err == -ENOENT ? load_from_tree(search, diag) : err;
}

int oc_module_load(const char *tools, bool verbose, struct op_diag *diag)
{
	const struct module_search search = { .tools = tools,
					      .verbose = verbose };

	return search_module(&search, diag);
}

int oc_module_find(const char *tools, struct op_diag *diag)
{
	const struct module_search search = { .tools = tools,
					      .only_find = true };

	return search_module(&search, diag);
}

int oc_module_unload(bool verbose, struct op_diag *diag)
{
	if (!file_has_word("", "/proc/modules", 0, MODULE))
		return 0;
	printf("Unloading " MODULE " module.\n");
	say_step(verbose, "unload module " MODULE);
	if (!syscall(SYS_delete_module, MODULE, O_NONBLOCK) || errno == ENOENT)
		return 0;
	/* A mount counts as a user: EAGAIN. Another module does too. */
	if (errno == EBUSY || errno == EAGAIN)
		return op_diag_set(diag, -errno,
				   MODULE ": cannot unload: it is in use, by a "
					  "mount (grep oprofilefs "
					  "/proc/mounts) or another module "
					  "(lsmod); end that first");
	return op_diag_set(diag, -errno, MODULE ": cannot unload: %s",
			   strerror(errno));
}
