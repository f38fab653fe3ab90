// The functions that a state was made with are objects that it keeps. What is refused leaves the call by longjmp: areas
// belong to the state, and nothing else is held on the way.
// TVM: src/runtime/vm/kv_state.cc.
#include "runtime/box_state.h"

#include "runtime/kv_state.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 16, MEMORY_ALIGN = 64 };

typedef struct {
  void *TVMS_NULLABLE data;
  uint64_t bytes;
} memory_area;

typedef struct {
  tvms_any_object head;
  uint64_t is_state;
  tvms_any made[TVMS_BOX_MADE];  // functions, and factors of rotary positions
  uint64_t count;
  memory_area areas[];
} state_object;

static const uint64_t is_state = UINT64_C(0x6563616350564b54);

// A state in a call.
typedef struct {
  tvms_paged_host host;  // first
  tvms_box_args *a;
  // Set after setjmp, and read behind longjmp.
  state_object *TVMS_NULLABLE volatile state;
  jmp_buf left;
} owner;

// ---- What a state asks for ----

static TVMS_NORETURN void leave(tvms_paged_host *host) {
  longjmp(((owner *)host)->left, 1);
}

static void refuse(tvms_paged_host *host, const char *text) {
  tvms_box_fail(((owner *)host)->a, "ValueError", text);
  leave(host);
}

static void *area(tvms_paged_host *host, uint32_t which, uint64_t bytes) {
  owner *o = (owner *)host;
  memory_area *at = &o->state->areas[which];
  if (at->data && at->bytes >= bytes) return at->data;
  if (bytes < at->bytes * 2) bytes = at->bytes * 2;
  bool fits = bytes <= PTRDIFF_MAX / 2;
  bytes = (bytes + MEMORY_ALIGN) / MEMORY_ALIGN * MEMORY_ALIGN;
  void *made = fits ? aligned_alloc(MEMORY_ALIGN, bytes) : NULL;
  if (!made) {
    tvms_box_no_memory(o->a);
    leave(host);
  }
  if (at->data) memcpy(made, at->data, at->bytes);
  free(at->data);
  *at = (memory_area){made, bytes};
  return made;
}

static const tvms_dl_tensor *given(tvms_paged_host *host, uint32_t i) {
  const tvms_dl_tensor *tensor = tvms_box_tensor_at(((owner *)host)->a, (int32_t)i);
  if (!tensor) leave(host);
  return tensor;
}

// A value for an argument; a tensor is put into *tensor.
static tvms_any value_of(const owner *o, const tvms_paged_argument *a,
                         tvms_dl_tensor *tensor) {
  switch (a->kind) {
  case TVMS_PAGED_INT: return (tvms_any){.type_index = TVMS_ANY_INT, .v.i = a->i};
  case TVMS_PAGED_REAL: return (tvms_any){.type_index = TVMS_ANY_FLOAT, .v.f = a->f};
  case TVMS_PAGED_MADE: return o->state->made[a->at];
  case TVMS_PAGED_AREA:
  case TVMS_PAGED_GIVEN: break;
  }
  *tensor = (tvms_dl_tensor){.device = {TVMS_DL_CPU, 0},
                             .ndim = a->ndim,
                             .dtype = a->type,
                             .shape = (int64_t *)(uintptr_t)a->shape};
  tensor->data = a->kind == TVMS_PAGED_AREA
                     ? o->state->areas[a->at].data
                     : tvms_box_data(tvms_box_tensor_at(o->a, (int32_t)a->at));
  return (tvms_any){.type_index = TVMS_ANY_DL_TENSOR, .v.p = tensor};
}

static void call(tvms_paged_host *host, uint32_t which, const tvms_paged_argument *args,
                 uint32_t count) {
  const owner *o = (const owner *)host;
  tvms_any values[MOST_ARGUMENTS + 1] = {{0}}, result = {0};
  tvms_dl_tensor tensors[MOST_ARGUMENTS];
  values[0] = o->state->made[which];
  for (uint32_t i = 0; i < count; i++)
    values[i + 1] = value_of(o, &args[i], &tensors[i]);
  int32_t status =
      tvms_box_invoke_closure(o->a->raise, values, (int32_t)count + 1, &result);
  if (status) leave(host);
  tvms_box_drop(&result, 1);
}

static const tvms_paged_host functions = {area, refuse, call, given};

// ---- Arguments ----

int64_t tvms_box_state_number(tvms_paged_host *host, tvms_box_args *a, int32_t i) {
  int64_t value = tvms_box_number(a, i);
  if (a->failed) leave(host);
  return value;
}

double tvms_box_state_real(tvms_paged_host *host, tvms_box_args *a, int32_t i) {
  if (i < a->count && a->args[i].type_index == TVMS_ANY_FLOAT) return a->args[i].v.f;
  return (double)tvms_box_state_number(host, a, i);
}

tvms_paged_shape tvms_box_state_shape(tvms_paged_host *host, tvms_box_args *a,
                                      int32_t i) {
  tvms_paged_shape s = {0};
  s.sizes = tvms_box_sizes_at(a, i, &s.count);
  if (a->failed) leave(host);
  return s;
}

