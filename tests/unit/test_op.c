// The tables of Relax operators and their attributes.
#include "ir/op.h"
#include "support/names.h"

#include <criterion/criterion.h>
#include <string.h>

Test(op, every_operator_is_found_by_name_and_symbol) {
  tvms_context context;
  tvms_context_init(&context, &tvms_names);
  for (uint32_t i = 1; i <= TVMS_OP_COUNT; i++) {
    const tvms_op *op = tvms_op_of((tvms_opcode)i);
    cr_assert_eq(tvms_op_spelled(&context, op->name, strlen(op->name)), i, "%s",
                 op->name);
    cr_assert_eq(tvms_op_find(tvms_op_symbol((tvms_opcode)i)), i);
    cr_assert_str_eq(tvms_symbol_text(&context, tvms_op_symbol((tvms_opcode)i)) + 6,
                     op->name);
  }
  cr_assert_eq(tvms_op_spelled(&context, "nn.rleu", 7), TVMS_R_NONE);
  cr_assert_eq(tvms_op_find(TVMS_SYM_main), TVMS_R_NONE);
  tvms_context_fini(&context);
}

// A sentence begins with a capital and ends with a stop.
Test(op, every_operator_has_a_sentence) {
  for (uint32_t i = 1; i <= TVMS_OP_COUNT; i++) {
    const tvms_op *op = tvms_op_of((tvms_opcode)i);
    size_t len = strlen(op->doc);
    cr_assert_gt(len, 3, "%s", op->name);
    cr_assert(op->doc[0] >= 'A' && op->doc[0] <= 'Z', "%s", op->name);
    cr_assert_eq(op->doc[len - 1], '.', "%s", op->name);
  }
}

Test(op, attributes_by_name_and_release) {
  const tvms_attr_schema *schema = tvms_op_schema(TVMS_R_hint_on_device);
  int scope = tvms_attr_find(schema, "memory_scope", 12);
  cr_assert_eq(scope, TVMS_ATTR_hint_on_device_memory_scope);
  cr_assert_not(tvms_attr_in(&schema->rows[scope], TVMS_DIALECT_22));
  cr_assert(tvms_attr_in(&schema->rows[scope], TVMS_DIALECT_25));
  const tvms_attr_schema *layout = tvms_op_schema(TVMS_R_layout_transform);
  int separators = tvms_attr_find(layout, "axis_separators", 15);
  cr_assert(tvms_attr_in(&layout->rows[separators], TVMS_DIALECT_25));
  cr_assert_not(tvms_attr_in(&layout->rows[separators], TVMS_DIALECT_26));
  cr_assert_eq(tvms_attr_find(layout, "axes", 4), -1);
}
