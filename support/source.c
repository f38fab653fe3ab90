// Reading inputs and mapping offsets to lines.
//
// Every text has 16 NULs behind it, so that the lexer may look ahead without asking for the
// end. Offsets are 32 bits: texts of 2 GiB and more are refused when they are read, and nothing
// else has to think of it. Places for people are computed on demand: most texts have no finding.
#define _POSIX_C_SOURCE 200809L
#include "support/source.h"

#include "support/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PADDING = 16, LARGEST_SOURCE = 0x7fffff00 };

static const char too_large[] = "a text has 2 GiB or more";

static tvms_source *wrap(tvms_memory *memory, const char *name, char *text,
                         size_t size) {
  if (size > LARGEST_SOURCE) tvms_memory_refuse(memory, too_large);
  memset(text + size, 0, PADDING);
  tvms_source *source = tvms_memory_alloc(memory, sizeof *source);
  char *copy = tvms_memory_alloc(memory, strlen(name) + 1);
  strcpy(copy, name);
  source->memory = memory;
  source->name = copy;
  source->text = text;
  source->size = (uint32_t)size;
  return source;
}

tvms_source *tvms_source_create(tvms_memory *memory, const char *name, const char *text,
                                size_t size) {
  if (size > LARGEST_SOURCE) tvms_memory_refuse(memory, too_large);
  char *copy = tvms_memory_alloc(memory, size + PADDING);
  if (size) memcpy(copy, text, size);
  return wrap(memory, name, copy, size);
}

void tvms_source_destroy(tvms_memory *memory, tvms_source *source) {
  tvms_memory_free(memory, source->lines);
  tvms_memory_free(memory, (char *)(uintptr_t)source->text);
  tvms_memory_free(memory, (char *)(uintptr_t)source->name);
  tvms_memory_free(memory, source);
}

static void close_file(void *what) {
  close(*(int *)what);
}

// Size of a regular file plus one (so that one read sees its end), or a first guess.
static size_t first_capacity(int file) {
  struct stat info;
  bool regular = fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size >= 0;
  return regular ? (size_t)info.st_size + 1 : 64 * 1024;
}

static char *read_all(tvms_memory *memory, int file, size_t *size) {
  size_t cap = first_capacity(file);
  char *text = tvms_memory_realloc(memory, NULL, cap + PADDING);
  *size = 0;
  for (;;) {
    if (*size == cap) {
      cap *= 2;
      if (cap > LARGEST_SOURCE) tvms_memory_refuse(memory, too_large);
      text = tvms_memory_realloc(memory, text, cap + PADDING);
    }
    ssize_t got = read(file, text + *size, cap - *size);
    if (got == 0) return text;
    if (got > 0)
      *size += (size_t)got;
    else if (errno != EINTR)
      return NULL;
  }
}

tvms_source *tvms_source_read(tvms_memory *memory, const char *path) {
  if (strcmp(path, "-") == 0) {
    size_t size;
    char *text = read_all(memory, STDIN_FILENO, &size);
    return text ? wrap(memory, "<stdin>", text, size) : NULL;
  }
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return NULL;
  tvms_resource resource;
  tvms_memory_hold(memory, &resource, close_file, &file);
  size_t size;
  char *text = read_all(memory, file, &size);
  int reason = errno;
  tvms_memory_release(memory, &resource);
  close(file);
  errno = reason;
  return text ? wrap(memory, path, text, size) : NULL;
}

static void map_lines(tvms_memory *memory, tvms_source *source) {
  TVMS_VEC(uint32_t) lines = {0};
  tvms_vec_push(memory, &lines, 0);
  const char *text = source->text;
  for (uint32_t i = 0; i < source->size; i++) {
    bool ends = text[i] == '\n' || (text[i] == '\r' && text[i + 1] != '\n');
    if (ends) tvms_vec_push(memory, &lines, i + 1);
  }
  source->lines = lines.items;
  source->line_count = lines.len;
}

tvms_place tvms_source_place(tvms_memory *memory, tvms_source *source,
                             uint32_t offset) {
  if (!source->lines) map_lines(memory, source);
  uint32_t low = 0, high = source->line_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (source->lines[middle] <= offset)
      low = middle;
    else
      high = middle;
  }
  uint32_t column = 1;
  uint32_t begin = source->lines[low];
  // A byte order mark at the start of the text is not a column.
  if (begin == 0 && memcmp(source->text, "\xEF\xBB\xBF", 3) == 0) begin = 3;
  bool further = source->seen_column && source->seen_line == low
                 && source->seen_offset <= offset && source->seen_offset >= begin;
  if (further) {
    column = source->seen_column;
    begin = source->seen_offset;
  }
  for (uint32_t i = begin; i < offset && i < source->size; i++) {
    column += ((unsigned char)source->text[i] & 0xC0) != 0x80;
  }
  source->seen_line = low;
  source->seen_offset = offset > begin ? offset : begin;
  source->seen_column = column;
  return (tvms_place){low + 1, column};
}

tvms_span tvms_source_line(tvms_memory *memory, tvms_source *source, uint32_t line) {
  if (!source->lines) map_lines(memory, source);
  if (line == 0 || line > source->line_count) return (tvms_span){0, 0};
  uint32_t begin = source->lines[line - 1];
  uint32_t end = begin;
  while (end < source->size && source->text[end] != '\n' && source->text[end] != '\r') {
    end++;
  }
  return (tvms_span){begin, end};
}

uint32_t tvms_source_indent(const tvms_source *source, uint32_t offset) {
  const char *text = source->text;
  uint32_t column = 0;
  while (offset > column && text[offset - column - 1] != '\n'
         && text[offset - column - 1] != '\r') {
    column++;
  }
  return column;
}

bool tvms_source_is_python(const tvms_source *source) {
  size_t len = strlen(source->name);
  return len > 3 && strcmp(source->name + len - 3, ".py") == 0;
}
