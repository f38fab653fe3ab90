// What the entry of a PrimFunc says of wrong arguments, in the words of TVM 0.27.
//
// Texts live until the scratch arena is reset.
#ifndef TVMS_BACKEND_CORE_WORDS_H
#define TVMS_BACKEND_CORE_WORDS_H

#include "ir/contract.h"
#include "ir/module.h"
#include "support/vec.h"

// A size that has a value: who defined it, for messages.
typedef struct {
  const tvms_node *var;
  const char *path;  // "A.shape[0]"
} tvms_words_size_known;

// Of whom is spoken. `known` grows as parameters are checked in order: a size is bound by the
// first place that has it alone, and every later place is compared with it.
typedef struct {
  tvms_context *context;
  const tvms_prim_func *function;
  const char *signature;
  TVMS_VEC(tvms_words_size_known) known;
} tvms_words;

// The place that gave a variable its value, or NULL.
const tvms_words_size_known *TVMS_NULLABLE tvms_words_known(const tvms_words *n,
                                                            const tvms_node *var);

// The name of a variable; "v" if it has none.
const char *tvms_words_of_var(const tvms_words *n, const tvms_node *var);

// The name of a buffer.
const char *tvms_words_of_buffer(const tvms_words *n, const tvms_buffer *buffer);

// "f(A: Tensor([n], float32), k: int32)", with the arguments of the contract; of a Relax function also
// "f(Shape([n, m]), Tuple(t_0: Tensor([n], float32), t_1: int64))".
const char *tvms_words_signature(tvms_words *n, const tvms_member *member,
                                 const tvms_contract *contract);

// "<format> when calling:\n  `…`<more>", with TVMS_SIGNATURE_MARK in the place of the signature; `more` is "" or
// tvms_words_expected.
const char *tvms_words_message(tvms_words *n, const char *more, const char *format, ...)
    TVMS_PRINTF(3, 4);

// ",\n  expected <format>".
const char *tvms_words_expected(tvms_words *n, const char *format, ...)
    TVMS_PRINTF(2, 3);

// "A.shape[0]"; `at` -1: "A.byte_offset".
const char *tvms_words_path(tvms_words *n, const tvms_buffer *buffer, const char *field,
                            int at);

// A compound size, with variables by the places that gave them their values.
const char *tvms_words_of_size(tvms_words *n, const tvms_node *size);

#endif
