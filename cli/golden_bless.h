// Golden files that are written anew.
#ifndef TVMS_CLI_GOLDEN_BLESS_H
#define TVMS_CLI_GOLDEN_BLESS_H

#include "cli/golden.h"

// Puts `text` in the place of a golden file, unless it is the same, and appends what changes to
// `said`, as a diff. With --interactive shows it and asks first; the run notes when the answer
// is to stop. False if it is not written: refused, or impossible.
bool tvms_golden_bless(tvms_run *run, const tvms_source *source,
                       const tvms_strbuf *text, tvms_strbuf *said);

#endif
