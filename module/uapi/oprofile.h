/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#ifndef UAPI_OPROFILE_H
#define UAPI_OPROFILE_H

/*
 * The stream: what /dev/oprofile/buffer hands to user space, what every other
 * sample source produces, and what a recorded stream file holds. doc/abi.md
 * explains it; this header is the only definition.
 *
 * A stream is a sequence of 64-bit words in the byte order of the machine
 * that wrote it. A word that is not OP_ESCAPE is the offset of a sample and
 * the word behind it is its counter:
 *
 *	| offset | counter |
 *
 * OP_ESCAPE starts a record. The code word behind it tells the code and the
 * length, so that a reader skips what it does not know:
 *
 *	| OP_ESCAPE | nr_words << 32 | flags << 16 | code | payload ... |
 *
 * Context records say how the samples behind them are to be attributed.
 * OP_CPU_SWITCH forgets all context; the writer repeats what a sample needs
 * before that sample, so a reader may start at any OP_CPU_SWITCH. Nothing is
 * ever cut: a read(2) returns whole records, and a record that did not fit
 * the buffer is counted as lost as a whole, with the context it needed sent
 * again before the next sample.
 */

#include <linux/ioctl.h>
#include <linux/types.h>

#define OP_ABI_VERSION 1

#define OP_ESCAPE (~(__u64)0)

/* The image cookie of a sample or application without an image file. */
#define OP_NO_COOKIE ((__u64)0)

/*
 * The owner of a sample in OP_CTX_TGID is the user, as the first user namespace
 * numbers them, who could have read all of the process with a debugger when it
 * was taken. Root, programs with privileges, and those of which that is in
 * doubt have none.
 */
#define OP_NO_OWNER (~(__u64)0)
#define OP_MAX_OWNER ((__u64)0xfffffffe)

/* Counters are numbered from 0; a larger number in a stream is an error. */
#define OP_MAX_COUNTERS 32

/* A sample is taken no more often than that, or once for every ns of three
 * days. */
#define OP_MAX_TIMES ((__u64)1 << 48)

/* No record is longer; a reader may take a longer one for damage. */
#define OP_MAX_RECORD_WORDS 9216

/*
 * X(NAME, number, fewest payload words, name in the text form)
 *
 * The numbers up to 8, 13 and 14 are the historical ones. OP_STREAM_BEGIN to
 * OP_LOST, OP_SOURCE, OP_TAKEN, OP_EVENT_TIME, OP_CALL and OP_TIME never come
 * from the kernel: user space adds them where it reads the kernel's stream, so
 * that what is behind that can be replayed on another machine. A record may
 * grow by words at its end; readers ignore what they don't know.
 */
