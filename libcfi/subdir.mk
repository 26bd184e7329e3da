# SPDX-License-Identifier: GPL-2.0-or-later
LIBS += libcfi
libcfi_SRCS := $(wildcard libcfi/*.c)
