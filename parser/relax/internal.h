// What the files relax*.c share.
#ifndef TVMS_PARSER_RELAX_INTERNAL_H
#define TVMS_PARSER_RELAX_INTERNAL_H

#include "ir/op.h"
#include "parser/eval/internal.h"
#include "structinfo/infer.h"
#include "structinfo/normalize.h"

// A name that was reported as undefined: what is known of its surroundings later may
// still explain it (parser/relax/evidence.c).
typedef struct {
  tvms_diag *diag;
  const char *TVMS_NULLABLE near;  // the nearest name in scope
  tvms_sym name;
  tvms_span span;
  bool explained;
} tvms_relax_suspect;

// The Relax function being read; local functions have states of their own inside.
typedef struct tvms_relax_state {
  struct tvms_relax_state *TVMS_NULLABLE outer;
  tvms_prover *prover;  // of the outermost function
  tvms_builder builder;
  tvms_ref param_list;   // of the signature being read
  tvms_ref type_params;  // `[n, m]` before it
  tvms_ref body;         // after it
  tvms_sym void_name;    // declared for the next statement without a value, or 0
  bool pure;             // the function is said to be pure
  bool printed;          // the binding being read is as TVM prints it
  bool bools;            // `True` is a bool and not 1: so in what TVM prints
  tvms_nodes_vec params;
  tvms_node *TVMS_NULLABLE attrs;
  tvms_node *TVMS_NULLABLE ret_type;  // the annotation
  tvms_node *TVMS_NULLABLE returned;  // value of the return statement
  tvms_span returned_span;
  bool has_return;
  bool is_private;
  bool in_signature;                   // text in shapes is read as an expression
  tvms_nodes_vec outputs;              // of the dataflow block
  TVMS_VEC(tvms_sym) unknown_outputs;  // names among them that have no value; reported
  TVMS_VEC(tvms_relax_suspect) suspects;
} tvms_relax_state;

// Parsed form of a row of ops.def for the dialect being read.
typedef struct {
  uint8_t kinds[TVMS_MAX_PARAMS];  // tvms_arg_kind
  int8_t places[TVMS_MAX_PARAMS];  // of the attribute that the parameter sets; -1: none
  const tvms_signature *signature;
} tvms_op_signature;

typedef enum {
  TVMS_ARG_VALUE,
  TVMS_ARG_SHAPE,
  TVMS_ARG_SHAPE2,
  TVMS_ARG_SHAPE3,
  TVMS_ARG_SIZE,  // a shape, or a number as TVM lets it pass
  TVMS_ARG_PRIM,
  TVMS_ARG_TUPLE,
  TVMS_ARG_ARGS,
  TVMS_ARG_STR,
  TVMS_ARG_DTYPE,
  TVMS_ARG_EXPR,
  TVMS_ARG_FUNC,
  TVMS_ARG_EXTERN,
  TVMS_ARG_TYPE,   // out_ty, ty_args: types of the result
  TVMS_ARG_OTHER,  // only the bind function knows
} tvms_arg_kind;

// T.index_map (parser/tir/expr.c).
tvms_handler tvms_call_index_map;

// ---- parser/relax/types.c ----
// A type from a value: StructInfo, `R.Tensor` uncalled, None (the empty tuple), a data
// type (0.26 on). NULL after a report or if the value is unknown.
tvms_node *TVMS_NULLABLE tvms_relax_to_type(tvms_reader *reader, tvms_eval_value value,
                                            tvms_ref ref);
// The types of a tuple or list, or of one value. False after a report.
bool tvms_relax_to_types(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                         tvms_list *types);
// Evaluates an annotation to a type.
tvms_node *TVMS_NULLABLE tvms_relax_annotation(tvms_reader *reader, tvms_ref ref);
// A virtual device: an object, or the name of one of the module ("cuda:1"); None gives
// NULL. False after a report.
bool tvms_relax_to_vdevice(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                           tvms_node **vdevice);
// Symbolic variables that the annotation of a parameter defines: strings in shapes that
// are names, and type variables. They are bound in the innermost scope.
void tvms_relax_define_symbols(tvms_reader *reader, tvms_ref annotation);
// The same for the annotation of the result, where only the parameters of a function type
// define variables.
void tvms_relax_define_result_symbols(tvms_reader *reader, tvms_ref annotation);
// "mesh[0]": an item of a global info; NULL if the module has none there.
tvms_node *TVMS_NULLABLE tvms_relax_mesh(tvms_reader *reader, tvms_eval_value value);

// ---- parser/relax/value.c ----
// The value of the SUBSCRIPT of a tuple that stands in the text, not folded.
tvms_eval_value tvms_relax_printed_item(tvms_reader *reader, tvms_ref ref);

// ---- parser/relax/object.c ----
// `x.shape[index]`, `x.strides[index]` of a tensor; false if `object` is neither.
bool tvms_relax_inspect_item(tvms_reader *reader, tvms_eval_value object,
                             tvms_eval_value index, tvms_ref ref,
                             tvms_eval_value *value);

// ---- parser/relax/convert.c ----
// A value of Relax from whatever can be one. NULL after a report or if unknown.
tvms_node *TVMS_NULLABLE tvms_relax_to_value(tvms_reader *reader, tvms_eval_value value,
                                             tvms_ref ref);
