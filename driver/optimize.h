// Running a pipeline on a program, and telling what there is to run.
#ifndef TVMS_DRIVER_OPTIMIZE_H
#define TVMS_DRIVER_OPTIMIZE_H

#include "passes/manager.h"
#include "support/strbuf.h"

typedef struct {
  tvms_dialect dialect;  // that modules are printed in
  uint32_t stop_after;   // run so many steps of the pipeline; UINT32_MAX: all
  bool verify_each;      // verify each module after each pass that changed it
  // Told in front of each pass; may be NULL.
  void (*TVMS_NULLABLE before)(void *self, const tvms_pass_step *step,
                               const tvms_module *module);
  // Told after each pass; may be NULL.
  void (*TVMS_NULLABLE after)(void *self, const tvms_pass_step *step,
                              const tvms_module *module, bool changed, double seconds);
  void *TVMS_NULLABLE self;
  // If a pass fails, gets the module in front of it as a golden file that runs what was
  // left of the pipeline. NULL: not wanted.
  tvms_strbuf *TVMS_NULLABLE reproducer;
} tvms_optimize_options;

// Runs the pipeline on each module. False as soon as a pass fails, which was reported.
TVMS_NODISCARD bool tvms_optimize(const tvms_program *program,
                                  const tvms_pipeline *pipeline,
                                  const tvms_optimize_options *options);

// Appends the text of one module of a program.
void tvms_optimize_print(const tvms_program *program, const tvms_module *module,
                         tvms_dialect dialect, tvms_strbuf *out);

// Appends every pass with its options, and every pipeline.
void tvms_optimize_list(tvms_strbuf *out);

#endif
