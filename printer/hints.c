// Names of pointers and strides in a release that another one's program is written for.
//
// Up to 0.25 the pointer of a buffer is called after the last buffer over it (0.22: alike;
// 0.25: with `_ptr`, and the strides likewise). Later releases name both apart. A program
// that comes from one of those gets the names that the older release would give.
#include "printer/hints.h"

#include "ir/walk.h"
#include "printer/call.h"
#include "printer/state.h"

#include <stdio.h>

typedef struct {
  tvms_printer *p;
  const tvms_node *TVMS_NULLABLE source;  // of the declaration that is visited
} hinter;

// ---- The pointer behind a buffer ----

// From 0.26 on a view has data of its own; before, all views share one pointer.
static void note_root(tvms_printer *p, const tvms_decl_buffer *stmt) {
  if (!stmt->source) return;
  const tvms_node *viewed = tvms_print_buffer_of_data(p, stmt->source);
  const tvms_node *source = viewed ? tvms_as_buffer(viewed)->data : stmt->source;
  const tvms_node *own = tvms_as_buffer(stmt->buffer)->data;
  if (source->kind != TVMS_NODE_VAR || source == own) return;
  while (p->roots.len <= own->id) {
    tvms_vec_push(p->memory, &p->roots, NULL);
  }
  p->roots.items[own->id] = tvms_print_root(p, source);
}

const tvms_node *tvms_print_root(const tvms_printer *p, const tvms_node *data) {
  bool viewed = data->id < p->roots.len && p->roots.items[data->id];
  return viewed ? p->roots.items[data->id] : data;
}

// ---- Names ----

static tvms_sym *hint_at(tvms_printer *p, const tvms_node *object) {
  tvms_vec_reach(p->memory, &p->hints, object->id);
  return &p->hints.items[object->id];
}

static void put_hint(tvms_printer *p, const tvms_node *var, tvms_sym buffer,
                     const char *suffix) {
  if (!var || var->kind != TVMS_NODE_VAR) return;
  tvms_strbuf text;
  tvms_strbuf_init(&text, p->memory);
  const tvms_name *name = tvms_interner_name(&p->context->names, buffer);
  tvms_strbuf_add(&text, name->text, name->len);
  tvms_strbuf_puts(&text, suffix);
  *hint_at(p, var) = tvms_symbol_intern(p->context, text.text, text.len);
  tvms_strbuf_fini(&text);
}

static tvms_walk_step see_node(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  hinter *h = self;
  tvms_printer *p = h->p;
  if (node->kind == TVMS_NODE_DECL_BUFFER) {
    note_root(p, tvms_as_decl_buffer(node));
    const tvms_node *source = tvms_as_decl_buffer(node)->source;
    bool given = source && source->kind == TVMS_NODE_VAR;
    h->source = given ? tvms_print_root(p, source) : NULL;
  }
  if (node->kind != TVMS_NODE_BUFFER) return TVMS_WALK_ON;
  const tvms_buffer *buffer = tvms_as_buffer(node);
  if (!buffer->name || *hint_at(p, node)) return TVMS_WALK_SKIP;
  *hint_at(p, node) = buffer->name;
  bool suffixes = tvms_release_has(p->dialect, TVMS_FACT_buffer_parts_have_suffixes);
  put_hint(p, h->source ? h->source : buffer->data, buffer->name,
           suffixes ? "_ptr" : "");
  h->source = NULL;
  for (uint32_t i = 0; suffixes && i < buffer->strides.len; i++) {
    char suffix[16];
    snprintf(suffix, sizeof suffix, "_s%u", i);
    put_hint(p, buffer->strides.items[i], buffer->name, suffix);
  }
  return TVMS_WALK_SKIP;
}

void tvms_print_hint_names(tvms_printer *p, const tvms_node *function) {
  p->hints.len = 0;
  p->roots.len = 0;
  bool changes = p->module
                 && tvms_release_has(p->dialect, TVMS_FACT_pointers_follow_buffer_names)
                 && p->module->dialect != p->dialect;
  if (!changes) return;
  hinter h = {p, NULL};
  const tvms_visitor visitor = {.self = &h, .enter = see_node};
  tvms_walk(p->memory, (tvms_node *)(uintptr_t)function, &visitor);
}
