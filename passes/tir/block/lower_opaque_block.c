// LowerOpaqueBlock: blocks go, what they allocate becomes statements.
//
// Before: with T.sblock(""): Y = T.sblock_alloc_buffer((n,)); …   After: Y = T.alloc_buffer((n,)); …
//
// Predicates become `if`, loops over one step lose their loop, thread bindings and pragmas
// become attributes. TVM: s_tir.transform.LowerOpaqueBlock.
#include "ir/fold.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/functions.h"

#include <string.h>

// An annotation that becomes an attribute. A list cannot be one, and stays.
static bool is_pragma(const tvms_node *key, const tvms_node *value) {
  const char *text = tvms_object_as_text(key);
  return text && strncmp(text, "pragma_", 7) == 0
         && value->kind != TVMS_NODE_OBJECT_ARRAY
         && value->kind != TVMS_NODE_OBJECT_MAP;
}

static tvms_node *attribute_value(tvms_unit *unit, tvms_node *value) {
  int64_t number;
  const char *text = tvms_object_as_text(value);
  if (text) return tvms_string_imm_new(unit, text, strlen(text), TVMS_NO_SPAN);
  if (tvms_node_class_of(value) == TVMS_CLASS_EXPR) return value;
  if (value->kind == TVMS_NODE_OBJECT_BOOL) {
    return tvms_bool_imm_new(unit, tvms_as_object_bool(value)->value, TVMS_NO_SPAN);
  }
  if (value->kind == TVMS_NODE_OBJECT_FLOAT) {
    double real = tvms_as_object_float(value)->value;
    return tvms_float_imm_new(unit, TVMS_DTYPE(FLOAT, 32), real, TVMS_NO_SPAN);
  }
  if (!tvms_object_as_int(value, &number)) return NULL;
  return tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), number, TVMS_NO_SPAN);
}

// Puts the pragmas among the annotations as attributes before `body`.
static tvms_node *add_pragmas(tvms_unit *unit, const tvms_node *annotations,
                              tvms_node *node, tvms_node *body) {
  if (!annotations) return body;
  const tvms_object_map *map = tvms_as_object_map(annotations);
  for (uint32_t i = map->keys.len; i > 0; i--) {
    if (!is_pragma(map->keys.items[i - 1], map->values.items[i - 1])) continue;
    const char *key = tvms_object_as_text(map->keys.items[i - 1]);
    tvms_attr_stmt *attr = tvms_node_make(unit, ATTR_STMT, body->span);
    attr->node = node;
    attr->key = tvms_bytes_copy(unit, key, strlen(key));
    attr->value = attribute_value(unit, map->values.items[i - 1]);
    if (attr->value) body = tvms_stmt_pair(unit, &attr->head, body);
  }
  return body;
}

static tvms_node *without_pragmas(tvms_unit *unit, tvms_node *annotations) {
  if (!annotations) return NULL;
  tvms_node *kept = annotations;
  const tvms_object_map *map = tvms_as_object_map(annotations);
  for (uint32_t i = 0; i < map->keys.len; i++) {
    if (!is_pragma(map->keys.items[i], map->values.items[i])) continue;
    kept =
        tvms_object_map_with(unit, kept, tvms_object_as_text(map->keys.items[i]), NULL);
  }
  return tvms_object_map_count(kept) ? kept : NULL;
}

// [buffer, axis, factor, offset] of an annotation; the buffer is one of those written.
typedef struct {
  const tvms_node *buffer;
  tvms_node *entry;
} alignment;

typedef struct {
  tvms_memory *memory;
  TVMS_VEC(alignment) aligned;
} collector;

static tvms_walk_step collect_alignment(void *self, tvms_node *node,
                                        tvms_field_role role) {
  (void)role;
  collector *c = self;
  tvms_node_class class = tvms_node_class_of(node);
  if (class != TVMS_CLASS_STMT && class != TVMS_CLASS_TOP) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BLOCK) return TVMS_WALK_ON;
  const tvms_block *block = tvms_as_block(node);
  const tvms_node *notes = tvms_object_map_get(block->annotations, "buffer_dim_align");
  tvms_list entries = {NULL, 0};
  if (notes && notes->kind == TVMS_NODE_OBJECT_ARRAY) {
    entries = tvms_as_object_array(notes)->items;
  }
  for (uint32_t i = 0; i < entries.len; i++) {
    if (entries.items[i]->kind != TVMS_NODE_OBJECT_ARRAY) continue;
    tvms_list parts = tvms_as_object_array(entries.items[i])->items;
    int64_t at;
    if (parts.len != 4 || !tvms_object_as_int(parts.items[0], &at)) continue;
    if (at < 0 || at >= block->writes.len) continue;
    const tvms_node *buffer = tvms_as_buffer_region(block->writes.items[at])->buffer;
    tvms_vec_push(c->memory, &c->aligned, ((alignment){buffer, entries.items[i]}));
  }
  return TVMS_WALK_ON;
}

