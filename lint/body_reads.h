// read_before_write, element_never_written, reduction_without_init,
// accumulates_into_argument: memory that is read and has no value.
#ifndef TVMS_LINT_BODY_READS_H
#define TVMS_LINT_BODY_READS_H

#include "lint/body.h"

// An element is read.
void tvms_lint_body_reads_load(tvms_lint_body *body, const tvms_lint_access *access);

// An element is written; all that its value reads was told before.
void tvms_lint_body_reads_store(tvms_lint_body *body, const tvms_lint_access *access);

// The function has ended: all that it writes is known.
void tvms_lint_body_reads_end(tvms_lint_body *body);

#endif
