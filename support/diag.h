// Diagnostics: what is wrong with the user's text, where, and what would mend it.
//
// Work goes on after a diagnostic; the list is rendered at the end, in order of place.
// After an error node or an unknown value no second error is reported: the reporter checks
// that before it calls tvms_diag_report.
#ifndef TVMS_SUPPORT_DIAG_H
#define TVMS_SUPPORT_DIAG_H

#include "support/arena.h"
#include "support/source.h"

#include <tvms/diag.h>

#include <stdarg.h>

// A row of diag.def by its number, which support/diag_ids.h names. They are apart so that a new
// row has those files built again that report, not all that hold a list of findings.
typedef uint16_t tvms_diag_id;

// The end of a word that `count` stands in front of: "1 item", "2 items".
static inline const char *tvms_diag_plural(uint64_t count) {
  return count == 1 ? "" : "s";
}

// A row of diag.def.
typedef struct {
  const char *name;
  const char *label;  // "E0123"
  uint16_t code;
  tvms_severity severity;
  const char *format;
  const char *explanation;
} tvms_diag_row;

// What becomes of the findings of a row: what the table says, another severity, or nothing.
typedef enum {
  TVMS_LEVEL_DEFAULT,
  TVMS_LEVEL_ERROR,
  TVMS_LEVEL_WARNING,
  TVMS_LEVEL_NOTE,
  TVMS_LEVEL_OFF,
} tvms_diag_level;

// Evidence for a diagnostic, or if it is not placed a remark.
struct tvms_note {
  tvms_note *next;
  bool placed;
  tvms_source *TVMS_NULLABLE source;  // of `span`; NULL: the diagnostic's
  tvms_span span;
  const char *text;
};

// Replaces the bytes of `span` by `text`. Safe ones may be applied by `check --fix`.
struct tvms_fix {
  tvms_fix *next;
  tvms_span span;
  const char *text;
  bool safe;
};

struct tvms_diag {
  tvms_diag *next;
  tvms_diag_id id;
  tvms_severity severity;  // the row's, unless levels say otherwise
  tvms_source *source;
  tvms_span span;  // the guilty token
  const char *text;
  tvms_note *notes;                  // in order of evidence
  tvms_fix *fixes;                   // all together mend this diagnostic
  const char *TVMS_NULLABLE origin;  // of a remark: the pass that makes it
  const char *TVMS_NULLABLE kind;    // of a remark: "passed", "missed" or "analysis"
};

typedef struct {
  tvms_arena *arena;
  tvms_source *TVMS_NULLABLE source;  // the text being read
  tvms_diag *first;
  tvms_diag *last;
  uint32_t errors;
  uint32_t warnings;
  uint32_t compared;  // names, to find near ones; see tvms_diags_may_compare_names
  uint32_t muted;     // > 0: reports are dropped; see support/trial.h
  uint32_t furthest;  // no error begins behind it, of whatever source
  // A tvms_diag_level for each row, which outlives the list; NULL: all as the table says.
  const uint8_t *TVMS_NULLABLE levels;
} tvms_diags;

// Whether findings of row `id` are dropped because nobody asked for them.
static inline bool tvms_diags_are_off(const tvms_diags *diags, tvms_diag_id id) {
  return diags->levels && diags->levels[id] == TVMS_LEVEL_OFF;
}

// An empty list whose findings live in `arena`.
void tvms_diags_init(tvms_diags *diags, tvms_arena *arena);

// Reports row `id` at `span` of the current source, with the arguments that the row's
// format asks for. Returns the diagnostic so that notes and fixes can be added; while
// muted, and of a row that is off, a throw-away one without a text. Never NULL.
tvms_diag *tvms_diag_report(tvms_diags *diags, tvms_diag_id id, tvms_span span, ...);

// The same for functions that take such arguments themselves.
tvms_diag *tvms_diag_vreport(tvms_diags *diags, tvms_diag_id id, tvms_span span,
                             va_list arguments);

// Adds evidence at a place of the diagnostic's source; nothing while muted.
void tvms_diag_note(tvms_diags *diags, tvms_diag *diag, tvms_span span,
                    const char *format, ...) TVMS_PRINTF(4, 5);

// Adds a remark without a place; nothing while muted.
void tvms_diag_remark(tvms_diags *diags, tvms_diag *diag, const char *format, ...)
    TVMS_PRINTF(3, 4);

// Adds evidence at a place of another source; nothing while muted.
void tvms_diag_note_in(tvms_diags *diags, tvms_diag *diag, tvms_source *source,
                       tvms_span span, const char *format, ...) TVMS_PRINTF(5, 6);

// Adds a replacement that may be applied without asking when `safe`; nothing while muted.
void tvms_diag_fix(tvms_diags *diags, tvms_diag *diag, tvms_span span, bool safe,
                   const char *format, ...) TVMS_PRINTF(5, 6);

// The row of a diagnostic.
const tvms_diag_row *tvms_diag_row_of(tvms_diag_id id);

// The number of rows.
uint32_t tvms_diag_row_count(void);

// Sorts by source and place, keeping the order of reports at one place.
void tvms_diags_sort(tvms_diags *diags);

// Whether a name may still be compared with `count` others of the user's: so many unknown
// names among so many known ones that it would take long need no suggestions.
bool tvms_diags_may_compare_names(tvms_diags *diags, uint32_t count);

// Drops findings of the text being read that begin in none of `spans`, which are in order of
// place and disjoint. What was found in another text (a pipeline) stays.
void tvms_diags_keep_in(tvms_diags *diags, const tvms_span *spans, uint32_t count);

// Drops the findings that `keeps` does not want.
void tvms_diags_keep_if(tvms_diags *diags,
                        bool (*keeps)(void *self, const tvms_diag *diag), void *self);

// Drops the findings of row `id` that lie in `span` of the current source.
void tvms_diags_forget(tvms_diags *diags, tvms_diag_id id, tvms_span span);

// The candidate that differs from `name` by cases, doubled letters or the order of two words only, else
// the only one that begins with a name of some length, else the nearest one by edit distance, or NULL if none is near enough to help (more than a third of its letters
// differ). For "did you mean".
const char *TVMS_NULLABLE tvms_diag_nearest_name(const char *name,
                                                 const char *const *candidates,
                                                 uint32_t count);

#endif