// The alignments of one buffer, their index replaced by -1; NULL if it has none.
static tvms_node *alignments_of(tvms_unit *unit, const collector *c,
                                const tvms_node *buffer) {
  tvms_node_vec entries = {0};
  for (uint32_t i = 0; i < c->aligned.len; i++) {
    if (c->aligned.items[i].buffer != buffer) continue;
    tvms_list parts = tvms_as_object_array(c->aligned.items[i].entry)->items;
    tvms_node *own[4];
    memcpy(own, parts.items, sizeof own);
    own[0] = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), -1, TVMS_NO_SPAN);
    tvms_vec_push(&unit->context->memory, &entries,
                  tvms_object_array_new(unit, own, 4, TVMS_NO_SPAN));
  }
  tvms_node *result = NULL;
  if (entries.len) {
    result = tvms_object_array_new(unit, entries.items, entries.len, TVMS_NO_SPAN);
  }
  tvms_vec_fini(&unit->context->memory, &entries);
  return result;
}

// T.alloc_buffer with what TVM notes about the buffer.
static void allocate(tvms_unit *unit, const collector *c, tvms_node_vec *stmts,
                     tvms_node *node) {
  tvms_memory *memory = &unit->context->memory;
  tvms_node *aligned = alignments_of(unit, c, node);
  const tvms_buffer *buffer = tvms_as_buffer(node);
  if (tvms_release_has(unit->dialect, TVMS_FACT_alloc_buffer_is_a_statement)) {
    tvms_alloc_buffer *alloc = tvms_node_make(unit, ALLOC_BUFFER, node->span);
    tvms_node *align =
        tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), buffer->align, TVMS_NO_SPAN);
    tvms_node *address = tvms_object_array_new(
        unit, buffer->allocated_addr.items, buffer->allocated_addr.len, TVMS_NO_SPAN);
    tvms_node *notes =
        tvms_object_map_with(unit, NULL, "buffer_allocated_addr", address);
    if (aligned) notes = tvms_object_map_with(unit, notes, "buffer_dim_align", aligned);
    alloc->annotations =
        tvms_object_map_with(unit, notes, "buffer_data_alignment", align);
    alloc->buffer = node;
    tvms_vec_push(memory, stmts, &alloc->head);
    return;
  }
  tvms_allocate *alloc = tvms_node_make(unit, ALLOCATE, node->span);
  alloc->extents = buffer->shape;
  alloc->condition = tvms_bool_imm_new(unit, true, TVMS_NO_SPAN);
  alloc->var = buffer->data;
  alloc->element = buffer->element;
  if (aligned) {
    alloc->annotations = tvms_object_map_with(unit, NULL, "buffer_dim_align", aligned);
  }
  tvms_decl_buffer *declare = tvms_node_make(unit, DECL_BUFFER, node->span);
  declare->buffer = node;
  tvms_vec_push(memory, stmts, &alloc->head);
  tvms_vec_push(memory, stmts, &declare->head);
}

static tvms_node *lower_block(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_unit *unit = rewriter->unit;
  const tvms_block_realize *realize = tvms_as_block_realize(node);
  const tvms_block *block = tvms_as_block(realize->block);
  tvms_node *body = block->body;
  if (!tvms_node_is_int(realize->predicate, 1)) {
    tvms_if_then_else *branch = tvms_node_make(unit, IF_THEN_ELSE, node->span);
    branch->condition = realize->predicate;
    branch->then_case = body;
    body = &branch->head;
  }
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < block->alloc_buffers.len; i++) {
    allocate(unit, rewriter->self, &stmts, block->alloc_buffers.items[i]);
  }
  tvms_stmt_push_last(&unit->context->memory, &stmts, body);
  body = tvms_stmt_seq(unit, &stmts, node->span);
  tvms_node *zero = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
  return add_pragmas(unit, block->annotations, zero, body);
}

