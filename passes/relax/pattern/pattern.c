// Patterns of dataflow: what a value looks like, through the variables that its parts are bound to.
//
// The matcher goes down pattern and value together. What was found since a place of the list
// `found` is forgotten when an alternative fails from there on.
#include "passes/relax/pattern/pattern.h"

#include "ir/equal.h"

#include <stdarg.h>
#include <string.h>

void tvms_relax_pattern_set_init(tvms_pattern_set *set, tvms_context *context,
                                 tvms_arena *arena) {
  *set = (tvms_pattern_set){
      .context = context, .arena = arena, .memory = &context->memory};
}

void tvms_relax_pattern_set_fini(tvms_pattern_set *set) {
  tvms_vec_fini(set->memory, &set->all);
}

tvms_pattern *tvms_relax_pattern_new(tvms_pattern_set *set, tvms_pattern_kind kind,
                                     tvms_pattern *const *parts, uint32_t count) {
  tvms_pattern *pattern = tvms_arena_new(set->arena, tvms_pattern);
  *pattern =
      (tvms_pattern){.kind = kind, .id = set->all.len, .index = -1, .count = count};
  pattern->parts = tvms_arena_array(set->arena, tvms_pattern *, count + 1);
  if (count) memcpy(pattern->parts, parts, count * sizeof *parts);
  tvms_vec_push(set->memory, &set->all, pattern);
  return pattern;
}

tvms_pattern *tvms_relax_pattern_any(tvms_pattern_set *set) {
  return tvms_relax_pattern_new(set, TVMS_PATTERN_ANY, NULL, 0);
}

tvms_pattern *tvms_relax_pattern_constant(tvms_pattern_set *set) {
  return tvms_relax_pattern_new(set, TVMS_PATTERN_CONSTANT, NULL, 0);
}

tvms_pattern *tvms_relax_pattern_op(tvms_pattern_set *set, tvms_opcode opcode,
                                    uint32_t count, ...) {
  tvms_pattern *parts[8];
  TVMS_CHECK(count <= sizeof parts / sizeof parts[0]);
  va_list list;
  va_start(list, count);
  for (uint32_t i = 0; i < count; i++)
    parts[i] = va_arg(list, tvms_pattern *);
  va_end(list);
  tvms_pattern *pattern = tvms_relax_pattern_new(set, TVMS_PATTERN_OP, parts, count);
  pattern->opcode = opcode;
  return pattern;
}

tvms_pattern *tvms_relax_pattern_either(tvms_pattern_set *set, tvms_pattern *a,
                                        tvms_pattern *b) {
  tvms_pattern *parts[] = {a, b};
  return tvms_relax_pattern_new(set, TVMS_PATTERN_EITHER, parts, 2);
}

tvms_pattern *tvms_relax_pattern_tuple(tvms_pattern_set *set, tvms_pattern **fields,
                                       uint32_t count) {
  return tvms_relax_pattern_new(set, TVMS_PATTERN_TUPLE, fields, count);
}

tvms_pattern *tvms_relax_pattern_item(tvms_pattern_set *set, tvms_pattern *tuple,
                                      int64_t index) {
  tvms_pattern *pattern = tvms_relax_pattern_new(set, TVMS_PATTERN_ITEM, &tuple, 1);
  pattern->index = index;
  return pattern;
}

// ---- Matching ----

typedef struct {
  tvms_pattern_match *match;
  const tvms_node_map *lookup;
  tvms_context *context;
} matcher;

void tvms_relax_pattern_match_init(tvms_pattern_match *match,
                                   const tvms_pattern_set *set) {
  size_t size = (set->all.len + 1) * sizeof(tvms_node *);
  *match = (tvms_pattern_match){.set = set};
  match->exprs = tvms_memory_alloc(set->memory, size);
  match->values = tvms_memory_alloc(set->memory, size);
  memset(match->exprs, 0, size);
  memset(match->values, 0, size);
}

void tvms_relax_pattern_match_fini(tvms_pattern_match *match) {
  tvms_memory_free(match->set->memory, match->exprs);
  tvms_memory_free(match->set->memory, match->values);
  tvms_vec_fini(match->set->memory, &match->found);
  tvms_vec_fini(match->set->memory, &match->dims.bindings);
}

tvms_node *tvms_relax_pattern_unwrap(const tvms_node_map *lookup, tvms_node *node) {
  while (node->kind == TVMS_NODE_VAR) {
    tvms_node *value = tvms_node_map_get(lookup, node);
    if (!value) break;
    node = value;
  }
  return node;
}

// How much was found at a place to which the match may go back.
typedef struct {
  uint32_t found, dims;
} match_mark;

static match_mark mark_of(const tvms_pattern_match *match) {
  return (match_mark){match->found.len, match->dims.bindings.len};
}

static void forget(tvms_pattern_match *match, match_mark mark) {
  uint32_t from = mark.found;
  match->dims.bindings.len = mark.dims;
  for (uint32_t i = from; i < match->found.len; i++) {
    match->exprs[match->found.items[i]] = NULL;
    match->values[match->found.items[i]] = NULL;
  }
  match->found.len = from;
}

