// Signatures of functions that are lowered for calls from outside.
//
// The body of a packed function begins with what its caller handed over: `h = struct_get(args, i,
// value)` for each argument, and of a tensor `shape = struct_get(h, 0, SHAPE)`, `n = shape[0]`,
// `data = struct_get(h, 0, DATA)` and assertions about its rank, data type and sizes. One walk in
// the order of the text finds them; an assertion is more telling than a variable of that size.
#include "driver/signature.h"

#include "interp/packed_entry.h"
#include "ir/build.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/host/packed_arguments.h"

#include <string.h>

enum {
  // Of the value of an argument, before arguments had padding.
  FIELD_ANY_OLD = TVMS_FIELD_ANY_UNION_VALUE - 1,
  MOST_RANK = 16,
};

typedef struct {
  tvms_node *TVMS_NULLABLE var;     // the number, or the address of the DLTensor
  tvms_node *TVMS_NULLABLE shape;   // the pointer to its sizes
  tvms_node *TVMS_NULLABLE data;    // the pointer to its elements
  tvms_node *TVMS_NULLABLE buffer;  // over them, as the body declares it
  int64_t rank;                     // -1: unknown
  int64_t type[3];                  // code, bits, lanes; -1: unknown
  tvms_node *sizes[MOST_RANK];      // NULL: unknown
} argument;

typedef struct {
  tvms_context *context;
  tvms_unit *unit;
  const tvms_node *packed;  // the parameter `args`
  argument *arguments;
  uint32_t count;
} reading;

static bool int_of(const tvms_node *node, int64_t *value) {
  if (!tvms_node_is_int_imm(node)) return false;
  *value = tvms_as_int_imm(node)->value;
  return true;
}

// T.tvm_struct_get(pointer, index, field).
typedef struct {
  const tvms_node *pointer;
  int64_t index, field;
} get;

static bool get_of(const tvms_node *node, get *g) {
  if (tvms_call_opcode(node) != TVMS_TIR_tvm_struct_get) return false;
  tvms_list args = tvms_as_call(node)->args;
  if (args.len < 3) return false;
  g->pointer = args.items[0];
  return int_of(args.items[1], &g->index) && int_of(args.items[2], &g->field);
}

static const tvms_node *without_cast(const tvms_node *node) {
  while (node->kind == TVMS_NODE_CAST)
    node = tvms_as_cast(node)->value;
  return node;
}

// The first T.tvm_struct_get in a value.
typedef struct {
  get found;
  bool any;
} get_search;

