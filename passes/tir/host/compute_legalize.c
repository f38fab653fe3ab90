// Computing in another dtype, for the families of float_conversion.h.
//
// A value of the family becomes one of the wider dtype where an operator takes it. A buffer
// that the function allocates and never gives away by its pointer is made wider itself; all
// others keep their elements. What a binding computes stays as it is, which is what TVM
// does, too; one of the family is refused.
#include "passes/tir/host/compute_legalize.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/tir/host/compute_values.h"
#include "support/diag_ids.h"

typedef struct {
  tvms_host_values values;
  tvms_node_map widened;  // BUFFER -> its wider one
  tvms_node_map data;     // data pointer of an allocated buffer -> BUFFER
  tvms_node_map bare;     // VAR of T.allocate -> its wider one
} legalizing;

static bool is_family(const legalizing *l, tvms_dtype dtype) {
  return tvms_host_float_is(l->values.family, dtype);
}

static tvms_dtype promoted(const legalizing *l, tvms_dtype dtype) {
  return tvms_dtype_with_lanes(l->values.promoted, dtype.lanes);
}

// ---- Which buffers become wider ----

static tvms_node *wider_pointer(const legalizing *l, const tvms_node *data,
                                tvms_dtype element) {
  tvms_sym scope = data->sinfo && data->sinfo->kind == TVMS_NODE_SINFO_POINTER
                       ? tvms_as_sinfo_pointer(data->sinfo)->scope
                       : 0;
  return tvms_pointer_var_new(l->values.unit, tvms_as_var(data)->name, element, scope,
                              TVMS_NO_SPAN);
}

// A buffer over memory that is allocated bare shares the pointer with others.
static tvms_node *wider_buffer(const legalizing *l, tvms_node *old,
                               tvms_node *TVMS_NULLABLE bare) {
  tvms_node *new = tvms_node_copy(l->values.unit, old);
  tvms_buffer *buffer = tvms_as_buffer(new);
  buffer->element = promoted(l, buffer->element);
  buffer->data = bare ? bare : wider_pointer(l, buffer->data, buffer->element);
  return new;
}

static tvms_walk_step find_allocated(void *self, tvms_node *node,
                                     tvms_field_role role) {
  legalizing *l = self;
  (void)role;
  if (node->kind == TVMS_NODE_ALLOCATE) {
    const tvms_allocate *allocate = tvms_as_allocate(node);
    if (is_family(l, allocate->element))
      tvms_node_map_put(
          &l->bare, allocate->var,
          wider_pointer(l, allocate->var, promoted(l, allocate->element)));
  }
  if (node->kind != TVMS_NODE_ALLOC_BUFFER) return TVMS_WALK_ON;
  tvms_node *buffer = tvms_as_alloc_buffer(node)->buffer;
  if (is_family(l, tvms_as_buffer(buffer)->element))
    tvms_node_map_put(&l->data, tvms_as_buffer(buffer)->data, buffer);
  return TVMS_WALK_ON;
}

// All buffers over memory that is allocated bare become wider with it, if they are of the family.
static void widen_over(legalizing *l, tvms_node *buffer) {
  const tvms_node *data = tvms_as_buffer(buffer)->data;
  tvms_node *bare = tvms_node_map_get(&l->bare, data);
  if (!bare || tvms_node_map_get(&l->widened, buffer)) return;
  if (is_family(l, tvms_as_buffer(buffer)->element))
    tvms_node_map_put(&l->widened, buffer, wider_buffer(l, buffer, bare));
  else
    tvms_node_map_put(&l->bare, data, NULL);
}

// Buffers that are read or written are candidates.
static tvms_walk_step find_accessed(void *self, tvms_node *node, tvms_field_role role) {
  legalizing *l = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) widen_over(l, node);
  if (node->kind != TVMS_NODE_BUFFER_LOAD && node->kind != TVMS_NODE_STORE)
    return TVMS_WALK_ON;
  const tvms_node *buffer = *tvms_node_element(node).buffer;
  tvms_node *known = tvms_node_map_get(&l->data, tvms_as_buffer(buffer)->data);
  if (known == buffer && !tvms_node_map_get(&l->widened, known))
    tvms_node_map_put(&l->widened, known, wider_buffer(l, known, NULL));
  return TVMS_WALK_ON;
}

