// Functions of Python that a file defines.
//
// A call of one that only computes a value (`def tile(n): return n // 4`) has that value. A
// call of one that makes definitions is written down while calls are gathered
// (parser/python_calls.h), and its body is followed once for each of its calls, because what
// it calls in turn depends on them. What nothing in the file calls is called by others: a test
// with what `pytest.mark.parametrize` says, anything with the defaults of its parameters.
#include "parser/python_function.h"

#include "parser/eval/budget.h"
#include "parser/eval/capture.h"
#include "parser/eval/class.h"
#include "parser/eval/closure.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/iterate.h"
#include "parser/eval/ops.h"
#include "parser/eval/reader.h"
#include "parser/eval/scope.h"
#include "parser/file_state.h"
#include "parser/needed_names.h"
#include "parser/python_body.h"
#include "parser/python_names.h"
#include "support/trial.h"

#include <string.h>

typedef struct {
  tvms_ref ref;  // the DEF
  tvms_cells cells;
  const tvms_visible *visible;
  const tvms_signature *signature;
  tvms_python_maker *TVMS_NULLABLE maker;
  const tvms_python_instance *TVMS_NULLABLE around;  // in which it was defined
} function;

// ---- Making and calling ---------------------------------------------------------------

tvms_eval_value tvms_python_function_make(tvms_reader *reader, tvms_ref ref) {
  tvms_file_state *file = tvms_file_of(reader);
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  tvms_python_maker *maker =
      tvms_python_calls_maker(&file->calls, reader->surface, ref);
  bool needed = tvms_needed_names_has(file->needed, def.name) && !def.decorators;
  if (!maker && !needed) return TVMS_UNKNOWN;
  const tvms_signature *signature = tvms_closure_signature(reader, def.params, ref);
  if (!signature) return TVMS_UNKNOWN;
  function *made = tvms_arena_new(&reader->kept, function);
  *made = (function){.ref = ref,
                     .cells = tvms_eval_capture_cells(reader, ref),
                     .visible = tvms_closure_capture(reader),
                     .signature = signature,
                     .maker = maker,
                     .around = file->instance};
  return (tvms_eval_value){.kind = TVMS_EVAL_FUNCTION, .as.object = made};
}

static void bind_params(tvms_reader *reader, tvms_ref params,
                        const tvms_eval_value *TVMS_NULLABLE values, uint32_t count) {
  bool nested = tvms_file_of(reader)->nested > 0;
  uint32_t i = 0;
  tvms_surface_each(reader->surface, ref, params) {
    tvms_sym name = tvms_reader_at(reader, ref)->a;
    if (!name) continue;
    tvms_eval_value value = values && i < count ? values[i] : TVMS_UNKNOWN;
    bool self = i == 0 && strcmp(tvms_symbol_text(reader->context, name), "self") == 0;
    tvms_eval_value object = tvms_file_of(reader)->object;
    if (self && tvms_eval_is_class(object)) {
      tvms_scope_bind(reader, name, object, tvms_reader_span_of(reader, ref));
      i++;
      continue;
    }
    if (!nested) value = tvms_eval_assume_of_python(reader, value);
    tvms_scope_bind(reader, name, value, tvms_reader_span_of(reader, ref));
    i++;
  }
}

static tvms_eval_value follow_body(tvms_reader *reader, const function *called,
                                   const tvms_eval_value *args, bool pure) {
  tvms_surf_definition def = tvms_surface_define(reader->surface, called->ref);
  tvms_visible inner;
  const tvms_visible *outer =
      tvms_closure_enter(reader, called->visible, TVMS_EVALUATOR_PYTHON, &inner);
  tvms_eval_capture_bind(reader, called->cells);
  bind_params(reader, def.params, args, called->signature->count);
  tvms_python_names_bind(reader, def.body);
  tvms_python_run run = {.pure = pure, .result = TVMS_NOTHING};
  tvms_python_body_follow(reader, def.body, true, &run);
  tvms_closure_leave(reader, outer);
  return run.lost ? TVMS_UNKNOWN : run.result;
}

static bool any_known(const tvms_eval_value *values, uint32_t count) {
  bool known = count == 0;
  for (uint32_t i = 0; i < count && !known; i++)
    known = tvms_eval_value_is_known(values[i]);
  return known;
}

// Python allows more, but no program of TVMScript needs them.
enum { MOST_NESTED = 24, STEPS_PER_CALL = 200 };

