// The table of TIR operators and the searches in it.
#include "ir/tir_op.h"

#include <criterion/criterion.h>
#include <string.h>

static const tvms_dialect dialects[] = {TVMS_DIALECT_22, TVMS_DIALECT_25,
                                        TVMS_DIALECT_26, TVMS_DIALECT_27};

Test(tir_op, rows_are_sorted_and_found) {
  for (unsigned i = 1; i < TVMS_TIR_COUNT; i++) {
    const tvms_tir_row *row = tvms_tir_op_row_of((tvms_tir_opcode)i);
    if (i > 1) {
      const char *before = tvms_tir_op_row_of((tvms_tir_opcode)(i - 1))->name;
      cr_assert_lt(strcmp(before, row->name), 0, "%s stands before %s", before,
                   row->name);
    }
    cr_assert_eq(tvms_tir_op_find(row->name, strlen(row->name)), i);
  }
}

// Every operator is reached through its spelling, also where operators share one.
Test(tir_op, spellings_reach_their_rows) {
  for (unsigned i = 1; i < TVMS_TIR_COUNT; i++) {
    for (size_t d = 0; d < sizeof dialects / sizeof dialects[0]; d++) {
      const char *text = tvms_tir_op_spelling((tvms_tir_opcode)i, dialects[d]);
      if (!text || !*text) continue;
      tvms_tir_opcode found = TVMS_TIR_NONE;
      do {
        found = tvms_tir_op_spelled(text, strlen(text), dialects[d], found);
      } while (found != TVMS_TIR_NONE && found != i);
      cr_assert_eq(found, i, "'%s' does not lead to %s", text,
                   tvms_tir_op_row_of((tvms_tir_opcode)i)->name);
    }
  }
}

Test(tir_op, prefixes) {
  cr_assert_eq(tvms_tir_op_find("tir.exp", 7), TVMS_TIR_exp);
  cr_assert_eq(tvms_tir_op_find("tirx.exp", 8), TVMS_TIR_exp);
  cr_assert_eq(tvms_tir_op_find("prim.log2", 9), TVMS_TIR_log2);
  cr_assert_eq(tvms_tir_op_find("relax.exp", 9), TVMS_TIR_NONE);
  cr_assert_str_eq(tvms_tir_op_prefix(TVMS_TIR_exp, TVMS_DIALECT_22), "tir.");
  cr_assert_str_eq(tvms_tir_op_prefix(TVMS_TIR_exp, TVMS_DIALECT_27), "tirx.");
  cr_assert_str_eq(tvms_tir_op_prefix(TVMS_TIR_log2, TVMS_DIALECT_26), "tirx.");
  cr_assert_str_eq(tvms_tir_op_prefix(TVMS_TIR_log2, TVMS_DIALECT_27), "prim.");
}

Test(tir_op, spelling_by_dialect) {
  cr_assert_eq(tvms_tir_op_spelled("call_packed", 11, TVMS_DIALECT_22, TVMS_TIR_NONE),
               TVMS_TIR_tvm_call_packed);
  cr_assert_eq(tvms_tir_op_spelled("ptx_mma", 7, TVMS_DIALECT_27, TVMS_TIR_NONE),
               TVMS_TIR_NONE);
  cr_assert_str_eq(tvms_tir_op_spelling(TVMS_TIR_mma_fill, TVMS_DIALECT_22),
                   "mma_fill");
  cr_assert_str_eq(tvms_tir_op_spelling(TVMS_TIR_mma_fill, TVMS_DIALECT_25),
                   "cuda.mma_fill");
  cr_assert_null(tvms_tir_op_spelling(TVMS_TIR_ret, TVMS_DIALECT_27));
  cr_assert_eq(tvms_tir_op_row_of(TVMS_TIR_tvm_struct_get)->location,
               TVMS_LOCATION_LAST);
}
