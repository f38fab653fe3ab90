// Computing in another dtype, for the families of float_conversion.h.
//
// A value of the family becomes one of the wider dtype where an operator takes it. A buffer
// that the function allocates and never gives away by its pointer is made wider itself; all
// others keep their elements. What a binding computes stays as it is, which is what TVM
// does, too; one of the family is refused.
#include "passes/tir/host/compute_legalize.h"

#include "ir/fold_ops.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "support/diag_ids.h"

typedef struct {
  tvms_unit *unit;
  tvms_host_float_family family;
  tvms_dtype promoted;
  tvms_node_map widened;  // BUFFER -> its wider one
  tvms_node_map data;     // data pointer of an allocated buffer -> BUFFER
  tvms_node_map bare;     // VAR of T.allocate -> its wider one
} legalizing;

static bool is_family(const legalizing *l, tvms_dtype dtype) {
  return tvms_host_float_is(l->family, dtype);
}

static tvms_dtype promoted(const legalizing *l, tvms_dtype dtype) {
  return tvms_dtype_with_lanes(l->promoted, dtype.lanes);
}

// ---- Which buffers become wider ----

static tvms_node *wider_pointer(const legalizing *l, const tvms_node *data,
                                tvms_dtype element) {
  tvms_sym scope = data->sinfo && data->sinfo->kind == TVMS_NODE_SINFO_POINTER
                       ? tvms_as_sinfo_pointer(data->sinfo)->scope
                       : 0;
  return tvms_pointer_var_new(l->unit, tvms_as_var(data)->name, element, scope,
                              TVMS_NO_SPAN);
}

