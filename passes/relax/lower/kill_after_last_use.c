// KillAfterLastUse: what nobody needs any more is given back.
//
// Before: cls.f(x, alloc); cls.g(alloc, alloc1)
// After:  cls.f(x, alloc); cls.g(alloc, alloc1); R.memory.kill_tensor(alloc)
//
// Tensors are killed first, then storage, then other objects; not shapes, scalars, functions and
// constants, which no register holds, and not what a sequence gives as its result. Copies of
// variables go first (CanonicalizeBindings). As in TVM nothing is killed in a sequence behind an
// If. TVM: relax.transform.KillAfterLastUse.
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/relax/emit.h"
#include "passes/relax/graph/canonicalize_bindings.h"
#include "passes/relax/make.h"

// ---- Copies that nobody uses ----

typedef struct {
  tvms_node_map used;
} copies;

static tvms_walk_step note_use(void *self, tvms_node *node, tvms_field_role role) {
  copies *c = self;
  if (node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_USE)
    tvms_node_map_put(&c->used, node, node);
  return TVMS_WALK_ON;
}

static tvms_node *TVMS_NULLABLE drop_copy(tvms_rewriter *r, tvms_node *node) {
  const copies *c = r->self;
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  bool copy = binding->value->kind == TVMS_NODE_VAR;
  if (copy && !tvms_node_map_get(&c->used, binding->var)) return NULL;
  return TVMS_REWRITE_BELOW;
}

static tvms_node *TVMS_NULLABLE drop_cast(tvms_rewriter *r, tvms_node *node) {
  const copies *c = r->self;
  const tvms_match_cast *cast = tvms_as_match_cast(node);
  bool copy = cast->value->kind == TVMS_NODE_VAR && cast->value->sinfo
              && tvms_node_same_expr(cast->type, cast->value->sinfo);
  if (copy && !tvms_node_map_get(&c->used, cast->var)) return NULL;
  return TVMS_REWRITE_BELOW;
}

static tvms_node *drop_copies(tvms_unit *unit, tvms_node *function) {
  copies c = {0};
  tvms_node_map_init(&c.used, &unit->context->memory);
  tvms_visitor visitor = {.self = &c, .enter = note_use};
  tvms_walk(&unit->context->memory, function, &visitor);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &c);
  rewriter.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  rewriter.enter[TVMS_NODE_VAR_BINDING] = drop_copy;
  rewriter.enter[TVMS_NODE_MATCH_CAST] = drop_cast;
  function = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  tvms_node_map_fini(&c.used);
  return function;
}

// ---- Last uses in one sequence ----

typedef struct {
  tvms_relax_emitter emitter;
  tvms_memory *memory;
  tvms_node_vec order;    // variables that the sequence binds, branches included
  tvms_node_map last;     // VAR -> the variable of the last binding that uses it
  tvms_node_map result;   // VAR that the result of the sequence uses
  tvms_node_map storage;  // variables that are bound to storage
  tvms_node_map spared;   // constants and what the program kills itself
  // VAR of a binding -> the first variable to be killed behind it; VAR -> the next one.
  tvms_node_map first;
  tvms_node_map next;
  tvms_node_vec open;  // variables of the bindings around the walk, innermost last
} killer;

static tvms_node_map *maps_of(killer *k, int i) {
  tvms_node_map *maps[] = {&k->last,   &k->result, &k->storage,
                           &k->spared, &k->first,  &k->next};
  return maps[i];
}

enum { MAPS = 6 };

static void forget(killer *k) {
  for (int i = 0; i < MAPS; i++)
    tvms_node_map_clear(maps_of(k, i));
  k->order.len = 0;
  k->open.len = 0;
}

static void use(killer *k, const tvms_node *var) {
  if (k->open.len) {
    tvms_node_map_put(&k->last, var, k->open.items[k->open.len - 1]);
    tvms_node_map_put(&k->result, var, NULL);
  } else {
    tvms_node_map_put(&k->result, var, (tvms_node *)(uintptr_t)var);
  }
}

// Shapes that are variables stand in types, too.
static void use_type(killer *k, const tvms_node *TVMS_NULLABLE type) {
  if (!type) return;
  if (type->kind == TVMS_NODE_SINFO_TENSOR) {
    const tvms_node *shape = tvms_as_sinfo_tensor(type)->shape;
    if (shape && shape->kind == TVMS_NODE_VAR) use(k, shape);
  } else if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    for (uint32_t i = 0; i < fields.len; i++)
      use_type(k, fields.items[i]);
  }
}

static bool is_kill(tvms_opcode opcode) {
  return opcode == TVMS_R_memory_kill_tensor || opcode == TVMS_R_memory_kill_storage
         || opcode == TVMS_R_vm_kill_object;
}

// Calls that are looked at without their arguments.
static bool enter_value(killer *k, const tvms_node *var, const tvms_node *value) {
  if (value->kind == TVMS_NODE_CONSTANT) {
    tvms_node_map_put(&k->spared, var, (tvms_node *)(uintptr_t)var);
    return false;
  }
  tvms_opcode opcode =
      value->kind == TVMS_NODE_CALL ? tvms_op_called(value) : TVMS_R_NONE;
  if (opcode == TVMS_R_vm_alloc_storage || opcode == TVMS_R_memory_alloc_storage) {
    tvms_node_map_put(&k->storage, var, (tvms_node *)(uintptr_t)var);
    return false;
  }
  if (!is_kill(opcode)) return true;
  tvms_node *killed = tvms_as_call(value)->args.items[0];
  tvms_node_map_put(&k->spared, killed, killed);
  return false;
}

