// The metadata section: objects that have no text of their own, as TVM's JSON.
//
// An object is a row of a flat list of nodes that refer to each other by number. This is
// the form of TVM 0.25 and later; docs/language.md, "Metadata", has its fields.
#include "printer/state.h"

// The key under which an object stands, which is its type in TVM.
static const char *type_key(const tvms_printer *p, const tvms_node *object) {
  switch (object->kind) {
  case TVMS_NODE_CONSTANT:
    return p->dialect >= TVMS_DIALECT_27 ? "ir.GenericConst" : "relax.expr.Constant";
  case TVMS_NODE_STRING_IMM:
    if (tvms_print_is_classic(p)) return "tir.StringImm";
    return p->dialect >= TVMS_DIALECT_27 ? "ir.StringImm" : "tirx.StringImm";
  case TVMS_NODE_OBJECT_STR: return "ffi.String";
  case TVMS_NODE_OBJECT_OPAQUE:
    return tvms_text(p->context, tvms_as_object_opaque(object)->type_key);
  default: return tvms_schema_of((tvms_node_kind)object->kind)->name;
  }
}

static uint32_t next_index(tvms_printer *p, const tvms_node *object) {
  switch (object->kind) {
  case TVMS_NODE_CONSTANT: return p->kept_constants++;
  case TVMS_NODE_STRING_IMM: return p->kept_texts++;
  case TVMS_NODE_OBJECT_STR: return p->kept_strings++;
  default: break;
  }
  uint32_t same = 0;
  for (uint32_t i = 0; i < p->kept.len; i++) {
    same += strcmp(type_key(p, p->kept.items[i]), type_key(p, object)) == 0;
  }
  return same;
}

void tvms_print_metadata_ref(tvms_printer *p, const tvms_node *object) {
  print_name *name = tvms_print_name_of(p, object);
  if (name->index == 0) {
    uint32_t index = next_index(p, object);
    tvms_push(p->memory, &p->kept, object);
    name->index = index + 1;
  }
  tvms_strbuf_printf(p->out, "metadata[\"%s\"][%u]", type_key(p, object),
                     name->index - 1);
}

void tvms_print_forget_kept(tvms_printer *p, uint32_t first) {
  for (uint32_t i = first; i < p->kept.len; i++) {
    tvms_print_name_of(p, p->kept.items[i])->index = 0;
  }
}

// ---- JSON ----

// The list of nodes in the making.
typedef struct {
  tvms_printer *p;
  tvms_strbuf text;
  uint32_t count;
} graph;

enum { NONE_NODE = 0 };  // number of the node that stands for nothing

// Begins a node and returns its number.
static uint32_t begin_node(graph *g, const char *type) {
  tvms_strbuf_puts(&g->text, g->count ? ",\n    {\n" : "    {\n");
  tvms_strbuf_printf(&g->text, "      \"type\": \"%s\"", type);
  return g->count++;
}

static void end_node(graph *g) {
  tvms_strbuf_puts(&g->text, "\n    }");
}

static void put_string(tvms_strbuf *out, const char *text, size_t len) {
  tvms_strbuf_putc(out, '"');
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\') {
      tvms_strbuf_putc(out, '\\');
      tvms_strbuf_putc(out, (char)c);
    } else if (c == '\n') {
      tvms_strbuf_puts(out, "\\n");
    } else if (c < 0x20) {
      tvms_strbuf_printf(out, "\\u%04x", c);
    } else {
      tvms_strbuf_putc(out, (char)c);
    }
  }
  tvms_strbuf_putc(out, '"');
}

static uint32_t add_string(graph *g, const char *text, size_t len) {
  uint32_t number = begin_node(g, "ffi.String");
  tvms_strbuf_puts(&g->text, ",\n      \"data\": ");
  put_string(&g->text, text, len);
  end_node(g);
  return number;
}

static uint32_t add_array(graph *g, const char *type, const uint32_t *items,
                          uint32_t count) {
  uint32_t number = begin_node(g, type);
  tvms_strbuf_puts(&g->text, ",\n      \"data\": [");
  for (uint32_t i = 0; i < count; i++) {
    tvms_strbuf_printf(&g->text, "%s\n        %u", i ? "," : "", items[i]);
  }
  tvms_strbuf_puts(&g->text, count ? "\n      ]" : "]");
  end_node(g);
  return number;
}

