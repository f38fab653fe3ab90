// Types of TIR as text writes them: T.int32, T.handle("float32"), T.Buffer(…), T.Tuple(…).
#ifndef TVMS_PARSER_TIR_TYPE_H
#define TVMS_PARSER_TIR_TYPE_H

#include "parser/tir/stmt.h"

// The type that an annotation which has been called stands for: of a variable or an
// expression its own, of a buffer that of buffers. NULL for what is not a type; not reported.
tvms_node *TVMS_NULLABLE tvms_tir_type_of_annotation(tvms_reader *reader,
                                                     tvms_eval_value value,
                                                     tvms_ref ref);

#endif