// A thread loop becomes the attribute that launches the threads. These count from 0: TVM's pipelines, where CanonicalizeLoop comes before, have no other
// loops, and its text of the attribute says how many threads there are only.
static tvms_node *launch(tvms_unit *unit, const tvms_for *loop) {
  static const char *const virtual[] = {"vthread", "vthread.x", "vthread.y",
                                        "vthread.z"};
  const tvms_iter_var *thread = tvms_as_iter_var(loop->thread);
  const char *tag = tvms_symbol_text(unit->context, thread->thread_tag),
             *key = "thread_extent";
  for (size_t i = 0; i < sizeof virtual / sizeof *virtual; i++) {
    if (strcmp(tag, virtual[i]) == 0) key = "virtual_thread";
  }
  tvms_iter_var *iter = tvms_node_make(unit, ITER_VAR, loop->head.span);
  tvms_node *body = loop->body, *min = loop->min;
  if (!tvms_node_is_int(min, 0)) {
    tvms_node *from =
        tvms_binary_new(unit, TVMS_NODE_ADD, loop->var, min, TVMS_NO_SPAN);
    body = tvms_substitute_one(unit, body, loop->var, from);
    min = tvms_int_imm_new(unit, min->dtype, 0, TVMS_NO_SPAN);
  }
  iter->dom = tvms_range_new(unit, min, loop->extent, TVMS_NO_SPAN);
  iter->var = loop->var;
  iter->iter_type = TVMS_ITER_THREAD_INDEX;
  iter->thread_tag = thread->thread_tag;
  tvms_attr_stmt *attr = tvms_node_make(unit, ATTR_STMT, loop->head.span);
  attr->node = &iter->head;
  attr->key = tvms_bytes_copy(unit, key, strlen(key));
  attr->value = loop->extent;
  return tvms_stmt_pair(unit, &attr->head, body);
}

static bool is_unit_loop(const tvms_for *loop) {
  return tvms_node_is_int(loop->extent, 1)
         && tvms_object_map_count(loop->annotations) == 0;
}

static tvms_node *enter_loop(tvms_rewriter *rewriter, tvms_node *node) {
  const tvms_for *loop = tvms_as_for(node);
  tvms_node *extent = tvms_rewrite(rewriter, loop->extent);
  bool one =
      tvms_node_is_int(extent, 1) && tvms_object_map_count(loop->annotations) == 0;
  if (!one) return TVMS_REWRITE_BELOW;
  tvms_node *min = tvms_rewrite(rewriter, loop->min);
  min = tvms_build_cast(rewriter->unit, loop->var->dtype, min, TVMS_NO_SPAN);
  tvms_node_map_put(&rewriter->known, loop->var, min);
  tvms_node *body = tvms_rewrite(rewriter, loop->body);
  if (loop->for_kind != TVMS_FOR_THREAD_BINDING) return body;
  tvms_node *copy = tvms_node_copy(rewriter->unit, node);
  tvms_as_for(copy)->min = min;
  tvms_as_for(copy)->extent = extent;
  tvms_as_for(copy)->body = body;
  return launch(rewriter->unit, tvms_as_for(copy));
}

static tvms_node *leave_loop(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_unit *unit = rewriter->unit;
  const tvms_for *loop = tvms_as_for(node);
  TVMS_CHECK(!is_unit_loop(loop));
  tvms_node *result = node;
  if (loop->for_kind == TVMS_FOR_THREAD_BINDING) {
    result = launch(unit, loop);
  } else {
    tvms_node *kept = without_pragmas(unit, loop->annotations);
    if (kept != loop->annotations) {
      result = tvms_node_copy(unit, node);
      tvms_as_for(result)->annotations = kept;
    }
  }
  return add_pragmas(unit, loop->annotations, loop->var, result);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  collector c = {.memory = &run->context->memory};
  tvms_visitor visitor = {.self = &c, .enter = collect_alignment};
  tvms_walk(c.memory, function, &visitor);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &c);
  rewriter.leave[TVMS_NODE_BLOCK_REALIZE] = lower_block;
  rewriter.enter[TVMS_NODE_FOR] = enter_loop;
  rewriter.leave[TVMS_NODE_FOR] = leave_loop;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  tvms_vec_fini(c.memory, &c.aligned);
  return changed;
}

void tvms_pass_lower_opaque_block(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
