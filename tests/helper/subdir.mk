# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that tests and benches run, each of one file, and the libraries
# that some of them use.

HELPERS := waits readbuf deepread spin burnmix dlburn forkstorm storm fake_oprofiled fake_perfd \
	noperf canperf control await hold hangfile cost demo_work selfgone insns foldstream \
	cficheck shapes jitcode bpfwork named churn \
	insncheck returncheck elsewhere facts
TEST_PROGS += $(HELPERS)
define HELPER_VARS
$(1)_SRCS := tests/helper/$(1).c
endef
$(foreach h,$(HELPERS),$(eval $(call HELPER_VARS,$(h))))

burnmix_LDLIBS = -L$(O)/tests -lburn -Wl,-rpath,'$$$$ORIGIN'
named_LDLIBS = -lpthread
churn_LDLIBS = -lpthread
storm_LDLIBS = -lpthread
waits_LDLIBS = -lpthread
dlburn_LDLIBS = -lm
control_LIBS := libop
cficheck_LIBS := libcfi libop
cficheck_LDLIBS = $(DEFLATE_LIBS)
insncheck_LIBS := libcfi
returncheck_LIBS := libcfi libop
returncheck_LDLIBS = $(DEFLATE_LIBS)
# With the library that programs get.
jitcode_LDLIBS = -L$(O)/lib -lopagent -Wl,-rpath,'$$$$ORIGIN/../lib' -lpthread
$(O)/tests/jitcode: | $(AGENT_SO)

# So that its stack can be followed either way.
$(O)/tests/helper/spin.o: private OWN_CFLAGS := -fno-omit-frame-pointer

# The model that it compares with is in libdw.
ifneq ($(DW_LIBS),)
TEST_PROGS += unwindcheck
unwindcheck_SRCS := tests/helper/unwindcheck.c
unwindcheck_LIBS := daemon libcfi libdb libop
unwindcheck_LDLIBS = $(DW_LIBS) $(DEFLATE_LIBS)
endif

# NAME-FUNCTION-PADDING
BURN_LIBS := libburn-burn_lib-64 libburn_a-burn_a-64 libburn_b-burn_b-32768
burn_part = $(word $(2),$(subst -, ,$(1)))

# Functions stay in the order of the source; clang does so by itself.
BURN_ORDER = $(if $(findstring clang,$(CC)),,-fno-toplevel-reorder)

define BURN_LIB_RULE
$(O)/tests/$(call burn_part,$(1),1).so: tests/helper/libburn.c $(O)/config.mk
	$$(call say,LINK,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) -std=gnu11 -O2 -g -I. $$(WARNINGS) $$(BURN_ORDER) \
		-shared -fPIC -DBURN_NAME=$(call burn_part,$(1),2) \
		-DBURN_BEFORE=$(call burn_part,$(1),3) -o $$@ $$<
endef
$(foreach l,$(BURN_LIBS),$(eval $(call BURN_LIB_RULE,$(l))))

TEST_FILES += $(foreach l,$(BURN_LIBS),$(O)/tests/$(call burn_part,$(l),1).so)
$(O)/tests/burnmix: | $(O)/tests/libburn.so

# A known call tree, with frame pointers and without.
STACKS_fp := -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer
STACKS_no := -fomit-frame-pointer

define STACKS_RULE
$(O)/tests/stacks_$(1): tests/helper/stacks.c tests/helper/burn.h \
		tests/helper/subdir.mk $(O)/config.mk
	$$(call say,LINK,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) -std=gnu11 -O2 -g -D_GNU_SOURCE -I. $$(WARNINGS) \
		-fno-optimize-sibling-calls $(STACKS_$(1)) -o $$@ $$<
endef
$(foreach s,fp no,$(eval $(call STACKS_RULE,$(s))))
TEST_FILES += $(O)/tests/stacks_fp $(O)/tests/stacks_no

# Programs of 32 bits for machines that run them: by the compiler itself, or by
# clang, which compiles for all machines.
STACKS32_FLAGS = -std=gnu11 -O2 -ffreestanding -fno-omit-frame-pointer \
	-mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls -fno-pic \
	-fno-stack-protector -static -nostdlib $(WARNINGS)
MACHINE := $(shell $(CC) -dumpmachine)
ifneq ($(findstring x86_64,$(MACHINE)),)
STACKS32 := stacks32
STACKS32_CC := $(CC) -m32 -fcf-protection=none
else ifneq ($(findstring aarch64,$(MACHINE)),)
STACKS32 := stacks32 stacks32_thumb
STACKS32_CC := clang --target=armv7a-linux-gnueabi \
	--ld-path=$(shell $(CC) -print-prog-name=ld)
endif
TEST_FILES += $(STACKS32:%=$(O)/tests/%)
$(O)/tests/stacks32_thumb: STACKS32_FLAGS += -mthumb
$(STACKS32:%=$(O)/tests/%): tests/helper/stacks32.c tests/helper/subdir.mk \
		$(O)/config.mk
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(STACKS32_CC) $(STACKS32_FLAGS) -o $@ $<
