# SPDX-License-Identifier: GPL-2.0-or-later
# The event files, and folders made of libpfm4's tables for further CPUs where
# that library is installed; the tools find them in $(O)/events.
EVENT_FILES := $(wildcard events/*/*/cpu events/*/*/events events/*/*/unit_masks events/*/*/original) \
	events/linux/waits/classes
EVENTS := $(O)/events/made

ifneq ($(PFM_LIBS),)
TEST_PROGS += pfm2events pfmcompare
pfm2events_SRCS := events/pfm2events.c events/pfm.c
pfm2events_LIBS := libop
pfm2events_LDLIBS := $(PFM_LIBS)
pfmcompare_SRCS := tests/helper/pfmcompare.c events/pfm.c
pfmcompare_LIBS := libop
pfmcompare_LDLIBS := $(PFM_LIBS)
PFM2EVENTS := $(O)/tests/pfm2events
endif

$(eval $(call STAMP_RULE,$(O)/event-files,$$(EVENT_FILES) $$(PFM_LIBS)))
$(EVENTS): $(EVENT_FILES) events/libpfm4 $(O)/event-files $(PFM2EVENTS)
	$(call say,EVENTS,$(@D))
	$(Q)mkdir -p $(@D) && rm -rf $(@D)/*/ && cp -r events/*/ $(@D)
	$(Q)$(if $(PFM2EVENTS),$(PFM2EVENTS) events $(@D))
	$(Q)touch $@

tools: $(EVENTS)

install: install-events
install-events: $(EVENTS)
	$(Q)set -e; find $(O)/events -mindepth 3 -type f -printf '%P\n' | \
		while read -r file; do \
			install -D -m 644 $(O)/events/$$file \
				'$(DESTDIR)$(prefix)/share/oprofile/'$$file; \
		done
.PHONY: install-events
