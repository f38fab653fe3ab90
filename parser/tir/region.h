// Subscripts of buffer regions: a region of a region, or an element of it.
#ifndef TVMS_PARSER_TIR_REGION_H
#define TVMS_PARSER_TIR_REGION_H

#include "parser/tir/tir.h"

// An element or a part of a region, indices counted from its start. Unknown after a report.
tvms_eval_value tvms_tir_region_subscript(tvms_reader *reader, tvms_node *region,
                                          tvms_eval_value index, tvms_ref ref);

#endif