// A pointer that goes somewhere else takes its buffer out.
static tvms_walk_step find_pointers(void *self, tvms_node *node, tvms_field_role role) {
  legalizing *l = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_VAR || role == TVMS_ROLE_DEFINE) return TVMS_WALK_ON;
  const tvms_node *buffer = tvms_node_map_get(&l->data, node);
  if (buffer) tvms_node_map_put(&l->widened, buffer, NULL);
  if (tvms_node_map_get(&l->bare, node)) tvms_node_map_put(&l->bare, node, NULL);
  return TVMS_WALK_ON;
}

static void plan(legalizing *l, tvms_node *body) {
  tvms_memory *memory = &l->values.unit->context->memory;
  tvms_visitor allocated = {.self = l, .enter = find_allocated};
  tvms_visitor accessed = {.self = l, .enter = find_accessed};
  tvms_visitor pointers = {.self = l, .enter = find_pointers};
  tvms_walk(memory, body, &allocated);
  tvms_walk(memory, body, &accessed);
  tvms_walk(memory, body, &pointers);
}

static void replace_buffers(const legalizing *l, tvms_rewriter *r) {
  for (uint32_t i = 0; i < l->data.cap; i++) {
    tvms_node_pair pair = l->data.pairs[i];
    tvms_node *wider = pair.key ? tvms_node_map_get(&l->widened, pair.value) : NULL;
    if (!wider) continue;
    tvms_node_map_put(&r->known, pair.value, wider);
    tvms_node_map_put(&r->known, pair.key, tvms_as_buffer(wider)->data);
  }
  for (uint32_t i = 0; i < l->bare.cap; i++) {
    tvms_node_pair pair = l->bare.pairs[i];
    if (pair.key && pair.value) tvms_node_map_put(&r->known, pair.key, pair.value);
  }
  for (uint32_t i = 0; i < l->widened.cap; i++) {
    tvms_node_pair pair = l->widened.pairs[i];
    if (!pair.key || !pair.value) continue;
    if (tvms_node_map_get(&l->bare, tvms_as_buffer(pair.key)->data))
      tvms_node_map_put(&r->known, pair.key, pair.value);
  }
}

static tvms_node *legalize_allocate(tvms_rewriter *r, tvms_node *node) {
  const legalizing *l = r->self;
  if (tvms_as_allocate(node)->var == tvms_as_allocate(r->old)->var) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_allocate(copy)->element = promoted(l, tvms_as_allocate(node)->element);
  return copy;
}

// ---- Statements ----

// What is bound is not visited, and cannot be of the family: the variable would have to change.
static bool can_bind(const legalizing *l, const tvms_node *value, tvms_span span) {
  if (!is_family(l, value->dtype)) return true;
  char text[TVMS_DTYPE_TEXT];
  tvms_diag_report(&l->values.unit->context->diags, TVMS_D_binding_not_legalized, span,
                   tvms_dtype_text(value->dtype, text));
  return false;
}

static tvms_node *legalize_bind(tvms_rewriter *r, tvms_node *node) {
  const tvms_node *value = tvms_as_bind(node)->value;
  if (tvms_dtype_is_handle(value->dtype)
      || tvms_node_class_of(value) != TVMS_CLASS_EXPR)
    return TVMS_REWRITE_BELOW;
  can_bind(r->self, value, node->span);
  return node;
}

static tvms_node *legalize_let(tvms_rewriter *r, tvms_node *node) {
  const tvms_let *let = tvms_as_let(node);
  if (!can_bind(r->self, let->value, node->span)) return node;
  tvms_node *body = tvms_rewrite(r, let->body);
  return body == let->body
             ? node
             : tvms_let_new(r->unit, let->var, let->value, body, node->span);
}

