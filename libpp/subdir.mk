# SPDX-License-Identifier: GPL-2.0-or-later
LIBS += libpp
libpp_SRCS := $(wildcard libpp/*.c libpp/*/*.c libpp/*/*/*.c)
# What programs that read symbols are linked with.
LIBPP_LDLIBS = $(PROTOBUF_LIBS) $(BFD_LIBS) $(IBERTY_LIBS) $(LZMA_LIBS) $(ZSTD_LIBS) $(NETTLE_LIBS) $(DEFLATE_LIBS) $(ZLIB_LIBS) -lm

# Messages of pprof, as structures of C.
libpp_SRCS += libpp/format/profile.pb-c.c
$(O)/libpp/format/profile.pb-c.c: libpp/format/profile.proto
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(PROTOC_C) --proto_path=$(<D) --c_out=$(@D) $<
$(O)/libpp/format/profile.pb-c.o: $(O)/libpp/format/profile.pb-c.c $(O)/flags
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<
$(patsubst %,$(O)/libpp/format/%.o,format_pprof pprof_places pprof_stream pprof_values): $(O)/libpp/format/profile.pb-c.c

# Pages for a browser, as strings of C: files that a page includes are put into
# it first.
PAGES := flamegraph report
PAGE_PARTS := $(wildcard libpp/format/*.css libpp/format/*.js libpp/format/*_view.html)
$(O)/libpp/format/format_flamegraph.o: $(O)/libpp/format/flamegraph.html.h
$(O)/libpp/format/format_html.o: $(O)/libpp/format/report.html.h
$(PAGES:%=$(O)/libpp/format/%.html.h): $(O)/libpp/format/%.html.h: libpp/format/%.html $(PAGE_PARTS) libpp/subdir.mk
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)awk '$$1 != "@include" { print; next } \
		{ file = "libpp/format/" $$2; \
		  while ((rc = (getline line < file)) > 0) print line; \
		  if (rc < 0) { print file ": cannot be read"; exit 1 } }' $< >$@.tmp || \
		{ tail -n 1 $@.tmp >&2; exit 1; }
	$(Q){ echo 'static const char $*_page[] ='; \
		sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' $@.tmp; \
		echo ';'; } >$@.new
	$(Q)rm $@.tmp && mv $@.new $@
