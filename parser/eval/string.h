// f-strings and str().
#ifndef TVMS_PARSER_EVAL_STRING_H
#define TVMS_PARSER_EVAL_STRING_H

#include "parser/eval/eval.h"

tvms_eval_value tvms_eval_fstring(tvms_reader *reader, tvms_ref ref);

// str(value), or NULL after a report.
const char *TVMS_NULLABLE tvms_eval_str(tvms_reader *reader, tvms_eval_value value,
                                        tvms_ref ref, uint32_t *len);

#endif
