// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * switches HOW: burns CPU time where the stack is not the one that the thread
 * began with, or where a call is none: handler, high, low (the handler of a
 * signal on the same stack, on one above and below), null (the handler of a
 * call of a null pointer), alarm (of a signal that comes at any place), context
 * (makecontext), fiber (a switch in assembly), vfork.
 *
 * stacks of main: ROOT;main
 * stacks of burn_handler: ROOT;main;raise_here;LIBRARY;on_signal;burn_handler
 * stacks of burn_segv: ROOT;main;call_null;LIBRARY;on_segv;burn_segv
 * stacks of burn_alarm: ROOT;main;interrupted;LIBRARY;on_alarm;burn_alarm
 * stacks of burn_context: LIBRARY;context;burn_context
 * stacks of burn_fiber: never
 * stacks of vfork: ROOT;main;start_programs;vfork
 */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#endif
#define STACK_SIZE (1 << 18)

static double cpu_time(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* Each of these burns half a second, and is no tail call. */
#define BURNER(name)                                                           \
	ALONE static void name(void)                                           \
	{                                                                      \
		double end = cpu_time() + 0.5;                                 \
                                                                               \
		while (cpu_time() < end)                                       \
			for (volatile int i = 0; i < 10000; i++)               \
				;                                              \
	}
BURNER(burn_handler)
BURNER(burn_segv)
BURNER(burn_alarm)
BURNER(burn_context)
BURNER(burn_fiber)

static char low_stack[STACK_SIZE];

static void handle(int number, void (*handler)(int), void *stack)
{
	struct sigaction action = { .sa_handler = handler };

	if (stack) {
		stack_t other = { .ss_sp = stack, .ss_size = STACK_SIZE };

		action.sa_flags = SA_ONSTACK;
		sigaltstack(&other, NULL);
	}
	sigaction(number, &action, NULL);
}

static void *new_stack(void)
{
	void *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return stack == MAP_FAILED ? NULL : stack;
}

static void on_signal(int number)
{
	burn_handler();
	__asm__ volatile("" : : "r"(number));
}

static void on_segv(int number)
{
	burn_segv();
	_exit(number != SIGSEGV);
}

static void on_alarm(int number)
{
	burn_alarm();
	_exit(number != SIGALRM);
}

ALONE static void raise_here(void)
{
	raise(SIGUSR1);
	__asm__ volatile("");
}

static void (*volatile no_function)(void);

ALONE static void call_null(void)
{
	no_function();
	__asm__ volatile("");
}

ALONE static void interrupted(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
}

static ucontext_t first, other;

static void context(void)
{
	burn_context();
	__asm__ volatile("");
}

static void run_context(void)
{
	getcontext(&other);
	other.uc_stack.ss_sp = new_stack();
	other.uc_stack.ss_size = STACK_SIZE;
	other.uc_link = &first;
	makecontext(&other, context, 0);
	swapcontext(&first, &other);
}

static void fiber(void)
{
	burn_fiber();
	_exit(0);
}

/* As libraries of coroutines do: any word is at the end of the new stack. */
static void run_fiber(void)
{
	unsigned long *stack = new_stack();

	if (!stack)
		return;
	stack += STACK_SIZE / sizeof(*stack) - 4;
	stack[0] = (unsigned long)fiber;
	stack[1] = 0x1234;
	__asm__ volatile("mov %0, %%rsp\n\t"
			 "ret"
			 :
			 : "r"(stack)
			 : "memory");
}

ALONE static void start_programs(void)
{
	char *argv[] = { (char *)"/bin/true", NULL };

	for (int i = 0; i < 500; i++) {
		int status;
		pid_t pid = vfork();

		if (pid == 0) {
			execv(argv[0], argv);
			_exit(1);
		}
		waitpid(pid, &status, 0);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	void *stack = !strcmp(how, "low") ? low_stack : new_stack();

	if (!strcmp(how, "handler") || !strcmp(how, "high") ||
	    !strcmp(how, "low")) {
		handle(SIGUSR1, on_signal,
		       strcmp(how, "handler") ? stack : NULL);
		raise_here();
	} else if (!strcmp(how, "null")) {
		handle(SIGSEGV, on_segv, stack);
		call_null();
	} else if (!strcmp(how, "alarm")) {
		handle(SIGALRM, on_alarm, NULL);
		alarm(1);
		interrupted();
	} else if (!strcmp(how, "context")) {
		run_context();
	} else if (!strcmp(how, "fiber")) {
		run_fiber();
	} else if (!strcmp(how, "vfork")) {
		start_programs();
	} else {
		return 1;
	}
	return 0;
}
