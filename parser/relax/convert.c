// From evaluated values to values of Relax.
//
// Relax takes Python's numbers, lists and functions where it wants values, and what they
// become depends on the place: 1 is a dimension in a shape, a scalar among arguments,
// and never a tensor, which R.const makes. NULL after a report, or silently for what is
// unknown.
#include "parser/relax/convert.h"

#include "grammar/nested.h"
#include "ir/fold.h"
#include "parser/eval/assume.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/scope.h"
#include "parser/eval/undefined.h"
#include "parser/relax/member.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

bool tvms_relax_is_expr(const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_VAR:
  case TVMS_NODE_CALL: return node->sinfo && tvms_dtype_is_void(node->dtype);
  case TVMS_NODE_CONSTANT:
  case TVMS_NODE_SHAPE_EXPR:
  case TVMS_NODE_PRIM_VALUE:
  case TVMS_NODE_DTYPE_IMM:
  case TVMS_NODE_TUPLE:
  case TVMS_NODE_TUPLE_GET_ITEM:
  case TVMS_NODE_IF:
  case TVMS_NODE_SEQ_EXPR:
  case TVMS_NODE_FUNCTION:
  case TVMS_NODE_EXTERN_FUNC: return true;
  default: return false;
  }
}

// True for values of TIR: what may stand in a shape or as a scalar.
static bool is_tir_expr(const tvms_node *node) {
  return tvms_node_class_of(node) == TVMS_CLASS_EXPR
         && !tvms_dtype_is_void(node->dtype);
}

tvms_node *tvms_relax_prim(tvms_reader *reader, tvms_node *value) {
  tvms_prim_value *prim = tvms_node_make(reader->unit, PRIM_VALUE, value->span);
  prim->value = value;
  prim->head.sinfo = tvms_sinfo_prim_new(reader->unit, value->dtype, value);
  return &prim->head;
}

tvms_node *tvms_relax_tuple(tvms_reader *reader, tvms_node *const *fields,
                            uint32_t count, tvms_span span) {
  tvms_unit *unit = reader->unit;
  tvms_tuple *tuple = tvms_node_make(unit, TUPLE, span);
  tuple->fields = tvms_list_copy(unit, fields, count);
  tvms_list types = tvms_list_copy(unit, fields, count);
  for (uint32_t i = 0; i < count; i++) {
    types.items[i] = tvms_sinfo_of(unit, fields[i]);
  }
  tuple->head.sinfo = tvms_sinfo_tuple_new(unit, types.items, count);
  return &tuple->head;
}

static tvms_node *TVMS_NULLABLE tuple_of(tvms_reader *reader, tvms_eval_value value,
                                         bool bools, tvms_ref ref) {
  tvms_node **fields = tvms_arena_array(&reader->values, tvms_node *, value.len + 1);
  bool known = true;
  // TVM prints tuples; a list was written by hand.
  bool inside = bools && value.kind != TVMS_EVAL_LIST;
  for (uint32_t i = 0; i < value.len; i++) {
    // What is wrong with one was said; the others may follow from it.
    if (!tvms_eval_value_is_known(value.as.items[i])) return NULL;
  }
  for (uint32_t i = 0; i < value.len; i++) {
    fields[i] = tvms_relax_to_value_as(reader, value.as.items[i], inside, ref);
    known = known && fields[i];
  }
  if (!known) return NULL;
  return tvms_relax_tuple(reader, fields, value.len, tvms_reader_span_of(reader, ref));
}

static tvms_node *string_value(tvms_reader *reader, tvms_eval_value value,
                               tvms_span span) {
  tvms_node *node = tvms_string_imm_new(reader->unit, value.as.text, value.len, span);
  node->dtype = (tvms_dtype){0};
  node->sinfo = tvms_sinfo_string_new(reader->unit);
  return node;
}

// A function of the module as a value.
static tvms_node *with_type(tvms_reader *reader, tvms_node *global_var) {
  if (global_var->sinfo || !reader->module) return global_var;
  const tvms_member *member =
      tvms_module_find(reader->module, tvms_as_global_var(global_var)->name);
  if (member) global_var->sinfo = tvms_relax_member_type(reader, member);
  return global_var;
}

// The dotted name behind `name =`, or the name itself.
static tvms_span behind_equals(const tvms_reader *reader, tvms_span name) {
  const char *text = reader->surface->source->text;
  uint32_t at = name.end + (uint32_t)strspn(text + name.end, " ");
  if (text[at] != '=') return name;
  at += 1 + (uint32_t)strspn(text + at + 1, " ");
  uint32_t end = at;
  while (isalnum((unsigned char)text[end]) || text[end] == '_' || text[end] == '.') {
    end++;
  }
  return end > at ? (tvms_span){at, end} : name;
}

