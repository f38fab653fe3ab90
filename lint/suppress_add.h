// Writing comments that suppress the findings there are.
#ifndef TVMS_LINT_SUPPRESS_ADD_H
#define TVMS_LINT_SUPPRESS_ADD_H

#include "support/context.h"
#include "support/edits.h"

// Adds edits that suppress the errors and the warnings among the findings of the context in the
// source, each by its code: a comment behind its line or, if that ends in a string or a
// backslash, behind its statement; another code if there is such a comment. Errors of syntax and
// findings about comments are left. Returns how many findings that suppresses. The findings are
// sorted (tvms_diags_sort).
uint32_t tvms_lint_suppress_all(tvms_context *context, tvms_source *source,
                                tvms_edits *edits);

#endif
