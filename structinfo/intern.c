// Interning closed StructInfo: a hash table in the context, of types by their contents.
//
// A type is closed if it mentions nothing that belongs to a function or a module: no variable,
// no virtual device. R.Tensor((4, 8), "float32") is closed, R.Tensor((n, 8), "float32") is not.
// Programs have few closed types and mention them often, so there is one node for each in a
// context, for all its functions and modules: comparing two is comparing pointers, and a node of
// a program costs no memory for its type.
//
// The invariant: a node with TVMS_FLAG_INTERNED is in the table, all its parts are interned too,
// and no other node of the context has the same contents. It belongs to the context's arena, has
// the id 0 and no place in the text, and outlives the function for which it was made; so
// nothing about it can be kept by id, and it must never be changed.
//
// A candidate may lie anywhere, on the stack too. It is first brought to a form whose parts are
// interned already, so that looking it up compares pointers and numbers, one level deep.
// Dimensions are compared by value and copied when a shape is seen first. The shape of a tensor
// is the SHAPE_EXPR that lies behind each shape type (kept_shape).
#include "structinfo/intern.h"

#include "ir/build.h"

#include <string.h>

typedef struct {
  uint64_t hash;
  tvms_node *node;  // NULL: free
} slot;

struct tvms_types {
  slot *slots;
  uint32_t count;
  uint32_t cap;  // a power of two
};

typedef union {
  tvms_node head;
  tvms_struct_SINFO_OBJECT object;
  tvms_struct_SINFO_PRIM prim;
  tvms_struct_SINFO_SHAPE shape;
  tvms_struct_SINFO_TENSOR tensor;
  tvms_struct_SINFO_TUPLE tuple;
  tvms_struct_SINFO_FUNC func;
  tvms_struct_INT_IMM number;
  tvms_struct_FLOAT_IMM real;
} any_type;

// A shape type that is kept, and its value.
typedef struct {
  tvms_sinfo_shape type;
  tvms_shape_expr value;
} kept_shape;

enum { MEANT = TVMS_FLAG_KNOWN | TVMS_FLAG_PURE, FIRST_CAP = 256, FEW_PARTS = 64 };

// ---- Contents ----

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ hash >> 29;
}

