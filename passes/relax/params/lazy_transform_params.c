// LazyTransformParams: a function that transforms weights loads each one when it needs it, stores
// each result as soon as it is there, and frees what it loaded.
//
// Before: def transform_params(params: R.Tuple(A, B)): a = params[0]; c = R.exp(a); o = (c,)
//                                                      return o
// After:  def transform_params(): gv = R.call_packed("get_item", 0); gv1 = R.match_cast(gv, A)
//             a = gv1; c = R.exp(a); R.vm.kill_object(a); R.call_packed("set_item", 0, c)
//             R.tuple(); return R.tuple()
//
// Functions whose names end in transform_params are changed. Weights are the fields of one tuple, or
// the parameters behind the first num_input; only fields of a tuple are freed. Behind the inputs
// come the parameters that the options name, of any type, which both functions get in front of what
// they need, and shapes and scalars among the weights, since their symbols are still used.
// A result that is not bound to a variable (return (a, b)) is returned and not stored, and nothing
// in it is freed; TVM frees it all the same. Dataflow blocks must have gone before: ToNonDataflow.
// TVM: relax.transform.LazyTransformParams.
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/relax/analysis/num_input.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/binder.h"
#include "passes/relax/make.h"
#include "structinfo/definitions.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  tvms_relax_binder binder;
  tvms_unit *unit;
  const char *get, *set;  // names of functions; `set` empty: results are returned
  tvms_list get_params, set_params;
  tvms_list weights;
  bool bundled;       // the one weight is a tuple of all
  bool *fetched;      // weights that have been, by place
  tvms_node *result;  // of the function
  tvms_list results;  // that are stored
  bool *loaded;       // variables that are a field of the tuple, by id
  uint32_t ids;
  // What ends behind the binding of a variable: `ending[id]` is one more than its list.
  uint32_t *ending;
  bool *ended;  // variables that are in a list, by id
  TVMS_VEC(tvms_node_vec) lists;
  uint32_t current;  // list of the binding at hand
} loader;

static tvms_memory *memory_of(const loader *l) {
  return &l->unit->context->memory;
}

// ---- Liveness: the last binding that uses a variable, from the end of the function on ----

static void end_here(loader *l, tvms_node *var) {
  if (l->ended[var->id]) return;
  l->ended[var->id] = true;
  tvms_vec_push(memory_of(l), &l->lists.items[l->current], var);
}

static void open_list(loader *l) {
  tvms_node_vec empty = {0};
  l->current = l->lists.len;
  tvms_vec_push(memory_of(l), &l->lists, empty);
}

static tvms_walk_step see_use(void *self, tvms_node *node, tvms_field_role role);

static void see_binding(loader *l, tvms_node *binding) {
  tvms_visitor visitor = {.self = l, .enter = see_use};
  tvms_node *var = tvms_relax_binding_var(binding);
  bool plain = binding->kind == TVMS_NODE_VAR_BINDING;
  if (plain && var == l->result) return;
  if (plain) open_list(l);
  tvms_walk(memory_of(l), tvms_relax_binding_value(binding), &visitor);
  if (!plain) return;
  end_here(l, var);
  l->ending[var->id] = l->current + 1;
}

static tvms_walk_step see_use(void *self, tvms_node *node, tvms_field_role role) {
  loader *l = self;
  if (node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_USE) end_here(l, node);
  if (node->kind != TVMS_NODE_BINDING_BLOCK) return TVMS_WALK_ON;
  tvms_list bindings = tvms_as_binding_block(node)->bindings;
  for (uint32_t i = bindings.len; i-- > 0;)
    see_binding(l, bindings.items[i]);
  return TVMS_WALK_SKIP;
}

// Fields of the tuple of weights that have names, and what is stored.
static tvms_walk_step see_names(void *self, tvms_node *node, tvms_field_role role) {
  loader *l = self;
  (void)role;
  if (node->kind != TVMS_NODE_VAR_BINDING) return TVMS_WALK_ON;
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  const tvms_node *value = binding->value;
  bool field = value->kind == TVMS_NODE_TUPLE_GET_ITEM && l->weights.len
               && tvms_as_tuple_get_item(value)->tuple == l->weights.items[0];
  l->loaded[binding->var->id] = field;
  if (binding->var == l->result && value->kind == TVMS_NODE_TUPLE)
    l->results = tvms_as_tuple(value)->fields;
  return TVMS_WALK_ON;
}

