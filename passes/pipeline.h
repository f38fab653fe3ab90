// Reading the text of a pipeline: 'LegalizeOps,call-tir-rewrite{key=value},zero'.
#ifndef TVMS_PASSES_PIPELINE_H
#define TVMS_PASSES_PIPELINE_H

#include "passes/manager.h"

// Parses 'LegalizeOps,call-tir-rewrite{key=value,key=value}'. Reports everything that is
// wrong and then returns false. The result lives in the context.
TVMS_NODISCARD bool tvms_pipeline_parse(tvms_context *context, const char *text,
                                        tvms_pipeline *pipeline);

#endif
