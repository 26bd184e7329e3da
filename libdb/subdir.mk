# SPDX-License-Identifier: GPL-2.0-or-later
LIBS += libdb
libdb_SRCS := $(wildcard libdb/*/*.c)