static uint32_t add_int(graph *g, int64_t value) {
  uint32_t number = begin_node(g, "ir.IntImm");
  tvms_strbuf_printf(&g->text,
                     ",\n      \"data\": {\n        \"span\": %d,\n"
                     "        \"dtype\": \"int64\",\n        \"value\": %lld\n      }",
                     NONE_NODE, (long long)value);
  end_node(g);
  return number;
}

// ---- Tensors ----

static void put_base64(tvms_strbuf *out, const unsigned char *bytes, size_t len) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < len; i += 3) {
    uint32_t left = len - i < 3 ? (uint32_t)(len - i) : 3;
    uint32_t group = (uint32_t)bytes[i] << 16;
    if (left > 1) group |= (uint32_t)bytes[i + 1] << 8;
    if (left > 2) group |= bytes[i + 2];
    char four[4] = {digits[group >> 18], digits[group >> 12 & 63],
                    left > 1 ? digits[group >> 6 & 63] : '=',
                    left > 2 ? digits[group & 63] : '='};
    tvms_strbuf_add(out, four, sizeof four);
  }
}

static void put_le(tvms_strbuf *out, uint64_t value, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i++) {
    tvms_strbuf_putc(out, (char)(value >> (8 * i)));
  }
}

enum { DEVICE_CPU = 1, BOOL_BITS = 8 };
#define TENSOR_MAGIC 0xDD5E40F096B4A13Fu

// A tensor in TVM's own binary form.
static uint32_t add_tensor(graph *g, const tvms_constant *constant) {
  tvms_strbuf bytes;
  tvms_strbuf_init(&bytes, g->p->memory);
  tvms_dtype d = constant->element;
  put_le(&bytes, TENSOR_MAGIC, 8);
  put_le(&bytes, 0, 8);
  put_le(&bytes, DEVICE_CPU, 4);
  put_le(&bytes, 0, 4);
  put_le(&bytes, constant->shape.len, 4);
  put_le(&bytes, d.code, 1);
  put_le(&bytes, d.code == TVMS_BOOL ? BOOL_BITS : d.bits, 1);
  put_le(&bytes, (uint64_t)d.lanes, 2);
  for (uint32_t i = 0; i < constant->shape.len; i++) {
    put_le(&bytes, (uint64_t)tvms_as_int_imm(constant->shape.items[i])->value, 8);
  }
  put_le(&bytes, constant->data.len, 8);
  tvms_strbuf_add(&bytes, constant->data.text, constant->data.len);
  uint32_t number = begin_node(g, "ffi.Tensor");
  tvms_strbuf_puts(&g->text, ",\n      \"data\": \"");
  put_base64(&g->text, (const unsigned char *)bytes.text, bytes.len);
  tvms_strbuf_putc(&g->text, '"');
  end_node(g);
  tvms_strbuf_fini(&bytes);
  return number;
}

static uint32_t add_constant(graph *g, const tvms_constant *constant) {
  TVMS_VEC(uint32_t) dims = {0};
  for (uint32_t i = 0; i < constant->shape.len; i++) {
    uint32_t dim = add_int(g, tvms_as_int_imm(constant->shape.items[i])->value);
    tvms_push(g->p->memory, &dims, dim);
  }
  uint32_t values = add_array(g, "ffi.Array", dims.items, dims.len);
  tvms_vec_free(g->p->memory, &dims);
  uint32_t shape_info = begin_node(g, "relax.ShapeStructInfo");
  tvms_strbuf_printf(&g->text,
                     ",\n      \"data\": {\n        \"span\": %d,\n"
                     "        \"values\": %u,\n        \"ndim\": %u\n      }",
                     NONE_NODE, values, constant->shape.len);
  end_node(g);
  uint32_t shape = begin_node(g, "relax.expr.ShapeExpr");
  tvms_strbuf_printf(&g->text,
                     ",\n      \"data\": {\n        \"span\": %d,\n"
                     "        \"struct_info_\": %u,\n        \"values\": %u\n      }",
                     NONE_NODE, shape_info, values);
  end_node(g);
  char dtype[TVMS_DTYPE_TEXT];
  uint32_t info = begin_node(g, "relax.TensorStructInfo");
  tvms_strbuf_printf(&g->text,
                     ",\n      \"data\": {\n        \"span\": %d,\n"
                     "        \"shape\": %u,\n        \"dtype\": \"%s\",\n"
                     "        \"vdevice\": %d,\n        \"ndim\": %u\n      }",
                     NONE_NODE, shape, tvms_dtype_text(constant->element, dtype),
                     NONE_NODE, constant->shape.len);
  end_node(g);
  uint32_t data = add_tensor(g, constant);
  uint32_t number = begin_node(g, type_key(g->p, &constant->head));
  tvms_strbuf_printf(&g->text,
                     ",\n      \"data\": {\n        \"span\": %d,\n"
                     "        \"struct_info_\": %u,\n        \"data\": %u\n      }",
                     NONE_NODE, info, data);
  end_node(g);
  return number;
}

