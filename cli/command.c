// Running the user's command in a process group of its own, so that what it has started can be
// ended with it.
#define _GNU_SOURCE
#include "cli/command.h"

#include "support/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEFAULT_SECONDS = 60, MOST_SECONDS = 1000 * 1000 };

static bool make_file(tvms_command *command, tvms_run *run) {
  const char *folder = getenv("TMPDIR");
  if (!folder || !*folder) folder = "/tmp";
  command->path = tvms_memory_alloc(run->memory, strlen(folder) + 32);
  sprintf(command->path, "%s/tvms-XXXXXX.tvms", folder);
  command->file = mkostemps(command->path, 5, O_CLOEXEC);
  if (command->file >= 0) return true;
  (void)tvms_run_complain_io(run, folder);
  return false;
}

bool tvms_command_open(tvms_command *command, tvms_run *run, const char *text) {
  uint64_t seconds = run->options.timeout;
  *command =
      (tvms_command){.text = text,
                     .seconds = seconds > MOST_SECONDS ? DEFAULT_SECONDS : (int)seconds,
                     .file = -1};
  size_t size = strlen(text) + 1;
  char *own = memcpy(tvms_memory_alloc(run->memory, size), text, size);
  tvms_options_split_words(&command->words, run->memory, own);
  if (command->words.len) return make_file(command, run);
  (void)tvms_run_misused(run, "the command is empty");
  return false;
}

void tvms_command_close(tvms_command *command) {
  if (command->file < 0) return;
  close(command->file);
  unlink(command->path);
  command->file = -1;
}

bool tvms_command_await(pid_t child, int seconds, int *status) {
  int handle = pidfd_open(child, 0);
  struct pollfd ended = {.fd = handle, .events = POLLIN};
  bool late = handle >= 0 && poll(&ended, 1, seconds * 1000) == 0;
  if (late) kill(child, SIGKILL);
  if (handle >= 0) close(handle);
  while (waitpid(child, status, 0) < 0 && errno == EINTR) {
  }
  return !late;
}

// Starts the command; its process is the first of a group of its own.
static bool start(const tvms_command *command, tvms_run *run, int errors,
                  pid_t *child) {
  tvms_texts words = {0};
  for (uint32_t i = 0; i < command->words.len; i++)
    tvms_vec_push(run->memory, &words, command->words.items[i]);
  tvms_vec_push(run->memory, &words, command->path);
  tvms_vec_push(run->memory, &words, NULL);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (errors >= 0) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  } else if (run->options.verbose) {
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  char **argv = (char **)(void *)words.items;
  int failure = posix_spawnp(child, argv[0], &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  errno = failure;
  if (failure) (void)tvms_run_complain_io(run, argv[0]);
  tvms_vec_fini(run->memory, &words);
  return !failure;
}

// Appends the code of the first error in a file: " E0805".
static void add_code(char why[96], int errors) {
  char text[4096] = "";
  (void)!pread(errors, text, sizeof text - 1, 0);
  const char *code = strstr(text, "error[");
  size_t len = strlen(why);
  if (code) snprintf(why + len, 96 - len, ", %.5s", code + 6);
}

tvms_command_result tvms_command_try(const tvms_command *command, tvms_run *run,
                                     const tvms_strbuf *module, char why[96]) {
  bool written =
      ftruncate(command->file, 0) == 0 && lseek(command->file, 0, SEEK_SET) == 0
      && tvms_run_write(run, command->file, command->path, module->text, module->len);
  pid_t child;
  int errors = command->reads_code ? memfd_create("errors", MFD_CLOEXEC) : -1;
  if (!written || !start(command, run, errors, &child)) return TVMS_COMMAND_IMPOSSIBLE;
  int status = 0;
  bool in_time = tvms_command_await(child, command->seconds, &status);
  kill(-child, SIGKILL);  // what it has left behind
  if (!in_time)
    snprintf(why, 96, "more than %d second%s", command->seconds,
             command->seconds == 1 ? "" : "s");
  else if (WIFSIGNALED(status))
    snprintf(why, 96, "signal %d", WTERMSIG(status));
  else
    snprintf(why, 96, "exit status %d", WEXITSTATUS(status));
  if (errors >= 0) add_code(why, errors);
  if (errors >= 0) close(errors);
  bool good = in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return good ? TVMS_COMMAND_GOOD : TVMS_COMMAND_BAD;
}
