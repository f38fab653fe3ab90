// What can be done with a value: one table of functions for each kind.
//
// The evaluation knows the syntax of Python and when each operation is asked for; what it
// means for a value is the business of the room that owns the kind of value. An operation
// that is NULL is one that the value does not have: the evaluation reports that, or does
// what Python does with any object.
//
// Every operation reports what is wrong at `ref` and then returns the unknown value. It is
// never called for an unknown operand, and a value it is given has the kind of its table
// (binary and logical: one of the two has).
#ifndef TVMS_PARSER_EVAL_OPS_H
#define TVMS_PARSER_EVAL_OPS_H

#include "parser/eval/eval.h"
#include "support/strbuf.h"

typedef struct tvms_eval_value_ops {
  // Which operand decides what a binary operator means, as in Python the one that has the
  // method: the one of the higher rank, of equals the left one. Operands with operators of a
  // room have its number as rank; 0: those of Python.
  uint8_t rank;

  // What a name of a body may hold as it is: an assignment builds nothing of it.
  bool held;

  // What it is, for messages. NULL: the text of its row.
  const char *(*describe)(tvms_reader *reader, tvms_eval_value value);

  // What it stands for where `ref`, a NAME or a SUBSCRIPT, mentions it. NULL: itself.
  tvms_eval_value (*mention)(tvms_reader *reader, tvms_eval_value value, tvms_ref ref);

  // `object.name`.
  tvms_eval_value (*attribute)(tvms_reader *reader, tvms_eval_value object,
                               tvms_sym name, tvms_ref ref);

  // `receiver.name(…)`, where `receiver.name` was a METHOD and `call` is the CALL.
  tvms_eval_value (*method)(tvms_reader *reader, tvms_eval_value receiver,
                            tvms_sym name, tvms_ref call);

  // `receiver.name[index]`, where `method`, a METHOD, has the receiver. NULL: methods take
  // no subscripts.
  tvms_eval_value (*subscript_method)(tvms_reader *reader, tvms_eval_value method,
                                      tvms_eval_value index, tvms_ref ref);

  // `callee(…)`.
  tvms_eval_value (*call)(tvms_reader *reader, tvms_eval_value callee, tvms_ref call);

  // `object[index]`.
  tvms_eval_value (*subscript)(tvms_reader *reader, tvms_eval_value object,
                               tvms_eval_value index, tvms_ref ref);

  // For objects that read their index themselves: `ref` is the SUBSCRIPT. False: this one
  // wants its index evaluated.
  bool (*read_subscript)(tvms_reader *reader, tvms_eval_value object, tvms_ref ref,
                         tvms_eval_value *value);

  // `a op b`, comparisons included. NULL: Python's operator on constants.
  tvms_eval_value (*binary)(tvms_reader *reader, tvms_surf_op op, tvms_eval_value a,
                            tvms_eval_value b, tvms_ref ref);

  // `op a`. NULL: Python's.
  tvms_eval_value (*unary)(tvms_reader *reader, tvms_surf_op op, tvms_eval_value a,
                           tvms_ref ref);

  // `a and b`, `a or b`, where `a` does not decide alone. NULL: by the truth of `a`.
  tvms_eval_value (*logical)(tvms_reader *reader, bool is_and, tvms_eval_value a,
                             tvms_eval_value b, tvms_ref ref);

  // `yes if test else no` for a `test` of this kind, which TVM itself evaluates. NULL: by
  // its truth.
  tvms_eval_value (*choose)(tvms_reader *reader, tvms_eval_value test,
                            tvms_eval_value yes, tvms_eval_value no, tvms_ref ref);

  // What it yields, in reader->values. False after a report. NULL: it is not iterable.
  bool (*iterate)(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                  tvms_eval_items *items);

  // Its truth; *known is set to false if that is not known. NULL: true, as of any object.
  bool (*truth)(tvms_eval_value value, bool *known);

  // The constant that it counts as where Python wants one: T.int32(3) is 3. NULL: none.
  tvms_eval_value (*constant)(tvms_eval_value value);

  // Appends str(value). NULL or false: nothing is known about it; not reported.
  bool (*print)(tvms_reader *reader, tvms_strbuf *out, tvms_eval_value value);
} tvms_eval_value_ops;

// The operations of the evaluation's own kinds.
#define VALUE(kind, member, text, ops)                                                 \
  extern const tvms_eval_value_ops tvms_##ops##_ops;
#include "parser/eval/values.def"

// A kind of value: its row, by number.
typedef struct {
  const tvms_eval_value_ops *ops;
  const char *text;  // what it is, for messages
} tvms_eval_kind_row;

// What the rooms above give the evaluation; parser/values.c has that of the reader.
typedef struct tvms_eval_tables {
  tvms_eval_kind_row kinds[TVMS_EVAL_KINDS];
  // The row of a namespace, or NULL (parser/eval/row.h).
  const tvms_row *(*find_row)(tvms_namespace namespace_, tvms_sym name,
                              tvms_dialect dialect);
  // The operations of a TVMS_EVAL_NODE.
  const tvms_eval_value_ops *(*node_ops)(const tvms_node *node);
  // The name of the language ("R.nn.relu") that a word without a namespace stands for in the
  // definition that is read, or NULL.
  const char *TVMS_NULLABLE (*near_name)(tvms_reader *reader, const char *word);
} tvms_eval_tables;

static inline const tvms_eval_value_ops *tvms_eval_ops_of(const tvms_reader *reader,
                                                          tvms_eval_value value) {
  const tvms_eval_tables *tables = reader->tables;
  if (value.kind != TVMS_EVAL_NODE) return tables->kinds[value.kind].ops;
  return tables->node_ops(value.as.node);
}

// What `value` stands for where `ref` mentions it.
static inline tvms_eval_value tvms_eval_mention(tvms_reader *reader,
                                                tvms_eval_value value, tvms_ref ref) {
  const tvms_eval_value_ops *ops = reader->tables->kinds[value.kind].ops;
  return ops->mention ? ops->mention(reader, value, ref) : value;
}

#endif
