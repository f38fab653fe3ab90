// Whether passes keep what functions compute: each public function of a module is run by the
// interpreter on random inputs before the first pass and behind each pass that changed the
// module.
//
// Operators of Relax are computed by their definition, element by element
// (interp/operators.def); those that have none there as LegalizeOps writes them. What depends on
// T.undef() is not compared: two runs in which it is different numbers show what that is. Inputs
// depend on the names of parameters only; sizes that are free are TVMS_FREE_SIZE.
#ifndef TVMS_DRIVER_SEMANTICS_H
#define TVMS_DRIVER_SEMANTICS_H

#include "interp/foreign.h"
#include "ir/module.h"
#include "runtime/value.h"
#include "support/vec.h"

// A value that a function gave, under the name that `tvms run` shows: "result.0"; of a PrimFunc
// what is in each of its buffers afterwards.
typedef struct {
  const char *name;
  tvms_value value;
} tvms_semantics_result;

typedef TVMS_VEC(tvms_semantics_result) tvms_semantics_results;

// A public function as it was before the first pass.
typedef struct {
  tvms_sym name;
  bool runs;            // and is still compared
  const char **params;  // their names
  uint32_t param_count;
  tvms_heap heap;  // of the results and inputs
  tvms_value
      *inputs;  // as they were before the call, for a function that takes them packed
                // or by address later
  uint64_t steps;  // that the first run took
  tvms_semantics_results results;
  tvms_semantics_results others;  // if T.undef() is another number; none: there is none
} tvms_semantics_function;

// What changed a module, for the findings: a pass of a pipeline, or another file.
typedef struct {
  tvms_source *source;
  tvms_span span;
  const char *name;
} tvms_semantics_change;

typedef struct {
  tvms_context *context;
  const tvms_program *program;
  const tvms_foreign *TVMS_NULLABLE foreign;  // functions that calls may name
  tvms_arena arena;
  const char *lowering;  // pipeline that leaves operators with a definition alone
  bool has_undefined;    // the module mentions T.undef()
  double tolerance;      // of the narrowest floats of the modules, relative …
  bool fixed;            // … unless the caller has set it
  TVMS_VEC(tvms_semantics_function *) functions;
} tvms_semantics;

// Runs the public functions of a module; `foreign`: functions that they may call by name, or
// NULL. A function that cannot be run is named in a note, with
// the reason, and not compared.
void tvms_semantics_begin(tvms_semantics *semantics, const tvms_program *program,
                          const tvms_module *module,
                          const tvms_foreign *TVMS_NULLABLE foreign);

// Runs them again as they are behind a change, in a module of `semantics->program` or of one
// that takes its place. The first result that differs, or the first fault, is reported as an
// error at the place of the change. What cannot be run any more, or takes other parameters, gets
// a note and is not compared from there on.
void tvms_semantics_compare(tvms_semantics *semantics,
                            const tvms_semantics_change *change,
                            const tvms_module *module);

// Compares the public functions of two programs of one context, definition by definition.
// `tolerance`: relative to the largest value of a result; negative: as of the narrowest
// floats. `foreign` is as for tvms_semantics_begin. Findings stand in `source`, which the second program was read from.
void tvms_semantics_compare_programs(const tvms_program *before,
                                     const tvms_program *now, tvms_source *source,
                                     double tolerance,
                                     const tvms_foreign *TVMS_NULLABLE foreign);

// Frees everything.
void tvms_semantics_end(tvms_semantics *semantics);

#endif
