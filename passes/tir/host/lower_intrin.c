// LowerIntrin: operators that a machine does not have as those that it has.
//
// Before: B[i] = T.sigmoid(A[i // 4 + j % 3])
// After:  B[i] = T.float32(1.0) / (T.float32(1.0) + T.call_llvm_pure_intrin("float32", "llvm.exp", …))
//
// Quotients and remainders that round down become shifts, masks or those that round towards
// zero, corrected where the signs are not known; sums of products become fused ones; T.tvm_access_ptr
// becomes the address of an element; other operators follow passes/tir/host/intrinsics.def. Every
// function must have a target, of kind llvm or c. TVM: tirx.transform.LowerIntrin.
#include "arith/bound.h"
#include "arith/scopes.h"
#include "ir/fold_ops.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/tir/host/access_pointer.h"
#include "passes/tir/host/function_target.h"
#include "passes/tir/host/intrinsic_rules.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  tvms_unit *unit;
  tvms_scopes scopes;
  tvms_access_pointers pointers;
  bool is_llvm;
} lowering;

static tvms_node *build(const lowering *l, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_binary(l->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(const lowering *l, const tvms_node *like, int64_t value) {
  return tvms_build_int(l->unit, like->dtype, value, TVMS_NO_SPAN);
}

static tvms_node *bitwise(const lowering *l, tvms_tir_opcode op, tvms_node *a,
                          tvms_node *b) {
  return tvms_build_bitwise(l->unit, op, a, b, TVMS_NO_SPAN);
}

// ---- Calls ----

static tvms_node *lower_call(tvms_rewriter *r, tvms_node *node) {
  lowering *l = r->self;
  if (tvms_call_opcode(node) == TVMS_TIR_tvm_access_ptr) {
    tvms_node *declaration = NULL;
    tvms_node *address = tvms_access_pointer_lower(&l->pointers, node, &declaration);
    if (!address) return TVMS_REWRITE_BELOW;
    if (declaration) tvms_rewrite_emit(r, declaration);
    return tvms_rewrite_below(r, address);
  }
  tvms_node *lowered = tvms_intrinsic_lower(l->unit, node, l->is_llvm);
  return lowered == node ? TVMS_REWRITE_BELOW : tvms_rewrite(r, lowered);
}

// ---- Sums of products ----

// A conversion of equal elements: LLVM finds better instructions if it comes last.
static tvms_node *convert_last(const lowering *l, tvms_node *node) {
  if (node->kind != TVMS_NODE_BROADCAST) return node;
  const tvms_node *cast = tvms_as_broadcast(node)->value;
  if (cast->kind != TVMS_NODE_CAST) return node;
  tvms_node *value = tvms_as_cast(cast)->value;
  tvms_dtype to = cast->dtype, from = value->dtype;
  bool integers = (to.code == TVMS_INT || to.code == TVMS_UINT)
                  && (from.code == TVMS_INT || from.code == TVMS_UINT);
  if (to.bits != from.bits * 2 && !(integers && to.bits > from.bits)) return node;
  tvms_node *copies = tvms_node_copy(l->unit, node);
  tvms_as_broadcast(copies)->value = value;
  copies->dtype = tvms_dtype_with_lanes(from, node->dtype.lanes);
  return tvms_cast_new(l->unit, node->dtype, copies, node->span);
}

static tvms_node *lower_add(tvms_rewriter *r, tvms_node *node) {
  lowering *l = r->self;
  const tvms_binary *sum = tvms_as_binary(node);
  bool second = sum->b->kind == TVMS_NODE_MUL;
  if (!second && sum->a->kind != TVMS_NODE_MUL) return TVMS_REWRITE_BELOW;
  const tvms_binary *product = tvms_as_binary(second ? sum->b : sum->a);
  tvms_node *rest = second ? sum->a : sum->b;
  tvms_node *a = convert_last(l, product->a), *b = convert_last(l, product->b);
  if (l->is_llvm && tvms_dtype_is_float(node->dtype))
    return tvms_rewrite(r, tvms_intrinsic_fma(l->unit, a, b, rest));
  if (a == product->a && b == product->b) return TVMS_REWRITE_BELOW;
  tvms_node *again = tvms_binary_new(l->unit, TVMS_NODE_MUL, a, b, node->span);
  again = tvms_rewrite(r, again);
  return tvms_binary_new(l->unit, TVMS_NODE_ADD, again, tvms_rewrite(r, rest),
                         node->span);
}

// ---- Quotients and remainders that round down ----

static bool power_of_two(const tvms_node *node, int *shift) {
  if (!tvms_node_is_int_imm(node) || (node->flags & TVMS_FLAG_LARGE)) return false;
  int64_t value = tvms_as_int_imm(node)->value;
  if (value <= 0 || (value & (value - 1))) return false;
  for (*shift = 0; value > 1; value >>= 1) {
    ++*shift;
  }
  return true;
}

static bool can_prove_ge_zero(lowering *l, tvms_node *node) {
  return tvms_analyzer_can_prove_ge(l->scopes.analyzer, node, 0);
}

// The least c for which a + divisor * c is never negative, if nothing on the way overflows;
// else 0.
static int64_t shift_of(lowering *l, const tvms_node *a, int64_t divisor) {
  if (divisor <= 0) return 0;
  tvms_bound bound = tvms_analyzer_const_int_bound(l->scopes.analyzer, a);
  if (bound.min >= 0) return 0;
  int bits = a->dtype.bits;
  bool is_signed = a->dtype.code == TVMS_INT;
  int64_t most =
      bits >= 64 ? INT64_MAX : (int64_t)(((uint64_t)1 << (bits - is_signed)) - 1);
  if (divisor - 1 > most + bound.min) return 0;
  int64_t c = (divisor - 1 - bound.min) / divisor;
  if (c > most / divisor) return 0;
  return bound.max > most - divisor * c ? 0 : c;
}

// The sign of a remainder as a mask exists for whole registers only.
static bool has_sign_mask(tvms_dtype dtype) {
  return tvms_dtype_is_index(dtype);
}

static tvms_node *sign_mask(const lowering *l, tvms_node *rest) {
  return bitwise(l, TVMS_TIR_shift_right, rest, number(l, rest, rest->dtype.bits - 1));
}

static tvms_node *compare(const lowering *l, tvms_node_kind kind, tvms_node *a) {
  return build(l, kind, a, number(l, a, 0));
}

// Remainder and divisor have one sign, as far as it matters.
static tvms_node *same_sign(const lowering *l, tvms_node *b, tvms_node *rest) {
  tvms_node *up = build(l, TVMS_NODE_AND, compare(l, TVMS_NODE_GE, b),
                        compare(l, TVMS_NODE_GE, rest));
  tvms_node *down = build(l, TVMS_NODE_AND, compare(l, TVMS_NODE_LT, b),
                          compare(l, TVMS_NODE_LE, rest));
  return build(l, TVMS_NODE_OR, up, down);
}

static tvms_node *variable(const lowering *l, const char *name, tvms_dtype dtype) {
  tvms_sym sym = tvms_symbol_intern(l->unit->context, name, strlen(name));
  return tvms_var_new(l->unit, sym, dtype, TVMS_NO_SPAN);
}

// Rounded down, for any sign of the divisor.
static tvms_node *divide_any(const lowering *l, tvms_node *a, tvms_node *b) {
  tvms_node *rest = variable(l, "rmod", a->dtype);
  tvms_node *quotient = variable(l, "rdiv", a->dtype);
  tvms_node *less = build(l, TVMS_NODE_SUB, quotient, number(l, a, 1));
  tvms_node *chosen =
      tvms_select_new(l->unit, same_sign(l, b, rest), quotient, less, TVMS_NO_SPAN);
  tvms_node *inner = tvms_let_new(l->unit, quotient, build(l, TVMS_NODE_DIV, a, b),
                                  chosen, TVMS_NO_SPAN);
  return tvms_let_new(l->unit, rest, build(l, TVMS_NODE_MOD, a, b), inner,
                      TVMS_NO_SPAN);
}

static tvms_node *divide_by_positive(lowering *l, const tvms_node *old, tvms_node *a,
                                     tvms_node *b) {
  if (can_prove_ge_zero(l, a) || can_prove_ge_zero(l, (tvms_node *)(uintptr_t)old))
    return build(l, TVMS_NODE_DIV, a, b);
  int64_t divisor = tvms_node_is_int_imm(b) ? tvms_as_int_imm(b)->value : 0;
  int64_t c = shift_of(l, a, divisor);
  if (c) {
    tvms_node *moved = build(l, TVMS_NODE_ADD, a, number(l, a, divisor * c));
    return build(l, TVMS_NODE_SUB, build(l, TVMS_NODE_DIV, moved, b), number(l, a, c));
  }
  tvms_node *quotient = build(l, TVMS_NODE_DIV, a, b);
  tvms_node *rest = build(l, TVMS_NODE_MOD, a, b);
  if (has_sign_mask(a->dtype))
    return build(l, TVMS_NODE_ADD, quotient, sign_mask(l, rest));
  tvms_node *less = build(l, TVMS_NODE_SUB, quotient, number(l, a, 1));
  return tvms_select_new(l->unit, compare(l, TVMS_NODE_GE, rest), quotient, less,
                         TVMS_NO_SPAN);
}

static tvms_node *floor_of(tvms_rewriter *r, const lowering *l, tvms_node *a,
                           tvms_node *b) {
  tvms_node *quotient = build(l, TVMS_NODE_DIV, a, b);
  tvms_node *floor = tvms_call_new_of(l->unit, quotient->dtype, TVMS_TIR_floor,
                                      &quotient, 1, TVMS_NO_SPAN);
  return tvms_rewrite(r, floor);
}

static tvms_node *lower_floor_div(tvms_rewriter *r, tvms_node *node) {
  lowering *l = r->self;
  tvms_node *a = tvms_as_binary(node)->a, *b = tvms_as_binary(node)->b;
  int shift;
  if (tvms_dtype_is_real(node->dtype)) return floor_of(r, l, a, b);
  if (power_of_two(b, &shift))
    return bitwise(l, TVMS_TIR_shift_right, a, number(l, a, shift));
  return can_prove_ge_zero(l, b) ? divide_by_positive(l, r->old, a, b)
                                 : divide_any(l, a, b);
}

static tvms_node *rest_of_positive(lowering *l, tvms_node *a, tvms_node *b) {
  if (can_prove_ge_zero(l, a)) return build(l, TVMS_NODE_MOD, a, b);
  int64_t divisor = tvms_node_is_int_imm(b) ? tvms_as_int_imm(b)->value : 0;
  int64_t c = shift_of(l, a, divisor);
  if (c) {
    tvms_node *moved = build(l, TVMS_NODE_ADD, a, number(l, a, c * divisor));
    return build(l, TVMS_NODE_MOD, moved, b);
  }
  tvms_node *rest = build(l, TVMS_NODE_MOD, a, b);
  if (has_sign_mask(a->dtype)) {
    tvms_node *more = bitwise(l, TVMS_TIR_bitwise_and, b, sign_mask(l, rest));
    return build(l, TVMS_NODE_ADD, rest, more);
  }
  return tvms_select_new(l->unit, compare(l, TVMS_NODE_GE, rest), rest,
                         build(l, TVMS_NODE_ADD, rest, b), TVMS_NO_SPAN);
}

static tvms_node *lower_floor_mod(tvms_rewriter *r, tvms_node *node) {
  lowering *l = r->self;
  tvms_node *a = tvms_as_binary(node)->a, *b = tvms_as_binary(node)->b;
  int shift;
  if (tvms_dtype_is_real(node->dtype)) {
    tvms_node *whole = build(l, TVMS_NODE_MUL, floor_of(r, l, a, b), b);
    return build(l, TVMS_NODE_SUB, a, whole);
  }
  if (power_of_two(b, &shift)) {
    int64_t mask = (int64_t)(((uint64_t)1 << shift) - 1);
    return bitwise(l, TVMS_TIR_bitwise_and, a, number(l, a, mask));
  }
  if (can_prove_ge_zero(l, b)) return rest_of_positive(l, a, b);
  tvms_node *rest = variable(l, "rmod", a->dtype);
  tvms_node *chosen = tvms_select_new(l->unit, same_sign(l, b, rest), rest,
                                      build(l, TVMS_NODE_ADD, rest, b), TVMS_NO_SPAN);
  return tvms_let_new(l->unit, rest, build(l, TVMS_NODE_MOD, a, b), chosen,
                      TVMS_NO_SPAN);
}

// max(x // y, c) with c at least 0: where x // y is negative, nobody looks at it.
static tvms_node *lower_max(tvms_rewriter *r, tvms_node *node) {
  lowering *l = r->self;
  const tvms_binary *max = tvms_as_binary(node);
  bool fits = max->a->kind == TVMS_NODE_FLOOR_DIV && tvms_node_is_int_imm(max->b)
              && tvms_as_int_imm(max->b)->value >= 0;
  if (!fits) return TVMS_REWRITE_BELOW;
  const tvms_binary *quotient = tvms_as_binary(max->a);
  if (!can_prove_ge_zero(l, quotient->b)) return TVMS_REWRITE_BELOW;
  tvms_node *rounded = build(l, TVMS_NODE_DIV, quotient->a, quotient->b);
  return build(l, TVMS_NODE_MAX, tvms_rewrite(r, rounded), max->b);
}

// Whether there is a remainder does not depend on how it is rounded.
static tvms_node *lower_zero_test(tvms_rewriter *r, tvms_node *node) {
  lowering *l = r->self;
  const tvms_binary *test = tvms_as_binary(node);
  if (test->a->kind != TVMS_NODE_FLOOR_MOD || !tvms_node_is_int(test->b, 0))
    return TVMS_REWRITE_BELOW;
  const tvms_binary *rest = tvms_as_binary(test->a);
  tvms_node *rounded = build(l, TVMS_NODE_MOD, rest->a, rest->b);
  return tvms_rewrite_below(r, build(l, (tvms_node_kind)node->kind, rounded, test->b));
}

// ---- Functions ----

// The kind of the function's target, or NULL after a report.
static const char *kind_of_target(tvms_unit *unit, const tvms_node *function) {
  tvms_diags *diags = &unit->context->diags;
  const char *name = tvms_symbol_text(unit->context, tvms_as_prim_func(function)->name);
  const tvms_node *config = tvms_host_target_of(function);
  if (!config) {
    tvms_host_target_report(unit->context, function, name, "LowerIntrin");
    return NULL;
  }
  const char *kind = tvms_host_target_kind(config);
  if (!strncmp(kind, "llvm", 4) || !strcmp(kind, "c")) return kind;
  tvms_diag_report(diags, TVMS_D_target_not_lowered, function->span, name, kind);
  return NULL;
}

static tvms_walk_step find_floor(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  bool floors = node->kind == TVMS_NODE_FLOOR_DIV || node->kind == TVMS_NODE_FLOOR_MOD;
  return floors ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// What is known of values matters to divisions that round down, and to nothing else.
static bool divides(tvms_unit *unit, tvms_node *function) {
  if (!tvms_unit_has(unit, TVMS_NODE_FLOOR_DIV)
      && !tvms_unit_has(unit, TVMS_NODE_FLOOR_MOD))
    return false;
  tvms_visitor visitor = {.enter = find_floor};
  return !tvms_walk(&unit->context->memory, function, &visitor);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  (void)run;
  const char *kind = kind_of_target(unit, function);
  if (!kind) return function;
  lowering l = {.unit = unit, .is_llvm = !strncmp(kind, "llvm", 4)};
  tvms_scopes_init(&l.scopes, unit);
  tvms_access_pointers_init(&l.pointers, unit, function);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &l);
  if (divides(unit, function)) r.watch = &l.scopes.watch;
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY) | TVMS_IN(DEFINE);
  tvms_scopes_choose_all(&r);
  r.enter[TVMS_NODE_CALL] = lower_call;
  r.enter[TVMS_NODE_ADD] = lower_add;
  r.enter[TVMS_NODE_MAX] = lower_max;
  r.enter[TVMS_NODE_EQ] = lower_zero_test;
  r.enter[TVMS_NODE_NE] = lower_zero_test;
  r.leave[TVMS_NODE_FLOOR_DIV] = lower_floor_div;
  r.leave[TVMS_NODE_FLOOR_MOD] = lower_floor_mod;
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  tvms_access_pointers_fini(&l.pointers);
  tvms_scopes_fini(&l.scopes);
  return changed;
}

void tvms_pass_lower_intrin(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
