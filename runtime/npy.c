// The head of a .npy file, read with the mistrust that a file deserves.
//
// It is a dictionary literal of Python; only the form that NumPy's format description gives
// it is read: three known keys, a text, True or False, a tuple.
#include "runtime/npy.h"

#include <stdlib.h>

static const char magic[6] = "\x93NUMPY";

// The text of the head with a cursor.
typedef struct {
  const char *at;
  const char *end;
} cursor;

static bool skip(cursor *c, const char *token) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\n'))
    c->at++;
  size_t len = strlen(token);
  if ((size_t)(c->end - c->at) < len || memcmp(c->at, token, len) != 0) return false;
  c->at += len;
  return true;
}

static bool read_number(cursor *c, int64_t *number) {
  skip(c, "");
  const char *begin = c->at;
  *number = 0;
  while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
    if (__builtin_mul_overflow(*number, 10, number)) return false;
    if (__builtin_add_overflow(*number, *c->at++ - '0', number)) return false;
  }
  return c->at > begin;
}

// '<f4' and so on. Big-endian kinds of more than a byte are not read.
static bool read_descr(cursor *c, tvms_npy *npy) {
  if (!skip(c, "'")) return false;
  bool little = skip(c, "<"), any = !little && skip(c, "|");
  if (c->at == c->end) return false;
  npy->kind = *c->at++;
  int64_t size;
  if (!read_number(c, &size) || size <= 0 || size > 8) return false;
  npy->size = (uint32_t)size;
  return skip(c, "'")
         && (little || (any && size <= 8 && (size == 1 || npy->kind == 'V')))
         && strchr("fiubV", npy->kind);
}

static bool read_shape(cursor *c, tvms_npy *npy) {
  if (!skip(c, "(")) return false;
  while (!skip(c, ")")) {
    int32_t most = (int32_t)(sizeof npy->shape / sizeof npy->shape[0]);
    if (npy->ndim == most || !read_number(c, &npy->shape[npy->ndim++])) return false;
    if (!skip(c, ",")) return skip(c, ")");
  }
  return true;
}

static const char wrong_head[] = "a head that NumPy does not write";

// Returns NULL, or what is wrong.
static const char *TVMS_NULLABLE read_head(cursor *c, tvms_npy *npy) {
  bool descr = false, order = false, shape = false;
  if (!skip(c, "{")) return wrong_head;
  while (!skip(c, "}")) {
    if (skip(c, "'descr':")) {
      descr = read_descr(c, npy);
      if (!descr)
        return "elements are not numbers or truths whose lowest byte comes first";
    } else if (skip(c, "'fortran_order':")) {
      npy->fortran = skip(c, "True");
      order = npy->fortran || skip(c, "False");
    } else if (skip(c, "'shape':")) {
      shape = read_shape(c, npy);
    } else {
      return wrong_head;
    }
    if (skip(c, ",")) continue;
    if (!skip(c, "}")) return wrong_head;
    break;
  }
  return descr && order && shape ? NULL : wrong_head;
}

// Bytes that the elements take; false if absurd.
static bool data_size(const tvms_npy *npy, uint64_t *bytes) {
  *bytes = npy->size;
  for (int32_t i = 0; i < npy->ndim; i++) {
    if (npy->shape[i] == 0) {
      *bytes = 0;
      return true;
    }
  }
  for (int32_t i = 0; i < npy->ndim; i++) {
    if (__builtin_mul_overflow(*bytes, (uint64_t)npy->shape[i], bytes)) return false;
  }
  return true;
}

const char *tvms_npy_parse(tvms_npy *npy, const char *file, size_t size) {
  *npy = (tvms_npy){0};
  const unsigned char *bytes = (const unsigned char *)file;
  if (size < 12 || memcmp(file, magic, sizeof magic) != 0) return "not a .npy file";
  if (bytes[6] < 1 || bytes[6] > 3)
    return "a version of the .npy format that is unknown";
  size_t len = bytes[8] | (size_t)bytes[9] << 8;
  size_t begin = 10;
  if (bytes[6] > 1) {
    len |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    begin = 12;
  }
  if (len > size - begin) return "the file ends inside its head";
  cursor c = {file + begin, file + begin + len};
  const char *wrong = read_head(&c, npy);
  if (wrong) return wrong;
  npy->data = begin + len;
  uint64_t wanted;
  if (!data_size(npy, &wanted) || wanted > size - npy->data) {
    return "the file ends before its last element";
  }
  return NULL;
}

