// Calls of composite functions of one back end that can run there together.
//
// Every value begins in a group of its own; a set of groups per group says what it needs, through
// any number of steps. Sets are bits, since they are united far more often than listed.
// TVM: CompositeGroupsBuilder of merge_composite_functions.cc.
#include "passes/relax/fuse/composite_groups.h"

#include "ir/object.h"
#include "ir/walk.h"
#include "structinfo/definitions.h"
#include "structinfo/sinfo.h"

#include <string.h>

typedef struct {
  uint32_t parent;  // itself: a root
  uint32_t size;
  tvms_sym codegen;
  uint64_t *needs;  // bits by root
} group;

typedef struct use {
  const tvms_node *user;  // variable of the binding
  uint32_t next;          // + 1 of the next use of the same variable
} use;

typedef struct {
  tvms_memory *memory;
  const tvms_module *module;
  tvms_arena *arena;
  const tvms_node *body;  // of the function
  TVMS_VEC(group) groups;
  uint32_t words;       // of a set
  uint32_t *group_of;   // by id of a node that has a group: its group + 1
  tvms_node **values;   // by id of a variable: what it is bound to
  uint32_t *first_use;  // by id of a variable: its first use + 1
  uint8_t *items_only;  // by id: 1 yes, 2 no, 0 not yet asked
  TVMS_VEC(use) uses;
  const tvms_node *user;  // while uses are noted
} builder;

tvms_sym tvms_fuse_composite_codegen(const tvms_module *module,
                                     const tvms_node *callee) {
  const tvms_member *member =
      tvms_module_function_named(module, callee, TVMS_NODE_FUNCTION);
  if (!member) return 0;
  const tvms_node *attrs = tvms_as_function(member->function)->attrs;
  const char *name = tvms_object_as_text(tvms_object_map_get(attrs, "Composite"));
  if (!name) return 0;
  const char *dot = strchr(name, '.');
  return tvms_symbol_intern(module->context, name,
                            dot ? (size_t)(dot - name) : strlen(name));
}

// ---- Sets ----

static uint32_t root_of(const builder *b, uint32_t index) {
  while (b->groups.items[index].parent != index)
    index = b->groups.items[index].parent;
  return index;
}

static group *at(const builder *b, uint32_t index) {
  return &b->groups.items[index];
}

static bool has(const builder *b, const uint64_t *set, uint32_t index) {
  return index / 64 < b->words && set[index / 64] >> (index % 64) & 1;
}

static void add(uint64_t *set, uint32_t index) {
  set[index / 64] |= UINT64_C(1) << (index % 64);
}

static void unite(const builder *b, uint64_t *set, const uint64_t *other) {
  for (uint32_t i = 0; i < b->words; i++)
    set[i] |= other[i];
}

static uint64_t *new_set(const builder *b) {
  uint64_t *set = tvms_arena_array(b->arena, uint64_t, b->words);
  return memset(set, 0, b->words * sizeof *set);
}

static uint32_t new_group(builder *b, tvms_sym codegen) {
  group fresh = {b->groups.len, 1, codegen, new_set(b)};
  tvms_vec_push(b->memory, &b->groups, fresh);
  return fresh.parent;
}

// ---- Uses ----

static tvms_walk_step note_use(void *self, tvms_node *node, tvms_field_role role) {
  builder *b = self;
  if (node->kind != TVMS_NODE_VAR || role != TVMS_ROLE_USE) return TVMS_WALK_ON;
  use entry = {b->user, b->first_use[node->id]};
  tvms_vec_push(b->memory, &b->uses, entry);
  b->first_use[node->id] = b->uses.len;
  return TVMS_WALK_ON;
}

static void note_binding(builder *b, const tvms_node *binding) {
  b->user = tvms_relax_binding_var(binding);
  b->values[b->user->id] = tvms_relax_binding_value(binding);
  tvms_visitor visitor = {.self = b, .enter = note_use};
  tvms_walk(b->memory, b->values[b->user->id], &visitor);
}

static bool is_flat_tuple(const tvms_node *expr) {
  if (!expr->sinfo || expr->sinfo->kind != TVMS_NODE_SINFO_TUPLE) return false;
  tvms_list fields = tvms_as_sinfo_tuple(expr->sinfo)->fields;
  for (uint32_t i = 0; i < fields.len; i++)
    if (!tvms_sinfo_is_tensor(fields.items[i])) return false;
  return fields.len > 0;
}

// Names of `var` that its users give it are looked at too; false if one of them is used as a whole.
static bool users_take_items(const builder *b, const tvms_node *var,
                             tvms_node_vec *pending, bool *takes) {
  for (uint32_t i = b->first_use[var->id]; i; i = b->uses.items[i - 1].next) {
    const tvms_node *user = b->uses.items[i - 1].user;
    const tvms_node *value = user ? b->values[user->id] : NULL;
    if (!value) return false;
    if (value->kind == TVMS_NODE_TUPLE_GET_ITEM) {
      *takes = true;
    } else if (value->kind == TVMS_NODE_VAR) {
      tvms_vec_push(b->memory, pending, (tvms_node *)(uintptr_t)user);
    } else {
      return false;
    }
  }
  return true;
}

