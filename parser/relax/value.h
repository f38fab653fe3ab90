// Values of Relax as they are written: R.const, R.shape, R.match_cast …, operators of
// Python on them, subscripts, and calls of functions.
#ifndef TVMS_PARSER_RELAX_VALUE_H
#define TVMS_PARSER_RELAX_VALUE_H

#include "parser/eval/eval.h"
#include "parser/relax/state.h"

// The value of the SUBSCRIPT of a tuple that stands in the text, not folded. Unknown after a
// report.
tvms_eval_value tvms_relax_printed_item(tvms_reader *reader, tvms_ref ref);

// Element `index` of a tuple; unknown after a report that it is not one, or is shorter.
tvms_eval_value tvms_relax_item(tvms_reader *reader, tvms_node *tuple, uint32_t index,
                                tvms_ref ref);

// A call whose callee is a TVMS_EVAL_RELAX or a value of Relax; unknown after a report.
tvms_eval_value tvms_relax_call(tvms_reader *reader, tvms_eval_value callee,
                                tvms_ref call);

// A call of a function of the module (`cls.f(…)`) inside a Relax function; unknown after a
// report.
tvms_eval_value tvms_relax_call_global(tvms_reader *reader, tvms_node *global_var,
                                       tvms_ref call);

// `value[index]`, the SUBSCRIPT at `ref`; unknown after a report.
tvms_eval_value tvms_relax_subscript(tvms_reader *reader, tvms_eval_value value,
                                     tvms_ref ref);

// `a op b` where an operand is a value of Relax: a call of the operator of Relax. For a unary
// operator `b` is unknown. Unknown after a report.
tvms_eval_value tvms_relax_operator_on(tvms_reader *reader, tvms_surf_op op,
                                       tvms_eval_value a, tvms_eval_value b,
                                       tvms_ref ref);

// The operator that stands below R or a namespace of it under `name`, as a callable; the
// unknown value, silently, if there is none.
tvms_eval_value tvms_relax_operator_named(tvms_reader *reader, const char *path,
                                          tvms_sym name);

#endif
