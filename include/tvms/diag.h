// Diagnostics: what is wrong with a text, where, with evidence and with what would mend it.
//
// Functions that read or change something report to the context and go on where they can,
// so one call reports everything. Diagnostics belong to the context (context.h has the rule
// for threads) and live as long, also after tvms_diag_clear. Texts of the functions below
// belong to the diagnostic.
#ifndef TVMS_DIAG_H
#define TVMS_DIAG_H

#include <tvms/source.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  TVMS_SEVERITY_ERROR,
  TVMS_SEVERITY_WARNING,
  TVMS_SEVERITY_NOTE,
} tvms_severity;

typedef struct tvms_diag tvms_diag;
typedef struct tvms_note tvms_note;
typedef struct tvms_fix tvms_fix;

// The first diagnostic of a context, or NULL: those of earlier calls come first, those of
// one call in the order of the text. Any call that returns a status may add some at the end.
const tvms_diag *tvms_diag_first(const tvms_context *context);

// The next one, or NULL.
const tvms_diag *tvms_diag_next(const tvms_diag *diag);

// How many of them are errors or warnings; 0 for notes.
uint32_t tvms_diag_count(const tvms_context *context, tvms_severity severity);

// Takes all diagnostics off the list.
void tvms_diag_clear(tvms_context *context);

// "E0201": the letter of the severity and a number. It does not change between versions.
const char *tvms_diag_code(const tvms_diag *diag);

// "undefined_name", the code as a word.
const char *tvms_diag_name(const tvms_diag *diag);

// How bad it is.
tvms_severity tvms_diag_severity(const tvms_diag *diag);

// What is wrong, in one line.
const char *tvms_diag_message(const tvms_diag *diag);

// The text that is wrong. A pipeline of passes is a source, too.
tvms_source *tvms_diag_source(const tvms_diag *diag);

// The guilty token in its source.
tvms_span tvms_diag_span(const tvms_diag *diag);

// The first piece of evidence, or NULL.
const tvms_note *tvms_diag_notes(const tvms_diag *diag);

// The next one, or NULL.
const tvms_note *tvms_note_next(const tvms_note *note);

// What it says, in one line.
const char *tvms_note_message(const tvms_note *note);

// False if it is a remark without a place; else its place in tvms_note_source.
bool tvms_note_span(const tvms_note *note, tvms_span *span);

// The source of its place. NULL: that of the diagnostic.
tvms_source *tvms_note_source(const tvms_note *note);

// The first of the replacements that together mend the diagnostic, or NULL.
const tvms_fix *tvms_diag_fixes(const tvms_diag *diag);

// The next one, or NULL.
const tvms_fix *tvms_fix_next(const tvms_fix *fix);

// The bytes to replace, in the diagnostic's source.
tvms_span tvms_fix_span(const tvms_fix *fix);

// The text to put there.
const char *tvms_fix_text(const tvms_fix *fix);

// True if it may be applied without asking: it says what the text must have meant.
bool tvms_fix_is_safe(const tvms_fix *fix);

typedef enum {
  TVMS_FORMAT_TEXT,    // for people: place, message, the line with the token underlined
  TVMS_FORMAT_JSON,    // one object: version, findings, errors, warnings
  TVMS_FORMAT_GITHUB,  // workflow commands, one line each
  TVMS_FORMAT_SARIF,   // SARIF 2.1.0
  TVMS_FORMAT_CONCISE,     // a line each: place and message
  TVMS_FORMAT_JSON_LINES,  // an object on a line each
  TVMS_FORMAT_GITLAB,      // array of GitLab's Code Quality
  TVMS_FORMAT_JUNIT,       // JUnit XML: a test case
} tvms_diag_format;

typedef struct {
  size_t size;  // sizeof(tvms_diag_render_options)
  tvms_diag_format format;
  bool color;        // of text: escape sequences of terminals
  bool errors_only;  // leave warnings and notes out
} tvms_diag_render_options;

// Writes the diagnostics of the context. `*text` is owned by the caller, who may free it by
// tvms_context_free; it is followed by a NUL that `*size` does not count. NULL on failure.
tvms_status tvms_diag_render(tvms_context *context,
                             const tvms_diag_render_options *options, char **text,
                             size_t *size);

// Writes the text of a source with the safe fixes of all its diagnostics applied; of those
// that overlap the first. `*mended` is how many diagnostics that mends: read the new text to
// see what is left. `*text` as of tvms_diag_render.
tvms_status tvms_diag_apply_fixes(tvms_context *context, tvms_source *source,
                                  char **text, size_t *size, uint32_t *mended);

// Writes what a code ("E0201") or the name of a diagnostic means, or what a name of the
// language ("T.grid") takes and which releases have it. TVMS_BAD_ARGUMENT: there is no such
// thing. `*text` as of tvms_diag_render.
tvms_status tvms_diag_explain(tvms_context *context, const char *word, char **text,
                              size_t *size);

#ifdef __cplusplus
}
#endif

#endif
