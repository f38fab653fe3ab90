// Running a pipeline on a program.
#ifndef TVMS_DRIVER_OPTIMIZE_H
#define TVMS_DRIVER_OPTIMIZE_H

#include "interp/foreign.h"
#include "passes/manager.h"
#include "support/strbuf.h"

typedef struct {
  tvms_dialect dialect;  // that modules are printed in
  uint32_t stop_after;   // run so many steps of the pipeline; UINT32_MAX: all
  tvms_pass_log *TVMS_NULLABLE log;  // of remarks and counts; NULL: none are wanted
  bool check_semantics;  // run the module before and behind passes (driver/semantics.h)
  const tvms_foreign *TVMS_NULLABLE foreign;  // that a module may call then, or NULL
  bool verify_each;  // verify each module after each pass that changed it
  // Told in front of each pass; may be NULL.
  void (*TVMS_NULLABLE before)(void *self, const tvms_pass_step *step,
                               const tvms_module *module);
  // Told after each pass; may be NULL.
  void (*TVMS_NULLABLE after)(void *self, const tvms_pass_step *step,
                              const tvms_module *module, bool changed, double seconds);
  // Told of phases (passes/manager.h); both may be NULL.
  void (*TVMS_NULLABLE begin)(void *self, tvms_pass_phase phase, const char *name);
  void (*TVMS_NULLABLE end)(void *self);
  void *TVMS_NULLABLE self;
  // Told in front of each pass: the module as a golden file that runs what is left of the pipeline,
  // as the options say. NULL: not wanted.
  void (*TVMS_NULLABLE reproducer)(void *self, const tvms_strbuf *text);
} tvms_optimize_options;

// Runs the pipeline on each module. False as soon as a pass fails, which was reported.
TVMS_NODISCARD bool tvms_optimize(const tvms_program *program,
                                  const tvms_pipeline *pipeline,
                                  const tvms_optimize_options *options);

// Appends the text of one module of a program.
void tvms_optimize_print(const tvms_program *program, const tvms_module *module,
                         tvms_dialect dialect, tvms_strbuf *out);

#endif
