// Patterns of paths: `*` and `?` within a name, `**` over folders, `[a-z]`, `{a,b}`.
#ifndef TVMS_CONFIG_GLOB_H
#define TVMS_CONFIG_GLOB_H

#include "support/base.h"

// Whether `pattern` matches the whole of `path`.
bool tvms_glob_match(const char *pattern, const char *path);

// Whether it matches the path, a folder that the path lies in, or, without a slash in it, one
// of its names: how `exclude` and `per-file-ignores` are meant. The path is relative.
bool tvms_glob_covers(const char *pattern, const char *path);

// The part of a path below a folder; NULL if it lies elsewhere. Both are absolute.
const char *TVMS_NULLABLE tvms_glob_below(const char *folder, const char *path);

#endif