static tvms_walk_step enter(void *self, tvms_node *node, tvms_field_role role) {
  killer *k = self;
  tvms_node *var = NULL, *value = NULL;
  if (node->kind == TVMS_NODE_VAR_BINDING) {
    var = tvms_as_var_binding(node)->var;
    value = tvms_as_var_binding(node)->value;
  } else if (node->kind == TVMS_NODE_MATCH_CAST) {
    var = tvms_as_match_cast(node)->var;
  }
  if (var) {
    tvms_vec_push(k->memory, &k->order, var);
    tvms_vec_push(k->memory, &k->open, var);
    return !value || enter_value(k, var, value) ? TVMS_WALK_ON : TVMS_WALK_SKIP;
  }
  if (role != TVMS_ROLE_USE) return TVMS_WALK_ON;
  if (node->kind == TVMS_NODE_VAR) use(k, node);
  if (node->kind != TVMS_NODE_SHAPE_EXPR) use_type(k, node->sinfo);
  return TVMS_WALK_ON;
}

static void leave(void *self, tvms_node *node, tvms_field_role role) {
  killer *k = self;
  (void)role;
  bool binding =
      node->kind == TVMS_NODE_VAR_BINDING || node->kind == TVMS_NODE_MATCH_CAST;
  if (binding) k->open.len--;
}

// Is it held by a register of the machine?
static bool is_held(const killer *k, const tvms_node *var) {
  if (tvms_node_map_get(&k->spared, var)) return false;
  if (tvms_node_map_get(&k->storage, var) || !var->sinfo) return true;
  tvms_node_kind kind = (tvms_node_kind)var->sinfo->kind;
  return kind != TVMS_NODE_SINFO_FUNC && kind != TVMS_NODE_SINFO_SHAPE
         && kind != TVMS_NODE_SINFO_PRIM;
}

static void collect(killer *k, tvms_node *sequence) {
  forget(k);
  tvms_visitor visitor = {.self = k, .enter = enter, .leave = leave};
  tvms_walk(k->memory, sequence, &visitor);
  for (uint32_t i = k->order.len; i > 0; i--) {
    tvms_node *var = k->order.items[i - 1];
    const tvms_node *user = tvms_node_map_get(&k->last, var);
    bool dies = user && !tvms_node_map_get(&k->result, var) && is_held(k, var);
    if (!dies) continue;
    tvms_node_map_put(&k->next, var, tvms_node_map_get(&k->first, user));
    tvms_node_map_put(&k->first, user, var);
  }
}

// ---- Rewriting ----

static tvms_opcode kill_of(const killer *k, const tvms_node *var) {
  if (tvms_node_map_get(&k->storage, var)) return TVMS_R_memory_kill_storage;
  bool tensor = var->sinfo && var->sinfo->kind == TVMS_NODE_SINFO_TENSOR;
  return tensor ? TVMS_R_memory_kill_tensor : TVMS_R_vm_kill_object;
}

static tvms_node *TVMS_NULLABLE kill_behind(tvms_rewriter *r, tvms_node *binding,
                                            const tvms_node *var) {
  static const tvms_opcode kinds[] = {
      TVMS_R_memory_kill_tensor, TVMS_R_memory_kill_storage, TVMS_R_vm_kill_object};
  killer *k = r->self;
  tvms_node *first = tvms_node_map_get(&k->first, var);
  if (!first) return binding;
  tvms_rewrite_emit(r, binding);
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    for (tvms_node *dead = first; dead; dead = tvms_node_map_get(&k->next, dead)) {
      if (kill_of(k, dead) != kinds[i]) continue;
      tvms_node *call =
          tvms_relax_make_operator_call(r->unit, kinds[i], &dead, 1, TVMS_NO_SPAN);
      tvms_relax_emit(&k->emitter, r, call, "_");
    }
  }
  return NULL;
}

static tvms_node *TVMS_NULLABLE leave_binding(tvms_rewriter *r, tvms_node *node) {
  return kill_behind(r, node, tvms_as_var_binding(node)->var);
}

static tvms_node *TVMS_NULLABLE leave_cast(tvms_rewriter *r, tvms_node *node) {
  return kill_behind(r, node, tvms_as_match_cast(node)->var);
}

static tvms_node *enter_sequence(tvms_rewriter *r, tvms_node *node) {
  collect(r->self, node);
  return TVMS_REWRITE_BELOW;
}

static tvms_node *leave_sequence(tvms_rewriter *r, tvms_node *node) {
  forget(r->self);
  return node;
}

static tvms_node *kill(tvms_unit *unit, tvms_node *function) {
  killer k = {.memory = &unit->context->memory};
  tvms_relax_emitter_init(&k.emitter, unit);
  for (int i = 0; i < MAPS; i++)
    tvms_node_map_init(maps_of(&k, i), k.memory);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &k);
  rewriter.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  rewriter.enter[TVMS_NODE_SEQ_EXPR] = enter_sequence;
  rewriter.leave[TVMS_NODE_SEQ_EXPR] = leave_sequence;
  rewriter.leave[TVMS_NODE_VAR_BINDING] = leave_binding;
  rewriter.leave[TVMS_NODE_MATCH_CAST] = leave_cast;
  function = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  for (int i = 0; i < MAPS; i++)
    tvms_node_map_fini(maps_of(&k, i));
  tvms_vec_fini(k.memory, &k.order);
  tvms_vec_fini(k.memory, &k.open);
  tvms_relax_emitter_fini(&k.emitter);
  return function;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  function = tvms_relax_canonicalize(run, unit, function);
  return kill(unit, drop_copies(unit, function));
}

void tvms_pass_kill_after_last_use(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
