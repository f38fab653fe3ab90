// Reading the text of a pipeline: 'LegalizeOps,call-tir-rewrite{key=value},zero'.
#ifndef TVMS_PASSES_PIPELINE_H
#define TVMS_PASSES_PIPELINE_H

#include "passes/manager.h"
#include "support/strbuf.h"

// Parses 'LegalizeOps,call-tir-rewrite{key=value,key=value}'. Reports everything that is
// wrong, in a source called `name`, and then returns false. The result lives in the context, at most until
// tvms_pipeline_fini, which may be called in both cases.
TVMS_NODISCARD bool tvms_pipeline_parse(tvms_context *context, const char *name,
                                        const char *text, tvms_pipeline *pipeline);

// The same of a file: new lines separate passes as commas do, '#' begins a comment. The source,
// which findings are located in, belongs to the pipeline from here on.
TVMS_NODISCARD bool tvms_pipeline_parse_file(tvms_context *context, tvms_source *source,
                                             tvms_pipeline *pipeline);

// Appends a step as the text of a pipeline in one line: LegalizeOps{skip_ops=relax.add}.
void tvms_pipeline_write_step(const tvms_pass_step *step, tvms_strbuf *out);

// Frees a pipeline; its source stays as long as a diagnostic of the context refers to it.
void tvms_pipeline_fini(tvms_context *context, tvms_pipeline *pipeline);

#endif
