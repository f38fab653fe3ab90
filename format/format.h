// The formatter: source text in one layout, with its comments and its meaning kept.
//
// It works on the surface tree, so it needs no names to be known and changes no spelling:
// the dialect stays. Layout is black's: 88 columns, four spaces, double quotes, trailing
// commas that keep a list open, `# fmt: off`, `# fmt: on`, `# fmt: skip`
// (docs/formatting.md has the rules).
#ifndef TVMS_FORMAT_FORMAT_H
#define TVMS_FORMAT_FORMAT_H

#include "grammar/surface.h"
#include "support/strbuf.h"

typedef enum {
  TVMS_FORMAT_DOUBLE,  // unless that needs more escapes
  TVMS_FORMAT_SINGLE,  // likewise; docstrings in double quotes
  TVMS_FORMAT_PRESERVE,
} tvms_format_quotes;

typedef struct {
  uint32_t width;  // columns of a line; 0: 88
  tvms_format_quotes quotes;
  bool joins;  // a trailing comma does not keep a bracket open
} tvms_format_options;

// A definition in lines that it shares with nothing but a comment behind it.
typedef struct {
  tvms_ref statement;
  tvms_span lines;  // from their indentation on, without the last line end
  uint32_t indent;  // columns, all of them blanks
} tvms_format_definition;

// Appends the formatted text of a surface that was parsed without errors. Call it inside
// tvms_memory_protect_deep.
void tvms_format(const tvms_surface *surface, tvms_format_options options,
                 tvms_strbuf *out);

#endif
