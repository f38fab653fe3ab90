// Traces in JSON. JSON is read by the grammar of Python, in which it is one expression; true, false and null are names.
//
// A step is [kind, inputs, attributes, outputs]. Among the inputs a text is the name of a result, or a text in quotes of
// its own; parameters that take the rest of the arguments have all inputs that are left.
#include "schedule/json.h"

#include "schedule/graph.h"
#include "schedule/perform.h"
#include "support/diag_ids.h"

#include <string.h>

static void bind_constants(tvms_sched_reader *r) {
  const struct {
    const char *name;
    tvms_sched_value value;
  } constants[] = {
      {"true", {.kind = TVMS_VALUE_BOOL, .number = 1}},
      {"false", {.kind = TVMS_VALUE_BOOL}},
      {"null", {.kind = TVMS_VALUE_NONE}},
  };
  for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++)
    tvms_sched_reader_bind(
        r, tvms_symbol_intern(r->context, constants[i].name, strlen(constants[i].name)),
        constants[i].value);
}

static bool is_list(const tvms_sched_value *value, uint32_t least) {
  return value->kind == TVMS_VALUE_LIST && value->len >= least;
}

// Replaces names of results by what they stand for, and takes the quotes off texts.
static bool resolve(tvms_sched_reader *r, tvms_sched_value *value) {
  for (uint32_t i = 0; value->kind == TVMS_VALUE_LIST && i < value->len; i++)
    if (!resolve(r, &value->items[i])) return false;
  if (value->kind != TVMS_VALUE_TEXT) return true;
  size_t len = strlen(value->text);
  if (value->text[0] == '{') {
    *value = tvms_sched_graph(r, value->text, value->span);
    return true;
  }
  if (len >= 2 && value->text[0] == '"') {
    value->text = tvms_arena_text(&r->schedule->arena, value->text + 1, len - 2);
    return true;
  }
  if (strcmp(value->text, "None") == 0) {
    *value = (tvms_sched_value){.span = value->span};
    return true;
  }
  const tvms_sched_value *found =
      tvms_sched_reader_find(r, tvms_symbol_intern(r->context, value->text, len));
  if (!found) {
    tvms_diag_report(&r->context->diags, TVMS_D_schedule_syntax, value->span,
                     "the name of an earlier result");
    return false;
  }
  tvms_span span = value->span;
  *value = *found;
  value->span = span;
  return true;
}

// What is taken from the inputs and the attributes of a step, one after the other.
typedef struct {
  tvms_sched_value list;
  uint32_t at;
} supply;

static tvms_sched_value take(supply *from) {
  return from->at < from->list.len ? from->list.items[from->at++]
                                   : (tvms_sched_value){.kind = TVMS_VALUE_NONE};
}

static tvms_sched_value take_rest(tvms_sched_reader *r, supply *from) {
  tvms_sched_value rest = tvms_sched_reader_list(r, from->list.len);
  while (from->at < from->list.len)
    rest.items[rest.len++] = take(from);
  return rest;
}

// A buffer is two attributes: its index, and whether it is read or written.
static tvms_sched_value take_buffer(tvms_sched_reader *r, supply *from) {
  tvms_sched_value buffer = tvms_sched_reader_list(r, 2);
  tvms_sched_value index = take(from), type = take(from);
  buffer.items[buffer.len++] = (tvms_sched_value){
      .kind = TVMS_VALUE_TEXT, .text = type.number ? "write" : "read"};
  buffer.items[buffer.len++] = index;
  buffer.span = index.span;
  return buffer;
}

static tvms_sched_value take_param(tvms_sched_reader *r, const tvms_sched_param *param,
                                   supply *from) {
  switch ((int)param->type) {
  case TVMS_PARAM_LOOPS:
  case TVMS_PARAM_FACTORS: return take_rest(r, from);
  case TVMS_PARAM_BUFFER: return take_buffer(r, from);
  case TVMS_PARAM_PADDING:
  case TVMS_PARAM_RANGES:
  case TVMS_PARAM_MAP: {
    tvms_sched_value map = take(from);
    if (map.kind == TVMS_VALUE_TEXT) map = tvms_sched_graph(r, map.text, map.span);
    return map;
  }
  default: return take(from);
  }
}

static bool bind_outputs(tvms_sched_reader *r, const tvms_sched_value *names,
                         const tvms_sched_value *result) {
  bool many = result->kind == TVMS_VALUE_LIST;
  uint32_t count = many ? result->len : result->kind != TVMS_VALUE_NONE;
  for (uint32_t i = 0; i < names->len && i < count; i++) {
    const char *text = names->items[i].text;
    if (names->items[i].kind != TVMS_VALUE_TEXT) continue;
    tvms_sched_reader_bind(r, tvms_symbol_intern(r->context, text, strlen(text)),
                           many ? result->items[i] : *result);
  }
  return true;
}

// The decision that belongs to a step; NONE: there is none.
static tvms_sched_value decision_of(const tvms_sched_value *trace, uint32_t number) {
  const tvms_sched_value *list = trace->len > 1 ? &trace->items[1] : NULL;
  for (uint32_t i = 0; list && list->kind == TVMS_VALUE_LIST && i < list->len; i++) {
    const tvms_sched_value *pair = &list->items[i];
    if (is_list(pair, 2) && pair->items[0].kind == TVMS_VALUE_INT
        && pair->items[0].number == number)
      return pair->items[1];
  }
  return (tvms_sched_value){.kind = TVMS_VALUE_NONE};
}

static bool run_step(tvms_sched_reader *r, const tvms_sched_value *trace,
                     uint32_t number) {
  tvms_sched_value *step = &trace->items[0].items[number];
  tvms_diags *diags = &r->context->diags;
  bool fits = is_list(step, 4) && step->items[0].kind == TVMS_VALUE_TEXT
              && is_list(&step->items[1], 0) && is_list(&step->items[2], 0)
              && is_list(&step->items[3], 0);
  if (!fits) {
    tvms_diag_report(diags, TVMS_D_schedule_syntax, step->span,
                     "[kind, inputs, attributes, outputs]");
    return false;
  }
  const tvms_sched_row *row = tvms_schedule_find_row(step->items[0].text);
  if (!row) {
    tvms_diag_report(diags, TVMS_D_schedule_step, step->items[0].span,
                     step->items[0].text);
    return false;
  }
  if (!resolve(r, &step->items[1])) return false;
  supply inputs = {.list = step->items[1]}, attrs = {.list = step->items[2]};
  uint32_t count = tvms_schedule_param_count(row);
  tvms_sched_value *args =
      tvms_arena_array(&r->schedule->arena, tvms_sched_value, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    const tvms_sched_param *param = tvms_schedule_param(row, i);
    args[i] =
        param->place == TVMS_PLACE_DECISION
            ? decision_of(trace, number)
            : take_param(r, param, param->place == TVMS_PLACE_ATTR ? &attrs : &inputs);
  }
  tvms_sched_value result;
  return tvms_schedule_perform(r->schedule, row, args, step->span, &result)
         && bind_outputs(r, &step->items[3], &result);
}

bool tvms_sched_json_run(tvms_sched_reader *r, tvms_ref list) {
  tvms_sched_value trace;
  bind_constants(r);
  if (!tvms_sched_reader_value(r, list, &trace)) return false;
  if (!is_list(&trace, 1) || !is_list(&trace.items[0], 0))
    return tvms_sched_reader_expected(r, list,
                                      "a list of steps and a list of decisions");
  for (uint32_t i = 0; i < trace.items[0].len; i++)
    if (!run_step(r, &trace, i)) return false;
  return true;
}
