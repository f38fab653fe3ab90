// Python's own functions on constants: len, min, range, enumerate, …
#include "parser/eval/builtin.h"

#include "parser/eval/call.h"
#include "parser/eval/closure.h"
#include "parser/eval/convert.h"
#include "parser/eval/iterate.h"
#include "parser/eval/numeral.h"
#include "parser/eval/operator.h"
#include "parser/eval/ops.h"
#include "parser/eval/python.h"
#include "parser/eval/reader.h"
#include "parser/eval/repr.h"
#include "parser/eval/set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef tvms_eval_value builtin_function(tvms_reader *reader,
                                         const tvms_eval_value *args, tvms_ref call);

static tvms_eval_value builtin_len(tvms_reader *reader, const tvms_eval_value *args,
                                   tvms_ref call) {
  tvms_eval_items items;
  if (args[0].kind == TVMS_EVAL_STR) {
    tvms_eval_items characters;
    if (!tvms_eval_iterate(reader, args[0], call, &characters)) return TVMS_UNKNOWN;
    return tvms_eval_value_int(characters.len);
  }
  if (!tvms_eval_iterate(reader, args[0], call, &items)) return TVMS_UNKNOWN;
  return tvms_eval_value_int(items.len);
}

static tvms_eval_value make_list(tvms_reader *reader, tvms_eval_value value,
                                 tvms_eval_kind kind, tvms_ref call) {
  tvms_eval_items items = {0};
  if (!tvms_eval_iterate(reader, value, call, &items)) {
    return TVMS_UNKNOWN;
  }
  tvms_eval_value *copy = tvms_eval_keep_items(reader, items.items, items.len);
  return tvms_eval_value_items(kind, copy, items.len);
}

static tvms_eval_value builtin_list(tvms_reader *reader, const tvms_eval_value *args,
                                    tvms_ref call) {
  return make_list(reader, args[0], TVMS_EVAL_LIST, call);
}

static tvms_eval_value builtin_tuple(tvms_reader *reader, const tvms_eval_value *args,
                                     tvms_ref call) {
  return make_list(reader, args[0], TVMS_EVAL_TUPLE, call);
}

static tvms_eval_value builtin_set(tvms_reader *reader, const tvms_eval_value *args,
                                   tvms_ref call) {
  tvms_eval_value items = make_list(reader, args[0], TVMS_EVAL_SET, call);
  return tvms_eval_value_is_known(items) ? tvms_eval_make_set(reader, items, call)
                                         : items;
}

static tvms_eval_value builtin_dict(tvms_reader *reader, const tvms_eval_value *args,
                                    tvms_ref call) {
  tvms_eval_value_vec pairs = {0};
  tvms_eval_items items = {0};
  if (args[0].kind == TVMS_EVAL_DICT) {
    for (uint32_t i = 0; i < args[0].len; i += 2) {
      tvms_eval_push_pair(reader, &pairs, args[0].as.items[i], args[0].as.items[i + 1]);
    }
  } else {
    if (!tvms_eval_iterate(reader, args[0], call, &items)) return TVMS_UNKNOWN;
    for (uint32_t i = 0; i < items.len; i++) {
      if (!tvms_eval_value_is_sequence(items.items[i]) || items.items[i].len != 2)
        continue;
      tvms_eval_push_pair(reader, &pairs, items.items[i].as.items[0],
                          items.items[i].as.items[1]);
    }
  }
  for (uint32_t i = 0; i < args[1].len; i += 2) {
    tvms_eval_push_pair(reader, &pairs, args[1].as.items[i], args[1].as.items[i + 1]);
  }
  tvms_eval_value result = tvms_eval_make_dict(reader, &pairs, call);
  tvms_vec_fini(&reader->context->memory, &pairs);
  return result;
}