/* clang-format off */
#define OP_CODES(X)                                                           \
	/* tid, application cookie; the tgid follows in OP_CTX_TGID */        \
	X(CTX_SWITCH,     1, 2, "ctx")                                        \
	/* cpu; forgets every other context */                                \
	X(CPU_SWITCH,     2, 1, "cpu")                                        \
	/* image cookie of the user samples that follow */                    \
	X(COOKIE_SWITCH,  3, 1, "image")                                      \
	/* samples that follow are absolute kernel addresses */               \
	X(KERNEL_ENTER,   4, 0, "kernel")                                     \
	/* samples that follow are file offsets in the current image */       \
	X(USER_ENTER,     5, 0, "user")                                       \
	/* a kernel module came, works, or goes: read the kernel's address    \
	   ranges again. From the kernel also start, end, string, start, end: \
	   the code that the module of this name runs once, and the code that \
	   it keeps; where one has gone, end is start */                      \
	X(MODULE_LOADED,  6, 0, "module-loaded")                              \
	/* tgid of the current context; behind it its owner: the user that    \
	   may see its samples, OP_NO_OWNER if there is none but root */      \
	X(CTX_TGID,       7, 1, "tgid")                                       \
	/* the next sample starts a stack trace, innermost frame first */     \
	X(TRACE_BEGIN,    8, 0, "trace")                                      \
	/* enum op_trace_ending: the trace ends here, and why */              \
	X(TRACE_END,      9, 1, "trace-end")                                  \
	/* pc, CPU, then register images: one sample of AMD IBS, see below */ \
	X(IBS_FETCH,     13, 5, "ibs-fetch")                                  \
	X(IBS_OP,        14, 9, "ibs-op")                                     \
	/* enum op_stack_arch, number of registers, number of mappings,       \
	   bytes of stack, then these: see below */                           \
	X(USER_STACK,    15, 4, "user-stack")                                 \
	/* start, end, string: the image is anonymous memory; samples that    \
	   follow are offsets from start. The string is its name in           \
	   /proc/PID/maps ("anon" where that has none) */                     \
	X(ANON_SWITCH,   16, 3, "anon")                                       \
	/* OP_STREAM_MAGIC, OP_ABI_VERSION, pointer size of the kernel */     \
	X(STREAM_BEGIN,  17, 3, "stream")                                     \
	/* counter, event code, count, unit mask, kernel 0|1, user 0|1,       \
	   string: the event of a counter. Count 0 is the timer */            \
	X(EVENT,         18, 7, "event")                                      \
	/* cookie, OP_IMAGE_* flags, device, inode, mtime, build-id bytes     \
	   (0..32), 4 words of build-id, string: the path, empty if there is  \
	   none */                                                            \
	X(COOKIE_NAME,   19, 11, "cookie")                                    \
	/* start, end, build-id bytes, 4 words of build-id, string: one       \
	   address range of the kernel ("vmlinux"), of a module, or, with     \
	   OP_KERNEL_CODE, of code that was made at run time, or, with        \
	   OP_KERNEL_INIT, of the code that a module runs once. With          \
	   OP_KERNEL_FIRST it starts a new table of the kernel and modules */ \
	X(KERNEL_RANGE,  20, 8, "kernel-range")                               \
	/* number of samples, string: their cause. Since the last such record */\
	X(LOST,          21, 2, "lost")                                       \
	/* weight of the sample that is next: what its event cost, in cycles */\
	X(WEIGHT,        22, 1, "weight")                                     \
	/* OP_SOURCE_* flags, string: what sampled, as "module/timer" */      \
	X(SOURCE,        23, 3, "source")                                     \
	/* number of samples taken since the stream began, in it or not */    \
	X(TAKEN,         24, 1, "taken")                                      \
	/* tgid, tid, string: the thread is called so from now on */          \
	X(TASK_NAME,     25, 4, "task-name")                                  \
	/* tgid, mount namespace (its inode, 0 unknown), string: the process  \
	   is in this cgroup from now on; empty if nobody could tell */       \
	X(TASK_CGROUP,   26, 3, "task-cgroup")                                \
	/* tgid, application cookie, string: the process was started by this  \
	   path, a link to the file of the cookie; "OProfile itself": it is   \
	   one of the profiler (from the daemon alone) */                     \
	X(TASK_RUN_AS,   27, 4, "task-run-as")                                \
	/* counter, ns that its event was to be counted, ns that it had a     \
	   hardware counter, samples that it took and turns that it had then  \
	   (may be absent): sums over CPUs, since the last such record. Where \
	   each sample is taken as often as its period says also the number   \
	   of samples, the sum of their periods, and that of the squares of   \
	   these, in 1024 */                                                  \
	X(EVENT_TIME,    28, 3, "event-time")                                 \
	/* how often the sample that is next, with its stack, was taken; or,  \
	   with OP_TIMES_LOWERED, how many it stands for: it was taken once   \
	   where at the full rate there were so many */                       \
	X(TIMES,         29, 1, "times")                                      \
	/* counter, times, caller's cookie and offset, callee's cookie and    \
	   offset of its start: so many samples of the counter, which are in  \
	   the stream without stacks, were in that call */                    \
	X(CALL,          30, 6, "call")                                       \
	/* ns since the epoch: samples that follow were taken then, or little \
	   later. The time may go back, from one CPU to another */            \
	X(TIME,          31, 1, "time")
