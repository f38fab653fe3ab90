// What is known of a definition before its body is read: what its decorators say.
//
// A body never asks where it stands. The reader of modules (parser/module.c) evaluates the
// decorators of all definitions of a module first and hands each body its tvms_def; what
// a body defines itself is asked of reader->decorate, which parser/read.c fills in.
//
// What a decorator means is data: each room lists those of its language (tvms_decorators),
// with what they make of a definition and the options that their keywords set.
#ifndef TVMS_PARSER_EVAL_DEFINITION_H
#define TVMS_PARSER_EVAL_DEFINITION_H

#include "grammar/surface.h"
#include "ir/calls.h"
#include "support/names.h"

// What the decorators of a definition make of it.
typedef enum {
  TVMS_DECORATED_NOT,
  TVMS_DECORATED_CLASS,     // a class that holds functions
  TVMS_DECORATED_FUNCTION,  // a function, which its language reads
  TVMS_DECORATED_MACRO,     // a macro, which is read where it is called
  TVMS_DECORATED_PYTHON,    // a function that stays Python's
  TVMS_DECORATED_UNKNOWN,   // something else: reported, or kept by Python
} tvms_decorated;

// What the keywords of a decorator say, and in which of its spellings it was written.
enum {
  TVMS_OPTION_PRIVATE = 1,
  TVMS_OPTION_UNCHECKED = 2,   // nothing is said of whether it is well-formed
  TVMS_OPTION_UNHYGIENIC = 4,  // of a MACRO
  TVMS_OPTION_INLINE = 8,      // of a MACRO
  TVMS_OPTION_ROOM = 16,       // this and the greater ones are those of the language
};

typedef struct tvms_language tvms_language;  // parser/eval/eval.h

typedef struct {
  tvms_decorated kind;
  const tvms_language *TVMS_NULLABLE language;  // of a FUNCTION
  uint32_t options;
  tvms_span span;  // of the decorator
} tvms_decoration;

// A keyword of a decorator: the option that True sets, or with `unless` False. 0: Python
// alone understands it.
typedef struct {
  tvms_sym name;
  uint32_t option;
  bool unless;
} tvms_decorator_keyword;

enum { TVMS_DECORATOR_KEYWORDS = 4 };

typedef struct {
  tvms_namespace namespace_;
  tvms_sym name;
  tvms_decorated kind;
  const tvms_language *TVMS_NULLABLE language;
  uint32_t options;
  // As TVM's signature has them; behind the last one a name of 0.
  tvms_decorator_keyword keywords[TVMS_DECORATOR_KEYWORDS];
} tvms_decorator;

// Those of a room. The first one of a namespace and kind is what most people mean.
typedef struct {
  const tvms_decorator *rows;
  uint32_t count;
} tvms_decorators;

static inline bool tvms_decoration_says(const tvms_decoration *decoration,
                                        uint32_t option) {
  return (decoration->options & option) != 0;
}

// A function of the module being read.
typedef struct {
  tvms_ref ref;  // its DEF
  tvms_sym name;
  uint32_t member;  // its index in the module
  tvms_decoration decoration;
} tvms_def;

#endif
