// CanonicalizeBindings: bindings that only give another name to something go.
//
// Before: lv = R.exp(x); lv1 = lv; t = (lv1, y); gv = t[0]
// After:  gv = R.exp(x); t = (gv, y)
//
// Taking an item of a tuple that is known is another name for the item, and the tuple of all
// items of another is another name for that. Constants are written where they are used. What
// only its dataflow block needs becomes a variable of the block. Symbols that a match_cast
// makes known are put in first (canonicalize_symbols.c; with `keep_checks`, what a match_cast checks of
// a size that is defined elsewhere is checked still). Bindings that nobody uses any more
// stay: DeadCodeElimination removes them. TVM: relax.transform.CanonicalizeBindings.
#include "passes/relax/graph/canonicalize_bindings.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/relax/blocks.h"
#include "passes/relax/graph/canonicalize_symbols.h"
#include "passes/relax/make.h"
#include "passes/relax/retype.h"
#include "structinfo/definitions.h"
#include "structinfo/make.h"

// What is found out before anything is changed. Maps are keyed by variable.
typedef struct {
  tvms_pass_run *run;
  tvms_unit *unit;
  tvms_relax_definitions definitions;
  tvms_node_map values;     // what a variable is bound to, as far as it can be seen
  tvms_node_map constants;  // … if that is a constant
  tvms_node_map same;       // … if that is another variable
  tvms_node_map
      sizes;  // … if that is a symbol, which is a variable where scalars are TIR
  uint32_t in_numbers;    // scalars and shapes around the walk
  tvms_node_vec copies;   // keys of `same` in order
  tvms_node_map outside;  // used outside of the dataflow block that defines it
  tvms_node_vec inside;   // defined in dataflow blocks, in order
  TVMS_VEC(tvms_node *)
  blocks;  // open ones; NULL: in a function or branch, but in no block
  // The plan.
  tvms_node_map bound_as;  // variable that a binding gets instead
  tvms_node_map used_as;   // what is used instead of a variable
  tvms_node_map gone;      // variables whose binding goes
} planner;

static tvms_memory *memory_of(const planner *p) {
  return &p->run->context->memory;
}

// ---- What a variable stands for ----

static tvms_node *unwrap(const planner *p, tvms_node *node) {
  tvms_node *value;
  while (node->kind == TVMS_NODE_VAR && (value = tvms_node_map_get(&p->values, node)))
    node = value;
  return node;
}

// The item that a TUPLE_GET_ITEM takes, if the tuple is known.
static tvms_node *known_item(const planner *p, tvms_node *value) {
  const tvms_tuple_get_item *item = tvms_as_tuple_get_item(value);
  const tvms_node *tuple = unwrap(p, item->tuple);
  if (tuple->kind != TVMS_NODE_TUPLE) return value;
  tvms_list fields = tvms_as_tuple(tuple)->fields;
  return (uint64_t)item->index < fields.len ? fields.items[item->index] : value;
}

// The tuple of which a TUPLE has all items in order.
static tvms_node *copied_tuple(const planner *p, tvms_node *value) {
  tvms_list fields = tvms_as_tuple(value)->fields;
  tvms_node *source = NULL;
  for (uint32_t i = 0; i < fields.len; i++) {
    const tvms_node *field = unwrap(p, fields.items[i]);
    if (field->kind != TVMS_NODE_TUPLE_GET_ITEM) return value;
    const tvms_tuple_get_item *item = tvms_as_tuple_get_item(field);
    if (item->index != i) return value;
    tvms_node *from = unwrap(p, item->tuple);
    if (source && from != source) return value;
    const tvms_node *type = item->tuple->sinfo;
    bool all = type && type->kind == TVMS_NODE_SINFO_TUPLE
               && tvms_as_sinfo_tuple(type)->fields.len == fields.len;
    if (!all) return value;
    source = from;
  }
  return source ? source : value;
}

static bool is_symbol(const planner *p, const tvms_node *value) {
  return value->kind == TVMS_NODE_PRIM_VALUE
         && tvms_as_prim_value(value)->value->kind == TVMS_NODE_VAR
         && tvms_release_has(p->unit->dialect, TVMS_FACT_scalars_are_tir);
}

