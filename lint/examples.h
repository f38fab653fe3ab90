// A program that a rule finds a fault in, and one that is right; made of golden files by
// tools/gen_examples.py.
#ifndef TVMS_LINT_EXAMPLES_H
#define TVMS_LINT_EXAMPLES_H

#include "support/base.h"

// Lines with their ends; NULL follows the last one.
typedef struct {
  const char *const *wrong;
  const char *const *right;
} tvms_lint_example;

// The examples of row `index` of rules.def.
const tvms_lint_example *tvms_lint_example_at(uint32_t index);

#endif
