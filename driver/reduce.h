// A program that fails, made smaller as long as it fails.
//
// Edits are tried on the canonical text, by its surface tree: statements and whole functions go,
// in large groups first; loops and other compound statements leave their body behind; a binding
// goes and its uses become one of its operands; an expression becomes one of its parts or a
// constant; arguments, items and attributes go; a number becomes smaller wherever it stands, so
// that shapes keep fitting. Each candidate is read and verified, and printed, before anything
// else sees it.
#ifndef TVMS_DRIVER_REDUCE_H
#define TVMS_DRIVER_REDUCE_H

#include "driver/program.h"
#include "support/strbuf.h"

typedef struct {
  tvms_load_options load;  // how candidates are read
  tvms_dialect dialect;    // and printed
  uint64_t max_runs;       // most calls of `fails`
  uint64_t seconds;        // longest time of all
  // Whether a text, which is sound, fails as the first one does. *stop ends the work.
  bool (*fails)(void *self, const tvms_strbuf *text, bool *stop);
  void *self;
} tvms_reduce_options;

typedef struct {
  uint64_t tried;  // candidates that were read
  uint64_t runs;   // of `fails`
  bool finished;   // nothing more can be done; else a limit ended it
} tvms_reduce_result;

// Replaces `text`, a canonical text that fails, by the smallest one that was found.
void tvms_reduce_program(tvms_strbuf *text, const tvms_reduce_options *options,
                         tvms_reduce_result *result);

#endif
