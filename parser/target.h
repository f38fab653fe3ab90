// Targets as values of attributes.
#ifndef TVMS_PARSER_TARGET_H
#define TVMS_PARSER_TARGET_H

#include "parser/eval/eval.h"

// The config of a target given as text, as a dict or as a target: an OBJECT_MAP with TVM's
// values for what is not given, or the OBJECT_STR of a kind that is not known. NULL after
// a report.
tvms_node *TVMS_NULLABLE tvms_target_config(tvms_reader *reader, tvms_eval_value value,
                                            tvms_ref ref);

#endif
