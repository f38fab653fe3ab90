// Accesses of some lanes in C text.
#include "backend/c/masked.h"

#include "backend/c/vector.h"
#include "ir/build.h"
#include "ir/op.h"

enum { MOST_LANES = 64, DEEPEST = 32 };

// ---- Lanes that constants decide ----

static bool lane_of(const tvms_node *node, int lane, int depth, int64_t *value);

static bool combine(tvms_node_kind kind, int64_t a, int64_t b, int64_t *value) {
  switch ((int)kind) {
  case TVMS_NODE_ADD: return !__builtin_add_overflow(a, b, value);
  case TVMS_NODE_SUB: return !__builtin_sub_overflow(a, b, value);
  case TVMS_NODE_MUL: return !__builtin_mul_overflow(a, b, value);
  case TVMS_NODE_EQ: *value = a == b; return true;
  case TVMS_NODE_NE: *value = a != b; return true;
  case TVMS_NODE_LT: *value = a < b; return true;
  case TVMS_NODE_LE: *value = a <= b; return true;
  case TVMS_NODE_GT: *value = a > b; return true;
  case TVMS_NODE_GE: *value = a >= b; return true;
  case TVMS_NODE_AND: *value = a && b; return true;
  case TVMS_NODE_OR: *value = a || b; return true;
  default: return false;
  }
}

// Truths that are combined by bits.
static bool combined_truths(const tvms_node *node, int lane, int depth,
                            int64_t *value) {
  const tvms_call *call = tvms_as_call(node);
  int opcode = (int)tvms_call_opcode(node);
  bool is_and = opcode == TVMS_TIR_bitwise_and;
  int64_t a, b;
  if ((!is_and && opcode != TVMS_TIR_bitwise_or) || call->args.len != 2
      || !tvms_dtype_is_bool(node->dtype)
      || !lane_of(call->args.items[0], lane, depth, &a)
      || !lane_of(call->args.items[1], lane, depth, &b))
    return false;
  *value = is_and ? a && b : a || b;
  return true;
}

static bool ramp_lane(const tvms_node *node, int lane, int depth, int64_t *value) {
  const tvms_ramp *ramp = tvms_as_ramp(node);
  int64_t base, stride;
  return lane_of(ramp->base, 0, depth, &base)
         && lane_of(ramp->stride, 0, depth, &stride)
         && !__builtin_mul_overflow(stride, lane, &stride)
         && !__builtin_add_overflow(base, stride, value);
}

// The lane of a vector of integers or truths; false: constants do not decide it. Only signed ones of 32 bits and
// more are followed, which are reckoned with in 64 bits: others wrap.
static bool lane_of(const tvms_node *node, int lane, int depth, int64_t *value) {
  bool wraps = node->dtype.code == TVMS_UINT
               || (node->dtype.code == TVMS_INT && node->dtype.bits < 32);
  if (depth == DEEPEST || tvms_dtype_is_real(node->dtype) || wraps) return false;
  switch ((int)node->kind) {
  case TVMS_NODE_INT_IMM: *value = tvms_as_int_imm(node)->value; return true;
  case TVMS_NODE_BROADCAST:
    return lane_of(tvms_as_broadcast(node)->value, 0, depth + 1, value);
  case TVMS_NODE_RAMP: return ramp_lane(node, lane, depth + 1, value);
  case TVMS_NODE_CALL: return combined_truths(node, lane, depth + 1, value);
  case TVMS_NODE_NOT: {
    bool known = lane_of(tvms_as_not(node)->a, lane, depth + 1, value);
    *value = known && !*value;
    return known;
  }
  default: break;
  }
  if (!tvms_node_is_binary(node)) return false;
  const tvms_binary *binary = tvms_as_binary(node);
  int64_t a, b;
  return lane_of(binary->a, lane, depth + 1, &a)
         && lane_of(binary->b, lane, depth + 1, &b)
         && combine((tvms_node_kind)node->kind, a, b, value);
}

bool tvms_c_known_lanes(const tvms_node *predicate, uint64_t *bits) {
  int lanes = predicate->dtype.lanes;
  if (lanes < 2 || lanes > MOST_LANES) return false;
  *bits = 0;
  for (int k = 0; k < lanes; k++) {
    int64_t truth;
    if (!lane_of(predicate, k, 0, &truth)) return false;
    if (truth) *bits |= 1ull << k;
  }
  return true;
}

// ---- What the head has for them ----

static const char *load_macro(c_emitter *e, const char *type, int lanes) {
  const char *name = tvms_c_text(e, "LOAD_LANES_%s", type);
  if (!tvms_c_is_new(e, name)) return name;
  tvms_strbuf *head = &e->head;
  tvms_strbuf_printf(head, "#ifndef %s\n#define %s(p, lanes) (%s){", name, name, type);
  for (int k = 0; k < lanes; k++)
    tvms_strbuf_printf(head, "%s(lanes) >> %d & 1 ? (p)[%d] : 0", k ? ", " : "", k, k);
  tvms_strbuf_puts(head, "}\n#endif\n");
  return name;
}

static const char *store_macro(c_emitter *e, const char *type, int lanes) {
  const char *name = tvms_c_text(e, "STORE_LANES_%s", type);
  if (!tvms_c_is_new(e, name)) return name;
  tvms_strbuf *head = &e->head;
  tvms_strbuf_printf(head, "#ifndef %s\n#define %s(p, v, lanes) do { ", name, name);
  for (int k = 0; k < lanes; k++)
    tvms_strbuf_printf(head, "if ((lanes) >> %d & 1) (p)[%d] = (v)[%d]; ", k, k, k);
  tvms_strbuf_puts(head, "} while (0)\n#endif\n");
  return name;
}

const char *tvms_c_load_lanes(c_emitter *e, tvms_dtype dtype, tvms_span span,
                              const char *place, uint64_t bits) {
  const char *macro = load_macro(e, tvms_c_type(e, dtype, span), dtype.lanes);
  return tvms_c_text(e, "%s(%s, 0x%llxull)", macro, place, (unsigned long long)bits);
}

void tvms_c_store_lanes(c_emitter *e, tvms_dtype dtype, tvms_span span,
                        const char *place, uint64_t bits, const char *value) {
  const char *macro = store_macro(e, tvms_c_type(e, dtype, span), dtype.lanes);
  tvms_c_line(e, "%s(%s, %s, 0x%llxull);", macro, place, value,
              (unsigned long long)bits);
}

const char *tvms_c_lanes_mask(c_emitter *e, int width, int lanes, tvms_span span,
                              uint64_t bits) {
  const char *list = "";
  for (int k = 0; k < lanes; k++)
    list = tvms_c_text(e, "%s%s%s", list, k ? ", " : "", bits >> k & 1 ? "-1" : "0");
  tvms_dtype scalar = {TVMS_INT, (uint8_t)width, 1};
  const char *type = tvms_c_type(e, tvms_dtype_with_lanes(scalar, lanes), span);
  return tvms_c_mask(e, width, lanes, span, tvms_c_text(e, "(%s){%s}", type, list));
}
