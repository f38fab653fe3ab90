// Statements of Python around the definitions of a file: what they bind, and which of them are
// reached.
//
// Python is not executed. Statements are followed as far as their values are known: an `if`
// with a known condition is one of its branches, a `for` over a few known items is its body
// for each of them. Where a condition is unknown both branches may be reached, and what they
// bind is unknown behind them. So is whatever is changed in place.
//
// A file is gone through three times: its calls of functions that make definitions are
// gathered, first in the order of the file, then in the bodies of functions that nothing
// calls (tests, mostly); at last definitions are read.
#include "parser/python_body.h"

#include "parser/eval/class.h"
#include "parser/eval/comprehension.h"
#include "parser/eval/expr.h"
#include "parser/eval/iterate.h"
#include "parser/eval/operator.h"
#include "parser/eval/python.h"
#include "parser/eval/reader.h"
#include "parser/eval/scope.h"
#include "parser/file_state.h"
#include "parser/needed_names.h"
#include "parser/python.h"
#include "parser/python_check.h"
#include "parser/python_function.h"
#include "parser/python_names.h"
#include "parser/python_object.h"
#include "parser/python_script.h"
#include "support/trial.h"

#include <string.h>

// ---- What targets are bound to --------------------------------------------------------

// Whatever the names of a target were, they are unknown from here on; an object whose
// attribute or item is assigned is another one.
static void forget(tvms_reader *reader, tvms_ref target) {
  const tvms_surf node = *tvms_reader_at(reader, target);
  switch ((int)node.kind) {
  case TVMS_SURF_NAME:
    tvms_scope_bind(reader, node.a, tvms_python_names_unknown(reader),
                    tvms_reader_span_of(reader, target));
    return;
  case TVMS_SURF_STAR: forget(reader, node.a); return;
  case TVMS_SURF_SUBSCRIPT: forget(reader, node.a); return;
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_LIST: {
    tvms_surface_each(reader->surface, part, node.a) forget(reader, part);
    return;
  }
  default: return;
  }
}

static void forget_all(tvms_reader *reader, tvms_ref targets) {
  tvms_surface_each(reader->surface, target, targets) forget(reader, target);
}

static void bind_target(tvms_reader *reader, tvms_ref target, tvms_eval_value value) {
  const tvms_surf node = *tvms_reader_at(reader, target);
  bool parts = node.kind == TVMS_SURF_TUPLE || node.kind == TVMS_SURF_LIST;
  if (!tvms_file_of(reader)->nested) value = tvms_eval_assume_of_python(reader, value);
  if (node.kind == TVMS_SURF_NAME) {
    tvms_scope_bind(reader, node.a, tvms_python_check_name(reader, target, value),
                    tvms_reader_span_of(reader, target));
    return;
  }
  forget(reader, target);
  if (parts && tvms_eval_value_is_known(value))
    (void)tvms_eval_bind_target(reader, target, value);
}

// ---- Values ---------------------------------------------------------------------------

// Steps of all of Python's constants in a file, and in addition for each of its bytes; and
// bytes of each.
enum {
  MOST_CONSTANT_STEPS = 2000000,
  CONSTANT_STEPS_PER_BYTE = 4,
  MOST_CONSTANT_BYTES = 16 << 20
};

// The metadata section of printed text, `tvm.ir.load_json("""…""")`: no more than the text has
// comes of it, so it has no share of its own and takes none of the constants'.
static bool is_metadata(tvms_reader *reader, tvms_ref expr) {
  const tvms_surf call = *tvms_reader_at(reader, expr);
  if (call.kind != TVMS_SURF_CALL || !call.b) return false;
  const tvms_surf *callee = tvms_reader_at(reader, call.a);
  const tvms_surf *argument = tvms_reader_at(reader, call.b);
  return callee->kind == TVMS_SURF_ATTRIBUTE && argument->kind == TVMS_SURF_STRING
         && strcmp(tvms_symbol_text(reader->context, callee->b), "load_json") == 0;
}

static tvms_eval_value eval_section(tvms_reader *reader, tvms_ref expr) {
  uint64_t before = tvms_arena_size(&reader->values);
  tvms_eval_value value = tvms_eval(reader, expr);
  tvms_file_of(reader)->section_bytes += tvms_arena_size(&reader->values) - before;
  return value;
}

