// Values of the evaluation.
//
// A value that is unknown is silent: either its cause has been reported, or it is a name
// that Python binds around the definition and we cannot see. Whatever is built on it is
// unknown too, and nothing is reported about it.
#ifndef TVMS_PARSER_EVAL_VALUE_H
#define TVMS_PARSER_EVAL_VALUE_H

#include "ir/node.h"
#include "support/names.h"
#include "support/vec.h"

typedef struct tvms_reader tvms_reader;
typedef struct tvms_eval_value tvms_eval_value;
typedef struct tvms_row tvms_row;

// What as.<member> of parser/eval/values.def holds, where the kind does not say it:
//   BOOL       0 or 1
//   INT        flag LARGE: an uint64 past INT64_MAX, its bits
//   DTYPE      a data type as an object, `A.dtype`; compares equal to its text
//   SET        items without repetition
//   DICT       key, value, key, value …
//   RANGE      start, stop, step, all INT
//   SLICE      lower, upper, step; NONE where not given
//   MACRO      flag INLINE: T.inline, else T.macro or R.macro
//   NODE       a value, buffer, region, StructInfo or object of the IR
//   DTYPE_NAME T.int32 as a callable
//   NAMESPACE  tvms_namespace
//   BUILTIN    a function of Python (builtin.c)
//   OPERATOR   an operator of TIR by its spelling below T, "ptx.cp_async"
//   METHOD     a receiver and a name
//   FRAME      not yet opened; see parser/tir/tir.h
//   META       [0]: what T.meta_var or I.meta_var was given
//   LET        [0]: T.let[x]; len 0: T.let
//   VECTOR     the DTYPE_NAME, then the extents: T.float32[4]
//   OPTIONAL   [0]: T.Optional(x)
//   MODULE     nothing: the class that is being read; its attributes are functions
//   TYPE_VAR   TypeVar("n"), module or PEP 695
//   LAYOUT     a spec that is not finished yet, T.S[…] + T.R[…]
//   AXIS       Axis.laneid
//   PYTHON     a dotted name of Python, "tvm.tir"
//   RELAX      what only parser/relax understands; `spare` tells it apart
//   PTX        T.ptx.SINK (none), T.ptx.pred(x), T.ptx.addr(x, n)
//   STORED     an object of the metadata section; parser/metadata.h
typedef enum {
#define VALUE(kind, member, text, ops) TVMS_EVAL_##kind,
#include "parser/eval/values.def"
} tvms_eval_kind;

enum {
  TVMS_EVAL_COUNT = 0
#define VALUE(kind, member, text, ops) +1
#include "parser/eval/values.def"
};

enum {
  TVMS_EVAL_LARGE = 1,     // INT
  TVMS_EVAL_INLINE = 2,    // MACRO
  TVMS_EVAL_HYGIENIC = 4,  // MACRO
  TVMS_EVAL_SCALAR = 8,    // NODE: a load that stands for a mutable scalar
  TVMS_EVAL_EQUALITY = 16,  // NODE: `a == b` or `a != b` of Python, which has a truth …
  TVMS_EVAL_ARRAY =
      128,  // LIST, TUPLE: an array of TVM, which one name cannot stand for
  TVMS_EVAL_WHOLE = 64,  // NODE: `x.buffer`, the buffer and not its one element
  TVMS_EVAL_SAME = 32,  // … namely whether the operands are the same (are not, for !=)
};

typedef struct {
  tvms_eval_value *items;
  uint32_t len;
} tvms_eval_items;

typedef struct tvms_closure tvms_closure;  // parser/eval/closure.h
typedef struct tvms_frame tvms_frame;      // parser/tir/tir.h
typedef struct tvms_layout_spec tvms_layout_spec;
typedef struct tvms_stored tvms_stored;  // parser/metadata.c
typedef struct {
  tvms_eval_value *receiver;
  tvms_sym name;
} tvms_method;

struct tvms_eval_value {
  uint8_t kind;  // tvms_eval_kind
  uint8_t flags;
  uint16_t spare;
  uint32_t len;  // of items and text
  union {
    int64_t i;
    double f;
    const char *text;
    tvms_dtype dtype;
    tvms_eval_value *items;
    tvms_node *node;
    tvms_sym sym;
    const tvms_row *row;
    const tvms_closure *closure;
    tvms_method *method;
    tvms_frame *frame;
    tvms_layout_spec *layout;
    tvms_stored *stored;
  } as;
};

_Static_assert(sizeof(tvms_eval_value) == 16, "values are passed in two registers");

#define TVMS_UNKNOWN ((tvms_eval_value){.kind = TVMS_EVAL_UNKNOWN})
#define TVMS_NOTHING ((tvms_eval_value){.kind = TVMS_EVAL_NONE})

static inline tvms_eval_value tvms_eval_value_int(int64_t i) {
  return (tvms_eval_value){.kind = TVMS_EVAL_INT, .as.i = i};
}
static inline tvms_eval_value tvms_eval_value_bool(bool b) {
  return (tvms_eval_value){.kind = TVMS_EVAL_BOOL, .as.i = b};
}
static inline tvms_eval_value tvms_eval_value_float(double f) {
  return (tvms_eval_value){.kind = TVMS_EVAL_FLOAT, .as.f = f};
}
static inline tvms_eval_value tvms_eval_value_text(const char *text, uint32_t len) {
  return (tvms_eval_value){.kind = TVMS_EVAL_STR, .len = len, .as.text = text};
}
static inline tvms_eval_value tvms_eval_value_dtype(tvms_dtype dtype) {
  return (tvms_eval_value){.kind = TVMS_EVAL_DTYPE, .as.dtype = dtype};
}
// NULL gives the unknown value: whoever returned NULL has reported.
static inline tvms_eval_value tvms_eval_value_node(tvms_node *TVMS_NULLABLE node) {
  if (!node) return TVMS_UNKNOWN;
  return (tvms_eval_value){.kind = TVMS_EVAL_NODE, .as.node = node};
}
static inline tvms_eval_value
tvms_eval_value_items(tvms_eval_kind kind, tvms_eval_value *items, uint32_t len) {
  return (tvms_eval_value){.kind = (uint8_t)kind, .len = len, .as.items = items};
}
static inline bool tvms_eval_value_is(tvms_eval_value value, tvms_eval_kind kind) {
  return value.kind == kind;
}
static inline bool tvms_eval_value_is_known(tvms_eval_value value) {
  return value.kind != TVMS_EVAL_UNKNOWN;
}
static inline bool tvms_eval_value_is_sequence(tvms_eval_value value) {
  return value.kind == TVMS_EVAL_TUPLE || value.kind == TVMS_EVAL_LIST;
}
// The items of a tuple or list, or the value itself as the only one.
static inline tvms_eval_items tvms_eval_items_of(tvms_eval_value *value) {
  if (tvms_eval_value_is_sequence(*value))
    return (tvms_eval_items){value->as.items, value->len};
  return (tvms_eval_items){value, 1};
}
// The node in a value, if it is one of `kind`; else NULL.
static inline tvms_node *TVMS_NULLABLE tvms_eval_value_node_of(tvms_eval_value value,
                                                               tvms_node_kind kind) {
  return value.kind == TVMS_EVAL_NODE && value.as.node->kind == kind ? value.as.node
                                                                     : NULL;
}

typedef TVMS_VEC(tvms_eval_value) tvms_eval_value_vec;

#endif
