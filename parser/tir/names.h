// What TVM calls variables and buffers: the name they are bound to, names of pointers and
// strides that follow their buffers, and the names that printed text is allowed to keep.
#ifndef TVMS_PARSER_TIR_NAMES_H
#define TVMS_PARSER_TIR_NAMES_H

#include "parser/eval/eval.h"
#include "parser/tir/stmt.h"
#include "parser/tir/tir.h"

// The symbol of `name` followed by `suffix`.
tvms_sym tvms_tir_joined_name(tvms_reader *reader, tvms_sym name, const char *suffix);

// Gives a variable or buffer its name, as TVM's builder does; its pointer and strides may
// follow it. Other nodes have no name, and nothing happens.
void tvms_tir_name_node(tvms_reader *reader, tvms_node *node, tvms_sym name);

#endif
