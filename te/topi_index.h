// Stages that make tensors of nothing and that move elements: topi/transform.h, as far as
// more than one operator is built of them.
#ifndef TVMS_TE_TOPI_INDEX_H
#define TVMS_TE_TOPI_INDEX_H

#include "te/topi.h"

// What happens to a place outside of the axis that is taken from.
typedef enum {
  TVMS_TAKE_FAST,  // nothing: there must be none
  TVMS_TAKE_CLIP,
  TVMS_TAKE_WRAP,
  TVMS_TAKE_NAN
} tvms_take_mode;

// T_full: every element is `value`, which is cast to `dtype`.
tvms_node *TVMS_NULLABLE tvms_te_full(tvms_te *te, tvms_list shape, tvms_dtype dtype,
                                      tvms_node *TVMS_NULLABLE value);

// T_arange: from `start` to before `stop`.
tvms_node *TVMS_NULLABLE tvms_te_arange(tvms_te *te, tvms_node *start, tvms_node *stop,
                                        tvms_node *step, tvms_dtype dtype);

// T_take: in the place of `axis` stand the axes of `places`, which is a tensor or a scalar.
tvms_node *TVMS_NULLABLE tvms_te_take(tvms_te *te, tvms_node *x, tvms_node *places,
                                      uint32_t axis, tvms_take_mode mode);

// T_take from the elements in row-major order; TVMS_TAKE_NAN has none.
tvms_node *TVMS_NULLABLE tvms_te_take_flat(tvms_te *te, tvms_node *x, tvms_node *places,
                                           tvms_take_mode mode);

// T_gather: along `axis` the place is what `places`, which has the shape of the result,
// says.
tvms_node *TVMS_NULLABLE tvms_te_gather(tvms_te *te, tvms_node *TVMS_NULLABLE x,
                                        uint32_t axis, tvms_node *TVMS_NULLABLE places);

// T_transpose: axis i of the result is axis places[i] of `x`.
tvms_node *TVMS_NULLABLE tvms_te_transpose(tvms_te *te, tvms_node *TVMS_NULLABLE x,
                                           const uint32_t *places);

// T_broadcast_to.
tvms_node *TVMS_NULLABLE tvms_te_broadcast_to(tvms_te *te, tvms_node *TVMS_NULLABLE x,
                                              tvms_list shape);

// T_squeeze: without the axes that are flagged.
tvms_node *TVMS_NULLABLE tvms_te_squeeze(tvms_te *te, tvms_node *TVMS_NULLABLE x,
                                         const bool *gone);

#endif
