// The text of one input and where its lines begin.
#ifndef TVMS_SUPPORT_SOURCE_H
#define TVMS_SUPPORT_SOURCE_H

#include "support/memory.h"

struct tvms_source {
  const tvms_memory *memory;  // that it was made in
  const char *name;           // as the user wrote it; "<stdin>" for "-"
  const char *text;           // `size` bytes and at least 16 NULs after them
  uint32_t size;
  // Start of each line, made on first use by tvms_source_place.
  uint32_t *lines;
  uint32_t line_count;
  // The last place that was asked for, so that going through a long line place by place
  // takes time in proportion to its length.
  uint32_t seen_line;  // index of `lines`; valid if seen_column is not 0
  uint32_t seen_offset;
  uint32_t seen_column;
};

// Copies `size` bytes, pads them and returns a source owned by `memory`.
// Texts of 2 GiB and more unwind with TVMS_OVER_LIMIT.
tvms_source *tvms_source_create(tvms_memory *memory, const char *name, const char *text,
                                size_t size);

// Frees a source of `memory` that nothing refers to any more. One that is not destroyed goes
// with the memory.
void tvms_source_destroy(tvms_memory *memory, tvms_source *source);

// Reads a file, or standard input for "-". Returns NULL and sets errno on failure.
tvms_source *TVMS_NULLABLE tvms_source_read(tvms_memory *memory, const char *path);

// Line and column of an offset; one behind the text counts as its end. Takes memory for the
// lines on first use.
tvms_place tvms_source_place(tvms_memory *memory, tvms_source *source, uint32_t offset);

// Bytes between the begin of its line and an offset.
uint32_t tvms_source_indent(const tvms_source *source, uint32_t offset);

// True if the name is one of a Python file.
bool tvms_source_is_python(const tvms_source *source);

// The text of 1-based line `line` without its line end.
tvms_span tvms_source_line(tvms_memory *memory, tvms_source *source, uint32_t line);

#endif
