// SPDX-License-Identifier: GPL-2.0-or-later
/* What cgroups are called, by the forms of their paths. */

#include "tests/unit/op_fixture.h"

#include "libop/kernel/op_cgroup.h"

#define ID "3f2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708"
#define UID "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
#define UID_ "0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9"
#define KUBE "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod"

static const struct row {
	const char *path, *name;
} rows[] = {
	{ "/", "/" },
	/* docker, by its own driver and by systemd's */
	{ "/docker/" ID, "docker:3f2a1b4c5d6e" },
	{ "/system.slice/docker-" ID ".scope", "docker:3f2a1b4c5d6e" },
	{ "/system.slice/docker-" ID ".scope/init.scope", "init.scope" },
	{ "/system.slice/docker-" ID ".scope/payload", "docker:3f2a1b4c5d6e" },
	{ "/system.slice/docker.service", "docker.service" },
	/* podman, of root and of a user */
	{ "/machine.slice/libpod-" ID ".scope", "podman:3f2a1b4c5d6e" },
	{ "/machine.slice/libpod-" ID ".scope/container",
	  "podman:3f2a1b4c5d6e" },
	{ "/libpod_parent/libpod-" ID, "podman:3f2a1b4c5d6e" },
	{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
	  ".scope/container",
	  "podman:3f2a1b4c5d6e" },
	{ "/machine.slice/libpod-conmon-" ID ".scope",
	  "libpod-conmon-" ID ".scope" },
	/* kubernetes */
	{ KUBE UID_ ".slice/cri-containerd-" ID ".scope",
	  "pod:0a1b2c3d/3f2a1b4c5d6e" },
	{ KUBE UID_ ".slice/crio-" ID ".scope", "pod:0a1b2c3d/3f2a1b4c5d6e" },
	{ KUBE UID_ ".slice/docker-" ID ".scope", "pod:0a1b2c3d/3f2a1b4c5d6e" },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice", "pod:0a1b2c3d" },
	{ "/kubepods/burstable/pod" UID "/" ID, "pod:0a1b2c3d/3f2a1b4c5d6e" },
	{ "/kubepods/pod" UID, "pod:0a1b2c3d" },
	{ "/kubelet/kubepods/besteffort/pod" UID "/" ID,
	  "pod:0a1b2c3d/3f2a1b4c5d6e" },
	{ "/podcasts", "/podcasts" },
	/* others */
	{ "/system.slice/nerdctl-" ID ".scope", "containerd:3f2a1b4c5d6e" },
	{ "/default/" ID, "containerd:3f2a1b4c5d6e" },
	{ "/lxc/web1", "lxc:web1" },
	{ "/lxc.payload.web1/system.slice/cron.service", "cron.service" },
	{ "/lxc.payload.web1", "lxc:web1" },
	/* systemd */
	{ "/system.slice/redis-server.service", "redis-server.service" },
	{ "/system.slice/system-getty.slice/getty@tty1.service",
	  "getty@tty1.service" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/"
	  "app-org.gnome\\x2dterminal.slice/vte-spawn\\x40.scope",
	  "vte-spawn@.scope" },
	{ "/system.slice/systemd-udevd.service/udev",
	  "systemd-udevd.service/udev" },
	{ "/machine.slice/systemd-nspawn@web.service/payload",
	  "systemd-nspawn@web.service/payload" },
	{ "/system.slice", "system.slice" },
	{ "/odd\\x2", "/odd\\x2" },
	{ "/a.service\\x2", "/a.service\\x2" },
	{ "/a\\xzz.service", "a\\xzz.service" },
	{ "/a\\x0a.service", "a?.service" },
	/* no form that is known */
	{ "/build/job 7", "/build/job 7" },
	{ "/docker/notanumber", "/docker/notanumber" },
	{ "/" ID, "/" ID },
	{ "/.service", "/.service" },
	{ "/../neighbour", "/../neighbour" },
	{ "/a\x1b[31m", "/a?[31m" },
	{ "/{root}%41", "/{root}%41" },
};

TEST(test_names)
{
	char name[OP_CGROUP_NAME_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		op_cgroup_name(rows[i].path, name, sizeof(name));
		if (strcmp(name, rows[i].name) != 0)
			fail_msg("%s: %s, not %s", rows[i].path, name,
				 rows[i].name);
	}
}

/* Never more than there is room for. */
TEST(test_room)
{
	char name[8];

	for (size_t len = 1; len <= sizeof(name); len++) {
		memset(name, 'x', sizeof(name));
		op_cgroup_name("/docker/" ID, name, len);
		assert_int_equal(strlen(name), len - 1);
		assert_memory_equal(name, "docker:3", len - 1);
	}
	memset(name, 'x', sizeof(name));
	op_cgroup_name("/docker/" ID, name, 0);
	assert_int_equal(name[0], 'x');
}