static tvms_eval_value builtin_range(tvms_reader *reader, const tvms_eval_value *args,
                                     tvms_ref call) {
  tvms_eval_value rest = args[0];
  if (rest.len == 0) {
    tvms_eval_report_missing_argument(reader, call, "range", "stop");
    return TVMS_UNKNOWN;
  }
  if (rest.len > 3) {
    tvms_reader_report(reader, too_many_arguments, call, "range", 3u, "s");
    return TVMS_UNKNOWN;
  }
  int64_t parts[3] = {0, 0, 1};
  for (uint32_t i = 0; i < rest.len; i++) {
    if (!tvms_eval_to_int(reader, rest.as.items[i], call,
                          &parts[rest.len == 1 ? 1 : i])) {
      return TVMS_UNKNOWN;
    }
  }
  if (parts[2] == 0) {
    tvms_reader_report(reader, evaluated_division_by_zero, call);
    return TVMS_UNKNOWN;
  }
  tvms_eval_value *items = tvms_arena_array(&reader->values, tvms_eval_value, 3);
  for (int i = 0; i < 3; i++) {
    items[i] = tvms_eval_value_int(parts[i]);
  }
  return tvms_eval_value_items(TVMS_EVAL_RANGE, items, 3);
}

static tvms_eval_value builtin_enumerate(tvms_reader *reader,
                                         const tvms_eval_value *args, tvms_ref call) {
  tvms_eval_items items;
  int64_t start;
  if (!tvms_eval_iterate(reader, args[0], call, &items)) return TVMS_UNKNOWN;
  if (!tvms_eval_to_int(reader, args[1], call, &start)) return TVMS_UNKNOWN;
  tvms_eval_value *pairs =
      tvms_arena_array(&reader->values, tvms_eval_value, items.len);
  for (uint32_t i = 0; i < items.len; i++) {
    tvms_eval_value *pair = tvms_arena_array(&reader->values, tvms_eval_value, 2);
    pair[0] = tvms_eval_value_int(start + i);
    pair[1] = items.items[i];
    pairs[i] = tvms_eval_value_items(TVMS_EVAL_TUPLE, pair, 2);
  }
  return tvms_eval_value_items(TVMS_EVAL_LIST, pairs, items.len);
}

// Items of several iterables side by side, as many as the shortest one has: what zip() gives.
static bool side_by_side(tvms_reader *reader, tvms_eval_value iterables,
                         tvms_eval_items *columns, uint32_t *shortest, tvms_ref call) {
  *shortest = 0;
  for (uint32_t i = 0; i < iterables.len; i++) {
    if (!tvms_eval_iterate(reader, iterables.as.items[i], call, &columns[i]))
      return false;
    if (i == 0 || columns[i].len < *shortest) *shortest = columns[i].len;
  }
  return true;
}

static tvms_eval_value builtin_zip(tvms_reader *reader, const tvms_eval_value *args,
                                   tvms_ref call) {
  uint32_t width = args[0].len, shortest;
  tvms_eval_items *columns = tvms_arena_array(&reader->values, tvms_eval_items, width);
  if (!side_by_side(reader, args[0], columns, &shortest, call)) return TVMS_UNKNOWN;
  bool known, strict = tvms_eval_value_truth(reader, args[1], &known);
  for (uint32_t i = 0; i < width && known && strict; i++) {
    if (columns[i].len == shortest) continue;
    tvms_reader_report(reader, lengths_differ, call, shortest, columns[i].len);
    return TVMS_UNKNOWN;
  }
  tvms_eval_value *lines = tvms_arena_array(&reader->values, tvms_eval_value, shortest);
  for (uint32_t i = 0; i < shortest; i++) {
    tvms_eval_value *line = tvms_arena_array(&reader->values, tvms_eval_value, width);
    for (uint32_t j = 0; j < width; j++) {
      line[j] = columns[j].items[i];
    }
    lines[i] = tvms_eval_value_items(TVMS_EVAL_TUPLE, line, width);
  }
  return tvms_eval_value_items(TVMS_EVAL_LIST, lines, shortest);
}

