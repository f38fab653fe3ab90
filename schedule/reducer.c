// The rows of TVM's ReducerRegistry as expressions of variables, which are matched with what the
// block stores. The first row that fits counts.
#include "schedule/reducer.h"

#include "arith/analyzer.h"
#include "ir/equal.h"
#include "ir/fold_ops.h"

#include <stdio.h>

// The stores of an init or a body, in the order of the buffers.
typedef struct {
  const tvms_store *items[TVMS_MOST_REDUCED];
  tvms_node *values[TVMS_MOST_REDUCED];
  uint32_t len;
} stores;

// ---- Stores ----

static const char *read_inits(const tvms_node *init, stores *found) {
  tvms_list list = {(tvms_node **)(void *)&init, 1};
  if (init->kind == TVMS_NODE_SEQ) list = tvms_as_seq(init)->stmts;
  for (uint32_t i = 0; i < list.len; i++) {
    if (list.items[i]->kind != TVMS_NODE_STORE)
      return "its init has other statements than stores";
    if (found->len == TVMS_MOST_REDUCED) return "no reduction has as many buffers";
    const tvms_store *store = tvms_as_store(list.items[i]);
    for (uint32_t k = 0; k < found->len; k++) {
      if (found->items[k]->buffer == store->buffer)
        return "its init writes a buffer twice";
    }
    found->values[found->len] = store->value;
    found->items[found->len++] = store;
  }
  return NULL;
}

// Variables that take the new values, then stores of these variables.
static const char *read_bound_updates(tvms_list list, uint32_t count, stores *found) {
  if (list.len != 2 * count)
    return "its body is not one variable and one store for each buffer";
  for (uint32_t i = 0; i < count; i++) {
    if (list.items[i]->kind != TVMS_NODE_BIND
        || list.items[count + i]->kind != TVMS_NODE_STORE)
      return "its body is not one variable and one store for each buffer";
  }
  for (uint32_t i = 0; i < count; i++) {
    const tvms_store *store = tvms_as_store(list.items[count + i]);
    uint32_t at = 0;
    while (at < count && tvms_as_bind(list.items[at])->var != store->value)
      at++;
    if (at == count || found->items[at]) return "its stores do not write its variables";
    found->items[at] = store;
    found->values[at] = tvms_as_bind(list.items[at])->value;
  }
  found->len = count;
  return NULL;
}

static const char *read_updates(const tvms_node *body, uint32_t count, stores *found) {
  if (body->kind == TVMS_NODE_SEQ)
    return read_bound_updates(tvms_as_seq(body)->stmts, count, found);
  if (body->kind != TVMS_NODE_STORE || count != 1)
    return "its body is not one store for each buffer";
  found->items[0] = tvms_as_store(body);
  found->values[0] = found->items[0]->value;
  found->len = 1;
  return NULL;
}

static bool same_places(tvms_unit *unit, tvms_list a, tvms_list b) {
  if (a.len != b.len) return false;
  for (uint32_t i = 0; i < a.len; i++) {
    if (!tvms_arith_prove_equal(unit, a.items[i], b.items[i])) return false;
  }
  return true;
}

// All buffers have one shape and are written at one place; the inits in the order of the updates.
static const char *check_places(tvms_unit *unit, const stores *inits,
                                const stores *updates, tvms_node **identities) {
  const tvms_store *first = updates->items[0];
  for (uint32_t i = 0; i < updates->len; i++) {
    const tvms_buffer *buffer = tvms_as_buffer(updates->items[i]->buffer);
    if (!same_places(unit, buffer->shape, tvms_as_buffer(first->buffer)->shape))
      return "its buffers have different shapes";
    if (!same_places(unit, updates->items[i]->indices, first->indices)
        || !same_places(unit, inits->items[i]->indices, first->indices))
      return "its stores are to different places";
    uint32_t at = 0;
    while (at < inits->len && inits->items[at]->buffer != updates->items[i]->buffer)
      at++;
    if (at == inits->len) return "its init and its body write different buffers";
    identities[i] = inits->values[at];
  }
  return NULL;
}

// ---- Reducers ----

