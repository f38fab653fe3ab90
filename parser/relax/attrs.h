// Values of operator attributes: Python's numbers, lists and texts as attrs.def wants them.
#ifndef TVMS_PARSER_RELAX_ATTRS_H
#define TVMS_PARSER_RELAX_ATTRS_H

#include "parser/relax/state.h"

// The value of an attribute of the given type. False after a report.
bool tvms_relax_to_attr(tvms_reader *reader, const tvms_attr_row *row,
                        tvms_eval_value value, tvms_ref ref, tvms_node **result);

#endif