static bool ask_items_only(const builder *b, const tvms_node *var) {
  tvms_node_vec pending = {0};
  tvms_node_map seen;
  bool takes = false, only = true;
  tvms_node_map_init(&seen, b->memory);
  tvms_vec_push(b->memory, &pending, (tvms_node *)(uintptr_t)var);
  while (pending.len > 0 && only) {
    tvms_node *current = pending.items[--pending.len];
    if (tvms_node_map_get(&seen, current)) continue;
    tvms_node_map_put(&seen, current, current);
    tvms_node *source = b->values[current->id];
    if (source && source->kind == TVMS_NODE_VAR)
      tvms_vec_push(b->memory, &pending, source);
    only = users_take_items(b, current, &pending, &takes);
  }
  tvms_node_map_fini(&seen);
  tvms_vec_fini(b->memory, &pending);
  return only && takes;
}

// Is the tuple of this variable used for its items and nothing else?
static bool has_only_items(builder *b, const tvms_node *var) {
  if (!var || var->kind != TVMS_NODE_VAR) return false;
  uint8_t *known = &b->items_only[var->id];
  if (!*known) *known = ask_items_only(b, var) ? 1 : 2;
  return *known == 1;
}

// ---- Groups ----

static uint32_t group_of(builder *b, const tvms_node *expr);

// `index` needs the groups of `expr`, and what those need.
static void depend(builder *b, uint32_t index, const tvms_node *expr) {
  if (expr->kind == TVMS_NODE_GLOBAL_VAR) return;
  if (expr->kind == TVMS_NODE_TUPLE) {
    tvms_list fields = tvms_as_tuple(expr)->fields;
    for (uint32_t i = 0; i < fields.len; i++)
      depend(b, index, fields.items[i]);
    return;
  }
  uint32_t root = root_of(b, index), other = root_of(b, group_of(b, expr));
  if (root == other) return;
  add(at(b, root)->needs, other);
  unite(b, at(b, root)->needs, at(b, other)->needs);
}

static void merge(builder *b, uint32_t from, uint32_t to) {
  from = root_of(b, from);
  to = root_of(b, to);
  if (from == to) return;
  at(b, from)->parent = to;
  at(b, to)->size += at(b, from)->size;
  unite(b, at(b, to)->needs, at(b, from)->needs);
  for (uint32_t i = 0; i < b->groups.len; i++) {
    if (!has(b, at(b, i)->needs, from)) continue;
    at(b, i)->needs[from / 64] &= ~(UINT64_C(1) << (from % 64));
    add(at(b, i)->needs, to);
  }
}

static uint32_t visit_call(builder *b, const tvms_call *call) {
  tvms_sym codegen = tvms_fuse_composite_codegen(b->module, call->callee);
  uint64_t *needed = new_set(b);
  uint32_t joined = UINT32_MAX;
  for (uint32_t i = 0; i < call->args.len; i++) {
    if (call->args.items[i]->kind == TVMS_NODE_GLOBAL_VAR) continue;
    unite(b, needed, at(b, root_of(b, group_of(b, call->args.items[i])))->needs);
  }
  for (uint32_t i = 0; i < call->args.len && codegen; i++) {
    if (call->args.items[i]->kind == TVMS_NODE_GLOBAL_VAR) continue;
    uint32_t index = group_of(b, call->args.items[i]), root = root_of(b, index);
    if (at(b, root)->codegen != codegen || has(b, needed, root)) continue;
    if (joined == UINT32_MAX) {
      joined = root;
      at(b, root)->size++;
    } else {
      merge(b, root, joined);
    }
  }
  if (joined == UINT32_MAX) joined = new_group(b, codegen);
  for (uint32_t i = 0; i < call->args.len; i++)
    depend(b, joined, call->args.items[i]);
  return joined;
}

// The one group of all fields that runs at a back end, or UINT32_MAX.
static uint32_t group_of_fields(builder *b, tvms_list fields) {
  uint32_t common = UINT32_MAX;
  for (uint32_t i = 0; i < fields.len; i++) {
    uint32_t root = root_of(b, group_of(b, fields.items[i]));
    if (i > 0 && root != common) return UINT32_MAX;
    common = root;
  }
  return common != UINT32_MAX && at(b, common)->codegen ? common : UINT32_MAX;
}

// `var`: what the tuple is bound to, NULL: it stands in a call.
static uint32_t visit_tuple(builder *b, const tvms_node *tuple,
                            const tvms_node *TVMS_NULLABLE var) {
  tvms_list fields = tvms_as_tuple(tuple)->fields;
  if (!is_flat_tuple(tuple)) return new_group(b, 0);
  uint32_t common = UINT32_MAX;
  if (var && has_only_items(b, var)) common = group_of_fields(b, fields);
  if (common != UINT32_MAX) {
    at(b, common)->size++;
    return common;
  }
  uint32_t fresh = new_group(b, 0);
  for (uint32_t i = 0; i < fields.len; i++)
    depend(b, fresh, fields.items[i]);
  return fresh;
}

