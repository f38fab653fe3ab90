// Blocks: axes, predicate, regions, annotations, buffers, initialisation, body.
//
// They are written in this order, whatever it was in the source. Axes next to each other that are
// spatial or reduce, and whose value is the variable of a loop over just the domain of the axis,
// share a line:
//
//   v_i, v_k = T.axis.remap("SR", [i, k])
//
// An axis that has no such neighbour, or an expression for its value, or another domain, has a
// line of its own, v_i = T.axis.spatial(8, i + 1). Regions are written even if they are empty.
#include "printer/block.h"

#include "ir/object.h"
#include "printer/buffer.h"
#include "printer/expr.h"
#include "printer/names.h"
#include "printer/object.h"
#include "printer/state.h"
#include "printer/stmt.h"
#include "printer/text.h"

// A block being written.
typedef struct {
  tvms_printer *p;
  const tvms_block *block;
  const tvms_block_realize *TVMS_NULLABLE realize;
  uint32_t frame;
} block_text;

// True if an axis runs over the whole domain of the loop whose variable it is bound to.
static bool is_remap(const block_text *b, uint32_t i) {
  if (!b->realize) return false;
  const tvms_iter_var *axis = tvms_as_iter_var(b->block->iter_vars.items[i]);
  const tvms_node *value = b->realize->iter_values.items[i];
  if (axis->iter_type != TVMS_ITER_DATA_PAR
      && axis->iter_type != TVMS_ITER_COMM_REDUCE) {
    return false;
  }
  if (value->kind != TVMS_NODE_VAR || !axis->dom) return false;
  const tvms_node *owner = tvms_print_name_of(b->p, value)->owner;
  if (!owner || owner->kind != TVMS_NODE_FOR) return false;
  const tvms_for *loop = tvms_as_for(owner);
  const tvms_range *dom = tvms_as_range(axis->dom);
  return tvms_print_same(loop->min, dom->min)
         && tvms_print_same(loop->extent, dom->extent);
}

static const char *axis_name(const block_text *b, const tvms_iter_var *axis) {
  switch ((tvms_iter_type)axis->iter_type) {
  case TVMS_ITER_DATA_PAR: return "axis.spatial";
  case TVMS_ITER_COMM_REDUCE: return "axis.reduce";
  case TVMS_ITER_ORDERED: return "axis.scan";
  case TVMS_ITER_OPAQUE: return "axis.opaque";
  case TVMS_ITER_THREAD_INDEX:
  case TVMS_ITER_UNROLLED:
  case TVMS_ITER_VECTORIZED:
  case TVMS_ITER_PARALLELIZED:
  case TVMS_ITER_TENSORIZED: break;
  }
  tvms_print_cannot(b->p, &axis->head, "this kind of block axis");
  return "axis.opaque";
}

static void print_domain(tvms_printer *p, const tvms_range *dom) {
  if (tvms_node_is_int(dom->min, 0)) {
    tvms_print_any(p, dom->extent);
    return;
  }
  PUT(p, "(");
  tvms_print_any(p, dom->min);
  PUT(p, ", ");
  tvms_mark mark = tvms_arena_mark(&p->scratch.arena);
  tvms_print_any(p, tvms_print_fold(p, TVMS_NODE_ADD, dom->min, dom->extent));
  tvms_arena_reset(&p->scratch.arena, mark);
  PUT(p, ")");
}

static void print_axis(const block_text *b, uint32_t i) {
  tvms_printer *p = b->p;
  const tvms_iter_var *axis = tvms_as_iter_var(b->block->iter_vars.items[i]);
  tvms_print_begin(p);
  size_t from = p->out->len;
  tvms_print_t(p, axis_name(b, axis));
  PUT(p, "(");
  print_domain(p, tvms_as_range(axis->dom));
  if (b->realize) {
    PUT(p, ", ");
    tvms_print_any(p, b->realize->iter_values.items[i]);
  }
  PUT(p, ")");
  size_t end = p->out->len;
  tvms_print_sym(p, tvms_print_define(p, axis->var, b->frame));
  PUT(p, " = ");
  tvms_print_move(p, from, end);
  tvms_print_end(p);
}

// vi, vj = T.axis.remap("SR", [i, j]) for the axes [first, end).
static void print_remap(const block_text *b, uint32_t first, uint32_t end) {
  tvms_printer *p = b->p;
  if (end - first == 1) {
    print_axis(b, first);
    return;
  }
  tvms_print_begin(p);
  for (uint32_t i = first; i < end; i++) {
    if (i > first) PUT(p, ", ");
    const tvms_iter_var *axis = tvms_as_iter_var(b->block->iter_vars.items[i]);
    tvms_print_sym(p, tvms_print_define(p, axis->var, b->frame));
  }
  PUT(p, " = ");
  tvms_print_t(p, "axis.remap(\"");
  for (uint32_t i = first; i < end; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(b->block->iter_vars.items[i]);
    tvms_print_put(p, axis->iter_type == TVMS_ITER_DATA_PAR ? "S" : "R");
  }
  PUT(p, "\", [");
  for (uint32_t i = first; i < end; i++) {
    if (i > first) PUT(p, ", ");
    tvms_print_any(p, b->realize->iter_values.items[i]);
  }
  PUT(p, "])");
  tvms_print_end(p);
}

