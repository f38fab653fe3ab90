// Code of expressions: what interp/expr.c and interp/calls.c do, decided once.
//
// A vector is never built, as in the tree: its lane is code of its own. Operators that are rare
// or need more than their operands' values stay with the tree (EVAL). Both sides of a condition are code of their own, so what is not chosen
// is not computed.
#include "interp/compile_expr.h"

#include "interp/calls.h"
#include "interp/compile_access.h"
#include "interp/compile_cast.h"
#include "interp/compile_stream.h"
#include "ir/build.h"
#include "ir/walk.h"

typedef tvms_interp_maker maker;

enum { NO_OP = TVMS_CODE_COUNT };

// An integer or a bool.
static bool is_whole(tvms_dtype type) {
  return type.lanes == 1 && !tvms_dtype_is_real(type) && !tvms_dtype_is_handle(type);
}

static uint32_t type_operand(tvms_dtype dtype) {
  tvms_dl_type type = tvms_interp_dl_type_of(dtype);
  return (uint32_t)type.code << 8 | type.bits;
}

// ---- What stays with the tree ----

// A variable in an expression that the tree will look at.
static tvms_walk_step name_variable(void *self, tvms_node *node, tvms_field_role role) {
  maker *m = self;
  if (role == TVMS_ROLE_ACCESS || role == TVMS_ROLE_NOTE) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_VAR || node->id >= m->ids) return TVMS_WALK_ON;
  const tvms_interp_fact *fact = &m->facts[node->id];
  bool defined = role == TVMS_ROLE_DEFINE || role == TVMS_ROLE_DEFINE_REC;
  if (fact->definite && !fact->flagged && role != TVMS_ROLE_DEFINE) {
    bool f32 = tvms_interp_is_f32(node->dtype);
    uint32_t slot = f32 ? node->id : tvms_interp_make_value(m, node);
    tvms_interp_emit(m, TVMS_CODE_BIND, node, node->id, slot, 0);
  } else if (!fact->definite && defined) {
    tvms_interp_make_definite(m, node->id, true);
  } else if (!fact->definite && fact->sites > 0) {
    m->failed = true;  // bound on some ways only, which the frame does not know
  }
  return TVMS_WALK_ON;
}

uint32_t tvms_interp_make_tree(maker *m, tvms_interp_opcode op, const tvms_node *node,
                               uint32_t depth, uint32_t d, uint32_t a) {
  tvms_visitor visitor = {.self = m, .enter = name_variable};
  uint32_t used = m->used, bound = m->bound.len;
  // Of a buffer that gets its memory now, the data have no value yet.
  const tvms_node *data = op == TVMS_CODE_ALLOCATE ? tvms_as_buffer(node)->data : NULL;
  bool fresh = data && !m->facts[data->id].definite;
  if (fresh) tvms_interp_make_definite(m, data->id, true);
  tvms_walk(m->memory, (tvms_node *)(uintptr_t)node, &visitor);
  tvms_interp_forget(m, bound);
  m->used = used;
  uint32_t at = tvms_interp_emit_n(m, op, node, m->lane, d, a, 0);
  m->notes.items[at].depth = depth;
  return at;
}

static uint32_t make_tree_value(maker *m, const tvms_node *node) {
  uint32_t slot = tvms_interp_new_temporary(m);
  // The tree enters the node itself.
  tvms_interp_make_tree(m, TVMS_CODE_EVAL, node, m->depth - 1, slot, 0);
  if (tvms_interp_is_f32(node->dtype))
    tvms_interp_emit(m, TVMS_CODE_NARROW, node, slot, slot, 0);
  return slot;
}

// ---- Leaves ----

static uint32_t make_float(maker *m, const tvms_node *node) {
  tvms_scalar value = {.f = tvms_as_float_imm(node)->value};
  value = tvms_scalar_fit(value, tvms_interp_dl_type_of(node->dtype));
  tvms_scalar narrow = {.i = 0};
  narrow.s = (float)value.f;
  return tvms_interp_new_constant(m, tvms_interp_is_f32(node->dtype) ? narrow : value);
}

