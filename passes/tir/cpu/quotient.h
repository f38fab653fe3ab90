// Quotients along rows: elements divided by what is the same for all of them.
#ifndef TVMS_PASSES_TIR_CPU_QUOTIENT_H
#define TVMS_PASSES_TIR_CPU_QUOTIENT_H

#include "passes/tir/cpu/rows.h"

// The divisor of a float of 32 or 64 bits in the member's value that no axis of its own moves, and
// that takes more than a constant. NULL: there is none.
tvms_node *TVMS_NULLABLE tvms_line_divisor(tvms_unit *unit,
                                           const tvms_line_member *member);

// `expr` with products by `inverse` in the place of quotients by `divisor`.
tvms_node *tvms_line_multiplied(tvms_unit *unit, tvms_node *expr,
                                const tvms_node *divisor, tvms_node *inverse);

// Are an inverse and what it is the inverse of normal numbers? Then a product with it is
// within one unit in the last place of the quotient.
tvms_node *tvms_line_is_normal(tvms_unit *unit, tvms_node *inverse);

#endif
