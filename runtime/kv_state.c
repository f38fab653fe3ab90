// What sequences have that a model keeps between its calls (runtime/kv_state.h).
#include "runtime/kv_state.h"

#include "runtime/paged_plan.h"
#include "runtime/rnn.h"

uint32_t tvms_kv_kind(tvms_paged_host *host) {
  return *(const uint32_t *)host->area(host, TVMS_PAGED_HEAD, sizeof(uint32_t));
}

static bool is_rnn(tvms_paged_host *host) {
  return tvms_kv_kind(host) == TVMS_STATE_RNN;
}

// Opens a state that is a cache with pages; false: it is one of recurrent layers.
static bool open_paged(tvms_paged_host *host, tvms_paged *p) {
  if (is_rnn(host)) return false;
  *p = tvms_paged_open(host);
  return true;
}

tvms_paged tvms_kv_paged(tvms_paged_host *host) {
  if (is_rnn(host)) host->refuse(host, "a cache with pages is expected");
  return tvms_paged_open(host);
}

void tvms_kv_check_rnn(tvms_paged_host *host) {
  if (!is_rnn(host)) host->refuse(host, "a state of recurrent layers is expected");
}

void tvms_kv_clear(tvms_paged_host *host) {
  tvms_paged p;
  if (open_paged(host, &p))
    tvms_paged_clear(&p);
  else
    tvms_rnn_clear(host);
}

void tvms_kv_add(tvms_paged_host *host, int64_t id) {
  tvms_paged p;
  if (open_paged(host, &p))
    tvms_paged_add(&p, id);
  else
    tvms_rnn_add(host, id);
}

void tvms_kv_remove(tvms_paged_host *host, int64_t id) {
  tvms_paged p;
  if (open_paged(host, &p))
    tvms_paged_remove(&p, id);
  else
    tvms_rnn_remove(host, id);
}

void tvms_kv_fork(tvms_paged_host *host, int64_t parent, int64_t child,
                  int64_t position) {
  tvms_paged p;
  if (open_paged(host, &p))
    tvms_paged_fork(&p, parent, child, position);
  else
    tvms_rnn_fork(host, parent, child);
}

void tvms_kv_pop(tvms_paged_host *host, int64_t id, int64_t count) {
  tvms_paged p;
  if (open_paged(host, &p))
    tvms_paged_pop(&p, id, count);
  else
    tvms_rnn_pop(host, id, count);
}

void tvms_kv_begin(tvms_paged_host *host, tvms_paged_shape ids,
                   tvms_paged_shape lengths, const tvms_paged_shape *parents) {
  tvms_paged p;
  if (open_paged(host, &p))
    tvms_paged_begin(&p, ids, lengths, parents);
  else
    tvms_rnn_begin(host, ids, lengths, parents);
}

// Nothing is in progress in a paged cache on a CPU.
void tvms_kv_end(tvms_paged_host *host) {
  if (is_rnn(host)) tvms_rnn_end(host);
}
