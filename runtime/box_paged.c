// The cache of attention with pages (runtime/paged.h) as an object.
//
// TVM: src/runtime/vm/paged_kv_cache.cc, kv_state.cc.
#include "runtime/box_state.h"
#include "runtime/kv_state.h"
#include "runtime/paged_arrays.h"
#include "runtime/paged_attention.h"
#include "runtime/paged_checkpoint.h"
#include "runtime/paged_create.h"
#include "runtime/paged_tree.h"

#include <string.h>

// ---- Creation ----

// What an argument has for a function, borrowed, and what it is.
static tvms_any function_of(const tvms_any *args, uint32_t i, uint8_t *kind) {
  int64_t count = 0;
  char whose[8];
  if (i == TVMS_MADE_MERGE_LATENT) {
    const tvms_any *merges = tvms_box_items(args[TVMS_MADE_MERGE], &count);
    *kind = merges && count > 1 ? TVMS_PAGED_FUNCTION : TVMS_PAGED_NO_FUNCTION;
    return *kind == TVMS_PAGED_FUNCTION ? merges[1] : (tvms_any){0};
  }
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
  for (uint32_t i = TVMS_MADE_APPEND; i < TVMS_MADE_KEPT; i++)
    function_of(a->args, i, &made.functions[i]);
  return made;
}

static uint32_t areas_of(tvms_paged_host *host, const void *made) {
  return tvms_paged_areas(host, made);
}

static void keep(tvms_box_args *a, tvms_any *made) {
  uint8_t kind;
  for (uint32_t i = TVMS_MADE_APPEND; i < TVMS_MADE_KEPT; i++)
    tvms_box_copy_of(a, function_of(a->args, i, &kind), &made[i]);
  if (is_tensor(a->args[TVMS_MADE_ROTARY_FACTORS]))
    tvms_box_copy_of(a, a->args[TVMS_MADE_ROTARY_FACTORS],
                     &made[TVMS_MADE_ROTARY_FACTORS]);
}

static void create(tvms_paged_host *host, const void *made) {
  tvms_paged_create(host, made);
}

int32_t tvms_box_paged_create(void *raise, const tvms_any *args, int32_t count,
                              tvms_any *result) {
  static const tvms_box_maker maker = {areas_of, keep, create};
  tvms_box_args a =
      tvms_box_open(raise, "vm.builtin.paged_attention_kv_cache_create", args, count);
  if (count != TVMS_MADE_ARGUMENTS && count != TVMS_MADE_ARGUMENTS + 1)
    return tvms_box_fail(&a, "ValueError",
                         "Invalid number of KV cache constructor args");
  tvms_paged_made made = made_of(&a);
  return a.failed ? -1 : tvms_box_state_make(&maker, &made, &a, result);
}

// ---- Windows ----

static void do_paged_set_window(tvms_paged_host *host, tvms_box_args *a,
                                tvms_any *result) {
  (void)result;
  tvms_paged p = tvms_kv_paged(host);
  tvms_paged_set_window(&p, tvms_box_state_number(host, a, 1),
                        tvms_box_state_number(host, a, 2),
                        tvms_box_state_number(host, a, 3));
}
TVMS_BOX_ACTION("attention_kv_cache_enable_sliding_window_for_seq", paged_set_window)

// ---- Trees of tokens ----

static void do_paged_commit(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  (void)result;
  tvms_paged p = tvms_kv_paged(host);
  tvms_paged_shape ids = tvms_box_state_shape(host, a, 1);
  tvms_paged_tree_commit(&p, ids, tvms_box_state_shape(host, a, 2));
}
TVMS_BOX_ACTION("attention_kv_cache_commit_accepted_token_tree_nodes", paged_commit)

// ---- Attention ----

static void do_attention_fused(tvms_paged_host *host, tvms_box_args *a,
                               tvms_any *result) {
  (void)result;
  tvms_paged p = tvms_kv_paged(host);
  tvms_paged_attend_fused(&p, tvms_box_state_number(host, a, 1),
                          tvms_box_state_real(host, a, 2));
}
TVMS_BOX_ACTION("attention_kv_cache_attention_with_fused_qkv", attention_fused)

