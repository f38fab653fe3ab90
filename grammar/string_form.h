// How a string token is written: its prefix and its quotes.
#ifndef TVMS_GRAMMAR_STRING_FORM_H
#define TVMS_GRAMMAR_STRING_FORM_H

#include <stdbool.h>
#include <stdint.h>

// The parts of a string token: letters before the quote, kind and width of the quote.
typedef struct {
  bool raw, bytes, formatted;
  char quote;
  uint32_t width;    // 1 or 3
  const char *body;  // after the opening quote
} tvms_string_form;

// Of the string token that begins at `token`.
static inline tvms_string_form tvms_string_form_of(const char *token) {
  tvms_string_form form = {.width = 1};
  for (; *token != '\'' && *token != '"'; token++) {
    char letter = (char)(*token | 0x20);
    form.raw |= letter == 'r';
    form.bytes |= letter == 'b';
    form.formatted |= letter == 'f';
  }
  form.quote = *token;
  // `""` followed by another quote is a triple one: the lexer takes the longest match.
  if (token[1] == form.quote && token[2] == form.quote) form.width = 3;
  form.body = token + form.width;
  return form;
}

// Whether the quotes that close such a string stand at `at`.
static inline bool tvms_string_closes(tvms_string_form form, const char *at) {
  return *at == form.quote
         && (form.width == 1 || (at[1] == form.quote && at[2] == form.quote));
}

// Value of a hexadecimal digit, or -1.
static inline int tvms_hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
