// Operators of Relax by opcode and by name.
//
// tools/gen_names.c takes the names of ops.def in one run, so the symbol of an operator
// and its opcode differ by a constant: finding either from the other is a subtraction.
#include "ir/op.h"

#include "support/names.h"

#include <string.h>

enum {
  FIRST_SYMBOL = TVMS_SYM_relax_call_pure_packed,
  LONGEST_NAME = 64,
};

#define PURITY_PURE   true
#define PURITY_IMPURE false

static const tvms_op ops[] = {
#define OP(ident, name, schema, bind, signature, infer, purity, legalize, since, doc)  \
  [TVMS_R_##ident] = {                                                                 \
      name, TVMS_SCHEMA_##schema, PURITY_##purity, TVMS_DIALECT_##since, signature,    \
      doc},
#include "ir/ops.def"
};

#define OP(ident, ...)                                                                 \
  _Static_assert(TVMS_SYM_relax_##ident - FIRST_SYMBOL + 1 == TVMS_R_##ident,          \
                 "names of operators stand together in gen_names");
#include "ir/ops.def"

const tvms_op *tvms_op_of(tvms_opcode opcode) {
  TVMS_CHECK(opcode > TVMS_R_NONE && (uint32_t)opcode <= TVMS_OP_COUNT);
  return &ops[opcode];
}

tvms_sym tvms_op_symbol(tvms_opcode opcode) {
  return FIRST_SYMBOL + (tvms_sym)opcode - 1;
}

tvms_opcode tvms_op_find(tvms_sym registry_name) {
  if (registry_name < FIRST_SYMBOL || registry_name >= FIRST_SYMBOL + TVMS_OP_COUNT) {
    return TVMS_R_NONE;
  }
  return (tvms_opcode)(registry_name - FIRST_SYMBOL + 1);
}

tvms_opcode tvms_op_spelled(const tvms_context *context, const char *name, size_t len) {
  static const char prefix[] = "relax.";
  char text[LONGEST_NAME];
  if (len + sizeof prefix > sizeof text) return TVMS_R_NONE;
  memcpy(text, prefix, sizeof prefix - 1);
  memcpy(text + sizeof prefix - 1, name, len);
  return tvms_op_find(
      tvms_interner_find(&context->names, text, len + sizeof prefix - 1));
}

tvms_opcode tvms_op_called(const tvms_node *call) {
  if (call->kind != TVMS_NODE_CALL) return TVMS_R_NONE;
  const tvms_node *callee = tvms_as_call(call)->callee;
  if (callee->kind != TVMS_NODE_OPERATOR) return TVMS_R_NONE;
  return tvms_op_find(tvms_as_operator(callee)->name);
}

tvms_node *tvms_op_operator_new(tvms_unit *unit, tvms_opcode opcode) {
  tvms_operator *operator= tvms_node_make(unit, OPERATOR, ((tvms_span){0, 0}));
  operator->opcode = opcode;
  operator->name = tvms_op_symbol(opcode);
  return &operator->head;
}