// int(x), str(x) and what else of Python's functions takes one value.
static tvms_eval_value call_of_one(tvms_reader *reader, tvms_eval_value function,
                                   const tvms_eval_value *args, uint32_t count,
                                   tvms_ref call);

static tvms_eval_value builtin_map(tvms_reader *reader, const tvms_eval_value *args,
                                   tvms_ref call) {
  uint32_t width = args[1].len, len;
  tvms_eval_items *columns = tvms_arena_array(&reader->values, tvms_eval_items, width);
  if (!side_by_side(reader, args[1], columns, &len, call)) return TVMS_UNKNOWN;
  tvms_eval_value *results = tvms_arena_array(&reader->values, tvms_eval_value, len);
  tvms_eval_value *line = tvms_arena_array(&reader->values, tvms_eval_value, width);
  for (uint32_t i = 0; i < len; i++) {
    for (uint32_t j = 0; j < width; j++)
      line[j] = columns[j].items[i];
    results[i] = args[0].kind == TVMS_EVAL_LAMBDA
                     ? tvms_closure_call_lambda(reader, args[0], TVMS_EVALUATOR_PYTHON,
                                                line, width, call)
                     : call_of_one(reader, args[0], line, width, call);
    if (!tvms_eval_value_is_known(results[i])) return tvms_reader_failed(reader);
  }
  return tvms_eval_value_items(TVMS_EVAL_LIST, results, len);
}

// T.min and R.min compare values of the program, Python's those of the text.
static void report_extreme(tvms_reader *reader, tvms_surf_op op, tvms_eval_value value,
                           tvms_ref call) {
  tvms_ref head = tvms_reader_at(reader, call)->a;
  const char *name = op == TVMS_OP_LT ? "min" : "max";
  const char *meant =
      reader->tables->near_name ? reader->tables->near_name(reader, name) : NULL;
  tvms_diag *diag = tvms_eval_report_type(
      reader, head, "an item compared by min() or max()", "a constant", value);
  if (!meant || !diag) return;
  tvms_diags *diags = &reader->context->diags;
  tvms_diag_remark(diags, diag, "write %s(...)", meant);
  tvms_diag_fix(diags, diag, tvms_reader_span_of(reader, head), false, "%s", meant);
}

// min(a, b, …) or min(iterable); values of TIR compare to nodes and have no order.
static tvms_eval_value extreme(tvms_reader *reader, tvms_eval_value rest,
                               tvms_surf_op op, tvms_ref call) {
  tvms_eval_items items = {rest.as.items, rest.len};
  if (rest.len == 1 && !tvms_eval_iterate(reader, rest.as.items[0], call, &items)) {
    return TVMS_UNKNOWN;
  }
  if (items.len == 0) {
    tvms_reader_report(reader, empty_sequence, call);
    return TVMS_UNKNOWN;
  }
  tvms_eval_value best = items.items[0];
  for (uint32_t i = 1; i < items.len; i++) {
    tvms_eval_value less = tvms_eval_binary(reader, op, items.items[i], best, call);
    if (!tvms_eval_value_is_known(less)) return less;
    if (less.kind != TVMS_EVAL_BOOL) {
      report_extreme(reader, op, items.items[i], call);
      return TVMS_UNKNOWN;
    }
    if (less.as.i) best = items.items[i];
  }
  return best;
}

static tvms_eval_value builtin_min(tvms_reader *reader, const tvms_eval_value *args,
                                   tvms_ref call) {
  return extreme(reader, args[0], TVMS_OP_LT, call);
}

static tvms_eval_value builtin_max(tvms_reader *reader, const tvms_eval_value *args,
                                   tvms_ref call) {
  return extreme(reader, args[0], TVMS_OP_GT, call);
}

