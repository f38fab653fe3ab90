// Passes that options name: --print-after LegalizeOps,fuse-ops.
#ifndef TVMS_CLI_PASS_NAMES_H
#define TVMS_CLI_PASS_NAMES_H

#include "cli/run.h"
#include "passes/manager.h"

// Complains that there is no pass of this name, says so if TVM has one, and which name is near;
// `before` stands in front: "option '--remarks': ".
void tvms_pass_names_complain(tvms_run *run, const char *before, const char *name);

// Checks that texts of an option, each of one or several names with commas between them, name passes
// or "all". False after a complaint. A pass that is not in the pipeline (NULL: not known) is told of.
TVMS_NODISCARD bool tvms_pass_names_check(tvms_run *run, const char *option,
                                          const tvms_texts *given,
                                          const tvms_pipeline *TVMS_NULLABLE pipeline);

// Do these texts name the pass, in either spelling, or all?
bool tvms_pass_names_have(const tvms_texts *given, const tvms_pass *pass);

#endif
