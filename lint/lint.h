// Lint rules: what TVM accepts and nobody means.
//
// Rules run while a file is read, on one definition after the other, behind the verification
// of it and before it is dropped. A rule may rely on what it looks at being whole: no error
// was reported in it, nothing in it is unknown, and it passed verification. What it finds it
// reports by tvms_diag_report, as a row of rules.def; what is done about the row (another
// severity, nothing) is decided there, by the levels of the context's list.
//
// A rule makes no nodes in the unit of the function that stay, and changes none. Memory comes
// from the context and is given back before the rule returns.
#ifndef TVMS_LINT_LINT_H
#define TVMS_LINT_LINT_H

#include "grammar/surface.h"
#include "ir/module.h"

// What rules look at. Which members are set depends on the row: see rules.def.
typedef struct {
  tvms_context *context;
  const tvms_surface *TVMS_NULLABLE surface;  // of the file
  tvms_module *TVMS_NULLABLE module;          // all but FILE
  tvms_ref definition;                        // SURFACE: the DEF or CLASS
  tvms_member *TVMS_NULLABLE member;          // PRIM_FUNC, RELAX
  tvms_unit *TVMS_NULLABLE unit;              // PRIM_FUNC, RELAX: of the member
  tvms_node *TVMS_NULLABLE function;          // PRIM_FUNC, RELAX: of the member
  // By number of the member: calls of it were looked at (lint/call_tir.c); NULL: of none.
  bool *TVMS_NULLABLE called;
  // Of the runner: definitions of the surface tree in order of their names' places.
  TVMS_VEC(tvms_ref) definitions;
  bool indexed;
  bool seen;                   // a module was run on
  bool failed;                 // there was an error when the file had been read
  TVMS_VEC(tvms_span) unseen;  // definitions that rules were not all run on
} tvms_lint;

// Prepares rules to run on the file whose surface tree this is; both must outlive `lint`.
void tvms_lint_init(tvms_lint *lint, tvms_context *context,
                    const tvms_surface *surface);

// Frees what init and the runs took. Findings stay.
void tvms_lint_fini(tvms_lint *lint);

// Runs the rules on a module that was read and verified: on those of its functions that are
// whole, and on itself if all of them are.
void tvms_lint_module(tvms_lint *lint, tvms_module *module);

// Runs the rules on the file as a whole, once all its modules were seen, unless there is an error
// in it. Then takes out of the list what comments suppress (lint/suppress.h).
void tvms_lint_file(tvms_lint *lint);

// Whether findings of this row are asked for.
static inline bool tvms_lint_wants(const tvms_lint *lint, tvms_diag_id id) {
  return !tvms_diags_are_off(&lint->context->diags, id);
}

// Whether the function at hand is private: nothing outside of its module calls it.
static inline bool tvms_lint_is_inner(const tvms_lint *lint) {
  return lint->function->flags & TVMS_FLAG_PRIVATE;
}

#endif
