// Making functions of the values that look like a pattern.
//
// Every value begins in a group of its own; a match puts its parts into the group of its root.
// TVM: PatternBasedPartitioner of fuse_ops.cc.
#include "passes/relax/fuse/pattern_groups.h"

#include "ir/object.h"
#include "passes/relax/fuse/group_functions.h"
#include "structinfo/dims.h"

#include <string.h>

typedef TVMS_VEC(const tvms_node *) var_vec;

// The group of a variable. Groups that were given to another one have it as parent.
typedef struct {
  uint32_t parent;  // id of a variable; its own: a root
  uint32_t size;
  bool named;    // by the pattern
  var_vec vars;  // that were put into it
} group;

typedef struct {
  tvms_pass_run *run;
  const tvms_fuse_pattern *pattern;
  // Of the function at hand:
  tvms_unit *unit;
  tvms_pattern_set set;
  tvms_relax_definitions definitions;
  const tvms_pattern *root;
  tvms_pattern_match match;
  tvms_node_map lookup;  // VAR → value
  tvms_node_map bound;   // value → VAR
  group *groups;         // by id of a variable
  uint32_t ids;
} partition;

static tvms_memory *memory_of(const partition *p) {
  return &p->run->context->memory;
}

static group *root_of(const partition *p, const tvms_node *var) {
  group *g = &p->groups[var->id];
  while (&p->groups[g->parent] != g)
    g = &p->groups[g->parent];
  return g;
}

// The variable of the value that a pattern of the match stands for, if it is one that joins the
// group: a call or an item, not what a parameter matched.
static const tvms_node *TVMS_NULLABLE joining(const partition *p, uint32_t id) {
  const tvms_pattern *pattern = p->set.all.items[id];
  bool joins = pattern->kind == TVMS_PATTERN_OP || pattern->kind == TVMS_PATTERN_CALL
               || pattern->kind == TVMS_PATTERN_ITEM;
  return joins ? tvms_node_map_get(&p->bound, p->match.values[id]) : NULL;
}

static bool in_match(const partition *p, const tvms_node *var) {
  for (uint32_t i = 0; i < p->match.found.len; i++)
    if (joining(p, p->match.found.items[i]) == var) return true;
  return false;
}

// Does the match contain all of every group that it touches?
static bool contains_groups(const partition *p) {
  for (uint32_t i = 0; i < p->match.found.len; i++) {
    const tvms_node *var = joining(p, p->match.found.items[i]);
    if (!var || p->match.found.items[i] == p->root->id) continue;
    if (root_of(p, var)->size <= 1) continue;
    const var_vec *vars = &p->groups[var->id].vars;
    for (uint32_t k = 0; k < vars->len; k++)
      if (!in_match(p, vars->items[k])) return false;
  }
  return true;
}

static void join(partition *p, const tvms_node *var, group *to) {
  group *from = &p->groups[var->id];
  if (from == to) return;
  from->size--;
  from->parent = (uint32_t)(to - p->groups);
  tvms_vec_push(memory_of(p), &to->vars, var);
  to->size++;
}

static void try_binding(partition *p, tvms_node *var, tvms_node *value) {
  group *own = &p->groups[var->id];
  *own = (group){.parent = var->id, .size = 1};
  tvms_vec_push(memory_of(p), &own->vars, var);
  tvms_node_map_put(&p->lookup, var, value);
  tvms_node_map_put(&p->bound, value, var);
  if (value->kind != TVMS_NODE_CALL) return;
  if (!tvms_relax_pattern_match(&p->match, p->root, value, &p->lookup)) return;
  if (p->pattern->fits && !p->pattern->fits(p->pattern, &p->match, &p->definitions))
    return;
  if (!contains_groups(p)) return;
  group *parent = root_of(p, var);
  parent->named = true;
  for (uint32_t i = 0; i < p->match.found.len; i++) {
    const tvms_node *part = joining(p, p->match.found.items[i]);
    if (part && p->match.found.items[i] != p->root->id) join(p, part, parent);
  }
}

