// Options of targets (ir/target_options.def).
#ifndef TVMS_PARSER_TARGET_OPTION_H
#define TVMS_PARSER_TARGET_OPTION_H

#include "parser/eval/eval.h"

// The value of `key` in the dict of a target of this kind, as the release keeps it.
// `object` is what `value` is as an object. NULL after a report: the kind has no such
// option, or its value is something else.
tvms_node *TVMS_NULLABLE tvms_target_option(tvms_reader *reader, const char *kind,
                                            const char *key, tvms_eval_value value,
                                            tvms_node *object, tvms_ref dict);

// The same for an option `-key=text` of 0.22; "" for `-key` alone.
tvms_node *TVMS_NULLABLE tvms_target_option_text(tvms_reader *reader, const char *kind,
                                                 const char *key, const char *text,
                                                 tvms_ref ref);

// Is an option of this name a list of texts?
bool tvms_target_option_is_list(const char *key);

#endif
