// Memory that calls of Relax functions share.
#ifndef TVMS_LINT_RELAX_MEMORY_H
#define TVMS_LINT_RELAX_MEMORY_H

#include "lint/lint.h"

// Which calls a function has that the rules of this file ask about.
typedef struct {
  bool inplace;  // call_tir_inplace
  bool storage;  // alloc_tensor
  bool tir;      // call_tir
} tvms_lint_calls;

// Notes one CALL.
void tvms_lint_note_call(tvms_lint_calls *calls, const tvms_node *call);

// Reports inplace_used_later, storage_overlap, storage_too_small, output_never_written and
// input_overwritten in the function at hand, which has these calls.
void tvms_lint_check_calls(tvms_lint *lint, const tvms_lint_calls *calls);

#endif
