// Legalising one call: the description of the operator does its work, and what it made is
// described to the caller in the caller's own variables.
#include "te/legalize_call.h"

#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "te/legalize_gather.h"
#include "te/legalize_reduce.h"
#include "te/legalize_shape.h"
#include "te/legalize_slice.h"
#include "te/legalize_trim.h"
#include "te/legalizers.h"

typedef bool (*legalizer)(tvms_legal *legal);

// Operators without a description.
#define tvms_legalize_none NULL
static const legalizer legalizers[TVMS_OP_COUNT + 1] = {
#define OP(ident, name, schema, bind, signature, infer, purity, legalize, since, doc)  \
  [TVMS_R_##ident] = tvms_legalize_##legalize,
#include "ir/ops.def"
};

static const legalizer dispatched[TVMS_OP_COUNT + 1] = {
#define DISPATCH(op, description) [TVMS_R_##op] = tvms_te_dispatch_##description,
#include "te/dispatch.def"
};

static const legalizer fast[TVMS_OP_COUNT + 1] = {
#define FAST(op, description) [TVMS_R_##op] = tvms_te_fast_##description,
#include "te/fast.def"
};

static tvms_memory *memory_of(tvms_legal *legal) {
  return &legal->caller->context->memory;
}

static bool is_dim(tvms_node_vec tensors, const tvms_node *var) {
  for (uint32_t i = 0; i < tensors.len; i++) {
    if (!tensors.items[i]) continue;
    tvms_list shape = tvms_te_shape(tensors.items[i]);
    for (uint32_t j = 0; j < shape.len; j++) {
      if (shape.items[j] == var) return true;
    }
  }
  return false;
}

// Variables that are not a dimension of a parameter or result are handed over on their own.
static void add_unbound_variables(tvms_legal *legal) {
  for (uint32_t i = 0; i < legal->inner.len; i++) {
    tvms_node *var = legal->inner.items[i];
    if (is_dim(legal->te.buffers, var) || is_dim(legal->te.outputs, var)) continue;
    if (tvms_release_has(legal->te.unit->dialect, TVMS_FACT_sizes_follow_outputs)) {
      tvms_vec_push(memory_of(legal), &legal->te.sizes, var);
      tvms_vec_push(memory_of(legal), &legal->sizes, legal->outer.items[i]);
      continue;
    }
    tvms_te_scalar(&legal->te, var);
    tvms_vec_push(memory_of(legal), &legal->args, legal->outer.items[i]);
  }
}

static tvms_node *vdevice_of(tvms_list args) {
  tvms_node *found = NULL;
  for (uint32_t i = 0; i < args.len && !found; i++) {
    const tvms_node *sinfo = args.items[i]->sinfo;
    if (args.items[i]->kind == TVMS_NODE_TUPLE) {
      found = vdevice_of(tvms_as_tuple(args.items[i])->fields);
    } else if (sinfo && sinfo->kind == TVMS_NODE_SINFO_TENSOR) {
      found = tvms_as_sinfo_tensor(sinfo)->vdevice;
    }
  }
  return found;
}

static tvms_node *type_of(tvms_legal *legal, const tvms_node *tensor,
                          tvms_node_map *back, tvms_node *TVMS_NULLABLE vdevice) {
  tvms_unit *unit = legal->caller;
  tvms_list shape = tvms_te_shape(tensor);
  tvms_list dims = tvms_list_copy(unit, shape.items, shape.len);
  for (uint32_t i = 0; i < shape.len; i++) {
    dims.items[i] = tvms_clone(unit, shape.items[i], back);
  }
  tvms_node *value =
      tvms_sinfo_shape_value_new(unit, dims.items, dims.len, legal->call->head.span);
  return tvms_sinfo_tensor_new(unit, value, tvms_te_dtype(tensor), vdevice);
}

static void describe(tvms_legal *legal, tvms_legalized *result) {
  tvms_node_map back;
  tvms_node_map_init(&back, memory_of(legal));
  for (uint32_t i = 0; i < legal->inner.len; i++) {
    tvms_node_map_put(&back, legal->inner.items[i], legal->outer.items[i]);
  }
  tvms_node_vec *outputs = &legal->te.outputs;
  // All outputs are where the first operand is that says where it is.
  result->vdevice = vdevice_of(legal->call->args);
  result->types = tvms_list_copy(legal->caller, outputs->items, outputs->len);
  for (uint32_t i = 0; i < outputs->len; i++) {
    result->types.items[i] = type_of(legal, outputs->items[i], &back, result->vdevice);
  }
  tvms_node_map_fini(&back);
  add_unbound_variables(legal);
  result->args = tvms_list_copy(legal->caller, legal->args.items, legal->args.len);
  result->sizes = tvms_list_copy(legal->caller, legal->sizes.items, legal->sizes.len);
  result->name = legal->name;
  result->function = tvms_te_finish(&legal->te);
}

// What is wrong with a description that was just made is wrong at the call: its own expressions stand nowhere.
static void place_reports(tvms_diag *TVMS_NULLABLE before, tvms_context *context,
                          tvms_span span) {
  tvms_diag *diag = before ? before->next : context->diags.first;
  for (; diag; diag = diag->next)
    if (!diag->span.end) diag->span = span;
}

bool tvms_legalize_as(tvms_legal_description *legalize, tvms_unit *unit,
                      tvms_unit *caller, const tvms_call *call, const void *what,
                      tvms_legalized *result) {
  tvms_legal legal = {.caller = caller, .call = call, .what = what};
  tvms_te_init(&legal.te, unit);
  tvms_node_map_init(&legal.known, memory_of(&legal));
  tvms_diag *before = unit->context->diags.last;
  bool fine = legalize(&legal);
  if (fine) describe(&legal, result);
  place_reports(before, unit->context, call->head.span);
  tvms_node_map_fini(&legal.known);
  tvms_vec_fini(memory_of(&legal), &legal.args);
  tvms_vec_fini(memory_of(&legal), &legal.outer);
  tvms_vec_fini(memory_of(&legal), &legal.sizes);
  tvms_vec_fini(memory_of(&legal), &legal.inner);
  tvms_te_fini(&legal.te);
  return fine;
}

static bool run(legalizer legalize, tvms_unit *unit, tvms_unit *caller,
                const tvms_call *call, tvms_legalized *result) {
  return tvms_legalize_as(legalize, unit, caller, call, NULL, result);
}

bool tvms_legalize_describes(tvms_opcode opcode) {
  return legalizers[opcode] != NULL;
}

bool tvms_legalize_call(tvms_unit *unit, tvms_unit *caller, const tvms_call *call,
                        tvms_legalized *result) {
  legalizer legalize = legalizers[tvms_op_called(&call->head)];
  return legalize && tvms_legalize_is_possible(call)
         && run(legalize, unit, caller, call, result);
}

bool tvms_legalize_dispatched(tvms_unit *unit, tvms_unit *caller, const tvms_call *call,
                              tvms_legalized *result) {
  legalizer way = dispatched[tvms_op_called(&call->head)];
  return way && tvms_legalize_is_possible(call) && run(way, unit, caller, call, result);
}

bool tvms_legalize_has_dispatch(tvms_opcode opcode) {
  return dispatched[opcode] != NULL;
}

bool tvms_legalize_has_fast(tvms_opcode opcode) {
  return fast[opcode] != NULL;
}

bool tvms_legalize_fast(tvms_unit *unit, tvms_unit *caller, const tvms_call *call,
                        tvms_legalized *result) {
  legalizer way = fast[tvms_op_called(&call->head)];
  return way && tvms_legalize_is_possible(call) && run(way, unit, caller, call, result);
}

bool tvms_legalize_nt_matmul(tvms_unit *unit, tvms_unit *caller, const tvms_call *call,
                             tvms_legalized *result) {
  return tvms_legalize_is_possible(call)
         && run(tvms_te_nt_matmul, unit, caller, call, result);
}

// Operators whose description in TVM reads outside of its tensors, or hides what fusing and schedules ask for.
static const legalizer inside[TVMS_OP_COUNT + 1] = {
    [TVMS_R_reshape] = tvms_legalize_reshape_inside,
    [TVMS_R_slice_scatter] = tvms_legalize_slice_scatter_inside,
    [TVMS_R_take] = tvms_legalize_take_inside,
};

static const legalizer parts[TVMS_LEGAL_PARTS] = {
    [TVMS_LEGAL_SHAPE] = tvms_legalize_slice_shape,
    [TVMS_LEGAL_BEGIN] = tvms_legalize_trim_begin,
    [TVMS_LEGAL_END] = tvms_legalize_trim_end,
    [TVMS_LEGAL_STRIDES] = tvms_legalize_trim_strides,
};

bool tvms_legalize_part(tvms_unit *unit, tvms_unit *caller, const tvms_call *call,
                        tvms_legal_part part, tvms_legalized *result) {
  if (part == TVMS_LEGAL_INSIDE && !inside[tvms_op_called(&call->head)])
    part = TVMS_LEGAL_RESULT;
  if (part == TVMS_LEGAL_RESULT) return tvms_legalize_call(unit, caller, call, result);
  if (part == TVMS_LEGAL_INSIDE)
    return tvms_legalize_is_possible(call)
           && run(inside[tvms_op_called(&call->head)], unit, caller, call, result);
  return tvms_legalize_is_possible(call)
         && run(parts[part], unit, caller, call, result);
}
