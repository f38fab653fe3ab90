// Small memory of a function that is variables of C: compilers keep these in registers.
#include "backend/c/registers.h"

#include "backend/c/sums.h"
#include "backend/c/vector.h"
#include "backend/core/lanes.h"
#include "ir/build.h"
#include "ir/walk.h"

enum { MOST_REGISTERS = 128 };

// Lanes whose value is known where they were stored, in the block that is number `block`.
typedef struct {
  int64_t first;
  int lanes;
  uint32_t block;
  const char *value;
} c_stored;

enum { MOST_STORED = 4 };

// What the accesses to one piece of memory are: vectors, and parts of them that lie at their begin or behind as many
// lanes there, as they do where lanes are added up by halves.
struct c_registers {
  tvms_dtype dtype;                // of the longest; void: there is none yet
  int64_t size;                    // elements, from the first on
  int least;                       // lanes of the shortest
  bool in_memory;                  // an access is something else
  bool some;                       // one is of some lanes only
  bool computed;                   // what is stored is not only moved
  bool in_form;                    // floats are there as in memory
  const char *TVMS_NULLABLE name;  // of the variables, when they are declared
  c_stored stored[MOST_STORED];    // the last ones, in turns
  uint32_t next;
};

// ---- Places ----

// The first element that one index names, a multiple of its lanes; -1: it is none.
static int64_t first_of(const tvms_node *index) {
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
  return fits ? first : -1;
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

// Of one piece of memory all accesses are of one kind; parts have half the lanes, a quarter and so on.
static bool add_access(c_registers *r, tvms_dtype dtype, int64_t first) {
  bool full = !(dtype.lanes & (dtype.lanes - 1)), begins = !r->size;
  if (begins) r->dtype = dtype, r->least = dtype.lanes;
  if (!tvms_dtype_same(tvms_dtype_with_lanes(dtype, 1),
                       tvms_dtype_with_lanes(r->dtype, 1)))
    return false;
  if (dtype.lanes != r->dtype.lanes && (!full || r->dtype.lanes & (r->dtype.lanes - 1)))
    return false;
  if (dtype.lanes > r->dtype.lanes) r->dtype = dtype;
  if (dtype.lanes < r->least) r->least = dtype.lanes;
  if (first + dtype.lanes > r->size) r->size = first + dtype.lanes;
  return true;
}

// Of some lanes only, it must be known which.
static void note_access(c_emitter *e, const tvms_node *node, tvms_list indices,
                        const tvms_node *TVMS_NULLABLE predicate) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  if (buffer->data->kind != TVMS_NODE_VAR) return;
  c_registers *r = registers_of(e, buffer->data);
  uint64_t lanes;
  bool known = indices.len == 1 && (!predicate || tvms_lanes_truths(predicate, &lanes));
  int64_t first = known ? first_of(indices.items[0]) : -1;
  bool plain = first >= 0 && !buffer->strides.len && buffer->element.lanes == 1
               && is_kind(buffer->element)
               && (!buffer->elem_offset || tvms_node_is_int(buffer->elem_offset, 0));
  tvms_dtype dtype = buffer->element;
  if (plain) dtype = tvms_dtype_with_lanes(dtype, indices.items[0]->dtype.lanes);
  r->some |= predicate != NULL;
  if (!plain || !add_access(r, dtype, first)) r->in_memory = true;
}

static void note_value(c_emitter *e, const tvms_store *store) {
  const tvms_node *data = tvms_as_buffer(store->buffer)->data;
  bool moved = store->value->kind == TVMS_NODE_BUFFER_LOAD
               || store->value->kind == TVMS_NODE_SHUFFLE;
  if (!moved && data->kind == TVMS_NODE_VAR) registers_of(e, data)->computed = true;
}

// Once the longest is known: where parts lie.
static void note_part(c_emitter *e, const tvms_node *node, tvms_list indices) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  if (buffer->data->kind != TVMS_NODE_VAR) return;
  c_registers *r = registers_of(e, buffer->data);
  if (r->in_memory) return;
  int lanes = indices.items[0]->dtype.lanes;
  int64_t at = first_of(indices.items[0]) % r->dtype.lanes;
  if (lanes < r->dtype.lanes && at && at != lanes) r->in_memory = true;
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
    note_value(e, store);
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

static tvms_walk_step see_part(void *self, tvms_node *node, tvms_field_role role) {
  c_emitter *e = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER_LOAD)
    note_part(e, tvms_as_buffer_load(node)->buffer, tvms_as_buffer_load(node)->indices);
  if (node->kind == TVMS_NODE_STORE)
    note_part(e, tvms_as_store(node)->buffer, tvms_as_store(node)->indices);
  return node->kind == TVMS_NODE_BUFFER ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

void tvms_c_registers_find(c_emitter *e, tvms_node *body) {
  tvms_visitor visitor = {.self = e, .enter = see};
  tvms_walk(&e->context->memory, body, &visitor);
  visitor.enter = see_part;
  tvms_walk(&e->context->memory, body, &visitor);
}

// ---- Using ----