// An element of the family is converted back. Up to 0.26 a vector is so twice.
static tvms_node *legalize_store(tvms_rewriter *r, tvms_node *node) {
  const legalizing *l = r->self;
  if (node == r->old) return node;
  tvms_store *store = tvms_as_store(node);
  tvms_dtype element = tvms_as_buffer(store->buffer)->element;
  tvms_dtype accessed =
      tvms_buffer_access_dtype(store->buffer, store->indices.items, store->indices.len);
  if (is_family(l, element) && store->value->dtype.code == TVMS_FLOAT)
    store->value = tvms_host_float_convert(r->unit, store->value, accessed);
  tvms_dtype given = store->value->dtype;
  bool once = tvms_release_has(r->unit->dialect, TVMS_FACT_vectors_narrow_once);
  if (is_family(l, given) && !tvms_dtype_same(given, once ? accessed : element))
    store->value = tvms_host_float_convert(r->unit, store->value,
                                           tvms_dtype_with_lanes(element, given.lanes));
  return node;
}

static tvms_node *with_dtype(tvms_rewriter *r, tvms_node *var, tvms_dtype dtype) {
  if (tvms_dtype_same(var->dtype, dtype)) return var;
  tvms_node *new = tvms_var_new(r->unit, tvms_as_var(var)->name, dtype, var->span);
  tvms_node_map_put(&r->known, var, new);
  return new;
}

// Both sides of a combiner are what its identity became.
static tvms_node *legalize_reducer(tvms_rewriter *r, tvms_node *node) {
  tvms_node *new = tvms_node_copy(r->unit, node);
  tvms_comm_reducer *reducer = tvms_as_comm_reducer(new);
  reducer->identity = tvms_rewrite_list(r, reducer->identity);
  if (reducer->identity.items == tvms_as_comm_reducer(node)->identity.items)
    return TVMS_REWRITE_BELOW;
  reducer->lhs = tvms_list_copy(r->unit, reducer->lhs.items, reducer->lhs.len);
  reducer->rhs = tvms_list_copy(r->unit, reducer->rhs.items, reducer->rhs.len);
  for (uint32_t i = 0; i < reducer->identity.len && i < reducer->lhs.len; i++) {
    tvms_dtype dtype = reducer->identity.items[i]->dtype;
    reducer->lhs.items[i] = with_dtype(r, reducer->lhs.items[i], dtype);
    reducer->rhs.items[i] = with_dtype(r, reducer->rhs.items[i], dtype);
  }
  reducer->result = tvms_rewrite_list(r, reducer->result);
  return new;
}

// ---- Functions ----

static void install(tvms_rewriter *r) {
  tvms_host_values_install(r);
  r->leave[TVMS_NODE_STORE] = legalize_store;
  r->leave[TVMS_NODE_ALLOCATE] = legalize_allocate;
  r->enter[TVMS_NODE_BIND] = legalize_bind;
  r->enter[TVMS_NODE_LET] = legalize_let;
  r->enter[TVMS_NODE_COMM_REDUCER] = legalize_reducer;
}

typedef struct {
  tvms_host_float_family family;
  tvms_dtype promoted;
} request;

static tvms_node *legalize(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  const request *wanted = run->state;
  if (tvms_host_float_is_native(wanted->family, function)
      || !tvms_host_float_concerns(wanted->family, unit, function))
    return function;
  legalizing l = {.values = {unit, wanted->family, wanted->promoted, false}};
  tvms_node_map_init(&l.widened, &unit->context->memory);
  tvms_node_map_init(&l.data, &unit->context->memory);
  tvms_node_map_init(&l.bare, &unit->context->memory);
  plan(&l, tvms_as_prim_func(function)->body);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &l);
  r.roles = TVMS_IN(BODY) | TVMS_IN(USE) | TVMS_IN(DEFINE);
  install(&r);
  replace_buffers(&l, &r);
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  tvms_node_map_fini(&l.widened);
  tvms_node_map_fini(&l.data);
  tvms_node_map_fini(&l.bare);
  return changed;
}

void tvms_host_compute_legalize(tvms_pass_run *run, tvms_host_float_family family,
                                tvms_dtype promoted) {
  request wanted = {family, promoted};
  void *outer = run->state;
  run->state = &wanted;
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, legalize);
  run->state = outer;
}
