// The metadata section of a file: `metadata = tvm.ir.load_json("""…""")` holds what has no
// text of its own, and `metadata["relax.expr.Constant"][0]` names one of them.
//
// The JSON is a flat list of nodes that refer to each other by number, in the form of
// TVM 0.25 and later ("type", "data") or of earlier releases ("type_key", "attrs").
// Constants, texts and tensors are understood; the use of an object of another type is an
// error.
//
// A text without the section may be read, too: then `metadata` is a table that has every
// object, and none has a value (ir/omitted.h).
#include "parser/metadata.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "parser/eval/call.h"
#include "parser/eval/convert.h"
#include "parser/eval/ops.h"
#include "parser/eval/scope.h"
#include "parser/eval/subscript.h"
#include "parser/file_state.h"
#include "parser/json.h"
#include "parser/room.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <string.h>

typedef enum { CONSTANT, TEXT, TENSOR } object_form;

typedef struct {
  enum { OBJECT, OMITTED_TABLE, OMITTED_CLASS } what;
  const char *TVMS_NULLABLE class_name;  // of OMITTED_CLASS
  tvms_sym omitted;  // OBJECT: what stands for it in a text without the section; or 0
  object_form form;  // OBJECT: what it becomes
  tvms_dtype dtype;
  const int64_t *dims;
  uint32_t ndim;
  const char *TVMS_NULLABLE
      bytes;  // of the elements, or the text; NULL: not understood
  size_t size;
  tvms_ref statement;  // of the file that used it last: units of others may be gone
  const tvms_unit *TVMS_NULLABLE unit;  // that `node` belongs to
  tvms_node *TVMS_NULLABLE node;
} stored_object;

// ---- Nodes ----------------------------------------------------------------------------------

enum { MOST_AXES = 32, TENSOR_HEAD = 28 };
#define TENSOR_MAGIC 0xDD5E40F096B4A13Fu

static tvms_eval_value field(tvms_eval_value dict, const char *name) {
  for (uint32_t i = 0; dict.kind == TVMS_EVAL_DICT && i + 1 < dict.len; i += 2) {
    tvms_eval_value key = dict.as.items[i];
    if (key.kind == TVMS_EVAL_STR && key.len == strlen(name)
        && memcmp(key.as.text, name, key.len) == 0) {
      return dict.as.items[i + 1];
    }
  }
  return TVMS_NOTHING;
}

// Number of a node: older releases write it as text.
static bool number_of(tvms_eval_value value, uint32_t *number) {
  *number = 0;
  if (value.kind == TVMS_EVAL_INT) {
    *number = (uint32_t)value.as.i;
    return value.as.i >= 0 && value.as.i <= UINT32_MAX;
  }
  if (value.kind != TVMS_EVAL_STR || !value.len || value.len > 9) return false;
  for (uint32_t i = 0; i < value.len; i++) {
    char c = value.as.text[i];
    if (c < '0' || c > '9') return false;
    *number = *number * 10 + (uint32_t)(c - '0');
  }
  return true;
}

static tvms_eval_value node_at(tvms_eval_value nodes, tvms_eval_value reference) {
  uint32_t number;
  if (!number_of(reference, &number) || number >= nodes.len) return TVMS_NOTHING;
  return nodes.as.items[number];
}

static bool is_type(tvms_eval_value node, const char *name) {
  tvms_eval_value type = field(node, "type");
  if (type.kind == TVMS_EVAL_NONE) type = field(node, "type_key");
  return type.kind == TVMS_EVAL_STR && type.len == strlen(name)
         && memcmp(type.as.text, name, type.len) == 0;
}

// What a node holds: fields, a list or text.
static tvms_eval_value content(tvms_eval_value node) {
  tvms_eval_value value = field(node, "data");
  if (value.kind == TVMS_EVAL_NONE) value = field(node, "attrs");
  if (value.kind == TVMS_EVAL_NONE) value = field(node, "repr_str");
  return value;
}

