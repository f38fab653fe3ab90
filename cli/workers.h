// Files looked at in processes of their own, so that one that crashes costs only itself.
#ifndef TVMS_CLI_WORKERS_H
#define TVMS_CLI_WORKERS_H

#include "cli/run.h"

// Sees what a worker has written on standard output and error, NUL behind it. `good`: it
// ended with exit status 0.
typedef void tvms_worker_visit(void *self, const char *path, bool good,
                               const char *said, size_t len);

// Runs `work` on each file in a process of its own, as many at once as --jobs says, and shows
// what each has said to `visit`, in the order of the files.
void tvms_workers_each(tvms_run *run, const tvms_texts *files, tvms_file_visit work,
                       tvms_worker_visit *visit, void *self);

#endif
