// Objects of tvm-ffi: references are counted in the first word, strong ones in its low half and weak ones
// (all strong ones count as one) in its high half. Who drops the last of a kind calls the function in the
// head, with 1 for strong ones and 2 for weak ones. backend/llvm/objects.c makes the same.
#include "runtime/box.h"

#include "runtime/box_object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_ALIGN = 64 };

static const uint64_t one_weak = (uint64_t)1 << 32;

typedef struct {
  tvms_any_object head;
  int64_t *sizes;
  uint64_t count;
  int64_t items[];
} shape_object;

typedef struct {
  tvms_any_object head;
  tvms_any *first;
  int64_t count, room;
  void *free_items;
  tvms_any items[];
} array_object;

// ---- References ----

void tvms_box_keep(tvms_any_object *object) {
  __atomic_fetch_add(&object->references, 1, __ATOMIC_RELAXED);
}

void tvms_box_release(tvms_any_object *object) {
  uint64_t old = __atomic_fetch_sub(&object->references, 1, __ATOMIC_ACQ_REL);
  if ((uint32_t)old != 1) return;
  if (old == one_weak + 1) {
    if (object->deleter) object->deleter(object, TVMS_BOX_LEAVES | TVMS_BOX_FREES);
    return;
  }
  if (object->deleter) object->deleter(object, TVMS_BOX_LEAVES);
  old = __atomic_fetch_sub(&object->references, one_weak, __ATOMIC_ACQ_REL);
  if (old == one_weak && object->deleter) object->deleter(object, TVMS_BOX_FREES);
}

void tvms_box_drop(tvms_any *boxes, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    tvms_any held = boxes[i];
    boxes[i] = (tvms_any){0};
    bool owns = held.type_index >= TVMS_ANY_OBJECT && held.padding != TVMS_BOX_BORROWED;
    if (owns && held.v.p) tvms_box_release(held.v.p);
  }
}

void tvms_box_put(tvms_any *box, const tvms_any *value) {
  tvms_any held = *box;
  *box = *value;
  tvms_box_drop(&held, 1);
}

int32_t tvms_box_call(tvms_box_function *function, void *raise, const tvms_any *args,
                      int32_t count, tvms_any *box) {
  tvms_any value = {0};
  int32_t status = function(raise, args, count, &value);
  if (status == 0) tvms_box_put(box, &value);
  return status;
}

tvms_box_function *tvms_box_find(const char *name) {
  static const struct {
    const char *name;
    tvms_box_function *function;
  } boxes[] = {
#define BOX(name, function) {name, tvms_box_##function},
#include "runtime/boxes.def"
#undef BOX
  };
  for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
    if (!strcmp(boxes[i].name, name)) return boxes[i].function;
  }
  return NULL;
}

// ---- Errors ----

tvms_box_args tvms_box_open(void *raise, const char *name, const tvms_any *args,
                            int32_t count) {
  return (tvms_box_args){.raise = raise, .name = name, .args = args, .count = count};
}

void tvms_box_tell(tvms_box_args *a, const char *kind, const char *text) {
  if (!a->failed && a->raise) a->raise->raise(a->raise, kind, text);
  a->failed = true;
}

int32_t tvms_box_fail(tvms_box_args *a, const char *kind, const char *text) {
  char message[512];
  snprintf(message, sizeof message, "%s: %s", a->name, text);
  tvms_box_tell(a, kind, message);
  return -1;
}

int32_t tvms_box_refuse(tvms_box_args *a, const char *expected) {
  char text[192];
  snprintf(text, sizeof text, "%s is expected", expected);
  return tvms_box_fail(a, "ValueError", text);
}

int32_t tvms_box_no_memory(tvms_box_args *a) {
  return tvms_box_fail(a, "MemoryError", "out of memory");
}

// ---- Arguments ----

int64_t tvms_box_number(tvms_box_args *a, int32_t i) {
  bool whole = i < a->count
               && (a->args[i].type_index == TVMS_ANY_INT
                   || a->args[i].type_index == TVMS_ANY_BOOL);
  if (!whole) tvms_box_refuse(a, "a number");
  return whole ? a->args[i].v.i : 0;
}

const char *tvms_box_text(const tvms_box_args *a, int32_t i) {
  return i < a->count && a->args[i].type_index == TVMS_ANY_TEXT ? a->args[i].v.p : NULL;
}

