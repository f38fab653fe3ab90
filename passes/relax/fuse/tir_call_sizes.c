// A packed call takes the sizes of a callee from the tensors that it is given and checks all
// dimensions against them. A direct call passes them as numbers and checks nothing, so a call is
// made direct only where the types of the caller say what the sizes are, and prove the rest:
//
//   callee  A: T.Buffer((n, m)), B: T.Buffer((n * m,))      caller  x: (b, 4), y: (b * 4,)
//   n is b, m is 4; n * m is b * 4, which y has.
//
// What is neither proved nor disproved may be checked when the call runs, if the caller says so.
//
// A buffer whose sizes are all numbers may be given a tensor of unknown shape: the function of
// the run takes the tensor with those sizes, and checks them when it is called.
#include "passes/relax/fuse/tir_call_sizes.h"

#include "ir/build.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/substitute.h"
#include "structinfo/make.h"

void tvms_fuse_sizes_of(tvms_memory *memory, const tvms_prim_func *function,
                        tvms_node_vec *sizes) {
  tvms_node_map defined;
  tvms_node_map_init(&defined, memory);
  for (uint32_t i = 0; i < function->params.len; i++)
    tvms_node_map_put(&defined, function->params.items[i], function->params.items[i]);
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    const tvms_node *buffer = function->buffers.items[i];
    tvms_list shape = {NULL, 0};
    if (buffer) shape = tvms_as_buffer(buffer)->shape;
    for (uint32_t k = 0; k < shape.len; k++)
      tvms_relax_symbols_free(memory, shape.items[k], &defined, sizes);
  }
  tvms_node_map_fini(&defined);
}

// The dimensions of what is handed over; false if they are not known.
static bool dims_of(const tvms_fuse_passed *passed, tvms_list *dims) {
  return passed->type && tvms_sinfo_tensor_dims(passed->type, dims);
}

// Takes each size that is a dimension itself from the tensor.
static const char *TVMS_NULLABLE take_sizes(const tvms_node *buffer, tvms_list dims,
                                            tvms_node_map *values) {
  tvms_list shape = tvms_as_buffer(buffer)->shape;
  if (shape.len != dims.len) return "a tensor has another rank than its callee takes";
  for (uint32_t i = 0; i < shape.len; i++) {
    const tvms_node *size = shape.items[i];
    if (!tvms_relax_is_symbol(size) || tvms_node_map_get(values, size)) continue;
    if (!tvms_dtype_same(size->dtype, dims.items[i]->dtype))
      return "a size of its callee is of another type than those of tensors";
    tvms_node_map_put(values, size, dims.items[i]);
  }
  return NULL;
}

// Is it proved that `dim` is the size, or may it be found out when the call runs?
static bool may_be_size(const tvms_fuse_caller *f, const tvms_node_map *values,
                        tvms_node *size, tvms_node *dim) {
  if (tvms_node_is_int_imm(size) && tvms_node_is_int_imm(dim))
    return tvms_as_int_imm(size)->value == tvms_as_int_imm(dim)->value;
  tvms_node *value = tvms_relax_substitute(f->unit, size, values);
  if (!tvms_dtype_same(value->dtype, dim->dtype)) return false;
  if (tvms_dim_equal(f->prover, value, dim)) return true;
  if (!f->doubts || tvms_dim_differ(f->prover, value, dim)) return false;
  tvms_vec_push(&f->run->context->memory, f->doubts,
                tvms_binary_new(f->unit, TVMS_NODE_EQ, dim, value, TVMS_NO_SPAN));
  return true;
}

static const char *TVMS_NULLABLE check_sizes(const tvms_fuse_caller *f,
                                             const tvms_node *buffer,
                                             const tvms_fuse_passed *passed,
                                             const tvms_node_map *values) {
  tvms_list shape = tvms_as_buffer(buffer)->shape, dims;
  bool known = dims_of(passed, &dims);
  for (uint32_t i = 0; i < shape.len; i++) {
    if (!known && tvms_node_is_int_imm(shape.items[i])) continue;
    if (!known) return "the sizes of a tensor are not known";
    if (!may_be_size(f, values, shape.items[i], dims.items[i]))
      return "its tensors are not proven to have the sizes that its callee takes";
  }
  return NULL;
}

static bool are_all_known(const tvms_fuse_caller *f, const tvms_prim_func *function,
                          const tvms_node_map *values) {
  tvms_memory *memory = &f->run->context->memory;
  tvms_node_vec sizes = {0};
  tvms_fuse_sizes_of(memory, function, &sizes);
  bool known = true;
  for (uint32_t i = 0; i < sizes.len; i++)
    known &= tvms_node_map_get(values, sizes.items[i]) != NULL;
  tvms_vec_fini(memory, &sizes);
  return known;
}

const char *TVMS_NULLABLE tvms_fuse_solve_sizes(const tvms_fuse_caller *f,
                                                const tvms_prim_func *function,
                                                const tvms_fuse_passed_list *passed,
                                                tvms_node_map *values) {
  const char *why = NULL;
  tvms_list dims;
  for (uint32_t i = 0; i < passed->len; i++) {
    if (!function->buffers.items[i])
      tvms_node_map_put(values, function->params.items[i], passed->items[i].value);
  }
  for (uint32_t i = 0; i < passed->len && !why; i++) {
    if (function->buffers.items[i] && dims_of(&passed->items[i], &dims))
      why = take_sizes(function->buffers.items[i], dims, values);
  }
  if (!why && !are_all_known(f, function, values))
    why = "a size of its callee is not a dimension of what it is passed";
  for (uint32_t i = 0; i < passed->len && !why; i++) {
    if (function->buffers.items[i])
      why = check_sizes(f, function->buffers.items[i], &passed->items[i], values);
  }
  return why;
}
