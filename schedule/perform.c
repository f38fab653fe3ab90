#include "schedule/perform.h"

#include "ir/verify.h"
#include "schedule/buffers.h"
#include "schedule/early.h"
#include "schedule/steps.h"
#include "support/diag_ids.h"

#include <stdlib.h>
#include <string.h>

static bool is_digits(const char *text) {
  return text[text[0] == '-'] >= '0' && text[text[0] == '-'] <= '9';
}

static tvms_sched_value initial_value(const char *text) {
  if (strcmp(text, "None") == 0) return (tvms_sched_value){.kind = TVMS_VALUE_NONE};
  if (strcmp(text, "True") == 0)
    return (tvms_sched_value){.kind = TVMS_VALUE_BOOL, .number = 1};
  if (strcmp(text, "False") == 0) return (tvms_sched_value){.kind = TVMS_VALUE_BOOL};
  if (is_digits(text))
    return (tvms_sched_value){.kind = TVMS_VALUE_INT, .number = atoll(text)};
  return (tvms_sched_value){.kind = TVMS_VALUE_TEXT, .text = text};
}

static bool are(const tvms_sched_value *list, uint32_t kinds) {
  if (list->kind != TVMS_VALUE_LIST) return false;
  for (uint32_t i = 0; i < list->len; i++)
    if (!(kinds & 1u << list->items[i].kind)) return false;
  return true;
}

static bool is_access(const tvms_sched_value *value) {
  return value->kind == TVMS_VALUE_TEXT
         && (strcmp(value->text, "read") == 0 || strcmp(value->text, "write") == 0);
}

// ("read", n) or ("write", n)?
static bool is_numbered_buffer(const tvms_sched_value *value) {
  return value->kind == TVMS_VALUE_LIST && value->len == 2
         && is_access(&value->items[0]) && value->items[1].kind == TVMS_VALUE_INT;
}

#define A(KIND) (1u << TVMS_VALUE_##KIND)

// What is wrong with the value of a parameter; NULL: it fits.
static const char *TVMS_NULLABLE wanted(tvms_param_type type,
                                        const tvms_sched_value *value) {
  uint32_t is = 1u << value->kind;
  switch (type) {
  case TVMS_PARAM_BLOCK: return is & A(BLOCK) ? NULL : "a block";
  case TVMS_PARAM_LOOP: return is & A(LOOP) ? NULL : "a loop";
  case TVMS_PARAM_ANY_REF:
    return is & (A(BLOCK) | A(LOOP)) ? NULL : "a block or a loop";
  case TVMS_PARAM_TARGET:
    return is & A(LOOP) || are(value, A(BLOCK)) ? NULL : "a loop or a list of blocks";
  case TVMS_PARAM_LOOPS: return are(value, A(LOOP)) ? NULL : "loops";
  case TVMS_PARAM_BLOCKS: return are(value, A(BLOCK)) ? NULL : "a list of blocks";
  case TVMS_PARAM_INT: return is & (A(INT) | A(BOOL)) ? NULL : "a number";
  case TVMS_PARAM_FLAG:
  case TVMS_PARAM_BOOL: return is & (A(INT) | A(BOOL)) ? NULL : "True or False";
  case TVMS_PARAM_INDEX:
    return is & (A(INT) | A(BOOL) | A(TEXT)) ? NULL : "a number or a name";
  case TVMS_PARAM_TEXT: return is & A(TEXT) ? NULL : "a text";
  case TVMS_PARAM_INTS: return are(value, A(INT)) ? NULL : "a list of numbers";
  case TVMS_PARAM_FACTORS:
    return are(value, A(INT) | A(NONE)) ? NULL : "a list of numbers and None";
  case TVMS_PARAM_MAP:
  case TVMS_PARAM_RANGES:
    return is & (A(LAMBDA) | A(NONE)) ? NULL : "a function of indices";
  case TVMS_PARAM_PADDING:
    return is & (A(LAMBDA) | A(NONE) | A(INT) | A(BOOL) | A(FLOAT))
               ? NULL
               : "a number or a function of indices";
  case TVMS_PARAM_BUFFER:
    return is & A(TEXT) || is_numbered_buffer(value)
               ? NULL
               : "(\"read\", n), (\"write\", n) or a name";
  case TVMS_PARAM_ACCESS: return is_access(value) ? NULL : "\"read\" or \"write\"";
  case TVMS_PARAM_VALUE:
  default: return NULL;
  }
}

static bool report_argument(tvms_schedule *schedule, tvms_span span,
                            const tvms_sched_row *row, const tvms_sched_param *param,
                            const char *what) {
  tvms_diags *diags = &schedule->context->diags;
  tvms_source *source = diags->source;
  if (schedule->script) diags->source = schedule->script;
  tvms_diag_report(diags, TVMS_D_schedule_argument, span, param->name, row->name, what);
  diags->source = source;
  return false;
}

// The function of the first reference among the values.
static tvms_sched *TVMS_NULLABLE function_of(const tvms_sched_value *values,
                                             uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (values[i].kind == TVMS_VALUE_BLOCK || values[i].kind == TVMS_VALUE_LOOP)
      return values[i].ref.sched;
    tvms_sched *below = values[i].kind == TVMS_VALUE_LIST
                            ? function_of(values[i].items, values[i].len)
                            : NULL;
    if (below) return below;
  }
  return NULL;
}

