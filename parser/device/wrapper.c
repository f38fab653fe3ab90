// Calls of intrinsics of CUDA, PTX, NVSHMEM and NKI as programs write them: ir/wrappers.def says
// how their arguments become those of the operator.
#include "parser/device/wrapper.h"

#include "ir/fold.h"
#include "ir/fold_ops.h"
#include "ir/tir_op.h"
#include "parser/device/legacy.h"
#include "parser/eval/call.h"
#include "parser/eval/convert.h"
#include "parser/tir/call.h"
#include "parser/tir/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tvms_wrapper {
  const char *path;
  const char *signature;
  tvms_dialect since, until;
  tvms_tir_opcode op;
  const char *dtype;
  const char *raw;
  const char *items;
};

static const tvms_wrapper wrappers[] = {
#define WRAPPER(path, signature, since, until, op, dtype, raw, items)                  \
  {path, signature, TVMS_DIALECT_##since, TVMS_DIALECT_##until, TVMS_TIR_##op, dtype,  \
   raw,  items},
#include "ir/wrappers.def"
};

enum { WRAPPERS = sizeof wrappers / sizeof wrappers[0] };

static const struct {
  tvms_tir_opcode op;
  const char *parameter;
  const char *values;  // a|b|c
} choices[] = {
#define CHOICE(op, parameter, values) {TVMS_TIR_##op, parameter, values},
#include "ir/wrappers.def"
};

static const struct {
  tvms_tir_opcode op;
  const char *when, *needs;
} together[] = {
#define TOGETHER(op, when, needs) {TVMS_TIR_##op, when, needs},
#include "ir/wrappers.def"
};

// A call on its way to the operator.
typedef struct {
  tvms_reader *reader;
  const tvms_wrapper *wrapper;
  const tvms_signature *signature;
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_ref refs[TVMS_MAX_PARAMS];
  uint64_t given;
  tvms_ref call;
  tvms_eval_value_vec values;  // arguments of the operator
  bool failed;
} work;

// One item of a row.
typedef struct {
  const char *text;
  size_t len;
} item;

static bool is_in(const tvms_wrapper *wrapper, tvms_dialect dialect) {
  return dialect >= wrapper->since && dialect <= wrapper->until;
}

const tvms_wrapper *tvms_wrapper_find(const tvms_reader *reader, const char *path,
                                      size_t len) {
  for (size_t i = 0; i < WRAPPERS; i++) {
    if (!is_in(&wrappers[i], reader->dialect)) continue;
    if (strlen(wrappers[i].path) == len && memcmp(wrappers[i].path, path, len) == 0) {
      return &wrappers[i];
    }
  }
  return NULL;
}

bool tvms_wrapper_is_prefix(const tvms_reader *reader, const char *path, size_t len) {
  for (size_t i = 0; i < WRAPPERS; i++) {
    if (!is_in(&wrappers[i], reader->dialect)) continue;
    if (strncmp(wrappers[i].path, path, len) == 0 && wrappers[i].path[len] == '.') {
      return true;
    }
  }
  return false;
}

// ---- Parameters -----------------------------------------------------------------------------

static int param_index(const work *w, const char *name, size_t len) {
  for (uint32_t i = 0; i < w->signature->count; i++) {
    const tvms_name *text =
        tvms_interner_name(&w->reader->context->names, w->signature->params[i].name);
    if (text->len == len && memcmp(text->text, name, len) == 0) return (int)i;
  }
  return -1;
}

static tvms_eval_value arg(const work *w, const char *name, size_t len) {
  int i = param_index(w, name, len);
  return i < 0 ? TVMS_NOTHING : w->args[i];
}

static tvms_eval_value arg_named(const work *w, const char *name) {
  return arg(w, name, strlen(name));
}

static bool is_true(tvms_eval_value value) {
  switch (value.kind) {
  case TVMS_EVAL_NONE: return false;
  case TVMS_EVAL_BOOL:
  case TVMS_EVAL_INT: return value.as.i != 0;
  case TVMS_EVAL_STR: return value.len != 0;
  case TVMS_EVAL_NODE:
    return value.as.node->kind != TVMS_NODE_INT_IMM
           || tvms_as_int_imm(value.as.node)->value != 0;
  default: return true;
  }
}

static int64_t count_of(tvms_eval_value value) {
  if (value.kind == TVMS_EVAL_NONE) return 0;
  return tvms_eval_value_is_sequence(value) ? value.len : 1;
}

static bool is_text(const char *text, tvms_eval_value value) {
  return value.kind == TVMS_EVAL_STR && value.len == strlen(text)
         && memcmp(value.as.text, text, value.len) == 0;
}

