// What is known of a definition before its body is read: what its decorators say.
//
// A body never asks where it stands. The reader of modules (parser/module.c) evaluates the
// decorators of all definitions of a module first and hands each body its tvms_def; what
// a body defines itself is asked of reader->decorate, which parser/read.c fills in.
#ifndef TVMS_PARSER_EVAL_DEFINITION_H
#define TVMS_PARSER_EVAL_DEFINITION_H

#include "grammar/surface.h"
#include "support/names.h"

// What the decorators of a definition make of it.
typedef enum {
  TVMS_DECORATED_NOT,
  TVMS_DECORATED_MODULE,    // I.ir_module
  TVMS_DECORATED_TIR,       // T.prim_func, T.jit
  TVMS_DECORATED_RELAX,     // R.function
  TVMS_DECORATED_MACRO,     // T.macro, R.macro
  TVMS_DECORATED_INLINE,    // T.inline
  TVMS_DECORATED_PYFUNC,    // I.pyfunc
  TVMS_DECORATED_REWRITER,  // R.rewriter
  TVMS_DECORATED_UNKNOWN,   // something else: reported, or kept by Python
} tvms_decorated;

typedef struct {
  tvms_decorated kind;
  bool is_private;
  bool s_tir;
  bool persistent;
  bool unchecked;  // check_well_formed=False
  bool impure;     // pure=False
  bool jit;
  bool unhygienic;  // hygienic=False
  tvms_span span;   // of the decorator
} tvms_decoration;

// A function of the module being read.
typedef struct {
  tvms_ref ref;  // its DEF
  tvms_sym name;
  uint32_t member;  // its index in the module
  tvms_decoration decoration;
} tvms_def;

#endif
