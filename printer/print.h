// Canonical text: a module as TVM's own printer writes it, in any dialect that is written.
#ifndef TVMS_PRINTER_PRINT_H
#define TVMS_PRINTER_PRINT_H

#include "ir/module.h"
#include "support/strbuf.h"

// A comment of the source, to be written beside what it says something about.
typedef struct {
  const char *text;  // from the '#' on; not ended by NUL
  uint32_t len;
  uint32_t anchor;  // where the statement begins in the source that it belongs to
  bool own_line;    // it stands above the statement, else behind it
} tvms_print_comment;

typedef struct {
  tvms_dialect dialect;  // 0.22, 0.25, 0.26 or 0.27: the release whose text is written
  bool unchecked;    // write check_well_formed=False, which TVM's script() leaves out
  bool no_metadata;  // leave tensor constants out, as TVM's script() does
  const tvms_print_comment *TVMS_NULLABLE comments;  // by anchor; borrowed
  uint32_t comment_count;
} tvms_print_options;

// Appends the text of all modules of a program to `out`, ended by one newline (nothing for
// an empty program). What the dialect cannot say is reported as an error at its place;
// the text is then incomplete and must not be shown. Depth is limited as everywhere.
// `out` lives in the memory of the program's context.
void tvms_print_program(const tvms_program *program, const tvms_print_options *options,
                        tvms_strbuf *out);

// The same module by module, for who does not want to hold all of them: open, a call of
// tvms_print_next for each, close, which adds header and metadata. `out` may be looked at
// after that only.
typedef struct tvms_printer tvms_printer;

// Opens a printer that appends to `out`, which must not be looked at before
// tvms_print_close. It belongs to context->memory.
tvms_printer *tvms_print_open(tvms_context *context, const tvms_print_options *options,
                              tvms_strbuf *out);
// Writes a module, behind an empty line if others stand in front of it. One that has members
// but no function, because they could not be read, is left out.
// Returns true if the module must live until tvms_print_close, which writes its constants.
bool tvms_print_next(tvms_printer *printer, const tvms_module *module);

// Writes header and metadata, and frees the printer.
void tvms_print_close(tvms_printer *printer);

// Writes nodes one after the other; tvms_print_close ends it. As tvms_print_node, at less
// cost for many of them.
tvms_printer *tvms_print_nodes(tvms_context *context, tvms_dialect dialect);

// Appends one node as tvms_print_node does.
void tvms_print_one(tvms_printer *printer, const tvms_unit *TVMS_NULLABLE unit,
                    const tvms_node *node, tvms_strbuf *out);

// Appends the text of one node as it stands in a program of `dialect`, without header,
// metadata and definitions of the names that it uses: for messages and queries. `unit`
// owns the node; it may be NULL for StructInfo and attribute values of the context. A
// statement ends without a newline. Reports nothing.
void tvms_print_node(tvms_context *context, const tvms_unit *TVMS_NULLABLE unit,
                     const tvms_node *node, tvms_dialect dialect, tvms_strbuf *out);

#endif