static bool visit(matcher *m, const tvms_pattern *pattern, tvms_node *expr);

// The parts of the pattern from `first` on against nodes, `step` 1 or -1 apart.
static bool visit_parts(matcher *m, const tvms_pattern *pattern, uint32_t first,
                        tvms_node *const *nodes, int step) {
  match_mark mark = mark_of(m->match);
  for (uint32_t i = first; i < pattern->count; i++, nodes += step) {
    if (visit(m, pattern->parts[i], *nodes)) continue;
    forget(m->match, mark);
    return false;
  }
  return true;
}

static bool same_attrs(matcher *m, const tvms_call *a, const tvms_call *b) {
  for (uint32_t i = 0; i < a->attrs.len || i < b->attrs.len; i++) {
    const tvms_node *x = tvms_attr(a, i), *y = tvms_attr(b, i);
    if (x == y) continue;
    if (!x || !y || !tvms_node_equal(m->context, x, y)) return false;
  }
  return true;
}

static bool visit_call(matcher *m, const tvms_pattern *pattern,
                       const tvms_node *value) {
  const tvms_call *call = tvms_as_call(value);
  uint32_t first = pattern->kind == TVMS_PATTERN_CALL ? 1 : 0;
  uint32_t wanted = pattern->count - first;
  if (first ? !visit(m, pattern->parts[0], call->callee)
            : tvms_op_called(value) != pattern->opcode)
    return false;
  if (pattern->more_args ? call->args.len < wanted : call->args.len != wanted)
    return false;
  if (pattern->attrs && !same_attrs(m, tvms_as_call(pattern->attrs), call))
    return false;
  if (visit_parts(m, pattern, first, call->args.items, 1)) return true;
  bool swaps = pattern->opcode == TVMS_R_add || pattern->opcode == TVMS_R_multiply;
  return swaps && wanted == 2 && visit_parts(m, pattern, 0, call->args.items + 1, -1);
}

static bool visit_kind(matcher *m, const tvms_pattern *pattern, tvms_node *expr,
                       tvms_node *value) {
  switch (pattern->kind) {
  case TVMS_PATTERN_ANY: return true;
  case TVMS_PATTERN_CONSTANT: return value->kind == TVMS_NODE_CONSTANT;
  case TVMS_PATTERN_OP:
  case TVMS_PATTERN_CALL:
    return value->kind == TVMS_NODE_CALL && visit_call(m, pattern, value);
  case TVMS_PATTERN_TUPLE: {
    if (value->kind != TVMS_NODE_TUPLE) return false;
    tvms_list fields = tvms_as_tuple(value)->fields;
    return fields.len == pattern->count && visit_parts(m, pattern, 0, fields.items, 1);
  }
  case TVMS_PATTERN_ITEM: {
    if (value->kind != TVMS_NODE_TUPLE_GET_ITEM) return false;
    const tvms_tuple_get_item *item = tvms_as_tuple_get_item(value);
    bool fits = pattern->index < 0 || pattern->index == item->index;
    return fits && visit(m, pattern->parts[0], item->tuple);
  }
  case TVMS_PATTERN_EITHER:
    return visit(m, pattern->parts[0], expr) || visit(m, pattern->parts[1], expr);
  case TVMS_PATTERN_SAME: return tvms_node_equal(m->context, pattern->value, value);
  }
  return false;
}

static bool fits_type(tvms_pattern_match *match, const tvms_pattern *pattern,
                      const tvms_node *value) {
  bool conflict = false;
  if (!pattern->type || !match->prover) return true;
  if (!value->sinfo) return false;
  tvms_sinfo_fit fit = tvms_sinfo_relate_argument(
      match->prover, &match->dims, pattern->type, value->sinfo, &conflict);
  return fit == TVMS_FIT_PROVED && !conflict;
}

static bool visit(matcher *m, const tvms_pattern *pattern, tvms_node *expr) {
  tvms_pattern_match *match = m->match;
  tvms_node *value = tvms_relax_pattern_unwrap(m->lookup, expr);
  if (match->values[pattern->id]) return match->values[pattern->id] == value;
  tvms_memory *memory = match->set->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  match_mark mark = mark_of(match);
  bool fits = visit_kind(m, pattern, expr, value) && fits_type(match, pattern, value);
  tvms_memory_leave(memory);
  if (!fits) {
    forget(match, mark);
    return false;
  }
  match->exprs[pattern->id] = expr;
  match->values[pattern->id] = value;
  tvms_vec_push(memory, &match->found, pattern->id);
  return true;
}

bool tvms_relax_pattern_match(tvms_pattern_match *match, const tvms_pattern *root,
                              tvms_node *expr, const tvms_node_map *lookup) {
  forget(match, (match_mark){0, 0});
  matcher m = {match, lookup, match->set->context};
  return visit(&m, root, expr);
}

tvms_node *tvms_relax_pattern_expr(const tvms_pattern_match *match,
                                   const tvms_pattern *pattern) {
  return match->exprs[pattern->id];
}

tvms_node *tvms_relax_pattern_value(const tvms_pattern_match *match,
                                    const tvms_pattern *pattern) {
  return match->values[pattern->id];
}
