# SPDX-License-Identifier: GPL-2.0-or-later
PROGS += opreport
opreport_SRCS := $(wildcard pp/opreport/*.c) pp/opannotate/opannotate_files.c pp/missing_debug_hint.c pp/row_notes.c \
	pp/options.c pp/progress.c
opreport_LIBS := libpp libcfi libdb libop
opreport_LDLIBS = $(OPCODES_LIBS) $(LIBPP_LDLIBS) $(POPT_LIBS)

PROGS += opimport
opimport_SRCS := $(wildcard pp/opimport/*.c)
opimport_LIBS := libpp libcfi libdb libop
opimport_LDLIBS = $(LIBPP_LDLIBS) $(POPT_LIBS)
$(O)/pp/opimport/opimport_pprof.o: $(O)/libpp/format/profile.pb-c.c

PROGS += oparchive
oparchive_SRCS := $(wildcard pp/oparchive/*.c) pp/options.c pp/progress.c pp/signals.c
oparchive_LIBS := libpp libcfi libdb libop
oparchive_LDLIBS = $(LIBPP_LDLIBS) $(POPT_LIBS)

PROGS += opmerge
opmerge_SRCS := $(wildcard pp/opmerge/*.c) pp/options.c pp/progress.c pp/signals.c
opmerge_LIBS := libpp libcfi libdb libop
opmerge_LDLIBS = $(LIBPP_LDLIBS) $(POPT_LIBS) -pthread

PROGS += opgprof
opgprof_SRCS := $(wildcard pp/opgprof/*.c) pp/options.c pp/progress.c
opgprof_LIBS := libpp libcfi libdb libop
opgprof_LDLIBS = $(LIBPP_LDLIBS) $(POPT_LIBS)

PROGS += opannotate
opannotate_SRCS := $(wildcard pp/opannotate/*.c) pp/missing_debug_hint.c pp/options.c pp/progress.c
opannotate_LIBS := libpp libcfi libdb libop
opannotate_LDLIBS = $(OPCODES_LIBS) $(LIBPP_LDLIBS) $(POPT_LIBS)

PROGS += optop
optop_SRCS := $(wildcard pp/optop/*.c) pp/options.c pp/progress.c
optop_LIBS := libpp libcfi libdb libop
optop_LDLIBS = $(OPCODES_LIBS) $(LIBPP_LDLIBS) $(POPT_LIBS) $(NCURSES_LIBS) -pthread

PROGS += opsymbols
opsymbols_SRCS := $(wildcard pp/opsymbols/*.c) pp/options.c pp/progress.c
opsymbols_LIBS := libpp libcfi libdb libop
opsymbols_LDLIBS = $(LIBPP_LDLIBS) $(POPT_LIBS)

# Without libcurl there is none.
ifneq ($(CURL_LIBS),)
PROGS += oppush
oppush_SRCS := $(wildcard pp/oppush/*.c)
oppush_LIBS := libpp libcfi libop
oppush_LDLIBS = $(CURL_LIBS) $(LIBPP_LDLIBS) $(POPT_LIBS)
$(patsubst pp/%.c,$(O)/pp/%.o,$(wildcard pp/oppush/*.c)): $(O)/libpp/format/profile.pb-c.c
endif
