// Taking reductions to several values apart.
//
// Before: v = S[i] + X[i, k]; w = Q[i] + X[i, k] * X[i, k]; S[i] = v; Q[i] = w
// After:  S[i] += X[i, k]    Q[i] += X[i, k] * X[i, k]
//
// Before: I[i] = I[i] if M[i] > X[i, k] or M[i] == X[i, k] and I[i] < k else k;  M[i] = M[i] if M[i] > X[i, k] else X[i, k]
// After:  M[i] = max(M[i], X[i, k])    I[i] = min(I[i], k if X[i, k] == M[i] else the last k)
#include "passes/tir/cpu/tuples.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/node_map.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

typedef struct {
  tvms_unit *unit;
  tvms_stage stage;
  uint32_t count;
  const tvms_store *stores[TVMS_MOST_PARTS];  // in the order of the text
  tvms_node *values[TVMS_MOST_PARTS];         // without variables of the block
  tvms_node *inits[TVMS_MOST_PARTS];
} tuple;

// ---- Reading ----

static bool mentions(const tuple *t, const tvms_node *value, const tvms_store *store) {
  return tvms_cpu_mentions(t->unit, (tvms_node *)(uintptr_t)value, store->buffer);
}

static bool add_store(tuple *t, const tvms_store *store, const tvms_node_map *lets,
                      bool bound) {
  if (store->predicate || t->count == TVMS_MOST_PARTS) return false;
  for (uint32_t i = 0; i < t->count; i++) {
    bool known = tvms_as_buffer(t->stores[i]->buffer)->data
                 == tvms_as_buffer(store->buffer)->data;
    // What was stored by now is no longer what the block began with.
    if (known || (!bound && mentions(t, store->value, t->stores[i]))) return false;
  }
  t->values[t->count] = tvms_substitute(t->unit, store->value, lets);
  t->stores[t->count++] = store;
  return true;
}

static bool read_body(tuple *t, tvms_node *body) {
  if (body->kind != TVMS_NODE_SEQ) return false;
  tvms_list stmts = tvms_as_seq(body)->stmts;
  tvms_node_map lets;
  tvms_node_map_init(&lets, &t->unit->context->memory);
  bool fine = true;
  for (uint32_t i = 0; i < stmts.len && fine; i++) {
    tvms_node *stmt = stmts.items[i];
    if (stmt->kind == TVMS_NODE_BIND && t->count == 0) {
      const tvms_bind *bind = tvms_as_bind(stmt);
      tvms_node_map_put(&lets, bind->var, tvms_substitute(t->unit, bind->value, &lets));
      continue;
    }
    fine = stmt->kind == TVMS_NODE_STORE;
    if (!fine) break;
    const tvms_store *store = tvms_as_store(stmt);
    fine = add_store(t, store, &lets, store->value->kind == TVMS_NODE_VAR);
  }
  tvms_node_map_fini(&lets);
  return fine && t->count > 1;
}

static bool read_init(tuple *t, tvms_node *init) {
  if (init->kind != TVMS_NODE_SEQ) return false;
  tvms_list stmts = tvms_as_seq(init)->stmts;
  if (stmts.len != t->count) return false;
  for (uint32_t i = 0; i < stmts.len; i++) {
    if (stmts.items[i]->kind != TVMS_NODE_STORE) return false;
    const tvms_store *first = tvms_as_store(stmts.items[i]);
    for (uint32_t k = 0; k < t->count; k++) {
      if (mentions(t, first->value, t->stores[k])) return false;
      if (!first->predicate && tvms_stage_same_place(first, t->stores[k]))
        t->inits[k] = first->value;
    }
  }
  for (uint32_t i = 0; i < t->count; i++) {
    if (!t->inits[i]) return false;
  }
  return true;
}

// ---- Sums that know nothing of each other ----

static bool is_apart(const tuple *t, uint32_t at) {
  for (uint32_t i = 0; i < t->count; i++) {
    if (i != at && mentions(t, t->values[at], t->stores[i])) return false;
  }
  return true;
}

static tvms_node *part(const tuple *t, uint32_t at, tvms_node *value, tvms_node *init) {
  const tvms_store *store = t->stores[at];
  const char *name =
      tvms_symbol_text(t->unit->context, tvms_as_buffer(store->buffer)->name);
  return tvms_stage_write(t->unit, &t->stage, name,
                          tvms_cpu_store(t->unit, store->buffer, store->indices, value),
                          tvms_cpu_store(t->unit, store->buffer, store->indices, init));
}

// ---- Searches: where the greatest or least is ----

typedef struct {
  const tuple *t;
  uint32_t value, step;  // the places of what is compared, and of where it is
  bool greatest, last;   // of several equal ones the last
  tvms_node *element, *index;
} search;

static tvms_node *build(const search *s, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_binary_new(s->t->unit, kind, a, b, TVMS_NO_SPAN);
}

