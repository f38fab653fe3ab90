// Columns of bytes that memory streams to one row, four bytes at a time.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_WORDS_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_WORDS_H

#include "passes/tir/cpu/contraction_writer.h"

// Is a step of the sum the product of a byte that moves along the only axis of columns, and of a float that all
// columns share, and does the result consist of floats?
bool tvms_contraction_can_words(tvms_unit *unit, const tvms_contraction *contraction);

// Are the columns at hand whole lines of the caches, which are taken as words?
bool tvms_contraction_has_words(const tvms_contraction_writer *w);

// Of such columns: in which place of the tile is the one whose sum is element `lane` (NULL: the only one) of vector
// `vector`? Sums lie in the order in which words have their bytes.
tvms_node *tvms_contraction_word_column(tvms_contraction_writer *w, tvms_node *vector,
                                        tvms_node *lane);

// The loop that adds up a block of the sum for such columns.
tvms_node *tvms_contraction_add_words(tvms_contraction_writer *w);

#endif
