// NumPy's .npy files: the format of tensors on disk.
//
// Versions 1 to 3 are read, version 1 is written, little-endian and row by row. Kinds that
// NumPy does not have (bfloat16, float8) are stored as NumPy's ml_dtypes does: as void of
// their size ("<V2", "|V1"), and read back where that kind is expected.
#ifndef TVMS_RUNTIME_NPY_H
#define TVMS_RUNTIME_NPY_H

#include "runtime/value.h"
#include "support/strbuf.h"

// What a file says of itself.
typedef struct {
  char kind;      // 'f', 'i', 'u', 'b' or 'V'
  uint32_t size;  // bytes of an element
  bool fortran;   // column by column
  int32_t ndim;
  int64_t shape[32];
  size_t data;  // where the elements begin
} tvms_npy;

// Reads the head of the `size` bytes of a file. Returns NULL, or why it cannot be read: a
// text without the name of the file.
const char *TVMS_NULLABLE tvms_npy_parse(tvms_npy *npy, const char *file, size_t size);

// True if elements of the file are of this kind.
bool tvms_npy_fits(const tvms_npy *npy, tvms_dl_type type);

// The kind of elements that a file without expectation has; lanes 0 for void.
tvms_dl_type tvms_npy_type(const tvms_npy *npy);

// Makes the tensor; `type` must fit. Returns NULL only as tvms_tensor_new does. The caller
// has checked with tvms_npy_parse that the data is all there.
tvms_tensor *TVMS_NULLABLE tvms_npy_tensor(tvms_heap *heap, const tvms_npy *npy,
                                           const char *file, tvms_dl_type type);

// Appends a whole file.
void tvms_npy_write(tvms_strbuf *out, const tvms_tensor *tensor);

#endif
