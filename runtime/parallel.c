// The pool of threads behind parallel loops.
//
// Each thread has a share of the tasks of a call, which are next to each other, and takes those first: calls that follow each other mostly
// go through the same tensors, and what a processor has written lies in its own cache. What is left of the others' shares it takes
// only if these do not go on with them in the time that a task needs.
//
// Processors that share no cache need some 300 ns to hand a line over, so little is said: the caller writes one line of memory, and a
// thread that has done its share subtracts its tasks from `pending` at once. A share is a word that says of which call it is,
// and how many of its tasks nobody has taken; one of an older call is as good as a full one of this call. Whoever wants
// a task reads the word, then what the call is, then takes one by changing the word; if that succeeds, no task can have
// ended the call in between, so what was read belongs to it. Nobody waits for a thread that has not taken anything:
// a call on a busy machine costs no more than its tasks.
//
//   caller   task, data, pending = tasks;  call + 1;  takes tasks;  pending == what it has run ?
//   worker   call;  word, call, task, data;  word = {call, tasks left - 1};  runs it;  ...  pending - what it has run
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
#include <time.h>

enum {
  MOST_THREADS = 256,
  TASKS_PER_THREAD =
      4,             // a thread that the system holds up costs a quarter of its share
  SPINS = 4000,      // looks at the word before a thread sleeps: some 50 microseconds
  SPINS_BLIND = 32,  // of them until a worker asks whether it is in its caller's way
};

// What different threads write is in lines of its own; processors fetch lines in pairs.
#define APART _Alignas(128)

typedef struct {
  APART _Atomic(uint64_t) word;  // number of a call << 32 | tasks left
} share;

