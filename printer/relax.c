// Values of Relax: constants, tuples, shapes, variables, functions.
#include "printer/relax.h"

#include "printer/call.h"
#include "printer/expr.h"
#include "printer/metadata.h"
#include "printer/names.h"
#include "printer/object.h"
#include "printer/sinfo.h"
#include "printer/state.h"
#include "printer/text.h"

#include <math.h>

// ---- Constants ----

static double half_value(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  int fraction = bits & 1023;
  double value;
  if (exponent == 31)
    value = fraction ? (double)NAN : (double)INFINITY;
  else if (exponent == 0)
    value = ldexp(fraction, -24);
  else
    value = ldexp(fraction + 1024, exponent - 25);
  return bits >> 15 ? -value : value;
}

// Returns false for kinds of scalars that have no literal.
static bool print_scalar(tvms_printer *p, const tvms_constant *constant) {
  tvms_dtype d = constant->element;
  const char *data = constant->data.text;
  uint32_t bytes = d.code == TVMS_BOOL ? 1 : d.bits / 8u;
  if (constant->shape.len || d.lanes != 1 || constant->data.len < bytes) return false;
  if (d.code == TVMS_INT && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)) {
    uint64_t raw = 0;
    memcpy(&raw, data, bytes);
    uint32_t unused = 64 - bytes * 8;
    tvms_print_int(p, (int64_t)(raw << unused) >> unused);
    return true;
  }
  if (d.code == TVMS_BOOL) {
    tvms_print_put(p, *data ? "True" : "False");
    return true;
  }
  if (d.code != TVMS_FLOAT) return false;
  uint16_t half;
  float single;
  double value;
  if (bytes == 2) {
    memcpy(&half, data, sizeof half);
    value = half_value(half);
  } else if (bytes == 4) {
    memcpy(&single, data, sizeof single);
    value = (double)single;
  } else {
    memcpy(&value, data, sizeof value);
  }
  tvms_print_float(p, value);
  return true;
}

void tvms_print_constant(tvms_printer *p, const tvms_node *node) {
  const tvms_constant *constant = tvms_as_constant(node);
  bool distributed = node->sinfo && node->sinfo->kind == TVMS_NODE_SINFO_DTENSOR;
  size_t from = p->out->len;
  if (constant->omitted) {
    tvms_print_metadata_ref(p, node);
    return;
  }
  tvms_print_r(p, distributed ? "dist.const(" : "const(");
  if (!print_scalar(p, constant)) {
    p->out->len = from;
    tvms_print_metadata_ref(p, node);
    return;
  }
  PUT(p, ", ");
  if (distributed)
    tvms_print_sinfo(p, node->sinfo);
  else
    tvms_print_quoted_dtype(p, constant->element);
  PUT(p, ")");
}

// ---- Variables ----

// A variable that nothing defines is declared by its type, before the statement.
void tvms_print_relax_var(tvms_printer *p, const tvms_node *var) {
  uint32_t frame = tvms_print_top_index(p);
  tvms_strbuf type;
  tvms_strbuf_init(&type, p->memory);
  tvms_strbuf *before = tvms_print_redirect(p, &type);
  if (var->sinfo) tvms_print_sinfo(p, var->sinfo);
  tvms_print_redirect(p, before);
  print_added line;
  tvms_print_begin_line(p, &line, frame);
  tvms_print_sym(p, tvms_print_define(p, var, frame));
  PUT(p, ": ");
  tvms_strbuf_add(p->out, type.text, type.len);
  tvms_print_end_line(p, &line);
  tvms_strbuf_fini(&type);
}

// The function whose header holds symbolic variables: the outermost one in the classic
// dialect and in 0.25, the innermost one later.
static uint32_t header_frame(const tvms_printer *p) {
  bool outermost = tvms_release_has(p->dialect, TVMS_FACT_dims_belong_to_outermost);
  uint32_t found = UINT32_MAX;
  for (uint32_t i = 0; i < p->frames.len; i++) {
    if (p->frames.items[i].kind != FRAME_RELAX || !p->frames.items[i].is_function) {
      continue;
    }
    if (found == UINT32_MAX || !outermost) found = i;
  }
  return found;
}

void tvms_print_tir_var_in_relax(tvms_printer *p, const tvms_node *var) {
  uint32_t frame = header_frame(p);
  if (frame == UINT32_MAX) return;
  bool is_param = tvms_print_name_of(p, var)->index == PRINT_PRIM_PARAM;
  tvms_sym name = tvms_print_define(p, var, frame);
  // While a signature is written its function is the innermost one.
  uint32_t innermost = tvms_print_top_index(p);
  if (p->quotes && frame == innermost) {
    print_name *info = tvms_print_name_of(p, var);
    info->signature = true;
    tvms_vec_push(p->memory, &p->signed_vars, var);
    if (tvms_release_has(p->dialect, TVMS_FACT_dims_are_type_vars) && !is_param) {
      info->type_var = true;
      tvms_vec_push(p->memory, &p->type_vars, var);
      return;
    }
  }
  print_added line;
  tvms_print_begin_line(p, &line, frame);
  tvms_print_sym(p, name);
  PUT(p, " = ");
  tvms_print_var_creation(p, var);
  tvms_print_end_line(p, &line);
}

