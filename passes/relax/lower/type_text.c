// A type that stands alone is text of Relax, R.Tensor((n, 4), dtype="float32"). From 0.26 on
// tuples are types of TIR as well, and what is in one is text of TIR:
// T.Tuple(R.Tensor((n, T.int64(4)), dtype="float32"), T.int64).
#include "passes/relax/lower/type_text.h"

#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "support/strbuf.h"

static void add_sizes(const tvms_unit *unit, tvms_strbuf *out, tvms_list sizes) {
  for (uint32_t i = 0; i < sizes.len; i++) {
    if (i) tvms_strbuf_puts(out, ", ");
    const tvms_node *size = sizes.items[i];
    bool number = size->kind == TVMS_NODE_INT_IMM;
    tvms_strbuf_puts(out, number ? "T.int64(" : "");
    tvms_strbuf_puts(out, tvms_sinfo_describe(unit, size));
    tvms_strbuf_puts(out, number ? ")" : "");
  }
}

static void add_tensor(const tvms_unit *unit, tvms_strbuf *out, const tvms_node *type) {
  char text[TVMS_DTYPE_TEXT];
  tvms_list sizes = tvms_as_shape_expr(tvms_as_sinfo_tensor(type)->shape)->values;
  tvms_strbuf_puts(out, "R.Tensor((");
  add_sizes(unit, out, sizes);
  tvms_strbuf_puts(out, sizes.len == 1 ? ",)" : ")");
  if (!tvms_dtype_is_void(type->dtype))
    tvms_strbuf_printf(out, ", dtype=\"%s\"", tvms_dtype_text(type->dtype, text));
  tvms_strbuf_puts(out, ")");
}

static void add_type(const tvms_unit *unit, tvms_strbuf *out, const tvms_node *type);

static void add_tuple(const tvms_unit *unit, tvms_strbuf *out, const tvms_node *type) {
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  tvms_strbuf_puts(out, "T.Tuple(");
  for (uint32_t i = 0; i < fields.len; i++) {
    if (i) tvms_strbuf_puts(out, ", ");
    add_type(unit, out, fields.items[i]);
  }
  tvms_strbuf_puts(out, ")");
}

static bool has_sizes(const tvms_node *type) {
  const tvms_sinfo_tensor *tensor = tvms_as_sinfo_tensor(type);
  return tensor->shape && tensor->shape->kind == TVMS_NODE_SHAPE_EXPR
         && !tensor->vdevice;
}

// A field of a tuple.
static void add_type(const tvms_unit *unit, tvms_strbuf *out, const tvms_node *type) {
  char text[TVMS_DTYPE_TEXT];
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    add_tuple(unit, out, type);
  } else if (type->kind == TVMS_NODE_SINFO_TENSOR && has_sizes(type)) {
    add_tensor(unit, out, type);
  } else if (type->kind == TVMS_NODE_SINFO_SHAPE && type->flags & TVMS_FLAG_KNOWN) {
    tvms_strbuf_puts(out, "R.Shape([");
    add_sizes(unit, out, tvms_as_sinfo_shape(type)->values);
    tvms_strbuf_puts(out, "])");
  } else if (type->kind == TVMS_NODE_SINFO_PRIM) {
    tvms_strbuf_printf(out, "T.%s", tvms_dtype_text(type->dtype, text));
  } else {
    tvms_strbuf_puts(out, tvms_sinfo_describe(unit, type));
  }
}

const char *tvms_relax_type_text(const tvms_unit *unit, const tvms_node *type) {
  tvms_context *context = unit->context;
  bool newer = tvms_release_has(unit->dialect, TVMS_FACT_types_are_called_ty);
  if (!newer) return tvms_sinfo_describe(unit, type);
  tvms_strbuf out;
  tvms_strbuf_init(&out, &context->memory);
  char text[TVMS_DTYPE_TEXT];
  if (type->kind == TVMS_NODE_SINFO_TUPLE)
    add_tuple(unit, &out, type);
  else if (type->kind == TVMS_NODE_SINFO_PRIM)
    tvms_strbuf_printf(&out, "T.%s", tvms_dtype_text(type->dtype, text));
  else
    tvms_strbuf_puts(&out, tvms_sinfo_describe(unit, type));
  const char *kept =
      tvms_arena_text(&context->arena, tvms_strbuf_text(&out), out.len + 1);
  tvms_strbuf_fini(&out);
  return kept;
}
