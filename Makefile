# SPDX-License-Identifier: GPL-2.0-or-later
#
# One makefile for the whole tree; each folder says what it holds in its
# subdir.mk. Everything made goes to $(O).
#
# Variables: V=1 O=DIR DEVELOPER=1 SANITIZE=address,undefined KDIR=DIR
# DESTDIR=DIR prefix=DIR CC=... CFLAGS=...

MAKEFLAGS += --no-builtin-rules --no-print-directory
.SUFFIXES:
.DELETE_ON_ERROR:

all:

O ?= build
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)')

# ---- configuration -------------------------------------------------------

# These need no configuration.
UNCONFIGURED := clean dist format demo install-deps

ifneq ($(filter-out $(UNCONFIGURED),$(or $(MAKECMDGOALS),all)),)
-include $(O)/config.mk
endif

CONFIG_INPUTS := $(addprefix $(CURDIR)/,configure.ac config.mk.in config.h.in)

$(O)/config.mk: $(CONFIG_INPUTS)
	$(call say,CONF,$@)
	$(Q)mkdir -p $(O)
	$(Q)command -v autoconf >/dev/null || { \
		echo 'make: autoconf not found; run utils/install-deps or install the Debian package autoconf' >&2; exit 1; }
	$(Q)autoconf -o $(O)/configure configure.ac
	$(Q)cd $(O) && ./configure --quiet --srcdir=$(CURDIR) $(CONFIGURE_ARGS)
	$(Q)touch $@

CFLAGS ?= $(CONFIG_CFLAGS)
ifeq ($(prefix),NONE)
prefix := /usr/local
endif

WARNINGS := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wvla \
	-Wshadow -Wformat=2 -Wundef $(if $(DEVELOPER),-Werror)
SANITIZE_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) \
	-fno-sanitize-recover=all -fno-omit-frame-pointer)
ALL_CFLAGS = -std=gnu11 -I. -I$(O) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	$(WARNINGS) $(CFLAGS) $(SANITIZE_FLAGS) $($(1)_CFLAGS)

# ---- what the folders hold -------------------------------------------------

# subdir.mk files add to these; NAME_SRCS, NAME_LIBS (ours, in link order)
# and NAME_LDLIBS (the system's) describe each.
LIBS :=		# static libraries: $(O)/NAME/NAME.a
PROGS :=	# programs that are installed: $(O)/bin/NAME
TEST_PROGS :=	# programs for tests only: $(O)/tests/NAME
UNIT_TESTS :=	# cmocka programs: $(O)/tests/NAME

SUBDIRS := libdb libop libpp daemon pp utils module tests doc
include $(wildcard $(addsuffix /subdir.mk,$(SUBDIRS)))

objs = $(patsubst %.c,$(O)/%.o,$($(1)_SRCS))

define LIB_RULE
$(O)/$(1)/$(1).a: $(call objs,$(1))
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@ && $$(AR) rcs $$@ $$^
endef
$(foreach lib,$(LIBS),$(eval $(call LIB_RULE,$(lib))))

# $(1) name, $(2) output
define PROG_RULE
$(2): $(call objs,$(1)) $(foreach l,$($(1)_LIBS),$(O)/$(l)/$(l).a)
	$$(call say,LINK,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CFLAGS) $$(SANITIZE_FLAGS) $$(LDFLAGS) -o $$@ $$^ $($(1)_LDLIBS)
endef
$(foreach p,$(PROGS),$(eval $(call PROG_RULE,$(p),$(O)/bin/$(p))))
$(foreach p,$(TEST_PROGS) $(UNIT_TESTS),$(eval $(call PROG_RULE,$(p),$(O)/tests/$(p))))

$(O)/%.o: %.c $(O)/config.mk
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(call ALL_CFLAGS,$(notdir $*)) -MMD -MP -c -o $@ $<

ALL_SRCS := $(foreach x,$(LIBS) $(PROGS) $(TEST_PROGS) $(UNIT_TESTS),$($(x)_SRCS))
-include $(patsubst %.c,$(O)/%.d,$(sort $(ALL_SRCS)))

all: $(PROGS:%=$(O)/bin/%) $(TEST_PROGS:%=$(O)/tests/%)

clean:
	rm -rf $(O)

.PHONY: all clean
