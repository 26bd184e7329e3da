// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Smart and brief names at their limits: what looks like a template of the
 * standard library and is none, brackets that do not match, and names that are
 * too long to look at. Usual names are in test_pp_names.c.
 */

#include "tests/unit/pp_fixture.h"

#include "libpp/symbols/demangle.h"

TEST(names_are_left_as_they_are)
{
	static const struct {
		const char *raw;
		enum pp_demangle how;
		const char *wanted;
	} rows[] = {
		/* A type of one letter. */
		{ "_Z1fN9__gnu_cxx17__normal_iteratorIPK1ASt6vectorIS1_SaIS1_EEEE",
		  PP_DEMANGLE_SMART, "f(std::vector<A>::const_iterator)" },
		{ "_Z1fN9__gnu_cxx17__normal_iteratorIP1ASt6vectorIS1_SaIS1_EEEE",
		  PP_DEMANGLE_SMART, "f(std::vector<A>::iterator)" },
		/* No iterators of a container. */
		{ "_Z1fN9__gnu_cxx17__normal_iteratorIPiEE", PP_DEMANGLE_SMART,
		  "f(__gnu_cxx::__normal_iterator<int*>)" },
		{ "_Z1fN9__gnu_cxx17__normal_iteratorIPiSt6vectorIiSaIiEEiEENS0_IPiSt6vectorIiSaIiEEEE",
		  PP_DEMANGLE_SMART,
		  "f(__gnu_cxx::__normal_iterator<int*, std::vector<int>, int>, std::vector<int>::iterator)" },
		/* Brackets of a comparison. */
		{ "_ZN1AIXltLi1ELi2EEE1fEv", PP_DEMANGLE_BRIEF,
		  "A<(1)<(2)>::f" },
		{ "_ZN1AIXltLi1ELi2EEE1fEv", PP_DEMANGLE_SMART,
		  "A<(1)<(2)>::f()" },
		{ "_ZN1AIXgtLi1ELi2EEE1fEv", PP_DEMANGLE_SMART,
		  "A<((1)>(2))>::f()" },
		/* Pairs of other keys and values, and no pairs. */
		{ "_Z1fSt3mapIilSt4lessIiESaISt4pairIKllEEE", PP_DEMANGLE_SMART,
		  "f(std::map<int, long, std::less<int>, std::allocator<std::pair<long const, long>>>)" },
		{ "_Z1fSt3mapIilSt4lessIiESaISt4pairIKiiEEE", PP_DEMANGLE_SMART,
		  "f(std::map<int, long, std::less<int>, std::allocator<std::pair<int const, int>>>)" },
		{ "_Z1fSt3mapIilSt4lessIiESaISt4pairIilEEE", PP_DEMANGLE_SMART,
		  "f(std::map<int, long, std::less<int>, std::allocator<std::pair<int, long>>>)" },
		{ "_Z1fSt3mapIilSt4lessIiESaISt5tupleIKilEEE",
		  PP_DEMANGLE_SMART,
		  "f(std::map<int, long, std::less<int>, std::allocator<std::tuple<int const, long>>>)" },
		{ "_Z1f1AIiSaISt4pairIKiiEEE", PP_DEMANGLE_SMART,
		  "f(A<int, std::allocator<std::pair<int const, int>>>)" },
		/* Characters of other kinds, and templates that have no other
		 * name. */
		{ "_Z1fSt12basic_stringIhSt11char_traitsIhESaIhEE",
		  PP_DEMANGLE_SMART, "f(std::basic_string<unsigned char>)" },
		{ "_Z1fSt9basic_iosIwSt11char_traitsIwEE", PP_DEMANGLE_SMART,
		  "f(std::wios)" },
		{ "_Z1fSt10basic_thatIcE", PP_DEMANGLE_SMART,
		  "f(std::basic_that<char>)" },
		{ "_Z1fSt9basic_iosIcSt11char_traitsIcEESt13basic_filebufIcSt11char_traitsIcEE",
		  PP_DEMANGLE_SMART, "f(std::ios, std::filebuf)" },
		/* Namespaces of other libraries. */
		{ "_Z1fNSt3__16vectorIiNS_9allocatorIiEEEE", PP_DEMANGLE_SMART,
		  "f(std::vector<int>)" },
		{ "_Z1fNSt6__ndk16vectorIiNS_9allocatorIiEEEE",
		  PP_DEMANGLE_SMART, "f(std::vector<int>)" },
		/* More arguments than are looked at. */
		{ "_Z1f1AIiiiiiiiiiiiiiiiSaIiEE", PP_DEMANGLE_SMART,
		  "f(A<int, int, int, int, int, int, int, int, int, int, int, int, int, int, int>)" },
		{ "_Z1f1AIiiiiiiiiiiiiiiiiSaIiEE", PP_DEMANGLE_SMART,
		  "f(A<int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, std::allocator<int>>)" },
		/* A comparison and a function in template arguments. */
		{ "_ZN1AIXgtLi1ELi2EEE1fEv", PP_DEMANGLE_BRIEF, "A<...>::f" },
		{ "_ZN1AIXgtLi1ELi2EEE1fEv", PP_DEMANGLE_SMART,
		  "A<((1)>(2))>::f()" },
		{ "_ZN1AIFv1BIiEEE1fEv", PP_DEMANGLE_BRIEF, "A<...>::f" },
		/* Rust, of both kinds. */
		{ "_ZN4core3ptr4drop17h0123456789abcdefE", PP_DEMANGLE_SMART,
		  "core::ptr::drop" },
		{ "_RNvC1a1f", PP_DEMANGLE_SMART, "a::f" },
		/* No mangled names, whatever they begin with. */
		{ "_Zf", PP_DEMANGLE_SMART, "_Zf" },
		{ "_R", PP_DEMANGLE_SMART, "_R" },
		{ "Zoo", PP_DEMANGLE_SMART, "Zoo" },
		{ "R", PP_DEMANGLE_SMART, "R" },
		{ "_", PP_DEMANGLE_SMART, "_" },
		{ "", PP_DEMANGLE_SMART, "" },
		{ "Zoo@plt", PP_DEMANGLE_SMART, "Zoo@plt" },
	};
	struct op_arena arena;

	op_arena_init(&arena);
	for (size_t i = 0; i < NR(rows); i++) {
		struct text t;

		fputs(pp_demangle(&arena, rows[i].raw, rows[i].how),
		      text_begin(&t));
		text_must_be(&t, rows[i].raw, rows[i].wanted);
	}
	op_arena_release(&arena);
}

