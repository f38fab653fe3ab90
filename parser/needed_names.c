// Which names TVMScript in a Python file may ask for.
//
// A Python file binds many names that no definition of TVMScript asks for: tables of test
// data, generated text, results of long loops. Evaluating them could take any time and any
// memory, so a constant is evaluated only if its name is needed: a definition mentions it,
// or another needed constant does. In
//
//   ROWS = [f"{i}" for i in range(10 ** 6)]      # not evaluated
//   N = 16
//   SHAPE = (N, 2 * N)
//
//   @T.prim_func
//   def f(A: T.Buffer(SHAPE, "float32")): ...
//
// the needed names are SHAPE, N and whatever else the definition mentions. Only names are
// compared, whatever the scope: one too many costs an evaluation, one too few a fact. Words
// inside strings count, because f-strings and symbolic shapes hold names.
//
// A function in whose body a definition stands decides what the definition is made of, and
// so does who calls it: what they mention is needed as well, and so are bodies of functions
// whose names are.
#include "parser/needed_names.h"

#include <stdlib.h>
#include <string.h>

// A place where a name stands, or a string that may hold some.
typedef struct {
  uint32_t begin;
  tvms_ref ref;
} mention;

typedef struct {
  const tvms_surface *surface;
  tvms_memory *memory;
  tvms_needed_names *names;
  TVMS_VEC(mention) mentions;    // outside of TVMScript, in order of place
  TVMS_VEC(tvms_ref) constants;  // assignments and functions outside of it, the same
} finder;

static void add_name(finder *f, tvms_sym name) {
  tvms_vec_reach(f->memory, &f->names->marks, name);
  f->names->marks.items[name] = 1;
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'
         || (unsigned char)c >= 0x80;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static void add_words(finder *f, const tvms_surf *string) {
  const char *text = f->surface->source->text;
  for (uint32_t at = string->begin; at < string->end;) {
    uint32_t end = at;
    while (end < string->end && (is_letter(text[end]) || is_digit(text[end]))) {
      end++;
    }
    if (end > at && !is_digit(text[at])) {
      add_name(f, tvms_symbol_intern(f->surface->context, text + at, end - at));
    }
    at = end > at ? end : at + 1;
  }
}

static void add_names_of(finder *f, const tvms_surf *node) {
  if (node->kind == TVMS_SURF_NAME)
    add_name(f, node->a);
  else if (node->kind == TVMS_SURF_ATTRIBUTE)
    add_name(f, node->b);  // of a class
  else
    add_words(f, node);
}

// Adds the names of the mentions between two places.
static void add_mentioned(finder *f, tvms_span span) {
  uint32_t low = 0, high = f->mentions.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (f->mentions.items[middle].begin < span.begin)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < f->mentions.len && f->mentions.items[low].begin < span.end; low++) {
    add_names_of(f, tvms_surface_at(f->surface, f->mentions.items[low].ref));
  }
}

static int by_place(const void *left, const void *right) {
  uint32_t a = ((const mention *)left)->begin, b = ((const mention *)right)->begin;
  return a < b ? -1 : a > b;
}

// Notes that an attribute is assigned: `Config.block = 16`.
static void note_target(finder *f, tvms_ref target) {
  const tvms_surf *node = tvms_surface_at(f->surface, target);
  if (node->kind == TVMS_SURF_TUPLE || node->kind == TVMS_SURF_LIST) {
    tvms_surface_each(f->surface, part, node->a) note_target(f, part);
  }
  if (node->kind != TVMS_SURF_ATTRIBUTE) return;
  tvms_vec_reach(f->memory, &f->names->assigned, node->b);
  f->names->assigned.items[node->b] = 1;
  const tvms_surf *object = tvms_surface_at(f->surface, node->a);
  bool self = object->kind == TVMS_SURF_NAME
              && strcmp(tvms_symbol_text(f->surface->context, object->a), "self") == 0;
  if (self) return;
  tvms_vec_reach(f->memory, &f->names->foreign, node->b);
  f->names->foreign.items[node->b] = 1;
}

static void note_targets(finder *f, const tvms_surf *stmt) {
  if (stmt->kind == TVMS_SURF_ASSIGN) {
    tvms_surface_each(f->surface, target, stmt->a) note_target(f, target);
  } else if (stmt->kind == TVMS_SURF_ANN_ASSIGN || stmt->kind == TVMS_SURF_AUG_ASSIGN) {
    note_target(f, stmt->a);
  }
}

// Notes the constants of Python, which are all that is asked about.
static void find_constants(finder *f, const tvms_spans *script) {
  uint32_t near = 0;
  for (tvms_ref ref = 1; ref < f->surface->count; ref++) {
    const tvms_surf *node = tvms_surface_at(f->surface, ref);
    bool binds = node->kind == TVMS_SURF_ASSIGN || node->kind == TVMS_SURF_ANN_ASSIGN
                 || node->kind == TVMS_SURF_DEF;
    if (!binds && node->kind != TVMS_SURF_AUG_ASSIGN) continue;
    if (tvms_spans_hold(script, &near, node->begin)) continue;
    note_targets(f, node);
    if (binds) tvms_vec_push(f->memory, &f->constants, ref);
  }
}