/* clang-format on */

enum op_code {
#define X(name, nr, words, text) OP_##name = (nr),
	OP_CODES(X)
#undef X
};

/*
 * A string in a payload is always its last part: one word with its length in
 * bytes, then the bytes, padded with zero bytes to a whole word. It may hold
 * no zero byte.
 */

/* Why a stack trace has no further frame. */
enum op_trace_ending {
	OP_TRACE_WHOLE, /* that was the outermost one */
	OP_TRACE_DEPTH, /* more was not asked for */
	OP_TRACE_NO_UNWIND, /* nothing tells the caller of the last frame */
	OP_TRACE_SHORT_STACK, /* it is beyond the part of the stack at hand */
	OP_TRACE_BAD_STACK, /* what is there cannot be */
	OP_TRACE_GUESSED, /* the outermost one, but some caller is a guess */
	OP_TRACE_OTHER_STACK, /* it is on a stack of which nothing is at hand */
	OP_TRACE_NO_MEMORY, /* the reader had none for what tells the caller */
	OP_NR_TRACE_ENDINGS
};

/* The machine whose registers OP_USER_STACK holds, in the DWARF numbers of its
 * ABI. */
enum op_stack_arch {
	OP_STACK_X86_64 = 1, /* 17: rax rdx rcx rbx rsi rdi rbp rsp r8-15 rip */
	OP_STACK_AARCH64 = 2, /* 33: x0-x30 sp pc */
};

#define OP_STACK_MAX_REGS 33
#define OP_STACK_MAX_MAPS 256
#define OP_STACK_MAP_WORDS 4
#define OP_STACK_MAX_BYTES 65536

/*
 * OP_USER_STACK is what a trace lacks where user code keeps no frame pointers:
 * the reader unwinds it. It holds the user registers, the mappings of code that
 * words of the stack point to, and the stack from the stack pointer up:
 *
 *	| arch | nr_regs | nr_maps | stack_len | nr_regs registers
 *	| nr_maps times { start, end, file offset of start, image cookie }
 *	| stack_len bytes, padded with zero bytes to a whole word |
 *
 * Mappings are sorted and do not overlap; cookie OP_NO_COOKIE is anonymous
 * memory. If the trace began in user mode, its innermost sample is the place
 * where the registers were taken; else the place where the kernel was entered
 * is the frame behind those of the kernel. OP_TRACE_END behind it tells
 * nothing of the frames that unwinding gives.
 */

/*
 * OP_IBS_FETCH and OP_IBS_OP are samples. Like the first word of any other,
 * pc is an offset in the current image, or a kernel address. The next word
 * says which CPU the registers are of: its IBS capabilities (CPUID
 * Fn8000_001B_EAX), and from bit 32 its family. The model specific registers
 * follow, as the hardware left them:
 *
 *	fetch	FETCH_CTL LINAD PHYSAD [EXTD_CTL]
 *	op	OP_CTL RIP DATA DATA2 DATA3 DC_LINAD DC_PHYSAD
 *		[BR_TARGET] [DATA4]
 *
 * where those in brackets are there if the capabilities have the bit.
 */
#define OP_IBS_CPU(caps, family) ((__u64)(family) << 32 | (__u32)(caps))
#define OP_IBS_CAPS_OF(word) ((__u32)(word))
#define OP_IBS_FAMILY_OF(word) ((__u32)((word) >> 32 & 0xffff))

#define OP_IBS_CAP_OP_COUNT (1u << 4) /* counts dispatched ops */
#define OP_IBS_CAP_BR_TARGET (1u << 5)
#define OP_IBS_CAP_RIP_INVALID (1u << 7) /* DATA tells so */
#define OP_IBS_CAP_EXTD_CTL (1u << 9)
#define OP_IBS_CAP_DATA4 (1u << 10)

