// The search for an iteration that shows a fault.
#ifndef TVMS_LINT_BODY_SEARCH_H
#define TVMS_LINT_BODY_SEARCH_H

#include "lint/body_path.h"

// What is to become 0 or more, in the chosen iteration.
typedef tvms_lint_value tvms_lint_objective(tvms_lint_path *path, const void *self);

// Looks for iterations of the loops `loops`, on which `objective` depends, and of those that
// conditions depend on, in which it is at least 0 and which is executed for certain. `jagged`: the objective
// may rise and fall, as remainders do, and more is tried. True: it is the one that is chosen now. The other loops stay at their first iteration. False says nothing: some iterations are tried, not all.
bool tvms_lint_search(tvms_lint_path *path, uint64_t loops, bool jagged,
                      tvms_lint_objective *objective, const void *self);

#endif
