// Views of parts of buffers (0.25 on): A.sub[…], A.tile(…)[…], A.chunk(…)[…].
#ifndef TVMS_PARSER_TILE_SUBVIEW_H
#define TVMS_PARSER_TILE_SUBVIEW_H

#include "parser/tile/view.h"

// A.sub[…]: the operation `subscript_method` of buffers. Unknown after a report.
tvms_eval_value tvms_view_subscript(tvms_reader *reader, tvms_eval_value method,
                                    tvms_eval_value index, tvms_ref ref);

// A.tile(…)[…], A.chunk(…)[…]: the operation `subscript` of an INDEXER. Unknown after a report.
tvms_eval_value tvms_view_indexed(tvms_reader *reader, tvms_eval_value object,
                                  tvms_eval_value index, tvms_ref ref);

// A.tile(…), A.chunk(…): what is indexed to give a view. Unknown after a report.
tvms_eval_value tvms_view_indexer(tvms_reader *reader, tvms_node *buffer, tvms_sym name,
                                  tvms_ref call);

#endif