static void analyze(loader *l, tvms_node *function) {
  uint32_t size = l->ids = l->unit->next_id;
  l->loaded = tvms_arena_array(&l->unit->arena, bool, size);
  l->ended = tvms_arena_array(&l->unit->arena, bool, size);
  l->ending = tvms_arena_array(&l->unit->arena, uint32_t, size);
  tvms_visitor names = {.self = l, .enter = see_names}, uses = {.self = l};
  uses.enter = see_use;
  tvms_node *body = tvms_as_function(function)->body;
  tvms_walk(memory_of(l), body, &names);
  open_list(l);
  if (l->result->kind != TVMS_NODE_VAR)
    tvms_walk(memory_of(l), tvms_as_seq_expr(body)->body, &uses);
  tvms_list blocks = tvms_as_seq_expr(body)->blocks;
  for (uint32_t i = 0; i < blocks.len; i++)
    tvms_walk(memory_of(l), blocks.items[i], &uses);
}

// ---- Loading ----

static tvms_node *call_with(loader *l, const char *name, tvms_list first,
                            tvms_node *index, tvms_node *TVMS_NULLABLE value) {
  tvms_node_vec args = {0};
  for (uint32_t i = 0; i < first.len; i++)
    tvms_vec_push(memory_of(l), &args, first.items[i]);
  tvms_vec_push(memory_of(l), &args, index);
  if (value) tvms_vec_push(memory_of(l), &args, value);
  tvms_node *type = tvms_sinfo_object_new(l->unit);
  tvms_node *call = tvms_relax_make_packed_call(l->unit, name, args.items, args.len,
                                                type, TVMS_NO_SPAN);
  tvms_vec_fini(memory_of(l), &args);
  return call;
}

static tvms_node *load(tvms_rewriter *r, int64_t place) {
  loader *l = r->self;
  tvms_node *index = tvms_relax_make_int(l->unit, place);
  bool dataflow = r->sequence && r->sequence->flags & TVMS_FLAG_DATAFLOW;
  return tvms_relax_binder_bind(r, call_with(l, l->get, l->get_params, index, NULL),
                                dataflow ? "lv" : "gv");
}

// A parameter is fetched where it is used first, and keeps its variable.
static void load_parameter(tvms_rewriter *r, tvms_node *var, uint32_t place) {
  loader *l = r->self;
  l->fetched[place] = true;
  tvms_match_cast *cast = tvms_node_make(l->unit, MATCH_CAST, TVMS_NO_SPAN);
  cast->value = load(r, place);
  cast->type = var->sinfo;
  cast->var = var;
  tvms_relax_binder_put(r, &cast->head);
}

static tvms_node *TVMS_NULLABLE loaded(tvms_rewriter *r, tvms_node *node) {
  loader *l = r->self;
  if (l->bundled && node->kind == TVMS_NODE_TUPLE_GET_ITEM) {
    const tvms_tuple_get_item *item = tvms_as_tuple_get_item(node);
    if (item->tuple != l->weights.items[0]) return NULL;
    return tvms_relax_binder_cast(r, load(r, item->index), node->sinfo, "gv");
  }
  if (l->bundled || node->kind != TVMS_NODE_VAR) return NULL;
  for (uint32_t i = 0; i < l->weights.len; i++) {
    if (l->weights.items[i] == node && !l->fetched[i]) load_parameter(r, node, i);
  }
  return NULL;
}

// ---- Storing and freeing ----

static void store(tvms_rewriter *r, tvms_node *value, tvms_node *made) {
  loader *l = r->self;
  for (uint32_t i = 0; i < l->results.len; i++) {
    if (l->results.items[i] != value) continue;
    tvms_node *index = tvms_relax_make_int(l->unit, i);
    tvms_relax_binder_do(r, call_with(l, l->set, l->set_params, index, made));
  }
}

static void end_variable(tvms_rewriter *r, tvms_node *var) {
  loader *l = r->self;
  tvms_node *known = tvms_node_map_get(&r->known, var), *made = known ? known : var;
  store(r, var, made);
  if (!l->loaded[var->id]) return;
  tvms_relax_binder_do(r, tvms_relax_make_operator_call(l->unit, TVMS_R_vm_kill_object,
                                                        &made, 1, TVMS_NO_SPAN));
}

static tvms_node *empty_tuple(tvms_unit *unit) {
  tvms_tuple *tuple = tvms_node_make(unit, TUPLE, TVMS_NO_SPAN);
  tuple->head.sinfo = tvms_sinfo_tuple_new(unit, NULL, 0);
  return &tuple->head;
}

