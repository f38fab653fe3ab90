// Products by powers of two, as exponentials end with them (VectorMath), which some processors make in one step.
//
//   y = T.min(T.float32(89.0), T.max(T.float32(-104.0), x))
//   t = T.fma(y, T.float32(1.44269502), T.float32(12582912.0))                       the nearest number n stands in its low bits
//   small = y < T.float32(0.0)
//   p * T.reinterpret("float32", (T.reinterpret("int32", t) << 23) + T.Select(small, 191 << 23, 126 << 23))
//     * T.Select(small, T.float32(2^-64), T.float32(2.0))
//
// is p * 2^n, rounded once: there are two factors since no float32 is 2^129 or 2^-150.
#ifndef TVMS_BACKEND_CORE_SCALED_H
#define TVMS_BACKEND_CORE_SCALED_H

#include "ir/node.h"

typedef struct {
  const tvms_node *factor;   // p
  const tvms_node *shifted;  // t, a variable
  double rounder;            // what t has more than n
} tvms_scaled;

// The values of variables by id, fewer than `ids`; NULL of others. They live as long as what the context's scratch arena
// holds.
const tvms_node *const *tvms_scaled_bindings(tvms_context *context, tvms_node *body,
                                             uint32_t ids);

// Is it such a product, and the same as p * 2^n rounded once, whatever x is? It is if p is shown to be near 1: a polynomial
// of what y has more than n steps, which is at most half of one.
bool tvms_scaled_read(const tvms_node *const *bindings, const tvms_node *node,
                      tvms_scaled *made);

#endif
