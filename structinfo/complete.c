// What TVM adds to a function of TIR after it was read: the root block, and regions of blocks
// that do not say what they read and write (src/tirx/ir/script/script_complete.cc).
//
// Every function with blocks has one outermost block without axes, called "root", which holds
// the buffers that the function allocates. It is made where the body has blocks and is not such a
// block itself, and where there are allocations for it; the text shows it as a comment.
// Functions without blocks and allocations get none.
//
// Regions are found from the inside out, because a block counts with what the blocks in it say
// (regions.c). `buffers` has those that are known at a place: parameters, and those of the
// blocks and statements around it.
#include "structinfo/complete.h"

#include "ir/fold.h"
#include "ir/walk.h"
#include "structinfo/regions.h"
#include "support/diag_ids.h"
#include "support/vec.h"

// ---- All blocks of a function, innermost first ----

typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;
  tvms_node_map buffers;
  bool below_root;  // inside some block
  bool fine;
} completion;

static void complete(completion *c, tvms_node *node);

static void complete_below(completion *c, tvms_node *node) {
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));) {
    if (tvms_node_class_of(child) == TVMS_CLASS_STMT) complete(c, child);
  }
}

static void know_block_buffers(completion *c, const tvms_block *block, bool known) {
  for (uint32_t i = 0; i < block->alloc_buffers.len; i++) {
    tvms_node *buffer = block->alloc_buffers.items[i];
    tvms_regions_put_buffer(&c->buffers, c->unit, buffer, known ? buffer : NULL);
  }
  for (uint32_t i = 0; i < block->match_buffers.len; i++) {
    tvms_node *buffer =
        tvms_as_match_buffer_region(block->match_buffers.items[i])->buffer;
    tvms_regions_put_buffer(&c->buffers, c->unit, buffer, known ? buffer : NULL);
  }
}

static void complete_block(completion *c, tvms_block *block) {
  enum { MISSING = TVMS_FLAG_READS_MISSING | TVMS_FLAG_WRITES_MISSING };
  know_block_buffers(c, block, true);
  bool is_root = !c->below_root;
  c->below_root = true;
  complete_below(c, &block->head);
  c->below_root = !is_root;
  know_block_buffers(c, block, false);
  if (block->head.flags & MISSING) {
    c->fine = tvms_regions_infer(c->unit, &c->buffers, block, is_root) && c->fine;
  }
  block->head.flags &= (uint8_t)~MISSING;
}

// A declared buffer is known to the end of its scope, unless its pointer is known.
static void complete_seq(completion *c, const tvms_seq *seq) {
  TVMS_VEC(const tvms_node *) declared = {0};
  for (uint32_t i = 0; i < seq->stmts.len; i++) {
    tvms_node *stmt = seq->stmts.items[i], *buffer = NULL;
    if (stmt->kind == TVMS_NODE_DECL_BUFFER) buffer = tvms_as_decl_buffer(stmt)->buffer;
    bool flat =
        !tvms_release_has(c->unit->dialect, TVMS_FACT_regions_name_inner_buffers);
    if (flat && stmt->kind == TVMS_NODE_ALLOC_BUFFER) {
      buffer = tvms_as_alloc_buffer(stmt)->buffer;
    }
    const tvms_node *key = buffer ? tvms_regions_buffer_key(c->unit, buffer) : NULL;
    if (key && !tvms_node_map_get(&c->buffers, key)) {
      tvms_regions_put_buffer(&c->buffers, c->unit, buffer, buffer);
      if (!flat) tvms_vec_push(c->memory, &declared, key);
    }
    complete(c, stmt);
  }
  for (uint32_t i = 0; i < declared.len; i++) {
    tvms_node_map_put(&c->buffers, declared.items[i], NULL);
  }
  tvms_vec_fini(c->memory, &declared);
}

