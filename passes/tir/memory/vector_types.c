// First what accesses of each buffer there are, then new buffers, then the accesses.
//
// An access of a[8 * i : 8 * i + 8] is one of element i of a buffer of vectors, if the place is a
// multiple of the length that is known. Buffers that share memory change together.
#include "passes/tir/memory/vector_types.h"

#include "arith/modular.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/analysis/linear_access.h"
#include "support/vec.h"

typedef TVMS_VEC(tvms_dtype) dtypes;

// Memory: what a buffer owns, or what a pointer points to.
typedef struct {
  tvms_node *data;                // VAR
  tvms_node *TVMS_NULLABLE last;  // its last dimension; NULL: not known
  bool stays;                     // its type is not to be changed
  bool scalable;       // there are accesses of vectors whose length is not known
  dtypes accesses;     // element types as which it is accessed, each once
  dtypes elements;     // reads of single elements, as the vectors that would hold them
  tvms_dtype element;  // bool as int8
  int factor;          // lanes of a new element; 1: it stays
} memory_info;

typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;
  tvms_analyzer *analyzer;
  tvms_vector_type_options options;
  TVMS_VEC(memory_info) infos;
  tvms_node_map places;  // data pointer -> place in `infos`, one up
} vector_types;

static memory_info *TVMS_NULLABLE info_of_pointer(const vector_types *v,
                                                  const tvms_node *TVMS_NULLABLE data) {
  if (!data) return NULL;
  uintptr_t place = (uintptr_t)tvms_node_map_get(&v->places, data);
  return place ? &v->infos.items[place - 1] : NULL;
}

static memory_info *TVMS_NULLABLE info_of(const vector_types *v,
                                          const tvms_node *buffer) {
  return info_of_pointer(v, tvms_as_buffer(buffer)->data);
}

static tvms_dtype as_stored(tvms_dtype dtype) {
  if (!tvms_dtype_is_bool(dtype)) return dtype;
  return tvms_dtype_with_lanes(TVMS_DTYPE(INT, 8), dtype.lanes);
}

static void note(vector_types *v, dtypes *list, tvms_dtype dtype) {
  for (uint32_t i = 0; i < list->len; i++) {
    if (tvms_dtype_same(list->items[i], dtype)) return;
  }
  tvms_vec_push(v->memory, list, dtype);
}

static void declare(vector_types *v, tvms_node *data, tvms_dtype element,
                    tvms_list shape, bool stays) {
  memory_info made = {.data = data,
                      .last = shape.len ? shape.items[shape.len - 1] : NULL,
                      .stays = stays,
                      .element = as_stored(element),
                      .factor = 1};
  tvms_vec_push(v->memory, &v->infos, made);
  tvms_node_map_put(&v->places, data, (tvms_node *)(uintptr_t)v->infos.len);
}

static void declare_buffer(vector_types *v, const tvms_buffer *buffer, bool stays) {
  // What has no dimension has no vectors.
  declare(v, buffer->data, buffer->element, buffer->shape,
          stays || buffer->shape.len == 0);
}

// A pointer that is no buffer's own: a parameter or what a statement binds. One that does not
// say to what it points does so by its first access.
static void declare_pointer(vector_types *v, tvms_node *var, bool stays) {
  bool pointers = tvms_release_has(v->unit->dialect, TVMS_FACT_definitions_hold_bodies);
  if (!pointers || !tvms_dtype_is_handle(var->dtype)) return;
  const tvms_node *type = var->sinfo;
  bool typed = type && type->kind == TVMS_NODE_SINFO_POINTER;
  tvms_dtype element = typed ? type->dtype : var->dtype;
  declare(v, var, element, (tvms_list){0}, stays);
}

// A view has the memory of what its pointer comes from.
static void declare_view(vector_types *v, const tvms_decl_buffer *declare) {
  const tvms_node *source =
      declare->source ? tvms_linear_access_pointer(declare->source) : NULL;
  if (!source) return;
  tvms_node *place = tvms_node_map_get(&v->places, source);
  tvms_node_map_put(&v->places, tvms_as_buffer(declare->buffer)->data, place);
}

