// Units, allocation of nodes, and the schema made from nodes.def.
//
// A row FIELD becomes a tvms_field with its offset, its type and its role. Walks, copies,
// comparisons and hashes go by that table, so a new kind of node is rows of nodes.def and no code
// in them. LEAF_<KIND> says at compile time that a kind holds no other nodes, so that a walk does
// not look at its fields.
#include "ir/node.h"

#include <string.h>

// The column TYPE says whether there may be a NULL.
enum {
  NULLABLE_NODE = false,
  NULLABLE_LIST = false,
  NULLABLE_OPTIONAL = true,
  NULLABLE_OPTIONALS = true,
  NULLABLE_SYM = false,
  NULLABLE_INT = false,
  NULLABLE_FLOAT = false,
  NULLABLE_DTYPE = false,
  NULLABLE_FLAG = false,
  NULLABLE_TEXT = false,
  NULLABLE_BYTES = false,
};

#define FIELD_ROW(KIND, TYPE, name, role, holds)                                       \
  {#name,                                                                              \
   TVMS_TYPE_##TYPE,                                                                   \
   TVMS_ROLE_##role,                                                                   \
   offsetof(tvms_struct_##KIND, name),                                                 \
   TVMS_HOLDS_##holds,                                                                 \
   NULLABLE_##TYPE},
#define END(KIND)                                                                      \
  { 0 }                                                                                \
  }                                                                                    \
  ;

#define NODE(KIND, name, class) static const tvms_field fields_##KIND[] = {
#define FIELD(...)              FIELD_ROW(__VA_ARGS__)
#include "ir/nodes.def"

// The fields that hold nodes once more: walks and copies ask for no others.
#define PART_NODE      FIELD_ROW
#define PART_LIST      FIELD_ROW
#define PART_OPTIONAL  FIELD_ROW
#define PART_OPTIONALS FIELD_ROW
#define PART_SYM(...)
#define PART_INT(...)
#define PART_FLOAT(...)
#define PART_DTYPE(...)
#define PART_FLAG(...)
#define PART_TEXT(...)
#define PART_BYTES(...)
#define NODE(KIND, name, class)              static const tvms_field parts_##KIND[] = {
#define FIELD(KIND, TYPE, name, role, holds) PART_##TYPE(KIND, TYPE, name, role, holds)
#define END(KIND)                                                                      \
  { 0 }                                                                                \
  }                                                                                    \
  ;
#include "ir/nodes.def"