// A reducer in the making: x op y.
typedef struct {
  tvms_unit *unit;
  uint32_t count;
  tvms_node *x[TVMS_MOST_REDUCED], *y[TVMS_MOST_REDUCED];
  tvms_node *result[TVMS_MOST_REDUCED], *identity[TVMS_MOST_REDUCED];
} maker;

static tvms_node *binary(maker *m, tvms_node_kind kind, uint32_t i) {
  return tvms_binary_new(m->unit, kind, m->x[i], m->y[i], TVMS_NO_SPAN);
}

static tvms_node *number(maker *m, uint32_t i, int64_t value) {
  tvms_dtype dtype = m->x[i]->dtype;
  return tvms_dtype_is_real(dtype)
             ? tvms_float_imm_new(m->unit, dtype, (double)value, TVMS_NO_SPAN)
             : tvms_int_imm_new(m->unit, dtype, value, TVMS_NO_SPAN);
}

static void make_plain(maker *m, tvms_node_kind kind, int64_t identity) {
  for (uint32_t i = 0; i < m->count; i++) {
    m->result[i] = binary(m, kind, i);
    m->identity[i] = number(m, i, identity);
  }
}

static tvms_node *least(maker *m, uint32_t i) {
  return tvms_build_min_value(m->unit, m->x[i]->dtype, TVMS_NO_SPAN);
}

static tvms_node *greatest(maker *m, uint32_t i) {
  return tvms_build_max_value(m->unit, m->x[i]->dtype, TVMS_NO_SPAN);
}

static void make_extreme(maker *m, tvms_node_kind kind) {
  m->result[0] = binary(m, kind, 0);
  m->identity[0] = kind == TVMS_NODE_MIN ? greatest(m, 0) : least(m, 0);
}

// The place of an extreme: that of x if `kind` holds of the values; with `first`, the smaller place
// of equal ones.
static void make_place(maker *m, tvms_node_kind kind, bool first) {
  tvms_node *better = binary(m, kind, 1), *at = better;
  if (first) {
    tvms_node *tie = tvms_binary_new(m->unit, TVMS_NODE_AND, binary(m, TVMS_NODE_EQ, 1),
                                     binary(m, TVMS_NODE_LT, 0), TVMS_NO_SPAN);
    at = tvms_binary_new(m->unit, TVMS_NODE_OR, better, tie, TVMS_NO_SPAN);
    better = binary(m, kind, 1);
  }
  bool most = kind == TVMS_NODE_GE || kind == TVMS_NODE_GT;
  m->result[0] = tvms_select_new(m->unit, at, m->x[0], m->y[0], TVMS_NO_SPAN);
  m->result[1] = tvms_select_new(m->unit, better, m->x[1], m->y[1], TVMS_NO_SPAN);
  m->identity[0] = number(m, 0, -1);
  m->identity[1] = most ? least(m, 1) : greatest(m, 1);
}

// Row `row` of the registry for as many buffers; false behind the last.
static bool make_row(maker *m, uint32_t row) {
  if (m->count == 1) {
    switch (row) {
    case 0: make_plain(m, TVMS_NODE_ADD, 0); return true;
    case 1: make_plain(m, TVMS_NODE_MUL, 1); return true;
    case 2: make_extreme(m, TVMS_NODE_MIN); return true;
    case 3: make_extreme(m, TVMS_NODE_MAX); return true;
    default: return false;
    }
  }
  switch (row) {
  case 0: make_plain(m, TVMS_NODE_ADD, 0); return true;
  case 1: make_place(m, TVMS_NODE_GE, false); return true;
  case 2: make_place(m, TVMS_NODE_GT, true); return true;
  case 3: make_place(m, TVMS_NODE_LE, false); return true;
  case 4: make_place(m, TVMS_NODE_LT, true); return true;
  default: return false;
  }
}

// ---- Matching ----

// What the variables of a pattern stand for.
typedef struct {
  const maker *m;
  tvms_node *x[TVMS_MOST_REDUCED], *y[TVMS_MOST_REDUCED];
} filling;