static void note_binding(planner *p, tvms_node *binding) {
  tvms_node *var = tvms_relax_binding_var(binding);
  tvms_node *value = tvms_relax_binding_value(binding);
  // New names of sizes, which may be used as numbers, are another type.
  bool same_type = binding->kind == TVMS_NODE_VAR_BINDING
                   || tvms_node_same_expr(tvms_as_match_cast(binding)->type,
                                          tvms_sinfo_of(p->unit, value));
  if (value->kind == TVMS_NODE_TUPLE_GET_ITEM)
    value = known_item(p, value);
  else if (value->kind == TVMS_NODE_TUPLE)
    value = copied_tuple(p, value);
  if (value->kind == TVMS_NODE_VAR && same_type) {
    tvms_node_map_put(&p->same, var, value);
    tvms_vec_push(memory_of(p), &p->copies, var);
  }
  if (value->kind == TVMS_NODE_CONSTANT) tvms_node_map_put(&p->constants, var, value);
  if (is_symbol(p, value)) {
    tvms_node_map_put(&p->sizes, var, tvms_as_prim_value(value)->value);
    tvms_node_map_put(&p->gone, var, var);
  }
  tvms_node_map_put(&p->values, var, value);
}

// ---- Where variables are used ----

static const tvms_node *TVMS_NULLABLE open_block(const planner *p) {
  return p->blocks.len ? p->blocks.items[p->blocks.len - 1] : NULL;
}

static bool in_dataflow(const planner *p) {
  const tvms_node *block = open_block(p);
  return block && block->flags & TVMS_FLAG_DATAFLOW;
}

static void note_use(planner *p, tvms_node *var) {
  const tvms_node *home = tvms_relax_definitions_of(&p->definitions, var).block;
  if (!in_dataflow(p) || (home && home != open_block(p)))
    tvms_node_map_put(&p->outside, var, var);
}

static tvms_walk_step plan_enter(void *self, tvms_node *node, tvms_field_role role) {
  planner *p = self;
  switch (node->kind) {
  case TVMS_NODE_SEQ_EXPR: tvms_vec_push(memory_of(p), &p->blocks, NULL); break;
  case TVMS_NODE_BINDING_BLOCK: tvms_vec_push(memory_of(p), &p->blocks, node); break;
  case TVMS_NODE_VAR_BINDING:
  case TVMS_NODE_MATCH_CAST:
    note_binding(p, node);
    if (in_dataflow(p))
      tvms_vec_push(memory_of(p), &p->inside, tvms_relax_binding_var(node));
    break;
  case TVMS_NODE_VAR:
    if (role == TVMS_ROLE_USE) note_use(p, node);
    break;
  default: break;
  }
  return TVMS_WALK_ON;
}

static void plan_leave(void *self, tvms_node *node, tvms_field_role role) {
  planner *p = self;
  (void)role;
  if (node->kind == TVMS_NODE_SEQ_EXPR || node->kind == TVMS_NODE_BINDING_BLOCK)
    p->blocks.len--;
}

// ---- The plan ----

static tvms_node *follow(const tvms_node_map *map, tvms_node *var) {
  tvms_node *next;
  while ((next = tvms_node_map_get(map, var)) && next != var)
    var = next;
  return var;
}

// Variables that only their block uses become variables of the block.
static void plan_dataflow(planner *p) {
  for (uint32_t i = 0; i < p->inside.len; i++) {
    tvms_node *var = p->inside.items[i];
    if (var->flags & TVMS_FLAG_DATAFLOW || tvms_node_map_get(&p->outside, var))
      continue;
    tvms_node *local = tvms_node_copy(p->unit, var);
    local->flags |= TVMS_FLAG_DATAFLOW;
    tvms_node_map_put(&p->bound_as, var, local);
    tvms_node_map_put(&p->used_as, var, local);
  }
}

// A copy goes, and what it copies is used; but where that is a variable of a dataflow block
// and the copy is used outside, the name of the copy is what stays.
static void plan_copies(planner *p) {
  for (uint32_t i = 0; i < p->copies.len; i++) {
    tvms_node *copy = p->copies.items[i];
    tvms_node *source = follow(&p->bound_as, follow(&p->same, copy));
    bool stays = !(copy->flags & TVMS_FLAG_DATAFLOW)
                 && source->flags & TVMS_FLAG_DATAFLOW
                 && tvms_node_map_get(&p->outside, copy);
    if (stays) {
      tvms_node_map_put(&p->bound_as, source, copy);
      tvms_node_map_put(&p->used_as, source, copy);
    } else {
      tvms_node_map_put(&p->used_as, copy, source);
    }
    tvms_node_map_put(&p->gone, copy, copy);
  }
}

