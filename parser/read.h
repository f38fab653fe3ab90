// Reading: text → IR.
#ifndef TVMS_PARSER_READ_H
#define TVMS_PARSER_READ_H

#include "ir/module.h"

typedef struct {
  tvms_dialect from;  // --from: read as this release; NONE: not given
  tvms_dialect
      dialect;  // --dialect: read as this release unless marks exclude it; NONE
  bool python;  // a .py file: names that Python binds around are unknown
} tvms_read_options;

// Reads a source: syntax, names, evaluation, elaboration. Everything that is wrong is
// reported in context->diags (whose source is set to `source`). The program lives in
// context->memory until tvms_program_destroy; a definition that could not be built has a
// member without function. `program->dialect` is the release it was read as. Never NULL.
tvms_program *tvms_read(tvms_context *context, tvms_source *source,
                        const tvms_read_options *options);

// Drops a program and its modules.
void tvms_program_destroy(tvms_program *program);

#endif
