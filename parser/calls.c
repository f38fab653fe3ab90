// The rows of ir/calls.def: found by namespace and name, their signatures parsed on use.
//
// A row is found through an array indexed by symbol and namespace, so `T.grid` costs one
// access; further rows of a name (other dialects) follow the first. Nothing is set up at
// start.
#include "parser/calls.h"

#include "arith/layout.h"
#include "ir/op.h"
#include "ir/respell.h"
#include "ir/tir_op.h"
#include "parser/device/spelled.h"
#include "parser/eval/attribute.h"
#include "parser/eval/call.h"
#include "parser/eval/internal.h"
#include "parser/prototype.h"
#include "parser/relax/prototype.h"
#include "parser/relax/relax.h"
#include "parser/relax/value.h"
#include "parser/tir/access.h"
#include "parser/tir/names.h"
#include "parser/tir/tir.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
  ROW_NONE,
#define CALL(ns, name, signature, since, until, handler) ROW_##ns##_##name,
#define ALSO(ns, name, signature, since, until, handler) ROW_##ns##_##name##_##since,
#define SUBSPACE(ns, name, ident, since, until)          ROW_##ns##_##name,
#define DTYPE(ns, name, code, bits, since, until)        ROW_##ns##_##name,
#include "ir/calls.def"
  ROW_COUNT
};

enum {
  NAMESPACE_COUNT = 1
#define CALL(ns, name, signature, since, until, handler)
#define NAMESPACE(ident, path) +1
#include "ir/calls.def"
};

// One row; the last three are the handler and its two numbers.
#define ROW(index, space, row_kind, since, until, symbol, signature, ...)              \
  [index] = {space,  row_kind,  TVMS_DIALECT_##since, TVMS_DIALECT_##until,            \
             symbol, signature, __VA_ARGS__},