// ---- Accesses ----

// A multiple of `lanes` for sure?
static bool is_multiple(vector_types *v, const tvms_node *place, int lanes) {
  tvms_modular set = tvms_analyzer_modular_set(v->analyzer, place);
  return set.coeff % lanes == 0 && set.base % lanes == 0;
}

static void access(vector_types *v, memory_info *TVMS_NULLABLE info, tvms_list indices,
                   tvms_dtype dtype, bool read) {
  if (info && dtype.lanes < 0) info->scalable = true;
  if (!info || dtype.lanes < 0) return;
  dtype = as_stored(dtype);
  if (tvms_dtype_is_handle(info->element))
    info->element = tvms_dtype_with_lanes(dtype, 1);
  const tvms_node *last = indices.len ? indices.items[indices.len - 1] : NULL;
  int lanes = last ? last->dtype.lanes : 1, used = info->element.lanes;
  if (lanes * info->element.lanes != dtype.lanes) used = info->element.lanes = 1;
  if (last && last->kind == TVMS_NODE_RAMP && lanes > 0) {
    const tvms_ramp *ramp = tvms_as_ramp(last);
    if (tvms_node_is_int(ramp->stride, 1) && is_multiple(v, ramp->base, lanes))
      used = lanes;
  }
  if (v->options.shuffles && read && last && lanes == 1) {
    tvms_modular set = tvms_analyzer_modular_set(v->analyzer, last);
    note(v, &info->elements, tvms_dtype_with_lanes(dtype, (int)(int16_t)set.coeff));
    return;
  }
  note(v, &info->accesses, tvms_dtype_with_lanes(dtype, used));
}

static void access_pointer(vector_types *v, const tvms_call *call) {
  if (call->args.len != 5) return;
  const tvms_node *pointer = tvms_linear_access_pointer(call->args.items[1]);
  tvms_list index = {&call->args.items[2], 1};
  access(v, info_of_pointer(v, pointer), index, call->args.items[0]->dtype, false);
}

static tvms_walk_step find(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  vector_types *v = self;
  switch ((int)node->kind) {
  case TVMS_NODE_BUFFER: return TVMS_WALK_SKIP;
  case TVMS_NODE_ALLOC_BUFFER:
    declare_buffer(v, tvms_as_buffer(tvms_as_alloc_buffer(node)->buffer), false);
    return TVMS_WALK_ON;
  case TVMS_NODE_ALLOCATE: {
    const tvms_allocate *alloc = tvms_as_allocate(node);
    declare(v, alloc->var, alloc->element, alloc->extents, false);
    return TVMS_WALK_ON;
  }
  case TVMS_NODE_ALLOCATE_CONST: {
    const tvms_allocate_const *alloc = tvms_as_allocate_const(node);
    declare(v, alloc->var, alloc->element, alloc->extents, !v->options.params);
    return TVMS_WALK_ON;
  }
  case TVMS_NODE_BIND:
    declare_pointer(v, tvms_as_bind(node)->var, false);
    return TVMS_WALK_ON;
  case TVMS_NODE_LET:
    declare_pointer(v, tvms_as_let(node)->var, false);
    return TVMS_WALK_ON;
  case TVMS_NODE_DECL_BUFFER:
    declare_view(v, tvms_as_decl_buffer(node));
    return TVMS_WALK_ON;
  case TVMS_NODE_BUFFER_LOAD: {
    const tvms_buffer_load *load = tvms_as_buffer_load(node);
    access(v, info_of(v, load->buffer), load->indices, node->dtype, true);
    return TVMS_WALK_ON;
  }
  case TVMS_NODE_STORE: {
    const tvms_store *store = tvms_as_store(node);
    access(v, info_of(v, store->buffer), store->indices, store->value->dtype, false);
    return TVMS_WALK_ON;
  }
  case TVMS_NODE_CALL: {
    const tvms_call *call = tvms_as_call(node);
    tvms_tir_opcode opcode = tvms_arith_opcode(node);
    if (opcode == TVMS_TIR_tvm_access_ptr) access_pointer(v, call);
    bool address = opcode == TVMS_TIR_address_of
                   && call->args.items[0]->kind == TVMS_NODE_BUFFER_LOAD;
    if (address) {
      const tvms_buffer_load *load = tvms_as_buffer_load(call->args.items[0]);
      access(v, info_of(v, load->buffer), load->indices, load->head.dtype, false);
    }
    return TVMS_WALK_ON;
  }
  default: return TVMS_WALK_ON;
  }
}