// Digits of base64, each with 1 added; 0: none.
static const uint8_t DIGITS[256] = {
    ['A'] = 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,         12,         13,
    14,         15, 16, 17, 18, 19, 20, 21, 22, 23, 24,         25,         26,
    ['a'] = 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37,         38,         39,
    40,         41, 42, 43, 44, 45, 46, 47, 48, 49, 50,         51,         52,
    ['0'] = 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, ['+'] = 63, ['/'] = 64,
};

// Whole groups of four digits at the begin of the text, three bytes each; returns how many.
static uint32_t decode_groups(const uint8_t *text, uint32_t groups, uint8_t *out) {
  for (uint32_t i = 0; i < groups; i++, text += 4, out += 3) {
    uint32_t a = DIGITS[text[0]], b = DIGITS[text[1]], c = DIGITS[text[2]],
             d = DIGITS[text[3]];
    if (!a || !b || !c || !d) return i;
    uint32_t group = (a - 1) << 18 | (b - 1) << 12 | (c - 1) << 6 | (d - 1);
    out[0] = (uint8_t)(group >> 16);
    out[1] = (uint8_t)(group >> 8);
    out[2] = (uint8_t)group;
  }
  return groups;
}

// Bytes of a text in base64, in which anything else is skipped.
static size_t decode(tvms_eval_value text, uint8_t *out) {
  const uint8_t *digits = (const uint8_t *)text.as.text;
  uint32_t whole = decode_groups(digits, text.len / 4, out), group = 0;
  int bits = 0;
  size_t len = 3 * (size_t)whole;
  for (uint32_t i = 4 * whole; i < text.len; i++) {
    uint8_t digit = DIGITS[digits[i]];
    if (!digit) continue;
    group = group << 6 | (digit - 1u);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out[len++] = (uint8_t)(group >> bits);
  }
  return len;
}

static uint64_t le(const uint8_t *bytes, uint32_t count) {
  uint64_t value = 0;
  for (uint32_t i = count; i-- > 0;) {
    value = value << 8 | bytes[i];
  }
  return value;
}

// The text that a field of a StringImm names: the number of a node, which earlier releases
// write as text, and its text as base64 behind its length in 8 bytes (0.21) or as it is.
static tvms_eval_value text_of(tvms_reader *reader, tvms_eval_value nodes,
                               tvms_eval_value node, tvms_eval_value reference) {
  bool early = field(node, "type_key").kind != TVMS_EVAL_NONE;
  if (reference.kind == TVMS_EVAL_STR && !early) return reference;
  tvms_eval_value target = node_at(nodes, reference);
  tvms_eval_value coded = field(target, "repr_b64");
  if (coded.kind != TVMS_EVAL_STR) return content(target);
  uint8_t *bytes = tvms_arena_alloc(&reader->kept, (size_t)coded.len + 1);
  size_t size = decode(coded, bytes);
  if (size < 8 || le(bytes, 8) != size - 8) return TVMS_NOTHING;
  return tvms_eval_value_text((const char *)bytes + 8, (uint32_t)(size - 8));
}

// A tensor in TVM's binary form: magic, device, axes, dtype, extents, elements.
static bool read_tensor(tvms_reader *reader, tvms_eval_value text,
                        stored_object *stored) {
  if (text.kind != TVMS_EVAL_STR) return false;
  uint8_t *bytes = tvms_arena_alloc(&reader->kept, (size_t)text.len + 1);
  size_t size = decode(text, bytes);
  if (size < TENSOR_HEAD || le(bytes, 8) != TENSOR_MAGIC) return false;
  uint32_t ndim = (uint32_t)le(bytes + 24, 4);
  size_t head = TENSOR_HEAD + 4 + 8 * (size_t)ndim + 8;
  if (ndim > MOST_AXES || size < head) return false;
  const uint8_t *at = bytes + TENSOR_HEAD;
  stored->dtype = (tvms_dtype){at[0], at[1], (int16_t)le(at + 2, 2)};
  if (stored->dtype.code == TVMS_UINT && stored->dtype.bits == 1) {
    stored->dtype.code = TVMS_BOOL;
  }
  if (stored->dtype.code == TVMS_BOOL) stored->dtype.bits = 1;
  int64_t *dims = tvms_arena_array(&reader->kept, int64_t, ndim + 1);
  uint64_t total = (stored->dtype.bits + 7u) / 8;
  for (uint32_t i = 0; i < ndim; i++) {
    dims[i] = (int64_t)le(at + 4 + 8 * (size_t)i, 8);
    bool sound = dims[i] >= 0 && (!dims[i] || total <= size / (uint64_t)dims[i]);
    if (!sound) return false;
    total *= (uint64_t)dims[i];
  }
  stored->dims = dims;
  stored->ndim = ndim;
  stored->bytes = (const char *)bytes + head;
  stored->size = size - head;
  return stored->dtype.lanes == 1 && total == stored->size;
}

