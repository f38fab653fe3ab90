// The cache of attention with pages (runtime/paged.h) as a state of the interpreter.
//
// TVM: src/runtime/vm/paged_kv_cache.cc, kv_state.cc.
#include "interp/builtin_state.h"
#include "runtime/kv_state.h"
#include "runtime/paged_arrays.h"
#include "runtime/paged_attention.h"
#include "runtime/paged_checkpoint.h"
#include "runtime/paged_create.h"
#include "runtime/paged_tree.h"

#include <stdio.h>
#include <string.h>

// ---- Creation ----

static void refuse_argument(const tvms_builtin *b, uint32_t i) {
  char *text = tvms_builtin_scratch(b, char, 80);
  snprintf(text, 80, "argument %u of a cache is not of the kind that it takes", i);
  tvms_interp_builtin_refuse(b, text);
}

static void check_kind(const tvms_builtin *b, uint32_t i) {
  static const uint8_t kinds[TVMS_MADE_ARGUMENTS] = {
      [TVMS_MADE_SIZES] = TVMS_VALUE_SHAPE,
      [TVMS_MADE_LAYERS] = TVMS_VALUE_SHAPE,
      [TVMS_MADE_QUERY_HEADS] = TVMS_VALUE_INT,
      [TVMS_MADE_KEY_HEADS] = TVMS_VALUE_INT,
      [TVMS_MADE_KEY_SIZE] = TVMS_VALUE_INT,
      [TVMS_MADE_VALUE_SIZE] = TVMS_VALUE_INT,
      [TVMS_MADE_KINDS] = TVMS_VALUE_SHAPE,
      [TVMS_MADE_ROTARY_MODE] = TVMS_VALUE_INT,
      [TVMS_MADE_TYPE] = TVMS_VALUE_TENSOR,
      [TVMS_MADE_PREFILL_RAGGED] = TVMS_VALUE_TUPLE,
      [TVMS_MADE_PREFILL] = TVMS_VALUE_TUPLE,
      [TVMS_MADE_DECODE] = TVMS_VALUE_TUPLE,
      [TVMS_MADE_PREFILL_SLIDING] = TVMS_VALUE_TUPLE,
      [TVMS_MADE_DECODE_SLIDING] = TVMS_VALUE_TUPLE,
      [TVMS_MADE_PREFILL_TREE_PAGED] = TVMS_VALUE_TUPLE,
      [TVMS_MADE_PREFILL_TREE] = TVMS_VALUE_TUPLE,
      [TVMS_MADE_PREFILL_LATENT] = TVMS_VALUE_TUPLE,
      [TVMS_MADE_MERGE] = TVMS_VALUE_TUPLE,
  };
  if (kinds[i] && b->args[i].kind != kinds[i]) refuse_argument(b, i);
}

static void check_arguments(const tvms_builtin *b) {
  if (b->count != TVMS_MADE_ARGUMENTS && b->count != TVMS_MADE_ARGUMENTS + 1) {
    char *text = tvms_builtin_scratch(b, char, 80);
    snprintf(text, 80, "Invalid number of KV cache constructor args: %u", b->count);
    tvms_interp_builtin_refuse(b, text);
  }
  for (uint32_t i = 0; i < TVMS_MADE_ARGUMENTS; i++)
    check_kind(b, i);
}

static uint8_t function_at(const tvms_builtin *b, uint32_t i) {
  if (i == TVMS_MADE_MERGE_LATENT)
    return b->args[TVMS_MADE_MERGE].tuple->len > 1 ? TVMS_PAGED_FUNCTION
                                                   : TVMS_PAGED_NO_FUNCTION;
  tvms_value value = b->args[i];
  if (value.kind == TVMS_VALUE_NONE) return TVMS_PAGED_NO_FUNCTION;
  if (value.kind != TVMS_VALUE_TUPLE) return TVMS_PAGED_FUNCTION;
  if (!value.tuple->len) return TVMS_PAGED_NO_FUNCTION;
  if (i == TVMS_MADE_MERGE) return TVMS_PAGED_FUNCTION;
  tvms_value whose = value.tuple->items[0];
  bool own = value.tuple->len == 2 && whose.kind == TVMS_VALUE_STR && whose.text
             && tvms_paged_is_own(whose.text);
  return own ? TVMS_PAGED_FUNCTION : TVMS_PAGED_OTHER_FUNCTION;
}

