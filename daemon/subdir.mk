# SPDX-License-Identifier: GPL-2.0-or-later
# Everything but main, so that tests can link it.
LIBS += daemon
daemon_SRCS := $(filter-out daemon/oprofiled.c,$(wildcard daemon/*.c daemon/*/*.c daemon/*/*/*.c))

PROGS += oprofiled
oprofiled_SRCS := daemon/oprofiled.c
oprofiled_LIBS := daemon libcfi libdb libop
oprofiled_LDLIBS = $(POPT_LIBS) $(DEFLATE_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS)