// What ml_dtypes writes as '<f1', and the other floats of eight bits as '<V1'.
static const tvms_dl_type e5m2 = {12, 8, 1};

static char kind_of(tvms_dl_type type) {
  switch (type.code) {
  case TVMS_DL_INT: return 'i';
  case TVMS_DL_UINT: return 'u';
  case TVMS_DL_BOOL: return 'b';
  case TVMS_DL_FLOAT: return 'f';
  default: return 'V';
  }
}

bool tvms_npy_fits(const tvms_npy *npy, tvms_dl_type type) {
  tvms_dl_type own = tvms_npy_type(npy);
  bool same = own.lanes && own.code == type.code && own.bits == type.bits;
  return type.lanes == 1 && npy->size == tvms_dl_element_size(type)
         && (same || npy->kind == kind_of(type));
}

tvms_dl_type tvms_npy_type(const tvms_npy *npy) {
  uint8_t bits = (uint8_t)(npy->size * 8);
  if (npy->kind == 'f' && bits == 8) return e5m2;
  switch (npy->kind) {
  case 'f': return (tvms_dl_type){TVMS_DL_FLOAT, bits, 1};
  case 'i': return (tvms_dl_type){TVMS_DL_INT, bits, 1};
  case 'u': return (tvms_dl_type){TVMS_DL_UINT, bits, 1};
  case 'b': return (tvms_dl_type){TVMS_DL_BOOL, 8, 1};
  default: return (tvms_dl_type){0};
  }
}

// Copies elements that stand column by column.
static void transpose(const tvms_npy *npy, const char *from, char *to, int64_t len) {
  int64_t index[32] = {0};
  for (int64_t at = 0; at < len; at++) {
    int64_t flat = 0;
    for (int32_t i = npy->ndim - 1; i >= 0; i--) {
      flat = flat * npy->shape[i] + index[i];
    }
    memcpy(to + (size_t)at * npy->size, from + (size_t)flat * npy->size, npy->size);
    for (int32_t i = npy->ndim - 1; i >= 0 && ++index[i] == npy->shape[i]; i--) {
      index[i] = 0;
    }
  }
}

tvms_tensor *tvms_npy_tensor(tvms_heap *heap, const tvms_npy *npy, const char *file,
                             tvms_dl_type type) {
  tvms_tensor *tensor = tvms_tensor_new(heap, type, npy->ndim, npy->shape);
  if (!tensor || !tensor->bytes) return tensor;
  const char *from = file + npy->data;
  if (npy->fortran)
    transpose(npy, from, tensor->view.data, tvms_tensor_len(tensor));
  else
    memcpy(tensor->view.data, from, (size_t)tensor->bytes);
  return tensor;
}

void tvms_npy_write(tvms_strbuf *out, const tvms_tensor *tensor) {
  enum { BLOCK = 64 };
  tvms_dl_type type = tensor->view.dtype;
  size_t size = tvms_dl_element_size(type);
  size_t begin = out->len;
  tvms_strbuf_add(out, magic, sizeof magic);
  tvms_strbuf_add(out, "\x01\x00\x00\x00", 4);  // version, and the length for later
  tvms_strbuf_printf(out, "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (",
                     size == 1 ? '|' : '<', kind_of(type), size);
  for (int32_t i = 0; i < tensor->view.ndim; i++) {
    tvms_strbuf_printf(out, i ? " %lld," : "%lld,", (long long)tensor->shape[i]);
  }
  if (type.lanes > 1) tvms_strbuf_printf(out, " %d", type.lanes);
  tvms_strbuf_puts(out, "), }");
  size_t len = out->len - begin + 1;
  tvms_strbuf_fill(out, ' ', (BLOCK - len % BLOCK) % BLOCK);
  tvms_strbuf_putc(out, '\n');
  size_t head = out->len - begin - 10;
  out->text[begin + 8] = (char)(head & 0xFF);
  out->text[begin + 9] = (char)(head >> 8);
  tvms_strbuf_add(out, tensor->view.data, (size_t)tensor->bytes);
}