static tvms_walk_step look_for_get(void *self, tvms_node *node, tvms_field_role role) {
  get_search *search = self;
  (void)role;
  search->any = get_of(node, &search->found);
  return search->any ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool find_get(const reading *r, tvms_node *value, get *g) {
  get_search search = {.any = false};
  tvms_visitor visitor = {.self = &search, .enter = look_for_get};
  (void)tvms_walk(&r->context->memory, value, &visitor);
  *g = search.found;
  return search.any;
}

static argument *TVMS_NULLABLE with_var(const reading *r, const tvms_node *var) {
  for (uint32_t i = 0; i < r->count; i++) {
    if (r->arguments[i].var == var) return &r->arguments[i];
  }
  return NULL;
}

// The size that an expression loads; `*dim` gets which.
static argument *TVMS_NULLABLE size_of(const reading *r, const tvms_node *node,
                                       int64_t *dim) {
  node = without_cast(node);
  const tvms_node *pointer = NULL;
  get g;
  if (get_of(node, &g) && g.field == TVMS_FIELD_INT64_ELEMENT) {
    pointer = g.pointer;
    *dim = g.index;
  } else if (node->kind == TVMS_NODE_BUFFER_LOAD) {
    tvms_element element = tvms_node_element(node);
    bool flat = element.indices->len == 1 && int_of(element.indices->items[0], dim);
    if (flat) pointer = tvms_as_buffer(*element.buffer)->data;
  }
  for (uint32_t i = 0; pointer && i < r->count; i++) {
    argument *a = &r->arguments[i];
    if (a->shape == pointer && *dim >= 0 && *dim < MOST_RANK) return a;
  }
  return NULL;
}

static void read_bind(reading *r, const tvms_bind *bind) {
  int64_t dim;
  argument *a = size_of(r, bind->value, &dim);
  if (a && !a->sizes[dim]) a->sizes[dim] = bind->var;
  get g;
  if (a || !find_get(r, bind->value, &g)) return;
  bool value = g.field == TVMS_FIELD_ANY_UNION_VALUE || g.field == FIELD_ANY_OLD;
  if (g.pointer == r->packed && value && g.index >= 0 && g.index < r->count) {
    a = &r->arguments[g.index];
    if (!a->var) a->var = bind->var;
    return;
  }
  a = with_var(r, g.pointer);
  if (a && g.field == TVMS_FIELD_TENSOR_SHAPE) a->shape = bind->var;
  if (a && g.field == TVMS_FIELD_TENSOR_DATA) a->data = bind->var;
}

// A size that has a variable of its own, such as CommonSubexprElim makes, is this number.
static void settle_size(reading *r, const tvms_node *var, const tvms_node *number) {
  for (uint32_t i = 0; i < r->count; i++) {
    for (uint32_t k = 0; k < MOST_RANK; k++) {
      tvms_node **size = &r->arguments[i].sizes[k];
      if (*size == var) *size = (tvms_node *)(uintptr_t)number;
    }
  }
}

// What an equation says about a tensor.
static void read_equation(reading *r, const tvms_node *a, const tvms_node *b) {
  int64_t value, dim;
  get g;
  if (a->kind == TVMS_NODE_VAR && int_of(b, &value)) settle_size(r, a, b);
  argument *of_size = size_of(r, a, &dim);
  if (of_size) of_size->sizes[dim] = (tvms_node *)(uintptr_t)b;
  argument *owner = get_of(a, &g) ? with_var(r, g.pointer) : NULL;
  if (!owner || !int_of(b, &value)) return;
  if (g.field == TVMS_FIELD_TENSOR_NDIM) owner->rank = value;
  if (g.field >= TVMS_FIELD_TENSOR_TYPE_CODE && g.field <= TVMS_FIELD_TENSOR_TYPE_LANES)
    owner->type[g.field - TVMS_FIELD_TENSOR_TYPE_CODE] = value;
}

static void read_condition(reading *r, const tvms_node *condition) {
  if (condition->kind == TVMS_NODE_AND) {
    read_condition(r, tvms_as_and(condition)->a);
    read_condition(r, tvms_as_and(condition)->b);
  }
  if (condition->kind != TVMS_NODE_EQ) return;
  read_equation(r, tvms_as_eq(condition)->a, tvms_as_eq(condition)->b);
  read_equation(r, tvms_as_eq(condition)->b, tvms_as_eq(condition)->a);
}

// A buffer over the elements: declared over their pointer, or over what is loaded on the spot.
static void read_declaration(reading *r, const tvms_decl_buffer *declare) {
  get g;
  tvms_node *source = declare->source;
  argument *a = source && find_get(r, source, &g) && g.field == TVMS_FIELD_TENSOR_DATA
                    ? with_var(r, g.pointer)
                    : NULL;
  const tvms_node *pointer = source ? source : tvms_as_buffer(declare->buffer)->data;
  for (uint32_t i = 0; !a && i < r->count; i++) {
    if (r->arguments[i].data == pointer) a = &r->arguments[i];
  }
  if (a && !a->buffer) a->buffer = declare->buffer;
}

static tvms_walk_step read_stmt(void *self, tvms_node *node, tvms_field_role role) {
  reading *r = self;
  (void)role;
  if (node->kind == TVMS_NODE_BIND) read_bind(r, tvms_as_bind(node));
  if (node->kind == TVMS_NODE_ASSERT)
    read_condition(r, tvms_as_assert(node)->condition);
  if (node->kind == TVMS_NODE_DECL_BUFFER)
    read_declaration(r, tvms_as_decl_buffer(node));
  return TVMS_WALK_ON;
}

// How many arguments the body asks for, `num_args == n`, or else how many it looks at.
typedef struct {
  const tvms_node *var, *packed;
  int64_t count, seen;
} count_search;

static tvms_walk_step look_for_count(void *self, tvms_node *node,
                                     tvms_field_role role) {
  count_search *search = self;
  (void)role;
  get g;
  if (get_of(node, &g) && g.pointer == search->packed && g.index >= search->seen)
    search->seen = g.index + 1;
  if (node->kind != TVMS_NODE_EQ) return TVMS_WALK_ON;
  const tvms_node *a = tvms_as_eq(node)->a, *b = tvms_as_eq(node)->b;
  bool said = (a == search->var && int_of(b, &search->count))
              || (b == search->var && int_of(a, &search->count));
  return said ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static uint32_t count_of(const reading *r, const tvms_prim_func *prim) {
  enum { MOST_ARGUMENTS = 4096 };
  count_search search = {
      .var = prim->params.items[2], .packed = r->packed, .count = -1};
  tvms_visitor visitor = {.self = &search, .enter = look_for_count};
  (void)tvms_walk(&r->context->memory, prim->body, &visitor);
  int64_t count = search.count < 0 ? search.seen : search.count;
  return count <= MOST_ARGUMENTS ? (uint32_t)count : UINT32_MAX;
}

// The name that the buffer had: that of its pointer, or its own. A.data is "A", or "A_ptr".
static tvms_sym name_of(const reading *r, const argument *a) {
  const tvms_node *pointer = a->data;
  if (!pointer) return tvms_as_buffer(a->buffer)->name;
  const char *name = tvms_symbol_text(r->context, tvms_as_var(pointer)->name);
  size_t len = strlen(name);
  if (len > 4 && strcmp(name + len - 4, "_ptr") == 0) len -= 4;
  return tvms_symbol_intern(r->context, name, len);
}

// What assertions do not say, because SkipAssert took them away, the body's own buffer does.
static void complete(argument *a) {
  if (!a->buffer) return;
  const tvms_buffer *buffer = tvms_as_buffer(a->buffer);
  if (a->type[0] < 0) {
    a->type[0] = buffer->element.code;
    a->type[1] = buffer->element.bits;
    a->type[2] = buffer->element.lanes;
  }
  if (a->rank >= 0 || buffer->shape.len > MOST_RANK) return;
  a->rank = buffer->shape.len;
  for (int64_t i = 0; i < a->rank; i++)
    a->sizes[i] = buffer->shape.items[i];
}

// The buffer that an argument was; NULL: the body does not say enough.
static tvms_node *TVMS_NULLABLE make_buffer(reading *r, argument *a) {
  complete(a);
  bool typed = a->type[0] >= 0 && a->type[1] > 0 && a->type[2] > 0;
  bool sized = a->rank >= 0 && a->rank <= MOST_RANK;
  for (int64_t i = 0; sized && i < a->rank; i++)
    sized = a->sizes[i] != NULL;
  if (!typed || !sized || (!a->data && !a->buffer)) return NULL;
  tvms_buffer *buffer = tvms_node_make(r->unit, BUFFER, TVMS_NO_SPAN);
  buffer->name = name_of(r, a);
  buffer->data = a->buffer ? tvms_as_buffer(a->buffer)->data : a->data;
  buffer->element =
      (tvms_dtype){(uint8_t)a->type[0], (uint8_t)a->type[1], (int16_t)a->type[2]};
  buffer->shape = tvms_list_copy(r->unit, a->sizes, (uint32_t)a->rank);
  buffer->elem_offset = tvms_int_imm_new(r->unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
  return &buffer->head;
}

static const tvms_member *member_with(reading *r, const tvms_member *entry,
                                      tvms_node **params, tvms_node **buffers,
                                      uint32_t count) {
  tvms_node *function = tvms_node_copy(r->unit, entry->function);
  tvms_prim_func *prim = tvms_as_prim_func(function);
  prim->params = tvms_list_copy(r->unit, params, count);
  prim->buffers = tvms_list_copy(r->unit, buffers, count);
  tvms_member *member = tvms_arena_new(&r->context->arena, tvms_member);
  *member = *entry;
  member->function = function;
  return member;
}

static const tvms_member *unpack(reading *r, const tvms_member *entry) {
  const tvms_prim_func *prim = tvms_as_prim_func(entry->function);
  tvms_arena *arena = &r->context->arena;
  r->packed = prim->params.items[1];
  r->count = count_of(r, prim);
  if (r->count == UINT32_MAX) return entry;
  r->arguments = tvms_arena_array(arena, argument, r->count + 1);
  for (uint32_t i = 0; i < r->count; i++)
    r->arguments[i] = (argument){.rank = -1, .type = {-1, -1, -1}};
  tvms_visitor visitor = {.self = r, .enter = read_stmt};
  (void)tvms_walk(&r->context->memory, prim->body, &visitor);
  tvms_node **params = tvms_arena_array(arena, tvms_node *, r->count + 1);
  tvms_node **buffers = tvms_arena_array(arena, tvms_node *, r->count + 1);
  for (uint32_t i = 0; i < r->count; i++) {
    argument *a = &r->arguments[i];
    bool number = a->var && !tvms_dtype_is_handle(a->var->dtype);
    buffers[i] = number ? NULL : make_buffer(r, a);
    params[i] = a->var;
    if (!params[i]) return entry;
  }
  return member_with(r, entry, params, buffers, r->count);
}

// ---- Pointers ----

typedef struct {
  const tvms_node *pointer;
  const tvms_node *TVMS_NULLABLE buffer;
} buffer_search;

static tvms_walk_step look_for_buffer(void *self, tvms_node *node,
                                      tvms_field_role role) {
  buffer_search *search = self;
  (void)role;
  const tvms_node *buffer = NULL, *source = NULL;
  if (node->kind == TVMS_NODE_DECL_BUFFER) {
    buffer = tvms_as_decl_buffer(node)->buffer;
    source = tvms_as_decl_buffer(node)->source;
  } else if (node->kind == TVMS_NODE_BUFFER_LOAD || node->kind == TVMS_NODE_STORE) {
    buffer = *tvms_node_element(node).buffer;
  }
  if (!buffer) return TVMS_WALK_ON;
  if (!source) source = tvms_as_buffer(buffer)->data;
  if (source != search->pointer) return TVMS_WALK_ON;
  search->buffer = buffer;
  return TVMS_WALK_STOP;
}

static const tvms_member *declare(reading *r, const tvms_member *entry) {
  const tvms_prim_func *prim = tvms_as_prim_func(entry->function);
  uint32_t count = prim->params.len;
  tvms_node **buffers = tvms_arena_array(&r->context->arena, tvms_node *, count + 1);
  bool any = false;
  for (uint32_t i = 0; i < count; i++) {
    tvms_node *param = prim->params.items[i];
    buffers[i] = prim->buffers.items[i];
    if (buffers[i] || !tvms_dtype_is_handle(param->dtype)) continue;
    buffer_search search = {.pointer = param};
    tvms_visitor visitor = {.self = &search, .enter = look_for_buffer};
    (void)tvms_walk(&r->context->memory, prim->body, &visitor);
    if (!search.buffer) continue;
    buffers[i] = tvms_node_copy(r->unit, search.buffer);
    tvms_as_buffer(buffers[i])->name = tvms_as_var(param)->name;
    any = true;
  }
  return any ? member_with(r, entry, prim->params.items, buffers, count) : entry;
}

const tvms_member *tvms_inputs_signature(tvms_context *context,
                                         const tvms_member *entry) {
  if (entry->function->kind != TVMS_NODE_PRIM_FUNC) return entry;
  reading r = {.context = context, .unit = entry->unit};
  return tvms_interp_is_packed_entry(entry->function) ? unpack(&r, entry)
                                                      : declare(&r, entry);
}

tvms_value tvms_inputs_result(const tvms_member *entry, const tvms_member *signature,
                              tvms_value result) {
  bool code = signature != entry && result.kind == TVMS_VALUE_INT && !result.i
              && !tvms_interp_is_packed_entry(entry->function);
  return code ? (tvms_value){0} : result;
}