static tvms_node *TVMS_NULLABLE end_binding(tvms_rewriter *r, tvms_node *binding) {
  loader *l = r->self;
  const tvms_node *var = tvms_as_var_binding(binding)->var;
  if (var == l->result) {
    tvms_node *nothing =
        tvms_relax_bind(&l->binder.emitter, empty_tuple(l->unit), "gv", false);
    tvms_node_map_put(&r->known, var, empty_tuple(l->unit));
    return nothing;
  }
  uint32_t list = var->id < l->ids ? l->ending[var->id] : 0;
  if (!list) return binding;
  tvms_rewrite_emit(r, binding);
  for (uint32_t i = 0; i < l->lists.items[list - 1].len; i++)
    end_variable(r, l->lists.items[list - 1].items[i]);
  return NULL;
}

// Results that are no variables are stored last.
static tvms_node *with_leaves(loader *l, tvms_node *body) {
  tvms_node_vec last = {0}, none = {0};
  for (uint32_t i = 0; i < l->results.len; i++) {
    tvms_node *value = l->results.items[i];
    if (value->kind == TVMS_NODE_VAR) continue;
    tvms_node *index = tvms_relax_make_int(l->unit, i);
    tvms_node *call = call_with(l, l->set, l->set_params, index, value);
    tvms_relax_emitter unnumbered;
    tvms_relax_emitter_init(&unnumbered, l->unit);
    tvms_vec_push(memory_of(l), &last, tvms_relax_bind(&unnumbered, call, "_", false));
    tvms_relax_emitter_fini(&unnumbered);
  }
  if (last.len) {
    body = tvms_node_copy(l->unit, body);
    tvms_seq_expr *sequence = tvms_as_seq_expr(body);
    sequence->blocks =
        tvms_relax_binder_surround(l->unit, &none, sequence->blocks, &last);
  }
  tvms_vec_fini(memory_of(l), &last);
  return body;
}

// ---- Functions ----

static tvms_list named_params(tvms_unit *unit, const tvms_literal *names) {
  tvms_list list = {tvms_arena_array(&unit->arena, tvms_node *, names->len),
                    names->len};
  for (uint32_t i = 0; i < names->len; i++) {
    const char *text = names->items[i].text ? names->items[i].text : "";
    tvms_sym name = tvms_symbol_intern(unit->context, text, strlen(text));
    list.items[i] = tvms_var_new(unit, name, (tvms_dtype){0}, TVMS_NO_SPAN);
    list.items[i]->sinfo = tvms_sinfo_object_new(unit);
  }
  return list;
}

static void push_all(loader *l, tvms_node_vec *to, tvms_list items) {
  for (uint32_t i = 0; i < items.len; i++)
    tvms_vec_push(memory_of(l), to, items.items[i]);
}

// Shapes and scalars among the weights stay parameters if the function has symbols.
static void push_holders(loader *l, tvms_node_vec *params, const tvms_node *type) {
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    for (uint32_t i = 0; i < fields.len; i++)
      push_holders(l, params, fields.items[i]);
    return;
  }
  bool scalar = type->kind == TVMS_NODE_SINFO_PRIM;
  if (!scalar && type->kind != TVMS_NODE_SINFO_SHAPE) return;
  bool tir = scalar && tvms_release_has(l->unit->dialect, TVMS_FACT_scalars_are_tir);
  const char *name = "symbolic_var_holder";
  tvms_node *var =
      tvms_var_new(l->unit, tvms_symbol_intern(l->unit->context, name, strlen(name)),
                   tir ? type->dtype : (tvms_dtype){0}, TVMS_NO_SPAN);
  var->sinfo = (tvms_node *)(uintptr_t)type;
  tvms_vec_push(memory_of(l), params, var);
}

static bool has_symbols(loader *l, const tvms_function *function) {
  tvms_node_map defined;
  tvms_node_map_init(&defined, memory_of(l));
  for (uint32_t i = 0; i < function->params.len; i++)
    tvms_relax_symbols_of_type(&defined, function->params.items[i]->sinfo);
  bool any = defined.count > 0;
  tvms_node_map_fini(&defined);
  return any;
}

static tvms_list new_params(loader *l, const tvms_function *function, uint32_t inputs) {
  tvms_node_vec params = {0};
  push_all(l, &params, (tvms_list){function->params.items, inputs});
  push_all(l, &params, l->get_params);
  push_all(l, &params, l->set_params);
  if (has_symbols(l, function)) {
    for (uint32_t i = 0; i < l->weights.len; i++)
      push_holders(l, &params, l->weights.items[i]->sinfo);
  }
  tvms_list list = tvms_list_copy(l->unit, params.items, params.len);
  tvms_vec_fini(memory_of(l), &params);
  return list;
}

