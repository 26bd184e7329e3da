# SPDX-License-Identifier: GPL-2.0-or-later
#
# One makefile for the whole tree; each folder says what it holds in its
# subdir.mk. Everything made goes to $(O).
#
#	all            the tools, what tests need, the module for all kernels here
#	check          the tests to run before a commit; check-fast leaves the VM
#	               out, check-vm is the VM
#	check-all      every test on all kernels and machines, before a release
#	check-rounds   the tests of check, ROUNDS= (10) times in a row
#	check-debug    the module on kernels that check themselves (KASAN, KCSAN,
#	               lockdep) and on those for real time; builds and fetches them
#	check-kernels  the module on the newest kernels of Debian 11, 12, 13 and sid:
#	               built in each, by dkms, too, and run in virtual machines (root)
#	check-stacks   compares the stacks of many kinds of programs with the truth
#	check-debian   reports on an archive in a fresh Debian (debootstrap, root)
#	check-packages builds the Debian packages, installs them in a fresh Debian,
#	               uses them there and in a virtual machine, and removes them
#	               (root); builds the RPM packages
#	lint           the checks that run nothing; hdr-check and format of them
#	sanitized      what tests need, once more with sanitizers, and the fuzzers
#	module         the module for KDIR=, else for all kernels with headers here
#	arm64          the tools, what tests need and the module for Debian's arm64
#	               kernels, cross-compiled to $(O)/arm64; tools-arm64 and
#	               module-arm64 of them; module-all: the modules of both
#	fuzz           FUZZ_SECONDS= (30) of each fuzzer, from FUZZ_SEED= (any)
#	pictures       those of README.md, and flame graphs of doc/overhead.md, drawn
#	               by Chromium from real runs
#	manual         the manual and the other pages of doc/ as HTML, in $(O)/html
#	curves         the figures and pictures of doc/accuracy.md and doc/overhead.md,
#	               measured on this machine and in a virtual one; ten minutes
#	soak           profiles this machine for HOURS= (1) under load, and draws what
#	               the daemon needed and lost (root)
#	languages      profiles a program of each language beside its own clock, and
#	               beside perf: a table of what is named, whole and right
#	demo           a profile of a program on this machine; demo-programs: what
#	               that runs; vm-demo: with the module, in a virtual machine
#	install        the programs, the libraries, the events, the manual pages, doc/
#	               and the module; install-agent: libopagent alone;
#	               install-python-agent: the agent for Python;
#	               install-dkms: the module's sources, for dkms
#	uninstall      removes what install with the same variables puts there
#	dist           oprofile-VERSION.tar.gz of the last commit
#	bench help clean install-deps
#
# Variables: V=1 O=DIR DEVELOPER=1 SANITIZE=address,undefined KDIR=DIR
# DESTDIR=DIR prefix=DIR CC=... CFLAGS=...; for module also ARCH= CROSS_COMPILE=

MAKEFLAGS += --no-builtin-rules --no-print-directory
# All CPUs; -j on the command line says otherwise.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif
.SUFFIXES:
.DELETE_ON_ERROR:

all:

O ?= build
# One name for a folder, however it is spelled: rules have it in their targets, the
# compiler's flags have it in them, and everything is compiled again when these
# change. Names in rules have no blanks: a folder that has some gets a link.
override O := $(shell utils/build-folder '$(O)')
ifeq ($(O),)
$(error no build folder, see above)
endif
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)')

# ---- what is installed -----------------------------------------------------

# Goals that are all that has to be said on a bare machine: what they need is
# installed first, or listed for those who are not root. 3: packages that Debian has
# no more; install-deps names them, and so do the tests that are skipped for that.
# make -n only tells what it would do; its letter is in the first word of the flags,
# unless that is a long one.
FROM_BARE := $(filter check check-%,$(MAKECMDGOALS))
ifneq ($(FROM_BARE),)
ifeq ($(MAKE_RESTARTS)$(findstring n,$(filter-out ---%,$(firstword -$(MAKEFLAGS)))),)
ifeq ($(filter 0 3,$(shell utils/install-deps >&2; echo $$?)),)
$(error cannot $(FROM_BARE) yet, see above)
endif
endif
endif

