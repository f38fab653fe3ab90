// `object[index]` of constants, annotations and values of TIR.
#ifndef TVMS_PARSER_EVAL_SUBSCRIPT_H
#define TVMS_PARSER_EVAL_SUBSCRIPT_H

#include "parser/eval/internal.h"

tvms_eval_value tvms_eval_subscript(tvms_reader *reader, tvms_eval_value object,
                                    tvms_eval_value index, tvms_ref ref);

// The value under a key of a dict. False if there is none; unknown if the key, or one that
// stands before it, is known to Python only.
bool tvms_eval_dict_find(tvms_eval_value dict, tvms_eval_value key,
                         tvms_eval_value *found);

#endif
