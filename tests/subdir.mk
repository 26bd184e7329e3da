# SPDX-License-Identifier: GPL-2.0-or-later
# tests/unit/FOLDER/test_NAME.c is a cmocka program for what is in FOLDER. It may use
# all our libraries.
ifneq ($(CMOCKA_LIBS),)
UNIT_TESTS += $(patsubst tests/%.c,%,$(wildcard $(foreach d,* */* */*/*,tests/unit/$(d)/test_*.c)))
endif
ifeq ($(CURL_LIBS),)
UNIT_TESTS := $(filter-out unit/pp/oppush/test_pp_oppush,$(UNIT_TESTS))
endif
# unit_test NAME...: their names in UNIT_TESTS.
unit_test = $(foreach t,$(1),$(filter %/test_$(t),$(UNIT_TESTS)))
define UNIT_TEST_VARS
$(1)_SRCS := tests/$(1).c
$(1)_LIBS := daemon libpp libcfi libdb libop
$(1)_LDLIBS := $(CMOCKA_LIBS) $(OPCODES_LIBS) $(LIBPP_LDLIBS) $(POPT_LIBS)
endef
$(foreach t,$(UNIT_TESTS),$(eval $(call UNIT_TEST_VARS,$(t))) \
	$(eval $(t)_SRCS += tests/unit/main.c tests/unit/expect.c))
# This one reads messages of pprof.
$(O)/tests/unit/libpp/format/test_pp_pprof.o: $(O)/libpp/format/profile.pb-c.c
# These read streams in words.
$(foreach t,$(call unit_test,opd_codes opd_extended opd_feed opd_feed_account opd_user_stream opd_stack opd_steps opd_trans),$(eval $(t)_SRCS += utils/opstream/stream_text.c))

unit/libagent/test_jvmti_frames_SRCS += libagent/jvmti_frames.c

# What the programs of pp/ are made of, but for their main().
PP_MAINS := $(foreach p,opreport opimport oparchive opmerge opgprof opannotate opsymbols,pp/$(p)/$(p).c)
PP_PARTS := $(wildcard pp/*.c) $(filter-out $(PP_MAINS) pp/optop/% pp/oppush/%,$(wildcard pp/*/*.c))
PP_TESTS := options annotate functions import import_loss loss missing_debug_hint

# These run the programs as a whole, and include the files of main().
PP_TESTS += faults opannotate opimport page_code pages programs
$(foreach t,$(call unit_test,$(PP_TESTS:%=pp_%)),$(eval $(t)_SRCS += $(PP_PARTS)))

unit/pp/opreport/test_pp_opreport_output_SRCS += pp/opreport/opreport_output.c

unit/pp/oppush/test_pp_oppush_SRCS += $(PP_PARTS) $(filter-out pp/oppush/oppush.c,$(wildcard pp/oppush/*.c))
unit/pp/oppush/test_pp_oppush_LDLIBS += $(CURL_LIBS)

unit/pp/oppush/test_pp_push_SRCS += $(patsubst %,pp/oppush/oppush_%.c,pace run spool sums tables write)
unit/pp/oppush/test_pp_push_types_SRCS += $(patsubst %,pp/oppush/oppush_%.c,sums tables write)
unit/pp/oppush/test_pp_push_take_SRCS += $(PP_PARTS) $(patsubst %,pp/oppush/oppush_%.c,spool sums take tables write)
$(foreach t,push push_take push_types oppush,$(O)/tests/unit/pp/oppush/test_pp_$(t).o): $(O)/libpp/format/profile.pb-c.c

# Programs that write streams, sample files, archives and the like for tests, each of
# one file.
WRITERS := mkclassic mkfleet mkksyms mkodb mkpack mkstream mktree
TEST_PROGS += $(WRITERS)
$(foreach w,$(WRITERS),$(eval $(w)_SRCS := tests/helper/writers/$(w).c))
mkfleet_LIBS := libpp libcfi libdb libop
mkfleet_LDLIBS = $(LIBPP_LDLIBS)
mkksyms_LIBS := libop
mkksyms_LDLIBS = $(DEFLATE_LIBS)
mkodb_LIBS := libdb libop
mkpack_LIBS := libdb libop
mkpack_LDLIBS = $(DEFLATE_LIBS) $(ZLIB_LIBS)
mkstream_SRCS += utils/opstream/stream_text.c
mkstream_LIBS := libop
mktree_LIBS := libdb libop

# tests/bench/bench_NAME.c and tests/fuzz/fuzz_NAME.c likewise.
BENCHES := $(patsubst tests/%.c,%,$(wildcard tests/bench/bench_*.c))
TEST_PROGS += $(BENCHES)
FUZZERS += $(patsubst tests/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
$(foreach t,$(BENCHES) $(FUZZERS),$(eval $(call UNIT_TEST_VARS,$(t))))
fuzz/fuzz_profile_SRCS += $(patsubst %,pp/opimport/opimport_%.c,callgrind callgrind_text daemon folded graph pprof profile)

# optop without its screen.
OPTOP_PARTS := $(filter-out pp/optop/optop.c pp/optop/optop_live.c pp/optop/optop_terminal.c,$(wildcard pp/optop/*.c))
$(foreach t,$(call unit_test,optop optop_head) bench/bench_optop,$(eval $(t)_SRCS += $(OPTOP_PARTS)))
# With it: the test has a terminal.
unit/pp/optop/test_pp_optop_SRCS += $(filter-out pp/optop/optop.c,$(wildcard pp/optop/*.c)) pp/options.c pp/progress.c
unit/pp/optop/test_pp_optop_LDLIBS += $(NCURSES_LIBS) -lutil -pthread
