// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sources of the facts: "Python support for the Linux perf profiler" in
 * Python's documentation; node(1), NODE_OPTIONS, whose list of V8's options has
 * those below; "JVM Tool Interface", JAVA_TOOL_OPTIONS; "Runtime
 * configuration options for debugging and profiling" of .NET,
 * DOTNET_PerfMapEnabled, which costs its programs up to 20 % and is not set for
 * that; erl(1), +JPperf, which releases without a JIT do not know and end at,
 * so that ERL_FLAGS is left alone; ruby(1) 3.3, --yjit-perf, likewise.
 *
 * Of node's options --perf-basic-prof would leave a log of V8 in the current
 * folder, too; the one for functions alone does not.
 */

#include "libop/image/op_runtime.h"

#include <fnmatch.h>
#include <string.h>

static const struct op_runtime runtimes[] = {
	{
		.name = "Python",
		.files = { "python3", "python3.[0-9]*", "libpython3.*.so*" },
		.variable = "PYTHONPATH",
		.value = "%s",
		.separator = ':',
		.agent = "python/sitecustomize.py",
		.wants_folder = true,
		.since = "3.9",
		.ignoring = "EIS",
		.valued = "WX",
		.last = "cm",
		.interprets = true,
		.names_all = true,
		.cure = "start it by operf -g COMMAND, which names those of CPython 3.9 and later unless it runs with -I, -E or -S",
	},
	{
		.name = "node",
		.files = { "node", "nodejs", "libnode.so*" },
		.variable = "NODE_OPTIONS",
		.value =
			"--perf-basic-prof-only-functions --interpreted-frames-native-stack",
		.separator = ' ',
		.unless = "--perf-",
		.leaves_map = true,
		.cure = "start it by operf COMMAND, or run it with --perf-basic-prof",
	},
	{
		.name = "Java",
		.files = { "java", "libjvm.so" },
		.variable = "JAVA_TOOL_OPTIONS",
		.value = "-agentpath:%s=optional",
		.separator = ' ',
		.unless = "libjvmti_oprofile.so",
		.agent = "libjvmti_oprofile.so",
		.cure = "start it by operf COMMAND, or run it with -agentpath:DIR/libjvmti_oprofile.so, see operf(1)",
	},
	{
		.name = ".NET",
		.files = { "dotnet", "libcoreclr.so" },
		.cure = "run it with DOTNET_PerfMapEnabled=1 in its environment",
	},
	{
		.name = "LuaJIT",
		.files = { "luajit", "luajit-*", "libluajit*.so*" },
		.cure = "let its script write /tmp/perf-PID.map, as doc/jit.md shows",
	},
	{
		.name = "Erlang",
		.files = { "beam.smp" },
		.cure = "run it with +JPperf true",
	},
	{
		.name = "wasmtime",
		.files = { "wasmtime" },
		.cure = "run it with --profile=perfmap",
	},
	{
		.name = "Ruby",
		.files = { "ruby", "ruby[0-9]*", "libruby*.so*" },
		.interprets = true,
		.cure = "run it with --yjit-perf, which Ruby 3.3 and later have",
	},
	{
		.name = "Perl",
		.files = { "perl", "perl5.*", "libperl.so*" },
		.interprets = true,
		.cure = "use a profiler of Perl's own, such as Devel::NYTProf",
	},
	{
		.name = "PHP",
		.files = { "php", "php[0-9]*", "php-fpm*", "libphp*.so*" },
		.interprets = true,
		.cure = "run it with the JIT of opcache and opcache.jit_debug=16, which names what is compiled",
	},
};

#define NR_RUNTIMES (sizeof(runtimes) / sizeof(runtimes[0]))

const struct op_runtime *op_runtime_at(size_t i)
{
	return i < NR_RUNTIMES ? &runtimes[i] : NULL;
}

const struct op_runtime *op_runtime_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	for (size_t i = 0; i < NR_RUNTIMES; i++)
		for (const char *const *file = runtimes[i].files; *file; file++)
			if (!fnmatch(*file, base, 0))
				return &runtimes[i];
	return NULL;
}