static uint32_t make_variable(maker *m, const tvms_node *node) {
  const tvms_interp_fact *fact = &m->facts[node->id];
  bool later = m->ahead && fact->since > m->around->begin;
  bool alias = fact->means && fact->means->kind == TVMS_NODE_VAR;
  if (node->dtype.lanes > 1 && fact->definite) return make_tree_value(m, node);
  if ((!later && !fact->definite) || node->dtype.lanes != 1
      || (later && !fact->means)) {
    m->failed = true;
    return 0;
  }
  if (later || alias) return tvms_interp_make_value(m, fact->means);
  bool f32 = tvms_interp_is_f32(node->dtype);
  if (fact->sites == 1 && !f32) return node->id;
  // A copy, as what is computed next may bind the variable again.
  uint32_t slot = tvms_interp_new_temporary(m);
  tvms_interp_emit(m, f32 ? TVMS_CODE_NARROW : TVMS_CODE_MOVE, node, slot, node->id, 0);
  return slot;
}

// ---- Integers ----

void tvms_interp_make_fit(maker *m, const tvms_node *node, uint32_t slot) {
  tvms_dl_type type = tvms_interp_dl_type_of(node->dtype);
  bool wide =
      type.bits == 64 && (type.code == TVMS_DL_INT || type.code == TVMS_DL_UINT);
  if (wide) return;
  bool is_i32 = type.code == TVMS_DL_INT && type.bits == 32;
  tvms_interp_emit_n(m, is_i32 ? TVMS_CODE_FIT_I32 : TVMS_CODE_FIT, node,
                     type_operand(node->dtype), slot, slot, 0);
}

static tvms_interp_opcode compare_op(int kind, bool is_unsigned) {
  switch (kind) {
  case TVMS_NODE_EQ: return TVMS_CODE_EQ_I;
  case TVMS_NODE_NE: return TVMS_CODE_NE_I;
  case TVMS_NODE_LT: return is_unsigned ? TVMS_CODE_LT_U : TVMS_CODE_LT_I;
  case TVMS_NODE_LE: return is_unsigned ? TVMS_CODE_LE_U : TVMS_CODE_LE_I;
  case TVMS_NODE_GT: return is_unsigned ? TVMS_CODE_GT_U : TVMS_CODE_GT_I;
  case TVMS_NODE_GE: return is_unsigned ? TVMS_CODE_GE_U : TVMS_CODE_GE_I;
  case TVMS_NODE_MIN: return is_unsigned ? TVMS_CODE_MIN_U : TVMS_CODE_MIN_I;
  case TVMS_NODE_MAX: return is_unsigned ? TVMS_CODE_MAX_U : TVMS_CODE_MAX_I;
  default: return (tvms_interp_opcode)NO_OP;
  }
}

static tvms_interp_opcode sum_op(const tvms_node *node) {
  bool is_i32 = tvms_dtype_is_index(node->dtype) && node->dtype.bits == 32;
  switch ((int)node->kind) {
  case TVMS_NODE_ADD: return is_i32 ? TVMS_CODE_ADD_I32 : TVMS_CODE_ADD_I64;
  case TVMS_NODE_SUB: return is_i32 ? TVMS_CODE_SUB_I32 : TVMS_CODE_SUB_I64;
  case TVMS_NODE_MUL: return is_i32 ? TVMS_CODE_MUL_I32 : TVMS_CODE_MUL_I64;
  default: return (tvms_interp_opcode)NO_OP;
  }
}

// Division by a constant above 0, which needs no check and fits.
static bool divides_plainly(const tvms_node *node) {
  bool floors = node->kind == TVMS_NODE_FLOOR_DIV || node->kind == TVMS_NODE_FLOOR_MOD;
  const tvms_node *b = tvms_as_binary(node)->b;
  return floors && tvms_dtype_is_int(node->dtype) && b->kind == TVMS_NODE_INT_IMM
         && tvms_as_int_imm(b)->value > 0;
}