static tvms_walk_step find_dataflow(void *self, tvms_node *node, tvms_field_role role) {
  (void)self, (void)role;
  bool dataflow =
      node->kind == TVMS_NODE_BINDING_BLOCK && node->flags & TVMS_FLAG_DATAFLOW;
  return dataflow ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Why the function cannot be changed; NULL: it can.
static const char *TVMS_NULLABLE obstacle(loader *l, tvms_node *node) {
  tvms_visitor visitor = {.enter = find_dataflow};
  if (!l->weights.len) return "it has none";
  if (!tvms_walk(memory_of(l), node, &visitor)) return "it has dataflow blocks";
  bool bound = l->result->kind == TVMS_NODE_VAR && l->set[0];
  tvms_relax_definitions definitions;
  tvms_relax_definitions_init(&definitions, l->unit, node);
  const tvms_node *value =
      bound ? tvms_relax_definitions_value(&definitions, l->result) : NULL;
  tvms_relax_definitions_fini(&definitions);
  return value && value->kind != TVMS_NODE_TUPLE
             ? "its result is not written as a tuple"
             : NULL;
}

static tvms_node *rewrite(loader *l, tvms_node *node, uint32_t inputs) {
  tvms_node *copy = tvms_node_copy(l->unit, node);
  tvms_function *function = tvms_as_function(copy);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, l->unit, l);
  tvms_relax_binder_install(&rewriter);
  if (l->set[0]) l->binder.bound = end_binding;
  tvms_node *body = tvms_rewrite(&rewriter, function->body);
  tvms_rewriter_fini(&rewriter);
  function->body = l->set[0] ? with_leaves(l, body) : body;
  function->params = new_params(l, tvms_as_function(node), inputs);
  function->ret = tvms_relax_type_told(l->unit, function->params,
                                       tvms_as_seq_expr(function->body)->body->sinfo);
  function->attrs =
      tvms_object_map_with(l->unit, function->attrs, "relax.force_pure", NULL);
  if (!tvms_object_map_count(function->attrs)) function->attrs = NULL;
  copy->flags &= (uint8_t)~TVMS_FLAG_PURE;
  copy->sinfo = NULL;
  return copy;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *node) {
  const tvms_function *function = tvms_as_function(node);
  const char *name = tvms_symbol_text(run->context, function->name);
  static const char ending[] = "transform_params";
  size_t len = strlen(name), tail = sizeof ending - 1;
  if (len < tail || strcmp(name + len - tail, ending) != 0) return node;
  int64_t said = tvms_relax_num_input_checked(run->context, node);
  if (said == -2) return node;
  uint32_t inputs = said < 0 ? 0 : (uint32_t)said;
  loader l = {.unit = unit, .result = tvms_as_seq_expr(function->body)->body};
  l.get = TVMS_OPTION(run, LazyTransformParams, fget_item).text;
  l.set = TVMS_OPTION(run, LazyTransformParams, fset_item).text;
  if (strcmp(l.set, "None") == 0) l.set = "";
  l.get_params = named_params(
      unit, TVMS_OPTION(run, LazyTransformParams, extra_get_item_params).literal);
  l.set_params = named_params(
      unit, TVMS_OPTION(run, LazyTransformParams, extra_set_item_params).literal);
  l.weights =
      (tvms_list){function->params.items + inputs, function->params.len - inputs};
  l.bundled =
      l.weights.len == 1 && l.weights.items[0]->sinfo->kind == TVMS_NODE_SINFO_TUPLE;
  l.fetched = tvms_arena_array(&unit->arena, bool, l.weights.len);
  const char *why = obstacle(&l, node);
  if (why) {
    tvms_diag_report(&run->context->diags, TVMS_D_cannot_fetch, node->span, name, why);
    return node;
  }
  tvms_relax_binder_init(&l.binder, run, loaded);
  tvms_relax_binder_enter(&l.binder, unit);
  analyze(&l, node);
  node = rewrite(&l, node, inputs);
  for (uint32_t i = 0; i < l.lists.len; i++)
    tvms_vec_fini(memory_of(&l), &l.lists.items[i]);
  tvms_vec_fini(memory_of(&l), &l.lists);
  tvms_relax_binder_fini(&l.binder);
  return node;
}

void tvms_pass_lazy_transform_params(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
