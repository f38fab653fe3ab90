// What a lambda keeps of the scopes around it.
//
// `(lambda x: lambda y: x + y)(1)` is a function that still knows x when the call that bound
// it is over. Python gives each such name a cell, which the scope and the lambda share; so
// the lambda sees what the name was bound to last, not what it was when the lambda was made.
// Here the binding itself is the cell: one that is captured is not used again when its scope
// ends. Names of the file need none, because its scope stays.
#include "parser/eval/capture.h"

#include "grammar/literal_values.h"
#include "parser/eval/scope.h"

#include <ctype.h>

typedef TVMS_VEC(tvms_binding *) binding_vec;

typedef struct {
  tvms_reader *reader;
  binding_vec found;
} finder;

static void add_name(finder *f, tvms_sym name) {
  tvms_binding *binding = tvms_scope_lookup(f->reader, name);
  if (!binding || binding->depth <= 1) return;
  for (uint32_t i = 0; i < f->found.len; i++) {
    if (f->found.items[i] == binding) return;
  }
  binding->captured = true;
  tvms_vec_push(&f->reader->context->memory, &f->found, binding);
}

// Fields of an f-string are parsed when it is evaluated: each word in it may be a name.
static void add_words(finder *f, tvms_span span) {
  tvms_context *context = f->reader->context;
  const char *text = f->reader->surface->source->text;
  for (uint32_t at = span.begin; at < span.end;) {
    uint32_t end = at;
    while (end < span.end && (isalnum((unsigned char)text[end]) || text[end] == '_')) {
      end++;
    }
    if (end > at) add_name(f, tvms_symbol_intern(context, text + at, end - at));
    at = end > at ? end : at + 1;
  }
}

static void visit(finder *f, tvms_ref ref);

static void visit_list(finder *f, tvms_ref list) {
  while (list) {
    visit(f, list);
    list = tvms_reader_at(f->reader, list)->next;
  }
}

static void visit(finder *f, tvms_ref ref) {
  tvms_memory *memory = &f->reader->context->memory;
  const tvms_surf node = *tvms_reader_at(f->reader, ref);
  if (tvms_memory_enter(memory)) {
    uint8_t refs = tvms_surface_refs((tvms_surf_kind)node.kind);
    if (node.kind == TVMS_SURF_NAME) add_name(f, node.a);
    if (node.kind == TVMS_SURF_STRING
        && tvms_surface_is_fstring(f->reader->surface, ref))
      add_words(f, tvms_reader_span_of(f->reader, ref));
    if (refs & TVMS_SURF_IN_A) visit_list(f, node.a);
    if (refs & TVMS_SURF_IN_B) visit_list(f, node.b);
    if (refs & TVMS_SURF_IN_C) visit_list(f, node.c);
  }
  tvms_memory_leave(memory);
}

tvms_cells tvms_eval_capture_cells(tvms_reader *reader, tvms_ref ref) {
  finder f = {.reader = reader};
  const tvms_surf node = *tvms_reader_at(reader, ref);
  if (reader->depth > 1 && node.kind == TVMS_SURF_DEF) visit_list(&f, node.c);
  if (reader->depth > 1 && node.kind != TVMS_SURF_DEF) visit(&f, node.b);
  tvms_cells cells = {tvms_arena_array(&reader->values, tvms_binding *, f.found.len),
                      f.found.len};
  for (uint32_t i = 0; i < f.found.len; i++) {
    cells.items[i] = f.found.items[i];
  }
  tvms_vec_fini(&reader->context->memory, &f.found);
  return cells;
}

void tvms_eval_capture_bind(tvms_reader *reader, tvms_cells cells) {
  for (uint32_t i = 0; i < cells.len; i++) {
    const tvms_binding *cell = cells.items[i];
    tvms_scope_bind(reader, cell->name, cell->value, cell->span);
  }
}
