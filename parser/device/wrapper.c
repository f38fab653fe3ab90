// Calls of intrinsics of CUDA, PTX, NVSHMEM and NKI as programs write them: ir/device/wrappers.def
// says how their arguments become those of the operator.
#include "parser/device/wrapper.h"

#include "ir/fold_ops.h"
#include "ir/tir_op.h"
#include "parser/device/legacy.h"
#include "parser/device/wrapper_check.h"
#include "parser/eval/convert.h"
#include "parser/tir/call.h"
#include "parser/tir/convert.h"

#include <string.h>

static bool is_in(const tvms_wrapper *wrapper, tvms_dialect dialect) {
  return dialect >= wrapper->since && dialect <= wrapper->until;
}

// The first row whose path is not less than `path`.
static uint32_t first_from(const char *path, size_t len) {
  uint32_t low = 0, high = tvms_wrapper_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (strncmp(tvms_wrappers[middle].path, path, len) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const tvms_wrapper *tvms_wrapper_find(const tvms_reader *reader, const char *path,
                                      size_t len) {
  for (uint32_t i = first_from(path, len); i < tvms_wrapper_count; i++) {
    const tvms_wrapper *row = &tvms_wrappers[i];
    if (strncmp(row->path, path, len) != 0) break;
    if (!row->path[len] && is_in(row, reader->dialect)) return row;
  }
  return NULL;
}

bool tvms_wrapper_is_prefix(const tvms_reader *reader, const char *path, size_t len) {
  for (uint32_t i = first_from(path, len); i < tvms_wrapper_count; i++) {
    const tvms_wrapper *row = &tvms_wrappers[i];
    if (strncmp(row->path, path, len) != 0) break;
    if (row->path[len] == '.' && is_in(row, reader->dialect)) return true;
  }
  return false;
}

// ---- Items -----------------------------------------------------------------------------------

static bool is_given(const tvms_wrapper_work *w, int param) {
  return tvms_wrapper_arg(w, param).kind != TVMS_EVAL_NONE;
}

static bool is_text(const char *text, tvms_eval_value value) {
  return value.kind == TVMS_EVAL_STR && value.len == strlen(text)
         && memcmp(value.as.text, text, value.len) == 0;
}

static void put(tvms_wrapper_work *w, tvms_eval_value value) {
  tvms_vec_push(&w->reader->context->memory, &w->values, value);
}

static void put_text(tvms_wrapper_work *w, const char *text) {
  put(w, tvms_eval_value_text(text, (uint32_t)strlen(text)));
}

// Two float32 in one register are passed as the 64 bits that they are.
static tvms_eval_value as_bits(tvms_wrapper_work *w, tvms_eval_value value) {
  tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  bool pair = node && node->dtype.code == TVMS_FLOAT && node->dtype.bits == 32
              && node->dtype.lanes == 2;
  if (!pair) return value;
  return tvms_eval_value_node(
      tvms_call_new_of(w->reader->unit, TVMS_DTYPE(UINT, 64), TVMS_TIR_reinterpret,
                       &node, 1, tvms_reader_span_of(w->reader, w->call)));
}

static void put_all(tvms_wrapper_work *w, tvms_eval_value value, bool bits) {
  if (value.kind == TVMS_EVAL_NONE) return;
  if (!tvms_eval_value_is_sequence(value)) {
    put(w, bits ? as_bits(w, value) : value);
    return;
  }
  for (uint32_t i = 0; i < value.len; i++) {
    put(w, bits ? as_bits(w, value.as.items[i]) : value.as.items[i]);
  }
}

static bool has_policy(const tvms_wrapper_work *w, const tvms_wrapper_item *item) {
  return is_given(w, item->params[0])
         || tvms_wrapper_is_true(tvms_wrapper_arg(w, item->params[1]));
}

// The descriptors of the cache hints of PTX.
static void put_policy(tvms_wrapper_work *w, const tvms_wrapper_item *item) {
  tvms_eval_value policy = tvms_wrapper_arg(w, item->params[0]),
                  hint = tvms_wrapper_arg(w, item->params[1]);
  int64_t bits = 0;
  if (policy.kind != TVMS_EVAL_NONE) {
    put(w, policy);
    return;
  }
  if (is_text("evict_normal", hint)) bits = 0x1000000000000000;
  if (is_text("evict_first", hint)) bits = 0x12F0000000000000;
  if (is_text("evict_last", hint)) bits = 0x14F0000000000000;
  if (tvms_wrapper_is_true(hint) && !bits) {
    tvms_eval_report_wrong_type(w->reader, w->call, "cache_hint",
                                "\"evict_normal\", \"evict_first\" or \"evict_last\"",
                                hint);
    w->failed = true;
  }
  put(w, tvms_eval_value_node(tvms_int_imm_new(w->reader->unit, TVMS_DTYPE(UINT, 64),
                                               bits, TVMS_NO_SPAN)));
}

static void put_space(tvms_wrapper_work *w, const tvms_wrapper_item *item) {
  if (is_given(w, item->params[0])) {
    put(w, tvms_wrapper_arg(w, item->params[0]));
  } else {
    bool remote = is_given(w, item->params[1]);
    put_text(w, remote ? "shared::cluster" : "shared");
  }
}

static void put_multicast(tvms_wrapper_work *w, const tvms_wrapper_item *item) {
  tvms_eval_value multicast = tvms_wrapper_arg(w, item->params[0]),
                  mask = tvms_wrapper_arg(w, item->params[1]);
  if (multicast.kind != TVMS_EVAL_NONE) {
    put(w, tvms_eval_value_int(tvms_wrapper_is_true(multicast)));
    return;
  }
  int64_t bits = 0;
  bool known = mask.kind == TVMS_EVAL_INT;
  if (known) bits = mask.as.i;
  if (mask.kind == TVMS_EVAL_NODE && mask.as.node->kind == TVMS_NODE_INT_IMM) {
    known = true;
    bits = tvms_as_int_imm(mask.as.node)->value;
  }
  put(w, tvms_eval_value_int(!known || (bits & (bits - 1)) != 0));
}

static void put_lanes(tvms_wrapper_work *w, const tvms_wrapper_item *item) {
  tvms_eval_value lanes = tvms_wrapper_arg(w, item->params[0]),
                  group = tvms_wrapper_arg(w, item->params[1]);
  put_all(w, lanes, false);
  if (tvms_wrapper_count_of(lanes)) return;
  int zeros = group.kind == TVMS_EVAL_INT && group.as.i == 1 ? 4 : 8;
  while (zeros--) {
    put(w, tvms_eval_value_int(0));
  }
}

static void put_result_type(tvms_wrapper_work *w, const tvms_wrapper_item *item) {
  bool stored = tvms_wrapper_is_true(tvms_wrapper_arg(w, item->params[1]));
  put(w,
      stored ? tvms_eval_value_text("void", 4) : tvms_wrapper_arg(w, item->params[0]));
}

static void put_item(tvms_wrapper_work *w, const tvms_wrapper_item *item) {
  tvms_eval_value value = tvms_wrapper_arg(w, item->params[0]);
  bool given = value.kind != TVMS_EVAL_NONE;
  if (item->when != TVMS_WRAPPER_NO_PARAM && !is_given(w, item->when)) return;
  switch ((tvms_wrapper_item_kind)item->kind) {
  case TVMS_WRAPPER_PARAM: put(w, value); break;
  case TVMS_WRAPPER_PARAM_IF_GIVEN:
    if (given) put(w, value);
    break;
  case TVMS_WRAPPER_IS_GIVEN: put(w, tvms_eval_value_int(given)); break;
  case TVMS_WRAPPER_IS_NONE: put(w, tvms_eval_value_bool(!given)); break;
  case TVMS_WRAPPER_IS_TRUE:
    put(w, tvms_eval_value_int(tvms_wrapper_is_true(value)));
    break;
  case TVMS_WRAPPER_COUNT:
    put(w, tvms_eval_value_int(tvms_wrapper_count_of(value)));
    break;
  case TVMS_WRAPPER_ALL: put_all(w, value, false); break;
  case TVMS_WRAPPER_ALL_BITS: put_all(w, value, true); break;
  case TVMS_WRAPPER_TEXT: put_text(w, item->text); break;
  case TVMS_WRAPPER_NUMBER: put(w, tvms_eval_value_int(item->number)); break;
  case TVMS_WRAPPER_TRUE: put(w, tvms_eval_value_bool(true)); break;
  case TVMS_WRAPPER_POLICY: put_policy(w, item); break;
  case TVMS_WRAPPER_HAS_POLICY: put(w, tvms_eval_value_int(has_policy(w, item))); break;
  case TVMS_WRAPPER_SPACE: put_space(w, item); break;
  case TVMS_WRAPPER_MULTICAST: put_multicast(w, item); break;
  case TVMS_WRAPPER_LANES: put_lanes(w, item); break;
  case TVMS_WRAPPER_RESULT_TYPE: put_result_type(w, item); break;
  }
}

// ---- Types ----------------------------------------------------------------------------------

// What C type a register of PTX has.
static const char *register_type(tvms_eval_value type) {
  static const struct {
    const char *ptx, *dtype;
  } types[] = {
      {"u8", "uint8"},      {"s8", "int8"},        {"u16", "uint16"},
      {"s16", "int16"},     {"u32", "uint32"},     {"s32", "int32"},
      {"b32", "uint32"},    {"u64", "uint64"},     {"s64", "int64"},
      {"b64", "uint64"},    {"f32", "float32"},    {"f64", "float64"},
      {"f16", "uint16"},    {"bf16", "uint16"},    {"e4m3x2", "uint16"},
      {"e5m2x2", "uint16"}, {"e2m1x2", "uint8"},   {"e2m3x2", "uint16"},
      {"e3m2x2", "uint16"}, {"ue8m0x2", "uint16"}, {"s2f6x2", "uint16"},
      {"tf32", "uint32"},   {"f16x2", "uint32"},   {"bf16x2", "uint32"},
      {"e2m1x4", "uint16"}, {"e4m3x4", "uint32"},  {"e5m2x4", "uint32"},
      {"e2m3x4", "uint32"}, {"e3m2x4", "uint32"},
  };
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    if (is_text(types[i].ptx, type)) return types[i].dtype;
  }
  return NULL;
}

// The argument of the operator at a place. (All of them are passed in order; only what lies
// between two of varying number cannot be found.)
static tvms_eval_value value_at(const tvms_wrapper_work *w, tvms_wrapper_place at) {
  if (!at.known || at.distance >= w->values.len) return TVMS_NOTHING;
  return w->values.items[at.from_end ? w->values.len - 1 - at.distance : at.distance];
}

// The void that a result becomes that is stored.
static bool stores(const tvms_wrapper_work *w, const tvms_wrapper_result *result,
                   bool raw) {
  if (result->stored == TVMS_WRAPPER_NO_PARAM) return false;
  return raw ? tvms_wrapper_is_true(value_at(w, result->stored_at))
             : is_given(w, result->stored);
}

static bool named_dtype(tvms_wrapper_work *w, tvms_eval_value value, tvms_dtype *dtype,
                        tvms_node **sinfo) {
  if (value.kind == TVMS_EVAL_NONE || is_text("", value) || is_text("void", value)) {
    return true;
  }
  tvms_call_result type;
  if (!tvms_tir_to_result(w->reader, value, w->call, &type)) return false;
  *dtype = type.dtype;
  *sinfo = type.sinfo;
  return true;
}

static void like(tvms_wrapper_work *w, tvms_eval_value value, tvms_dtype *dtype,
                 tvms_node **sinfo) {
  const tvms_wrapper_result *result = &w->wrapper->result;
  if (result->kind == TVMS_WRAPPER_RESULT_LIKE && value.kind != TVMS_EVAL_NODE
      && tvms_release_has(w->reader->dialect, TVMS_FACT_wrappers_are_checked)) {
    tvms_eval_report_wrong_type(w->reader, w->call, result->name, "an expression",
                                value);
    w->failed = true;
    return;
  }
  tvms_node *node = tvms_eval_to_expr(w->reader, value, w->call);
  if (node) *dtype = node->dtype;
  if (node) *sinfo = node->sinfo;
}

// The data type of the result; `*sinfo` that of a pointer.
static tvms_dtype dtype_of(tvms_wrapper_work *w, bool raw, tvms_node **sinfo) {
  const tvms_wrapper_result *result = &w->wrapper->result;
  tvms_eval_value value = value_at(w, result->at);
  tvms_dtype dtype = {0};
  *sinfo = NULL;
  switch ((tvms_wrapper_result_kind)result->kind) {
  case TVMS_WRAPPER_RESULT_FIXED: dtype = result->dtype; break;
  case TVMS_WRAPPER_RESULT_LIKE:
  case TVMS_WRAPPER_RESULT_LIKE_ANY: like(w, value, &dtype, sinfo); break;
  case TVMS_WRAPPER_RESULT_REGISTER: {
    const char *text = register_type(value);
    if (text && !tvms_dtype_parse(text, strlen(text), &dtype)) w->failed = true;
    break;
  }
  case TVMS_WRAPPER_RESULT_BITS:
    if (value.kind == TVMS_EVAL_INT) dtype = TVMS_DTYPE(INT, (uint8_t)value.as.i);
    break;
  case TVMS_WRAPPER_RESULT_NAMED:
    // The operator need not be told what its result is.
    if (value.kind == TVMS_EVAL_NONE && !raw)
      value = tvms_wrapper_arg(w, result->param);
    if (!stores(w, result, raw) && !named_dtype(w, value, &dtype, sinfo))
      w->failed = true;
  }
  return dtype;
}

// ---- Calls ----------------------------------------------------------------------------------

// All arguments of the operator in order, without names?
static bool is_raw_form(const tvms_wrapper_work *w) {
  uint32_t positional = 0, required = 0;
  uint32_t items = w->wrapper->legacy ? 1 : w->wrapper->items.count;
  tvms_surface_each(w->reader->surface, ref, tvms_reader_at(w->reader, w->call)->b) {
    uint8_t kind = tvms_reader_at(w->reader, ref)->kind;
    if (kind == TVMS_SURF_KEYWORD || kind == TVMS_SURF_DOUBLE_STAR) return false;
    positional++;
  }
  if (w->signature->rest < 0 && positional > w->signature->plain) return true;
  for (uint32_t i = 0; i < w->signature->count; i++) {
    const tvms_param *param = &w->signature->params[i];
    if (param->kind == TVMS_PARAM_KEYWORD_ONLY && param->required) return true;
    if (param->kind == TVMS_PARAM_PLAIN && param->required) required++;
  }
  // A dtype that is not an argument of the operator is not printed.
  return positional < required && positional == items;
}

static bool has_text(tvms_eval_value value) {
  if (!tvms_eval_value_is_sequence(value)) return value.kind == TVMS_EVAL_STR;
  for (uint32_t i = 0; i < value.len; i++) {
    if (value.as.items[i].kind == TVMS_EVAL_STR) return true;
  }
  return false;
}

// The test of the row, once the arguments are known.
static bool looks_raw(const tvms_wrapper_work *w) {
  tvms_eval_value value = tvms_wrapper_arg(w, w->wrapper->raw_param);
  switch ((tvms_wrapper_raw_kind)w->wrapper->raw) {
  case TVMS_WRAPPER_RAW_NEVER: return false;
  case TVMS_WRAPPER_RAW_NO_TEXT: return value.kind != TVMS_EVAL_STR;
  case TVMS_WRAPPER_RAW_TEXT: return has_text(value);
  case TVMS_WRAPPER_RAW_NO_LIST: break;
  }
  return !tvms_eval_value_is_sequence(value);
}

// What was passed, in order; keywords behind them mean nothing then.
static void put_as_passed(tvms_wrapper_work *w) {
  for (uint32_t i = 0; i < w->signature->count; i++) {
    if ((int32_t)i == w->signature->rest) {
      put_all(w, w->args[i], false);
      return;
    }
    if (w->given >> i & 1) {
      put(w, w->args[i]);
    }
  }
}

// Where a barrier lies in the leading one of two blocks: its shared address without the
// bit of the block.
static tvms_eval_value leader_address(tvms_wrapper_work *w, tvms_node *pointer) {
  tvms_unit *unit = w->reader->unit;
  tvms_span span = tvms_reader_span_of(w->reader, w->call);
  tvms_dtype dtype = TVMS_DTYPE(UINT, 32);
  tvms_node *address = tvms_call_new_of(
      unit, dtype, TVMS_TIR_cuda__cvta_generic_to_shared, &pointer, 1, span);
  tvms_node *mask = tvms_int_imm_new(unit, dtype, 0xFEFFFFFF, TVMS_NO_SPAN);
  return tvms_eval_value_node(
      tvms_build_bitwise(unit, TVMS_TIR_bitwise_and, address, mask, span));
}

static tvms_eval_value finish(tvms_wrapper_work *w, bool raw) {
  tvms_reader *reader = w->reader;
  tvms_eval_value all = tvms_eval_value_items(
      TVMS_EVAL_TUPLE, tvms_eval_keep_items(reader, w->values.items, w->values.len),
      w->values.len);
  tvms_node *sinfo;
  tvms_dtype dtype = dtype_of(w, raw, &sinfo);
  tvms_list list;
  bool sound = tvms_tir_to_arguments(reader, all, w->call, &list) && !w->failed;
  tvms_vec_fini(&reader->context->memory, &w->values);
  if (!sound) {
    return tvms_reader_failed(reader);
  }
  bool leader = w->wrapper->opcode == TVMS_TIR_cuda__sm100_2sm_leader_smem_addr
                || w->wrapper->opcode == TVMS_TIR_cuda__sm100_tma_2sm_mbarrier_addr;
  if (leader && list.len) return leader_address(w, list.items[0]);
  tvms_node *node =
      tvms_call_new_of(reader->unit, dtype, (tvms_tir_opcode)w->wrapper->opcode,
                       list.items, list.len, tvms_reader_span_of(reader, w->call));
  if (tvms_release_has(reader->dialect, TVMS_FACT_expressions_have_types))
    node->sinfo = sinfo;
  return tvms_eval_value_node(node);
}

tvms_eval_value tvms_wrapper_call(tvms_reader *reader, const tvms_wrapper *wrapper,
                                  tvms_ref call) {
  tvms_wrapper_work w = {.reader = reader, .wrapper = wrapper, .call = call};
  w.signature = tvms_signature_of_method(reader, wrapper->signature);
  bool raw = is_raw_form(&w);
  if (raw) w.signature = tvms_signature_of_method(reader, "*args");
  // Any of them may be told a dtype; it means something to those that have a parameter.
  unsigned traits = tvms_wrapper_param(&w, "dtype") < 0 ? TVMS_TRAIT_DROPS_DTYPE : 0;
  if (!tvms_signature_bind(reader, w.signature, wrapper->path, traits, call, w.args,
                           w.refs, &w.given)) {
    return tvms_reader_failed(reader);
  }
  if (wrapper->legacy) {
    return tvms_legacy_call(reader, (tvms_tir_opcode)wrapper->opcode, w.args, call);
  }
  raw = raw || looks_raw(&w);
  if (raw) {
    put_as_passed(&w);
  } else {
    tvms_wrapper_check(&w);
    for (uint32_t i = 0; i < wrapper->items.count; i++) {
      put_item(&w, &tvms_wrapper_items[wrapper->items.first + i]);
    }
  }
  return finish(&w, raw);
}