static tvms_eval_value object_of(tvms_reader *reader, tvms_eval_value nodes,
                                 tvms_eval_value node) {
  tvms_eval_value fields = content(node);
  if (is_type(node, "ffi.String") && fields.kind == TVMS_EVAL_STR) return fields;
  stored_object *stored = tvms_arena_new(&reader->kept, stored_object);
  *stored = (stored_object){0};
  bool sound = false;
  if (is_type(node, "relax.expr.Constant") || is_type(node, "ir.GenericConst")) {
    // The field of the tensor has another name since 0.27.
    tvms_eval_value at = field(fields, "data");
    if (at.kind == TVMS_EVAL_NONE) at = field(fields, "value");
    tvms_eval_value tensor = node_at(nodes, at);
    sound = read_tensor(reader, content(tensor), stored);
  } else if (is_type(node, "tir.StringImm") || is_type(node, "tirx.StringImm")
             || is_type(node, "ir.StringImm")) {
    tvms_eval_value text = text_of(reader, nodes, node, field(fields, "value"));
    sound = text.kind == TVMS_EVAL_STR;
    stored->form = TEXT;
    stored->bytes = text.as.text;
    stored->size = text.len;
  } else if (is_type(node, "ffi.Tensor")) {
    sound = read_tensor(reader, fields, stored);
    stored->form = TENSOR;
  }
  if (!sound) stored->bytes = NULL;
  return (tvms_eval_value){.kind = TVMS_EVAL_STORED, .as.object = stored};
}

// The objects under one key, in the order of their numbers.
static tvms_eval_value objects_of(tvms_reader *reader, tvms_eval_value nodes,
                                  tvms_eval_value array) {
  tvms_eval_value list = content(array);
  if (list.kind != TVMS_EVAL_LIST) return TVMS_UNKNOWN;
  tvms_eval_value *items = tvms_arena_array(&reader->kept, tvms_eval_value, list.len);
  for (uint32_t i = 0; i < list.len; i++) {
    items[i] = object_of(reader, nodes, node_at(nodes, list.as.items[i]));
  }
  return tvms_eval_value_items(TVMS_EVAL_LIST, items, list.len);
}

static tvms_eval_value table_of(tvms_reader *reader, tvms_eval_value root) {
  tvms_eval_value nodes = field(root, "nodes");
  tvms_eval_value start = field(root, "root_index");
  if (start.kind == TVMS_EVAL_NONE) start = field(root, "root");
  if (nodes.kind != TVMS_EVAL_LIST) return TVMS_UNKNOWN;
  tvms_eval_value map = node_at(nodes, start);
  tvms_eval_value keys = field(map, "keys"), data = content(map);
  if (data.kind != TVMS_EVAL_LIST) return TVMS_UNKNOWN;
  bool split = keys.kind == TVMS_EVAL_LIST && keys.len == data.len;
  uint32_t count = split ? data.len : data.len / 2;
  tvms_eval_value *pairs = tvms_arena_array(&reader->kept, tvms_eval_value, 2 * count);
  for (uint32_t i = 0; i < count; i++) {
    tvms_eval_value key =
        split ? keys.as.items[i] : content(node_at(nodes, data.as.items[2 * i]));
    tvms_eval_value list = data.as.items[split ? i : 2 * i + 1];
    pairs[2 * i] = key;
    pairs[2 * i + 1] = objects_of(reader, nodes, node_at(nodes, list));
    bool sound =
        key.kind == TVMS_EVAL_STR && tvms_eval_value_is_known(pairs[2 * i + 1]);
    if (!sound) return TVMS_UNKNOWN;
  }
  return tvms_eval_value_items(TVMS_EVAL_DICT, pairs, 2 * count);
}

