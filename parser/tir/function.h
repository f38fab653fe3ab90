// A PrimFunc as a whole: what its decorator says, its signature, its body.
#ifndef TVMS_PARSER_TIR_FUNCTION_H
#define TVMS_PARSER_TIR_FUNCTION_H

#include "parser/tir/tir.h"

// Options of the decorators of PrimFuncs.
enum {
  TVMS_TIR_OPTION_S_TIR = TVMS_OPTION_ROOM,  // of a module, too: what its PrimFuncs are
  TVMS_TIR_OPTION_PERSISTENT = TVMS_OPTION_ROOM << 1,
  TVMS_TIR_OPTION_JIT = TVMS_OPTION_ROOM << 2,
};

// PrimFuncs: how they and the expressions in them are read.
extern const tvms_language tvms_tir_language;

// The decorators below T.
extern const tvms_decorators tvms_tir_decorators;

#endif
