// Statements of a PrimFunc: what parser/tir/stmt.c and parser/tir/assign.c share.
#ifndef TVMS_PARSER_TIR_STMT_H
#define TVMS_PARSER_TIR_STMT_H

#include "parser/tir/tir.h"

// Head.spare of nodes while they are read.
enum {
  TVMS_SPARE_BOUND = 1,       // VAR, BUFFER_LOAD of a scalar: a name stands for it
  TVMS_SPARE_OWN_DATA = 2,    // BUFFER: its pointer was made with it
  TVMS_SPARE_KEEPS_NAME = 4,  // VAR: no buffer renames it
  // VAR: `n = T.int32()` names it, and nothing defines it yet. BUFFER: `B = T.Buffer(…)` does.
  TVMS_SPARE_DECLARED = 8,
};

// What a name becomes when `value` is bound to it.
typedef tvms_eval_value tvms_binder(tvms_reader *reader, tvms_sym name,
                                    tvms_eval_value value, tvms_ref ref);

// Adds what `return value` is in the release: a statement, or the call T.ret.
void tvms_tir_emit_return(tvms_reader *reader, tvms_node *value, tvms_ref ref);

// What a function returns: a value, since 0.26 also a buffer. NULL after a report.
tvms_node *TVMS_NULLABLE tvms_tir_to_returned(tvms_reader *reader,
                                              tvms_eval_value value, tvms_ref ref);

// Reads statements into the innermost frame. What is wrong is reported, and reading
// goes on with the next one.
void tvms_tir_body(tvms_reader *reader, tvms_ref body);

// Reads the statements of a macro in place; the value is what it returns. `calls` is how
// often it was expanded before, which names of blocks say.
tvms_eval_value tvms_tir_expand_body(tvms_reader *reader, tvms_ref body, uint32_t calls,
                                     tvms_ref call);

#endif