// What decides whether a definition is reached, or a call of what makes one: `if`, `for`.
static void add_conditions(finder *f, const tvms_spans *script,
                           const tvms_python_calls *calls) {
  uint32_t near = 0;
  for (tvms_ref ref = 1; ref < f->surface->count; ref++) {
    const tvms_surf *node = tvms_surface_at(f->surface, ref);
    bool loop = node->kind == TVMS_SURF_FOR;
    if (!loop && node->kind != TVMS_SURF_IF) continue;
    if (tvms_spans_hold(script, &near, node->begin)) continue;
    uint32_t call = tvms_python_calls_from(calls, f->surface, node->begin);
    bool reaches =
        call < calls->calls.len
        && tvms_surface_at(f->surface, calls->calls.items[call])->begin < node->end;
    uint32_t first = tvms_spans_from(script, node->begin);
    reaches =
        reaches || (first < script->len && script->items[first].begin < node->end);
    if (reaches)
      add_mentioned(f, tvms_surface_span(f->surface, loop ? node->b : node->a));
  }
}

// What the functions mention that make definitions, and the calls of them.
static void add_makers(finder *f, const tvms_python_calls *calls) {
  for (uint32_t i = 0; i < calls->functions.len; i++) {
    const tvms_python_maker *maker = &calls->functions.items[i];
    if (maker->makes) add_mentioned(f, tvms_surface_span(f->surface, maker->ref));
  }
  for (uint32_t i = 0; i < calls->calls.len; i++)
    add_mentioned(f, tvms_surface_span(f->surface, calls->calls.items[i]));
}

// Adds the names in definitions, and notes those that stand outside of them.
static void find_mentions(finder *f, const tvms_spans *script) {
  uint32_t near = 0;
  for (tvms_ref ref = 1; ref < f->surface->count; ref++) {
    const tvms_surf *node = tvms_surface_at(f->surface, ref);
    if (node->kind != TVMS_SURF_NAME && node->kind != TVMS_SURF_STRING
        && node->kind != TVMS_SURF_ATTRIBUTE)
      continue;
    if (tvms_spans_hold(script, &near, node->begin))
      add_names_of(f, node);
    else
      tvms_vec_push(f->memory, &f->mentions, ((mention){node->begin, ref}));
  }
  if (f->mentions.len)
    qsort(f->mentions.items, f->mentions.len, sizeof(mention), by_place);
}

bool tvms_needed_names_has(const tvms_needed_names *names, tvms_sym name) {
  return name < names->marks.len && names->marks.items[name];
}

bool tvms_needed_names_is_assigned(const tvms_needed_names *names, tvms_sym name) {
  return name < names->assigned.len && names->assigned.items[name];
}

bool tvms_needed_names_is_foreign(const tvms_needed_names *names, tvms_sym name) {
  return name < names->foreign.len && names->foreign.items[name];
}

bool tvms_needed_names_has_any(const tvms_needed_names *names,
                               const tvms_surface *surface, tvms_ref targets) {
  tvms_surface_each(surface, target, targets) {
    const tvms_surf *node = tvms_surface_at(surface, target);
    bool named = node->kind == TVMS_SURF_NAME;
    if (named && tvms_needed_names_has(names, node->a)) return true;
    bool parts = node->kind == TVMS_SURF_TUPLE || node->kind == TVMS_SURF_LIST;
    if (parts && tvms_needed_names_has_any(names, surface, node->a)) return true;
    if (node->kind == TVMS_SURF_STAR
        && tvms_needed_names_has_any(names, surface, node->a))
      return true;
  }
  return false;
}

static bool is_needed(const finder *f, const tvms_surf *constant) {
  if (constant->kind == TVMS_SURF_DEF)
    return tvms_needed_names_has(f->names, constant->a);
  return tvms_needed_names_has_any(f->names, f->surface, constant->a);
}

static tvms_span mentions_of(const finder *f, tvms_ref ref) {
  const tvms_surf *constant = tvms_surface_at(f->surface, ref);
  tvms_ref value = constant->kind == TVMS_SURF_ASSIGN       ? constant->b
                   : constant->kind == TVMS_SURF_ANN_ASSIGN ? constant->c
                                                            : ref;
  return value ? tvms_surface_span(f->surface, value) : (tvms_span){0, 0};
}

// Adds what needed constants mention, the last one first: a constant stands after those it
// is made of. Returns true if one was added; it is looked at only once.
static bool add_constants(finder *f) {
  bool added = false;
  for (uint32_t i = f->constants.len; i > 0; i--) {
    tvms_ref *ref = &f->constants.items[i - 1];
    if (!*ref) continue;
    if (!is_needed(f, tvms_surface_at(f->surface, *ref))) continue;
    add_mentioned(f, mentions_of(f, *ref));
    *ref = 0;
    added = true;
  }
  return added;
}

// Constants in an order that no program has are not followed further than this.
enum { MOST_ROUNDS = 16 };

void tvms_needed_names_find(const tvms_surface *surface, const tvms_spans *script,
                            const tvms_python_calls *calls, tvms_needed_names *names) {
  finder f = {.surface = surface, .memory = &surface->context->memory, .names = names};
  find_constants(&f, script);
  if (f.constants.len) find_mentions(&f, script);
  if (f.constants.len) {
    add_makers(&f, calls);
    add_conditions(&f, script, calls);
  }
  for (uint32_t round = 0; round < MOST_ROUNDS && add_constants(&f); round++) {
  }
  tvms_vec_fini(f.memory, &f.mentions);
  tvms_vec_fini(f.memory, &f.constants);
}

void tvms_needed_names_fini(tvms_memory *memory, tvms_needed_names *names) {
  tvms_vec_fini(memory, &names->marks);
  tvms_vec_fini(memory, &names->assigned);
  tvms_vec_fini(memory, &names->foreign);
}