static bool is_compact(const tvms_dl_tensor *tensor) {
  int64_t step = 1;
  for (int32_t i = tensor->ndim; tensor->strides && i > 0; i--) {
    int64_t size = tensor->shape[i - 1];
    if (size == 0) return true;
    if (size != 1 && tensor->strides[i - 1] != step) return false;
    step *= size;
  }
  return true;
}

static const tvms_dl_tensor *TVMS_NULLABLE tensor_of(tvms_any value) {
  if (value.type_index == TVMS_ANY_DL_TENSOR) return value.v.p;
  if (value.type_index != TVMS_ANY_TENSOR) return NULL;
  return &((const tvms_box_tensor *)value.v.p)->tensor;
}

const tvms_dl_tensor *tvms_box_tensor_at(tvms_box_args *a, int32_t i) {
  const tvms_dl_tensor *tensor = i < a->count ? tensor_of(a->args[i]) : NULL;
  if (tensor && tensor->device.type == TVMS_DL_CPU && is_compact(tensor)) return tensor;
  tvms_box_refuse(a, "a tensor without gaps in the memory of this machine");
  return NULL;
}

char *tvms_box_data(const tvms_dl_tensor *tensor) {
  return tensor->byte_offset ? (char *)tensor->data + tensor->byte_offset
                             : tensor->data;
}

const int64_t *tvms_box_sizes_at(tvms_box_args *a, int32_t i, int64_t *count) {
  tvms_any value = i < a->count ? a->args[i] : (tvms_any){0};
  if (value.type_index == TVMS_ANY_SHAPE) {
    const shape_object *shape = value.v.p;
    *count = (int64_t)shape->count;
    return shape->sizes;
  }
  const tvms_dl_tensor *tensor = tensor_of(value);
  bool numbers = tensor && tensor->ndim == 1 && tensor->dtype.code == TVMS_DL_INT
                 && tensor->dtype.bits == 64 && tensor->dtype.lanes == 1;
  if (!numbers) {
    tvms_box_refuse(a, "a shape");
    return NULL;
  }
  *count = tensor->shape[0];
  return (const int64_t *)(const void *)tvms_box_data(tensor);
}

const tvms_any *tvms_box_items(tvms_any value, int64_t *count) {
  if (value.type_index != TVMS_ANY_ARRAY) return NULL;
  const array_object *array = value.v.p;
  *count = array->count;
  return array->first;
}

// ---- Data types ----

static const struct {
  const char *name;
  uint8_t code, bits;  // bits 0: they follow the name
} kinds[] = {
    {"bool", TVMS_DL_BOOL, 8},     {"int", TVMS_DL_INT, 0},
    {"uint", TVMS_DL_UINT, 0},     {"float", TVMS_DL_FLOAT, 0},
    {"bfloat", TVMS_DL_BFLOAT, 0},
};

bool tvms_box_dtype(const char *text, tvms_dl_type *type) {
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    size_t len = strlen(kinds[i].name);
    if (strncmp(text, kinds[i].name, len) != 0) continue;
    char *end = (char *)(uintptr_t)text + len;
    unsigned long bits = kinds[i].bits, lanes = 1;
    if (!bits) bits = strtoul(end, &end, 10);
    if (*end == 'x') lanes = strtoul(end + 1, &end, 10);
    bool good = !*end && bits && bits <= 64 && lanes && lanes <= UINT16_MAX;
    *type = (tvms_dl_type){kinds[i].code, (uint8_t)bits, (uint16_t)lanes};
    return good;
  }
  return false;
}

void tvms_box_dtype_text(tvms_dl_type type, char *text, size_t room) {
  snprintf(text, room, "?");
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (kinds[i].code != type.code) continue;
    int len = snprintf(text, room, "%s", kinds[i].name);
    if (!kinds[i].bits)
      len += snprintf(text + len, room - (size_t)len, "%u", type.bits);
    if (type.lanes > 1) snprintf(text + len, room - (size_t)len, "x%u", type.lanes);
  }
}

// ---- Objects ----

void *tvms_box_object_new(size_t bytes, int32_t kind, void (*deleter)(void *, int)) {
  size_t whole = (bytes + MEMORY_ALIGN - 1) / MEMORY_ALIGN * MEMORY_ALIGN;
  tvms_any_object *object = aligned_alloc(MEMORY_ALIGN, whole);
  if (object) *object = (tvms_any_object){one_weak + 1, kind, 0, deleter};
  return object;
}

