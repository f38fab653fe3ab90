// VectorizeLoop: the steps of marked loops at once, as vectors.
//
// Before: for i in T.vectorized(4): A[i] = B[i] + x
// After:  A[0:4] = B[0:4] + T.Broadcast(x, 4)
//
// A statement that has no vector form (a condition on the variable, a call of something
// unknown, a loop with as many steps as the variable says) becomes a serial loop of its own; it
// may use no variable that became a vector.
// Where the target has vectors of variable length, a condition `i < n` becomes a mask, and for
// RISC-V loops of a fixed extent are cut into such vectors. With native_functions vectors have as many lanes as
// loops have steps on every target, and conditions of lanes are masks as they stand. The body may hold no `while`. With
// enable_vectorize=false marked loops become serial. TVM: tirx.transform.VectorizeLoop, which makes a mask of
// `i * 2 < n`, too, one of other lanes.
#include "ir/fold_ops.h"
#include "ir/object.h"
#include "ir/target.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/remarks.h"
#include "passes/tir/loop/vectorize_mask.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

// ---- Statements of a loop ----

static tvms_sym with_suffix(tvms_unit *unit, const tvms_node *var, const char *suffix) {
  const char *name = tvms_symbol_text(unit->context, tvms_as_var(var)->name);
  size_t len = strlen(name) + strlen(suffix);
  char *text = tvms_arena_array(&unit->arena, char, len + 1);
  snprintf(text, len + 1, "%s%s", name, suffix);
  return tvms_symbol_intern(unit->context, text, len);
}

static tvms_node *serial_loop(tvms_unit *unit, tvms_node *var, tvms_node *extent,
                              tvms_node *body) {
  tvms_for *loop = tvms_node_make(unit, FOR, body->span);
  loop->var = var;
  loop->min = tvms_int_imm_new(unit, var->dtype, 0, TVMS_NO_SPAN);
  loop->extent = extent;
  loop->body = body;
  return &loop->head;
}