// ---- Decision ----

static bool has_one_base(const memory_info *info) {
  const dtypes *lists[] = {&info->accesses, &info->elements};
  bool any = false;
  tvms_dtype base = {0};
  for (int k = 0; k < 2; k++) {
    for (uint32_t i = 0; i < lists[k]->len; i++) {
      tvms_dtype dtype = tvms_dtype_with_lanes(lists[k]->items[i], 1);
      if (any && !tvms_dtype_same(base, dtype)) return false;
      base = dtype;
      any = true;
    }
  }
  // Another base would be another type of the same memory: left to the code of the machine.
  return any && tvms_dtype_same(base, tvms_dtype_with_lanes(info->element, 1));
}

static void decide(vector_types *v, memory_info *info) {
  if (info->scalable || info->stays) return;
  if (!has_one_base(info) || info->element.lanes != 1 || info->accesses.len != 1)
    return;
  int lanes = info->accesses.items[0].lanes;
  for (uint32_t i = 0; i < info->elements.len; i++) {
    if (info->elements.items[i].lanes % lanes != 0) return;
  }
  if (!info->last || is_multiple(v, info->last, lanes)) info->factor = lanes;
}

// ---- Rewriting ----

static tvms_node *divided(vector_types *v, tvms_node *value, int by) {
  tvms_node *divisor = tvms_int_imm_new(v->unit, value->dtype, by, TVMS_NO_SPAN);
  return tvms_build_binary(v->unit, TVMS_NODE_DIV, value, divisor, TVMS_NO_SPAN);
}

// With the last dimension divided.
static tvms_list divided_shape(vector_types *v, tvms_list shape, int by) {
  if (shape.len == 0) return shape;
  shape = tvms_list_copy(v->unit, shape.items, shape.len);
  tvms_node **last = &shape.items[shape.len - 1];
  *last = divided(v, *last, by);
  return shape;
}

// A variable for a pointer to vectors.
static tvms_node *vector_pointer(vector_types *v, const memory_info *info) {
  const tvms_node *type = info->data->sinfo;
  tvms_sym scope = 0;
  if (type && type->kind == TVMS_NODE_SINFO_POINTER)
    scope = tvms_as_sinfo_pointer(type)->scope;
  tvms_node *made = tvms_pointer_var_new(
      v->unit, tvms_as_var(info->data)->name,
      tvms_dtype_with_lanes(info->element, info->factor), scope, info->data->span);
  tvms_as_var(made)->given = tvms_as_var(info->data)->given;
  return made;
}

static tvms_node *enter_buffer(tvms_rewriter *r, tvms_node *node) {
  vector_types *v = r->self;
  const memory_info *info = info_of(v, node);
  if (!info || info->factor == 1) return node;
  tvms_node *copy = tvms_node_copy(v->unit, node);
  tvms_buffer *buffer = tvms_as_buffer(copy);
  buffer->element = tvms_dtype_with_lanes(info->element, info->factor);
  buffer->layout = NULL;
  buffer->shape = divided_shape(v, buffer->shape, info->factor);
  // The pointer has the type of the elements.
  tvms_node *known = tvms_node_map_get(&r->known, buffer->data);
  if (!known && buffer->data->sinfo
      && buffer->data->sinfo->kind == TVMS_NODE_SINFO_POINTER) {
    memory_info own = *info;
    own.data = buffer->data;
    known = vector_pointer(v, &own);
    tvms_node_map_put(&r->known, buffer->data, known);
  }
  if (known) buffer->data = known;
  return copy;
}

