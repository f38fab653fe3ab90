// The expressions of a vectorized loop: the loop's variable is a ramp, what depends on it is a
// vector, and scalars next to vectors are broadcast.
//
// Before: A[i * 2] + x   After: A[T.Ramp(0, 2, 4)] + T.Broadcast(x, 4)
#include "passes/tir/loop/vectorize_expr.h"

#include "ir/fold_ops.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/tir/loop/vectorize_mask.h"
#include "support/diag_ids.h"

// ---- Lanes ----

static int width_of(const tvms_node *node) {
  int lanes = node->dtype.lanes;
  return lanes < 0 ? -lanes : lanes;
}

static bool is_scalable(const tvms_node *node) {
  return node->dtype.lanes < 0;
}

static bool is_vector(const tvms_node *node) {
  return node->dtype.lanes < 0 || node->dtype.lanes > 1;
}

// The lanes of an operator of `a` and `b`, one of which may be NULL.
static int common_lanes(const tvms_node *a, const tvms_node *b) {
  int lanes = width_of(a) > width_of(b) ? width_of(a) : width_of(b);
  return is_scalable(a) || is_scalable(b) ? -lanes : lanes;
}

void tvms_vectorize_fail(tvms_vectorizer *vectorizer, const tvms_node *at,
                         const char *why) {
  if (vectorizer->failed) return;
  vectorizer->failed = true;
  tvms_span span =
      at->span.end > at->span.begin ? at->span : vectorizer->loop->head.span;
  tvms_diag_report(&vectorizer->unit->context->diags, TVMS_D_vectorize, span, why);
}

void tvms_vectorize_scalarize(tvms_vectorizer *vectorizer, const char *reason) {
  vectorizer->scalarize = true;
  vectorizer->reason = reason;
}

tvms_node *tvms_vectorize_broadcast(tvms_vectorizer *vectorizer, tvms_node *value,
                                    int lanes) {
  tvms_unit *unit = vectorizer->unit;
  if (value->dtype.lanes == lanes) return value;
  if (value->kind == TVMS_NODE_BROADCAST && is_scalable(value) == (lanes < 0)
      && lanes % value->dtype.lanes == 0) {
    return tvms_broadcast_new(unit, tvms_as_broadcast(value)->value, lanes,
                              value->span);
  }
  if (!tvms_dtype_is_scalar(value->dtype)) {
    tvms_vectorize_fail(vectorizer, value, "vectors of several lengths meet in it");
    return NULL;
  }
  return tvms_broadcast_new(unit, value, lanes, value->span);
}

// Both operands with the lanes of the longer one; false after a report.
static bool align(tvms_vectorizer *v, tvms_node **a, tvms_node **b) {
  int lanes = common_lanes(*a, *b);
  tvms_node *first = tvms_vectorize_broadcast(v, *a, lanes);
  tvms_node *second = first ? tvms_vectorize_broadcast(v, *b, lanes) : NULL;
  if (!second) return false;
  *a = first;
  *b = second;
  return true;
}

// ---- Operators ----

static tvms_node *ramp_like(tvms_vectorizer *v, const tvms_node *like, tvms_node *base,
                            tvms_node *stride) {
  tvms_node *made =
      tvms_build_ramp(v->unit, base, stride, tvms_as_ramp(like)->lanes, like->span);
  if (made) return made;
  v->failed = true;
  return (tvms_node *)(uintptr_t)like;
}

static tvms_node *build(tvms_vectorizer *v, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  tvms_node *made = tvms_build_binary(v->unit, kind, a, b, TVMS_NO_SPAN);
  if (made) return made;
  v->failed = true;
  return a;
}

static tvms_node *leave_binary(tvms_rewriter *r, tvms_node *node) {
  tvms_vectorizer *v = r->self;
  tvms_node *a = tvms_as_binary(node)->a, *b = tvms_as_binary(node)->b;
  if (node == r->old || v->failed || !align(v, &a, &b)) return node;
  return tvms_binary_new(v->unit, (tvms_node_kind)node->kind, a, b, node->span);
}