static tvms_walk_step find_vector(void *self, tvms_node *node, tvms_field_role role) {
  const tvms_node_map *vectors = self;
  bool found = node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_USE
               && tvms_node_map_get(vectors, node);
  return found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// The statement as it was, step by step.
static tvms_node *scalarize(tvms_vectorizer *v, tvms_node *node) {
  const char *why = v->reason ? v->reason : "it has no vector form";
  tvms_pass_remark(v->run, TVMS_REMARK_MISSED, TVMS_D_step_by_step, node->span, why);
  tvms_pass_count(v->run, "statements done step by step", 1);
  v->reason = NULL;
  const tvms_node *var = v->loop->var;
  tvms_visitor visitor = {.self = &v->vectors, .enter = find_vector};
  if (!tvms_walk(&v->unit->context->memory, node, &visitor)) {
    tvms_vectorize_fail(v, node,
                        "it has no vector form, and it needs a variable that has");
    return node;
  }
  tvms_node *step =
      tvms_var_new(v->unit, with_suffix(v->unit, var, ".s"), var->dtype, var->span);
  tvms_node *body = tvms_substitute_one(v->unit, node, var, step);
  return serial_loop(v->unit, step, v->loop->extent, body);
}

static int width(int lanes) {
  return lanes < 0 ? -lanes : lanes;
}

static tvms_node *store(tvms_rewriter *r, tvms_node *node) {
  tvms_vectorizer *v = r->self;
  tvms_node *made = tvms_rewrite_below(r, node);
  if (made == node || v->scalarize || v->failed) return made;
  tvms_store *new = tvms_as_store(made);
  int others = tvms_as_buffer(new->buffer)->element.lanes;
  for (uint32_t i = 0; i + 1 < new->indices.len; i++) {
    if (!tvms_dtype_is_scalar(new->indices.items[i]->dtype)) others = -1;
  }
  if (others < 0 || new->indices.len == 0) {
    tvms_vectorize_fail(v, node, "only the last index of a buffer can be a vector");
    return node;
  }
  tvms_node **last = &new->indices.items[new->indices.len - 1];
  int total = others * width((*last)->dtype.lanes);
  int of_value = width(new->value->dtype.lanes);
  if (of_value > total) total = of_value;
  int sign = (*last)->dtype.lanes < 0 ? -1 : 1;
  tvms_node *index = NULL, *value = NULL;
  if (total % others == 0) {
    index = tvms_vectorize_broadcast(v, *last, sign * (total / others));
    value = tvms_vectorize_broadcast(v, new->value, sign * total);
  } else {
    tvms_vectorize_fail(v, node, "its value has more lanes than its place");
  }
  if (!index || !value) return node;
  if (new->indices.items == tvms_as_store(node)->indices.items) {
    new->indices = tvms_list_copy(v->unit, new->indices.items, new->indices.len);
  }
  new->indices.items[new->indices.len - 1] = index;
  new->value = value;
  return made;
}

static tvms_node *inner_loop(tvms_rewriter *r, tvms_node *node) {
  tvms_vectorizer *v = r->self;
  const tvms_for *loop = tvms_as_for(node);
  if (!tvms_node_is_int(loop->min, 0)) {
    tvms_vectorize_fail(v, node, "an inner loop does not begin at 0");
    return node;
  }
  tvms_node *extent = tvms_rewrite(r, loop->extent);
  if (v->scalarize || v->failed) return node;
  if (!tvms_dtype_is_scalar(extent->dtype)) {
    v->reason = "the steps of an inner loop depend on the loop";
    return scalarize(v, node);
  }
  tvms_node *body = tvms_rewrite(r, loop->body);
  if (extent == loop->extent && body == loop->body) return node;
  tvms_node *copy = tvms_node_copy(v->unit, node);
  tvms_as_for(copy)->extent = extent;
  tvms_as_for(copy)->body = body;
  return copy;
}

static tvms_node *branch(tvms_rewriter *r, tvms_node *node) {
  tvms_vectorizer *v = r->self;
  const tvms_if_then_else *old = tvms_as_if_then_else(node);
  tvms_node *condition = tvms_rewrite(r, old->condition);
  bool serial = v->scalarize;
  v->scalarize = false;
  tvms_node *then_case = tvms_rewrite(r, old->then_case);
  tvms_node *else_case = old->else_case ? tvms_rewrite(r, old->else_case) : NULL;
  if (v->failed) return node;
  if (!tvms_dtype_is_scalar(condition->dtype)) {
    bool masked = v->machine.masked && !else_case;
    tvms_node *made = masked ? tvms_vectorize_mask(v, then_case, condition) : NULL;
    if (made) return made;
    bool native = TVMS_OPTION(v->run, VectorizeLoop, native_functions).number;
    if (native && !else_case && !serial)
      made = tvms_vectorize_mask_store(v, then_case, condition);
    if (made) return made;
    serial = true;
    v->reason = "its condition depends on the loop";
  }
  if (serial) return scalarize(v, node);
  if (condition == old->condition && then_case == old->then_case
      && else_case == old->else_case)
    return node;
  tvms_node *copy = tvms_node_copy(v->unit, node);
  tvms_if_then_else *new = tvms_as_if_then_else(copy);
  new->condition = condition;
  new->then_case = then_case;
  new->else_case = else_case;
  return copy;
}

static tvms_node *bind(tvms_rewriter *r, tvms_node *node) {
  tvms_vectorizer *v = r->self;
  const tvms_bind *old = tvms_as_bind(node);
  tvms_node *value = tvms_rewrite(r, old->value), *var = old->var;
  if (value == old->value || v->scalarize) return node;
  if (value->dtype.lanes != old->value->dtype.lanes) {
    var = tvms_var_new(v->unit, tvms_as_var(var)->name, value->dtype, var->span);
    tvms_node_map_put(&r->known, old->var, var);
    tvms_node_map_put(&v->vectors, old->var, var);
  }
  tvms_node *copy = tvms_node_copy(v->unit, node);
  tvms_as_bind(copy)->value = value;
  tvms_as_bind(copy)->var = var;
  return copy;
}

static tvms_node *vector_stmt(tvms_rewriter *r, tvms_node *node) {
  switch (node->kind) {
  case TVMS_NODE_STORE: return store(r, node);
  case TVMS_NODE_FOR: return inner_loop(r, node);
  case TVMS_NODE_IF_THEN_ELSE: return branch(r, node);
  case TVMS_NODE_BIND: return bind(r, node);
  case TVMS_NODE_WHILE:
    tvms_vectorize_fail(r->self, node, "it is a while loop");
    return node;
  case TVMS_NODE_BLOCK_REALIZE:
    tvms_vectorize_fail(r->self, node, "it is a block, which LowerOpaqueBlock removes");
    return node;
  default: return tvms_rewrite_below(r, node);
  }
}

static tvms_node *enter_stmt(tvms_rewriter *r, tvms_node *node) {
  tvms_vectorizer *v = r->self;
  if (v->failed) return node;
  if (node->kind == TVMS_NODE_SEQ) return TVMS_REWRITE_BELOW;
  tvms_node *made = vector_stmt(r, node);
  if (!v->scalarize) return made;
  v->scalarize = false;
  return scalarize(v, node);
}

// ---- Loops ----

typedef struct {
  tvms_pass_run *run;
  tvms_unit *unit;
  tvms_analyzer *analyzer;
  tvms_vector_machine machine;
  // What tirx.enable_buffer_level_predication says: -1 nothing, else 0 or 1.
  int masks;
} pass_state;

// What the machine of a target has. Native code has vectors of fixed length only.
static void take_target(pass_state *s, const tvms_node *TVMS_NULLABLE node) {
  if (!node || node->kind != TVMS_NODE_OBJECT_TARGET) return;
  if (TVMS_OPTION(s->run, VectorizeLoop, native_functions).number) return;
  s->machine = (tvms_vector_machine){0};
  const tvms_node *config = tvms_as_object_target(node)->config;
  if (config->kind == TVMS_NODE_OBJECT_MAP) {
    tvms_target target;
    tvms_target_from_config(s->unit, config, &target);
    int64_t sve = tvms_target_number(&target, "feature.has_sve", 0);
    s->machine.riscv = target.triple && strncmp(target.triple, "riscv", 5) == 0
                       && tvms_target_has_feature(&target, "v");
    s->machine.variable_length =
        sve || tvms_target_has_feature(&target, "sve") || s->machine.riscv;
  }
  s->machine.masked = s->masks < 0 ? s->machine.variable_length : s->masks > 0;
}

static tvms_walk_step stop_at_call(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  return node->kind == TVMS_NODE_CALL ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static tvms_walk_step stop_at_vscale(void *self, tvms_node *node,
                                     tvms_field_role role) {
  (void)self;
  (void)role;
  return tvms_call_opcode(node) == TVMS_TIR_vscale ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool finds(tvms_unit *unit, tvms_node *node,
                  tvms_walk_step (*enter)(void *, tvms_node *, tvms_field_role)) {
  tvms_visitor visitor = {.enter = enter};
  return !tvms_walk(&unit->context->memory, node, &visitor);
}

static tvms_walk_step stop_at_vector(void *self, tvms_node *node,
                                     tvms_field_role role) {
  (void)self;
  (void)role;
  int lanes = node->dtype.lanes;
  return lanes > 1 || lanes < 0 ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static void tell_vectorized(const pass_state *s, const tvms_for *loop, int64_t steps) {
  char lanes[24] = "as many";
  if (steps) snprintf(lanes, sizeof lanes, "%lld", (long long)steps);
  tvms_pass_count(s->run, "loops vectorized", 1);
  tvms_pass_remark(s->run, TVMS_REMARK_PASSED, TVMS_D_vectorized, loop->head.span,
                   lanes);
}

static tvms_node *vectorize(pass_state *s, const tvms_for *loop) {
  tvms_unit *unit = s->unit;
  tvms_vectorizer v = {.run = s->run,
                       .unit = unit,
                       .analyzer = s->analyzer,
                       .loop = loop,
                       .machine = s->machine};
  bool constant = tvms_node_is_int_imm(loop->extent);
  bool scalable =
      s->machine.variable_length && finds(unit, loop->extent, stop_at_vscale);
  int64_t steps = constant ? tvms_as_int_imm(loop->extent)->value : 0;
  if (!tvms_node_is_int(loop->min, 0)) {
    tvms_vectorize_fail(&v, &loop->head, "it does not begin at 0");
  } else if (constant && (steps < 2 || steps > INT16_MAX)) {
    tvms_vectorize_fail(&v, &loop->head, "no vector has as many lanes as it has steps");
  } else if (!constant && !scalable) {
    tvms_vectorize_fail(&v, &loop->head,
                        "its target has no vectors of as many lanes as it has steps");
  }
  if (v.failed) return loop->body;
  tvms_node *zero = tvms_int_imm_new(unit, loop->var->dtype, 0, TVMS_NO_SPAN);
  tvms_node *one = tvms_int_imm_new(unit, loop->var->dtype, 1, TVMS_NO_SPAN);
  v.ramp = tvms_build_ramp(unit, zero, one, loop->extent, loop->head.span);
  if (!v.ramp) return loop->body;
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &v);
  tvms_node_map_init(&v.vectors, &unit->context->memory);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  tvms_vectorize_set_hooks(&r);
  tvms_rewriter_enter_class(&r, TVMS_CLASS_STMT, enter_stmt);
  tvms_node_map_put(&r.known, loop->var, v.ramp);
  tvms_node *made = tvms_rewrite(&r, loop->body);
  tvms_rewriter_fini(&r);
  tvms_node_map_fini(&v.vectors);
  // Of a loop whose statements are all done step by step no vectors are left.
  if (!v.failed && made && finds(unit, made, stop_at_vector))
    tell_vectorized(s, loop, steps);
  return made ? made : tvms_stmt_none(unit, loop->head.span);
}

// ---- RISC-V: a loop of a fixed extent over vectors whose length the machine knows ----

enum { RISCV_VSCALE_FACTOR = 4 };

static tvms_node *cast_to(tvms_unit *unit, tvms_dtype dtype, tvms_node *value) {
  return tvms_dtype_same(dtype, value->dtype)
             ? value
             : tvms_cast_new(unit, dtype, value, TVMS_NO_SPAN);
}

static tvms_node *cut_into_vectors(pass_state *s, const tvms_for *old) {
  tvms_unit *unit = s->unit;
  tvms_dtype dtype = old->var->dtype, of_lanes = TVMS_DTYPE(INT, 32);
  tvms_node *vscale =
      tvms_call_new_of(unit, of_lanes, TVMS_TIR_vscale, NULL, 0, TVMS_NO_SPAN);
  tvms_node *factor =
      tvms_int_imm_new(unit, of_lanes, RISCV_VSCALE_FACTOR, TVMS_NO_SPAN);
  tvms_node *lanes = tvms_binary_new(unit, TVMS_NODE_MUL, vscale, factor, TVMS_NO_SPAN);
  tvms_node *step = cast_to(unit, dtype, lanes);
  tvms_node *extent =
      tvms_int_imm_new(unit, dtype, tvms_as_int_imm(old->extent)->value, TVMS_NO_SPAN);
  tvms_node *outer =
      tvms_var_new(unit, with_suffix(unit, old->var, ".vla.o"), dtype, old->var->span);
  tvms_node *inner = tvms_var_new(unit, with_suffix(unit, old->var, ".vla.i"), of_lanes,
                                  old->var->span);
  tvms_node *index = tvms_build_binary(unit, TVMS_NODE_MUL, outer, step, TVMS_NO_SPAN);
  index = tvms_build_binary(unit, TVMS_NODE_ADD, index, cast_to(unit, dtype, inner),
                            TVMS_NO_SPAN);
  tvms_if_then_else *guard = tvms_node_make(unit, IF_THEN_ELSE, old->head.span);
  guard->condition = tvms_build_binary(unit, TVMS_NODE_LT, index, extent, TVMS_NO_SPAN);
  guard->then_case = tvms_substitute_one(unit, old->body, old->var, index);
  tvms_node *vectors = serial_loop(unit, inner, lanes, &guard->head);
  tvms_as_for(vectors)->for_kind = TVMS_FOR_VECTORIZED;
  tvms_as_for(vectors)->annotations = old->annotations;
  tvms_node *count = tvms_build_ceil_div(unit, extent, step, TVMS_NO_SPAN);
  return serial_loop(unit, outer, count, vectors);
}

static tvms_node *enter_loop(tvms_rewriter *r, tvms_node *node) {
  pass_state *s = r->self;
  const tvms_for *loop = tvms_as_for(node);
  if (loop->for_kind != TVMS_FOR_VECTORIZED) return TVMS_REWRITE_BELOW;
  bool fixed = tvms_node_is_int_imm(loop->extent) && tvms_node_is_int(loop->min, 0)
               && tvms_as_int_imm(loop->extent)->value > 1;
  if (fixed && s->machine.riscv && !finds(s->unit, loop->body, stop_at_call)) {
    return tvms_rewrite(r, cut_into_vectors(s, loop));
  }
  return vectorize(s, loop);
}

static tvms_node *enter_attr(tvms_rewriter *r, tvms_node *node) {
  const tvms_attr_stmt *attr = tvms_as_attr_stmt(node);
  if (tvms_bytes_is(attr->key, "target")) take_target(r->self, attr->node);
  return TVMS_REWRITE_BELOW;
}

// An attribute holds to the end of its sequence.
static tvms_node *enter_seq(tvms_rewriter *r, tvms_node *node) {
  pass_state *s = r->self;
  tvms_vector_machine outer = s->machine;
  tvms_node *made = tvms_rewrite_below(r, node);
  s->machine = outer;
  return made;
}

static tvms_node *serial_instead(tvms_rewriter *r, tvms_node *node) {
  const tvms_for *loop = tvms_as_for(node);
  if (loop->for_kind != TVMS_FOR_VECTORIZED) return node;
  const pass_state *s = r->self;
  tvms_pass_remark(s->run, TVMS_REMARK_MISSED, TVMS_D_step_by_step, node->span,
                   "enable_vectorize is off");
  tvms_node *made = serial_loop(r->unit, loop->var, loop->extent, loop->body);
  tvms_as_for(made)->min = loop->min;
  return made;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  const char *masks =
      TVMS_OPTION(run, VectorizeLoop, enable_buffer_level_predication).text;
  pass_state s = {
      .run = run, .unit = unit, .analyzer = tvms_analyzer_new(unit), .masks = -1};
  if (strcmp(masks, "true") == 0) s.masks = 1;
  if (strcmp(masks, "false") == 0) s.masks = 0;
  s.machine.masked = s.masks > 0;
  take_target(&s, tvms_object_map_get(tvms_as_prim_func(function)->attrs, "target"));
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &s);
  r.roles = TVMS_IN(BODY);
  if (TVMS_OPTION(run, VectorizeLoop, enable_vectorize).number) {
    r.enter[TVMS_NODE_FOR] = enter_loop;
    r.enter[TVMS_NODE_ATTR_STMT] = enter_attr;
    r.enter[TVMS_NODE_SEQ] = enter_seq;
  } else {
    r.leave[TVMS_NODE_FOR] = serial_instead;
  }
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  tvms_analyzer_free(s.analyzer);
  return changed;
}

void tvms_pass_vectorize_loop(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