tvms_eval_value tvms_python_body_eval(tvms_reader *reader, tvms_ref expr) {
  tvms_file_state *file = tvms_file_of(reader);
  if (file->evaluating) return tvms_eval(reader, expr);
  if (is_metadata(reader, expr)) return eval_section(reader, expr);
  tvms_context *context = reader->context;
  uint64_t limit = context->step_limit, before = context->steps;
  tvms_budget budget = reader->budget;
  uint64_t most = MOST_CONSTANT_STEPS
                  + CONSTANT_STEPS_PER_BYTE * (uint64_t)reader->surface->source->size;
  uint64_t own = most - file->constant_steps;
  if (own < limit - before) context->step_limit = before + own;
  reader->budget.most_bytes = MOST_CONSTANT_BYTES + file->section_bytes;
  tvms_evaluator *evaluator = &reader->scopes.items[reader->scopes.len - 1].evaluator;
  tvms_evaluator around = *evaluator;
  *evaluator = TVMS_EVALUATOR_PYTHON;
  file->evaluating = true;
  tvms_eval_value value = tvms_eval_alias(reader, expr);
  file->evaluating = false;
  reader->scopes.items[reader->scopes.len - 1].evaluator = around;
  reader->budget = budget;
  context->step_limit = limit;
  uint64_t spent = context->steps - before;
  file->constant_steps += spent < own ? spent : own;
  return value;
}

// The truth of a condition as far as it is known.
static bool truth_of(tvms_reader *reader, tvms_ref condition,
                     const tvms_python_run *run, bool *known) {
  *known = false;
  if (run->every) return false;
  tvms_eval_value value = tvms_python_body_eval(reader, condition);
  switch ((int)value.kind) {
  case TVMS_EVAL_NONE:
  case TVMS_EVAL_BOOL:
  case TVMS_EVAL_INT:
  case TVMS_EVAL_FLOAT:
  case TVMS_EVAL_STR:
  case TVMS_EVAL_TUPLE:
  case TVMS_EVAL_LIST:
  case TVMS_EVAL_SET:
  case TVMS_EVAL_DICT: return tvms_eval_value_truth(reader, value, known);
  default: return false;
  }
}

// ---- Calls of functions that make definitions -----------------------------------------

// Where what belongs to the statement itself ends, and the statements below it begin.
static uint32_t end_of_own(const tvms_reader *reader, tvms_ref ref) {
  tvms_ref bodies[2];
  tvms_surface_bodies(reader->surface, ref, bodies);
  tvms_ref first = bodies[0] ? bodies[0] : bodies[1];
  return first ? tvms_reader_at(reader, first)->begin
               : tvms_reader_at(reader, ref)->end;
}

// They are written down, and looked at when definitions are read.
static void gather_calls(tvms_reader *reader, tvms_ref ref, bool checked) {
  tvms_file_state *file = tvms_file_of(reader);
  bool reads = file->stage == TVMS_PYTHON_READS;
  if ((reads && !checked) || !file->calls.calls.len) return;
  uint32_t end = end_of_own(reader, ref);
  uint32_t i = tvms_python_calls_from(&file->calls, reader->surface,
                                      tvms_reader_at(reader, ref)->begin);
  for (; i < file->calls.calls.len; i++) {
    tvms_ref call = file->calls.calls.items[i];
    if (tvms_reader_at(reader, call)->begin >= end) return;
    if (reads)
      tvms_python_check_call(reader, call);
    else
      (void)tvms_python_body_eval(reader, call);
  }
}

// ---- Statements -----------------------------------------------------------------------

static bool is_imported(tvms_reader *reader, tvms_ref target) {
  const tvms_surf *node = tvms_reader_at(reader, target);
  return node->kind == TVMS_SURF_NAME && tvms_python_is_imported(reader, node->a);
}

// A plain name gets the value, if it is one that tvms can compute and that TVMScript asks
// for.
static void assign(tvms_reader *reader, tvms_ref targets, tvms_ref expr, bool certain,
                   const tvms_python_run *run) {
  bool needed = run->pure
                || tvms_needed_names_has_any(tvms_file_of(reader)->needed,
                                             reader->surface, targets);
  tvms_eval_value value =
      certain && needed && expr ? tvms_python_body_eval(reader, expr) : TVMS_UNKNOWN;
  tvms_surface_each(reader->surface, target, targets) {
    if (run->handler && is_imported(reader, target)) continue;
    bind_target(reader, target, value);
  }
}