static void do_attention_self(tvms_paged_host *host, tvms_box_args *a,
                              tvms_any *result) {
  (void)result;
  tvms_paged p = tvms_kv_paged(host);
  tvms_paged_attend_self(&p, tvms_box_state_number(host, a, 1),
                         tvms_box_state_real(host, a, 2));
}
TVMS_BOX_ACTION("attention_kv_cache_self_attention", attention_self)

static void do_attention_cross(tvms_paged_host *host, tvms_box_args *a,
                               tvms_any *result) {
  (void)result;
  tvms_paged p = tvms_kv_paged(host);
  tvms_paged_attend_cross(&p, tvms_box_state_number(host, a, 1),
                          tvms_box_state_real(host, a, 2));
}
TVMS_BOX_ACTION("attention_kv_cache_cross_attention", attention_cross)

static void do_attention_shared(tvms_paged_host *host, tvms_box_args *a,
                                tvms_any *result) {
  (void)result;
  tvms_paged p = tvms_kv_paged(host);
  tvms_paged_attend_shared(&p, tvms_box_state_number(host, a, 1),
                           tvms_box_state_real(host, a, 2));
}
TVMS_BOX_ACTION("attention_kv_cache_attention_with_shared_kv", attention_shared)

static void do_paged_append_latent(tvms_paged_host *host, tvms_box_args *a,
                                   tvms_any *result) {
  tvms_paged p = tvms_kv_paged(host);
  tvms_paged_append_latent(&p, tvms_box_state_number(host, a, 1));
  tvms_box_copy_of(a, a->args[0], result);
}
TVMS_BOX_ACTION("attention_kv_cache_append_mla_kv", paged_append_latent)

static void do_paged_merge(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  tvms_paged p = tvms_kv_paged(host);
  tvms_paged_merge(&p);
  tvms_box_state_give_tuple(host, a, 1, 2, result);
}
TVMS_BOX_ACTION("attention_kv_cache_merge_attn_output_inplace", paged_merge)

static void do_paged_debug_latent(tvms_paged_host *host, tvms_box_args *a,
                                  tvms_any *result) {
  (void)result;
  tvms_paged p = tvms_kv_paged(host);
  tvms_paged_debug_latent(&p, tvms_box_state_number(host, a, 1),
                          tvms_box_state_number(host, a, 2),
                          tvms_box_state_number(host, a, 3));
}
TVMS_BOX_ACTION("attention_kv_cache_debug_get_kv_mla", paged_debug_latent)

static void do_paged_debug(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  (void)result;
  tvms_paged p = tvms_kv_paged(host);
  tvms_paged_debug(&p, tvms_box_state_number(host, a, 1),
                   tvms_box_state_number(host, a, 2),
                   tvms_box_state_number(host, a, 3));
}
TVMS_BOX_ACTION("attention_kv_cache_debug_get_kv", paged_debug)

// ---- Questions ----

static void give_number(tvms_any *result, int32_t kind, int64_t value) {
  *result = (tvms_any){.type_index = kind, .v.i = value};
}

static void do_paged_empty(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  (void)a;
  tvms_paged p = tvms_kv_paged(host);
  give_number(result, TVMS_ANY_BOOL, p.head->sequences == 0);
}
TVMS_BOX_ACTION("attention_kv_cache_empty", paged_empty)

static void do_paged_available(tvms_paged_host *host, tvms_box_args *a,
                               tvms_any *result) {
  (void)a;
  tvms_paged p = tvms_kv_paged(host);
  give_number(result, TVMS_ANY_INT, p.head->free_pages);
}
TVMS_BOX_ACTION("attention_kv_cache_get_num_available_pages", paged_available)

static void do_paged_length(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  (void)a;
  tvms_paged p = tvms_kv_paged(host);
  give_number(result, TVMS_ANY_INT, tvms_paged_length(&p));
}
TVMS_BOX_ACTION("attention_kv_cache_get_total_sequence_length", paged_length)

