// Objects of the classes of a Python file: what `__init__` gives them.
//
//   class Kernels:
//       def __init__(self, target, chunk=4096):
//           self.chunk = chunk
//
//       def make(self):
//           return make_kernel(self.chunk)
//
// In `make`, `self.chunk` is 4096: a definition is read with values that some object has.
#include "parser/python_object.h"

#include "parser/eval/class.h"
#include "parser/eval/scope.h"
#include "parser/file_state.h"
#include "parser/needed_names.h"
#include "parser/python_body.h"
#include "parser/python_names.h"

#include <string.h>

enum { MOST = 64 };

typedef struct {
  tvms_sym names[MOST];
  tvms_eval_value values[MOST];
  uint32_t count;
} attributes;

// The DEF of `__init__`, or 0.
static tvms_ref init_of(const tvms_reader *reader, tvms_ref body) {
  tvms_surface_each(reader->surface, ref, body) {
    const tvms_surf *node = tvms_reader_at(reader, ref);
    if (node->kind == TVMS_SURF_DEF
        && strcmp(tvms_symbol_text(reader->context, node->a), "__init__") == 0)
      return ref;
  }
  return 0;
}

static void bind_params(tvms_reader *reader, tvms_ref params) {
  tvms_surface_each(reader->surface, ref, params) {
    const tvms_surf node = *tvms_reader_at(reader, ref);
    if (!node.a) continue;
    tvms_eval_value value =
        node.c ? tvms_python_body_eval(reader, node.c) : TVMS_UNKNOWN;
    tvms_scope_bind(reader, node.a, value, tvms_reader_span_of(reader, ref));
  }
}

// What else sets attributes of an object nobody here knows.
static bool sets_any(const tvms_reader *reader, tvms_sym name) {
  (void)reader, (void)name;
  return true;
}

// The object with what it has so far.
static tvms_eval_value make(tvms_reader *reader, const attributes *all) {
  if (!all->count) return TVMS_UNKNOWN;
  tvms_scope_push(reader);
  for (uint32_t i = 0; i < all->count; i++)
    tvms_scope_bind(reader, all->names[i], all->values[i], (tvms_span){0, 0});
  tvms_eval_value made = tvms_eval_class_make(reader, sets_any);
  tvms_scope_pop(reader);
  return made;
}

// The attribute that a statement `self.name = value` sets, or 0.
static tvms_sym attribute_of(const tvms_reader *reader, tvms_sym self,
                             const tvms_surf *stmt) {
  bool plain = stmt->kind == TVMS_SURF_ASSIGN && !tvms_reader_at(reader, stmt->a)->next;
  if (!plain && (stmt->kind != TVMS_SURF_ANN_ASSIGN || !stmt->c)) return 0;
  const tvms_surf *target = tvms_reader_at(reader, stmt->a);
  if (target->kind != TVMS_SURF_ATTRIBUTE) return 0;
  const tvms_surf *object = tvms_reader_at(reader, target->a);
  return object->kind == TVMS_SURF_NAME && object->a == self ? target->b : 0;
}

static uint32_t times_in_target(const tvms_reader *reader, tvms_ref target,
                                tvms_sym name) {
  const tvms_surf *node = tvms_reader_at(reader, target);
  uint32_t times = node->kind == TVMS_SURF_ATTRIBUTE && node->b == name;
  if (node->kind == TVMS_SURF_TUPLE || node->kind == TVMS_SURF_LIST) {
    tvms_surface_each(reader->surface, part, node->a) times +=
        times_in_target(reader, part, name);
  }
  return times;
}

// How many statements of the class set an attribute of the name.
static uint32_t times_set(tvms_reader *reader, tvms_ref body, tvms_sym name) {
  tvms_memory *memory = &reader->context->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  uint32_t times = 0;
  tvms_surface_each(reader->surface, ref, body) {
    const tvms_surf *stmt = tvms_reader_at(reader, ref);
    if (stmt->kind == TVMS_SURF_ASSIGN) {
      tvms_surface_each(reader->surface, target, stmt->a) times +=
          times_in_target(reader, target, name);
    } else if (stmt->kind == TVMS_SURF_ANN_ASSIGN
               || stmt->kind == TVMS_SURF_AUG_ASSIGN) {
      times += times_in_target(reader, stmt->a, name);
    } else if (stmt->kind == TVMS_SURF_DEF) {
      times += times_set(reader, stmt->c, name);
    }
    tvms_ref bodies[2];
    tvms_surface_bodies(reader->surface, ref, bodies);
    if (stmt->kind != TVMS_SURF_DEF)
      times += times_set(reader, bodies[0], name) + times_set(reader, bodies[1], name);
  }
  tvms_memory_leave(memory);
  return times;
}

// Whether a definition asks for one of the attributes.
static bool is_asked(const tvms_reader *reader, tvms_sym self, tvms_ref body) {
  tvms_surface_each(reader->surface, ref, body) {
    tvms_sym name = attribute_of(reader, self, tvms_reader_at(reader, ref));
    if (name && tvms_needed_names_has(tvms_file_of(reader)->needed, name)) return true;
  }
  return false;
}

// `around` is the body of the class, `body` that of its `__init__`.
static void follow(tvms_reader *reader, tvms_ref around, tvms_sym self, tvms_ref body,
                   attributes *all) {
  const tvms_needed_names *needed = tvms_file_of(reader)->needed;
  tvms_surface_each(reader->surface, ref, body) {
    const tvms_surf stmt = *tvms_reader_at(reader, ref);
    tvms_sym name = attribute_of(reader, self, &stmt);
    bool once = name && !tvms_needed_names_is_foreign(needed, name)
                && times_set(reader, around, name) == 1;
    if (!once || all->count == MOST) continue;
    tvms_ref expr = stmt.kind == TVMS_SURF_ASSIGN ? stmt.b : stmt.c;
    tvms_eval_value value = tvms_python_body_eval(reader, expr);
    if (!tvms_eval_value_is_known(value)) continue;
    all->names[all->count] = name;
    all->values[all->count++] = value;
    tvms_scope_bind(reader, self, make(reader, all), tvms_reader_span_of(reader, ref));
  }
}

tvms_eval_value tvms_python_object_of(tvms_reader *reader, tvms_ref body) {
  tvms_ref init = init_of(reader, body);
  if (!init) return TVMS_UNKNOWN;
  tvms_surf_definition def = tvms_surface_define(reader->surface, init);
  tvms_sym self = def.params ? tvms_reader_at(reader, def.params)->a : 0;
  if (!self || def.decorators || !is_asked(reader, self, def.body)) return TVMS_UNKNOWN;
  attributes all = {.count = 0};
  tvms_scope_push(reader);
  bind_params(reader, def.params);
  tvms_python_names_bind(reader, def.body);
  follow(reader, body, self, def.body, &all);
  tvms_scope_pop(reader);
  return make(reader, &all);
}
