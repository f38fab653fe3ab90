// Rows of ir/calls.def: what the namespaces of the script have.
//
// The table itself stands above the rooms that handle its rows (parser/rows.c); here is
// what they share, and how a row is found. What else a room knows of a row is in a table of
// its own by the number of the row, not here.
#ifndef TVMS_PARSER_EVAL_ROW_H
#define TVMS_PARSER_EVAL_ROW_H

#include "grammar/surface.h"
#include "ir/calls.h"
#include "ir/dialect.h"
#include "parser/eval/value.h"

// The arguments of a call, bound to the parameters of a row: `args[i]` is parameter i, its
// default if the call does not give it; the rest parameters hold a TUPLE (*args) and a
// DICT (**kwargs). `refs[i]` is the place of the argument, or of the call.
typedef struct tvms_call_args {
  const tvms_row *row;
  const struct tvms_signature *TVMS_NULLABLE signature;  // of the row; NULL: of a VALUE
  tvms_ref ref;                                          // the CALL node
  const tvms_eval_value *args;
  const tvms_ref *refs;
  uint64_t given;  // bit i: parameter i was given by the call
  uint16_t spare;  // of the callee: what the room that made it says of it
} tvms_call_args;

typedef tvms_eval_value tvms_handler(tvms_reader *reader, const tvms_call_args *call);

typedef enum {
  TVMS_ROW_CALL,
  TVMS_ROW_VALUE,      // its handler makes the value
  TVMS_ROW_NAMESPACE,  // leads to another namespace
  TVMS_ROW_DTYPE,      // names a data type
} tvms_row_kind;

// One row of ir/calls.def.
struct tvms_row {
  uint8_t namespace_;
  uint8_t kind;   // tvms_row_kind
  uint8_t since;  // tvms_dialect, first that has it
  uint8_t until;  // last that has it
  tvms_sym name;
  const char *signature;  // "start, stop=None, *, annotations=None"; CALL only
  tvms_handler *handler;
  tvms_dtype dtype;  // DTYPE: the type that it names
  uint8_t below;     // NAMESPACE: tvms_namespace that it leads to
  uint8_t traits;    // of tvms_trait
  uint16_t index;    // of the row in its table, TVMS_ENTRY_…
};

// The row that `namespace_` has under `name` in the dialect being read, or NULL.
const tvms_row *TVMS_NULLABLE tvms_row_find(const tvms_reader *reader,
                                            tvms_namespace namespace_, tvms_sym name);

// True if `row` has any of the traits.
static inline bool tvms_row_has(const tvms_row *row, unsigned traits) {
  return (row->traits & traits) != 0;
}

// Full name of a row for messages: "T.axis.spatial".
const char *tvms_row_text(tvms_reader *reader, const tvms_row *row);

#endif