// A buffer over memory that is allocated bare shares the pointer with others.
static tvms_node *wider_buffer(const legalizing *l, tvms_node *old,
                               tvms_node *TVMS_NULLABLE bare) {
  tvms_node *new = tvms_node_copy(l->unit, old);
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
  tvms_memory *memory = &l->unit->context->memory;
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

// ---- Values ----

static tvms_node *promote(const legalizing *l, tvms_node *value) {
  if (!is_family(l, value->dtype)) return value;
  tvms_dtype dtype = promoted(l, value->dtype);
  if (value->kind == TVMS_NODE_CAST
      && tvms_dtype_same(tvms_as_cast(value)->value->dtype, dtype))
    return tvms_as_cast(value)->value;
  return tvms_host_float_convert(l->unit, value, dtype);
}

// Arithmetic and comparisons; other operators have no such operands.
static tvms_node *legalize_binary(tvms_rewriter *r, tvms_node *node) {
  const legalizing *l = r->self;
  tvms_node *a = promote(l, tvms_as_binary(node)->a);
  tvms_node *b = promote(l, tvms_as_binary(node)->b);
  const tvms_binary *old = tvms_as_binary(r->old);
  if (a == old->a && b == old->b) return node;
  return tvms_build_binary(r->unit, (tvms_node_kind)node->kind, a, b, node->span);
}

static tvms_node *legalize_cast(tvms_rewriter *r, tvms_node *node) {
  const legalizing *l = r->self;
  tvms_node *value = promote(l, tvms_as_cast(node)->value);
  bool family = is_family(l, node->dtype);
  if (!family && value == tvms_as_cast(r->old)->value) return node;
  tvms_dtype dtype = family ? promoted(l, node->dtype) : node->dtype;
  return tvms_build_cast(r->unit, dtype, value, node->span);
}

static tvms_node *legalize_select(tvms_rewriter *r, tvms_node *node) {
  const legalizing *l = r->self;
  const tvms_select *select = tvms_as_select(node);
  tvms_node *a = promote(l, select->true_value), *b = promote(l, select->false_value);
  if (a == select->true_value && b == select->false_value
      && tvms_dtype_same(a->dtype, node->dtype))
    return node;
  return tvms_select_new(r->unit, select->condition, a, b, node->span);
}

static tvms_node *legalize_broadcast(tvms_rewriter *r, tvms_node *node) {
  const legalizing *l = r->self;
  tvms_node *value = promote(l, tvms_as_broadcast(node)->value);
  if (value == tvms_as_broadcast(r->old)->value) return node;
  tvms_node *new = tvms_node_copy(r->unit, node);
  tvms_as_broadcast(new)->value = value;
  new->dtype = tvms_dtype_with_lanes(value->dtype, node->dtype.lanes);
  return new;
}

static tvms_list promote_all(const legalizing *l, tvms_list old) {
  tvms_list new = tvms_list_copy(l->unit, old.items, old.len);
  for (uint32_t i = 0; i < new.len; i++) {
    if (tvms_node_class_of(new.items[i]) == TVMS_CLASS_EXPR)
      new.items[i] = promote(l, new.items[i]);
  }
  return new;
}

static tvms_node *legalize_shuffle(tvms_rewriter *r, tvms_node *node) {
  const legalizing *l = r->self;
  tvms_node *new = tvms_node_copy(r->unit, node);
  tvms_shuffle *shuffle = tvms_as_shuffle(new);
  shuffle->vectors = promote_all(l, shuffle->vectors);
  tvms_dtype dtype = shuffle->vectors.items[0]->dtype;
  if (node == r->old
      && tvms_dtype_same(tvms_dtype_with_lanes(dtype, node->dtype.lanes), node->dtype))
    return node;
  new->dtype = tvms_dtype_with_lanes(dtype, node->dtype.lanes);
  return new;
}

// A call computes in the wider dtype, unless it only looks at bits or addresses.
static tvms_node *legalize_call(tvms_rewriter *r, tvms_node *node) {
  const legalizing *l = r->self;
  bool scalar = !tvms_dtype_is_handle(node->dtype) && !node->sinfo;
  if (!scalar || tvms_call_opcode(node) == TVMS_TIR_reinterpret) return node;
  tvms_list old = tvms_as_call(node)->args, args = promote_all(l, old);
  bool same = !is_family(l, node->dtype);
  for (uint32_t i = 0; i < old.len; i++)
    same &= args.items[i] == old.items[i];
  if (same) return node;
  tvms_node *new = tvms_node_copy(r->unit, node);
  tvms_as_call(new)->args = args;
  if (is_family(l, node->dtype)) new->dtype = promoted(l, node->dtype);
  return new;
}

static tvms_node *legalize_constant(tvms_rewriter *r, tvms_node *node) {
  const legalizing *l = r->self;
  if (!is_family(l, node->dtype)) return node;
  return tvms_float_imm_new(r->unit, l->promoted, tvms_as_float_imm(node)->value,
                            node->span);
}

static tvms_node *legalize_load(tvms_rewriter *r, tvms_node *node) {
  (void)r;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  tvms_dtype dtype =
      tvms_buffer_access_dtype(load->buffer, load->indices.items, load->indices.len);
  if (node != r->old) node->dtype = dtype;
  return node;
}

// ---- Statements ----

// What is bound is not visited, and cannot be of the family: the variable would have to change.
static bool can_bind(const legalizing *l, const tvms_node *value, tvms_span span) {
  if (!is_family(l, value->dtype)) return true;
  char text[TVMS_DTYPE_TEXT];
  tvms_diag_report(&l->unit->context->diags, TVMS_D_binding_not_legalized, span,
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
  static const tvms_node_kind binaries[] = {
      TVMS_NODE_ADD, TVMS_NODE_SUB, TVMS_NODE_MUL, TVMS_NODE_DIV,
      TVMS_NODE_MIN, TVMS_NODE_MAX, TVMS_NODE_LT,  TVMS_NODE_LE,
      TVMS_NODE_GT,  TVMS_NODE_GE,  TVMS_NODE_EQ,  TVMS_NODE_NE,
  };
  for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
    r->leave[binaries[i]] = legalize_binary;
  r->leave[TVMS_NODE_CAST] = legalize_cast;
  r->leave[TVMS_NODE_SELECT] = legalize_select;
  r->leave[TVMS_NODE_BROADCAST] = legalize_broadcast;
  r->leave[TVMS_NODE_SHUFFLE] = legalize_shuffle;
  r->leave[TVMS_NODE_CALL] = legalize_call;
  r->leave[TVMS_NODE_FLOAT_IMM] = legalize_constant;
  r->leave[TVMS_NODE_BUFFER_LOAD] = legalize_load;
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
  legalizing l = {.unit = unit, .family = wanted->family, .promoted = wanted->promoted};
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
