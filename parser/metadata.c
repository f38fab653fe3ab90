// The metadata section of a file: `metadata = tvm.ir.load_json("""…""")` holds what has no
// text of its own, and `metadata["relax.expr.Constant"][0]` names one of them.
//
// The JSON is a flat list of nodes that refer to each other by number, in the form of
// TVM 0.25 and later ("type", "data") or of earlier releases ("type_key", "attrs").
// Constants and texts are understood; the use of an object of another type is an error.
#include "parser/metadata.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "parser/eval/call.h"
#include "parser/eval/convert.h"
#include "parser/eval/ops.h"
#include "parser/file_state.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <string.h>

struct tvms_stored {
  bool is_text;
  tvms_dtype dtype;
  const int64_t *dims;
  uint32_t ndim;
  const char *TVMS_NULLABLE
      bytes;  // of the elements, or the text; NULL: not understood
  size_t size;
  tvms_ref statement;  // of the file that used it last: units of others may be gone
  const tvms_unit *TVMS_NULLABLE unit;  // that `node` belongs to
  tvms_node *TVMS_NULLABLE node;
};

// ---- JSON -----------------------------------------------------------------------------------

enum { DEEPEST = 16, MOST_AXES = 32, TENSOR_HEAD = 28 };
#define TENSOR_MAGIC 0xDD5E40F096B4A13Fu

typedef struct {
  tvms_reader *reader;
  const char *at;
  const char *end;
  bool bad;
} json;

static tvms_eval_value value_in(json *j, int depth);

static void skip_space(json *j) {
  while (j->at < j->end && strchr(" \t\r\n", *j->at)) {
    j->at++;
  }
}

static bool take(json *j, char c) {
  skip_space(j);
  if (j->at >= j->end || *j->at != c) return false;
  j->at++;
  return true;
}

static char unescaped(char c) {
  switch (c) {
  case 'n': return '\n';
  case 't': return '\t';
  case 'r': return '\r';
  case 'b': return '\b';
  case 'f': return '\f';
  default: return c;
  }
}

