// Scopes: which value a name has.
//
// Every symbol has a chain of its bindings, innermost first, so a lookup is an array
// access. A scope keeps the list of its bindings to undo them. Macro bodies see only part
// of the open scopes; for them a lookup walks the chain past what is hidden.
#include "parser/eval/scope.h"

#include "parser/eval/eval.h"

#include <string.h>

static tvms_binding **slot_of(tvms_reader *reader, tvms_sym name) {
  if (name >= reader->name_cap) {
    uint32_t cap = reader->name_cap ? reader->name_cap * 2 : 4096;
    while (cap <= name) {
      cap *= 2;
    }
    tvms_memory *memory = &reader->context->memory;
    tvms_binding **names = tvms_memory_alloc(memory, cap * sizeof *names);
    if (reader->name_cap)
      memcpy(names, reader->names, reader->name_cap * sizeof *names);
    tvms_memory_free(memory, reader->names);
    reader->names = names;
    reader->name_cap = cap;
  }
  return &reader->names[name];
}

void tvms_scope_push_for(tvms_reader *reader, tvms_evaluator evaluator) {
  tvms_scope scope = {NULL, evaluator};
  reader->depth++;
  tvms_vec_push(&reader->context->memory, &reader->scopes, scope);
}

void tvms_scope_push(tvms_reader *reader) {
  tvms_scope_push_for(reader, tvms_scope_evaluator(reader));
}

void tvms_scope_pop(tvms_reader *reader) {
  tvms_binding *binding = reader->scopes.items[--reader->scopes.len].newest;
  reader->depth--;
  while (binding) {
    tvms_binding *next = binding->next;
    reader->names[binding->name] = binding->outer;
    if (!binding->captured) {
      binding->next = reader->free_bindings;
      reader->free_bindings = binding;
    }
    binding = next;
  }
}

static tvms_binding *new_binding(tvms_reader *reader) {
  tvms_binding *binding = reader->free_bindings;
  if (!binding) return tvms_arena_new(&reader->bindings, tvms_binding);
  reader->free_bindings = binding->next;
  return binding;
}

void tvms_scope_bind(tvms_reader *reader, tvms_sym name, tvms_eval_value value,
                     tvms_span span) {
  tvms_binding **slot = slot_of(reader, name);
  if (*slot && (*slot)->depth == reader->depth) {
    (*slot)->value = value;
    (*slot)->span = span;
    return;
  }
  tvms_binding **scope = &reader->scopes.items[reader->scopes.len - 1].newest;
  tvms_binding *binding = new_binding(reader);
  *binding = (tvms_binding){value, *slot, *scope, name, reader->depth, span, false};
  *slot = binding;
  *scope = binding;
}

static bool is_visible(const tvms_reader *reader, uint32_t depth) {
  for (const tvms_visible *part = reader->visible; part; part = part->outer) {
    if (depth >= part->begin && depth < part->end) return true;
  }
  return false;
}

tvms_binding *tvms_scope_lookup(const tvms_reader *reader, tvms_sym name) {
  if (name >= reader->name_cap) return NULL;
  tvms_binding *binding = reader->names[name];
  while (binding && binding->depth < reader->visible->begin
         && !is_visible(reader, binding->depth)) {
    binding = binding->outer;
  }
  return binding;
}

bool tvms_scope_binds_here(const tvms_reader *reader, tvms_sym name) {
  if (name >= reader->name_cap) return false;
  const tvms_binding *binding = reader->names[name];
  return binding && binding->depth == reader->depth;
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'
         || (unsigned char)c >= 0x80;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

void tvms_scope_bind_words(tvms_reader *reader, tvms_span span) {
  const char *text = reader->surface->source->text;
  for (uint32_t at = span.begin; at < span.end;) {
    uint32_t end = at;
    while (end < span.end && (is_letter(text[end]) || is_digit(text[end])))
      end++;
    if (end > at && !is_digit(text[at])) {
      tvms_sym name = tvms_symbol_intern(reader->context, text + at, end - at);
      // Most words are mentioned, not bound: what is known around is not hidden.
      if (!tvms_scope_lookup(reader, name))
        tvms_scope_bind(reader, name, TVMS_UNKNOWN, (tvms_span){at, end});
    }
    at = end > at ? end : at + 1;
  }
}
