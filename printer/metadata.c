// The metadata section: objects that have no text of their own, as TVM's JSON.
//
// An object is a row of a flat list of nodes that refer to each other by number: the form
// of TVM 0.22 and later, whose serializer (ffi/extra/serialization.cc) decides the order of
// the nodes and which of them are shared. The text is TVM's to the byte, given that each
// constant was made for itself, as relax.const() makes them. What else TVM has as one
// object, no text tells.
#include "printer/metadata.h"

#include "ir/omitted.h"
#include "printer/metadata_order.h"
#include "printer/state.h"

// The key under which an object stands, which is its type in TVM.
static const char *type_key(const tvms_printer *p, const tvms_node *object) {
  switch (object->kind) {
  case TVMS_NODE_CONSTANT:
    return tvms_release_has(p->dialect, TVMS_FACT_constants_are_generic)
               ? "ir.GenericConst"
               : "relax.expr.Constant";
  case TVMS_NODE_STRING_IMM:
    if (!tvms_release_has(p->dialect, TVMS_FACT_tir_is_tirx)) return "tir.StringImm";
    return tvms_release_has(p->dialect, TVMS_FACT_constants_are_generic)
               ? "ir.StringImm"
               : "tirx.StringImm";
  case TVMS_NODE_OBJECT_STR: return "ffi.String";
  case TVMS_NODE_OBJECT_TENSOR: return "ffi.Tensor";
  case TVMS_NODE_SINFO_BUFFER: return "tirx.BufferType";
  case TVMS_NODE_OBJECT_OPAQUE:
    return tvms_symbol_text(p->context, tvms_as_object_opaque(object)->type_key);
  default: return tvms_node_schema_of((tvms_node_kind)object->kind)->name;
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

static uint32_t keep(tvms_printer *p, const tvms_node *object) {
  uint32_t index = next_index(p, object);
  tvms_vec_push(p->memory, &p->kept, object);
  return index;
}

// What the text that was read calls by one name is one object to TVM, wherever it stands.
static uint32_t number_of(tvms_printer *p, const tvms_node *object) {
  tvms_sym omitted = tvms_node_omitted(object);
  if (!omitted) return keep(p, object);
  p->leaves_out++;
  tvms_vec_reach(p->memory, &p->omitted, omitted);
  uint32_t *known = &p->omitted.items[omitted];
  if (!*known) *known = keep(p, object) + 1;
  return *known - 1;
}

void tvms_print_metadata_ref(tvms_printer *p, const tvms_node *object) {
  print_name *name = tvms_print_name_of(p, object);
  if (name->index == 0) name->index = number_of(p, object) + 1;
  tvms_strbuf_puts(p->out, "metadata[\"");
  tvms_strbuf_puts(p->out, type_key(p, object));
  tvms_strbuf_puts(p->out, "\"][");
  tvms_strbuf_int(p->out, name->index - 1);
  tvms_strbuf_putc(p->out, ']');
}

void tvms_print_forget_kept(tvms_printer *p, uint32_t first) {
  for (uint32_t i = first; i < p->kept.len; i++) {
    tvms_print_name_of(p, p->kept.items[i])->index = 0;
  }
}

// ---- JSON ----

// A node that is written once: a data type as a number, or an integer.
typedef struct {
  int64_t value;
  uint32_t number;
} shared_node;

// The list of nodes in the making. As in TVM's serializer, the fields of a node come before
// the node, in their order, and a node is written once for all places that refer to it: TVM
// has one object for all places that hold nothing and for each data type, and compares
// strings and numbers by value. Other objects were made for one place and are its own.
typedef struct {
  tvms_printer *p;
  tvms_strbuf text;
  uint32_t count;
  uint32_t none;  // 1 + number of the node that stands for nothing; 0: not yet
  bool first;     // of the fields of the record that is being written
  TVMS_VEC(uint32_t) strings;  // by symbol: 1 + number of its node
  TVMS_VEC(shared_node) types;
  TVMS_VEC(shared_node) integers;
} graph;

// Begins a node and returns its number.
static uint32_t begin_node(graph *g, const char *type) {
  tvms_strbuf_puts(&g->text, g->count ? ",\n    {\n" : "    {\n");
  tvms_strbuf_puts(&g->text, "      \"type\": \"");
  tvms_strbuf_puts(&g->text, type);
  tvms_strbuf_putc(&g->text, '"');
  return g->count++;
}

static void end_node(graph *g) {
  tvms_strbuf_puts(&g->text, "\n    }");
}

static uint32_t none(graph *g) {
  if (!g->none) {
    g->none = begin_node(g, "None") + 1;
    end_node(g);
  }
  return g->none - 1;
}

// Escapes as TVM's JSON writer does: '/' has a backslash, too.
static void put_string(tvms_strbuf *out, const char *text, size_t len) {
  static const char escaped[] = "\"\\/\b\f\n\r\t", letters[] = "\"\\/bfnrt";
  tvms_strbuf_putc(out, '"');
  for (size_t i = 0; i < len; i++) {
    const char *found = text[i] ? strchr(escaped, text[i]) : NULL;
    if (found) {
      tvms_strbuf_putc(out, '\\');
      tvms_strbuf_putc(out, letters[found - escaped]);
    } else if ((unsigned char)text[i] < 0x20) {
      tvms_strbuf_printf(out, "\\u%04x", (unsigned char)text[i]);
    } else {
      tvms_strbuf_putc(out, text[i]);
    }
  }
  tvms_strbuf_putc(out, '"');
}

static uint32_t add_string(graph *g, const char *text, size_t len) {
  tvms_sym symbol = tvms_symbol_intern(g->p->context, text, len);
  while (g->strings.len <= symbol) {
    tvms_vec_push(g->p->memory, &g->strings, 0);
  }
  uint32_t *known = &g->strings.items[symbol];
  if (*known) return *known - 1;
  uint32_t number = begin_node(g, "ffi.String");
  *known = number + 1;
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
    tvms_strbuf_puts(&g->text, i ? ",\n        " : "\n        ");
    tvms_strbuf_int(&g->text, items[i]);
  }
  tvms_strbuf_puts(&g->text, "\n      ]");
  end_node(g);
  return number;
}

// ---- Records: nodes with named fields ----

static uint32_t begin_record(graph *g, const char *type) {
  uint32_t number = begin_node(g, type);
  tvms_strbuf_puts(&g->text, ",\n      \"data\": {");
  g->first = true;
  return number;
}

static void put_field(graph *g, const char *name) {
  tvms_strbuf_puts(&g->text, g->first ? "\n        \"" : ",\n        \"");
  tvms_strbuf_puts(&g->text, name);
  tvms_strbuf_puts(&g->text, "\": ");
  g->first = false;
}

static void put_number(graph *g, const char *name, int64_t value) {
  put_field(g, name);
  tvms_strbuf_int(&g->text, value);
}

// No data type is an empty text.
static void put_dtype(graph *g, const char *name, tvms_dtype dtype) {
  char text[TVMS_DTYPE_TEXT];
  bool is_void = tvms_dtype_is_void(dtype);
  put_field(g, name);
  tvms_strbuf_putc(&g->text, '"');
  if (!is_void) tvms_strbuf_puts(&g->text, tvms_dtype_text(dtype, text));
  tvms_strbuf_putc(&g->text, '"');
}

static void end_record(graph *g) {
  tvms_strbuf_puts(&g->text, "\n      }");
  end_node(g);
}

// ---- Types: data types are texts up to 0.25, nodes from 0.26 on ----

static bool has_types(const graph *g) {
  return tvms_release_has(g->p->dialect, TVMS_FACT_dtypes_are_types);
}

static int64_t id_of_dtype(tvms_dtype d) {
  return (int64_t)d.code << 32 | (int64_t)d.bits << 16 | (uint16_t)d.lanes;
}

static uint32_t add_prim_type(graph *g, tvms_dtype dtype) {
  int64_t id = id_of_dtype(dtype);
  for (uint32_t i = 0; i < g->types.len; i++) {
    if (g->types.items[i].value == id) return g->types.items[i].number;
  }
  uint32_t span = none(g), number = begin_record(g, "ir.PrimType");
  tvms_vec_push(g->p->memory, &g->types, ((shared_node){id, number}));
  put_number(g, "span", span);
  put_dtype(g, "dtype", dtype);
  end_record(g);
  return number;
}

// A number in a field that may hold anything.
static uint32_t add_any_int(graph *g, int64_t value) {
  for (uint32_t i = 0; i < g->integers.len; i++) {
    if (g->integers.items[i].value == value) return g->integers.items[i].number;
  }
  uint32_t number = begin_node(g, "int");
  tvms_vec_push(g->p->memory, &g->integers, ((shared_node){value, number}));
  tvms_strbuf_puts(&g->text, ",\n      \"data\": ");
  tvms_strbuf_int(&g->text, value);
  end_node(g);
  return number;
}

static uint32_t add_int(graph *g, int64_t value) {
  tvms_dtype int64 = TVMS_DTYPE(INT, 64);
  uint32_t span = none(g), type = has_types(g) ? add_prim_type(g, int64) : 0;
  if (tvms_release_has(g->p->dialect, TVMS_FACT_numbers_are_any))
    value = add_any_int(g, value);
  uint32_t number = begin_record(g, "ir.IntImm");
  put_number(g, "span", span);
  if (has_types(g))
    put_number(g, "ty", type);
  else
    put_dtype(g, "dtype", int64);
  put_number(g, "value", value);
  end_record(g);
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
static uint32_t add_tensor(graph *g, tvms_dtype d, tvms_list shape, tvms_bytes data) {
  tvms_strbuf bytes;
  tvms_strbuf_init(&bytes, g->p->memory);
  put_le(&bytes, TENSOR_MAGIC, 8);
  put_le(&bytes, 0, 8);
  put_le(&bytes, DEVICE_CPU, 4);
  put_le(&bytes, 0, 4);
  put_le(&bytes, shape.len, 4);
  put_le(&bytes, d.code, 1);
  put_le(&bytes, d.code == TVMS_BOOL ? BOOL_BITS : d.bits, 1);
  put_le(&bytes, (uint64_t)d.lanes, 2);
  for (uint32_t i = 0; i < shape.len; i++) {
    put_le(&bytes, (uint64_t)tvms_as_int_imm(shape.items[i])->value, 8);
  }
  put_le(&bytes, data.len, 8);
  tvms_strbuf_add(&bytes, data.text, data.len);
  uint32_t number = begin_node(g, "ffi.Tensor");
  tvms_strbuf digits;
  tvms_strbuf_init(&digits, g->p->memory);
  put_base64(&digits, (const unsigned char *)bytes.text, bytes.len);
  tvms_strbuf_puts(&g->text, ",\n      \"data\": ");
  put_string(&g->text, digits.text, digits.len);
  tvms_strbuf_fini(&digits);
  end_node(g);
  tvms_strbuf_fini(&bytes);
  return number;
}

// The shape of a constant as a value of Relax.
static uint32_t add_shape(graph *g, tvms_list dims) {
  uint32_t span = none(g);
  TVMS_VEC(uint32_t) numbers = {0};
  for (uint32_t i = 0; i < dims.len; i++) {
    tvms_vec_push(g->p->memory, &numbers,
                  add_int(g, tvms_as_int_imm(dims.items[i])->value));
  }
  uint32_t values = add_array(g, "ffi.Array", numbers.items, numbers.len);
  tvms_vec_fini(g->p->memory, &numbers);
  uint32_t type =
      begin_record(g, has_types(g) ? "relax.ShapeType" : "relax.ShapeStructInfo");
  put_number(g, "span", span);
  put_number(g, "values", values);
  put_number(g, "ndim", dims.len);
  end_record(g);
  uint32_t shape = begin_record(g, "relax.expr.ShapeExpr");
  put_number(g, "span", span);
  put_number(g, has_types(g) ? "ty" : "struct_info_", type);
  put_number(g, "values", values);
  end_record(g);
  return shape;
}

static uint32_t add_tensor_type(graph *g, const tvms_constant *constant) {
  uint32_t span = none(g), shape = add_shape(g, constant->shape);
  uint32_t dtype = has_types(g) ? add_prim_type(g, constant->element) : 0;
  uint32_t number =
      begin_record(g, has_types(g) ? "relax.TensorType" : "relax.TensorStructInfo");
  put_number(g, "span", span);
  put_number(g, "shape", shape);
  if (has_types(g))
    put_number(g, "dtype", dtype);
  else
    put_dtype(g, "dtype", constant->element);
  put_number(g, "vdevice", none(g));
  put_number(g, "ndim", constant->shape.len);
  end_record(g);
  return number;
}

static uint32_t add_constant(graph *g, const tvms_constant *constant) {
  uint32_t span = none(g), type = add_tensor_type(g, constant);
  uint32_t data = add_tensor(g, constant->element, constant->shape, constant->data);
  uint32_t number = begin_record(g, type_key(g->p, &constant->head));
  put_number(g, "span", span);
  put_number(g, has_types(g) ? "ty" : "struct_info_", type);
  put_number(g,
             tvms_release_has(g->p->dialect, TVMS_FACT_constants_are_generic) ? "value"
                                                                              : "data",
             data);
  end_record(g);
  return number;
}

// A text has the type of a pointer, of nothing (0.26), or one of its own (0.27).
static uint32_t add_text(graph *g, const tvms_node *node) {
  tvms_bytes text = tvms_as_string_imm(node)->value;
  uint32_t span = none(g), type = 0;
  if (tvms_release_has(g->p->dialect, TVMS_FACT_texts_have_a_type)) {
    type = begin_record(g, "ir.StringType");
    put_number(g, "span", span);
    end_record(g);
  } else if (has_types(g)) {
    type = add_prim_type(g, (tvms_dtype){0});
  }
  uint32_t value = add_string(g, text.text, text.len);
  uint32_t number = begin_record(g, type_key(g->p, node));
  put_number(g, "span", span);
  if (has_types(g))
    put_number(g, "ty", type);
  else
    put_dtype(g, "dtype", TVMS_DTYPE(HANDLE, 64));
  put_number(g, "value", value);
  end_record(g);
  return number;
}

static uint32_t add_tensor_object(graph *g, const tvms_struct_OBJECT_TENSOR *tensor) {
  return add_tensor(g, tensor->element, tensor->shape, tensor->data);
}

static uint32_t add_object(graph *g, const tvms_node *object) {
  switch (object->kind) {
  case TVMS_NODE_CONSTANT: return add_constant(g, tvms_as_constant(object));
  case TVMS_NODE_STRING_IMM: return add_text(g, object);
  case TVMS_NODE_OBJECT_TENSOR:
    return add_tensor_object(g, tvms_as_object_tensor(object));
  case TVMS_NODE_OBJECT_STR:
    return add_string(g, tvms_as_object_str(object)->value.text,
                      tvms_as_object_str(object)->value.len);
  default: return none(g);
  }
}

// Adds the array of all objects under `key` and pushes its two numbers to `pairs`.
static uint32_t add_key(graph *g, const char *key) {
  tvms_printer *p = g->p;
  TVMS_VEC(uint32_t) numbers = {0};
  for (uint32_t i = 0; i < p->kept.len; i++) {
    if (strcmp(type_key(p, p->kept.items[i]), key) != 0) continue;
    tvms_vec_push(p->memory, &numbers, add_object(g, p->kept.items[i]));
  }
  uint32_t array = add_array(g, "ffi.Array", numbers.items, numbers.len);
  tvms_vec_fini(p->memory, &numbers);
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
  size_t done = 0;
  for (size_t i = 0; i < len; i++) {
    if (text[i] != '"' && text[i] != '\\') continue;
    tvms_strbuf_add(out, text + done, i - done);
    tvms_strbuf_putc(out, '\\');
    done = i;
  }
  tvms_strbuf_add(out, text + done, len - done);
}

void tvms_print_metadata(tvms_printer *p, tvms_strbuf *out) {
  if (p->kept.len == 0) return;
  graph g = {.p = p};
  tvms_strbuf_init(&g.text, p->memory);
  TVMS_VEC(uint32_t) pairs = {0};
  TVMS_VEC(const char *) keys = {0};
  for (uint32_t i = 0; i < p->kept.len; i++) {
    if (is_first_of_key(p, i))
      tvms_vec_push(p->memory, &keys, type_key(p, p->kept.items[i]));
  }
  tvms_print_sort_metadata_keys(keys.items, keys.len);
  for (uint32_t i = 0; i < keys.len; i++) {
    const char *key = keys.items[i];
    tvms_vec_push(p->memory, &pairs, add_string(&g, key, strlen(key)));
    tvms_vec_push(p->memory, &pairs, add_key(&g, key));
  }
  tvms_vec_fini(p->memory, &keys);
  uint32_t root = add_array(&g, "ffi.Map", pairs.items, pairs.len);
  tvms_vec_fini(p->memory, &pairs);
  tvms_strbuf json;
  tvms_strbuf_init(&json, p->memory);
  tvms_strbuf_printf(&json, "{\n  \"root_index\": %u,\n  \"nodes\": [\n", root);
  tvms_strbuf_add(&json, g.text.text, g.text.len);
  tvms_strbuf_puts(&json, "\n  ],\n  \"metadata\": {\n    \"tvm_version\": \"");
  tvms_strbuf_puts(&json, tvms_release_row_of(p->dialect)->version);
  tvms_strbuf_puts(&json, "\"\n  }\n}");
  tvms_strbuf_puts(out, "metadata = tvm.ir.load_json(\"\"\"");
  put_literal(out, json.text, json.len);
  tvms_strbuf_puts(out, "\"\"\")\n");
  tvms_strbuf_fini(&json);
  tvms_strbuf_fini(&g.text);
  tvms_vec_fini(p->memory, &g.strings);
  tvms_vec_fini(p->memory, &g.types);
  tvms_vec_fini(p->memory, &g.integers);
}
