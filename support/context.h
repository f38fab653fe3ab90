// What one run of the library works with: memory, names, diagnostics.
//
// A context serves one thread. Nothing in tvms is global, so contexts are independent.
#ifndef TVMS_SUPPORT_CONTEXT_H
#define TVMS_SUPPORT_CONTEXT_H

#include "support/cpu.h"
#include "support/diag.h"
#include "support/intern.h"
#include "support/shared.h"

struct tvms_context {
  tvms_memory memory;
  tvms_arena arena;    // lives as long as the context: names, closed types, diagnostics
  tvms_arena scratch;  // mark and reset around a piece of work
  tvms_interner names;
  tvms_diags diags;
  tvms_shares shares;  // data of constants
  uint64_t steps;      // work done in evaluation and simplification
  uint64_t step_limit;
  // Text of an IR node of a tvms_unit for messages, in the arena; installed by driver/,
  // because the printer is above the rooms that report. NULL: nodes are described by their
  // kind only.
  const char *(*describe)(const void *unit, const void *node);
  bool verifies;      // check our own invariants after reading and passes (ir/verify.h)
  // Passes make code that runs: arithmetic of an older release counts only where it is sound. Else texts are what that release makes of them.
  bool lowers;
  uint32_t spelling;  // for `describe`: the tvms_dialect that was read, 0 before
  void *TVMS_NULLABLE api;  // of a context of the library; driver/api/api.h
  struct tvms_types *TVMS_NULLABLE types;  // closed StructInfo; structinfo/intern.c
  const tvms_cpu *TVMS_NULLABLE cpu;       // tvms_context_cpu
};

// `fixed` is the table that tools/gen_names.c made; it must outlive the context.
void tvms_context_init(tvms_context *context, const tvms_static_names *fixed);

// As tvms_context_init, for a context that is zero but for its memory, which is set up.
void tvms_context_start(tvms_context *context, const tvms_static_names *fixed);

// Frees all that the context owns: names, diagnostics, everything made with its memory.
void tvms_context_fini(tvms_context *context);

// The processor at hand (support/cpu.h). It is asked once: where a hypervisor answers, that takes
// 0.1 ms.
const tvms_cpu *tvms_context_cpu(tvms_context *context);

// Text of a name; "" for 0.
static inline const char *tvms_symbol_text(const tvms_context *context, tvms_sym sym) {
  return sym ? tvms_interner_name(&context->names, sym)->text : "";
}
static inline tvms_sym tvms_symbol_intern(tvms_context *context, const char *text,
                                          size_t len) {
  return tvms_interner_add(&context->names, text, len);
}

#endif
