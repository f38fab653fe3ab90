// What comments say about findings that are to be left out.
#ifndef TVMS_LINT_SUPPRESS_READ_H
#define TVMS_LINT_SUPPRESS_READ_H

#include "grammar/surface.h"
#include "support/vec.h"

// A code of a comment.
typedef struct {
  tvms_span span;
  bool known;       // `id` is its row
  bool used;        // it has suppressed something
  tvms_diag_id id;  // if known
} tvms_suppressed_code;

typedef struct {
  tvms_span span;         // from its '#' to the end of its codes
  uint32_t comment_end;   // of the comment that it is in
  uint32_t line;          // where its line begins
  bool own_line;          // nothing stands in front of the comment
  bool only;              // the comment has nothing else
  bool ours;              // `tvms:` stands in it: no other tool reads it
  bool whole_file;        // `# tvms: noqa`
  bool used;              // it has no codes, and has suppressed something
  uint32_t first, count;  // of its codes; none: it suppresses all
} tvms_suppression;

// All of a file, in order of place.
typedef struct {
  const tvms_surface *surface;
  TVMS_VEC(tvms_suppression) list;
  TVMS_VEC(tvms_suppressed_code) codes;
} tvms_suppressions;

// Reads the comments of a file. `found` takes memory of the context until fini.
void tvms_lint_suppressions_read(tvms_suppressions *found, const tvms_surface *surface);

// Frees the lists.
void tvms_lint_suppressions_fini(tvms_suppressions *found);

#endif
