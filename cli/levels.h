// Which lint rules run and how bad findings are, as the options of the run say.
#ifndef TVMS_CLI_LEVELS_H
#define TVMS_CLI_LEVELS_H

#include "cli/run.h"

// Fills run->levels from --select, --ignore and --severity, in this order. Returns false after
// saying what is wrong with one of them.
TVMS_NODISCARD bool tvms_run_read_levels(tvms_run *run);

#endif
