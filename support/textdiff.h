// Differences of two texts by lines, as a unified diff.
#ifndef TVMS_SUPPORT_TEXTDIFF_H
#define TVMS_SUPPORT_TEXTDIFF_H

#include "support/strbuf.h"

typedef struct {
  const char *name;  // after "---" or "+++"
  const char *text;
  size_t len;
} tvms_version;

// Appends the unified diff with three lines of context; nothing if the texts are equal.
// Texts that differ in very many lines are shown as replaced as a whole, in linear time.
void tvms_textdiff(tvms_strbuf *out, tvms_version before, tvms_version after,
                   bool color);

// Appends `before` with those of the changes that make it `after` that touch the lines `first`
// to `last` of it, from 1 on.
void tvms_textdiff_take(tvms_strbuf *out, tvms_version before, tvms_version after,
                        uint32_t first, uint32_t last);

#endif
