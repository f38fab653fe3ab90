// Expressions: one function for each kind of surface node.
//
// TVM evaluates most of an expression itself and leaves the bodies of lambdas and
// comprehensions to Python; the scope tells the two apart. The difference shows in
// comparisons (which do not fold in the first case) and in `and`, `or`, `not`.
#include "parser/eval/expr.h"

#include "grammar/literal_values.h"
#include "parser/eval/attribute.h"
#include "parser/eval/budget.h"
#include "parser/eval/builtin.h"
#include "parser/eval/call.h"
#include "parser/eval/class.h"
#include "parser/eval/closure.h"
#include "parser/eval/comprehension.h"
#include "parser/eval/convert.h"
#include "parser/eval/iterate.h"
#include "parser/eval/operator.h"
#include "parser/eval/ops.h"
#include "parser/eval/outer.h"
#include "parser/eval/python.h"
#include "parser/eval/scope.h"
#include "parser/eval/set.h"
#include "parser/eval/string.h"
#include "parser/eval/subscript.h"
#include "parser/eval/undefined.h"

#include <string.h>

static tvms_eval_value eval_node(tvms_reader *reader, tvms_ref expr, bool operand);

static bool is_part_of_name(const tvms_reader *reader, tvms_ref ref) {
  tvms_surf_kind kind = (tvms_surf_kind)tvms_reader_at(reader, ref)->kind;
  return kind == TVMS_SURF_NAME || kind == TVMS_SURF_ATTRIBUTE
         || kind == TVMS_SURF_SUBSCRIPT;
}

// `operand`: slices of a subscript without a step have the step 1.
static tvms_eval_value eval_deeper(tvms_reader *reader, tvms_ref expr, bool operand) {
  tvms_memory *memory = &reader->context->memory;
  if (!tvms_memory_enter(memory)) {
    tvms_memory_leave(memory);
    return tvms_eval_report_too_deep(reader, expr);
  }
  tvms_eval_value value = eval_node(reader, expr, operand);
  tvms_memory_leave(memory);
  if (!tvms_eval_may_hold(reader, value, expr)) return TVMS_UNKNOWN;
  // Python knows the value of a name and its parts; what else is unknown is a result.
  if (value.kind == TVMS_EVAL_UNKNOWN && !is_part_of_name(reader, expr))
    return TVMS_UNKNOWN;
  return value;
}

// What comes before a '.' or a '(' may be a name that leads somewhere, as `tvm.ir` does.
static tvms_eval_value eval_head(tvms_reader *reader, tvms_ref expr) {
  return eval_deeper(reader, expr, false);
}

static tvms_eval_value unknown_at(tvms_reader *reader, tvms_eval_value value,
                                  tvms_ref ref) {
  if (reader->lenient && !reader->unknown.end)
    reader->unknown = tvms_reader_span_of(reader, ref);
  return value.kind == TVMS_EVAL_UNKNOWN ? value : TVMS_UNKNOWN;
}

// In a Python file, an imported name that leads nowhere is as unknown as any other name of
// Python.
static tvms_eval_value end_of(tvms_reader *reader, tvms_eval_value value,
                              tvms_ref ref) {
  if (tvms_eval_is_class(value)) return unknown_at(reader, value, ref);
  if (value.kind != TVMS_EVAL_PYTHON || !reader->lenient) return value;
  tvms_eval_value assumed = tvms_eval_assume_part(reader, value, ref);
  return tvms_eval_value_is_known(assumed) ? assumed : unknown_at(reader, assumed, ref);
}

tvms_eval_value tvms_eval(tvms_reader *reader, tvms_ref expr) {
  return end_of(reader, eval_deeper(reader, expr, false), expr);
}

tvms_eval_value tvms_eval_alias(tvms_reader *reader, tvms_ref expr) {
  tvms_surf_kind kind = (tvms_surf_kind)tvms_reader_at(reader, expr)->kind;
  bool dotted = kind == TVMS_SURF_NAME || kind == TVMS_SURF_ATTRIBUTE;
  tvms_eval_value value = eval_deeper(reader, expr, false);
  return dotted && value.kind == TVMS_EVAL_PYTHON ? value : end_of(reader, value, expr);
}

// TVM up to 0.24 gives a slice without step in an operand the step 1, so that it is a load
// of a vector and not a region.
tvms_eval_value tvms_eval_operand(tvms_reader *reader, tvms_ref ref) {
  bool steps = tvms_release_has(reader->dialect, TVMS_FACT_arguments_are_operands)
               && !tvms_scope_is_python(reader);
  return end_of(reader, eval_deeper(reader, ref, steps), ref);
}

