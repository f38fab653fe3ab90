// The cache of attention with pages (runtime/paged.h) as an object: its areas are memory of its own.
//
// The functions that it was made with are objects that it keeps. What is refused leaves the call by longjmp: areas
// belong to the cache, and nothing else is held on the way.
// TVM: src/runtime/vm/paged_kv_cache.cc, kv_state.cc.
#include "runtime/box_object.h"
#include "runtime/paged_attention.h"
#include "runtime/paged_create.h"
#include "runtime/paged_plan.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 16, MEMORY_ALIGN = 64 };

typedef struct {
  void *TVMS_NULLABLE data;
  uint64_t bytes;
} memory_area;

typedef struct {
  tvms_any_object head;
  uint64_t is_cache;
  tvms_any made[TVMS_MADE_ARGUMENTS];  // functions, and factors of rotary positions
  uint64_t count;
  memory_area areas[];
} paged_object;

static const uint64_t is_cache = UINT64_C(0x6563616350564b54);

// A cache in a call.
typedef struct {
  tvms_paged_host host;  // first
  tvms_box_args *a;
  // Set after setjmp, and read behind longjmp.
  paged_object *TVMS_NULLABLE volatile cache;
  jmp_buf left;
} owner;

// ---- What the cache asks for ----

static TVMS_NORETURN void leave(tvms_paged_host *host) {
  longjmp(((owner *)host)->left, 1);
}

static void refuse(tvms_paged_host *host, const char *text) {
  tvms_box_fail(((owner *)host)->a, "ValueError", text);
  leave(host);
}

static void *area(tvms_paged_host *host, uint32_t which, uint64_t bytes) {
  owner *o = (owner *)host;
  memory_area *at = &o->cache->areas[which];
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
  case TVMS_PAGED_MADE: return o->cache->made[a->at];
  case TVMS_PAGED_AREA:
  case TVMS_PAGED_GIVEN: break;
  }
  *tensor = (tvms_dl_tensor){.device = {TVMS_DL_CPU, 0},
                             .ndim = a->ndim,
                             .dtype = a->type,
                             .shape = (int64_t *)(uintptr_t)a->shape};
  tensor->data = a->kind == TVMS_PAGED_AREA
                     ? o->cache->areas[a->at].data
                     : tvms_box_data(tvms_box_tensor_at(o->a, (int32_t)a->at));
  return (tvms_any){.type_index = TVMS_ANY_DL_TENSOR, .v.p = tensor};
}

static void call(tvms_paged_host *host, uint32_t which, const tvms_paged_argument *args,
                 uint32_t count) {
  const owner *o = (const owner *)host;
  tvms_any values[MOST_ARGUMENTS + 1] = {{0}}, result = {0};
  tvms_dl_tensor tensors[MOST_ARGUMENTS];
  void *raise;
  values[0] = o->cache->made[which];
  for (uint32_t i = 0; i < count; i++)
    values[i + 1] = value_of(o, &args[i], &tensors[i]);
  memcpy(&raise, &o->a->raise, sizeof raise);
  int32_t status = tvms_box_invoke_closure(raise, values, (int32_t)count + 1, &result);
  if (status) leave(host);
  tvms_box_drop(&result, 1);
}

static const tvms_paged_host functions = {area, refuse, call, given};

// ---- Calls with a cache ----

typedef void action(tvms_paged *p, tvms_box_args *a, tvms_any *result);

static int64_t number(const tvms_paged *p, tvms_box_args *a, int32_t i) {
  int64_t value = tvms_box_number(a, i);
  if (a->failed) leave(p->host);
  return value;
}

static double real(const tvms_paged *p, tvms_box_args *a, int32_t i) {
  if (i < a->count && a->args[i].type_index == TVMS_ANY_FLOAT) return a->args[i].v.f;
  return (double)number(p, a, i);
}

