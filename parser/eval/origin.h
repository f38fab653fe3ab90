// Whether the text was printed or written by hand.
#ifndef TVMS_PARSER_EVAL_ORIGIN_H
#define TVMS_PARSER_EVAL_ORIGIN_H

#include "parser/eval/eval.h"

// Finds out what a text looks like; `origin` was empty.
void tvms_reader_find_origin(const tvms_source *source, tvms_origin *origin);

// False if a line shows that the text was written by hand, and not printed.
bool tvms_reader_is_printed(tvms_reader *reader);

// True if it begins as printed text does, too.
bool tvms_reader_has_printed_header(tvms_reader *reader);

#endif