tvms_eval_value tvms_eval_report_too_deep(tvms_reader *reader, tvms_ref ref) {
  if (!reader->budget.too_deep) {
    reader->budget.too_deep = true;
    tvms_reader_report(reader, too_deep, ref, reader->context->memory.depth_limit);
  }
  return TVMS_UNKNOWN;
}

static tvms_eval_value eval_int(tvms_reader *reader, tvms_ref ref) {
  uint64_t value;
  if (!tvms_surface_int(reader->surface, ref, &value)) {
    tvms_reader_report(reader, number_too_big, ref);
    return TVMS_UNKNOWN;
  }
  tvms_eval_value result = tvms_eval_value_int((int64_t)value);
  if (value > INT64_MAX) result.flags = TVMS_EVAL_LARGE;
  return result;
}

static tvms_eval_value eval_string(tvms_reader *reader, tvms_ref ref) {
  if (tvms_surface_is_fstring(reader->surface, ref))
    return tvms_eval_fstring(reader, ref);
  tvms_surf_text text = tvms_surface_string(reader->surface, ref, &reader->values);
  tvms_eval_value value = tvms_eval_value_text(text.text, (uint32_t)text.len);
  if (text.is_bytes) value.kind = TVMS_EVAL_BYTES;
  return value;
}

// ---- Tuples, lists, sets, dicts ---------------------------------------------------------

static bool has_star(const tvms_reader *reader, tvms_ref list) {
  tvms_surface_each(reader->surface, item, list) {
    if (tvms_reader_at(reader, item)->kind == TVMS_SURF_STAR) return true;
  }
  return false;
}

bool tvms_eval_push_starred(tvms_reader *reader, tvms_ref item,
                            tvms_eval_value_vec *items) {
  const tvms_surf *node = tvms_reader_at(reader, item);
  tvms_memory *memory = &reader->context->memory;
  if (node->kind != TVMS_SURF_STAR) {
    tvms_eval_value value = tvms_eval(reader, item);
    tvms_vec_push(memory, items, value);
    return true;
  }
  tvms_ref inner = node->a;
  tvms_eval_items more;
  if (!tvms_eval_iterate(reader, tvms_eval(reader, inner), inner, &more)) return false;
  for (uint32_t i = 0; i < more.len; i++) {
    tvms_vec_push(memory, items, more.items[i]);
  }
  return true;
}

static tvms_eval_value eval_starred_items(tvms_reader *reader, tvms_ref list,
                                          tvms_eval_kind kind) {
  tvms_eval_value_vec items = {0};
  bool known = true;
  tvms_surface_each(reader->surface, item, list) {
    known = tvms_eval_push_starred(reader, item, &items) && known;
  }
  tvms_eval_value value = TVMS_UNKNOWN;
  if (known) {
    value = tvms_eval_value_items(
        kind, tvms_eval_keep_items(reader, items.items, items.len), items.len);
  }
  tvms_vec_fini(&reader->context->memory, &items);
  return value;
}

static tvms_eval_value eval_items(tvms_reader *reader, tvms_ref list,
                                  tvms_eval_kind kind) {
  if (has_star(reader, list)) return eval_starred_items(reader, list, kind);
  uint32_t count = tvms_surface_count(reader->surface, list);
  tvms_eval_value *items = tvms_arena_array(&reader->values, tvms_eval_value, count);
  uint32_t i = 0;
  bool known = true;
  tvms_surface_each(reader->surface, item, list) {
    known = known && tvms_reader_at(reader, item)->kind != TVMS_SURF_BAD;
    items[i++] = tvms_eval(reader, item);
  }
  // How many items stand where the text could not be read, nobody knows.
  return known ? tvms_eval_value_items(kind, items, count) : tvms_reader_failed(reader);
}

static tvms_eval_value eval_set(tvms_reader *reader, tvms_ref list) {
  tvms_eval_value items = eval_items(reader, list, TVMS_EVAL_SET);
  return tvms_eval_value_is_known(items) ? tvms_eval_make_set(reader, items, list)
                                         : items;
}

