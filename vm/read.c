// Bytes to executables. Nothing is believed: a count is compared with the bytes that are left
// before anything is made of it.
#include "vm/read.h"

#include "vm/format.h"

#include <string.h>

typedef struct {
  const char *bytes;
  size_t size;
  size_t at;
  tvms_arena *arena;
  tvms_vm_executable *executable;
  tvms_vm_bytes_error *error;
  bool failed;
} reader;

// The first complaint stays, and everything that is read from then on is zero.
static bool refuse(reader *r, const char *what) {
  if (!r->failed) *r->error = (tvms_vm_bytes_error){r->at, what};
  r->failed = true;
  r->at = r->size;
  return false;
}

static const char *TVMS_NULLABLE take(reader *r, uint64_t size) {
  if (size > r->size - r->at) {
    refuse(r, "the bytes end too early");
    return NULL;
  }
  const char *bytes = r->bytes + r->at;
  r->at += (size_t)size;
  return bytes;
}

static uint64_t take_number(reader *r, uint32_t size) {
  const unsigned char *bytes = (const unsigned char *)take(r, size);
  uint64_t value = 0;
  for (uint32_t i = 0; bytes && i < size; i++)
    value |= (uint64_t)bytes[i] << 8 * i;
  return value;
}

static int64_t take_i64(reader *r) {
  return (int64_t)take_number(r, 8);
}

static int32_t take_i32(reader *r) {
  return (int32_t)(uint32_t)take_number(r, 4);
}

// A count of things that take `size` bytes each at least.
static uint32_t take_count(reader *r, uint64_t size) {
  uint64_t count = take_number(r, 8);
  if (count <= (r->size - r->at) / size && count < UINT32_MAX) return (uint32_t)count;
  refuse(r, "there are fewer bytes than a count says");
  return 0;
}

static tvms_bytes take_text(reader *r) {
  uint32_t len = take_count(r, 1);
  const char *text = take(r, len);
  return (tvms_bytes){text ? text : "", len};
}

static tvms_dl_type take_type(reader *r) {
  uint64_t bits = take_number(r, 4);
  return (tvms_dl_type){(uint8_t)bits, (uint8_t)(bits >> 8), (uint16_t)(bits >> 16)};
}

static int64_t *take_sizes(reader *r, uint32_t count) {
  int64_t *sizes = tvms_arena_array(r->arena, int64_t, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++)
    sizes[i] = take_i64(r);
  return sizes;
}

// ---- Sections ----

static void read_function(reader *r) {
  tvms_vm_function function = {.kind = take_i32(r)};
  if (function.kind < TVMS_VM_IS_PACKED || function.kind > TVMS_VM_IS_COMPILED)
    refuse(r, "the kind of a function is unknown");
  function.name = take_text(r);
  function.begin = take_i64(r);
  function.end = take_i64(r);
  function.arity = take_i64(r);
  function.registers = take_i64(r);
  function.param_count = take_count(r, 8);
  function.params =
      tvms_arena_array(r->arena, tvms_bytes, (size_t)function.param_count + 1);
  for (uint32_t i = 0; i < function.param_count; i++)
    function.params[i] = take_text(r);
  if (!r->failed)
    tvms_vec_push(r->executable->memory, &r->executable->functions, function);
}

static void read_scope(reader *r) {
  tvms_vm_scope scope = {.constant = take_i64(r)};
  scope.scope = take_text(r);
  if (!r->failed) tvms_vec_push(r->executable->memory, &r->executable->scopes, scope);
}

enum { MOST_DIMS = 64 };

// Bytes of a tensor as TVM counts them; false if the sizes make no sense.
static bool measure(const tvms_vm_constant *constant, uint64_t *size) {
  *size = (constant->dtype.bits + 7u) / 8u * constant->dtype.lanes;
  for (int32_t i = 0; i < constant->ndim; i++) {
    if (constant->shape[i] < 0
        || __builtin_mul_overflow(*size, (uint64_t)constant->shape[i], size))
      return false;
  }
  return true;
}

static void read_tensor(reader *r, tvms_vm_constant *constant) {
  constant->kind = TVMS_VM_TENSOR;
  if (take_number(r, 8) != TVMS_VM_TENSOR_MAGIC) refuse(r, "a tensor begins otherwise");
  (void)take_number(r, 8);
  if (take_i32(r) != TVMS_DL_CPU) refuse(r, "a tensor is not one of the CPU");
  (void)take_i32(r);
  constant->ndim = take_i32(r);
  constant->dtype = take_type(r);
  if (constant->ndim < 0 || constant->ndim > MOST_DIMS) {
    constant->ndim = 0;
    refuse(r, "a tensor has too many dimensions");
  }
  constant->shape = take_sizes(r, (uint32_t)constant->ndim);
  constant->size = take_number(r, 8);
  uint64_t expected;
  bool fits = !r->failed && measure(constant, &expected) && expected == constant->size;
  if (!fits) refuse(r, "a tensor has not as many bytes as its shape says");
  constant->data = take(r, constant->size);
}

