// FuseOpsByPattern: calls that look like a pattern become a function with its name.
//
//   @R.rewriter
//   class gemm_relu:                       the pattern stands in the text of the program
//       @R.function
//       def pattern(x: R.Tensor("float32", ndim=2), w: R.Tensor("float32", ndim=2)):
//           R.func_attr({"Composite": "blas.gemm_relu"})
//           return R.nn.relu(R.matmul(x, w))
//
// Before: lv = R.matmul(x, w); gv = R.nn.relu(lv)
// After:  gv = cls.fused_relax_matmul_relax_nn_relu(x, w), a private function with
//         {"Composite": "blas.gemm_relu"}
//
// Patterns are tried in the order of `patterns`, or of the text; the first is the strongest: what
// is in a group stays, unless a later match of the same pattern contains all of it. Attributes of
// operators do not count, types of parameters do. `bind_constants` keeps constants inside,
// `annotate_codegen` wraps each function for its back end, which is the name up to the dot. The
// replacement of a rewriter is not used. TVM: relax.transform.FuseOpsByPattern, whose patterns are
// built in Python.
#include "ir/clone.h"
#include "ir/object.h"
#include "passes/relax/analysis/definitions.h"
#include "passes/relax/fuse/annotate_codegen.h"
#include "passes/relax/fuse/group_functions.h"
#include "passes/relax/pattern/rewriter_class.h"
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
  const tvms_module *rewriter;  // of the pattern at hand
  // Of the function at hand:
  tvms_unit *unit;
  tvms_pattern_set set;
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
  const char *name = tvms_relax_pattern_class_name(p->rewriter);
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
  tvms_fuse_groups groups = {
      .group_of = group_of,
      .ids = p->ids,
      .count = p->ids,
      .sizes = sizes,
      .attrs = attrs,
      .keep_constants =
          TVMS_OPTION(p->run, FuseOpsByPattern, bind_constants).number != 0};
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
  tvms_relax_pattern_set_init(&p->set, p->run->context, &p->unit->arena);
  p->root = tvms_relax_pattern_of_class(&p->set, p->unit, p->rewriter);
  if (!p->root) {
    tvms_relax_pattern_set_fini(&p->set);
    return function;
  }
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
  tvms_relax_pattern_set_fini(&p->set);
  return function;
}

static bool is_listed(const tvms_literal *names, const char *name) {
  for (uint32_t i = 0; i < names->len; i++)
    if (strcmp(names->items[i].text, name) == 0) return true;
  return names->len == 0;
}

static bool has_attr(const tvms_node *function, const char *key) {
  const tvms_node *value = tvms_object_map_get(tvms_as_function(function)->attrs, key);
  int64_t number = 1;
  if (value && !tvms_object_as_int(value, &number)) return true;
  return value && number != 0;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  partition p = {.run = run, .rewriter = run->state, .unit = unit};
  const tvms_literal *entries =
      TVMS_OPTION(run, FuseOpsByPattern, entry_functions).literal;
  const char *name = tvms_symbol_text(run->context, tvms_as_function(function)->name);
  bool made = has_attr(function, "Primitive") || has_attr(function, "Composite")
              || has_attr(function, "Codegen");
  return made || !is_listed(entries, name) ? function
                                           : partition_function(&p, function);
}

static void apply(tvms_pass_run *run, const tvms_module *rewriter) {
  void *outer = run->state;
  run->state = (void *)(uintptr_t)rewriter;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = outer;
}

// Applies the rewriters of the text with this name, NULL: all. False if there is none.
static bool apply_named(tvms_pass_run *run, const char *TVMS_NULLABLE name) {
  bool found = !name;
  for (uint32_t i = 0; run->program && i < run->program->count; i++) {
    const tvms_module *module = run->program->modules[i];
    if (!module->rewriter) continue;
    if (name && strcmp(tvms_symbol_text(run->context, module->name), name) != 0)
      continue;
    found = true;
    apply(run, module);
  }
  return found;
}

void tvms_pass_fuse_ops_by_pattern(tvms_pass_run *run) {
  if (run->module->rewriter) return;
  const tvms_literal *names = TVMS_OPTION(run, FuseOpsByPattern, patterns).literal;
  if (names->len == 0) apply_named(run, NULL);
  for (uint32_t i = 0; i < names->len; i++) {
    if (apply_named(run, names->items[i].text)) continue;
    tvms_diag_report(&run->context->diags, TVMS_D_no_such_pattern,
                     run->module->name_span, names->items[i].text);
  }
  if (TVMS_OPTION(run, FuseOpsByPattern, annotate_codegen).number)
    tvms_fuse_annotate_codegen(run);
}
