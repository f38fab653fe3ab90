// What passes say of their work: remarks about single places, and numbers.
//
// Remarks are rows of diag.def, notes that carry the pass and what kind of remark they are.
// Nobody sees them unless they are asked for, so finding out a reason may wait for
// tvms_pass_wants_remarks.
#ifndef TVMS_PASSES_REMARKS_H
#define TVMS_PASSES_REMARKS_H

#include "passes/manager.h"
#include "support/diag.h"
#include "support/vec.h"

typedef enum {
  TVMS_REMARK_PASSED,    // the pass did it
  TVMS_REMARK_MISSED,    // the pass did not do it, and why
  TVMS_REMARK_ANALYSIS,  // what the pass found out
} tvms_remark_kind;

typedef struct {
  const char *pass;
  const char *name;
  int64_t value;
} tvms_pass_number;

// What is wanted of a run, and the numbers so far.
struct tvms_pass_log {
  tvms_memory *memory;
  bool remarks;
  const tvms_pass *TVMS_NULLABLE only;  // the pass whose remarks are wanted; NULL: all
  bool of_weights;  // only those that tell what became of weights and loops
  TVMS_VEC(tvms_pass_number) numbers;  // in the order in which they first came
};

// Whether remarks of this run are wanted.
bool tvms_pass_wants_remarks(const tvms_pass_run *run);

// Reports row `id`, a note, at `span` as a remark if remarks are wanted. The arguments are
// those of the row.
void tvms_pass_remark(const tvms_pass_run *run, tvms_remark_kind kind, tvms_diag_id id,
                      tvms_span span, ...);

// The same whether remarks are wanted or not: for a pass whose report is a part of its work.
void tvms_pass_tell(const tvms_pass_run *run, tvms_remark_kind kind, tvms_diag_id id,
                    tvms_span span, ...);

// Adds to a number of the pass, for statistics. `name` is static: "calls joined".
void tvms_pass_count(const tvms_pass_run *run, const char *name, int64_t value);

#endif
