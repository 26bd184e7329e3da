// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "tests/unit/test.h"
#include "libop/image/op_runtime.h"

TEST(runtimes_are_known_by_their_files)
{
	static const struct {
		const char *path, *name; /* NULL: of no runtime */
	} rows[] = {
		{ "/usr/bin/python3.11", "Python" },
		{ "python3", "Python" },
		{ "/x/lib/libpython3.10.so.1.0", "Python" },
		{ "/usr/bin/python3-config", NULL },
		{ "/usr/bin/python2.7", NULL },
		{ "/usr/bin/node", "node" },
		{ "/usr/lib/libnode.so.108", "node" },
		{ "/opt/jdk/bin/java", "Java" },
		{ "/opt/jdk/lib/server/libjvm.so", "Java" },
		{ "/usr/bin/javac", NULL },
		{ "/usr/bin/luajit-2.1.0-beta3", "LuaJIT" },
		{ "/usr/bin/ruby3.1", "Ruby" },
		{ "/usr/lib/libruby-3.1.so.3.1", "Ruby" },
		{ "/usr/bin/perl", "Perl" },
		{ "/usr/bin/perldoc", NULL },
		{ "/usr/lib/libperl.so.5.36", "Perl" },
		{ "/usr/sbin/php-fpm8.2", "PHP" },
		{ "/usr/lib/apache2/modules/libphp8.2.so", "PHP" },
		{ "/x/libcoreclr.so", ".NET" },
		{ "/x/beam.smp", "Erlang" },
		{ "/usr/bin/node/", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct op_runtime *runtime =
			op_runtime_of_file(rows[i].path);

		if (!rows[i].name != !runtime ||
		    (runtime && strcmp(runtime->name, rows[i].name)))
			fail_msg("%s: %s", rows[i].path,
				 runtime ? runtime->name : "none");
	}
}

/* operf relies on it. */
TEST(each_row_is_whole)
{
	const struct op_runtime *runtime;
	size_t nr = 0;

	for (; (runtime = op_runtime_at(nr)); nr++) {
		if (runtime->names_all)
			assert_true(runtime->interprets);
		bool has_place = runtime->value && strstr(runtime->value, "%s");

		assert_non_null(runtime->files[0]);
		assert_null(runtime->files[OP_RUNTIME_FILES]);
		assert_non_null(runtime->cure);
		assert_int_equal(!runtime->variable, !runtime->value);
		assert_int_equal(has_place, runtime->agent != NULL);
		assert_true(!runtime->wants_folder ||
			    strchr(runtime->agent, '/'));
	}
	assert_true(nr > 0);
	assert_null(op_runtime_at(nr + 1));
}
