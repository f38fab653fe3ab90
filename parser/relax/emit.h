// Emitting bindings of a Relax function into the open block.
#ifndef TVMS_PARSER_RELAX_EMIT_H
#define TVMS_PARSER_RELAX_EMIT_H

#include "parser/relax/state.h"

// Reports a binding after R.output; false then.
TVMS_NODISCARD bool tvms_relax_block_is_open(tvms_reader *reader, tvms_ref ref);

// Binds `value` to a new variable called `name` (0: none), which the text writes at
// `target`; the value is that variable. `type` is what the annotation says, or NULL. Unknown
// after a report at `ref`.
tvms_eval_value tvms_relax_emit_binding(tvms_reader *reader, tvms_node *value,
                                        tvms_sym name, tvms_node *TVMS_NULLABLE type,
                                        tvms_ref target, tvms_ref ref);

// The same for R.match_cast: `pair` has the value and the type that it is cast to.
tvms_eval_value tvms_relax_emit_match_cast(tvms_reader *reader, tvms_eval_value pair,
                                           tvms_sym name, tvms_node *TVMS_NULLABLE type,
                                           tvms_ref target, tvms_ref ref);

#endif