static tvms_paged_shape shape(const tvms_paged *p, tvms_box_args *a, int32_t i) {
  tvms_paged_shape s = {0};
  s.sizes = tvms_box_sizes_at(a, i, &s.count);
  if (a->failed) leave(p->host);
  return s;
}

// Runs an action with the cache that is the first argument.
static int32_t act(action *run, tvms_box_args a, tvms_any *result) {
  paged_object *cache =
      a.count && a.args[0].type_index == TVMS_ANY_OBJECT ? a.args[0].v.p : NULL;
  if (!cache || cache->is_cache != is_cache)
    return tvms_box_refuse(&a, "a cache with pages");
  owner o = {.host = functions, .a = &a, .cache = cache};
  if (setjmp(o.left)) return -1;
  tvms_paged p = tvms_paged_open(&o.host);
  run(&p, &a, result);
  return 0;
}

#define ACTION(name, function)                                                         \
  int32_t tvms_box_##function(void *raise, const tvms_any *args, int32_t count,        \
                              tvms_any *result) {                                      \
    return act(do_##function, tvms_box_open(raise, "vm.builtin." name, args, count),   \
               result);                                                                \
  }

// ---- Creation ----

static void delete_cache(void *object, int flags) {
  paged_object *cache = object;
  if (flags & TVMS_BOX_LEAVES) {
    tvms_box_drop(cache->made, TVMS_MADE_ARGUMENTS);
    for (uint64_t i = 0; i < cache->count; i++)
      free(cache->areas[i].data);
  }
  if (flags & TVMS_BOX_FREES) free(object);
}

// What an argument has for a function, borrowed, and what it is.
static tvms_any function_of(const tvms_any *args, uint32_t i, uint8_t *kind) {
  int64_t count = 0;
  char whose[8];
  const tvms_any *items = tvms_box_items(args[i], &count);
  bool none = items ? count == 0 : args[i].type_index == TVMS_ANY_NONE;
  *kind = none ? TVMS_PAGED_NO_FUNCTION : TVMS_PAGED_FUNCTION;
  if (none) return (tvms_any){0};
  if (!items) return args[i];
  if (i == TVMS_MADE_MERGE) return items[0];
  bool own =
      count == 2 && tvms_box_small_text(items[0], whose) && tvms_paged_is_own(whose);
  if (own) return items[1];
  *kind = TVMS_PAGED_OTHER_FUNCTION;
  return (tvms_any){0};
}

static int64_t number_at(tvms_box_args *a, uint32_t i) {
  return tvms_box_number(a, (int32_t)i);
}

static double real_at(tvms_box_args *a, uint32_t i) {
  return a->args[i].type_index == TVMS_ANY_FLOAT ? a->args[i].v.f
                                                 : (double)number_at(a, i);
}

static tvms_paged_shape shape_at(tvms_box_args *a, uint32_t i) {
  tvms_paged_shape s = {0};
  s.sizes = tvms_box_sizes_at(a, (int32_t)i, &s.count);
  return s;
}

static bool is_tensor(tvms_any value) {
  return value.type_index == TVMS_ANY_TENSOR || value.type_index == TVMS_ANY_DL_TENSOR;
}

static tvms_paged_made made_of(tvms_box_args *a) {
  tvms_paged_made made = {
      .sizes = shape_at(a, TVMS_MADE_SIZES),
      .layers = shape_at(a, TVMS_MADE_LAYERS),
      .kinds = shape_at(a, TVMS_MADE_KINDS),
      .query_heads = number_at(a, TVMS_MADE_QUERY_HEADS),
      .key_heads = number_at(a, TVMS_MADE_KEY_HEADS),
      .key_size = number_at(a, TVMS_MADE_KEY_SIZE),
      .value_size = number_at(a, TVMS_MADE_VALUE_SIZE),
      .rotary_mode = number_at(a, TVMS_MADE_ROTARY_MODE),
      .rotary_scale = real_at(a, TVMS_MADE_ROTARY_SCALE),
      .rotary_theta = real_at(a, TVMS_MADE_ROTARY_THETA),
      .rotary_factors = is_tensor(a->args[TVMS_MADE_ROTARY_FACTORS]),
      .transfers = number_at(a, TVMS_MADE_TRANSFERS) != 0,
  };
  const tvms_dl_tensor *type = tvms_box_tensor_at(a, TVMS_MADE_TYPE);
  if (type) made.type = type->dtype;
  for (uint32_t i = TVMS_MADE_APPEND; i < TVMS_MADE_ARGUMENTS; i++)
    function_of(a->args, i, &made.functions[i]);
  return made;
}