static void make_int_binary(maker *m, const tvms_node *node, uint32_t a, uint32_t b,
                            uint32_t slot) {
  bool is_unsigned = tvms_dtype_is_uint(tvms_as_binary(node)->a->dtype);
  tvms_interp_opcode op = compare_op((int)node->kind, is_unsigned);
  bool fits = (int)op != NO_OP;
  if (!fits) {
    op = sum_op(node);
    fits =
        op == TVMS_CODE_ADD_I32 || op == TVMS_CODE_SUB_I32 || op == TVMS_CODE_MUL_I32;
  }
  if ((int)op == NO_OP && divides_plainly(node)) {
    bool modulo = node->kind == TVMS_NODE_FLOOR_MOD;
    op = modulo ? TVMS_CODE_FLOOR_MOD : TVMS_CODE_FLOOR_DIV;
    fits = true;
  }
  if ((int)op == NO_OP) op = TVMS_CODE_DIVIDE;
  tvms_interp_emit(m, op, node, slot, a, b);
  if (!fits) tvms_interp_make_fit(m, node, slot);
}

// ---- Reals ----

static tvms_interp_opcode real_op(int kind, bool f32) {
  switch (kind) {
#define EACH(KIND)                                                                     \
  case TVMS_NODE_##KIND: return f32 ? TVMS_CODE_##KIND##_F32 : TVMS_CODE_##KIND##_F64
    EACH(ADD);
    EACH(SUB);
    EACH(MUL);
    EACH(DIV);
#undef EACH
#define EACH(KIND)                                                                     \
  case TVMS_NODE_##KIND: return f32 ? TVMS_CODE_##KIND##_F32 : TVMS_CODE_REAL
    EACH(MIN);
    EACH(MAX);
    EACH(EQ);
    EACH(NE);
    EACH(LT);
    EACH(LE);
    EACH(GT);
    EACH(GE);
#undef EACH
  default: return TVMS_CODE_REAL;
  }
}

static void make_real_binary(maker *m, const tvms_node *node, uint32_t a, uint32_t b,
                             uint32_t slot) {
  tvms_dtype type = tvms_as_binary(node)->a->dtype;
  bool f32 = tvms_interp_is_f32(type);
  bool f64 = type.code == TVMS_FLOAT && type.bits == 64;
  tvms_interp_opcode op = f32 || f64 ? real_op((int)node->kind, f32) : TVMS_CODE_REAL;
  if (op != TVMS_CODE_REAL || !f32) {
    tvms_interp_emit(m, op, node, slot, a, b);
    return;
  }
  uint32_t x = tvms_interp_new_temporary(m), y = tvms_interp_new_temporary(m);
  tvms_interp_emit(m, TVMS_CODE_WIDEN, node, x, a, 0);
  tvms_interp_emit(m, TVMS_CODE_WIDEN, node, y, b, 0);
  tvms_interp_emit(m, TVMS_CODE_REAL, node, slot, x, y);
  if (tvms_interp_is_f32(node->dtype))
    tvms_interp_emit(m, TVMS_CODE_NARROW, node, slot, slot, 0);
}

static uint32_t make_binary(maker *m, const tvms_node *node) {
  const tvms_binary *binary = tvms_as_binary(node);
  uint32_t slot = tvms_interp_new_temporary(m), used = m->used;
  if (node->kind == TVMS_NODE_AND || node->kind == TVMS_NODE_OR) {
    tvms_interp_make_value_in(m, binary->a, slot);
    uint32_t over = tvms_interp_emit(
        m, node->kind == TVMS_NODE_AND ? TVMS_CODE_JUMP_IF_NOT : TVMS_CODE_JUMP_IF,
        node, 0, slot, 0);
    uint32_t bound = m->bound.len;
    tvms_interp_make_value_in(m, binary->b, slot);
    tvms_interp_forget(m, bound);
    tvms_interp_land(m, over);
    m->used = used;
    return slot;
  }
  uint32_t a = tvms_interp_make_value(m, binary->a);
  uint32_t b = tvms_interp_make_value(m, binary->b);
  if (tvms_dtype_is_real(binary->a->dtype))
    make_real_binary(m, node, a, b, slot);
  else
    make_int_binary(m, node, a, b, slot);
  m->used = used;
  return slot;
}

