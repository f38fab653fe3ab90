// What passes and pipelines there are, as text, and the page of each in the manual.
#ifndef TVMS_DRIVER_PASS_LIST_H
#define TVMS_DRIVER_PASS_LIST_H

#include "passes/manager.h"
#include "support/strbuf.h"

// Appends every pass with its releases and options, every pipeline, and how many passes of TVM
// are missing.
void tvms_optimize_list(tvms_strbuf *out);

// Appends the passes of TVM that tvms does not have, with the releases that have them.
void tvms_optimize_list_missing(tvms_strbuf *out);

// Appends a line about one of them.
void tvms_optimize_list_lack(tvms_strbuf *out, const tvms_missing_pass *pass);

// Appends a pipeline: what it stands for, and what it is.
void tvms_optimize_list_pipeline(tvms_strbuf *out, const tvms_pipeline_row *pipeline);

// Appends the page of one pass: what its head comment says, what it needs and its options.
void tvms_optimize_list_page(tvms_strbuf *out, const tvms_pass *pass);

// Appends the manual, in Markdown: the pages of all passes, the pipelines and what is missing.
void tvms_optimize_manual(tvms_strbuf *out);

#endif
