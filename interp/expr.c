// Values of TIR, one lane at a time.
//
// A vector is never built: its lane i is computed from lane i of its operands. So every
// operator is written once, for scalars.
#include "interp/expr.h"

#include "interp/buffer.h"
#include "interp/calls.h"
#include "interp/frame.h"
#include "support/diag_ids.h"

#include <math.h>

static tvms_scalar of_int(int64_t value) {
  return (tvms_scalar){.i = value};
}

static const char *name_of(const tvms_interp_frame *f, const tvms_node *var) {
  return tvms_symbol_text(f->context, tvms_as_var(var)->name);
}

TVMS_NORETURN static void unsupported(tvms_interp_frame *f, const tvms_node *node) {
  fault(f, TVMS_D_not_interpreted, node->span,
        tvms_node_schema_of((tvms_node_kind)node->kind)->name);
}

void tvms_interp_bind_var(tvms_interp_frame *f, const tvms_node *var,
                          tvms_scalar value) {
  f->vars[var->id] = value;
  f->bound[var->id] = 1;
}

void tvms_interp_bind_expr(tvms_interp_frame *f, const tvms_node *var,
                           const tvms_node *value) {
  int lanes = var->dtype.lanes;
  if (lanes <= 1) {
    tvms_interp_bind_var(f, var, tvms_interp_eval(f, value, 0));
    return;
  }
  // The array of a variable is made once and filled again.
  tvms_scalar *items = f->bound[var->id]
                           ? f->vars[var->id].p
                           : tvms_arena_array(&f->context->scratch, tvms_scalar, lanes);
  for (int i = 0; i < lanes; i++) {
    items[i] = tvms_interp_eval(f, value, (uint32_t)i);
  }
  tvms_interp_bind_var(f, var, (tvms_scalar){.p = items});
}

static tvms_scalar eval_var(tvms_interp_frame *f, const tvms_node *node,
                            uint32_t lane) {
  if (!f->bound[node->id]) fault(f, TVMS_D_no_value_yet, node->span, name_of(f, node));
  if (node->dtype.lanes <= 1) return f->vars[node->id];
  return ((tvms_scalar *)f->vars[node->id].p)[lane];
}

int64_t tvms_interp_divide(const tvms_node *node, int64_t a, int64_t b) {
  bool modulo = node->kind == TVMS_NODE_MOD || node->kind == TVMS_NODE_FLOOR_MOD;
  if (tvms_dtype_is_uint(node->dtype)) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    return (int64_t)(modulo ? x % y : x / y);
  }
  if (b == -1) return modulo ? 0 : (int64_t)(0 - (uint64_t)a);
  int64_t quotient = a / b, rest = a % b;
  bool floors = node->kind == TVMS_NODE_FLOOR_DIV || node->kind == TVMS_NODE_FLOOR_MOD;
  bool lower = floors && rest != 0 && (rest < 0) != (b < 0);
  if (modulo) return lower ? rest + b : rest;
  return lower ? quotient - 1 : quotient;
}

static tvms_scalar int_binary(tvms_interp_frame *f, const tvms_node *node, int64_t a,
                              int64_t b) {
  bool is_unsigned = tvms_dtype_is_uint(tvms_as_binary(node)->a->dtype);
  bool less = is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
  tvms_scalar result = of_int(0);
  switch ((int)node->kind) {
  case TVMS_NODE_ADD: result.i = (int64_t)((uint64_t)a + (uint64_t)b); break;
  case TVMS_NODE_SUB: result.i = (int64_t)((uint64_t)a - (uint64_t)b); break;
  case TVMS_NODE_MUL: result.i = (int64_t)((uint64_t)a * (uint64_t)b); break;
  case TVMS_NODE_DIV:
  case TVMS_NODE_MOD:
  case TVMS_NODE_FLOOR_DIV:
  case TVMS_NODE_FLOOR_MOD:
    if (b == 0) fault(f, TVMS_D_executed_division_by_zero, node->span);
    result.i = tvms_interp_divide(node, a, b);
    break;
  case TVMS_NODE_MIN: return of_int(less ? a : b);
  case TVMS_NODE_MAX: return of_int(less ? b : a);
  case TVMS_NODE_EQ: return of_int(a == b);
  case TVMS_NODE_NE: return of_int(a != b);
  case TVMS_NODE_LT: return of_int(less);
  case TVMS_NODE_LE: return of_int(less || a == b);
  case TVMS_NODE_GT: return of_int(!less && a != b);
  case TVMS_NODE_GE: return of_int(!less);
  default: unsupported(f, node);
  }
  return tvms_scalar_fit(result, tvms_interp_dl_type_of(node->dtype));
}

