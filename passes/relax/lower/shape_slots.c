// The order of slots is seen in programs, so the walk is TVM's: of a call the stated types, the
// arguments and the type; of every value its parts and then its type; of a match_cast the type
// only.
#include "passes/relax/lower/shape_slots.h"

#include "ir/equal.h"
#include "ir/walk.h"

typedef struct {
  tvms_relax_slots *slots;
  tvms_memory *memory;
  bool collects;  // second round; the first finds what the result depends on
  bool scalars;   // variables that are used as values count
} collector;

tvms_relax_slot *tvms_relax_slots_find(const tvms_relax_slots *slots,
                                       const tvms_node *expr) {
  uint64_t hash = tvms_node_hash(slots->unit->context, expr);
  for (uint32_t i = 0; i < slots->slots.len; i++) {
    tvms_relax_slot *slot = &slots->slots.items[i];
    if (slot->hash == hash && tvms_node_same_expr(slot->expr, expr)) return slot;
  }
  return NULL;
}

typedef struct {
  tvms_memory *memory;
  tvms_node_map seen;
  tvms_node_vec vars;
} free_vars;

static tvms_walk_step note_var(void *self, tvms_node *node, tvms_field_role role) {
  free_vars *found = self;
  if (node->kind != TVMS_NODE_VAR || role == TVMS_ROLE_DEFINE) return TVMS_WALK_ON;
  if (tvms_node_map_get(&found->seen, node)) return TVMS_WALK_ON;
  tvms_node_map_put(&found->seen, node, node);
  tvms_vec_push(found->memory, &found->vars, node);
  return TVMS_WALK_ON;
}

// Variables that stand in `node`, each once; the caller frees the vector.
static tvms_node_vec vars_in(tvms_memory *memory, tvms_node *node) {
  free_vars found = {.memory = memory};
  tvms_node_map_init(&found.seen, memory);
  tvms_visitor visitor = {.self = &found, .enter = note_var};
  tvms_walk(memory, node, &visitor);
  tvms_node_map_fini(&found.seen);
  return found.vars;
}

static void mark_live(collector *c, tvms_node *node) {
  tvms_node_vec queue = vars_in(c->memory, node);
  while (queue.len > 0) {
    tvms_node *var = queue.items[--queue.len];
    if (tvms_node_map_get(&c->slots->live, var)) continue;
    tvms_node_map_put(&c->slots->live, var, var);
    tvms_node *value = tvms_node_map_get(&c->slots->bound, var);
    if (!value) continue;
    tvms_node_vec used = vars_in(c->memory, value);
    for (uint32_t i = 0; i < used.len; i++)
      tvms_vec_push(c->memory, &queue, used.items[i]);
    tvms_vec_fini(c->memory, &used);
  }
  tvms_vec_fini(c->memory, &queue);
}

static void add_slot(collector *c, tvms_node *expr) {
  if (tvms_relax_slots_find(c->slots, expr)) return;
  tvms_relax_slot slot = {.expr = expr,
                          .hash = tvms_node_hash(c->slots->unit->context, expr)};
  tvms_vec_push(c->memory, &c->slots->slots, slot);
}

static void visit_size(collector *c, tvms_node *expr) {
  if (expr->kind == TVMS_NODE_INT_IMM) return;
  if (!c->collects) {
    mark_live(c, expr);
    return;
  }
  add_slot(c, expr);
  if (expr->kind == TVMS_NODE_VAR) return;
  tvms_node_vec vars = vars_in(c->memory, expr);
  for (uint32_t i = 0; i < vars.len; i++)
    add_slot(c, vars.items[i]);
  tvms_vec_fini(c->memory, &vars);
}

static void visit_expr(collector *c, tvms_node *node);

static void visit_sizes(collector *c, tvms_list sizes) {
  for (uint32_t i = 0; i < sizes.len; i++)
    visit_size(c, sizes.items[i]);
}

