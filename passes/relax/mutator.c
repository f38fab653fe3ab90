// Changing Relax functions value by value, in A-normal form and with types that stay true.
//
// TVM's ExprMutator does this with a BlockBuilder at its side. Here the rewriter holds what was
// emitted, so a mutator is the names, the prover and the inference around it.
#include "passes/relax/mutator.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/relax/retype.h"
#include "structinfo/infer.h"
#include "structinfo/make.h"
#include "structinfo/normalize.h"
#include "structinfo/omitted.h"

void tvms_relax_mutator_init(tvms_relax_mutator *m, tvms_pass_run *run, tvms_unit *unit,
                             void *self) {
  *m = (tvms_relax_mutator){.run = run, .unit = unit, .self = self};
  tvms_prover_init(&m->prover, unit);
  tvms_relax_emitter_init(&m->emitter, unit);
  tvms_rewriter_init(&m->rewriter, unit, m);
  tvms_node_map_init(&m->settled, &unit->context->memory);
  tvms_relax_retype(&m->rewriter);
  m->rewriter.leave[TVMS_NODE_CALL] = tvms_relax_leave_call;
}

void tvms_relax_mutator_fini(tvms_relax_mutator *m) {
  tvms_node_map_fini(&m->settled);
  tvms_rewriter_fini(&m->rewriter);
  tvms_relax_emitter_fini(&m->emitter);
  tvms_prover_fini(&m->prover);
}

static tvms_walk_step assume_cast(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind == TVMS_NODE_MATCH_CAST)
    tvms_prover_assume(self, tvms_as_match_cast(node)->type);
  return TVMS_WALK_ON;
}

void tvms_relax_mutator_assume(tvms_relax_mutator *m, tvms_node *function) {
  tvms_list params = tvms_as_function(function)->params;
  for (uint32_t i = 0; i < params.len; i++) {
    if (params.items[i]->sinfo) tvms_prover_assume(&m->prover, params.items[i]->sinfo);
  }
  tvms_visitor visitor = {.self = &m->prover, .enter = assume_cast};
  tvms_walk(&m->unit->context->memory, function, &visitor);
}

tvms_node *tvms_relax_mutate(tvms_relax_mutator *m, tvms_node *function) {
  tvms_relax_mutator_assume(m, function);
  return tvms_rewrite(&m->rewriter, function);
}

tvms_node *tvms_relax_change_calls(tvms_pass_run *run, tvms_unit *unit,
                                   tvms_node *function, tvms_rewrite_hook *leave) {
  tvms_relax_mutator m;
  tvms_relax_mutator_init(&m, run, unit, NULL);
  m.rewriter.leave[TVMS_NODE_CALL] = leave;
  tvms_node *changed = tvms_relax_mutate(&m, function);
  tvms_relax_mutator_fini(&m);
  return changed;
}

// What is made of tensors whose types the text leaves out has a type that nobody knows.
static bool refuse_untold(const tvms_relax_mutator *m, tvms_list args) {
  for (uint32_t i = 0; i < args.len; i++) {
    if (tvms_sinfo_is_untold(args.items[i]))
      return !tvms_node_refuse_omitted(m->unit->context, args.items[i], "this pass");
  }
  return false;
}

tvms_node *tvms_relax_infer(tvms_relax_mutator *m, tvms_node *call) {
  tvms_inference in = {.prover = &m->prover,
                       .unit = m->unit,
                       .module = m->run->module,
                       .call = tvms_as_call(call)};
  if (!m->failed) m->failed = refuse_untold(m, in.call->args);
  tvms_node *type = m->failed ? NULL : tvms_infer_call(&in);
  m->failed |= !type;
  call->sinfo = type ? type : tvms_sinfo_object_new(m->unit);
  return call;
}

