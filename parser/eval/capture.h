// What a lambda keeps of the scopes around it.
#ifndef TVMS_PARSER_EVAL_CAPTURE_H
#define TVMS_PARSER_EVAL_CAPTURE_H

#include "parser/eval/eval.h"

// The bindings that Python's closures call cells: of names that a lambda or a function mentions and that
// scopes inside of the file's bind. In reader->values.
typedef struct {
  tvms_binding **items;
  uint32_t len;
} tvms_cells;

// The cells of the LAMBDA or DEF at `ref`, which is being evaluated. They outlive their scopes.
tvms_cells tvms_eval_capture_cells(tvms_reader *reader, tvms_ref ref);

// Binds the names of the cells in the innermost scope, to the values they have now.
void tvms_eval_capture_bind(tvms_reader *reader, tvms_cells cells);

#endif
