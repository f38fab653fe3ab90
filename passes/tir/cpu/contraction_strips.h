// Strips of columns: whole ones, and what these leave over.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_STRIPS_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_STRIPS_H

#include "passes/tir/cpu/contraction_writer.h"

enum { TVMS_MOST_STRIPS = 2 };

// Strips of different sizes, side by side.
typedef struct {
  tvms_strip items[TVMS_MOST_STRIPS];
  uint32_t count;
} tvms_strips;

// The strips of the columns of the group at hand, whose number is known. What is less than a vector goes into the last one.
tvms_strips tvms_contraction_strips(tvms_contraction_writer *w);

// Of columns whose number is not known: whole strips.
tvms_strip tvms_contraction_whole_strips(tvms_contraction_writer *w);

// And strips of one vector of so many lanes for what they leave over, of which the last one begins further left. Half a vector and less
// is left to a vector of half as many lanes, which takes half the time on some machines. Fewer columns than a vector are in vectors of
// the most lanes that fit.
tvms_strip tvms_contraction_narrow_strips(tvms_contraction_writer *w, int64_t lanes);

// Are there as many columns as narrow strips of so many lanes need, and do these take any?
tvms_node *tvms_contraction_has_narrow_strips(tvms_contraction_writer *w,
                                              int64_t lanes);

// The most vectors of the last strip.
int64_t tvms_contraction_most_last_vectors(const tvms_contraction_writer *w);

// The last strip where it has so many vectors, the last one of which begins in the one before it; there are as many columns
// as one vector has lanes at least.
tvms_strip tvms_contraction_last_strip(tvms_contraction_writer *w, int64_t vectors);

// Has the last strip so many vectors?
tvms_node *tvms_contraction_last_strip_has(tvms_contraction_writer *w, int64_t vectors);

#endif
