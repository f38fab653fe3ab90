// From a source to a verified program, and the text of nodes in messages.
#ifndef TVMS_DRIVER_PROGRAM_H
#define TVMS_DRIVER_PROGRAM_H

#include "ir/module.h"

typedef struct {
  tvms_dialect from;     // read as this release; NONE: as the text shows
  tvms_dialect dialect;  // read as this release unless the text excludes it; NONE
  bool unverified;       // only read it
} tvms_load_options;

// Reads and verifies `source`. What is wrong is reported; a caller that writes something
// looks at context->diags.errors first. Never NULL; the program lives as long as the
// context. From here on messages of the context show nodes as they are printed.
tvms_program *tvms_program_load(tvms_context *context, tvms_source *source,
                                const tvms_load_options *options);

// Sees a module that was read and verified, and says whether it must be kept.
typedef bool tvms_module_visit(void *self, tvms_module *module);

// The same, module by module: `visit` sees each one read and verified, in order, and says
// whether it must be kept; the others are dropped at once, so that a long file needs little
// more memory than its text. Once something is wrong, modules wait, because errors in
// functions of Python may be retracted; they are not shown if it stays. Errors that `visit`
// itself reports do not count. `visit` may be NULL, for callers that only want diagnostics.
// Returns the release that was read.
tvms_dialect tvms_program_load_each(tvms_context *context, tvms_source *source,
                                    const tvms_load_options *options,
                                    tvms_module_visit *TVMS_NULLABLE visit,
                                    void *TVMS_NULLABLE self);

// Reports what is ill-formed in a module: what TVM verifies after reading and after passes.
void tvms_module_verify(tvms_module *module);

// The release to write: the one that was asked for, or else the one that was read, or the
// next one if that is never written.
tvms_dialect tvms_dialect_to_write(tvms_dialect asked, tvms_dialect read);

#endif
