// Attributes of nodes: `A.data`, `A.shape`, `x.dtype`, `r.extent` …
#ifndef TVMS_PARSER_TIR_ATTRIBUTE_H
#define TVMS_PARSER_TIR_ATTRIBUTE_H

#include "parser/tir/tir.h"

// `node.name`; unknown after a report. A method is a METHOD value.
tvms_eval_value tvms_tir_node_attribute(tvms_reader *reader, tvms_node *node,
                                        tvms_sym name, tvms_ref ref);

// Whether the release that is read has the attribute of nodes of the kind: of ir/dialect.def,
// VAR for any value. True of names that are the same in all releases.
bool tvms_tir_has_attribute(const tvms_reader *reader, tvms_node_kind of,
                            tvms_sym name);

#endif
