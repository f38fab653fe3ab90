// Python files: TVMScript definitions stand anywhere in them, and the rest is Python's.
#ifndef TVMS_PARSER_PYTHON_FILE_H
#define TVMS_PARSER_PYTHON_FILE_H

#include "parser/eval/eval.h"
#include "support/vec.h"

// Places of a source, in order and disjoint.
typedef TVMS_VEC(tvms_span) tvms_spans;

// True if the byte at `place` lies in one of them. `*near`, 0 at first, is where the last
// answer was found: nodes come nearly in order of place, so most questions are about the
// same span.
static inline bool tvms_spans_hold(const tvms_spans *spans, uint32_t *near,
                                   uint32_t place) {
  uint32_t low = 0, high = spans->len;
  if (*near < high && spans->items[*near].begin <= place
      && place < spans->items[*near].end) {
    return true;
  }
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (spans->items[middle].end <= place)
      low = middle + 1;
    else
      high = middle;
  }
  *near = low;
  return low < spans->len && spans->items[low].begin <= place;
}

// The number of the first of them that begins at `place` or behind it.
static inline uint32_t tvms_spans_from(const tvms_spans *spans, uint32_t place) {
  uint32_t low = 0, high = spans->len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (spans->items[middle].begin < place)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Appends the places of the outermost definitions of a file that are TVMScript: functions
// and classes, from their first decorator on, that are decorated by a name which imports
// lead to the script package of TVM. In order of place; the caller frees `spans` with the
// memory of the context.
void tvms_python_file_definitions(const tvms_surface *surface, tvms_spans *spans);

typedef TVMS_VEC(tvms_ref) tvms_refs;

// The statements of the same definitions, in order. Adds to `refs`, which is the caller's; its
// room lives in the memory of the context.
void tvms_python_file_statements(const tvms_surface *surface, tvms_refs *refs);

// The same and besides, functions under a `prim_func` or a `T.macro` of another package, as
// tilelang has them: written the same way, and nothing that TVM reads.
void tvms_python_file_kin(const tvms_surface *surface, tvms_refs *refs);

// False if a file has no such definition for certain, which is told without parsing it.
bool tvms_python_file_may_have_script(const tvms_context *context,
                                      const tvms_source *source);

#endif