static tvms_eval_value answer(tvms_reader *reader, const function *called,
                              tvms_ref call) {
  tvms_file_state *file = tvms_file_of(reader);
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_ref refs[TVMS_MAX_PARAMS];
  uint64_t given;
  bool reads = file->stage == TVMS_PYTHON_READS;
  if (called->maker && reads) return TVMS_UNKNOWN;
  if (!tvms_eval_count_steps(reader, STEPS_PER_CALL, call)) return TVMS_UNKNOWN;
  if (!tvms_signature_bind(reader, called->signature, "a function", 0, call, args, refs,
                           &given))
    return TVMS_UNKNOWN;
  if (!called->maker) return follow_body(reader, called, args, true);
  uint32_t count = called->signature->count;
  if (!any_known(args, count)) return TVMS_UNKNOWN;
  const tvms_python_instance *outer = file->instance;
  file->instance =
      tvms_python_calls_add(reader, called->maker, called->around, args, count);
  tvms_eval_value result =
      file->instance ? follow_body(reader, called, args, false) : TVMS_UNKNOWN;
  file->instance = outer;
  return result;
}

static void report_binding(tvms_reader *reader, const function *called, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_ref refs[TVMS_MAX_PARAMS];
  uint64_t given;
  tvms_span unknown = reader->unknown;
  tvms_surf_definition def = tvms_surface_define(reader->surface, called->ref);
  (void)!tvms_signature_bind(reader, called->signature,
                             tvms_symbol_text(reader->context, def.name), 0, call, args,
                             refs, &given);
  reader->unknown = unknown;
}

// What is wrong with the arguments that a definition gives a function of the file. Of functions that
// make definitions a decorator may have changed the signature.
static void report_arguments(tvms_reader *reader, const function *called,
                             tvms_ref call) {
  const tvms_file_state *file = tvms_file_of(reader);
  bool reads = file->stage == TVMS_PYTHON_READS && !file->nested;
  if (!reads || called->maker || tvms_trial_is_muted(&reader->context->diags)) return;
  report_binding(reader, called, call);
}

// Whether the call has as many arguments as the signature wants, with names that it has. What is
// spread may be any.
static bool fits(const tvms_reader *reader, const tvms_signature *signature,
                 tvms_ref call) {
  uint64_t given = 0;
  uint32_t plain = 0;
  tvms_surface_each(reader->surface, ref, tvms_reader_at(reader, call)->b) {
    const tvms_surf *node = tvms_reader_at(reader, ref);
    if (node->kind == TVMS_SURF_STAR || node->kind == TVMS_SURF_DOUBLE_STAR)
      return true;
    if (node->kind != TVMS_SURF_KEYWORD) {
      if (plain >= signature->plain && signature->rest < 0) return false;
      if (plain < signature->plain) given |= (uint64_t)1 << plain++;
      continue;
    }
    uint32_t i = 0;
    while (i < signature->count
           && (signature->params[i].name != node->a
               || signature->params[i].kind > TVMS_PARAM_KEYWORD_ONLY))
      i++;
    if (i == signature->count && signature->keywords < 0) return false;
    if (i < signature->count) given |= (uint64_t)1 << i;
  }
  for (uint32_t i = 0; i < signature->count; i++) {
    const tvms_param *param = &signature->params[i];
    if (param->kind <= TVMS_PARAM_KEYWORD_ONLY && param->required && !(given >> i & 1))
      return false;
  }
  return true;
}

void tvms_python_function_check(tvms_reader *reader, tvms_eval_value callee,
                                tvms_ref call) {
  const function *called = callee.as.object;
  tvms_surf_definition def = tvms_surface_define(reader->surface, called->ref);
  if (def.decorators || fits(reader, called->signature, call)) return;
  const tvms_python_calls *calls = &tvms_file_of(reader)->calls;
  uint32_t times = 0;
  for (uint32_t i = 0; i < calls->functions.len; i++)
    times += calls->functions.items[i].name == def.name;
  if (times != 1) return;
  report_binding(reader, called, call);
}

tvms_eval_value tvms_python_function_call(tvms_reader *reader, tvms_eval_value callee,
                                          tvms_ref call) {
  tvms_file_state *file = tvms_file_of(reader);
  tvms_span unknown = reader->unknown;
  tvms_budget budget = reader->budget;
  bool failed = reader->failed;
  tvms_eval_value value = TVMS_UNKNOWN;
  if (file->nested < MOST_NESTED) {
    file->nested++;
    tvms_trial_mute(&reader->context->diags);
    value = answer(reader, callee.as.object, call);
    tvms_trial_unmute(&reader->context->diags);
    file->nested--;
  }
  reader->unknown = unknown;
  reader->budget = budget;
  reader->failed = failed;
  if (tvms_eval_value_is_known(value)) return value;
  report_arguments(reader, callee.as.object, call);
  return tvms_reader_of_python(reader, tvms_reader_callee(reader, call));
}

const tvms_eval_value_ops tvms_python_function_ops = {
    .call = tvms_python_function_call,
    .held = true,
};