// In 0.22 a declaration keeps its elements, and only accesses have the new buffer.
static tvms_node *enter_declaration(tvms_rewriter *r, tvms_node *node) {
  vector_types *v = r->self;
  const memory_info *info = info_of(v, tvms_as_decl_buffer(node)->buffer);
  bool keeps = info && info->factor != 1
               && tvms_release_has(v->unit->dialect, TVMS_FACT_definitions_hold_bodies);
  if (!keeps) return TVMS_REWRITE_BELOW;
  tvms_node *copy = tvms_node_copy(v->unit, node);
  tvms_decl_buffer *declare = tvms_as_decl_buffer(copy);
  declare->buffer = tvms_node_copy(v->unit, declare->buffer);
  tvms_buffer *buffer = tvms_as_buffer(declare->buffer);
  buffer->data = tvms_node_map_get(&r->known, buffer->data);
  return copy;
}

// The last index among vectors; *lane gets which lane of the element it is, -1: all.
static tvms_node *vector_index(vector_types *v, tvms_node *index, int factor,
                               int *lane) {
  *lane = -1;
  if (index->kind == TVMS_NODE_RAMP && index->dtype.lanes > 0
      && tvms_node_is_int(tvms_as_ramp(index)->stride, 1)) {
    const tvms_ramp *ramp = tvms_as_ramp(index);
    int lanes = index->dtype.lanes;
    tvms_node *base = divided(v, ramp->base, lanes);
    if (lanes == factor) return base;
    int count = lanes / factor;
    tvms_node *scale = tvms_int_imm_new(v->unit, base->dtype, count, TVMS_NO_SPAN);
    base = tvms_build_binary(v->unit, TVMS_NODE_MUL, base, scale, TVMS_NO_SPAN);
    return tvms_ramp_new(v->unit, base, ramp->stride, count, index->span);
  }
  if (!tvms_dtype_is_scalar(index->dtype)) return index;
  tvms_modular set = tvms_analyzer_modular_set(v->analyzer, index);
  *lane = (int)(set.base % factor);
  return divided(v, index, factor);
}

static tvms_list vector_indices(vector_types *v, tvms_list indices, int factor,
                                int *lane) {
  tvms_list made = tvms_list_copy(v->unit, indices.items, indices.len);
  tvms_node **last = &made.items[made.len - 1];
  *last = vector_index(v, *last, factor, lane);
  return made;
}

static tvms_node *leave_load(tvms_rewriter *r, tvms_node *node) {
  vector_types *v = r->self;
  const memory_info *info = info_of(v, tvms_as_buffer_load(r->old)->buffer);
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (!info || info->factor == 1 || load->indices.len == 0) return node;
  int lane;
  tvms_list indices = vector_indices(v, load->indices, info->factor, &lane);
  tvms_node *made = tvms_buffer_load_new(v->unit, load->buffer, indices.items,
                                         indices.len, load->predicate, node->span);
  if (lane < 0) return made;
  tvms_shuffle *shuffle = tvms_node_make(v->unit, SHUFFLE, node->span);
  tvms_node *at = tvms_int_imm_new(v->unit, TVMS_DTYPE(INT, 32), lane, TVMS_NO_SPAN);
  shuffle->head.dtype = tvms_dtype_with_lanes(made->dtype, 1);
  shuffle->vectors = tvms_list_copy(v->unit, &made, 1);
  shuffle->indices = tvms_list_copy(v->unit, &at, 1);
  return &shuffle->head;
}

static tvms_node *leave_store(tvms_rewriter *r, tvms_node *node) {
  vector_types *v = r->self;
  const memory_info *info = info_of(v, tvms_as_store(r->old)->buffer);
  if (!info || info->factor == 1 || tvms_as_store(node)->indices.len == 0) return node;
  int lane;
  tvms_node *copy = tvms_node_copy(v->unit, node);
  tvms_as_store(copy)->indices =
      vector_indices(v, tvms_as_store(node)->indices, info->factor, &lane);
  return copy;
}

static tvms_node *leave_allocate(tvms_rewriter *r, tvms_node *node) {
  vector_types *v = r->self;
  const memory_info *info = info_of_pointer(v, tvms_as_allocate(r->old)->var);
  if (!info || info->factor == 1) return node;
  tvms_allocate *made = tvms_as_allocate(tvms_node_copy(v->unit, node));
  made->element = tvms_dtype_with_lanes(info->element, info->factor);
  made->extents = divided_shape(v, made->extents, info->factor);
  made->annotations = NULL;
  return &made->head;
}

