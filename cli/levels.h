// Which lint rules run and how bad findings are, as the options of the run say.
#ifndef TVMS_CLI_LEVELS_H
#define TVMS_CLI_LEVELS_H

#include "cli/run.h"

// Looks at --select, --ignore, --per-file-ignores and --severity. Returns false after saying what
// is wrong with one of them. Files have levels from here on.
TVMS_NODISCARD bool tvms_run_read_levels(tvms_run *run);

// Sets the levels of the run's context to those of the file at hand, by the command line and its
// configuration, if the verb has read levels. Returns false if the configuration is wrong, which was reported; the file is
// not to be looked at then.
TVMS_NODISCARD bool tvms_run_set_levels(tvms_run *run);

#endif