static tvms_eval_value builtin_sum(tvms_reader *reader, const tvms_eval_value *args,
                                   tvms_ref call) {
  tvms_eval_items items;
  if (!tvms_eval_iterate(reader, args[0], call, &items)) return TVMS_UNKNOWN;
  tvms_eval_value total = args[1];
  for (uint32_t i = 0; i < items.len && tvms_eval_value_is_known(total); i++) {
    total = tvms_eval_binary(reader, TVMS_OP_ADD, total, items.items[i], call);
  }
  return total;
}

static tvms_eval_value any_or_all(tvms_reader *reader, tvms_eval_value value, bool all,
                                  tvms_ref call) {
  tvms_eval_items items;
  if (!tvms_eval_iterate(reader, value, call, &items)) return TVMS_UNKNOWN;
  for (uint32_t i = 0; i < items.len; i++) {
    bool known;
    bool truth = tvms_eval_value_truth(reader, items.items[i], &known);
    if (!known) {
      tvms_eval_report_wrong_type(reader, call, "a condition", "a constant",
                                  items.items[i]);
      return TVMS_UNKNOWN;
    }
    if (truth != all) return tvms_eval_value_bool(!all);
  }
  return tvms_eval_value_bool(all);
}

static tvms_eval_value builtin_any(tvms_reader *reader, const tvms_eval_value *args,
                                   tvms_ref call) {
  return any_or_all(reader, args[0], false, call);
}

static tvms_eval_value builtin_all(tvms_reader *reader, const tvms_eval_value *args,
                                   tvms_ref call) {
  return any_or_all(reader, args[0], true, call);
}

static tvms_eval_value builtin_reversed(tvms_reader *reader,
                                        const tvms_eval_value *args, tvms_ref call) {
  tvms_eval_value list = make_list(reader, args[0], TVMS_EVAL_LIST, call);
  for (uint32_t i = 0; i < list.len / 2; i++) {
    tvms_eval_value other = list.as.items[i];
    list.as.items[i] = list.as.items[list.len - 1 - i];
    list.as.items[list.len - 1 - i] = other;
  }
  return list;
}

// Merges two runs; stable. Returns false if two items have no order.
static bool merge_runs(tvms_reader *reader, tvms_eval_value *from, tvms_eval_value *to,
                       uint32_t middle, uint32_t end, tvms_ref call) {
  uint32_t i = 0, j = middle;
  for (uint32_t k = 0; k < end; k++) {
    bool take_right = i >= middle;
    if (i < middle && j < end) {
      tvms_eval_value less =
          tvms_eval_binary(reader, TVMS_OP_LT, from[j], from[i], call);
      if (less.kind != TVMS_EVAL_BOOL) return false;
      take_right = less.as.i != 0;
    }
    to[k] = take_right ? from[j++] : from[i++];
  }
  return true;
}

static tvms_eval_value builtin_sorted(tvms_reader *reader, const tvms_eval_value *args,
                                      tvms_ref call) {
  tvms_eval_value list = make_list(reader, args[0], TVMS_EVAL_LIST, call);
  if (!tvms_eval_value_is_known(list)) return list;
  tvms_eval_value *from = list.as.items;
  tvms_eval_value *to = tvms_arena_array(&reader->values, tvms_eval_value, list.len);
  for (uint32_t width = 1; width < list.len; width *= 2) {
    for (uint32_t at = 0; at < list.len; at += 2 * width) {
      uint32_t end = list.len - at < 2 * width ? list.len - at : 2 * width;
      uint32_t middle = end < width ? end : width;
      if (!merge_runs(reader, from + at, to + at, middle, end, call)) {
        return TVMS_UNKNOWN;
      }
    }
    tvms_eval_value *other = from;
    from = to;
    to = other;
  }
  list.as.items = from;
  bool known;
  if (tvms_eval_value_truth(reader, args[1], &known) && known)
    return builtin_reversed(reader, &list, call);
  return list;
}

