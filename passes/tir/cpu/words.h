// Bytes that become floats four at a time: see rows_words.c for why.
#ifndef TVMS_PASSES_TIR_CPU_WORDS_H
#define TVMS_PASSES_TIR_CPU_WORDS_H

#include "ir/target.h"

enum {
  TVMS_CPU_WORD = 4,        // bytes
  TVMS_CPU_CACHE_LINE = 64  // bytes
};

// Are words faster than instructions that widen bytes? On x86 with vectors of 256 bits and more.
bool tvms_cpu_words_gain(const tvms_target *target);

// The load of a byte, if `node` makes a float32 of one.
const tvms_buffer_load *TVMS_NULLABLE tvms_cpu_byte_of(const tvms_node *node);

// Does only the last index go along the variable of a line, by ones?
bool tvms_cpu_goes_along(tvms_unit *unit, tvms_list indices, const tvms_node *line);

// What multiplies a byte where floats of words are: 2^-24 if it has a sign, which words make 2^24 times as much, else
// `value` itself.
tvms_node *tvms_cpu_for_words(tvms_unit *unit, const tvms_buffer_load *bytes,
                              tvms_node *value);

// Byte `byte` (of the dtype of indices) of each of `lanes` words, of which `first` loads the first byte, as floats.
tvms_node *tvms_cpu_floats_of_words(tvms_unit *unit, const tvms_buffer_load *first,
                                    tvms_node *byte, int lanes);

// The elements of a buffer of one dimension, or of a last index, from `begin` on.
tvms_node *tvms_cpu_vector_at(tvms_unit *unit, tvms_node *begin, int64_t lanes);

#endif
