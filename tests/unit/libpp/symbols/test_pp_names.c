// SPDX-License-Identifier: GPL-2.0-or-later
/* How names are shown: demangled, shortened, without what would harm a
 * terminal; in which order; and what memory they lie in. */

#include "tests/unit/pp_fixture.h"

#include "libpp/images/symbol_names.h"
#include "libpp/symbols/demangle.h"
#include "libpp/symbols/demangle_java.h"
#include "libpp/report/report.h"
#include "libpp/select/sample_list.h"
#include "libpp/symbols/source_path.h"
#include "libop/base/op_strings.h"

struct name {
	const char *raw, *shown; /* NULL: none */
};

/* ---- demangling ---------------------------------------------------------- */

TEST(java_names_are_demangled)
{
	static const struct name rows[] = {
		{ "Lpkg/Class;method()V", "void pkg.Class.method()" },
		{ "LC;m()V", "void C.m()" },
		{ "LC;m(B)C", "char C.m(byte)" },
		{ "LC;m(DF)I", "int C.m(double, float)" },
		{ "LC;m(JSZ)B", "byte C.m(long, short, boolean)" },
		{ "LC;m([[I)[J", "long[] C.m(int[][])" },
		{ "LC;m(La/B;[Lc/D;)Le/F;", "e.F C.m(a.B, c.D[])" },
		{ "LC;m()D~1", "double C.m()~1" },
		{ "LC;m()F", "float C.m()" },
		{ "LC;m()S", "short C.m()" },
		{ "LC;m()Z", "boolean C.m()" },
		/* What is no such name. */
		{ "", NULL },
		{ "C;m()V", NULL },
		{ "L;m()V", NULL },
		{ "LC;", NULL },
		{ "LC;m", NULL },
		{ "LC;()V", NULL },
		{ "LC;m(V", NULL },
		{ "LC;m()", NULL },
		{ "LC;m()x", NULL },
		{ "LC;m()VV", NULL },
		{ "LC;m()V~", "void C.m()~" },
		{ "LC;m(x)V", NULL },
		{ "LC;m(La/B)V", NULL },
		{ "LC;m([)V", NULL },
		{ "LC;m(L;)V", NULL },
		{ "LC;m()LB", NULL },
		{ "LC;m()[", NULL },
		{ "LC/m()V", NULL },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		char *text = pp_demangle_java(rows[i].raw);
		struct text t;

		fputs(text ? text : "none", text_begin(&t));
		text_must_be(&t, rows[i].raw,
			     rows[i].shown ? rows[i].shown : "none");
		free(text);
	}
}

#define STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"

static void demangles_to(struct op_arena *arena, const char *raw,
			 enum pp_demangle how, const char *wanted)
{
	struct text t;

	fputs(pp_demangle(arena, raw, how), text_begin(&t));
	text_must_be(&t, raw, wanted);
}