static paged_object *TVMS_NULLABLE new_cache(tvms_box_args *a, uint32_t areas) {
  uint8_t kind;
  size_t bytes = sizeof(paged_object) + areas * sizeof(memory_area);
  paged_object *cache = tvms_box_object_new(bytes, TVMS_ANY_OBJECT, delete_cache);
  if (!cache) return NULL;
  memset((char *)cache + sizeof cache->head, 0, bytes - sizeof cache->head);
  cache->is_cache = is_cache;
  cache->count = areas;
  for (uint32_t i = TVMS_MADE_APPEND; i < TVMS_MADE_ARGUMENTS; i++)
    tvms_box_copy_of(a, function_of(a->args, i, &kind), &cache->made[i]);
  if (is_tensor(a->args[TVMS_MADE_ROTARY_FACTORS]))
    tvms_box_copy_of(a, a->args[TVMS_MADE_ROTARY_FACTORS],
                     &cache->made[TVMS_MADE_ROTARY_FACTORS]);
  return cache;
}

int32_t tvms_box_paged_create(void *raise, const tvms_any *args, int32_t count,
                              tvms_any *result) {
  tvms_box_args a =
      tvms_box_open(raise, "vm.builtin.paged_attention_kv_cache_create", args, count);
  if (count != TVMS_MADE_ARGUMENTS && count != TVMS_MADE_ARGUMENTS + 1)
    return tvms_box_fail(&a, "ValueError",
                         "Invalid number of KV cache constructor args");
  tvms_paged_made made = made_of(&a);
  if (a.failed) return -1;
  owner o = {.host = functions, .a = &a};
  if (setjmp(o.left)) {
    if (o.cache) tvms_box_release(&o.cache->head);
    return -1;
  }
  uint32_t areas = tvms_paged_areas(&o.host, &made);
  o.cache = new_cache(&a, areas);
  if (!o.cache) return tvms_box_no_memory(&a);
  if (a.failed) leave(&o.host);
  tvms_paged_create(&o.host, &made);
  return tvms_box_give(result, TVMS_ANY_OBJECT, o.cache);
}

// ---- Sequences ----

static void do_paged_clear(tvms_paged *p, tvms_box_args *a, tvms_any *result) {
  (void)a, (void)result;
  tvms_paged_clear(p);
}
ACTION("kv_state_clear", paged_clear)

static void do_paged_add(tvms_paged *p, tvms_box_args *a, tvms_any *result) {
  (void)result;
  tvms_paged_add(p, number(p, a, 1));
}
ACTION("kv_state_add_sequence", paged_add)

static void do_paged_remove(tvms_paged *p, tvms_box_args *a, tvms_any *result) {
  (void)result;
  tvms_paged_remove(p, number(p, a, 1));
}
ACTION("kv_state_remove_sequence", paged_remove)

static void do_paged_fork(tvms_paged *p, tvms_box_args *a, tvms_any *result) {
  (void)result;
  int64_t position = a->count > 3 ? number(p, a, 3) : TVMS_PAGED_NONE;
  tvms_paged_fork(p, number(p, a, 1), number(p, a, 2), position);
}
ACTION("kv_state_fork_sequence", paged_fork)

static void do_paged_popn(tvms_paged *p, tvms_box_args *a, tvms_any *result) {
  (void)result;
  tvms_paged_pop(p, number(p, a, 1), number(p, a, 2));
}
ACTION("kv_state_popn", paged_popn)

