// Which variables of a Relax function lie in memory that a call may write over.
#include "passes/relax/analysis/overwritten.h"

#include "ir/op.h"
#include "ir/walk.h"
#include "passes/relax/analysis/aliases.h"
#include "structinfo/definitions.h"
#include "structinfo/infer.h"

typedef struct {
  tvms_relax_overwritten *found;
  tvms_memory *memory;
  tvms_node_vec written;  // variables that calls write over
} search;

// ---- Arguments ----

static bool is_inplace(const tvms_node *call) {
  tvms_opcode opcode = tvms_op_called(call);
  return opcode == TVMS_R_call_tir_inplace || opcode == TVMS_R_call_inplace_packed;
}

// What a call in place gets; an empty list where that is a variable.
static tvms_list inplace_args(const tvms_call *call) {
  tvms_list args = call->args;
  if (tvms_op_called(&call->head) == TVMS_R_call_inplace_packed)
    return args.len ? (tvms_list){args.items + 1, args.len - 1} : args;
  bool known = args.len > 1 && args.items[1]->kind == TVMS_NODE_TUPLE;
  return known ? tvms_as_tuple(args.items[1])->fields : (tvms_list){0};
}

// The arguments of a call that it may write over, if it writes; of a call in place those in whose place
// results are.
static void walk_targets(const search *s, tvms_node *node,
                         const tvms_visitor *visitor) {
  const tvms_call *call = tvms_as_call(node);
  tvms_list args = is_inplace(node) ? inplace_args(call) : (tvms_list){0};
  if (!args.len) {
    tvms_walk(s->memory, node, visitor);
    return;
  }
  tvms_list indices = tvms_attr_list(call, TVMS_ATTR_inplace_inplace_indices);
  for (uint32_t i = 0; i < indices.len; i++) {
    int64_t index = tvms_attr_item_int(indices.items[i]);
    if (index >= 0 && index < args.len)
      tvms_walk(s->memory, args.items[index], visitor);
  }
}

// ---- Memory that is shared ----

// What stands for all that may share memory with a variable; ways to it are halved.
static tvms_node *root_of(tvms_relax_overwritten *o, tvms_node *var) {
  tvms_node *next = tvms_node_map_get(&o->shares, var);
  while (next) {
    tvms_node *after = tvms_node_map_get(&o->shares, next);
    if (after) tvms_node_map_put(&o->shares, var, after);
    var = next;
    next = after;
  }
  return var;
}

typedef struct {
  tvms_relax_overwritten *found;
  tvms_node *var;
} sharing;

static tvms_walk_step share(void *self, tvms_node *node, tvms_field_role role) {
  const sharing *s = self;
  bool value = node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_USE;
  if (!value || !tvms_dtype_is_void(node->dtype)) return TVMS_WALK_ON;  // a size
  tvms_node *root = root_of(s->found, s->var), *other = root_of(s->found, node);
  if (root != other) tvms_node_map_put(&s->found->shares, root, other);
  return TVMS_WALK_ON;
}

// Every variable below a value may share memory with `var`.
static void share_below(const search *s, tvms_node *var, tvms_node *value) {
  sharing of = {s->found, var};
  tvms_visitor visitor = {.self = &of, .enter = share};
  if (value->kind == TVMS_NODE_CALL)
    walk_targets(s, value, &visitor);
  else
    tvms_walk(s->memory, value, &visitor);
}

static void share_value(const search *s, tvms_node *var, tvms_node *value) {
  if (value->kind == TVMS_NODE_IF) {
    const tvms_if *choice = tvms_as_if(value);
    share_below(s, var, tvms_as_seq_expr(choice->true_branch)->body);
    share_below(s, var, tvms_as_seq_expr(choice->false_branch)->body);
  } else if (value->kind == TVMS_NODE_SEQ_EXPR) {
    share_below(s, var, tvms_as_seq_expr(value)->body);
  } else if (value->kind != TVMS_NODE_CALL || is_inplace(value)
             || tvms_relax_may_alias(tvms_op_called(value))) {
    share_below(s, var, value);
  }
}

// ---- Calls that write ----

typedef struct {
  const tvms_module *module;
  tvms_memory *memory;
  const tvms_node_map
      *known;  // the functions that were looked at before (relax_overwritten)
  tvms_node_map *seen;
  tvms_node_vec queue;  // functions that are called
  bool writes;
} callee;

// A packed function with effects, a function that is a value, or a PrimFunc.
static bool is_unknown(const tvms_module *module, const tvms_node *call) {
  const tvms_node *name = tvms_as_call(call)->callee;
  if (name->kind == TVMS_NODE_EXTERN_FUNC)
    return !tvms_infer_call_is_pure(module, tvms_as_call(call));
  bool named = name->kind == TVMS_NODE_GLOBAL_VAR;
  return name->kind == TVMS_NODE_VAR
         || (named && !tvms_module_function_named(module, name, TVMS_NODE_FUNCTION));
}

