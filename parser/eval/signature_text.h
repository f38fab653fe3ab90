// Signatures: the parameters of a callable, from their text.
//
// A signature is written as in Python, "start, stop=None, *, annotations=None", and parsed
// at first use. Defaults are None, True, False, numbers and strings in single quotes.
#ifndef TVMS_PARSER_EVAL_SIGNATURE_TEXT_H
#define TVMS_PARSER_EVAL_SIGNATURE_TEXT_H

#include "parser/eval/row.h"

typedef enum {
  TVMS_PARAM_PLAIN,
  TVMS_PARAM_KEYWORD_ONLY,
  TVMS_PARAM_REST,      // *args
  TVMS_PARAM_KEYWORDS,  // **kwargs
} tvms_param_kind;

typedef struct {
  tvms_sym name;
  tvms_param_kind kind;
  bool required;
  tvms_eval_value value;  // the default
} tvms_param;

enum { TVMS_MAX_PARAMS = 32 };

typedef struct tvms_signature {
  uint32_t count;
  uint32_t plain;    // number of plain parameters: the first ones
  int32_t rest;      // index of *args, -1: none
  int32_t keywords;  // index of **kwargs, -1: none
  tvms_param params[];
} tvms_signature;

// A signature of a method, known by the address of its text.
typedef struct {
  const char *text;
  const tvms_signature *signature;
} tvms_known_signature;

// Parses a signature text into reader->kept.
const tvms_signature *tvms_signature_parse(tvms_reader *reader, const char *text);

// The parsed signature of a row.
const tvms_signature *tvms_row_signature(tvms_reader *reader, const tvms_row *row);

// The parsed form of a signature that stands in our code: texts are told apart by address.
const tvms_signature *tvms_signature_of_method(tvms_reader *reader, const char *text);

#endif
