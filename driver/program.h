// From a source to a verified program, and the text of nodes in messages.
#ifndef TVMS_DRIVER_PROGRAM_H
#define TVMS_DRIVER_PROGRAM_H

#include "ir/module.h"

// What was read, of all files that were loaded with it.
typedef struct {
  uint32_t definitions;  // functions with a body, alone and in modules
  uint32_t in_part;      // of them: built on what only Python knows
  uint32_t general;      // of them: read whole for any value of what only Python knows
  uint32_t assumed;      // of them: read whole with assumptions of it
} tvms_load_counts;

typedef struct {
  tvms_dialect from;     // read as this release; NONE: as the text shows
  tvms_dialect dialect;  // read as this release unless the text excludes it; NONE
  bool unverified;       // only read it
  bool as_written;       // read also what TVM writes and does not read itself
  bool omitted;          // … and names of a metadata section that is not there
  // Leave all definitions out but the last class or function of this name; NULL: take all.
  const char *TVMS_NULLABLE definition;
  bool lints;  // run the rules of lint/ on what is read; only of tvms_program_load_each
  bool strict;                             // what could not be read whole is an error
  tvms_load_counts *TVMS_NULLABLE counts;  // what is read is added; NULL: nobody asks
} tvms_load_options;

// Reads and verifies `source`. What is wrong is reported, and so is a `definition` that the
// source does not have; a caller that writes something
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
// itself reports do not count. `visit` may be NULL, for callers that only want diagnostics:
// then definitions of Python files that could not be read whole are notes, not warnings.
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
