// Division of integers in C text: quotients and remainders, truncated or rounded down.
#include "backend/c/division.h"

#include "backend/c/vector.h"
#include "backend/core/division.h"
#include "ir/build.h"

void tvms_c_check_divisor(c_emitter *e, const tvms_node *divisor, const char *b) {
  int64_t value;
  if (tvms_node_int_in_lanes(divisor, &value) && value) return;
  for (int k = 0; k < divisor->dtype.lanes; k++) {
    const char *item = divisor->dtype.lanes > 1 ? tvms_c_text(e, "%s[%d]", b, k) : b;
    tvms_c_check(e, tvms_c_text(e, "%s != 0", item), "ZeroDivisionError",
                 "division by zero", divisor->span);
  }
}

static bool is_modulo(const tvms_node *node) {
  return node->kind == TVMS_NODE_MOD || node->kind == TVMS_NODE_FLOOR_MOD;
}

static bool is_floor(const tvms_node *node) {
  return node->kind == TVMS_NODE_FLOOR_DIV || node->kind == TVMS_NODE_FLOOR_MOD;
}

// By a positive constant the machine's own division does.
const char *tvms_c_divide(c_emitter *e, const tvms_node *node, const char *a,
                          const char *b) {
  static const char *const helpers[] = {"div_to_zero", "mod_to_zero", "div_floor",
                                        "mod_floor"};
  bool modulo = is_modulo(node), floors = is_floor(node);
  int64_t value = 0;
  bool positive = tvms_node_int_in_lanes(tvms_as_binary(node)->b, &value) && value > 0;
  if (node->dtype.code == TVMS_UINT || (positive && !floors))
    return tvms_c_text(e, "%s %s %s", a, modulo ? "%" : "/", b);
  if (positive && !modulo)
    return tvms_c_text(e, "%s / %s - (%s %% %s < 0)", a, b, a, b);
  if (positive)
    return tvms_c_text(e, "%s %% %s + (%s %% %s < 0 ? %s : 0)", a, b, a, b, b);
  return tvms_c_text(e, "%s%s(%s, %s)", helpers[2 * floors + modulo],
                     node->dtype.bits <= 32 ? "32" : "", a, b);
}

const char *tvms_c_divide_whole(c_emitter *e, const tvms_node *node, const char *a,
                                const char *b) {
  tvms_division by;
  tvms_dtype dtype = node->dtype, plain = {TVMS_UINT, 64, dtype.lanes};
  bool full = !(dtype.lanes & (dtype.lanes - 1));
  if (!is_floor(node) || !full || !tvms_division_read(node, &by)) return NULL;
  (void)tvms_c_type(e, plain, node->span);
  const char *helper = tvms_c_text(e, "FLOOR_BY(%d)", dtype.lanes);
  if (tvms_c_is_new(e, helper))
    tvms_strbuf_printf(
        &e->head,
        "#ifndef PRODUCT_32x%d\n#define PRODUCT_32x%d(a, b) ((a) * (b))\n"
        "#endif\n%s\n",
        dtype.lanes, dtype.lanes, helper);
  const char *whole =
      tvms_c_whole(e, dtype, node->span,
                   tvms_c_text(e, "floor_byx%d(%s, 0x%llxull, %d)", dtype.lanes, a,
                               (unsigned long long)by.factor, by.shift));
  if (!is_modulo(node)) return whole;
  const char *times = tvms_c_wrapping(e, dtype, node->span, whole, "*", b);
  return tvms_c_wrapping(e, dtype, node->span, a, "-", times);
}