# ---- configuration -------------------------------------------------------

# These need no configuration.
UNCONFIGURED := clean dist format demo vm-demo install-deps fuzz help manual

ifneq ($(filter-out $(UNCONFIGURED),$(or $(MAKECMDGOALS),all)),)
-include $(O)/config.mk
endif

# Again when packages have come or gone: what was not found may be there now.
$(O)/config.mk: configure.ac config.mk.in config.h.in $(wildcard /var/lib/dpkg/status)
	$(call say,CONF,$@)
	$(Q)mkdir -p $(O)
	$(Q)command -v autoconf >/dev/null || { \
		echo 'make: autoconf not found; run utils/install-deps or install the Debian package autoconf' >&2; exit 1; }
	$(Q)autom4te --language=autoconf --cache=$(O)/autom4te.cache \
		-o $(O)/configure configure.ac
	$(Q)top=$$(realpath --relative-to=$(O) .) && cd $(O) && \
		./configure --quiet --srcdir="$$top" $(CONFIGURE_ARGS)
	$(Q)touch $@

CFLAGS ?= $(CONFIG_CFLAGS)
ifeq ($(prefix),NONE)
prefix := /usr/local
endif

WARNINGS := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wvla \
	-Wshadow -Wformat=2 -Wundef $(if $(DEVELOPER),-Werror)
SANITIZE_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) \
	-fno-sanitize-recover=all -fno-omit-frame-pointer)
BASE_CFLAGS = -std=gnu11 -I. -I$(O) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	$(WARNINGS) $(CFLAGS) $(SANITIZE_FLAGS)
# OWN_CFLAGS: those of an object or a folder, as it sets them.
OWN_CFLAGS :=
ALL_CFLAGS = $(BASE_CFLAGS) $(OWN_CFLAGS)
# To optimize a unit test with sanitizers takes longer than it saves.
$(O)/tests/unit/%.o: private OWN_CFLAGS := $(if $(SANITIZE),-O0)

# What everything depends on besides its sources. A file that changes only
# when its text does: $(1) file, $(2) text
define STAMP_RULE
$(1): $(O)/config.mk FORCE
	$$(Q)printf '%s\n' '$(2)' | cmp -s - $$@ || printf '%s\n' '$(2)' >$$@
endef
$(eval $(call STAMP_RULE,$(O)/flags,$$(CC) $$(BASE_CFLAGS) $$(LDFLAGS)))
$(eval $(call STAMP_RULE,$(O)/sources,$$(sort $$(ALL_SRCS))))
FORCE:

# ---- what the folders hold -------------------------------------------------

# subdir.mk files add to these; NAME_SRCS, NAME_LIBS (ours, in link order)
# and NAME_LDLIBS (the system's) describe each.
LIBS :=		# static libraries: $(O)/NAME/NAME.a
PROGS :=	# programs that are installed: $(O)/bin/NAME
TEST_PROGS :=	# programs for tests and benches only: $(O)/tests/NAME
UNIT_TESTS :=	# cmocka programs: $(O)/tests/NAME
FUZZERS :=	# libFuzzer programs: $(O)/tests/NAME
TEST_FILES :=	# whatever else tests need

AGENT_FILES :=	# libraries for other programs: $(O)/lib/NAME

libdir ?= $(prefix)/lib
includedir ?= $(prefix)/include

SUBDIRS := libdb libop libcfi libpp libagent daemon pp utils events module tests tests/helper doc
include $(wildcard $(addsuffix /subdir.mk,$(SUBDIRS)))

objs = $(patsubst %.c,$(O)/%.o,$($(1)_SRCS))

define LIB_RULE
$(O)/$(1)/$(1).a: $(call objs,$(1)) $(O)/sources
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@ && $$(AR) rcs $$@ $$(filter %.o,$$^)
endef
$(foreach lib,$(LIBS),$(eval $(call LIB_RULE,$(lib))))

# $(1) name, $(2) output
define PROG_RULE
$(2): $(call objs,$(1)) $(foreach l,$($(1)_LIBS),$(O)/$(l)/$(l).a) $(O)/flags
	$$(call say,LINK,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CFLAGS) $$(SANITIZE_FLAGS) $$(LDFLAGS) $(3) -o $$@ \
		$$(filter %.o %.a,$$^) $($(1)_LDLIBS)
