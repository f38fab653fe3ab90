// Each block stores to one place; how the places it loads from relate to that one tells the
// pattern of the block, and the worst block that of the function.
//
//   Y[i, j] = X[i, j]              ELEMENTWISE  the same places
//   Y[i, j] = X[i] + Z[i, j]       ELEMENTWISE  one operand is, the others broadcast
//   Y[i, j] = X[i]                 BROADCAST    some of the places, in their order
//   Y[i, j] = X[j, i]              INJECTIVE    made of the variables of the place
//   Y[i] += X[i, k]                REDUCTION    over variables that stand alone in the load
//   Y[i, j] += A[i, k] * B[k, j]   OUT_FUSABLE  elements are used repeatedly
//   Y[P[i]] = X[i]                 OPAQUE       everything else
//
// A reduction followed by a block that writes a result element by element (softmax) is
// OUT_FUSABLE. The judgement is one by form, as TVM's: an equal program that is written
// otherwise may get another pattern. TVM: src/relax/analysis/tir_op_pattern_kind.cc.
#include "passes/op_pattern.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "support/vec.h"

typedef struct {
  tvms_context *context;
  const tvms_prim_func *function;
  bool opaque_loads;  // an index that is loaded itself makes a load opaque
  TVMS_VEC(const tvms_buffer_load *) loads;  // of the block at hand
  const tvms_store *store;
  tvms_op_pattern pattern;
} judge;

static bool same_indices(tvms_list a, tvms_list b) {
  if (a.len != b.len) return false;
  for (uint32_t i = 0; i < a.len; i++) {
    if (a.items[i] != b.items[i]) return false;
  }
  return true;
}

static bool stands_in(const tvms_node *index, tvms_list indices) {
  for (uint32_t i = 0; i < indices.len; i++) {
    if (indices.items[i] == index) return true;
  }
  return false;
}

// Every index of the load is one of the store's, in order; dimensions of 1 do not count.
static bool is_broadcast(tvms_list store, const tvms_buffer_load *load) {
  tvms_list shape = tvms_as_buffer(load->buffer)->shape;
  for (uint32_t i = 0, j = 0; i < load->indices.len; i++) {
    if (tvms_node_is_int(shape.items[i], 1)
        && tvms_node_is_int(load->indices.items[i], 0)) {
      continue;
    }
    while (j < store.len && store.items[j] != load->indices.items[i])
      j++;
    if (j == store.len) return false;
  }
  return true;
}

typedef struct {
  const judge *judge;
  tvms_list store;
} foreign;

static tvms_walk_step find_foreign(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const foreign *f = self;
  if (node->kind == TVMS_NODE_BUFFER) {
    return f->judge->opaque_loads ? TVMS_WALK_STOP : TVMS_WALK_SKIP;
  }
  if (node->kind != TVMS_NODE_VAR) return TVMS_WALK_ON;
  return stands_in(node, f->store) ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

// Only variables that are indices of the store stand in those of the load.
static bool is_injective(judge *j, tvms_list store, const tvms_buffer_load *load) {
  for (uint32_t i = 0; i < store.len; i++) {
    if (store.items[i]->kind != TVMS_NODE_VAR) return false;
  }
  foreign f = {j, store};
  tvms_visitor visitor = {.self = &f, .enter = find_foreign};
  for (uint32_t i = 0; i < load->indices.len; i++) {
    if (!tvms_walk(&j->context->memory, load->indices.items[i], &visitor)) return false;
  }
  return true;
}

static tvms_op_pattern pattern_of_indices(judge *j) {
  tvms_op_pattern worst = TVMS_PATTERN_ELEMENTWISE;
  bool elementwise = false;
  tvms_list store = j->store->indices;
  for (uint32_t i = 0; i < j->loads.len; i++) {
    const tvms_buffer_load *load = j->loads.items[i];
    tvms_op_pattern pattern;
    if (same_indices(store, load->indices)) {
      elementwise = true;
      continue;
    } else if (is_broadcast(store, load)) {
      pattern = TVMS_PATTERN_BROADCAST;
    } else if (is_injective(j, store, load)) {
      pattern = TVMS_PATTERN_INJECTIVE;
    } else {
      return TVMS_PATTERN_OPAQUE;
    }
    if (pattern > worst) worst = pattern;
  }
  // A[i, j] = B[i, j] + C[i] counts as element by element.
  return worst == TVMS_PATTERN_BROADCAST && elementwise ? TVMS_PATTERN_ELEMENTWISE
                                                        : worst;
}

static const tvms_node *without_cast(const tvms_node *node) {
  while (node->kind == TVMS_NODE_CAST)
    node = tvms_as_cast(node)->value;
  return node;
}

// Some index of the store does not stand in the load: its elements are used repeatedly.
static bool is_reused(judge *j, const tvms_node *node) {
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return false;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  for (uint32_t i = 0; i < j->store->indices.len; i++) {
    const tvms_node *index = j->store->indices.items[i];
    if (index->kind != TVMS_NODE_VAR) return false;
    bool used = false;
    for (uint32_t k = 0; k < load->indices.len && !used; k++) {
      used = tvms_walk_contains(&j->context->memory, load->indices.items[k], index);
    }
    if (!used) return true;
  }
  return false;
}

// C[i, j] = C[i, j] + A[i, k] * B[k, j]
static bool is_multiply_add(judge *j, const tvms_node *body) {
  if (body->kind != TVMS_NODE_STORE) return false;
  const tvms_node *sum = without_cast(tvms_as_store(body)->value);
  if (sum->kind != TVMS_NODE_ADD) return false;
  const tvms_node *product = without_cast(tvms_as_add(sum)->b);
  const tvms_node *old = without_cast(tvms_as_add(sum)->a);
  if (product->kind != TVMS_NODE_MUL || old->kind != TVMS_NODE_BUFFER_LOAD)
    return false;
  const tvms_buffer_load *load = tvms_as_buffer_load(old);
  return load->buffer == j->store->buffer
         && same_indices(load->indices, j->store->indices)
         && is_reused(j, without_cast(tvms_as_mul(product)->a))
         && is_reused(j, without_cast(tvms_as_mul(product)->b));
}

// Reduced variables stand in the indices alone, not in sums: A[i, k], not A[i + k].
static bool is_pure_reduction(judge *j, const tvms_block *block,
                              const tvms_buffer_load *load) {
  for (uint32_t i = 0; i < load->indices.len; i++) {
    tvms_node *index = load->indices.items[i];
    for (uint32_t k = 0; k < block->iter_vars.len; k++) {
      const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[k]);
      bool mixed = iter->iter_type == TVMS_ITER_COMM_REDUCE && index != iter->var
                   && tvms_walk_contains(&j->context->memory, index, iter->var);
      if (mixed) return false;
    }
  }
  return true;
}