// Both operands are of one kind, and not more than one lane.
static bool binary_is_plain(const tvms_node *node) {
  const tvms_binary *binary = tvms_as_binary(node);
  return tvms_dtype_same(binary->a->dtype, binary->b->dtype)
         && binary->a->dtype.lanes >= 1 && !tvms_dtype_is_handle(binary->a->dtype);
}

// ---- Conditions and conversions ----

static uint32_t make_choice(maker *m, const tvms_node *node, const tvms_node *condition,
                            const tvms_node *first, const tvms_node *second) {
  uint32_t slot = tvms_interp_new_temporary(m), used = m->used;
  uint32_t c = tvms_interp_make_value(m, condition);
  uint32_t over = tvms_interp_emit(m, TVMS_CODE_JUMP_IF_NOT, node, 0, c, 0);
  uint32_t bound = m->bound.len;
  m->used = used;
  tvms_interp_make_value_in(m, first, slot);
  tvms_interp_forget(m, bound);
  uint32_t end = tvms_interp_emit(m, TVMS_CODE_JUMP, node, 0, 0, 0);
  tvms_interp_land(m, over);
  tvms_interp_make_value_in(m, second, slot);
  tvms_interp_forget(m, bound);
  tvms_interp_land(m, end);
  m->used = used;
  return slot;
}

static bool sides_are_plain(const tvms_node *node, const tvms_node *first,
                            const tvms_node *second) {
  return tvms_dtype_same(node->dtype, first->dtype)
         && tvms_dtype_same(node->dtype, second->dtype);
}

static uint32_t make_let(maker *m, const tvms_node *node) {
  const tvms_let *let = tvms_as_let(node);
  if (let->var->dtype.lanes > 1) return make_tree_value(m, node);
  tvms_interp_make_binding(m, let->var, let->value);
  return tvms_interp_make_value(m, let->body);
}

// ---- Calls ----

static uint32_t make_math(maker *m, const tvms_call *call, tvms_tir_opcode op) {
  uint32_t arity = tvms_interp_math_arity(op), slots[3];
  tvms_dtype type = call->head.dtype;
  bool plain = arity <= call->args.len && arity <= 3 && tvms_dtype_is_real(type);
  for (uint32_t i = 0; plain && i < arity; i++)
    plain = tvms_dtype_same(call->args.items[i]->dtype, type);
  if (!plain) return make_tree_value(m, &call->head);
  uint32_t slot = tvms_interp_new_temporary(m), used = m->used;
  for (uint32_t i = 0; i < arity; i++)
    slots[i] = tvms_interp_make_value(m, call->args.items[i]);
  uint32_t list = tvms_interp_new_list(m, slots, arity);
  bool f32 = tvms_interp_is_f32(type);
  tvms_interp_emit_n(m, f32 ? TVMS_CODE_MATH_F32 : TVMS_CODE_MATH, &call->head,
                     (uint32_t)op, slot, list, arity);
  m->used = used;
  return slot;
}

static tvms_interp_opcode bit_op(tvms_tir_opcode op, bool is_unsigned) {
  switch ((int)op) {
  case TVMS_TIR_bitwise_and: return TVMS_CODE_BIT_AND;
  case TVMS_TIR_bitwise_or: return TVMS_CODE_BIT_OR;
  case TVMS_TIR_bitwise_xor: return TVMS_CODE_BIT_XOR;
  case TVMS_TIR_bitwise_not: return TVMS_CODE_BIT_NOT;
  case TVMS_TIR_shift_left: return TVMS_CODE_SHIFT_LEFT;
  default: return is_unsigned ? TVMS_CODE_SHIFT_RIGHT_U : TVMS_CODE_SHIFT_RIGHT;
  }
}