static tvms_node *leave_allocate_const(tvms_rewriter *r, tvms_node *node) {
  vector_types *v = r->self;
  const memory_info *info = info_of_pointer(v, tvms_as_allocate_const(r->old)->var);
  if (!info || info->factor == 1) return node;
  tvms_allocate_const *made = tvms_as_allocate_const(tvms_node_copy(v->unit, node));
  made->element = tvms_dtype_with_lanes(info->element, info->factor);
  made->extents = divided_shape(v, made->extents, info->factor);
  return &made->head;
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  vector_types *v = r->self;
  if (tvms_arith_opcode(node) != TVMS_TIR_tvm_access_ptr) return node;
  const tvms_call *old = tvms_as_call(r->old);
  const memory_info *info =
      info_of_pointer(v, tvms_linear_access_pointer(old->args.items[1]));
  if (!info || info->factor == 1) return node;
  tvms_node *copy = tvms_node_copy(v->unit, node);
  tvms_call *call = tvms_as_call(copy);
  call->args = tvms_list_copy(v->unit, call->args.items, call->args.len);
  tvms_node *marker = tvms_node_copy(v->unit, call->args.items[0]);
  marker->dtype = tvms_dtype_with_lanes(info->element, info->factor);
  call->args.items[0] = marker;
  call->args.items[2] = divided(v, call->args.items[2], info->factor);
  call->args.items[3] = divided(v, call->args.items[3], info->factor);
  return copy;
}

static tvms_node *rewrite(vector_types *v, tvms_node *function) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, v->unit, v);
  r.enter[TVMS_NODE_BUFFER] = enter_buffer;
  r.leave[TVMS_NODE_BUFFER_LOAD] = leave_load;
  r.leave[TVMS_NODE_STORE] = leave_store;
  r.leave[TVMS_NODE_CALL] = leave_call;
  r.enter[TVMS_NODE_DECL_BUFFER] = enter_declaration;
  r.leave[TVMS_NODE_ALLOCATE] = leave_allocate;
  r.leave[TVMS_NODE_ALLOCATE_CONST] = leave_allocate_const;
  if (!tvms_release_has(v->unit->dialect, TVMS_FACT_buffers_are_variables)) {
    for (uint32_t i = 0; i < v->infos.len; i++) {
      const memory_info *info = &v->infos.items[i];
      if (info->factor != 1)
        tvms_node_map_put(&r.known, info->data, vector_pointer(v, info));
    }
  }
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  return changed;
}

tvms_node *tvms_vector_types_rewrite(tvms_unit *unit, tvms_node *function,
                                     tvms_vector_type_options options) {
  vector_types v = {.unit = unit,
                    .memory = &unit->context->memory,
                    .analyzer = tvms_analyzer_new(unit),
                    .options = options};
  tvms_node_map_init(&v.places, v.memory);
  const tvms_prim_func *old = tvms_as_prim_func(function);
  for (uint32_t i = 0; i < old->buffers.len; i++) {
    if (old->buffers.items[i])
      declare_buffer(&v, tvms_as_buffer(old->buffers.items[i]), !options.params);
    else
      declare_pointer(&v, old->params.items[i], !options.params);
  }
  tvms_visitor visitor = {.self = &v, .enter = find};
  tvms_walk(v.memory, old->body, &visitor);
  bool any = false;
  for (uint32_t i = 0; i < v.infos.len; i++) {
    decide(&v, &v.infos.items[i]);
    any |= v.infos.items[i].factor != 1;
  }
  tvms_node *changed = any ? rewrite(&v, function) : function;
  for (uint32_t i = 0; i < v.infos.len; i++) {
    tvms_vec_fini(v.memory, &v.infos.items[i].accesses);
    tvms_vec_fini(v.memory, &v.infos.items[i].elements);
  }
  tvms_vec_fini(v.memory, &v.infos);
  tvms_node_map_fini(&v.places);
  tvms_analyzer_free(v.analyzer);
  return changed;
}
