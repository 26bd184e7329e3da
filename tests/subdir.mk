# SPDX-License-Identifier: GPL-2.0-or-later
# tests/unit/test_NAME.c is a cmocka program that may use all our libraries.
ifneq ($(CMOCKA_LIBS),)
UNIT_TESTS += $(patsubst tests/%.c,%,$(wildcard tests/unit/test_*.c))
endif
ifeq ($(CURL_LIBS),)
UNIT_TESTS := $(filter-out unit/test_pp_oppush,$(UNIT_TESTS))
endif
define UNIT_TEST_VARS
$(1)_SRCS := tests/$(1).c
$(1)_LIBS := daemon libpp libcfi libdb libop
$(1)_LDLIBS := $(CMOCKA_LIBS) $(OPCODES_LIBS) $(LIBPP_LDLIBS) $(POPT_LIBS)
endef
$(foreach t,$(UNIT_TESTS),$(eval $(call UNIT_TEST_VARS,$(t))))
# This one reads messages of pprof.
$(O)/tests/unit/test_pp_pprof.o: $(O)/libpp/format/profile.pb-c.c
# These read streams in words.
$(foreach t,codes extended feed feed_account mine_stream stack steps trans,$(eval unit/test_opd_$(t)_SRCS += utils/opstream/stream_text.c))

# What the programs of pp/ are made of, but for their main().
PP_MAINS := $(foreach p,opreport opimport oparchive opmerge opgprof opannotate opsymbols,pp/$(p)/$(p).c)
PP_PARTS := utils/process.c $(wildcard pp/*.c) $(filter-out $(PP_MAINS) pp/optop/% pp/oppush/%,$(wildcard pp/*/*.c))
$(foreach t,options annotate functions import import_loss loss cure,$(eval unit/test_pp_$(t)_SRCS += $(PP_PARTS)))

# These run the programs as a whole, and include the files of main().
$(foreach t,faults opannotate opimport page_code pages programs,$(eval unit/test_pp_$(t)_SRCS += $(PP_PARTS)))

unit/test_pp_opreport_output_SRCS += pp/opreport/opreport_output.c

unit/test_pp_oppush_SRCS += $(PP_PARTS) $(filter-out pp/oppush/oppush.c,$(wildcard pp/oppush/*.c))
unit/test_pp_oppush_LDLIBS += $(CURL_LIBS)

unit/test_pp_push_SRCS += $(patsubst %,pp/oppush/oppush_%.c,pace run spool sums things write)
unit/test_pp_push_types_SRCS += $(patsubst %,pp/oppush/oppush_%.c,sums things write)
unit/test_pp_push_take_SRCS += $(PP_PARTS) $(patsubst %,pp/oppush/oppush_%.c,spool sums take things write)
$(foreach t,push push_take push_types oppush,$(O)/tests/unit/test_pp_$(t).o): $(O)/libpp/format/profile.pb-c.c

# Small programs that tests run, each of one file in tests/helper/.
TEST_PROGS += mkstream mkodb mktree mkpack mkclassic
mkstream_SRCS := tests/helper/mkstream.c utils/opstream/stream_text.c
mkstream_LIBS := libop
mkodb_SRCS := tests/helper/mkodb.c
mkodb_LIBS := libdb libop
mkpack_SRCS := tests/helper/mkpack.c
mkpack_LIBS := libdb libop
mkpack_LDLIBS = $(DEFLATE_LIBS) $(ZLIB_LIBS)
mktree_SRCS := tests/helper/mktree.c
mktree_LIBS := libdb libop
mkclassic_SRCS := tests/helper/mkclassic.c

# tests/bench/bench_NAME.c and tests/fuzz/fuzz_NAME.c likewise.
BENCHES := $(patsubst tests/%.c,%,$(wildcard tests/bench/bench_*.c))
TEST_PROGS += $(BENCHES)
FUZZERS += $(patsubst tests/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
$(foreach t,$(BENCHES) $(FUZZERS),$(eval $(call UNIT_TEST_VARS,$(t))))
fuzz/fuzz_profile_SRCS += utils/process.c $(patsubst %,pp/opimport/opimport_%.c,callgrind callgrind_text daemon folded graph pprof profile)

# optop without its screen.
OPTOP_PARTS := $(filter-out pp/optop/optop.c pp/optop/optop_live.c pp/optop/optop_terminal.c,$(wildcard pp/optop/*.c))
$(foreach t,unit/test_optop unit/test_optop_head bench/bench_optop,$(eval $(t)_SRCS += $(OPTOP_PARTS)))
# With it: the test has a terminal.
unit/test_pp_optop_SRCS += $(filter-out pp/optop/optop.c,$(wildcard pp/optop/*.c)) pp/options.c pp/progress.c
unit/test_pp_optop_LDLIBS += $(NCURSES_LIBS) -lutil -pthread
