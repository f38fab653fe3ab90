// What `tvms explain` shows of words.
#ifndef TVMS_CLI_EXPLAIN_H
#define TVMS_CLI_EXPLAIN_H

#include "cli/run.h"

// Appends what is known of each argument of the run to `text` and shows all of it, with what
// the text had before. TVMS_FAILED_IO if an argument is unknown, which was said.
tvms_status tvms_run_explain(tvms_run *run, tvms_strbuf *text);

#endif