endef
$(foreach p,$(PROGS),$(eval $(call PROG_RULE,$(p),$(O)/bin/$(p))))
$(foreach p,$(TEST_PROGS) $(UNIT_TESTS),$(eval $(call PROG_RULE,$(p),$(O)/tests/$(p))))

$(foreach p,$(FUZZERS),$(eval $(call PROG_RULE,$(p),$(O)/tests/$(p),-fsanitize=fuzzer)))

$(O)/%.o: %.c $(O)/flags
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

ALL_SRCS := $(foreach x,$(LIBS) $(PROGS) $(TEST_PROGS) $(UNIT_TESTS) $(FUZZERS),$($(x)_SRCS))
-include $(patsubst %.c,$(O)/%.d,$(sort $(ALL_SRCS)))

# ---- the kernel module -------------------------------------------------------

# $(O)/module/RELEASE/oprofile.ko, built from a copy of the sources: kbuild
# writes beside them.
MODULE_O ?= $(O)/module
MODULE_KDIRS := $(or $(KDIR),$(KDIRS))
release_of = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
	$(1)/include/generated/utsrelease.h 2>/dev/null)
MODULE_SRCS := module/Kbuild $(wildcard module/*.[ch] module/*/*.[ch])
MODULE_MAKE = V=$(V) $(if $(ARCH),ARCH=$(ARCH)) \
	$(if $(CROSS_COMPILE),CROSS_COMPILE=$(CROSS_COMPILE)) \
	$(if $(DEVELOPER),KCFLAGS=-Werror)

# $(1) headers of the kernel, $(2) its release
define MODULE_RULE
ifeq ($(2),)
$$(error $(1): no kernel headers; run utils/install-deps build)
endif
module: $(MODULE_O)/$(2)/oprofile.ko
$(MODULE_O)/$(2)/oprofile.ko: $(MODULE_SRCS) utils/build-module $(1)/Module.symvers
	$$(call say,MODULE,$$@)
	$$(Q)utils/build-module $(1) $$(@D) $$(MODULE_MAKE)
