# SPDX-License-Identifier: GPL-2.0-or-later
LIBS += libpp
libpp_SRCS := $(wildcard libpp/*.c libpp/*/*.c)
# What programs that read symbols are linked with.
LIBPP_LDLIBS = $(BFD_LIBS) $(IBERTY_LIBS) $(LZMA_LIBS) $(ZSTD_LIBS) $(NETTLE_LIBS) $(ZLIB_LIBS) -lm

# The page of flame graphs, as a string of C.
$(O)/libpp/format/format_flamegraph.o: $(O)/libpp/format/flamegraph.html.h
$(O)/libpp/format/flamegraph.html.h: libpp/format/flamegraph.html libpp/subdir.mk
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q){ echo 'static const char flamegraph_page[] ='; \
		sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' $<; \
		echo ';'; } >$@.tmp
	$(Q)mv $@.tmp $@
