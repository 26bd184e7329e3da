/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PP_PROGRAMS_H
#define TESTS_UNIT_PP_PROGRAMS_H

/* The programs that read sessions. */

#include "pp_program.h"

/* Each main() under a name of its own. */
#define main opannotate_main
int main(int argc, char **argv);
#include "pp/opannotate/opannotate.c"
#undef main
#define main oparchive_main
int main(int argc, char **argv);
#include "pp/oparchive/oparchive.c"
#undef main
#define main opgprof_main
int main(int argc, char **argv);
#include "pp/opgprof/opgprof.c"
#undef main
#define main opmerge_main
int main(int argc, char **argv);
#include "pp/opmerge/opmerge.c"
#undef main
#define main opreport_main
int main(int argc, char **argv);
#include "pp/opreport/opreport.c"
#undef main
#define main opsymbols_main
int main(int argc, char **argv);
#include "pp/opsymbols/opsymbols.c"
#undef main

static const struct program programs[] = {
	{ "opannotate", opannotate_main },
	{ "oparchive", oparchive_main },
	{ "opgprof", opgprof_main },
	{ "opmerge", opmerge_main },
	{ "opreport", opreport_main },
	{ "opsymbols", opsymbols_main },
	{ NULL, NULL },
};

#endif /* TESTS_UNIT_PP_PROGRAMS_H */
