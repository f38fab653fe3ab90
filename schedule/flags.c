#include "schedule/flags.h"

#include "schedule/region.h"
#include "schedule/scope.h"

// ---- Finding out ----

static bool is_pipeline(tvms_sched *s, int32_t block) {
  tvms_site_vec all = {0};
  tvms_sched_children(s, block, &all);
  bool fine = !tvms_sched_has_write_after_read(s, block);
  for (uint32_t i = 0; fine && i < all.len; i++)
    fine = tvms_sched_flags_cover(s, all.items[i]);
  tvms_vec_fini(&s->context->memory, &all);
  return fine;
}

static void find_out(tvms_sched *s, int32_t block, bool top) {
  tvms_sched_flags *own = tvms_sched_flags_of(s, block);
  tvms_site_vec all = {0};
  tvms_sched_children(s, block, &all);
  for (uint32_t i = 0; i < all.len; i++) {
    find_out(s, all.items[i], false);
    own = tvms_sched_flags_of(s, all.items[i]);
    own->cover = tvms_sched_is_covered(s, all.items[i]);
  }
  tvms_vec_fini(&s->context->memory, &all);
  own = tvms_sched_flags_of(s, block);
  if (!top) own->affine = tvms_sched_is_affine(s, block, TVMS_NO_SITE);
  own->cover = true;
  own->pipeline = is_pipeline(s, block);
}

void tvms_sched_flags_keep(tvms_sched *sched) {
  sched->keeps_flags = true;
  for (uint32_t i = 0; i < sched->sites.len; i++) {
    int32_t site = (int32_t)i;
    if (tvms_sched_is_loop(sched, site)
        || tvms_sched_scope(sched, site) != TVMS_NO_SITE)
      continue;
    tvms_sched_flags_of(sched, site)->affine =
        !tvms_sched_block(sched, site)->iter_vars.len;
    find_out(sched, site, true);
  }
}

void tvms_sched_flags_renew(tvms_sched *sched, int32_t block) {
  if (sched->keeps_flags) find_out(sched, block, true);
}

// ---- Flags ----

tvms_sched_flags *TVMS_NULLABLE tvms_sched_flags_of(const tvms_sched *sched,
                                                    int32_t block) {
  if (!sched->keeps_flags) return NULL;
  tvms_sched *s = (tvms_sched *)(uintptr_t)sched;
  uint16_t number = tvms_sched_at(sched, block)->node->spare;
  tvms_vec_reach(&s->context->memory, &s->flags, number);
  return &s->flags.items[number];
}

void tvms_sched_flags_give(tvms_sched *sched, int32_t block) {
  tvms_sched_flags *own = tvms_sched_flags_of(sched, block);
  if (own)
    *own = (tvms_sched_flags){tvms_sched_is_affine(sched, block, TVMS_NO_SITE), true,
                              true};
}

void tvms_sched_flags_axes(tvms_sched *sched, int32_t block) {
  tvms_sched_flags *own = tvms_sched_flags_of(sched, block);
  if (own) own->affine = tvms_sched_is_affine(sched, block, TVMS_NO_SITE);
}

bool tvms_sched_flags_affine(const tvms_sched *sched, int32_t block) {
  const tvms_sched_flags *own = tvms_sched_flags_of(sched, block);
  return own ? own->affine : tvms_sched_is_affine(sched, block, TVMS_NO_SITE);
}

bool tvms_sched_flags_cover(tvms_sched *sched, int32_t block) {
  const tvms_sched_flags *own = tvms_sched_flags_of(sched, block);
  return own ? own->cover : tvms_sched_is_covered(sched, block);
}

bool tvms_sched_flags_pipeline(tvms_sched *sched, int32_t block) {
  const tvms_sched_flags *own = tvms_sched_flags_of(sched, block);
  return own ? own->pipeline : !tvms_sched_has_write_after_read(sched, block);
}