static void print_axes(const block_text *b) {
  uint32_t run = 0;  // axes before the current one that can be remapped
  uint32_t count = b->block->iter_vars.len;
  for (uint32_t i = 0; i < count; i++) {
    if (is_remap(b, i)) {
      run++;
      continue;
    }
    if (run) print_remap(b, i - run, i);
    run = 0;
    print_axis(b, i);
  }
  if (run) print_remap(b, count - run, count);
}

static void print_line(tvms_printer *p, const char *name, tvms_list args) {
  tvms_print_begin(p);
  tvms_print_t(p, name);
  PUT(p, "(");
  tvms_print_list(p, args);
  PUT(p, ")");
  tvms_print_end(p);
}

static void print_match(const block_text *b, const tvms_node *node) {
  tvms_printer *p = b->p;
  const tvms_match_buffer_region *match = tvms_as_match_buffer_region(node);
  tvms_print_begin(p);
  tvms_print_sym(p, tvms_print_define(p, match->buffer, b->frame));
  PUT(p, " = ");
  tvms_strbuf source;
  tvms_strbuf_init(&source, p->memory);
  tvms_strbuf *before = tvms_print_redirect(p, &source);
  tvms_print_object(p, match->source);
  tvms_print_redirect(p, before);
  tvms_print_buffer_decl(p, match->buffer, "match_buffer", &source, b->frame,
                         DEFINES_ALL);
  tvms_strbuf_fini(&source);
  tvms_print_end(p);
}

void tvms_print_allocated(tvms_printer *p, const tvms_node *buffer) {
  uint32_t frame = tvms_print_top_index(p);
  // What the block reads may lie in the buffer: then T.reads has named it, with its pointer.
  bool named = tvms_print_defined(p, buffer);
  tvms_print_begin(p);
  tvms_print_sym(p, tvms_print_define(p, buffer, frame));
  PUT(p, " = ");
  const char *method = !tvms_release_has(p->dialect, TVMS_FACT_blocks_are_sblocks)
                           ? "alloc_buffer"
                           : "sblock_alloc_buffer";
  tvms_print_buffer_decl(p, buffer, method, NULL, frame,
                         named ? DEFINES_FREELY : DEFINES_DATA);
  tvms_print_end(p);
}

static void print_init(const block_text *b) {
  tvms_printer *p = b->p;
  tvms_print_begin(p);
  PUT(p, "with ");
  tvms_print_t(p, "init():");
  tvms_print_end(p);
  p->indent++;
  tvms_print_push(p, FRAME_TIR, tvms_print_only(p, b->block->init));
  tvms_print_body(p, b->block->init);
  tvms_print_pop(p);
  p->indent--;
}

static void print_contents(const block_text *b) {
  tvms_printer *p = b->p;
  const tvms_block *block = b->block;
  print_axes(b);
  if (b->realize && !tvms_node_is_true(b->realize->predicate)) {
    tvms_list predicate = {(tvms_node **)(uintptr_t)&b->realize->predicate, 1};
    print_line(p, "where", predicate);
  }
  print_line(p, "reads", block->reads);
  print_line(p, "writes", block->writes);
  if (tvms_object_map_count(block->annotations)) {
    tvms_list map = {(tvms_node **)(uintptr_t)&block->annotations, 1};
    print_line(p,
               !tvms_release_has(p->dialect, TVMS_FACT_blocks_are_sblocks)
                   ? "block_attr"
                   : "sblock_attr",
               map);
  }
  for (uint32_t i = 0; i < block->alloc_buffers.len; i++) {
    tvms_print_allocated(p, block->alloc_buffers.items[i]);
  }
  for (uint32_t i = 0; i < block->match_buffers.len; i++) {
    print_match(b, block->match_buffers.items[i]);
  }
  if (block->init) print_init(b);
  tvms_print_body(p, block->body);
}

void tvms_print_block(tvms_printer *p, const tvms_node *node,
                      const tvms_node *realize) {
  const tvms_block *block = tvms_as_block(node);
  PUT(p, "with ");
  tvms_print_t(p, !tvms_release_has(p->dialect, TVMS_FACT_blocks_are_sblocks)
                      ? "block("
                      : "sblock(");
  tvms_print_quoted(p, block->name.text, block->name.len);
  tvms_print_put(p, realize ? "):" : ", no_realize=True):");
  tvms_print_end(p);
  p->indent++;
  block_text b = {p, block, realize ? tvms_as_block_realize(realize) : NULL,
                  tvms_print_push(p, FRAME_TIR, node)};
  print_contents(&b);
  tvms_print_pop(p);
  p->indent--;
}
