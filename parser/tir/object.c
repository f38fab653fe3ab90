// Objects of TIR that stand beside expressions: ranges, iterators, reducers, index maps.
#include "parser/tir/object.h"

#include "ir/equal.h"
#include "ir/fold.h"
#include "parser/eval/closure.h"
#include "parser/eval/convert.h"
#include "parser/eval/origin.h"
#include "parser/tir/call.h"
#include "parser/tir/convert.h"
#include "parser/tir/handlers.h"

// ---- Ranges and iterators -------------------------------------------------------------------

tvms_node *tvms_tir_extent_between(tvms_reader *reader, tvms_node *begin,
                                   tvms_node *end, tvms_span span) {
  if (end->kind == TVMS_NODE_ADD && tvms_reader_has_printed_header(reader)) {
    const tvms_binary *sum = tvms_as_binary(end);
    if (tvms_node_equal(reader->context, sum->a, begin)) return sum->b;
    if (tvms_node_equal(reader->context, sum->b, begin)) return sum->a;
  }
  return tvms_build_binary(reader->unit, TVMS_NODE_SUB, end, begin, span);
}

// From `begin` to `end`; NULL after a report.
static tvms_node *range_between(tvms_reader *reader, tvms_node *begin, tvms_node *end,
                                tvms_span span) {
  tvms_node *extent = tvms_tir_extent_between(reader, begin, end, span);
  return extent ? tvms_range_new(reader->unit, begin, extent, span) : NULL;
}

// T.Range(begin, end), I.Range(extent).
tvms_eval_value tvms_call_Range(tvms_reader *reader, const tvms_call_args *call) {
  tvms_span span = tvms_call_span(reader, call);
  tvms_node *begin = tvms_call_expr_at(reader, call, 0);
  if (!begin) return TVMS_UNKNOWN;
  if (call->args[1].kind == TVMS_EVAL_NONE) {
    tvms_node *zero = tvms_int_imm_new(reader->unit, begin->dtype, 0, TVMS_NO_SPAN);
    return tvms_eval_value_node(tvms_range_new(reader->unit, zero, begin, span));
  }
  tvms_node *end = tvms_call_expr_at(reader, call, 1);
  return tvms_call_done(reader, end ? range_between(reader, begin, end, span) : NULL);
}

static const struct {
  const char *name;
  tvms_iter_type type;
} iter_types[] = {
    {"DataPar", TVMS_ITER_DATA_PAR},       {"ThreadIndex", TVMS_ITER_THREAD_INDEX},
    {"CommReduce", TVMS_ITER_COMM_REDUCE}, {"Ordered", TVMS_ITER_ORDERED},
    {"Opaque", TVMS_ITER_OPAQUE},          {"Unrolled", TVMS_ITER_UNROLLED},
    {"Vectorized", TVMS_ITER_VECTORIZED},  {"Parallelized", TVMS_ITER_PARALLELIZED},
    {"Tensorized", TVMS_ITER_TENSORIZED},
};

static bool iter_type_named(tvms_reader *reader, tvms_eval_value name, tvms_ref ref,
                            uint32_t *type) {
  for (size_t i = 0; i < sizeof iter_types / sizeof iter_types[0]; i++) {
    if (!tvms_eval_value_is_exactly(name, iter_types[i].name)) continue;
    *type = iter_types[i].type;
    return true;
  }
  tvms_eval_report_wrong_type(reader, ref, "the kind of an iterator",
                              "the name of an iterator kind", name);
  return false;
}

// A domain: None, a range, or a pair (begin, end).
static bool dom_of(tvms_reader *reader, tvms_eval_value dom, tvms_ref ref,
                   tvms_node **range) {
  *range = tvms_eval_value_node_of(dom, TVMS_NODE_RANGE);
  if (*range || dom.kind == TVMS_EVAL_NONE) return true;
  if (!tvms_eval_value_is_sequence(dom) || dom.len != 2) {
    tvms_eval_report_wrong_type(reader, ref, "a domain", "a range or None", dom);
    return false;
  }
  tvms_node *begin = tvms_eval_to_expr(reader, dom.as.items[0], ref);
  tvms_node *end = begin ? tvms_eval_to_expr(reader, dom.as.items[1], ref) : NULL;
  if (end) *range = range_between(reader, begin, end, tvms_reader_span_of(reader, ref));
  return *range != NULL;
}

