// SpecializePrimFuncBasedOnCallSite: PrimFuncs take the shapes and the memory scopes that they are
// called with.
//
// Before: lv = R.call_tir(cls.f, (x,), …), where x is R.Tensor((4, 8), vdevice="opencl:1:texture")
//         def f(A: T.Buffer((4, 8)), B: T.Buffer((4, 8)))
// After:  def f(A: T.Buffer((4, 8), scope="texture"), B: T.Buffer((4, 8)))
//         with the attribute scoped: 1
//
// Of several calls the last one decides, as in TVM. Shapes must be constant; functions with the
// attribute Primitive are not looked at. TVM: relax.transform.SpecializePrimFuncBasedOnCallSite.
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/op.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/relax/analysis/primitive.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

typedef struct {
  tvms_pass_run *run;
  tvms_node **made;  // by member
  tvms_unit **units;
} specializer;

// A PrimFunc in the making.
typedef struct {
  tvms_unit *unit;
  tvms_prim_func *function;
  tvms_node_map known;  // its nodes → what stands for them
  uint32_t next;        // parameter
  const char *TVMS_NULLABLE wrong;
} special;

static tvms_sym scope_of(tvms_unit *unit, const tvms_sinfo_tensor *tensor) {
  if (!tensor->vdevice) return 0;
  tvms_bytes scope = tvms_as_object_vdevice(tensor->vdevice)->scope;
  bool global = !scope.text || tvms_bytes_is(scope, "global");
  return global ? 0 : tvms_symbol_intern(unit->context, scope.text, scope.len);
}

// The shape of the type as one of the buffer, whose symbols get their values.
static bool set_shape(special *s, const tvms_node *type, tvms_buffer *buffer) {
  tvms_list dims, old = buffer->shape;
  bool known =
      tvms_sinfo_is_tensor(type) && tvms_sinfo_dims(type, &dims) && dims.len == old.len;
  if (!known) return false;
  buffer->shape = tvms_list_copy(s->unit, old.items, old.len);
  for (uint32_t i = 0; i < dims.len; i++) {
    int64_t value;
    if (!tvms_sinfo_dim_int(dims.items[i], &value)) return false;
    buffer->shape.items[i] =
        tvms_int_imm_new(s->unit, TVMS_DTYPE(INT, 64), value, TVMS_NO_SPAN);
    if (old.items[i]->kind == TVMS_NODE_VAR)
      tvms_node_map_put(
          &s->known, old.items[i],
          tvms_int_imm_new(s->unit, old.items[i]->dtype, value, TVMS_NO_SPAN));
  }
  return true;
}

static void specialize_buffer(special *s, const tvms_node *TVMS_NULLABLE type) {
  uint32_t at = s->next++;
  tvms_node *old =
      at < s->function->buffers.len ? s->function->buffers.items[at] : NULL;
  if (!old) s->wrong = "it has fewer buffers than the call has tensors";
  if (!old || !type) return;
  tvms_node *copy = tvms_node_copy(s->unit, old);
  tvms_buffer *buffer = tvms_as_buffer(copy);
  if (!set_shape(s, type, buffer)) {
    s->wrong = "a tensor has not as many constant sizes as the buffer";
    return;
  }
  tvms_node *data =
      tvms_pointer_var_new(s->unit, buffer->name, buffer->element,
                           scope_of(s->unit, tvms_as_sinfo_tensor(type)), TVMS_NO_SPAN);
  tvms_node_map_put(&s->known, buffer->data, data);
  buffer->data = data;
  tvms_node_map_put(&s->known, old, copy);
}

static void specialize_arguments(special *s, tvms_list args) {
  for (uint32_t i = 0; i < args.len; i++)
    specialize_buffer(s, args.items[i]->sinfo);
}

static void specialize_results(special *s, const tvms_node *type) {
  if (type->kind != TVMS_NODE_SINFO_TUPLE) {
    specialize_buffer(s, type);
    return;
  }
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  for (uint32_t i = 0; i < fields.len; i++)
    specialize_buffer(s, fields.items[i]);
}

static void specialize(specializer *p, const tvms_node *node, uint32_t index) {
  const tvms_call *call = tvms_as_call(node);
  special s = {.unit = tvms_functions_open_unit(p->run)};
  tvms_node *copy = tvms_clone(s.unit, p->run->module->members[index].function, NULL);
  s.function = tvms_as_prim_func(copy);
  tvms_node_map_init(&s.known, &p->run->context->memory);
  specialize_arguments(&s, tvms_as_tuple(call->args.items[1])->fields);
  specialize_results(&s, call->type_args.items[0]);
  if (s.wrong) {
    tvms_diag_report(&p->run->context->diags, TVMS_D_cannot_specialize, node->span,
                     tvms_symbol_text(p->run->context, s.function->name), s.wrong);
    tvms_functions_drop_unit(p->run, s.unit);
  } else {
    if (p->units[index]) tvms_functions_drop_unit(p->run, p->units[index]);
    tvms_node *made = tvms_substitute(s.unit, copy, &s.known);
    made = made == copy ? tvms_node_copy(s.unit, copy) : made;
    tvms_prim_func *function = tvms_as_prim_func(made);
    function->attrs =
        tvms_object_map_with(s.unit, function->attrs, "scoped",
                             tvms_object_int_new(s.unit, 1, TVMS_NO_SPAN));
    p->made[index] = made;
    p->units[index] = s.unit;
  }
  tvms_node_map_fini(&s.known);
}

static tvms_walk_step see_call(void *self, tvms_node *node, tvms_field_role role) {
  specializer *p = self;
  (void)role;
  if (node->kind != TVMS_NODE_CALL) return TVMS_WALK_ON;
  const tvms_call *call = tvms_as_call(node);
  const tvms_module *module = p->run->module;
  bool taken = tvms_op_called(node) == TVMS_R_call_tir
               && call->args.items[0]->kind == TVMS_NODE_GLOBAL_VAR
               && call->args.items[1]->kind == TVMS_NODE_TUPLE;
  if (!taken) return TVMS_WALK_ON;
  const tvms_member *member =
      tvms_module_find(module, tvms_as_global_var(call->args.items[0])->name);
  bool prim =
      member && member->function && member->function->kind == TVMS_NODE_PRIM_FUNC;
  if (prim) specialize(p, node, (uint32_t)(member - module->members));
  return TVMS_WALK_ON;
}

void tvms_pass_specialize_prim_func_based_on_call_site(tvms_pass_run *run) {
  uint32_t count = run->module->member_count;
  tvms_arena arena;
  tvms_arena_init(&arena, &run->context->memory);
  specializer p = {run, tvms_arena_array(&arena, tvms_node *, count),
                   tvms_arena_array(&arena, tvms_unit *, count)};
  tvms_visitor visitor = {.self = &p, .enter = see_call};
  for (uint32_t i = 0; i < count; i++) {
    tvms_node *function = run->module->members[i].function;
    bool looked_at = function && function->kind == TVMS_NODE_FUNCTION
                     && !tvms_relax_is_primitive(function);
    if (looked_at) tvms_walk(&run->context->memory, function, &visitor);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (p.units[i]) tvms_functions_replace(run, i, p.units[i], p.made[i]);
  }
  tvms_arena_fini(&arena);
}
