// Tensors and the memory of calls are laid out anew (lift_place.h), if they take less memory then.
//
// StaticPlanBlockMemory gives tensors that follow each other one storage if their sizes are alike. Here
// several small ones lie where a large one was, beside each other, and what kernels need lies among them.
#include "passes/tir/memory/lift_pack.h"

#include "ir/build.h"
#include "ir/op.h"
#include "ir/rewrite.h"
#include "passes/tir/memory/lift_gaps.h"
#include "passes/tir/memory/lift_place.h"

// Each piece is compared with each: with more of them, they stay where they are.
enum { MOST_PIECES = 8192 };

typedef struct {
  tvms_lift_gaps gaps;
  tvms_lift_pieces pieces;
  TVMS_VEC(uint32_t)
  piece_of;  // of each tensor: those that lie over others have theirs
} packing;

static void add_tensors(packing *p) {
  for (uint32_t i = 0; i < p->gaps.tensors.len; i++) {
    const tvms_lift_tensor *t = &p->gaps.tensors.items[i];
    uint32_t at = t->over == i ? p->pieces.len : p->piece_of.items[t->over];
    tvms_vec_push(p->gaps.memory, &p->piece_of, at);
    if (t->over == i)
      tvms_vec_push(p->gaps.memory, &p->pieces,
                    ((tvms_lift_piece){t->end - t->begin, -1, t->first, t->last}));
    else if (p->pieces.items[at].last < t->last)
      p->pieces.items[at].last = t->last;
  }
}

static void add_needs(packing *p, const tvms_lift_needs *needs) {
  for (uint32_t i = 0; i < needs->len; i++) {
    tvms_lift_span span = tvms_lift_gaps_span(&p->gaps, needs->items[i].call);
    tvms_lift_piece made = {needs->items[i].bytes, -1, span.first, span.last};
    tvms_vec_push(p->gaps.memory, &p->pieces, made);
  }
}

// The memory that is needed with the tensors where they are.
static int64_t size_before(const packing *p, const tvms_lift_needs *needs) {
  int64_t size = p->gaps.size;
  for (uint32_t i = 0; i < needs->len; i++) {
    const tvms_lift_need *need = &needs->items[i];
    int64_t end = tvms_lift_gaps_find(&p->gaps, need->call, need->bytes) + need->bytes;
    if (end > size) size = end;
  }
  return size;
}

// ---- Writing ----

typedef struct {
  packing *packing;
  tvms_node *workspace;  // of the new size
} writer;

static bool is_workspace(const tvms_lift_gaps *gaps, const tvms_node *var) {
  for (uint32_t i = 0; i < gaps->bases.len; i++)
    if (gaps->bases.items[i] == var) return true;
  return false;
}

static tvms_node *place_at(tvms_rewriter *r, tvms_node *old, int64_t begin) {
  const writer *w = r->self;
  const tvms_buffer_load *before =
      tvms_as_buffer_load(tvms_as_call(old)->args.items[0]);
  tvms_node *at =
      tvms_int_imm_new(r->unit, before->indices.items[0]->dtype, begin, TVMS_NO_SPAN);
  tvms_node *load =
      tvms_buffer_load_new(r->unit, w->workspace, &at, 1, NULL, TVMS_NO_SPAN);
  tvms_node *made = tvms_call_new_of(r->unit, old->dtype, TVMS_TIR_address_of, &load, 1,
                                     TVMS_NO_SPAN);
  made->sinfo = old->sinfo;
  return made;
}

// Tensors are declared over the workspace itself: other declarations of it, of its old size, go.
static tvms_node *TVMS_NULLABLE leave_declaration(tvms_rewriter *r, tvms_node *node) {
  const packing *p = ((const writer *)r->self)->packing;
  const tvms_decl_buffer *old = tvms_as_decl_buffer(r->old);
  const tvms_node *var = tvms_as_buffer(old->buffer)->data;
  if (is_workspace(&p->gaps, var)) return NULL;
  uint32_t i = tvms_lift_gaps_tensor(&p->gaps, var);
  if (i == p->gaps.tensors.len || p->gaps.tensors.items[i].over != i) return node;
  int64_t begin = p->pieces.items[p->piece_of.items[i]].begin;
  tvms_node *made = node == r->old ? tvms_node_copy(r->unit, node) : node;
  tvms_as_decl_buffer(made)->source = place_at(r, old->source, begin);
  return made;
}

// Where the last tensor ends.
static int64_t end_of_tensors(const packing *p) {
  int64_t end = 0;
  for (uint32_t i = 0; i < p->piece_of.len; i++) {
    const tvms_lift_piece *one = &p->pieces.items[p->piece_of.items[i]];
    if (one->begin + one->bytes > end) end = one->begin + one->bytes;
  }
  return tvms_lift_place_aligned(end);
}

static tvms_node *written(tvms_unit *unit, tvms_node *function, packing *p) {
  tvms_node *made = tvms_node_copy(unit, function);
  tvms_prim_func *f = tvms_as_prim_func(made);
  tvms_node *old = f->buffers.items[f->buffers.len - 1];
  writer w = {p, tvms_node_copy(unit, old)};
  tvms_node *size = tvms_int_imm_new(unit, tvms_as_buffer(old)->shape.items[0]->dtype,
                                     end_of_tensors(p), TVMS_NO_SPAN);
  tvms_as_buffer(w.workspace)->shape = tvms_list_copy(unit, &size, 1);
  f->buffers = tvms_list_copy(unit, f->buffers.items, f->buffers.len);
  f->buffers.items[f->buffers.len - 1] = w.workspace;
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &w);
  r.leave[TVMS_NODE_DECL_BUFFER] = leave_declaration;
  tvms_node_map_put(&r.known, old, w.workspace);
  f->body = tvms_rewrite(&r, f->body);
  tvms_rewriter_fini(&r);
  return made;
}

// Gives all pieces places, if that takes less memory than the tensors where they are, or as much with shares.
static bool place_all(packing *p, const tvms_lift_needs *needs, uint32_t shares) {
  if (p->pieces.len > MOST_PIECES) return false;
  int64_t before = size_before(p, needs);
  bool shared =
      shares > 1
      && tvms_lift_place_shares(p->gaps.memory, &p->pieces, shares, before) >= 0;
  return shared || tvms_lift_place_first(&p->pieces) < before;
}

tvms_node *tvms_lift_pack(tvms_unit *unit, tvms_node *function, tvms_lift_needs *needs,
                          uint32_t shares) {
  tvms_memory *memory = &unit->context->memory;
  packing p = {0};
  tvms_lift_gaps_init(&p.gaps, unit, tvms_as_prim_func(function));
  tvms_node *made = function;
  if (p.gaps.size && p.gaps.tensors.len) {
    add_tensors(&p);
    add_needs(&p, needs);
    if (place_all(&p, needs, shares)) {
      made = written(unit, function, &p);
      for (uint32_t i = 0; i < needs->len; i++)
        needs->items[i].begin = p.pieces.items[p.pieces.len - needs->len + i].begin;
    }
  }
  tvms_vec_fini(memory, &p.pieces);
  tvms_vec_fini(memory, &p.piece_of);
  tvms_lift_gaps_fini(&p.gaps);
  return made;
}
