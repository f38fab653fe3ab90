// Values: what an expression of the text is worth while a program is read.
//
// TVM reads TVMScript by evaluating it: `T.grid(n, 4)`, `A.shape[0] // 2` and
// `[f(i) for i in range(3)]` are expressions of Python whose values are Python's objects,
// and only what a statement makes of the last one becomes IR. tvms runs no Python, so it has
// a value for each kind of object that a program can hold: Python's own constants, the
// callables and types of the script, pieces that are not IR yet, and nodes of the IR. Each
// room has a table of its kinds; parser/eval/values.def is that of the evaluation.
//
// What holds for every value:
//
// - `kind` alone says which member of `as` is valid; its table names it. `len` counts the
//   items, or the bytes of a text; it is 0 for other members, but for kinds whose room says
//   otherwise. `spare` belongs to the room of the kind; two values are never told apart by it
//   outside of that room. Of tuples, lists, sets and dicts it is how much they hold
//   (tvms_eval_value_parts).
// - `flags` belong to kinds, too (see below). But for LARGE they say how a value was made and
//   not what it is: equality does not look at them, and whatever is built from it has none.
// - A value is copied freely: 16 bytes, and what it points to does not change once it is
//   shared. Lists, too: nothing in TVMScript changes a list in place, `append` does not exist.
//   (Whoever makes items fills them in first. `sorted` and `set` work on copies of theirs.)
// - What it points to lives in reader->values until the function that is read ends, or in
//   reader->kept as long as the reader (closures, rows, metadata); nodes live in the unit of
//   the function, symbols in the context. No value owns anything, and none is freed. A value
//   that outlives its function, as the binding of a name around it, points to none of its
//   memory: file and class level are evaluated outside of functions.
// - A text has `len` bytes of UTF-8 and a NUL behind them; it may hold NULs itself. Its items
//   are characters (parser/eval/subscript.c).
// - Integers are those between -2**63 and 2**64 - 1; past INT64_MAX, `i` has the bits of the
//   uint64 and the flag LARGE is set, and only then.
//
// The unknown value is silent. Either its cause has been reported, or it is a name that Python
// binds around the definition and we cannot see. Whatever is built on it is unknown too, and
// nothing is reported about it; so one mistake is one diagnostic. It is neither true nor
// false, and none of its operations is called. Who returns it has said why, or
// has it from someone else. What a definition cannot be built without returns
// tvms_reader_failed(), which marks it as one that is not built.
//
// Example: in `B[vi] = T.max(A[vi] * 2, 0)` of a PrimFunc
//
//   T          NAMESPACE   i = TVMS_NS_T
//   T.max      CALLABLE    row of ir/calls.def
//   A, vi      NODE        BUFFER, VAR: what the scopes bind
//   A[vi]      NODE        BUFFER_LOAD, from `subscript` of buffers
//   2, 0       INT         i = 2, 0; they are no IR yet: beside float32 they become float32
//   A[vi] * 2  NODE        MUL, from `binary` of expressions, because that ranks above INT
//   T.max(…)   NODE        MAX; the statement stores it
//
// The source of the rules: what Python's own objects do is CPython (tests/eval_cases.py); in
// which order parts are evaluated and what TVM overloads is ExprEvaluator of
// python/tvm/script/parser/core/evaluator.py and the operators of TIR in
// python/tvm/tirx/script/parser/operation.py, in each release.
#ifndef TVMS_PARSER_EVAL_VALUE_H
#define TVMS_PARSER_EVAL_VALUE_H

#include "ir/node.h"
#include "support/names.h"
#include "support/vec.h"

typedef struct tvms_reader tvms_reader;
typedef struct tvms_eval_value tvms_eval_value;
typedef struct tvms_row tvms_row;

// Rooms. The evaluation works for rooms that it does not know: TIR, Relax and what else the
// reader has. Each has a number from 1 on, by which it finds its own things: a slot for its
// state in the reader (parser/eval/eval.h), a range of kinds of values, and a place among
// those whose operators decide (parser/eval/ops.h).
enum {
  TVMS_EVAL_ROOMS = 8,        // numbers of rooms; 0 is the evaluation itself
  TVMS_EVAL_ROOM_KINDS = 32,  // kinds of values that a room may have
  TVMS_EVAL_KINDS = TVMS_EVAL_ROOMS * TVMS_EVAL_ROOM_KINDS,
};

// The first kind of value that room number `room` may have.
#define TVMS_EVAL_KINDS_OF(room) ((room)*TVMS_EVAL_ROOM_KINDS)

// The kinds of the evaluation itself.
typedef enum {
#define VALUE(kind, member, text, ops) TVMS_EVAL_##kind,
#define OPEN(kind, member)             TVMS_EVAL_##kind,
#include "parser/eval/values.def"
  TVMS_EVAL_OWN_KINDS,
} tvms_eval_kind;

_Static_assert((int)TVMS_EVAL_OWN_KINDS <= TVMS_EVAL_ROOM_KINDS,
               "they have numbers of their own");
_Static_assert(TVMS_EVAL_KINDS <= UINT8_MAX + 1, "a kind is a byte");

enum {
  TVMS_EVAL_OF_PYTHON = 1,  // UNKNOWN (parser/eval/assume.h)
  TVMS_EVAL_OF_CLASS = 2,   // UNKNOWN (parser/eval/class.h)
  TVMS_EVAL_LARGE = 1,      // INT
  TVMS_EVAL_SETTLED = 1,   // of items: tvms_eval_assume_of_python has been through them
  TVMS_EVAL_INLINE = 2,    // MACRO
  TVMS_EVAL_HYGIENIC = 4,  // MACRO
  TVMS_EVAL_ROOM_FLAG = 8,  // this and the greater ones are for the rooms above
};

typedef struct {
  tvms_eval_value *items;
  uint32_t len;
} tvms_eval_items;

typedef struct tvms_closure tvms_closure;  // parser/eval/closure.h
typedef struct {
  tvms_eval_value *receiver;
  tvms_sym name;
} tvms_method;

struct tvms_eval_value {
  uint8_t kind;    // tvms_eval_kind, or of a room above
  uint8_t flags;   // of the kind
  uint16_t spare;  // of the room of the kind
  uint32_t len;    // of items and text
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
    void *object;  // of the room of the kind
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
// `items`, which are filled in, as a value of one of the kinds that have items.
tvms_eval_value tvms_eval_value_items(unsigned kind, tvms_eval_value *items,
                                      uint32_t len);
// How many values there are in `value`, those in its items and itself included, as often as
// they stand there: 2**61 and more after 60 lines of `X = (X, X)`. About as many: exact up to
// 2048, then to three digits.
uint64_t tvms_eval_value_parts(tvms_eval_value value);
static inline bool tvms_eval_value_is(tvms_eval_value value, unsigned kind) {
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
