// `run` of code for TVM's virtual machine.
#ifndef TVMS_CLI_MACHINE_H
#define TVMS_CLI_MACHINE_H

#include "cli/run.h"
#include "driver/values.h"

// Runs --entry of an executable or of a library (driver/machine.h) and shows each value that it gives,
// with `self`. Returns TVMS_OK, or what went wrong beyond the findings.
tvms_status tvms_run_machine(tvms_run *run, tvms_source *source, tvms_heap *heap,
                             tvms_value_visit *show, void *self);

#endif
