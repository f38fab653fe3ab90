// Values of literals: numbers, and the texts of strings.
//
// What is wrong with a literal was reported when it was read, and its value is something
// harmless then.
#ifndef TVMS_GRAMMAR_LITERAL_VALUES_H
#define TVMS_GRAMMAR_LITERAL_VALUES_H

#include "grammar/surface.h"

// Value of an INT node. Returns false if it does not fit 64 unsigned bits.
bool tvms_surface_int(const tvms_surface *surface, tvms_ref ref, uint64_t *value);

// Value of a FLOAT node; infinite if it is too large, as in Python.
double tvms_surface_float(const tvms_surface *surface, tvms_ref ref);

// Decoded text of a STRING or STRINGS node that is not an f-string, in `arena`.
tvms_surf_text tvms_surface_string(const tvms_surface *surface, tvms_ref ref,
                                   tvms_arena *arena);

// Is a STRING an f-string, or is one among STRINGS?
bool tvms_surface_is_fstring(const tvms_surface *surface, tvms_ref ref);

// The same, with the offset in the source of each byte and of the text's end. 16 bytes
// after the text may be read.
tvms_surf_text tvms_surface_placed_string(const tvms_surface *surface, tvms_ref ref,
                                          tvms_arena *arena, const uint32_t **places);

// The bytes between the quotes of a plain one-piece string without escapes. Returns false
// for any other string.
bool tvms_surface_string_inside(const tvms_surface *surface, tvms_ref ref,
                                tvms_span *inside);

#endif