// `n += 1`. A list is changed in place, whatever its names are.
static void add_to(tvms_reader *reader, const tvms_surf *stmt, bool certain) {
  const tvms_surf target = *tvms_reader_at(reader, stmt->a);
  tvms_binding *old = target.kind == TVMS_SURF_NAME && certain
                          ? tvms_scope_lookup(reader, target.a)
                          : NULL;
  bool plain =
      old
      && (old->value.kind == TVMS_EVAL_INT || old->value.kind == TVMS_EVAL_FLOAT
          || old->value.kind == TVMS_EVAL_STR || old->value.kind == TVMS_EVAL_TUPLE);
  tvms_eval_value value = TVMS_UNKNOWN;
  if (plain) {
    tvms_eval_value before = old->value;
    tvms_eval_value more = tvms_python_body_eval(reader, stmt->b);
    if (tvms_eval_value_is_known(more))
      value = tvms_eval_binary(reader, (tvms_surf_op)stmt->op, before, more, stmt->a);
  }
  forget(reader, stmt->a);
  if (plain) bind_target(reader, stmt->a, value);
}

// True if the call never comes back: `pytest.skip(…)`.
static bool is_leaving(const tvms_reader *reader, const tvms_surf *call) {
  const tvms_surf *callee = tvms_reader_at(reader, call->a);
  if (callee->kind != TVMS_SURF_ATTRIBUTE) return false;
  const tvms_surf *object = tvms_reader_at(reader, callee->a);
  if (object->kind != TVMS_SURF_NAME) return false;
  const char *module = tvms_symbol_text(reader->context, object->a);
  const char *name = tvms_symbol_text(reader->context, callee->b);
  if (strcmp(module, "sys") == 0) return strcmp(name, "exit") == 0;
  if (strcmp(module, "pytest") != 0) return false;
  return strcmp(name, "skip") == 0 || strcmp(name, "xfail") == 0
         || strcmp(name, "fail") == 0;
}

// A method that is called for what it does may change its object: `shape.append(4)`.
static void follow_expression(tvms_reader *reader, tvms_ref ref, bool certain,
                              tvms_python_run *run) {
  const tvms_surf call = *tvms_reader_at(reader, ref);
  if (tvms_surface_is_string(reader->surface, ref)) return;
  if (run->pure) {
    run->ended = run->lost = true;
    return;
  }
  if (call.kind != TVMS_SURF_CALL) return;
  if (is_leaving(reader, &call)) {
    run->ended = certain && !run->every;
    return;
  }
  const tvms_surf callee = *tvms_reader_at(reader, call.a);
  if (callee.kind == TVMS_SURF_ATTRIBUTE
      && tvms_reader_at(reader, callee.a)->kind == TVMS_SURF_NAME) {
    const tvms_binding *bound =
        tvms_scope_lookup(reader, tvms_reader_at(reader, callee.a)->a);
    bool changes =
        bound
        && (bound->value.kind == TVMS_EVAL_LIST || bound->value.kind == TVMS_EVAL_DICT
            || bound->value.kind == TVMS_EVAL_SET);
    if (changes) forget(reader, callee.a);
  }
}

static void follow_if(tvms_reader *reader, tvms_ref ref, bool certain,
                      tvms_python_run *run) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  bool known;
  bool truth = truth_of(reader, stmt.a, run, &known);
  if (known) {
    tvms_python_body_follow(reader, truth ? stmt.b : stmt.c, certain, run);
    return;
  }
  tvms_python_body_follow(reader, stmt.b, false, run);
  tvms_python_body_follow(reader, stmt.c, false, run);
}

// A loop over more items is not followed item by item, and none once so many statements
// of the file were followed.
enum { MOST_ITEMS = 16, MOST_FOLLOWED = 200000 };

// True if a statement of the body may end an iteration of the loop.
static bool may_leave(const tvms_reader *reader, tvms_ref body) {
  tvms_surface_each(reader->surface, ref, body) {
    tvms_surf_kind kind = (tvms_surf_kind)tvms_reader_at(reader, ref)->kind;
    if (kind == TVMS_SURF_BREAK || kind == TVMS_SURF_CONTINUE) return true;
    if (kind == TVMS_SURF_DEF || kind == TVMS_SURF_CLASS || kind == TVMS_SURF_FOR
        || kind == TVMS_SURF_WHILE)
      continue;
    tvms_ref bodies[2];
    tvms_surface_bodies(reader->surface, ref, bodies);
    if (may_leave(reader, bodies[0]) || may_leave(reader, bodies[1])) return true;
  }
  return false;
}

