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

tvms_paged tvms_kv_paged(tvms_paged_host *host) {
  if (is_rnn(host)) host->refuse(host, "a cache with pages is expected");
  return tvms_paged_open(host);
}

void tvms_kv_check_rnn(tvms_paged_host *host) {
  if (!is_rnn(host)) host->refuse(host, "a state of recurrent layers is expected");
}

void tvms_kv_clear(tvms_paged_host *host) {
  if (is_rnn(host)) {
    tvms_rnn_clear(host);
    return;
  }
  tvms_paged p = tvms_paged_open(host);
  tvms_paged_clear(&p);
}

void tvms_kv_add(tvms_paged_host *host, int64_t id) {
  if (is_rnn(host)) {
    tvms_rnn_add(host, id);
    return;
  }
  tvms_paged p = tvms_paged_open(host);
  tvms_paged_add(&p, id);
}

void tvms_kv_remove(tvms_paged_host *host, int64_t id) {
  if (is_rnn(host)) {
    tvms_rnn_remove(host, id);
    return;
  }
  tvms_paged p = tvms_paged_open(host);
  tvms_paged_remove(&p, id);
}

void tvms_kv_fork(tvms_paged_host *host, int64_t parent, int64_t child,
                  int64_t position) {
  if (is_rnn(host)) {
    tvms_rnn_fork(host, parent, child);
    return;
  }
  tvms_paged p = tvms_paged_open(host);
  tvms_paged_fork(&p, parent, child, position);
}

void tvms_kv_pop(tvms_paged_host *host, int64_t id, int64_t count) {
  if (is_rnn(host)) {
    tvms_rnn_pop(host, id, count);
    return;
  }
  tvms_paged p = tvms_paged_open(host);
  tvms_paged_pop(&p, id, count);
}

void tvms_kv_begin(tvms_paged_host *host, tvms_paged_shape ids,
                   tvms_paged_shape lengths, const tvms_paged_shape *parents) {
  if (is_rnn(host)) {
    tvms_rnn_begin(host, ids, lengths, parents);
    return;
  }
  tvms_paged p = tvms_paged_open(host);
  tvms_paged_begin(&p, ids, lengths, parents);
}

// Nothing is in progress in a paged cache on a CPU.
void tvms_kv_end(tvms_paged_host *host) {
  if (is_rnn(host)) tvms_rnn_end(host);
}
