// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Is the unwinder right? Runs a command, stops it at random moments, and
 * compares what daemon/unwinder_unwind says of its registers and the top of its
 * stack with what elfutils say of the process itself:
 *
 *	unwindcheck [-n STOPS] [-b STEPS] [-s BYTES] [-v] COMMAND...
 *
 * The first stop is before the first instruction, the others come with the
 * kernel's ticks while it uses CPU time: how long we need to be woken makes no
 * difference. After each it goes on for STEPS single instructions, each
 * compared, too. A command that ends before it was stopped so often is run
 * again. Prints counts, a line each; -v shows the stacks that differ. Exits
 * with 1 if some do.
 */

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libcfi/unwinder.h"

#define MAX_FRAMES 1024
#define MAX_MAPS 4096
#define MAX_IMAGES 4096

struct stack_trace {
	size_t nr;
	uint64_t pc[MAX_FRAMES]; /* within the instruction of each frame */
	bool is_whole;
};

struct check {
	pid_t pid; /* 0 when it has ended */
	bool is_verbose;
	size_t stack_len; /* wanted */
	struct unwinder *unwinder;
	Dwfl *dwfl;
	char *maps_text; /* what is known of it, to see changes */
	size_t nr_maps;
	struct unwinder_map maps[MAX_MAPS];
	char *path[MAX_IMAGES]; /* cookie less 1 */
	size_t nr_images;
	uint8_t *stack;
	/* counts */
	unsigned long nr_stops, nr_frames, nr_whole, nr_model_whole, nr_equal;
	unsigned long nr_differ, nr_ending[OP_NR_TRACE_ENDINGS];
};

static void die(const char *what)
{
	fprintf(stderr, "unwindcheck: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* ---- mappings ---------------------------------------------------------------
 */

static uint64_t cookie_of(struct check *c, const char *path)
{
	for (size_t i = 0; i < c->nr_images; i++)
		if (!strcmp(c->path[i], path))
			return i + 1;
	if (c->nr_images == MAX_IMAGES)
		die("too many images");
	c->path[c->nr_images] = strdup(path);
	return ++c->nr_images;
}

static void take_map(struct check *c, char *line)
{
	struct unwinder_map *map = &c->maps[c->nr_maps];
	char perms[5];
	int name = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n",
		   &map->start, &map->end, perms, &map->offset, &name) < 4 ||
	    perms[2] != 'x' || c->nr_maps == MAX_MAPS)
		return;
	map->anon = NULL;
	map->cookie =
		line[name] == '/' ? cookie_of(c, line + name) : OP_NO_COOKIE;
	if (!strcmp(line + name, "[vdso]"))
		map->anon = "[vdso]";
	c->nr_maps++;
}

static char *read_maps(pid_t pid)
{
	char path[64];
	char *text = NULL;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f || getdelim(&text, &room, '\0', f) < 0)
		die(path);
	fclose(f);
	return text;
}

static bool find_map(void *ctx, uint64_t addr, struct unwinder_map *map)
{
	struct check *c = ctx;

	for (size_t i = 0; i < c->nr_maps; i++) {
		if (addr < c->maps[i].start || addr >= c->maps[i].end)
			continue;
		*map = c->maps[i];
		return true;
	}
	return false;
}

