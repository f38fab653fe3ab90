// An .npz file is a ZIP archive of .npy files, which numpy.savez stores as they are; the list at
// its end says where. A .safetensors file begins with the size of a JSON object, that object,
// {"name": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, and then the elements.
#include "passes/weights.h"

#include "interp/interp.h"
#include "ir/build.h"
#include "passes/literal.h"
#include "runtime/npy.h"
#include "structinfo/make.h"

#include <errno.h>
#include <string.h>

static const char too_large[] = "it has more than 4 GiB";

static uint64_t little(const char *bytes, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; i++)
    value |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
  return value;
}

// ---- ZIP ----

enum { ENTRY = 46, LOCAL = 30, END = 22, LOCATOR = 20, END64 = 56 };

// In a field of four bytes: the number stands elsewhere, in eight bytes.
static const uint64_t wide = 0xFFFFFFFF;

// Where the list of the archive is, from the record at the end of the file; NULL: there is none.
// An archive beyond 4 GiB or 65535 files has a longer record before it, and a pointer to that between them.
static const char *TVMS_NULLABLE find_list(const char *file, size_t size,
                                           uint64_t *count) {
  for (size_t back = END; back <= size && back < END + 65536; back++) {
    const char *end = file + size - back;
    if (memcmp(end, "PK\5\6", 4) != 0) continue;
    uint64_t start = little(end + 16, 4);
    *count = little(end + 10, 2);
    bool longer = end - file >= LOCATOR && memcmp(end - LOCATOR, "PK\6\7", 4) == 0;
    uint64_t at = longer ? little(end - LOCATOR + 8, 8) : 0;
    if (longer && (size < END64 || at > size - END64)) return NULL;
    if (longer && memcmp(file + at, "PK\6\6", 4) == 0) {
      start = little(file + at + 48, 8);
      *count = little(file + at + 32, 8);
    }
    return start <= size ? file + start : NULL;
  }
  return NULL;
}

// The number in the field at `field`, or, if that is full, the next one of the entry's extra data of kind 1,
// where those of full fields follow each other. `next` counts them.
static uint64_t number_of(const char *entry, size_t field, size_t *next) {
  uint64_t number = little(entry + field, 4);
  if (number != wide) return number;
  const char *at = entry + ENTRY + little(entry + 28, 2);
  const char *end = at + little(entry + 30, 2);
  while (end - at >= 4) {
    uint64_t len = little(at + 2, 2);
    if (len > (uint64_t)(end - at - 4)) break;
    bool has = little(at, 2) == 1 && len >= (*next + 1) * 8;
    if (has) return little(at + 4 + (*next)++ * 8, 8);
    at += 4 + len;
  }
  return number;
}

static const char *TVMS_NULLABLE add_entry(tvms_relax_weights *w, const char *entry,
                                           size_t left) {
  const char *file = w->file->bytes;
  size_t size = w->file->size, name_len = little(entry + 28, 2), next = 0;
  if (left < ENTRY + name_len + little(entry + 30, 2)) return "it is cut off";
  if (little(entry + 10, 2) != 0)
    return "its arrays are compressed; numpy.savez stores them as they are";
  uint64_t bytes = number_of(entry, 24, &next);
  (void)number_of(entry, 20, &next);
  uint64_t local = number_of(entry, 42, &next);
  if (local > size || size - local < LOCAL) return "it is cut off";
  uint64_t skipped =
      LOCAL + little(file + local + 26, 2) + little(file + local + 28, 2);
  if (size - local < skipped || size - local - skipped < bytes) return "it is cut off";
  tvms_relax_weight weight = {.name = entry + ENTRY, .name_len = name_len, .npy = true};
  bool suffix = name_len > 4 && memcmp(weight.name + name_len - 4, ".npy", 4) == 0;
  if (suffix) weight.name_len -= 4;
  weight.data = file + local + skipped;
  weight.size = bytes;
  if (suffix) tvms_vec_push(&w->context->memory, &w->items, weight);
  return NULL;
}

static const char *TVMS_NULLABLE read_npz(tvms_relax_weights *w) {
  const char *end = w->file->bytes + w->file->size;
  uint64_t count = 0;
  const char *entry = find_list(w->file->bytes, w->file->size, &count);
  if (!entry) return "it is not an archive of arrays";
  for (uint64_t i = 0; i < count; i++) {
    bool there = end - entry >= ENTRY && memcmp(entry, "PK\1\2", 4) == 0;
    if (!there) return "it is cut off";
    const char *why = add_entry(w, entry, (size_t)(end - entry));
    if (why) return why;
    uint64_t len =
        ENTRY + little(entry + 28, 2) + little(entry + 30, 2) + little(entry + 32, 2);
    if (len > (uint64_t)(end - entry)) return "it is cut off";
    entry += len;
  }
  return NULL;
}

// ---- safetensors ----

