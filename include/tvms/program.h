// Programs: what a text defines, read and verified.
//
// A program belongs to its context (context.h has the rule for threads).
#ifndef TVMS_PROGRAM_H
#define TVMS_PROGRAM_H

#include <tvms/diag.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tvms_program tvms_program;

typedef struct {
  size_t size;       // sizeof(tvms_program_read_options)
  const char *from;  // read as this release; NULL: as the text shows, else the newest
  const char *release;  // read as this release unless the text excludes it; NULL
  bool unverified;      // leave out what TVM verifies after reading
} tvms_program_read_options;

// Reads a source: syntax, names, types, and verifies it. Nothing in it is executed.
// TVMS_FOUND_ERRORS: diagnostics say what is wrong; there is a program all the same, with
// what could be built, to look things up in, but functions that write or run it refuse it.
// TVMS_BAD_ARGUMENT: no such release. `*program` belongs to the context until it is
// destroyed; NULL for any status beyond TVMS_FOUND_ERRORS.
tvms_status tvms_program_read(tvms_context *context, tvms_source *source,
                              const tvms_program_read_options *options,
                              tvms_program **program);

// Frees a program before its context is destroyed. NULL is allowed. Does nothing if a call is in
// progress that shows the program to a function of the host (tvms_program_infer,
// tvms_program_transform).
void tvms_program_destroy(tvms_program *program);

// Verifies a program, as after reading: what is wrong is reported, TVMS_FOUND_ERRORS.
tvms_status tvms_program_verify(tvms_program *program);

// The release that it was read as: "0.27". Static.
const char *tvms_program_release(const tvms_program *program);

// The source that it was read from.
tvms_source *tvms_program_source(const tvms_program *program);

typedef enum {
  TVMS_DEFINITION_FUNCTION,   // of Relax
  TVMS_DEFINITION_PRIM_FUNC,  // of TIR
  TVMS_DEFINITION_EXTERN,     // a function that is defined elsewhere, or in Python
  TVMS_DEFINITION_BROKEN,     // could not be built, which was reported
} tvms_definition_kind;

typedef struct {
  size_t size;         // sizeof(tvms_definition), set by the caller
  const char *name;    // valid as long as the context
  const char *module;  // of the class that it stands in; "" for none
  tvms_definition_kind kind;
  tvms_span name_span;  // in the source; {0, 0} if a pass made it
  tvms_span span;       // of the whole definition; {0, 0} if it is not known
} tvms_definition;

// Number of definitions, in the order of the text. Passes add and remove some.
uint32_t tvms_program_count(const tvms_program *program);

// Fills `definition` in; false if there is no such index.
bool tvms_program_definition(const tvms_program *program, uint32_t index,
                             tvms_definition *definition);

// The index of a definition by its name, "main" or "Module.main", or -1. Of several with
// one name the last is meant, as in Python.
int64_t tvms_program_find(const tvms_program *program, const char *name);

// Writes the structural differences of two programs of one context, with their places, as
// text: functions correspond by name, modules by order; names of variables, comments and
// layout make no difference. `*count` is how many there are. Nodes are written in the words
// of `release`; NULL: that of `right`. TVMS_BAD_ARGUMENT: no such release, programs of two
// contexts, or one that was read with errors. `*text` is owned by the caller, who may free
// it by tvms_context_free; it is followed by a NUL that `*size` does not count.
tvms_status tvms_program_diff(tvms_program *left, tvms_program *right,
                              const char *release, char **text, size_t *size,
                              uint32_t *count);

#ifdef __cplusplus
}
#endif

#endif