// LEAF_<KIND>: a product of one factor for each field, 0 if that field holds nodes.
enum {
#define NODE(KIND, name, class) LEAF_##KIND = 1
#define FIELD(KIND, TYPE, name, role, holds)                                           \
  *(TVMS_TYPE_##TYPE != TVMS_TYPE_NODE && TVMS_TYPE_##TYPE != TVMS_TYPE_LIST)
#define END(KIND) ,
#include "ir/nodes.def"
};

const tvms_node_schema tvms_node_schemas[] = {
#define NODE(KIND, name, class)                                                        \
  [TVMS_NODE_##KIND] = {#name,                                                         \
                        TVMS_CLASS_##class,                                            \
                        sizeof(tvms_struct_##KIND),                                    \
                        sizeof fields_##KIND / sizeof(tvms_field) - 1,                 \
                        fields_##KIND,                                                 \
                        parts_##KIND,                                                  \
                        LEAF_##KIND},
#define FIELD(KIND, TYPE, name, role, holds)
#define END(KIND)
#include "ir/nodes.def"
};

tvms_element tvms_node_element(const tvms_node *node) {
  if (node->kind == TVMS_NODE_STORE) {
    tvms_store *store = tvms_as_store(node);
    return (tvms_element){&store->buffer, &store->indices};
  }
  tvms_buffer_load *load = tvms_as_buffer_load(node);
  return (tvms_element){&load->buffer, &load->indices};
}

tvms_list tvms_buffer_strides(const tvms_node *buffer) {
  const tvms_buffer *b = tvms_as_buffer(buffer);
  return b->strides.len == b->shape.len ? b->strides : (tvms_list){0};
}

void tvms_unit_init(tvms_unit *unit, tvms_context *context, tvms_dialect dialect) {
  *unit = (tvms_unit){.context = context, .next_id = 1, .dialect = dialect};
  tvms_arena_init(&unit->arena, &context->memory);
}

void tvms_unit_fini(tvms_unit *unit) {
  tvms_context *context = unit->context;
  for (uint32_t i = 0; i < unit->held.len; i++)
    tvms_shared_drop(&context->memory, &context->shares, unit->held.items[i]);
  tvms_vec_fini(&context->memory, &unit->held);
  tvms_arena_fini(&unit->arena);
}

tvms_node *tvms_node_new(tvms_unit *unit, tvms_node_kind kind, tvms_span span) {
  tvms_node *node = tvms_arena_alloc(&unit->arena, tvms_node_schema_of(kind)->size);
  node->kind = (uint8_t)kind;
  tvms_kind_set_add(&unit->kinds, kind);
  node->id = unit->next_id++;
  node->span = span.end ? span : unit->origin;
  return node;
}

tvms_list tvms_list_copy(tvms_unit *unit, tvms_node *const *items, uint32_t len) {
  if (len == 0) return (tvms_list){NULL, 0};
  tvms_list list = {tvms_arena_array(&unit->arena, tvms_node *, len), len};
  memcpy(list.items, items, len * sizeof *items);
  return list;
}

tvms_list tvms_list_with(tvms_unit *unit, tvms_list list, tvms_node *last) {
  tvms_list made = {tvms_arena_array(&unit->arena, tvms_node *, list.len + 1),
                    list.len + 1};
  if (list.len) memcpy(made.items, list.items, list.len * sizeof *list.items);
  made.items[list.len] = last;
  return made;
}

// From so many bytes on units share them.
enum { MANY_BYTES = 1 << 14, BYTES_ALIGNMENT = 64 };

static tvms_shared *held_bytes(tvms_unit *unit, size_t size) {
  tvms_context *context = unit->context;
  // The list grows first: nothing may fail once there are bytes for the unit to drop.
  tvms_vec_push(&context->memory, &unit->held, NULL);
  unit->held.len--;
  tvms_shared *shared = tvms_shared_new(&context->memory, &context->shares, size);
  tvms_vec_push(&context->memory, &unit->held, shared);
  return shared;
}

char *tvms_bytes_new(tvms_unit *unit, size_t len) {
  if (len >= MANY_BYTES) return held_bytes(unit, len)->bytes;
  char *room = tvms_arena_alloc(&unit->arena, len + BYTES_ALIGNMENT);
  size_t rest = (uintptr_t)room % BYTES_ALIGNMENT;
  return rest ? room + (BYTES_ALIGNMENT - rest) : room;
}

tvms_bytes tvms_bytes_copy(tvms_unit *unit, const char *text, size_t len) {
  if (len < MANY_BYTES)
    return (tvms_bytes){tvms_arena_text(&unit->arena, text, len), (uint32_t)len};
  char *bytes = held_bytes(unit, len + 1)->bytes;
  memcpy(bytes, text, len);
  bytes[len] = '\0';
  return (tvms_bytes){bytes, (uint32_t)len};
}

tvms_bytes tvms_bytes_share(tvms_unit *unit, const char *bytes, size_t len) {
  tvms_context *context = unit->context;
  tvms_shared *shared =
      len < MANY_BYTES ? NULL : tvms_shared_find(&context->shares, bytes, len);
  if (!shared) return tvms_bytes_copy(unit, bytes, len);
  bool last = unit->held.len && unit->held.items[unit->held.len - 1] == shared;
  if (!last) {
    tvms_vec_push(&context->memory, &unit->held, shared);
    tvms_shared_hold(shared);
  }
  return (tvms_bytes){bytes, (uint32_t)len};
}

bool tvms_bytes_same(tvms_bytes a, tvms_bytes b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.text, b.text, a.len) == 0);
}

bool tvms_bytes_is(tvms_bytes a, const char *text) {
  return a.len == strlen(text) && (a.len == 0 || memcmp(a.text, text, a.len) == 0);
}