/* Names that Debian's compilers write, and what looks like those. */
TEST(names_of_languages_with_modules)
{
	static const struct {
		const char *raw;
		const char *wanted;
	} rows[] = {
		/* clang-format off */
		/* OCaml. */
		{ "camlWork__alpha_170", "Work.alpha" },
		{ "camlWork.alpha_170", "Work.alpha" },
		{ "camlStdlib__List__iteri_266", "Stdlib.List.iteri" },
		{ "camlWork__fun_1015", "Work.fun_1015" },
		{ "camlWork__leaf_hash_164", "Work.leaf_hash" },
		{ "camlWork__entry", "Work.entry" },
		{ "camlWork__x2_17", "Work.x2" },
		{ "camlStdlib__$5e_140", "Stdlib.^" },
		{ "camlWork__$zz_1", "Work.$zz" },
		{ "camlWork__$", "Work.$" },
		{ "camlWork__12", "Work.12" },
		{ "caml_main", "caml_main" },
		{ "camlot__x_1", "camlot__x_1" },
		{ "camlWork", "camlWork" },
		/* Haskell. */
		{ "Main_zdwleafHash_info", "Main.$wleafHash" },
		{ "Main_alpha_info", "Main.alpha" },
		{ "ghczmprim_GHCziClasses_zdfOrdZMZNzuzdszdccompare1_info", "GHC.Classes.$fOrd[]_$s$ccompare1" },
		{ "base_GHCziShow_Z3T_con_info", "GHC.Show.(,,)" },
		{ "Main_zze9Uz3b1Uz20acU_info", "Main.ze9U\xce\xb1\xe2\x82\xac" },
		{ "Main_Z99T_info", "Main_Z99T_info" },
		{ "Main_zy_info", "Main_zy_info" },
		{ "Main_z_info", "Main_z_info" },
		{ "Main_z0U_info", "Main_z0U_info" },
		{ "Main_z3b1_info", "Main_z3b1_info" },
		{ "Main__info", "Main__info" },
		{ "_info", "_info" },
		{ "Parser_get_info", "Parser_get_info" },
		{ "gtk_Tree_get_info", "gtk_Tree_get_info" },
		{ "Resize_get_info", "Resize_get_info" },
		{ "s4Xh_info", "s4Xh_info" },
		/* D. */
		{ "_D4work4betaFmZm", "work.beta(ulong)" },
		{ "_D4work6Square5alphaMFmZm", "work.Square.alpha(ulong)" },
		{ "_D4work4betaFmZm.constprop.0", "work.beta(ulong).constprop.0" },
		{ "_Dmain", "D main" },
		{ "_D4work", "_D4work" },
		{ "_DTi16_D4work6Square5alphaMFmZm", "thunk to work.Square.alpha(ulong)" },
		{ "_DTi_D4work1fFZv", "_DTi_D4work1fFZv" },
		{ "_DTi16_DTi16_DTi16x", "_DTi16_DTi16_DTi16x" },
		{ "_D4work1fFQzZv", "_D4work1fFQzZv" },
		/* Ada. */
		{ "_ada_work", "work" },
		{ "work__alpha.175", "work.alpha" },
		{ "work__maps__Oeq__2.169", "work.maps.\"=\"" },
		{ "work__leaf_hash.176.constprop.0", "work.leaf_hash.constprop.0" },
		{ "ada__text_io__put_line__2", "ada.text_io.put_line" },
		{ "work__alpha", "work__alpha" },
		{ "work__alpha.isra.0", "work__alpha.isra.0" },
		{ "alpha.175", "alpha.175" },
		{ ".175", ".175" },
		{ "__Bad__.1", "__Bad__.1" },
		/* clang-format on */
	};
	struct op_arena arena;

	op_arena_init(&arena);
	for (size_t i = 0; i < NR(rows); i++) {
		const char *shown =
			pp_demangle(&arena, rows[i].raw, PP_DEMANGLE_SMART);

		assert_string_equal(shown, rows[i].wanted);
	}
	op_arena_release(&arena);
}

