// Patterns of paths. A pattern may be retried at each of its stars, which is bounded: what
// asks for too many steps matches nothing.
#include "config/glob.h"

#include <string.h>

enum { MOST_STEPS = 100000, LONGEST_PATH = 4096, DEEPEST = 32 };

typedef struct {
  uint32_t steps;
  uint32_t depth;
} budget;

static bool match(const char *pattern, const char *end, const char *path,
                  const char *rest, budget *b);

// What stands behind the alternatives of `{a,b}` is the rest of the pattern: it is matched
// when an alternative has ended (`end`), as `rest` up to its NUL.
static bool match_rest(const char *rest, const char *path, budget *b) {
  return rest ? match(rest, rest + strlen(rest), path, NULL, b) : !*path;
}

static const char *class_end(const char *pattern, const char *end) {
  const char *at = pattern + 1;
  if (at < end && (*at == '!' || *at == '^')) at++;
  if (at < end && *at == ']') at++;
  while (at < end && *at != ']') {
    at++;
  }
  return at < end ? at : NULL;
}

static bool class_has(const char *pattern, const char *shut, char c) {
  const char *at = pattern + 1;
  bool turned = *at == '!' || *at == '^';
  at += turned;
  bool found = false;
  for (; at < shut; at++) {
    if (at + 2 < shut && at[1] == '-') {
      found |= *at <= c && c <= at[2];
      at += 2;
    } else {
      found |= *at == c;
    }
  }
  return c != '/' && found != turned;
}

static bool match_star(const char *pattern, const char *end, const char *path,
                       const char *rest, budget *b) {
  bool folders = pattern + 1 < end && pattern[1] == '*';
  const char *behind = pattern + (folders ? 2 : 1);
  // `**/x` matches x at the top as well.
  if (folders && behind < end && *behind == '/'
      && match(behind + 1, end, path, rest, b))
    return true;
  for (;; path++) {
    if (match(behind, end, path, rest, b)) return true;
    if (!*path || (*path == '/' && !folders)) return false;
  }
}

static const char *brace_end(const char *pattern, const char *end) {
  int depth = 0;
  for (const char *at = pattern; at < end; at++) {
    depth += *at == '{';
    depth -= *at == '}';
    if (!depth) return at;
  }
  return NULL;
}

// Alternatives that stand inside of others are not known: the inner ones are then literal.
static bool match_braces(const char *pattern, const char *shut, const char *end,
                         const char *path, const char *rest, budget *b) {
  if (rest || *end) return false;
  int depth = 0;
  const char *from = pattern + 1;
  for (const char *at = from; at <= shut; at++) {
    depth += *at == '{';
    if (at < shut) depth -= *at == '}';
    bool ends = at == shut || (*at == ',' && !depth);
    if (!ends) continue;
    if (match(from, at, path, shut + 1, b)) return true;
    from = at + 1;
  }
  return false;
}

static bool match(const char *pattern, const char *end, const char *path,
                  const char *rest, budget *b) {
  if (++b->depth > DEEPEST) return b->depth--, false;
  bool result = false;
  for (;; pattern++, path++) {
    if (++b->steps > MOST_STEPS) break;
    if (pattern == end) {
      result = match_rest(rest, path, b);
      break;
    }
    if (*pattern == '*') {
      result = match_star(pattern, end, path, rest, b);
      break;
    }
    const char *shut = *pattern == '{' ? brace_end(pattern, end) : NULL;
    if (shut) {
      result = match_braces(pattern, shut, end, path, rest, b);
      break;
    }
    if (!*path) break;
    shut = *pattern == '[' ? class_end(pattern, end) : NULL;
    if (shut) {
      if (!class_has(pattern, shut, *path)) break;
      pattern = shut;
      continue;
    }
    if (*pattern == '\\' && pattern + 1 < end)
      pattern++;
    else if (*pattern == '?' && *path != '/')
      continue;
    if (*pattern != *path) break;
  }
  b->depth--;
  return result;
}

bool tvms_glob_match(const char *pattern, const char *path) {
  budget b = {0, 0};
  return match(pattern, pattern + strlen(pattern), path, NULL, &b);
}

// Tries `pattern` on the path and on each folder of it.
static bool covers_from(const char *pattern, const char *path) {
  char folder[LONGEST_PATH];
  if (tvms_glob_match(pattern, path)) return true;
  for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
    size_t len = (size_t)(slash - path);
    if (len >= sizeof folder) return false;
    memcpy(folder, path, len);
    folder[len] = '\0';
    if (tvms_glob_match(pattern, folder)) return true;
  }
  return false;
}

bool tvms_glob_covers(const char *pattern, const char *path) {
  char copy[LONGEST_PATH];
  size_t len = strlen(pattern);
  while (len > 1 && pattern[len - 1] == '/') {
    len--;
  }
  if (len >= sizeof copy) return false;
  memcpy(copy, pattern, len);
  copy[len] = '\0';
  const char *start = strncmp(copy, "./", 2) == 0 ? copy + 2 : copy;
  if (covers_from(start, path)) return true;
  if (strchr(copy, '/')) return false;
  for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
    if (covers_from(copy, slash + 1)) return true;
  }
  return false;
}

const char *tvms_glob_below(const char *folder, const char *path) {
  size_t len = strlen(folder);
  while (len && folder[len - 1] == '/') {
    len--;
  }
  if (strncmp(folder, path, len) != 0 || path[len] != '/') return NULL;
  return path + len + 1;
}
