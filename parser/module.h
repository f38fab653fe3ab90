// Reading a module: its class or function, decorators, members.
#ifndef TVMS_PARSER_MODULE_H
#define TVMS_PARSER_MODULE_H

#include "parser/eval/eval.h"

// What the decorators of a definition say.
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

// What the decorators of the class or function `definition` say; a misspelt one says what
// it was meant to. The checked form reports what is wrong with them: it is called once per
// definition.
tvms_decoration tvms_decoration_of(tvms_reader *reader, tvms_ref definition);
tvms_decoration tvms_decoration_checked(tvms_reader *reader, tvms_ref definition);

// The last name of a dotted expression: `T.prim_func`, `prim_func`; 0 for anything else.
tvms_sym tvms_decoration_last_name(const tvms_reader *reader, tvms_ref expr);

// The definition at `ref` of the file: a class or a function. Adds modules to the program.
void tvms_definition_read(tvms_reader *reader, tvms_ref ref);

// The definition of a member of the module being read; NULL: it has none.
const tvms_def *TVMS_NULLABLE tvms_definition_find(const tvms_reader *reader,
                                                   const tvms_member *member);

// Dtype that a call of the PrimFunc has: its return type, void without one.
tvms_dtype tvms_definition_declared_return(tvms_reader *reader,
                                           const tvms_member *member);

#endif
