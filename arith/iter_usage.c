#include "arith/iter_usage.h"

static void add_split(tvms_memory *memory, tvms_iter_usages *usages,
                      const tvms_iter_split *split) {
  uint32_t at = 0;
  while (at < usages->len && usages->items[at].mark != split->source)
    at++;
  if (at == usages->len) {
    tvms_iter_usage made = {.mark = split->source};
    tvms_vec_push(memory, usages, made);
    if (split->source->sum) tvms_iter_usages_add(memory, usages, split->source->sum);
  }
  tvms_vec_push(memory, &usages->items[at].splits, *split);
}

void tvms_iter_usages_add(tvms_memory *memory, tvms_iter_usages *usages,
                          const tvms_iter_sum *sum) {
  for (uint32_t i = 0; i < sum->len; i++)
    add_split(memory, usages, &sum->args[i]);
}

const tvms_iter_usage *TVMS_NULLABLE
tvms_iter_usages_find(const tvms_iter_usages *usages, const tvms_iter_mark *mark) {
  for (uint32_t i = 0; i < usages->len; i++)
    if (usages->items[i].mark == mark) return &usages->items[i];
  return NULL;
}

void tvms_iter_usages_fini(tvms_memory *memory, tvms_iter_usages *usages) {
  for (uint32_t i = 0; i < usages->len; i++)
    tvms_vec_fini(memory, &usages->items[i].splits);
  tvms_vec_fini(memory, usages);
}