// The kind of a comparison of place `at` (on the left, whatever the text says) with `other`; 0: something else.
static int compares(const search *s, uint32_t at, const tvms_node *node,
                    const tvms_node *other) {
  static const struct {
    tvms_node_kind kind, turned;
  } kinds[] = {{TVMS_NODE_EQ, TVMS_NODE_EQ},
               {TVMS_NODE_LT, TVMS_NODE_GT},
               {TVMS_NODE_LE, TVMS_NODE_GE},
               {TVMS_NODE_GT, TVMS_NODE_LT},
               {TVMS_NODE_GE, TVMS_NODE_LE}};
  for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (node->kind != kinds[i].kind) continue;
    const tvms_binary *b = tvms_as_binary(node);
    if (tvms_stage_loads_place(s->t->stores[at], b->a)
        && tvms_node_same_expr(b->b, other))
      return (int)kinds[i].kind;
    if (tvms_stage_loads_place(s->t->stores[at], b->b)
        && tvms_node_same_expr(b->a, other))
      return (int)kinds[i].turned;
  }
  return 0;
}

// M = M if M > X else X, or the same by T.max.
static bool read_value(search *s) {
  tvms_node *value = s->t->values[s->value];
  if (value->kind == TVMS_NODE_MAX || value->kind == TVMS_NODE_MIN) {
    s->greatest = value->kind == TVMS_NODE_MAX;
    s->element = tvms_as_binary(value)->b;
    return tvms_stage_loads_place(s->t->stores[s->value], tvms_as_binary(value)->a);
  }
  if (value->kind != TVMS_NODE_SELECT) return false;
  const tvms_select *choice = tvms_as_select(value);
  s->element = choice->false_value;
  if (!tvms_stage_loads_place(s->t->stores[s->value], choice->true_value)) return false;
  int kind = compares(s, s->value, choice->condition, s->element);
  s->greatest = kind == TVMS_NODE_GT || kind == TVMS_NODE_GE;
  return s->greatest || kind == TVMS_NODE_LT || kind == TVMS_NODE_LE;
}

// Does `node` say that what is there is better than the element? `equal`: or as good.
static bool is_better(const search *s, const tvms_node *node, bool equal) {
  int kind = compares(s, s->value, node, s->element);
  if (equal) return kind == (s->greatest ? TVMS_NODE_GE : TVMS_NODE_LE);
  return kind == (s->greatest ? TVMS_NODE_GT : TVMS_NODE_LT);
}

// I = I if M > X or M == X and I < k else k; without the middle part the last step is found, and with
// M >= X the first one.
static bool read_step(search *s) {
  tvms_node *value = s->t->values[s->step];
  if (value->kind != TVMS_NODE_SELECT) return false;
  const tvms_select *choice = tvms_as_select(value);
  s->index = choice->false_value;
  if (!tvms_stage_loads_place(s->t->stores[s->step], choice->true_value)) return false;
  tvms_node *condition = choice->condition;
  s->last = is_better(s, condition, false);
  if (s->last || is_better(s, condition, true)) return true;
  if (condition->kind != TVMS_NODE_OR) return false;
  const tvms_binary *either = tvms_as_binary(condition);
  if (!is_better(s, either->a, false) || either->b->kind != TVMS_NODE_AND) return false;
  const tvms_binary *tie = tvms_as_binary(either->b);
  int order = compares(s, s->step, tie->b, s->index);
  s->last = order == TVMS_NODE_GT || order == TVMS_NODE_GE;
  return compares(s, s->value, tie->a, s->element) == TVMS_NODE_EQ
         && (s->last || order == TVMS_NODE_LT || order == TVMS_NODE_LE);
}

static tvms_node *plain(tvms_node *node) {
  while (node->kind == TVMS_NODE_CAST && tvms_dtype_is_int(node->dtype))
    node = tvms_as_cast(node)->value;
  return node;
}

// Does the index grow with each step of the sum, in the order of the text, from 0 on?
static bool counts_steps(const search *s) {
  const tvms_stage *stage = &s->t->stage;
  tvms_node *index = plain(s->index);
  int64_t reach = 0;  // by how much it grows along the axes further inside
  bool outermost = false;
  for (uint32_t i = stage->count; i-- > 0;) {
    const tvms_stage_axis *axis = &stage->axes[i];
    int64_t step, extent = tvms_cpu_number(axis->extent);
    if (!tvms_cpu_index_step(s->t->unit, index, axis->var, &step)) return false;
    if (!axis->sums && step) return false;
    if (!axis->sums || tvms_stage_axis_is_single(axis)) continue;
    if (step <= reach || outermost || extent == 0) return false;
    outermost = extent < 0;
    if (__builtin_mul_overflow(step, outermost ? 0 : extent - 1, &step)
        || __builtin_add_overflow(reach, step, &reach))
      return false;
  }
  return true;
}