// A ramp plus a scalar is a ramp.
static tvms_node *leave_sum(tvms_rewriter *r, tvms_node *node) {
  tvms_vectorizer *v = r->self;
  tvms_node_kind kind = (tvms_node_kind)node->kind;
  tvms_node *a = tvms_as_binary(node)->a, *b = tvms_as_binary(node)->b;
  if (node == r->old || v->failed) return node;
  if (tvms_dtype_is_scalar(a->dtype) && b->kind == TVMS_NODE_RAMP) {
    const tvms_ramp *ramp = tvms_as_ramp(b);
    tvms_node *zero = tvms_build_int(v->unit, ramp->stride->dtype, 0, TVMS_NO_SPAN);
    return ramp_like(v, b, build(v, kind, a, ramp->base),
                     build(v, kind, zero, ramp->stride));
  }
  if (tvms_dtype_is_scalar(b->dtype) && a->kind == TVMS_NODE_RAMP) {
    const tvms_ramp *ramp = tvms_as_ramp(a);
    return ramp_like(v, a, build(v, kind, ramp->base, b), ramp->stride);
  }
  return align(v, &a, &b) ? build(v, kind, a, b) : node;
}

static bool is_positive(tvms_vectorizer *v, tvms_node *value) {
  if (!tvms_dtype_is_scalar(value->dtype)) return false;
  tvms_node *zero = tvms_build_int(v->unit, value->dtype, 0, TVMS_NO_SPAN);
  return tvms_analyzer_can_prove(v->analyzer, build(v, TVMS_NODE_GT, value, zero));
}

// A ramp times a positive scalar is a ramp.
static tvms_node *leave_mul(tvms_rewriter *r, tvms_node *node) {
  tvms_vectorizer *v = r->self;
  tvms_node *a = tvms_as_binary(node)->a, *b = tvms_as_binary(node)->b;
  if (node == r->old || v->failed) return node;
  if (is_vector(a) && is_vector(b) && is_scalable(a) != is_scalable(b)) {
    tvms_vectorize_fail(v, node, "vectors of fixed and of scalable length meet in it");
    return node;
  }
  if (a->kind == TVMS_NODE_RAMP && is_positive(v, b)) {
    const tvms_ramp *ramp = tvms_as_ramp(a);
    return ramp_like(v, a, build(v, TVMS_NODE_MUL, ramp->base, b),
                     build(v, TVMS_NODE_MUL, ramp->stride, b));
  }
  if (b->kind == TVMS_NODE_RAMP && is_positive(v, a)) {
    const tvms_ramp *ramp = tvms_as_ramp(b);
    return ramp_like(v, b, build(v, TVMS_NODE_MUL, ramp->base, a),
                     build(v, TVMS_NODE_MUL, ramp->stride, a));
  }
  return leave_binary(r, node);
}

static tvms_node *leave_not(tvms_rewriter *r, tvms_node *node) {
  if (node == r->old) return node;
  tvms_node *made = tvms_build_not(r->unit, tvms_as_not(node)->a, node->span);
  return made ? made : node;
}

static tvms_node *leave_cast(tvms_rewriter *r, tvms_node *node) {
  if (node == r->old) return node;
  tvms_node *value = tvms_as_cast(node)->value;
  return tvms_cast_new(r->unit, tvms_dtype_with_lanes(node->dtype, value->dtype.lanes),
                       value, node->span);
}

static tvms_node *leave_select(tvms_rewriter *r, tvms_node *node) {
  tvms_vectorizer *v = r->self;
  if (node == r->old || v->failed) return node;
  tvms_select *select = tvms_as_select(node);
  // Each is brought to the lanes of all three.
  int first = common_lanes(select->condition, select->true_value);
  int second = common_lanes(select->true_value, select->false_value);
  int one = first < 0 ? -first : first, two = second < 0 ? -second : second;
  int lanes = one > two ? one : two;
  if (first < 0 || second < 0) lanes = -lanes;
  tvms_node *condition = tvms_vectorize_broadcast(v, select->condition, lanes);
  tvms_node *yes = tvms_vectorize_broadcast(v, select->true_value, lanes);
  tvms_node *no = tvms_vectorize_broadcast(v, select->false_value, lanes);
  if (!condition || !yes || !no) return node;
  return tvms_select_new(v->unit, condition, yes, no, node->span);
}

