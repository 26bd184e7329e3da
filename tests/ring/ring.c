// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's ring of samples (module/buffer/op_ring.h), in user space: a
 * producer thread that is interrupted by a signal handler which produces too,
 * as an interrupt or NMI does on a CPU, and a consumer thread. Built under
 * ThreadSanitizer by the test beside which it is run.
 *
 * Every record of both producers, of one slot or several, must arrive once,
 * whole, and in the order in which its producer wrote it, or have been refused.
 */

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

typedef uint64_t u64;
typedef struct {
	long value;
} local_t;

#define local_read(l) __atomic_load_n(&(l)->value, __ATOMIC_RELAXED)
#define local_set(l, v) __atomic_store_n(&(l)->value, v, __ATOMIC_RELAXED)
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)

static unsigned long local_cmpxchg(local_t *l, long old, long new)
{
	__atomic_compare_exchange_n(&l->value, &old, new, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return old;
}

#include "module/buffer/op_ring.h"

#define ORDER 6
#define NR_OUTER 3000000ul /* tries, at least */
#define NR_THROUGH 100ul /* records of each producer, at least */

enum { OUTER, INNER, NR_PRODUCERS };

static struct op_ring ring;
static struct op_ring_slot slots[1 << ORDER];
static bool done;
static bool take_turns; /* with one CPU for both threads they would be slow */

/* Written by the producer thread and its handler. */
static volatile u64 produced[NR_PRODUCERS];
static volatile u64 refused[NR_PRODUCERS];
static u64 nr_tries; /* of the outer one */

/* Slots of a record: all lengths up to half of the ring. */
static unsigned long slots_of(u64 value)
{
	u64 mixed = value * 0x9e3779b97f4a7c15ull >> 60;

	return mixed < 8 ? 1 : 1 + (value * 0xd1342543de82ef95ull >> 59);
}

static void produce(int who)
{
	u64 value = (produced[who] + 1) << 1 | (unsigned int)who;
	unsigned long nr = slots_of(value), number;

	if (!op_ring_reserve(&ring, nr, &number)) {
		refused[who]++;
		return;
	}
	produced[who]++;
	for (unsigned long i = 0; i < nr; i++)
		for (unsigned int k = 0; k < OP_RING_SLOT_WORDS; k++)
			op_ring_slot(&ring, number + i)->words[k] = value;
	op_ring_publish(&ring, number);
}

static void on_signal(int sig)
{
	(void)sig;
	for (int i = 0; i < 20; i++)
		produce(INNER);
}

/* How the threads share the CPUs decides how much is refused. */
static bool is_enough(void)
{
	return produced[OUTER] >= NR_THROUGH && produced[INNER] >= NR_THROUGH &&
	       refused[OUTER];
}

static void produce_outer(void)
{
	for (; nr_tries < NR_OUTER; nr_tries++)
		produce(OUTER);
	__atomic_store_n(&take_turns, true, __ATOMIC_RELAXED);
	for (; !is_enough(); nr_tries++) {
		produce(OUTER);
		sched_yield();
	}
}

static void *producer(void *unused)
{
	sigset_t set;

	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	produce_outer();
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	__atomic_store_n(&done, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool is_filled(const struct op_ring_slot *slot, u64 value)
{
	for (unsigned int i = 0; i < OP_RING_SLOT_WORDS; i++)
		if (slot->words[i] != value)
			return false;
	return true;
}

/* Take a record, which must be the next of its producer. */
static bool take(const struct op_ring_slot *first, u64 *last)
{
	u64 value = first->words[0];
	unsigned long nr = slots_of(value);
	bool good = value >> 1 == last[value & 1] + 1;

	for (unsigned long i = 0; i < nr; i++)
		good &= is_filled(op_ring_slot(&ring, ring.tail + i), value);
	last[value & 1] = value >> 1;
	op_ring_consume(&ring, nr);
	return good;
}

/* Returns the number of bad records. */
static u64 consume(u64 *last)
{
	const struct op_ring_slot *slot;
	u64 nr_bad = 0;
	bool was_done;

	do {
		was_done = __atomic_load_n(&done, __ATOMIC_ACQUIRE);
		while ((slot = op_ring_peek(&ring)))
			nr_bad += !take(slot, last);
		if (__atomic_load_n(&take_turns, __ATOMIC_RELAXED))
			sched_yield();
	} while (!was_done);
	return nr_bad;
}

static void report(int number, bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", number, what);
}

int main(void)
{
	struct itimerval every = { { 0, 50 }, { 0, 50 } };
	struct sigaction action = { .sa_handler = on_signal };
	u64 last[NR_PRODUCERS] = { 0 };
	pthread_t thread;
	sigset_t set;
	u64 nr_bad;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGALRM, &action, NULL);
	op_ring_init(&ring, slots, ORDER);
	if (pthread_create(&thread, NULL, producer, NULL))
		return 1;
	setitimer(ITIMER_REAL, &every, NULL);
	nr_bad = consume(last);
	pthread_join(thread, NULL);

	printf("1..4\n");
	report(1, !nr_bad, "every record arrives whole and in order");
	report(2,
	       last[OUTER] == produced[OUTER] && last[INNER] == produced[INNER],
	       "nothing that was published is missing");
	report(3, produced[OUTER] + refused[OUTER] == nr_tries,
	       "what does not arrive was refused");
	report(4, produced[INNER] && refused[OUTER],
	       "contexts did nest and the ring did fill");
	printf("# outer %" PRIu64 " + %" PRIu64 " refused, inner %" PRIu64
	       " + %" PRIu64 " refused\n",
	       produced[OUTER], refused[OUTER], produced[INNER],
	       refused[INNER]);
	return 0;
}
