// parallel, vectorize, unroll, bind: how a loop runs. TVM: src/s_tir/schedule/primitive/for_kind.cc.
#include "schedule/scope.h"
#include "schedule/steps.h"
#include "schedule/storage_scope.h"

#include <string.h>

// Is every axis that the loop drives spatial, or, bound to a thread of a block, reduced?
static bool check_axes(tvms_sched *s, int32_t site, bool thread) {
  const tvms_for *loop = tvms_sched_loop(s, site);
  for (uint32_t i = (uint32_t)site + 1; i < tvms_sched_at(s, site)->end; i++) {
    if (tvms_sched_is_loop(s, (int32_t)i)) continue;
    const tvms_block *block = tvms_sched_block(s, (int32_t)i);
    const tvms_block_realize *realize = tvms_sched_realize(s, (int32_t)i);
    for (uint32_t k = 0; k < block->iter_vars.len; k++) {
      uint32_t type = tvms_as_iter_var(block->iter_vars.items[k])->iter_type;
      bool allowed = type == TVMS_ITER_DATA_PAR
                     || (thread && type == TVMS_ITER_COMM_REDUCE)
                     || !tvms_sched_uses(s, realize->iter_values.items[k], loop->var);
      if (!allowed)
        return tvms_sched_refuse(
            s, "an axis of block '%s' that is not spatial follows the loop",
            tvms_sched_block_name(s, (int32_t)i));
    }
  }
  return true;
}

static bool set_kind(tvms_step *step, tvms_for_kind kind,
                     const char *TVMS_NULLABLE thread) {
  tvms_sched *s = step->sched;
  int32_t site = tvms_step_site(step, 0);
  if (site == TVMS_NO_SITE) return false;
  bool reduces = thread && strncmp(thread, "threadIdx.", 10) == 0;
  bool checked = kind == TVMS_FOR_UNROLLED
                 || (tvms_sched_check_compact(s, site) && check_axes(s, site, reduces));
  if (!checked) return false;
  tvms_node *old = tvms_sched_at(s, site)->node;
  tvms_for *loop = tvms_as_for(tvms_node_copy(s->unit, old));
  loop->for_kind = kind;
  loop->thread = NULL;
  if (thread) {
    tvms_iter_var *axis = tvms_node_make(s->unit, ITER_VAR, TVMS_NO_SPAN);
    axis->thread_tag = tvms_symbol_intern(s->context, thread, strlen(thread));
    axis->var = tvms_var_new(s->unit, axis->thread_tag, loop->var->dtype, TVMS_NO_SPAN);
    axis->iter_type = TVMS_ITER_THREAD_INDEX;
    loop->thread = &axis->head;
  }
  tvms_sched_replace_one(s, old, &loop->head);
  return true;
}

bool tvms_step_parallel(tvms_step *step) {
  return set_kind(step, TVMS_FOR_PARALLEL, NULL);
}

bool tvms_step_vectorize(tvms_step *step) {
  return set_kind(step, TVMS_FOR_VECTORIZED, NULL);
}

bool tvms_step_unroll(tvms_step *step) {
  return set_kind(step, TVMS_FOR_UNROLLED, NULL);
}

bool tvms_step_bind(tvms_step *step) {
  const char *thread = step->args[TVMS_ARG(Bind, thread_axis)].text;
  if (!tvms_storage_is_thread_axis(thread))
    return tvms_sched_refuse(step->sched, "'%s' is no axis of threads", thread);
  return set_kind(step, TVMS_FOR_THREAD_BINDING, thread);
}