// A builtin of numbers is called with a value of the program, which T computes with.
static tvms_eval_value refuse_argument(tvms_reader *reader, tvms_ref call,
                                       const char *name, const char *expected,
                                       tvms_eval_value value) {
  static const struct {
    const char *name, *instead;
  } rows[] = {
      {"abs()", "T.abs(x)"},
      {"int()", "T.cast(x, \"int32\")"},
      {"float()", "T.cast(x, \"float32\")"},
      {"bool()", "T.cast(x, \"bool\")"},
      {"round()", "T.round(x)"},
  };
  char what[40] = "the argument of ";
  strncat(what, name, sizeof what - strlen(what) - 1);
  tvms_diag *diag = tvms_eval_report_type(reader, tvms_reader_callee(reader, call),
                                          what, expected, value);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (diag && value.kind == TVMS_EVAL_NODE && strcmp(rows[i].name, name) == 0)
      tvms_diag_remark(&reader->context->diags, diag, "write %s", rows[i].instead);
  }
  return TVMS_UNKNOWN;
}

static tvms_eval_value builtin_abs(tvms_reader *reader, const tvms_eval_value *args,
                                   tvms_ref call) {
  if (args[0].kind == TVMS_EVAL_FLOAT) return tvms_eval_value_float(fabs(args[0].as.f));
  if (args[0].kind == TVMS_EVAL_INT && args[0].as.i < 0) {
    return tvms_eval_python_unary(reader, TVMS_OP_NEGATE, args[0], call);
  }
  if (args[0].kind == TVMS_EVAL_INT || args[0].kind == TVMS_EVAL_BOOL) {
    return tvms_eval_value_int(args[0].as.i);
  }
  return refuse_argument(reader, call, "abs()", "a number", args[0]);
}

static tvms_eval_value int_of_text(tvms_reader *reader, tvms_eval_value text, int base,
                                   tvms_ref call) {
  int64_t value = 0;
  switch (tvms_numeral_int(text.as.text, text.len, base, &value)) {
  case TVMS_NUMERAL_INT: return tvms_eval_value_int(value);
  case TVMS_NUMERAL_LARGE: {
    tvms_eval_value large = tvms_eval_value_int(value);
    large.flags = TVMS_EVAL_LARGE;
    return large;
  }
  case TVMS_NUMERAL_TOO_BIG: tvms_reader_report(reader, number_too_big, call); break;
  case TVMS_NUMERAL_WRONG:
    tvms_eval_report_wrong_type(reader, call, "the argument of int()", "a number",
                                text);
  }
  return TVMS_UNKNOWN;
}

// int(text, base).
static tvms_eval_value int_with_base(tvms_reader *reader, const tvms_eval_value *args,
                                     tvms_ref call) {
  int64_t base;
  if (!tvms_eval_to_int(reader, args[1], call, &base)) return TVMS_UNKNOWN;
  if (args[0].kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, call, "the argument of int() with a base",
                                "a string", args[0]);
    return TVMS_UNKNOWN;
  }
  if (base == 1 || base < 0 || base > 36) {
    tvms_eval_report_wrong_type(reader, call, "the base of int()", "0 or 2 to 36",
                                args[1]);
    return TVMS_UNKNOWN;
  }
  return int_of_text(reader, args[0], (int)base, call);
}

static tvms_eval_value builtin_int(tvms_reader *reader, const tvms_eval_value *args,
                                   tvms_ref call) {
  if (args[1].kind != TVMS_EVAL_NONE) return int_with_base(reader, args, call);
  if (args[0].kind == TVMS_EVAL_FLOAT) {
    if (fabs(args[0].as.f) < 9.2e18) return tvms_eval_value_int((int64_t)args[0].as.f);
    tvms_reader_report(reader, number_too_big, call);
    return TVMS_UNKNOWN;
  }
  if (args[0].kind == TVMS_EVAL_STR) return int_of_text(reader, args[0], 10, call);
  if (args[0].kind == TVMS_EVAL_INT) return args[0];
  const tvms_node *node = args[0].kind == TVMS_EVAL_NODE ? args[0].as.node : NULL;
  if (node && node->kind != TVMS_NODE_INT_IMM)
    return refuse_argument(reader, call, "int()", "a number", args[0]);
  int64_t value;
  if (!tvms_eval_to_int(reader, args[0], call, &value)) return TVMS_UNKNOWN;
  return tvms_eval_value_int(value);
}

