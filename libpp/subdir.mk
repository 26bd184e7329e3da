LIBS += libpp
libpp_SRCS := $(wildcard libpp/*.c)
