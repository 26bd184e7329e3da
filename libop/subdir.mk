# SPDX-License-Identifier: GPL-2.0-or-later
LIBS += libop
libop_SRCS := $(wildcard libop/*/*.c)
