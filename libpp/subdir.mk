# SPDX-License-Identifier: GPL-2.0-or-later
LIBS += libpp
libpp_SRCS := $(wildcard libpp/*.c)