static void name_results(tvms_schedule *schedule, tvms_sched_value *value) {
  if (value->kind != TVMS_VALUE_LIST) value->name = ++schedule->names;
  for (uint32_t i = 0; value->kind == TVMS_VALUE_LIST && i < value->len; i++)
    name_results(schedule, &value->items[i]);
}

// A text in the place of a block is the name of one, which get_sblock finds.
static bool find_named(tvms_schedule *schedule, tvms_param_type type,
                       tvms_sched_value *value, tvms_span span) {
  bool many = type == TVMS_PARAM_BLOCKS || type == TVMS_PARAM_TARGET;
  if (many && value->kind == TVMS_VALUE_LIST) {
    for (uint32_t i = 0; i < value->len; i++)
      if (!find_named(schedule, TVMS_PARAM_BLOCK, &value->items[i], span)) return false;
  }
  if (type != TVMS_PARAM_BLOCK || value->kind != TVMS_VALUE_TEXT) return true;
  const tvms_sched_value args[] = {*value, {.kind = TVMS_VALUE_NONE}};
  return tvms_schedule_perform(schedule, tvms_schedule_find_row("get_sblock"), args,
                               span, value);
}

// Traces in JSON have numbers for some things that Python has words for.
static void use_words(tvms_param_type type, tvms_sched_value *value) {
  if (value->kind != TVMS_VALUE_INT || value->name) return;
  if (type == TVMS_PARAM_BOOL || type == TVMS_PARAM_FLAG) value->kind = TVMS_VALUE_BOOL;
  if (type != TVMS_PARAM_ACCESS) return;
  value->kind = TVMS_VALUE_TEXT;
  value->text = value->number ? "write" : "read";
}

// The values with initial ones filled in; NULL after a report.
static tvms_sched_value *TVMS_NULLABLE complete(tvms_schedule *schedule,
                                                const tvms_sched_row *row,
                                                const tvms_sched_value *args,
                                                tvms_span span) {
  uint32_t count = tvms_schedule_param_count(row);
  tvms_sched_value *full =
      tvms_arena_array(&schedule->arena, tvms_sched_value, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    const tvms_sched_param *param = tvms_schedule_param(row, i);
    full[i] = args[i];
    bool none = args[i].kind == TVMS_VALUE_NONE;
    if (none && param->initial[0]) {
      full[i] = initial_value(param->initial);
      full[i].span = span;
    }
    if (full[i].kind == TVMS_VALUE_NONE && strcmp(param->initial, "None") == 0)
      continue;
    use_words(param->type, &full[i]);
    if (!find_named(schedule, param->type, &full[i], span)) return NULL;
    const char *what = wanted(param->type, &full[i]);
    if (!what) continue;
    report_argument(schedule, none ? span : full[i].span, row, param,
                    none ? "given" : what);
    return NULL;
  }
  return full;
}

// What the function behind a step must not be; NULL: nothing. TVM does steps that use variables where they are not defined and
// that read buffers before they are written; views of memory elsewhere it refuses, too.
static const char *TVMS_NULLABLE what_is_wrong(tvms_sched *s, tvms_node *before) {
  if (tvms_verify(s->unit, s->function))
    return "a variable would be used where it is not defined";
  if (tvms_sched_early_reads(s, s->function) > tvms_sched_early_reads(s, before))
    return "a buffer would be read before something is written to it";
  return tvms_sched_view_elsewhere(s, s->function)
             ? "a buffer that a block matches would lie elsewhere than what it is a part of"
             : NULL;
}

// Does a step of a text, and takes it back if something is wrong behind it.
static bool run(const tvms_sched_row *row, tvms_step *step) {
  tvms_sched *s = step->sched;
  tvms_node *before = s ? s->function : NULL;
  uint32_t functions = step->schedule->functions.len;
  if (!row->run(step)) return false;
  s = step->sched;
  bool watched = s && s->keeps_flags && s->function != before
                 && step->schedule->functions.len == functions;
  if (!watched) return true;
  const char *wrong = what_is_wrong(s, before);
  if (!wrong) return true;
  tvms_sched_restore(s, before);
  return tvms_sched_refuse(s, "%s", wrong);
}

bool tvms_schedule_perform(tvms_schedule *schedule, const tvms_sched_row *row,
                           const tvms_sched_value *args, tvms_span span,
                           tvms_sched_value *result) {
  tvms_sched_value *full = complete(schedule, row, args, span);
  if (!full) return false;
  uint32_t count = tvms_schedule_param_count(row);
  tvms_step step = {
      .schedule = schedule, .args = full, .count = count, .result = {.span = span}};
  step.sched = function_of(full, count);
  if (!step.sched && schedule->working_on)
    step.sched = tvms_schedule_function(schedule, schedule->working_on);
  if (step.sched) {
    step.sched->step = row->name;
    step.sched->span = span;
    step.sched->script = schedule->script;
  }
  if (!run(row, &step)) return false;
  if (step.result.kind != TVMS_VALUE_NONE) name_results(schedule, &step.result);
  for (uint32_t i = 0; i < count; i++)
    if (full[i].kind == TVMS_VALUE_NONE
        && strcmp(tvms_schedule_param(row, i)->name, "func_name") == 0)
      full[i] = (tvms_sched_value){
          .kind = TVMS_VALUE_TEXT,
          .text = tvms_symbol_text(schedule->context, step.sched->name)};
  tvms_done_step done = {row, full, count, step.result};
  tvms_vec_push(&schedule->context->memory, &schedule->done, done);
  *result = step.result;
  return true;
}