static const struct {
  const char *name;
  tvms_dtype dtype;
} dtypes[] = {
    {"F64", {TVMS_FLOAT, 64, 1}},
    {"F32", {TVMS_FLOAT, 32, 1}},
    {"F16", {TVMS_FLOAT, 16, 1}},
    {"BF16", {TVMS_BFLOAT, 16, 1}},
    {"I64", {TVMS_INT, 64, 1}},
    {"I32", {TVMS_INT, 32, 1}},
    {"I16", {TVMS_INT, 16, 1}},
    {"I8", {TVMS_INT, 8, 1}},
    {"U64", {TVMS_UINT, 64, 1}},
    {"U32", {TVMS_UINT, 32, 1}},
    {"U16", {TVMS_UINT, 16, 1}},
    {"U8", {TVMS_UINT, 8, 1}},
    {"BOOL", {TVMS_BOOL, 1, 1}},
    {"F8_E4M3", {TVMS_FLOAT8_E4M3FN, 8, 1}},
    {"F8_E5M2", {TVMS_FLOAT8_E5M2, 8, 1}},
};

static bool find_dtype(const tvms_literal *TVMS_NULLABLE name, tvms_dtype *dtype) {
  if (!name || !name->text) return false;
  for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
    if (strcmp(name->text, dtypes[i].name) != 0) continue;
    *dtype = dtypes[i].dtype;
    return true;
  }
  return false;
}

static bool are_numbers(const tvms_literal *TVMS_NULLABLE list, uint32_t most) {
  if (!list || list->kind != TVMS_LITERAL_LIST || list->len > most) return false;
  for (uint32_t i = 0; i < list->len; i++) {
    bool number = list->items[i].kind == TVMS_LITERAL_INT && list->items[i].number >= 0;
    if (!number) return false;
  }
  return true;
}

// Fills in a tensor from what is said of it; `data` are the elements of all. Returns NULL, or why it cannot be read.
static const char *TVMS_NULLABLE place_tensor(tvms_relax_weight *weight,
                                              const tvms_literal *said,
                                              const char *data, size_t size) {
  if (said->kind != TVMS_LITERAL_MAP) return "the file does not describe it";
  const tvms_literal *shape = tvms_pass_literal_get(said, "shape");
  const tvms_literal *place = tvms_pass_literal_get(said, "data_offsets");
  if (!find_dtype(tvms_pass_literal_get(said, "dtype"), &weight->dtype))
    return "its data type is not known";
  bool fits = are_numbers(shape, 32) && are_numbers(place, 2) && place->len == 2;
  if (!fits) return "the file does not say its shape and place";
  uint64_t begin = (uint64_t)place->items[0].number,
           end = (uint64_t)place->items[1].number;
  uint64_t bytes = (weight->dtype.bits + 7u) / 8;
  weight->ndim = (int32_t)shape->len;
  for (uint32_t i = 0; i < shape->len; i++) {
    weight->shape[i] = shape->items[i].number;
    if (__builtin_mul_overflow(bytes, (uint64_t)weight->shape[i], &bytes))
      return too_large;
  }
  if (begin > end || end - begin != bytes) return "its shape does not fit its place";
  if (end > size) return "the file ends before its last element";
  if (bytes > UINT32_MAX) return too_large;
  weight->data = data + begin;
  weight->size = bytes;
  return NULL;
}

static const char *TVMS_NULLABLE read_safetensors(tvms_relax_weights *w) {
  const char *file = w->file->bytes;
  size_t size = w->file->size;
  uint64_t head = size >= 8 ? little(file, 8) : 0;
  if (size < 8 || head > size - 8) return "it is cut off";
  tvms_arena *arena = &w->context->arena;
  const char *text = tvms_arena_text(arena, file + 8, head);
  const tvms_literal *map = tvms_pass_literal_read(w->context, arena, text);
  if (!map || map->kind != TVMS_LITERAL_MAP) return "its head cannot be read";
  for (uint32_t i = 0; i + 1 < map->len; i += 2) {
    if (!map->items[i].text) return "one of its tensors has no name";
    if (strcmp(map->items[i].text, "__metadata__") == 0) continue;
    const char *name = map->items[i].text;
    tvms_relax_weight weight = {.name = name, .name_len = strlen(name)};
    weight.unread =
        place_tensor(&weight, &map->items[i + 1], file + 8 + head, size - 8 - head);
    tvms_vec_push(&w->context->memory, &w->items, weight);
  }
  return NULL;
}

// ---- Both ----

static bool ends_in(const char *text, const char *suffix) {
  size_t len = strlen(text), tail = strlen(suffix);
  return len >= tail && strcmp(text + len - tail, suffix) == 0;
}

static const char neither[] = "it is neither .npz nor .safetensors";

static bool is_known(const char *name) {
  return ends_in(name, ".npz") || ends_in(name, ".safetensors");
}

const char *tvms_relax_weights_read(tvms_relax_weights *weights, tvms_context *context,
                                    const char *name, tvms_shared *file) {
  *weights = (tvms_relax_weights){.context = context, .file = file};
  if (ends_in(name, ".npz")) return read_npz(weights);
  if (ends_in(name, ".safetensors")) return read_safetensors(weights);
  return neither;
}

