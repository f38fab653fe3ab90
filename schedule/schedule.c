#include "schedule/schedule.h"

#include "ir/clone.h"
#include "schedule/steps.h"

#include <stdlib.h>
#include <string.h>

// ---- The table ----

enum { INPUT, ATTR };

static const tvms_sched_param params[] = {
#define STEP(Kind, name, former, FormerKind, function)
#define PARAM(Kind, name, type, place, initial)                                        \
  {#name, TVMS_PARAM_##type, (place) == ATTR, initial},
#include "schedule/instructions.def"
};

// Indices of parameters: PARAM_Split_loop; and of a row's first one.
enum {
#define STEP(Kind, name, former, FormerKind, function)                                 \
  FIRST_##Kind, BEFORE_##Kind = FIRST_##Kind - 1,
#define PARAM(Kind, name, type, place, initial) PARAM_##Kind##_##name,
#include "schedule/instructions.def"
  PARAM_COUNT
};

static const tvms_sched_row rows[] = {
#define STEP(Kind, name, former, FormerKind, function)                                 \
  {#Kind, #name, former, FormerKind, tvms_step_##function, FIRST_##Kind},
#define PARAM(Kind, name, type, place, initial)
#include "schedule/instructions.def"
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

const tvms_sched_row *TVMS_NULLABLE tvms_schedule_row_at(uint32_t index) {
  return index < ROW_COUNT ? &rows[index] : NULL;
}

uint32_t tvms_schedule_param_count(const tvms_sched_row *row) {
  const tvms_sched_row *next = row + 1;
  uint32_t end = next < rows + ROW_COUNT ? next->first : PARAM_COUNT;
  return end - row->first;
}

const tvms_sched_param *tvms_schedule_param(const tvms_sched_row *row, uint32_t index) {
  return &params[row->first + index];
}

const tvms_sched_row *TVMS_NULLABLE tvms_schedule_find_row(const char *name) {
  for (uint32_t i = 0; i < ROW_COUNT; i++) {
    const tvms_sched_row *row = &rows[i];
    const char *const names[] = {row->name, row->kind, row->former, row->former_kind};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
      if (names[k][0] && strcmp(names[k], name) == 0) return row;
  }
  return NULL;
}

// ---- Functions ----

void tvms_schedule_init(tvms_schedule *schedule, tvms_module *module) {
  *schedule = (tvms_schedule){.context = module->context, .module = module};
  tvms_arena_init(&schedule->arena, &module->context->memory);
  uint32_t count = 0;
  bool has_main = false;
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    if (!member->function || member->function->kind != TVMS_NODE_PRIM_FUNC) continue;
    count++;
    bool main = strcmp(tvms_symbol_text(schedule->context, member->name), "main") == 0;
    if (main || !schedule->working_on) schedule->working_on = member->name;
    has_main = has_main || main;
  }
  if (count > 1 && !has_main) schedule->working_on = 0;
}

static void drop_function(tvms_schedule *schedule, tvms_sched *sched) {
  tvms_memory *memory = &schedule->context->memory;
  if (!sched) return;
  tvms_vec_fini(memory, &sched->sites);
  tvms_unit_fini(sched->unit);
  tvms_memory_free(memory, sched->unit);
  tvms_memory_free(memory, sched);
}

void tvms_schedule_fini(tvms_schedule *schedule) {
  tvms_memory *memory = &schedule->context->memory;
  for (uint32_t i = 0; i < schedule->functions.len; i++)
    drop_function(schedule, schedule->functions.items[i]);
  tvms_vec_fini(memory, &schedule->functions);
  tvms_vec_fini(memory, &schedule->done);
  tvms_arena_fini(&schedule->arena);
}

tvms_node *tvms_schedule_take(tvms_schedule *schedule, uint32_t index,
                              tvms_unit **unit) {
  tvms_sched *sched = schedule->functions.items[index];
  tvms_sched_fini(sched);
  tvms_node *function = sched->function;
  *unit = sched->unit;
  tvms_memory_free(&schedule->context->memory, sched);
  schedule->functions.items[index] = NULL;
  return function;
}

tvms_sched *TVMS_NULLABLE tvms_schedule_function(tvms_schedule *schedule,
                                                 tvms_sym name) {
  for (uint32_t i = 0; i < schedule->functions.len; i++)
    if (schedule->functions.items[i]->name == name) return schedule->functions.items[i];
  const tvms_member *member = tvms_module_find(schedule->module, name);
  if (!member || !member->function || member->function->kind != TVMS_NODE_PRIM_FUNC)
    return NULL;
  tvms_memory *memory = &schedule->context->memory;
  tvms_unit *unit = tvms_memory_alloc(memory, sizeof *unit);
  tvms_unit_init(unit, schedule->context, schedule->module->dialect);
  unit->module = schedule->module;
  tvms_sched *sched = tvms_memory_alloc(memory, sizeof *sched);
  tvms_sched_init(sched, unit, name, tvms_clone(unit, member->function, NULL));
  tvms_vec_push(memory, &schedule->functions, sched);
  return sched;
}

// ---- Doing a step ----

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
  case TVMS_PARAM_LOOPS: return are(value, A(LOOP)) ? NULL : "loops";
  case TVMS_PARAM_BLOCKS: return are(value, A(BLOCK)) ? NULL : "a list of blocks";
  case TVMS_PARAM_INT: return is & (A(INT) | A(BOOL)) ? NULL : "a number";
  case TVMS_PARAM_BOOL: return is & (A(INT) | A(BOOL)) ? NULL : "True or False";
  case TVMS_PARAM_TEXT: return is & A(TEXT) ? NULL : "a text";
  case TVMS_PARAM_INTS: return are(value, A(INT)) ? NULL : "a list of numbers";
  case TVMS_PARAM_FACTORS:
    return are(value, A(INT) | A(NONE)) ? NULL : "a list of numbers and None";
  case TVMS_PARAM_MAP:
    return is & (A(LAMBDA) | A(NONE)) ? NULL : "a function of indices";
  case TVMS_PARAM_BUFFER:
    return is & (A(LIST) | A(TEXT)) ? NULL : "(\"read\", n), (\"write\", n) or a name";
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
    const char *what = wanted(param->type, &full[i]);
    if (!what) continue;
    report_argument(schedule, none ? span : full[i].span, row, param, what);
    return NULL;
  }
  return full;
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
  if (value->kind == TVMS_VALUE_BLOCK || value->kind == TVMS_VALUE_LOOP)
    value->name = ++schedule->names;
  for (uint32_t i = 0; value->kind == TVMS_VALUE_LIST && i < value->len; i++)
    name_results(schedule, &value->items[i]);
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
  if (!row->run(&step)) return false;
  name_results(schedule, &step.result);
  tvms_done_step done = {row, full, count, step.result};
  tvms_vec_push(&schedule->context->memory, &schedule->done, done);
  *result = step.result;
  return true;
}