static tvms_walk_step look_at_call(void *self, tvms_node *node, tvms_field_role role) {
  callee *c = self;
  (void)role;
  if (node->kind != TVMS_NODE_CALL) return TVMS_WALK_ON;
  c->writes |= is_inplace(node) || is_unknown(c->module, node);
  const tvms_member *member = tvms_module_function_named(
      c->module, tvms_as_call(node)->callee, TVMS_NODE_FUNCTION);
  const tvms_node *known =
      member ? tvms_node_map_get(c->known, member->function) : NULL;
  if (known) {
    c->writes |= known == member->function;
  } else if (member && !tvms_node_map_get(c->seen, member->function)) {
    tvms_node_map_put(c->seen, member->function, member->function);
    tvms_vec_push(c->memory, &c->queue, member->function);
  }
  return c->writes ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Is there a call that writes in this function, or in one that it calls?
static bool writes_below(const search *s, tvms_node *function) {
  tvms_node *known = tvms_node_map_get(&s->found->callees, function);
  if (known) return known == function;
  tvms_node_map seen;
  tvms_node_map_init(&seen, s->memory);
  callee c = {s->found->module, s->memory, &s->found->callees, &seen, {0}, false};
  tvms_vec_push(s->memory, &c.queue, function);
  tvms_visitor visitor = {.self = &c, .enter = look_at_call};
  for (uint32_t i = 0; i < c.queue.len && !c.writes; i++)
    tvms_walk(s->memory, tvms_as_function(c.queue.items[i])->body, &visitor);
  if (c.writes) tvms_node_map_put(&s->found->callees, function, function);
  // Where none writes, none of those that are called does.
  for (uint32_t i = 0; i < c.queue.len && !c.writes; i++) {
    tvms_node *one = c.queue.items[i];
    tvms_node_map_put(&s->found->callees, one, tvms_as_function(one)->body);
  }
  tvms_vec_fini(s->memory, &c.queue);
  tvms_node_map_fini(&seen);
  return c.writes;
}

static bool writes(const search *s, const tvms_node *call) {
  const tvms_module *module = s->found->module;
  if (is_inplace(call) || is_unknown(module, call)) return true;
  const tvms_member *member = tvms_module_function_named(
      module, tvms_as_call(call)->callee, TVMS_NODE_FUNCTION);
  return member && writes_below(s, member->function);
}

static tvms_walk_step note_written(void *self, tvms_node *node, tvms_field_role role) {
  search *s = self;
  if (node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_USE)
    tvms_vec_push(s->memory, &s->written, node);
  return TVMS_WALK_ON;
}

static void note_call(search *s, tvms_node *node) {
  tvms_visitor visitor = {.self = s, .enter = note_written};
  if (writes(s, node)) walk_targets(s, node, &visitor);
}

static tvms_walk_step look(void *self, tvms_node *node, tvms_field_role role) {
  search *s = self;
  (void)role;
  if (node->kind == TVMS_NODE_VAR_BINDING || node->kind == TVMS_NODE_MATCH_CAST)
    share_value(s, tvms_relax_binding_var(node), tvms_relax_binding_value(node));
  else if (node->kind == TVMS_NODE_CALL)
    note_call(s, node);
  return TVMS_WALK_ON;
}

// ---- The analysis ----

void tvms_relax_overwritten_init(tvms_relax_overwritten *o, tvms_memory *memory,
                                 const tvms_module *module, tvms_node *function) {
  o->module = module;
  tvms_node_map_init(&o->shares, memory);
  tvms_node_map_init(&o->callees, memory);
  tvms_node_map_init(&o->written, memory);
  search s = {o, memory, {0}};
  tvms_visitor visitor = {.self = &s, .enter = look};
  tvms_walk(memory, tvms_as_function(function)->body, &visitor);
  for (uint32_t i = 0; i < s.written.len; i++) {
    tvms_node *root = root_of(o, s.written.items[i]);
    tvms_node_map_put(&o->written, root, root);
  }
  tvms_vec_fini(memory, &s.written);
}

void tvms_relax_overwritten_fini(tvms_relax_overwritten *o) {
  tvms_node_map_fini(&o->shares);
  tvms_node_map_fini(&o->callees);
  tvms_node_map_fini(&o->written);
}

bool tvms_relax_is_overwritten(tvms_relax_overwritten *o, tvms_node *var) {
  return tvms_node_map_get(&o->written, root_of(o, var)) != NULL;
}
