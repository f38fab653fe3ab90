// .editorconfig: the longest line that editors are told of.
//
// Of several sections that match a file the last one counts, and of several files the nearest.
#include "config/editor.h"

#include "config/glob.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

static char *copy_trimmed(tvms_context *context, const char *text, const char *end) {
  while (text < end && is_blank(*text)) {
    text++;
  }
  while (end > text && is_blank(end[-1])) {
    end--;
  }
  return tvms_arena_text(&context->arena, text, (size_t)(end - text));
}

static void read_setting(tvms_config_editor *editor, const char *pattern,
                         const char *key, const char *value, tvms_memory *memory) {
  if (!pattern) {
    if (strcasecmp(key, "root") == 0) editor->root = strcasecmp(value, "true") == 0;
    return;
  }
  if (strcasecmp(key, "max_line_length") != 0) return;
  char *end;
  unsigned long width = strtoul(value, &end, 10);
  bool number = end > value && !*end && width <= INT32_MAX;
  if (!number && strcasecmp(value, "off") != 0 && strcasecmp(value, "unset") != 0)
    return;
  tvms_config_section section = {pattern, number ? (uint32_t)width : 0};
  tvms_vec_push(memory, &editor->sections, section);
}

static const char *section_of(tvms_context *context, const char *line,
                              const char *end) {
  while (end > line && end[-1] != ']') {
    end--;
  }
  return end > line ? copy_trimmed(context, line, end - 1) : NULL;
}

const tvms_config_editor *tvms_config_editor_read(tvms_context *context,
                                                  const tvms_source *source,
                                                  const char *folder,
                                                  const tvms_config_editor *outer) {
  tvms_config_editor *editor = tvms_arena_new(&context->arena, tvms_config_editor);
  editor->folder = folder;
  const char *pattern = NULL, *stop = source->text + source->size;
  for (const char *line = source->text; line < stop;) {
    const char *end = memchr(line, '\n', (size_t)(stop - line));
    if (!end) end = stop;
    while (line < end && is_blank(*line)) {
      line++;
    }
    const char *equals = memchr(line, '=', (size_t)(end - line));
    if (*line == '[') {
      const char *found = section_of(context, line + 1, end);
      if (found) pattern = found;
    } else if (*line != '#' && *line != ';' && equals) {
      read_setting(editor, pattern, copy_trimmed(context, line, equals),
                   copy_trimmed(context, equals + 1, end), &context->memory);
    }
    line = end + (end < stop);
  }
  editor->outer = editor->root ? NULL : outer;
  return editor;
}

// A pattern without a slash means files of every folder.
static bool matches(const char *pattern, const char *inside) {
  if (*pattern == '/') return tvms_glob_match(pattern + 1, inside);
  if (strchr(pattern, '/')) return tvms_glob_match(pattern, inside);
  const char *slash = strrchr(inside, '/');
  return tvms_glob_match(pattern, slash ? slash + 1 : inside);
}

uint32_t tvms_config_editor_width(const tvms_config_editor *editor, const char *path) {
  for (; editor; editor = editor->outer) {
    const char *inside = tvms_glob_below(editor->folder, path);
    for (uint32_t i = inside ? editor->sections.len : 0; i > 0; i--) {
      const tvms_config_section *section = &editor->sections.items[i - 1];
      if (matches(section->pattern, inside)) return section->width;
    }
  }
  return 0;
}