static uint64_t mix_pointer(uint64_t hash, const void *TVMS_NULLABLE pointer) {
  return mix(hash, (uint64_t)(uintptr_t)pointer);
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static int64_t dim_of(const tvms_node *node) {
  return ((const tvms_int_imm *)(const void *)node)->value;
}

static uint64_t hash_parts(uint64_t hash, tvms_list parts) {
  for (uint32_t i = 0; i < parts.len; i++) {
    hash = mix_pointer(hash, parts.items[i]);
  }
  return hash;
}

static uint64_t hash_of(const any_type *type) {
  const tvms_node *head = &type->head;
  uint64_t hash =
      mix((uint64_t)head->kind << 8 | (head->flags & MEANT),
          (uint64_t)head->dtype.code << 32 | (uint64_t)head->dtype.bits << 16
              | (uint16_t)head->dtype.lanes);
  switch ((int)head->kind) {
  case TVMS_NODE_INT_IMM: return mix(hash, (uint64_t)type->number.value);
  case TVMS_NODE_FLOAT_IMM: return mix(hash, bits_of(type->real.value));
  case TVMS_NODE_SINFO_PRIM: return mix_pointer(hash, type->prim.value);
  case TVMS_NODE_SINFO_TUPLE: return hash_parts(hash, type->tuple.fields);
  case TVMS_NODE_SINFO_TENSOR:
    return mix(mix_pointer(hash, type->tensor.shape), (uint64_t)type->tensor.ndim);
  case TVMS_NODE_SINFO_SHAPE:
    hash = mix(hash, (uint64_t)type->shape.ndim);
    for (uint32_t i = 0; i < type->shape.values.len; i++) {
      hash = mix(hash, (uint64_t)dim_of(type->shape.values.items[i]));
    }
    return hash;
  case TVMS_NODE_SINFO_FUNC:
    for (uint32_t i = 0; i < type->func.derive.len; i++) {
      hash = mix(hash, (unsigned char)type->func.derive.text[i]);
    }
    return hash_parts(mix_pointer(hash, type->func.ret), type->func.params);
  default: return hash;
  }
}

static bool same_parts(tvms_list a, tvms_list b) {
  if (a.len != b.len) return false;
  return a.len == 0 || memcmp(a.items, b.items, a.len * sizeof *a.items) == 0;
}

static bool same_dims(tvms_list a, tvms_list b) {
  if (a.len != b.len) return false;
  for (uint32_t i = 0; i < a.len; i++) {
    if (dim_of(a.items[i]) != dim_of(b.items[i])) return false;
  }
  return true;
}

static bool same(const any_type *a, const any_type *b) {
  if (a->head.kind != b->head.kind || ((a->head.flags ^ b->head.flags) & MEANT)
      || !tvms_dtype_same(a->head.dtype, b->head.dtype)) {
    return false;
  }
  switch ((int)a->head.kind) {
  case TVMS_NODE_INT_IMM: return a->number.value == b->number.value;
  case TVMS_NODE_FLOAT_IMM: return bits_of(a->real.value) == bits_of(b->real.value);
  case TVMS_NODE_SINFO_PRIM: return a->prim.value == b->prim.value;
  case TVMS_NODE_SINFO_TUPLE: return same_parts(a->tuple.fields, b->tuple.fields);
  case TVMS_NODE_SINFO_SHAPE:
    return a->shape.ndim == b->shape.ndim
           && same_dims(a->shape.values, b->shape.values);
  case TVMS_NODE_SINFO_TENSOR:
    return a->tensor.shape == b->tensor.shape && a->tensor.ndim == b->tensor.ndim;
  case TVMS_NODE_SINFO_FUNC:
    return a->func.ret == b->func.ret && tvms_bytes_same(a->func.derive, b->func.derive)
           && same_parts(a->func.params, b->func.params);
  default: return true;
  }
}

// ---- The table ----

static slot *find(const struct tvms_types *types, const any_type *type, uint64_t hash) {
  uint32_t mask = types->cap - 1;
  for (uint32_t at = (uint32_t)hash & mask;; at = (at + 1) & mask) {
    slot *place = &types->slots[at];
    if (!place->node) return place;
    if (place->hash == hash && same((const any_type *)place->node, type)) return place;
  }
}

static void grow(tvms_context *context, struct tvms_types *types) {
  slot *old = types->slots;
  uint32_t old_cap = types->cap;
  types->cap = old_cap ? old_cap * 2 : FIRST_CAP;
  types->slots = tvms_memory_alloc(&context->memory, types->cap * sizeof *types->slots);
  memset(types->slots, 0, types->cap * sizeof *types->slots);
  for (uint32_t i = 0; i < old_cap; i++) {
    uint32_t at = (uint32_t)old[i].hash & (types->cap - 1);
    if (!old[i].node) continue;
    while (types->slots[at].node) {
      at = (at + 1) & (types->cap - 1);
    }
    types->slots[at] = old[i];
  }
  tvms_memory_free(&context->memory, old);
}

static struct tvms_types *types_of(tvms_context *context) {
  if (!context->types) {
    context->types = tvms_arena_new(&context->arena, struct tvms_types);
  }
  return context->types;
}

static tvms_list kept_list(tvms_context *context, tvms_list list) {
  if (list.len == 0) return (tvms_list){NULL, 0};
  tvms_list kept = {tvms_arena_array(&context->arena, tvms_node *, list.len), list.len};
  memcpy(kept.items, list.items, list.len * sizeof *list.items);
  return kept;
}

static void keep_head(tvms_node *head) {
  head->id = 0;
  head->span = TVMS_NO_SPAN;
  head->sinfo = NULL;
  head->flags = (uint8_t)((head->flags & MEANT) | TVMS_FLAG_INTERNED);
}

static tvms_node *keep_shape(tvms_context *context, const any_type *type) {
  kept_shape *kept = tvms_arena_new(&context->arena, kept_shape);
  kept->type = type->shape;
  keep_head(&kept->type.head);
  kept->type.values = kept_list(context, type->shape.values);
  for (uint32_t i = 0; i < kept->type.values.len; i++) {
    tvms_int_imm *dim = tvms_arena_new(&context->arena, tvms_int_imm);
    *dim = *tvms_as_int_imm(type->shape.values.items[i]);
    keep_head(&dim->head);
    kept->type.values.items[i] = &dim->head;
  }
  kept->value.head.kind = TVMS_NODE_SHAPE_EXPR;
  keep_head(&kept->value.head);
  kept->value.head.sinfo = &kept->type.head;
  kept->value.values = kept->type.values;
  return &kept->type.head;
}

// A copy of a candidate, whose parts are interned, that lives as long as the context.
static tvms_node *keep(tvms_context *context, const any_type *type) {
  if (type->head.kind == TVMS_NODE_SINFO_SHAPE) return keep_shape(context, type);
  size_t size = tvms_node_schema_of((tvms_node_kind)type->head.kind)->size;
  any_type *kept = tvms_arena_alloc(&context->arena, size);
  memcpy(kept, type, size);
  keep_head(&kept->head);
  if (type->head.kind == TVMS_NODE_SINFO_TUPLE) {
    kept->tuple.fields = kept_list(context, type->tuple.fields);
  } else if (type->head.kind == TVMS_NODE_SINFO_FUNC) {
    kept->func.params = kept_list(context, type->func.params);
    kept->func.derive.text =
        tvms_arena_text(&context->arena, type->func.derive.text, type->func.derive.len);
  }
  return &kept->head;
}

static tvms_node *entered(tvms_context *context, const any_type *type) {
  struct tvms_types *types = types_of(context);
  if (types->count >= types->cap / 4 * 3) grow(context, types);
  uint64_t hash = hash_of(type);
  slot *place = find(types, type, hash);
  if (!place->node) {
    *place = (slot){hash, keep(context, type)};
    types->count++;
  }
  return place->node;
}

// ---- Bringing a candidate into that form ----

static tvms_node *TVMS_NULLABLE interned_number(tvms_context *context,
                                                const tvms_node *node) {
  bool small = node->kind == TVMS_NODE_INT_IMM && !(node->flags & TVMS_FLAG_LARGE);
  if (!small && node->kind != TVMS_NODE_FLOAT_IMM) return NULL;
  if (node->flags & TVMS_FLAG_INTERNED) return (tvms_node *)(uintptr_t)node;
  return entered(context, (const any_type *)(const void *)node);
}

static bool are_numbers(tvms_list dims) {
  for (uint32_t i = 0; i < dims.len; i++) {
    const tvms_node *dim = dims.items[i];
    if (dim->kind != TVMS_NODE_INT_IMM || dim->flags & TVMS_FLAG_LARGE
        || dim->dtype.bits != 64 || dim->dtype.code != TVMS_INT) {
      return false;
    }
  }
  return true;
}

// Replaces types by the interned ones, in `room`; false if one is not closed.
static bool intern_types(tvms_context *context, tvms_list *list, tvms_node **room) {
  for (uint32_t i = 0; i < list->len; i++) {
    room[i] = tvms_types_intern(context, list->items[i]);
    if (!room[i]) return false;
  }
  list->items = room;
  return true;
}

static bool intern_shape(tvms_context *context, any_type *type) {
  tvms_node *shape = type->tensor.shape;
  if (type->tensor.vdevice) return false;
  if (!shape || shape->flags & TVMS_FLAG_INTERNED) return true;
  if (shape->kind != TVMS_NODE_SHAPE_EXPR || !shape->sinfo) return false;
  tvms_node *known = tvms_types_intern(context, shape->sinfo);
  if (!known) return false;
  type->tensor.shape = &((kept_shape *)(void *)known)->value.head;
  return true;
}

static bool intern_parts(tvms_context *context, any_type *type, tvms_node **room) {
  switch ((int)type->head.kind) {
  case TVMS_NODE_SINFO_OBJECT: return true;
  case TVMS_NODE_SINFO_SHAPE: return are_numbers(type->shape.values);
  case TVMS_NODE_SINFO_TENSOR: return intern_shape(context, type);
  case TVMS_NODE_SINFO_TUPLE: return intern_types(context, &type->tuple.fields, room);
  case TVMS_NODE_SINFO_PRIM:
    if (!type->prim.value) return true;
    type->prim.value = interned_number(context, type->prim.value);
    return type->prim.value;
  case TVMS_NODE_SINFO_FUNC:
    type->func.ret = type->func.ret ? tvms_types_intern(context, type->func.ret) : NULL;
    return type->func.ret && intern_types(context, &type->func.params, room);
  default: return false;
  }
}

// How many types a type is made of.
static uint32_t parts_of(const tvms_node *type) {
  switch ((int)type->kind) {
  case TVMS_NODE_SINFO_TUPLE: return tvms_as_sinfo_tuple(type)->fields.len;
  case TVMS_NODE_SINFO_FUNC: return tvms_as_sinfo_func(type)->params.len;
  default: return 0;
  }
}

tvms_node *tvms_types_intern(tvms_context *context, const tvms_node *type) {
  if (type->flags & TVMS_FLAG_INTERNED) return (tvms_node *)(uintptr_t)type;
  size_t size = tvms_node_schema_of((tvms_node_kind)type->kind)->size;
  any_type candidate;
  if (size > sizeof candidate) return NULL;
  memcpy(&candidate, type, size);
  tvms_node *few[FEW_PARTS], **room = few, *result = NULL;
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  uint32_t parts = parts_of(type);
  if (parts > FEW_PARTS) room = tvms_arena_array(&context->scratch, tvms_node *, parts);
  if (!tvms_memory_enter(&context->memory))
    tvms_memory_unwind(&context->memory, TVMS_OVER_LIMIT);
  if (intern_parts(context, &candidate, room)) result = entered(context, &candidate);
  tvms_memory_leave(&context->memory);
  if (room != few) tvms_arena_reset(&context->scratch, mark);
  return result;
}
