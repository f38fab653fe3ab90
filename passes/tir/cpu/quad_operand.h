// Bytes that are factors of a sum, and words of four of them.
#ifndef TVMS_PASSES_TIR_CPU_QUAD_OPERAND_H
#define TVMS_PASSES_TIR_CPU_QUAD_OPERAND_H

#include "ir/quad.h"
#include "passes/tir/cpu/stage.h"

typedef struct {
  const tvms_buffer_load *load;  // of an int8 or uint8
  int64_t zero;                  // that is taken away from it
  // Its bytes become those of the other kind: 128 is added to an int8, or taken away from a uint8.
  bool shifted;
} tvms_quad_operand;

// Reads int32(A[i, k]) or int32(A[i, k]) - zero. False: it is something else.
TVMS_NODISCARD bool tvms_cpu_quad_read(const tvms_node *factor,
                                       tvms_quad_operand *found);

// Do its words have bytes from 0 to 255?
bool tvms_cpu_quad_counts_from_zero(const tvms_quad_operand *o);

// What is taken away from each byte of its words.
int64_t tvms_cpu_quad_offset(const tvms_quad_operand *o);

// The dimension of its buffer that the axis goes through from end to end, and no other one of its indices; the number of
// dimensions: there is none.
uint32_t tvms_cpu_quad_dimension(tvms_unit *unit, const tvms_quad_operand *o,
                                 const tvms_stage_axis *axis);

// The word of steps 4 * quad .. 4 * quad + 3 of the axis; steps behind its end are 0.
tvms_node *tvms_cpu_quad_word(tvms_unit *unit, const tvms_quad_operand *o,
                              const tvms_stage_axis *axis, tvms_node *quad);

// A statement that fills a buffer of its own, returned in `words`, with all words of the operand along that dimension.
tvms_node *tvms_cpu_quad_copy(tvms_unit *unit, const tvms_quad_operand *o,
                              const tvms_node *nest, uint32_t dimension,
                              tvms_node **words);

// T.dp4a of two words, of which the bytes of the first one count from 0: what stands for their four products while they are
// scheduled.
tvms_node *tvms_cpu_quad_product(tvms_unit *unit, tvms_node *u, tvms_node *s);

// The two words of such a node; NULL: it is something else.
tvms_node *const *TVMS_NULLABLE tvms_cpu_quad_factors(const tvms_node *node);

// A body with the products written out as ir/quad.h says.
tvms_node *tvms_cpu_quads_write_out(tvms_unit *unit, tvms_node *body);

#endif
