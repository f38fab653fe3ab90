// Sources. Their lines are found when they are made, so that places need no memory later.
#include "driver/api/api.h"

#include <tvms/source.h>

typedef struct {
  tvms_context *context;
  const char *name;
  const char *text;
  size_t size;
  tvms_source *source;
} adding;

static tvms_status add_source(void *argument) {
  adding *a = argument;
  tvms_memory *memory = &a->context->memory;
  a->source = tvms_source_create(memory, a->name, a->text, a->size);
  (void)tvms_source_place(memory, a->source, 0);
  return TVMS_OK;
}

tvms_status tvms_source_add(tvms_context *context, const char *name, const char *text,
                            size_t size, tvms_source **source) {
  adding a = {context, name, text, size, NULL};
  tvms_status status = tvms_api_call(context, add_source, &a);
  *source = status == TVMS_OK ? a.source : NULL;
  return status;
}

const char *tvms_source_name(const tvms_source *source) {
  return source->name;
}

const char *tvms_source_text(const tvms_source *source) {
  return source->text;
}

size_t tvms_source_size(const tvms_source *source) {
  return source->size;
}

tvms_place tvms_source_locate(tvms_source *source, uint32_t offset) {
  return tvms_source_place(NULL, source, offset < source->size ? offset : source->size);
}

uint32_t tvms_source_offset(tvms_source *source, tvms_place place) {
  if (place.line > source->line_count) return source->size;
  tvms_span line = tvms_source_line(NULL, source, place.line);
  uint32_t at = line.begin;
  if (at == 0 && memcmp(source->text, "\xEF\xBB\xBF", 3) == 0) at = 3;
  for (uint32_t column = 1; column < place.column && at < line.end; column++) {
    at++;
    while (at < line.end && ((unsigned char)source->text[at] & 0xC0) == 0x80) {
      at++;
    }
  }
  return at;
}
