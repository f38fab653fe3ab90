// RemoveUnusedOutputs: private functions lose results that no caller takes.
//
// Before: t = cls.f(x); a = t[0]      def f(x): … return (y, z)
// After:  a = cls.f(x)                def f(x): … return y
//
// A tuple that is used as a whole keeps all of its fields. Names that stand for others and
// what nobody uses go behind it, in all of the module, as in TVM.
// TVM: relax.transform.RemoveUnusedOutputs.
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/blocks.h"
#include "passes/relax/emit.h"
#include "passes/relax/graph/canonicalize_bindings.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/make.h"
#include "passes/relax/retype.h"
#include "structinfo/definitions.h"
#include "structinfo/make.h"

#include <math.h>

// A private function that returns a tuple.
typedef struct {
  uint32_t fields;  // 0: it is not such a function
  uint32_t used;    // how many of them
  bool *is_used;    // by field
  const tvms_function *function;
  tvms_list types;  // of the fields, as the body has them
} callee;

typedef struct {
  tvms_pass_run *run;
  tvms_arena arena;
  callee *callees;                     // by member
  tvms_relax_definitions definitions;  // of the function at hand
  tvms_relax_emitter emitter;
} removal;

static bool loses_fields(const callee *c) {
  return c->fields && c->used < c->fields;
}

// ---- What is used ----

// The function that a call calls, if it is a private one that returns a tuple.
static callee *TVMS_NULLABLE callee_of(const removal *r, const tvms_node *node) {
  if (node->kind != TVMS_NODE_CALL) return NULL;
  const tvms_node *name = tvms_as_call(node)->callee;
  const tvms_module *module = r->run->module;
  const tvms_member *member = tvms_module_named(module, name);
  if (!member) return NULL;
  callee *found = &r->callees[member - module->members];
  return found->fields ? found : NULL;
}

static callee *TVMS_NULLABLE source_of(const removal *r, const tvms_node *node) {
  while (node->kind == TVMS_NODE_VAR) {
    const tvms_node *binding = tvms_relax_definitions_of(&r->definitions, node).binding;
    if (!binding) return NULL;
    node = tvms_relax_binding_value(binding);
  }
  return callee_of(r, node);
}

static void use_field(callee *c, uint32_t index) {
  if (index >= c->fields || c->is_used[index]) return;
  c->is_used[index] = true;
  c->used++;
}

static tvms_walk_step note_use(void *self, tvms_node *node, tvms_field_role role) {
  const removal *r = self;
  bool item = node->kind == TVMS_NODE_TUPLE_GET_ITEM;
  if (!item && !(node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_USE))
    return TVMS_WALK_ON;
  callee *c = source_of(r, item ? tvms_as_tuple_get_item(node)->tuple : node);
  if (c && item) use_field(c, (uint32_t)tvms_as_tuple_get_item(node)->index);
  for (uint32_t i = 0; c && !item && i < c->fields; i++)
    use_field(c, i);
  return TVMS_WALK_SKIP;
}

static void find_callees(removal *r) {
  const tvms_module *module = r->run->module;
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_node *function = module->members[i].function;
    bool private = function && function->kind == TVMS_NODE_FUNCTION
                   && function->flags & TVMS_FLAG_PRIVATE;
    if (!private) continue;
    const tvms_node *type =
        tvms_as_seq_expr(tvms_as_function(function)->body)->body->sinfo;
    if (!type || type->kind != TVMS_NODE_SINFO_TUPLE) continue;
    callee *found = &r->callees[i];
    found->function = tvms_as_function(function);
    found->types = tvms_as_sinfo_tuple(type)->fields;
    found->fields = found->types.len;
    found->is_used = tvms_arena_array(&r->arena, bool, found->fields + 1);
  }
}

static void find_uses(removal *r) {
  const tvms_module *module = r->run->module;
  tvms_visitor visitor = {.self = r, .enter = note_use};
  for (uint32_t i = 0; i < module->member_count; i++) {
    tvms_node *function = module->members[i].function;
    if (!function || function->kind != TVMS_NODE_FUNCTION) continue;
    tvms_relax_definitions_init(&r->definitions, module->members[i].unit, function);
    tvms_walk(&r->run->context->memory, tvms_as_function(function)->body, &visitor);
    tvms_relax_definitions_fini(&r->definitions);
  }
}

// ---- The functions ----

static tvms_node *item_of(tvms_unit *unit, tvms_node *tuple, int64_t index) {
  tvms_tuple_get_item *item = tvms_node_make(unit, TUPLE_GET_ITEM, tuple->span);
  item->tuple = tuple;
  item->index = index;
  item->head.sinfo = tvms_as_sinfo_tuple(tuple->sinfo)->fields.items[index];
  return &item->head;
}

static tvms_node *tuple_of(tvms_unit *unit, const tvms_node_vec *fields) {
  tvms_tuple *tuple = tvms_node_make(unit, TUPLE, TVMS_NO_SPAN);
  tuple->fields = tvms_list_copy(unit, fields->items, fields->len);
  tvms_list types = tvms_list_copy(unit, fields->items, fields->len);
  for (uint32_t i = 0; i < types.len; i++)
    types.items[i] = tvms_sinfo_of(unit, types.items[i]);
  tuple->head.sinfo = tvms_sinfo_tuple_new(unit, types.items, types.len);
  return &tuple->head;
}

