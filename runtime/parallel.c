// The pool of threads behind parallel loops.
//
// Each thread has a share of the tasks of a call, which are next to each other, and takes those first: calls that follow each other mostly
// go through the same tensors, and what a processor has written lies in its own cache. Then it takes what is left of the others' shares.
//
// One word says what there is to do of a share: the number of the call, and how many of its tasks nobody
// has taken. Whoever wants a task reads the word, then what the call is, then takes one by
// changing the word; if that succeeds, no task can have ended the call in between, so what was
// read belongs to it. Nobody waits for a thread that has not taken anything: a call on a busy
// machine costs no more than its tasks.
//
//   caller   task, data, tasks, threads, pending = left = n;  words = {call + 1, share};  takes tasks;  pending == 0 ?
//   worker   left;  word;  task, data, tasks, threads;  word = {call, share - 1};  left - 1;  runs it;  pending - 1
//
// The state is the process's, as threads are. This file includes nothing of tvms but its header.
#define _GNU_SOURCE
#include "runtime/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
  MOST_THREADS = 256,
  TASKS_PER_THREAD =
      4,             // a thread that the system holds up costs a quarter of its share
  SPINS = 4000,      // looks at the word before a thread sleeps: some 50 microseconds
  SPINS_BLIND = 32,  // of them until a worker asks whether it is in its caller's way
};

typedef struct {
  _Alignas(64) _Atomic(uint64_t) word;  // call << 32 | tasks left
} share;

static struct {
  share shares[MOST_THREADS];
  _Atomic(int32_t) left;  // tasks that nobody has taken
  _Atomic(tvms_parallel_task) task;
  _Atomic(void *) data;
  _Atomic(int32_t) tasks;
  _Atomic(int32_t) threads;  // the caller's included
  _Atomic(int32_t) pending;  // tasks that have not returned
  atomic_int processor;      // where the caller was at the last call
  atomic_bool busy;          // a call is in progress
  atomic_bool stops;
  atomic_bool caller_sleeps;
  _Atomic(int32_t) sleeping;  // workers
  uint32_t call;              // its number; guarded by `busy`, as what follows
  bool started;
  int32_t worker_count;
  pthread_t workers[MOST_THREADS];
} pool;

// For sleeping only; what threads tell each other is in the atomics above.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;

