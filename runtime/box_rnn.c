// The state of recurrent layers (runtime/rnn.h) as an object.
//
// TVM: src/runtime/vm/rnn_state.cc, kv_state.cc.
#include "runtime/box_state.h"
#include "runtime/kv_state.h"
#include "runtime/rnn.h"

#include <string.h>

static const tvms_any *TVMS_NULLABLE tuple_at(tvms_box_args *a, int32_t i,
                                              int64_t *count) {
  const tvms_any *items = i < a->count ? tvms_box_items(a->args[i], count) : NULL;
  if (!items) tvms_box_refuse(a, "a tuple");
  return items;
}

static uint32_t areas_of(tvms_paged_host *host, const void *made) {
  return tvms_rnn_areas(host, made);
}

static void keep(tvms_box_args *a, tvms_any *made) {
  int64_t count = 0;
  for (int sets = 0; sets < 2; sets++) {
    const tvms_any *items = tuple_at(a, TVMS_RNN_MADE_GETS + sets, &count);
    for (int64_t i = 0; items && i < count; i++)
      tvms_box_copy_of(
          a, items[i],
          &made[sets ? tvms_rnn_set_function(i) : tvms_rnn_get_function(i)]);
  }
}

static void create(tvms_paged_host *host, const void *made) {
  tvms_rnn_create(host, made);
}

int32_t tvms_box_rnn_create(void *raise, const tvms_any *args, int32_t count,
                            tvms_any *result) {
  static const tvms_box_maker maker = {areas_of, keep, create};
  tvms_box_args a = tvms_box_open(raise, "vm.builtin.rnn_state_create", args, count);
  tvms_rnn_made made = {.layers = tvms_box_number(&a, 0),
                        .sequences = tvms_box_number(&a, 1),
                        .history = tvms_box_number(&a, 2)};
  tuple_at(&a, TVMS_RNN_MADE_GETS, &made.gets);
  tuple_at(&a, TVMS_RNN_MADE_SETS, &made.sets);
  const tvms_any *inits = tuple_at(&a, TVMS_RNN_MADE_INITS, &made.states);
  for (int64_t i = 0; inits && i < made.states && i < TVMS_RNN_STATES; i++) {
    tvms_box_args one = {
        .raise = a.raise, .name = a.name, .args = &inits[i], .count = 1};
    made.inits[i] = tvms_box_tensor_at(&one, 0);
    a.failed |= one.failed;
  }
  return a.failed ? -1 : tvms_box_state_make(&maker, &made, &a, result);
}

// Gets or sets a tensor of a layer.
static void use(tvms_paged_host *host, tvms_box_args *a, bool sets) {
  tvms_kv_check_rnn(host);
  tvms_rnn_use(host, tvms_box_state_number(host, a, 1),
               tvms_box_state_number(host, a, 2), sets);
}

static void do_rnn_get(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  (void)result;
  use(host, a, false);
}
TVMS_BOX_ACTION("rnn_state_get", rnn_get)

static void do_rnn_set(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  use(host, a, true);
  tvms_box_copy_of(a, a->args[0], result);
}
TVMS_BOX_ACTION("rnn_state_set", rnn_set)

static void do_rnn_debug(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  tvms_paged_argument like;
  tvms_kv_check_rnn(host);
  const void *from = tvms_rnn_look(host, tvms_box_state_number(host, a, 1),
                                   tvms_box_state_number(host, a, 2),
                                   tvms_box_state_number(host, a, 3), &like);
  tvms_box_state_give(host, a, like.type, like.ndim, like.shape, from, result);
}
TVMS_BOX_ACTION("rnn_state_debug_get", rnn_debug)
