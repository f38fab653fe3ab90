// Unique names, as TVM gives them: the hint, or the hint with the first free number
// (IRDocsifierNode::Define and GenerateUniqueName).
//
// The hint is the name that the object has in the program. `x` is taken: `x_1`, then `x_2`.
// A frame that ends gives its names back, and their numbers with them, so what is printed
// depends on the open scopes only. state.h says how names and frames hang together.
#include "printer/names.h"

#include "printer/alias.h"
#include "printer/state.h"

#include <ctype.h>
#include <stdio.h>

print_symbol *tvms_print_symbol(tvms_printer *p, tvms_sym sym) {
  tvms_vec_reach(p->memory, &p->symbols, sym);
  return &p->symbols.items[sym];
}

print_name *tvms_print_name_of(tvms_printer *p, const tvms_node *object) {
  tvms_vec_reach(p->memory, &p->names, object->id);
  return &p->names.items[object->id];
}

void tvms_print_reserve(tvms_printer *p, const char *name) {
  tvms_print_symbol(p, tvms_symbol_intern(p->context, name, strlen(name)))->taken =
      true;
}

static bool is_name_char(char c) {
  return c == '_' || (isalnum((unsigned char)c) && (unsigned char)c < 0x80);
}

// The hint with everything but letters, digits and '_' replaced by '_'.
static tvms_sym clean_hint(tvms_printer *p, tvms_sym hint) {
  const tvms_name *name = tvms_interner_name(&p->context->names, hint);
  uint32_t clean = 0;
  while (clean < name->len && is_name_char(name->text[clean])) {
    clean++;
  }
  if (clean == name->len) return hint;
  tvms_strbuf text;
  tvms_strbuf_init(&text, p->memory);
  for (uint32_t i = 0; i < name->len; i++) {
    tvms_strbuf_putc(&text, is_name_char(name->text[i]) ? name->text[i] : '_');
  }
  tvms_sym sym = tvms_symbol_intern(p->context, text.text, text.len);
  tvms_strbuf_fini(&text);
  return sym;
}

static tvms_sym numbered(tvms_printer *p, tvms_sym hint, uint32_t number) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, p->memory);
  const tvms_name *name = tvms_interner_name(&p->context->names, hint);
  tvms_strbuf_add(&text, name->text, name->len);
  tvms_strbuf_printf(&text, "_%u", number);
  tvms_sym sym = tvms_symbol_intern(p->context, text.text, text.len);
  tvms_strbuf_fini(&text);
  return sym;
}

static tvms_sym unique(tvms_printer *p, tvms_sym hint) {
  hint = clean_hint(p, hint);
  if (!tvms_print_symbol(p, hint)->taken) return hint;
  uint32_t taken = tvms_print_symbol(p, hint)->numbers;
  tvms_sym name = numbered(p, hint, taken + 1);
  while (tvms_print_symbol(p, name)->taken) {
    name = numbered(p, hint, ++taken + 1);
  }
  tvms_print_symbol(p, hint)->numbers = taken;
  return name;
}

// Frees a name; if it is <hint>_<number>, that number may be given out again.
static void release(tvms_printer *p, tvms_sym sym) {
  tvms_print_symbol(p, sym)->taken = false;
  const tvms_name *name = tvms_interner_name(&p->context->names, sym);
  uint32_t at = name->len;
  while (at > 0 && isdigit((unsigned char)name->text[at - 1])) {
    at--;
  }
  bool numbered_name = at < name->len && at > 1 && name->text[at - 1] == '_'
                       && name->text[at] != '0' && name->len - at < 9;
  if (!numbered_name) return;
  uint32_t number = 0;
  for (uint32_t i = at; i < name->len; i++) {
    number = number * 10 + (uint32_t)(name->text[i] - '0');
  }
  tvms_sym hint = tvms_interner_find(&p->context->names, name->text, at - 1);
  if (!hint) return;
  print_symbol *symbol = tvms_print_symbol(p, hint);
  if (number <= symbol->numbers) symbol->numbers = number - 1;
}

tvms_sym tvms_print_hint(tvms_printer *p, const tvms_node *object) {
  if (object->id < p->hints.len && p->hints.items[object->id]) {
    return p->hints.items[object->id];
  }
  bool is_buffer = object->kind == TVMS_NODE_BUFFER;
  tvms_sym hint = is_buffer ? tvms_as_buffer(object)->name : tvms_as_var(object)->name;
  // Later releases name pointers apart from their buffers.
  tvms_sym given = is_buffer ? 0 : tvms_as_var(object)->given;
  if (given && !tvms_release_has(p->dialect, TVMS_FACT_pointers_follow_buffer_names))
    return given;
  if (hint) return hint;
  return is_buffer ? tvms_symbol_intern(p->context, "buffer", 6)
                   : tvms_symbol_intern(p->context, "v", 1);
}

static print_name *add_to_frame(tvms_printer *p, const tvms_node *object,
                                uint32_t frame) {
  print_name *name = tvms_print_name_of(p, object);
  print_frame *f = &p->frames.items[frame];
  name->older = f->newest;
  f->newest = object->id;
  return name;
}

tvms_sym tvms_print_define(tvms_printer *p, const tvms_node *object, uint32_t frame) {
  print_name *name = tvms_print_name_of(p, object);
  if (name->how == NAMED_TEXT) return name->name;
  if (name->how != NAMED_NOT) return tvms_print_hint(p, object);
  tvms_sym sym = unique(p, tvms_print_hint(p, object));
  tvms_print_symbol(p, sym)->taken = true;
  name = add_to_frame(p, object, frame);
  name->how = NAMED_TEXT;
  name->name = sym;
  if (object->kind == TVMS_NODE_BUFFER) tvms_print_note_view(p, object);
  return sym;
}

void tvms_print_define_part(tvms_printer *p, const tvms_node *var, uint32_t frame,
                            print_naming how, const tvms_node *owner, uint32_t index) {
  if (tvms_print_defined(p, var)) return;
  print_name *name = add_to_frame(p, var, frame);
  name->how = (uint8_t)how;
  name->owner = owner;
  name->index = index;
}

uint32_t tvms_print_push(tvms_printer *p, print_frame_kind kind,
                         const tvms_node *node) {
  print_frame frame = {
      .node = node, .at = p->main.len, .kind = (uint16_t)kind, .indent = p->indent};
  tvms_vec_push(p->memory, &p->frames, frame);
  return p->frames.len - 1;
}

void tvms_print_pop(tvms_printer *p) {
  uint32_t id = tvms_print_top(p)->newest;
  while (id) {
    print_name *name = &p->names.items[id];
    uint32_t older = name->older;
    if (name->how == NAMED_TEXT) release(p, name->name);
    *name = (print_name){0};
    id = older;
  }
  p->frames.len--;
}
