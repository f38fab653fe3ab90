// Rows of bytes times a vector, four bytes at a time.
#ifndef TVMS_PASSES_TIR_CPU_ROWS_WORDS_H
#define TVMS_PASSES_TIR_CPU_ROWS_WORDS_H

#include "passes/tir/cpu/rows_element.h"

// Where a pass folds products of bytes, which `stream` loads along the line, and floats that all rows share,
// on a machine where words gain, says in `plan` what they are; else returns false.
TVMS_NODISCARD bool tvms_line_plan_words(tvms_unit *unit, const tvms_line_member *fold,
                                         const tvms_buffer_load *stream,
                                         const tvms_target *target,
                                         tvms_line_plan *plan);

// Does the chunk at hand consist of whole words?
bool tvms_line_has_words(const tvms_line_writer *w);

// What the fold `at` does with such a chunk.
tvms_node *tvms_line_words_chunk(tvms_line_writer *w, uint32_t at);

// A buffer for what rows share, in the order in which words have their bytes.
tvms_node *tvms_line_words_buffer(tvms_unit *unit, const tvms_line_group *group,
                                  const tvms_line_plan *plan);

// The loops that fill it.
tvms_node *tvms_line_turn_for_words(tvms_unit *unit, const tvms_line_group *group,
                                    const tvms_line_plan *plan, tvms_node *buffer);

#endif
