// Divisions of integers by numbers, which emitters write as products.
#include "backend/core/division.h"

#include "ir/build.h"

// 2^power / by, digit by digit; it is below 2^64.
static uint64_t quotient_of_power(int power, uint64_t by) {
  uint64_t quotient = 0, rest = 1;
  for (int i = 0; i < power; i++) {
    bool more = rest >= by - rest;
    rest = more ? rest - (by - rest) : 2 * rest;
    quotient = 2 * quotient + more;
  }
  return quotient;
}

// The divisor, if it is such a number; else 0.
static uint64_t divisor_of(const tvms_node *node) {
  enum { FEWEST_LANES = 4 };
  const tvms_node *divisor = tvms_as_binary(node)->b;
  bool wide = node->dtype.code == TVMS_INT && node->dtype.bits == 64;
  if (!wide || node->dtype.lanes < FEWEST_LANES) return 0;
  if (divisor->kind != TVMS_NODE_BROADCAST) return 0;
  divisor = tvms_as_broadcast(divisor)->value;
  if (divisor->kind != TVMS_NODE_INT_IMM) return 0;
  int64_t by = tvms_as_int_imm(divisor)->value;
  return by > 2 && (by & (by - 1)) ? (uint64_t)by : 0;
}

// The factor is the least number not below 2^(63 + bits) / by, where the divisor has so many bits.
bool tvms_division_read(const tvms_node *node, tvms_division *division) {
  uint64_t by = divisor_of(node);
  if (!by) return false;
  int bits = 64 - __builtin_clzll(by);
  *division = (tvms_division){quotient_of_power(63 + bits, by) + 1, bits - 1};
  return true;
}