static int open_image(void *ctx, uint64_t cookie)
{
	const struct check *c = ctx;
	int fd = open(c->path[cookie - 1], O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* ---- the model --------------------------------------------------------------
 */

static char *no_debug_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &no_debug_path,
};

static void start_model(struct check *c)
{
	if (c->dwfl)
		dwfl_end(c->dwfl);
	c->dwfl = dwfl_begin(&callbacks);
	if (!c->dwfl || dwfl_linux_proc_report(c->dwfl, c->pid) ||
	    dwfl_report_end(c->dwfl, NULL, NULL) ||
	    dwfl_linux_proc_attach(c->dwfl, c->pid, true)) {
		fprintf(stderr, "unwindcheck: libdw: %s\n", dwfl_errmsg(-1));
		exit(2);
	}
}

static void see_maps(struct check *c)
{
	char *text = read_maps(c->pid);
	char *line, *rest;

	if (c->maps_text && !strcmp(text, c->maps_text)) {
		free(text);
		return;
	}
	free(c->maps_text);
	c->maps_text = strdup(text);
	c->nr_maps = 0;
	for (rest = text; (line = strsep(&rest, "\n"));)
		take_map(c, line);
	free(text);
	start_model(c);
}

static int take_model_frame(Dwfl_Frame *frame, void *arg)
{
	struct stack_trace *t = arg;
	bool is_activation;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, &is_activation))
		return DWARF_CB_ABORT;
	if (t->nr == MAX_FRAMES)
		return DWARF_CB_ABORT;
	t->pc[t->nr++] = is_activation ? pc : pc - 1;
	return DWARF_CB_OK;
}

/* Whether unwind data say of @pc that nothing called it. */
static bool is_outermost(struct check *c, uint64_t pc)
{
	Dwfl_Module *module = dwfl_addrmodule(c->dwfl, pc);
	Dwarf_Op place[3], *ops = place;
	bool is_undefined = false;
	Dwarf_Frame *frame;
	size_t nr_ops = 1;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;
	int ra;

	cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &frame))
		return false;
	ra = dwarf_frame_info(frame, NULL, NULL, NULL);
	/* No operation in the place given: the register is undefined. */
	if (ra >= 0 && !dwarf_frame_register(frame, ra, place, &ops, &nr_ops))
		is_undefined = !nr_ops && ops == place;
	free(frame);
	return is_undefined;
}

/*
 * elfutils end a stack without an error, too, where they lost a register that
 * the next frame is found by: rbx in a function that did not save it yet, which
 * _dl_runtime_resolve called.
 */
static void ask_model(struct check *c, struct stack_trace *t)
{
	t->nr = 0;
	t->is_whole =
		!dwfl_getthread_frames(c->dwfl, c->pid, take_model_frame, t) &&
		t->nr && is_outermost(c, t->pc[t->nr - 1]);
}

/* ---- ours -------------------------------------------------------------------
 */

#ifdef __x86_64__
#define ARCH OP_STACK_X86_64
#define SP CFI_X86_64_RSP
#define PC CFI_X86_64_RIP
static void get_regs(pid_t pid, struct cfi_regs *regs)
{
	struct user_regs_struct u;
	struct iovec iov = { &u, sizeof(u) };

	if (ptrace(PTRACE_GETREGSET, pid, (long)NT_PRSTATUS, &iov))
		die("registers");
	*regs = (struct cfi_regs){
		.reg = { u.rax, u.rdx, u.rcx, u.rbx, u.rsi, u.rdi, u.rbp, u.rsp,
			 u.r8, u.r9, u.r10, u.r11, u.r12, u.r13, u.r14, u.r15,
			 u.rip },
		.known = 0x1ffff,
	};
}
#else
#define ARCH OP_STACK_AARCH64
#define SP CFI_AARCH64_SP
#define PC CFI_AARCH64_PC
static void get_regs(pid_t pid, struct cfi_regs *regs)
{
	struct user_regs_struct u;
	struct iovec iov = { &u, sizeof(u) };

	if (ptrace(PTRACE_GETREGSET, pid, (long)NT_PRSTATUS, &iov))
		die("registers");
	memcpy(regs->reg, u.regs, sizeof(u.regs));
	regs->reg[SP] = u.sp;
	regs->reg[PC] = u.pc;
	regs->known = 0x1ffffffff;
}
#endif

static void *pointer(uint64_t addr)
{
	void *p;

	memcpy(&p, &addr, sizeof(p));
	return p;
}

