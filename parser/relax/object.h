// What TVM's Python objects offer on values of Relax: attributes of values and types
// (`x.dtype`, `x.ty.shape[0]`), and calls made as nodes (`relax.Call(op, args)`).
#ifndef TVMS_PARSER_RELAX_OBJECT_H
#define TVMS_PARSER_RELAX_OBJECT_H

#include "parser/eval/eval.h"
#include "parser/relax/state.h"

// `x.shape[index]`, `x.strides[index]` of a tensor; false if `object` is neither.
bool tvms_relax_inspect_item(tvms_reader *reader, tvms_eval_value object,
                             tvms_eval_value index, tvms_ref ref,
                             tvms_eval_value *value);

// `object.name` of a TVMS_EVAL_RELAX or a value of Relax. Reports unknown names; then, or if
// the object has not been built, unknown.
tvms_eval_value tvms_relax_attribute(tvms_reader *reader, tvms_eval_value object,
                                     tvms_sym name, tvms_ref ref);

// An attribute of a type (`x.ty.shape`); false, silently, if `node` is not one or has none.
bool tvms_relax_type_attribute(tvms_reader *reader, const tvms_node *node,
                               tvms_sym name, tvms_eval_value *value);

// `relax.Call(op, args, …)`: a call as a node; unknown after a report.
tvms_eval_value tvms_relax_call_node(tvms_reader *reader, tvms_ref call);

// `relax.Tuple(fields)`; unknown after a report.
tvms_eval_value tvms_relax_tuple_node(tvms_reader *reader, tvms_ref call);

#endif