static tvms_paged_shape shape_at(const tvms_builtin *b, uint32_t i) {
  const tvms_tensor *shape = b->args[i].tensor;
  return (tvms_paged_shape){shape->shape, shape->view.ndim};
}

static tvms_paged_made made_of(const tvms_builtin *b) {
  uint8_t transfers = b->args[TVMS_MADE_TRANSFERS].kind;
  bool known = transfers == TVMS_VALUE_BOOL || transfers == TVMS_VALUE_INT;
  tvms_paged_made made = {
      .sizes = shape_at(b, TVMS_MADE_SIZES),
      .layers = shape_at(b, TVMS_MADE_LAYERS),
      .kinds = shape_at(b, TVMS_MADE_KINDS),
      .query_heads = b->args[TVMS_MADE_QUERY_HEADS].i,
      .key_heads = b->args[TVMS_MADE_KEY_HEADS].i,
      .key_size = b->args[TVMS_MADE_KEY_SIZE].i,
      .value_size = b->args[TVMS_MADE_VALUE_SIZE].i,
      .rotary_mode = b->args[TVMS_MADE_ROTARY_MODE].i,
      .rotary_scale = tvms_interp_builtin_real(b, TVMS_MADE_ROTARY_SCALE),
      .rotary_theta = tvms_interp_builtin_real(b, TVMS_MADE_ROTARY_THETA),
      .rotary_factors = b->args[TVMS_MADE_ROTARY_FACTORS].kind == TVMS_VALUE_TENSOR,
      .transfers = !known || b->args[TVMS_MADE_TRANSFERS].i,
      .type = b->args[TVMS_MADE_TYPE].tensor->view.dtype,
  };
  for (uint32_t i = TVMS_MADE_APPEND; i < TVMS_MADE_KEPT; i++)
    made.functions[i] = function_at(b, i);
  return made;
}

// An argument as it is kept: of a pair, or of a tuple of functions, the function.
static tvms_value value_at(const tvms_builtin *b, uint32_t i) {
  if (i == TVMS_MADE_MERGE_LATENT) {
    const tvms_items *merges = b->args[TVMS_MADE_MERGE].tuple;
    return merges->len > 1 ? merges->items[1] : (tvms_value){0};
  }
  tvms_value value = b->args[i];
  bool pair =
      i > TVMS_MADE_APPEND && value.kind == TVMS_VALUE_TUPLE && value.tuple->len;
  if (!pair) return value;
  return value.tuple->items[i == TVMS_MADE_MERGE ? 0 : value.tuple->len - 1];
}

tvms_value tvms_interp_builtin_paged_create(const tvms_builtin *b) {
  check_arguments(b);
  tvms_paged_made made = made_of(b);
  tvms_interp_state_owner o = tvms_interp_state_owner_of(b, NULL);
  uint32_t areas = tvms_paged_areas(&o.host, &made);
  o.state = tvms_interp_state_new(b, tvms_interp_state_paged, areas, TVMS_MADE_KEPT);
  tvms_items *args = o.state->items[TVMS_STATE_MADE].tuple;
  for (uint32_t i = 0; i < TVMS_MADE_KEPT; i++)
    args->items[i] = tvms_value_keep(value_at(b, i));
  tvms_paged_create(&o.host, &made);
  return (tvms_value){.kind = TVMS_VALUE_STATE, .tuple = o.state};
}

tvms_value tvms_interp_builtin_paged_set_window(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  tvms_paged_set_window(&p, tvms_interp_builtin_number(b, 1),
                        tvms_interp_builtin_number(b, 2),
                        tvms_interp_builtin_number(b, 3));
  return (tvms_value){0};
}

// ---- Trees of tokens ----

tvms_value tvms_interp_builtin_paged_commit(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  tvms_paged_tree_commit(&p, tvms_interp_state_shape(b, 1),
                         tvms_interp_state_shape(b, 2));
  return (tvms_value){0};
}

// ---- Attention ----

// Of layer argument 1, scaled by argument 2.
static tvms_value attend(const tvms_builtin *b,
                         void (*how)(tvms_paged *p, int64_t layer, double scale)) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  how(&p, tvms_interp_builtin_number(b, 1), tvms_interp_builtin_real(b, 2));
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_attention_fused(const tvms_builtin *b) {
  return attend(b, tvms_paged_attend_fused);
}

tvms_value tvms_interp_builtin_attention_self(const tvms_builtin *b) {
  return attend(b, tvms_paged_attend_self);
}