void tvms_box_state_give(tvms_paged_host *host, tvms_box_args *a, tvms_dl_type type,
                         int32_t ndim, const int64_t *sizes, const void *from,
                         tvms_any *result) {
  tvms_box_tensor *made = tvms_box_tensor_new(a, type, ndim, sizes, NULL, NULL);
  uint64_t bytes = 0;
  if (!made) leave(host);
  tvms_box_bytes(type, sizes, ndim, &bytes);
  if (bytes) memcpy(made->tensor.data, from, (size_t)bytes);
  tvms_box_give(result, TVMS_ANY_TENSOR, made);
}

void tvms_box_state_give_tuple(tvms_paged_host *host, tvms_box_args *a, int32_t first,
                               int32_t count, tvms_any *result) {
  if (tvms_box_make_tuple(a->raise, a->args + first, count, result)) leave(host);
}

// ---- Calls ----

int32_t tvms_box_state_act(tvms_box_action *run, tvms_box_args a, tvms_any *result) {
  state_object *state =
      a.count && a.args[0].type_index == TVMS_ANY_OBJECT ? a.args[0].v.p : NULL;
  if (!state || state->is_state != is_state)
    return tvms_box_refuse(&a, "a cache with pages or a state of recurrent layers");
  owner o = {.host = functions, .a = &a, .state = state};
  if (setjmp(o.left)) return -1;
  run(&o.host, &a, result);
  return 0;
}

static void delete_state(void *object, int flags) {
  state_object *state = object;
  if (flags & TVMS_BOX_LEAVES) {
    tvms_box_drop(state->made, TVMS_BOX_MADE);
    for (uint64_t i = 0; i < state->count; i++)
      free(state->areas[i].data);
  }
  if (flags & TVMS_BOX_FREES) free(object);
}

static state_object *TVMS_NULLABLE new_state(uint32_t areas) {
  size_t bytes = sizeof(state_object) + areas * sizeof(memory_area);
  state_object *state = tvms_box_object_new(bytes, TVMS_ANY_OBJECT, delete_state);
  if (!state) return NULL;
  memset((char *)state + sizeof state->head, 0, bytes - sizeof state->head);
  state->is_state = is_state;
  state->count = areas;
  return state;
}

int32_t tvms_box_state_make(const tvms_box_maker *maker, const void *what,
                            tvms_box_args *a, tvms_any *result) {
  owner o = {.host = functions, .a = a};
  if (setjmp(o.left)) {
    if (o.state) tvms_box_release(&o.state->head);
    return -1;
  }
  uint32_t areas = maker->areas(&o.host, what);
  o.state = new_state(areas);
  if (!o.state) return tvms_box_no_memory(a);
  maker->keep(a, o.state->made);
  if (a->failed) leave(&o.host);
  maker->create(&o.host, what);
  return tvms_box_give(result, TVMS_ANY_OBJECT, o.state);
}

// ---- Sequences ----

static void do_kv_clear(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  (void)a, (void)result;
  tvms_kv_clear(host);
}
TVMS_BOX_ACTION("kv_state_clear", kv_clear)

static void do_kv_add(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  (void)result;
  tvms_kv_add(host, tvms_box_state_number(host, a, 1));
}
TVMS_BOX_ACTION("kv_state_add_sequence", kv_add)

static void do_kv_remove(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  (void)result;
  tvms_kv_remove(host, tvms_box_state_number(host, a, 1));
}
TVMS_BOX_ACTION("kv_state_remove_sequence", kv_remove)

static void do_kv_fork(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  (void)result;
  int64_t position = a->count > 3 ? tvms_box_state_number(host, a, 3) : TVMS_PAGED_NONE;
  tvms_kv_fork(host, tvms_box_state_number(host, a, 1),
               tvms_box_state_number(host, a, 2), position);
}
TVMS_BOX_ACTION("kv_state_fork_sequence", kv_fork)

static void do_kv_popn(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  (void)result;
  tvms_kv_pop(host, tvms_box_state_number(host, a, 1),
              tvms_box_state_number(host, a, 2));
}
TVMS_BOX_ACTION("kv_state_popn", kv_popn)

// ---- Batches ----

static void do_kv_begin(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  (void)result;
  bool tree = a->count == 4 && a->args[3].type_index != TVMS_ANY_NONE;
  tvms_paged_shape parents =
      tree ? tvms_box_state_shape(host, a, 3) : (tvms_paged_shape){0};
  tvms_paged_shape ids = tvms_box_state_shape(host, a, 1);
  tvms_kv_begin(host, ids, tvms_box_state_shape(host, a, 2), tree ? &parents : NULL);
}
TVMS_BOX_ACTION("kv_state_begin_forward", kv_begin)

static void do_kv_end(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  (void)a, (void)result;
  tvms_kv_end(host);
}
TVMS_BOX_ACTION("kv_state_end_forward", kv_end)
