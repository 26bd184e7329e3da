# SPDX-License-Identifier: GPL-2.0-or-later
# What every program needs that takes events by name.
EVENT_SRCS := utils/event_machine.c utils/event_list.c
# What a client of the daemon needs.
DAEMON_SRCS := utils/daemon.c utils/say.c utils/symbols.c

PROGS += opcontrol opstream

opcontrol_SRCS := $(wildcard utils/opcontrol/*.c) $(DAEMON_SRCS) $(EVENT_SRCS)
opcontrol_LIBS := libop
opcontrol_LDLIBS = $(POPT_LIBS)

PROGS += operf
operf_SRCS := $(wildcard utils/operf/*.c) utils/command.c \
	utils/daemon_child.c $(DAEMON_SRCS) $(EVENT_SRCS)
operf_LIBS := libop
operf_LDLIBS = $(POPT_LIBS)

opstream_SRCS := utils/opstream/opstream.c utils/opstream/stream_text.c
opstream_LIBS := libop
opstream_LDLIBS = $(POPT_LIBS)

PROGS += ocount
ocount_SRCS := $(wildcard utils/ocount/*.c) utils/command.c utils/say.c \
	$(EVENT_SRCS)
ocount_LIBS := libop
ocount_LDLIBS = $(POPT_LIBS)

# Names of the original profiler, for scripts.
PROGS += op-check-perfevents opjitconv
op-check-perfevents_SRCS := utils/original/op_check_perfevents.c
op-check-perfevents_LIBS := libop
op-check-perfevents_LDLIBS = $(POPT_LIBS)
opjitconv_SRCS := utils/original/opjitconv.c
opjitconv_LIBS := libop
opjitconv_LDLIBS = $(POPT_LIBS)

PROGS += ophelp
ophelp_SRCS := $(wildcard utils/ophelp/*.c)
ophelp_LIBS := libop
ophelp_LDLIBS = $(POPT_LIBS)

# Completion for shells. The options are those that the programs' --help lists, so
# there is none where these cannot run (COMPLETION=).
COMPLETED := $(filter-out oprofiled,$(PROGS))
COMPLETION ?= $(O)/completion/oprofile $(O)/completion/_oprofile
ifneq ($(COMPLETION),)
tools: $(COMPLETION)

$(O)/completion/table: $(COMPLETED:%=$(O)/bin/%) utils/completion/options.awk
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)set -e; for program in $(COMPLETED); do \
		$(O)/bin/$$program --help >$@.help; \
		awk -v program=$$program -f utils/completion/options.awk $@.help; \
	done >$@.new
	$(Q)rm $@.help && mv $@.new $@
$(COMPLETION): $(O)/completion/%: utils/completion/% $(O)/completion/table \
		libpp/select/profile_spec.c utils/completion/fill.awk utils/subdir.mk
	$(call say,GEN,$@)
	$(Q)awk -v programs='$(COMPLETED)' -f utils/completion/fill.awk \
		libpp/select/profile_spec.c $(O)/completion/table $< >$@.new
	$(Q)mv $@.new $@
endif