static uint32_t make_bits(maker *m, const tvms_call *call, tvms_tir_opcode op) {
  tvms_dtype type = call->head.dtype;
  uint32_t arity = op == TVMS_TIR_bitwise_not ? 1 : 2;
  bool plain = call->args.len >= arity && !tvms_dtype_is_real(type);
  for (uint32_t i = 0; plain && i < arity; i++)
    plain = tvms_dtype_same(call->args.items[i]->dtype, type);
  // All bits of a byte but one are none of a bool.
  plain &= arity == 2 || type.code != TVMS_BOOL;
  if (!plain) return make_tree_value(m, &call->head);
  uint32_t slot = tvms_interp_new_temporary(m), used = m->used;
  uint32_t a = tvms_interp_make_value(m, call->args.items[0]);
  uint32_t b = arity == 2 ? tvms_interp_make_value(m, call->args.items[1]) : a;
  tvms_interp_emit_n(m, bit_op(op, tvms_dtype_is_uint(type)), &call->head,
                     tvms_interp_dl_type_of(type).bits, slot, a, b);
  bool may_grow = op == TVMS_TIR_shift_left || op == TVMS_TIR_bitwise_not;
  if (may_grow) tvms_interp_make_fit(m, &call->head, slot);
  m->used = used;
  return slot;
}

static uint32_t make_call(maker *m, const tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  tvms_node *const *args = call->args.items;
  tvms_tir_opcode op = tvms_call_opcode(node);
  if (tvms_interp_math_arity(op)) return make_math(m, call, op);
  switch ((int)op) {
  case TVMS_TIR_if_then_else:
    if (call->args.len != 3 || !sides_are_plain(node, args[1], args[2])) break;
    return make_choice(m, node, args[0], args[1], args[2]);
  case TVMS_TIR_likely:
  case TVMS_TIR_tvm_thread_invariant:
    if (!call->args.len || !tvms_dtype_same(args[0]->dtype, node->dtype)) break;
    return tvms_interp_make_value(m, args[0]);
  case TVMS_TIR_bitwise_and:
  case TVMS_TIR_bitwise_or:
  case TVMS_TIR_bitwise_xor:
  case TVMS_TIR_bitwise_not:
  case TVMS_TIR_shift_left:
  case TVMS_TIR_shift_right: return make_bits(m, call, op);
  default: break;
  }
  return make_tree_value(m, node);
}

// ---- Vectors ----

static uint32_t lanes_of(const tvms_node *node) {
  return node->dtype.lanes > 1 ? (uint32_t)node->dtype.lanes : 1;
}

static uint32_t make_ramp(maker *m, const tvms_node *node) {
  const tvms_ramp *ramp = tvms_as_ramp(node);
  uint32_t inner = lanes_of(ramp->base), steps = m->lane / inner;
  uint32_t slot = tvms_interp_new_temporary(m), used = m->used;
  m->lane %= inner;
  uint32_t base = tvms_interp_make_value(m, ramp->base);
  uint32_t stride = tvms_interp_make_value(m, ramp->stride);
  uint32_t count = tvms_interp_new_constant(m, (tvms_scalar){.i = steps});
  tvms_interp_emit(m, TVMS_CODE_MUL_I64, node, slot, stride, count);
  tvms_interp_emit(m, TVMS_CODE_ADD_I64, node, slot, slot, base);
  tvms_interp_make_fit(m, node, slot);
  m->used = used;
  return slot;
}

// ---- All of them ----