static const tvms_row rows[] = {
#define CALL(ns, name, signature, since, until, handler)                               \
  ROW(ROW_##ns##_##name, TVMS_NS_##ns, TVMS_ROW_CALL, since, until, TVMS_SYM_##name,   \
      signature, tvms_call_##handler, 0, 0)
#define ALSO(ns, name, signature, since, until, handler)                               \
  ROW(ROW_##ns##_##name##_##since, TVMS_NS_##ns, TVMS_ROW_CALL, since, until,          \
      TVMS_SYM_##name, signature, tvms_call_##handler, 0, 0)
#define OP(ns, name, signature, since, until, op, rule)                                \
  ROW(ROW_##ns##_##name, TVMS_NS_##ns, TVMS_ROW_CALL, since, until, TVMS_SYM_##name,   \
      signature, tvms_call_operator, TVMS_TIR_##op, TVMS_RULE_##rule)
#define OP_ALSO(ns, name, signature, since, until, op, rule)                           \
  ROW(ROW_##ns##_##name##_##since, TVMS_NS_##ns, TVMS_ROW_CALL, since, until,          \
      TVMS_SYM_##name, signature, tvms_call_operator, TVMS_TIR_##op, TVMS_RULE_##rule)
#define VALUE(ns, name, since, until, handler)                                         \
  ROW(ROW_##ns##_##name, TVMS_NS_##ns, TVMS_ROW_VALUE, since, until, TVMS_SYM_##name,  \
      NULL, tvms_call_##handler, 0, 0)
#define VALUE_ALSO(ns, name, since, until, handler)                                    \
  ROW(ROW_##ns##_##name##_##since, TVMS_NS_##ns, TVMS_ROW_VALUE, since, until,         \
      TVMS_SYM_##name, NULL, tvms_call_##handler, 0, 0)
#define SUBSPACE(ns, name, ident, since, until)                                        \
  ROW(ROW_##ns##_##name, TVMS_NS_##ns, TVMS_ROW_NAMESPACE, since, until,               \
      TVMS_SYM_##name, NULL, NULL, 0, TVMS_NS_##ident)
#define DTYPE(ns, name, code, bits, since, until)                                      \
  ROW(ROW_##ns##_##name, TVMS_NS_##ns, TVMS_ROW_DTYPE, since, until, TVMS_SYM_##name,  \
      NULL, NULL, TVMS_##code, bits)
#include "ir/calls.def"
};

// First row of each name in each namespace.
static const uint16_t first_rows[][NAMESPACE_COUNT] = {
#define CALL(ns, name, signature, since, until, handler)                               \
  [TVMS_SYM_##name][TVMS_NS_##ns] = ROW_##ns##_##name,
#define SUBSPACE(ns, name, ident, since, until)                                        \
  [TVMS_SYM_##name][TVMS_NS_##ns] = ROW_##ns##_##name,
#define DTYPE(ns, name, code, bits, since, until)                                      \
  [TVMS_SYM_##name][TVMS_NS_##ns] = ROW_##ns##_##name,
#include "ir/calls.def"
};

enum { INDEXED_NAMES = sizeof first_rows / sizeof first_rows[0] };

static const char *const namespace_paths[] = {
    "",
#define CALL(ns, name, signature, since, until, handler)
#define NAMESPACE(ident, path) path,
#include "ir/calls.def"
};

const char *tvms_namespace_text(tvms_namespace namespace_) {
  return namespace_paths[namespace_];
}

const tvms_row *tvms_row_find(const tvms_reader *reader, tvms_namespace namespace_,
                              tvms_sym name) {
  if (name >= INDEXED_NAMES) return NULL;
  uint32_t at = first_rows[name][namespace_];
  if (!at) return NULL;
  tvms_dialect dialect = tvms_release_rows(reader->dialect);
  for (; at < ROW_COUNT && rows[at].name == name && rows[at].namespace_ == namespace_;
       at++) {
    if (dialect >= rows[at].since && dialect <= rows[at].until) return &rows[at];
  }
  return NULL;
}

const char *tvms_row_text(tvms_reader *reader, const tvms_row *row) {
  const char *path = tvms_namespace_text((tvms_namespace)row->namespace_);
  const char *name = tvms_symbol_text(reader->context, row->name);
  size_t len = strlen(path) + strlen(name) + 2;
  char *text = tvms_arena_alloc(&reader->context->arena, len);
  return strcat(strcat(strcpy(text, path), "."), name);
}

// ---- Signatures -----------------------------------------------------------------------

typedef struct {
  tvms_reader *reader;
  const char *at;
} scanner;

static void skip_spaces(scanner *scan) {
  while (*scan->at == ' ' || *scan->at == ',') {
    scan->at++;
  }
}

static tvms_sym scan_name(scanner *scan) {
  const char *begin = scan->at;
  while (isalnum((unsigned char)*scan->at) || *scan->at == '_') {
    scan->at++;
  }
  return tvms_symbol_intern(scan->reader->context, begin, (size_t)(scan->at - begin));
}

static tvms_eval_value scan_word(scanner *scan, const char *word,
                                 tvms_eval_value value) {
  scan->at += strlen(word);
  return value;
}

// A default: None, True, False, a number or a string in single quotes.
static tvms_eval_value scan_default(scanner *scan) {
  const char *at = scan->at;
  if (strncmp(at, "None", 4) == 0) return scan_word(scan, "None", TVMS_NOTHING);
  if (strncmp(at, "True", 4) == 0)
    return scan_word(scan, "True", tvms_eval_value_bool(true));
  if (strncmp(at, "False", 5) == 0) {
    return scan_word(scan, "False", tvms_eval_value_bool(false));
  }
  if (*at == '\'') {
    const char *end = strchr(at + 1, '\'');
    TVMS_CHECK(end);
    scan->at = end + 1;
    return tvms_eval_value_text(at + 1, (uint32_t)(end - at - 1));
  }
  char *end;
  long number = strtol(at, &end, 10);
  if (*end == '.') {
    double real = strtod(at, &end);
    scan->at = end;
    return tvms_eval_value_float(real);
  }
  TVMS_CHECK(end > at);
  scan->at = end;
  return tvms_eval_value_int(number);
}

static tvms_param scan_param(scanner *scan, bool after_star) {
  tvms_param param = {.kind = after_star ? TVMS_PARAM_KEYWORD_ONLY : TVMS_PARAM_PLAIN,
                      .required = true};
  if (scan->at[0] == '*') {
    param.kind = scan->at[1] == '*' ? TVMS_PARAM_KEYWORDS : TVMS_PARAM_REST;
    param.required = false;
    scan->at += param.kind == TVMS_PARAM_KEYWORDS ? 2 : 1;
  }
  param.name = scan_name(scan);
  if (*scan->at == '=') {
    scan->at++;
    param.required = false;
    param.value = scan_default(scan);
  }
  return param;
}

const tvms_signature *tvms_signature_parse(tvms_reader *reader, const char *text) {
  tvms_param params[TVMS_MAX_PARAMS];
  tvms_signature head = {.rest = -1, .keywords = -1};
  scanner scan = {reader, text};
  bool after_star = false;
  for (skip_spaces(&scan); *scan.at; skip_spaces(&scan)) {
    if (scan.at[0] == '*' && (scan.at[1] == ',' || scan.at[1] == '\0')) {
      after_star = true;
      scan.at++;
      continue;
    }
    TVMS_CHECK(head.count < TVMS_MAX_PARAMS);
    tvms_param param = scan_param(&scan, after_star);
    if (param.kind == TVMS_PARAM_REST) {
      head.rest = (int32_t)head.count;
      after_star = true;
    }
    if (param.kind == TVMS_PARAM_KEYWORDS) head.keywords = (int32_t)head.count;
    if (param.kind == TVMS_PARAM_PLAIN) head.plain++;
    params[head.count++] = param;
  }
  tvms_signature *signature = tvms_arena_alloc(
      &reader->kept, sizeof *signature + head.count * sizeof signature->params[0]);
  *signature = head;
  memcpy(signature->params, params, head.count * sizeof params[0]);
  return signature;
}

const tvms_signature *tvms_row_signature(tvms_reader *reader, const tvms_row *row) {
  if (!reader->signatures) {
    reader->signatures =
        tvms_arena_array(&reader->kept, const tvms_signature *, ROW_COUNT);
  }
  const tvms_signature **slot = &reader->signatures[row - rows];
  if (!*slot) *slot = tvms_signature_parse(reader, row->signature);
  return *slot;
}

static int32_t param_index(tvms_reader *reader, const tvms_call_args *call,
                           tvms_sym name) {
  const tvms_signature *signature = tvms_row_signature(reader, call->row);
  for (uint32_t i = 0; i < signature->count; i++) {
    if (signature->params[i].name == name) return (int32_t)i;
  }
  return -1;
}

tvms_eval_value tvms_args_get(tvms_reader *reader, const tvms_call_args *call,
                              tvms_sym name) {
  int32_t i = param_index(reader, call, name);
  return i < 0 ? TVMS_NOTHING : call->args[i];
}

tvms_ref tvms_args_ref(tvms_reader *reader, const tvms_call_args *call, tvms_sym name) {
  int32_t i = param_index(reader, call, name);
  return i < 0 ? call->ref : call->refs[i];
}

bool tvms_args_given(tvms_reader *reader, const tvms_call_args *call, tvms_sym name) {
  int32_t i = param_index(reader, call, name);
  return i >= 0 && (call->given >> i & 1);
}

// ---- Names ----------------------------------------------------------------------------

bool tvms_row_span(tvms_namespace namespace_, tvms_sym name, tvms_dialect *since,
                   tvms_dialect *until) {
  if (name >= INDEXED_NAMES || !first_rows[name][namespace_]) return false;
  uint32_t at = first_rows[name][namespace_];
  *since = (tvms_dialect)rows[at].since;
  while (at + 1 < ROW_COUNT && rows[at + 1].name == name
         && rows[at + 1].namespace_ == namespace_) {
    at++;
  }
  *until = (tvms_dialect)rows[at].until;
  return true;
}

// "0.22 to 0.25" of the releases that have a name of another dialect; NULL if none has.
static const char *releases_with(tvms_reader *reader, tvms_namespace namespace_,
                                 tvms_sym name) {
  tvms_dialect since, until;
  if (!tvms_row_span(namespace_, name, &since, &until)) return NULL;
  char *text = tvms_arena_alloc(&reader->context->arena, 48);
  strcpy(text, tvms_dialect_text(since));
  if (until == TVMS_DIALECT_ever) return strcat(text, " and later");
  if (until != since) strcat(strcat(text, " to "), tvms_dialect_text(until));
  return text;
}

typedef TVMS_VEC(const char *) name_vec;

// Operators of Relax are named by ops.def: "nn.relu" is what R.nn has as `relu`.
static void add_operators(tvms_reader *reader, tvms_namespace namespace_,
                          name_vec *names) {
  const char *path = tvms_namespace_text(namespace_);
  if (path[0] != 'R') return;
  const char *below = path[1] == '.' ? path + 2 : "";
  size_t len = strlen(below);
  for (uint32_t op = TVMS_R_NONE + 1; op <= TVMS_OP_COUNT; op++) {
    if (!tvms_op_in((tvms_opcode)op, reader->dialect)) continue;
    const char *name = tvms_op_of((tvms_opcode)op)->name;
    if (strncmp(name, below, len) != 0) continue;
    name += len;
    if (len && *name++ != '.') continue;
    if (!strchr(name, '.')) tvms_vec_push(&reader->context->memory, names, name);
  }
}

static const char *nearest_name(tvms_reader *reader, tvms_namespace namespace_,
                                tvms_sym name) {
  name_vec names = {0};
  tvms_memory *memory = &reader->context->memory;
  tvms_dialect dialect = tvms_release_rows(reader->dialect);
  for (uint32_t at = 1; at < ROW_COUNT; at++) {
    const tvms_row *row = &rows[at];
    if (row->namespace_ != namespace_) continue;
    if (dialect < row->since || dialect > row->until) continue;
    tvms_vec_push(memory, &names, tvms_symbol_text(reader->context, row->name));
  }
  add_operators(reader, namespace_, &names);
  const char *near = tvms_diag_nearest_name(tvms_symbol_text(reader->context, name),
                                            names.items, names.len);
  tvms_vec_fini(memory, &names);
  return near;
}

tvms_eval_value tvms_namespace_report_unknown_name(tvms_reader *reader,
                                                   tvms_namespace namespace_,
                                                   tvms_sym name, tvms_ref ref) {
  const char *releases = releases_with(reader, namespace_, name);
  if (releases && reader->mixed) return TVMS_UNKNOWN;
  tvms_diags *diags = &reader->context->diags;
  const tvms_surf *node = tvms_reader_at(reader, ref);
  uint32_t len = tvms_interner_name(&reader->context->names, name)->len;
  tvms_span span = {node->end - len, node->end};
  tvms_diag *diag = tvms_diag_report(
      diags, TVMS_D_unknown_callable, span, tvms_namespace_text(namespace_),
      tvms_symbol_text(reader->context, name), tvms_dialect_text(reader->dialect));
  const char *never = namespace_ == TVMS_NS_R ? tvms_spelling_never(
                          TVMS_SPELLING_R, tvms_symbol_text(reader->context, name))
                                              : NULL;
  if (never) {
    tvms_diag_remark(diags, diag, "%s", never);
    return TVMS_UNKNOWN;
  }
  if (releases) tvms_diag_remark(diags, diag, "%s has it", releases);
  const char *near = nearest_name(reader, namespace_, name);
  if (near && !releases) {
    tvms_diag_remark(diags, diag, "did you mean '%s.%s'?",
                     tvms_namespace_text(namespace_), near);
    tvms_diag_fix(diags, diag, span, false, "%s", near);
  }
  return TVMS_UNKNOWN;
}

// Vector and small float types go by their text: T.float32x4, T.float8_e4m3fn. From 0.25 on
// TVM also prints types so that T has no name for, T.let[T.boolx4].
static bool dtype_name(const tvms_reader *reader, tvms_sym name, tvms_dtype *dtype) {
  const tvms_name *text = tvms_interner_name(&reader->context->names, name);
  return text->len > 3 && tvms_dtype_parse(text->text, text->len, dtype)
         && tvms_dtype_has_name(*dtype);
}

static tvms_eval_value dtype_constructor(tvms_dtype dtype) {
  return (tvms_eval_value){.kind = TVMS_EVAL_DTYPE_NAME, .as.dtype = dtype};
}

static tvms_eval_value value_of_row(tvms_reader *reader, const tvms_row *row,
                                    tvms_ref ref) {
  switch (row->kind) {
  case TVMS_ROW_CALL:
    return (tvms_eval_value){.kind = TVMS_EVAL_CALLABLE, .as.row = row};
  case TVMS_ROW_NAMESPACE:
    return (tvms_eval_value){.kind = TVMS_EVAL_NAMESPACE, .as.i = row->rule};
  case TVMS_ROW_DTYPE:
    return dtype_constructor((tvms_dtype){(uint8_t)row->op, row->rule, 1});
  case TVMS_ROW_VALUE: {
    tvms_call_args call = {.row = row, .ref = ref};
    return row->handler(reader, &call);
  }
  }
  return TVMS_UNKNOWN;
}

// T.warp.copy: a tile primitive at another scope, which goes along with the callee.
static tvms_eval_value tile_at_scope(tvms_reader *reader, tvms_namespace scope,
                                     tvms_sym name, tvms_ref ref) {
  const tvms_row *row = tvms_row_find(reader, TVMS_NS_T_tile, name);
  if (!row || row->handler != tvms_call_tile_op) {
    return tvms_namespace_report_unknown_name(reader, scope, name, ref);
  }
  tvms_eval_value value = value_of_row(reader, row, ref);
  value.spare = (uint16_t)scope;
  return value;
}

tvms_eval_value tvms_namespace_attribute(tvms_reader *reader, tvms_namespace namespace_,
                                         tvms_sym name, tvms_ref ref) {
  if (namespace_ >= TVMS_NS_T_cluster && namespace_ <= TVMS_NS_T_thread) {
    return tile_at_scope(reader, namespace_, name, ref);
  }
  const tvms_row *row = tvms_row_find(reader, namespace_, name);
  if (row) return value_of_row(reader, row, ref);
  tvms_dtype dtype;
  if (namespace_ == TVMS_NS_T && dtype_name(reader, name, &dtype)) {
    return dtype_constructor(dtype);
  }
  if (namespace_ == TVMS_NS_T) {
    const tvms_name *text = tvms_interner_name(&reader->context->names, name);
    tvms_eval_value value = tvms_spelled_operator(reader, text->text, text->len);
    if (tvms_eval_value_is_known(value)) return value;
  }
  const char *path = tvms_namespace_text(namespace_);
  if (path[0] == 'R') {
    tvms_eval_value value = tvms_relax_operator_named(reader, path, name);
    if (tvms_eval_value_is_known(value)) return value;
  }
  tvms_eval_value renamed = tvms_prototype_name(reader, namespace_, name, ref);
  if (tvms_eval_value_is_known(renamed)) return renamed;
  return tvms_namespace_report_unknown_name(reader, namespace_, name, ref);
}

// TVM prints axes that only Axis.get knows in the same way.
static bool is_axis(tvms_reader *reader, tvms_sym name) {
  return tvms_layout_axis_known(name)
         || (name != TVMS_SYM_get && tvms_reader_has_printed_header(reader));
}

static tvms_eval_value namespace_attribute(tvms_reader *reader, tvms_eval_value object,
                                           tvms_sym name, tvms_ref ref) {
  if (object.as.i == TVMS_NS_Axis && is_axis(reader, name)) {
    return (tvms_eval_value){.kind = TVMS_EVAL_AXIS, .as.sym = name};
  }
  return tvms_namespace_attribute(reader, (tvms_namespace)object.as.i, name, ref);
}

const tvms_eval_value_ops tvms_rows_namespace_ops = {.attribute = namespace_attribute};

// ---- Rows as values ---------------------------------------------------------------------

static const char *callable_describe(tvms_reader *reader, tvms_eval_value callee) {
  return tvms_row_text(reader, callee.as.row);
}

static tvms_eval_value callable_attribute(tvms_reader *reader, tvms_eval_value object,
                                          tvms_sym name, tvms_ref ref) {
  if (object.as.row->handler == tvms_call_TileLayout) {
    return tvms_namespace_attribute(reader, TVMS_NS_TileLayout, name, ref);
  }
  return tvms_no_attribute(reader, object, name, ref);
}

// `R.Tensor[shape, dtype]` of the prototype.
static bool callable_read_subscript(tvms_reader *reader, tvms_eval_value object,
                                    tvms_ref ref, tvms_eval_value *value) {
  if (object.as.row->handler != tvms_call_relax_tensor) return false;
  *value = tvms_prototype_tensor(reader, ref);
  return true;
}

// Operators that infer their dtype let one be named.
static bool ignores_dtype(const tvms_row *row) {
  return row->op || row->handler == tvms_call_fold_unary
         || row->handler == tvms_call_fold_binary
         || row->handler == tvms_call_if_then_else
         || row->handler == tvms_call_address_of || row->handler == tvms_call_ret
         || row->handler == tvms_call_tvm_access_ptr
         || row->handler == tvms_call_handle_add_byte_offset
         || row->handler == tvms_call_tvm_stack_make_array
         || row->handler == tvms_call_ret;
}

static tvms_eval_value callable_call(tvms_reader *reader, tvms_eval_value callee,
                                     tvms_ref call) {
  const tvms_row *row = callee.as.row;
  const tvms_signature *signature = tvms_row_signature(reader, row);
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_ref refs[TVMS_MAX_PARAMS];
  tvms_call_args bound = {.row = row,
                          .ref = call,
                          .args = args,
                          .refs = refs,
                          .scope = (tvms_namespace)callee.spare};
  const char *what = tvms_symbol_text(reader->context, row->name);
  if (tvms_release_has(reader->dialect, TVMS_FACT_is_prototype))
    tvms_prototype_call(reader, row, call);
  reader->drops_dtype = ignores_dtype(row);
  if (!tvms_signature_bind(reader, signature, what, call, args, refs, &bound.given)) {
    return tvms_reader_failed(reader);
  }
  return row->handler(reader, &bound);
}

const tvms_eval_value_ops tvms_rows_callable_ops = {
    .describe = callable_describe,
    .attribute = callable_attribute,
    .call = callable_call,
    .read_subscript = callable_read_subscript,
    .subscript = tvms_tir_subscript,
};
