// `tvms explain --shape NAME FILE...`.
#ifndef TVMS_CLI_EXPLAIN_SHAPE_H
#define TVMS_CLI_EXPLAIN_SHAPE_H

#include "cli/run.h"

// Explains the shapes of the values called --shape in the files of the run, and compares
// them with those called --equals. TVMS_FAILED_IO if no file has such a value, which was said.
tvms_status tvms_run_explain_shape(tvms_run *run);

#endif