static bool put_entry(tvms_reader *reader, tvms_ref ref, tvms_eval_value_vec *pairs) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  if (node->kind == TVMS_SURF_PAIR) {
    tvms_ref b = node->b;
    tvms_eval_value key = tvms_eval(reader, node->a);
    tvms_eval_value value = tvms_eval(reader, b);
    if (!tvms_eval_value_is_known(key)) return false;
    tvms_eval_push_pair(reader, pairs, key, value);
    return true;
  }
  tvms_ref inner = node->a;
  tvms_eval_value more = tvms_eval(reader, inner);
  if (!tvms_eval_value_is_known(more)) return false;
  if (more.kind != TVMS_EVAL_DICT) {
    tvms_eval_report_wrong_type(reader, inner, "the operand of '**'", "a dict", more);
    return false;
  }
  for (uint32_t i = 0; i < more.len; i += 2) {
    tvms_eval_push_pair(reader, pairs, more.as.items[i], more.as.items[i + 1]);
  }
  return true;
}

static tvms_eval_value eval_dict(tvms_reader *reader, tvms_ref list) {
  tvms_eval_value_vec pairs = {0};
  bool known = true;
  tvms_surface_each(reader->surface, ref, list) {
    known = put_entry(reader, ref, &pairs) && known;
  }
  tvms_eval_value value =
      known ? tvms_eval_make_dict(reader, &pairs, list) : TVMS_UNKNOWN;
  tvms_vec_fini(&reader->context->memory, &pairs);
  return value;
}

// ---- Operators --------------------------------------------------------------------------

static tvms_eval_value eval_unary(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  tvms_surf_op op = (tvms_surf_op)node->op;
  return tvms_eval_unary(reader, op, tvms_eval_operand(reader, node->a), ref);
}

static tvms_eval_value eval_binary(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  tvms_surf_op op = (tvms_surf_op)node->op;
  tvms_ref right = node->b;
  tvms_eval_value a = tvms_eval_operand(reader, node->a);
  tvms_eval_value b = tvms_eval_operand(reader, right);
  return tvms_eval_binary(reader, op, a, b, ref);
}

static tvms_eval_value eval_bool(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  bool is_and = node->op == TVMS_OP_AND;
  tvms_ref right = node->b;
  tvms_eval_value a = tvms_eval(reader, node->a);
  bool decides = a.kind == TVMS_EVAL_BOOL;
  if (tvms_scope_is_python(reader)) {
    bool known;
    bool truth = tvms_eval_value_truth(reader, a, &known);
    if (known) return truth == is_and ? tvms_eval(reader, right) : a;
  }
  if (decides && (a.as.i != 0) != is_and) return a;
  tvms_eval_value b = tvms_eval(reader, right);
  return tvms_eval_logical(reader, is_and, a, b, ref);
}

static tvms_eval_value eval_compare(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  tvms_ref rest = node->b;
  tvms_eval_value left = tvms_eval_operand(reader, node->a);
  tvms_eval_value result = TVMS_UNKNOWN;
  bool first = true;
  tvms_surface_each(reader->surface, part, rest) {
    tvms_surf_op op = (tvms_surf_op)tvms_reader_at(reader, part)->op;
    tvms_eval_value right = tvms_eval_operand(reader, tvms_reader_at(reader, part)->a);
    tvms_eval_value now = tvms_eval_binary(reader, op, left, right, ref);
    result = first ? now : tvms_eval_logical(reader, true, result, now, ref);
    first = false;
    left = right;
  }
  return result;
}

// Where only Python knows which of two it is, both must have a meaning.
static tvms_eval_value eval_either(tvms_reader *reader, tvms_ref yes, tvms_ref no) {
  tvms_eval_value a = tvms_eval(reader, yes), b = tvms_eval(reader, no);
  return tvms_eval_value_is_known(a) ? b : TVMS_UNKNOWN;
}

static tvms_eval_value eval_if_exp(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf node = *tvms_reader_at(reader, ref);
  tvms_eval_value test = tvms_eval(reader, node.b);
  if (!tvms_eval_value_is_known(test)) return test;
  if (tvms_scope_is_python(reader) && tvms_eval_assume_is_in(reader, test))
    return eval_either(reader, node.a, node.c);
  const tvms_eval_value_ops *ops = tvms_eval_ops_of(reader, test);
  if (ops->choose && !tvms_scope_is_python(reader)) {
    tvms_eval_value yes = tvms_eval(reader, node.a);
    tvms_eval_value no = tvms_eval(reader, node.c);
    if (!tvms_eval_value_is_known(yes) || !tvms_eval_value_is_known(no))
      return TVMS_UNKNOWN;
    return ops->choose(reader, test, yes, no, ref);
  }
  bool known = test.kind == TVMS_EVAL_BOOL;
  bool truth = tvms_scope_is_python(reader)
                   ? tvms_eval_value_truth(reader, test, &known)
                   : test.as.i != 0;
  if (!known) {
    tvms_eval_report_wrong_type(reader, node.b, "a condition", "a boolean", test);
    return TVMS_UNKNOWN;
  }
  return tvms_eval(reader, truth ? node.a : node.c);
}