static tvms_eval_value builtin_float(tvms_reader *reader, const tvms_eval_value *args,
                                     tvms_ref call) {
  tvms_eval_value value = args[0];
  if (value.kind == TVMS_EVAL_FLOAT) return value;
  if (value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_BOOL) {
    return tvms_eval_value_float((double)value.as.i);
  }
  if (value.kind == TVMS_EVAL_STR) {
    double real;
    if (tvms_numeral_float(reader->context, value.as.text, value.len, &real))
      return tvms_eval_value_float(real);
  }
  tvms_eval_value constant = tvms_eval_constant_of(reader, value);
  if (constant.kind == TVMS_EVAL_FLOAT) return constant;
  return refuse_argument(reader, call, "float()", "a number", value);
}

static tvms_eval_value builtin_bool(tvms_reader *reader, const tvms_eval_value *args,
                                    tvms_ref call) {
  bool known;
  bool truth = tvms_eval_value_truth(reader, args[0], &known);
  if (known) return tvms_eval_value_bool(truth);
  return refuse_argument(reader, call, "bool()", "a constant", args[0]);
}

static tvms_eval_value builtin_str(tvms_reader *reader, const tvms_eval_value *args,
                                   tvms_ref call) {
  uint32_t len;
  const char *text = tvms_eval_str(reader, args[0], call, &len);
  return text ? tvms_eval_value_text(text, len) : TVMS_UNKNOWN;
}

static tvms_eval_value builtin_round(tvms_reader *reader, const tvms_eval_value *args,
                                     tvms_ref call) {
  if (args[0].kind == TVMS_EVAL_INT) return args[0];
  if (args[0].kind == TVMS_EVAL_BOOL) return tvms_eval_value_int(args[0].as.i);
  if (args[0].kind == TVMS_EVAL_FLOAT) {
    if (fabs(args[0].as.f) < 9.2e18)
      return tvms_eval_value_int((int64_t)nearbyint(args[0].as.f));
    tvms_reader_report(reader, number_too_big, call);
    return TVMS_UNKNOWN;
  }
  return refuse_argument(reader, call, "round()", "a number", args[0]);
}

static tvms_eval_value builtin_slice(tvms_reader *reader, const tvms_eval_value *args,
                                     tvms_ref call) {
  (void)call;
  tvms_eval_value *items = tvms_arena_array(&reader->values, tvms_eval_value, 3);
  memcpy(items, args, 3 * sizeof *items);
  if (args[1].kind == TVMS_EVAL_NONE && args[2].kind == TVMS_EVAL_NONE) {
    items[0] = TVMS_NOTHING;
    items[1] = args[0];
  }
  return tvms_eval_value_items(TVMS_EVAL_SLICE, items, 3);
}

// TVM prints when it reads the text; nothing of it is in the program.
static tvms_eval_value builtin_print(tvms_reader *reader, const tvms_eval_value *args,
                                     tvms_ref call) {
  (void)reader, (void)args, (void)call;
  return TVMS_NOTHING;
}

