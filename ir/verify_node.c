// What is true of one node whatever surrounds it: dtypes, lengths, enumerations, normal form
// (N and R of the list in ir/verify.c).
//
// The parts have been checked already, so the casts here cannot fail. A scalar of Relax may
// stand where TIR has a value; its dtype is void up to 0.25, and nothing is asked of it.
#include "ir/verify_node.h"

#include "ir/fold_const.h"
#include "ir/op.h"
#include "ir/stmt.h"
#include "ir/tir_op.h"

static bool is_void(const tvms_node *node) {
  return tvms_dtype_is_void(node->dtype);
}

static bool agree(const tvms_node *a, const tvms_node *b) {
  return tvms_dtype_same(a->dtype, b->dtype);
}

// ---- Expressions of TIR ----

static const char *TVMS_NULLABLE check_binary(const tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  if (!agree(op->a, op->b)) return "the operands differ in dtype";
  bool truth = node->kind >= TVMS_NODE_EQ;
  if (truth && !tvms_dtype_is_bool(node->dtype)) return "a comparison is not bool";
  if (truth && node->dtype.lanes != op->a->dtype.lanes)
    return "a comparison has other lanes than its operands";
  return truth || agree(node, op->a) ? NULL : "the dtype is not that of the operands";
}

static const char *TVMS_NULLABLE check_constant(const tvms_node *node) {
  tvms_dtype dtype = node->dtype;
  if (!tvms_dtype_is_scalar(dtype)) return "a constant is not a scalar";
  if (node->kind == TVMS_NODE_FLOAT_IMM)
    return tvms_dtype_is_real(dtype) ? NULL : "the dtype is not that of a real number";
  bool whole =
      dtype.code == TVMS_INT || dtype.code == TVMS_UINT || dtype.code == TVMS_BOOL;
  bool fits = node->flags & TVMS_FLAG_LARGE
              || tvms_fold_int_fits(dtype, tvms_as_int_imm(node)->value);
  if (!whole && !tvms_dtype_is_handle(dtype))
    return "the dtype is not that of a whole number";
  return fits ? NULL : "the value does not fit the dtype";
}

static const char *TVMS_NULLABLE check_vector(const tvms_node *node) {
  const tvms_node *scalar = node->kind == TVMS_NODE_RAMP
                                ? tvms_as_ramp(node)->base
                                : tvms_as_broadcast(node)->value;
  bool same =
      scalar->dtype.code == node->dtype.code && scalar->dtype.bits == node->dtype.bits;
  if (!same) return "the elements differ from the vector in dtype";
  return node->kind != TVMS_NODE_RAMP || agree(scalar, tvms_as_ramp(node)->stride)
             ? NULL
             : "base and stride differ in dtype";
}

static const char *TVMS_NULLABLE check_select(const tvms_node *node) {
  const tvms_select *select = tvms_as_select(node);
  if (!tvms_dtype_is_bool(select->condition->dtype)) return "the condition is not bool";
  return agree(select->true_value, select->false_value)
                 && agree(node, select->true_value)
             ? NULL
             : "the values differ in dtype";
}

static const char *TVMS_NULLABLE check_let(const tvms_node *node) {
  const tvms_let *let = tvms_as_let(node);
  if (!agree(let->var, let->value)) return "variable and value differ in dtype";
  return agree(node, let->body) ? NULL : "the dtype is not that of the body";
}

static const char *TVMS_NULLABLE check_reduce(const tvms_node *node) {
  const tvms_reduce *reduce = tvms_as_reduce(node);
  uint32_t width = tvms_as_comm_reducer(reduce->combiner)->result.len;
  if (reduce->source.len != width) return "sources and results differ in number";
  if (reduce->init.len && reduce->init.len != width)
    return "initial values and results differ in number";
  return (uint64_t)reduce->value_index < width ? NULL : "there is no such result";
}

// ---- Accesses ----

static const char *TVMS_NULLABLE check_indices(const tvms_node *buffer,
                                               tvms_list indices, tvms_dtype value) {
  if (indices.len != tvms_as_buffer(buffer)->shape.len)
    return "it does not have one index per dimension";
  tvms_dtype access = tvms_buffer_access_dtype(buffer, indices.items, indices.len);
  return tvms_dtype_same(access, value) ? NULL
                                        : "the dtype is not that of the elements";
}

