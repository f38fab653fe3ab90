// A command of the user's that says whether a module is good: started without a shell, with
// the name of a file that holds the module as its last argument. Exit status 0 is good.
#ifndef TVMS_CLI_COMMAND_H
#define TVMS_CLI_COMMAND_H

#include "cli/run.h"

#include <sys/types.h>

typedef struct {
  const char *text;  // as it was given
  tvms_texts words;
  int seconds;  // longest time of one run
  char *path;   // of the file, which every run overwrites
  int file;
  bool reads_code;  // `why` names the first error that it writes, too
} tvms_command;

typedef enum {
  TVMS_COMMAND_GOOD,
  TVMS_COMMAND_BAD,         // or it took too long
  TVMS_COMMAND_IMPOSSIBLE,  // it cannot be run at all; said
} tvms_command_result;

// Splits `text` into words at white space, 'single quotes' keep a word together, and makes the
// file. False after a complaint. Everything belongs to the run.
TVMS_NODISCARD bool tvms_command_open(tvms_command *command, tvms_run *run,
                                      const char *text);

// Removes the file.
void tvms_command_close(tvms_command *command);

// Runs the command on a module. What it writes is shown with --verbose only. `why` gets, unless
// it is good, how it ended: "exit status 1".
tvms_command_result tvms_command_try(const tvms_command *command, tvms_run *run,
                                     const tvms_strbuf *module, char why[96]);

// Waits for a process of ours; one that takes longer than `seconds` is killed, and false comes
// back. *status is that of waitpid.
bool tvms_command_await(pid_t child, int seconds, int *status);

#endif
