// Operators of TIR: what ir/tir_ops.def says, found by opcode, by name and by spelling.
#ifndef TVMS_IR_TIR_OP_H
#define TVMS_IR_TIR_OP_H

#include "ir/dialect.h"
#include "support/base.h"

// 0 is not an operator; the numbers follow the order of the table.
typedef enum {
  TVMS_TIR_NONE,
#define TIR_OP(ident, ...) TVMS_TIR_##ident,
#include "ir/tir_ops.def"
  TVMS_TIR_COUNT,
} tvms_tir_opcode;

// Where a call prints its result dtype among its arguments.
typedef enum {
  TVMS_LOCATION_NONE,
  TVMS_LOCATION_FIRST,
  TVMS_LOCATION_LAST,
} tvms_dtype_location;

// What a call does, in TVM's order of growing harm.
typedef enum {
  TVMS_EFFECT_ANNOTATION,  // the identity of its argument
  TVMS_EFFECT_PURE,
  TVMS_EFFECT_READ,      // may read state
  TVMS_EFFECT_UPDATE,    // may read and write state
  TVMS_EFFECT_ARGUMENT,  // stands only as an argument of another call
  TVMS_EFFECT_EMBED,     // carries information, is never executed
  TVMS_EFFECT_JUMP,      // changes the flow of control
} tvms_effect;

typedef struct {
  const char *name;  // without "tir.", "tirx." or "prim."
  bool prim;         // its prefix is "prim." where TVMS_FACT_math_is_prim
  uint8_t location;  // tvms_dtype_location
  uint8_t effect;    // tvms_effect
  int8_t inputs;     // -1: any number
  // Spellings under T, by age; a `text` holds until the next one. "" has none, NULL: no
  // such operator, as before the first one. Unused places are empty. See
  // tvms_tir_op_spelling.
  struct {
    const char *TVMS_NULLABLE text;
    uint8_t since;  // tvms_dialect, one that is written
  } spellings[4];
} tvms_tir_row;

// The row of an opcode other than TVMS_TIR_NONE.
const tvms_tir_row *tvms_tir_op_row_of(tvms_tir_opcode opcode);

// The operator with this registry name, with or without a prefix ("exp", "tir.exp",
// "tirx.exp", "prim.log2"), or TVMS_TIR_NONE.
tvms_tir_opcode tvms_tir_op_find(const char *name, size_t len);

// The first operator that `dialect` spells so under T ("exp", "ptx.cp_async"), or
// TVMS_TIR_NONE. From `after` on, for spellings that several operators share: pass
// TVMS_TIR_NONE first, then the last result. The prototype spells as 0.22, 0.24 as 0.25.
tvms_tir_opcode tvms_tir_op_spelled(const char *text, size_t len, tvms_dialect dialect,
                                    tvms_tir_opcode after);

// How `dialect` spells an operator under T; "" if it has no name there, NULL if that
// generation does not have the operator.
const char *TVMS_NULLABLE tvms_tir_op_spelling(tvms_tir_opcode opcode,
                                               tvms_dialect dialect);

// The operator of `dialect` that does what `opcode` does in release `from`, with the same
// arguments: where releases renamed one, or gave a classic name to another one
// (ir/tir_renamed.def). Otherwise `opcode` itself.
tvms_tir_opcode tvms_tir_op_same(tvms_tir_opcode opcode, tvms_dialect from,
                                 tvms_dialect dialect);

// Is it an instruction of PTX as 0.27 has them (ir/device/ptx.def)? Older releases may have an
// operator of the same name, whose arguments are others.
bool tvms_tir_op_is_instruction(tvms_tir_opcode opcode);

// Text of the arguments that `dialect` has after the `inputs` ones of an older call, or
// NULL if it has no more.
const char *TVMS_NULLABLE tvms_tir_op_more(tvms_tir_opcode opcode, uint32_t inputs,
                                           tvms_dialect dialect);

// The other way round: a call with `inputs` arguments has surplus ones in release
// `dialect`, which reads `*kept` of them. Returns what the others must be, or NULL.
const char *TVMS_NULLABLE tvms_tir_op_surplus(tvms_tir_opcode opcode, uint32_t inputs,
                                              tvms_dialect dialect, uint32_t *kept);

// "tir.", "tirx." or "prim.": what stands before the registry name in `dialect`.
const char *tvms_tir_op_prefix(tvms_tir_opcode opcode, tvms_dialect dialect);

#endif