bool tvms_c_registers_declare(c_emitter *e, const tvms_node *data, uint64_t bytes,
                              tvms_span span) {
  c_registers *r = e->registers[data->id];
  if (!r || r->in_memory || !r->size) return false;
  int lanes = r->dtype.lanes;
  int64_t count = (r->size + lanes - 1) / lanes;
  uint64_t size = (uint64_t)r->dtype.bits / 8 * (uint64_t)lanes;
  bool parts = r->least < lanes;
  if ((uint64_t)count * size > bytes || count > MOST_REGISTERS) return false;
  if (parts && (r->some || !tvms_c_is_whole(r->dtype))) return false;
  r->name = tvms_c_text(e, "r%u", e->next++);
  r->in_form = tvms_c_is_narrow(r->dtype) && !r->computed;
  if (r->in_form) r->dtype = tvms_dtype_with_lanes(TVMS_DTYPE(UINT, 16), lanes);
  const char *list = "";
  for (int64_t i = 0; i < count; i++)
    list = tvms_c_text(e, "%s%s%s_%lld", list, i ? ", " : "", r->name, (long long)i);
  tvms_c_line(e, "%s %s;", tvms_c_type(e, r->dtype, span), list);
  return true;
}

static c_registers *TVMS_NULLABLE declared(c_emitter *e, const tvms_node *buffer) {
  const tvms_node *data = tvms_as_buffer(buffer)->data;
  c_registers *r = data->kind == TVMS_NODE_VAR ? e->registers[data->id] : NULL;
  return r && r->name ? r : NULL;
}

bool tvms_c_in_form(c_emitter *e, const tvms_node *buffer) {
  const c_registers *r = declared(e, buffer);
  return r && r->in_form;
}

bool tvms_c_has_parts(c_emitter *e, const tvms_node *buffer) {
  const c_registers *r = declared(e, buffer);
  return r && r->least != r->dtype.lanes;
}

static const char *variable_at(c_emitter *e, const c_registers *r, int64_t first) {
  return tvms_c_text(e, "%s_%lld", r->name, (long long)(first / r->dtype.lanes));
}

const char *tvms_c_register(c_emitter *e, const tvms_node *buffer, tvms_list indices) {
  const c_registers *r = declared(e, buffer);
  return r && r->least == r->dtype.lanes ? variable_at(e, r, first_of(indices.items[0]))
                                         : NULL;
}

// What was stored last over all lanes from `first` on, where nothing was stored over a part of them since.
static const c_stored *TVMS_NULLABLE stored_over(const c_emitter *e,
                                                 const c_registers *r, int64_t first,
                                                 int lanes) {
  for (uint32_t i = 0; i < MOST_STORED; i++) {
    const c_stored *stored = &r->stored[(r->next - 1 - i) % MOST_STORED];
    int64_t end = stored->first + stored->lanes;
    if (stored->block != e->block || !stored->value) return NULL;
    if (stored->first <= first && first + lanes <= end) return stored;
    if (stored->first < first + lanes && first < end) return NULL;
  }
  return NULL;
}

const char *tvms_c_register_part(c_emitter *e, const tvms_node *buffer,
                                 tvms_list indices, tvms_span span) {
  const c_registers *r = declared(e, buffer);
  if (!tvms_c_has_parts(e, buffer)) return NULL;
  int64_t first = first_of(indices.items[0]);
  int lanes = indices.items[0]->dtype.lanes;
  const c_stored *stored = stored_over(e, r, first, lanes);
  if (stored && stored->lanes == lanes) return stored->value;
  const char *whole = stored ? stored->value : variable_at(e, r, first);
  int at = (int)(stored ? first - stored->first : first % r->dtype.lanes);
  tvms_dtype dtype = tvms_dtype_with_lanes(r->dtype, lanes);
  if (lanes == r->dtype.lanes) return tvms_c_whole(e, dtype, span, whole);
  if (lanes == 1)
    return tvms_c_whole(e, dtype, span, tvms_c_text(e, "%s[%d]", whole, at));
  return tvms_c_part(e, dtype, span, whole, at);
}

// Writes lanes from `at` on into a variable: compilers drop what nothing reads.
static void insert(c_emitter *e, tvms_dtype dtype, int lanes, tvms_span span,
                   const char *variable, int at, const char *value) {
  int indices[TVMS_MOST_LANES], repeated[TVMS_MOST_LANES];
  if (lanes == 1) {
    tvms_c_line(e, "%s[%d] = %s;", variable, at, value);
    return;
  }
  for (int k = 0; k < dtype.lanes; k++) {
    repeated[k] = k % lanes;
    indices[k] = k >= at && k < at + lanes ? dtype.lanes + k : k;
  }
  const char *wide = tvms_c_lanes_of(e, dtype, span, value, repeated);
  tvms_c_line(e, "%s = %s;", variable,
              tvms_c_pick(e, dtype, span, variable, wide, indices));
}

void tvms_c_register_store(c_emitter *e, const tvms_node *buffer, tvms_list indices,
                           tvms_span span, const char *value) {
  c_registers *r = declared(e, buffer);
  int64_t first = first_of(indices.items[0]);
  int lanes = indices.items[0]->dtype.lanes;
  const char *variable = variable_at(e, r, first);
  value = tvms_c_whole(e, tvms_dtype_with_lanes(r->dtype, lanes), span, value);
  if (lanes == r->dtype.lanes)
    tvms_c_line(e, "%s = %s;", variable, value);
  else
    insert(e, r->dtype, lanes, span, variable, (int)(first % r->dtype.lanes), value);
  r->stored[r->next++ % MOST_STORED] =
      (c_stored){.first = first, .lanes = lanes, .block = e->block, .value = value};
}