// A scalar: as above, but a bool stays one since 0.26, and a float was a float32 before.
// R.print and R.tuple hand their arguments to C++ since 0.26, where True is a bool. Returns
// what to restore in `bools`.
bool tvms_relax_take_bools(tvms_reader *reader);
tvms_node *TVMS_NULLABLE tvms_relax_to_prim(tvms_reader *reader, tvms_eval_value value,
                                            tvms_ref ref);
tvms_node *tvms_relax_prim(tvms_reader *reader, tvms_node *value);
// A shape: tuple or list of dimensions, or a value that is one.
tvms_node *TVMS_NULLABLE tvms_relax_to_shape(tvms_reader *reader, tvms_eval_value value,
                                             tvms_ref ref);
// Adds to `diag` that `(x)` is no tuple, if that is how `ref` is written.
bool tvms_relax_explain_parens(tvms_reader *reader, tvms_diag *diag, tvms_ref ref);
// One dimension: int64, a TIR expression, or text in a signature.
tvms_node *TVMS_NULLABLE tvms_relax_to_dim(tvms_reader *reader, tvms_eval_value value,
                                           tvms_ref ref);
// Any scalar of TIR; `what` must be `expected`, says the report.
tvms_node *TVMS_NULLABLE tvms_relax_to_scalar(tvms_reader *reader,
                                              tvms_eval_value value, tvms_ref ref,
                                              const char *what, const char *expected);
tvms_node *tvms_relax_tuple(tvms_reader *reader, tvms_node *const *fields,
                            uint32_t count, tvms_span span);
// A 0-dimensional constant tensor.
tvms_node *TVMS_NULLABLE tvms_relax_const(tvms_reader *reader, tvms_eval_value value,
                                          tvms_dtype dtype, tvms_ref ref);

// ---- parser/relax/attrs.c ----
// The value of an attribute of the given type. False after a report.
bool tvms_relax_to_attr(tvms_reader *reader, const tvms_attr_row *row,
                        tvms_eval_value value, tvms_ref ref, tvms_node **result);

// ---- parser/relax/signature.c ----
const tvms_op_signature *tvms_relax_op_signature(tvms_reader *reader, tvms_opcode op);

// ---- parser/relax/bind.c ----
tvms_eval_value tvms_relax_call_op(tvms_reader *reader, tvms_opcode op, tvms_ref call);
// Builds and infers a call of an operator. `spans` may be NULL.
tvms_eval_value tvms_relax_make_call(tvms_reader *reader, tvms_opcode op,
                                     tvms_node *const *args, uint32_t count,
                                     tvms_list attrs, tvms_list type_args,
                                     const tvms_span *spans, tvms_ref ref);
// The same without attributes, for operators of Python.
tvms_eval_value tvms_relax_make_simple(tvms_reader *reader, tvms_opcode op,
                                       tvms_node *const *args, uint32_t count,
                                       tvms_ref ref);
// Infers a finished call; its value is unknown after a report.
tvms_eval_value tvms_relax_finish_call(tvms_reader *reader, tvms_call *call,
                                       const tvms_span *TVMS_NULLABLE spans);

// What only this part of the reader understands: `spare` of a VALUE_RELAX.
enum {
  TVMS_RELAX_OP,        // i: the opcode
  TVMS_RELAX_DATAFLOW,  // R.dataflow()
  TVMS_RELAX_CAST,      // items: value and type of R.match_cast
  TVMS_RELAX_ASTYPE,    // items: the value, of `x.astype`
  TVMS_RELAX_DTYPE,     // items: the tensor, of `x.dtype`
  TVMS_RELAX_SHAPE,     // items: the tensor, of `x.shape`
  TVMS_RELAX_STRIDES,   // items: the tensor, of `x.strides`
};

// ---- parser/relax/stmt.c ----
void tvms_relax_body(tvms_reader *reader, tvms_ref body);

// ---- parser/relax/value.c ----
// Element `index` of a tuple.
tvms_eval_value tvms_relax_item(tvms_reader *reader, tvms_node *tuple, uint32_t index,
                                tvms_ref ref);

// ---- parser/relax/function.c ----
// A local function: the value of a binding. NULL if something of it is unknown.
// `reserved` is the variable that it knows itself by, if it calls itself.
tvms_node *TVMS_NULLABLE tvms_relax_local_function(tvms_reader *reader, tvms_ref def,
                                                   tvms_decoration decoration,
                                                   tvms_node **reserved);

// ---- parser/relax/evidence.c ----
// Suggests the nearest names for what nothing has explained.
void tvms_relax_close_suspects(tvms_reader *reader);
// Explains undefined names in a call_tir by the PrimFunc that it calls.
void tvms_relax_explain_call_tir(tvms_reader *reader, const tvms_node *callee,
                                 tvms_ref args_ref, tvms_ref type_ref);

// No block is open while a signature is read.
static inline bool tvms_relax_in_dataflow(const tvms_reader *reader) {
  tvms_builder *builder = &reader->relax->builder;
  return builder->open.len > 0 && tvms_builder_block(builder)->dataflow;
}

#endif
