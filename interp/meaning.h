// What statements and calls of TIR mean that does not depend on who runs them: read off the
// nodes once, for the interpreter and for code generators.
#ifndef TVMS_INTERP_MEANING_H
#define TVMS_INTERP_MEANING_H

#include "ir/build.h"
#include "ir/module.h"
#include "ir/tir_op.h"
#include "support/strbuf.h"

// What a call that stands as a statement does: T.ret and the jumps of the releases that
// have no statements for them.
typedef enum {
  TVMS_MEANING_CALL,  // nothing of the kind: the value is computed and forgotten
  TVMS_MEANING_RETURN,
  TVMS_MEANING_BREAK,
  TVMS_MEANING_CONTINUE,
} tvms_meaning_jump;

// The jump that an EVALUATE is; `*result` is what a RETURN gives back, or NULL.
tvms_meaning_jump tvms_meaning_of_evaluate(const tvms_node *node,
                                           const tvms_node *TVMS_NULLABLE *result);

// Is an axis of a block one that its init waits for: a reduction with a domain?
bool tvms_meaning_is_reduced(const tvms_iter_var *axis);

// Appends the message of an assertion: all its texts, one behind the other.
void tvms_meaning_assertion(const tvms_assert *assertion, tvms_strbuf *text);

// Does the message of an assertion say "{left}" and, behind it, "{right}", and its condition compare two integers?
// Then these are the sides, and the message is said with their numbers.
bool tvms_meaning_sides(const tvms_assert *assertion, const char *text,
                        const tvms_node *sides[2]);

// Appends a text with other texts where it says "{left}" and "{right}".
void tvms_meaning_put_sides(tvms_strbuf *out, const char *text, const char *left,
                            const char *right);

// The same with numbers.
void tvms_meaning_put_numbers(tvms_strbuf *out, const char *text, int64_t left,
                              int64_t right);

// Appends the text of a check of arguments, with the signature in the place of its mark.
void tvms_meaning_put_signature(tvms_strbuf *out, const char *text,
                                const char *signature);

// The operator that is the function of libm which T.call_extern names, with or without the
// "f" of single precision; TVMS_TIR_NONE for another one. `*name` is the name, "?" if the
// call has none.
tvms_tir_opcode tvms_meaning_of_extern(const tvms_call *call, const char **name);

// Of T.call_extern of a function of C: the first argument, or the call itself for its result, that has a type which C
// does not pass; NULL: there is none.
const tvms_node *TVMS_NULLABLE tvms_meaning_not_of_c(const tvms_call *call);

// Can a function of C have this name?
bool tvms_meaning_is_name_of_c(const char *name);

// A buffer that a block declares on a part of another one: dimensions of the source that it
// has not are the first ones, and those it has keep their strides.
typedef struct {
  const tvms_buffer_region *part;
  const tvms_buffer *buffer;
  uint32_t offsets;  // ranges of the part whose begins make the offset
  uint32_t skipped;  // dimensions of the source that the buffer has not
  uint32_t extents;  // dimensions of the buffer whose sizes follow from the part
  uint32_t strides;  // and whose strides, as it declares them, follow from the source
} tvms_meaning_match;

// What a MATCH_BUFFER_REGION says of a source with `ndim` dimensions.
tvms_meaning_match tvms_meaning_of_match(const tvms_node *node, uint32_t ndim);

// The PrimFunc of the module that T.call_packed, T.call_cpacked or T.call_extern names by a STRING_IMM, or NULL.
const tvms_member *TVMS_NULLABLE tvms_meaning_of_named(const tvms_module *module,
                                                       const tvms_node *name);

#endif