// The index at the first or the last step of the sum.
static tvms_node *index_at(const search *s, bool last) {
  const tvms_stage *stage = &s->t->stage;
  tvms_node *index = s->index;
  for (uint32_t i = 0; i < stage->count; i++) {
    const tvms_stage_axis *axis = &stage->axes[i];
    if (!axis->sums) continue;
    tvms_node *at = tvms_int_imm_new(s->t->unit, axis->var->dtype, 0, TVMS_NO_SPAN);
    if (last) {
      tvms_node *one = tvms_int_imm_new(s->t->unit, axis->var->dtype, 1, TVMS_NO_SPAN);
      at =
          tvms_build_binary(s->t->unit, TVMS_NODE_SUB, axis->extent, one, TVMS_NO_SPAN);
    }
    index = tvms_substitute_one(s->t->unit, index, axis->var, at);
  }
  return tvms_arith_simplify(s->t->unit, index);
}

// What no step is behind: where the text begins if the last step is looked for, else the last step, or where the
// text begins if there may be none.
static tvms_node *first_place(const search *s) {
  tvms_unit *unit = s->t->unit;
  tvms_node *made = index_at(s, true), *none = s->t->inits[s->step];
  if (s->last) return none;
  for (uint32_t i = 0; i < s->t->stage.count; i++) {
    const tvms_stage_axis *axis = &s->t->stage.axes[i];
    if (!axis->sums || tvms_node_is_int_imm(axis->extent)) continue;
    tvms_node *one = tvms_int_imm_new(unit, axis->extent->dtype, 1, TVMS_NO_SPAN);
    tvms_node *is_empty = build(s, TVMS_NODE_LT, axis->extent, one);
    made = tvms_select_new(unit, is_empty, none, made, TVMS_NO_SPAN);
  }
  return made;
}

static bool find_search(search *s) {
  for (s->value = 0; s->value < 2; s->value++) {
    s->step = 1 - s->value;
    if (!tvms_dtype_is_int(s->t->values[s->step]->dtype) || !read_value(s)
        || !read_step(s))
      continue;
    tvms_node *none = s->t->inits[s->step];
    bool below = tvms_node_is_int_imm(none) && tvms_as_int_imm(none)->value <= 0;
    bool free = true;
    for (uint32_t i = 0; i < 2; i++)
      free &= !mentions(s->t, s->element, s->t->stores[i])
              && !mentions(s->t, s->index, s->t->stores[i]);
    if (!free || !below || !counts_steps(s)) continue;
    // From the first step on, so that what it begins with comes before all of them.
    return tvms_node_is_int(index_at(s, false), 0);
  }
  return false;
}

static void write_search(const search *s, tvms_node *parts[TVMS_MOST_PARTS]) {
  const tuple *t = s->t;
  tvms_node *places[2];
  for (uint32_t i = 0; i < 2; i++)
    places[i] =
        tvms_buffer_load_new(t->unit, t->stores[i]->buffer, t->stores[i]->indices.items,
                             t->stores[i]->indices.len, NULL, TVMS_NO_SPAN);
  tvms_node *found = places[s->value], *step = places[s->step];
  tvms_node_kind better = s->greatest ? TVMS_NODE_MAX : TVMS_NODE_MIN;
  parts[0] = part(t, s->value, build(s, better, found, s->element), t->inits[s->value]);
  tvms_node *began = build(s, TVMS_NODE_EQ, found, t->inits[s->value]);
  // What the search begins with comes before all steps, however many of them are as good.
  tvms_node *edge = index_at(s, !s->last), *none = t->inits[s->step];
  tvms_node *is_met = build(s, TVMS_NODE_EQ, s->element, found);
  if (s->last) edge = tvms_select_new(t->unit, began, none, edge, TVMS_NO_SPAN);
  tvms_node *met = tvms_select_new(t->unit, is_met, s->index, edge, TVMS_NO_SPAN);
  if (!s->last) met = tvms_select_new(t->unit, began, none, met, TVMS_NO_SPAN);
  tvms_node_kind first = s->last ? TVMS_NODE_MAX : TVMS_NODE_MIN;
  parts[1] = part(t, s->step, build(s, first, step, met), first_place(s));
}

uint32_t tvms_cpu_take_tuple_apart(tvms_unit *unit, tvms_node *nest, bool searches,
                                   tvms_node *parts[TVMS_MOST_PARTS]) {
  tuple t = {.unit = unit};
  tvms_node *body, *init;
  bool blocked;
  if (tvms_stage_read_nest(unit, nest, &t.stage, &body, &init, &blocked)) return 0;
  if (!blocked || !init || !tvms_stage_has_sums(&t.stage) || !read_body(&t, body)
      || !read_init(&t, init))
    return 0;
  bool apart = true;
  for (uint32_t i = 0; i < t.count; i++)
    apart &= is_apart(&t, i);
  if (apart) {
    for (uint32_t i = 0; i < t.count; i++)
      parts[i] = part(&t, i, t.values[i], t.inits[i]);
    return t.count;
  }
  search s = {.t = &t};
  if (!searches || t.count != 2 || !find_search(&s)) return 0;
  write_search(&s, parts);
  return 2;
}