static void pause_briefly(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Wakes whoever sleeps on a condition, which has changed before.
static void wake(pthread_cond_t *condition) {
  pthread_mutex_lock(&lock);
  pthread_cond_broadcast(condition);
  pthread_mutex_unlock(&lock);
}

// The first task of a share.
static int32_t begin_of(int32_t at, int32_t tasks, int32_t threads) {
  return (int32_t)((int64_t)tasks * at / threads);
}

// Runs one task of a share, if there is one.
static bool take_of(int32_t at) {
  _Atomic(uint64_t) *from = &pool.shares[at].word;
  uint64_t word = atomic_load_explicit(from, memory_order_acquire);
  while ((uint32_t)word != 0) {
    tvms_parallel_task task = atomic_load_explicit(&pool.task, memory_order_relaxed);
    void *data = atomic_load_explicit(&pool.data, memory_order_relaxed);
    int32_t tasks = atomic_load_explicit(&pool.tasks, memory_order_relaxed);
    int32_t threads = atomic_load_explicit(&pool.threads, memory_order_relaxed);
    if (!atomic_compare_exchange_weak_explicit(
            from, &word, word - 1, memory_order_acq_rel, memory_order_acquire))
      continue;
    atomic_fetch_sub(&pool.left, 1);
    tvms_parallel_env env = {NULL, tasks};
    task(begin_of(at + 1, tasks, threads) - (int32_t)(uint32_t)word, &env, data);
    if (atomic_fetch_sub(&pool.pending, 1) == 1 && atomic_load(&pool.caller_sleeps))
      wake(&ended);
    return true;
  }
  return false;
}

// Runs one task, if there is one: of the thread's own share, or else of another's.
static bool take_one(int32_t self) {
  if (take_of(self)) return true;
  int32_t threads = atomic_load_explicit(&pool.threads, memory_order_relaxed);
  for (int32_t i = 1; i < threads && atomic_load(&pool.left) > 0; i++) {
    if (take_of((self + i) % threads)) return true;
  }
  return false;
}

static bool has_work(void) {
  return atomic_load(&pool.left) > 0 || atomic_load(&pool.stops);
}

// Looks for work for a while. A worker that was woken while all other processors are busy has taken its
// caller's: it sleeps at once, and the next call wakes it where there is room.
static void look_for_work(void) {
  for (uint32_t spins = 1; !has_work() && spins <= SPINS; spins++) {
    if (spins % SPINS_BLIND == 0 && sched_getcpu() == atomic_load(&pool.processor))
      return;
    pause_briefly();
  }
}

static void *work(void *own) {
  int32_t self = (int32_t)((share *)own - pool.shares);
  while (!atomic_load(&pool.stops)) {
    look_for_work();
    if (!has_work()) {
      pthread_mutex_lock(&lock);
      atomic_fetch_add(&pool.sleeping, 1);
      while (!has_work()) {
        pthread_cond_wait(&called, &lock);
      }
      atomic_fetch_sub(&pool.sleeping, 1);
      pthread_mutex_unlock(&lock);
    }
    while (take_one(self)) {
    }
  }
  return NULL;
}

// Threads that shall work, the caller's included.
static int32_t wanted_threads(void) {
  const char *given = getenv("TVMS_NUM_THREADS");
  long count = given ? strtol(given, NULL, 10) : 0;
  if (count < 1) {
    cpu_set_t set;
    count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  }
  return count > MOST_THREADS ? MOST_THREADS : (int32_t)count;
}

// The child of a fork has none of the threads, and whoever held the lock is gone.
static void forget(void) {
  pthread_mutex_init(&lock, NULL);
  pthread_cond_init(&called, NULL);
  pthread_cond_init(&ended, NULL);
  for (int32_t i = 0; i < MOST_THREADS; i++)
    atomic_store(&pool.shares[i].word, 0);
  atomic_store(&pool.left, 0);
  atomic_store(&pool.sleeping, 0);
  atomic_store(&pool.caller_sleeps, false);
  pool.started = false;
  pool.worker_count = 0;
  atomic_store(&pool.busy, false);
}

static void start(void) {
  static bool forks_are_watched;
  pool.started = true;
  if (!forks_are_watched) pthread_atfork(NULL, NULL, forget);
  forks_are_watched = true;
  int32_t wanted = wanted_threads() - 1;
  sigset_t all, before;
  sigfillset(&all);
  // Signals are the business of the program's own threads.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (pool.worker_count < wanted
         && !pthread_create(&pool.workers[pool.worker_count], NULL, work,
                            &pool.shares[pool.worker_count + 1])) {
    pool.worker_count++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// The code that threads run is about to be unmapped, or the process ends.
__attribute__((destructor)) static void stop(void) {
  atomic_store(&pool.stops, true);
  wake(&called);
  for (int32_t i = 0; i < pool.worker_count; i++) {
    pthread_join(pool.workers[i], NULL);
  }
  pool.worker_count = 0;
}

static void run_alone(tvms_parallel_task task, void *data) {
  tvms_parallel_env env = {NULL, 1};
  task(0, &env, data);
}

static void wait_for_all(void) {
  for (uint32_t spins = 0; spins < SPINS; spins++) {
    if (atomic_load(&pool.pending) == 0) return;
    pause_briefly();
  }
  pthread_mutex_lock(&lock);
  atomic_store(&pool.caller_sleeps, true);
  while (atomic_load(&pool.pending) != 0) {
    pthread_cond_wait(&ended, &lock);
  }
  atomic_store(&pool.caller_sleeps, false);
  pthread_mutex_unlock(&lock);
}

static void run_together(tvms_parallel_task task, void *data, int32_t most) {
  int32_t threads = pool.worker_count + 1, tasks = threads * TASKS_PER_THREAD;
  if (tasks > most) tasks = most;
  atomic_store_explicit(&pool.task, task, memory_order_relaxed);
  atomic_store_explicit(&pool.data, data, memory_order_relaxed);
  atomic_store_explicit(&pool.tasks, tasks, memory_order_relaxed);
  atomic_store_explicit(&pool.threads, threads, memory_order_relaxed);
  atomic_store_explicit(&pool.processor, sched_getcpu(), memory_order_relaxed);
  atomic_store(&pool.pending, tasks);
  // Before the words: who takes a task takes it off.
  atomic_store(&pool.left, tasks);
  uint64_t call = ++pool.call;
  for (int32_t i = 0; i < threads; i++) {
    int32_t count = begin_of(i + 1, tasks, threads) - begin_of(i, tasks, threads);
    atomic_store(&pool.shares[i].word, call << 32 | (uint32_t)count);
  }
  if (atomic_load(&pool.sleeping)) wake(&called);
  while (take_one(0)) {
  }
  wait_for_all();
}

int tvms_parallel_launch(tvms_parallel_task task, void *data, int32_t most) {
  if (most < 2 || atomic_exchange(&pool.busy, true)) {
    run_alone(task, data);
    return 0;
  }
  if (!pool.started) start();
  if (pool.worker_count)
    run_together(task, data, most);
  else
    run_alone(task, data);
  atomic_store(&pool.busy, false);
  return 0;
}