// The name that was bound to the operator last, or NULL.
static const tvms_binding *TVMS_NULLABLE binding_of_operator(const tvms_reader *reader,
                                                             tvms_eval_value op) {
  for (uint32_t i = reader->scopes.len; i-- > 1;) {
    for (tvms_binding *b = reader->scopes.items[i].newest; b; b = b->next) {
      bool same = b->value.kind == op.kind && b->value.spare == op.spare
                  && b->value.as.i == op.as.i;
      if (same) return b;
    }
  }
  return NULL;
}

// `y = R.exp`, which is found out where `y` is used, is reported where the operator stands.
static void report_no_value(tvms_reader *reader, tvms_eval_value value, tvms_ref ref) {
  reader->failed = true;
  if (value.kind != TVMS_EVAL_RELAX || value.spare != TVMS_RELAX_OP) {
    tvms_eval_report_wrong_type(reader, ref, NULL, "a value of Relax", value);
    return;
  }
  const tvms_binding *binding = binding_of_operator(reader, value);
  tvms_span used = tvms_reader_span_of(reader, ref);
  const char *name = tvms_op_of((tvms_opcode)value.as.i)->name;
  tvms_diags *diags = &reader->context->diags;
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_operator_not_called,
                       binding ? behind_equals(reader, binding->span) : used, name);
  tvms_diag_remark(diags, diag, "call it: R.%s(...)", name);
  if (binding) tvms_diag_note(diags, diag, used, "its result is wanted here");
}

tvms_node *TVMS_NULLABLE tvms_relax_to_value_as(tvms_reader *reader,
                                                tvms_eval_value value, bool bools,
                                                tvms_ref ref) {
  tvms_unit *unit = reader->unit;
  tvms_span span = tvms_reader_span_of(reader, ref);
  switch ((int)value.kind) {
  case TVMS_EVAL_UNKNOWN: reader->failed = true; return NULL;
  case TVMS_EVAL_BOOL:
    // Python's True is the integer 1, but TVM prints a bool so too.
    if (bools) {
      return tvms_relax_prim(reader, tvms_bool_imm_new(unit, value.as.i, span));
    }
    // fallthrough
  case TVMS_EVAL_INT: {
    tvms_node *number = tvms_build_int(unit, TVMS_DTYPE(INT, 64), value.as.i, span);
    return number ? tvms_relax_prim(reader, number) : NULL;
  }
  case TVMS_EVAL_FLOAT: {
    tvms_node *number = tvms_build_float(unit, TVMS_DTYPE(FLOAT, 64), value.as.f, span);
    return number ? tvms_relax_prim(reader, number) : NULL;
  }
  case TVMS_EVAL_STR: return string_value(reader, value, span);
  case TVMS_EVAL_TUPLE:
  case TVMS_EVAL_LIST: return tuple_of(reader, value, bools, ref);
  case TVMS_EVAL_NODE: {
    tvms_node *node = value.as.node;
    if (node->kind == TVMS_NODE_GLOBAL_VAR) return with_type(reader, node);
    if (tvms_relax_is_expr(node)) return node;
    if (node->kind == TVMS_NODE_STRING_IMM) return node;
    if (node->kind == TVMS_NODE_VAR && node->sinfo) return node;
    if (is_tir_expr(node)) return tvms_relax_prim(reader, node);
    break;
  }
  default: break;
  }
  report_no_value(reader, value, ref);
  return NULL;
}

tvms_node *TVMS_NULLABLE tvms_relax_to_value(tvms_reader *reader, tvms_eval_value value,
                                             tvms_ref ref) {
  const tvms_relax_state *relax = tvms_relax_of(reader);
  return tvms_relax_to_value_as(reader, value, relax && relax->reading.bools, ref);
}

bool tvms_relax_hands_bools(const tvms_reader *reader) {
  return tvms_relax_of(reader)->reading.bools
         || tvms_release_has(reader->dialect, TVMS_FACT_scalars_are_tir);
}

tvms_node *TVMS_NULLABLE tvms_relax_to_prim(tvms_reader *reader, tvms_eval_value value,
                                            tvms_ref ref) {
  bool old = !tvms_release_has(reader->dialect, TVMS_FACT_scalars_are_tir);
  tvms_span span = tvms_reader_span_of(reader, ref);
  if (value.kind == TVMS_EVAL_FLOAT && old) {
    tvms_node *number =
        tvms_build_float(reader->unit, TVMS_DTYPE(FLOAT, 32), value.as.f, span);
    return number ? tvms_relax_prim(reader, number) : NULL;
  }
  if (value.kind != TVMS_EVAL_BOOL || old)
    return tvms_relax_to_value(reader, value, ref);
  return tvms_relax_prim(reader, tvms_bool_imm_new(reader->unit, value.as.i, span));
}