tvms_value tvms_interp_builtin_attention_cross(const tvms_builtin *b) {
  return attend(b, tvms_paged_attend_cross);
}

tvms_value tvms_interp_builtin_attention_shared(const tvms_builtin *b) {
  return attend(b, tvms_paged_attend_shared);
}

// The cache again.
tvms_value tvms_interp_builtin_paged_append_latent(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  tvms_paged_append_latent(&p, tvms_interp_builtin_number(b, 1));
  return tvms_value_keep(b->args[0]);
}

// A tuple of what was merged into.
tvms_value tvms_interp_builtin_paged_merge(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  tvms_paged_merge(&p);
  tvms_items *pair = tvms_tuple_new(b->frame->interp->heap, 2);
  for (uint32_t i = 0; i < 2; i++)
    pair->items[i] = tvms_value_keep(b->args[i + 1]);
  return (tvms_value){.kind = TVMS_VALUE_TUPLE, .tuple = pair};
}

// ---- Questions ----

tvms_value tvms_interp_builtin_paged_empty(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  return (tvms_value){.kind = TVMS_VALUE_BOOL, .i = p.head->sequences == 0};
}

tvms_value tvms_interp_builtin_paged_available(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  return (tvms_value){.kind = TVMS_VALUE_INT, .i = p.head->free_pages};
}

tvms_value tvms_interp_builtin_paged_length(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  return (tvms_value){.kind = TVMS_VALUE_INT, .i = tvms_paged_length(&p)};
}

tvms_value tvms_interp_builtin_paged_length_of(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  int64_t id = tvms_interp_builtin_number(b, 1);
  return (tvms_value){.kind = TVMS_VALUE_INT, .i = tvms_paged_length_of(&p, id)};
}

tvms_value tvms_interp_builtin_paged_positions(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  tvms_paged_check_batch(&p);
  static const tvms_dl_type type = {TVMS_DL_INT, 32, 1};
  int64_t count = p.head->batch.tokens;
  tvms_tensor *made = tvms_interp_builtin_new_tensor(b, type, 1, &count);
  memcpy(made->view.data,
         o.host.area(&o.host, TVMS_PAGED_PLAN + TVMS_PLAN_QUERY_POSITIONS, 0),
         (size_t)count * sizeof(int32_t));
  return tvms_value_of_tensor(made);
}

tvms_value tvms_interp_builtin_paged_debug(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  tvms_paged_debug(&p, tvms_interp_builtin_number(b, 1),
                   tvms_interp_builtin_number(b, 2), tvms_interp_builtin_number(b, 3));
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_paged_debug_latent(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  tvms_paged_debug_latent(&p, tvms_interp_builtin_number(b, 1),
                          tvms_interp_builtin_number(b, 2),
                          tvms_interp_builtin_number(b, 3));
  return (tvms_value){0};
}

// ---- Checkpoints ----

// A text that lives as long as the context; equal ones are one.
static tvms_value text_of(const tvms_builtin *b, const char *text) {
  tvms_context *context = b->frame->context;
  tvms_sym name = tvms_symbol_intern(context, text, strlen(text));
  return (tvms_value){.kind = TVMS_VALUE_STR, .text = tvms_symbol_text(context, name)};
}

tvms_value tvms_interp_builtin_paged_hash(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  char hash[TVMS_PAGED_HASH];
  tvms_paged_layout_hash(&p, hash);
  return text_of(b, hash);
}

tvms_value tvms_interp_builtin_paged_checkpoint(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  return text_of(b, tvms_paged_checkpoint(&p, tvms_interp_builtin_number(b, 1)));
}

tvms_value tvms_interp_builtin_paged_export(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  tvms_paged_export(&p, tvms_interp_builtin_number(b, 1),
                    tvms_interp_builtin_number(b, 2));
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_paged_prepare(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  tvms_value text = tvms_interp_builtin_at(b, 2);
  if (text.kind != TVMS_VALUE_STR || !text.text)
    tvms_interp_builtin_refuse(b, "a text is expected");
  tvms_paged_prepare(&p, tvms_interp_builtin_number(b, 1), text.text,
                     strlen(text.text));
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_paged_import(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  tvms_paged_import(&p, tvms_interp_builtin_number(b, 1),
                    tvms_interp_builtin_number(b, 2));
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_paged_finish(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  tvms_paged_finish(&p, tvms_interp_builtin_number(b, 1));
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_paged_transfer(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_paged p = tvms_kv_paged(&o.host);
  tvms_paged_refuse_transfer(&p);
}
