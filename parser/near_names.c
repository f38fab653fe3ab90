// Names of the language that are near to what was written.
//
// Three questions, the surest first: does ir/meant.def know the word; does the language have
// it elsewhere or spelled otherwise (R.relu, R.nn.Conv2d); is there one that differs by few
// letters. Names of the release only.
#include "parser/near_names.h"

#include "ir/meant.h"
#include "ir/op.h"
#include "parser/relax/function.h"
#include "parser/rows.h"
#include "parser/tir/function.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  const char *path;  // of the namespace: "R.nn"
  const char *name;
} candidate;

typedef TVMS_VEC(candidate) candidate_vec;

// Namespaces with names of devices and parts of layouts are no answer to a plain name.
static bool is_asked(tvms_namespace namespace_, char family, tvms_namespace around) {
  const char *path = tvms_namespace_text(namespace_);
  if (namespace_ == around) return true;
  if (path[0] != family || (path[1] && path[1] != '.')) return false;
  return family != 'T' || namespace_ == TVMS_NS_T || namespace_ == TVMS_NS_T_axis;
}

// Operators of Relax are named by ops.def: "nn.relu" is what R.nn has as `relu`.
static void add_operators(tvms_reader *reader, candidate_vec *found) {
  tvms_context *context = reader->context;
  for (uint32_t op = TVMS_R_NONE + 1; op <= TVMS_OP_COUNT; op++) {
    if (!tvms_op_in((tvms_opcode)op, reader->dialect)) continue;
    const char *name = tvms_op_of((tvms_opcode)op)->name;
    const char *dot = strrchr(name, '.');
    size_t len = dot ? (size_t)(dot - name) : 0;
    char path[64];
    snprintf(path, sizeof path, dot ? "R.%.*s" : "R%.*s", (int)len, name);
    candidate one = {tvms_arena_text(&context->scratch, path, strlen(path)),
                     dot ? dot + 1 : name};
    tvms_vec_push(&context->memory, found, one);
  }
}

static void collect(tvms_reader *reader, char family, tvms_namespace around,
                    candidate_vec *found) {
  tvms_context *context = reader->context;
  tvms_dialect dialect = tvms_release_rows(reader->dialect);
  for (uint32_t at = 1; at < TVMS_ENTRIES; at++) {
    const tvms_row *row = tvms_rows_at(at);
    if (!is_asked((tvms_namespace)row->namespace_, family, around)) continue;
    if (dialect < row->since || dialect > row->until) continue;
    candidate one = {tvms_namespace_text((tvms_namespace)row->namespace_),
                     tvms_symbol_text(context, row->name)};
    tvms_vec_push(&context->memory, found, one);
  }
  if (family == 'R') add_operators(reader, found);
}

// Equal but for cases and underscores.
static bool is_same_word(const char *a, const char *b) {
  for (;; a++, b++) {
    while (*a == '_') {
      a++;
    }
    while (*b == '_') {
      b++;
    }
    if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) return false;
    if (!*a) return true;
  }
}

static bool is_full_name(const candidate *one, const char *full) {
  size_t len = strlen(one->path);
  return strncmp(one->path, full, len) == 0 && full[len] == '.'
         && strcmp(full + len + 1, one->name) == 0;
}

static const candidate *TVMS_NULLABLE meant(const candidate_vec *found, char family,
                                            const char *name) {
  tvms_meant_place place = family == 'R' ? TVMS_MEANT_R : TVMS_MEANT_T;
  uint32_t at = 0;
  for (const char *full; (full = tvms_meant_next(place, name, &at));) {
    for (uint32_t i = 0; i < found->len; i++) {
      if (is_full_name(&found->items[i], full)) return &found->items[i];
    }
  }
  return NULL;
}

// The same word, in the namespace `path` if it is there, else in the one with the shortest
// name.
static const candidate *TVMS_NULLABLE same_word(const candidate_vec *found,
                                                const char *path, const char *name) {
  const candidate *best = NULL;
  for (uint32_t i = 0; i < found->len; i++) {
    const candidate *one = &found->items[i];
    if (!is_same_word(one->name, name)) continue;
    if (strcmp(one->path, path) == 0) return one;
    if (!best || strlen(one->path) < strlen(best->path)) best = one;
  }
  return best;
}