TEST(names_are_demangled_as_asked)
{
	static const struct {
		const char *raw, *normal, *smart;
	} rows[] = {
		{ "main", "main", "main" },
		{ "_Z1fi", "f(int)", "f(int)" },
		{ "LC;m()V", "void C.m()", "void C.m()" },
		{ "_Z1f" STRING,
		  "f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >)",
		  "f(std::string)" },
		{ "_Z1fSbIwSt11char_traitsIwESaIwEE",
		  "f(std::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >)",
		  "f(std::wstring)" },
		{ "_Z1fRSt13basic_ostreamIcSt11char_traitsIcEE",
		  "f(std::basic_ostream<char, std::char_traits<char> >&)",
		  "f(std::ostream&)" },
		{ "_Z1fRSt13basic_istreamIcSt11char_traitsIcEE",
		  "f(std::basic_istream<char, std::char_traits<char> >&)",
		  "f(std::istream&)" },
		{ "_Z1fRSt14basic_iostreamIcSt11char_traitsIcEE",
		  "f(std::basic_iostream<char, std::char_traits<char> >&)",
		  "f(std::iostream&)" },
		{ "_Z1fSt6vectorIiSaIiEE",
		  "f(std::vector<int, std::allocator<int> >)",
		  "f(std::vector<int>)" },
		{ "_Z1fSt6vectorIS_IiSaIiEESaIS1_EE",
		  "f(std::vector<std::vector<int, std::allocator<int> >, std::allocator<std::vector<int, std::allocator<int> > > >)",
		  "f(std::vector<std::vector<int>>)" },
		{ "_Z1fSt3mapIiiSt4lessIiESaISt4pairIKiiEEE",
		  "f(std::map<int, int, std::less<int>, std::allocator<std::pair<int const, int> > >)",
		  "f(std::map<int, int>)" },
		{ "_Z1fSt10unique_ptrIiSt14default_deleteIiEE",
		  "f(std::unique_ptr<int, std::default_delete<int> >)",
		  "f(std::unique_ptr<int>)" },
		{ "_Z1fSt13unordered_setIiSt4hashIiESt8equal_toIiESaIiEE",
		  "f(std::unordered_set<int, std::hash<int>, std::equal_to<int>, std::allocator<int> >)",
		  "f(std::unordered_set<int>)" },
		/* clang-format off */
		/* As g++ 12 makes them. */
		{ "_Z2f1RSt6vectorIiSaIiEE",
		  "f1(std::vector<int, std::allocator<int> >&)",
		  "f1(std::vector<int>&)" },
		{ "_Z2f2N9__gnu_cxx17__normal_iteratorIPiSt6vectorIiSaIiEEEENS0_IPKiS4_EENS0_IPcNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEENS0_IPKcSF_EENS0_IPS7_S2_IS7_SaIS7_EEEENS0_IPKS9_S2_IS9_SaIS9_EEEE",
		  "f2(__gnu_cxx::__normal_iterator<int*, std::vector<int, std::allocator<int> > >, __gnu_cxx::__normal_iterator<int const*, std::vector<int, std::allocator<int> > >, __gnu_cxx::__normal_iterator<char*, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >, __gnu_cxx::__normal_iterator<char const*, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >, __gnu_cxx::__normal_iterator<int const**, std::vector<int const*, std::allocator<int const*> > >, __gnu_cxx::__normal_iterator<char* const*, std::vector<char*, std::allocator<char*> > >)",
		  "f2(std::vector<int>::iterator, std::vector<int>::const_iterator, std::string::iterator, std::string::const_iterator, std::vector<int const*>::iterator, std::vector<char*>::const_iterator)" },
		{ "_Z2f3RSt3mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt6vectorIiSaIiEESt4lessIS5_ESaISt4pairIKS5_S8_EEE",
		  "f3(std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::vector<int, std::allocator<int> >, std::less<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >, std::allocator<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const, std::vector<int, std::allocator<int> > > > >&)",
		  "f3(std::map<std::string, std::vector<int>>&)" },
		{ "_Z2f4RSt3setIiSt4lessIiESaIiEERS_IiS0_IvES2_ERS_IiSt7greaterIiES2_ERSt8multimapIlNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES0_IlESaISt4pairIKlSI_EEE",
		  "f4(std::set<int, std::less<int>, std::allocator<int> >&, std::set<int, std::less<void>, std::allocator<int> >&, std::set<int, std::greater<int>, std::allocator<int> >&, std::multimap<long, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::less<long>, std::allocator<std::pair<long const, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > > >&)",
		  "f4(std::set<int>&, std::set<int, std::less<void>>&, std::set<int, std::greater<int>>&, std::multimap<long, std::string>&)" },
		{ "_Z2f5RSt13unordered_mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiSt4hashIS5_ESt8equal_toIS5_ESaISt4pairIKS5_iEEERSt13unordered_setIlS6_IlES8_IlESaIlEE",
		  "f5(std::unordered_map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int, std::hash<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >, std::equal_to<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >, std::allocator<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const, int> > >&, std::unordered_set<long, std::hash<long>, std::equal_to<long>, std::allocator<long> >&)",
		  "f5(std::unordered_map<std::string, int>&, std::unordered_set<long>&)" },
		{ "_Z2f6St17basic_string_viewIcSt11char_traitsIcEES_IwS0_IwEERNSt7__cxx1118basic_stringstreamIcS1_SaIcEEERNS5_19basic_ostringstreamIwS3_SaIwEEERSt14basic_ofstreamIcS1_ERNS5_12basic_stringIDsS0_IDsESaIDsEEERSoRNSH_IwS3_SB_EE",
		  "f6(std::basic_string_view<char, std::char_traits<char> >, std::basic_string_view<wchar_t, std::char_traits<wchar_t> >, std::__cxx11::basic_stringstream<char, std::char_traits<char>, std::allocator<char> >&, std::__cxx11::basic_ostringstream<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >&, std::basic_ofstream<char, std::char_traits<char> >&, std::__cxx11::basic_string<char16_t, std::char_traits<char16_t>, std::allocator<char16_t> >&, std::ostream&, std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >&)",
		  "f6(std::string_view, std::wstring_view, std::stringstream&, std::wostringstream&, std::ofstream&, std::basic_string<char16_t>&, std::ostream&, std::wstring&)" },
		{ "_Z2f7St10unique_ptrIiSt14default_deleteIiEES_IA_NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES0_IS9_EESt10shared_ptrIiES_I8_IO_FILEPFiPSE_EE",
		  "f7(std::unique_ptr<int, std::default_delete<int> >, std::unique_ptr<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > [], std::default_delete<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > []> >, std::shared_ptr<int>, std::unique_ptr<_IO_FILE, int (*)(_IO_FILE*)>)",
		  "f7(std::unique_ptr<int>, std::unique_ptr<std::string []>, std::shared_ptr<int>, std::unique_ptr<_IO_FILE, int (*)(_IO_FILE*)>)" },
		{ "_Z2f8RSt14priority_queueIiSt6vectorIiSaIiEESt4lessIiEERSt5dequeINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaISD_EERNS8_4listISt4pairIiiESaISJ_EEERSt5stackIiS7_IiS1_EERSt12forward_listIiS1_E",
		  "f8(std::priority_queue<int, std::vector<int, std::allocator<int> >, std::less<int> >&, std::deque<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > >&, std::__cxx11::list<std::pair<int, int>, std::allocator<std::pair<int, int> > >&, std::stack<int, std::deque<int, std::allocator<int> > >&, std::forward_list<int, std::allocator<int> >&)",
		  "f8(std::priority_queue<int, std::vector<int>>&, std::deque<std::string>&, std::list<std::pair<int, int>>&, std::stack<int, std::deque<int>>&, std::forward_list<int>&)" },
		{ "_Z2f9St8functionIFvSt6vectorIiSaIiEENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEESt8optionalIS2_ESt7variantIJiS8_EESt5tupleIJS8_iEE",
		  "f9(std::function<void (std::vector<int, std::allocator<int> >, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >)>, std::optional<std::vector<int, std::allocator<int> > >, std::variant<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >, std::tuple<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int>)",
		  "f9(std::function<void (std::vector<int>, std::string)>, std::optional<std::vector<int>>, std::variant<int, std::string>, std::tuple<std::string, int>)" },
		{ "_Z2g1RSt6vectorIi4poolIiEERSt3mapIii7my_lessSaISt4pairIKiiEEERNSt7__cxx1112basic_stringIcSt11char_traitsIcES0_IcEEE",
		  "g1(std::vector<int, pool<int> >&, std::map<int, int, my_less, std::allocator<std::pair<int const, int> > >&, std::__cxx11::basic_string<char, std::char_traits<char>, pool<char> >&)",
		  "g1(std::vector<int, pool<int>>&, std::map<int, int, my_less>&, std::basic_string<char, std::char_traits<char>, pool<char>>&)" },
		{ "_Z2g2RSt3setIiSt4lessIiESaIiEE",
		  "g2(std::set<int, std::less<int>, std::allocator<int> >&)",
		  "g2(std::set<int>&)" },
		{ "_Z2g2RSt3setIiSt4lessIvESaIiEE",
		  "g2(std::set<int, std::less<void>, std::allocator<int> >&)",
		  "g2(std::set<int, std::less<void>>&)" },
		{ "_Z2g3RNSt7__cxx1111basic_regexIcNS_12regex_traitsIcEEEERNS_13match_resultsIN9__gnu_cxx17__normal_iteratorIPKcNS_12basic_stringIcSt11char_traitsIcESaIcEEEEESaINS_9sub_matchISF_EEEEESt13_Bit_iterator",
		  "g3(std::__cxx11::basic_regex<char, std::__cxx11::regex_traits<char> >&, std::__cxx11::match_results<__gnu_cxx::__normal_iterator<char const*, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >, std::allocator<std::__cxx11::sub_match<__gnu_cxx::__normal_iterator<char const*, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > > > >&, std::_Bit_iterator)",
		  "g3(std::basic_regex<char, std::regex_traits<char>>&, std::match_results<std::string::const_iterator, std::allocator<std::sub_match<std::string::const_iterator>>>&, std::_Bit_iterator)" },
		{ "_ZNSt6vectorIiSaIiEE17_M_realloc_insertIJiEEEvN9__gnu_cxx17__normal_iteratorIPiS1_EEDpOT_",
		  "void std::vector<int, std::allocator<int> >::_M_realloc_insert<int>(__gnu_cxx::__normal_iterator<int*, std::vector<int, std::allocator<int> > >, int&&)",
		  "void std::vector<int>::_M_realloc_insert<int>(std::vector<int>::iterator, int&&)" },
		{ "_ZNSt8_Rb_treeINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt4pairIKS5_St6vectorIiSaIiEEESt10_Select1stISB_ESt4lessIS5_ESaISB_EE8_M_eraseEPSt13_Rb_tree_nodeISB_E",
		  "std::_Rb_tree<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const, std::vector<int, std::allocator<int> > >, std::_Select1st<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const, std::vector<int, std::allocator<int> > > >, std::less<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >, std::allocator<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const, std::vector<int, std::allocator<int> > > > >::_M_erase(std::_Rb_tree_node<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const, std::vector<int, std::allocator<int> > > >*)",
		  "std::_Rb_tree<std::string, std::pair<std::string const, std::vector<int>>, std::_Select1st<std::pair<std::string const, std::vector<int>>>>::_M_erase(std::_Rb_tree_node<std::pair<std::string const, std::vector<int>>>*)" },
		{ "_ZSt16__introsort_loopIN9__gnu_cxx17__normal_iteratorIPiSt6vectorIiSaIiEEEElNS0_5__ops15_Iter_less_iterEEvT_S9_T0_T1_",
		  "void std::__introsort_loop<__gnu_cxx::__normal_iterator<int*, std::vector<int, std::allocator<int> > >, long, __gnu_cxx::__ops::_Iter_less_iter>(__gnu_cxx::__normal_iterator<int*, std::vector<int, std::allocator<int> > >, __gnu_cxx::__normal_iterator<int*, std::vector<int, std::allocator<int> > >, long, __gnu_cxx::__ops::_Iter_less_iter)",
		  "void std::__introsort_loop<std::vector<int>::iterator, long, __gnu_cxx::__ops::_Iter_less_iter>(std::vector<int>::iterator, std::vector<int>::iterator, long, __gnu_cxx::__ops::_Iter_less_iter)" },
		{ "_Z1fN9__gnu_cxx17__normal_iteratorIPK1ASt6vectorIS1_SaIS1_EEEE",
		  "f(__gnu_cxx::__normal_iterator<A const*, std::vector<A, std::allocator<A> > >)",
		  "f(std::vector<A>::const_iterator)" },
		/* clang-format on */
		/* Stubs and versions; an "@" that begins a name is part of it.
		 */
		{ "_ZNSt6vectorIiSaIiEE4growEv@plt",
		  "std::vector<int, std::allocator<int> >::grow()@plt",
		  "std::vector<int>::grow()@plt" },
		{ "_Z1fv@@V_1", "f()@@V_1", "f()@@V_1" },
		{ "malloc@plt", "malloc@plt", "malloc@plt" },
		{ "@_Z1fv", "@_Z1fv", "@_Z1fv" },
		/* An allocator that is no default, and one that is no last. */
		{ "_Z1fSt6vectorIi1ASaIiEE",
		  "f(std::vector<int, A, std::allocator<int> >)",
		  "f(std::vector<int, A>)" },
		{ "_Z1fi"
		  "SaIiEi",
		  "f(int, std::allocator<int>, int)",
		  "f(int, std::allocator<int>, int)" },
	};
	struct op_arena arena;

	op_arena_init(&arena);
	for (size_t i = 0; i < NR(rows); i++) {
		demangles_to(&arena, rows[i].raw, PP_DEMANGLE_NORMAL,
			     rows[i].normal);
		demangles_to(&arena, rows[i].raw, PP_DEMANGLE_SMART,
			     rows[i].smart);
		assert_ptr_equal(pp_demangle(&arena, rows[i].raw,
					     PP_DEMANGLE_NONE),
				 rows[i].raw);
	}
	op_arena_release(&arena);
}

