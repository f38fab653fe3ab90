// Types as they are written: R.Tensor, R.Shape, R.Tuple, R.Callable …, and the symbolic
// variables that they define in a signature.
#ifndef TVMS_PARSER_RELAX_TYPES_H
#define TVMS_PARSER_RELAX_TYPES_H

#include "parser/relax/state.h"

// A type from a value: StructInfo, `R.Tensor` uncalled, None (the empty tuple), a data
// type (0.26 on). NULL after a report or if the value is unknown.
tvms_node *TVMS_NULLABLE tvms_relax_to_type(tvms_reader *reader, tvms_eval_value value,
                                            tvms_ref ref);

// The types of a tuple or list, or of one value. False after a report.
bool tvms_relax_to_types(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                         tvms_list *types);

// Evaluates an annotation to a type. NULL after a report or if unknown.
tvms_node *TVMS_NULLABLE tvms_relax_annotation(tvms_reader *reader, tvms_ref ref);

// The device or mesh that a value is, or NULL: one of the module, or the function's own.
tvms_node *TVMS_NULLABLE tvms_relax_place(tvms_reader *reader, tvms_eval_value value,
                                          tvms_node_kind kind);

// A virtual device: an object, or the name of one of the module ("cuda:1"); None gives
// NULL. False after a report.
bool tvms_relax_to_vdevice(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                           tvms_node **vdevice);

// "mesh[0]": an item of a global info; NULL if the module has none there.
tvms_node *TVMS_NULLABLE tvms_relax_mesh(tvms_reader *reader, tvms_eval_value value);

#endif
