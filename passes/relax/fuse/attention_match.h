// Attention in the graph of a Relax function, by what flows where.
#ifndef TVMS_PASSES_RELAX_FUSE_ATTENTION_MATCH_H
#define TVMS_PASSES_RELAX_FUSE_ATTENTION_MATCH_H

#include "structinfo/definitions.h"
#include "structinfo/dims.h"
#include "te/attention_tiles.h"

typedef struct {
  tvms_unit *unit;
  const tvms_relax_definitions *definitions;
  tvms_prover *prover;
} tvms_attention_matcher;

// Is `value`, what a variable is bound to, attention? Either R.nn.attention, or
//
//   matmul(softmax(steps of matmul(q, k)), v)
//
// where nothing else uses what lies between, each step is element-wise (`+ - * /`, maximum, minimum, where, a
// cast) with something that is broadcast to the scores, and the softmax goes along the last axis, and may be a safe
// one (safe_softmax.h); or
// permute_dims of such a product. Operators that move elements of q, k, v and masks are taken along.
// Fills in everything but the sizes of tiles and returns true. Otherwise *why says what is missing, a
// sentence's end, or is NULL if it does not look like attention at all.
TVMS_NODISCARD bool tvms_relax_attention_match(const tvms_attention_matcher *matcher,
                                               const tvms_node *value,
                                               tvms_attention *found,
                                               const char *TVMS_NULLABLE *why);

#endif
