// CallTIRRewrite: destination passing made explicit.
//
// Before: lv = R.call_tir(cls.f, (x,), out_ty=R.Tensor((n,), "float32"))
// After:  alloc = R.builtin.alloc_tensor(R.shape([n]), …); cls.f(x, alloc); lv = alloc
//
// Outputs of call_tir_inplace take the place of their arguments. Shapes must be known;
// nested tuples of outputs are rebuilt. Scalars in tir_vars, as releases up to 0.25 have them, are handed over
// by vm.call_tir_dyn, which takes them out of a shape. TVM: relax.transform.CallTIRRewrite.
#include "passes/functions.h"
#include "passes/relax/emit.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  tvms_rewriter *rewriter;
  tvms_relax_emitter *emitter;
  const tvms_call *call;
  tvms_list inplace;      // per output: index of an argument, or -1; empty: all fresh
  tvms_node_vec outputs;  // one value per tensor of the result
  tvms_node_vec fresh;    // those of them that were allocated
} destination;

static tvms_memory *memory_of(const destination *d) {
  return &d->rewriter->unit->context->memory;
}

static tvms_node *with_sinfo(tvms_node *node, tvms_node *sinfo) {
  node->sinfo = sinfo;
  return node;
}

static tvms_node *allocate(destination *d, tvms_node *type) {
  tvms_unit *unit = d->rewriter->unit;
  const tvms_sinfo_tensor *tensor = tvms_as_sinfo_tensor(type);
  tvms_dtype_imm *dtype = tvms_node_make(unit, DTYPE_IMM, TVMS_NO_SPAN);
  dtype->value = type->dtype;
  dtype->head.sinfo = tvms_sinfo_object_new(unit);
  const char *scope = "global";
  int64_t device = 0;
  if (tensor->vdevice) {
    const tvms_object_vdevice *vdevice = tvms_as_object_vdevice(tensor->vdevice);
    scope = vdevice->scope.len ? vdevice->scope.text : scope;
    device = vdevice->index;
  }
  tvms_node *index = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 64), device, TVMS_NO_SPAN);
  tvms_node *args[] = {
      tensor->shape,
      &dtype->head,
      tvms_relax_make_prim_value(unit, index),
      tvms_string_imm_new(unit, scope, strlen(scope), TVMS_NO_SPAN),
  };
  args[3]->sinfo = dtype->head.sinfo;
  tvms_node *callee = tvms_op_operator_new(unit, TVMS_R_builtin_alloc_tensor);
  tvms_node *call =
      tvms_call_new(unit, (tvms_dtype){0}, callee, args, 4, d->call->head.span);
  if (tvms_release_has(unit->dialect, TVMS_FACT_alloc_tensor_says_type)) {
    tvms_as_call(call)->type_args = tvms_list_copy(unit, &type, 1);
  }
  return tvms_relax_emit(d->emitter, d->rewriter, with_sinfo(call, type), "alloc");
}

// Allocates what a result of this type needs and returns the value that stands for it.
static tvms_node *make_output(destination *d, tvms_node *type) {
  tvms_memory *memory = memory_of(d);
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_unit *unit = d->rewriter->unit;
    tvms_list types = tvms_as_sinfo_tuple(type)->fields;
    tvms_tuple *tuple = tvms_node_make(unit, TUPLE, d->call->head.span);
    tuple->fields = tvms_list_copy(unit, types.items, types.len);
    for (uint32_t i = 0; i < types.len; i++) {
      tuple->fields.items[i] = make_output(d, types.items[i]);
    }
    return with_sinfo(&tuple->head, type);
  }
  int64_t place = -1;
  if (d->outputs.len < d->inplace.len) {
    place = tvms_attr_item_int(d->inplace.items[d->outputs.len]);
  }
  tvms_node *output;
  if (place >= 0) {
    output = tvms_as_tuple(d->call->args.items[1])->fields.items[place];
  } else {
    output = allocate(d, type);
    tvms_vec_push(memory, &d->fresh, output);
  }
  tvms_vec_push(memory, &d->outputs, output);
  return output;
}

static bool can_allocate(const tvms_node *type) {
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    for (uint32_t i = 0; i < fields.len; i++) {
      if (!can_allocate(fields.items[i])) return false;
    }
    return true;
  }
  if (type->kind != TVMS_NODE_SINFO_TENSOR) return false;
  const tvms_node *shape = tvms_as_sinfo_tensor(type)->shape;
  return shape && shape->kind == TVMS_NODE_SHAPE_EXPR;
}