tvms_scalar tvms_interp_real(tvms_interp_frame *f, const tvms_node *node, double a,
                             double b) {
  tvms_scalar result = of_int(0);
  switch ((int)node->kind) {
  case TVMS_NODE_ADD: result.f = a + b; break;
  case TVMS_NODE_SUB: result.f = a - b; break;
  case TVMS_NODE_MUL: result.f = a * b; break;
  case TVMS_NODE_DIV: result.f = a / b; break;
  case TVMS_NODE_MOD: result.f = fmod(a, b); break;
  case TVMS_NODE_FLOOR_DIV: result.f = floor(a / b); break;
  case TVMS_NODE_FLOOR_MOD: result.f = a - floor(a / b) * b; break;
  // As compiled code: a comparison and a choice, so NaN gives the second one.
  case TVMS_NODE_MIN: result.f = a < b ? a : b; break;
  case TVMS_NODE_MAX: result.f = a > b ? a : b; break;
  case TVMS_NODE_EQ: return of_int(a == b);
  case TVMS_NODE_NE: return of_int(a != b);
  case TVMS_NODE_LT: return of_int(a < b);
  case TVMS_NODE_LE: return of_int(a <= b);
  case TVMS_NODE_GT: return of_int(a > b);
  case TVMS_NODE_GE: return of_int(a >= b);
  default: unsupported(f, node);
  }
  return tvms_scalar_fit(result, tvms_interp_dl_type_of(node->dtype));
}

static tvms_scalar eval_binary(tvms_interp_frame *f, const tvms_node *node,
                               uint32_t lane) {
  const tvms_binary *binary = tvms_as_binary(node);
  tvms_scalar a = tvms_interp_eval(f, binary->a, lane);
  // The right side is not looked at where the left one decides.
  if (node->kind == TVMS_NODE_AND)
    return a.i ? tvms_interp_eval(f, binary->b, lane) : a;
  if (node->kind == TVMS_NODE_OR) return a.i ? a : tvms_interp_eval(f, binary->b, lane);
  tvms_scalar b = tvms_interp_eval(f, binary->b, lane);
  if (tvms_dtype_is_real(binary->a->dtype)) return tvms_interp_real(f, node, a.f, b.f);
  return int_binary(f, node, a.i, b.i);
}

static tvms_scalar eval_cast(tvms_interp_frame *f, const tvms_node *node,
                             uint32_t lane) {
  const tvms_node *value = tvms_as_cast(node)->value;
  tvms_scalar from = tvms_interp_eval(f, value, lane);
  return tvms_scalar_convert(from, tvms_interp_dl_type_of(value->dtype),
                             tvms_interp_dl_type_of(node->dtype));
}

static tvms_scalar eval_load(tvms_interp_frame *f, const tvms_node *node,
                             uint32_t lane) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (load->predicate && !tvms_interp_eval(f, load->predicate, lane).i)
    return of_int(0);
  tvms_interp_view *v = tvms_interp_use_buffer(f, load->buffer, node->span);
  char *at =
      tvms_interp_element_at(f, v, load->buffer, load->indices, lane, node->span);
  return tvms_dl_element_get(at, v->type);
}