typedef struct {
  tvms_any_object head;
  const char *text;
  size_t len;
  char bytes[];
} text_object;

static void delete_plain(void *object, int flags) {
  if (flags & TVMS_BOX_FREES) free(object);
}

static void delete_tensor(void *object, int flags) {
  tvms_box_tensor *tensor = object;
  if (flags & TVMS_BOX_LEAVES && tensor->owner) tvms_box_release(tensor->owner);
  if (flags & TVMS_BOX_FREES) free(object);
}

static void delete_array(void *object, int flags) {
  array_object *array = object;
  if (flags & TVMS_BOX_LEAVES) tvms_box_drop(array->first, array->count);
  if (flags & TVMS_BOX_FREES) free(object);
}

bool tvms_box_bytes(tvms_dl_type type, const int64_t *sizes, int32_t ndim,
                    uint64_t *bytes) {
  *bytes = ((uint64_t)type.bits * type.lanes + 7) / 8;
  for (int32_t i = 0; i < ndim; i++) {
    bool negative = sizes[i] < 0;
    if (negative || __builtin_mul_overflow(*bytes, (uint64_t)sizes[i], bytes))
      return false;
  }
  return *bytes < PTRDIFF_MAX / 2;
}

tvms_box_tensor *tvms_box_tensor_new(tvms_box_args *a, tvms_dl_type type, int32_t ndim,
                                     const int64_t *sizes, tvms_any_object *owner,
                                     char *data) {
  uint64_t bytes;
  size_t rank = (size_t)ndim,
         begin = sizeof(tvms_box_tensor) + 2 * rank * sizeof *sizes;
  begin = (begin + MEMORY_ALIGN - 1) / MEMORY_ALIGN * MEMORY_ALIGN;
  tvms_box_tensor *made = NULL;
  if (tvms_box_bytes(type, sizes, ndim, &bytes))
    made = tvms_box_object_new(owner ? begin : begin + bytes, TVMS_ANY_TENSOR,
                               delete_tensor);
  if (!made) {
    tvms_box_no_memory(a);
    return NULL;
  }
  if (owner) tvms_box_keep(owner);
  made->owner = owner;
  made->tensor = (tvms_dl_tensor){.data = owner ? data : (char *)made + begin,
                                  .device = {TVMS_DL_CPU, 0},
                                  .ndim = ndim,
                                  .dtype = type,
                                  .shape = made->sizes,
                                  .strides = made->sizes + rank};
  int64_t step = 1;
  for (size_t i = rank; i > 0; i--) {
    made->sizes[i - 1] = sizes[i - 1];
    made->sizes[rank + i - 1] = step;
    step *= sizes[i - 1];
  }
  return made;
}

int32_t tvms_box_give(tvms_any *result, int32_t kind, void *object) {
  *result = (tvms_any){.type_index = kind, .v.p = object};
  return 0;
}

// Kinds of tvm-ffi for texts that somebody owns.
enum { SHORT_TEXT = 11, LONG_TEXT = 65 };

// A text: a short one lies in the value itself.
static int32_t text_of(tvms_box_args *a, const char *text, tvms_any *result) {
  size_t len = strlen(text);
  if (len < sizeof result->v) {
    *result = (tvms_any){.type_index = SHORT_TEXT, .padding = (uint32_t)len};
    memcpy(&result->v, text, len);
    return 0;
  }
  text_object *made =
      tvms_box_object_new(sizeof *made + len + 1, LONG_TEXT, delete_plain);
  if (!made) return tvms_box_no_memory(a);
  made->text = memcpy(made->bytes, text, len + 1);
  made->len = len;
  return tvms_box_give(result, LONG_TEXT, made);
}

bool tvms_box_small_text(tvms_any value, char text[8]) {
  if (value.type_index != SHORT_TEXT || value.padding >= 8) return false;
  memset(text, 0, 8);
  memcpy(text, &value.v, value.padding);
  return true;
}

const char *tvms_box_text_bytes(const tvms_any *value, uint64_t *len) {
  const char *text = value->type_index == TVMS_ANY_TEXT ? value->v.p : NULL;
  if (value->type_index == SHORT_TEXT && value->padding <= sizeof value->v) {
    *len = value->padding;
    return (const char *)&value->v;
  }
  const text_object *object = value->type_index == LONG_TEXT ? value->v.p : NULL;
  if (object) text = object->text;
  *len = object ? object->len : text ? strlen(text) : 0;
  return text;
}