// The call of a PrimFunc by vm.call_tir_dyn: the last argument is the shape tir_vars.
static tvms_node *call_with_scalars(const destination *d, const tvms_node_vec *args) {
  tvms_unit *unit = d->rewriter->unit;
  tvms_span span = d->call->head.span;
  tvms_tuple *passed = tvms_node_make(unit, TUPLE, span);
  passed->fields = tvms_list_copy(unit, args->items, args->len);
  tvms_node **types = tvms_arena_array(&unit->arena, tvms_node *, args->len);
  for (uint32_t i = 0; i < args->len; i++)
    types[i] = args->items[i]->sinfo;
  passed->head.sinfo = tvms_sinfo_tuple_new(unit, types, args->len);
  tvms_node *operands[] = {d->call->args.items[0], &passed->head};
  return tvms_call_new(unit, (tvms_dtype){0},
                       tvms_op_operator_new(unit, TVMS_R_vm_call_tir_dyn), operands, 2,
                       span);
}

// The call itself, after its arguments and the fresh outputs; it returns nothing.
static void emit_call(destination *d) {
  tvms_unit *unit = d->rewriter->unit;
  tvms_memory *memory = memory_of(d);
  tvms_node *passed = d->call->args.items[1];
  tvms_list fields = {&passed, 1};
  if (passed->kind == TVMS_NODE_TUPLE) fields = tvms_as_tuple(passed)->fields;
  tvms_node_vec args = {0};
  for (uint32_t i = 0; i < fields.len; i++)
    tvms_vec_push(memory, &args, fields.items[i]);
  for (uint32_t i = 0; i < d->fresh.len; i++)
    tvms_vec_push(memory, &args, d->fresh.items[i]);
  bool scalars = d->call->args.len > 2 && passed->kind == TVMS_NODE_TUPLE;
  if (scalars) tvms_vec_push(memory, &args, d->call->args.items[2]);
  tvms_node *call = scalars
                        ? call_with_scalars(d, &args)
                        : tvms_call_new(unit, (tvms_dtype){0}, d->call->args.items[0],
                                        args.items, args.len, d->call->head.span);
  tvms_vec_fini(memory, &args);
  // A packed function may return anything.
  bool packed = d->call->args.items[0]->kind != TVMS_NODE_GLOBAL_VAR;
  call->sinfo =
      packed ? tvms_sinfo_object_new(unit) : tvms_sinfo_tuple_new(unit, NULL, 0);
  tvms_relax_emit(d->emitter, d->rewriter, call, "_");
}

static tvms_node *rewrite_call(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_opcode opcode = tvms_op_called(node);
  bool inplace = opcode == TVMS_R_call_tir_inplace;
  if (!inplace && opcode != TVMS_R_call_tir && opcode != TVMS_R_call_dps_packed) {
    return node;
  }
  const tvms_call *call = tvms_as_call(node);
  tvms_node *type = call->type_args.len ? call->type_args.items[0] : node->sinfo;
  if (!can_allocate(type)) {
    tvms_diag_report(&rewriter->unit->context->diags, TVMS_D_output_shape, node->span);
    return node;
  }
  destination d = {.rewriter = rewriter, .emitter = rewriter->self, .call = call};
  if (inplace) d.inplace = tvms_attr_list(call, TVMS_ATTR_inplace_inplace_indices);
  tvms_node *result = make_output(&d, type);
  emit_call(&d);
  tvms_vec_fini(memory_of(&d), &d.outputs);
  tvms_vec_fini(memory_of(&d), &d.fresh);
  return result;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  tvms_relax_emitter *emitter = run->state;
  emitter->unit = unit;
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, emitter);
  rewriter.leave[TVMS_NODE_CALL] = rewrite_call;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return changed;
}

// Names are drawn for all functions of the module together.
void tvms_pass_call_tir_rewrite(tvms_pass_run *run) {
  tvms_relax_emitter emitter;
  tvms_relax_emitter_init(&emitter, &run->module->unit);
  run->state = &emitter;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = NULL;
  tvms_relax_emitter_fini(&emitter);
}
