# SPDX-License-Identifier: GPL-2.0-or-later
PROGS += opcontrol opstream

opcontrol_SRCS := $(wildcard utils/opcontrol*.c)
opcontrol_LIBS := libop
opcontrol_LDLIBS = $(POPT_LIBS)

opstream_SRCS := utils/opstream.c utils/stream_text.c
opstream_LDLIBS = $(POPT_LIBS)
