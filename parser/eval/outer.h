// Nodes of the file level that a definition mentions.
#ifndef TVMS_PARSER_EVAL_OUTER_H
#define TVMS_PARSER_EVAL_OUTER_H

#include "parser/eval/eval.h"

// The same value, with copies in reader->unit of the nodes that it has of the file level: no
// node points into another unit. Each is copied once for a function.
tvms_eval_value tvms_eval_outer_adopt(tvms_reader *reader, tvms_eval_value value);

// Forgets the copies: another function is read from here on.
void tvms_eval_outer_forget(tvms_reader *reader);

#endif
