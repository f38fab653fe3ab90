// Names of the language that are near to what was written: for "did you mean".
#ifndef TVMS_PARSER_NEAR_NAMES_H
#define TVMS_PARSER_NEAR_NAMES_H

#include "parser/eval/eval.h"

// The full name ("R.nn.relu") that `name`, which `namespace_` does not have, stands for: what
// ir/meant.def says, the same name in another namespace of the same family (I, T or R) or
// spelled with other cases and underscores, or one that differs by few letters. NULL if there
// is none. In the arena of the context.
const char *TVMS_NULLABLE tvms_near_name_below(tvms_reader *reader,
                                               tvms_namespace namespace_,
                                               const char *name);

// The full name that `name` stands for where it has no namespace, in the language of the
// definition that is read; near ones do not count. NULL if there is none.
const char *TVMS_NULLABLE tvms_near_name_alone(tvms_reader *reader, const char *name);

#endif
