// Sums to which each step adds several values.
#include "passes/tir/cpu/terms.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/contraction.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/stage.h"

// The terms of what is stored: the element that it is added to, and the sum of the others.
typedef struct {
  tvms_unit *unit;
  const tvms_store *store;
  tvms_node *own, *rest;
  uint32_t owns, others;
} terms;

// In the order of the text; `minus`: they are taken away.
static void sort_terms(terms *t, tvms_node *node, bool minus) {
  if (node->kind == TVMS_NODE_ADD || node->kind == TVMS_NODE_SUB) {
    sort_terms(t, tvms_as_binary(node)->a, minus);
    sort_terms(t, tvms_as_binary(node)->b, minus != (node->kind == TVMS_NODE_SUB));
    return;
  }
  if (tvms_stage_loads_place(t->store, node)) {
    t->own = node;
    t->owns += minus ? 2 : 1;
    return;
  }
  tvms_node_kind kind = minus ? TVMS_NODE_SUB : TVMS_NODE_ADD;
  tvms_node *first = node;
  if (minus && !t->rest)
    first = tvms_binary_new(t->unit, TVMS_NODE_MUL, node,
                            tvms_build_float(t->unit, node->dtype, -1, node->span),
                            node->span);
  t->rest = t->rest ? tvms_binary_new(t->unit, kind, t->rest, node, node->span) : first;
  t->others++;
}

typedef struct {
  tvms_memory *memory;
  tvms_list indices;
} places;

static tvms_walk_step see(void *self, tvms_node *node, tvms_field_role role) {
  const places *p = self;
  bool names = false;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_VAR || tvms_dtype_is_handle(node->dtype))
    return TVMS_WALK_ON;
  for (uint32_t i = 0; i < p->indices.len; i++)
    names |= tvms_walk_contains(p->memory, p->indices.items[i], node);
  return names ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

// Does the value depend on a variable that the place does not depend on, such as that of a sum?
static bool sums(const terms *t) {
  places p = {&t->unit->context->memory, t->store->indices};
  tvms_visitor visitor = {.self = &p, .enter = see};
  return !tvms_walk(p.memory, t->store->value, &visitor);
}

static tvms_node *leave_store(tvms_rewriter *r, tvms_node *node) {
  const tvms_store *store = tvms_as_store(node);
  terms t = {.unit = r->unit, .store = store};
  if (store->predicate
      || (store->value->kind != TVMS_NODE_ADD && store->value->kind != TVMS_NODE_SUB)
      || !tvms_dtype_is_real(store->value->dtype))
    return node;
  sort_terms(&t, store->value, false);
  bool joins = t.owns == 1 && t.others > 1
               && !tvms_cpu_mentions(t.unit, t.rest, store->buffer) && sums(&t);
  if (!joins) return node;
  tvms_node *value =
      tvms_binary_new(t.unit, TVMS_NODE_ADD, t.own, t.rest, store->value->span);
  if (tvms_as_binary(store->value)->a == t.own) return node;
  return tvms_cpu_store(t.unit, store->buffer, store->indices, value);
}

tvms_node *tvms_cpu_join_terms(tvms_unit *unit, tvms_node *stmt) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, NULL);
  r.leave[TVMS_NODE_STORE] = leave_store;
  tvms_node *made = tvms_rewrite(&r, stmt);
  tvms_rewriter_fini(&r);
  return made;
}

tvms_node *tvms_cpu_add_difference(tvms_unit *unit, tvms_node *stmt) {
  tvms_stage stage;
  if (tvms_stage_read(unit, stmt, &stage) || !tvms_stage_has_sums(&stage)) return stmt;
  const tvms_store *out = stage.store;
  tvms_node *value = out->value;
  if (value->kind != TVMS_NODE_SUB || !tvms_dtype_is_real(value->dtype)
      || !tvms_stage_is_result(&stage, tvms_as_binary(value)->a))
    return stmt;
  tvms_node *minus = tvms_build_float(unit, value->dtype, -1, TVMS_NO_SPAN);
  tvms_node *term = tvms_binary_new(unit, TVMS_NODE_MUL, tvms_as_binary(value)->b,
                                    minus, value->span);
  value =
      tvms_binary_new(unit, TVMS_NODE_ADD, tvms_as_binary(value)->a, term, value->span);
  tvms_node *store = tvms_cpu_store(unit, out->buffer, out->indices, value);
  tvms_node *init = NULL;
  if (stage.init) init = tvms_cpu_store(unit, out->buffer, out->indices, stage.init);
  tvms_stage sum = stage;
  tvms_contraction c;
  sum.store = tvms_as_store(store);
  sum.init = tvms_build_float(unit, value->dtype, 0, TVMS_NO_SPAN);
  if (tvms_contraction_find(unit, &sum, &c)) return stmt;
  return tvms_stage_write(unit, &stage, stage.name, store, init);
}
