// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernel symbols: taken from kallsyms, written, read back, refused. */

#include "tests/unit/op_fixture.h"

#include "libop/kernel/op_ksyms.h"

static const struct op_build_id no_id = { .len = 0 };

static struct op_build_id id_of(unsigned int len)
{
	return (struct op_build_id){ len, { 0x01, 0xab, 0xff, 0x00, 0x7e } };
}

/* ---- paths -----------------------------------------------------------------
 */

static void is_path(const char *name, unsigned int id_len, const char *wanted)
{
	const struct op_build_id id = id_of(id_len);
	char path[512];

	assert_int_equal(op_ksyms_path(path, sizeof(path), "/s", name, &id), 0);
	assert_string_equal(path, wanted);
}

TEST(test_paths)
{
	const struct op_build_id id = id_of(3);
	char path[512], name[300];

	is_path("vmlinux", 3, "/s/vmlinux-01abff");
	is_path("ext4", 0, "/s/ext4");
	is_path("..", 0, "/s/%2e.");
	is_path(".tmp", 0, "/s/%2etmp");
	is_path("../../etc/x", 2, "/s/%2e.%2f..%2fetc%2fx-01ab");
	is_path("a b%\n\xff", 0, "/s/a%20b%25%0a%ff");
	assert_int_equal(op_ksyms_path(path, sizeof(path), "/s", "", &id),
			 -EINVAL);
	assert_int_equal(op_ksyms_path(path, 17, "/s", "vmlinux", &id),
			 -ENAMETOOLONG);
	assert_int_equal(op_ksyms_path(path, 18, "/s", "vmlinux", &id), 0);
	assert_int_equal(op_ksyms_path(path, 0, "/s", "vmlinux", &id),
			 -ENAMETOOLONG);
	for (size_t len = 1; len < sizeof(name); len++) {
		int err;

		memset(name, len % 2 ? 'x' : '/', len);
		name[len] = '\0';
		err = op_ksyms_path(path, sizeof(path), "", name, &id);
		if (!err)
			assert_true(strlen(path) <= 256);
		else
			assert_int_equal(err, -ENAMETOOLONG);
	}
}

/* ---- kallsyms ---------------------------------------------------------------
 */

static int scan_file(struct op_ksyms *k, const char *path, const char *module,
		     uint64_t start, uint64_t end, struct op_diag *diag)
{
	struct op_kallsyms all;
	int err = op_kallsyms_read(&all, path, diag);

	if (err)
		return err;
	err = op_ksyms_scan(k, &all, module, start, end, diag);
	op_kallsyms_release(&all);
	return err;
}

static struct op_ksyms scan(const char *module, uint64_t start, uint64_t end)
{
	struct op_ksyms k;
	struct op_diag diag = { "" };

	if (scan_file(&k, "kallsyms", module, start, end, &diag))
		fail_msg("%s", diag.text);
	return k;
}

static void is_sym(const struct op_ksyms *k, size_t i, uint64_t offset,
		   char type, const char *name)
{
	assert_true(i < k->nr);
	assert_int_equal(k->syms[i].offset, offset);
	assert_int_equal(k->syms[i].type, type);
	assert_string_equal(k->syms[i].name, name);
}

static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
			       "ffffffff80ffffff T before\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 t startup\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81000000 T __start_of_all\n"
			       "ffffffff81000100 t static_fn\n"
			       "ffffffff81000100 W weak_fn\n"
			       "ffffffff81000200 t b_fn.cold\n"
			       "ffffffff81000200 t a_fn\n"
			       "ffffffff81000200 t c_fn\n"
			       "ffffffff81000300 D data\n"
			       "ffffffff81000310 r rodata\n"
			       "ffffffff81000320 B bss\n"
			       "ffffffff81000180 T out_of_order\n"
			       "ffffffff81fffff0 T last\n"
			       "ffffffff82000000 T at_the_end\n"
			       "ffffffffc0002000 t init_module\t[ext4]\n"
			       "ffffffffc0001010 t $d.5\t[ext4]\n"
			       "ffffffffc0001000 t $x\t[ext4]\n"
			       "ffffffffc0001000 t ext4_sync\t[ext4]\n"
			       "ffffffffc0001020 t .L12\t[ext4]\n"
			       "ffffffffc0001030 t $money\t[ext4]\n"
			       "ffffffffc0001000 t other\t[ext]\n"
			       "ffffffffc0001040 t other2\t[ext44]\n"
			       "ffffffffc0001050 T bpf_prog_1\t[bpf]\n";

