// A.rearrange("a (b c) -> …"): a view, a permutation, a view.
#ifndef TVMS_PARSER_TILE_REARRANGE_H
#define TVMS_PARSER_TILE_REARRANGE_H

#include "parser/tile/view.h"

// A.rearrange("(a b) c -> b a c", a=4): the pattern of einops, as a view. Unknown
// after a report.
// The view that A.rearrange("…") makes of `buffer`; unknown after a report.
tvms_eval_value tvms_view_rearrange(tvms_reader *reader, tvms_node *buffer,
                                    tvms_ref call);

#endif