static bool has_reduction(const tvms_block *block) {
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[i]);
    if (iter->iter_type == TVMS_ITER_COMM_REDUCE) return true;
  }
  return false;
}

static tvms_op_pattern pattern_of_reduction(judge *j, const tvms_block *block) {
  if (!has_reduction(block)) return TVMS_PATTERN_OPAQUE;
  if (is_multiply_add(j, block->body)) return TVMS_PATTERN_OUT_FUSABLE;
  for (uint32_t i = 0; i < j->loads.len; i++) {
    if (!is_pure_reduction(j, block, j->loads.items[i]))
      return TVMS_PATTERN_OUT_FUSABLE;
  }
  return TVMS_PATTERN_REDUCTION;
}

static bool writes_parameter(const judge *j, const tvms_block *block) {
  for (uint32_t i = 0; i < block->writes.len; i++) {
    const tvms_node *buffer = tvms_as_buffer_region(block->writes.items[i])->buffer;
    if (stands_in(buffer, j->function->buffers)) return true;
  }
  return false;
}

static void worsen(judge *j, tvms_op_pattern pattern) {
  if (pattern > j->pattern) j->pattern = pattern;
}

static void finish_block(judge *j, const tvms_block *block) {
  if (!j->store) {
    j->pattern = TVMS_PATTERN_OPAQUE;
    return;
  }
  tvms_op_pattern pattern = pattern_of_indices(j);
  // Softmax: a reduction, then element by element.
  bool after_reduction =
      writes_parameter(j, block) && j->pattern == TVMS_PATTERN_REDUCTION;
  if (pattern == TVMS_PATTERN_OPAQUE) {
    worsen(j, pattern_of_reduction(j, block));
  } else if (after_reduction) {
    j->pattern = TVMS_PATTERN_OUT_FUSABLE;
  } else {
    worsen(j, pattern);
  }
}

static tvms_walk_step look_at(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  judge *j = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_BUFFER_LOAD) {
    tvms_vec_push(&j->context->memory, &j->loads, tvms_as_buffer_load(node));
  } else if (node->kind == TVMS_NODE_STORE) {
    const tvms_store *store = tvms_as_store(node);
    if (j->store && !same_indices(store->indices, j->store->indices)) {
      j->pattern = TVMS_PATTERN_OPAQUE;
    } else {
      j->store = store;
    }
  }
  return TVMS_WALK_ON;
}

static tvms_walk_step find_blocks(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  judge *j = self;
  if (node->kind != TVMS_NODE_BLOCK) return TVMS_WALK_ON;
  const tvms_block *block = tvms_as_block(node);
  if (tvms_bytes_is(block->name, "root")) return TVMS_WALK_ON;
  j->loads.len = 0;
  j->store = NULL;
  tvms_visitor visitor = {.self = j, .enter = look_at};
  tvms_walk(&j->context->memory, block->body, &visitor);
  finish_block(j, block);
  return TVMS_WALK_SKIP;
}

tvms_op_pattern tvms_op_pattern_of(tvms_context *context, tvms_dialect dialect,
                                   const tvms_node *function) {
  judge j = {.context = context, .function = tvms_as_prim_func(function)};
  // Buffers are variables of TIR from 0.26 on, and foreign ones in an index.
  j.opaque_loads = tvms_release_has(dialect, TVMS_FACT_buffers_are_variables);
  tvms_visitor visitor = {.self = &j, .enter = find_blocks};
  tvms_walk(&context->memory, j.function->body, &visitor);
  tvms_vec_fini(&context->memory, &j.loads);
  return j.pattern;
}
