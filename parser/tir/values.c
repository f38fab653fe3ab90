// What can be done with values of TIR, and with nodes in general.
#include "parser/tir/values.h"

#include "parser/eval/attribute.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/ops.h"
#include "parser/eval/subscript.h"
#include "parser/tir/access.h"
#include "parser/tir/attribute.h"
#include "parser/tir/method.h"
#include "parser/tir/scalar.h"
#include "parser/tir/signature.h"
#include "parser/tir/tir.h"
#include "structinfo/make.h"

#include <stdio.h>
#include <string.h>

// ---- What every node has --------------------------------------------------------------------

static const char *describe_expr(tvms_context *context, const tvms_node *node) {
  char buffer[TVMS_DTYPE_TEXT];
  char *text = tvms_arena_alloc(&context->arena, 64 + TVMS_DTYPE_TEXT);
  sprintf(text, "an expression of type %s", tvms_dtype_text(node->dtype, buffer));
  return text;
}

// `kind 'name'`, or without a name `unnamed`.
static const char *describe_named(tvms_context *context, const char *kind,
                                  tvms_sym name, const char *unnamed) {
  const char *text = tvms_symbol_text(context, name);
  if (!*text) return unnamed;
  char *full = tvms_arena_alloc(&context->arena, strlen(text) + strlen(kind) + 4);
  sprintf(full, "%s '%s'", kind, text);
  return full;
}

const char *tvms_node_describe(tvms_reader *reader, tvms_eval_value value) {
  tvms_context *context = reader->context;
  const tvms_node *node = value.as.node;
  switch (node->kind) {
  case TVMS_NODE_BUFFER:
    return describe_named(context, "buffer", tvms_as_buffer(node)->name, "a buffer");
  case TVMS_NODE_BUFFER_REGION:
    node = tvms_as_buffer_region(node)->buffer;
    return describe_named(context, "a region of buffer", tvms_as_buffer(node)->name,
                          "a buffer");
  case TVMS_NODE_VAR:
    return describe_named(context, "variable", tvms_as_var(node)->name, "a variable");
  default: break;
  }
  if (tvms_node_class_of(node) == TVMS_CLASS_EXPR) return describe_expr(context, node);
  if (tvms_node_class_of(node) == TVMS_CLASS_SINFO)
    return tvms_sinfo_describe(reader->unit, node);
  const char *kind = tvms_node_schema_of((tvms_node_kind)node->kind)->name;
  return strncmp(kind, "object_", 7) == 0 ? "an object" : kind;
}

bool tvms_node_truth(tvms_eval_value value, bool *known) {
  if (value.flags & TVMS_TIR_VALUE_EQUALITY)
    return (value.flags & TVMS_TIR_VALUE_SAME) != 0;
  *known = value.as.node->kind == TVMS_NODE_INT_IMM;
  return *known && tvms_as_int_imm(value.as.node)->value != 0;
}

bool tvms_node_print(tvms_reader *reader, tvms_strbuf *out, tvms_eval_value value) {
  tvms_context *context = reader->context;
  const tvms_node *node = value.as.node;
  if (node->kind == TVMS_NODE_VAR) {
    tvms_strbuf_puts(out, tvms_symbol_text(context, tvms_as_var(node)->name));
    return true;
  }
  if (node->kind == TVMS_NODE_INT_IMM && node->dtype.bits == 32) {
    tvms_strbuf_int(out, tvms_as_int_imm(node)->value);
    return true;
  }
  const char *text = context->describe ? context->describe(reader->unit, node) : NULL;
  if (text) tvms_strbuf_puts(out, text);
  return text != NULL;
}

tvms_eval_value tvms_tir_attribute(tvms_reader *reader, tvms_eval_value object,
                                   tvms_sym name, tvms_ref ref) {
  return tvms_tir_node_attribute(reader, object.as.node, name, ref);
}

tvms_eval_value tvms_tir_method(tvms_reader *reader, tvms_eval_value receiver,
                                tvms_sym name, tvms_ref call) {
  return tvms_tir_call_node_method(reader, receiver.as.node, name, call);
}

const tvms_eval_value_ops tvms_tir_node_ops = {
    TVMS_NODE_OPERATIONS,
    .attribute = tvms_tir_attribute,
    .method = tvms_tir_method,
    .subscript = tvms_tir_subscript,
};

// ---- Expressions ----------------------------------------------------------------------------

static tvms_eval_value constant_of(tvms_eval_value value) {
  const tvms_node *node = value.as.node;
  switch (node->kind) {
  case TVMS_NODE_INT_IMM: return tvms_eval_value_int(tvms_as_int_imm(node)->value);
  case TVMS_NODE_FLOAT_IMM:
    return tvms_eval_value_float(tvms_as_float_imm(node)->value);
  default: return value;
  }
}