// ---- Shapes ----

// Text in a signature, "n" or "n + 1", as a value of TIR.
static tvms_eval_value value_of_text(tvms_reader *reader, tvms_eval_value value,
                                     tvms_ref *ref) {
  if (!tvms_relax_in_signature(reader)) {
    if (!tvms_eval_item_before_has(reader, TVMS_D_text_in_shape, *ref))
      tvms_reader_report(reader, text_in_shape, *ref);
    return TVMS_UNKNOWN;
  }
  tvms_ref expr = 0;
  if (tvms_surface_is_string(reader->surface, *ref)) {
    uint32_t errors = reader->context->diags.errors;
    expr = tvms_surface_parse_string(reader->surface, *ref);
    if (reader->context->diags.errors > errors) return TVMS_UNKNOWN;
  }
  if (expr) {
    *ref = expr;
    return tvms_eval(reader, expr);
  }
  // Text whose place in the source is not known: a name is all that it may be.
  tvms_sym name = tvms_symbol_intern(reader->context, value.as.text, value.len);
  const tvms_binding *binding = tvms_scope_lookup(reader, name);
  if (binding) return binding->value;
  tvms_eval_report_undefined_name(reader, name, tvms_reader_span_of(reader, *ref));
  return TVMS_UNKNOWN;
}

tvms_node *TVMS_NULLABLE tvms_relax_to_scalar(tvms_reader *reader,
                                              tvms_eval_value value, tvms_ref ref,
                                              const char *what, const char *expected) {
  if (value.kind == TVMS_EVAL_STR && tvms_relax_of(reader)) {
    value = value_of_text(reader, value, &ref);
  }
  if (value.kind == TVMS_EVAL_UNKNOWN) {
    reader->failed = true;
    return NULL;
  }
  if (value.kind == TVMS_EVAL_INT) {
    return tvms_build_int(reader->unit, TVMS_DTYPE(INT, 64), value.as.i,
                          tvms_reader_span_of(reader, ref));
  }
  tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  if (node && node->kind == TVMS_NODE_PRIM_VALUE) {
    node = tvms_as_prim_value(node)->value;
  }
  if (node && is_tir_expr(node) && node->dtype.lanes == 1) return node;
  tvms_eval_report_wrong_type(reader, ref, what, expected, value);
  reader->failed = true;
  return NULL;
}

tvms_node *TVMS_NULLABLE tvms_relax_to_dim(tvms_reader *reader, tvms_eval_value value,
                                           tvms_ref ref) {
  tvms_eval_assume_wanted(reader, value, TVMS_WANTED_NUMBER);
  tvms_node *node =
      tvms_relax_to_scalar(reader, value, ref, "a dimension", "an integer");
  if (!node) return NULL;
  char text[TVMS_DTYPE_TEXT];
  if (!tvms_dtype_is_int(node->dtype) && !tvms_dtype_is_uint(node->dtype)) {
    tvms_eval_report_wrong_type(reader, ref, "a dimension", "an integer",
                                tvms_eval_value_node(node));
  } else if (node->dtype.bits != 64 && node->kind != TVMS_NODE_INT_IMM) {
    tvms_reader_report(reader, dim_not_int64, ref, tvms_dtype_text(node->dtype, text));
  } else {
    return node;
  }
  reader->failed = true;
  return NULL;
}

// The first item of a tuple or list that is written out, or 0.
static tvms_ref first_item(tvms_reader *reader, tvms_ref list) {
  uint8_t kind = tvms_reader_at(reader, list)->kind;
  bool written = kind == TVMS_SURF_TUPLE || kind == TVMS_SURF_LIST;
  return written ? tvms_reader_at(reader, list)->a : 0;
}

bool tvms_relax_explain_parens(tvms_reader *reader, tvms_diag *diag, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  if (!node->parens) return false;
  tvms_diags *diags = &reader->context->diags;
  uint32_t end = tvms_reader_span_of(reader, ref).end;
  tvms_diag_remark(diags, diag, "parentheses alone do not make a tuple");
  tvms_diag_fix(diags, diag, (tvms_span){end, end}, true, ",");
  return true;
}

