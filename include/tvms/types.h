// Types and facts: what is known of the values of a program.
//
// context.h has the rule for threads.
#ifndef TVMS_TYPES_H
#define TVMS_TYPES_H

#include <tvms/program.h>

#ifdef __cplusplus
extern "C" {
#endif

// Facts come in the order of the text, those of a function between its FUNCTION and the END
// that belongs to it: its symbols, its parameters, its bindings, its result.
typedef enum {
  TVMS_FACT_FUNCTION,  // begins a function of Relax
  TVMS_FACT_SYMBOL,    // a symbolic variable
  TVMS_FACT_PARAM,
  TVMS_FACT_BINDING,  // begins a binding; holds a THEN and an ELSE, or a FUNCTION, or nothing
  TVMS_FACT_THEN,    // begins a branch, which holds bindings
  TVMS_FACT_ELSE,    // the same
  TVMS_FACT_RESULT,  // of the function
  TVMS_FACT_END,     // ends what began last and has not ended
} tvms_fact_kind;

// A fact; the texts are valid during the visit. New members may be added at the end.
typedef struct {
  tvms_fact_kind kind;
  uint32_t level;        // of nesting; 0: a function of a module, 1: what is in it
  const char *name;      // "" for THEN, ELSE and END; "return" for RESULT
  const char *type;      // "?" if it is not known; of a symbol its data type; or ""
  tvms_span span;        // of a parameter or a binding
  const char *bound_by;  // of a symbol: "dimension 0" or "value"; else NULL
  const char *owner;     // of a symbol: the value that binds it; else NULL
  bool is_size;          // of a symbol: it is a dimension, so it is not negative
} tvms_fact;

// Sees one fact. It may call functions on the same context; those that would change or destroy
// the program refuse it until the visits end, and the context must not be destroyed. It must
// return.
typedef void tvms_fact_visit(void *user, const tvms_fact *fact);

// Shows what is known of the functions of Relax: the type of every parameter, binding and
// result, and the symbolic variables, each where it gets its value. Types are written in the
// words of `release`; NULL: as read. TVMS_BAD_ARGUMENT: no such release.
tvms_status tvms_program_infer(tvms_program *program, const char *release,
                               tvms_fact_visit *visit, void *user);

// Writes the type of the innermost typed expression at an offset of the source, as `release`
// does; NULL: as read. `*span` is its place. `*text` is owned by the caller, who may free it
// by tvms_context_free; it is followed by a NUL that `*size` does not count, and NULL, with
// TVMS_OK, if nothing with a type is there.
tvms_status tvms_program_type_at(tvms_program *program, uint32_t offset,
                                 const char *release, tvms_span *span, char **text,
                                 size_t *size);

#ifdef __cplusplus
}
#endif

#endif