static uint32_t add_text(graph *g, const tvms_node *node) {
  tvms_bytes text = tvms_as_string_imm(node)->value;
  uint32_t value = add_string(g, text.text, text.len);
  uint32_t number = begin_node(g, type_key(g->p, node));
  tvms_strbuf_printf(&g->text,
                     ",\n      \"data\": {\n        \"span\": %d,\n"
                     "        \"dtype\": \"handle\",\n        \"value\": %u\n      }",
                     NONE_NODE, value);
  end_node(g);
  return number;
}

static uint32_t add_object(graph *g, const tvms_node *object) {
  switch (object->kind) {
  case TVMS_NODE_CONSTANT: return add_constant(g, tvms_as_constant(object));
  case TVMS_NODE_STRING_IMM: return add_text(g, object);
  case TVMS_NODE_OBJECT_STR:
    return add_string(g, tvms_as_object_str(object)->value.text,
                      tvms_as_object_str(object)->value.len);
  default: return NONE_NODE;
  }
}

// Adds the array of all objects under `key` and pushes its two numbers to `pairs`.
static uint32_t add_key(graph *g, const char *key) {
  tvms_printer *p = g->p;
  TVMS_VEC(uint32_t) numbers = {0};
  for (uint32_t i = 0; i < p->kept.len; i++) {
    if (strcmp(type_key(p, p->kept.items[i]), key) != 0) continue;
    tvms_push(p->memory, &numbers, add_object(g, p->kept.items[i]));
  }
  uint32_t array = add_array(g, "ffi.Array", numbers.items, numbers.len);
  tvms_vec_free(p->memory, &numbers);
  return array;
}

static bool is_first_of_key(const tvms_printer *p, uint32_t i) {
  const char *key = type_key(p, p->kept.items[i]);
  for (uint32_t k = 0; k < i; k++) {
    if (type_key(p, p->kept.items[k]) == key) return false;
    if (strcmp(type_key(p, p->kept.items[k]), key) == 0) return false;
  }
  return true;
}

// The JSON stands in a literal with three quotes: '"' and '\' have a backslash before.
static void put_literal(tvms_strbuf *out, const char *text, size_t len) {
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '"' || text[i] == '\\') tvms_strbuf_putc(out, '\\');
    tvms_strbuf_putc(out, text[i]);
  }
}

void tvms_print_metadata(tvms_printer *p, tvms_strbuf *out) {
  if (p->kept.len == 0) return;
  graph g = {.p = p};
  tvms_strbuf_init(&g.text, p->memory);
  begin_node(&g, "None");
  end_node(&g);
  TVMS_VEC(uint32_t) pairs = {0};
  for (uint32_t i = 0; i < p->kept.len; i++) {
    if (!is_first_of_key(p, i)) continue;
    const char *key = type_key(p, p->kept.items[i]);
    tvms_push(p->memory, &pairs, add_string(&g, key, strlen(key)));
    tvms_push(p->memory, &pairs, add_key(&g, key));
  }
  uint32_t root = add_array(&g, "ffi.Map", pairs.items, pairs.len);
  tvms_vec_free(p->memory, &pairs);
  tvms_strbuf json;
  tvms_strbuf_init(&json, p->memory);
  tvms_strbuf_printf(&json, "{\n  \"root_index\": %u,\n  \"nodes\": [\n", root);
  tvms_strbuf_add(&json, g.text.text, g.text.len);
  tvms_strbuf_puts(&json, "\n  ],\n  \"metadata\": {\n    \"tvm_version\": \"0.25.0\"\n"
                          "  }\n}");
  tvms_strbuf_puts(out, "metadata = tvm.ir.load_json(\"\"\"");
  put_literal(out, json.text, json.len);
  tvms_strbuf_puts(out, "\"\"\")\n");
  tvms_strbuf_fini(&json);
  tvms_strbuf_fini(&g.text);
}