// ---- What pytest says -----------------------------------------------------------------

enum { MOST_LISTS = 8, MOST_NAMES = 16, MOST_VALUES = 8 };

// One `parametrize`: names, and rows of their values.
typedef struct {
  uint32_t places[MOST_NAMES];  // of the parameters
  uint32_t count;
  tvms_eval_value rows[MOST_VALUES][MOST_NAMES];
  uint32_t row_count;
} table;

static void add_name(tvms_reader *reader, const tvms_signature *signature, table *t,
                     const char *text, size_t len) {
  while (len && *text == ' ')
    text++, len--;
  while (len && text[len - 1] == ' ')
    len--;
  tvms_sym name = tvms_symbol_intern(reader->context, text, len);
  uint32_t place = UINT32_MAX;
  for (uint32_t i = 0; i < signature->count; i++) {
    if (signature->params[i].name == name) place = i;
  }
  if (t->count < MOST_NAMES) t->places[t->count++] = place;
}

// "a, b", or a tuple or list of names.
static bool read_names(tvms_reader *reader, const tvms_signature *signature,
                       tvms_ref ref, table *t) {
  tvms_eval_value names = tvms_python_body_eval(reader, ref);
  if (names.kind == TVMS_EVAL_STR) {
    const char *at = names.as.text, *end = at + names.len;
    while (at <= end) {
      const char *stop = memchr(at, ',', (size_t)(end - at));
      if (!stop) stop = end;
      if (stop > at) add_name(reader, signature, t, at, (size_t)(stop - at));
      at = stop + 1;
    }
  } else if (tvms_eval_value_is_sequence(names)) {
    for (uint32_t i = 0; i < names.len; i++) {
      tvms_eval_value name = names.as.items[i];
      if (name.kind != TVMS_EVAL_STR) return false;
      add_name(reader, signature, t, name.as.text, name.len);
    }
  }
  return t->count > 0;
}

static void add_row(table *t, tvms_eval_value value) {
  tvms_eval_value *row = t->rows[t->row_count++];
  bool parts = t->count > 1 && tvms_eval_value_is_sequence(value);
  for (uint32_t i = 0; i < t->count; i++) {
    row[i] = t->count == 1            ? value
             : parts && i < value.len ? value.as.items[i]
                                      : TVMS_UNKNOWN;
  }
}

// `pytest.param(a, b, marks=…)`.
static bool is_param(const tvms_reader *reader, tvms_ref ref) {
  const tvms_surf *call = tvms_reader_at(reader, ref);
  if (call->kind != TVMS_SURF_CALL) return false;
  const tvms_surf *callee = tvms_reader_at(reader, call->a);
  return callee->kind == TVMS_SURF_ATTRIBUTE
         && strcmp(tvms_symbol_text(reader->context, callee->b), "param") == 0;
}

static void add_param(tvms_reader *reader, tvms_ref ref, table *t) {
  tvms_eval_value *row = t->rows[t->row_count++];
  tvms_ref argument = tvms_reader_at(reader, ref)->b;
  for (uint32_t i = 0; i < t->count; i++) {
    bool plain =
        argument && tvms_reader_at(reader, argument)->kind != TVMS_SURF_KEYWORD;
    row[i] = plain ? tvms_python_body_eval(reader, argument) : TVMS_UNKNOWN;
    if (argument) argument = tvms_reader_at(reader, argument)->next;
  }
}

static void read_rows(tvms_reader *reader, tvms_ref ref, table *t) {
  const tvms_surf node = *tvms_reader_at(reader, ref);
  if (node.kind == TVMS_SURF_LIST || node.kind == TVMS_SURF_TUPLE) {
    tvms_surface_each(reader->surface, item, node.a) {
      if (t->row_count == MOST_VALUES) return;
      if (is_param(reader, item))
        add_param(reader, item, t);
      else
        add_row(t, tvms_python_body_eval(reader, item));
    }
    return;
  }
  tvms_eval_value rows = tvms_python_body_eval(reader, ref);
  tvms_eval_items items;
  if (!tvms_eval_value_is_known(rows)) return;
  if (!tvms_eval_iterate(reader, rows, ref, &items)) return;
  for (uint32_t i = 0; i < items.len && t->row_count < MOST_VALUES; i++)
    add_row(t, items.items[i]);
}

