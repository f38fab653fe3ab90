// A worker's standard output and error are a file in memory, which is shown when all files
// before it were.
#define _GNU_SOURCE
#include "cli/workers.h"

#include "cli/files.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  const char *path;
  pid_t worker;  // 0: not started
  int said;      // what the worker has to say
  bool ended;
  bool good;
  bool blessed;
  double begin;
  double seconds;
} job;

// Added to the exit status of a worker whose file was blessed.
enum { BLESSED = 0x40 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

typedef struct {
  tvms_run *run;
  tvms_file_visit work;
  tvms_worker_visit *visit;
  void *self;
  job *jobs;
  uint32_t count;
  uint32_t started;
  uint32_t shown;
  uint32_t running;
} pool;

static void start(pool *p) {
  job *next = &p->jobs[p->started++];
  next->begin = now();
  next->said = memfd_create("said", MFD_CLOEXEC);
  next->worker = fork();
  if (next->worker == 0) {
    dup2(next->said, STDOUT_FILENO);
    dup2(next->said, STDERR_FILENO);
    p->run->reports = false;
    p->run->options.format = NULL;
    int status = (int)tvms_files_read_one(p->run, next->path, p->work);
    _exit(status | (p->run->blessed ? BLESSED : 0));
  }
  if (next->worker < 0)
    next->ended = true;
  else
    p->running++;
}

static void show(pool *p, job *done) {
  off_t size = lseek(done->said, 0, SEEK_END);
  size_t len = size > 0 ? (size_t)size : 0;
  char *text = tvms_memory_alloc(p->run->memory, len + 1);
  if (len && pread(done->said, text, len, 0) != (ssize_t)len) len = 0;
  close(done->said);
  tvms_worker_result result = {done->path,    done->good, done->blessed,
                               done->seconds, text,       len};
  p->visit(p->self, &result);
  tvms_memory_free(p->run->memory, text);
}

// Waits for one worker.
static void reap(pool *p) {
  int status;
  pid_t ended = waitpid(-1, &status, 0);
  if (ended < 0 && errno == EINTR) return;
  for (uint32_t i = p->shown; i < p->started; i++) {
    job *one = &p->jobs[i];
    if (one->worker != ended || one->ended) continue;
    one->ended = true;
    one->seconds = now() - one->begin;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : TVMS_INTERNAL;
    one->good = (code & ~BLESSED) == 0;
    one->blessed = one->good && code;
    p->running--;
  }
}

static uint32_t worker_count(const tvms_run *run) {
  uint64_t wanted = run->options.jobs;
  if (wanted >= 1 && wanted <= 1024) return (uint32_t)wanted;
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  return processors > 0 ? (uint32_t)processors : 1;
}

void tvms_workers_each(tvms_run *run, const tvms_texts *files, tvms_file_visit work,
                       tvms_worker_visit *visit, void *self) {
  pool p = {
      .run = run, .work = work, .visit = visit, .self = self, .count = files->len};
  p.jobs = tvms_memory_alloc(run->memory, files->len * sizeof *p.jobs);
  for (uint32_t i = 0; i < files->len; i++) {
    p.jobs[i].path = files->items[i];
  }
  uint32_t workers = worker_count(run);
  while (p.shown < p.count) {
    while (p.started < p.count && p.running < workers) {
      start(&p);
    }
    if (p.running) reap(&p);
    while (p.shown < p.started && p.jobs[p.shown].ended) {
      show(&p, &p.jobs[p.shown++]);
    }
  }
  tvms_memory_free(run->memory, p.jobs);
}
