// Applying fix-its to a text.
#ifndef TVMS_CLI_EDIT_H
#define TVMS_CLI_EDIT_H

#include "cli/run.h"

// Appends the text of the source with every safe fix of the findings applied. Fixes of
// one finding go together; a finding whose fixes overlap those of an earlier one waits.
// Returns how many findings were mended.
uint32_t tvms_apply_fixes(tvms_run *run, const tvms_source *source, tvms_strbuf *out);

#endif