// The variable of an iterator: given, or of a name and the dtype of the domain.
static tvms_node *iter_var_of(tvms_reader *reader, tvms_eval_value var,
                              const tvms_node *dom, tvms_ref ref) {
  tvms_dtype dtype = dom ? tvms_as_range(dom)->extent->dtype : TVMS_DTYPE(INT, 32);
  tvms_node *given = tvms_eval_value_node_of(var, TVMS_NODE_VAR);
  if (given && (!dom || tvms_dtype_same(given->dtype, dtype))) return given;
  if (var.kind == TVMS_EVAL_NONE) var = tvms_eval_value_text("iter", 4);
  if (var.kind == TVMS_EVAL_STR) {
    return tvms_var_new(reader->unit,
                        tvms_symbol_intern(reader->context, var.as.text, var.len),
                        dtype, tvms_reader_span_of(reader, ref));
  }
  tvms_eval_report_wrong_type(reader, ref, "the variable of an iterator",
                              "a name, or a variable of the dtype of the domain", var);
  return NULL;
}

enum { ITER_DOM, ITER_VAR, ITER_TYPE, ITER_TAG, ITER_PARTS };

static tvms_eval_value make_iter_var(tvms_reader *reader, const tvms_eval_value *parts,
                                     uint32_t type, tvms_ref ref) {
  tvms_bytes tag;
  tvms_iter_var *node =
      tvms_node_make(reader->unit, ITER_VAR, tvms_reader_span_of(reader, ref));
  if (!dom_of(reader, parts[ITER_DOM], ref, &node->dom)
      || !tvms_eval_to_text(reader, parts[ITER_TAG], ref, &tag)) {
    return tvms_reader_failed(reader);
  }
  node->var = iter_var_of(reader, parts[ITER_VAR], node->dom, ref);
  if (!node->var) return tvms_reader_failed(reader);
  node->iter_type = type;
  node->head.dtype = node->var->dtype;
  if (tag.len)
    node->thread_tag = tvms_symbol_intern(reader->context, tag.text, tag.len);
  return tvms_eval_value_node(&node->head);
}

// T.iter_var(var, dom, "CommReduce", tag).
tvms_eval_value tvms_call_iter_var(tvms_reader *reader, const tvms_call_args *call) {
  uint32_t type;
  tvms_eval_value parts[ITER_PARTS];
  parts[ITER_VAR] = call->args[0];
  parts[ITER_DOM] = call->args[1];
  parts[ITER_TAG] = call->args[3];
  if (!iter_type_named(reader, call->args[2], call->refs[2], &type))
    return TVMS_UNKNOWN;
  return make_iter_var(reader, parts, type, call->ref);
}

// T.IterVar(dom, var, 2, tag): the kind is a number.
tvms_eval_value tvms_call_IterVar(tvms_reader *reader, const tvms_call_args *call) {
  int64_t type;
  if (!tvms_eval_to_int(reader, call->args[ITER_TYPE], call->refs[ITER_TYPE], &type)) {
    return TVMS_UNKNOWN;
  }
  if (type < 0 || type > TVMS_ITER_TENSORIZED) {
    tvms_eval_report_wrong_type(reader, call->refs[ITER_TYPE],
                                "the kind of an iterator", "a kind of T.IterVar",
                                call->args[ITER_TYPE]);
    return TVMS_UNKNOWN;
  }
  return make_iter_var(reader, call->args, (uint32_t)type, call->ref);
}

// ---- Reducers and index maps ----------------------------------------------------------------

// One expression, or a sequence of them.
static bool to_nodes(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                     tvms_list *list) {
  tvms_eval_items items = tvms_eval_items_of(&value);
  list->items = tvms_arena_array(&reader->unit->arena, tvms_node *, items.len);
  list->len = items.len;
  for (uint32_t i = 0; i < items.len; i++) {
    list->items[i] = tvms_eval_to_expr(reader, items.items[i], ref);
    if (!list->items[i]) return false;
  }
  return true;
}

// A sequence of expressions; parameter `at` of CALL.
static bool list_at(tvms_reader *reader, const tvms_call_args *call, uint32_t at,
                    tvms_list *list) {
  if (tvms_eval_value_is_sequence(call->args[at])) {
    return to_nodes(reader, call->args[at], call->refs[at], list);
  }
  tvms_eval_report_wrong_type(reader, call->refs[at], NULL, "a list", call->args[at]);
  return false;
}

