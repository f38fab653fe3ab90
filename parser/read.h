// Reading: text → IR.
#ifndef TVMS_PARSER_READ_H
#define TVMS_PARSER_READ_H

#include "grammar/surface.h"
#include "ir/module.h"

typedef struct {
  tvms_dialect from;  // --from: read as this release; NONE: not given
  tvms_dialect
      dialect;      // --dialect: read as this release unless marks exclude it; NONE
  bool as_written;  // also what TVM writes and does not read itself
  bool omitted;     // … and names of a metadata section that is not there
  bool python;      // a .py file: names that Python binds around are unknown
  bool assumes;  // … and what uses say of them is assumed, to read definitions whole
  // Sees each module as soon as it is complete, and says whether it is still needed: one
  // that is not is destroyed, so that its memory serves the next one. NULL: keep all.
  bool (*TVMS_NULLABLE visit)(void *self, tvms_module *module);
  // See the surface tree: once it is there, and when all modules were shown. NULL: nobody.
  void (*TVMS_NULLABLE begin)(void *self, const tvms_surface *surface);
  void (*TVMS_NULLABLE end)(void *self);
  void *TVMS_NULLABLE self;  // of `visit`, `begin` and `end`
} tvms_read_options;

// Reads a source: syntax, names, evaluation, elaboration. Everything that is wrong is
// reported in context->diags (whose source is set to `source`). The program lives in
// context->memory until tvms_reader_program_destroy; a definition that could not be built has a
// member without function. `program->dialect` is the release it was read as. Never NULL.
tvms_program *tvms_reader_read(tvms_context *context, tvms_source *source,
                               const tvms_read_options *options);

// Drops a program and its modules.
void tvms_reader_program_destroy(tvms_program *program);

#endif