TEST(names_are_recognized_in_brief)
{
	static const struct {
		const char *raw, *brief;
	} rows[] = {
		{ "main", "main" },
		{ "_Z1fi", "f" },
		{ "_ZNSt6vectorIiSaIiEE4growEv", "std::vector<...>::grow" },
		{ "_ZNSt6vectorIiSaIiEE4growEv@plt",
		  "std::vector<...>::grow@plt" },
		/* Arguments that are shorter than what stands for them. */
		{ "_ZN1a1fI1bEEvv", "a::f<b>" },
		{ "_ZN1a1fIiEEvv", "a::f<...>" },
		{ "_ZN1a1fI2bcEEvv", "a::f<bc>" },
		{ "_ZN1aIiE1bIiE1fEv", "a<...>::b<...>::f" },
		{ "_ZN3boxltERKS_", "box::operator<" },
		{ "_ZN3boxlsEi", "box::operator<<" },
		{ "_ZN1aIlEltERKS0_", "a<...>::operator<" },
		{ "_ZN1aIlElsIlEEvT_", "a<...>::operator<< <...>" },
	};
	struct op_arena arena;

	op_arena_init(&arena);
	for (size_t i = 0; i < NR(rows); i++)
		demangles_to(&arena, rows[i].raw, PP_DEMANGLE_BRIEF,
			     rows[i].brief);
	op_arena_release(&arena);
}

