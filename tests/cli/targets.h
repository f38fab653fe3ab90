// A tensor as C programs pass it to what `tvms build` made, laid out by the compiler of the machine (DLPack).
#ifndef TVMS_TESTS_CLI_TARGETS_H
#define TVMS_TESTS_CLI_TARGETS_H

#include <stdint.h>

typedef struct {
  void *data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t offset;
} tensor;

#endif