/* The bytes "OPSTREAM" on a little-endian machine. */
#define OP_STREAM_MAGIC ((__u64)0x4d4145525453504full)

/*
 * Flags of OP_COOKIE_NAME and of struct op_cookie_query. Device and inode are
 * those of the file system that holds the bytes, which for an overlay is not
 * what stat(2) tells: compare build-id and mtime.
 */
#define OP_IMAGE_DELETED 1u /* the file was deleted when it was first seen */
#define OP_IMAGE_NO_FILE 2u /* not on any disk: "[vdso]", a memfd */
#define OP_IMAGE_MAY_HANG 4u /* opening or reading its file may never end */

/* Flags in the code word of OP_TIMES. */
#define OP_TIMES_LOWERED 1u

/* By what the rate may be divided while the profiler runs: a power of two. */
#define OP_MAX_RATE_SHIFT 7
#define OP_MAX_RATE_DIVISOR (1u << OP_MAX_RATE_SHIFT)

/* Flags of OP_SOURCE. */
#define OP_SOURCE_STACKS 1u /* samples come with stacks */

/* The kernel's own name in OP_KERNEL_RANGE. */
#define OP_KERNEL_NAME "vmlinux"

/* Flags in the code word of OP_KERNEL_RANGE. */
#define OP_KERNEL_FIRST 1u /* forget all ranges but those of OP_KERNEL_CODE */
#define OP_KERNEL_CODE 2u /* one function: a BPF program, a trampoline */
#define OP_KERNEL_INIT 4u /* of a module, besides its range */

#define OP_BUILD_ID_MAX 32
#define OP_PATH_MAX 4096

#define OP_CODE_WORD(code, flags, nr_words)                                    \
	((__u64)(nr_words) << 32 | (__u64)(flags) << 16 | (__u64)(code))
#define OP_CODE_OF(word) ((__u32)((word)&0xffff))
#define OP_FLAGS_OF(word) ((__u32)((word) >> 16 & 0xffff))
#define OP_WORDS_OF(word) ((__u32)((word) >> 32))

/*
 * OP_IOC_COOKIE on the file descriptor of /dev/oprofile/buffer tells what an
 * image cookie of the stream stands for. In: cookie. Out: the rest. The kernel
 * reads no file, so it knows no build-id: build_id_len is 0.
 * Errors: ENOENT no such cookie, EAGAIN not named yet (ask again after the
 * next read), EFAULT.
 */
struct op_cookie_query {
	__u64 cookie;
	__u64 dev;
	__u64 ino;
	__u64 mtime; /* of the inode when it was first seen, seconds */
	__u32 flags; /* OP_IMAGE_* */
	__u32 build_id_len; /* bytes, 0 when the file has none */
	__u8 build_id[OP_BUILD_ID_MAX];
	char path[OP_PATH_MAX]; /* zero-terminated */
};

#define OP_IOC_COOKIE _IOWR('O', 1, struct op_cookie_query)

/*
 * OP_IOC_IMAGE on the same descriptor, with a pointer to a cookie, returns a
 * new descriptor (O_PATH, close-on-exec) of the image's file: the very one that
 * was seen, wherever its path leads by now. It can be had once, for two seconds
 * from the image's first sample on, and for 1024 images at a time.
 * Errors: as above; ENODATA too late, too many, no regular file, or one with
 * OP_IMAGE_MAY_HANG; EMFILE, ENFILE, ENOMEM.
 */
#define OP_IOC_IMAGE _IOW('O', 2, __u64)

/*
 * OP_IOC_WAITING on the same descriptor tells how many bytes can be read now.
 * After a dump all samples taken before it are among these, and what is read
 * later than them is newer.
 */
#define OP_IOC_WAITING _IOR('O', 3, __u64)

#endif /* UAPI_OPROFILE_H */
