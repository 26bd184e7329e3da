LIBS += libop
libop_SRCS := $(wildcard libop/*.c)
