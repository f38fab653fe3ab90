// The rows of ir/calls.def: found by namespace and name, their signatures parsed on use.
//
// A row is found through an array indexed by symbol and namespace, so `T.grid` costs one
// access; further rows of a name (other dialects) follow the first. Nothing is set up at
// start.
#include "parser/rows.h"

#include "arith/layout.h"
#include "ir/meant.h"
#include "ir/op.h"
#include "ir/respell.h"
#include "ir/tir_op.h"
#include "parser/device/handlers.h"
#include "parser/device/spelled.h"
#include "parser/eval/attribute.h"
#include "parser/eval/eval.h"
#include "parser/eval/ops.h"
#include "parser/eval/origin.h"
#include "parser/handlers.h"
#include "parser/near_names.h"
#include "parser/prototype.h"
#include "parser/relax/handlers.h"
#include "parser/relax/prototype.h"
#include "parser/relax/value.h"
#include "parser/room.h"
#include "parser/tile/handlers.h"
#include "parser/tile/room.h"
#include "parser/tir/access.h"
#include "parser/tir/handlers.h"
#include "parser/tir/tir.h"
#include "support/diag_ids.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// Traits as ir/calls.def spells them.
enum {
  DROPS_DTYPE = TVMS_TRAIT_DROPS_DTYPE,
  REGIONS = TVMS_TRAIT_REGIONS,
  LOOP = TVMS_TRAIT_LOOP,
  DEVICE = TVMS_TRAIT_DEVICE,
  SCOPED = TVMS_TRAIT_SCOPED,
  CLASS = TVMS_TRAIT_CLASS,
};

// One row: its number, kind, namespace, name and releases, and what else its kind has. Names
// are pasted before they get here: some are macros of C.
#define ROW(entry, row_kind, space, symbol, first, last, ...)                          \
  [entry] = {.namespace_ = (space),                                                    \
             .kind = TVMS_ROW_##row_kind,                                              \
             .since = TVMS_DIALECT_##first,                                            \
             .until = TVMS_DIALECT_##last,                                             \
             .name = (symbol),                                                         \
             .index = (entry),                                                         \
             __VA_ARGS__},
#define ANSWERED(answer, text, row_traits)                                             \
  .signature = (text), .handler = (answer), .traits = (row_traits)
