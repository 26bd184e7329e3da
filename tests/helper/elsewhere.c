// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A known call tree (main, outer, inner, leaf) in code that is in memory and
 * not in a mapping of its file:
 *
 *	elsewhere copied SECONDS	all text is copied into anonymous
 *					memory, which takes its place
 *	elsewhere part SECONDS		the same of the functions' pages
 *	elsewhere memfd SECONDS		it runs from a file in memory
 *	elsewhere plain SECONDS		it runs from its file
 *
 * Prints "ready" when the code is there, "done" when the time is over, and ends
 * after a line of its standard input.
 */

#include <err.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "burn.h"

#define IN_OWN_PAGES __attribute__((section("own_pages"))) BURN_ALONE
#define NOT_LAST __asm__ volatile("") /* so that the call before is no jump */

extern const char __start_own_pages[], __stop_own_pages[];

IN_OWN_PAGES static void leaf(uint64_t rounds)
{
	volatile uint32_t x = 1;

	while (rounds--)
		x = x * 1664525 + 1013904223;
}

IN_OWN_PAGES static void inner(double seconds)
{
	uint64_t start = burn_clock();

	while ((double)(burn_clock() - start) < seconds * 1e9)
		leaf(100000);
	NOT_LAST;
}

IN_OWN_PAGES static void outer(double seconds)
{
	inner(seconds);
	NOT_LAST;
}

/* Perf_events are not told of mremap(2), but of mprotect(2). */
static void replace_by_copy(uintptr_t start, uintptr_t end)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *text = (void *)(start / page * page), *copy;
	size_t len = (end + page - 1) / page * page - (uintptr_t)text;

	copy = mmap(NULL, len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		err(2, "mmap");
	memcpy(copy, text, len);
	if (mprotect(copy, len, PROT_READ | PROT_EXEC) ||
	    mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, text) !=
		    text ||
	    mprotect(text, len, PROT_READ | PROT_WRITE | PROT_EXEC) ||
	    mprotect(text, len, PROT_READ | PROT_EXEC))
		err(2, "its text cannot be replaced");
}

/* The first object is the program. */
static int replace_text(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size, (void)data;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    info->dlpi_phdr[i].p_flags & PF_X)
			replace_by_copy(start,
					start + info->dlpi_phdr[i].p_memsz);
	}
	return 1;
}

static void run_from_memory(char **argv, char **env)
{
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int out = memfd_create("elsewhere", MFD_CLOEXEC);

	if (in < 0 || out < 0)
		err(2, "its file");
	while (sendfile(out, in, NULL, 1 << 20) > 0)
		;
	argv[1] = "plain";
	fexecve(out, argv, env);
	err(2, "fexecve");
}

int main(int argc, char **argv, char **env)
{
	const char *mode = argc == 3 ? argv[1] : "";

	if (!strcmp(mode, "copied"))
		dl_iterate_phdr(replace_text, NULL);
	else if (!strcmp(mode, "part"))
		replace_by_copy((uintptr_t)__start_own_pages,
				(uintptr_t)__stop_own_pages);
	else if (!strcmp(mode, "memfd"))
		run_from_memory(argv, env);
	else if (strcmp(mode, "plain"))
		errx(2, "usage: elsewhere copied|part|memfd|plain SECONDS");
	puts("ready");
	fflush(stdout);
	outer(strtod(argv[2], NULL));
	puts("done");
	fflush(stdout);
	getchar();
	return 0;
}
