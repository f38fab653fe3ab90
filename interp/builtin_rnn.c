// The state of recurrent layers (runtime/rnn.h) as a state of the interpreter.
//
// TVM: src/runtime/vm/rnn_state.cc, kv_state.cc.
#include "interp/builtin_state.h"
#include "runtime/kv_state.h"
#include "runtime/rnn.h"

#include <string.h>

static const tvms_items *tuple_at(const tvms_builtin *b, uint32_t i) {
  return tvms_interp_builtin_items(b, i, TVMS_VALUE_TUPLE, "a tuple is expected");
}

static void keep_functions(tvms_items *made, const tvms_items *functions,
                           uint32_t first) {
  for (uint32_t i = 0; i < functions->len; i++)
    made->items[first + i] = tvms_value_keep(functions->items[i]);
}

tvms_value tvms_interp_builtin_rnn_create(const tvms_builtin *b) {
  const tvms_items *gets = tuple_at(b, TVMS_RNN_MADE_GETS),
                   *sets = tuple_at(b, TVMS_RNN_MADE_SETS),
                   *inits = tuple_at(b, TVMS_RNN_MADE_INITS);
  tvms_rnn_made made = {.layers = tvms_interp_builtin_number(b, 0),
                        .sequences = tvms_interp_builtin_number(b, 1),
                        .history = tvms_interp_builtin_number(b, 2),
                        .gets = gets->len,
                        .sets = sets->len,
                        .states = inits->len};
  for (uint32_t i = 0; i < inits->len && i < TVMS_RNN_STATES; i++) {
    if (inits->items[i].kind == TVMS_VALUE_TENSOR)
      made.inits[i] = &inits->items[i].tensor->view;
  }
  tvms_interp_state_owner o = tvms_interp_state_owner_of(b, NULL);
  uint32_t areas = tvms_rnn_areas(&o.host, &made);
  o.state = tvms_interp_state_new(b, tvms_interp_state_rnn, areas,
                                  tvms_rnn_set_function(TVMS_RNN_STATES));
  tvms_items *functions = o.state->items[TVMS_STATE_MADE].tuple;
  keep_functions(functions, gets, tvms_rnn_get_function(0));
  keep_functions(functions, sets, tvms_rnn_set_function(0));
  tvms_rnn_create(&o.host, &made);
  return (tvms_value){.kind = TVMS_VALUE_STATE, .tuple = o.state};
}

static tvms_interp_state_owner open(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_kv_check_rnn(&o.host);
  return o;
}

tvms_value tvms_interp_builtin_rnn_get(const tvms_builtin *b) {
  tvms_interp_state_owner o = open(b);
  tvms_rnn_use(&o.host, tvms_interp_builtin_number(b, 1),
               tvms_interp_builtin_number(b, 2), false);
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_rnn_set(const tvms_builtin *b) {
  tvms_interp_state_owner o = open(b);
  tvms_rnn_use(&o.host, tvms_interp_builtin_number(b, 1),
               tvms_interp_builtin_number(b, 2), true);
  return tvms_value_keep(b->args[0]);
}

tvms_value tvms_interp_builtin_rnn_debug(const tvms_builtin *b) {
  tvms_interp_state_owner o = open(b);
  tvms_paged_argument like;
  const void *from = tvms_rnn_look(&o.host, tvms_interp_builtin_number(b, 1),
                                   tvms_interp_builtin_number(b, 2),
                                   tvms_interp_builtin_number(b, 3), &like);
  tvms_tensor *made =
      tvms_interp_builtin_new_tensor(b, like.type, like.ndim, like.shape);
  if (made->bytes) memcpy(made->view.data, from, (size_t)made->bytes);
  return tvms_value_of_tensor(made);
}