/* A name whose text is twice as long with each of @nr steps. */
static void double_cxx_name(char *name, unsigned int nr)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	name = stpcpy(name, "_Z1f1AIiiE");
	for (unsigned int i = 0; i < nr; i++)
		name += sprintf(name, "S_IS%c_S%c_E", digits[i], digits[i]);
}

/* Likewise of tuples in tuples; a reference is where the one before begins. */
static void double_rust_name(char *name, unsigned int nr)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *start = name + 2, *at;
	unsigned int last = 8;

	at = stpcpy(name, "_RINvC1a1fTllE");
	for (unsigned int i = 0; i < nr; i++) {
		char ref[8];
		unsigned int here = (unsigned int)(at - start);

		if (last <= 62)
			sprintf(ref, "B%c_", digits[last - 1]);
		else
			sprintf(ref, "B%c%c_", digits[(last - 1) / 62],
				digits[(last - 1) % 62]);
		at += sprintf(at, "T%s%sE", ref, ref);
		last = here;
	}
	strcpy(at, "E");
}

/* A short name may stand for gigabytes: it is shown as it is. */
TEST(long_names_stay_mangled)
{
	static const struct {
		void (*make)(char *name, unsigned int nr);
		unsigned int nr;
		bool is_demangled;
	} rows[] = {
		{ double_cxx_name, 10, true },	{ double_cxx_name, 12, true },
		{ double_cxx_name, 13, false }, { double_cxx_name, 24, false },
		{ double_rust_name, 10, true }, { double_rust_name, 24, false },
	};
	struct op_arena arena;

	op_arena_init(&arena);
	for (size_t i = 0; i < NR(rows); i++) {
		char name[512];
		const char *shown;

		rows[i].make(name, rows[i].nr);
		shown = pp_demangle(&arena, name, PP_DEMANGLE_NORMAL);
		if ((shown != name) != rows[i].is_demangled)
			fail_msg("%s", name);
		assert_true(rows[i].is_demangled == (strlen(shown) > 10000));
	}
	op_arena_release(&arena);
}