FOLDER_TEST(test_kernel_symbols)
{
	struct op_ksyms k;

	write_text("kallsyms", kallsyms);
	k = scan(NULL, 0xffffffff81000000, 0xffffffff82000000);
	assert_int_equal(k.nr, 5);
	is_sym(&k, 0, 0, 'T', "_text");
	is_sym(&k, 1, 0x100, 'W', "weak_fn");
	is_sym(&k, 2, 0x180, 'T', "out_of_order");
	is_sym(&k, 3, 0x200, 't', "a_fn");
	is_sym(&k, 4, 0xfffff0, 'T', "last");
	op_ksyms_release(&k);
	op_ksyms_release(&k);
}

/* Of names at one address: global, weak, local; plain; short; early. */
FOLDER_TEST(test_names_of_one_address)
{
	struct op_ksyms k;

	write_text("kallsyms", "ffffffff81000000 t a\n"
			       "ffffffff81000000 W weak\n"
			       "ffffffff81000000 T _a_global_name\n"
			       "ffffffff81000010 t a\n"
			       "ffffffff81000010 w _weak\n"
			       "ffffffff81000020 t _a\n"
			       "ffffffff81000020 t longer\n"
			       "ffffffff81000030 t longer\n"
			       "ffffffff81000030 t short\n"
			       "ffffffff81000030 t other\n"
			       "ffffffff81000040 T last\n");
	k = scan(NULL, 0xffffffff81000000, 0xffffffff81000041);
	assert_int_equal(k.nr, 5);
	is_sym(&k, 0, 0, 'T', "_a_global_name");
	is_sym(&k, 1, 0x10, 'w', "_weak");
	is_sym(&k, 2, 0x20, 't', "longer");
	is_sym(&k, 3, 0x30, 't', "short");
	is_sym(&k, 4, 0x40, 'T', "last");
	op_ksyms_release(&k);
	k = scan(NULL, 0xffffffff81000000, 0xffffffff81000040);
	assert_int_equal(k.nr, 4);
	op_ksyms_release(&k);
}

FOLDER_TEST(test_module_symbols)
{
	struct op_ksyms k;

	write_text("kallsyms", kallsyms);
	k = scan("ext4", 0xffffffffc0000000, UINT64_MAX);
	assert_int_equal(k.nr, 3);
	is_sym(&k, 0, 0x1000, 't', "ext4_sync");
	is_sym(&k, 1, 0x1030, 't', "$money");
	is_sym(&k, 2, 0x2000, 't', "init_module");
	op_ksyms_release(&k);
	k = scan("ext4", 0xffffffffc0001000, 0xffffffffc0002000);
	assert_int_equal(k.nr, 2);
	op_ksyms_release(&k);
	k = scan("absent", 0, UINT64_MAX);
	assert_int_equal(k.nr, 0);
	op_ksyms_release(&k);
	k = scan("ext4", UINT64_MAX, 0);
	assert_int_equal(k.nr, 0);
	op_ksyms_release(&k);
}

/* Which name is kept must not depend on the order of the lines. */
FOLDER_TEST(test_choice_of_names)
{
	static const char *const lines[] = {
		"10 t a\n",  "10 T __longer\n", "10 T bbb\n",
		"10 T cc\n", "10 W w\n",
	};

	for (int first = 0; first < 5; first++) {
		char text[256] = "";
		struct op_ksyms k;

		for (int i = 0; i < 5; i++)
			strcat(text, lines[(first + i) % 5]);
		write_text("kallsyms", text);
		k = scan(NULL, 0, 0x100);
		assert_int_equal(k.nr, 1);
		is_sym(&k, 0, 0x10, 'T', "cc");
		op_ksyms_release(&k);
	}
	write_text("kallsyms", "20 T y1\n20 T x1\n");
	{
		struct op_ksyms k = scan(NULL, 0, 0x100);

		is_sym(&k, 0, 0x20, 'T', "y1");
		op_ksyms_release(&k);
	}
}

