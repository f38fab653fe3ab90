// .editorconfig: the longest line that editors are told of.
#ifndef TVMS_CONFIG_EDITOR_H
#define TVMS_CONFIG_EDITOR_H

#include "support/context.h"
#include "support/vec.h"

// A section that sets max_line_length.
typedef struct {
  const char *pattern;
  uint32_t width;  // 0: "off"
} tvms_config_section;

// What one file says.
typedef struct tvms_config_editor {
  const char *folder;  // absolute
  bool root;           // files of the folders above do not count
  TVMS_VEC(tvms_config_section) sections;
  const struct tvms_config_editor *TVMS_NULLABLE outer;
} tvms_config_editor;

// Reads a file; `outer` is the nearest one above. What is no section and no setting is left
// out, as editors do. The result lives in the context.
const tvms_config_editor *
tvms_config_editor_read(tvms_context *context, const tvms_source *source,
                        const char *folder,
                        const tvms_config_editor *TVMS_NULLABLE outer);

// Columns of a line of the file at `path`, which is absolute; 0: none is set.
uint32_t tvms_config_editor_width(const tvms_config_editor *editor, const char *path);

#endif