static tvms_eval_value malformed(json *j) {
  j->bad = true;
  return TVMS_NOTHING;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The text after the opening quote; \u escapes beyond ASCII do not occur.
static tvms_eval_value string_in(json *j) {
  const char *close = j->at;
  while (close < j->end && *close != '"') {
    close += *close == '\\' ? 2 : 1;
  }
  if (close >= j->end) return malformed(j);
  char *text = tvms_arena_alloc(&j->reader->kept, (size_t)(close - j->at) + 1);
  size_t len = 0;
  while (j->at < close) {
    char c = *j->at++;
    if (c != '\\') {
      text[len++] = c;
      continue;
    }
    c = *j->at++;
    if (c != 'u') {
      text[len++] = unescaped(c);
      continue;
    }
    int code = 0;
    for (int i = 0; i < 4 && j->at < close; i++) {
      int digit = hex_digit(*j->at++);
      if (digit < 0) return malformed(j);
      code = code * 16 + digit;
    }
    if (code > 0x7f) return malformed(j);
    text[len++] = (char)code;
  }
  text[len] = '\0';
  j->at = close + 1;
  return tvms_eval_value_text(text, (uint32_t)len);
}

// Items of a list or, as pairs, of an object; the opening bracket is taken.
static tvms_eval_value items_in(json *j, bool pairs, int depth) {
  tvms_eval_value_vec items = {0};
  tvms_memory *memory = &j->reader->context->memory;
  char close = pairs ? '}' : ']';
  bool more = !take(j, close);
  while (more && !j->bad) {
    tvms_vec_push(memory, &items, value_in(j, depth + 1));
    if (pairs) {
      if (!take(j, ':')) j->bad = true;
      tvms_vec_push(memory, &items, value_in(j, depth + 1));
    }
    more = take(j, ',');
    if (!more && !take(j, close)) j->bad = true;
  }
  tvms_eval_value *kept =
      tvms_arena_array(&j->reader->kept, tvms_eval_value, items.len);
  if (items.len) memcpy(kept, items.items, items.len * sizeof *kept);
  tvms_eval_value list =
      tvms_eval_value_items(pairs ? TVMS_EVAL_DICT : TVMS_EVAL_LIST, kept, items.len);
  tvms_vec_fini(memory, &items);
  return list;
}

// Numbers that are not integers mean nothing here.
static tvms_eval_value number_in(json *j) {
  bool negative = take(j, '-');
  const char *from = j->at;
  uint64_t value = 0;
  while (j->at < j->end && *j->at >= '0' && *j->at <= '9') {
    value = value * 10 + (uint64_t)(*j->at++ - '0');
  }
  if (j->at == from) return malformed(j);
  while (j->at < j->end && strchr("0123456789.eE+-", *j->at)) {
    j->at++;
  }
  return tvms_eval_value_int(negative ? -(int64_t)value : (int64_t)value);
}

static tvms_eval_value value_in(json *j, int depth) {
  if (depth > DEEPEST) return malformed(j);
  if (take(j, '{')) return items_in(j, true, depth);
  if (take(j, '[')) return items_in(j, false, depth);
  if (take(j, '"')) return string_in(j);
  size_t left = (size_t)(j->end - j->at);
  const char *const words[] = {"null", "true", "false"};
  for (int i = 0; i < 3; i++) {
    size_t len = strlen(words[i]);
    if (left < len || memcmp(j->at, words[i], len) != 0) continue;
    j->at += len;
    return i ? tvms_eval_value_bool(i == 1) : TVMS_NOTHING;
  }
  return number_in(j);
}

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

// ---- Nodes ----------------------------------------------------------------------------------

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

static int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static size_t decode(tvms_eval_value text, uint8_t *out) {
  uint32_t group = 0;
  int bits = 0;
  size_t len = 0;
  for (uint32_t i = 0; i < text.len; i++) {
    int digit = base64_digit(text.as.text[i]);
    if (digit < 0) continue;
    group = group << 6 | (uint32_t)digit;
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
                        tvms_stored *stored) {
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
  tvms_stored *stored = tvms_arena_new(&reader->kept, tvms_stored);
  *stored = (tvms_stored){0};
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
    stored->is_text = true;
    stored->bytes = text.as.text;
    stored->size = text.len;
  }
  if (!sound) stored->bytes = NULL;
  return (tvms_eval_value){.kind = TVMS_EVAL_STORED, .as.stored = stored};
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
  json j = {
      .reader = reader, .at = args[0].as.text, .end = args[0].as.text + args[0].len};
  tvms_eval_value root = value_in(&j, 0);
  tvms_eval_value table = j.bad ? TVMS_UNKNOWN : table_of(reader, root);
  if (!tvms_eval_value_is_known(table)) {
    tvms_reader_report(reader, bad_metadata, call);
    reader->failed = true;
  }
  return table;
}

// ---- Use ------------------------------------------------------------------------------------

static tvms_node *constant_of(tvms_unit *unit, const tvms_stored *stored,
                              tvms_span span) {
  tvms_constant *constant = tvms_node_make(unit, CONSTANT, span);
  tvms_node *dims[MOST_AXES];
  for (uint32_t i = 0; i < stored->ndim; i++) {
    dims[i] = tvms_sinfo_dim_new(unit, stored->dims[i]);
  }
  constant->element = stored->dtype;
  constant->shape = tvms_list_copy(unit, dims, stored->ndim);
  constant->data = tvms_bytes_copy(unit, stored->bytes, stored->size);
  tvms_node *shape = tvms_sinfo_shape_value_new(unit, dims, stored->ndim, TVMS_NO_SPAN);
  constant->head.sinfo = tvms_sinfo_tensor_new(unit, shape, stored->dtype, NULL);
  return &constant->head;
}

tvms_eval_value tvms_metadata_value(tvms_reader *reader, tvms_eval_value value,
                                    tvms_ref ref) {
  tvms_stored *stored = value.as.stored;
  tvms_unit *unit = reader->unit;
  if (stored->unit == unit && stored->statement == reader->file->statement) {
    return tvms_eval_value_node(stored->node);
  }
  if (!stored->bytes) {
    tvms_reader_report(reader, unknown_object, ref);
    return tvms_reader_failed(reader);
  }
  tvms_span span = tvms_reader_span_of(reader, ref);
  stored->unit = unit;
  stored->statement = reader->file->statement;
  stored->node = stored->is_text
                     ? tvms_string_imm_new(unit, stored->bytes, stored->size, span)
                     : constant_of(unit, stored, span);
  return tvms_eval_value_node(stored->node);
}

const tvms_eval_value_ops tvms_metadata_stored_ops = {.mention = tvms_metadata_value};