static void do_paged_set_window(tvms_paged *p, tvms_box_args *a, tvms_any *result) {
  (void)result;
  tvms_paged_set_window(p, number(p, a, 1), number(p, a, 2), number(p, a, 3));
}
ACTION("attention_kv_cache_enable_sliding_window_for_seq", paged_set_window)

// ---- Batches ----

static void do_paged_begin(tvms_paged *p, tvms_box_args *a, tvms_any *result) {
  (void)result;
  if (a->count == 4 && a->args[3].type_index != TVMS_ANY_NONE)
    tvms_paged_refuse(p, "trees of tokens are not supported");
  tvms_paged_shape ids = shape(p, a, 1);
  tvms_paged_begin(p, ids, shape(p, a, 2));
}
ACTION("kv_state_begin_forward", paged_begin)

// Nothing is in progress on a CPU.
static void do_paged_end(tvms_paged *p, tvms_box_args *a, tvms_any *result) {
  (void)p, (void)a, (void)result;
}
ACTION("kv_state_end_forward", paged_end)

// ---- Attention ----

static void do_attention_fused(tvms_paged *p, tvms_box_args *a, tvms_any *result) {
  (void)result;
  tvms_paged_attend_fused(p, number(p, a, 1), real(p, a, 2));
}
ACTION("attention_kv_cache_attention_with_fused_qkv", attention_fused)

static void do_attention_self(tvms_paged *p, tvms_box_args *a, tvms_any *result) {
  (void)result;
  tvms_paged_attend_self(p, number(p, a, 1), real(p, a, 2));
}
ACTION("attention_kv_cache_self_attention", attention_self)

static void do_attention_cross(tvms_paged *p, tvms_box_args *a, tvms_any *result) {
  (void)result;
  tvms_paged_attend_cross(p, number(p, a, 1), real(p, a, 2));
}
ACTION("attention_kv_cache_cross_attention", attention_cross)

static void do_paged_debug(tvms_paged *p, tvms_box_args *a, tvms_any *result) {
  (void)result;
  tvms_paged_debug(p, number(p, a, 1), number(p, a, 2), number(p, a, 3));
}
ACTION("attention_kv_cache_debug_get_kv", paged_debug)

// ---- Questions ----

static void give_number(tvms_any *result, int32_t kind, int64_t value) {
  *result = (tvms_any){.type_index = kind, .v.i = value};
}

static void do_paged_empty(tvms_paged *p, tvms_box_args *a, tvms_any *result) {
  (void)a;
  give_number(result, TVMS_ANY_BOOL, p->head->sequences == 0);
}
ACTION("attention_kv_cache_empty", paged_empty)

static void do_paged_available(tvms_paged *p, tvms_box_args *a, tvms_any *result) {
  (void)a;
  give_number(result, TVMS_ANY_INT, p->head->free_pages);
}
ACTION("attention_kv_cache_get_num_available_pages", paged_available)

static void do_paged_length(tvms_paged *p, tvms_box_args *a, tvms_any *result) {
  (void)a;
  give_number(result, TVMS_ANY_INT, tvms_paged_length(p));
}
ACTION("attention_kv_cache_get_total_sequence_length", paged_length)

static void do_paged_positions(tvms_paged *p, tvms_box_args *a, tvms_any *result) {
  static const tvms_dl_type type = {TVMS_DL_INT, 32, 1};
  tvms_paged_check_batch(p);
  int64_t count = p->head->batch.tokens;
  tvms_box_tensor *made = tvms_box_tensor_new(a, type, 1, &count, NULL, NULL);
  if (!made) leave(p->host);
  const void *from = area(p->host, TVMS_PAGED_PLAN + TVMS_PLAN_QUERY_POSITIONS, 0);
  memcpy(made->tensor.data, from, (size_t)count * sizeof(int32_t));
  tvms_box_give(result, TVMS_ANY_TENSOR, made);
}
ACTION("attention_kv_cache_get_query_positions", paged_positions)
