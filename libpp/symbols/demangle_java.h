/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_DEMANGLE_JAVA_H
#define LIBPP_SYMBOLS_DEMANGLE_JAVA_H

/*
 * Names that agents for Java give to the code of methods: class, method and
 * descriptor as the virtual machine has them (JVM specification, 4.3), such as
 * "Lcom/x/Foo;baz([IJ)I".
 */

/*
 * "int com.x.Foo.baz(int[], long)" in memory that the caller frees; NULL for
 * what is no such name, or without memory. "~1" behind it, which tells methods
 * of one name apart, stays.
 */
char *pp_demangle_java(const char *name);

#endif /* LIBPP_SYMBOLS_DEMANGLE_JAVA_H */