static const char *TVMS_NULLABLE check_region(const tvms_node *node) {
  const tvms_buffer_region *region = tvms_as_buffer_region(node);
  uint32_t rank = tvms_as_buffer(region->buffer)->shape.len;
  return region->region.len == rank ? NULL : "it does not have one range per dimension";
}

static const char *TVMS_NULLABLE check_buffer(const tvms_node *node) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  if (buffer->buffer_type > 1) return "the buffer type is unknown";
  return is_void(node) ? NULL : "a buffer is not a value";
}

// ---- Statements ----

static const char *TVMS_NULLABLE check_loop(const tvms_node *node) {
  const tvms_for *loop = tvms_as_for(node);
  if (loop->for_kind > TVMS_FOR_THREAD_BINDING) return "the kind of loop is unknown";
  if (!agree(loop->var, loop->extent) || !agree(loop->var, loop->min))
    return "a loop variable differs from its range in dtype";
  bool bound = loop->for_kind == TVMS_FOR_THREAD_BINDING;
  return bound == (loop->thread != NULL) ? NULL : "a thread binding has no thread";
}

static const char *TVMS_NULLABLE check_sequence(const tvms_node *node) {
  tvms_list stmts = tvms_as_seq(node)->stmts;
  return stmts.len >= 2 ? NULL : "a sequence has fewer than two statements";
}

static const char *TVMS_NULLABLE check_iter_var(const tvms_node *node) {
  const tvms_iter_var *iter = tvms_as_iter_var(node);
  return iter->iter_type <= TVMS_ITER_TENSORIZED ? NULL : "the type of axis is unknown";
}

static const char *TVMS_NULLABLE check_realize(const tvms_node *node) {
  const tvms_block_realize *realize = tvms_as_block_realize(node);
  tvms_list axes = tvms_as_block(realize->block)->iter_vars;
  return realize->iter_values.len == axes.len ? NULL
                                              : "axes and values differ in number";
}

static const char *TVMS_NULLABLE check_block(const tvms_node *node) {
  tvms_list axes = tvms_as_block(node)->iter_vars;
  for (uint32_t i = 0; i < axes.len; i++) {
    if (!tvms_as_iter_var(axes.items[i])->dom) return "an axis has no domain";
  }
  return NULL;
}

static const char *TVMS_NULLABLE check_bind(const tvms_node *node) {
  const tvms_bind *bind = tvms_as_bind(node);
  return agree(bind->var, bind->value) ? NULL : "variable and value differ in dtype";
}

static const char *TVMS_NULLABLE check_store(const tvms_node *node) {
  const tvms_store *store = tvms_as_store(node);
  return check_indices(store->buffer, store->indices, store->value->dtype);
}

static const char *TVMS_NULLABLE check_load(const tvms_node *node) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  return check_indices(load->buffer, load->indices, node->dtype);
}

// ---- Calls ----

static const char *TVMS_NULLABLE check_operator(const tvms_node *node) {
  uint32_t opcode = tvms_as_operator(node)->opcode;
  bool tir = node->flags & TVMS_FLAG_TIR;
  bool known = tir ? opcode < TVMS_TIR_COUNT : opcode <= TVMS_OP_COUNT;
  return known ? NULL : "the operator is unknown";
}

static bool is_relax_leaf(const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_CALL:
  case TVMS_NODE_TUPLE_GET_ITEM:
  case TVMS_NODE_IF:
  case TVMS_NODE_SEQ_EXPR:
  case TVMS_NODE_FUNCTION: return false;
  default: return true;
  }
}

static const char *TVMS_NULLABLE check_parts(tvms_list parts) {
  for (uint32_t i = 0; i < parts.len; i++) {
    const tvms_node *part = parts.items[i];
    bool named =
        part->kind == TVMS_NODE_GLOBAL_VAR || part->kind == TVMS_NODE_EXTERN_FUNC;
    if (!named && !part->sinfo && is_void(part)) return "a part has no StructInfo";
    if (!is_relax_leaf(part)) return "a part is neither a leaf nor a tuple";
  }
  return NULL;
}

static const char *TVMS_NULLABLE check_call(const tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  bool relax = call->callee->kind == TVMS_NODE_OPERATOR
               && !(call->callee->flags & TVMS_FLAG_TIR);
  if (!relax) return NULL;
  if (!node->sinfo) return "a call has no StructInfo";
  return check_parts(call->args);
}

// ---- Relax ----