static bool few_items(tvms_reader *reader, const tvms_surf *stmt,
                      const tvms_python_run *run, tvms_eval_items *items) {
  tvms_ref suites = stmt->c;
  uint64_t most = MOST_FOLLOWED + (uint64_t)reader->surface->source->size;
  if (tvms_file_of(reader)->followed > most) return false;
  if (run->every || may_leave(reader, tvms_reader_at(reader, suites)->a)) return false;
  tvms_eval_value value = tvms_python_body_eval(reader, stmt->b);
  if (!tvms_eval_value_is_known(value)) return false;
  return tvms_eval_iterate(reader, value, stmt->b, items) && items->len <= MOST_ITEMS;
}

static void follow_for(tvms_reader *reader, tvms_ref ref, bool certain,
                       tvms_python_run *run) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  const tvms_surf suites = *tvms_reader_at(reader, stmt.c);
  tvms_eval_items items;
  if (certain && few_items(reader, &stmt, run, &items)) {
    for (uint32_t i = 0; i < items.len && !run->ended; i++) {
      bind_target(reader, stmt.a, items.items[i]);
      tvms_python_body_follow(reader, suites.a, true, run);
    }
    if (!run->ended) tvms_python_body_follow(reader, suites.b, true, run);
    return;
  }
  forget(reader, stmt.a);
  // What the body binds is unknown in it from the second time on.
  tvms_python_names_forget(reader, suites.a);
  tvms_python_body_follow(reader, suites.a, false, run);
  tvms_python_body_follow(reader, suites.b, false, run);
}

static void follow_with(tvms_reader *reader, tvms_ref ref, bool certain,
                        tvms_python_run *run) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  tvms_surface_each(reader->surface, item, stmt.a) {
    tvms_ref target = tvms_reader_at(reader, item)->b;
    if (target) forget(reader, target);
  }
  tvms_python_body_follow(reader, stmt.b, certain && !run->pure, run);
}

static void follow_return(tvms_reader *reader, const tvms_surf *stmt, bool certain,
                          tvms_python_run *run) {
  if (!certain) {
    run->lost = true;
    return;
  }
  if (run->every) return;
  run->ended = true;
  run->result = stmt->a ? tvms_python_body_eval(reader, stmt->a) : TVMS_NOTHING;
}

// Whether the statement is one of the file, or of a function that makes definitions: Python runs it
// to get them.
static bool leads_to_script(const tvms_reader *reader, const tvms_python_run *run) {
  const tvms_file_state *file = tvms_file_of(reader);
  return file->stage == TVMS_PYTHON_READS && !file->nested && !run->pure
         && !run->handler && !reader->open;
}

// ---- Definitions ----------------------------------------------------------------------

// Attributes of the class that some statement of the file may change, whenever that is.
static void forget_assigned(tvms_reader *reader) {
  tvms_binding *binding = reader->scopes.items[reader->scopes.len - 1].newest;
  for (; binding; binding = binding->next) {
    if (tvms_needed_names_is_assigned(tvms_file_of(reader)->needed, binding->name))
      binding->value = TVMS_UNKNOWN;
  }
}

static bool sets_attribute(const tvms_reader *reader, tvms_sym name) {
  return tvms_needed_names_is_assigned(tvms_file_of(reader)->needed, name);
}

// A class of Python: a scope in which TVMScript may stand.
static void follow_class(tvms_reader *reader, tvms_ref ref, tvms_python_run *run) {
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  const tvms_binding *bound = tvms_scope_lookup(reader, def.name);
  bool unbound = !bound || bound->span.begin == def.name_span.begin;
  tvms_scope_bind(reader, def.name, TVMS_UNKNOWN, def.name_span);
  if (run->pure) return;
  tvms_python_run inner = {.every = run->every};
  uint32_t before = reader->program->count;
  tvms_scope_push(reader);
  tvms_python_names_bind(reader, def.body);
  tvms_eval_value object = tvms_file_of(reader)->object;
  tvms_file_of(reader)->object = tvms_python_object_of(reader, def.body);
  tvms_python_body_follow(reader, def.body, true, &inner);
  tvms_file_of(reader)->object = object;
  if (unbound && leads_to_script(reader, run))
    tvms_python_check_bare_class(reader, &def, before);
  forget_assigned(reader);
  // Bases and decorators may make anything of the attributes, as Enum does.
  bool plain = !def.params && !def.decorators && !run->every;
  tvms_eval_value made =
      plain ? tvms_eval_class_make(reader, sets_attribute) : TVMS_UNKNOWN;
  tvms_scope_pop(reader);
  tvms_scope_bind(reader, def.name, made, def.name_span);
}