tvms_eval_value tvms_metadata_load(tvms_reader *reader, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  if (!tvms_signature_bind_method(reader, "text", "tvm.ir.load_json", call, args)) {
    return TVMS_UNKNOWN;
  }
  if (args[0].kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, call, "the metadata", "a string", args[0]);
    return TVMS_UNKNOWN;
  }
  tvms_eval_value root = tvms_parser_read_json(reader, args[0]);
  bool sound = tvms_eval_value_is_known(root);
  tvms_eval_value table = sound ? table_of(reader, root) : root;
  if (!tvms_eval_value_is_known(table)) {
    tvms_reader_report(reader, bad_metadata, call);
    reader->failed = true;
  }
  return table;
}

// ---- Use ------------------------------------------------------------------------------------

static tvms_list dims_of(tvms_unit *unit, const stored_object *stored) {
  tvms_node *dims[MOST_AXES];
  for (uint32_t i = 0; i < stored->ndim; i++) {
    dims[i] = tvms_sinfo_dim_new(unit, stored->dims[i]);
  }
  return tvms_list_copy(unit, dims, stored->ndim);
}

static tvms_node *constant_of(tvms_unit *unit, const stored_object *stored,
                              tvms_span span) {
  tvms_constant *constant = tvms_node_make(unit, CONSTANT, span);
  tvms_list dims = dims_of(unit, stored);
  constant->element = stored->dtype;
  constant->shape = dims;
  constant->data = tvms_bytes_copy(unit, stored->bytes, stored->size);
  tvms_node *shape =
      tvms_sinfo_shape_value_new(unit, dims.items, dims.len, TVMS_NO_SPAN);
  constant->head.sinfo = tvms_sinfo_tensor_new(unit, shape, stored->dtype, NULL);
  return &constant->head;
}

// Only an annotation of its binding says more of its type.
static tvms_node *omitted_constant(tvms_unit *unit, tvms_sym omitted, tvms_span span) {
  tvms_constant *constant = tvms_node_make(unit, CONSTANT, span);
  constant->omitted = omitted;
  constant->head.sinfo =
      tvms_sinfo_tensor_new_ndim(unit, TVMS_UNKNOWN_NDIM, (tvms_dtype){0}, NULL);
  return &constant->head;
}

static tvms_node *text_of_object(tvms_unit *unit, const stored_object *stored,
                                 tvms_span span) {
  tvms_node *text = tvms_string_imm_new(unit, stored->bytes, stored->size, span);
  tvms_as_string_imm(text)->omitted = stored->omitted;
  return text;
}

// A tensor that is the value of an attribute.
static tvms_node *tensor_of(tvms_unit *unit, const stored_object *stored,
                            tvms_span span) {
  tvms_struct_OBJECT_TENSOR *tensor = tvms_node_make(unit, OBJECT_TENSOR, span);
  tensor->omitted = stored->omitted;
  if (stored->omitted) return &tensor->head;
  tensor->element = stored->dtype;
  tensor->shape = dims_of(unit, stored);
  tensor->data = tvms_bytes_copy(unit, stored->bytes, stored->size);
  return &tensor->head;
}

static tvms_node *node_of(tvms_unit *unit, const stored_object *stored,
                          tvms_span span) {
  if (stored->form == TEXT) return text_of_object(unit, stored, span);
  if (stored->form == TENSOR) return tensor_of(unit, stored, span);
  return stored->omitted ? omitted_constant(unit, stored->omitted, span)
                         : constant_of(unit, stored, span);
}