tvms_node *tvms_relax_leave_call(tvms_rewriter *r, tvms_node *node) {
  if (node == r->old || !node->sinfo) return node;
  tvms_list old = tvms_as_call(r->old)->args;
  if (tvms_relax_keeps_type(r->unit->context, old, tvms_as_call(node)->args))
    return node;
  return tvms_relax_infer(r->self, node);
}

tvms_node *tvms_relax_op_with(tvms_relax_mutator *m, tvms_opcode opcode,
                              tvms_node *const *args, uint32_t count,
                              tvms_node *const *attrs) {
  tvms_node *callee = tvms_op_operator_new(m->unit, opcode);
  tvms_span span = m->rewriter.old ? m->rewriter.old->span : TVMS_NO_SPAN;
  tvms_node *made = tvms_call_new(m->unit, (tvms_dtype){0}, callee, args, count, span);
  uint32_t attr_count = tvms_op_schema(opcode)->count;
  tvms_node **items = tvms_arena_array(&m->unit->arena, tvms_node *, attr_count);
  for (uint32_t i = 0; i < attr_count; i++)
    items[i] = attrs ? attrs[i] : NULL;
  tvms_as_call(made)->attrs = (tvms_list){items, attr_count};
  return tvms_relax_infer(m, made);
}

tvms_node *tvms_relax_op(tvms_relax_mutator *m, tvms_opcode opcode,
                         tvms_node *const *args, uint32_t count) {
  return tvms_relax_op_with(m, opcode, args, count, NULL);
}

tvms_node *tvms_relax_recall(tvms_relax_mutator *m, const tvms_node *call,
                             tvms_node *const *args) {
  tvms_node *made = tvms_node_copy(m->unit, call);
  uint32_t count = tvms_as_call(call)->args.len;
  tvms_list now = tvms_list_copy(m->unit, args, count);
  tvms_as_call(made)->args = now;
  bool kept = made->sinfo
              && tvms_relax_keeps_type(m->unit->context, tvms_as_call(call)->args, now);
  return kept ? made : tvms_relax_infer(m, made);
}

tvms_node *tvms_relax_make_tuple(tvms_relax_mutator *m, tvms_node *const *fields,
                                 uint32_t count) {
  tvms_tuple *tuple = tvms_node_make(m->unit, TUPLE, TVMS_NO_SPAN);
  tuple->fields = tvms_list_copy(m->unit, fields, count);
  tvms_list types = tvms_list_copy(m->unit, fields, count);
  for (uint32_t i = 0; i < count; i++)
    types.items[i] = tvms_sinfo_of(m->unit, fields[i]);
  tuple->head.sinfo = tvms_sinfo_tuple_new(m->unit, types.items, count);
  return &tuple->head;
}

tvms_node *tvms_relax_make_item(tvms_relax_mutator *m, tvms_node *tuple,
                                uint32_t index) {
  tvms_tuple_get_item *item = tvms_node_make(m->unit, TUPLE_GET_ITEM, TVMS_NO_SPAN);
  item->tuple = tuple;
  item->index = index;
  item->head.sinfo = tvms_as_sinfo_tuple(tuple->sinfo)->fields.items[index];
  return &item->head;
}

tvms_node *tvms_relax_change_fields(tvms_relax_mutator *m, tvms_node *value,
                                    tvms_relax_field_change *change, void *self) {
  tvms_list types = tvms_as_sinfo_tuple(value->sinfo)->fields;
  tvms_list fields = tvms_list_copy(m->unit, types.items, types.len);
  bool literal = value->kind == TVMS_NODE_TUPLE, same = true;
  for (uint32_t i = 0; i < types.len; i++) {
    tvms_node *field = literal ? tvms_as_tuple(value)->fields.items[i]
                               : tvms_relax_make_item(m, value, i);
    fields.items[i] = change(self, field, i);
    same &= fields.items[i] == field;
  }
  return same ? value : tvms_relax_make_tuple(m, fields.items, fields.len);
}

// ---- A-normal form ----