// The decorator `…parametrize(names, rows)`. False: it is another one, or is not known.
static bool read_table(tvms_reader *reader, const tvms_signature *signature,
                       tvms_ref decorator, table *t) {
  const tvms_surf call = *tvms_reader_at(reader, decorator);
  if (call.kind != TVMS_SURF_CALL || !call.b) return false;
  const tvms_surf *callee = tvms_reader_at(reader, call.a);
  if (callee->kind != TVMS_SURF_ATTRIBUTE
      || strcmp(tvms_symbol_text(reader->context, callee->b), "parametrize") != 0)
    return false;
  tvms_ref rows = tvms_reader_at(reader, call.b)->next;
  if (!rows) return false;
  const tvms_surf *given = tvms_reader_at(reader, rows);
  if (given->kind == TVMS_SURF_KEYWORD) rows = given->b;
  *t = (table){0};
  if (!read_names(reader, signature, call.b, t)) return false;
  read_rows(reader, rows, t);
  return t->row_count > 0;
}

// ---- Functions that others call -------------------------------------------------------

static void run_with(tvms_reader *reader, tvms_ref ref, const tvms_eval_value *values,
                     uint32_t count) {
  tvms_file_state *file = tvms_file_of(reader);
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  tvms_python_maker *maker =
      tvms_python_calls_maker(&file->calls, reader->surface, ref);
  const tvms_python_instance *outer = file->instance;
  const tvms_python_instance *own =
      tvms_python_calls_add(reader, maker, outer, values, count);
  if (!own) return;
  file->instance = own;
  tvms_scope_push(reader);
  bind_params(reader, def.params, values, count);
  tvms_python_names_bind(reader, def.body);
  tvms_python_run run = {0};
  tvms_python_body_follow(reader, def.body, true, &run);
  tvms_scope_pop(reader);
  file->instance = outer;
}

enum { MOST_COMBINATIONS = 64 };

// Combinations of one row of each table; `*left` of them at most.
static void run_tables(tvms_reader *reader, tvms_ref ref, const table *tables,
                       uint32_t table_count, tvms_eval_value *values, uint32_t count,
                       uint32_t *left) {
  if (!table_count) {
    run_with(reader, ref, values, count);
    --*left;
    return;
  }
  for (uint32_t row = 0; row < tables->row_count && *left; row++) {
    for (uint32_t i = 0; i < tables->count; i++) {
      if (tables->places[i] < count) values[tables->places[i]] = tables->rows[row][i];
    }
    run_tables(reader, ref, tables + 1, table_count - 1, values, count, left);
  }
}

void tvms_python_function_run(tvms_reader *reader, tvms_ref ref) {
  tvms_file_state *file = tvms_file_of(reader);
  tvms_python_maker *maker =
      tvms_python_calls_maker(&file->calls, reader->surface, ref);
  if (!maker || (maker->called && maker->first)) return;
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  const tvms_signature *signature = tvms_closure_signature(reader, def.params, ref);
  if (!signature) return;
  tvms_eval_value values[TVMS_MAX_PARAMS];
  for (uint32_t i = 0; i < signature->count; i++) {
    const tvms_param *param = &signature->params[i];
    bool given =
        param->kind == TVMS_PARAM_PLAIN || param->kind == TVMS_PARAM_KEYWORD_ONLY;
    values[i] = given && !param->required ? param->value : TVMS_UNKNOWN;
  }
  tvms_memory *memory = &reader->context->memory;
  table *tables = tvms_memory_alloc(memory, MOST_LISTS * sizeof *tables);
  uint32_t count = 0;
  tvms_surface_each(reader->surface, decorator, def.decorators) {
    if (count < MOST_LISTS && read_table(reader, signature, decorator, &tables[count]))
      count++;
  }
  uint32_t left = MOST_COMBINATIONS;
  run_tables(reader, ref, tables, count, values, signature->count, &left);
  tvms_memory_free(memory, tables);
}

// ---- Reading --------------------------------------------------------------------------

static void read_with(tvms_reader *reader, const tvms_surf_definition *def,
                      const tvms_python_instance *TVMS_NULLABLE instance, bool every) {
  tvms_file_state *file = tvms_file_of(reader);
  const tvms_python_instance *outer = file->instance;
  file->instance = instance;
  tvms_scope_push(reader);
  bind_params(reader, def->params, instance ? instance->values : NULL,
              instance ? instance->count : 0);
  tvms_python_names_bind(reader, def->body);
  tvms_python_run run = {.every = every};
  tvms_python_body_follow(reader, def->body, true, &run);
  tvms_scope_pop(reader);
  file->instance = outer;
}

void tvms_python_function_read(tvms_reader *reader, tvms_ref ref, bool every) {
  tvms_file_state *file = tvms_file_of(reader);
  tvms_python_maker *maker =
      tvms_python_calls_maker(&file->calls, reader->surface, ref);
  if (!maker) return;
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  bool read = false;
  for (const tvms_python_instance *i = every ? NULL : maker->first; i; i = i->next) {
    if (i->around != file->instance) continue;
    read_with(reader, &def, i, false);
    read = true;
  }
  if (!read) read_with(reader, &def, NULL, every);
}