FOLDER_TEST(test_hidden_addresses)
{
	struct op_ksyms k;
	struct op_diag diag = { "" };

	write_text("kallsyms", "0000000000000000 T _stext\n"
			       "0000000000000000 t f\t[ext4]\n");
	assert_int_equal(scan_file(&k, "kallsyms", NULL, 0, UINT64_MAX, &diag),
			 -EACCES);
	assert_reason(&diag, "kernel.kptr_restrict");
	assert_reason(&diag, "root");
	assert_int_equal(k.nr, 0);
	assert_null(k.syms);
	assert_int_equal(scan_file(&k, "kallsyms", "ext4", 1, 2, NULL),
			 -EACCES);
}

FOLDER_TEST(test_odd_lines_are_passed_over)
{
	static const char text[] = "\n"
				   " \n"
				   "garbage\n"
				   "10\n"
				   "10 T\n"
				   "10 T \n"
				   "10  f\n"
				   "xyz T f\n"
				   "00000000000000011 T too_many_digits\n"
				   "20 T bad\tmodule\n"
				   "20 T bad\t[\n"
				   "20 T bad\t[]\n"
				   "20 T bad\t[m]x\n"
				   "20 T two words\n"
				   "20 T nul\0byte\n"
				   "20 \0 nul\n"
				   "20 T \x01\n"
				   "30 T good\n"
				   "40 T no_newline";
	struct op_ksyms k;

	write_bytes("kallsyms", text, sizeof(text) - 1);
	k = scan(NULL, 0, 0x1000);
	assert_int_equal(k.nr, 2);
	is_sym(&k, 0, 0x30, 'T', "good");
	is_sym(&k, 1, 0x40, 'T', "no_newline");
	op_ksyms_release(&k);
}

FOLDER_TEST(test_no_kallsyms)
{
	struct op_ksyms k;
	struct op_diag diag = { "" };

	assert_int_equal(scan_file(&k, "absent", NULL, 0, 1, &diag), -ENOENT);
	assert_reason(&diag, "absent: ");
	diag.text[0] = '\0';
	write_text("kallsyms", "what is this\n");
	assert_int_equal(scan_file(&k, "kallsyms", NULL, 0, 1, &diag), -EINVAL);
	assert_reason(&diag, "kallsyms: not in the form of /proc/kallsyms");
	write_text("kallsyms", "");
	k = scan(NULL, 0, 1);
	assert_int_equal(k.nr, 0);
	op_ksyms_release(&k);
}

FOLDER_TEST(test_large_kallsyms)
{
	FILE *file = fopen("kallsyms", "w");
	struct op_ksyms k, back;

	for (int i = 0; i < 250000; i++)
		fprintf(file, "%016x %c symbol_of_some_length_%d%s\n",
			0x1000 + (i * 7919 % 250000) * 16, "tTdW"[i % 4], i,
			i % 5 ? "" : "\t[module]");
	assert_int_equal(fclose(file), 0);
	k = scan(NULL, 0x1000, UINT64_MAX);
	assert_int_equal(k.nr, 150000);
	assert_true(k.size == UINT64_MAX - 0x1000);
	for (size_t i = 1; i < k.nr; i++)
		assert_true(k.syms[i].offset > k.syms[i - 1].offset);
	assert_int_equal(op_ksyms_write(&k, "s", "vmlinux",
					&(struct op_build_id){
						20, { 0x01, 0xab, 0xff } },
					NULL),
			 0);
	assert_int_equal(op_ksyms_read(&back, "s", NULL), 0);
	assert_int_equal(back.nr, k.nr);
	for (size_t i = 0; i < k.nr; i++)
		is_sym(&back, i, k.syms[i].offset, k.syms[i].type,
		       k.syms[i].name);
	op_ksyms_release(&back);
	op_ksyms_release(&k);
}

/* The kernel's own file: any answer but a crash, and one that is in order. */
FOLDER_TEST(test_real_kallsyms)
{
	struct op_ksyms k;
	struct op_diag diag = { "" };
	int err = scan_file(&k, "/proc/kallsyms", NULL, 1ULL << 63, UINT64_MAX,
			    &diag);

	if (err) {
		assert_true(err == -EACCES || err == -ENOENT);
		return;
	}
	for (size_t i = 1; i < k.nr; i++)
		assert_true(k.syms[i].offset > k.syms[i - 1].offset);
	op_ksyms_release(&k);
}