// ---- Vectors inside of the loop ----

static tvms_node *element(tvms_vectorizer *v, tvms_node *vector, int index) {
  tvms_shuffle *shuffle = tvms_node_make(v->unit, SHUFFLE, vector->span);
  shuffle->head.dtype = tvms_dtype_with_lanes(vector->dtype, 1);
  tvms_node *place =
      tvms_int_imm_new(v->unit, TVMS_DTYPE(INT, 32), index, TVMS_NO_SPAN);
  shuffle->vectors = tvms_list_copy(v->unit, &vector, 1);
  shuffle->indices = tvms_list_copy(v->unit, &place, 1);
  return &shuffle->head;
}

// The vectors one behind the other.
static tvms_node *concatenate(tvms_vectorizer *v, tvms_node_vec *vectors) {
  tvms_node *made = vectors->items[0];
  tvms_memory *memory = &v->unit->context->memory;
  if (vectors->len > 1) {
    int count = (int)vectors->len * made->dtype.lanes;
    tvms_node_vec indices = {0};
    for (int i = 0; i < count; i++) {
      tvms_vec_push(memory, &indices,
                    tvms_int_imm_new(v->unit, TVMS_DTYPE(INT, 32), i, TVMS_NO_SPAN));
    }
    tvms_shuffle *shuffle = tvms_node_make(v->unit, SHUFFLE, made->span);
    shuffle->head.dtype = tvms_dtype_with_lanes(made->dtype, count);
    shuffle->vectors = tvms_list_copy(v->unit, vectors->items, vectors->len);
    shuffle->indices = tvms_list_copy(v->unit, indices.items, indices.len);
    tvms_vec_fini(memory, &indices);
    made = &shuffle->head;
  }
  tvms_vec_fini(memory, vectors);
  return made;
}

// One ramp if the steps join, else one for each step. TVM takes a ramp that does not depend on
// the loop apart, too.
static tvms_node *leave_ramp(tvms_rewriter *r, tvms_node *node) {
  tvms_vectorizer *v = r->self;
  const tvms_ramp *ramp = tvms_as_ramp(node);
  tvms_node *base = ramp->base, *stride = ramp->stride;
  if (is_scalable(base) || is_scalable(stride)) {
    tvms_vectorize_fail(v, node, "it makes scalable vectors of vectors");
    return node;
  }
  bool joins = base->kind == TVMS_NODE_RAMP && !is_vector(stride);
  if (is_vector(base) && !is_vector(stride) && ramp->lanes->kind != TVMS_NODE_INT_IMM) {
    tvms_vectorize_fail(v, node, "it holds a scalable vector");
    return node;
  }
  if (joins) {
    int lanes = base->dtype.lanes;
    tvms_node *count = tvms_build_int(v->unit, stride->dtype, lanes, TVMS_NO_SPAN);
    tvms_node *equal = build(v, TVMS_NODE_EQ, tvms_as_ramp(base)->stride,
                             build(v, TVMS_NODE_MUL, stride, count));
    if (tvms_analyzer_can_prove(v->analyzer, equal)) {
      return tvms_ramp_new(v->unit, tvms_as_ramp(base)->base, stride,
                           lanes * r->old->dtype.lanes, node->span);
    }
  }
  if (v->failed || !align(v, &base, &stride)) return node;
  tvms_node_vec parts = {0};
  for (int i = 0; i < base->dtype.lanes; i++) {
    tvms_node *part = tvms_ramp_new(v->unit, element(v, base, i), element(v, stride, i),
                                    r->old->dtype.lanes, node->span);
    tvms_vec_push(&v->unit->context->memory, &parts, part);
  }
  return concatenate(v, &parts);
}

static tvms_node *leave_broadcast(tvms_rewriter *r, tvms_node *node) {
  tvms_vectorizer *v = r->self;
  if (is_vector(tvms_as_broadcast(node)->value))
    tvms_vectorize_scalarize(v, "a broadcast of what would be a vector");
  return node == r->old ? node : (tvms_node *)(uintptr_t)r->old;
}

