// Storing the families of float_conversion.h in integers.
//
// Every buffer with such elements, and every pointer to them, is replaced everywhere. A
// conversion of bits from or to the float goes where the value is an integer already.
#include "passes/tir/host/storage_legalize.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "support/diag_ids.h"

typedef struct {
  tvms_unit *unit;
  tvms_host_float_family family;
  const char *pass;
  tvms_rewriter *rewriter;
} storing;

static bool is_family(const storing *s, tvms_dtype dtype) {
  return tvms_host_float_is(s->family, dtype);
}

static bool points_to_family(const storing *s, const tvms_node *node) {
  return node->sinfo && node->sinfo->kind == TVMS_NODE_SINFO_POINTER
         && is_family(s, node->sinfo->dtype);
}

static tvms_sym scope_of(const tvms_node *pointer) {
  return tvms_as_sinfo_pointer(pointer->sinfo)->scope;
}

// ---- Buffers and pointers ----

static tvms_node *stored_pointer(const storing *s, tvms_node *old) {
  tvms_node *known = tvms_node_map_get(&s->rewriter->known, old);
  if (known || !points_to_family(s, old)) return known ? known : old;
  tvms_dtype dtype = tvms_host_float_storage(old->sinfo->dtype);
  tvms_node *new = tvms_pointer_var_new(s->unit, tvms_as_var(old)->name, dtype,
                                        scope_of(old), TVMS_NO_SPAN);
  tvms_node_map_put(&s->rewriter->known, old, new);
  return new;
}

static void store_buffer(const storing *s, tvms_node *old) {
  if (tvms_node_map_get(&s->rewriter->known, old)) return;
  tvms_node *new = tvms_node_copy(s->unit, old);
  tvms_buffer *buffer = tvms_as_buffer(new);
  buffer->element = tvms_host_float_storage(buffer->element);
  buffer->data = stored_pointer(s, buffer->data);
  tvms_node_map_put(&s->rewriter->known, old, new);
}

static tvms_walk_step find_stored(void *self, tvms_node *node, tvms_field_role role) {
  const storing *s = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER && is_family(s, tvms_as_buffer(node)->element))
    store_buffer(s, node);
  if (node->kind == TVMS_NODE_VAR) stored_pointer(s, node);
  return TVMS_WALK_ON;
}

// ---- Values ----

static tvms_node *store_load(tvms_rewriter *r, tvms_node *node) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (node != r->old)
    node->dtype =
        tvms_buffer_access_dtype(load->buffer, load->indices.items, load->indices.len);
  return node;
}

static tvms_node *store_pointer_call(const storing *s, tvms_node *node) {
  tvms_node *new = tvms_node_copy(s->unit, node);
  tvms_dtype dtype = tvms_host_float_storage(node->sinfo->dtype);
  new->sinfo =
      tvms_pointer_var_new(s->unit, 0, dtype, scope_of(node), TVMS_NO_SPAN)->sinfo;
  return new;
}

static tvms_node *store_call(tvms_rewriter *r, tvms_node *node) {
  const storing *s = r->self;
  if (points_to_family(s, node)) return store_pointer_call(s, node);
  // Of pointers the type says more than the dtype.
  if (tvms_call_opcode(node) != TVMS_TIR_reinterpret
      || tvms_dtype_is_handle(node->dtype))
    return node;
  tvms_node *value = tvms_as_call(node)->args.items[0];
  if (tvms_dtype_same(value->dtype, node->dtype)) return value;
  if (!is_family(s, node->dtype)) return node;
  return tvms_host_float_reinterpret(r->unit, tvms_host_float_storage(node->dtype),
                                     value);
}

// ---- Statements ----

static tvms_node *store_allocate(tvms_rewriter *r, tvms_node *node) {
  const storing *s = r->self;
  if (!is_family(s, tvms_as_allocate(node)->element)) return node;
  tvms_node *new = tvms_node_copy(r->unit, node);
  tvms_as_allocate(new)->element =
      tvms_host_float_storage(tvms_as_allocate(node)->element);
  return new;
}

// ---- Functions ----

static bool has_buffers(const storing *s, const tvms_node *function) {
  tvms_list buffers = tvms_as_prim_func(function)->buffers;
  for (uint32_t i = 0; i < buffers.len; i++) {
    if (!buffers.items[i]) continue;
    tvms_diag_report(&s->unit->context->diags, TVMS_D_not_packed, function->span,
                     s->pass);
    return true;
  }
  return false;
}

// What computes in the family would compute with the integers instead.
typedef struct {
  const storing *s;
  const tvms_node *TVMS_NULLABLE found;
  tvms_dtype dtype;
} computing_search;

static tvms_walk_step find_computing(void *self, tvms_node *node,
                                     tvms_field_role role) {
  computing_search *search = self;
  (void)role;
  const tvms_node *value = NULL;
  if (tvms_node_is_binary(node)) value = tvms_as_binary(node)->a;
  if (node->kind == TVMS_NODE_SELECT) value = node;
  if (node->kind == TVMS_NODE_CAST) {
    value = tvms_as_cast(node)->value;
    if (is_family(search->s, node->dtype)) value = node;
  }
  if (!value || !is_family(search->s, value->dtype)) return TVMS_WALK_ON;
  search->found = node;
  search->dtype = value->dtype;
  return TVMS_WALK_STOP;
}

static bool computes(const storing *s, tvms_node *function) {
  computing_search search = {.s = s};
  tvms_visitor visitor = {.self = &search, .enter = find_computing};
  (void)tvms_walk(&s->unit->context->memory, tvms_as_prim_func(function)->body,
                  &visitor);
  if (!search.found) return false;
  char text[TVMS_DTYPE_TEXT];
  bool bf16 = search.dtype.code == TVMS_BFLOAT;
  tvms_diag *diag = tvms_diag_report(
      &s->unit->context->diags, TVMS_D_still_computes, search.found->span, s->pass,
      tvms_dtype_text(tvms_dtype_with_lanes(search.dtype, 1), text));
  tvms_diag_remark(&s->unit->context->diags, diag,
                   "%sComputeLegalize widens all but what is bound to a variable",
                   bf16 ? "BF16" : "FP8");
  return true;
}

static tvms_node *store(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  storing s = *(const storing *)run->state;
  s.unit = unit;
  if (tvms_host_float_is_native(s.family, function) || has_buffers(&s, function)
      || !tvms_host_float_concerns(s.family, unit, function) || computes(&s, function))
    return function;
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &s);
  s.rewriter = &r;
  tvms_visitor visitor = {.self = &s, .enter = find_stored};
  tvms_walk(&unit->context->memory, function, &visitor);
  r.leave[TVMS_NODE_BUFFER_LOAD] = store_load;
  r.leave[TVMS_NODE_CALL] = store_call;
  r.leave[TVMS_NODE_ALLOCATE] = store_allocate;
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  return changed;
}

void tvms_host_storage_legalize(tvms_pass_run *run, tvms_host_float_family family,
                                const char *pass) {
  storing s = {.family = family, .pass = pass};
  void *outer = run->state;
  run->state = &s;
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, store);
  run->state = outer;
}
