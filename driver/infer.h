// What is known of the values of a program: the type of every parameter, binding and
// result of Relax functions, and of their symbolic variables where each gets its value.
#ifndef TVMS_DRIVER_INFER_H
#define TVMS_DRIVER_INFER_H

#include "ir/module.h"
#include "support/json.h"
#include "support/vec.h"

// Facts come in the order of the text, those of a function between its FUNCTION and the
// END that belongs to it: its symbols, its parameters, its bindings, its result.
typedef enum {
  TVMS_FACT_FUNCTION,  // begins
  TVMS_FACT_SYMBOL,
  TVMS_FACT_PARAM,
  TVMS_FACT_BINDING,  // begins; holds a THEN and an ELSE, or a FUNCTION, or nothing
  TVMS_FACT_THEN,     // begins; holds bindings
  TVMS_FACT_ELSE,     // begins; holds bindings
  TVMS_FACT_RESULT,
  TVMS_FACT_END,  // ends what began last and has not ended
} tvms_fact_kind;

// The texts are valid during the visit.
typedef struct {
  tvms_fact_kind kind;
  uint32_t level;        // of nesting; 0: a function of a module
  const char *name;      // "" for THEN, ELSE and END; "return" for RESULT
  const char *type;      // "?" if it is not known; of a symbol its data type
  tvms_span span;        // of a parameter or a binding
  const char *bound_by;  // of a symbol: "dimension 0" or "value"
  const char *owner;     // of a symbol: the value that binds it
  bool is_size;          // of a symbol: it is a dimension, so it is not negative
} tvms_fact;

typedef void tvms_fact_visit(void *self, const tvms_fact *fact);

// Shows the facts of each module that is added, in order, with types as `dialect` writes
// them. `visit` gets `self`. tvms_infer_close must follow.
typedef struct tvms_infer tvms_infer;
tvms_infer *tvms_infer_open(tvms_context *context, tvms_dialect dialect,
                            tvms_fact_visit *visit, void *self);
void tvms_infer_add(tvms_infer *infer, const tvms_module *module);
void tvms_infer_close(tvms_infer *infer);

// A visit whose `self` is a tvms_strbuf: a line per fact, indented as the program nests.
tvms_fact_visit tvms_infer_write_text;

// A visit whose `self` is a tvms_infer_json: functions as members of the innermost array.
typedef struct {
  tvms_json *json;
  tvms_source *source;  // that places refer to
  tvms_memory *memory;
  TVMS_VEC(uint8_t)
  open;  // what has begun and not ended: a section of a function, or else
} tvms_infer_json;
tvms_fact_visit tvms_infer_write_json;

#endif
