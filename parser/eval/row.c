// Rows of ir/calls.def, found through the table of the reader, and their names.
#include "parser/eval/row.h"

#include "parser/eval/ops.h"

#include <string.h>

const tvms_row *tvms_row_find(const tvms_reader *reader, tvms_namespace namespace_,
                              tvms_sym name) {
  return reader->tables->find_row(namespace_, name, reader->dialect);
}

const char *tvms_row_text(tvms_reader *reader, const tvms_row *row) {
  const char *path = tvms_namespace_text((tvms_namespace)row->namespace_);
  const char *name = tvms_symbol_text(reader->context, row->name);
  size_t len = strlen(path) + strlen(name) + 2;
  char *text = tvms_arena_alloc(&reader->context->arena, len);
  return strcat(strcat(strcpy(text, path), "."), name);
}
