// How much memory buffers take.
#include "passes/tir/memory/storage_bytes.h"

#include "ir/build.h"
#include "passes/relax/make.h"

int64_t tvms_storage_bytes(const tvms_buffer *buffer) {
  int64_t bytes = tvms_relax_element_bytes(buffer->element);
  if (buffer->strides.len) return -1;
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    const tvms_node *size = buffer->shape.items[i];
    if (!tvms_node_is_int_imm(size)
        || __builtin_mul_overflow(bytes, tvms_as_int_imm(size)->value, &bytes))
      return -1;
  }
  return bytes;
}
