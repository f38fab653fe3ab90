// What a definition of a Python file may be read with where only Python knows a value.
//
// `hidden_size` of a factory that nothing in the file calls is an integer, because the
// definition makes a shape of it, and `dtype` is a data type, because it declares a buffer with
// it: what uses a value says what it must be. So a definition that could not be read whole is
// read again with assumptions: a number is a variable that nothing binds, which may be any
// integer, a data type is one that is tried, and what is unpacked has a number of items that is
// tried. What is found in such a reading holds only if
// it is found in all of them; parser/python_assume.c decides that.
//
// Assumed are values of names that Python binds around the definition, and of their attributes
// and items. Results of functions that only Python knows are not: what they mean was not
// understood.
#ifndef TVMS_PARSER_EVAL_ASSUME_H
#define TVMS_PARSER_EVAL_ASSUME_H

#include "grammar/surface.h"
#include "parser/eval/value.h"

typedef struct tvms_binding tvms_binding;

// What a value must be, the more certain the greater.
typedef enum {
  TVMS_WANTED_NOTHING,
  TVMS_WANTED_NUMBER,
  TVMS_WANTED_TEXT,
  TVMS_WANTED_DTYPE,
  TVMS_WANTED_ITEMS,  // a sequence of numbers
} tvms_wanted;

enum { TVMS_MOST_ASSUMED_ITEMS = 4 };

// What is assumed in one reading.
typedef struct {
  const char *dtype;  // data types that have no own one
  tvms_dtype number;  // of the variables that stand for integers
  uint32_t items;     // of a sequence; TVMS_MOST_ASSUMED_ITEMS at most
  uint32_t constant;  // instead of the variables, all integers; 0: none
} tvms_assumed;

// A value that only Python knows.
typedef struct {
  uint32_t base;  // where its name is bound
  tvms_sym text;  // how the definition calls it
  tvms_wanted wanted;
  const char *TVMS_NULLABLE dtype;  // of a data type: its own
  bool real;                        // a number that may have a fraction
  bool part;                        // an item of a sequence that is assumed itself
  bool compared;                    // with a text, which is all that says what it is
  const tvms_unit *TVMS_NULLABLE unit;  // whose the variable is
  tvms_node *TVMS_NULLABLE var;
} tvms_assumption;

typedef struct {
  TVMS_VEC(tvms_assumption) items;
  const tvms_assumed *TVMS_NULLABLE values;  // NULL: nothing is assumed, only noted
  bool open;                                 // a definition is read that asks for them
  bool more;  // something is wanted that was not when this was last set to false
} tvms_assumptions;

// A value that Python binds and that is not known.
#define TVMS_UNKNOWN_OF_PYTHON                                                         \
  ((tvms_eval_value){.kind = TVMS_EVAL_UNKNOWN, .flags = TVMS_EVAL_OF_PYTHON})

// The value as Python binds it: what is unknown of it is Python's.
tvms_eval_value tvms_eval_assume_of_python(tvms_reader *reader, tvms_eval_value value);

// The value of a name of Python's, if it is unknown or a sequence with unknown items: with
// assumptions what it is assumed to be.
tvms_eval_value tvms_eval_assume_name(tvms_reader *reader, const tvms_binding *binding,
                                      tvms_eval_value value);

// The value of the attribute or item at `ref` of an unknown object, or of an imported name.
tvms_eval_value tvms_eval_assume_part(tvms_reader *reader, tvms_eval_value object,
                                      tvms_ref ref);

// What a function of Python that gives a number for a number, at `ref`, has for an assumed one: as
// assumed a number, a real one or an integer. Unknown if nothing is assumed.
tvms_eval_value tvms_eval_assume_result(tvms_reader *reader, tvms_ref ref, bool real);

// Says what a value must be, if it is unknown.
void tvms_eval_assume_wanted(tvms_reader *reader, tvms_eval_value value,
                             tvms_wanted wanted);

// Says that a value is compared with a text, or an operand next to one: a data type, most likely.
void tvms_eval_assume_compared(tvms_reader *reader, tvms_eval_value value);

// What Python's operator at `ref` gives for two integers, if one of them is assumed and neither is
// built on anything else: an integer for `**`, and a real number for `/`, neither of which TVM
// has. Else unknown.
tvms_eval_value tvms_eval_assume_operator(tvms_reader *reader, tvms_surf_op op,
                                          tvms_eval_value left, tvms_eval_value right,
                                          tvms_ref ref);

// True if a variable that stands for an assumed integer is in the value.
bool tvms_eval_assume_is_in(tvms_reader *reader, tvms_eval_value value);

#endif
