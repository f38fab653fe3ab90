// Calls of Python's functions that make definitions: with which values a definition is read.
#ifndef TVMS_PARSER_PYTHON_CALLS_H
#define TVMS_PARSER_PYTHON_CALLS_H

#include "parser/eval/eval.h"
#include "parser/python_file.h"
#include "support/vec.h"

// What the statements of a Python file are followed for.
typedef enum {
  TVMS_PYTHON_READS,    // definitions are read
  TVMS_PYTHON_GATHERS,  // calls of functions that make definitions are written down
  TVMS_PYTHON_RUNS,     // the same, and functions that nothing calls are called
} tvms_python_stage;

// A call of a function that makes definitions: the values of its parameters, in order.
typedef struct tvms_python_instance {
  const struct tvms_python_instance *TVMS_NULLABLE next;    // of the same function
  const struct tvms_python_instance *TVMS_NULLABLE around;  // in which it was defined
  uint32_t count;
  tvms_eval_value values[];
} tvms_python_instance;

// A function in whose body TVMScript stands, or a call of such a function.
typedef struct {
  tvms_ref ref;  // its DEF
  tvms_sym name;
  bool called;   // something of its name is, outside of TVMScript
  bool makes;    // false: a function like any other
  uint32_t end;  // of its text
  tvms_python_instance *TVMS_NULLABLE first;
  tvms_python_instance *TVMS_NULLABLE last;
} tvms_python_maker;

typedef struct {
  TVMS_VEC(tvms_python_maker)
  functions;                 // all of the file outside of TVMScript, by place
  TVMS_VEC(tvms_ref) calls;  // that may be of makers, by place
} tvms_python_calls;

// Finds the functions of the file that make the definitions `script`, directly or by calls
// of others, and the calls by their names. The caller frees it with tvms_python_calls_fini.
void tvms_python_calls_find(const tvms_surface *surface, const tvms_spans *script,
                            tvms_python_calls *calls);

// Frees both lists; calls that were written down live as long as the values of the reader.
void tvms_python_calls_fini(tvms_memory *memory, tvms_python_calls *calls);

// The function of the DEF at `ref` if it makes definitions, or NULL.
tvms_python_maker *TVMS_NULLABLE tvms_python_calls_maker(tvms_python_calls *calls,
                                                         const tvms_surface *surface,
                                                         tvms_ref ref);

// Writes a call down: `values` by parameter, of a function that was defined inside of the
// call `around`. NULL if the same call is known already, or too many are.
const tvms_python_instance *TVMS_NULLABLE
tvms_python_calls_add(tvms_reader *reader, tvms_python_maker *maker,
                      const tvms_python_instance *TVMS_NULLABLE around,
                      const tvms_eval_value *values, uint32_t count);

// The number of the first of `calls` that begins at `place` or behind it.
uint32_t tvms_python_calls_from(const tvms_python_calls *calls,
                                const tvms_surface *surface, uint32_t place);

#endif
