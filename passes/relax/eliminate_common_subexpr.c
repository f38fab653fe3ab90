// EliminateCommonSubexpr: a value that is bound already is not computed again.
//
// Before: a = R.exp(x); b = R.exp(x); c = R.add(a, b)
// After:  a = R.exp(x); b = a; c = R.add(a, a)
//
// Calls with effects and allocations stay. What a branch or a dataflow block binds for
// itself is forgotten behind it. TVM: relax.transform.EliminateCommonSubexpr.
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/relax/bindings.h"
#include "structinfo/infer.h"

// A value that a variable holds. Entries with one hash are chained, newest first.
typedef struct {
  uint64_t hash;
  const tvms_node *binding;  // VAR_BINDING or MATCH_CAST, rewritten
  tvms_node *var;
  uint32_t next;  // UINT32_MAX: none
  bool dead;
} entry;

typedef struct {
  tvms_binder binder;
  bool call_only;
  TVMS_VEC(entry) entries;
  uint32_t *heads;
  uint32_t mask;
} eliminator;

static tvms_memory *memory_of(const eliminator *e) {
  return &e->binder.unit->context->memory;
}

static const tvms_node *value_of(const tvms_node *binding) {
  return binding->kind == TVMS_NODE_VAR_BINDING ? tvms_as_var_binding(binding)->value
                                                : tvms_as_match_cast(binding)->value;
}

static bool same_binding(const eliminator *e, const tvms_node *a, const tvms_node *b) {
  if (a->kind != b->kind) return false;
  tvms_context *context = e->binder.unit->context;
  if (!tvms_equal(context, value_of(a), value_of(b))) return false;
  return a->kind == TVMS_NODE_VAR_BINDING
         || tvms_equal(context, tvms_as_match_cast(a)->type,
                       tvms_as_match_cast(b)->type);
}

static tvms_walk_step find_obstacle(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  if (node->kind == TVMS_NODE_FUNCTION) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_CALL) return TVMS_WALK_ON;
  return tvms_call_is_pure(tvms_as_call(node)) ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

static bool is_allocation(const tvms_node *value) {
  static const tvms_opcode allocators[] = {
      TVMS_R_builtin_alloc_tensor, TVMS_R_memory_alloc_storage,
      TVMS_R_memory_alloc_tensor,  TVMS_R_vm_alloc_storage,
      TVMS_R_vm_alloc_tensor,
  };
  tvms_opcode opcode = tvms_called_relax_op(value);
  for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++) {
    if (allocators[i] == opcode) return true;
  }
  return false;
}

static bool may_share(const eliminator *e, const tvms_node *value) {
  if (e->call_only && value->kind != TVMS_NODE_CALL) return false;
  if (is_allocation(value)) return false;
  tvms_visitor visitor = {.enter = find_obstacle};
  return tvms_walk(memory_of(e), (tvms_node *)(uintptr_t)value, &visitor);
}

static tvms_node *find(const eliminator *e, uint64_t hash, const tvms_node *binding) {
  for (uint32_t i = e->heads[hash & e->mask]; i != UINT32_MAX;) {
    const entry *known = &e->entries.items[i];
    if (!known->dead && known->hash == hash
        && same_binding(e, known->binding, binding)) {
      return known->var;
    }
    i = known->next;
  }
  return NULL;
}

static void remember(eliminator *e, uint64_t hash, const tvms_node *binding,
                     tvms_node *var) {
  uint32_t *head = &e->heads[hash & e->mask];
  tvms_push(memory_of(e), &e->entries, ((entry){hash, binding, var, *head, false}));
  *head = e->entries.len - 1;
}

static void forget_from(eliminator *e, uint32_t count) {
  while (e->entries.len > count) {
    const entry *last = &e->entries.items[--e->entries.len];
    e->heads[last->hash & e->mask] = last->next;
  }
}

