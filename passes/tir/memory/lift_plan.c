// Which allocations become parameters.
//
// The function is gone through in order. A buffer has its parameter from the statement that
// uses it first to the one that uses it last, in the sequence that allocates it; then another
// buffer may have it. What gets another name counts as used to the end of its sequence.
#include "passes/tir/memory/lift_plan.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/relax/make.h"
#include "passes/tir/memory/lift_allocations.h"

// Parameters, and the sizes of what they point to.
static void add_given(tvms_node_map *given, const tvms_prim_func *function) {
  for (uint32_t i = 0; i < function->params.len; i++) {
    tvms_node *param = function->params.items[i];
    tvms_node_map_put(given, param, param);
    const tvms_node *buffer = function->buffers.items[i];
    for (uint32_t k = 0; buffer && k < tvms_as_buffer(buffer)->shape.len; k++) {
      tvms_node *size = tvms_as_buffer(buffer)->shape.items[k];
      tvms_node_map_put(given, size, size);
    }
  }
}

void tvms_lift_plan_init(tvms_lift_plan *l, tvms_unit *unit,
                         const tvms_prim_func *source) {
  *l = (tvms_lift_plan){.context = unit->context, .unit = unit, .source = source};
  tvms_node_map_init(&l->places, &unit->context->memory);
  tvms_node_map_init(&l->given, &unit->context->memory);
  add_given(&l->given, source);
  l->sizes = tvms_analyzer_new(unit);
  tvms_lift_mark_sizes(&unit->context->memory, l->sizes, source);
}

void tvms_lift_plan_fini(tvms_lift_plan *l) {
  tvms_node_map_fini(&l->places);
  tvms_node_map_fini(&l->given);
  tvms_analyzer_free(l->sizes);
  tvms_vec_fini(&l->context->memory, &l->groups);
  tvms_vec_fini(&l->context->memory, &l->waiting);
}

bool tvms_lift_has_own_variables(const tvms_lift_plan *l) {
  return tvms_release_has(l->unit->dialect, TVMS_FACT_buffers_are_variables);
}

// ---- Sizes ----

tvms_node *tvms_lift_number(const tvms_lift_plan *l, int64_t value) {
  return tvms_int_imm_new(l->unit, TVMS_DTYPE(INT, 64), value, TVMS_NO_SPAN);
}

tvms_node *tvms_lift_binary(const tvms_lift_plan *l, tvms_node_kind kind, tvms_node *a,
                            tvms_node *b) {
  return tvms_arith_simplify(l->unit,
                             tvms_binary_new(l->unit, kind, a, b, TVMS_NO_SPAN));
}

static tvms_walk_step find_local(void *self, tvms_node *node, tvms_field_role role) {
  const tvms_lift_plan *l = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER_LOAD || node->kind == TVMS_NODE_CALL)
    return TVMS_WALK_STOP;
  bool local = node->kind == TVMS_NODE_VAR && !tvms_node_map_get(&l->given, node);
  return local ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_lift_is_known(const tvms_lift_plan *l, tvms_node *size) {
  tvms_visitor visitor = {.self = (void *)(uintptr_t)l, .enter = find_local};
  return tvms_walk(&l->context->memory, size, &visitor);
}

static void mark_shape(tvms_analyzer *analyzer, const tvms_node *buffer) {
  tvms_list shape = tvms_as_buffer(buffer)->shape;
  for (uint32_t i = 0; i < shape.len; i++)
    tvms_analyzer_mark_nonnegative(analyzer, shape.items[i]);
}

void tvms_lift_mark_sizes(tvms_memory *memory, tvms_analyzer *analyzer,
                          const tvms_prim_func *function) {
  for (uint32_t i = 0; i < function->buffers.len; i++)
    if (function->buffers.items[i]) mark_shape(analyzer, function->buffers.items[i]);
  if (function->body->kind != TVMS_NODE_SEQ) return;
  tvms_node_map given;
  tvms_node_map_init(&given, memory);
  add_given(&given, function);
  tvms_list stmts = tvms_as_seq(function->body)->stmts;
  for (uint32_t i = 0; i < stmts.len; i++) {
    if (stmts.items[i]->kind != TVMS_NODE_DECL_BUFFER) continue;
    const tvms_decl_buffer *declared = tvms_as_decl_buffer(stmts.items[i]);
    if (declared->source && tvms_node_map_get(&given, declared->source))
      mark_shape(analyzer, declared->buffer);
  }
  tvms_node_map_fini(&given);
}

bool tvms_lift_may_skip(const tvms_node *stmt) {
  if (stmt->kind != TVMS_NODE_FOR)
    return stmt->kind == TVMS_NODE_IF_THEN_ELSE || stmt->kind == TVMS_NODE_WHILE;
  const tvms_node *steps = tvms_as_for(stmt)->extent;
  return !tvms_node_is_int_imm(steps) || tvms_as_int_imm(steps)->value <= 0;
}

