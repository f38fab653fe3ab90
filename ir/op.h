// Operators of Relax: what ir/ops.def says, found by opcode and by name.
#ifndef TVMS_IR_OP_H
#define TVMS_IR_OP_H

#include "ir/attrs.h"

// Opcodes; the numbers follow the order of the table. An OPERATOR node of Relax has one of
// them as `opcode` and "relax.<name>" as `name`.
typedef enum {
  TVMS_R_NONE,
#define OP(ident, ...) TVMS_R_##ident,
#include "ir/ops.def"
} tvms_opcode;

enum {
  TVMS_OP_COUNT = 0
#define OP(ident, ...) +1
#include "ir/ops.def"
};

typedef struct {
  const char *name;  // "nn.relu": without "relax."
  uint16_t schema;   // tvms_schema_id
  bool pure;
  uint8_t since;  // tvms_dialect
  const char *signature;
  const char *doc;
} tvms_op;

// The row of an opcode from 1 to TVMS_OP_COUNT.
const tvms_op *tvms_op_of(tvms_opcode opcode);

// Does this release have the operator?
static inline bool tvms_op_in(tvms_opcode opcode, tvms_dialect dialect) {
  return tvms_release_rows(dialect) >= (tvms_dialect)tvms_op_of(opcode)->since;
}

// Registry name of an opcode as a symbol: that of "relax.nn.relu".
tvms_sym tvms_op_symbol(tvms_opcode opcode);

// The opcode of a registry name, or TVMS_R_NONE if it names no operator of Relax.
tvms_opcode tvms_op_find(tvms_sym registry_name);

// As tvms_op_find for a name as it stands after R: "nn.relu".
tvms_opcode tvms_op_spelled(const tvms_context *context, const char *name, size_t len);

// The opcode of the operator of Relax that a call calls, or TVMS_R_NONE.
tvms_opcode tvms_op_called(const tvms_node *call);

// A new OPERATOR node.
tvms_node *tvms_op_operator_new(tvms_unit *unit, tvms_opcode opcode);

// The schema of an operator's attributes.
static inline const tvms_attr_schema *tvms_op_schema(tvms_opcode opcode) {
  return tvms_attr_schema_of((tvms_schema_id)tvms_op_of(opcode)->schema);
}

#endif
