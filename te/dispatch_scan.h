// Running sums, for descriptions that need one.
#ifndef TVMS_TE_DISPATCH_SCAN_H
#define TVMS_TE_DISPATCH_SCAN_H

#include "te/te.h"

// The sums up to each element of `x`, with it or (`exclusive`) without it: along *axis, or of
// all elements in row-major order if `axis` is NULL. NULL if an error was reported.
tvms_node *TVMS_NULLABLE tvms_te_cumsum(tvms_te *te, tvms_node *x,
                                        const uint32_t *TVMS_NULLABLE axis,
                                        bool exclusive, tvms_dtype dtype);

#endif