static void do_paged_length_of(tvms_paged_host *host, tvms_box_args *a,
                               tvms_any *result) {
  tvms_paged p = tvms_kv_paged(host);
  int64_t id = tvms_box_state_number(host, a, 1);
  give_number(result, TVMS_ANY_INT, tvms_paged_length_of(&p, id));
}
TVMS_BOX_ACTION("attention_kv_cache_get_sequence_length", paged_length_of)

static void do_paged_positions(tvms_paged_host *host, tvms_box_args *a,
                               tvms_any *result) {
  static const tvms_dl_type type = {TVMS_DL_INT, 32, 1};
  tvms_paged p = tvms_kv_paged(host);
  tvms_paged_check_batch(&p);
  int64_t count = p.head->batch.tokens;
  const void *from = host->area(host, TVMS_PAGED_PLAN + TVMS_PLAN_QUERY_POSITIONS, 0);
  tvms_box_state_give(host, a, type, 1, &count, from, result);
}
TVMS_BOX_ACTION("attention_kv_cache_get_query_positions", paged_positions)

// ---- Checkpoints ----

static void give_text(tvms_box_args *a, const char *text, tvms_any *result) {
  tvms_any lent = {.type_index = TVMS_ANY_TEXT, .v.p = (void *)(uintptr_t)text};
  tvms_box_copy_of(a, lent, result);
}

static void do_paged_hash(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  tvms_paged p = tvms_kv_paged(host);
  char hash[TVMS_PAGED_HASH];
  tvms_paged_layout_hash(&p, hash);
  give_text(a, hash, result);
}
TVMS_BOX_ACTION("attention_kv_cache_get_layout_hash", paged_hash)

static void do_paged_checkpoint(tvms_paged_host *host, tvms_box_args *a,
                                tvms_any *result) {
  tvms_paged p = tvms_kv_paged(host);
  const char *text = tvms_paged_checkpoint(&p, tvms_box_state_number(host, a, 1));
  give_text(a, text, result);
}
TVMS_BOX_ACTION("attention_kv_cache_get_checkpoint_metadata", paged_checkpoint)

static void do_paged_export(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  (void)result;
  tvms_paged p = tvms_kv_paged(host);
  tvms_paged_export(&p, tvms_box_state_number(host, a, 1),
                    tvms_box_state_number(host, a, 2));
}
TVMS_BOX_ACTION("attention_kv_cache_export_page_group", paged_export)

static void do_paged_prepare(tvms_paged_host *host, tvms_box_args *a,
                             tvms_any *result) {
  (void)result;
  tvms_paged p = tvms_kv_paged(host);
  uint64_t len = 0;
  const char *text = a->count > 2 ? tvms_box_text_bytes(&a->args[2], &len) : NULL;
  if (!text) tvms_paged_refuse(&p, "a text is expected");
  tvms_paged_prepare(&p, tvms_box_state_number(host, a, 1), text, len);
}
TVMS_BOX_ACTION("attention_kv_cache_prepare_import", paged_prepare)

static void do_paged_import(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  (void)result;
  tvms_paged p = tvms_kv_paged(host);
  tvms_paged_import(&p, tvms_box_state_number(host, a, 1),
                    tvms_box_state_number(host, a, 2));
}
TVMS_BOX_ACTION("attention_kv_cache_import_page_group", paged_import)

static void do_paged_finish(tvms_paged_host *host, tvms_box_args *a, tvms_any *result) {
  (void)result;
  tvms_paged p = tvms_kv_paged(host);
  tvms_paged_finish(&p, tvms_box_state_number(host, a, 1));
}
TVMS_BOX_ACTION("attention_kv_cache_finish_import", paged_finish)

static void do_paged_transfer(tvms_paged_host *host, tvms_box_args *a,
                              tvms_any *result) {
  (void)a, (void)result;
  tvms_paged p = tvms_kv_paged(host);
  tvms_paged_refuse_transfer(&p);
}
TVMS_BOX_ACTION("kv_cache_disagg", paged_transfer)
