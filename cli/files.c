// Walking folders, one context per file, atomic replacement.
//
// A file is read, looked at and shown before the next one is opened, so memory is that of
// the largest. What goes wrong inside unwinds to here: a limit costs the file its findings
// and its result, never half of them.
#define _XOPEN_SOURCE 700
#include "cli/files.h"

#include "cli/findings.h"
#include "cli/levels.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "support/names.h"
#include "support/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_suffix(const char *name, const char *suffix) {
  size_t len = strlen(name), tail = strlen(suffix);
  return len > tail && strcmp(name + len - tail, suffix) == 0;
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *join(tvms_run *run, const char *folder, const char *name) {
  size_t len = strlen(folder);
  const char *slash = len && folder[len - 1] == '/' ? "" : "/";
  char *path = tvms_memory_alloc(run->memory, len + strlen(name) + 2);
  sprintf(path, "%s%s%s", folder, slash, name);
  return path;
}

static void close_folder(void *what) {
  closedir(what);
}

// Entries of a folder but the hidden ones, sorted.
static bool list_folder(tvms_run *run, const char *folder, tvms_texts *entries) {
  DIR *open = opendir(folder);
  if (!open) return false;
  tvms_resource resource;
  tvms_memory_hold(run->memory, &resource, close_folder, open);
  for (struct dirent *entry; (entry = readdir(open));) {
    if (entry->d_name[0] != '.') {
      tvms_vec_push(run->memory, entries, join(run, folder, entry->d_name));
    }
  }
  tvms_memory_release(run->memory, &resource);
  closedir(open);
  if (entries->len)
    qsort(entries->items, entries->len, sizeof *entries->items, by_text);
  return true;
}

// A pipe or a socket in a folder is not a program: reading it may never end.
static bool may_read(const char *path) {
  struct stat info;
  return stat(path, &info) != 0 || S_ISREG(info.st_mode);
}

// Symbolic links inside a folder are not followed to folders: they may form a circle.
static void collect_folder(tvms_run *run, const char *folder, tvms_texts *files) {
  tvms_texts entries = {0};
  if (!list_folder(run, folder, &entries)) {
    tvms_run_worsen(run, tvms_run_complain_io(run, folder));
    return;
  }
  for (uint32_t i = 0; i < entries.len; i++) {
    struct stat info;
    const char *path = entries.items[i];
    if (lstat(path, &info) != 0) continue;
    if (S_ISDIR(info.st_mode))
      collect_folder(run, path, files);
    else if (has_suffix(path, ".tvms")
             || (run->reads_python && has_suffix(path, ".py"))) {
      if (may_read(path) && !tvms_settings_exclude(run, path))
        tvms_vec_push(run->memory, files, path);
    }
  }
}

tvms_texts tvms_files_collect(tvms_run *run) {
  tvms_texts files = {0};
  for (uint32_t i = 0; i < run->options.paths.len; i++) {
    const char *path = run->options.paths.items[i];
    struct stat info;
    bool folder =
        strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    if (folder)
      collect_folder(run, path, &files);
    else if (!run->options.force_exclude || !tvms_settings_exclude(run, path))
      tvms_vec_push(run->memory, &files, path);
  }
  return files;
}

typedef struct {
  tvms_run *run;
  const char *path;
  tvms_file_visit visit;
  tvms_strbuf findings;
  tvms_status status;
} file_work;

// What is read from standard input may have a name all the same.
static void name_input(tvms_run *run, tvms_source *source) {
  const char *name = run->options.stdin_filename;
  if (!name || strcmp(source->name, "<stdin>") != 0) return;
  char *copy = tvms_memory_alloc(&run->context->memory, strlen(name) + 1);
  strcpy(copy, name);
  source->name = copy;
}

static void work_on_file(void *argument) {
  file_work *work = argument;
  tvms_run *run = work->run;
  tvms_context *context = run->context;
  tvms_source *source = tvms_source_read(&context->memory, work->path);
  if (!source) {
    work->status = tvms_run_complain_io(run, work->path);
    return;
  }
  name_input(run, source);
  context->diags.source = source;
  work->status = tvms_run_set_levels(run) ? work->visit(run, source) : TVMS_FAILED_IO;
  tvms_diags_sort(&context->diags);
  tvms_findings_add(run, &work->findings);
}

// Shows what the work on a file has left behind.
static void show_file(file_work *work) {
  tvms_run *run = work->run;
  tvms_diags *diags = &run->context->diags;
  run->errors += diags->errors;
  run->warnings += diags->warnings;
  bool wrong = diags->errors || (run->options.werror && diags->warnings);
  if (wrong && work->status == TVMS_OK) work->status = TVMS_FOUND_ERRORS;
  tvms_run_write(run, STDERR_FILENO, "standard error", work->findings.text,
                 work->findings.len);
  const char *name =
      run->context->diags.source ? run->context->diags.source->name : NULL;
  if (!tvms_findings_show_result(run, name, &run->result))
    work->status = TVMS_FAILED_IO;
}

