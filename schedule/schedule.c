#include "schedule/schedule.h"

#include "ir/clone.h"
#include "schedule/flags.h"
#include "support/diag_ids.h"

#include <string.h>

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
  tvms_vec_fini(memory, &sched->flags);
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
  if (schedule->script) tvms_sched_flags_keep(sched);
  tvms_vec_push(memory, &schedule->functions, sched);
  return sched;
}

bool tvms_schedule_refuse_function(tvms_schedule *schedule, tvms_span span,
                                   const char *TVMS_NULLABLE name) {
  tvms_diags *diags = &schedule->context->diags;
  tvms_source *source = diags->source;
  if (schedule->script) diags->source = schedule->script;
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_schedule_function, span, name ? name : "main");
  if (!name)
    tvms_diag_remark(diags, diag,
                     "a second argument, or sch.work_on(\"...\"), names another one");
  diags->source = source;
  return false;
}

// ---- For the functions of steps ----

int32_t tvms_step_site(tvms_step *step, uint32_t index) {
  int32_t site = tvms_sched_find(step->sched, step->args[index].ref);
  const char *what = step->args[index].kind == TVMS_VALUE_BLOCK ? "block" : "loop";
  if (site == TVMS_NO_SITE
      && !tvms_sched_refuse(step->sched,
                            "the %s is gone: an earlier step has replaced it", what))
    return TVMS_NO_SITE;
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
  tvms_sched_value *value = &step->args[index];
  value->map = value->maker(value->self, step->sched->unit, like, count);
  return value->map;
}