static bool settle_list(tvms_relax_mutator *m, tvms_list list, tvms_list *result) {
  bool changed = false;
  *result = tvms_list_copy(m->unit, list.items, list.len);
  for (uint32_t i = 0; i < list.len; i++) {
    result->items[i] = tvms_relax_settle_leaf(m, list.items[i]);
    changed |= result->items[i] != list.items[i];
  }
  return changed;
}

tvms_node *tvms_relax_settle(tvms_relax_mutator *m, tvms_node *value) {
  tvms_memory *memory = &m->unit->context->memory;
  tvms_list parts;
  tvms_node *made = value;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  if (value->kind == TVMS_NODE_CALL) {
    if (settle_list(m, tvms_as_call(value)->args, &parts)) {
      made = tvms_node_copy(m->unit, value);
      tvms_as_call(made)->args = parts;
    }
  } else if (value->kind == TVMS_NODE_TUPLE) {
    if (settle_list(m, tvms_as_tuple(value)->fields, &parts)) {
      made = tvms_node_copy(m->unit, value);
      tvms_as_tuple(made)->fields = parts;
    }
  } else if (value->kind == TVMS_NODE_TUPLE_GET_ITEM) {
    tvms_node *old = tvms_as_tuple_get_item(value)->tuple;
    tvms_node *tuple = tvms_relax_settle_leaf(m, old);
    if (tuple != old) {
      made = tvms_node_copy(m->unit, value);
      tvms_as_tuple_get_item(made)->tuple = tuple;
    }
  }
  tvms_memory_leave(memory);
  return made;
}

// TVM's name for what a pass binds.
static const char *name_of_values(const tvms_relax_mutator *m) {
  return tvms_relax_in_dataflow(m) ? "lv" : "gv";
}

tvms_node *tvms_relax_settle_leaf(tvms_relax_mutator *m, tvms_node *value) {
  bool bound = value->kind == TVMS_NODE_CALL || value->kind == TVMS_NODE_TUPLE_GET_ITEM;
  if (!bound || !tvms_dtype_is_void(value->dtype)) return tvms_relax_settle(m, value);
  if (m->settled_in != m->rewriter.sequence) tvms_node_map_clear(&m->settled);
  m->settled_in = m->rewriter.sequence;
  tvms_node *known = tvms_node_map_get(&m->settled, value);
  if (known) return known;
  tvms_node *settled = tvms_relax_settle(m, value);
  known = tvms_relax_emit(&m->emitter, &m->rewriter, settled, name_of_values(m));
  tvms_node_map_put(&m->settled, value, known);
  return known;
}

tvms_node *tvms_relax_mutator_cast(tvms_relax_mutator *m, tvms_node *value,
                                   tvms_node *type) {
  bool dataflow = tvms_relax_in_dataflow(m);
  tvms_node *cast =
      tvms_relax_bind_cast(&m->emitter, value, type, name_of_values(m), dataflow);
  tvms_rewrite_emit(&m->rewriter, cast);
  return tvms_as_match_cast(cast)->var;
}

bool tvms_relax_in_dataflow(const tvms_relax_mutator *m) {
  const tvms_node *block = m->rewriter.sequence;
  return block && block->kind == TVMS_NODE_BINDING_BLOCK
         && block->flags & TVMS_FLAG_DATAFLOW;
}

tvms_node *tvms_relax_rebind(tvms_relax_mutator *m, const tvms_node *binding,
                             tvms_node *value) {
  tvms_node *made = tvms_node_copy(m->unit, binding);
  tvms_node *old = tvms_as_var_binding(binding)->var;
  tvms_node *var = tvms_rewrite(&m->rewriter, old);
  if (!tvms_node_equal(m->unit->context, var->sinfo, value->sinfo)) {
    var = tvms_node_copy(m->unit, var);
    var->sinfo = value->sinfo;
    tvms_node_map_put(&m->rewriter.known, old, var);
  }
  tvms_as_var_binding(made)->value = value;
  tvms_as_var_binding(made)->var = var;
  return made;
}
