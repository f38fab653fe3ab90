// What is written for each element of a tile: rows and vectors are written out, lanes are one vector.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_ELEMENT_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_ELEMENT_H

#include "passes/tir/cpu/contraction_writer.h"

// The elements of a tile at hand.
typedef struct {
  tvms_node *indices[2];  // in the buffer of sums
  const void *data;
  bool
      first;  // the element is the first one of its vector, and stands for all; loops stay loops
  bool written;  // but that over vectors
} tvms_contraction_element;

typedef tvms_node *tvms_contraction_element_writer(tvms_contraction_writer *w,
                                                   const tvms_contraction_element *e);

// What `write` makes of the elements of the tile at w->row and w->columns, in loops. `e` has what is the same
// for all; its indices are set.
tvms_node *tvms_contraction_each(tvms_contraction_writer *w,
                                 tvms_contraction_element_writer *write,
                                 tvms_contraction_element e);

// The same for elements with `data`.
static inline tvms_node *
tvms_contraction_each_element(tvms_contraction_writer *w,
                              tvms_contraction_element_writer *write,
                              const void *data) {
  return tvms_contraction_each(w, write, (tvms_contraction_element){.data = data});
}

// The sum of an element.
tvms_node *tvms_contraction_sum_of(tvms_contraction_writer *w,
                                   const tvms_contraction_element *e);

// A statement that sets it.
tvms_node *tvms_contraction_set_sum(tvms_contraction_writer *w,
                                    const tvms_contraction_element *e,
                                    tvms_node *value);

// Says what the axes of an epilogue are where the contraction is at hand.
void tvms_contraction_enter_epilogue(tvms_contraction_writer *w,
                                     const tvms_epilogue *epilogue);

#endif
