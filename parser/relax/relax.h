// What the rest of parser/ asks of the reading of Relax (relax*.c).
//
// R and everything below it is a TVMS_EVAL_RELAX or a row of ir/calls.def; a value of
// Relax is a TVMS_EVAL_NODE whose node has StructInfo (tvms_relax_is_expr).
#ifndef TVMS_PARSER_RELAX_RELAX_H
#define TVMS_PARSER_RELAX_RELAX_H

#include "parser/eval/eval.h"

// True for nodes that are values of Relax: operators on them build calls of Relax.
bool tvms_relax_is_expr(const tvms_node *node);

// `R.name`: the value of the name R has when nothing rebinds it, and below it.
// `path` is the name so far for VALUE_RELAX objects. Reports unknown names.
tvms_eval_value tvms_relax_attribute(tvms_reader *reader, tvms_eval_value object,
                                     tvms_sym name, tvms_ref ref);

// An attribute of a type (`x.ty.shape`); false, silently, if `node` is none or has none.
bool tvms_relax_type_attribute(tvms_reader *reader, const tvms_node *node,
                               tvms_sym name, tvms_eval_value *value);

// A call whose callee is a VALUE_RELAX or a value of Relax.
tvms_eval_value tvms_relax_call(tvms_reader *reader, tvms_eval_value callee,
                                tvms_ref call);

// `relax.Call(op, args, …)`: a call as a node.
tvms_eval_value tvms_relax_call_node(tvms_reader *reader, tvms_ref call);
// `relax.Tuple(fields)`.
tvms_eval_value tvms_relax_tuple_node(tvms_reader *reader, tvms_ref call);

// A call of a function of the module (`cls.f(…)`) inside a Relax function.
tvms_eval_value tvms_relax_call_global(tvms_reader *reader, tvms_node *global_var,
                                       tvms_ref call);

// `value[index]` and the operators where an operand is a value of Relax. For a unary
// operator `b` is unknown.
tvms_eval_value tvms_relax_subscript(tvms_reader *reader, tvms_eval_value value,
                                     tvms_ref ref);
tvms_eval_value tvms_relax_operator_on(tvms_reader *reader, tvms_surf_op op,
                                       tvms_eval_value a, tvms_eval_value b,
                                       tvms_ref ref);

// Declares the function at `def`: evaluates its signature so that other functions can
// call it (member->function may become a FUNCTION without body). Called for all functions
// of a module before any body is read; reader->unit is the member's.
void tvms_relax_declare(tvms_reader *reader, const tvms_def *def, tvms_member *member);

// Reads the function at `def` into member->function; leaves it NULL when something of it
// is unknown. reader->unit is the member's, reading is TVMS_READING_RELAX.
void tvms_relax_function(tvms_reader *reader, const tvms_def *def, tvms_member *member);

// Reads the body of an R.macro in place; the value is what it returns.
tvms_eval_value tvms_relax_expand(tvms_reader *reader, tvms_ref body, tvms_ref call);

// StructInfo of a member as seen by calls of it, or NULL if it is not declared yet.
tvms_node *TVMS_NULLABLE tvms_relax_member_type(tvms_reader *reader,
                                                const tvms_member *member);

// Expands the body of an R.macro in place; its value is what it returns.
tvms_eval_value tvms_relax_expand(tvms_reader *reader, tvms_ref body, tvms_ref call);

// The operator that stands below R or a namespace of it under `name`, as a callable; the
// unknown value, silently, if there is none.
tvms_eval_value tvms_relax_operator_named(tvms_reader *reader, const char *path,
                                          tvms_sym name);

// Remembers an undefined name of a Relax function that was just reported; `near` is the
// nearest name in scope, suggested unless its surroundings explain it better.
void tvms_relax_suspect_name(tvms_reader *reader, tvms_diag *diag, tvms_sym name,
                             tvms_span span, const char *TVMS_NULLABLE near);

// ---- parser/relax/prototype.c: types in the spelling of 2022 ----

// The type that `R.match_shape(value, shape)` casts to.
tvms_eval_value tvms_prototype_shape(tvms_reader *reader, tvms_node *value,
                                     tvms_eval_value shape, tvms_ref ref);

// The parts of the index in `R.Tensor[shape, dtype]`; *dtype 0: not given. False: it has
// more.
bool tvms_prototype_parts(const tvms_reader *reader, tvms_ref index, tvms_ref *shape,
                          tvms_ref *dtype);

// The type `R.Tensor[shape, dtype]`; `_` leaves a part open.
tvms_eval_value tvms_prototype_tensor(tvms_reader *reader, tvms_ref subscript);

// The type of the result that `shape, dtype=…` of a call_tir says.
tvms_eval_value tvms_prototype_result(tvms_reader *reader, tvms_eval_value shape,
                                      tvms_ref shape_ref, tvms_eval_value dtype,
                                      tvms_ref dtype_ref);

#endif