static void visit_type(collector *c, const tvms_node *TVMS_NULLABLE type) {
  if (!type) return;
  switch ((int)type->kind) {
  case TVMS_NODE_SINFO_PRIM:
    if (tvms_as_sinfo_prim(type)->value
        && !tvms_release_has(c->slots->unit->dialect, TVMS_FACT_types_are_called_ty))
      visit_size(c, tvms_as_sinfo_prim(type)->value);
    return;
  case TVMS_NODE_SINFO_SHAPE: visit_sizes(c, tvms_as_sinfo_shape(type)->values); return;
  case TVMS_NODE_SINFO_TENSOR:
    if (tvms_as_sinfo_tensor(type)->shape)
      visit_expr(c, tvms_as_sinfo_tensor(type)->shape);
    return;
  case TVMS_NODE_SINFO_TUPLE: {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    for (uint32_t i = 0; i < fields.len; i++)
      visit_type(c, fields.items[i]);
    return;
  }
  default: return;
  }
}

static void visit_binding(collector *c, tvms_node *node) {
  if (node->kind == TVMS_NODE_MATCH_CAST) {
    visit_type(c, tvms_as_match_cast(node)->type);
    return;
  }
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  if (!c->collects) return;
  bool outer = c->scalars;
  c->scalars = tvms_node_map_get(&c->slots->live, binding->var) != NULL;
  visit_expr(c, binding->value);
  c->scalars = outer;
}

static void visit_sequence(collector *c, const tvms_seq_expr *seq) {
  for (uint32_t i = 0; i < seq->blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(seq->blocks.items[i])->bindings;
    for (uint32_t j = 0; j < bindings.len; j++)
      visit_binding(c, bindings.items[j]);
  }
  visit_expr(c, seq->body);
}

static void visit_list(collector *c, tvms_list list) {
  for (uint32_t i = 0; i < list.len; i++)
    visit_expr(c, list.items[i]);
}

static void visit_var(collector *c, tvms_node *var) {
  bool scalar = tvms_dtype_same(var->dtype, TVMS_DTYPE(INT, 64))
                && !(var->flags & TVMS_FLAG_DATAFLOW);
  if (c->scalars && scalar) visit_size(c, var);
  if (c->scalars && !c->collects) mark_live(c, var);
}

static void visit_parts(collector *c, tvms_node *node) {
  tvms_child_at at = {0};
  for (tvms_node *child; (child = tvms_walk_next_child(node, &at));) {
    if (tvms_node_class_of(child) == TVMS_CLASS_EXPR) visit_expr(c, child);
  }
}

static void visit_expr(collector *c, tvms_node *node) {
  if (!tvms_memory_enter(c->memory)) tvms_memory_unwind(c->memory, TVMS_OVER_LIMIT);
  switch ((int)node->kind) {
  case TVMS_NODE_FUNCTION: break;
  case TVMS_NODE_SHAPE_EXPR: visit_sizes(c, tvms_as_shape_expr(node)->values); break;
  case TVMS_NODE_SEQ_EXPR: visit_sequence(c, tvms_as_seq_expr(node)); break;
  case TVMS_NODE_VAR: visit_var(c, node); break;
  case TVMS_NODE_CALL: {
    tvms_list types = tvms_as_call(node)->type_args;
    for (uint32_t i = 0; i < types.len; i++)
      visit_type(c, types.items[i]);
    visit_list(c, tvms_as_call(node)->args);
    break;
  }
  default: visit_parts(c, node); break;
  }
  bool typed = node->kind != TVMS_NODE_SHAPE_EXPR && node->kind != TVMS_NODE_FUNCTION;
  if (typed) visit_type(c, node->sinfo);
  tvms_memory_leave(c->memory);
}

static void visit_function(collector *c, const tvms_function *function) {
  for (uint32_t i = 0; i < function->params.len; i++)
    visit_type(c, function->params.items[i]->sinfo);
  if (!c->collects) visit_type(c, function->ret);
  visit_expr(c, function->body);
  if (c->collects) visit_type(c, function->ret);
}

