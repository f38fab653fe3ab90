// Lines of an image that several steps of a window read.
//
//   C[i, y, x] += A[i, c, ky, kx] * B[c, s * y + d * ky, x + kx]     the line s * y + d * ky is line y + 1
//                                                                    of the window's step before, if s = d
//
// A panel that has each line once, for all steps `ky`, is a fraction as large, and filled in that much less
// time. Where s > 1, lines of one remainder by s ("phase") are neighbours in it, so that lines of the result
// are neighbours in every step of the window.
#ifndef TVMS_PASSES_TIR_CPU_SHARED_LINES_H
#define TVMS_PASSES_TIR_CPU_SHARED_LINES_H

#include "passes/tir/cpu/contraction.h"

enum { TVMS_MOST_PHASES = 4 };

typedef struct {
  uint32_t axis;       // of the sum: the window goes from line to line
  uint32_t dimension;  // of what is read: its lines
  int64_t steps;       // of the axis
  int64_t apart;       // lines between two of its steps
  int64_t stride;      // lines of what is read between two lines of columns
} tvms_shared_lines;

// Does the moving operand read lines in the steps of a window, and in one dimension only?
bool tvms_cpu_shared_lines_find(tvms_unit *unit, const tvms_contraction *contraction,
                                tvms_shared_lines *found);

// Remainders by the stride that lines of the window have.
int64_t tvms_cpu_shared_lines_phases(const tvms_shared_lines *shared);

// Lines of a phase that `lines` lines of columns read.
int64_t tvms_cpu_shared_lines_of_phase(const tvms_shared_lines *shared, int64_t lines,
                                       int64_t phase);

// The same of all phases together.
int64_t tvms_cpu_shared_lines_count(const tvms_shared_lines *shared, int64_t lines);

#endif
