// Strings, numbers and comments: their ends, what is wrong with them, and their values.
#ifndef TVMS_GRAMMAR_LITERAL_H
#define TVMS_GRAMMAR_LITERAL_H

#include "grammar/lexer.h"
#include "grammar/surface.h"

// The parts of rules. Each is called with the token begun and `cursor` after what the rule
// matched; it moves `cursor` to the end of the token.
const unsigned char *tvms_lexer_take_comment(tvms_lexer *lexer,
                                             const unsigned char *begin,
                                             const unsigned char *end);
tvms_token_kind tvms_lexer_take_backslash(tvms_lexer *lexer);
tvms_token_kind tvms_lexer_take_number(tvms_lexer *lexer, tvms_token_kind kind);

tvms_token_kind tvms_lexer_take_leading_zero(tvms_lexer *lexer);
tvms_token_kind tvms_lexer_take_escapes(tvms_lexer *lexer);

tvms_token_kind tvms_lexer_take_string(tvms_lexer *lexer);

tvms_token_kind tvms_lexer_take_fstring(tvms_lexer *lexer);

// Value of an INT node. Returns false if it does not fit 64 unsigned bits.
bool tvms_surface_int(const tvms_surface *surface, tvms_ref ref, uint64_t *value);
double tvms_surface_float(const tvms_surface *surface, tvms_ref ref);

tvms_surf_text tvms_surface_string(const tvms_surface *surface, tvms_ref ref,
                                   tvms_arena *arena);
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