/* Both kinds of strings that libstdc++ has are std::string to a reader. */
TEST(smart_names_are_told_apart)
{
	static const struct {
		const char *raw, *shown;
	} rows[] = {
		{ "_Z1f" STRING, "f(std::string)" },
		{ "_Z1fSbIcSt11char_traitsIcESaIcEE",
		  "f(std::basic_string<char, std::char_traits<char>, std::allocator<char> >)" },
		{ "_Z1f" STRING, "f(std::string)" },
		{ "_Z1gi", "g(int)" },
		{ "_ZN1AC1Ev", "A::A()" },
		{ "_ZN1AC2Ev", "A::A() [_ZN1AC2Ev]" },
		{ "_ZN1AC1Ev", "A::A()" },
	};
	struct pp_symbol_names names = { 0 };
	struct op_arena arena;

	op_arena_init(&arena);
	for (size_t i = 0; i < NR(rows); i++)
		assert_string_equal(pp_symbol_name(&names, &arena, rows[i].raw,
						   PP_DEMANGLE_SMART),
				    rows[i].shown);
	assert_int_equal(names.nr, 5);
	assert_string_equal(pp_symbol_name(&names, &arena, "_ZN1AC2Ev",
					   PP_DEMANGLE_NORMAL),
			    "A::A()");
	pp_symbol_names_release(&names);
	op_arena_release(&arena);
}

/* ---- images -------------------------------------------------------------- */

TEST(images_have_names)
{
	static const struct {
		struct op_image_name image;
		const char *name, *base;
	} rows[] = {
		{ { .space = OP_SPACE_ROOT, .name = "/usr/bin/x" },
		  "/usr/bin/x",
		  "x" },
		{ { .space = OP_SPACE_ROOT, .name = "/x/" }, "/x/", "/x/" },
		{ { .space = OP_SPACE_ROOT, .name = "x/y" }, "x/y", "x/y" },
		{ { .space = OP_SPACE_KERN, .name = "vmlinux" },
		  "/vmlinux",
		  "vmlinux" },
		{ { .space = OP_SPACE_KERN, .name = "/a/b.ko" },
		  "/a/b.ko",
		  "b.ko" },
		{ { .space = OP_SPACE_KERN, .name = "[vdso]" },
		  "[vdso]",
		  "[vdso]" },
		{ { .space = OP_SPACE_ANON,
		    .name = "anon",
		    .tgid = 7,
		    .start = 0x1000,
		    .end = 0xffff000000000000 },
		  "anon (tgid:7 range:0x1000-0xffff000000000000)",
		  "anon (tgid:7 range:0x1000-0xffff000000000000)" },
		{ { .space = OP_SPACE_ANON, .name = "[heap]", .tgid = 1 },
		  "[heap] (tgid:1 range:0x0-0x0)",
		  "[heap] (tgid:1 range:0x0-0x0)" },
	};
	struct op_arena arena;

	op_arena_init(&arena);
	for (size_t i = 0; i < NR(rows); i++) {
		const char *name = pp_image_name(&arena, &rows[i].image);

		assert_string_equal(name, rows[i].name);
		assert_string_equal(pp_base_name(name), rows[i].base);
	}
	op_arena_release(&arena);
}