static uint32_t make_kind(maker *m, const tvms_node *node) {
  if (node->dtype.lanes < 1) return make_tree_value(m, node);
  if (tvms_node_is_binary(node))
    return binary_is_plain(node) ? make_binary(m, node) : make_tree_value(m, node);
  switch ((int)node->kind) {
  case TVMS_NODE_FLOAT_IMM: return make_float(m, node);
  case TVMS_NODE_BUFFER_LOAD: return tvms_interp_make_load(m, node);
  case TVMS_NODE_NOT: {
    if (tvms_dtype_is_real(tvms_as_not(node)->a->dtype)) break;
    uint32_t slot = tvms_interp_new_temporary(m);
    uint32_t a = tvms_interp_make_value(m, tvms_as_not(node)->a);
    tvms_interp_emit(m, TVMS_CODE_NOT, node, slot, a, 0);
    return slot;
  }
  case TVMS_NODE_SELECT: {
    const tvms_select *select = tvms_as_select(node);
    if (!sides_are_plain(node, select->true_value, select->false_value)) break;
    return make_choice(m, node, select->condition, select->true_value,
                       select->false_value);
  }
  case TVMS_NODE_RAMP: return make_ramp(m, node);
  case TVMS_NODE_BROADCAST: {
    const tvms_node *value = tvms_as_broadcast(node)->value;
    m->lane %= lanes_of(value);
    return tvms_interp_make_value(m, value);
  }
  case TVMS_NODE_CAST:
    if (!tvms_interp_cast_is_plain(node)) break;
    return tvms_interp_make_cast(m, node);
  case TVMS_NODE_LET: return make_let(m, node);
  case TVMS_NODE_CALL: return make_call(m, node);
  case TVMS_NODE_PRIM_VALUE:
    return tvms_interp_make_value(m, tvms_as_prim_value(node)->value);
  default: break;
  }
  return make_tree_value(m, node);
}

uint32_t tvms_interp_make_value(maker *m, const tvms_node *node) {
  if (node->kind == TVMS_NODE_VAR) return make_variable(m, node);
  if (node->kind == TVMS_NODE_INT_IMM) {
    tvms_scalar value = {.i = tvms_as_int_imm(node)->value};
    return tvms_interp_new_constant(m, value);
  }
  if (m->failed || !tvms_memory_enter(&m->context->memory)) {
    if (!m->failed) tvms_memory_leave(&m->context->memory);
    m->failed = true;
    return 0;
  }
  uint32_t lane = m->lane;
  if (node->dtype.lanes <= 1) m->lane = 0;
  m->depth++;
  if (m->depth > m->deepest) m->deepest = m->depth;
  uint32_t slot = make_kind(m, node);
  m->depth--;
  m->lane = lane;
  tvms_memory_leave(&m->context->memory);
  return slot;
}

void tvms_interp_make_value_in(maker *m, const tvms_node *node, uint32_t slot) {
  uint32_t used = m->used;
  uint32_t value = tvms_interp_make_value(m, node);
  if (value != slot) tvms_interp_emit(m, TVMS_CODE_MOVE, node, slot, value, 0);
  m->used = used;
}

void tvms_interp_make_binding(maker *m, const tvms_node *var, const tvms_node *value) {
  tvms_interp_fact *fact = &m->facts[var->id];
  bool same = tvms_dtype_same(var->dtype, value->dtype);
  // Integers of another type are not brought into that of the variable.
  if (!same && !(is_whole(var->dtype) && is_whole(value->dtype))) m->failed = true;
  bool means = same && fact->sites == 1 && tvms_interp_is_without_effects(m, value);
  fact->means = means ? value : NULL;
  if (means && tvms_interp_hoist(m, var)) return;
  bool alias = means && value->kind == TVMS_NODE_VAR;
  if (!alias) {
    uint32_t used = m->used, slot = tvms_interp_make_value(m, value);
    bool f32 = tvms_interp_is_f32(var->dtype);
    tvms_interp_emit(m, f32 ? TVMS_CODE_WIDEN : TVMS_CODE_MOVE, value, var->id, slot,
                     0);
    m->used = used;
  }
  tvms_interp_make_definite(m, var->id, false);
}