static tvms_walk_step find_failing(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  if (node->kind < TVMS_NODE_DIV || node->kind > TVMS_NODE_FLOOR_MOD)
    return TVMS_WALK_ON;
  const tvms_node *divisor = tvms_as_binary(node)->b;
  bool fine = tvms_node_is_int_imm(divisor) && !tvms_node_is_int(divisor, 0);
  return fine ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

tvms_node *TVMS_NULLABLE tvms_lift_beforehand(const tvms_lift_plan *l,
                                              tvms_node *bytes) {
  tvms_visitor visitor = {.enter = find_failing};
  if (!tvms_walk(&l->context->memory, bytes, &visitor)) return NULL;
  if (tvms_analyzer_can_prove_ge(l->sizes, bytes, 0)) return bytes;
  return tvms_lift_binary(l, TVMS_NODE_MAX, bytes, tvms_lift_number(l, 0));
}

tvms_node *tvms_lift_aligned(const tvms_lift_plan *l, tvms_node *bytes) {
  tvms_node *align = tvms_lift_number(l, TVMS_FRAME_ALIGNMENT);
  tvms_node *up = tvms_lift_binary(l, TVMS_NODE_ADD, bytes,
                                   tvms_lift_number(l, TVMS_FRAME_ALIGNMENT - 1));
  return tvms_lift_binary(l, TVMS_NODE_MUL,
                          tvms_lift_binary(l, TVMS_NODE_FLOOR_DIV, up, align), align);
}

// Bytes of memory, or NULL: not a number that fits.
static tvms_node *TVMS_NULLABLE bytes_of(const tvms_lift_plan *l, tvms_dtype element,
                                         tvms_list extents) {
  int64_t factor = tvms_relax_element_bytes(element);
  tvms_node *rest = NULL;
  for (uint32_t i = 0; i < extents.len; i++) {
    tvms_node *extent = extents.items[i];
    if (tvms_node_is_int_imm(extent)) {
      if (__builtin_mul_overflow(factor, tvms_as_int_imm(extent)->value, &factor))
        return NULL;
      continue;
    }
    if (extent->dtype.bits != 64)
      extent = tvms_cast_new(l->unit, TVMS_DTYPE(INT, 64), extent, TVMS_NO_SPAN);
    rest = rest ? tvms_lift_binary(l, TVMS_NODE_MUL, rest, extent) : extent;
  }
  tvms_node *bytes = tvms_lift_number(l, factor);
  return tvms_lift_aligned(l, rest ? tvms_lift_binary(l, TVMS_NODE_MUL, rest, bytes)
                                   : bytes);
}

// ---- Which buffers become parameters ----

bool tvms_lift_allocation_of(const tvms_node *stmt, tvms_lift_allocation *found) {
  if (stmt->kind == TVMS_NODE_ALLOCATE) {
    const tvms_allocate *made = tvms_as_allocate(stmt);
    *found = (tvms_lift_allocation){made->var, made->element, made->extents};
    return true;
  }
  if (stmt->kind != TVMS_NODE_ALLOC_BUFFER) return false;
  const tvms_buffer *buffer = tvms_as_buffer(tvms_as_alloc_buffer(stmt)->buffer);
  *found = (tvms_lift_allocation){buffer->data, buffer->element, buffer->shape};
  return !buffer->strides.len;
}

// Does memory get another name, under which it may be used where this one is not?
typedef struct {
  tvms_memory *memory;
  const tvms_node *var;
} alias_search;

static tvms_walk_step find_alias(void *self, tvms_node *node, tvms_field_role role) {
  const alias_search *s = self;
  tvms_node *value = NULL;
  (void)role;
  if (node->kind == TVMS_NODE_BIND) value = tvms_as_bind(node)->value;
  if (node->kind == TVMS_NODE_LET) value = tvms_as_let(node)->value;
  if (node->kind == TVMS_NODE_DECL_BUFFER) value = tvms_as_decl_buffer(node)->source;
  if (!value) return TVMS_WALK_ON;
  return tvms_walk_contains(s->memory, value, s->var) ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Finds the statements between which memory is used that statement `at` allocates.
static void find_uses(tvms_lift_plan *l, tvms_list stmts, uint32_t at,
                      tvms_lift_waiting *w) {
  alias_search look = {&l->context->memory, w->what.var};
  tvms_visitor visitor = {.self = &look, .enter = find_alias};
  for (uint32_t i = at + 1; i < stmts.len; i++) {
    if (!tvms_walk_contains(&l->context->memory, stmts.items[i], w->what.var)) continue;
    if (!w->first) w->first = &stmts.items[i];
    w->last = &stmts.items[i];
    if (tvms_walk(&l->context->memory, stmts.items[i], &visitor)) continue;
    w->last = &stmts.items[stmts.len - 1];
    return;
  }
}

// A group that nobody uses: one of this size, else, if both are numbers, the nearest in size.
static tvms_lift_group *TVMS_NULLABLE free_group(tvms_lift_plan *l, tvms_node *bytes) {
  tvms_lift_group *best = NULL;
  int64_t least = INT64_MAX;
  bool sized = tvms_node_is_int_imm(bytes);
  for (uint32_t i = 0; i < l->groups.len && tvms_lift_has_own_variables(l); i++) {
    tvms_lift_group *g = &l->groups.items[i];
    if (g->busy) continue;
    if (sized != tvms_node_is_int_imm(g->bytes)) continue;
    if (!sized && tvms_arith_prove_equal(l->unit, g->bytes, bytes)) return g;
    if (!sized) continue;
    int64_t apart = tvms_as_int_imm(g->bytes)->value - tvms_as_int_imm(bytes)->value;
    if (apart < 0) apart = -apart;
    if (apart < least) best = g;
    if (apart < least) least = apart;
  }
  return best;
}

static void put_into_group(tvms_lift_plan *l, const tvms_lift_waiting *w) {
  const tvms_lift_allocation *a = &w->what;
  tvms_node *bytes = w->bytes;
  tvms_lift_group *g = free_group(l, bytes);
  if (!g) {
    const tvms_node *type = a->var->sinfo;
    bool typed = type && type->kind == TVMS_NODE_SINFO_POINTER;
    // Before 0.26 the variable of the buffer is the parameter.
    tvms_node *param = tvms_lift_has_own_variables(l) ? tvms_pointer_var_new(
                           l->unit, tvms_as_var(a->var)->name, a->element,
                           typed ? tvms_as_sinfo_pointer(type)->scope : 0, TVMS_NO_SPAN)
                                                      : a->var;
    tvms_vec_push(&l->context->memory, &l->groups,
                  ((tvms_lift_group){param, bytes, false, NULL}));
    g = &l->groups.items[l->groups.len - 1];
  }
  bool sized = tvms_node_is_int_imm(bytes);
  if (sized && tvms_as_int_imm(bytes)->value > tvms_as_int_imm(g->bytes)->value)
    g->bytes = bytes;
  g->busy = true;
  g->until = w->last;
  tvms_node_map_put(&l->places, a->var, g->param);
}

static void plan_allocation(tvms_lift_plan *l, tvms_list stmts, uint32_t at) {
  tvms_lift_allocation a;
  if (!tvms_lift_allocation_of(stmts.items[at], &a)) return;
  for (uint32_t i = 0; i < a.extents.len; i++)
    if (!tvms_lift_is_known(l, a.extents.items[i])) return;
  tvms_node *bytes = bytes_of(l, a.element, a.extents);
  if (bytes && l->skips) bytes = tvms_lift_beforehand(l, bytes);
  if (!bytes) return;
  if (tvms_node_is_int_imm(bytes)) {
    int64_t size = tvms_as_int_imm(bytes)->value;
    bool small = size <= TVMS_LARGEST_IN_FRAME && size + l->frame <= TVMS_FRAME;
    if (small) l->frame += size;
    if (small) return;
  }
  tvms_lift_waiting w = {a, bytes, NULL, NULL};
  find_uses(l, stmts, at, &w);
  // Statements may be shared, but what an allocation defines has one place.
  if (tvms_node_map_get(&l->places, a.var)) l->given_up = true;
  if (w.first) tvms_vec_push(&l->context->memory, &l->waiting, w);
}

static void plan_stmt(tvms_lift_plan *l, tvms_node *node);

static void plan_sequence(tvms_lift_plan *l, tvms_list stmts) {
  for (uint32_t i = 0; i < stmts.len; i++) {
    for (uint32_t k = 0; k < l->waiting.len; k++) {
      tvms_lift_waiting *w = &l->waiting.items[k];
      if (w->first != &stmts.items[i]) continue;
      put_into_group(l, w);
      w->first = NULL;
    }
    plan_allocation(l, stmts, i);
    plan_stmt(l, stmts.items[i]);
    for (uint32_t k = 0; k < l->groups.len; k++)
      if (l->groups.items[k].until == &stmts.items[i]) l->groups.items[k].busy = false;
  }
}

// Finds the buffers of a statement that become parameters.
static void plan_stmt(tvms_lift_plan *l, tvms_node *node) {
  if (!tvms_memory_enter(&l->context->memory))
    tvms_memory_unwind(&l->context->memory, TVMS_OVER_LIMIT);
  tvms_child_at at = {0};
  tvms_node *child;
  bool parallel =
      node->kind == TVMS_NODE_FOR && tvms_as_for(node)->for_kind == TVMS_FOR_PARALLEL;
  bool skips = tvms_lift_may_skip(node);
  l->skips += skips;
  if (node->kind == TVMS_NODE_SEQ)
    plan_sequence(l, tvms_as_seq(node)->stmts);
  else
    while (!parallel && (child = tvms_walk_next_child(node, &at)))
      if (at.role == TVMS_ROLE_BODY) plan_stmt(l, child);
  l->skips -= skips;
  tvms_memory_leave(&l->context->memory);
}

void tvms_lift_plan_make(tvms_lift_plan *l) {
  plan_stmt(l, l->source->body);
  if (!l->given_up) return;
  tvms_node_map_clear(&l->places);
  l->groups.len = 0;
}