tvms_eval_value tvms_metadata_value(tvms_reader *reader, tvms_eval_value value,
                                    tvms_ref ref) {
  stored_object *stored = value.as.object;
  tvms_unit *unit = reader->unit;
  if (stored->what != OBJECT) return value;
  if (stored->unit == unit && stored->statement == tvms_file_of(reader)->statement) {
    return tvms_eval_value_node(stored->node);
  }
  if (!stored->bytes) {
    tvms_reader_report(reader, unknown_object, ref);
    return tvms_reader_failed(reader);
  }
  tvms_span span = tvms_reader_span_of(reader, ref);
  stored->unit = unit;
  stored->statement = tvms_file_of(reader)->statement;
  stored->node = node_of(unit, stored, span);
  return tvms_eval_value_node(stored->node);
}

// ---- Without the section --------------------------------------------------------------------

static tvms_eval_value stored_value(stored_object *stored) {
  return (tvms_eval_value){.kind = TVMS_EVAL_STORED, .as.object = stored};
}

static bool is_text_class(const char *name) {
  return strcmp(name, "tir.StringImm") == 0 || strcmp(name, "tirx.StringImm") == 0
         || strcmp(name, "ir.StringImm") == 0;
}

static bool is_constant_class(const char *name) {
  return strcmp(name, "relax.expr.Constant") == 0
         || strcmp(name, "ir.GenericConst") == 0;
}

static object_form form_of_class(const char *name) {
  if (is_text_class(name)) return TEXT;
  return strcmp(name, "ffi.Tensor") == 0 ? TENSOR : CONSTANT;
}

// The object of this class and number: one for the whole file.
static stored_object *omitted_object(tvms_reader *reader, const char *class_name,
                                     int64_t number, tvms_ref ref) {
  tvms_memory *memory = &reader->context->memory;
  tvms_strbuf text;
  tvms_strbuf_init(&text, memory);
  tvms_strbuf_printf(&text, "metadata[\"%s\"][%lld]", class_name, (long long)number);
  tvms_sym name = tvms_symbol_intern(reader->context, text.text, text.len);
  tvms_strbuf_fini(&text);
  tvms_vec_reach(memory, &tvms_file_of(reader)->omitted, name);
  stored_object *stored = tvms_file_of(reader)->omitted.items[name];
  if (stored) return stored;
  stored = tvms_arena_new(&reader->kept, stored_object);
  *stored =
      (stored_object){.omitted = name, .bytes = "", .form = form_of_class(class_name)};
  if (stored->form == CONSTANT && !is_constant_class(class_name)) stored->bytes = NULL;
  tvms_file_of(reader)->omitted.items[name] = stored;
  tvms_program *program = reader->program;
  if (!program->omitted++) program->omitted_at = tvms_reader_span_of(reader, ref);
  return stored;
}

static tvms_eval_value omitted_subscript(tvms_reader *reader, tvms_eval_value object,
                                         tvms_eval_value index, tvms_ref ref) {
  const stored_object *table = object.as.object;
  if (table->what == OMITTED_TABLE && index.kind == TVMS_EVAL_STR) {
    stored_object *stored = tvms_arena_new(&reader->values, stored_object);
    *stored = (stored_object){.what = OMITTED_CLASS, .class_name = index.as.text};
    return stored_value(stored);
  }
  if (table->what == OMITTED_CLASS && index.kind == TVMS_EVAL_INT && index.as.i >= 0) {
    stored_object *stored = omitted_object(reader, table->class_name, index.as.i, ref);
    return tvms_metadata_value(reader, stored_value(stored), ref);
  }
  return tvms_eval_report_no_subscript(reader, object, ref);
}

void tvms_metadata_bind_omitted(tvms_reader *reader) {
  stored_object *table = tvms_arena_new(&reader->kept, stored_object);
  *table = (stored_object){.what = OMITTED_TABLE};
  tvms_sym name = tvms_symbol_intern(reader->context, "metadata", strlen("metadata"));
  tvms_scope_bind(reader, name, stored_value(table), TVMS_NO_SPAN);
}

const tvms_eval_value_ops tvms_metadata_stored_ops = {
    .mention = tvms_metadata_value,
    .subscript = omitted_subscript,
};