enum { MOST_MEMORY = 4096 };  // MiB, of a verb that only reads and writes text

// Programs that run have as much memory as they ask for.
static uint64_t most_memory(const tvms_run *run) {
  static const tvms_verb running[] = {TVMS_VERB_run, TVMS_VERB_bench, TVMS_VERB_build,
                                      TVMS_VERB_opt, TVMS_VERB_test};
  if (run->options.memory != UINT64_MAX) return run->options.memory;
  for (size_t i = 0; i < sizeof running / sizeof running[0]; i++) {
    if (run->options.verb == running[i]) return UINT64_MAX;
  }
  return MOST_MEMORY;
}

tvms_status tvms_files_read_one(tvms_run *run, const char *path,
                                tvms_file_visit visit) {
  if (run->settings && !tvms_settings_enter(run, path)) return run->status;
  tvms_context context = {0};
  tvms_memory_init_with(&context.memory, &run->pages);
  tvms_context_start(&context, &tvms_names);
  uint64_t most = most_memory(run);
  if (most <= UINT64_MAX >> 20) context.memory.limit = most << 20;
  if (run->options.fail_allocation != UINT64_MAX) {
    context.memory.fail_at = run->options.fail_allocation;
  }
  context.verifies = run->options.verify_each;
  file_work work = {.run = run, .path = path, .visit = visit};
  run->context = &context;
  tvms_strbuf_init(&run->result, &context.memory);
  tvms_strbuf_init(&work.findings, &context.memory);
  tvms_status failure = tvms_memory_protect(&context.memory, work_on_file, &work);
  if (failure == TVMS_OK) {
    show_file(&work);
  } else {
    work.status = failure;
    (void)tvms_run_complain_about(run, path,
                                  "out of memory or over a limit; nothing was written");
  }
  run->context = NULL;
  tvms_memory_fini_leaving(&context.memory, &run->pages);
  tvms_run_worsen(run, work.status);
  return work.status;
}

tvms_status tvms_files_each(tvms_run *run, tvms_file_visit visit) {
  if (!run->options.paths.len) return tvms_run_misused(run, "no file given");
  tvms_texts files = tvms_files_collect(run);
  if (!files.len && run->status == TVMS_OK && !run->options.quiet
      && tvms_findings_are_text(run))
    tvms_run_tell(run, "no TVMScript found in 0 files");
  tvms_progress progress;
  tvms_progress_begin(&progress, run);
  for (uint32_t i = 0; i < files.len; i++) {
    tvms_files_read_one(run, files.items[i], visit);
    if (tvms_progress_is_due(&progress))
      tvms_progress_show(&progress, "%u of %u files", i + 1, files.len);
  }
  tvms_progress_end(&progress);
  return run->status;
}

typedef struct {
  char *path;
  int file;
} temporary;

static void drop_temporary(void *what) {
  temporary *t = what;
  if (t->file >= 0) close(t->file);
  unlink(t->path);
}

tvms_status tvms_files_replace(tvms_run *run, const char *path, const char *text,
                               size_t len) {
  char real[PATH_MAX];
  struct stat info;
  if (!realpath(path, real) || stat(real, &info) != 0)
    return tvms_run_complain_io(run, path);
  // A new file would take the place of a pipe or device, or of a file that its owner has
  // protected: the folder alone decides whether that is possible.
  if (!S_ISREG(info.st_mode)) {
    return tvms_run_complain_about(run, path, "not a regular file");
  }
  if (access(real, W_OK) != 0) return tvms_run_complain_io(run, path);
  char name[PATH_MAX + 16];
  snprintf(name, sizeof name, "%s.tvms-XXXXXX", real);
  temporary made = {name, mkstemp(name)};
  if (made.file < 0) return tvms_run_complain_io(run, path);
  bool written = fchmod(made.file, info.st_mode & 07777) == 0
                 && tvms_run_write(run, made.file, path, text, len)
                 && fsync(made.file) == 0;
  written = close(made.file) == 0 && written;
  made.file = -1;
  if (written && rename(name, real) == 0) return TVMS_OK;
  tvms_status status = tvms_run_complain_io(run, path);
  drop_temporary(&made);
  return status;
}

tvms_status tvms_files_create(tvms_run *run, const char *path, const char *text,
                              size_t len) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return tvms_run_complain_io(run, path);
  bool written = tvms_run_write(run, file, path, text, len);
  if (close(file) != 0 && written) return tvms_run_complain_io(run, path);
  return written ? TVMS_OK : TVMS_FAILED_IO;
}
