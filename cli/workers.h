// Files looked at in processes of their own, so that one that crashes costs only itself.
#ifndef TVMS_CLI_WORKERS_H
#define TVMS_CLI_WORKERS_H

#include "cli/run.h"

// A file that was looked at.
typedef struct {
  const char *path;
  bool good;     // the worker ended with exit status 0
  bool blessed;  // and with `blessed` of its run
  double seconds;
  const char *said;  // what it has written on standard output and error, NUL behind it
  size_t len;
} tvms_worker_result;

typedef void tvms_worker_visit(void *self, const tvms_worker_result *result);

// Runs `work` on each file in a process of its own, as many at once as --jobs says, and shows
// what each has said to `visit`, in the order of the files.
void tvms_workers_each(tvms_run *run, const tvms_texts *files, tvms_file_visit work,
                       tvms_worker_visit *visit, void *self);

#endif