// ---- Items ----------------------------------------------------------------------------------

static void put(work *w, tvms_eval_value value) {
  tvms_vec_push(&w->reader->context->memory, &w->values, value);
}

static void put_text(work *w, const char *text) {
  put(w, tvms_eval_value_text(text, (uint32_t)strlen(text)));
}

// Two float32 in one register are passed as the 64 bits that they are.
static tvms_eval_value as_bits(work *w, tvms_eval_value value) {
  tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  bool pair = node && node->dtype.code == TVMS_FLOAT && node->dtype.bits == 32
              && node->dtype.lanes == 2;
  if (!pair) return value;
  return tvms_eval_value_node(
      tvms_call_new_of(w->reader->unit, TVMS_DTYPE(UINT, 64), TVMS_TIR_reinterpret,
                       &node, 1, tvms_reader_span_of(w->reader, w->call)));
}

static void put_all(work *w, tvms_eval_value value, bool bits) {
  if (value.kind == TVMS_EVAL_NONE) return;
  if (!tvms_eval_value_is_sequence(value)) {
    put(w, bits ? as_bits(w, value) : value);
    return;
  }
  for (uint32_t i = 0; i < value.len; i++) {
    put(w, bits ? as_bits(w, value.as.items[i]) : value.as.items[i]);
  }
}

static bool has_policy(const work *w) {
  return arg_named(w, "cache_policy").kind != TVMS_EVAL_NONE
         || is_true(arg_named(w, "cache_hint"));
}

// The descriptors of the cache hints of PTX.
static void put_policy(work *w) {
  tvms_eval_value policy = arg_named(w, "cache_policy");
  tvms_eval_value hint = arg_named(w, "cache_hint");
  int64_t bits = 0;
  if (policy.kind != TVMS_EVAL_NONE) {
    put(w, policy);
    return;
  }
  if (is_text("evict_normal", hint)) bits = 0x1000000000000000;
  if (is_text("evict_first", hint)) bits = 0x12F0000000000000;
  if (is_text("evict_last", hint)) bits = 0x14F0000000000000;
  if (is_true(hint) && !bits) {
    tvms_eval_report_wrong_type(w->reader, w->call, "cache_hint",
                                "\"evict_normal\", \"evict_first\" or \"evict_last\"",
                                hint);
    w->failed = true;
  }
  put(w, tvms_eval_value_node(tvms_int_imm_new(w->reader->unit, TVMS_DTYPE(UINT, 64),
                                               bits, TVMS_NO_SPAN)));
}

static void put_space(work *w) {
  tvms_eval_value space = arg_named(w, "space");
  if (space.kind != TVMS_EVAL_NONE) {
    put(w, space);
  } else {
    bool remote = arg_named(w, "remote").kind != TVMS_EVAL_NONE;
    put_text(w, remote ? "shared::cluster" : "shared");
  }
}

