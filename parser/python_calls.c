// Calls of Python's functions that make definitions.
//
// In
//
//   def make(n, dtype="float32"):
//       @T.prim_func
//       def f(A: T.Buffer((n,), dtype)): ...
//       return f
//
//   make(16)
//
// the definition is read with the values that the calls in the file give. Names decide which
// functions are looked at: `make` has TVMScript in its body; a function whose body calls
// something named `make` may make definitions, too. Which function a call is of is found
// when the call is evaluated.
#include "parser/python_calls.h"

#include "parser/eval/python.h"

#include <stdlib.h>

typedef struct {
  const tvms_surface *surface;
  tvms_memory *memory;
  const tvms_spans *script;
  tvms_python_calls *calls;
  TVMS_VEC(tvms_ref) all;   // calls outside of TVMScript, by place
  TVMS_VEC(uint8_t) makes;  // by symbol: 1 if a maker has the name
} finder;

static uint32_t begin_of(const finder *f, tvms_ref ref) {
  return tvms_surface_at(f->surface, ref)->begin;
}

// The name that is called, or 0.
static tvms_sym called_name(const tvms_surface *surface, tvms_ref call) {
  const tvms_surf *callee = tvms_surface_at(surface, tvms_surface_at(surface, call)->a);
  return callee->kind == TVMS_SURF_NAME ? callee->a : 0;
}

typedef struct {
  uint32_t begin;
  tvms_ref ref;
} placed;

static int by_place(const void *left, const void *right) {
  uint32_t a = ((const placed *)left)->begin, b = ((const placed *)right)->begin;
  return a < b ? -1 : a > b;
}

static void add_function(finder *f, tvms_ref ref) {
  tvms_python_maker made = {.ref = ref,
                            .name = tvms_surface_at(f->surface, ref)->a,
                            .end = tvms_surface_at(f->surface, ref)->end};
  tvms_vec_push(f->memory, &f->calls->functions, made);
}

// Functions and calls outside of TVMScript, in order of place.
static void find_all(finder *f) {
  TVMS_VEC(placed) found = {0};
  uint32_t near = 0;
  for (tvms_ref ref = 1; ref < f->surface->count; ref++) {
    const tvms_surf *node = tvms_surface_at(f->surface, ref);
    bool call = node->kind == TVMS_SURF_CALL && called_name(f->surface, ref);
    if (!call && node->kind != TVMS_SURF_DEF) continue;
    if (tvms_spans_hold(f->script, &near, node->begin)) continue;
    tvms_vec_push(f->memory, &found, ((placed){node->begin, ref}));
  }
  if (found.len) qsort(found.items, found.len, sizeof(placed), by_place);
  for (uint32_t i = 0; i < found.len; i++) {
    tvms_ref ref = found.items[i].ref;
    if (tvms_surface_at(f->surface, ref)->kind == TVMS_SURF_DEF)
      add_function(f, ref);
    else
      tvms_vec_push(f->memory, &f->all, ref);
  }
  tvms_vec_fini(f->memory, &found);
}

static bool is_marked(const finder *f, tvms_sym name) {
  return name < f->makes.len && f->makes.items[name];
}

// Marks the functions around `place`: `open`, innermost last. True if one was not marked.
static bool mark_open(finder *f, const uint32_t *open, uint32_t count) {
  bool added = false;
  for (uint32_t i = count; i > 0; i--) {
    tvms_python_maker *function = &f->calls->functions.items[open[i - 1]];
    if (function->makes) break;
    function->makes = added = true;
    tvms_vec_reach(f->memory, &f->makes, function->name);
    f->makes.items[function->name] = 1;
  }
  return added;
}

typedef TVMS_VEC(uint32_t) numbers;

// Brings `open` to the functions that are around `place`; `next` is the first one behind.
static void open_at(finder *f, numbers *open, uint32_t *next, uint32_t place) {
  const tvms_python_maker *functions = f->calls->functions.items;
  while (*next < f->calls->functions.len
         && begin_of(f, functions[*next].ref) <= place) {
    while (open->len
           && functions[open->items[open->len - 1]].end
                  <= begin_of(f, functions[*next].ref))
      open->len--;
    tvms_vec_push(f->memory, open, *next);
    ++*next;
  }
  while (open->len && functions[open->items[open->len - 1]].end <= place)
    open->len--;
}

static void mark_around_script(finder *f) {
  numbers open = {0};
  uint32_t next = 0;
  for (uint32_t i = 0; i < f->script->len; i++) {
    open_at(f, &open, &next, f->script->items[i].begin);
    mark_open(f, open.items, open.len);
  }
  tvms_vec_fini(f->memory, &open);
}

