// Objects of the metadata section of a file.
#ifndef TVMS_PARSER_METADATA_H
#define TVMS_PARSER_METADATA_H

#include "parser/eval/eval.h"

// The value of `tvm.ir.load_json(text)`: a dict from type keys to lists of texts and STORED
// values; unknown after a report. It lives as long as the reader.
tvms_eval_value tvms_metadata_load(tvms_reader *reader, tvms_ref call);

// The node that a STORED value stands for, one for each unit; `ref` is its use.
tvms_eval_value tvms_metadata_value(tvms_reader *reader, tvms_eval_value value,
                                    tvms_ref ref);

// Binds `metadata` to a table that has every object, but no values: for a text whose section
// may be missing. A section of the text hides it. The program counts the objects that are
// used so.
void tvms_metadata_bind_omitted(tvms_reader *reader);

#endif