static void put_multicast(work *w) {
  tvms_eval_value multicast = arg_named(w, "multicast");
  tvms_eval_value mask = arg_named(w, "cta_mask");
  if (multicast.kind != TVMS_EVAL_NONE) {
    put(w, tvms_eval_value_int(is_true(multicast)));
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

static void put_lanes(work *w) {
  tvms_eval_value lanes = arg_named(w, "disable_output_lane");
  put_all(w, lanes, false);
  if (count_of(lanes)) return;
  tvms_eval_value group = arg_named(w, "cta_group");
  int zeros = group.kind == TVMS_EVAL_INT && group.as.i == 1 ? 4 : 8;
  while (zeros--) {
    put(w, tvms_eval_value_int(0));
  }
}

static bool is_item(item it, const char *text) {
  return it.len == strlen(text) && memcmp(it.text, text, it.len) == 0;
}

static void put_special(work *w, item it) {
  if (is_item(it, "%policy")) put_policy(w);
  if (is_item(it, "%has")) put(w, tvms_eval_value_int(has_policy(w)));
  if (is_item(it, "%space")) put_space(w);
  if (is_item(it, "%multicast")) put_multicast(w);
  if (is_item(it, "%lanes")) put_lanes(w);
  if (is_item(it, "%ret")) {
    tvms_eval_value dtype = arg_named(w, "return_dtype");
    put(w, is_true(arg_named(w, "dps")) ? tvms_eval_value_text("void", 4) : dtype);
  }
}

static void put_param(work *w, item it) {
  char last = it.text[it.len - 1];
  bool marked = last == '?' || last == '!';
  tvms_eval_value value = arg(w, it.text, it.len - marked);
  bool given = value.kind != TVMS_EVAL_NONE;
  if (last == '!') put(w, tvms_eval_value_int(given));
  if (last != '!' && (given || !marked)) put(w, value);
}

static void put_item(work *w, item it) {
  const char *colon = memchr(it.text, ':', it.len);
  if (colon && it.text[0] != '\'') {
    size_t len = (size_t)(colon - it.text);
    if (arg(w, it.text, len).kind == TVMS_EVAL_NONE) return;
    it = (item){colon + 1, it.len - len - 1};
  }
  tvms_eval_value value = arg(w, it.text + 1, it.len - 1);
  switch (it.text[0]) {
  case '*':
  case '~': put_all(w, value, it.text[0] == '~'); break;
  case '&': put(w, tvms_eval_value_int(is_true(value))); break;
  case '#': put(w, tvms_eval_value_int(count_of(value))); break;
  case '^': put(w, tvms_eval_value_bool(value.kind == TVMS_EVAL_NONE)); break;
  case '%': put_special(w, it); break;
  case '\'': put(w, tvms_eval_value_text(it.text + 1, (uint32_t)it.len - 2)); break;
  default:
    if (it.text[0] >= '0' && it.text[0] <= '9') {
      put(w, tvms_eval_value_int(strtoll(it.text, NULL, 10)));
      break;
    }
    if (is_item(it, "true"))
      put(w, tvms_eval_value_bool(true));
    else
      put_param(w, it);
  }
}

static bool next_item(const char **at, item *it) {
  *at += strspn(*at, " ");
  it->text = *at;
  it->len = strcspn(*at, " ");
  *at += it->len;
  return it->len != 0;
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

// The value that item `name` of the row stands for among `values`; all of them are passed
// in order, and only what lies between two items of varying length cannot be found.
static tvms_eval_value value_at(const work *w, const char *name, size_t len) {
  uint32_t before = 0, after = 0;
  bool varies = false, found = false;
  const char *at = w->wrapper->items;
  item it;
  while (next_item(&at, &it)) {
    bool here = it.len == len && memcmp(it.text, name, len) == 0;
    bool varying = strchr("*~", it.text[0]) || it.text[it.len - 1] == '?'
                   || is_item(it, "%lanes")
                   || (it.text[0] != '\'' && memchr(it.text, ':', it.len));
    if (here && !varies)
      return before < w->values.len ? w->values.items[before] : TVMS_NOTHING;
    if (found) after++;
    found = found || here;
    varies = varies || varying;
    before++;
  }
  if (!found || after >= w->values.len) return TVMS_NOTHING;
  return w->values.items[w->values.len - 1 - after];
}

// The void that `@x/y` becomes where y is given.
static bool stores(const work *w, const char *name, size_t len, bool raw) {
  if (!raw) return arg(w, name, len).kind != TVMS_EVAL_NONE;
  char counted[32] = "#";
  if (len + 1 >= sizeof counted) return false;
  memcpy(counted + 1, name, len);
  return is_true(value_at(w, counted, len + 1));
}

static bool named_dtype(work *w, tvms_eval_value value, tvms_dtype *dtype,
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

// The data type of the result; `*sinfo` that of a pointer.
static tvms_dtype dtype_of(work *w, bool raw, tvms_node **sinfo) {
  tvms_dtype dtype = {0};
  *sinfo = NULL;
  const char *rule = w->wrapper->dtype;
  size_t len = strcspn(rule, "/");
  const char *name = rule + 1;
  switch (rule[0]) {
  case '\0': break;
  case '~':
  case '=': {
    tvms_eval_value value = value_at(w, name, len - 1);
    if (rule[0] == '=' && value.kind != TVMS_EVAL_NODE
        && tvms_release_has(w->reader->dialect, TVMS_FACT_wrappers_are_checked)) {
      char what[64];
      (void)snprintf(what, sizeof what, "%.*s", (int)(len - 1), name);
      tvms_eval_report_wrong_type(w->reader, w->call, what, "an expression", value);
      w->failed = true;
      break;
    }
    tvms_node *node = tvms_eval_to_expr(w->reader, value, w->call);
    if (node) dtype = node->dtype;
    if (node) *sinfo = node->sinfo;
    break;
  }
  case '$': {
    const char *text = register_type(value_at(w, name, len - 1));
    if (text && !tvms_dtype_parse(text, strlen(text), &dtype)) w->failed = true;
    break;
  }
  case '#': {
    tvms_eval_value bits = value_at(w, name, len - 1);
    if (bits.kind == TVMS_EVAL_INT) dtype = TVMS_DTYPE(INT, (uint8_t)bits.as.i);
    break;
  }
  case '@': {
    bool stored = rule[len] && stores(w, rule + len + 1, strlen(rule + len + 1), raw);
    tvms_eval_value value = value_at(w, name, len - 1);
    // The operator need not be told what its result is.
    if (value.kind == TVMS_EVAL_NONE && !raw) value = arg(w, name, len - 1);
    if (!stored && !named_dtype(w, value, &dtype, sinfo)) w->failed = true;
    break;
  }
  default:
    if (!tvms_dtype_parse(rule, strlen(rule), &dtype)) w->failed = true;
  }
  return dtype;
}

// ---- What is allowed ------------------------------------------------------------------------

static bool is_choice(const char *values, const char *text, size_t len) {
  for (;;) {
    size_t part = strcspn(values, "|");
    if (part == len && memcmp(values, text, len) == 0) return true;
    if (!values[part]) return false;
    values += part + 1;
  }
}

enum { NUMBER = 24 };

// The text of a value that is a text or a number; NULL for another.
static const char *text_of(tvms_eval_value value, char number[NUMBER], size_t *len) {
  *len = value.len;
  if (value.kind == TVMS_EVAL_STR) return value.as.text;
  if (value.kind != TVMS_EVAL_INT) return NULL;
  *len = (size_t)snprintf(number, NUMBER, "%lld", (long long)value.as.i);
  return number;
}

static void check_choice(work *w, int i, const char *values) {
  tvms_eval_value value = w->args[i];
  char number[NUMBER];
  size_t len;
  const char *text = text_of(value, number, &len);
  if (value.kind == TVMS_EVAL_INT) {
    // Numbers were always looked at.
  } else if (value.kind != TVMS_EVAL_STR
             || !tvms_release_has(w->reader->dialect, TVMS_FACT_wrappers_are_checked)) {
    return;
  }
  if (is_choice(values, text, len)) return;
  const char *name = tvms_symbol_text(w->reader->context, w->signature->params[i].name);
  char allowed[256];
  (void)snprintf(allowed, sizeof allowed, "one of %s", values);
  tvms_eval_report_wrong_type(w->reader, w->refs[i] ? w->refs[i] : w->call, name,
                              allowed, value);
  w->failed = true;
}

// Integers as addresses are those of shared memory, in 32 bits.
static void check_address(work *w, const char *parameter) {
  int i = param_index(w, parameter, strlen(parameter));
  tvms_eval_value value = arg_named(w, parameter), space = arg_named(w, "space");
  tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  if (i < 0 || !node || tvms_node_class_of(node) != TVMS_CLASS_EXPR) return;
  bool integer = node->dtype.code == TVMS_INT || node->dtype.code == TVMS_UINT;
  bool shared = space.kind != TVMS_EVAL_STR
                || (space.len >= 6 && memcmp(space.as.text, "shared", 6) == 0);
  bool narrow = node->dtype.code == TVMS_UINT && node->dtype.bits == 32;
  if (!integer || (narrow && shared)) return;
  tvms_eval_report_wrong_type(w->reader, w->refs[i], "an address",
                              "a pointer, or uint32 in a shared space", value);
  w->failed = true;
}

// One term of a row TOGETHER; what cannot be known holds.
static bool holds(const work *w, item it) {
  bool negated = it.text[0] == '!', listed = it.text[0] == '[';
  const char *name = it.text + (negated || listed);
  size_t len = 0;
  while (len < it.len - (negated || listed) && !strchr("=#]", name[len])) {
    len++;
  }
  tvms_eval_value value = arg(w, name, len);
  if (listed) return tvms_eval_value_is_sequence(value);
  if (name[len] == '#' && len < it.len) return count_of(value) == name[len + 1] - '0';
  if (name[len] == '=' && len < it.len) {
    char number[NUMBER], values[128];
    size_t size;
    const char *text = text_of(value, number, &size);
    (void)snprintf(values, sizeof values, "%.*s", (int)(it.len - len - 1),
                   name + len + 1);
    return text && is_choice(values, text, size);
  }
  bool given = tvms_eval_value_is_sequence(value) ? value.len != 0 : is_true(value);
  return given != negated;
}

static bool hold(const work *w, const char *terms) {
  item it;
  while (next_item(&terms, &it)) {
    if (!holds(w, it)) return false;
  }
  return true;
}

static void check(work *w) {
  for (size_t k = 0;
       tvms_release_has(w->reader->dialect, TVMS_FACT_wrappers_are_checked)
       && k < sizeof together / sizeof together[0];
       k++) {
    if (together[k].op != w->wrapper->op || !hold(w, together[k].when)) continue;
    if (hold(w, together[k].needs)) continue;
    tvms_reader_report(w->reader, wrapper_rule, w->call, w->wrapper->path,
                       together[k].when, together[k].needs);
    w->failed = true;
    return;
  }
  for (size_t k = 0; k < sizeof choices / sizeof choices[0]; k++) {
    if (choices[k].op != w->wrapper->op) continue;
    int i = param_index(w, choices[k].parameter, strlen(choices[k].parameter));
    if (i >= 0) check_choice(w, i, choices[k].values);
  }
  if (!tvms_release_has(w->reader->dialect, TVMS_FACT_wrappers_are_checked)) return;
  if (w->wrapper->op == TVMS_TIR_ptx__ld) check_address(w, "addr");
  if (w->wrapper->op == TVMS_TIR_ptx__st) check_address(w, "address");
}

// ---- Calls ----------------------------------------------------------------------------------

// All arguments of the operator in order, without names?
static bool is_raw_form(const work *w) {
  uint32_t positional = 0, items = 0, required = 0;
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
  const char *at = w->wrapper->items;
  item it;
  while (next_item(&at, &it)) {
    items++;
  }
  // A dtype that is no argument of the operator is not printed.
  return positional < required && positional == items;
}

// The test of the row, once the arguments are known.
static bool looks_raw(const work *w) {
  const char *rule = w->wrapper->raw;
  if (!rule[0]) return false;
  tvms_eval_value value = arg_named(w, rule + 1);
  if (rule[0] == '*') return !tvms_eval_value_is_sequence(value);
  if (rule[0] == '-') return value.kind != TVMS_EVAL_STR;
  if (!tvms_eval_value_is_sequence(value)) return value.kind == TVMS_EVAL_STR;
  for (uint32_t i = 0; i < value.len; i++) {
    if (value.as.items[i].kind == TVMS_EVAL_STR) return true;
  }
  return false;
}

// What was passed, in order; keywords behind them mean nothing then.
static void put_as_passed(work *w) {
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
static tvms_eval_value leader_address(work *w, tvms_node *pointer) {
  tvms_unit *unit = w->reader->unit;
  tvms_span span = tvms_reader_span_of(w->reader, w->call);
  tvms_dtype dtype = TVMS_DTYPE(UINT, 32);
  tvms_node *address = tvms_call_new_of(
      unit, dtype, TVMS_TIR_cuda__cvta_generic_to_shared, &pointer, 1, span);
  tvms_node *mask = tvms_int_imm_new(unit, dtype, 0xFEFFFFFF, TVMS_NO_SPAN);
  return tvms_eval_value_node(
      tvms_build_bitwise(unit, TVMS_TIR_bitwise_and, address, mask, span));
}

static tvms_eval_value finish(work *w, bool raw) {
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
  bool leader = w->wrapper->op == TVMS_TIR_cuda__sm100_2sm_leader_smem_addr
                || w->wrapper->op == TVMS_TIR_cuda__sm100_tma_2sm_mbarrier_addr;
  if (leader && list.len) return leader_address(w, list.items[0]);
  tvms_node *node = tvms_call_new_of(reader->unit, dtype, w->wrapper->op, list.items,
                                     list.len, tvms_reader_span_of(reader, w->call));
  if (tvms_release_has(reader->dialect, TVMS_FACT_expressions_have_types))
    node->sinfo = sinfo;
  return tvms_eval_value_node(node);
}

tvms_eval_value tvms_wrapper_call(tvms_reader *reader, const tvms_wrapper *wrapper,
                                  tvms_ref call) {
  work w = {.reader = reader, .wrapper = wrapper, .call = call};
  w.signature = tvms_signature_of_method(reader, wrapper->signature);
  bool raw = is_raw_form(&w);
  if (raw) w.signature = tvms_signature_of_method(reader, "*args");
  // Any of them may be told a dtype; it means something to those that have a parameter.
  unsigned traits = param_index(&w, "dtype", 5) < 0 ? TVMS_TRAIT_DROPS_DTYPE : 0;
  if (!tvms_signature_bind(reader, w.signature, wrapper->path, traits, call, w.args,
                           w.refs, &w.given)) {
    return tvms_reader_failed(reader);
  }
  if (strcmp(wrapper->items, "%legacy") == 0) {
    return tvms_legacy_call(reader, wrapper->op, w.args, call);
  }
  raw = raw || looks_raw(&w);
  if (raw) {
    put_as_passed(&w);
  } else {
    check(&w);
    const char *at = wrapper->items;
    item it;
    while (next_item(&at, &it)) {
      put_item(&w, it);
    }
  }
  return finish(&w, raw);
}
