// The pool of threads by itself: every task of a call runs once, calls from several threads and
// from within tasks end, and so do those of a child process. With an argument: how often
// threads ask where they run while all of them are on one processor.
#define _GNU_SOURCE
#include "runtime/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLERS = 3, CALLS = 2000, ELEMENTS = 1000, PINNED_CALLS = 1000 };

typedef struct {
  int values[ELEMENTS];
  int step;
  int nested;
} work;

static int add(int32_t task, tvms_parallel_env *env, void *data) {
  work *w = data;
  for (int i = task; i < ELEMENTS; i += env->tasks)
    w->values[i] += w->step;
  return 0;
}

static int add_nested(int32_t task, tvms_parallel_env *env, void *data) {
  work *w = data;
  work *inner = calloc(1, sizeof *inner);
  inner->step = 1;
  tvms_parallel_launch(add, inner, 8);
  int sum = 0;
  for (int i = 0; i < ELEMENTS; i++)
    sum += inner->values[i];
  free(inner);
  for (int i = task; i < ELEMENTS; i += env->tasks)
    w->values[i] += sum == ELEMENTS;
  return -1;
}

static void *call(void *unused) {
  (void)unused;
  work *w = calloc(1, sizeof *w);
  for (int i = 0; i < CALLS; i++) {
    w->step = i % 3;
    tvms_parallel_launch(add, w, i % 40);
  }
  int wanted = w->values[0], same = 1;
  for (int i = 0; i < ELEMENTS; i++)
    same &= w->values[i] == wanted;
  free(w);
  return same && wanted == CALLS - 1 ? NULL : "wrong";
}

// In place of the C library's function, so that questions are counted.
static atomic_int questions;
int sched_getcpu(void) {
  unsigned processor = 0;
  atomic_fetch_add(&questions, 1);
  syscall(SYS_getcpu, &processor, NULL, NULL);
  return (int)processor;
}

// How often somebody asks where it runs in PINNED_CALLS calls on one processor, to which the worker must be woken.
static int questions_of_calls(void) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  work *w = calloc(1, sizeof *w);
  atomic_store(&questions, 0);
  for (int i = 0; i < PINNED_CALLS; i++) {
    usleep(300);
    tvms_parallel_launch(add, w, 16);
  }
  free(w);
  return atomic_load(&questions);
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) return printf("%d\n", questions_of_calls()) < 0;
  pthread_t callers[CALLERS];
  void *said = NULL;
  for (int i = 0; i < CALLERS; i++)
    pthread_create(&callers[i], NULL, call, NULL);
  for (int i = 0; i < CALLERS; i++) {
    pthread_join(callers[i], &said);
    if (said) return puts("a task did not run once"), 1;
  }
  work *w = calloc(1, sizeof *w);
  for (int i = 0; i < 50; i++)
    tvms_parallel_launch(add_nested, w, 16);
  for (int i = 0; i < ELEMENTS; i++)
    if (w->values[i] != 50) return puts("a nested call went wrong"), 1;
  pid_t child = fork();
  if (child == 0) {
    w->step = 2;
    tvms_parallel_launch(add, w, 64);
    _exit(w->values[ELEMENTS - 1] == 52 ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  free(w);
  return status ? puts("the child went wrong"), 1 : 0;
}
