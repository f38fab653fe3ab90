// Where statements stand in the lines of a file.
#ifndef TVMS_LINT_STATEMENTS_H
#define TVMS_LINT_STATEMENTS_H

#include "grammar/surface.h"
#include "support/vec.h"

// From the first letter of a simple statement to its end; of a compound one its header, with the
// decorators. In order of place, and none in another.
typedef struct {
  const tvms_surface *surface;
  TVMS_VEC(tvms_span) spans;
} tvms_lint_statements;

// All statements of a file. `statements` takes memory of the context until fini.
void tvms_lint_statements_init(tvms_lint_statements *statements,
                               const tvms_surface *surface);

// Frees the list.
void tvms_lint_statements_fini(tvms_lint_statements *statements);

// The statement or the header that a place lies in; an empty span at the place if it lies in
// none, such as one in a line `else:`.
tvms_span tvms_lint_statements_at(const tvms_lint_statements *statements,
                                  uint32_t place);

// Where the line of a place begins.
uint32_t tvms_lint_line_begin(const tvms_source *source, uint32_t place);

// Where the line of a place ends: at its line end.
uint32_t tvms_lint_line_end(const tvms_source *source, uint32_t place);

#endif