static void read_constant(reader *r) {
  tvms_vm_constant constant = {0};
  tvms_bytes text;
  uint64_t bits;
  switch (take_i32(r)) {
  case TVMS_VM_FORMAT_TENSOR: read_tensor(r, &constant); break;
  case TVMS_VM_FORMAT_SHAPE:
    constant.kind = TVMS_VM_SHAPE;
    constant.ndim = (int32_t)take_count(r, 8);
    constant.shape = take_sizes(r, (uint32_t)constant.ndim);
    break;
  case TVMS_VM_FORMAT_TEXT:
    text = take_text(r);
    constant.kind = TVMS_VM_TEXT;
    constant.data = text.text;
    constant.size = text.len;
    break;
  case TVMS_VM_FORMAT_INT:
    constant.kind = TVMS_VM_INT;
    constant.i = take_i64(r);
    break;
  case TVMS_VM_FORMAT_FLOAT:
    constant.kind = TVMS_VM_FLOAT;
    bits = take_number(r, 8);
    memcpy(&constant.f, &bits, sizeof bits);
    break;
  case TVMS_VM_FORMAT_DTYPE:
    constant.kind = TVMS_VM_DTYPE;
    constant.dtype = take_type(r);
    break;
  default: refuse(r, "the kind of a constant is unknown");
  }
  if (!r->failed)
    tvms_vec_push(r->executable->memory, &r->executable->constants, constant);
}

static uint32_t take_head(reader *r) {
  uint64_t magic = take_number(r, 8);
  if (magic != TVMS_VM_MAGIC && magic != TVMS_VM_MAGIC_SCOPES)
    refuse(r, "an executable begins otherwise");
  tvms_bytes version = take_text(r);
  if (!r->failed && !tvms_bytes_is(version, TVMS_VM_VERSION))
    refuse(r, "the version of the format is not 0.14");
  return magic == TVMS_VM_MAGIC_SCOPES;
}

// Each repeats what reads one item, as often as the count in front says.
static void read_all(reader *r, uint64_t smallest, void (*read)(reader *)) {
  uint32_t count = take_count(r, smallest);
  for (uint32_t i = 0; i < count && !r->failed; i++)
    read(r);
}

static void read_offset(reader *r) {
  int64_t word = take_i64(r);
  tvms_vec_push(r->executable->memory, &r->executable->offsets, word);
}

static void read_word(reader *r) {
  int64_t word = take_i64(r);
  tvms_vec_push(r->executable->memory, &r->executable->words, word);
}

static void read_line(reader *r) {
  tvms_vm_line line = {.instruction = take_i64(r)};
  line.line = take_i64(r);
  if (!r->failed) tvms_vec_push(r->executable->memory, &r->executable->lines, line);
}

static void read_name(reader *r) {
  tvms_vm_name name = {.instruction = take_i64(r)};
  name.name = take_text(r);
  if (!r->failed) tvms_vec_push(r->executable->memory, &r->executable->names, name);
}

// Whatever else stands behind the code is nobody's.
static void read_places(reader *r) {
  uint64_t magic = 0;
  for (uint32_t i = 0; i < 8 && r->size - r->at >= 8; i++)
    magic |= (uint64_t)(unsigned char)r->bytes[r->at + i] << 8 * i;
  if (magic != TVMS_VM_PLACES_MAGIC) return;
  (void)take(r, 8);
  read_all(r, 16, read_line);
  read_all(r, 16, read_name);
}

bool tvms_vm_is_executable(const char *bytes, size_t size) {
  tvms_vm_bytes_error ignored;
  reader r = {.bytes = bytes, .size = size, .error = &ignored};
  uint64_t magic = take_number(&r, 8);
  return magic == TVMS_VM_MAGIC || magic == TVMS_VM_MAGIC_SCOPES;
}

bool tvms_vm_read(const char *bytes, size_t size, tvms_arena *arena,
                  tvms_vm_executable *executable, tvms_vm_bytes_error *error) {
  reader r = {.bytes = bytes,
              .size = size,
              .arena = arena,
              .executable = executable,
              .error = error};
  bool scopes = take_head(&r);
  read_all(&r, 52, read_function);
  if (scopes) read_all(&r, 16, read_scope);
  read_all(&r, 8, read_constant);
  read_all(&r, 8, read_offset);
  read_all(&r, 8, read_word);
  if (!r.failed) read_places(&r);
  return !r.failed;
}

const char *tvms_vm_find_in_bundle(const char *bundle, size_t size,
                                   size_t *executable_size,
                                   tvms_vm_bytes_error *error) {
  reader r = {.bytes = bundle, .size = size, .error = error};
  uint64_t inside = take_number(&r, 8);
  if (inside <= r.size - r.at)
    r.size = r.at + (size_t)inside;
  else
    refuse(&r, "the bytes end too early");
  uint32_t modules = take_count(&r, 8);
  (void)take(&r, (uint64_t)modules * 8);
  uint32_t children = take_count(&r, 8);
  (void)take(&r, (uint64_t)children * 8);
  for (uint32_t i = 1; i < modules && !r.failed; i++) {
    tvms_bytes kind = take_text(&r);
    if (tvms_bytes_is(kind, "_lib")) continue;
    uint64_t len = take_number(&r, 8);
    const char *content = take(&r, len);
    if (!content || !tvms_bytes_is(kind, TVMS_VM_KIND)) continue;
    *executable_size = (size_t)len;
    return content;
  }
  refuse(&r, "the library has no executable inside");
  return NULL;
}