const tvms_eval_value_ops tvms_tir_expr_ops = {
    TVMS_NODE_OPERATIONS,      .attribute = tvms_tir_attribute,
    .method = tvms_tir_method, .subscript = tvms_tir_subscript,
    .constant = constant_of,
};

// ---- Arrays of objects ----------------------------------------------------------------------

static bool array_iterate(tvms_reader *reader, tvms_eval_value array, tvms_ref ref,
                          tvms_eval_items *items) {
  (void)ref;
  tvms_list list = tvms_as_object_array(array.as.node)->items;
  items->items = tvms_arena_array(&reader->values, tvms_eval_value, list.len);
  items->len = list.len;
  for (uint32_t i = 0; i < list.len; i++) {
    items->items[i] = tvms_eval_value_node(list.items[i]);
  }
  return true;
}

const tvms_eval_value_ops tvms_tir_array_ops = {
    TVMS_NODE_OPERATIONS,
    .attribute = tvms_tir_attribute,
    .subscript = tvms_tir_subscript,
    .iterate = array_iterate,
};

// ---- T.float32, T.let -----------------------------------------------------------------------

static tvms_eval_value dtype_name_attribute(tvms_reader *reader, tvms_eval_value object,
                                            tvms_sym name, tvms_ref ref) {
  tvms_eval_value value;
  if (tvms_eval_dtype_part(object, name, &value)) return value;
  return tvms_eval_report_no_attribute(reader, object, name, ref);
}

// T.int32(), T.int32(x), T.float32("inf").
static tvms_eval_value dtype_name_call(tvms_reader *reader, tvms_eval_value callee,
                                       tvms_ref call) {
  tvms_ref first = tvms_reader_at(reader, call)->b;
  if (!first) {
    return tvms_tir_dtype_call(reader, callee.as.dtype, TVMS_NOTHING, false, call);
  }
  uint8_t kind = tvms_reader_at(reader, first)->kind;
  if (kind == TVMS_SURF_INT || kind == TVMS_SURF_FLOAT) {  // by far the most calls
    if (!tvms_reader_at(reader, first)->next) {
      tvms_eval_value value = tvms_eval(reader, first);
      return tvms_tir_dtype_call(reader, callee.as.dtype, value, false, call);
    }
  }
  tvms_eval_value args[TVMS_MAX_PARAMS];
  const char *signature = tvms_release_has(reader->dialect, TVMS_FACT_size_vars_exist)
                              ? "expr=None, *, is_size_var=False"
                              : "expr=None";
  if (!tvms_signature_bind_method(reader, signature, "a data type", call, args))
    return TVMS_UNKNOWN;
  bool size_var = tvms_release_has(reader->dialect, TVMS_FACT_size_vars_exist)
                  && args[1].kind == TVMS_EVAL_BOOL && args[1].as.i;
  return tvms_tir_dtype_call(reader, callee.as.dtype, args[0], size_var, call);
}

// `T.float32[4]`: the data type, then the extents.
static tvms_eval_value dtype_name_subscript(tvms_reader *reader, tvms_eval_value object,
                                            tvms_eval_value index, tvms_ref ref) {
  if (!tvms_release_has(reader->dialect, TVMS_FACT_assignments_make_scalars))
    return tvms_eval_report_no_subscript(reader, object, ref);
  tvms_eval_value one[1] = {index};
  tvms_eval_items extents = {one, 1};
  if (index.kind == TVMS_EVAL_TUPLE) extents = tvms_eval_items_of(&index);
  tvms_eval_value *items =
      tvms_arena_array(&reader->values, tvms_eval_value, extents.len + 1);
  items[0] = object;
  memcpy(items + 1, extents.items, extents.len * sizeof *items);
  return tvms_eval_value_items(TVMS_EVAL_VECTOR, items, extents.len + 1);
}

const tvms_eval_value_ops tvms_tir_dtype_name_ops = {
    .attribute = dtype_name_attribute,
    .call = dtype_name_call,
    .subscript = dtype_name_subscript,
};

// `T.let[T.int32]`.
static tvms_eval_value let_subscript(tvms_reader *reader, tvms_eval_value let,
                                     tvms_eval_value index, tvms_ref ref) {
  (void)let;
  (void)ref;
  return tvms_eval_value_items(TVMS_EVAL_LET, tvms_eval_keep_items(reader, &index, 1),
                               1);
}

const tvms_eval_value_ops tvms_tir_let_ops = {.subscript = let_subscript};

static tvms_eval_value type_var_mention(tvms_reader *reader, tvms_eval_value type_var,
                                        tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  if (node->kind != TVMS_SURF_NAME) return type_var;
  return tvms_tir_type_var_dim(reader, node->a, type_var,
                               tvms_reader_span_of(reader, ref));
}

const tvms_eval_value_ops tvms_tir_type_var_ops = {.mention = type_var_mention};