tvms_node *TVMS_NULLABLE tvms_relax_to_shape(tvms_reader *reader, tvms_eval_value value,
                                             tvms_ref ref) {
  if (value.kind == TVMS_EVAL_NODE) {
    tvms_node *node = value.as.node;
    bool shape =
        node->kind == TVMS_NODE_SHAPE_EXPR || (node->sinfo && tvms_relax_is_expr(node));
    if (shape) return node;
  }
  if (!tvms_eval_value_is_sequence(value)) {
    reader->failed = true;
    if (!tvms_eval_value_is_known(value)) return NULL;
    tvms_diag *diag = tvms_reader_report(reader, wrong_type, ref, "a shape",
                                         "a tuple or list of dimensions",
                                         tvms_eval_describe(reader, value));
    tvms_relax_explain_parens(reader, diag, ref);
    if (value.kind == TVMS_EVAL_INT)
      tvms_diag_remark(&reader->context->diags, diag, "write (%lld,)",
                       (long long)value.as.i);
    return NULL;
  }
  tvms_node **dims = tvms_arena_array(&reader->values, tvms_node *, value.len + 1);
  bool known = true;
  tvms_ref item = first_item(reader, ref);
  for (uint32_t i = 0; i < value.len; i++) {
    bool own = item && tvms_reader_at(reader, item)->kind != TVMS_SURF_STAR;
    dims[i] = tvms_relax_to_dim(reader, value.as.items[i], own ? item : ref);
    known = known && dims[i];
    if (item) item = tvms_reader_at(reader, item)->next;
  }
  if (!known) {
    reader->failed = true;
    return NULL;
  }
  return tvms_sinfo_shape_value_new(reader->unit, dims, value.len,
                                    tvms_reader_span_of(reader, ref));
}

// ---- Constants ----

// The bits of the nearest binary16, ties to even.
static uint16_t half_of(double value) {
  uint32_t sign = signbit(value) ? 0x8000 : 0;
  double size = fabs(value);
  uint32_t bits;
  if (isnan(value)) {
    bits = 0x7E00;
  } else if (size >= 65520) {  // nearer to 2^16 than to the largest number
    bits = 0x7C00;
  } else if (size < 0x1p-14) {
    bits = (uint32_t)nearbyint(size * 0x1p24);
  } else {
    int exponent;
    double fraction = nearbyint(frexp(size, &exponent) * 2048);
    bits = ((uint32_t)(exponent + 14) << 10) + (uint32_t)fraction - 1024;
  }
  return (uint16_t)(sign | bits);
}

// A number as the bytes of an element of a constant.
static void encode(tvms_eval_value value, tvms_dtype dtype, uint8_t *bytes) {
  double real = value.kind == TVMS_EVAL_FLOAT ? value.as.f : (double)value.as.i;
  if (dtype.code == TVMS_FLOAT && dtype.bits == 64) {
    memcpy(bytes, &real, 8);
    return;
  }
  if (dtype.code == TVMS_FLOAT && dtype.bits == 32) {
    float single = (float)real;
    memcpy(bytes, &single, 4);
    return;
  }
  if (dtype.code == TVMS_FLOAT && dtype.bits == 16) {
    uint16_t half = half_of(real);
    bytes[0] = (uint8_t)half;
    bytes[1] = (uint8_t)(half >> 8);
    return;
  }
  if (dtype.code == TVMS_BFLOAT && dtype.bits == 16) {
    float single = (float)real;
    uint32_t bits;
    memcpy(&bits, &single, 4);
    // Round to nearest, ties to even; a NaN stays one.
    uint32_t rounded =
        isnan(single) ? bits | 0x400000u : bits + 0x7FFF + (bits >> 16 & 1);
    bytes[0] = (uint8_t)(rounded >> 16);
    bytes[1] = (uint8_t)(rounded >> 24);
    return;
  }
  int64_t whole = value.kind == TVMS_EVAL_FLOAT ? (int64_t)value.as.f : value.as.i;
  if (dtype.code == TVMS_BOOL) whole = real != 0;
  for (int i = 0; i < (dtype.bits + 7) / 8; i++) {
    bytes[i] = (uint8_t)((uint64_t)whole >> (8 * i));
  }
}

enum { MOST_AXES = 16 };

// The elements of nested lists, and the lengths of the lists.
typedef struct {
  tvms_reader *reader;
  int64_t dims[MOST_AXES];
  uint32_t ndim;
  bool deepest;  // an element was seen: ndim is final
  bool floats;   // one of them is a float
  bool others;   // one of them is not a bool
  TVMS_VEC(tvms_eval_value) elements;
} tensor_text;