// ---- Carrying it out ----

static tvms_node *drop_copy(tvms_rewriter *r, tvms_node *binding) {
  const planner *p = r->self;
  bool gone = tvms_node_map_get(&p->gone, tvms_relax_binding_var(binding)) != NULL;
  return gone ? NULL : TVMS_REWRITE_BELOW;
}

static tvms_node *put_variable(tvms_rewriter *r, tvms_node *var) {
  const planner *p = r->self;
  if (r->role == TVMS_ROLE_DEFINE) {
    tvms_node *made = follow(&p->bound_as, var);
    return made == var ? TVMS_REWRITE_BELOW : made;
  }
  if (r->role != TVMS_ROLE_USE) return TVMS_REWRITE_BELOW;
  tvms_node *used = follow(&p->used_as, var);
  tvms_node *constant = tvms_node_map_get(&p->constants, used);
  if (constant) return constant;
  tvms_node *size = tvms_node_map_get(&p->sizes, used);
  if (size) return p->in_numbers ? size : tvms_relax_make_prim_value(r->unit, size);
  return used == var ? TVMS_REWRITE_BELOW : used;
}

static tvms_node *enter_numbers(tvms_rewriter *r, tvms_node *node) {
  planner *p = r->self;
  p->in_numbers++;
  tvms_node *made = tvms_rewrite_below(r, node);
  p->in_numbers--;
  return made;
}

static tvms_node *type_call(tvms_rewriter *r, tvms_node *call) {
  const planner *p = r->self;
  return tvms_relax_retype_call(r, p->run->module, call);
}

// ---- Values that are only cast to become an output ----

// In a dataflow block: variables of the block that nothing uses but the one binding of an
// output that gives them another type.
typedef struct {
  planner *p;
  tvms_node_map disqualified;
  tvms_node_map outputs;
  tvms_node_map candidates;  // variable → its value
} output_search;

static tvms_walk_step disqualify(void *self, tvms_node *node, tvms_field_role role) {
  output_search *s = self;
  if (node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_USE)
    tvms_node_map_put(&s->disqualified, node, node);
  return TVMS_WALK_ON;
}

static bool is_local(const tvms_node *node) {
  return node->kind == TVMS_NODE_VAR && node->flags & TVMS_FLAG_DATAFLOW;
}

static void look_at_binding(output_search *s, tvms_node *binding) {
  tvms_node *var = tvms_relax_binding_var(binding);
  tvms_node *value = tvms_relax_binding_value(binding);
  tvms_visitor visitor = {.self = s, .enter = disqualify};
  if (is_local(var)) {
    tvms_walk(memory_of(s->p), value, &visitor);
    bool candidate = !tvms_node_map_get(&s->disqualified, var)
                     && tvms_node_map_get(&s->outputs, var);
    if (candidate) tvms_node_map_put(&s->candidates, var, value);
  } else if (!is_local(value)) {
    tvms_walk(memory_of(s->p), value, &visitor);
  } else if (tvms_node_map_get(&s->outputs, value)) {
    tvms_node_map_put(&s->disqualified, value, value);
  } else {
    tvms_node_map_put(&s->outputs, value, value);
  }
}

// The binding with the value that its variable of the block had; NULL for the binding of
// that.
static tvms_node *TVMS_NULLABLE join_output(output_search *s, tvms_node *binding) {
  const tvms_node *var = tvms_relax_binding_var(binding);
  if (is_local(var)) return tvms_node_map_get(&s->candidates, var) ? NULL : binding;
  tvms_node *value =
      tvms_node_map_get(&s->candidates, tvms_relax_binding_value(binding));
  if (!value) return binding;
  tvms_node *copy = tvms_node_copy(s->p->unit, binding);
  if (copy->kind == TVMS_NODE_MATCH_CAST)
    tvms_as_match_cast(copy)->value = value;
  else
    tvms_as_var_binding(copy)->value = value;
  return copy;
}

