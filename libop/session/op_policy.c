// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file is checked and read by one descriptor, so it cannot be replaced in
 * between. An unknown key is refused: a policy that is misread would open what
 * its writer meant to close.
 */

#include "libop/session/op_policy.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/base/op_array.h"
#include "libop/files/op_config.h"

#define GROUP "group:"
#define USERS "users "

void op_policy_release(struct op_policy *policy)
{
	free(policy->users);
	memset(policy, 0, sizeof(*policy));
}

/* All ones is nobody's number. */
static int parse_id(const char *text, uint32_t *id)
{
	uint64_t number;

	if (op_parse_u64(text, &number) || number >= UINT32_MAX)
		return -EINVAL;
	*id = (uint32_t)number;
	return 0;
}

static int parse_policy_group(struct op_policy *policy, const char *name)
{
	const struct group *entry = getgrnam(name);

	policy->mine = OP_MINE_GROUP;
	policy->group = entry ? entry->gr_gid : 0;
	return entry ? 0 : parse_id(name, &policy->group);
}

static int parse_policy_users(struct op_policy *policy, const char *list)
{
	char *copy = strdup(list), *at = copy, *name;
	int err = copy ? 0 : -ENOMEM;

	policy->mine = OP_MINE_USERS;
	while (!err && (name = strsep(&at, ","))) {
		const struct passwd *entry;

		name += strspn(name, " ");
		name[strcspn(name, " ")] = '\0';
		err = op_array_reserve(&policy->users, policy->nr_users, 1);
		if (err)
			break;
		entry = getpwnam(name);
		if (entry)
			policy->users[policy->nr_users] = entry->pw_uid;
		else
			err = parse_id(name, &policy->users[policy->nr_users]);
		policy->nr_users++;
	}
	free(copy);
	return err;
}

static int parse_policy_mine(struct op_policy *policy, const char *value)
{
	if (!strcmp(value, "none"))
		return 0;
	if (!strcmp(value, "all")) {
		policy->mine = OP_MINE_ALL;
		return 0;
	}
	if (!strncmp(value, GROUP, strlen(GROUP)))
		return parse_policy_group(policy, value + strlen(GROUP));
	if (!strncmp(value, USERS, strlen(USERS)))
		return parse_policy_users(policy, value + strlen(USERS));
	return -EINVAL;
}

static int parse_policy_kernel(struct op_policy *policy, const char *value)
{
	policy->kernel = !strcmp(value, "yes");
	return policy->kernel || !strcmp(value, "no") ? 0 : -EINVAL;
}

static const struct {
	const char *key;
	int (*parse)(struct op_policy *policy, const char *value);
	const char *values;
} policy_keys[] = {
	{ "mine", parse_policy_mine,
	  "none, all, group:NAME, or users NAME,NAME..., of those that are here" },
	{ "kernel", parse_policy_kernel, "yes or no" },
};

#define NR_KEYS (sizeof(policy_keys) / sizeof(policy_keys[0]))

static int parse_policy_line(struct op_policy *policy, const char *path,
			     const char *key, const char *value, bool is_last,
			     struct op_diag *diag)
{
	for (size_t i = 0; i < NR_KEYS; i++) {
		int err;

		if (strcmp(key, policy_keys[i].key) != 0)
			continue;
		if (!is_last)
			return op_diag_set(
				diag, -EINVAL,
				"%s: %s appears twice; remove one of these lines",
				path, key);
		err = policy_keys[i].parse(policy, value);
		return err ? op_diag_set(diag, err, "%s: %s = %s: give %s",
					 path, key, value,
					 policy_keys[i].values)
			   : 0;
	}
	return op_diag_set(diag, -EINVAL,
			   "%s: %s: unknown; the keys are mine and kernel",
			   path, key);
}

static int check_policy_file(int fd, const char *path, struct op_diag *diag)
{
	struct stat st;

	if (fstat(fd, &st))
		return op_diag_set(diag, -errno, "%s: %s", path,
				   strerror(errno));
	if (!S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != geteuid()) ||
	    st.st_mode & (S_IWGRP | S_IWOTH))
		return op_diag_set(
			diag, -EPERM,
			"%s: others could have written it; chown root and chmod go-w it",
			path);
	return 0;
}

static int read_policy_lines(struct op_policy *policy, int fd, const char *path,
			     struct op_diag *diag)
{
	struct op_diag why = { "" };
	struct op_config *config;
	const char *key, *value;
	char by_fd[32];
	int err;

	snprintf(by_fd, sizeof(by_fd), "/proc/self/fd/%d", fd);
	err = op_config_read(&config, by_fd, &why);
	/* "PATH:LINE: reason" */
	if (err && !strncmp(why.text, by_fd, strlen(by_fd)))
		return op_diag_set(diag, err, "%s%s", path,
				   why.text + strlen(by_fd));
	if (err)
		return op_diag_set(diag, err, "%s: %s", path, strerror(-err));
	for (unsigned int i = 0; !err && !op_config_at(config, i, &key, &value);
	     i++)
		err = parse_policy_line(policy, path, key, value,
					value == op_config_find(config, key),
					diag);
	op_config_free(config);
	return err;
}

int op_policy_read(struct op_policy *policy, const char *path,
		   struct op_diag *diag)
{
	int fd, err;

	memset(policy, 0, sizeof(*policy));
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? -ENOENT
				       : op_diag_set(diag, -errno, "%s: %s",
						     path, strerror(errno));
	err = check_policy_file(fd, path, diag);
	if (!err)
		err = read_policy_lines(policy, fd, path, diag);
	close(fd);
	if (err)
		op_policy_release(policy);
	return err;
}

bool op_policy_lets(const struct op_policy *policy, uid_t user,
		    const gid_t *groups, size_t nr_groups)
{
	switch (policy->mine) {
	case OP_MINE_NONE:
		return false;
	case OP_MINE_ALL:
		return true;
	case OP_MINE_GROUP:
		for (size_t i = 0; i < nr_groups; i++)
			if (groups[i] == policy->group)
				return true;
		return false;
	case OP_MINE_USERS:
		for (size_t i = 0; i < policy->nr_users; i++)
			if (policy->users[i] == user)
				return true;
		return false;
	}
	return false;
}