// False if the lists are ragged, too deep, or hold something that is not a number.
static bool collect(tensor_text *t, tvms_eval_value value, uint32_t depth) {
  if (tvms_eval_value_is_sequence(value)) {
    if (depth == MOST_AXES || (t->deepest && depth >= t->ndim)) return false;
    bool first = depth == t->ndim;
    if (first) t->dims[t->ndim++] = value.len;
    if (!first && t->dims[depth] != value.len) return false;
    for (uint32_t i = 0; i < value.len; i++) {
      if (!collect(t, value.as.items[i], depth + 1)) return false;
    }
    return true;
  }
  bool number = value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_FLOAT
                || value.kind == TVMS_EVAL_BOOL;
  if (!number || depth != t->ndim) return false;
  t->deepest = true;
  t->floats = t->floats || value.kind == TVMS_EVAL_FLOAT;
  t->others = t->others || value.kind != TVMS_EVAL_BOOL;
  tvms_vec_push(&t->reader->context->memory, &t->elements, value);
  return true;
}

static tvms_node *make_constant(tensor_text *t, tvms_dtype dtype, const uint8_t *bytes,
                                size_t size, tvms_span span) {
  tvms_unit *unit = t->reader->unit;
  tvms_constant *constant = tvms_node_make(unit, CONSTANT, span);
  tvms_node *dims[MOST_AXES];
  for (uint32_t i = 0; i < t->ndim; i++) {
    dims[i] = tvms_sinfo_dim_new(unit, t->dims[i]);
  }
  constant->element = dtype;
  constant->shape = tvms_list_copy(unit, dims, t->ndim);
  constant->data = tvms_bytes_copy(unit, (const char *)bytes, size);
  tvms_node *shape = tvms_sinfo_shape_value_new(unit, dims, t->ndim, TVMS_NO_SPAN);
  constant->head.sinfo = tvms_sinfo_tensor_new(unit, shape, dtype, NULL);
  return &constant->head;
}

// Constants are arrays of NumPy, which has these types and no others.
static bool is_of_constant(tvms_dtype dtype) {
  bool power_of_two = (dtype.bits & (dtype.bits - 1)) == 0 && dtype.bits <= 64;
  if (dtype.lanes != 1 || !power_of_two) return false;
  switch ((int)dtype.code) {
  case TVMS_INT:
  case TVMS_UINT:
  case TVMS_BOOL: return true;
  case TVMS_FLOAT: return dtype.bits >= 16;
  case TVMS_BFLOAT: return dtype.bits == 16;
  default: return false;
  }
}

// The data type of `R.const(x, "float32")`, or the call if it names none.
static tvms_ref written_dtype(const tvms_reader *reader, tvms_ref ref) {
  const tvms_surf *call = tvms_reader_at(reader, ref);
  tvms_ref second = call->kind == TVMS_SURF_CALL && call->b
                        ? tvms_reader_at(reader, call->b)->next
                        : 0;
  if (!second) return ref;
  const tvms_surf *node = tvms_reader_at(reader, second);
  return node->kind == TVMS_SURF_KEYWORD ? node->b : second;
}

tvms_node *TVMS_NULLABLE tvms_relax_const(tvms_reader *reader, tvms_eval_value value,
                                          tvms_dtype dtype, tvms_ref ref) {
  tvms_memory *memory = &reader->context->memory;
  tensor_text t = {.reader = reader};
  bool sound = collect(&t, value, 0);
  if (tvms_dtype_is_void(dtype)) {
    dtype = t.floats   ? TVMS_DTYPE(FLOAT, 32)
            : t.others ? TVMS_DTYPE(INT, 32)
                       : TVMS_DTYPE(BOOL, 1);
  }
  if (sound && !is_of_constant(dtype)) {
    char text[TVMS_DTYPE_TEXT];
    tvms_reader_report(reader, constant_dtype, written_dtype(reader, ref),
                       tvms_dtype_text(dtype, text));
    reader->failed = true;
    tvms_vec_fini(memory, &t.elements);
    return NULL;
  }
  size_t each = (dtype.bits + 7u) / 8, size = each * t.elements.len;
  tvms_mark mark = tvms_arena_mark(&reader->context->scratch);
  uint8_t *bytes = tvms_arena_alloc(&reader->context->scratch, size + 8);
  for (uint32_t i = 0; i < t.elements.len && sound; i++) {
    encode(t.elements.items[i], dtype, bytes + i * each);
  }
  tvms_node *constant = NULL;
  if (sound) {
    constant = make_constant(&t, dtype, bytes, size, tvms_reader_span_of(reader, ref));
  } else {
    tvms_eval_report_wrong_type(reader, ref, "a constant",
                                "a number or lists of equal length of them", value);
    reader->failed = true;
  }
  tvms_arena_reset(&reader->context->scratch, mark);
  tvms_vec_fini(memory, &t.elements);
  return constant;
}
