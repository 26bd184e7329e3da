/* Four threads take jobs; to take one they need a lock that they hold too long.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int nr_jobs = 2000;

__attribute__((noinline)) static uint64_t work(uint64_t x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

__attribute__((noinline)) static int take_job(uint64_t *x)
{
	int job;

	pthread_mutex_lock(&lock);
	job = nr_jobs > 0 ? nr_jobs-- : 0;
	*x = work(*x, 300000); /* for nothing that needs the lock */
	pthread_mutex_unlock(&lock);
	return job;
}

static void *run(void *arg)
{
	uint64_t x = (uintptr_t)arg;

	while (take_job(&x))
		x = work(x, 100000);
	return (void *)(uintptr_t)x;
}

int main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