/* ---- source files -------------------------------------------------------- */

TEST(source_paths_are_joined)
{
	static const struct {
		const char *dir, *sub, *name, *path;
	} rows[] = {
		{ "/src", "sub", "a.c", "/src/sub/a.c" },
		{ "/src", NULL, "a.c", "/src/a.c" },
		{ NULL, NULL, "a.c", "a.c" },
		{ "/src", "/other", "a.c", "/other/a.c" },
		{ "/src", "/other", "/a.c", "/a.c" },
		{ "src", NULL, "/a.c", "/a.c" },
		{ "/src/", "./sub//", "./a.c", "/src/sub/a.c" },
		{ "/src", "../x", "a.c", "/x/a.c" },
		{ "/src", "../../..", "a.c", "/a.c" },
		{ "src", "..", "a.c", "a.c" },
		{ "src", "../..", "a.c", "../a.c" },
		{ "src", "../../..", "a.c", "../../a.c" },
		{ "..", "..", "a.c", "../../a.c" },
		{ ".", ".", "a.c", "a.c" },
		{ "/", "", "a.c", "/a.c" },
		{ "", "", "", "" },
		{ "/", NULL, "..", "/" },
		{ "a", "b", "../c", "a/c" },
		{ "/..a", "b..", "...", "/..a/b../..." },
		{ "a/b/c", "../../..", "x", "x" },
		{ ".a", NULL, "x", ".a/x" },
		{ "ab", "..", "..", ".." },
		/* Of Windows. */
		{ "/src", NULL, "C:\\x\\a.c", "C:/x/a.c" },
		{ "C:\\src", "sub\\dir", "..\\a.c", "C:/src/sub/a.c" },
		{ "C:/src", "D:\\", "a.c", "D:/a.c" },
		{ "C:\\src", NULL, "/a.c", "/a.c" },
		{ "c:\\", "..", "..\\a.c", "c:/a.c" },
		{ "/src", NULL, "C:a.c", "/src/C:a.c" },
		{ "/src", NULL, "a\\b.c", "/src/a\\b.c" },
		{ "/src", NULL, "1:\\b.c", "/src/1:\\b.c" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		char *path = pp_source_path_join(rows[i].dir, rows[i].sub,
						 rows[i].name);
		struct text t;

		fputs(path, text_begin(&t));
		text_must_be(&t, rows[i].path, rows[i].path);
		free(path);
	}
}

/* ---- strings and memory -------------------------------------------------- */

TEST(equal_strings_are_one)
{
	enum { NR_NAMES = 3000 };
	static const char *kept[NR_NAMES];
	struct op_strings strings;
	struct op_arena arena;
	char name[32];

	op_arena_init(&arena);
	op_strings_init(&strings, &arena);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < NR_NAMES; i++) {
			const char *at;

			snprintf(name, sizeof(name), "%d", i * 7919);
			at = op_strings_add(&strings, name);
			assert_string_equal(at, name);
			assert_ptr_not_equal(at, name);
			if (round)
				assert_ptr_equal(at, kept[i]);
			kept[i] = at;
		}
	assert_int_equal(strings.nr, NR_NAMES);
	assert_string_equal(op_strings_add(&strings, ""), "");
	op_strings_release(&strings);
	assert_int_equal(strings.nr, 0);
	/* The texts stay. */
	assert_string_equal(kept[1], "7919");
	op_arena_release(&arena);
}

