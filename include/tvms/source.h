// Sources: texts with a name, and places in them.
//
// A source belongs to its context (context.h has the rule for threads) and lives as long.
// Offsets count bytes from the begin of the text.
#ifndef TVMS_SOURCE_H
#define TVMS_SOURCE_H

#include <tvms/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tvms_source tvms_source;

// Half-open range of bytes. Zero length marks a point; {0, 0} also stands for no place.
typedef struct {
  uint32_t begin;
  uint32_t end;
} tvms_span;

// A place for people: both 1-based, the column counted in characters (code points).
typedef struct {
  uint32_t line;
  uint32_t column;
} tvms_place;

// Makes a source of `size` bytes at `text`, which are copied, as is `name`. A name that ends
// in ".py" marks a Python file: of those only what is TVMScript is read. On failure
// `*source` is NULL. TVMS_OVER_LIMIT: also for texts of 2 GiB and more.
tvms_status tvms_source_add(tvms_context *context, const char *name, const char *text,
                            size_t size, tvms_source **source);

// The name that was given; belongs to the source.
const char *tvms_source_name(const tvms_source *source);

// The text that was given, followed by a NUL; belongs to the source.
const char *tvms_source_text(const tvms_source *source);

// Bytes of the text, without the NUL.
size_t tvms_source_size(const tvms_source *source);

// Line and column of an offset; those of the end for offsets beyond it.
tvms_place tvms_source_locate(tvms_source *source, uint32_t offset);

// The offset of a place: of the end of the line for columns beyond it, of the end of the
// text for lines beyond it.
uint32_t tvms_source_offset(tvms_source *source, tvms_place place);

#ifdef __cplusplus
}
#endif

#endif