bool tvms_schedule_refuse_function(tvms_schedule *schedule, tvms_span span,
                                   const char *TVMS_NULLABLE name) {
  tvms_diags *diags = &schedule->context->diags;
  tvms_source *source = diags->source;
  if (schedule->script) diags->source = schedule->script;
  tvms_diag_report(diags, TVMS_D_schedule_function, span, name ? name : "main");
  diags->source = source;
  return false;
}

// ---- For the functions of steps ----

int32_t tvms_step_site(tvms_step *step, uint32_t index) {
  int32_t site = tvms_sched_find(step->sched, step->args[index].ref);
  if (site == TVMS_NO_SITE)
    (void)tvms_sched_refuse(
        step->sched, "the %s is gone: an earlier step has replaced it",
        step->args[index].kind == TVMS_VALUE_BLOCK ? "block" : "loop");
  return site;
}

bool tvms_step_sites(tvms_step *step, uint32_t index, int32_t *sites) {
  const tvms_sched_value *list = &step->args[index];
  for (uint32_t i = 0; i < list->len; i++) {
    sites[i] = tvms_sched_find(step->sched, list->items[i].ref);
    if (sites[i] == TVMS_NO_SITE)
      return tvms_sched_refuse(step->sched,
                               "item %u is gone: an earlier step has replaced it", i);
  }
  return true;
}

static tvms_sched_value reference(tvms_step *step, int32_t site) {
  return (tvms_sched_value){.kind = tvms_sched_is_loop(step->sched, site)
                                        ? TVMS_VALUE_LOOP
                                        : TVMS_VALUE_BLOCK,
                            .span = step->result.span,
                            .ref = tvms_sched_ref_of(step->sched, site)};
}

void tvms_step_give(tvms_step *step, int32_t site) {
  step->result = reference(step, site);
}

void tvms_step_give_list(tvms_step *step, const int32_t *sites, uint32_t count) {
  tvms_sched_value list = {.kind = TVMS_VALUE_LIST, .len = count};
  list.items = tvms_arena_array(&step->schedule->arena, tvms_sched_value, count + 1);
  for (uint32_t i = 0; i < count; i++)
    list.items[i] = reference(step, sites[i]);
  list.span = step->result.span;
  step->result = list;
}

tvms_node *TVMS_NULLABLE tvms_step_map(tvms_step *step, uint32_t index,
                                       const tvms_dtype *like, uint32_t count) {
  const tvms_sched_value *value = &step->args[index];
  return value->maker(value->self, step->sched->unit, like, count);
}