static const struct {
  tvms_sym name;
  const char *signature;
  builtin_function *call;
} builtins[] = {
    {TVMS_SYM_len, "obj", builtin_len},
    {TVMS_SYM_range, "*args", builtin_range},
    {TVMS_SYM_min, "*args", builtin_min},
    {TVMS_SYM_max, "*args", builtin_max},
    {TVMS_SYM_sum, "iterable, start=0", builtin_sum},
    {TVMS_SYM_abs, "x", builtin_abs},
    {TVMS_SYM_int, "x=0, base=None", builtin_int},
    {TVMS_SYM_float, "x=0.0", builtin_float},
    {TVMS_SYM_bool, "x=False", builtin_bool},
    {TVMS_SYM_str, "x=''", builtin_str},
    {TVMS_SYM_tuple, "iterable=''", builtin_tuple},
    {TVMS_SYM_list, "iterable=''", builtin_list},
    {TVMS_SYM_set, "iterable=''", builtin_set},
    {TVMS_SYM_dict, "iterable='', **pairs", builtin_dict},
    {TVMS_SYM_enumerate, "iterable, start=0", builtin_enumerate},
    {TVMS_SYM_zip, "*iterables, strict=False", builtin_zip},
    {TVMS_SYM_map, "function, *iterables", builtin_map},
    {TVMS_SYM_sorted, "iterable, reverse=False", builtin_sorted},
    {TVMS_SYM_reversed, "sequence", builtin_reversed},
    {TVMS_SYM_any, "iterable", builtin_any},
    {TVMS_SYM_all, "iterable", builtin_all},
    {TVMS_SYM_round, "x", builtin_round},
    {TVMS_SYM_slice, "a, b=None, c=None", builtin_slice},
    {TVMS_SYM_print, "*args, **options", builtin_print},
};

enum { BUILTIN_COUNT = sizeof builtins / sizeof builtins[0] };

static tvms_eval_value call_of_one(tvms_reader *reader, tvms_eval_value function,
                                   const tvms_eval_value *args, uint32_t count,
                                   tvms_ref call) {
  static builtin_function *const takers[] = {builtin_int,   builtin_float, builtin_bool,
                                             builtin_str,   builtin_len,   builtin_abs,
                                             builtin_tuple, builtin_list};
  bool takes = false;
  for (size_t i = 0; i < sizeof takers / sizeof takers[0]; i++) {
    bool own = function.kind == TVMS_EVAL_BUILTIN;
    takes = takes || (own && count == 1 && builtins[function.as.i].call == takers[i]);
  }
  if (!takes) {
    if (reader->lenient)
      return tvms_reader_of_python(reader, tvms_reader_at(reader, call)->a);
    tvms_eval_report_wrong_type(reader, call, "the first argument of map()", "a lambda",
                                function);
    return TVMS_UNKNOWN;
  }
  const tvms_eval_value given[2] = {args[0], TVMS_NOTHING};
  return builtins[function.as.i].call(reader, given, call);
}

tvms_eval_value tvms_builtin_find(const tvms_reader *reader, tvms_sym name) {
  if (name == TVMS_SYM_print && !reader->lenient) return TVMS_UNKNOWN;
  for (uint32_t i = 0; i < BUILTIN_COUNT; i++) {
    if (builtins[i].name == name) {
      return (tvms_eval_value){.kind = TVMS_EVAL_BUILTIN, .as.i = i};
    }
  }
  return TVMS_UNKNOWN;
}

const char *tvms_builtin_nearest(const tvms_reader *reader, const char *name) {
  const char *names[BUILTIN_COUNT];
  for (uint32_t i = 0; i < BUILTIN_COUNT; i++)
    names[i] = tvms_symbol_text(reader->context, builtins[i].name);
  return tvms_diag_nearest_name(name, names, BUILTIN_COUNT);
}

tvms_sym tvms_builtin_name(tvms_eval_value builtin) {
  return builtins[builtin.as.i].name;
}

tvms_eval_value tvms_builtin_call(tvms_reader *reader, tvms_eval_value builtin,
                                  tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  const char *name = tvms_symbol_text(reader->context, builtins[builtin.as.i].name);
  if (!tvms_signature_bind_method(reader, builtins[builtin.as.i].signature, name, call,
                                  args)) {
    return TVMS_UNKNOWN;
  }
  if (!tvms_eval_value_is_known(args[0])) return TVMS_UNKNOWN;
  return builtins[builtin.as.i].call(reader, args, call);
}