/* Parameters of D that each are twice the one before. */
TEST(names_of_d_that_stand_for_gigabytes)
{
	static const struct {
		unsigned int nr;
		bool is_shown;
	} rows[] = { { 8, true }, { 60, false } };
	struct op_arena arena;

	op_arena_init(&arena);
	for (size_t i = 0; i < NR(rows); i++) {
		char name[512], *at = stpcpy(name, "_D4work1fFB2ii");
		const char *shown;

		for (unsigned int n = 0; n < rows[i].nr; n++)
			at = stpcpy(at, n ? "B2QiQk" : "B2QgQi");
		stpcpy(at, "Zv");
		shown = pp_demangle(&arena, name, PP_DEMANGLE_NORMAL);
		assert_true((shown != name) == rows[i].is_shown);
	}
	op_arena_release(&arena);
}

/* The text is twice as long with each of @nr steps. */
static void double_name(char *name, unsigned int nr)
{
	static const char digits[] = "0123456789ABCDEF";

	name = stpcpy(name, "_Z1f1AIiiE");
	for (unsigned int i = 0; i < nr; i++)
		name += sprintf(name, "S_IS%c_S%c_E", digits[i], digits[i]);
}

/* "> >" shows that a name was not looked at. */
TEST(very_long_names_are_not_made_smart)
{
	static const struct {
		unsigned int nr;
		bool is_smart;
	} rows[] = { { 1, true }, { 9, true }, { 10, false } };
	struct op_arena arena;

	op_arena_init(&arena);
	for (size_t i = 0; i < NR(rows); i++) {
		char name[256];
		const char *shown;

		double_name(name, rows[i].nr);
		shown = pp_demangle(&arena, name, PP_DEMANGLE_SMART);
		assert_memory_equal(shown, "f(A<int, int>, ", 15);
		assert_true(!strstr(shown, "> >") == rows[i].is_smart);
	}
	op_arena_release(&arena);
}
