// Text: programs in canonical form, source text in one layout or of another release.
//
// Each function writes a new text: `*text` is owned by the caller, who may free it by
// tvms_context_free; it is followed by a NUL that `*size` does not count; NULL for any
// status but TVMS_OK. context.h has the rule for threads.
#ifndef TVMS_TEXT_H
#define TVMS_TEXT_H

#include <tvms/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  size_t size;          // sizeof(tvms_program_print_options)
  const char *release;  // to write (tvms_release_name); NULL: as read
  bool no_metadata;     // leave tensor constants out, as TVM's script() does
} tvms_program_print_options;

// Writes the canonical text of a program, byte for byte what TVM's own printer writes.
// TVMS_FOUND_ERRORS: the release cannot say it, which was reported. TVMS_BAD_ARGUMENT: there
// is no such release, it is read and never written, or the program was read with errors.
tvms_status tvms_program_print(tvms_program *program,
                               const tvms_program_print_options *options, char **text,
                               size_t *size);

// Writes the text of a source in one layout; comments, meaning and release stay. Of a Python
// file only what is TVMScript is laid out. TVMS_FOUND_ERRORS: it cannot be read.
// TVMS_INTERNAL: formatting would have changed its meaning.
tvms_status tvms_source_format(tvms_context *context, tvms_source *source, char **text,
                               size_t *size);

typedef struct {
  size_t size;       // sizeof(tvms_source_migrate_options)
  const char *from;  // read as this release; NULL: as the text shows
  const char *to;    // write as this release; NULL: the newest
} tvms_source_migrate_options;

// Writes the text of a source as another release has it. Only what differs is changed, and
// comments stay; what cannot be said that way is written anew in canonical form. The result
// is proved to mean the same. TVMS_FOUND_ERRORS: the source is wrong, or the release has no
// words for it. TVMS_BAD_ARGUMENT: no such release, or one that is never written.
tvms_status tvms_source_migrate(tvms_context *context, tvms_source *source,
                                const tvms_source_migrate_options *options, char **text,
                                size_t *size);

#ifdef __cplusplus
}
#endif

#endif
