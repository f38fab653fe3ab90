// What the head comment of each pass says, for its page in the manual.
#ifndef TVMS_PASSES_PAGES_H
#define TVMS_PASSES_PAGES_H

#include "passes/manager.h"

// The head of one pass, taken apart by tools/gen_passes.py.
typedef struct {
  const char *name;         // of the pass
  const char *what;         // what it does: a sentence in lower case
  const char *example;      // lines: before and after
  const char *more;         // paragraphs with empty lines between them
  const char *counterpart;  // "TVM: relax.transform.FuseOps."
} tvms_pass_page;

// Of every row of passes.def, in its order.
extern const tvms_pass_page tvms_pass_pages[];

// The page of a pass. Static.
const tvms_pass_page *tvms_pass_page_of(const tvms_pass *pass);

#endif