// ---- Functions ----

int32_t tvms_box_copy_of(tvms_box_args *a, tvms_any value, tvms_any *result) {
  if (value.type_index == TVMS_ANY_DL_TENSOR) {
    const tvms_dl_tensor *from = value.v.p;
    if (from->device.type != TVMS_DL_CPU || !is_compact(from))
      return tvms_box_refuse(a, "a tensor without gaps in the memory of this machine");
    tvms_box_tensor *made =
        tvms_box_tensor_new(a, from->dtype, from->ndim, from->shape, NULL, NULL);
    uint64_t bytes;
    if (!made || !tvms_box_bytes(from->dtype, from->shape, from->ndim, &bytes))
      return -1;
    if (bytes) memcpy(made->tensor.data, tvms_box_data(from), bytes);
    return tvms_box_give(result, TVMS_ANY_TENSOR, made);
  }
  if (value.type_index == TVMS_ANY_TEXT) return text_of(a, value.v.p, result);
  if (value.type_index == TVMS_ANY_POINTER)
    return tvms_box_refuse(a, "a value that can be kept");
  if (value.type_index >= TVMS_ANY_OBJECT && value.v.p) tvms_box_keep(value.v.p);
  *result = value;
  return 0;
}

int32_t tvms_box_copy(void *raise, const tvms_any *args, int32_t count,
                      tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "vm.builtin.copy", args, count);
  if (count < 1) return tvms_box_refuse(&a, "a value");
  return tvms_box_copy_of(&a, args[0], result);
}

int32_t tvms_box_make_tuple(void *raise, const tvms_any *args, int32_t count,
                            tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "vm.builtin.make_tuple", args, count);
  array_object *array = tvms_box_object_new(
      sizeof *array + (size_t)count * sizeof(tvms_any), TVMS_ANY_ARRAY, delete_array);
  if (!array) return tvms_box_no_memory(&a);
  array->first = array->items;
  array->count = array->room = count;
  array->free_items = NULL;
  memset(array->items, 0, (size_t)count * sizeof(tvms_any));
  for (int32_t i = 0; i < count; i++) {
    if (tvms_box_copy_of(&a, args[i], &array->items[i]) == 0) continue;
    tvms_box_release(&array->head);
    return -1;
  }
  return tvms_box_give(result, TVMS_ANY_ARRAY, array);
}

int32_t tvms_box_tuple_getitem(void *raise, const tvms_any *args, int32_t count,
                               tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "vm.builtin.tuple_getitem", args, count);
  int64_t len = 0, at = tvms_box_number(&a, 1);
  const tvms_any *items = count ? tvms_box_items(args[0], &len) : NULL;
  if (a.failed) return -1;
  if (!items || at < 0 || at >= len)
    return tvms_box_refuse(&a, "a tuple that has such a field");
  return tvms_box_copy_of(&a, items[at], result);
}

int32_t tvms_box_lend_field(void *raise, const tvms_any *tuple, int64_t at,
                            tvms_any *box) {
  int64_t count = 0;
  const tvms_any *items = tvms_box_items(*tuple, &count);
  if (items && at < count) {
    tvms_any item = items[at];
    bool object = item.type_index >= TVMS_ANY_OBJECT;
    if (object) item.padding = TVMS_BOX_BORROWED;
    // What lies between numbers and objects is lent, or text.
    if (object || item.type_index <= TVMS_ANY_FLOAT) {
      *box = item;
      return 0;
    }
  }
  tvms_any args[] = {*tuple, {TVMS_ANY_INT, 0, {.i = at}}};
  args[0].padding = 0;
  return tvms_box_call(tvms_box_tuple_getitem, raise, args, 2, box);
}

int32_t tvms_box_shape(void *raise, const tvms_any *args, int32_t count,
                       tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "ffi.Shape", args, count);
  shape_object *shape = tvms_box_object_new(
      sizeof *shape + (size_t)count * sizeof(int64_t), TVMS_ANY_SHAPE, delete_plain);
  if (!shape) return tvms_box_no_memory(&a);
  shape->sizes = shape->items;
  shape->count = (uint64_t)count;
  for (int32_t i = 0; i < count; i++)
    shape->items[i] = tvms_box_number(&a, i);
  if (!a.failed) return tvms_box_give(result, TVMS_ANY_SHAPE, shape);
  tvms_box_release(&shape->head);
  return -1;
}