// Is `index` the steps of the loop, 0, 1, …, or these modulo the lanes of the vector?
static bool is_step(const tvms_vectorizer *v, const tvms_node *index, int lanes) {
  if (index->kind == TVMS_NODE_FLOOR_MOD) {
    const tvms_binary *modulo = tvms_as_binary(index);
    if (modulo->b->kind != TVMS_NODE_BROADCAST) return false;
    if (!tvms_node_is_int(tvms_as_broadcast(modulo->b)->value, lanes)) return false;
    index = modulo->a;
  }
  if (index->kind != TVMS_NODE_RAMP) return false;
  const tvms_ramp *ramp = tvms_as_ramp(index);
  return tvms_node_is_int(ramp->base, 0) && tvms_node_is_int(ramp->stride, 1)
         && index->dtype.lanes == v->ramp->dtype.lanes;
}

// The element of a vector that the step picks: as a whole it is the vector itself.
static tvms_node *enter_shuffle(tvms_rewriter *r, tvms_node *node) {
  tvms_vectorizer *v = r->self;
  const tvms_shuffle *shuffle = tvms_as_shuffle(node);
  if (shuffle->vectors.len != 1 || shuffle->indices.len != 1) {
    tvms_vectorize_fail(v, node, "it picks several elements of vectors");
    return node;
  }
  tvms_node *vector = shuffle->vectors.items[0];
  tvms_node *index = tvms_rewrite(r, shuffle->indices.items[0]);
  if (tvms_rewrite(r, vector) == vector && index == shuffle->indices.items[0])
    return node;
  int lanes = vector->dtype.lanes, all = v->ramp->dtype.lanes;
  if (all < 0 || lanes < 1 || !is_step(v, index, lanes) || lanes > all) {
    tvms_vectorize_fail(v, node, "it picks elements of a vector by another index");
    return node;
  }
  tvms_dtype dtype = v->loop->var->dtype;
  tvms_node *zero = tvms_int_imm_new(v->unit, dtype, 0, TVMS_NO_SPAN);
  if (all / lanes == 1) return tvms_substitute_one(v->unit, vector, v->loop->var, zero);
  tvms_node *two = tvms_int_imm_new(v->unit, dtype, 2, TVMS_NO_SPAN);
  tvms_node *outer = v->ramp;
  v->ramp = tvms_ramp_new(v->unit, zero, two, all / lanes, TVMS_NO_SPAN);
  tvms_node_map_put(&r->known, v->loop->var, v->ramp);
  tvms_node *made = tvms_rewrite(r, vector);
  v->ramp = outer;
  tvms_node_map_put(&r->known, v->loop->var, v->ramp);
  return made;
}

// ---- Calls, loads, lets ----

// What computes each lane on its own.
static const tvms_tir_opcode lanewise[] = {
    TVMS_TIR_bitwise_and,
    TVMS_TIR_bitwise_not,
    TVMS_TIR_bitwise_or,
    TVMS_TIR_bitwise_xor,
    TVMS_TIR_call_llvm_pure_intrin,
    TVMS_TIR_ceil,
    TVMS_TIR_cos,
    TVMS_TIR_cosh,
    TVMS_TIR_exp,
    TVMS_TIR_exp10,
    TVMS_TIR_exp2,
    TVMS_TIR_fabs,
    TVMS_TIR_floor,
    TVMS_TIR_fma,
    TVMS_TIR_likely,
    TVMS_TIR_log,
    TVMS_TIR_log10,
    TVMS_TIR_log2,
    TVMS_TIR_popcount,
    TVMS_TIR_pow,
    TVMS_TIR_q_multiply_shift,
    TVMS_TIR_q_multiply_shift_per_axis,
    TVMS_TIR_round,
    TVMS_TIR_shift_left,
    TVMS_TIR_shift_right,
    TVMS_TIR_sigmoid,
    TVMS_TIR_sin,
    TVMS_TIR_sinh,
    TVMS_TIR_sqrt,
    TVMS_TIR_tan,
    TVMS_TIR_tanh,
    TVMS_TIR_trunc,
};

