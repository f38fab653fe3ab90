// Patterns as text: the function `pattern` of an @R.rewriter class.
#include "passes/relax/pattern/rewriter_class.h"

#include "ir/clone.h"
#include "ir/object.h"
#include "structinfo/definitions.h"

enum { MOST_PARTS = 64 };

typedef struct {
  tvms_pattern_set *set;
  tvms_pattern **patterns;  // by id of a variable
} reader;

static tvms_pattern *read_value(reader *r, const tvms_node *value);

static const tvms_function *TVMS_NULLABLE
pattern_function(const tvms_module *rewriter) {
  tvms_sym name = tvms_symbol_intern(rewriter->context, "pattern", 7);
  const tvms_member *member = tvms_module_find(rewriter, name);
  bool relax =
      member && member->function && member->function->kind == TVMS_NODE_FUNCTION;
  return relax ? tvms_as_function(member->function) : NULL;
}

static tvms_pattern *read_parts(reader *r, tvms_pattern_kind kind,
                                tvms_pattern *TVMS_NULLABLE first, tvms_list nodes) {
  tvms_pattern *parts[MOST_PARTS];
  uint32_t count = 0;
  if (first) parts[count++] = first;
  if (nodes.len + count > MOST_PARTS) return NULL;
  for (uint32_t i = 0; i < nodes.len; i++) {
    parts[count] = read_value(r, nodes.items[i]);
    if (!parts[count++]) return NULL;
  }
  return tvms_relax_pattern_new(r->set, kind, parts, count);
}

// A value that is written out, and one that is equal.
static tvms_pattern *read_literal(reader *r, const tvms_node *value) {
  tvms_pattern *same = tvms_relax_pattern_new(r->set, TVMS_PATTERN_SAME, NULL, 0);
  same->value = value;
  return same;
}

static tvms_pattern *read_call(reader *r, const tvms_node *value) {
  const tvms_call *call = tvms_as_call(value);
  tvms_opcode opcode = tvms_op_called(value);
  tvms_pattern *made;
  if (opcode == TVMS_R_NONE) {
    tvms_pattern *callee = read_value(r, call->callee);
    made = callee ? read_parts(r, TVMS_PATTERN_CALL, callee, call->args) : NULL;
  } else {
    made = read_parts(r, TVMS_PATTERN_OP, NULL, call->args);
  }
  if (made) made->opcode = opcode;
  return made;
}

static tvms_pattern *read_value(reader *r, const tvms_node *value) {
  switch ((int)value->kind) {
  case TVMS_NODE_VAR: return r->patterns[value->id];
  case TVMS_NODE_CALL: return read_call(r, value);
  case TVMS_NODE_TUPLE:
    return read_parts(r, TVMS_PATTERN_TUPLE, NULL, tvms_as_tuple(value)->fields);
  case TVMS_NODE_TUPLE_GET_ITEM: {
    const tvms_tuple_get_item *item = tvms_as_tuple_get_item(value);
    tvms_pattern *tuple = read_value(r, item->tuple);
    return tuple ? tvms_relax_pattern_item(r->set, tuple, item->index) : NULL;
  }
  case TVMS_NODE_PRIM_VALUE: return tvms_relax_pattern_any(r->set);
  case TVMS_NODE_CONSTANT:
  case TVMS_NODE_EXTERN_FUNC: return read_literal(r, value);
  default: return NULL;
  }
}

static bool read_binding(reader *r, const tvms_node *binding) {
  tvms_pattern *pattern = read_value(r, tvms_relax_binding_value(binding));
  if (pattern && binding->kind == TVMS_NODE_MATCH_CAST)
    pattern->type = tvms_as_match_cast(binding)->type;
  r->patterns[tvms_relax_binding_var(binding)->id] = pattern;
  return pattern != NULL;
}

tvms_pattern *tvms_relax_pattern_of_class(tvms_pattern_set *set, tvms_unit *unit,
                                          const tvms_module *rewriter) {
  const tvms_function *text = pattern_function(rewriter);
  if (!text) return NULL;
  const tvms_function *function = tvms_as_function(tvms_clone(unit, &text->head, NULL));
  reader r = {.set = set};
  r.patterns = tvms_arena_array(set->arena, tvms_pattern *, unit->next_id);
  for (uint32_t i = 0; i < unit->next_id; i++)
    r.patterns[i] = NULL;
  for (uint32_t i = 0; i < function->params.len; i++) {
    tvms_node *param = function->params.items[i];
    tvms_pattern *any = tvms_relax_pattern_any(set);
    any->type = param->sinfo;
    r.patterns[param->id] = any;
  }
  tvms_list blocks = tvms_as_seq_expr(function->body)->blocks;
  for (uint32_t i = 0; i < blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++)
      if (!read_binding(&r, bindings.items[k])) return NULL;
  }
  return read_value(&r, tvms_as_seq_expr(function->body)->body);
}

const char *tvms_relax_pattern_class_name(const tvms_module *rewriter) {
  const tvms_function *function = pattern_function(rewriter);
  const char *name =
      function ? tvms_object_as_text(tvms_object_map_get(function->attrs, "Composite"))
               : NULL;
  return name ? name : tvms_symbol_text(rewriter->context, rewriter->name);
}