int32_t tvms_box_new_tensor(void *raise, const tvms_any *args, int32_t count,
                            tvms_any *result) {
  enum { MOST = 32 };
  tvms_box_args a = tvms_box_open(raise, "tvms.new_tensor", args, count);
  int64_t sizes[MOST];
  tvms_dl_type type;
  const char *text = tvms_box_text(&a, 0);
  if (!text || !tvms_box_dtype(text, &type) || count > MOST)
    return tvms_box_refuse(&a, "a data type and sizes");
  for (int32_t i = 1; i < count; i++)
    sizes[i - 1] = tvms_box_number(&a, i);
  tvms_box_tensor *made =
      a.failed ? NULL : tvms_box_tensor_new(&a, type, count - 1, sizes, NULL, NULL);
  return made ? tvms_box_give(result, TVMS_ANY_TENSOR, made) : -1;
}

// ---- Checks ----

// What a value is, in so many words.
static void describe(tvms_any value, char text[96]) {
  char dtype[32];
  const tvms_dl_tensor *tensor = tensor_of(value);
  if (tensor) {
    tvms_box_dtype_text(tensor->dtype, dtype, sizeof dtype);
    snprintf(text, 96, "a tensor of %d dimensions and %s", tensor->ndim, dtype);
    return;
  }
  const shape_object *shape = value.type_index == TVMS_ANY_SHAPE ? value.v.p : NULL;
  static const char *const names[] = {"nothing", "an integer", "a truth",
                                      "a real number"};
  if (shape)
    snprintf(text, 96, "a shape of %zu sizes", (size_t)shape->count);
  else if (value.type_index >= 0 && value.type_index <= TVMS_ANY_FLOAT)
    snprintf(text, 96, "%s", names[value.type_index]);
  else
    snprintf(text, 96, "something else");
}

int32_t tvms_box_mismatch(tvms_box_args *a, const char *expected,
                          const tvms_any *given) {
  char text[512], is[96];
  const char *who = tvms_box_text(a, a->count - 1);
  if (given) describe(*given, is);
  snprintf(text, sizeof text, "%s%s is expected%s%s", who ? who : "", expected,
           given ? ", not " : "", given ? is : "");
  a->name = "TypeError";
  tvms_box_tell(a, "TypeError", text);
  return -1;
}

int32_t tvms_box_check_tensor_info(void *raise, const tvms_any *args, int32_t count,
                                   tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "vm.builtin.check_tensor_info", args, count);
  char wanted[96];
  tvms_dl_type type;
  const tvms_dl_tensor *tensor = count ? tensor_of(args[0]) : NULL;
  int64_t ndim = tvms_box_number(&a, 1);
  const char *dtype = tvms_box_text(&a, 2);
  (void)result;
  if (a.failed) return -1;
  if (!dtype || !tvms_box_dtype(dtype, &type))
    return tvms_box_refuse(&a, "the name of a data type");
  bool same = tensor && (ndim < 0 || tensor->ndim == ndim)
              && tensor->dtype.code == type.code && tensor->dtype.bits == type.bits
              && tensor->dtype.lanes == type.lanes;
  snprintf(wanted, sizeof wanted, "a tensor of %lld dimensions and %s", (long long)ndim,
           dtype);
  if (!same) return tvms_box_mismatch(&a, wanted, args);
  if (tensor->device.type != TVMS_DL_CPU || !is_compact(tensor))
    return tvms_box_mismatch(&a, "a tensor without gaps in the memory of this machine",
                             NULL);
  return 0;
}

int32_t tvms_box_check_shape_info(void *raise, const tvms_any *args, int32_t count,
                                  tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "vm.builtin.check_shape_info", args, count);
  int64_t ndim = tvms_box_number(&a, 1);
  (void)result;
  if (a.failed) return -1;
  bool same =
      args[0].type_index == TVMS_ANY_SHAPE
      && (ndim < 0 || (int64_t)((const shape_object *)args[0].v.p)->count == ndim);
  char wanted[64];
  snprintf(wanted, sizeof wanted, "a shape of %lld sizes", (long long)ndim);
  return same ? 0 : tvms_box_mismatch(&a, wanted, args);
}