TEST(arenas_give_memory_of_zeros)
{
	static const struct {
		size_t nr, size;
	} rows[] = {
		{ 0, 8 },	{ 1, 1 },     { 3, 7 },	    { 1, 16383 },
		{ 1, 16384 },	{ 1, 16385 }, { 4, 30000 }, { 1, 65536 },
		{ 1, 1 << 20 }, { 100, 100 }, { 1, 48000 }, { 1, 1 },
	};
	struct op_arena arena;
	unsigned char *last = NULL;

	op_arena_init(&arena);
	for (int round = 0; round < 20; round++)
		for (size_t i = 0; i < NR(rows); i++) {
			size_t len = rows[i].nr * rows[i].size;
			unsigned char *p = op_arena_alloc(&arena, rows[i].nr,
							  rows[i].size);

			assert_non_null(p);
			assert_ptr_not_equal(p, last);
			assert_int_equal((uintptr_t)p % 16, 0);
			for (size_t k = 0; k < len; k++)
				assert_int_equal(p[k], 0);
			memset(p, 0xff, len);
			last = p;
		}
	assert_null(op_arena_alloc(&arena, SIZE_MAX, 2));
	assert_null(op_arena_alloc(&arena, SIZE_MAX / 2, 1));
	assert_null(op_arena_grow(&arena, last, (SIZE_MAX >> 1) + 1, 1));
	assert_string_equal(op_arena_printf(&arena, "%d-%s", 5, "x"), "5-x");
	assert_string_equal(op_arena_printf(&arena, "%s", ""), "");
	op_arena_release(&arena);
	assert_null(arena.blocks);
}

/* Room doubles; what was there is kept, and elsewhere only then. */
TEST(arrays_grow)
{
	struct op_arena arena;
	uint64_t *array = NULL;
	int nr_moves = 0;

	op_arena_init(&arena);
	for (uint64_t nr = 0; nr < 1000; nr++) {
		uint64_t *grown =
			op_arena_grow(&arena, array, nr, sizeof(*array));

		nr_moves += grown != array;
		array = grown;
		array[nr] = nr;
	}
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(array[i], i);
	assert_int_equal(nr_moves, 11);
	op_arena_release(&arena);
}

/* Large ones have a place of their own among what else there is. */
TEST(arrays_grow_large)
{
	static const size_t sizes[] = { 8, 40, 20000, 100000 };
	unsigned char *array[NR(sizes)] = { NULL };
	struct op_arena arena;
	char *text = NULL;

	op_arena_init(&arena);
	for (size_t nr = 0; nr < 3000; nr++)
		for (size_t k = 0; k < NR(sizes); k++) {
			size_t size = sizes[k];

			if (nr * size > 4000000)
				continue;
			array[k] = op_arena_grow(&arena, array[k], nr, size);
			assert_non_null(array[k]);
			for (size_t i = 0; i < size; i += 7)
				assert_int_equal(array[k][nr * size + i], 0);
			memset(array[k] + nr * size, (int)(nr % 255), size);
			text = op_arena_printf(&arena, "%zu", nr);
		}
	assert_string_equal(text, "2999");
	for (size_t k = 0; k < NR(sizes); k++)
		for (size_t i = 0; i < 3000 && i * sizes[k] <= 4000000; i++)
			assert_int_equal(array[k][i * sizes[k]], i % 255);
	op_arena_release(&arena);
}

TEST(messages_are_clean_lines)
{
	char longer[9000];
	struct op_arena arena;
	struct pp_messages messages = { .arena = &arena };

	op_arena_init(&arena);
	pp_message(&messages, PP_REMARK_BFD, "%s", "a\x01\x1f \x7e\x7f\xc3\n");
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	pp_message(&messages, PP_WARNING, "%s", longer);
	assert_int_equal(messages.nr, 2);
	assert_int_equal(messages.list[0].kind, PP_REMARK_BFD);
	assert_string_equal(messages.list[0].text, "a?\? ~?\xc3?");
	assert_int_equal(strlen(messages.list[1].text), 8191);
	op_arena_release(&arena);
}

/* ---- order --------------------------------------------------------------- */

static const struct pp_image images[] = {
	{ .name = "/z/a" },
	{ .name = "/y/b" },
	{ .name = "/x/a" },
};

/* Each letter is a symbol; they begin in the order of the alphabet. */
static const struct pp_symbol_entry entries[] = {
	{ .app = "/p/z",
	  .image = &images[0],
	  .name = "A",
	  .vma = 30,
	  .counts = (const uint64_t[]){ 5, 9 },
	  .place = { "/b/x.c", 9 } },
	{ .app = "/q/y",
	  .image = &images[1],
	  .name = "B",
	  .vma = 10,
	  .counts = (const uint64_t[]){ 7, 1 },
	  .place = { "/a/y.c", 1 } },
	{ .app = "/o/z",
	  .image = &images[2],
	  .name = "C",
	  .vma = 20,
	  .counts = (const uint64_t[]){ 5, 2 },
	  .place = { "/b/x.c", 10 } },
	{ .app = "/p/z",
	  .image = &images[0],
	  .name = "D",
	  .vma = UINT64_MAX,
	  .counts = (const uint64_t[]){ 0, 3 },
	  .old_counts = (const uint64_t[]){ 6, 0 },
	  .presence = PP_GONE },
	{ .app = "/p/z",
	  .image = &images[0],
	  .name = "E",
	  .vma = 0,
	  .counts = (const uint64_t[]){ 1, 0 },
	  .old_counts = (const uint64_t[]){ 100, 0 },
	  .place = { "/c/x.c", 2 } },
};

