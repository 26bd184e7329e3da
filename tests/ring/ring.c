// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's ring of samples (module/op_ring.h), in user space: a producer
 * thread that is interrupted by a signal handler which produces too, as an
 * interrupt or NMI does on a CPU, and a consumer thread. Built under
 * ThreadSanitizer by the test beside which it is run.
 *
 * Every value of both producers must arrive once, whole, and in the order in
 * which its producer wrote it, or have been refused.
 */

#include <inttypes.h>
#include <pthread.h>
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

#include "module/op_ring.h"

#define ORDER 6
#define NR_OUTER 3000000ul

enum { OUTER, INNER, NR_PRODUCERS };

static struct op_ring ring;
static struct op_ring_slot slots[1 << ORDER];
static bool done;

/* Written by the producer thread and its handler. */
static volatile u64 produced[NR_PRODUCERS];
static volatile u64 refused[NR_PRODUCERS];

static void produce(int who)
{
	unsigned long number;
	struct op_ring_slot *slot = op_ring_reserve(&ring, &number);

	if (!slot) {
		refused[who]++;
		return;
	}
	produced[who]++;
	for (int i = 0; i < 7; i++)
		slot->words[i] = produced[who] << 1 | who;
	op_ring_publish(slot, number);
}

static void on_signal(int sig)
{
	(void)sig;
	for (int i = 0; i < 20; i++)
		produce(INNER);
}

static void *producer(void *unused)
{
	sigset_t set;

	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	for (unsigned long i = 0; i < NR_OUTER; i++)
		produce(OUTER);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	__atomic_store_n(&done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Check one slot against the last value of its producer. */
static bool check(const struct op_ring_slot *slot, u64 *last)
{
	u64 value = slot->words[0];
	int who = value & 1;

	for (int i = 1; i < 7; i++)
		if (slot->words[i] != value)
			return false;
	if (value >> 1 != last[who] + 1)
		return false;
	last[who] = value >> 1;
	return true;
}

/* Returns the number of bad slots. */
static u64 consume(u64 *last)
{
	const struct op_ring_slot *slot;
	u64 nr_bad = 0;
	bool was_done;

	do {
		was_done = __atomic_load_n(&done, __ATOMIC_ACQUIRE);
		while ((slot = op_ring_peek(&ring))) {
			nr_bad += !check(slot, last);
			op_ring_consume(&ring);
		}
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
	report(1, !nr_bad, "every slot arrives whole and in order");
	report(2,
	       last[OUTER] == produced[OUTER] && last[INNER] == produced[INNER],
	       "nothing that was published is missing");
	report(3, produced[OUTER] + refused[OUTER] == NR_OUTER,
	       "what does not arrive was refused");
	report(4, produced[INNER] && refused[OUTER],
	       "contexts did nest and the ring did fill");
	printf("# outer %" PRIu64 " + %" PRIu64 " refused, inner %" PRIu64
	       " + %" PRIu64 " refused\n",
	       produced[OUTER], refused[OUTER], produced[INNER],
	       refused[INNER]);
	return 0;
}
