// empty_loop, duplicate_block, self_store, constant_condition, dead_store: what does nothing, and
// names given twice.
#ifndef TVMS_LINT_BODY_STYLE_H
#define TVMS_LINT_BODY_STYLE_H

#include "lint/body.h"

// A loop begins.
void tvms_lint_body_style_loop(tvms_lint_body *body, const tvms_for *loop);

// A block begins.
void tvms_lint_body_style_block(tvms_lint_body *body, const tvms_block *block);

// An element is written.
void tvms_lint_body_style_store(tvms_lint_body *body, const tvms_store *store);

// A condition of a branch is met.
void tvms_lint_body_style_condition(tvms_lint_body *body, const tvms_node *condition);

// A sequence of statements begins.
void tvms_lint_body_style_sequence(tvms_lint_body *body, tvms_list stmts);

#endif
