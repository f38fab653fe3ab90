// Addresses of parts of buffers.
//
// T.tvm_access_ptr(element type, pointer, offset, extent, mask) says more than an address:
// what is read or written behind it. Code generation needs the address only, and takes it
// of an element: T.address_of(A[offset]). A buffer of one dimension with such elements is
// used as it is; for anything else a flat view of the same memory is declared.
#include "passes/tir/host/access_pointer.h"

#include "ir/fold_ops.h"
#include "ir/object.h"
#include "ir/walk.h"

#include <stdio.h>
#include <string.h>

static tvms_walk_step find_buffer(void *self, tvms_node *node, tvms_field_role role) {
  tvms_access_pointers *pointers = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) {
    tvms_node *data = tvms_as_buffer(node)->data;
    const tvms_node *known = tvms_node_map_get(&pointers->buffers, data);
    if (known == node) return TVMS_WALK_SKIP;
    if (!known) tvms_node_map_put(&pointers->buffers, data, node);
  }
  return TVMS_WALK_ON;
}

void tvms_access_pointers_init(tvms_access_pointers *pointers, tvms_unit *unit,
                               tvms_node *function) {
  pointers->unit = unit;
  pointers->scheduled = function->flags & TVMS_FLAG_S_TIR;
  tvms_node_map_init(&pointers->buffers, &unit->context->memory);
  tvms_visitor visitor = {.self = pointers, .enter = find_buffer};
  tvms_walk(&unit->context->memory, function, &visitor);
}

void tvms_access_pointers_fini(tvms_access_pointers *pointers) {
  tvms_node_map_fini(&pointers->buffers);
}

static bool is_access_pointer(const tvms_node *node) {
  return tvms_call_opcode(node) == TVMS_TIR_tvm_access_ptr
         && tvms_as_call(node)->args.len == 5;
}

static tvms_node *add(tvms_unit *unit, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(unit, TVMS_NODE_ADD, a, b, TVMS_NO_SPAN);
}

// The pointer below all others, and the sum of their offsets.
static tvms_node *innermost(tvms_unit *unit, const tvms_call *call,
                            tvms_node **offset) {
  tvms_node *pointer = call->args.items[1];
  *offset = call->args.items[2];
  while (is_access_pointer(pointer)) {
    const tvms_call *inner = tvms_as_call(pointer);
    tvms_node *more = inner->args.items[2];
    if (!tvms_dtype_same(more->dtype, (*offset)->dtype))
      more = tvms_cast_new(unit, (*offset)->dtype, more, TVMS_NO_SPAN);
    *offset = add(unit, more, *offset);
    pointer = inner->args.items[1];
  }
  return pointer;
}

// `base` "_access", a flat buffer of `extent` elements over the memory of `pointer`. From
// 0.26 on a buffer has a pointer of its own, which a declaration binds; before, it is a
// view of the pointer that needs none.
static tvms_node *flat_view(const tvms_access_pointers *p, tvms_node *pointer,
                            tvms_dtype element, tvms_node *extent,
                            tvms_node **declaration) {
  tvms_unit *unit = p->unit;
  bool own = tvms_release_has(unit->dialect, TVMS_FACT_buffers_are_variables);
  const char *base = tvms_symbol_text(unit->context, tvms_as_var(pointer)->name);
  char name[128];
  int len = snprintf(name, sizeof name, "%.100s%s", base, own ? "_access" : "");
  tvms_sym scope = pointer->sinfo ? tvms_as_sinfo_pointer(pointer->sinfo)->scope : 0;
  tvms_buffer *buffer = tvms_node_make(unit, BUFFER, TVMS_NO_SPAN);
  buffer->name = tvms_symbol_intern(unit->context, name, (size_t)len);
  buffer->data =
      own ? tvms_pointer_var_new(unit, buffer->name, element, scope, TVMS_NO_SPAN)
          : pointer;
  buffer->element = element;
  buffer->shape = tvms_list_copy(unit, &extent, 1);
  buffer->elem_offset = tvms_int_imm_new(unit, extent->dtype, 0, TVMS_NO_SPAN);
  buffer->align = 64;
  buffer->offset_factor = 1;
  if (!p->scheduled) buffer->layout = tvms_object_none_new(unit, TVMS_NO_SPAN);
  if (own) {
    tvms_decl_buffer *declare = tvms_node_make(unit, DECL_BUFFER, TVMS_NO_SPAN);
    declare->buffer = &buffer->head;
    declare->source = pointer;
    *declaration = &declare->head;
  }
  return &buffer->head;
}

// The buffer of the pointer, if an element of it can be named by one index.
static tvms_node *flat_buffer_of(const tvms_access_pointers *p, tvms_node *pointer,
                                 tvms_dtype element) {
  if (!tvms_release_has(p->unit->dialect, TVMS_FACT_buffers_are_variables)) return NULL;
  tvms_node *found = tvms_node_map_get(&p->buffers, pointer);
  if (!found) return NULL;
  const tvms_buffer *buffer = tvms_as_buffer(found);
  bool fits = buffer->shape.len == 1 && tvms_dtype_same(buffer->element, element);
  return fits ? found : NULL;
}

tvms_node *TVMS_NULLABLE
tvms_access_pointer_lower(const tvms_access_pointers *pointers, const tvms_node *node,
                          tvms_node *TVMS_NULLABLE *declaration) {
  const tvms_call *call = tvms_as_call(node);
  tvms_unit *unit = pointers->unit;
  *declaration = NULL;
  if (!is_access_pointer(node)) return NULL;
  tvms_node *place, *pointer = innermost(unit, call, &place);
  if (pointer->kind != TVMS_NODE_VAR) return NULL;
  tvms_dtype dtype = call->args.items[0]->dtype;
  tvms_node *extent =
      add(unit, place, tvms_build_int(unit, place->dtype, 1, TVMS_NO_SPAN));
  if (dtype.lanes > 1) {
    tvms_node *lanes = tvms_build_int(unit, place->dtype, dtype.lanes, TVMS_NO_SPAN);
    place = tvms_build_binary(unit, TVMS_NODE_MUL, place, lanes, TVMS_NO_SPAN);
    extent = add(unit, place, lanes);
    tvms_node *one = tvms_build_int(unit, place->dtype, 1, TVMS_NO_SPAN);
    place = tvms_ramp_new(unit, place, one, dtype.lanes, TVMS_NO_SPAN);
  }
  tvms_dtype element = tvms_dtype_with_lanes(dtype, 1);
  tvms_node *buffer = flat_buffer_of(pointers, pointer, element);
  if (!buffer) buffer = flat_view(pointers, pointer, element, extent, declaration);
  tvms_node *load = tvms_buffer_load_new(unit, buffer, &place, 1, NULL, node->span);
  tvms_node *address =
      tvms_call_new_of(unit, node->dtype, TVMS_TIR_address_of, &load, 1, node->span);
  address->sinfo = node->sinfo;
  return address;
}