static bool check_realize(completion *c, const tvms_block_realize *realize) {
  for (uint32_t i = 0; i < realize->iter_values.len; i++) {
    const tvms_node *value = realize->iter_values.items[i];
    if (value->dtype.code == TVMS_INT) continue;
    char text[TVMS_DTYPE_TEXT];
    const tvms_node *axis = tvms_as_block(realize->block)->iter_vars.items[i];
    tvms_diag_report(&c->unit->context->diags, TVMS_D_binding_not_integer, axis->span,
                     tvms_dtype_text(value->dtype, text));
    return false;
  }
  return true;
}

static void complete(completion *c, tvms_node *node) {
  if (!tvms_memory_enter(c->memory)) tvms_memory_unwind(c->memory, TVMS_OVER_LIMIT);
  if (node->kind == TVMS_NODE_SEQ) {
    complete_seq(c, tvms_as_seq(node));
  } else if (node->kind == TVMS_NODE_BLOCK) {
    complete_block(c, tvms_as_block(node));
  } else {
    if (node->kind == TVMS_NODE_BLOCK_REALIZE) {
      c->fine = check_realize(c, tvms_as_block_realize(node)) && c->fine;
    }
    complete_below(c, node);
  }
  tvms_memory_leave(c->memory);
}

// ---- The root block ----

static tvms_node *only_stmt(tvms_node *body) {
  while (body->kind == TVMS_NODE_SEQ && tvms_as_seq(body)->stmts.len == 1) {
    body = tvms_as_seq(body)->stmts.items[0];
  }
  return body;
}

static tvms_walk_step is_realize(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  if (node->kind == TVMS_NODE_BLOCK_REALIZE) return TVMS_WALK_STOP;
  return tvms_node_class_of(node) == TVMS_CLASS_STMT ? TVMS_WALK_ON : TVMS_WALK_SKIP;
}

static bool needs_root(tvms_memory *memory, tvms_node *body, uint32_t allocs) {
  if (allocs > 0) return true;
  tvms_node *only = only_stmt(body);
  if (only->kind == TVMS_NODE_BLOCK_REALIZE) {
    return tvms_as_block(tvms_as_block_realize(only)->block)->iter_vars.len > 0;
  }
  tvms_visitor visitor = {.enter = is_realize};
  return !tvms_walk(memory, body, &visitor);
}

static tvms_node *make_root(tvms_unit *unit, tvms_node *body, tvms_node *const *allocs,
                            uint32_t count) {
  static const char name[] = "root";
  tvms_block *block = tvms_node_make(unit, BLOCK, body->span);
  block->name = tvms_bytes_copy(unit, name, sizeof name - 1);
  block->alloc_buffers = tvms_list_copy(unit, allocs, count);
  block->body = body;
  tvms_block_realize *realize = tvms_node_make(unit, BLOCK_REALIZE, body->span);
  realize->predicate = tvms_bool_imm_new(unit, true, TVMS_NO_SPAN);
  realize->block = &block->head;
  return &realize->head;
}

static void know_params(completion *c, const tvms_prim_func *func) {
  for (uint32_t i = 0; i < func->buffers.len; i++) {
    tvms_node *buffer = func->buffers.items[i];
    if (buffer) tvms_regions_put_buffer(&c->buffers, c->unit, buffer, buffer);
  }
}

bool tvms_complete_prim_func(tvms_unit *unit, tvms_node *function,
                             tvms_node *const *root_allocs, uint32_t root_alloc_count) {
  tvms_prim_func *func = tvms_as_prim_func(function);
  bool schedulable = tvms_release_has(unit->dialect, TVMS_FACT_prim_funcs_are_s_tir)
                     || (function->flags & TVMS_FLAG_S_TIR);
  completion c = {.unit = unit, .memory = &unit->context->memory, .fine = true};
  if (!schedulable) return true;
  if (needs_root(c.memory, func->body, root_alloc_count)) {
    func->body = make_root(unit, func->body, root_allocs, root_alloc_count);
  }
  tvms_node_map_init(&c.buffers, c.memory);
  know_params(&c, func);
  complete(&c, func->body);
  tvms_node_map_fini(&c.buffers);
  return c.fine;
}
