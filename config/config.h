// What a project has configured: its table for tvms, and the tables of other formatters as far
// as they say how its text is laid out.
//
// A table is what one file says. Which of them hold for a file of the project is decided by
// where they stand (cli/settings.h), and tvms_config_join puts them together.
#ifndef TVMS_CONFIG_CONFIG_H
#define TVMS_CONFIG_CONFIG_H

#include "config/toml.h"
#include "support/vec.h"

// A word of a list, and where it stands.
typedef struct {
  const char *text;
  tvms_source *source;
  tvms_span span;
} tvms_config_item;

typedef struct {
  tvms_config_item *items;
  uint32_t len, cap;
} tvms_config_items;

// What is left out in files that a pattern matches.
typedef struct {
  tvms_config_item pattern;
  tvms_config_items codes;
} tvms_config_per_file;

typedef struct {
  tvms_config_per_file *items;
  uint32_t len, cap;
} tvms_config_per_files;

typedef enum {
  TVMS_QUOTES_UNSET,
  TVMS_QUOTES_DOUBLE,
  TVMS_QUOTES_SINGLE,
  TVMS_QUOTES_PRESERVE,
} tvms_config_quotes;

// What one table of one file says; zero where it says nothing.
typedef struct tvms_config_table {
  const char *folder;  // absolute, of the file: what patterns are relative to
  bool wrong;          // it has an error, which was reported
  uint32_t width;
  tvms_config_quotes quotes;
  const char *TVMS_NULLABLE release;  // one that there is
  bool joins;                         // a trailing comma keeps no bracket open
  const char *TVMS_NULLABLE extend;   // of ruff: the file that it builds on
  bool selects;                       // there is a `select`, which may be empty
  tvms_config_items select, ignore;
  tvms_config_items severity;  // "CODE=error" and so on, at the level
  tvms_config_items exclude;   // patterns of files that are not looked at
  tvms_config_per_files per_file_ignores;
} tvms_config_table;

// What is set for the files of a folder: the values of [tool.tvms], and of the project's
// formatter where it sets none.
typedef struct tvms_config {
  bool wrong;      // something that holds for the folder has an error
  uint32_t width;  // 0: nothing sets it but perhaps .editorconfig
  tvms_config_quotes quotes;
  bool joins;
  const tvms_config_table *own;                      // of tvms; empty if there is none
  const tvms_config_table *TVMS_NULLABLE formatter;  // of ruff, else of black
  const struct tvms_config_editor *TVMS_NULLABLE editor;  // the nearest .editorconfig
} tvms_config;

// Reads the table of tvms. What is wrong is reported. The result lives in the context.
tvms_config_table *tvms_config_read_own(tvms_context *context, const tvms_toml *table,
                                        tvms_source *source, const char *folder);

// `over` where it says something, else `under`: a new table of the context.
tvms_config_table *tvms_config_overlay(tvms_context *context,
                                       const tvms_config_table *under,
                                       const tvms_config_table *over);

// What the tables that hold for a folder say together.
tvms_config tvms_config_join(const tvms_config_table *own,
                             const tvms_config_table *TVMS_NULLABLE formatter,
                             const struct tvms_config_editor *TVMS_NULLABLE editor);

// Columns of a line of the file at `path`, which is absolute; 0: nothing sets it.
uint32_t tvms_config_width(const tvms_config *config, const char *path);

// Whether a pattern of `exclude` means the file at `path`, which is absolute; of the
// formatter's ones only if `formats`.
bool tvms_config_excludes(const tvms_config *config, const char *path, bool formats);

// The value of a text that is a list, or a table of lists: appends its items. False if it
// holds something else.
TVMS_NODISCARD bool tvms_config_list(tvms_context *context, const tvms_toml *value,
                                     tvms_source *source, tvms_config_items *out);

#endif
