// The state of the Relax function being read, and what values of Relax are.
//
// What stands below R is a row of ir/calls.def or a TVMS_EVAL_RELAX; a value of Relax is a
// TVMS_EVAL_NODE whose node has StructInfo (tvms_relax_is_expr).
#ifndef TVMS_PARSER_RELAX_STATE_H
#define TVMS_PARSER_RELAX_STATE_H

#include "ir/op.h"
#include "parser/eval/eval.h"
#include "parser/relax/room.h"
#include "structinfo/infer.h"
#include "structinfo/normalize.h"

// A name that was reported as undefined.
//
// The nearest name in scope is a poor guess where the place of the name says what is missing:
// `R.call_tir(cls.f, (x, wieght), …)` wants a tensor of the shape that `f` declares. That is
// known only when the whole call has been read, so the report waits for evidence
// (parser/relax/evidence.c): whoever knows better explains the suspect, and the nearest name is
// suggested for the others at the end of the function.
typedef struct {
  tvms_diag *diag;
  const char *TVMS_NULLABLE near;  // the nearest name in scope
  tvms_sym name;
  tvms_span span;
  bool explained;
} tvms_relax_suspect;

// A name of a dataflow block that is closed: what would hand it out.
typedef struct {
  tvms_sym name;
  tvms_span span;   // where it is bound
  tvms_ref output;  // the call of R.output, or 0
  tvms_ref last;    // statement of the block
} tvms_relax_inner;

// What the text of a statement means: what TVM prints it means as it stands there, and it
// annotates every binding that it prints (tvm/relax/script/parser/parser.py,
// relax/script/builder/frame.h). A property of the statement: read_stmt of parser/relax/stmt.c
// finds it out, and statements inside of a statement have their own.
typedef struct {
  bool printed;  // a binding as TVM prints it
  bool bools;    // `True` is a bool and not 1
} tvms_relax_reading;

// The Relax function being read; local functions have states of their own inside.
//
// A body is read statement by statement into the builder (structinfo/normalize.h), which keeps
// A-normal form: every call is bound to a variable of its own, also one that stands inside
// another. `R.add(R.exp(x), y)` emits lv = R.exp(x) before the call is made. So a binding may
// be emitted while an expression is being read, and `builder.open` tells where to: the sequence
// of the function, a dataflow block, a branch. While a signature is read nothing is open, and
// nothing may be emitted.
//
// Where the reader is follows from the state: nothing is open in a signature, and `reading`
// says of what kind the statement is that is being read.
typedef struct tvms_relax_state {
  struct tvms_relax_state *TVMS_NULLABLE outer;
  tvms_prover *prover;  // of the outermost function
  tvms_builder builder;
  tvms_ref param_list;   // of the signature being read
  tvms_ref type_params;  // `[n, m]` before it
  tvms_ref body;         // after it
  tvms_relax_reading reading;
  // `gv: R.Tuple` without a value stood in the body: the name that the next statement
  // without a value binds, or 0.
  tvms_sym void_name;
  bool pure;       // the function is said to be pure
  bool unchecked;  // check_well_formed=False
  tvms_node_vec params;
  tvms_node *TVMS_NULLABLE attrs;
  tvms_node *TVMS_NULLABLE ret_type;  // the annotation
  tvms_node *TVMS_NULLABLE returned;  // value of the return statement
  tvms_node *TVMS_NULLABLE partial;   // the function as far as it was read
  bool returned_inside;               // a dataflow block
  tvms_span returned_span;
  bool has_return;
  bool is_private;
  tvms_node_vec outputs;               // of the dataflow block
  TVMS_VEC(tvms_sym) unknown_outputs;  // names among them that have no value; reported
  TVMS_VEC(tvms_relax_suspect) suspects;
  TVMS_VEC(tvms_relax_inner) inner;
  bool gave_up;  // a statement was not read, which may have been the return
} tvms_relax_state;

// Parsed form of a row of ops.def for the dialect being read.
typedef struct tvms_op_signature {
  uint8_t kinds[TVMS_MAX_PARAMS];  // tvms_arg_kind
  int8_t places[TVMS_MAX_PARAMS];  // of the attribute that the parameter sets; -1: none
  const tvms_signature *signature;
} tvms_op_signature;

// What an argument of an operator may be, and what node it becomes: the words of the signature
// in ir/ops.def (parser/relax/signature.c).
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

static inline tvms_eval_value tvms_relax_value_of(uint16_t what, int64_t i) {
  return (tvms_eval_value){.kind = TVMS_EVAL_RELAX, .spare = what, .as.i = i};
}

// The Relax function being read; NULL outside of one.
static inline tvms_relax_state *TVMS_NULLABLE tvms_relax_of(const tvms_reader *reader) {
  return reader->states[TVMS_RELAX_ROOM];
}

// No block is open while a signature is read: text in shapes is an expression there.
static inline bool tvms_relax_in_signature(const tvms_reader *reader) {
  return tvms_relax_of(reader)->builder.open.len == 0;
}

static inline bool tvms_relax_in_dataflow(const tvms_reader *reader) {
  tvms_builder *builder = &tvms_relax_of(reader)->builder;
  return builder->open.len > 0 && tvms_builder_block(builder)->dataflow;
}

#endif