static tvms_node *share(tvms_rewriter *rewriter, tvms_node *binding) {
  tvms_binder *binder = rewriter->self;
  eliminator *e = binder->self;
  const tvms_node *value = value_of(binding);
  if (!may_share(e, value)) return binding;
  tvms_node *var = binding->kind == TVMS_NODE_VAR_BINDING
                       ? tvms_as_var_binding(binding)->var
                       : tvms_as_match_cast(binding)->var;
  uint64_t hash = tvms_hash(binder->unit->context, value);
  tvms_node *known = find(e, hash, binding);
  if (!known) {
    remember(e, hash, binding, var);
    return binding;
  }
  tvms_node_map_put(&rewriter->known, var, known);
  // A second variable outside dataflow blocks stands in when the first is forgotten.
  remember(e, hash, binding, var);
  e->entries.items[e->entries.len - 1].dead = !(known->flags & TVMS_FLAG_DATAFLOW);
  tvms_var_binding *copy = tvms_make(binder->unit, VAR_BINDING, binding->span);
  copy->value = known;
  copy->var = var;
  return &copy->head;
}

static tvms_node *enter_if(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_binder *binder = rewriter->self;
  eliminator *e = binder->self;
  const tvms_if *old = tvms_as_if(node);
  tvms_node *condition = tvms_rewrite(rewriter, old->condition);
  uint32_t count = e->entries.len;
  tvms_node *yes = tvms_rewrite(rewriter, old->true_branch);
  forget_from(e, count);
  tvms_node *no = tvms_rewrite(rewriter, old->false_branch);
  forget_from(e, count);
  bool same =
      condition == old->condition && yes == old->true_branch && no == old->false_branch;
  if (same) return node;
  tvms_node *copy = tvms_node_copy(binder->unit, node);
  tvms_as_if(copy)->condition = condition;
  tvms_as_if(copy)->true_branch = yes;
  tvms_as_if(copy)->false_branch = no;
  return copy;
}

// Variables of a dataflow block are not seen behind it.
static tvms_node *leave_block(tvms_rewriter *rewriter, tvms_node *block) {
  tvms_binder *binder = rewriter->self;
  eliminator *e = binder->self;
  if (!(block->flags & TVMS_FLAG_DATAFLOW)) return block;
  for (uint32_t i = 0; i < e->entries.len; i++) {
    entry *known = &e->entries.items[i];
    bool dataflow = known->var->flags & TVMS_FLAG_DATAFLOW;
    known->dead |= dataflow;
    if (dataflow) tvms_node_map_put(&rewriter->known, known->var, NULL);
  }
  return block;
}

static tvms_walk_step count_bindings(void *self, tvms_node *node,
                                     tvms_field_role role) {
  (void)role;
  *(uint32_t *)self += node->kind == TVMS_NODE_VAR_BINDING;
  return TVMS_WALK_ON;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  eliminator e = {.call_only =
                      TVMS_OPTION(run, EliminateCommonSubexpr, call_only).number};
  tvms_binder_init(&e.binder, unit, &e);
  uint32_t bindings = 0, size = 16;
  tvms_visitor visitor = {.self = &bindings, .enter = count_bindings};
  tvms_walk(memory_of(&e), function, &visitor);
  while (size < 2 * bindings)
    size *= 2;
  e.mask = size - 1;
  e.heads = tvms_take(memory_of(&e), size * sizeof *e.heads);
  for (uint32_t i = 0; i < size; i++)
    e.heads[i] = UINT32_MAX;
  tvms_rewriter *rewriter = &e.binder.rewriter;
  rewriter->enter[TVMS_NODE_BINDING_BLOCK] = NULL;
  rewriter->leave[TVMS_NODE_BINDING_BLOCK] = leave_block;
  rewriter->leave[TVMS_NODE_VAR_BINDING] = share;
  rewriter->leave[TVMS_NODE_MATCH_CAST] = share;
  rewriter->enter[TVMS_NODE_IF] = enter_if;
  tvms_node *changed = tvms_rewrite(rewriter, function);
  tvms_give(memory_of(&e), e.heads);
  tvms_vec_free(memory_of(&e), &e.entries);
  tvms_binder_fini(&e.binder);
  return changed;
}

void tvms_pass_eliminate_common_subexpr(tvms_pass_run *run) {
  tvms_change_functions(run, TVMS_NODE_FUNCTION, change);
}