const char *tvms_relax_weights_init(tvms_relax_weights *weights, tvms_context *context,
                                    const char *path) {
  *weights = (tvms_relax_weights){.context = context};
  if (!is_known(path)) return neither;
  tvms_shared *file = tvms_shared_map(&context->memory, &context->shares, path);
  if (!file && errno == EINVAL) return "it is empty, or not a plain file";
  return file ? tvms_relax_weights_read(weights, context, path, file) : strerror(errno);
}

void tvms_relax_weights_fini(tvms_relax_weights *weights) {
  tvms_memory *memory = &weights->context->memory;
  tvms_vec_fini(memory, &weights->items);
  if (weights->file) tvms_shared_drop(memory, &weights->context->shares, weights->file);
}

static tvms_node *constant(tvms_unit *unit, tvms_dtype dtype, int32_t ndim,
                           const int64_t *shape, const void *data, size_t size) {
  tvms_constant *made = tvms_node_make(unit, CONSTANT, TVMS_NO_SPAN);
  tvms_node *sizes[32];
  for (int32_t i = 0; i < ndim; i++)
    sizes[i] = tvms_sinfo_dim_new(unit, shape[i]);
  tvms_node *known =
      tvms_sinfo_shape_value_new(unit, sizes, (uint32_t)ndim, TVMS_NO_SPAN);
  made->element = dtype;
  made->shape = tvms_list_copy(unit, sizes, (uint32_t)ndim);
  made->data = tvms_bytes_share(unit, data, size);
  made->head.sinfo = tvms_sinfo_tensor_new(unit, known, dtype, NULL);
  return &made->head;
}

static tvms_node *TVMS_NULLABLE from_npy(tvms_unit *unit,
                                         const tvms_relax_weight *weight,
                                         tvms_dtype wanted,
                                         const char *TVMS_NULLABLE *why) {
  tvms_npy npy;
  *why = tvms_npy_parse(&npy, weight->data, weight->size);
  if (*why) return NULL;
  tvms_dl_type type = tvms_npy_type(&npy);
  if (!type.lanes && npy.kind == 'V' && !tvms_dtype_is_void(wanted)) {
    type = (tvms_dl_type){wanted.code, wanted.bits, (uint16_t)wanted.lanes};
    if (!tvms_npy_fits(&npy, type)) type.lanes = 0;
  }
  *why = "its elements are not of the size of the parameter's";
  if (!type.lanes) return NULL;
  // A truth has one bit here, and a byte in memory.
  bool truths = type.code == TVMS_DL_BOOL;
  tvms_dtype dtype = {type.code, truths ? 1 : type.bits, (int16_t)type.lanes};
  uint64_t bytes;
  *why = too_large;
  if (!tvms_tensor_measure(type, npy.ndim, npy.shape, &bytes) || bytes > UINT32_MAX)
    return NULL;
  *why = NULL;
  if (!npy.fortran)
    return constant(unit, dtype, npy.ndim, npy.shape, weight->data + npy.data, bytes);
  tvms_heap heap;
  tvms_heap_init(&heap, &unit->context->memory);
  tvms_tensor *tensor = tvms_npy_tensor(&heap, &npy, weight->data, type);
  tvms_node *made = NULL;
  if (tensor) {
    made = constant(unit, dtype, tensor->view.ndim, tensor->shape, tensor->view.data,
                    tensor->bytes);
    tvms_value_drop(tvms_value_of_tensor(tensor));
  }
  tvms_heap_fini(&heap);
  return made;
}

static bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

static bool is_word(char c) {
  return c == '_' || is_decimal(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Is this the name asked for? Without `exact` what is no part of a name of Python is an underscore in it, and one may
// stand in front of a digit that the name of the file begins with.
static bool is_named(const tvms_relax_weight *weight, const char *name, bool exact) {
  bool numbered = !exact && weight->name_len && is_decimal(weight->name[0]);
  if (numbered && name[0] == '_' && is_decimal(name[1])) name++;
  size_t len = strlen(name);
  if (weight->name_len != len) return false;
  if (exact) return memcmp(weight->name, name, len) == 0;
  for (size_t i = 0; i < len; i++) {
    char c = weight->name[i];
    if ((is_word(c) ? c : '_') != name[i]) return false;
  }
  return true;
}

bool tvms_relax_weight_is(const tvms_relax_weight *weight, const char *name) {
  return is_named(weight, name, false);
}

static const tvms_relax_weight *TVMS_NULLABLE find(const tvms_relax_weights *weights,
                                                   const char *name, bool exact) {
  for (uint32_t i = 0; i < weights->items.len; i++) {
    if (is_named(&weights->items.items[i], name, exact))
      return &weights->items.items[i];
  }
  return NULL;
}

tvms_node *tvms_relax_weights_find(const tvms_relax_weights *weights, tvms_unit *unit,
                                   const char *name, tvms_dtype wanted,
                                   const char *TVMS_NULLABLE *why) {
  const tvms_relax_weight *weight = find(weights, name, true);
  if (!weight) weight = find(weights, name, false);
  *why = weight ? weight->unread : NULL;
  if (!weight || *why) return NULL;
  if (weight->npy) return from_npy(unit, weight, wanted, why);
  return constant(unit, weight->dtype, weight->ndim, weight->shape, weight->data,
                  weight->size);
}