/* As much as there is of what is wanted: pages, until one is missing. */
static size_t get_stack(struct check *c, uint64_t sp)
{
	size_t len = 0;

	while (len < c->stack_len) {
		size_t part = 4096 - (sp + len) % 4096;
		struct iovec to = { c->stack + len, part };
		struct iovec from = { pointer(sp + len), part };

		if (part > c->stack_len - len)
			to.iov_len = from.iov_len = c->stack_len - len;
		if (process_vm_readv(c->pid, &to, 1, &from, 1, 0) <= 0)
			break;
		len += to.iov_len;
	}
	return len;
}

static enum op_trace_ending ask_ours(struct check *c, struct stack_trace *t)
{
	static struct unwinder_frame frames[MAX_FRAMES];
	enum op_trace_ending ending;
	struct cfi_stack stack;
	struct cfi_regs regs;

	get_regs(c->pid, &regs);
	stack = (struct cfi_stack){ regs.reg[SP], c->stack,
				    get_stack(c, regs.reg[SP]) };
	t->pc[0] = regs.reg[PC];
	t->nr = 1 + unwinder_unwind(c->unwinder, ARCH, &regs, &stack, frames,
				    MAX_FRAMES - 1, &ending);
	for (size_t i = 1; i < t->nr; i++)
		t->pc[i] = frames[i - 1].pc - 1;
	t->is_whole = ending == OP_TRACE_WHOLE;
	return ending;
}

/* ---- comparing --------------------------------------------------------------
 */

static void show(struct check *c, const char *who, const struct stack_trace *t)
{
	fprintf(stderr, "  %s%s:\n", who, t->is_whole ? "" : " (not whole)");
	for (size_t i = 0; i < t->nr && i < 40; i++) {
		struct unwinder_map map = { .start = 0 };
		const char *name = "?";

		if (find_map(c, t->pc[i], &map))
			name = map.cookie ? c->path[map.cookie - 1] : map.anon;
		fprintf(stderr, "    %" PRIx64 " %s+%" PRIx64 "\n", t->pc[i],
			name ? name : "anon",
			t->pc[i] - map.start + map.offset);
	}
}

static bool are_equal(const struct stack_trace *a, const struct stack_trace *b)
{
	return a->nr == b->nr &&
	       !memcmp(a->pc, b->pc, a->nr * sizeof(a->pc[0]));
}

/* Where the model gives up it says nothing of us. */
static void compare(struct check *c)
{
	static struct stack_trace ours, model;
	enum op_trace_ending ending;
	bool is_equal;

	see_maps(c);
	ending = ask_ours(c, &ours);
	ask_model(c, &model);
	is_equal = are_equal(&ours, &model);
	c->nr_stops++;
	c->nr_frames += ours.nr;
	c->nr_ending[ending]++;
	c->nr_whole += ours.is_whole;
	c->nr_model_whole += model.is_whole;
	c->nr_equal += is_equal;
	if (ours.is_whole && model.is_whole && !is_equal)
		c->nr_differ++;
	else if (ours.is_whole || !c->is_verbose)
		return;
	if (!c->is_verbose)
		return;
	fprintf(stderr, "stop %lu: ending %d\n", c->nr_stops, ending);
	show(c, "ours", &ours);
	show(c, "model", &model);
}

/* ---- the process ------------------------------------------------------------
 */

/*
 * Returns false when it has ended. Signals of its own are handed on, and it
 * goes on by @request as before. Our timer's is not handed on; it is what
 * stops a command that runs freely.
 */
static bool wait_stop(struct check *c, enum __ptrace_request request)
{
	int status, sig;

	for (;;) {
		if (waitpid(c->pid, &status, 0) != c->pid)
			die("waitpid");
		if (!WIFSTOPPED(status)) {
			c->pid = 0;
			return false;
		}
		sig = WSTOPSIG(status);
		if (status >> 16 == PTRACE_EVENT_STOP || sig == SIGTRAP ||
		    (sig == SIGPROF && request == PTRACE_CONT))
			return true;
		ptrace(request, c->pid, 0L, sig == SIGPROF ? 0L : (long)sig);
	}
}

