// DeadCodeElimination: bindings whose value nobody uses and functions that nobody reaches.
//
// Before: lv = R.exp(x); gv = R.tanh(x); return gv   After: gv = R.tanh(x); return gv
//
// Calls with effects stay outside dataflow blocks, match_cast stays everywhere. Functions
// are kept if they are public, named by the option `entry`, or called from one that is.
// What the result of a local function needs stays even if the function goes.
// TVM: relax.transform.DeadCodeElimination.
#include "passes/relax/graph/dead_code_elimination.h"

#include "ir/walk.h"
#include "passes/relax/blocks.h"
#include "passes/remarks.h"
#include "structinfo/infer.h"

#include <string.h>

typedef struct {
  tvms_memory *memory;
  const tvms_pass_run *run;
  const tvms_module *module;
  tvms_node_map live;  // VAR → itself
} usage;

static tvms_walk_step mark_variable(void *self, tvms_node *node, tvms_field_role role) {
  usage *used = self;
  if (node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_USE) {
    tvms_node_map_put(&used->live, node, node);
  }
  return TVMS_WALK_ON;
}

static tvms_walk_step find_effect(void *self, tvms_node *node, tvms_field_role role) {
  const usage *used = self;
  (void)role;
  if (node->kind == TVMS_NODE_FUNCTION) return TVMS_WALK_SKIP;
  bool impure = node->kind == TVMS_NODE_CALL
                && !tvms_infer_call_is_pure(used->module, tvms_as_call(node));
  return impure ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool has_effect(usage *used, tvms_node *value) {
  tvms_visitor visitor = {.self = used, .enter = find_effect};
  return !tvms_walk(used->memory, value, &visitor);
}

static void mark_sequence(usage *used, const tvms_node *node);

// Marks what a value uses. Sequences inside are gone through backwards, so a variable is
// marked before its binding is looked at.
static void mark_value(usage *used, tvms_node *value) {
  if (!tvms_memory_enter(used->memory))
    tvms_memory_unwind(used->memory, TVMS_OVER_LIMIT);
  if (value->kind == TVMS_NODE_IF) {
    const tvms_if *branch = tvms_as_if(value);
    mark_sequence(used, branch->true_branch);
    mark_sequence(used, branch->false_branch);
    mark_value(used, branch->condition);
  } else if (value->kind == TVMS_NODE_FUNCTION) {
    mark_sequence(used, tvms_as_function(value)->body);
  } else if (value->kind == TVMS_NODE_SEQ_EXPR) {
    mark_sequence(used, value);
  } else {
    tvms_visitor visitor = {.self = used, .enter = mark_variable};
    tvms_walk(used->memory, value, &visitor);
  }
  tvms_memory_leave(used->memory);
}

static void mark_binding(usage *used, tvms_node *binding, bool dataflow) {
  if (binding->kind == TVMS_NODE_MATCH_CAST) {
    mark_value(used, tvms_as_match_cast(binding)->value);
    return;
  }
  const tvms_var_binding *bound = tvms_as_var_binding(binding);
  if (!tvms_node_map_get(&used->live, bound->var)) {
    // To TVM what a local function returns is used (src/relax/analysis/udchain.cc).
    if (bound->value->kind == TVMS_NODE_FUNCTION) mark_value(used, bound->value);
    if (dataflow || !has_effect(used, bound->value)) return;
    tvms_node_map_put(&used->live, bound->var, bound->var);
  }
  mark_value(used, bound->value);
}

static void mark_sequence(usage *used, const tvms_node *node) {
  const tvms_seq_expr *sequence = tvms_as_seq_expr(node);
  mark_value(used, sequence->body);
  for (uint32_t i = sequence->blocks.len; i > 0; i--) {
    const tvms_binding_block *block =
        tvms_as_binding_block(sequence->blocks.items[i - 1]);
    bool dataflow = block->head.flags & TVMS_FLAG_DATAFLOW;
    for (uint32_t j = block->bindings.len; j > 0; j--) {
      mark_binding(used, block->bindings.items[j - 1], dataflow);
    }
  }
}

static tvms_node *drop_dead(tvms_rewriter *rewriter, tvms_node *binding) {
  usage *used = rewriter->self;
  bool live = tvms_node_map_get(&used->live, tvms_as_var_binding(binding)->var) != NULL;
  if (!live) tvms_pass_count(used->run, "bindings removed", 1);
  return live ? TVMS_REWRITE_BELOW : NULL;
}

// Blocks that become neighbours when what stood between them goes are one.
static tvms_node *merge_blocks(tvms_rewriter *r, tvms_node *sequence) {
  return tvms_relax_merge_blocks(r->unit, sequence);
}

tvms_node *tvms_dead_code_clean(tvms_pass_run *run, tvms_unit *unit,
                                tvms_node *function) {
  usage used = {.memory = &run->context->memory, .run = run, .module = run->module};
  tvms_node_map_init(&used.live, used.memory);
  mark_sequence(&used, tvms_as_function(function)->body);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &used);
  rewriter.enter[TVMS_NODE_VAR_BINDING] = drop_dead;
  rewriter.leave[TVMS_NODE_SEQ_EXPR] = merge_blocks;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  tvms_node_map_fini(&used.live);
  return changed;
}