static uint32_t visit_item(builder *b, const tvms_node *value) {
  const tvms_node *tuple = tvms_as_tuple_get_item(value)->tuple;
  if (!is_flat_tuple(tuple)) return new_group(b, 0);
  uint32_t root = root_of(b, group_of(b, tuple));
  if (has_only_items(b, tuple) && at(b, root)->codegen) {
    at(b, root)->size++;
    return root;
  }
  uint32_t fresh = new_group(b, 0);
  depend(b, fresh, tuple);
  return fresh;
}

static uint32_t visit(builder *b, const tvms_node *value, const tvms_node *var) {
  switch ((int)value->kind) {
  case TVMS_NODE_CALL: return visit_call(b, tvms_as_call(value));
  case TVMS_NODE_TUPLE: return visit_tuple(b, value, var);
  case TVMS_NODE_TUPLE_GET_ITEM: return visit_item(b, value);
  default: return new_group(b, 0);
  }
}

static uint32_t group_of(builder *b, const tvms_node *expr) {
  if (expr->id == 0) return new_group(b, 0);
  uint32_t known = b->group_of[expr->id];
  if (known) return known - 1;
  uint32_t made = visit(b, expr, NULL);
  b->group_of[expr->id] = made + 1;
  return made;
}

static void visit_binding(builder *b, const tvms_node *binding) {
  const tvms_node *var = tvms_relax_binding_var(binding);
  const tvms_node *value = tvms_relax_binding_value(binding);
  uint32_t made =
      value->kind == TVMS_NODE_VAR ? group_of(b, value) : visit(b, value, var);
  b->group_of[var->id] = made + 1;
}

// ---- The answer ----

// A group for each root, in the order in which they were made.
static void number_groups(builder *b, const tvms_unit *unit, tvms_list blocks,
                          tvms_composite_groups *groups) {
  uint32_t *numbers = tvms_arena_array(b->arena, uint32_t, b->groups.len + 1);
  size_t count = b->groups.len + 1;
  groups->ids = unit->next_id;
  groups->group_of = tvms_memory_alloc(b->memory, groups->ids * sizeof(uint32_t));
  groups->sizes = tvms_memory_alloc(b->memory, count * sizeof(uint32_t));
  groups->codegen = tvms_memory_alloc(b->memory, count * sizeof(tvms_sym));
  memset(groups->group_of, 0, groups->ids * sizeof(uint32_t));
  for (uint32_t i = 0; i < b->groups.len; i++) {
    if (at(b, i)->parent != i) continue;
    numbers[i] = groups->count;
    groups->sizes[groups->count] = at(b, i)->size;
    groups->codegen[groups->count++] = at(b, i)->codegen;
  }
  for (uint32_t i = 0; i < blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++) {
      uint32_t id = tvms_relax_binding_var(bindings.items[k])->id;
      groups->group_of[id] = numbers[root_of(b, b->group_of[id] - 1)] + 1;
    }
  }
}

static void *zeroed(const builder *b, size_t size) {
  return memset(tvms_arena_alloc(b->arena, size), 0, size);
}

void tvms_fuse_composite_groups(const tvms_module *module, const tvms_unit *unit,
                                const tvms_node *function,
                                tvms_composite_groups *groups) {
  tvms_context *context = unit->context;
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  builder b = {
      .memory = &context->memory, .module = module, .arena = &context->scratch};
  size_t ids = unit->next_id;
  b.words = (uint32_t)(ids / 64 + 1);
  b.group_of = zeroed(&b, ids * sizeof *b.group_of);
  b.values = zeroed(&b, ids * sizeof *b.values);
  b.first_use = zeroed(&b, ids * sizeof *b.first_use);
  b.items_only = zeroed(&b, ids);
  const tvms_seq_expr *body = tvms_as_seq_expr(tvms_as_function(function)->body);
  tvms_list blocks = body->blocks;
  for (uint32_t i = 0; i < blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++)
      note_binding(&b, bindings.items[k]);
  }
  b.user = NULL;
  tvms_visitor visitor = {.self = &b, .enter = note_use};
  tvms_walk(b.memory, body->body, &visitor);
  for (uint32_t i = 0; i < blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++)
      visit_binding(&b, bindings.items[k]);
  }
  *groups = (tvms_composite_groups){0};
  number_groups(&b, unit, blocks, groups);
  tvms_vec_fini(b.memory, &b.groups);
  tvms_vec_fini(b.memory, &b.uses);
  tvms_arena_reset(&context->scratch, mark);
}

void tvms_fuse_composite_groups_fini(tvms_memory *memory,
                                     tvms_composite_groups *groups) {
  tvms_memory_free(memory, groups->group_of);
  tvms_memory_free(memory, groups->sizes);
  tvms_memory_free(memory, groups->codegen);
}
