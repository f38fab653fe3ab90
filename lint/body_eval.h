// Expressions on a path: their values in the chosen iteration, and what is true of all.
#ifndef TVMS_LINT_BODY_EVAL_H
#define TVMS_LINT_BODY_EVAL_H

#include "lint/body_path.h"

// The loops that an expression depends on, as bits; those from the 63rd on share one.
uint64_t tvms_lint_path_loops_of(const tvms_lint_path *path, const tvms_node *expr);

// Whether the expression may rise and fall again while one loop goes on, as remainders do.
bool tvms_lint_path_is_jagged(const tvms_lint_path *path, const tvms_node *expr);

// Bounds of an expression over all iterations.
tvms_lint_range tvms_lint_path_range(const tvms_lint_path *path, const tvms_node *expr);

// Whether an expression is a variable that is known to lie in [0, extent).
bool tvms_lint_path_is_below(const tvms_lint_path *path, const tvms_node *expr,
                             const tvms_node *extent);

// Whether a condition around says in so many words that an expression is less than `end`.
bool tvms_lint_path_is_guarded(const tvms_lint_path *path, const tvms_node *expr,
                               int64_t end);

// The value of an expression in the chosen iteration. Truth values are 0 and 1.
tvms_lint_value tvms_lint_path_value(tvms_lint_path *path, const tvms_node *expr);

#endif
