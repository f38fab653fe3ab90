// Finding blocks and loops: get_sblock (get_block), get_loops, get_child_blocks, get_producers, get_consumers,
// get_output_blocks. TVM: src/s_tir/schedule/primitive/get_block_loop.cc.
#include "schedule/scope.h"
#include "schedule/steps.h"

#include <string.h>

static tvms_memory *memory_of(const tvms_step *step) {
  return &step->schedule->context->memory;
}

// The function that a name means, or the one that is being worked on.
static bool find_function(tvms_step *step, const tvms_sched_value *name) {
  tvms_schedule *schedule = step->schedule;
  bool named = name->kind == TVMS_VALUE_TEXT;
  if (!named && step->sched) return true;
  tvms_sched *found = NULL;
  if (named) {
    tvms_sym sym =
        tvms_symbol_intern(schedule->context, name->text, strlen(name->text));
    found = tvms_schedule_function(schedule, sym);
  }
  if (!found)
    return tvms_schedule_refuse_function(schedule, step->result.span,
                                         named ? name->text : NULL);
  found->step = "get_sblock";
  found->span = step->result.span;
  found->script = schedule->script;
  step->sched = found;
  return true;
}

// No block has the name: these are the names that blocks have.
static bool refuse_name(tvms_sched *s, const char *name) {
  enum { MOST = 8 };
  tvms_strbuf text;
  tvms_strbuf_init(&text, &s->context->memory);
  uint32_t named = 0;
  for (uint32_t i = 0; i < s->sites.len && named <= MOST; i++) {
    if (tvms_sched_is_loop(s, (int32_t)i)) continue;
    const char *known = tvms_sched_block_name(s, (int32_t)i);
    if (named++ < MOST) tvms_sched_quote(&text, known);
  }
  (void)!tvms_sched_refuse(s, "no block has the name '%s'; there %s %s%s", name,
                           named == 1 ? "is" : "are", text.text,
                           named > MOST ? " and others" : "");
  tvms_strbuf_fini(&text);
  return false;
}

bool tvms_step_get_block(tvms_step *step) {
  if (!find_function(step, &step->args[TVMS_ARG(GetSBlock, func_name)])) return false;
  const char *name = step->args[TVMS_ARG(GetSBlock, name)].text;
  tvms_sched *s = step->sched;
  int32_t found = TVMS_NO_SITE;
  uint32_t count = 0;
  for (uint32_t i = 0; i < s->sites.len; i++) {
    if (tvms_sched_is_loop(s, (int32_t)i)) continue;
    if (!tvms_bytes_is(tvms_sched_block(s, (int32_t)i)->name, name)) continue;
    found = (int32_t)i;
    count++;
  }
  if (!count) return refuse_name(s, name);
  if (count > 1)
    return tvms_sched_refuse(s, "%u blocks have the name '%s'", count, name);
  tvms_step_give(step, found);
  return true;
}

static bool give(tvms_step *step, tvms_site_vec *sites) {
  tvms_step_give_list(step, sites->items, sites->len);
  tvms_vec_fini(memory_of(step), sites);
  return true;
}

bool tvms_step_get_loops(tvms_step *step) {
  int32_t block = tvms_step_site(step, TVMS_ARG(GetLoops, block));
  if (block == TVMS_NO_SITE) return false;
  tvms_site_vec loops = {0};
  tvms_sched_loops(step->sched, block, &loops);
  return give(step, &loops);
}

bool tvms_step_get_child_blocks(tvms_step *step) {
  int32_t site = tvms_step_site(step, TVMS_ARG(GetChildBlocks, block_or_loop));
  if (site == TVMS_NO_SITE) return false;
  tvms_site_vec blocks = {0};
  tvms_sched_children(step->sched, site, &blocks);
  return give(step, &blocks);
}

bool tvms_step_get_producers(tvms_step *step) {
  int32_t block = tvms_step_site(step, TVMS_ARG(GetProducers, block)), scope;
  if (block == TVMS_NO_SITE) return false;
  if (!tvms_sched_check_scope(step->sched, block, false, &scope)) return false;
  tvms_site_vec found = {0};
  tvms_sched_producers(step->sched, block, &found);
  return give(step, &found);
}

bool tvms_step_get_consumers(tvms_step *step) {
  int32_t block = tvms_step_site(step, TVMS_ARG(GetConsumers, block)), scope;
  if (block == TVMS_NO_SITE) return false;
  if (!tvms_sched_check_scope(step->sched, block, false, &scope)) return false;
  tvms_site_vec found = {0};
  tvms_sched_consumers(step->sched, block, &found);
  return give(step, &found);
}

bool tvms_step_get_output_blocks(tvms_step *step) {
  int32_t scope = tvms_step_site(step, TVMS_ARG(GetOutputBlocks, scope_block));
  if (scope == TVMS_NO_SITE) return false;
  tvms_sched *s = step->sched;
  tvms_site_vec found = {0};
  for (uint32_t i = (uint32_t)scope + 1; i < tvms_sched_at(s, scope)->end; i++)
    if (!tvms_sched_is_loop(s, (int32_t)i) && tvms_sched_is_output(s, (int32_t)i))
      tvms_vec_push(memory_of(step), &found, (int32_t)i);
  return give(step, &found);
}

bool tvms_step_enter_postproc(tvms_step *step) {
  (void)step;
  return true;
}