// The iterators of a reduction.
static bool axes_at(tvms_reader *reader, const tvms_call_args *call, uint32_t at,
                    tvms_list *list) {
  tvms_eval_value axes = call->args[at];
  bool sound = tvms_eval_value_is_sequence(axes);
  list->items = tvms_arena_array(&reader->unit->arena, tvms_node *, axes.len);
  list->len = axes.len;
  for (uint32_t i = 0; sound && i < axes.len; i++) {
    list->items[i] = tvms_eval_value_node_of(axes.as.items[i], TVMS_NODE_ITER_VAR);
    sound = list->items[i] != NULL;
  }
  if (!sound) {
    tvms_eval_report_wrong_type(reader, call->refs[at], "the axes of a reduction",
                                "a list of iterators", axes);
  }
  return sound;
}

// Fresh variables for the parameters of a lambda; `dtypes` gives their types, repeated.
static tvms_eval_value *lambda_vars(tvms_reader *reader, tvms_eval_value lambda,
                                    const tvms_dtype *dtypes, uint32_t dtype_count,
                                    uint32_t *count) {
  const tvms_closure *closure = lambda.as.closure;
  tvms_ref params = tvms_reader_at(reader, closure->ref)->a;
  *count = tvms_surface_count(reader->surface, params);
  tvms_eval_value *vars = tvms_arena_array(&reader->values, tvms_eval_value, *count);
  uint32_t i = 0;
  tvms_surface_each(reader->surface, ref, params) {
    tvms_dtype dtype = dtype_count ? dtypes[i % dtype_count] : TVMS_DTYPE(INT, 32);
    vars[i++] =
        tvms_eval_value_node(tvms_var_new(reader->unit, tvms_reader_at(reader, ref)->a,
                                          dtype, tvms_reader_span_of(reader, ref)));
  }
  return vars;
}

static tvms_list list_of_vars(tvms_reader *reader, const tvms_eval_value *vars,
                              uint32_t count) {
  tvms_list list = {tvms_arena_array(&reader->unit->arena, tvms_node *, count), count};
  for (uint32_t i = 0; i < count; i++) {
    list.items[i] = vars[i].as.node;
  }
  return list;
}

static tvms_eval_value make_reducer(tvms_reader *reader, tvms_list lhs, tvms_list rhs,
                                    tvms_list result, tvms_list identity,
                                    tvms_ref ref) {
  tvms_comm_reducer *node =
      tvms_node_make(reader->unit, COMM_REDUCER, tvms_reader_span_of(reader, ref));
  node->lhs = lhs;
  node->rhs = rhs;
  node->result = result;
  node->identity = identity;
  return tvms_eval_value_node(&node->head);
}

tvms_eval_value tvms_call_comm_reducer(tvms_reader *reader,
                                       const tvms_call_args *call) {
  tvms_list identity, result;
  if (call->args[0].kind != TVMS_EVAL_LAMBDA) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "a combiner", "a lambda",
                                call->args[0]);
    return TVMS_UNKNOWN;
  }
  if (!list_at(reader, call, 1, &identity)) return TVMS_UNKNOWN;
  tvms_dtype *dtypes = tvms_arena_array(&reader->values, tvms_dtype, identity.len);
  for (uint32_t i = 0; i < identity.len; i++) {
    dtypes[i] = identity.items[i]->dtype;
  }
  uint32_t count;
  tvms_eval_value *vars =
      lambda_vars(reader, call->args[0], dtypes, identity.len, &count);
  tvms_eval_value value = tvms_closure_call_lambda(
      reader, call->args[0], TVMS_EVALUATOR_PYTHON, vars, count, call->refs[0]);
  if (!to_nodes(reader, value, call->refs[0], &result))
    return tvms_reader_failed(reader);
  uint32_t size = identity.len;
  if (!size || count != 2 * size || result.len != size) {
    tvms_reader_report(reader, reducer_size, call->ref, size, 2 * size, size, count,
                       result.len);
    return tvms_reader_failed(reader);
  }
  tvms_list lhs = list_of_vars(reader, vars, count / 2);
  tvms_list rhs = list_of_vars(reader, vars + count / 2, count - count / 2);
  return make_reducer(reader, lhs, rhs, result, identity, call->ref);
}

tvms_eval_value tvms_call_CommReducer(tvms_reader *reader, const tvms_call_args *call) {
  tvms_list lists[4];
  for (uint32_t i = 0; i < 4; i++) {
    if (!list_at(reader, call, i, &lists[i])) return tvms_reader_failed(reader);
  }
  return make_reducer(reader, lists[0], lists[1], lists[2], lists[3], call->ref);
}