# A second provider of samples and a module that is slow to load, for tests.
module: $(MODULE_O)/$(2)/test/op_test_provider.ko
$(MODULE_O)/$(2)/test/op_test_provider.ko: $(MODULE_O)/$(2)/oprofile.ko $(wildcard tests/module/*)
	$$(call say,MODULE,$$@)
	$$(Q)SRC=tests/module utils/build-module $(1) $$(@D) $$(MODULE_MAKE) \
		KBUILD_EXTRA_SYMBOLS=$$(abspath $(MODULE_O)/$(2)/Module.symvers)
endef
ifneq ($(filter-out $(UNCONFIGURED),$(or $(MAKECMDGOALS),all)),)
$(foreach k,$(MODULE_KDIRS),$(eval $(call MODULE_RULE,$(k),$(call release_of,$(k)))))
endif

module:
	@:

# A series that Debian does not have is left out: tests/vm/headers exits with 3.
ARM64_SERIES := 6.1 6.12
module-arm64: deps-arm64
	$(Q)set -e; for series in $(ARM64_SERIES); do \
		kdir=$$(tests/vm/headers --kernel $$series --arch arm64) || \
			{ [ $$? -eq 3 ] && continue; exit 1; }; \
		$(MAKE) module KDIR=$$kdir MODULE_O=$(O)/arm64/module \
			ARCH=arm64 CROSS_COMPILE=$(CROSS_arm64); \
	done

module-all: module module-arm64

# ---- what people ask for -----------------------------------------------------

tools: $(PROGS:%=$(O)/bin/%) $(AGENT_FILES)
test-programs: $(TEST_PROGS:%=$(O)/tests/%) $(TEST_FILES)
demo-programs: tools $(O)/tests/demo_work
test-tools: test-programs $(UNIT_TESTS:%=$(O)/tests/%)
fuzzers: $(FUZZERS:%=$(O)/tests/%)
all: tools test-tools module

# The same objects serve the fuzzers, so the compiler is theirs. Its own linker
# needs a third of the time for the many programs.
sanitized:
	$(Q)$(MAKE) O=$(O)/sanitized CC=clang CONFIGURE_ARGS=CC=clang \
		SANITIZE=address,undefined,fuzzer-no-link KDIRS= \
		$(if $(shell command -v ld.lld),LDFLAGS=-fuse-ld=lld) \
		tools test-tools fuzzers

# $(O)/arm64 is a build folder like any other, for another machine: compiled
# and linked against that machine's own Debian packages, which are fetched and
# unpacked, not installed. Unit tests run only here, and what is to run while
# the tree is built (pfm2events) cannot be for another machine.
CROSS_arm64 := aarch64-linux-gnu-
deps-arm64:
	$(Q)utils/install-deps vm-arm64
tools-arm64: deps-arm64
	$(Q)set -e; sysroot=$$(tests/vm/sysroot arm64); \
		cc="$(CROSS_arm64)gcc --sysroot=$$sysroot"; \
		grep -qsxF "CC := $$cc" $(O)/arm64/config.mk || \
			rm -f $(O)/arm64/config.mk; \
		$(MAKE) O=$(O)/arm64 CC="$$cc" SANITIZE= \
		CONFIGURE_ARGS="--host=$(CROSS_arm64:-=) 'CC=$$cc'" KDIRS= \
		PFM2EVENTS= COMPLETION= tools test-programs
arm64: tools-arm64 module-arm64

# Where it cannot be built, the tests that need it are skipped and say so.
arm64-for-tests:
	$(Q)! { utils/install-deps vm-arm64 && \
		tests/vm/sysroot arm64 >/dev/null; } || \
		$(MAKE) arm64 ARM64_SERIES='$(ARM64_SERIES)'

# What the first tier of the tests runs: unit tests with the sanitizers only,
# and one kernel on arm64.
FOR_CHECK := tools test-programs module sanitized
check check-rounds: ARM64_SERIES := 6.12
check: $(FOR_CHECK) arm64-for-tests
	$(Q)O='$(O)' tests/run --times
check-fast: $(FOR_CHECK)
	$(Q)O='$(O)' tests/run --fast
check-vm: tools test-programs module arm64-for-tests
	$(Q)O='$(O)' tests/run --vm
check-rounds: $(FOR_CHECK) arm64-for-tests
	$(Q)O='$(O)' tests/run --rounds $(or $(ROUNDS),10)
check-all: all arm64-for-tests sanitized
	$(Q)O='$(O)' tests/run --all --times
	$(Q)O='$(O)' tests/run --rounds 10
# Builds the module in these kernels' own Debian, then boots each of them.
check-kernels: tools test-programs
	$(Q)O='$(O)' tests/run --kernels --times
module-debug:
	$(Q)set -e; for kernel in $$(tests/run --debug-kernels); do \
		case $$kernel in \
		*-rt) kdir=$$(tests/vm/headers --kernel $$kernel --arch amd64) ;; \
		*) kdir=$$(tests/vm/debug-kernel $${kernel#*-}) ;; \
		esac; \
		$(MAKE) module KDIR=$$kdir; \
	done
check-debug: tools test-programs module-debug
	$(Q)O='$(O)' tests/run --debug --times
# Compares stacks with the truth, and prints the table.
check-stacks: tools test-programs
	$(Q)O='$(O)' STACKS_TABLE='$(abspath $(O))/stacks' tests/run --all \
		tests/t/stacks/70-whole-stacks.sh; status=$$?; \
		cat '$(O)/stacks'; exit $$status
check-debian: all
	$(Q)O='$(O)' tests/run --all tests/t/archives/39-archive-reports.sh
check-packages: all
	$(Q)utils/install-deps packages
	$(Q)O='$(O)' tests/run tests/t/tree/09-packages.sh tests/t/tree/09-rpm.sh
lint: all
	$(Q)O='$(O)' tests/run --all tests/lint/*.sh
hdr-check: $(O)/flags
	$(Q)O='$(O)' tests/run tests/lint/headers.sh
fuzz: sanitized
	$(Q)O='$(O)' FUZZ_SEED='$(or $(FUZZ_SEED),0)' tests/run tests/fuzz/run.sh
bench: all
	$(Q)O='$(O)' tests/bench/run $(BENCH)
pictures: tools test-programs
	$(Q)O='$(O)' utils/pictures
# Made again whenever it is asked for: that takes a second.
manual:
	$(Q)O='$(O)' utils/manual
curves: tools test-programs module
	$(Q)O='$(O)' utils/curves
soak: tools test-programs
	$(Q)O='$(O)' utils/soak $(or $(HOURS),1)
# A language whose package Debian does not have is a row that says so.
languages: tools
	$(Q)utils/install-deps languages || [ $$? -eq 3 ]
	$(Q)O='$(O)' tests/languages/run
demo:
	$(Q)O='$(O)' utils/demo
vm-demo:
	$(Q)O='$(O)' utils/demo --vm
install-deps:
	$(Q)utils/install-deps
format:
	$(Q)git ls-files -co --exclude-standard '*.[ch]' | xargs clang-format -i

# ---- installing --------------------------------------------------------------

# Where dkms looks for sources, whatever the prefix is.
srcdir ?= /usr/src
bindir ?= $(prefix)/bin
mandir ?= $(prefix)/share/man
docdir ?= $(prefix)/share/doc/oprofile
bashcompletiondir ?= $(prefix)/share/bash-completion/completions
zshcompletiondir ?= $(prefix)/share/zsh/site-functions
unitdir ?= $(prefix)/lib/systemd/system
sysusersdir ?= $(prefix)/lib/sysusers.d
# Root, who installs on this machine itself, runs a command if it is there.
on_this_machine = [ -n '$(DESTDIR)' ] || [ "$$(id -u)" -ne 0 ] || \
	! command -v $(firstword $(1)) >/dev/null || $(1)

# The agent for Python.
install-python-agent: $(PYTHON_AGENT_FILES)
	$(Q)set -e; for file in $^; do \
		install -D -m 644 -t '$(DESTDIR)$(libdir)'/oprofile/python $$file; done

# What programs are linked with, alone.
install-agent: $(AGENT_FILES)
	$(Q)install -D -m 644 -t '$(DESTDIR)$(includedir)' libagent/opagent.h
	$(Q)install -D -m 644 -t '$(DESTDIR)$(libdir)' $(filter %.a,$(AGENT_FILES))
	$(Q)install -D -m 755 -t '$(DESTDIR)$(libdir)' $(filter-out %.a,$(AGENT_FILES))
	$(Q)ln -sf $(notdir $(AGENT_SO)) '$(DESTDIR)$(libdir)'/libopagent.so
	$(Q)sed -e 's|@libdir@|$(libdir)|' -e 's|@includedir@|$(includedir)|' \
		-e 's|@VERSION@|$(VERSION)|' libagent/opagent.pc.in | \
		install -D -m 644 /dev/stdin '$(DESTDIR)$(libdir)'/pkgconfig/opagent.pc
	$(Q)$(call on_this_machine,ldconfig)

# The tree of doc/ stays as it is, so that its links lead somewhere; as HTML it is
# there where what writes that is.
install-doc:
	$(Q)set -e; for page in doc/man/*.[1-8]; do \
		install -D -m 644 -t '$(DESTDIR)$(mandir)'/man$${page##*.} $$page; \
	done
	$(Q)set -e; find README.md doc -name man -prune -o -type f -print | \
		while read -r page; do \
			install -D -m 644 $$page '$(DESTDIR)$(docdir)'/$$page; \
		done
	$(Q)umask 022; ! command -v lowdown >/dev/null || \
		! command -v mandoc >/dev/null || \
		utils/manual '$(DESTDIR)$(docdir)'/html

install-systemd:
	$(Q)set -e; for unit in oprofile $(filter oppush,$(PROGS)); do \
		sed 's|@bindir@|$(bindir)|' utils/systemd/$$unit.service.in | \
			install -D -m 644 /dev/stdin '$(DESTDIR)$(unitdir)'/$$unit.service; \
	done
	$(Q)install -D -m 644 -t '$(DESTDIR)$(unitdir)' utils/systemd/dev-oprofile.mount
	$(Q)install -D -m 644 utils/systemd/oprofile.sysusers \
		'$(DESTDIR)$(sysusersdir)'/oprofile.conf
	$(Q)$(call on_this_machine,systemd-sysusers '$(sysusersdir)'/oprofile.conf)

# bash looks for a file of the program's name.
install-completion: $(COMPLETION)
	$(Q)set -e; [ -z '$(COMPLETION)' ] || { \
		to='$(DESTDIR)$(bashcompletiondir)'; \
		install -D -m 644 -t "$$to" $(O)/completion/oprofile; \
		for program in $(COMPLETED); do ln -sf oprofile "$$to/$$program"; done; \
		install -D -m 644 -t '$(DESTDIR)$(zshcompletiondir)' \
			$(O)/completion/_oprofile; }

install: tools module install-agent install-python-agent install-doc install-systemd install-completion
	$(call say,INSTALL,$(DESTDIR)$(prefix))
	$(Q)install -D -m 755 -t '$(DESTDIR)$(bindir)' $(PROGS:%=$(O)/bin/%)
	$(Q)install -D -m 644 -t '$(DESTDIR)$(prefix)'/share/oprofile libpp/format/opreport.xsd
	$(Q)set -e; for release in $(sort $(foreach k,$(MODULE_KDIRS),$(call release_of,$(k)))); do \
		ko=$(O)/module/$$release/oprofile.ko; \
		install -D -m 644 -t '$(DESTDIR)'/lib/modules/$$release/updates $$ko; \
		[ -n '$(DESTDIR)' ] || depmod $$release; \
	done

install-dkms:
	$(Q)set -e; to='$(DESTDIR)$(srcdir)/oprofile-$(VERSION)'; \
		for f in Kbuild $(patsubst module/%,%,$(filter %.c %.h,$(MODULE_SRCS))); do \
			install -D -m 644 "module/$$f" "$$to/$$f"; \
		done; \
		sed 's/#MODULE_VERSION#/$(VERSION)/' module/dkms.conf | \
			install -m 644 /dev/stdin "$$to/dkms.conf"

# Whatever install would put there. Folders go with their last file if they, or
# one above them, are oprofile's own.
uninstall:
	$(call say,REMOVE,$(DESTDIR)$(prefix))
	$(Q)set -e; root=$$(realpath -m '$(DESTDIR)/'); there=$$(mktemp -d); \
		trap 'rm -rf "$$there"' EXIT; \
		$(MAKE) install DESTDIR="$$there" >/dev/null; cd "$$there"; \
		find . ! -type d | while read -r file; do rm -f "$$root/$$file"; done; \
		find . -depth -type d -path '*/oprofile*' | while read -r dir; do \
			[ ! -d "$$root/$$dir" ] || \
				rmdir --ignore-fail-on-non-empty "$$root/$$dir"; \
		done; \
		[ -n '$(DESTDIR)' ] || ls lib/modules 2>/dev/null | xargs -r -n 1 depmod

# The same commit gives the same bytes: no time, name or setting of this machine.
dist:
	$(Q)version=$$(sed -n 's/^AC_INIT(.*\[\([0-9.]*\)\])$$/\1/p' configure.ac) && \
		git -c tar.umask=0022 archive --prefix=oprofile-$$version/ \
			-o oprofile-$$version.tar HEAD && \
		gzip -9nf oprofile-$$version.tar && echo oprofile-$$version.tar.gz

help:
	$(Q)sed -n '/^$$/q; 3,$$s/^# \{0,1\}//p' Makefile

clean:
	rm -rf $(O)

.PHONY: all tools demo-programs test-programs test-tools sanitized fuzzers \
	FORCE module deps-arm64 tools-arm64 module-arm64 arm64 arm64-for-tests \
	module-all module-debug check check-fast check-vm check-rounds check-all check-debug check-kernels check-stacks \
	check-debian check-packages lint hdr-check fuzz bench soak languages demo \
	pictures curves manual vm-demo install-deps format install install-agent install-python-agent install-dkms \
	install-systemd install-doc install-completion uninstall dist help \
	clean
