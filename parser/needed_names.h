// Which names TVMScript in a Python file may ask for.
#ifndef TVMS_PARSER_NEEDED_NAMES_H
#define TVMS_PARSER_NEEDED_NAMES_H

#include "grammar/surface.h"
#include "parser/python_calls.h"
#include "parser/python_file.h"

// A set of names; the zero value is the empty set.
typedef struct tvms_needed_names {
  // By symbol: 1 if it is in the set; in `assigned` if an attribute of the name is assigned
  // anywhere in the file, in `foreign` if it is one of something else than `self`.
  TVMS_VEC(uint8_t) marks;
  TVMS_VEC(uint8_t) assigned;
  TVMS_VEC(uint8_t) foreign;
} tvms_needed_names;

// Fills `names` with what the definitions at `script` depend on: the names that they
// mention, in code and inside strings, those that the functions mention which make them or
// call such functions (`calls`), and those that constants and functions of such names mention
// in turn. Scopes do not count. A file without constants of Python's needs no name, and the set
// stays empty. The caller frees it with tvms_needed_names_fini.
void tvms_needed_names_find(const tvms_surface *surface, const tvms_spans *script,
                            const tvms_python_calls *calls, tvms_needed_names *names);

// Frees the set.
void tvms_needed_names_fini(tvms_memory *memory, tvms_needed_names *names);

// True if `name` is in the set.
bool tvms_needed_names_has(const tvms_needed_names *names, tvms_sym name);

// True if a statement outside of TVMScript assigns an attribute `name`, whatever its object is.
bool tvms_needed_names_is_assigned(const tvms_needed_names *names, tvms_sym name);

// True if one does whose object is not called `self`.
bool tvms_needed_names_is_foreign(const tvms_needed_names *names, tvms_sym name);

// True if one of the targets of an assignment, a list of nodes that begins at `targets`, is
// a name in the set.
bool tvms_needed_names_has_any(const tvms_needed_names *names,
                               const tvms_surface *surface, tvms_ref targets);

#endif
