// Small memory of a function that is variables of C: compilers keep these in registers.
#include "backend/c/registers.h"

#include "backend/c/sums.h"
#include "backend/core/lanes.h"
#include "ir/build.h"
#include "ir/walk.h"

enum { MOST_REGISTERS = 128 };

// What the accesses to one piece of memory are.
struct c_registers {
  tvms_dtype dtype;                // of each; void: there is none yet
  int64_t count;                   // so many vectors, from the first on
  bool in_memory;                  // an access is something else
  const char *TVMS_NULLABLE name;  // of the variables, when they are declared
};

// ---- Places ----

// The number of the vector that one index names; -1: it is none.
static int64_t number_of(const tvms_node *index) {
  int64_t first;
  const tvms_node *base = index;
  if (index->kind == TVMS_NODE_RAMP) {
    if (!tvms_node_is_int(tvms_as_ramp(index)->stride, 1)) return -1;
    base = tvms_as_ramp(index)->base;
  }
  int lanes = index->dtype.lanes;
  bool fits = lanes > 0 && (lanes == 1 || index->kind == TVMS_NODE_RAMP)
              && tvms_c_number(base, &first) && first >= 0 && first % lanes == 0
              && first / lanes < MOST_REGISTERS;
  return fits ? first / lanes : -1;
}

// ---- Finding ----

static c_registers *registers_of(c_emitter *e, const tvms_node *data) {
  c_registers **known = &e->registers[data->id];
  if (!*known) *known = tvms_arena_new(&e->context->scratch, c_registers);
  return *known;
}

static bool is_kind(tvms_dtype element) {
  return element.code == TVMS_INT || element.code == TVMS_UINT
         || element.code == TVMS_FLOAT || element.code == TVMS_BFLOAT;
}

// Of some lanes only, it must be known which.
static void note_access(c_emitter *e, const tvms_node *node, tvms_list indices,
                        const tvms_node *TVMS_NULLABLE predicate) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  if (buffer->data->kind != TVMS_NODE_VAR) return;
  c_registers *r = registers_of(e, buffer->data);
  uint64_t lanes;
  bool known = indices.len == 1 && (!predicate || tvms_lanes_truths(predicate, &lanes));
  int64_t number = known ? number_of(indices.items[0]) : -1;
  bool plain = number >= 0 && !buffer->strides.len && buffer->element.lanes == 1
               && is_kind(buffer->element)
               && (!buffer->elem_offset || tvms_node_is_int(buffer->elem_offset, 0));
  tvms_dtype dtype = buffer->element;
  if (plain) dtype = tvms_dtype_with_lanes(dtype, indices.items[0]->dtype.lanes);
  if (!plain || (r->count && !tvms_dtype_same(dtype, r->dtype))) {
    r->in_memory = true;
    return;
  }
  r->dtype = dtype;
  if (number >= r->count) r->count = number + 1;
}

static tvms_walk_step see(void *self, tvms_node *node, tvms_field_role role) {
  c_emitter *e = self;
  bool defined = role == TVMS_ROLE_DEFINE || role == TVMS_ROLE_DEFINE_REC;
  switch ((int)node->kind) {
  case TVMS_NODE_BUFFER_LOAD: {
    const tvms_buffer_load *load = tvms_as_buffer_load(node);
    note_access(e, load->buffer, load->indices, load->predicate);
    break;
  }
  case TVMS_NODE_STORE: {
    const tvms_store *store = tvms_as_store(node);
    note_access(e, store->buffer, store->indices, store->predicate);
    break;
  }
  case TVMS_NODE_BUFFER: return TVMS_WALK_SKIP;
  case TVMS_NODE_VAR:
    // Whatever else is done with memory needs its address.
    if (!defined && tvms_dtype_is_handle(node->dtype))
      registers_of(e, node)->in_memory = true;
    break;
  }
  return TVMS_WALK_ON;
}

void tvms_c_registers_find(c_emitter *e, tvms_node *body) {
  tvms_visitor visitor = {.self = e, .enter = see};
  tvms_walk(&e->context->memory, body, &visitor);
}

// ---- Using ----

bool tvms_c_registers_declare(c_emitter *e, const tvms_node *data, uint64_t bytes,
                              tvms_span span) {
  c_registers *r = e->registers[data->id];
  if (!r || r->in_memory || !r->count) return false;
  uint64_t size = (uint64_t)r->dtype.bits / 8 * (uint64_t)r->dtype.lanes;
  if ((uint64_t)r->count * size > bytes) return false;
  r->name = tvms_c_text(e, "r%u", e->next++);
  const char *list = "";
  for (int64_t i = 0; i < r->count; i++)
    list = tvms_c_text(e, "%s%s%s_%lld", list, i ? ", " : "", r->name, (long long)i);
  tvms_c_line(e, "%s %s;", tvms_c_type(e, r->dtype, span), list);
  return true;
}

const char *tvms_c_register(c_emitter *e, const tvms_node *buffer, tvms_list indices) {
  const tvms_node *data = tvms_as_buffer(buffer)->data;
  const c_registers *r = data->kind == TVMS_NODE_VAR ? e->registers[data->id] : NULL;
  if (!r || !r->name) return NULL;
  return tvms_c_text(e, "%s_%lld", r->name, (long long)number_of(indices.items[0]));
}