static void follow_function(tvms_reader *reader, tvms_ref ref, tvms_python_run *run) {
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  tvms_file_state *file = tvms_file_of(reader);
  if (leads_to_script(reader, run)) tvms_python_check_defaults(reader, def.params);
  tvms_scope_bind(reader, def.name, TVMS_UNKNOWN, def.name_span);
  tvms_scope_bind(reader, def.name, tvms_python_function_make(reader, ref),
                  def.name_span);
  if (run->pure) return;
  if (file->stage == TVMS_PYTHON_READS)
    tvms_python_function_read(reader, ref, run->every);
  else if (file->stage == TVMS_PYTHON_RUNS)
    tvms_python_function_run(reader, ref);
}

static void follow_definition(tvms_reader *reader, tvms_ref ref, tvms_python_run *run) {
  tvms_file_state *file = tvms_file_of(reader);
  const tvms_surf *stmt = tvms_reader_at(reader, ref);
  uint32_t number = tvms_spans_from(file->script, stmt->begin);
  bool script =
      number < file->script->len && file->script->items[number].begin == stmt->begin;
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  bool reads = file->stage == TVMS_PYTHON_READS && !run->pure;
  if (stmt->kind == TVMS_SURF_CLASS && leads_to_script(reader, run))
    tvms_python_check_list(reader, def.params);
  // A macro is read again, because its name is bound by that.
  bool read =
      script && run->every && file->made[number] && file->made[number] != UINT32_MAX;
  if (script && reads && !read)
    tvms_python_script_read(reader, ref, number);
  else if (script)
    tvms_scope_bind(reader, def.name, TVMS_UNKNOWN, def.name_span);
  else if (stmt->kind == TVMS_SURF_CLASS)
    follow_class(reader, ref, run);
  else
    follow_function(reader, ref, run);
}

// A statement that the grammar skips begins with the word.
static bool is_skipped(const tvms_reader *reader, const tvms_surf *stmt,
                       const char *word) {
  size_t len = strlen(word);
  return stmt->kind == TVMS_SURF_UNSUPPORTED && stmt->end - stmt->begin >= len
         && memcmp(reader->surface->source->text + stmt->begin, word, len) == 0;
}

static void follow_other(tvms_reader *reader, tvms_ref ref, bool certain,
                         tvms_python_run *run) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  bool harmless = stmt.kind == TVMS_SURF_PASS || stmt.kind == TVMS_SURF_ASSERT;
  if (run->pure && !harmless) {
    run->ended = run->lost = true;
    return;
  }
  if (is_skipped(reader, &stmt, "raise")) run->ended = certain && !run->every;
  bool handler = run->handler;
  run->handler = handler || is_skipped(reader, &stmt, "except");
  tvms_ref bodies[2];
  tvms_surface_bodies(reader->surface, ref, bodies);
  tvms_python_body_follow(reader, bodies[0], false, run);
  tvms_python_body_follow(reader, bodies[1], false, run);
  run->handler = handler;
}

// What Python refuses in a constant that TVMScript needs.
static void check_constant(tvms_reader *reader, tvms_ref targets, tvms_ref expr,
                           bool certain) {
  if (certain) tvms_python_check_named_call(reader, expr);
  if (tvms_needed_names_has_any(tvms_file_of(reader)->needed, reader->surface, targets))
    tvms_python_check(reader, expr);
}