// The one with the fewest other letters; with a path, of that namespace.
static const candidate *TVMS_NULLABLE nearest(tvms_reader *reader,
                                              const candidate_vec *found,
                                              const char *TVMS_NULLABLE path,
                                              const char *name) {
  tvms_memory *memory = &reader->context->memory;
  TVMS_VEC(const char *) names = {0};
  for (uint32_t i = 0; i < found->len; i++) {
    const candidate *one = &found->items[i];
    if (path && strcmp(one->path, path) != 0) continue;
    tvms_vec_push(memory, &names, one->name);
  }
  const char *near = NULL;
  if (tvms_diags_may_compare_names(&reader->context->diags, names.len)) {
    near = tvms_diag_nearest_name(name, names.items, names.len);
  }
  tvms_vec_fini(memory, &names);
  for (uint32_t i = 0; i < found->len && near; i++) {
    bool here = !path || strcmp(found->items[i].path, path) == 0;
    if (here && found->items[i].name == near) return &found->items[i];
  }
  return NULL;
}

static const char *text_of(tvms_reader *reader, const candidate *TVMS_NULLABLE one) {
  if (!one) return NULL;
  size_t size = strlen(one->path) + strlen(one->name) + 2;
  char *text = tvms_arena_alloc(&reader->context->arena, size);
  snprintf(text, size, "%s.%s", one->path, one->name);
  return text;
}

// Who leaves `1d` out means what most programs have: two dimensions.
static const candidate *TVMS_NULLABLE two_dimensional(
    const candidate_vec *found, const candidate *TVMS_NULLABLE best, const char *name) {
  size_t len = best ? strlen(best->name) : 0;
  if (len < 3 || strcmp(best->name + len - 2, "1d") != 0 || strpbrk(name, "123"))
    return best;
  for (uint32_t i = 0; i < found->len; i++) {
    const candidate *one = &found->items[i];
    bool same = strcmp(one->path, best->path) == 0 && strlen(one->name) == len
                && memcmp(one->name, best->name, len - 2) == 0
                && strcmp(one->name + len - 2, "2d") == 0;
    if (same) return one;
  }
  return best;
}

const char *tvms_near_name_below(tvms_reader *reader, tvms_namespace namespace_,
                                 const char *name) {
  const char *path = tvms_namespace_text(namespace_);
  tvms_mark mark = tvms_arena_mark(&reader->context->scratch);
  candidate_vec found = {0};
  collect(reader, path[0], namespace_, &found);
  const candidate *best = meant(&found, path[0], name);
  if (!best) best = same_word(&found, path, name);
  if (!best) best = nearest(reader, &found, path, name);
  if (!best && path[0] == 'R') best = nearest(reader, &found, NULL, name);
  best = two_dimensional(&found, best, name);
  const char *text = text_of(reader, best);
  tvms_vec_fini(&reader->context->memory, &found);
  tvms_arena_reset(&reader->context->scratch, mark);
  return text;
}

const char *tvms_near_name_alone(tvms_reader *reader, const char *name) {
  if (reader->language != &tvms_tir_language
      && reader->language != &tvms_relax_language) {
    return NULL;
  }
  bool relax = reader->language == &tvms_relax_language;
  const char *path = relax ? "R" : "T";
  tvms_mark mark = tvms_arena_mark(&reader->context->scratch);
  candidate_vec found = {0};
  collect(reader, path[0], relax ? TVMS_NS_R : TVMS_NS_T, &found);
  const candidate *best = meant(&found, path[0], name);
  if (!best) best = same_word(&found, path, name);
  const char *text = text_of(reader, best);
  tvms_vec_fini(&reader->context->memory, &found);
  tvms_arena_reset(&reader->context->scratch, mark);
  return text;
}