static tvms_scalar eval_shuffle(tvms_interp_frame *f, const tvms_node *node,
                                uint32_t lane) {
  const tvms_shuffle *shuffle = tvms_as_shuffle(node);
  if (lane >= shuffle->indices.len) unsupported(f, node);
  int64_t wanted = tvms_interp_eval_int(f, shuffle->indices.items[lane]);
  for (uint32_t i = 0; i < shuffle->vectors.len; i++) {
    int64_t lanes = shuffle->vectors.items[i]->dtype.lanes;
    if (wanted < lanes)
      return tvms_interp_eval(f, shuffle->vectors.items[i], (uint32_t)wanted);
    wanted -= lanes;
  }
  unsupported(f, node);
}

static tvms_scalar eval_ramp(tvms_interp_frame *f, const tvms_node *node,
                             uint32_t lane) {
  const tvms_ramp *ramp = tvms_as_ramp(node);
  uint32_t inner = ramp->base->dtype.lanes > 1 ? (uint32_t)ramp->base->dtype.lanes : 1;
  uint64_t base = (uint64_t)tvms_interp_eval(f, ramp->base, lane % inner).i;
  uint64_t stride = (uint64_t)tvms_interp_eval(f, ramp->stride, lane % inner).i;
  tvms_scalar value = of_int((int64_t)(base + stride * (lane / inner)));
  return tvms_scalar_fit(value, tvms_interp_dl_type_of(node->dtype));
}

static tvms_scalar eval_float(const tvms_node *node) {
  tvms_scalar value = {.f = tvms_as_float_imm(node)->value};
  return tvms_scalar_fit(value, tvms_interp_dl_type_of(node->dtype));
}

static tvms_scalar eval_kind(tvms_interp_frame *f, const tvms_node *node,
                             uint32_t lane) {
  switch ((int)node->kind) {
  case TVMS_NODE_FLOAT_IMM: return eval_float(node);
  case TVMS_NODE_NOT: return of_int(!tvms_interp_eval(f, tvms_as_not(node)->a, lane).i);
  case TVMS_NODE_SELECT: {
    const tvms_select *select = tvms_as_select(node);
    bool first = tvms_interp_eval(f, select->condition, lane).i != 0;
    return tvms_interp_eval(f, first ? select->true_value : select->false_value, lane);
  }
  case TVMS_NODE_CAST: return eval_cast(f, node, lane);
  case TVMS_NODE_LET: {
    const tvms_let *let = tvms_as_let(node);
    tvms_interp_bind_expr(f, let->var, let->value);
    return tvms_interp_eval(f, let->body, lane);
  }
  case TVMS_NODE_RAMP: return eval_ramp(f, node, lane);
  case TVMS_NODE_BROADCAST: {
    const tvms_node *value = tvms_as_broadcast(node)->value;
    uint32_t inner = value->dtype.lanes > 1 ? (uint32_t)value->dtype.lanes : 1;
    return tvms_interp_eval(f, value, lane % inner);
  }
  case TVMS_NODE_SHUFFLE: return eval_shuffle(f, node, lane);
  case TVMS_NODE_CALL: return tvms_interp_eval_call(f, tvms_as_call(node), lane);
  case TVMS_NODE_PRIM_VALUE:
    return tvms_interp_eval(f, tvms_as_prim_value(node)->value, lane);
  default: unsupported(f, node);
  }
}

tvms_scalar tvms_interp_eval(tvms_interp_frame *f, const tvms_node *node,
                             uint32_t lane) {
  if (node->dtype.lanes <= 1) lane = 0;
  if (node->kind == TVMS_NODE_VAR) return eval_var(f, node, lane);
  if (node->kind == TVMS_NODE_INT_IMM) return of_int(tvms_as_int_imm(node)->value);
  if (!tvms_memory_enter(&f->context->memory)) {
    fault(f, TVMS_D_too_deep, node->span, f->context->memory.depth_limit);
  }
  tvms_scalar value;
  if (tvms_node_is_binary(node))
    value = eval_binary(f, node, lane);
  else if (node->kind == TVMS_NODE_BUFFER_LOAD)
    value = eval_load(f, node, lane);
  else
    value = eval_kind(f, node, lane);
  tvms_memory_leave(&f->context->memory);
  return value;
}
