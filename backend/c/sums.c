// Indices as sums.
#include "backend/c/sums.h"

#include "ir/build.h"

enum { DEEPEST = 16 };

static bool divided(tvms_node_kind kind, int64_t a, int64_t b, int64_t *value) {
  if (b <= 0) return false;
  bool modulo = kind == TVMS_NODE_MOD || kind == TVMS_NODE_FLOOR_MOD;
  bool floors = kind == TVMS_NODE_FLOOR_DIV || kind == TVMS_NODE_FLOOR_MOD;
  bool below = floors && a % b < 0;
  *value = modulo ? a % b + (below ? b : 0) : a / b - below;
  return true;
}

static bool number_of(const tvms_node *node, uint32_t depth, int64_t *value) {
  if (tvms_node_is_int_imm(node)) {
    *value = tvms_as_int_imm(node)->value;
    return true;
  }
  int64_t a, b;
  if (depth == DEEPEST || !tvms_node_is_binary(node)
      || !number_of(tvms_as_binary(node)->a, depth + 1, &a)
      || !number_of(tvms_as_binary(node)->b, depth + 1, &b))
    return false;
  switch ((int)node->kind) {
  case TVMS_NODE_ADD: return !__builtin_add_overflow(a, b, value);
  case TVMS_NODE_SUB: return !__builtin_sub_overflow(a, b, value);
  case TVMS_NODE_MUL: return !__builtin_mul_overflow(a, b, value);
  case TVMS_NODE_DIV:
  case TVMS_NODE_MOD:
  case TVMS_NODE_FLOOR_DIV:
  case TVMS_NODE_FLOOR_MOD: return divided((tvms_node_kind)node->kind, a, b, value);
  default: return false;
  }
}

bool tvms_c_number(const tvms_node *node, int64_t *value) {
  return number_of(node, 0, value);
}

static bool add_number(c_sum *sum, int64_t number, bool minus) {
  return minus ? !__builtin_sub_overflow(sum->number, number, &sum->number)
               : !__builtin_add_overflow(sum->number, number, &sum->number);
}

// Of 32 bits a difference of terms might leave their range in another order.
static bool add(c_sum *sum, const tvms_node *node, uint32_t depth, bool minus) {
  int64_t number;
  if (number_of(node, depth, &number)) return add_number(sum, number, minus);
  bool deep = depth < DEEPEST, takes = node->kind == TVMS_NODE_SUB;
  if (deep && (node->kind == TVMS_NODE_ADD || takes)) {
    const tvms_binary *sides = tvms_as_binary(node);
    if (!takes || node->dtype.bits == 64 || number_of(sides->b, depth, &number))
      return add(sum, sides->a, depth + 1, minus)
             && add(sum, sides->b, depth + 1, minus != takes);
  }
  if (sum->count == C_MOST_TERMS) return false;
  sum->minus[sum->count] = minus;
  sum->terms[sum->count++] = node;
  return true;
}

bool tvms_c_sum_add(c_sum *sum, const tvms_node *index) {
  bool wraps = index->dtype.code != TVMS_INT || index->dtype.bits < 32;
  return !wraps && add(sum, index, 0, false);
}
