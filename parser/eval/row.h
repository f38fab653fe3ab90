// Rows of ir/calls.def: what T, R, I and the namespaces below them have.
//
// The table itself stands above the rooms that handle its rows (parser/rows.c); here is
// what they share, and how a row is found.
#ifndef TVMS_PARSER_EVAL_ROW_H
#define TVMS_PARSER_EVAL_ROW_H

#include "grammar/surface.h"
#include "ir/dialect.h"
#include "parser/eval/value.h"

// Namespaces of ir/calls.def.
typedef enum {
  TVMS_NS_NONE,
#define CALL(ns, name, signature, since, until, handler)
#define NAMESPACE(ident, path) TVMS_NS_##ident,
#include "ir/calls.def"
} tvms_namespace;

// The arguments of a call, bound to the parameters of a row: `args[i]` is parameter i, its
// default if the call does not give it; the rest parameters hold a TUPLE (*args) and a
// DICT (**kwargs). `refs[i]` is the place of the argument, or of the call.
typedef struct tvms_call_args {
  const tvms_row *row;
  const struct tvms_signature *TVMS_NULLABLE signature;  // of the row; NULL: of a VALUE
  tvms_ref ref;                                          // the CALL node
  const tvms_eval_value *args;
  const tvms_ref *refs;
  uint64_t given;        // bit i: parameter i was given by the call
  tvms_namespace scope;  // of a tile primitive: T.warp.copy
} tvms_call_args;

typedef tvms_eval_value tvms_handler(tvms_reader *reader, const tvms_call_args *call);

typedef enum {
  TVMS_ROW_CALL,
  TVMS_ROW_VALUE,      // its handler makes the value
  TVMS_ROW_NAMESPACE,  // rule: tvms_namespace
  TVMS_ROW_DTYPE,      // op: code, rule: bits
} tvms_row_kind;

// What others than its handler ask of a row; see ir/calls.def.
typedef enum {
  TVMS_TRAIT_DROPS_DTYPE = 1,
  TVMS_TRAIT_REGIONS = 2,
  TVMS_TRAIT_LOOP = 4,
  TVMS_TRAIT_DEVICE = 8,
  TVMS_TRAIT_SCOPED = 16,
  TVMS_TRAIT_CLASS = 32,
} tvms_trait;

// One row of ir/calls.def.
struct tvms_row {
  uint8_t namespace_;
  uint8_t kind;   // tvms_row_kind
  uint8_t since;  // tvms_dialect, first that has it
  uint8_t until;  // last that has it
  tvms_sym name;
  const char *signature;  // "start, stop=None, *, annotations=None"; CALL only
  tvms_handler *handler;
  uint32_t op;     // tvms_tir_opcode of the operator that it builds, or 0
  uint8_t rule;    // tvms_rule for the dtype of that call (parser/tir/rule.h)
  uint8_t traits;  // of tvms_trait
  uint16_t index;  // of the row in its table, from 1
};

// One more than the greatest index of a row.
enum {
  TVMS_ROW_COUNT = 1
#define CALL(ns, name, signature, since, until, handler) +1
#define ALSO(ns, name, signature, since, until, handler) +1
#define SUBSPACE(ns, name, ident, since, until)          +1
#define DTYPE(ns, name, code, bits, since, until)        +1
#include "ir/calls.def"
};

// Handlers, one for each name in the handler column; each room defines its own.
#define CALL(ns, name, signature, since, until, handler)                               \
  tvms_handler tvms_call_##handler;
#define ALSO(ns, name, signature, since, until, handler)                               \
  tvms_handler tvms_call_##handler;
#include "ir/calls.def"

// The row that `namespace_` has under `name` in the dialect being read, or NULL.
const tvms_row *TVMS_NULLABLE tvms_row_find(const tvms_reader *reader,
                                            tvms_namespace namespace_, tvms_sym name);

// True if `row` has any of the traits.
static inline bool tvms_row_has(const tvms_row *row, unsigned traits) {
  return (row->traits & traits) != 0;
}

// Full name of a row for messages: "T.axis.spatial".
const char *tvms_row_text(tvms_reader *reader, const tvms_row *row);

// The path of a namespace as it is written: "T.axis"; "" for none.
const char *tvms_namespace_text(tvms_namespace namespace_);

#endif