static bool mark_around_calls(finder *f) {
  numbers open = {0};
  uint32_t next = 0;
  bool added = false;
  for (uint32_t i = 0; i < f->all.len; i++) {
    if (!is_marked(f, called_name(f->surface, f->all.items[i]))) continue;
    open_at(f, &open, &next, begin_of(f, f->all.items[i]));
    added = mark_open(f, open.items, open.len) || added;
  }
  tvms_vec_fini(f->memory, &open);
  return added;
}

static void keep_calls(finder *f) {
  tvms_vec_reach(f->memory, &f->makes, 0);
  for (uint32_t i = 0; i < f->all.len; i++) {
    tvms_sym name = called_name(f->surface, f->all.items[i]);
    if (!is_marked(f, name)) continue;
    f->makes.items[name] = 2;
    tvms_vec_push(f->memory, &f->calls->calls, f->all.items[i]);
  }
  for (uint32_t i = 0; i < f->calls->functions.len; i++) {
    tvms_python_maker *function = &f->calls->functions.items[i];
    function->called = function->makes && f->makes.items[function->name] == 2;
  }
}

// Functions that call functions that call … are not followed further than this.
enum { MOST_ROUNDS = 8 };

void tvms_python_calls_find(const tvms_surface *surface, const tvms_spans *script,
                            tvms_python_calls *calls) {
  finder f = {.surface = surface,
              .memory = &surface->context->memory,
              .script = script,
              .calls = calls};
  find_all(&f);
  mark_around_script(&f);
  for (uint32_t i = 0; i < MOST_ROUNDS && mark_around_calls(&f); i++) {
  }
  keep_calls(&f);
  tvms_vec_fini(f.memory, &f.all);
  tvms_vec_fini(f.memory, &f.makes);
}

void tvms_python_calls_fini(tvms_memory *memory, tvms_python_calls *calls) {
  tvms_vec_fini(memory, &calls->functions);
  tvms_vec_fini(memory, &calls->calls);
}

tvms_python_maker *tvms_python_calls_maker(tvms_python_calls *calls,
                                           const tvms_surface *surface, tvms_ref ref) {
  uint32_t place = tvms_surface_at(surface, ref)->begin;
  uint32_t low = 0, high = calls->functions.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (tvms_surface_at(surface, calls->functions.items[middle].ref)->begin < place)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == calls->functions.len) return NULL;
  tvms_python_maker *found = &calls->functions.items[low];
  return found->ref == ref && found->makes ? found : NULL;
}

uint32_t tvms_python_calls_from(const tvms_python_calls *calls,
                                const tvms_surface *surface, uint32_t place) {
  uint32_t low = 0, high = calls->calls.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (tvms_surface_at(surface, calls->calls.items[middle])->begin < place)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// ---- Instances ------------------------------------------------------------------------

// The same value and the same kind: 1 and 1.0 make different definitions.
static bool is_same(const tvms_reader *reader, tvms_eval_value a, tvms_eval_value b) {
  if (a.kind != b.kind || a.len != b.len) return false;
  if (a.kind == TVMS_EVAL_UNKNOWN) return true;
  return tvms_eval_values_equal(reader, a, b);
}

// A definition is read for so many calls of one function.
enum { MOST_INSTANCES = 8, MOST_IN_ALL = 32 };

const tvms_python_instance *tvms_python_calls_add(tvms_reader *reader,
                                                  tvms_python_maker *maker,
                                                  const tvms_python_instance *around,
                                                  const tvms_eval_value *values,
                                                  uint32_t count) {
  uint32_t known = 0, all = 0;
  for (const tvms_python_instance *old = maker->first; old; old = old->next) {
    if (++all == MOST_IN_ALL) return NULL;
    if (old->around != around) continue;
    bool same = old->count == count;
    for (uint32_t i = 0; i < count && same; i++)
      same = is_same(reader, old->values[i], values[i]);
    if (same || ++known == MOST_INSTANCES) return NULL;
  }
  tvms_python_instance *added = tvms_arena_alloc(
      &reader->values, sizeof *added + count * sizeof added->values[0]);
  *added = (tvms_python_instance){.around = around, .count = count};
  for (uint32_t i = 0; i < count; i++)
    added->values[i] = values[i];
  if (maker->last)
    maker->last->next = added;
  else
    maker->first = added;
  maker->last = added;
  return added;
}