static const char *TVMS_NULLABLE check_binding(const tvms_node *node) {
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  if (!binding->var->sinfo) return "the variable has no StructInfo";
  return binding->value->sinfo || !is_void(binding->value)
             ? NULL
             : "the value has no StructInfo";
}

static const char *TVMS_NULLABLE check_sequence_value(const tvms_node *node) {
  const tvms_node *body = tvms_as_seq_expr(node)->body;
  if (!node->sinfo) return "it has no StructInfo";
  return check_parts((tvms_list){(tvms_node **)&body, 1});
}

static const char *TVMS_NULLABLE check_function(const tvms_node *node) {
  tvms_list params = tvms_as_function(node)->params;
  for (uint32_t i = 0; i < params.len; i++) {
    if (!params.items[i]->sinfo) return "a parameter has no StructInfo";
  }
  return NULL;
}

static const char *TVMS_NULLABLE check_tensor_type(const tvms_node *node) {
  const tvms_sinfo_tensor *tensor = tvms_as_sinfo_tensor(node);
  bool known = tensor->shape && tensor->shape->kind == TVMS_NODE_SHAPE_EXPR;
  if (!known) return NULL;
  uint32_t rank = tvms_as_shape_expr(tensor->shape)->values.len;
  return tensor->ndim == (int64_t)rank ? NULL : "the rank is not that of the shape";
}

static const char *TVMS_NULLABLE check_shape_type(const tvms_node *node) {
  const tvms_sinfo_shape *shape = tvms_as_sinfo_shape(node);
  bool known = node->flags & TVMS_FLAG_KNOWN;
  if (!known) return shape->values.len ? "an unknown shape has values" : NULL;
  return shape->ndim == (int64_t)shape->values.len
             ? NULL
             : "the rank is not that of the values";
}

static const char *TVMS_NULLABLE check_map(const tvms_node *node) {
  const tvms_object_map *map = tvms_as_object_map(node);
  return map->keys.len == map->values.len ? NULL : "keys and values differ in number";
}

static const char *TVMS_NULLABLE check_prim_func(const tvms_node *node) {
  const tvms_prim_func *function = tvms_as_prim_func(node);
  return function->params.len == function->buffers.len
             ? NULL
             : "parameters and buffers differ in number";
}

const char *TVMS_NULLABLE tvms_verify_node(const tvms_node *node) {
  if (tvms_node_is_binary(node)) return check_binary(node);
  switch ((int)node->kind) {
  case TVMS_NODE_INT_IMM:
  case TVMS_NODE_FLOAT_IMM: return check_constant(node);
  case TVMS_NODE_NOT:
    return tvms_dtype_is_bool(node->dtype) && agree(node, tvms_as_not(node)->a)
               ? NULL
               : "it is not bool";
  case TVMS_NODE_SELECT: return check_select(node);
  case TVMS_NODE_RAMP:
  case TVMS_NODE_BROADCAST: return check_vector(node);
  case TVMS_NODE_LET: return check_let(node);
  case TVMS_NODE_REDUCE: return check_reduce(node);
  case TVMS_NODE_BUFFER_LOAD: return check_load(node);
  case TVMS_NODE_BUFFER_REGION: return check_region(node);
  case TVMS_NODE_BUFFER: return check_buffer(node);
  case TVMS_NODE_ITER_VAR: return check_iter_var(node);
  case TVMS_NODE_SEQ: return check_sequence(node);
  case TVMS_NODE_FOR: return check_loop(node);
  case TVMS_NODE_BLOCK: return check_block(node);
  case TVMS_NODE_BLOCK_REALIZE: return check_realize(node);
  case TVMS_NODE_BIND: return check_bind(node);
  case TVMS_NODE_STORE: return check_store(node);
  case TVMS_NODE_OPERATOR: return check_operator(node);
  case TVMS_NODE_CALL: return check_call(node);
  case TVMS_NODE_TUPLE: return check_parts(tvms_as_tuple(node)->fields);
  case TVMS_NODE_VAR_BINDING: return check_binding(node);
  case TVMS_NODE_SEQ_EXPR: return check_sequence_value(node);
  case TVMS_NODE_FUNCTION: return check_function(node);
  case TVMS_NODE_SINFO_TENSOR: return check_tensor_type(node);
  case TVMS_NODE_SINFO_SHAPE: return check_shape_type(node);
  case TVMS_NODE_OBJECT_MAP: return check_map(node);
  case TVMS_NODE_PRIM_FUNC: return check_prim_func(node);
  default: return NULL;
  }
}