// Returns only the fields that are used, which are taken from the tuple of before.
static tvms_node *change_result(removal *r, tvms_unit *unit, tvms_node *node,
                                const callee *c) {
  tvms_memory *memory = &r->run->context->memory;
  tvms_function *function = tvms_as_function(tvms_node_copy(unit, node));
  tvms_node *body = tvms_as_seq_expr(function->body)->body;
  tvms_node *all = tvms_relax_bind(&r->emitter, body, "previous_outputs", false);
  tvms_node *sequence =
      tvms_relax_append_binding(unit, function->body, all, tvms_relax_binding_var(all));
  tvms_node_vec fields = {0};
  for (uint32_t i = 0; i < c->fields; i++) {
    if (!c->is_used[i]) continue;
    tvms_node *item = item_of(unit, tvms_relax_binding_var(all), i);
    tvms_node *binding = tvms_relax_bind(&r->emitter, item, "gv", false);
    tvms_node *var = tvms_relax_binding_var(binding);
    sequence = tvms_relax_append_binding(unit, sequence, binding, var);
    tvms_vec_push(memory, &fields, var);
  }
  tvms_node *result = fields.len == 1 ? fields.items[0] : tuple_of(unit, &fields);
  tvms_vec_fini(memory, &fields);
  if (sequence == function->body) sequence = tvms_node_copy(unit, sequence);
  tvms_as_seq_expr(sequence)->body = result;
  sequence->sinfo = result->sinfo;
  function->body = sequence;
  function->ret = result->sinfo;
  return &function->head;
}

// ---- Their callers ----

// Stands for a field that nobody looks at.
static tvms_node *nothing(tvms_unit *unit) {
  tvms_node *value =
      tvms_float_imm_new(unit, TVMS_DTYPE(FLOAT, 64), (double)NAN, TVMS_NO_SPAN);
  return tvms_relax_make_prim_value(unit, value);
}

// The types of the fields as the callee makes them; those that the call had where they
// mention sizes that the call does not tell.
static tvms_node *type_of_call(tvms_unit *unit, const tvms_node *old, const callee *c) {
  const tvms_call *call = tvms_as_call(old);
  tvms_list before = tvms_as_sinfo_tuple(old->sinfo)->fields;
  tvms_list used = tvms_list_copy(unit, before.items, before.len);
  used.len = 0;
  for (uint32_t i = 0; i < before.len && i < c->fields; i++) {
    if (!c->is_used[i]) continue;
    tvms_node *type =
        tvms_relax_type_at_call(unit, c->function, call->args, c->types.items[i]);
    used.items[used.len++] = type ? type : before.items[i];
  }
  return used.len == 1 ? used.items[0]
                       : tvms_sinfo_tuple_new(unit, used.items, used.len);
}

static tvms_node *change_call(tvms_rewriter *rewriter, tvms_node *node) {
  removal *r = rewriter->self;
  tvms_unit *unit = rewriter->unit;
  const callee *c = callee_of(r, node);
  bool tuple = node->sinfo && node->sinfo->kind == TVMS_NODE_SINFO_TUPLE;
  if (!c || !loses_fields(c) || !tuple || !rewriter->sequence) return node;
  const char *name = rewriter->sequence->flags & TVMS_FLAG_DATAFLOW ? "lv" : "gv";
  tvms_node *call = NULL;
  if (c->used) {
    call = tvms_node_copy(unit, node);
    call->sinfo = type_of_call(unit, node, c);
    tvms_as_call(call)->callee = tvms_relax_make_global_var(unit, c->function->name);
    call = tvms_relax_emit(&r->emitter, rewriter, call, name);
  }
  tvms_node_vec fields = {0};
  int64_t next = 0;
  for (uint32_t i = 0; i < c->fields; i++) {
    tvms_node *field = call;
    if (!c->is_used[i])
      field = nothing(unit);
    else if (c->used > 1)
      field = tvms_relax_emit(&r->emitter, rewriter, item_of(unit, call, next++), name);
    tvms_vec_push(&unit->context->memory, &fields, field);
  }
  tvms_node *made = tuple_of(unit, &fields);
  tvms_vec_fini(&unit->context->memory, &fields);
  return made;
}

// The function with what it returns and calls now; NULL: it stays.
static tvms_node *TVMS_NULLABLE change_member(void *self, tvms_unit *unit,
                                              uint32_t index) {
  removal *r = self;
  tvms_node *copy = tvms_clone(unit, r->run->module->members[index].function, NULL);
  tvms_relax_emitter_init(&r->emitter, unit);
  const callee *c = &r->callees[index];
  tvms_node *made = loses_fields(c) ? change_result(r, unit, copy, c) : copy;
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, r);
  tvms_relax_retype(&rewriter);
  rewriter.leave[TVMS_NODE_CALL] = change_call;
  made = tvms_rewrite(&rewriter, made);
  tvms_rewriter_fini(&rewriter);
  tvms_relax_emitter_fini(&r->emitter);
  return made == copy ? NULL : made;
}

void tvms_pass_remove_unused_outputs(tvms_pass_run *run) {
  removal r = {.run = run};
  tvms_arena_init(&r.arena, &run->context->memory);
  r.callees = tvms_arena_array(&r.arena, callee, run->module->member_count);
  find_callees(&r);
  find_uses(&r);
  bool any = false;
  for (uint32_t i = 0; i < run->module->member_count; i++)
    any |= loses_fields(&r.callees[i]);
  // Types of calls are told by the callees as they were.
  if (any) tvms_functions_remake(run, TVMS_NODE_FUNCTION, change_member, &r);
  tvms_arena_fini(&r.arena);
  tvms_functions_change(run, TVMS_NODE_FUNCTION, tvms_relax_canonicalize);
  tvms_dead_code_eliminate(run, "");
}
