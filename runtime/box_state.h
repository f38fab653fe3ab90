// States that a model keeps between its calls, as objects: their areas are memory of their own.
#ifndef TVMS_RUNTIME_BOX_STATE_H
#define TVMS_RUNTIME_BOX_STATE_H

#include "runtime/box_object.h"
#include "runtime/paged.h"

// Most values that a state keeps: tvms_paged_host.call counts them.
enum { TVMS_BOX_MADE = TVMS_MADE_KEPT };

// What a function does with a state, which is its first argument.
typedef void tvms_box_action(tvms_paged_host *host, tvms_box_args *a, tvms_any *result);

// Does it; -1 after an error.
int32_t tvms_box_state_act(tvms_box_action *run, tvms_box_args a, tvms_any *result);

// The function of a row of runtime/boxes.def that does do_<function>.
#define TVMS_BOX_ACTION(name, function)                                                \
  int32_t tvms_box_##function(void *raise, const tvms_any *args, int32_t count,        \
                              tvms_any *result) {                                      \
    return tvms_box_state_act(                                                         \
        do_##function, tvms_box_open(raise, "vm.builtin." name, args, count), result); \
  }

// How a state is made of what `what` says.
typedef struct {
  uint32_t (*areas)(tvms_paged_host *host, const void *what);
  void (*keep)(tvms_box_args *a, tvms_any *made);  // copies what it keeps
  void (*create)(tvms_paged_host *host, const void *what);
} tvms_box_maker;

// Makes one; -1 after an error.
int32_t tvms_box_state_make(const tvms_box_maker *maker, const void *what,
                            tvms_box_args *a, tvms_any *result);

// An argument that is an integer; leaves the call if it is something else.
int64_t tvms_box_state_number(tvms_paged_host *host, tvms_box_args *a, int32_t i);

// An argument that is a number, as a real one; leaves the call if it is something else.
double tvms_box_state_real(tvms_paged_host *host, tvms_box_args *a, int32_t i);

// An argument that is a shape; leaves the call if it is something else.
tvms_paged_shape tvms_box_state_shape(tvms_paged_host *host, tvms_box_args *a,
                                      int32_t i);

// Makes *result a tuple of `count` arguments from `first` on.
void tvms_box_state_give_tuple(tvms_paged_host *host, tvms_box_args *a, int32_t first,
                               int32_t count, tvms_any *result);

// Makes *result a tensor with a copy of elements.
void tvms_box_state_give(tvms_paged_host *host, tvms_box_args *a, tvms_dl_type type,
                         int32_t ndim, const int64_t *sizes, const void *from,
                         tvms_any *result);

#endif