// ---- Subscripts -------------------------------------------------------------------------

static tvms_eval_value eval_bound(tvms_reader *reader, tvms_ref ref) {
  return ref ? tvms_eval(reader, ref) : TVMS_NOTHING;
}

static tvms_eval_value eval_slice(tvms_reader *reader, tvms_ref ref, bool operand) {
  const tvms_surf node = *tvms_reader_at(reader, ref);
  tvms_eval_value *items = tvms_arena_array(&reader->values, tvms_eval_value, 3);
  items[0] = eval_bound(reader, node.a);
  items[1] = eval_bound(reader, node.b);
  items[2] = eval_bound(reader, node.c);
  if (operand && node.a && node.b && !node.c) items[2] = tvms_eval_value_int(1);
  return tvms_eval_value_items(TVMS_EVAL_SLICE, items, 3);
}

tvms_eval_value tvms_eval_index(tvms_reader *reader, tvms_ref index, bool operand) {
  const tvms_surf *node = tvms_reader_at(reader, index);
  if (node->kind == TVMS_SURF_SLICE) return eval_slice(reader, index, operand);
  if (node->kind != TVMS_SURF_TUPLE) return tvms_eval(reader, index);
  tvms_ref list = node->a;
  if (has_star(reader, list)) return tvms_eval(reader, index);
  uint32_t count = tvms_surface_count(reader->surface, list);
  tvms_eval_value *items = tvms_arena_array(&reader->values, tvms_eval_value, count);
  uint32_t i = 0;
  tvms_surface_each(reader->surface, item, list) {
    bool is_slice = tvms_reader_at(reader, item)->kind == TVMS_SURF_SLICE;
    items[i++] = is_slice ? eval_slice(reader, item, operand) : tvms_eval(reader, item);
  }
  return tvms_eval_value_items(TVMS_EVAL_TUPLE, items, count);
}

static tvms_eval_value eval_subscript(tvms_reader *reader, tvms_ref ref, bool operand) {
  const tvms_surf node = *tvms_reader_at(reader, ref);
  tvms_eval_value object = tvms_eval(reader, node.a);
  if (tvms_eval_is_class(object)) return TVMS_UNKNOWN;
  if (!tvms_eval_value_is_known(object))
    return tvms_eval_assume_part(reader, object, ref);
  const tvms_eval_value_ops *ops = tvms_eval_ops_of(reader, object);
  tvms_eval_value value;
  if (ops->read_subscript && ops->read_subscript(reader, object, ref, &value)) {
    return value;
  }
  tvms_eval_value index = tvms_eval_index(reader, node.b, operand);
  return tvms_eval_subscript(reader, object, index, ref);
}

// ---- Names ------------------------------------------------------------------------------

static tvms_eval_value eval_name(tvms_reader *reader, tvms_ref ref) {
  tvms_sym name = tvms_reader_at(reader, ref)->a;
  tvms_binding *binding = tvms_scope_lookup(reader, name);
  if (binding) {
    tvms_eval_value outer = tvms_eval_outer_adopt(reader, binding->value);
    tvms_eval_value value = tvms_eval_mention(reader, outer, ref);
    value = tvms_eval_assume_name(reader, binding, value);
    if (tvms_eval_is_class(value)) return value;
    return tvms_eval_value_is_known(value) ? value : unknown_at(reader, value, ref);
  }
  tvms_eval_value builtin = tvms_builtin_find(reader, name);
  if (tvms_eval_value_is_known(builtin)) return builtin;
  tvms_eval_report_undefined_name(reader, name, tvms_reader_span_of(reader, ref));
  return unknown_at(reader, TVMS_UNKNOWN, ref);
}

static tvms_eval_value eval_attribute(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  tvms_sym name = node->b;
  tvms_eval_value object = eval_head(reader, node->a);
  if (tvms_eval_is_class(object)) {
    tvms_eval_value value = tvms_eval_class_attribute(reader, object, name, ref);
    bool known = tvms_eval_value_is_known(value) || tvms_eval_is_class(value);
    return known ? value : unknown_at(reader, value, ref);
  }
  if (!tvms_eval_value_is_known(object))
    return tvms_eval_assume_part(reader, object, ref);
  return tvms_eval_attribute(reader, object, name, ref);
}

