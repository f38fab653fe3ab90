// The tables of passes, their options and named pipelines, and how names are spelled.
#ifndef TVMS_PASSES_TABLES_H
#define TVMS_PASSES_TABLES_H

#include "passes/manager.h"

// All rows in the order of the tables; *count gets their number.
const tvms_pass *tvms_pass_rows(uint32_t *count);

// The rows OPTION, each behind its pass; `*count` gets their number. Static.
const tvms_pass_option *tvms_pass_option_rows(uint32_t *count);

// What an option takes, in a word: "integer". Static.
const char *tvms_pass_option_word(tvms_option_type type);

// Room for what a choice wants.
enum { TVMS_WANTS_SIZE = 96 };

// What the value of an option must be: "an integer"; of a choice "a, b or c". Static, or in `text`.
const char *tvms_pass_option_wants(const tvms_pass_option *option,
                                   char text[TVMS_WANTS_SIZE]);

// The rows of passes/pipelines.def; `*count` gets their number. Static.
const tvms_pipeline_row *tvms_pipeline_rows(uint32_t *count);

// The rows of passes/missing.def; `*count` gets their number. Static.
const tvms_missing_pass *tvms_pass_missing_rows(uint32_t *count);

// Writes which releases have a pass: "all releases", "since 0.25", "up to 0.24", "0.24 to
// 0.25".
void tvms_pass_releases(tvms_dialect since, tvms_dialect until,
                        char text[TVMS_RELEASES_SIZE]);

// Writes the kebab spelling of a pass name, "call-tir-rewrite" of CallTIRRewrite, cut
// to fit.
void tvms_pass_kebab(const char *name, char kebab[TVMS_KEBAB_SIZE]);

// The pass with this name in either spelling, or NULL.
const tvms_pass *TVMS_NULLABLE tvms_pass_find(const char *name, size_t len);

// The pass of TVM that tvms lacks with this name in either spelling, or NULL.
const tvms_missing_pass *TVMS_NULLABLE tvms_pass_find_missing(const char *name,
                                                              size_t len);

// The pipeline with this name, or NULL.
const tvms_pipeline_row *TVMS_NULLABLE tvms_pass_find_pipeline(const char *name,
                                                               size_t len);

#endif
