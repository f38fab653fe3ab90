// Processes of golden files.
//
// A run is a process of its own, so that a crash or a loop without end is a result like any
// other; its three streams are files in memory, which nothing can fill up.
#define _GNU_SOURCE
#include "cli/golden_spawn.h"

#include "cli/command.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEFAULT_TIMEOUT = 60 };

static tvms_memory *memory_of(const tvms_golden_place *j) {
  return &j->golden->context->memory;
}

static const char *read_back(const tvms_golden_place *j, int file, size_t *len) {
  off_t size = lseek(file, 0, SEEK_END);
  *len = size > 0 ? (size_t)size : 0;
  char *text = tvms_memory_alloc(memory_of(j), *len + 1);
  if (*len && pread(file, text, *len, 0) != (ssize_t)*len) *len = 0;
  close(file);
  return text;
}

static void await(const tvms_golden_place *j, pid_t child, tvms_golden_outcome *o) {
  uint64_t seconds = j->run->options.timeout;
  int limit = seconds > 1000 * 1000 ? DEFAULT_TIMEOUT : (int)seconds;
  int status = 0;
  o->late = !tvms_command_await(child, limit, &status);
  o->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  o->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

// Files that a run gets beside standard input are its descriptors from here on.
enum { FIRST_FILE = 3, MOST_FILES = 2 };

// A program to run.
typedef struct {
  const char *TVMS_NULLABLE program;  // NULL: this one
  const char *input;                  // standard input, `len` bytes
  size_t len;
  int files[MOST_FILES];  // 0: none
  bool stays;             // in the folder of this run, not that of the golden file
} call;

// Files that a pipeline names are looked for beside the golden file.
static void change_folder(const tvms_golden_place *j,
                          posix_spawn_file_actions_t *actions) {
  const char *name = j->golden->source->name, *slash = strrchr(name, '/');
  if (!slash) return;
  char *folder =
      tvms_arena_text(&j->golden->context->arena, name, (size_t)(slash - name));
  posix_spawn_file_actions_addchdir_np(actions, *folder ? folder : "/");
}

// Runs a program with `arguments`, the name first.
static tvms_golden_outcome start(const tvms_golden_place *j, const call *c,
                                 tvms_texts *arguments) {
  tvms_golden_outcome o = {.status = -1};
  tvms_vec_push(memory_of(j), arguments, NULL);
  int files[3] = {memfd_create("in", MFD_CLOEXEC), memfd_create("out", MFD_CLOEXEC),
                  memfd_create("findings", MFD_CLOEXEC)};
  tvms_run_write(j->run, files[0], "input of a golden file", c->input, c->len);
  lseek(files[0], 0, SEEK_SET);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 3; i++) {
    posix_spawn_file_actions_adddup2(&actions, files[i], i);
  }
  for (int i = 0; i < MOST_FILES && c->files[i]; i++) {
    posix_spawn_file_actions_adddup2(&actions, c->files[i], FIRST_FILE + i);
  }
  if (!c->stays) change_folder(j, &actions);
  pid_t child;
  char **argv = (char **)(void *)arguments->items;
  int failure =
      c->program ? posix_spawnp(&child, c->program, &actions, NULL, argv, environ)
                 : posix_spawn(&child, "/proc/self/exe", &actions, NULL, argv, environ);
  if (failure == 0) await(j, child, &o);
  posix_spawn_file_actions_destroy(&actions);
  close(files[0]);
  o.out = read_back(j, files[1], &o.out_len);
  o.findings = read_back(j, files[2], &o.findings_len);
  if (failure) {
    o.findings = strerror(failure);
    o.findings_len = strlen(o.findings);
  }
  return o;
}

// Runs this program with `words`, and `input` (header and body of a file as they stand, so
// that findings have their lines) as its standard input.
tvms_golden_outcome tvms_golden_spawn(const tvms_golden_place *j,
                                      const tvms_texts *words, bool verifies,
                                      const char *input, size_t len) {
  tvms_texts arguments = {0};
  tvms_vec_push(memory_of(j), &arguments, "tvms");
  for (uint32_t i = 0; i < words->len; i++) {
    tvms_vec_push(memory_of(j), &arguments, words->items[i]);
  }
  // What a golden file expects does not depend on where it stands.
  const char *verb = words->len ? words->items[0] : "";
  if (strcmp(verb, "check") == 0 || strcmp(verb, "fmt") == 0)
    tvms_vec_push(memory_of(j), &arguments, "--isolated");
  if (verifies) tvms_vec_push(memory_of(j), &arguments, "--verify-each");
  tvms_vec_push(memory_of(j), &arguments, "-");
  call c = {.input = input, .len = len};
  return start(j, &c, &arguments);
}

// Appends the options of RUN that say which release is written.
static void add_dialect(const tvms_golden_place *j, const tvms_golden_run *run,
                        tvms_texts *words) {
  for (uint32_t i = 1; i < run->words.len; i++) {
    const char *word = run->words.items[i];
    bool two = strcmp(word, "--dialect") == 0 && i + 1 < run->words.len;
    if (two || strncmp(word, "--dialect=", 10) == 0)
      tvms_vec_push(memory_of(j), words, word);
    if (two) tvms_vec_push(memory_of(j), words, run->words.items[++i]);
  }
}

// Runs the passes of a golden file by the command of --opt-with, and prints what it gives as
// tvms prints it. A text that tvms cannot read is compared as it is.
tvms_golden_outcome tvms_golden_spawn_other(const tvms_golden_place *j,
                                            const tvms_golden_run *run,
                                            const char *input, size_t len) {
  const char *command = j->run->options.opt_with;
  tvms_texts arguments = {0}, again = {0};
  char *own = tvms_arena_text(&j->golden->context->arena, command, strlen(command));
  tvms_options_split_words(&arguments, memory_of(j), own);
  for (uint32_t i = 1; i < run->words.len; i++) {
    tvms_vec_push(memory_of(j), &arguments, run->words.items[i]);
  }
  call c = {.program = arguments.items[0], .input = input, .len = len, .stays = true};
  tvms_golden_outcome o = start(j, &c, &arguments);
  if (o.status != 0) return o;
  tvms_vec_push(memory_of(j), &again, "print");
  add_dialect(j, run, &again);
  tvms_golden_outcome printed = tvms_golden_spawn(j, &again, true, o.out, o.out_len);
  if (printed.status != 0) return o;
  o.out = printed.out;
  o.out_len = printed.out_len;
  return o;
}

// A file in memory with a text, for a run that takes paths.
static int make_file(const tvms_golden_place *j, const char *text, size_t len) {
  int file = memfd_create("program", MFD_CLOEXEC);
  tvms_run_write(j->run, file, "program of a golden file", text, len);
  return file;
}

tvms_golden_outcome tvms_golden_spawn_diff(const tvms_golden_place *j,
                                           const tvms_golden_run *run,
                                           tvms_version before, tvms_version now) {
  static const char *const words[] = {"tvms", "diff", "--values", "/dev/fd/3",
                                      "/dev/fd/4"};
  tvms_texts arguments = {0};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    tvms_vec_push(memory_of(j), &arguments, words[i]);
  add_dialect(j, run, &arguments);
  if (j->golden->tolerance) {
    tvms_vec_push(memory_of(j), &arguments, "--tolerance");
    tvms_vec_push(memory_of(j), &arguments, j->golden->tolerance);
  }
  call c = {.files = {make_file(j, before.text, before.len),
                      make_file(j, now.text, now.len)}};
  tvms_golden_outcome o = start(j, &c, &arguments);
  close(c.files[0]);
  close(c.files[1]);
  return o;
}