// The groups in the form in which functions are made of them.
static tvms_node *make_functions(partition *p, tvms_node *function) {
  tvms_arena *arena = &p->unit->arena;
  uint32_t *group_of = tvms_arena_array(arena, uint32_t, p->ids);
  uint32_t *sizes = tvms_arena_array(arena, uint32_t, p->ids);
  tvms_node **attrs = tvms_arena_array(arena, tvms_node *, p->ids);
  const char *name = p->pattern->name;
  tvms_node *text = tvms_object_str_new(p->unit, name, strlen(name), TVMS_NO_SPAN);
  tvms_node *named = tvms_object_map_with(p->unit, NULL, "Composite", text);
  bool any = false;
  for (uint32_t i = 0; i < p->ids; i++) {
    const group *g = &p->groups[i];
    group_of[i] = 0;
    sizes[i] = g->size;
    attrs[i] = g->named ? named : NULL;
    any |= g->named;
    if (!g->vars.len) continue;
    while (&p->groups[g->parent] != g)
      g = &p->groups[g->parent];
    group_of[i] = (uint32_t)(g - p->groups) + 1;
  }
  if (!any) return function;
  tvms_fuse_groups groups = {.group_of = group_of,
                             .ids = p->ids,
                             .count = p->ids,
                             .sizes = sizes,
                             .attrs = attrs,
                             .names = p->pattern->names,
                             .keep_constants = p->pattern->keep_constants};
  return tvms_fuse_groups_apply(p->run, p->unit, function, &groups);
}

static void visit_blocks(partition *p, const tvms_node *body) {
  tvms_list blocks = tvms_as_seq_expr(body)->blocks;
  for (uint32_t i = 0; i < blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++)
      if (bindings.items[k]->kind == TVMS_NODE_VAR_BINDING)
        try_binding(p, tvms_relax_binding_var(bindings.items[k]),
                    tvms_relax_binding_value(bindings.items[k]));
  }
}

static tvms_node *partition_function(partition *p, tvms_node *function) {
  tvms_memory *memory = memory_of(p);
  tvms_prover prover;
  p->ids = p->unit->next_id;
  size_t size = p->ids * sizeof *p->groups;
  p->groups = memset(tvms_memory_alloc(memory, size), 0, size);
  tvms_prover_init(&prover, p->unit);
  tvms_relax_pattern_match_init(&p->match, &p->set);
  p->match.prover = &prover;
  tvms_node_map_init(&p->lookup, memory);
  tvms_node_map_init(&p->bound, memory);
  visit_blocks(p, tvms_as_function(function)->body);
  function = make_functions(p, function);
  for (uint32_t i = 0; i < p->ids; i++)
    tvms_vec_fini(memory, &p->groups[i].vars);
  tvms_memory_free(memory, p->groups);
  tvms_node_map_fini(&p->bound);
  tvms_node_map_fini(&p->lookup);
  tvms_relax_pattern_match_fini(&p->match);
  tvms_prover_fini(&prover);
  return function;
}

static bool has_attr(const tvms_node *function, const char *key) {
  const tvms_node *value = tvms_object_map_get(tvms_as_function(function)->attrs, key);
  int64_t number = 1;
  if (value && !tvms_object_as_int(value, &number)) return true;
  return value && number != 0;
}

tvms_node *tvms_fuse_pattern_groups(tvms_pass_run *run, tvms_unit *unit,
                                    tvms_node *function,
                                    const tvms_fuse_pattern *pattern) {
  if (has_attr(function, "Primitive") || has_attr(function, "Composite")
      || has_attr(function, "Codegen"))
    return function;
  partition p = {.run = run, .pattern = pattern, .unit = unit};
  tvms_relax_pattern_set_init(&p.set, run->context, &unit->arena);
  tvms_relax_definitions_init(&p.definitions, unit, function);
  p.root = pattern->build(pattern, &p.set, unit);
  if (p.root) function = partition_function(&p, function);
  tvms_relax_definitions_fini(&p.definitions);
  tvms_relax_pattern_set_fini(&p.set);
  return function;
}
