// Arrays of a batch, pages of layers, and the functions that they are arguments of.
#include "runtime/paged_arrays.h"

int32_t *tvms_paged_new_array(tvms_paged *p, uint32_t item, int32_t ndim,
                              const int64_t *shape) {
  tvms_paged_array *array = &p->head->batch.arrays[item];
  uint64_t bytes = sizeof(int32_t);
  array->ndim = ndim;
  for (int32_t i = 0; i < ndim; i++) {
    array->shape[i] = shape[i];
    bytes *= (uint64_t)shape[i];
  }
  return p->host->area(p->host, TVMS_PAGED_PLAN + item, bytes);
}

tvms_paged_argument tvms_paged_planned(const tvms_paged *p, uint32_t item) {
  const tvms_paged_array *array = &p->head->batch.arrays[item];
  return (tvms_paged_argument){.kind = TVMS_PAGED_AREA,
                               .at = TVMS_PAGED_PLAN + item,
                               .type = {TVMS_DL_INT, 32, 1},
                               .ndim = array->ndim,
                               .shape = {array->shape[0], array->shape[1]}};
}

void tvms_paged_check_batch(const tvms_paged *p) {
  if (!p->head->batch.runs)
    tvms_paged_refuse(p, "a cache with a batch in progress is expected");
}

uint8_t tvms_paged_kind_at(const tvms_paged *p, uint32_t layer) {
  const uint8_t *kinds = p->host->area(p->host, TVMS_PAGED_KINDS, p->head->layers);
  return kinds[layer];
}

tvms_paged_argument tvms_paged_pages_at(const tvms_paged *p, uint32_t layer) {
  const tvms_paged_head *head = p->head;
  if (tvms_paged_kind_at(p, layer) == TVMS_LAYER_LATENT)
    return (tvms_paged_argument){
        .kind = TVMS_PAGED_AREA,
        .at = TVMS_PAGED_PAGES + layer,
        .type = head->made.type,
        .ndim = 3,
        .shape = {head->total_pages, head->page_size, head->made.key_size}};
  return (tvms_paged_argument){.kind = TVMS_PAGED_AREA,
                               .at = TVMS_PAGED_PAGES + layer,
                               .type = head->made.type,
                               .ndim = 5,
                               .shape = {head->total_pages, 2, head->made.key_heads,
                                         head->page_size, head->made.key_size}};
}

void tvms_paged_run(const tvms_paged *p, uint32_t which,
                    const tvms_paged_argument *args, uint32_t count) {
  if (p->head->made.functions[which] == TVMS_PAGED_NO_FUNCTION)
    tvms_paged_refuse(p, "a cache with this kind of attention is expected");
  if (p->head->made.functions[which] != TVMS_PAGED_FUNCTION)
    tvms_paged_refuse(p,
                      "attention is expected to be a pair of \"tirx\" and a function");
  p->host->call(p->host, which, args, count);
}