// What does so, too, though TVM takes it step by step.
static const tvms_tir_opcode lanewise_natively[] = {
    TVMS_TIR_acos,     TVMS_TIR_acosh, TVMS_TIR_asin,  TVMS_TIR_asinh,
    TVMS_TIR_atan,     TVMS_TIR_atan2, TVMS_TIR_atanh, TVMS_TIR_clz,
    TVMS_TIR_copysign, TVMS_TIR_erf,   TVMS_TIR_fmod,  TVMS_TIR_hypot,
    TVMS_TIR_isnan,    TVMS_TIR_ldexp, TVMS_TIR_log1p, TVMS_TIR_nearbyint,
    TVMS_TIR_rsqrt,
};

static bool is_one_of(tvms_tir_opcode opcode, const tvms_tir_opcode *all,
                      size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (all[i] == opcode) return true;
  }
  return false;
}

static bool is_vectorizable(const tvms_vectorizer *v, tvms_tir_opcode opcode) {
  if (is_one_of(opcode, lanewise, sizeof lanewise / sizeof lanewise[0])) return true;
  return TVMS_OPTION(v->run, VectorizeLoop, native_functions).number
         && is_one_of(opcode, lanewise_natively,
                      sizeof lanewise_natively / sizeof lanewise_natively[0]);
}

static tvms_node *finish_if(tvms_vectorizer *v, tvms_call *call) {
  if (is_vector(call->args.items[0])) {
    bool native = TVMS_OPTION(v->run, VectorizeLoop, native_functions).number;
    tvms_node *made = native ? tvms_vectorize_mask_choice(v, call) : NULL;
    if (made) return made;
    tvms_vectorize_scalarize(v, "the condition of T.if_then_else depends on the loop");
    return &call->head;
  }
  tvms_node *yes = call->args.items[1], *no = call->args.items[2];
  if (!align(v, &yes, &no)) return &call->head;
  call->args.items[1] = yes;
  call->args.items[2] = no;
  call->head.dtype = tvms_dtype_with_lanes(call->head.dtype, yes->dtype.lanes);
  return &call->head;
}

// The same bits in elements of another size.
static tvms_node *finish_reinterpret(tvms_call *call, tvms_dtype before) {
  tvms_dtype given = call->args.items[0]->dtype, wanted = call->head.dtype;
  int lanes = given.lanes;
  bool packed = wanted.code == TVMS_FLOAT4_E2M1FN || before.code == TVMS_FLOAT4_E2M1FN;
  if (lanes > 0 && !packed) lanes = given.bits * lanes / wanted.bits;
  call->head.dtype = tvms_dtype_with_lanes(wanted, lanes);
  return &call->head;
}

static bool is_primitive(const tvms_node *node) {
  return !tvms_dtype_is_void(node->dtype) && !tvms_dtype_is_handle(node->dtype)
         && node->kind != TVMS_NODE_STRING_IMM;
}

// All operands get the lanes of the longest one.
static tvms_node *finish_vector_call(tvms_vectorizer *v, tvms_call *call,
                                     uint32_t first) {
  int lanes = 0;
  for (uint32_t i = first; i < call->args.len; i++) {
    const tvms_node *arg = call->args.items[i];
    if (!is_primitive(arg)) continue;
    if (is_scalable(arg)) {
      tvms_vectorize_fail(v, &call->head, "it calls a function of a scalable vector");
      return &call->head;
    }
    if (arg->dtype.lanes > lanes) lanes = arg->dtype.lanes;
  }
  for (uint32_t i = first; i < call->args.len; i++) {
    if (!is_primitive(call->args.items[i])) continue;
    tvms_node *arg = tvms_vectorize_broadcast(v, call->args.items[i], lanes);
    if (!arg) return &call->head;
    call->args.items[i] = arg;
  }
  call->head.dtype = tvms_dtype_with_lanes(call->head.dtype, lanes);
  return &call->head;
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  tvms_vectorizer *v = r->self;
  if (node == r->old || v->failed) return node;
  tvms_call *call = tvms_as_call(node);
  tvms_tir_opcode opcode = tvms_arith_opcode(node);
  if (opcode == TVMS_TIR_if_then_else) return finish_if(v, call);
  if (opcode == TVMS_TIR_reinterpret) {
    return finish_reinterpret(call, tvms_as_call(r->old)->args.items[0]->dtype);
  }
  if (is_vectorizable(v, opcode) && !is_scalable(node)) {
    return finish_vector_call(v, call, opcode == TVMS_TIR_call_llvm_pure_intrin);
  }
  for (uint32_t i = 0; i < call->args.len; i++) {
    if (is_vector(call->args.items[i]))
      tvms_vectorize_scalarize(v, "it calls what takes no vectors");
  }
  return node;
}