// `cls`, defined once in the header of a function.
void tvms_print_alias_name(tvms_printer *p) {
  uint32_t frame = header_frame(p);
  if (frame != UINT32_MAX && !p->frames.items[frame].has_alias) {
    print_added line;
    tvms_print_begin_line(p, &line, frame);
    PUT(p, "cls = Module");
    tvms_print_end_line(p, &line);
    p->frames.items[frame].has_alias = true;
  }
  PUT(p, "cls");
}

// ---- Other values ----

static void print_shape(tvms_printer *p, const tvms_node *node) {
  tvms_list values = tvms_as_shape_expr(node)->values;
  tvms_print_r(p, "shape([");
  for (uint32_t i = 0; i < values.len; i++) {
    if (i) PUT(p, ", ");
    tvms_print_shape_dim(p, values.items[i]);
  }
  PUT(p, "])");
}

static void print_tuple(tvms_printer *p, const tvms_node *node) {
  tvms_list fields = tvms_as_tuple(node)->fields;
  if (fields.len == 0) {
    tvms_print_r(p, "tuple()");
    return;
  }
  PUT(p, "(");
  tvms_print_list(p, fields);
  tvms_print_put(p, fields.len == 1 ? ",)" : ")");
}

static void print_item(tvms_printer *p, const tvms_node *node) {
  tvms_print_expr(p, tvms_as_tuple_get_item(node)->tuple, LEVEL_ATOM);
  PUT(p, "[");
  tvms_print_int(p, tvms_as_tuple_get_item(node)->index);
  PUT(p, "]");
}

static void print_prim_value(tvms_printer *p, const tvms_node *node) {
  const tvms_node *value = tvms_as_prim_value(node)->value;
  if (tvms_release_has(p->dialect, TVMS_FACT_scalars_are_tir)) {
    tvms_print_any(p, value);
    return;
  }
  tvms_print_r(p, "prim_value(");
  tvms_print_any(p, value);
  PUT(p, ")");
}

static bool is_default_extern_type(const tvms_node *sinfo) {
  if (!sinfo || sinfo->kind != TVMS_NODE_SINFO_FUNC) return !sinfo;
  const tvms_sinfo_func *func = tvms_as_sinfo_func(sinfo);
  return !(sinfo->flags & (TVMS_FLAG_KNOWN | TVMS_FLAG_PURE))
         && (!func->ret || func->ret->kind == TVMS_NODE_SINFO_OBJECT);
}

void tvms_print_extern_func(tvms_printer *p, const tvms_node *node) {
  tvms_bytes symbol = tvms_as_extern_func(node)->symbol;
  tvms_print_r(p, "ExternFunc(");
  tvms_print_quoted(p, symbol.text, symbol.len);
  if (tvms_release_has(p->dialect, TVMS_FACT_extern_funcs_print_types)
      && !is_default_extern_type(node->sinfo)) {
    PUT(p, ", ");
    tvms_print_sinfo(p, node->sinfo);
  }
  PUT(p, ")");
}

static void print_operator(tvms_printer *p, const tvms_node *node) {
  tvms_print_i(p, "Op(\"");
  tvms_print_sym(p, tvms_as_operator(node)->name);
  PUT(p, "\")");
}

void tvms_print_relax_value(tvms_printer *p, const tvms_node *node) {
  switch (node->kind) {
  case TVMS_NODE_GLOBAL_VAR: tvms_print_global_var(p, node); return;
  case TVMS_NODE_EXTERN_FUNC: tvms_print_extern_func(p, node); return;
  case TVMS_NODE_CONSTANT: tvms_print_constant(p, node); return;
  case TVMS_NODE_SHAPE_EXPR: print_shape(p, node); return;
  case TVMS_NODE_PRIM_VALUE: print_prim_value(p, node); return;
  case TVMS_NODE_TUPLE: print_tuple(p, node); return;
  case TVMS_NODE_TUPLE_GET_ITEM: print_item(p, node); return;
  case TVMS_NODE_OPERATOR: print_operator(p, node); return;
  case TVMS_NODE_DTYPE_IMM:
    tvms_print_r(p, "dtype(");
    tvms_print_quoted_dtype(p, tvms_as_dtype_imm(node)->value);
    PUT(p, ")");
    return;
  case TVMS_NODE_BUFFER_REGION: tvms_print_object(p, node); return;
  default: tvms_print_metadata_ref(p, node); return;
  }
}
