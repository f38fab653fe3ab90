// Vectors of reals that are numbers of the text, as weights of what is resized are.
//
//   T.floor(T.Cast("float32", T.Ramp(0, 1, 4)) * T.Broadcast(T.float32(0.5), 4))        {0x0p+0f, 0x0p+0f, 0x1p+0f, 0x1p+0f}
//
// GCC computes what it has operators for, but nothing that is an instruction of a processor.
#include "backend/c/numbers.h"

#include "backend/c/expr.h"
#include "backend/c/vector.h"
#include "backend/core/lanes.h"
#include "ir/build.h"
#include "ir/tir_op.h"

#include <math.h>

enum { DEEPEST = 12 };

typedef struct {
  double lanes[TVMS_MOST_LANES];
} numbers;

typedef struct {
  const c_emitter *e;
  int count;
  bool is_double;
} reader;

static bool read(const reader *r, const tvms_node *node, uint32_t depth, numbers *out);

// What one operation makes of floats is exact enough in double to be rounded once more.
static bool round_lanes(const reader *r, numbers *out) {
  bool finite = true;
  for (int k = 0; k < r->count; k++) {
    if (!r->is_double) out->lanes[k] = (float)out->lanes[k];
    finite &= isfinite(out->lanes[k]) != 0;
  }
  return finite;
}

static bool read_same(const reader *r, const tvms_node *value, numbers *out) {
  if (value->kind != TVMS_NODE_FLOAT_IMM) return false;
  for (int k = 0; k < r->count; k++)
    out->lanes[k] = tvms_as_float_imm(value)->value;
  return round_lanes(r, out);
}

static bool read_cast(const reader *r, const tvms_cast *cast, numbers *out) {
  tvms_lanes lanes;
  if (!tvms_c_are_numbers(cast, &lanes)) return false;
  for (int k = 0; k < r->count; k++)
    out->lanes[k] = (double)lanes.offsets[k];
  return round_lanes(r, out);
}

static bool read_contracted(const reader *r, const tvms_node *node,
                            const tvms_contraction *sum, uint32_t depth, numbers *out) {
  numbers x, y;
  if (!read(r, sum->times->a, depth, &x) || !read(r, sum->times->b, depth, &y)
      || !read(r, sum->added, depth, out))
    return false;
  bool differs = node->kind == TVMS_NODE_SUB;
  for (int k = 0; k < r->count; k++) {
    double a = differs && !sum->first ? -x.lanes[k] : x.lanes[k], b = y.lanes[k],
           c = differs && sum->first ? -out->lanes[k] : out->lanes[k];
    out->lanes[k] = r->is_double ? fma(a, b, c) : fmaf((float)a, (float)b, (float)c);
  }
  return round_lanes(r, out);
}

static double operate(tvms_node_kind kind, double a, double b) {
  switch ((int)kind) {
  case TVMS_NODE_ADD: return a + b;
  case TVMS_NODE_SUB: return a - b;
  case TVMS_NODE_MUL: return a * b;
  case TVMS_NODE_DIV: return a / b;
  case TVMS_NODE_MIN: return a < b ? a : b;
  case TVMS_NODE_MAX: return a > b ? a : b;
  default: return NAN;
  }
}

static bool read_binary(const reader *r, const tvms_node *node, uint32_t depth,
                        numbers *out) {
  tvms_contraction sum;
  if (tvms_c_contracts(r->e, node, &sum))
    return read_contracted(r, node, &sum, depth, out);
  numbers b;
  if (!read(r, tvms_as_binary(node)->a, depth, out)
      || !read(r, tvms_as_binary(node)->b, depth, &b))
    return false;
  for (int k = 0; k < r->count; k++)
    out->lanes[k] = operate((tvms_node_kind)node->kind, out->lanes[k], b.lanes[k]);
  return round_lanes(r, out);
}

static bool read_call(const reader *r, const tvms_node *node, uint32_t depth,
                      numbers *out) {
  double (*function)(double);
  switch ((int)tvms_call_opcode(node)) {
  case TVMS_TIR_floor: function = floor; break;
  case TVMS_TIR_ceil: function = ceil; break;
  case TVMS_TIR_trunc: function = trunc; break;
  case TVMS_TIR_fabs: function = fabs; break;
  default: return false;
  }
  const tvms_call *call = tvms_as_call(node);
  if (call->args.len != 1 || !read(r, call->args.items[0], depth, out)) return false;
  for (int k = 0; k < r->count; k++)
    out->lanes[k] = function(out->lanes[k]);
  return true;
}

static bool read(const reader *r, const tvms_node *node, uint32_t depth, numbers *out) {
  if (depth == DEEPEST) return false;
  if (tvms_node_is_binary(node)) return read_binary(r, node, depth + 1, out);
  switch ((int)node->kind) {
  case TVMS_NODE_BROADCAST: return read_same(r, tvms_as_broadcast(node)->value, out);
  case TVMS_NODE_CAST: return read_cast(r, tvms_as_cast(node), out);
  case TVMS_NODE_CALL: return read_call(r, node, depth + 1, out);
  default: return false;
  }
}

const char *tvms_c_numbers(c_emitter *e, const tvms_node *node) {
  tvms_dtype dtype = node->dtype;
  bool computed = tvms_node_is_binary(node) || node->kind == TVMS_NODE_CALL;
  if (!computed || dtype.code != TVMS_FLOAT || dtype.bits < 32
      || !tvms_c_is_whole(dtype))
    return NULL;
  reader r = {e, dtype.lanes, dtype.bits == 64};
  numbers made;
  const char *list = "";
  if (!read(&r, node, 0, &made)) return NULL;
  for (int k = 0; k < r.count; k++)
    list = tvms_c_text(e, "%s%s%a%s", list, k ? ", " : "", made.lanes[k],
                       r.is_double ? "" : "f");
  return tvms_c_whole(e, dtype, node->span, tvms_c_text(e, "{%s}", list));
}
