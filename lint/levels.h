// Which lint rules are asked for, and how bad findings are.
#ifndef TVMS_LINT_LEVELS_H
#define TVMS_LINT_LEVELS_H

#include "support/diag.h"
#include "support/strbuf.h"

// What becomes of each diagnostic: a tvms_diag_level for each row of diag.def. A lint that is
// off is not looked for.
typedef struct {
  uint8_t *of;  // by tvms_diag_id
} tvms_lint_levels;

// The levels by default; `of` is a block of `memory`.
tvms_lint_levels tvms_lint_levels_new(tvms_memory *memory);

// No lint is on.
void tvms_lint_levels_clear(tvms_lint_levels *levels);

// `words` are rules separated by commas: a code (W1110, 1110), the begin of one (W11), a
// name (private_never_called), DEFAULT or ALL. The lints among them are on from here.
// Returns false if a word is none of that, or means errors only: it is put into `wrong`.
TVMS_NODISCARD bool tvms_lint_levels_select(tvms_lint_levels *levels, const char *words,
                                            tvms_strbuf *wrong);

// Likewise, for findings that are to be left out; those of errors stay.
TVMS_NODISCARD bool tvms_lint_levels_ignore(tvms_lint_levels *levels, const char *words,
                                            tvms_strbuf *wrong);

// `setting` is WORDS=error, WORDS=warning or WORDS=note. What is off stays off.
TVMS_NODISCARD bool tvms_lint_levels_set(tvms_lint_levels *levels, const char *setting,
                                         tvms_strbuf *wrong);

#endif