static tvms_eval_value eval_call(tvms_reader *reader, tvms_ref ref) {
  tvms_ref head = tvms_reader_at(reader, ref)->a;
  tvms_eval_value callee = eval_head(reader, head);
  tvms_eval_value value = tvms_eval_call(reader, callee, ref);
  bool python = callee.kind == TVMS_EVAL_PYTHON && !tvms_eval_value_is_known(value);
  return python ? unknown_at(reader, TVMS_UNKNOWN, head) : value;
}

static tvms_eval_value eval_walrus(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf node = *tvms_reader_at(reader, ref);
  tvms_eval_value value = tvms_eval(reader, node.b);
  tvms_sym name = tvms_reader_at(reader, node.a)->a;
  bool binds_first = reader->language && reader->language->binds_first;
  if (binds_first && !node.c && !tvms_scope_lookup(reader, name)) {
    tvms_eval_report_undefined_name(reader, name, tvms_reader_span_of(reader, node.a));
    return tvms_reader_failed(reader);
  }
  tvms_scope_bind(reader, name, value, tvms_reader_span_of(reader, node.a));
  return value;
}

static tvms_eval_value eval_lambda(tvms_reader *reader, tvms_ref ref) {
  return tvms_closure_make_lambda(reader, ref);
}

static tvms_eval_value not_an_expression(tvms_reader *reader, tvms_ref ref,
                                         const char *what) {
  tvms_reader_report(reader, no_meaning, ref, what);
  return TVMS_UNKNOWN;
}

static tvms_eval_value eval_node(tvms_reader *reader, tvms_ref ref, bool operand) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  switch (node->kind) {
  case TVMS_SURF_NAME: return eval_name(reader, ref);
  case TVMS_SURF_INT: return eval_int(reader, ref);
  case TVMS_SURF_FLOAT:
    return tvms_eval_value_float(tvms_surface_float(reader->surface, ref));
  case TVMS_SURF_STRING:
  case TVMS_SURF_STRINGS: return eval_string(reader, ref);
  case TVMS_SURF_TRUE: return tvms_eval_value_bool(true);
  case TVMS_SURF_FALSE: return tvms_eval_value_bool(false);
  case TVMS_SURF_NONE: return TVMS_NOTHING;
  case TVMS_SURF_ELLIPSIS: return (tvms_eval_value){.kind = TVMS_EVAL_ELLIPSIS};
  case TVMS_SURF_TUPLE: return eval_items(reader, node->a, TVMS_EVAL_TUPLE);
  case TVMS_SURF_LIST: return eval_items(reader, node->a, TVMS_EVAL_LIST);
  case TVMS_SURF_SET: return eval_set(reader, node->a);
  case TVMS_SURF_DICT: return eval_dict(reader, node->a);
  case TVMS_SURF_LIST_COMP:
  case TVMS_SURF_SET_COMP:
  case TVMS_SURF_DICT_COMP:
  case TVMS_SURF_GENERATOR: return tvms_eval_comprehension(reader, ref);
  case TVMS_SURF_ATTRIBUTE: return eval_attribute(reader, ref);
  case TVMS_SURF_CALL: return eval_call(reader, ref);
  case TVMS_SURF_SUBSCRIPT: return eval_subscript(reader, ref, operand);
  case TVMS_SURF_UNARY: return eval_unary(reader, ref);
  case TVMS_SURF_BINARY: return eval_binary(reader, ref);
  case TVMS_SURF_BOOL: return eval_bool(reader, ref);
  case TVMS_SURF_COMPARE: return eval_compare(reader, ref);
  case TVMS_SURF_IF_EXP: return eval_if_exp(reader, ref);
  case TVMS_SURF_LAMBDA: return eval_lambda(reader, ref);
  case TVMS_SURF_WALRUS: return eval_walrus(reader, ref);
  case TVMS_SURF_SLICE: return eval_slice(reader, ref, false);
  case TVMS_SURF_IMAGINARY: return not_an_expression(reader, ref, "a complex number");
  case TVMS_SURF_STAR: return not_an_expression(reader, ref, "a starred expression");
  default: return TVMS_UNKNOWN;  // BAD: reported by the parser
  }
}
