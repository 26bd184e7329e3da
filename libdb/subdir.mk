LIBS += libdb
libdb_SRCS := $(wildcard libdb/*.c)