typedef struct {
  tvms_pass_run *run;
  const char *entry;
  bool *dead;
  TVMS_VEC(uint32_t) queue;  // members that are reached and not yet looked at
  bool unknown_callee;       // then TVM removes nothing
} reach;

static void reach_member(reach *r, uint32_t index) {
  if (!r->dead[index]) return;
  r->dead[index] = false;
  tvms_vec_push(&r->run->context->memory, &r->queue, index);
}

static tvms_walk_step reach_callee(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  reach *r = self;
  if (node->kind != TVMS_NODE_GLOBAL_VAR) return TVMS_WALK_ON;
  const tvms_module *module = r->run->module;
  const tvms_member *member = tvms_module_find(module, tvms_as_global_var(node)->name);
  if (member) reach_member(r, (uint32_t)(member - module->members));
  r->unknown_callee |= !member;
  return TVMS_WALK_ON;
}

// Is `name` one of the texts in `list`, which has ';' between them?
static bool is_listed(const char *list, const char *name) {
  size_t len = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at += len) {
    bool begins = at == list || at[-1] == ';';
    if (begins && (at[len] == '\0' || at[len] == ';')) return true;
  }
  return false;
}

static bool is_entry(const reach *r, const tvms_member *member) {
  const tvms_node *function = member->function;
  if (!function || function->kind == TVMS_NODE_EXTERN_FUNC) return true;
  return !(function->flags & TVMS_FLAG_PRIVATE)
         || is_listed(r->entry, tvms_symbol_text(r->run->context, member->name));
}

static void remove_unreached(tvms_pass_run *run, const char *entry) {
  tvms_module *module = run->module;
  tvms_memory *memory = &run->context->memory;
  reach r = {.run = run,
             .entry = entry,
             .dead = tvms_memory_alloc(memory, module->member_count + 1)};
  memset(r.dead, true, module->member_count);
  for (uint32_t i = 0; i < module->member_count; i++) {
    if (is_entry(&r, &module->members[i])) reach_member(&r, i);
  }
  tvms_visitor visitor = {.self = &r, .enter = reach_callee};
  while (r.queue.len > 0) {
    const tvms_member *member = &module->members[r.queue.items[--r.queue.len]];
    if (member->function && tvms_unit_has(member->unit, TVMS_NODE_GLOBAL_VAR))
      tvms_walk(memory, member->function, &visitor);
  }
  uint32_t before = module->member_count;
  if (!r.unknown_callee) tvms_functions_remove(run, r.dead);
  if (before > module->member_count)
    tvms_pass_count(run, "functions removed", before - module->member_count);
  tvms_vec_fini(memory, &r.queue);
  tvms_memory_free(memory, r.dead);
}

void tvms_dead_code_eliminate(tvms_pass_run *run, const char *entry) {
  remove_unreached(run, entry);
  tvms_functions_change(run, TVMS_NODE_FUNCTION, tvms_dead_code_clean);
  remove_unreached(run, entry);
}

void tvms_pass_dead_code_elimination(tvms_pass_run *run) {
  tvms_dead_code_eliminate(run, TVMS_OPTION(run, DeadCodeElimination, entry).text);
}