TEST(symbols_are_sorted)
{
	static const struct {
		const char *keys;
		bool reverse, long_names;
		const char *order;
	} rows[] = {
		/* The samples, then image, app, symbol, line, address. */
		{ NULL, false, false, "BDCAE" },
		{ "sample", false, false, "BDCAE" },
		{ "", true, false, "EACDB" },
		{ "image", false, false, "CDAEB" },
		{ "image", false, true, "CBDAE" },
		{ "app-name", false, false, "BCDAE" },
		{ "app-name", false, true, "CDAEB" },
		{ "symbol", false, false, "ABCDE" },
		{ "symbol", true, false, "EDCBA" },
		{ "debug", false, false, "DACEB" },
		{ "debug", false, true, "DBACE" },
		{ "vma", false, false, "EBCAD" },
		{ "vma", true, false, "DACBE" },
		{ "image,symbol", false, false, "CADEB" },
		{ "symbol,symbol,image", false, false, "ABCDE" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct pp_symbol_entry own[NR(entries)];
		struct pp_sort sort = { .reverse = rows[i].reverse,
					.nr_counts = 1,
					.long_names = rows[i].long_names };
		struct text t;
		FILE *out = text_begin(&t);

		assert_int_equal(pp_sort_init(&sort, rows[i].keys, NULL), 0);
		memcpy(own, entries, sizeof(own));
		assert_int_equal(pp_sort_symbols(&sort, own, NR(own)), 0);
		for (size_t k = 0; k < NR(own); k++)
			fputs(own[k].name, out);
		text_must_be(&t, rows[i].keys ? rows[i].keys : "NULL",
			     rows[i].order);
	}
	assert_int_equal(pp_sort_symbols(&(struct pp_sort){ 0 }, NULL, 0), 0);
}

TEST(keys_of_the_order_are_completed)
{
	static const struct {
		const char *text, *keys;
	} rows[] = {
		{ NULL, "01234567" },
		{ "", "01234567" },
		{ "vma,debug,symbol,app-name,image,sample", "65432017" },
		{ "vma,vma", "60123457" },
		{ "symbol,", "40123567" },
		{ "total", "10234567" },
		{ "sampl",
		  "--sort=sampl: unknown key; use sample, total, image, "
		  "app-name, symbol, debug, vma or diff" },
		{ "samples",
		  "--sort=samples: unknown key; use sample, total, image, "
		  "app-name, symbol, debug, vma or diff" },
		{ "vma,,",
		  "--sort=: unknown key; use sample, total, image, app-name, "
		  "symbol, debug, vma or diff" },
		{ "vma,x,y", "--sort=x: unknown key; use sample, total, image, "
			     "app-name, symbol, debug, vma or diff" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct op_diag diag = { "" };
		struct pp_sort sort = { 0 };
		struct text t;
		FILE *out = text_begin(&t);
		int err = pp_sort_init(&sort, rows[i].text, &diag);

		assert_int_equal(err, diag.text[0] ? -EINVAL : 0);
		fputs(diag.text, out);
		for (size_t k = 0; !err && k < PP_NR_SORT_KEYS; k++)
			fprintf(out, "%d", sort.keys[k]);
		text_must_be(&t, rows[i].keys, rows[i].keys);
	}
}

TEST(counts_stay_at_the_largest)
{
	static const struct {
		uint64_t a, b, sum;
	} rows[] = {
		{ 0, 0, 0 },
		{ 1, 2, 3 },
		{ UINT64_MAX, 0, UINT64_MAX },
		{ 0, UINT64_MAX, UINT64_MAX },
		{ UINT64_MAX - 1, 1, UINT64_MAX },
		{ UINT64_MAX - 2, 1, UINT64_MAX - 1 },
		{ UINT64_MAX, 1, UINT64_MAX },
		{ UINT64_MAX, UINT64_MAX, UINT64_MAX },
	};

	for (size_t i = 0; i < NR(rows); i++)
		assert_int_equal(pp_add_counts(rows[i].a, rows[i].b),
				 rows[i].sum);
}
