# SPDX-License-Identifier: GPL-2.0-or-later
PROGS += opcontrol opstream

opcontrol_SRCS := $(wildcard utils/opcontrol*.c) utils/process.c
opcontrol_LIBS := libop
opcontrol_LDLIBS = $(POPT_LIBS)

PROGS += operf
operf_SRCS := $(wildcard utils/operf*.c) utils/command.c utils/process.c
operf_LIBS := libop
operf_LDLIBS = $(POPT_LIBS)

opstream_SRCS := utils/opstream.c utils/stream_text.c
opstream_LDLIBS = $(POPT_LIBS)

PROGS += ocount
ocount_SRCS := $(wildcard utils/ocount*.c) utils/command.c
ocount_LIBS := libop
ocount_LDLIBS = $(POPT_LIBS)

PROGS += ophelp
ophelp_SRCS := $(wildcard utils/ophelp*.c)
ophelp_LIBS := libop
ophelp_LDLIBS = $(POPT_LIBS)