static tvms_node *join_outputs(tvms_rewriter *r, tvms_node *block) {
  planner *p = r->self;
  if (!(block->flags & TVMS_FLAG_DATAFLOW)) return block;
  output_search s = {.p = p};
  tvms_node_map_init(&s.disqualified, memory_of(p));
  tvms_node_map_init(&s.outputs, memory_of(p));
  tvms_node_map_init(&s.candidates, memory_of(p));
  tvms_list old = tvms_as_binding_block(block)->bindings;
  for (uint32_t i = old.len; i > 0; i--)
    look_at_binding(&s, old.items[i - 1]);
  if (s.candidates.count) {
    tvms_node_vec bindings = {0};
    for (uint32_t i = 0; i < old.len; i++) {
      tvms_node *made = join_output(&s, old.items[i]);
      if (made) tvms_vec_push(memory_of(p), &bindings, made);
    }
    block = tvms_node_copy(p->unit, block);
    tvms_as_binding_block(block)->bindings =
        tvms_list_copy(p->unit, bindings.items, bindings.len);
    tvms_vec_fini(memory_of(p), &bindings);
  }
  tvms_node_map_fini(&s.disqualified);
  tvms_node_map_fini(&s.outputs);
  tvms_node_map_fini(&s.candidates);
  return block;
}

// ---- The pass ----

static void planner_init(planner *p) {
  tvms_node_map *maps[] = {&p->values,  &p->constants, &p->same,    &p->sizes,
                           &p->outside, &p->bound_as,  &p->used_as, &p->gone};
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
    tvms_node_map_init(maps[i], memory_of(p));
}

static void planner_fini(planner *p) {
  tvms_node_map *maps[] = {&p->values,  &p->constants, &p->same,    &p->sizes,
                           &p->outside, &p->bound_as,  &p->used_as, &p->gone};
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
    tvms_node_map_fini(maps[i]);
  tvms_vec_fini(memory_of(p), &p->copies);
  tvms_vec_fini(memory_of(p), &p->inside);
  tvms_vec_fini(memory_of(p), &p->blocks);
  tvms_relax_definitions_fini(&p->definitions);
}

static tvms_node *merge_blocks(tvms_rewriter *r, tvms_node *sequence) {
  return tvms_relax_merge_blocks(r->unit, sequence);
}

// Where a block went, its neighbours may belong together.
static tvms_node *tidy(tvms_unit *unit, tvms_node *function) {
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, NULL);
  rewriter.leave[TVMS_NODE_SEQ_EXPR] = merge_blocks;
  tvms_node *result = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return result;
}

static tvms_node *canonicalize_names(tvms_pass_run *run, tvms_unit *unit,
                                     tvms_node *function) {
  planner p = {.run = run, .unit = unit};
  planner_init(&p);
  tvms_relax_definitions_init(&p.definitions, unit, function);
  tvms_visitor visitor = {.self = &p, .enter = plan_enter, .leave = plan_leave};
  tvms_walk(memory_of(&p), function, &visitor);
  plan_dataflow(&p);
  plan_copies(&p);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &p);
  tvms_relax_retype(&rewriter);
  rewriter.enter[TVMS_NODE_VAR_BINDING] = drop_copy;
  rewriter.enter[TVMS_NODE_MATCH_CAST] = drop_copy;
  rewriter.enter[TVMS_NODE_VAR] = put_variable;
  rewriter.enter[TVMS_NODE_PRIM_VALUE] = enter_numbers;
  rewriter.enter[TVMS_NODE_SHAPE_EXPR] = enter_numbers;
  rewriter.leave[TVMS_NODE_CALL] = type_call;
  rewriter.leave[TVMS_NODE_BINDING_BLOCK] = join_outputs;
  tvms_node *result = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  planner_fini(&p);
  return result == function ? function : tidy(unit, result);
}

static tvms_node *canonicalize(tvms_pass_run *run, tvms_unit *unit, tvms_node *function,
                               bool checks) {
  // What the first round puts in may make more known.
  for (int round = 0; round < 2; round++)
    function = tvms_relax_canonicalize_symbols(run, unit, function, checks);
  return canonicalize_names(run, unit, function);
}

tvms_node *tvms_relax_canonicalize(tvms_pass_run *run, tvms_unit *unit,
                                   tvms_node *function) {
  return canonicalize(run, unit, function, false);
}

tvms_node *tvms_relax_canonicalize_checked(tvms_pass_run *run, tvms_unit *unit,
                                           tvms_node *function) {
  return canonicalize(run, unit, function, true);
}

void tvms_pass_canonicalize_bindings(tvms_pass_run *run) {
  bool checks = TVMS_OPTION(run, CanonicalizeBindings, keep_checks).number;
  tvms_functions_change(run, TVMS_NODE_FUNCTION,
                        checks ? tvms_relax_canonicalize_checked
                               : tvms_relax_canonicalize);
}
