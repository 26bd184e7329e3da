# SPDX-License-Identifier: GPL-2.0-or-later
# libopagent, for programs that make code at run time: the only library of this
# tree that is installed. It uses nothing of the others but a header.

AGENT_FLAGS = $(filter-out -fsanitize% -fno-sanitize%,$(BASE_CFLAGS)) -fPIC \
	-MMD -MP
AGENT_VERSION := 2

# $(1) object, $(2) source, $(3) more flags
define AGENT_OBJ_RULE
$(1): $(2) $(O)/flags
	$$(call say,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(AGENT_FLAGS) $(3) -c -o $$@ $$<
-include $(1:.o=.d)
endef
$(eval $(call AGENT_OBJ_RULE,$(O)/libagent/opagent.o,libagent/opagent.c))

AGENT_SO := $(O)/lib/libopagent.so.$(AGENT_VERSION)
$(AGENT_SO): $(O)/libagent/opagent.o libagent/opagent.map
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,-soname,$(@F) -Wl,-z,defs \
		-Wl,--version-script=libagent/opagent.map -o $@ $<
	$(Q)ln -sf $(@F) $(@D)/libopagent.so

$(O)/lib/libopagent.a: $(O)/libagent/opagent.o
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $<

AGENT_FILES := $(AGENT_SO) $(O)/lib/libopagent.a

# The agent for Java, where its headers are. It finds libopagent beside itself;
# packages of a system need no such path.
AGENT_RPATH ?= -Wl,-rpath,'$$ORIGIN'
ifneq ($(JAVA_CFLAGS),)
$(eval $(call AGENT_OBJ_RULE,$(O)/libagent/jvmti_oprofile.o,libagent/jvmti_oprofile.c,-fvisibility=hidden $(JAVA_CFLAGS)))
$(eval $(call AGENT_OBJ_RULE,$(O)/libagent/jvmti_frames.o,libagent/jvmti_frames.c,-fvisibility=hidden))

$(O)/lib/libjvmti_oprofile.so: $(O)/libagent/jvmti_oprofile.o $(O)/libagent/jvmti_frames.o $(AGENT_SO)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,-soname,$(@F) -Wl,-z,defs \
		$(AGENT_RPATH) -o $@ $(filter %.o,$^) -L$(@D) -lopagent

AGENT_FILES += $(O)/lib/libjvmti_oprofile.so
endif

# The agent for Python, for the machines that it makes code for. It needs no headers
# of Python, and brings its own copy of libopagent, as it is imported in programs that
# were not built for it.
ifneq ($(filter x86_64-%,$(shell $(CC) -dumpmachine)),)
PYTHON_AGENT := $(O)/lib/oprofile/python
$(eval $(call AGENT_OBJ_RULE,$(O)/libagent/python_oprofile.o,libagent/python_oprofile.c,-fvisibility=hidden))

$(PYTHON_AGENT)/python_oprofile.so: $(O)/libagent/python_oprofile.o $(O)/libagent/opagent.o
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,--exclude-libs,ALL \
		-Wl,--version-script=libagent/python_oprofile.map -o $@ $^

$(PYTHON_AGENT)/sitecustomize.py: libagent/sitecustomize.py
	$(call say,COPY,$@)
	$(Q)install -D -m 644 $< $@

# Python would keep what it compiles in a folder of this name, which no package has and
# nobody removes. A file keeps it from that.
$(PYTHON_AGENT)/__pycache__: libagent/subdir.mk
	$(Q)install -D -m 644 /dev/null $@

PYTHON_AGENT_FILES := $(addprefix $(PYTHON_AGENT)/,sitecustomize.py python_oprofile.so __pycache__)
tools: $(PYTHON_AGENT_FILES)
endif
