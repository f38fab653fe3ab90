// Calls of operators of Relax: bound, made and inferred.
#ifndef TVMS_PARSER_RELAX_CALL_H
#define TVMS_PARSER_RELAX_CALL_H

#include "parser/relax/state.h"

// The call of an operator that stands in the text at `call`; unknown after a report.
tvms_eval_value tvms_relax_call_op(tvms_reader *reader, tvms_opcode op, tvms_ref call);

// Builds and infers a call of an operator. `spans` may be NULL.
tvms_eval_value tvms_relax_make_call(tvms_reader *reader, tvms_opcode op,
                                     tvms_node *const *args, uint32_t count,
                                     tvms_list attrs, tvms_list type_args,
                                     const tvms_span *spans, tvms_ref ref);

// The same without attributes, for operators of Python.
tvms_eval_value tvms_relax_make_simple(tvms_reader *reader, tvms_opcode op,
                                       tvms_node *const *args, uint32_t count,
                                       tvms_ref ref);

// Infers a finished call; its value is unknown after a report.
tvms_eval_value tvms_relax_finish_call(tvms_reader *reader, tvms_call *call,
                                       const tvms_span *TVMS_NULLABLE spans);

#endif