static tvms_walk_step note_value(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind == TVMS_NODE_VAR_BINDING) {
    const tvms_var_binding *binding = tvms_as_var_binding(node);
    tvms_node_map_put(self, binding->var, binding->value);
  }
  return TVMS_WALK_ON;
}

// Sizes of a shape that a match_cast checks. TVM does not look at them, and fails where they stand nowhere else; so they
// come behind all others.
static tvms_walk_step visit_cast_value(void *self, tvms_node *node,
                                       tvms_field_role role) {
  (void)role;
  if (node->kind != TVMS_NODE_MATCH_CAST) return TVMS_WALK_ON;
  const tvms_node *value = tvms_as_match_cast(node)->value;
  if (value->kind == TVMS_NODE_SHAPE_EXPR)
    visit_sizes(self, tvms_as_shape_expr(value)->values);
  return TVMS_WALK_ON;
}

// Sizes of TVM's hash table, which grows when it is full.
static uint32_t more_buckets(uint32_t buckets) {
  static const uint32_t sizes[] = {13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    if (sizes[i] > buckets) return sizes[i];
  }
  return buckets * 2 + 1;
}

// TVM goes through its table: the last that came in is the first, and what was in there
// when it grew is turned around. Where two keys fall into one place its order depends on
// addresses, which nothing can follow.
static uint32_t *table_order(tvms_relax_slots *slots) {
  tvms_memory *memory = &slots->unit->context->memory;
  uint32_t count = slots->slots.len;
  uint32_t *order = tvms_memory_alloc(memory, (count + 1) * sizeof *order);
  for (uint32_t i = 0; i < count; i++) {
    if (i + 1 > slots->buckets || slots->buckets == 1) {
      slots->buckets = more_buckets(slots->buckets);
      for (uint32_t j = 0; j < i / 2; j++) {
        uint32_t other = order[j];
        order[j] = order[i - 1 - j];
        order[i - 1 - j] = other;
      }
    }
    order[i] = i;  // kept backwards: the first of the table is the last here
  }
  return order;
}

static void find_users(tvms_relax_slots *slots) {
  tvms_memory *memory = &slots->unit->context->memory;
  uint32_t *order = table_order(slots);
  for (uint32_t i = slots->slots.len; i > 0; i--) {
    uint32_t index = order[i - 1];
    tvms_relax_slot *slot = &slots->slots.items[index];
    if (slot->expr->kind == TVMS_NODE_VAR) continue;
    tvms_node_vec vars = vars_in(memory, slot->expr);
    for (uint32_t j = 0; j < vars.len; j++) {
      tvms_relax_slot *var = tvms_relax_slots_find(slots, vars.items[j]);
      tvms_vec_push(memory, &var->users, index);
    }
    slot->waiting = vars.len;
    tvms_vec_fini(memory, &vars);
  }
  tvms_memory_free(memory, order);
}

void tvms_relax_slots_init(tvms_relax_slots *slots, tvms_unit *unit, uint32_t buckets,
                           tvms_node *function) {
  tvms_memory *memory = &unit->context->memory;
  *slots = (tvms_relax_slots){.unit = unit, .buckets = buckets};
  tvms_node_map_init(&slots->live, memory);
  tvms_node_map_init(&slots->bound, memory);
  tvms_visitor visitor = {.self = &slots->bound, .enter = note_value};
  tvms_walk(memory, function, &visitor);
  collector c = {.slots = slots, .memory = memory, .scalars = true};
  visit_function(&c, tvms_as_function(function));
  c.collects = true;
  visit_function(&c, tvms_as_function(function));
  tvms_visitor casts = {.self = &c, .enter = visit_cast_value};
  tvms_walk(memory, function, &casts);
  find_users(slots);
}

void tvms_relax_slots_fini(tvms_relax_slots *slots) {
  tvms_memory *memory = &slots->unit->context->memory;
  for (uint32_t i = 0; i < slots->slots.len; i++)
    tvms_vec_fini(memory, &slots->slots.items[i].users);
  tvms_vec_fini(memory, &slots->slots);
  tvms_node_map_fini(&slots->live);
  tvms_node_map_fini(&slots->bound);
}
