// From a source to a verified program, the same way for every verb.
#ifndef TVMS_CLI_PROGRAM_H
#define TVMS_CLI_PROGRAM_H

#include "cli/run.h"
#include "ir/module.h"

// Reads and verifies `source` as the options say. What is wrong is reported; a caller that
// writes something looks at run->context->diags.errors first. Never NULL; the program
// lives as long as the context.
tvms_program *tvms_program_load(tvms_run *run, tvms_source *source);

// The same, module by module: `visit` sees each one read and verified, in order, and says
// whether it must be kept; the others are dropped at once, so that a long file needs little
// more memory than its text. Once something is wrong, modules wait, because errors in
// functions of Python go again; they are not shown if it stays. Errors that `visit` itself
// reports do not count. `visit` may be NULL: who wants to know what is wrong only.
typedef bool tvms_module_visit(void *self, tvms_module *module);
void tvms_program_each_module(tvms_run *run, tvms_source *source,
                              tvms_module_visit *TVMS_NULLABLE visit,
                              void *TVMS_NULLABLE self);

// Reports what is ill-formed in a module: what TVM verifies after reading and after passes.
void tvms_program_verify_module(tvms_module *module);

// The release that a verb writes: --dialect, or else the one that was read.
tvms_dialect tvms_program_written_dialect(const tvms_run *run, tvms_dialect read);

// Checks --from and --dialect. Returns false after saying what is wrong with them.
// `writes`: --dialect must be a release that can be written.
TVMS_NODISCARD bool tvms_program_check_dialects(tvms_run *run, bool writes);

#endif
