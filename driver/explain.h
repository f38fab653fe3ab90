// What a diagnostic means, what a pass does, what a name of TVMScript takes and which releases
// have it.
#ifndef TVMS_DRIVER_EXPLAIN_H
#define TVMS_DRIVER_EXPLAIN_H

#include "support/strbuf.h"

// Appends what is known of `word`: a code (E0201, 0201 or 201), the name of a diagnostic
// (undefined_name), a pass (FuseOps), a pipeline (lower-blocks), or a name of the language (T.grid).
// Returns false if there is nothing; `near` then gets the nearest name of the last three, if one is near.
TVMS_NODISCARD bool tvms_explain(tvms_memory *memory, const char *word,
                                 tvms_strbuf *out, tvms_strbuf *near);

#endif