static bool go_on(struct check *c, enum __ptrace_request request)
{
	return !ptrace(request, c->pid, 0L, 0L) && wait_stop(c, request);
}

/*
 * One run, of at most @stops stops; the first is that of the exec. Returns how
 * many there were.
 */
static unsigned long check_run(struct check *c, unsigned long stops,
			       unsigned long steps)
{
	unsigned long nr = 0;

	do {
		compare(c);
		nr++;
		for (unsigned long i = 0; i < steps; i++) {
			if (!go_on(c, PTRACE_SINGLESTEP))
				return nr;
			compare(c);
		}
	} while (nr < stops && go_on(c, PTRACE_CONT));
	return nr;
}

/* As often as the kernel looks. */
static void start_timer(void)
{
	const struct itimerval every = { { 0, 1 }, { 0, 1 } };

	setitimer(ITIMER_PROF, &every, NULL);
}

static pid_t start(char **argv)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork");
	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		raise(SIGSTOP);
		start_timer();
		execvp(argv[0], argv);
		_exit(127);
	}
	if (waitpid(pid, &status, WUNTRACED) != pid ||
	    ptrace(PTRACE_SEIZE, pid, 0L,
		   (long)(PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC)))
		die("ptrace");
	kill(pid, SIGCONT);
	/* Up to the exec, whose stop is a SIGTRAP. */
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) &&
	       status >> 16 != PTRACE_EVENT_EXEC)
		ptrace(PTRACE_CONT, pid, 0L, 0L);
	return pid;
}

static void end(struct check *c)
{
	if (c->pid) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	free(c->maps_text);
	c->maps_text = NULL;
}

static void check_all(struct check *c, char **argv, unsigned long stops,
		      unsigned long steps)
{
	while (stops) {
		c->pid = start(argv);
		stops -= check_run(c, stops, steps);
		end(c);
	}
}

static void report(const struct check *c)
{
	static const char *const endings[OP_NR_TRACE_ENDINGS] = {
		[OP_TRACE_WHOLE] = "whole",
		[OP_TRACE_DEPTH] = "depth",
		[OP_TRACE_NO_UNWIND] = "no-unwind",
		[OP_TRACE_SHORT_STACK] = "short-stack",
		[OP_TRACE_BAD_STACK] = "bad-stack",
		[OP_TRACE_GUESSED] = "guessed",
		[OP_TRACE_OTHER_STACK] = "other-stack",
		[OP_TRACE_NO_MEMORY] = "no-memory",
	};

	printf("stops %lu\nframes %lu\n", c->nr_stops, c->nr_frames);
	for (size_t i = 0; i < OP_NR_TRACE_ENDINGS; i++)
		printf("%s %lu\n", endings[i], c->nr_ending[i]);
	printf("model-whole %lu\nequal %lu\ndiffer %lu\n", c->nr_model_whole,
	       c->nr_equal, c->nr_differ);
}

int main(int argc, char **argv)
{
	static struct check c = { .stack_len = OP_STACK_MAX_BYTES };
	const struct unwinder_ops ops = { .find_map = find_map,
					  .open_image = open_image };
	unsigned long stops = 100, steps = 0;
	int opt;

	while ((opt = getopt(argc, argv, "+n:b:s:v")) != -1) {
		if (opt == 'n')
			stops = strtoul(optarg, NULL, 0);
		else if (opt == 'b')
			steps = strtoul(optarg, NULL, 0);
		else if (opt == 's')
			c.stack_len = strtoul(optarg, NULL, 0);
		else if (opt == 'v')
			c.is_verbose = true;
		else
			return 2;
	}
	if (optind == argc)
		return 2;
	c.stack = malloc(c.stack_len + 1);
	if (!c.stack || unwinder_new(&c.unwinder, &ops, &c))
		die("memory");
	check_all(&c, argv + optind, stops, steps);
	report(&c);
	unwinder_free(c.unwinder);
	return c.nr_differ ? 1 : 0;
}