/* ---- snapshots --------------------------------------------------------------
 */

FOLDER_TEST(test_snapshot_round_trip)
{
	struct op_ksym syms[] = { { 0, "_text", 'T' },
				  { 0x1f, "f.isra.0", 't' },
				  { UINT64_MAX, "\xc3\xa4$", 'W' } };
	struct op_ksyms k = { .syms = syms, .nr = 3, .size = 1234 }, back;
	struct stat st;

	assert_int_equal(
		op_ksyms_write(&k, "s", "vmlinux",
			       &(struct op_build_id){ 3, { 0x01, 0xab, 0xff } },
			       NULL),
		0);
	assert_memory_equal(text_of("s"),
			    "oprofile symbols 3 vmlinux 01abff 3 ", 36);
	assert_int_equal(stat("s", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0444);
	assert_int_equal(op_ksyms_read(&back, "s", NULL), 0);
	assert_int_equal(back.nr, 3);
	assert_int_equal(back.size, 1234);
	for (size_t i = 0; i < 3; i++)
		is_sym(&back, i, syms[i].offset, syms[i].type, syms[i].name);
	op_ksyms_release(&back);
	k.nr = k.size = 0;
	assert_int_equal(op_ksyms_write(&k, "s", "a b", &no_id, NULL), 0);
	assert_memory_equal(text_of("s"), "oprofile symbols 3 a%20b - 0 0 0\n",
			    33);
	assert_int_equal(op_ksyms_read(&back, "s", NULL), 0);
	assert_int_equal(back.nr, 0);
	op_ksyms_release(&back);
}

/* As they were written before they were packed. */
FOLDER_TEST(test_text_snapshot)
{
	struct op_ksyms k;

	write_text("s", "oprofile symbols 1 vmlinux 01abff\n"
			"0 T _text\n"
			"1f t f.isra.0\n"
			"ffffffffffffffff W \xc3\xa4$\n");
	assert_int_equal(op_ksyms_read(&k, "s", NULL), 0);
	assert_int_equal(k.nr, 3);
	is_sym(&k, 0, 0, 'T', "_text");
	is_sym(&k, 1, 0x1f, 't', "f.isra.0");
	is_sym(&k, 2, UINT64_MAX, 'W', "\xc3\xa4$");
	op_ksyms_release(&k);
	write_text("s", "oprofile symbols 1 a%20b -\n");
	assert_int_equal(op_ksyms_read(&k, "s", NULL), 0);
	assert_int_equal(k.nr, 0);
	op_ksyms_release(&k);
}

static void refuse_write(struct op_ksym a, struct op_ksym b)
{
	struct op_ksym syms[] = { a, b };
	struct op_ksyms k = { .syms = syms, .nr = 2 };
	struct op_diag diag = { "" };

	assert_int_equal(op_ksyms_write(&k, "s", "m", &no_id, &diag), -EINVAL);
	assert_reason(&diag, "s: cannot write");
	assert_int_equal(nr_files(), 0);
}

FOLDER_TEST(test_unreadable_symbols_are_not_written)
{
	const struct op_ksym good = { 5, "f", 't' };
	struct op_ksyms none = { 0 };
	struct op_diag diag = { "" };

	refuse_write(good, (struct op_ksym){ 4, "g", 't' });
	refuse_write(good, (struct op_ksym){ 6, "", 't' });
	refuse_write(good, (struct op_ksym){ 6, "a b", 't' });
	refuse_write(good, (struct op_ksym){ 6, "a\n", 't' });
	refuse_write(good, (struct op_ksym){ 6, "g", '\n' });
	refuse_write(good, (struct op_ksym){ 6, "g", '\0' });
	assert_int_equal(op_ksyms_write(&none, "s", "", &no_id, NULL), -EINVAL);
	assert_int_equal(op_ksyms_write(&none, "x/s", "m", &no_id, &diag),
			 -ENOENT);
	assert_reason(&diag, "x/s: cannot write: No such file");
}

/* A file that could not be read back: of more than 64 MiB, unpacked. */
FOLDER_TEST(test_too_much_is_not_written)
{
	enum { NR = 70000, LEN = 1000 };
	struct op_ksym *syms = calloc(NR, sizeof(*syms));
	struct op_ksyms k = { .syms = syms, .nr = NR };
	/* Neighbours differ from the first letter on, or they would share it.
	 */
	char names[2][LEN + 1];
	struct op_diag diag = { "" };

	assert_non_null(syms);
	for (size_t i = 0; i < 2; i++) {
		memset(names[i], "ab"[i], LEN);
		names[i][LEN] = '\0';
	}
	for (size_t i = 0; i < NR; i++)
		syms[i] = (struct op_ksym){ i, names[i % 2], 'T' };
	assert_int_equal(op_ksyms_write(&k, "s", "m", &no_id, &diag), -EFBIG);
	assert_reason(&diag, "s: cannot write: File too large");
	assert_int_equal(nr_files(), 0);
	free(syms);
}

static void refuse_bytes(const char *bytes, size_t len, const char *reason)
{
	struct op_ksyms k;
	struct op_diag diag = { "" };

	write_bytes("s", bytes, len);
	if (op_ksyms_read(&k, "s", &diag) != -EINVAL)
		fail_msg("%s", bytes);
	assert_reason(&diag, reason);
	assert_null(k.syms);
	assert_null(k.strings);
}

static void refuse(const char *text, const char *reason)
{
	refuse_bytes(text, strlen(text), reason);
}

#define HEAD "oprofile symbols 1 vmlinux 01ab\n"

FOLDER_TEST(test_broken_snapshots)
{
	static const char nul[] = HEAD "0 T a\0b\n";
	struct op_ksyms k;
	struct op_diag diag = { "" };

	assert_int_equal(op_ksyms_read(&k, "absent", &diag), -ENOENT);
	assert_string_equal(diag.text, "");
	assert_int_equal(op_ksyms_read(&k, ".", &diag), -EINVAL);
	refuse("", "empty");
	refuse("\n", "s:1: no snapshot");
	refuse("oprofile symbols 2 vmlinux 01ab\n", "s:1: no snapshot");
	refuse("oprofile symbols 1 vmlinux\n", "s:1: no snapshot");
	refuse("oprofile symbols 1  01ab\n", "s:1: no snapshot");
	refuse("oprofile symbols 1 vmlinux 01a\n", "s:1: no snapshot");
	refuse("oprofile symbols 1 vmlinux 01AB\n", "s:1: no snapshot");
	refuse("oprofile symbols 1 vmlinux \n", "s:1: no snapshot");
	refuse("oprofile symbols 1 vmlinux 01ab x\n", "s:1: no snapshot");
	refuse("oprofile symbols 1 vmlinux 01ab", "s:1: the file is truncated");
	refuse(HEAD "0 T", "s:2: the file is truncated");
	refuse(HEAD "0 T f", "s:2: the file is truncated");
	refuse(HEAD "\n", "s:2: no \"OFFSET");
	refuse(HEAD "0 T \n", "s:2: no \"OFFSET");
	refuse(HEAD "0 TT f\n", "s:2: no \"OFFSET");
	refuse(HEAD "0 1 f\n", "s:2: no \"OFFSET");
	refuse(HEAD "0  f\n", "s:2: no \"OFFSET");
	refuse(HEAD " 0 T f\n", "s:2: no \"OFFSET");
	refuse(HEAD "0x1 T f\n", "s:2: no \"OFFSET");
	refuse(HEAD "-1 T f\n", "s:2: no \"OFFSET");
	refuse(HEAD "00000000000000001 T f\n", "s:2: no \"OFFSET");
	refuse(HEAD "0 T f g\n", "s:2: no \"OFFSET");
	refuse(HEAD "0 T f\n0 T \033[2J\n", "s:3: no \"OFFSET");
	refuse(HEAD "5 T f\n4 T g\n", "s:3: the offsets do not ascend");
	refuse_bytes(nul, sizeof(nul) - 1, "a zero byte");
}

FOLDER_TEST(test_huge_snapshot)
{
	struct op_ksyms k;
	struct op_diag diag = { "" };

	write_text("s", HEAD);
	assert_int_equal(truncate("s", 1LL << 40), 0);
	assert_int_equal(op_ksyms_read(&k, "s", &diag), -EFBIG);
	assert_reason(&diag, "s: larger than");
}
