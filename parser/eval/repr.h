// What str() and repr() make of values.
#ifndef TVMS_PARSER_EVAL_REPR_H
#define TVMS_PARSER_EVAL_REPR_H

#include "parser/eval/eval.h"
#include "support/strbuf.h"

// Appends str(value), or repr(value) if `quoted`. False if it has none that is known, or it
// gets too long; nothing is reported.
bool tvms_eval_put(tvms_reader *reader, tvms_strbuf *out, tvms_eval_value value,
                   bool quoted);

// str(value), or NULL after a report.
const char *TVMS_NULLABLE tvms_eval_str(tvms_reader *reader, tvms_eval_value value,
                                        tvms_ref ref, uint32_t *len);

#endif
