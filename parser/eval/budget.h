// What evaluation may cost in work and memory.
#ifndef TVMS_PARSER_EVAL_BUDGET_H
#define TVMS_PARSER_EVAL_BUDGET_H

#include "parser/eval/eval.h"

// Bytes that the values of a file may take: `most_bytes` of its budget.
uint64_t tvms_budget_of_values(const tvms_source *source);

// Counts a step of work. False at the limit of work or memory, which is reported at `ref`,
// once.
TVMS_NODISCARD bool tvms_eval_count_step(tvms_reader *reader, tvms_ref ref);

// The same for `steps` steps: what goes through long lists in one go.
TVMS_NODISCARD bool tvms_eval_count_steps(tvms_reader *reader, uint64_t steps,
                                          tvms_ref ref);

// True if values may take `bytes` more. Whoever makes a value that is larger than what it is
// made of asks before; the report is that of tvms_eval_count_step.
TVMS_NODISCARD bool tvms_eval_may_take(tvms_reader *reader, uint64_t bytes,
                                       tvms_ref ref);

// True if `value` holds no more than values may take, were there a copy of each part wherever
// it stands. The report is that of tvms_eval_count_step.
TVMS_NODISCARD bool tvms_eval_may_hold(tvms_reader *reader, tvms_eval_value value,
                                       tvms_ref ref);

// True if an expression may stand several times in what is made of it, as the argument of T.abs does: each call
// inside of another multiplies the text. The report is that of tvms_eval_count_step.
TVMS_NODISCARD bool tvms_eval_may_repeat(tvms_reader *reader, tvms_node *expr,
                                         tvms_ref ref);

// Bytes that values may still take.
uint64_t tvms_eval_room(const tvms_reader *reader);

#endif