static const tvms_row rows[] = {
#define CALL_AS(ns, name, signature, since, until, handler, traits)                    \
  ROW(TVMS_ENTRY_##ns##_##name, CALL, TVMS_NS_##ns, TVMS_SYM_##name, since, until,     \
      ANSWERED(tvms_call_##handler, signature, traits))
#define ALSO_AS(ns, name, signature, since, until, handler, traits)                    \
  ROW(TVMS_ENTRY_##ns##_##name##_##since, CALL, TVMS_NS_##ns, TVMS_SYM_##name, since,  \
      until, ANSWERED(tvms_call_##handler, signature, traits))
#define CALL(ns, name, signature, since, until, handler)                               \
  ROW(TVMS_ENTRY_##ns##_##name, CALL, TVMS_NS_##ns, TVMS_SYM_##name, since, until,     \
      ANSWERED(tvms_call_##handler, signature, 0))
#define ALSO(ns, name, signature, since, until, handler)                               \
  ROW(TVMS_ENTRY_##ns##_##name##_##since, CALL, TVMS_NS_##ns, TVMS_SYM_##name, since,  \
      until, ANSWERED(tvms_call_##handler, signature, 0))
#define OP(ns, name, signature, since, until, op, rule)                                \
  ROW(TVMS_ENTRY_##ns##_##name, CALL, TVMS_NS_##ns, TVMS_SYM_##name, since, until,     \
      ANSWERED(tvms_call_operator, signature, DROPS_DTYPE))
#define OP_ALSO(ns, name, signature, since, until, op, rule)                           \
  ROW(TVMS_ENTRY_##ns##_##name##_##since, CALL, TVMS_NS_##ns, TVMS_SYM_##name, since,  \
      until, ANSWERED(tvms_call_operator, signature, DROPS_DTYPE))
#define VALUE(ns, name, since, until, handler)                                         \
  ROW(TVMS_ENTRY_##ns##_##name, VALUE, TVMS_NS_##ns, TVMS_SYM_##name, since, until,    \
      ANSWERED(tvms_call_##handler, NULL, 0))
#define VALUE_ALSO(ns, name, since, until, handler)                                    \
  ROW(TVMS_ENTRY_##ns##_##name##_##since, VALUE, TVMS_NS_##ns, TVMS_SYM_##name, since, \
      until, ANSWERED(tvms_call_##handler, NULL, 0))
#define SUBSPACE(ns, name, ident, since, until)                                        \
  ROW(TVMS_ENTRY_##ns##_##name, NAMESPACE, TVMS_NS_##ns, TVMS_SYM_##name, since,       \
      until, .below = TVMS_NS_##ident)
#define DTYPE(ns, name, code, bits, since, until)                                      \
  ROW(TVMS_ENTRY_##ns##_##name, DTYPE, TVMS_NS_##ns, TVMS_SYM_##name, since, until,    \
      .dtype = {TVMS_##code, bits, 1})
#include "ir/calls.def"
};

// First row of each name in each namespace.
static const uint16_t first_rows[][TVMS_NS_COUNT] = {
#define CALL(ns, name, signature, since, until, handler)                               \
  [TVMS_SYM_##name][TVMS_NS_##ns] = TVMS_ENTRY_##ns##_##name,
#define SUBSPACE(ns, name, ident, since, until)                                        \
  [TVMS_SYM_##name][TVMS_NS_##ns] = TVMS_ENTRY_##ns##_##name,
#define DTYPE(ns, name, code, bits, since, until)                                      \
  [TVMS_SYM_##name][TVMS_NS_##ns] = TVMS_ENTRY_##ns##_##name,
#include "ir/calls.def"
};

// Which namespaces are scopes of threads.
static const bool is_scope[] = {
#define CALL(ns, name, signature, since, until, handler)
#define SCOPE(ident, path)     [TVMS_NS_##ident] = true,
#define NAMESPACE(ident, path) [TVMS_NS_##ident] = false,
#include "ir/calls.def"
};

// The namespace of this full name; NONE if there is none.
static tvms_namespace namespace_named(const char *path) {
  for (uint32_t i = 1; i < TVMS_NS_COUNT; i++) {
    tvms_namespace namespace_ = (tvms_namespace)i;
    if (strcmp(tvms_namespace_text(namespace_), path) == 0) return namespace_;
  }
  return TVMS_NS_NONE;
}

enum { INDEXED_NAMES = sizeof first_rows / sizeof first_rows[0] };

const tvms_row *tvms_rows_find(tvms_namespace namespace_, tvms_sym name,
                               tvms_dialect dialect) {
  if (name >= INDEXED_NAMES) return NULL;
  uint32_t at = first_rows[name][namespace_];
  if (!at) return NULL;
  dialect = tvms_release_rows(dialect);
  for (;
       at < TVMS_ENTRIES && rows[at].name == name && rows[at].namespace_ == namespace_;
       at++) {
    if (dialect >= rows[at].since && dialect <= rows[at].until) return &rows[at];
  }
  return NULL;
}

const tvms_row *tvms_rows_at(uint32_t index) {
  return &rows[index];
}

// ---- Names ----------------------------------------------------------------------------

bool tvms_row_span(tvms_namespace namespace_, tvms_sym name, tvms_dialect *since,
                   tvms_dialect *until) {
  if (name >= INDEXED_NAMES || !first_rows[name][namespace_]) return false;
  uint32_t at = first_rows[name][namespace_];
  *since = (tvms_dialect)rows[at].since;
  while (at + 1 < TVMS_ENTRIES && rows[at + 1].name == name
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

static tvms_meant_place meant_below(tvms_namespace namespace_) {
  return tvms_namespace_text(namespace_)[0] == 'R' ? TVMS_MEANT_R : TVMS_MEANT_T;
}

// "did you mean 'R.nn.relu'?", with a fix for what follows the name of the family, whatever
// the text calls that.
static void suggest(tvms_reader *reader, tvms_diag *diag, const tvms_surf *node,
                    tvms_namespace namespace_, tvms_sym name, const char *near) {
  tvms_diags *diags = &reader->context->diags;
  tvms_diag_remark(diags, diag, "did you mean '%s'?", near);
  const char *path = tvms_namespace_text(namespace_);
  uint32_t len = tvms_interner_name(&reader->context->names, name)->len;
  tvms_span span = {node->end - len, node->end};
  size_t skip = strlen(path);
  if (strncmp(near, path, skip) != 0 || near[skip] != '.') {
    // Another namespace of the family: replaced, too, if it is written here as it is called.
    skip = strcspn(path, ".");
    uint32_t more = (uint32_t)(strlen(path) - skip);
    const char *text = reader->surface->source->text;
    if (span.begin < node->begin + more + 2) return;
    span.begin -= more;
    if (more && memcmp(text + span.begin - 1, path + skip, more) != 0) return;
  }
  tvms_diag_fix(diags, diag, span, false, "%s", near + skip + 1);
}

tvms_eval_value tvms_namespace_report_unknown_name(tvms_reader *reader,
                                                   tvms_namespace namespace_,
                                                   tvms_sym name, tvms_ref ref) {
  const char *releases = releases_with(reader, namespace_, name);
  if (releases && reader->mixed) return TVMS_UNKNOWN;
  const char *text = tvms_symbol_text(reader->context, name);
  tvms_diags *diags = &reader->context->diags;
  const tvms_surf *node = tvms_reader_at(reader, ref);
  uint32_t len = tvms_interner_name(&reader->context->names, name)->len;
  tvms_span span = {node->end - len, node->end};
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_unknown_callable, span,
                                     tvms_namespace_text(namespace_), text,
                                     tvms_dialect_text(reader->dialect));
  const char *never =
      namespace_ == TVMS_NS_R ? tvms_spelling_never(TVMS_SPELLING_R, text) : NULL;
  if (never) {
    tvms_diag_remark(diags, diag, "%s", never);
    return TVMS_UNKNOWN;
  }
  if (releases) tvms_diag_remark(diags, diag, "%s has it", releases);
  const char *near = releases && !tvms_meant_find(meant_below(namespace_), text)
                         ? NULL
                         : tvms_near_name_below(reader, namespace_, text);
  if (near) suggest(reader, diag, node, namespace_, name, near);
  const char *own = tvms_near_name_alone(reader, text);
  if (own && *own != *tvms_namespace_text(namespace_))
    tvms_diag_remark(diags, diag, "did you mean '%s'?", own);
  return TVMS_UNKNOWN;
}

// Vector and small float types go by their text: T.float32x4, T.float8_e4m3fn. From 0.25 on
// TVM also prints types so that T has no name for, T.let[T.boolx4], T.int28: those of
// scalars are known in printed text only.
static bool dtype_name(tvms_reader *reader, tvms_sym name, tvms_dtype *dtype) {
  const tvms_name *text = tvms_interner_name(&reader->context->names, name);
  // T.float is not T.float32.
  bool sized = strpbrk(text->text, "0123456789") != NULL || text->text[0] != 'f';
  return text->len > 3 && sized && tvms_dtype_parse(text->text, text->len, dtype)
         && (tvms_dtype_has_name(*dtype) || tvms_reader_has_printed_header(reader));
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
    return (tvms_eval_value){.kind = TVMS_EVAL_NAMESPACE, .as.i = row->below};
  case TVMS_ROW_DTYPE: return dtype_constructor(row->dtype);
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
  if (!row || !tvms_row_has(row, TVMS_TRAIT_SCOPED)) {
    return tvms_namespace_report_unknown_name(reader, scope, name, ref);
  }
  tvms_eval_value value = value_of_row(reader, row, ref);
  value.spare = (uint16_t)scope;
  return value;
}

tvms_eval_value tvms_namespace_attribute(tvms_reader *reader, tvms_namespace namespace_,
                                         tvms_sym name, tvms_ref ref) {
  if (is_scope[namespace_]) {
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
  const tvms_row *row = object.as.row;
  if (!tvms_row_has(row, TVMS_TRAIT_CLASS)) {
    return tvms_eval_report_no_attribute(reader, object, name, ref);
  }
  tvms_namespace below = namespace_named(tvms_row_text(reader, row));
  return tvms_namespace_attribute(reader, below, name, ref);
}

// `R.Tensor[shape, dtype]` of the prototype.
static bool callable_read_subscript(tvms_reader *reader, tvms_eval_value object,
                                    tvms_ref ref, tvms_eval_value *value) {
  const tvms_row *row = object.as.row;
  if (row->namespace_ != TVMS_NS_R || row->name != TVMS_SYM_Tensor) return false;
  *value = tvms_prototype_tensor(reader, ref);
  return true;
}

static tvms_eval_value callable_call(tvms_reader *reader, tvms_eval_value callee,
                                     tvms_ref call) {
  const tvms_row *row = callee.as.row;
  const tvms_signature *signature = tvms_row_signature(reader, row);
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_ref refs[TVMS_MAX_PARAMS];
  tvms_call_args bound = {.row = row,
                          .signature = signature,
                          .ref = call,
                          .args = args,
                          .refs = refs,
                          .spare = callee.spare};
  const char *what = tvms_symbol_text(reader->context, row->name);
  if (tvms_release_has(reader->dialect, TVMS_FACT_is_prototype))
    tvms_prototype_call(reader, row, call);
  if (!tvms_signature_bind(reader, signature, what, row->traits, call, args, refs,
                           &bound.given)) {
    return tvms_reader_failed(reader);
  }
  return tvms_row_answer(reader, &bound);
}

const tvms_eval_value_ops tvms_rows_callable_ops = {
    .describe = callable_describe,
    .attribute = callable_attribute,
    .call = callable_call,
    .read_subscript = callable_read_subscript,
    .subscript = tvms_tir_subscript,
};
