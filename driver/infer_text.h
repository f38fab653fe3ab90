// Facts as lines of text and as JSON.
#ifndef TVMS_DRIVER_INFER_TEXT_H
#define TVMS_DRIVER_INFER_TEXT_H

#include "ir/module.h"
#include "support/json.h"
#include "support/vec.h"

#include <tvms/types.h>

// A visit whose `self` is a tvms_infer_text: a line per fact, indented as the program nests.
// Once there are functions of more than one definition, those of classes with a name of their
// own have it in front; TVM calls every class Module.
// A function of the first definition gets it later, if there is a second one.
typedef struct {
  tvms_strbuf *out;
  const char *TVMS_NULLABLE owner;  // the class that is being shown
  bool begun;                       // a function of it was shown
  uint32_t definitions;             // of which a function was shown
  const char *TVMS_NULLABLE first_owner;
  TVMS_VEC(size_t) first_names;  // of the first definition: where they stand in `out`
} tvms_infer_text;
tvms_fact_visit tvms_infer_write_text;

// What comes is of another module.
void tvms_infer_text_begin(tvms_infer_text *text, const tvms_module *module);

// A visit whose `self` is a tvms_infer_json: functions as members of the innermost array.
typedef struct {
  const char *TVMS_NULLABLE module;  // the class that is being shown
  tvms_json *json;
  tvms_source *source;  // that places refer to
  tvms_memory *memory;
  TVMS_VEC(uint8_t)
  open;  // what has begun and not ended: a section of a function, or else
} tvms_infer_json;
tvms_fact_visit tvms_infer_write_json;

#endif