// Texels lie side by side: only the channel, which is the last argument, or the value is a
// vector.
static tvms_node *enter_texture(tvms_rewriter *r, tvms_node *node) {
  tvms_vectorizer *v = r->self;
  tvms_tir_opcode opcode = tvms_call_opcode(node);
  const tvms_call *old = tvms_as_call(node);
  bool load = opcode == TVMS_TIR_texture2d_load;
  if (!(load || opcode == TVMS_TIR_texture2d_store) || old->args.len == 0)
    return TVMS_REWRITE_BELOW;
  tvms_node *last = tvms_rewrite(r, old->args.items[old->args.len - 1]);
  tvms_node *copy = tvms_node_copy(v->unit, node);
  tvms_call *call = tvms_as_call(copy);
  call->args = tvms_list_copy(v->unit, old->args.items, old->args.len);
  call->args.items[old->args.len - 1] = last;
  if (load) copy->dtype = tvms_dtype_with_lanes(copy->dtype, last->dtype.lanes);
  return copy;
}

static tvms_node *leave_load(tvms_rewriter *r, tvms_node *node) {
  if (node == r->old) return node;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  for (uint32_t i = 0; i + 1 < load->indices.len; i++) {
    if (!is_vector(load->indices.items[i])) continue;
    tvms_vectorize_fail(r->self, node,
                        "only the last index of a buffer can be a vector");
    return node;
  }
  return tvms_buffer_load_new(r->unit, load->buffer, load->indices.items,
                              load->indices.len, load->predicate, node->span);
}

static tvms_node *enter_let(tvms_rewriter *r, tvms_node *node) {
  const tvms_let *let = tvms_as_let(node);
  tvms_node *value = tvms_rewrite(r, let->value), *var = let->var;
  if (value->dtype.lanes != let->value->dtype.lanes) {
    tvms_sym name = tvms_as_var(var)->name;
    tvms_node *known = tvms_node_map_get(&r->known, var);
    tvms_node *made =
        known ? known : tvms_var_new(r->unit, name, value->dtype, var->span);
    tvms_node_map_put(&r->known, var, made);
    var = made;
  }
  tvms_node *body = tvms_rewrite(r, let->body);
  if (value == let->value && body == let->body) return node;
  return tvms_let_new(r->unit, var, value, body, node->span);
}

void tvms_vectorize_set_hooks(tvms_rewriter *rewriter) {
  for (int kind = TVMS_NODE_ADD; kind <= TVMS_NODE_OR; kind++) {
    rewriter->leave[kind] = leave_binary;
  }
  rewriter->leave[TVMS_NODE_ADD] = leave_sum;
  rewriter->leave[TVMS_NODE_SUB] = leave_sum;
  rewriter->leave[TVMS_NODE_MUL] = leave_mul;
  rewriter->leave[TVMS_NODE_NOT] = leave_not;
  rewriter->leave[TVMS_NODE_CAST] = leave_cast;
  rewriter->leave[TVMS_NODE_SELECT] = leave_select;
  rewriter->leave[TVMS_NODE_RAMP] = leave_ramp;
  rewriter->leave[TVMS_NODE_BROADCAST] = leave_broadcast;
  rewriter->enter[TVMS_NODE_SHUFFLE] = enter_shuffle;
  rewriter->enter[TVMS_NODE_CALL] = enter_texture;
  rewriter->leave[TVMS_NODE_CALL] = leave_call;
  rewriter->leave[TVMS_NODE_BUFFER_LOAD] = leave_load;
  rewriter->enter[TVMS_NODE_LET] = enter_let;
}