static struct {
  APART _Atomic(uint64_t) call;  // its number << 32 | threads << 16 | tasks
  _Atomic(tvms_parallel_task) task;
  _Atomic(void *) data;
  _Atomic(int32_t) pending;   // tasks that are not known to have returned
  atomic_int processor;       // where the caller was at the last call
  _Atomic(int32_t) sleeping;  // workers
  atomic_bool stops;
  atomic_bool caller_sleeps;
  APART atomic_bool busy;  // a call is in progress
  bool started;            // guarded by it, as what follows
  int32_t worker_count;
  pthread_t workers[MOST_THREADS];
  share shares[MOST_THREADS];
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

static int32_t tasks_of(uint64_t call) {
  return (int32_t)(call & 0xffff);
}

static int32_t threads_of(uint64_t call) {
  return (int32_t)(call >> 16 & 0xffff);
}

// Runs one task of a share, if there is one.
static bool take_of(int32_t at) {
  _Atomic(uint64_t) *from = &pool.shares[at].word;
  uint64_t word = atomic_load_explicit(from, memory_order_acquire);
  for (;;) {
    uint64_t call = atomic_load_explicit(&pool.call, memory_order_acquire);
    int32_t tasks = tasks_of(call), threads = threads_of(call);
    int32_t end = begin_of(at + 1, tasks, threads);
    int32_t left = (int32_t)(uint32_t)word;
    if (word >> 32 != call >> 32) left = end - begin_of(at, tasks, threads);
    if (left == 0) return false;
    tvms_parallel_task task = atomic_load_explicit(&pool.task, memory_order_relaxed);
    void *data = atomic_load_explicit(&pool.data, memory_order_relaxed);
    uint64_t taken = call >> 32 << 32 | (uint32_t)(left - 1);
    if (!atomic_compare_exchange_weak_explicit(from, &word, taken, memory_order_acq_rel,
                                               memory_order_acquire))
      continue;
    tvms_parallel_env env = {NULL, tasks};
    task(end - left, &env, data);
    return true;
  }
}

static int64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Runs the tasks of the thread's own share; says how many, and the time that one has taken.
static int32_t run_own(int32_t self, int64_t *time) {
  int32_t done = 0;
  int64_t begin = nanoseconds();
  while (take_of(self))
    done++;
  *time = done ? (nanoseconds() - begin) / done : 0;
  return done;
}

// Are all tasks of a call done, but those that the thread itself has not told of?
static bool is_over(uint64_t call, int32_t untold) {
  return atomic_load(&pool.call) != call || atomic_load(&pool.pending) <= untold;
}

// Waits as long as the owner of a share goes on with it, taking a task in the time that one needs: what it works on is in its
// cache, and the next calls find it there.
static void leave_to_owner(int32_t at, uint64_t call, int64_t time) {
  _Atomic(uint64_t) *from = &pool.shares[at].word;
  uint64_t word = atomic_load(from), before = 0;
  while (word >> 32 == call >> 32 && (uint32_t)word != 0 && word != before) {
    before = word;
    for (int64_t end = nanoseconds() + time; word == before && nanoseconds() < end;) {
      pause_briefly();
      word = atomic_load(from);
    }
  }
}

// Runs what is left of the others' shares, as long as the call is not over; says how many tasks. Nobody looks at them for the
// time of a task: who only looks takes a line from its owner, who is mostly at its last task.
static int32_t run_others(int32_t self, uint64_t call, int32_t untold, int64_t time) {
  for (int64_t end = nanoseconds() + time;
       !is_over(call, untold) && nanoseconds() < end;)
    pause_briefly();
  int32_t done = 0, threads = threads_of(call);
  for (int32_t i = 1; i < threads && !is_over(call, untold + done); i++) {
    int32_t at = (self + i) % threads;
    leave_to_owner(at, call, time);
    while (take_of(at))
      done++;
  }
  return done;
}

static bool has_call(uint64_t seen) {
  return atomic_load(&pool.call) != seen || atomic_load(&pool.stops);
}

// Looks for another call for a while. A worker that was woken while all other processors are busy has taken its
// caller's: it sleeps at once, and the next call wakes it where there is room.
static void look_for_call(uint64_t seen) {
  for (uint32_t spins = 1; !has_call(seen) && spins <= SPINS; spins++) {
    if (spins % SPINS_BLIND == 0 && sched_getcpu() == atomic_load(&pool.processor))
      return;
    pause_briefly();
  }
}

static void wait_for_call(uint64_t seen) {
  look_for_call(seen);
  if (has_call(seen)) return;
  pthread_mutex_lock(&lock);
  atomic_fetch_add(&pool.sleeping, 1);
  while (!has_call(seen)) {
    pthread_cond_wait(&called, &lock);
  }
  atomic_fetch_sub(&pool.sleeping, 1);
  pthread_mutex_unlock(&lock);
}

// Tells the caller of tasks that have returned.
static void tell(int32_t done) {
  if (!done) return;
  atomic_fetch_sub(&pool.pending, done);
  if (atomic_load(&pool.caller_sleeps)) wake(&ended);
}

static void *work(void *own) {
  int32_t self = (int32_t)((share *)own - pool.shares);
  for (uint64_t call = 0; !atomic_load(&pool.stops); wait_for_call(call)) {
    call = atomic_load(&pool.call);
    if (self >= threads_of(call)) continue;
    int64_t time;
    tell(run_own(self, &time));
    tell(run_others(self, call, 0, time));
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
  // Nobody runs what the parent had begun.
  atomic_store(&pool.call, atomic_load(&pool.call) >> 32 << 32);
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

// Waits until the others have run all tasks but those that the caller has.
static void wait_for_others(int32_t done) {
  for (uint32_t spins = 0; spins < SPINS; spins++) {
    if (atomic_load(&pool.pending) == done) return;
    pause_briefly();
  }
  pthread_mutex_lock(&lock);
  atomic_store(&pool.caller_sleeps, true);
  while (atomic_load(&pool.pending) != done) {
    pthread_cond_wait(&ended, &lock);
  }
  atomic_store(&pool.caller_sleeps, false);
  pthread_mutex_unlock(&lock);
}

static void run_together(tvms_parallel_task task, void *data, int32_t most) {
  int32_t threads = pool.worker_count + 1, tasks = threads * TASKS_PER_THREAD;
  if (tasks > most) tasks = most;
  uint64_t number = (atomic_load(&pool.call) >> 32) + 1;
  uint64_t call = number << 32 | (uint64_t)threads << 16 | (uint64_t)tasks;
  atomic_store_explicit(&pool.task, task, memory_order_relaxed);
  atomic_store_explicit(&pool.data, data, memory_order_relaxed);
  atomic_store_explicit(&pool.pending, tasks, memory_order_relaxed);
  atomic_store_explicit(&pool.processor, sched_getcpu(), memory_order_relaxed);
  // Behind the rest, at one go with it: who sees it sees that, and nobody takes the line in between.
  atomic_store_explicit(&pool.call, call, memory_order_release);
  atomic_thread_fence(memory_order_seq_cst);
  bool sleep = atomic_load(&pool.sleeping) > 0;
  if (sleep) wake(&called);
  int64_t time;
  int32_t done = run_own(0, &time);
  // Threads that must wake up first have begun with nothing.
  done += run_others(0, call, done, sleep ? 0 : time);
  wait_for_others(done);
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
