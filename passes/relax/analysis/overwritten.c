// Which variables of a Relax function lie in memory that a call may write over.
#include "passes/relax/analysis/overwritten.h"

#include "ir/op.h"
#include "ir/walk.h"
#include "passes/relax/analysis/aliases.h"
#include "passes/relax/analysis/writers.h"
#include "structinfo/definitions.h"

typedef struct {
  tvms_relax_overwritten *found;
  tvms_pass_run *run;
  tvms_memory *memory;
  tvms_node_vec written;  // variables that calls write over
} search;

// ---- Arguments ----

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
  tvms_list args = tvms_relax_is_inplace(node) ? inplace_args(call) : (tvms_list){0};
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
  } else if (value->kind != TVMS_NODE_CALL || tvms_relax_is_inplace(value)
             || tvms_relax_may_alias(tvms_op_called(value))) {
    share_below(s, var, value);
  }
}

// ---- Calls that write ----

static tvms_walk_step note_written(void *self, tvms_node *node, tvms_field_role role) {
  search *s = self;
  if (node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_USE)
    tvms_vec_push(s->memory, &s->written, node);
  return TVMS_WALK_ON;
}

static void note_call(search *s, tvms_node *node) {
  tvms_visitor visitor = {.self = s, .enter = note_written};
  if (tvms_relax_writes(s->run, node)) walk_targets(s, node, &visitor);
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

void tvms_relax_overwritten_init(tvms_relax_overwritten *o, tvms_pass_run *run,
                                 tvms_node *function) {
  tvms_memory *memory = &run->context->memory;
  tvms_node_map_init(&o->shares, memory);
  tvms_node_map_init(&o->written, memory);
  search s = {o, run, memory, {0}};
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
  tvms_node_map_fini(&o->written);
}

bool tvms_relax_is_overwritten(tvms_relax_overwritten *o, tvms_node *var) {
  return tvms_node_map_get(&o->written, root_of(o, var)) != NULL;
}