// T.Reduce(combiner, src, rdom, condition, value_index, init=None), and what the printer
// makes of it: T.reduce(combiner, source=…, init=…, axis=…, condition=…, value_index=…).
static tvms_eval_value make_reduce(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *combiner = tvms_eval_value_node_of(call->args[0], TVMS_NODE_COMM_REDUCER);
  if (!combiner) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the combiner",
                                "T.comm_reducer(…)", call->args[0]);
    return TVMS_UNKNOWN;
  }
  tvms_reduce *node =
      tvms_node_make(reader->unit, REDUCE, tvms_call_span(reader, call));
  node->combiner = combiner;
  node->condition = tvms_call_expr_at(reader, call, 3);
  bool starts = call->args[5].kind != TVMS_EVAL_NONE;
  if (!node->condition || !list_at(reader, call, 1, &node->source)
      || !axes_at(reader, call, 2, &node->axis)
      || !tvms_eval_to_int(reader, call->args[4], call->refs[4], &node->value_index)
      || (starts && !list_at(reader, call, 5, &node->init))) {
    return tvms_reader_failed(reader);
  }
  if (node->value_index < 0 || node->value_index >= node->source.len) {
    tvms_eval_report_index(reader, call->refs[4], node->source.len);
    return tvms_reader_failed(reader);
  }
  node->head.dtype = node->source.items[node->value_index]->dtype;
  return tvms_eval_value_node(&node->head);
}

tvms_eval_value tvms_call_Reduce(tvms_reader *reader, const tvms_call_args *call) {
  return make_reduce(reader, call);
}

tvms_eval_value tvms_call_reduce(tvms_reader *reader, const tvms_call_args *call) {
  enum { COMBINER, SOURCE, INIT, AXIS, CONDITION, VALUE_INDEX, COUNT };
  static const uint8_t order[COUNT] = {COMBINER,  SOURCE,      AXIS,
                                       CONDITION, VALUE_INDEX, INIT};
  tvms_eval_value args[COUNT];
  tvms_ref refs[COUNT];
  for (uint32_t i = 0; i < COUNT; i++) {
    args[i] = call->args[order[i]];
    refs[i] = call->refs[order[i]];
  }
  tvms_call_args sorted = *call;
  sorted.args = args;
  sorted.refs = refs;
  return make_reduce(reader, &sorted);
}

static tvms_eval_value make_index_map(tvms_reader *reader, tvms_eval_value lambda,
                                      tvms_dtype dtype, tvms_ref ref) {
  uint32_t count;
  tvms_eval_value *vars = lambda_vars(reader, lambda, &dtype, 1, &count);
  // TVM prints conditions in it as it prints them elsewhere, and cannot read that.
  tvms_eval_value value = tvms_closure_call_lambda(
      reader, lambda, TVMS_EVALUATOR_PRINTED, vars, count, ref);
  tvms_index_map *node =
      tvms_node_make(reader->unit, INDEX_MAP, tvms_reader_span_of(reader, ref));
  node->initial_indices = list_of_vars(reader, vars, count);
  if (!to_nodes(reader, value, ref, &node->final_indices))
    return tvms_reader_failed(reader);
  return tvms_eval_value_node(&node->head);
}

tvms_node *tvms_tir_lambda_operand(tvms_reader *reader, tvms_eval_value lambda,
                                   tvms_ref ref) {
  if (lambda.kind != TVMS_EVAL_LAMBDA) {
    tvms_eval_report_wrong_type(reader, ref, NULL, "a lambda", lambda);
    return NULL;
  }
  tvms_eval_value map = make_index_map(reader, lambda, TVMS_DTYPE(INT, 32), ref);
  return tvms_eval_value_is_known(map) ? map.as.node : NULL;
}

tvms_eval_value tvms_call_index_map(tvms_reader *reader, const tvms_call_args *call) {
  tvms_dtype dtype;
  tvms_eval_value inverse = call->args[1];
  if (!tvms_eval_to_dtype(reader, call->args[2], call->refs[2], &dtype))
    return TVMS_UNKNOWN;
  if (call->args[0].kind != TVMS_EVAL_LAMBDA) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "an index map", "a lambda",
                                call->args[0]);
    return TVMS_UNKNOWN;
  }
  tvms_eval_value map = make_index_map(reader, call->args[0], dtype, call->refs[0]);
  if (inverse.kind != TVMS_EVAL_LAMBDA || !tvms_eval_value_is_known(map)) return map;
  tvms_eval_value other = make_index_map(reader, inverse, dtype, call->refs[1]);
  if (tvms_eval_value_is_known(other)) {
    tvms_as_index_map(map.as.node)->inverse = other.as.node;
  }
  return map;
}
