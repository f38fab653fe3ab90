// `tvms test PATH...`: golden files, each judged in a process of its own, several at once.
//
// What a process says is kept and shown in the order of the files, so that its findings are
// text in every format. In formats for machines a file that does not hold is a finding with
// this text, and JSON lists every file.
#define _GNU_SOURCE
#include "cli/files.h"
#include "cli/findings.h"
#include "cli/golden.h"
#include "cli/golden_run.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  const char *path;
  pid_t worker;  // 0: not started
  int said;      // what the worker has to say
  bool ended;
  bool good;
} job;

typedef struct {
  tvms_run *run;
  job *jobs;
  uint32_t count;
  uint32_t started;
  uint32_t shown;
  uint32_t running;
  uint32_t passed;
  bool failed_io;  // standard output cannot be written
} pool;

static tvms_status judge_file(tvms_run *run, tvms_source *source) {
  tvms_golden golden;
  tvms_golden_parse(&golden, run->context, source);
  if (run->context->diags.errors) return TVMS_FOUND_ERRORS;
  bool good = tvms_golden_judge(run, &golden, &run->result);
  return good ? TVMS_OK : TVMS_FOUND_ERRORS;
}

// The worker's standard output and error are the file that the parent shows in order.
static void start(pool *p) {
  job *next = &p->jobs[p->started++];
  next->said = memfd_create("said", MFD_CLOEXEC);
  next->worker = fork();
  if (next->worker == 0) {
    dup2(next->said, STDOUT_FILENO);
    dup2(next->said, STDERR_FILENO);
    p->run->reports = false;
    p->run->options.format = NULL;
    _exit((int)tvms_files_read_one(p->run, next->path, judge_file));
  }
  if (next->worker < 0)
    next->ended = true;
  else
    p->running++;
}

static void show_text(pool *p, const job *done, const char *said, size_t len) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, p->run->memory);
  if (!done->good || p->run->options.verbose) {
    tvms_strbuf_printf(&text, "%s %s\n", done->good ? "ok  " : "FAIL", done->path);
  }
  tvms_strbuf_add(&text, said, len);
  if (!tvms_findings_show_result(p->run, NULL, &text)) p->failed_io = true;
  tvms_strbuf_fini(&text);
}

static void report(pool *p, const job *done, const char *said) {
  tvms_run *run = p->run;
  tvms_strbuf text;
  tvms_json json;
  tvms_strbuf_init(&text, run->memory);
  tvms_json_init(&json, &text);
  tvms_json_open(&json, '{');
  tvms_json_put_text(&json, "file", done->path);
  tvms_json_put_bool(&json, "passed", done->good);
  tvms_json_close(&json, '}');
  tvms_report_add_object(&run->report, text.text, text.len);
  tvms_strbuf_fini(&text);
  if (done->good) return;
  tvms_report_add_placeless(&run->report, TVMS_D_golden_failed, done->path,
                            tvms_diag_row_of(TVMS_D_golden_failed)->format, said);
  run->errors++;
}

static void show(pool *p, job *done) {
  off_t size = lseek(done->said, 0, SEEK_END);
  size_t len = size > 0 ? (size_t)size : 0;
  char *text = tvms_memory_alloc(p->run->memory, len + 1);
  if (len && pread(done->said, text, len, 0) != (ssize_t)len) len = 0;
  close(done->said);
  if (tvms_findings_are_text(p->run))
    show_text(p, done, text, len);
  else
    report(p, done, text);
  tvms_memory_free(p->run->memory, text);
}

// Waits for one worker, and shows what is ready in the order of the files.
static void reap(pool *p) {
  int status;
  pid_t ended = waitpid(-1, &status, 0);
  if (ended < 0 && errno == EINTR) return;
  for (uint32_t i = p->shown; i < p->started; i++) {
    job *one = &p->jobs[i];
    if (one->worker != ended || one->ended) continue;
    one->ended = true;
    one->good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    p->running--;
    if (one->good) p->passed++;
  }
}

static void show_ready(pool *p) {
  while (p->shown < p->started && p->jobs[p->shown].ended) {
    show(p, &p->jobs[p->shown++]);
  }
}

static uint32_t worker_count(const tvms_run *run) {
  uint64_t wanted = run->options.jobs;
  if (wanted >= 1 && wanted <= 1024) return (uint32_t)wanted;
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  return processors > 0 ? (uint32_t)processors : 1;
}

static void show_count(pool *p) {
  if (!tvms_findings_are_text(p->run)) return;
  tvms_strbuf line;
  tvms_strbuf_init(&line, p->run->memory);
  tvms_strbuf_printf(&line, "%u passed, %u failed\n", p->passed, p->count - p->passed);
  if (!tvms_findings_show_result(p->run, NULL, &line)) p->failed_io = true;
  tvms_strbuf_fini(&line);
}

tvms_status tvms_verb_test(tvms_run *run) {
  if (!run->options.paths.len) return tvms_run_misused(run, "no golden file given");
  tvms_texts files = tvms_files_collect(run);
  pool p = {.run = run, .count = files.len};
  p.jobs = tvms_memory_alloc(run->memory, files.len * sizeof *p.jobs);
  for (uint32_t i = 0; i < files.len; i++) {
    p.jobs[i].path = files.items[i];
  }
  uint32_t workers = worker_count(run);
  while (p.shown < p.count) {
    while (p.started < p.count && p.running < workers) {
      start(&p);
    }
    if (p.running) reap(&p);
    show_ready(&p);
  }
  if (!p.count) tvms_run_complain(run, "there is no golden file");
  show_count(&p);
  if (p.failed_io) return TVMS_FAILED_IO;
  return p.passed == p.count && p.count ? TVMS_OK : TVMS_FOUND_ERRORS;
}
