// How much a value holds.
//
// Who goes through a value (text of it, equality, a copy) visits a list as often as it stands in
// others, so a few lines can make a value that nobody gets to the end of. What each one holds is
// known from its items when it is made, and evaluation refuses too much (tvms_eval_may_hold).
// A uint16_t has it as a number of DIGITS bits and an exponent.
#include "parser/eval/value.h"

enum { DIGITS = 10, EXACT = 2 << DIGITS };

static uint16_t pack(uint64_t count) {
  if (count < EXACT) return (uint16_t)count;
  int exponent = 63 - __builtin_clzll(count) - DIGITS;
  uint64_t digits = (count >> exponent) - (1 << DIGITS);
  return (uint16_t)(EXACT + ((uint64_t)(exponent - 1) << DIGITS) + digits);
}

static uint64_t unpack(uint16_t packed) {
  if (packed < EXACT) return packed;
  int exponent = ((packed - EXACT) >> DIGITS) + 1;
  uint64_t digits = (packed - EXACT) & ((1 << DIGITS) - 1);
  return ((1u << DIGITS) + digits) << exponent;
}

uint64_t tvms_eval_value_parts(tvms_eval_value value) {
  switch (value.kind) {
  case TVMS_EVAL_TUPLE:
  case TVMS_EVAL_LIST:
  case TVMS_EVAL_SET:
  case TVMS_EVAL_DICT: return unpack(value.spare);
  default: return 1;
  }
}

tvms_eval_value tvms_eval_value_items(unsigned kind, tvms_eval_value *items,
                                      uint32_t len) {
  static const uint64_t most = UINT64_MAX >> 2;
  uint64_t parts = 1;
  for (uint32_t i = 0; i < len && parts < most; i++) {
    parts += tvms_eval_value_parts(items[i]);
  }
  if (parts > most) parts = most;
  return (tvms_eval_value){
      .kind = (uint8_t)kind, .spare = pack(parts), .len = len, .as.items = items};
}