static tvms_node **place_of(filling *f, const tvms_node *var) {
  for (uint32_t i = 0; i < f->m->count; i++) {
    if (f->m->x[i] == var) return &f->x[i];
    if (f->m->y[i] == var) return &f->y[i];
  }
  return NULL;
}

static bool match(filling *f, const tvms_node *pattern, tvms_node *node) {
  if (pattern->kind == TVMS_NODE_VAR) {
    tvms_node **place = place_of(f, pattern);
    if (!*place) *place = node;
    return *place == node || tvms_node_same_expr(*place, node);
  }
  if (pattern->kind != node->kind) return false;
  if (tvms_node_is_binary(pattern)) {
    const tvms_binary *a = tvms_as_binary(pattern), *b = tvms_as_binary(node);
    return match(f, a->a, b->a) && match(f, a->b, b->b);
  }
  const tvms_select *a = tvms_as_select(pattern), *b = tvms_as_select(node);
  return match(f, a->condition, b->condition) && match(f, a->true_value, b->true_value)
         && match(f, a->false_value, b->false_value);
}

static bool is_load_of(const tvms_node *node, const tvms_store *store) {
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return false;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (load->buffer != store->buffer || load->indices.len != store->indices.len)
    return false;
  for (uint32_t i = 0; i < load->indices.len; i++) {
    if (!tvms_node_same_expr(load->indices.items[i], store->indices.items[i]))
      return false;
  }
  return true;
}

static bool fits(const maker *m, const stores *updates, tvms_node *const *identities,
                 tvms_reduction *reduction) {
  filling f = {.m = m};
  for (uint32_t i = 0; i < m->count; i++) {
    if (!m->identity[i] || !tvms_node_same_expr(m->identity[i], identities[i]))
      return false;
    if (!match(&f, m->result[i], updates->values[i])) return false;
  }
  for (uint32_t i = 0; i < m->count; i++) {
    if (!f.x[i] || !f.y[i] || !is_load_of(f.x[i], updates->items[i])) return false;
    reduction->values[i] = f.y[i];
  }
  return true;
}

static tvms_node *variable(tvms_unit *unit, char letter, uint32_t i, tvms_dtype dtype) {
  char name[16];
  int len = snprintf(name, sizeof name, "%c%u", letter, i);
  tvms_sym sym = tvms_symbol_intern(unit->context, name, (size_t)len);
  return tvms_var_new(unit, sym, dtype, TVMS_NO_SPAN);
}

static tvms_node *reducer_node(const maker *m) {
  tvms_comm_reducer *reducer = tvms_node_make(m->unit, COMM_REDUCER, TVMS_NO_SPAN);
  reducer->lhs = tvms_list_copy(m->unit, m->x, m->count);
  reducer->rhs = tvms_list_copy(m->unit, m->y, m->count);
  reducer->result = tvms_list_copy(m->unit, m->result, m->count);
  reducer->identity = tvms_list_copy(m->unit, m->identity, m->count);
  return &reducer->head;
}

const char *TVMS_NULLABLE tvms_reducer_find(tvms_unit *unit, const tvms_block *block,
                                            tvms_reduction *reduction) {
  *reduction = (tvms_reduction){0};
  stores inits = {.len = 0}, updates = {.len = 0};
  tvms_node *identities[TVMS_MOST_REDUCED];
  const char *why = read_inits(block->init, &inits);
  if (!why) why = read_updates(block->body, inits.len, &updates);
  if (!why) why = check_places(unit, &inits, &updates, identities);
  if (why) return why;
  maker m = {.unit = unit, .count = updates.len};
  for (uint32_t i = 0; i < m.count; i++) {
    m.x[i] = variable(unit, 'x', i, identities[i]->dtype);
    m.y[i] = variable(unit, 'y', i, identities[i]->dtype);
    reduction->buffers[i] = updates.items[i]->buffer;
  }
  reduction->count = m.count;
  reduction->indices = updates.items[0]->indices;
  for (uint32_t row = 0; make_row(&m, row); row++) {
    if (!fits(&m, &updates, identities, reduction)) continue;
    reduction->reducer = reducer_node(&m);
    return NULL;
  }
  return "its identity and its update are of no reduction that is known";
}
