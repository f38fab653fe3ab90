// Evidence for undefined names: what is in scope and fits the place where they stand.
#ifndef TVMS_PARSER_RELAX_EVIDENCE_H
#define TVMS_PARSER_RELAX_EVIDENCE_H

#include "parser/eval/eval.h"
#include "parser/relax/state.h"

// Suggests the nearest names for what nothing has explained.
void tvms_relax_close_suspects(tvms_reader *reader);

// Explains undefined names in a call_tir by the PrimFunc that it calls.
void tvms_relax_explain_call_tir(tvms_reader *reader, const tvms_node *callee,
                                 tvms_ref args_ref, tvms_ref type_ref);

// Remembers an undefined name of a Relax function that was just reported; `near` is the
// nearest name in scope, suggested unless its surroundings explain it better.
void tvms_relax_suspect_name(tvms_reader *reader, tvms_diag *diag, tvms_sym name,
                             tvms_span span, const char *TVMS_NULLABLE near);

#endif