static void follow_stmt(tvms_reader *reader, tvms_ref ref, bool certain,
                        tvms_python_run *run) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  tvms_file_of(reader)->followed++;
  gather_calls(reader, ref, leads_to_script(reader, run));
  switch ((int)stmt.kind) {
  case TVMS_SURF_DEF:
  case TVMS_SURF_CLASS: follow_definition(reader, ref, run); return;
  case TVMS_SURF_IMPORT:
  case TVMS_SURF_IMPORT_FROM:
    if (run->handler)
      tvms_python_read_import_anew(reader, ref);
    else
      tvms_python_read_import(reader, ref);
    return;
  case TVMS_SURF_ASSIGN:
    if (leads_to_script(reader, run)) check_constant(reader, stmt.a, stmt.b, certain);
    assign(reader, stmt.a, stmt.b, certain, run);
    return;
  case TVMS_SURF_ANN_ASSIGN:
    if (stmt.c && leads_to_script(reader, run))
      check_constant(reader, stmt.a, stmt.c, certain);
    if (stmt.c) assign(reader, stmt.a, stmt.c, certain, run);
    return;
  case TVMS_SURF_AUG_ASSIGN: add_to(reader, &stmt, certain); return;
  case TVMS_SURF_DELETE: forget_all(reader, stmt.a); return;
  case TVMS_SURF_EXPRESSION:
    if (certain && leads_to_script(reader, run))
      tvms_python_check_named_call(reader, stmt.a);
    follow_expression(reader, stmt.a, certain, run);
    return;
  case TVMS_SURF_RETURN:
    if (leads_to_script(reader, run)) tvms_python_check_return(reader, ref);
    follow_return(reader, &stmt, certain, run);
    return;
  case TVMS_SURF_IF: follow_if(reader, ref, certain, run); return;
  case TVMS_SURF_FOR: follow_for(reader, ref, certain, run); return;
  case TVMS_SURF_WITH: follow_with(reader, ref, certain, run); return;
  default: follow_other(reader, ref, certain, run); return;
  }
}

void tvms_python_body_follow(tvms_reader *reader, tvms_ref body, bool certain,
                             tvms_python_run *run) {
  tvms_memory *memory = &reader->context->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  for (tvms_ref ref = body; ref && !run->ended;) {
    follow_stmt(reader, ref, certain, run);
    ref = tvms_reader_at(reader, ref)->next;
  }
  tvms_memory_leave(memory);
}

// ---- The file -------------------------------------------------------------------------

void tvms_python_body_gather(tvms_reader *reader) {
  tvms_file_state *file = tvms_file_of(reader);
  bool makes = false;
  for (uint32_t i = 0; i < file->calls.functions.len; i++)
    makes = makes || file->calls.functions.items[i].makes;
  if (!makes) return;
  tvms_trial_mute(&reader->context->diags);
  tvms_scope_push(reader);
  for (int stage = TVMS_PYTHON_GATHERS; stage <= TVMS_PYTHON_RUNS; stage++) {
    file->stage = (tvms_python_stage)stage;
    tvms_python_run run = {0};
    tvms_python_body_follow(reader, reader->surface->body, true, &run);
  }
  file->stage = TVMS_PYTHON_READS;
  tvms_scope_pop(reader);
  tvms_trial_unmute(&reader->context->diags);
}

// True if something below the statement was not reached.
static bool has_unread(const tvms_reader *reader, tvms_ref ref) {
  const tvms_file_state *file = tvms_file_of(reader);
  tvms_span span = tvms_reader_span_of(reader, ref);
  uint32_t i = tvms_spans_from(file->script, span.begin);
  for (; i < file->script->len && file->script->items[i].begin < span.end; i++) {
    if (!file->made[i]) return true;
  }
  return false;
}

bool tvms_python_body_may_follow(const tvms_reader *reader, tvms_ref stmt) {
  const tvms_file_state *file = tvms_file_of(reader);
  const tvms_surf *node = tvms_reader_at(reader, stmt);
  uint32_t i = tvms_python_calls_from(&file->calls, reader->surface, node->begin);
  if (i == file->calls.calls.len) return false;
  if (node->kind == TVMS_SURF_ASSIGN || node->kind == TVMS_SURF_EXPRESSION) return true;
  return tvms_reader_at(reader, file->calls.calls.items[i])->begin < node->end;
}

void tvms_python_body_read_stmt(tvms_reader *reader, tvms_ref stmt) {
  tvms_memory *memory = &reader->context->memory;
  tvms_trial_mute(&reader->context->diags);
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  tvms_python_run run = {0};
  follow_stmt(reader, stmt, true, &run);
  if (has_unread(reader, stmt)) {
    tvms_python_run rest = {.every = true};
    follow_stmt(reader, stmt, true, &rest);
  }
  tvms_memory_leave(memory);
  tvms_trial_unmute(&reader->context->diags);
}
