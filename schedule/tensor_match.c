#include "schedule/tensor_match.h"

#include "ir/equal.h"
#include "ir/fold_ops.h"
#include "schedule/bindings.h"
#include "schedule/storage_scope.h"

#include <string.h>

static bool differ(tvms_sched_tensor_match *m, const char *what) {
  if (!m->why) m->why = what;
  return false;
}

// ---- Variables ----

// `b` is what stands for `a` from now on, or did so before.
static bool define(tvms_sched_tensor_match *m, const tvms_node *a, tvms_node *b) {
  const tvms_node *known = tvms_node_map_get(&m->vars, a);
  if (known) return known == b;
  tvms_node_map_put(&m->vars, a, b);
  return tvms_dtype_same(a->dtype, b->dtype) || differ(m, "data types of variables");
}

// Is an index of the block, from `base` on, that of the description?
static bool same_index(tvms_sched_tensor_match *m, tvms_node *a, tvms_node *base,
                       tvms_node *b) {
  tvms_sched *s = m->sched;
  tvms_node *from = tvms_sched_build(s, TVMS_NODE_SUB, a, base);
  from = tvms_substitute(s->unit, tvms_analyzer_simplify(m->analyzer, from), &m->vars);
  return tvms_dtype_same(from->dtype, b->dtype)
         && tvms_analyzer_can_prove_equal(m->analyzer, from, b);
}

// ---- Buffers ----

const tvms_sched_tensor_buffer *TVMS_NULLABLE tvms_sched_tensor_match_find(
    const tvms_sched_tensor_match *match, const tvms_node *described) {
  for (uint32_t i = 0; i < match->buffers.len; i++)
    if (match->buffers.items[i].described == described) return &match->buffers.items[i];
  return NULL;
}

static bool is_taken(const tvms_sched_tensor_match *m, const tvms_node *buffer) {
  for (uint32_t i = 0; i < m->buffers.len; i++)
    if (m->buffers.items[i].buffer == buffer) return true;
  return false;
}

static bool check_kind(tvms_sched_tensor_match *m, const tvms_node *a,
                       const tvms_node *b) {
  tvms_context *context = m->sched->context;
  if (!tvms_dtype_same(tvms_as_buffer(a)->element, tvms_as_buffer(b)->element))
    return differ(m, "data types of buffers");
  return strcmp(tvms_storage_scope_of(context, a), tvms_storage_scope_of(context, b))
             == 0
         || differ(m, "memories of buffers");
}

// The first region of a buffer says where its elements begin; dimensions that the description does not have must be one element there.
static bool add_buffer(tvms_sched_tensor_match *m, const tvms_buffer_region *a,
                       const tvms_buffer_region *b) {
  tvms_sched *s = m->sched;
  if (is_taken(m, a->buffer)) return differ(m, "buffers");
  tvms_sched_tensor_buffer made = {
      b->buffer, a->buffer, tvms_list_copy(s->unit, a->region.items, a->region.len)};
  for (uint32_t d = 0; d < made.base.len; d++)
    made.base.items[d] = tvms_as_range(a->region.items[d])->min;
  tvms_vec_push(&s->context->memory, &m->buffers, made);
  return check_kind(m, a->buffer, b->buffer);
}

static bool same_region(tvms_sched_tensor_match *m, const tvms_node *of_a,
                        const tvms_node *of_b, bool outer) {
  const tvms_buffer_region *a = tvms_as_buffer_region(of_a),
                           *b = tvms_as_buffer_region(of_b);
  const tvms_sched_tensor_buffer *known = tvms_sched_tensor_match_find(m, b->buffer);
  if (!known && (!outer || !add_buffer(m, a, b))) return differ(m, "buffers");
  bool begins = !known;
  known = tvms_sched_tensor_match_find(m, b->buffer);
  if (known->buffer != a->buffer || a->region.len < b->region.len)
    return differ(m, "buffers");
  uint32_t more = a->region.len - b->region.len;
  for (uint32_t d = 0; d < a->region.len; d++) {
    const tvms_range *range = tvms_as_range(a->region.items[d]);
    const tvms_range *other =
        d < more ? NULL : tvms_as_range(b->region.items[d - more]);
    bool fits =
        other ? tvms_analyzer_can_prove_equal(m->analyzer, range->extent, other->extent)
              : tvms_node_is_int(range->extent, 1);
    tvms_node *zero = tvms_sched_int(m->sched, range->min->dtype, 0);
    if (fits && !begins)
      fits = same_index(m, range->min, known->base.items[d], other ? other->min : zero);
    if (!fits) return differ(m, "regions of buffers");
  }
  return true;
}

static bool same_regions(tvms_sched_tensor_match *m, tvms_list a, tvms_list b,
                         bool outer) {
  if (a.len != b.len) return differ(m, "numbers of buffers that are read or written");
  for (uint32_t i = 0; i < a.len; i++)
    if (!same_region(m, a.items[i], b.items[i], outer)) return false;
  return true;
}

static bool same_access(tvms_sched_tensor_match *m, tvms_node *a, tvms_node *b) {
  tvms_element of_a = tvms_node_element(a), of_b = tvms_node_element(b);
  const tvms_sched_tensor_buffer *known = tvms_sched_tensor_match_find(m, *of_b.buffer);
  tvms_list at = *of_a.indices, to = *of_b.indices;
  if (!known || known->buffer != *of_a.buffer || at.len < to.len
      || at.len != known->base.len)
    return differ(m, "buffers");
  uint32_t more = at.len - to.len;
  for (uint32_t d = 0; d < at.len; d++) {
    tvms_node *zero = tvms_sched_int(m->sched, at.items[d]->dtype, 0);
    tvms_node *wanted = d < more ? zero : to.items[d - more];
    if (!same_index(m, at.items[d], known->base.items[d], wanted))
      return differ(m, "places in buffers");
  }
  return true;
}

// ---- Expressions ----

static bool same_expr(tvms_sched_tensor_match *m, tvms_node *a, tvms_node *b);

static bool same_call(tvms_sched_tensor_match *m, const tvms_call *a,
                      const tvms_call *b) {
  bool same = a->args.len == b->args.len && tvms_node_same_expr(a->callee, b->callee);
  for (uint32_t i = 0; same && i < a->args.len; i++)
    same = same_expr(m, a->args.items[i], b->args.items[i]);
  return same;
}

static bool same_parts(tvms_sched_tensor_match *m, tvms_node *a, tvms_node *b) {
  switch ((int)a->kind) {
  case TVMS_NODE_VAR: return a == b || tvms_node_map_get(&m->vars, a) == b;
  case TVMS_NODE_INT_IMM: return tvms_as_int_imm(a)->value == tvms_as_int_imm(b)->value;
  case TVMS_NODE_CAST:
    return same_expr(m, tvms_as_cast(a)->value, tvms_as_cast(b)->value);
  case TVMS_NODE_BUFFER_LOAD: return same_access(m, a, b);
  case TVMS_NODE_SELECT: {
    const tvms_select *of_a = tvms_as_select(a), *of_b = tvms_as_select(b);
    return same_expr(m, of_a->condition, of_b->condition)
           && same_expr(m, of_a->true_value, of_b->true_value)
           && same_expr(m, of_a->false_value, of_b->false_value);
  }
  case TVMS_NODE_CALL: return same_call(m, tvms_as_call(a), tvms_as_call(b));
  default: break;
  }
  if (!tvms_node_is_binary(a)) return tvms_node_same_expr(a, b);
  const tvms_binary *of_a = tvms_as_binary(a), *of_b = tvms_as_binary(b);
  return same_expr(m, of_a->a, of_b->a) && same_expr(m, of_a->b, of_b->b);
}

static bool same_expr(tvms_sched_tensor_match *m, tvms_node *a, tvms_node *b) {
  bool same =
      a->kind == b->kind && a->dtype.code == b->dtype.code && same_parts(m, a, b);
  return same || differ(m, "expressions");
}

// ---- Statements ----

static bool same_stmt(tvms_sched_tensor_match *m, tvms_node *a, tvms_node *b);

static bool same_loop(tvms_sched_tensor_match *m, const tvms_for *a,
                      const tvms_for *b) {
  if (a->for_kind != b->for_kind || (a->thread != NULL) != (b->thread != NULL))
    return differ(m, "kinds of loops");
  bool notes = a->annotations && b->annotations
                   ? tvms_node_equal(m->sched->context, a->annotations, b->annotations)
                   : a->annotations == b->annotations;
  if (!notes) return differ(m, "annotations");
  return define(m, a->var, b->var)
         && ((same_expr(m, a->min, b->min) && same_expr(m, a->extent, b->extent))
             || differ(m, "ranges of loops"))
         && same_stmt(m, a->body, b->body);
}

static bool same_axes(tvms_sched_tensor_match *m, tvms_list a, tvms_list b) {
  if (a.len != b.len) return differ(m, "numbers of axes");
  for (uint32_t i = 0; i < a.len; i++) {
    const tvms_iter_var *of_a = tvms_as_iter_var(a.items[i]),
                        *of_b = tvms_as_iter_var(b.items[i]);
    if (of_a->iter_type != of_b->iter_type) return differ(m, "kinds of axes");
    if (!define(m, of_a->var, of_b->var)) return differ(m, "axes");
  }
  return true;
}

static bool same_realize(tvms_sched_tensor_match *m, const tvms_block_realize *of_a,
                         const tvms_block_realize *of_b, bool outer) {
  const tvms_block *a = tvms_as_block(of_a->block), *b = tvms_as_block(of_b->block);
  if (!same_expr(m, of_a->predicate, of_b->predicate)) return differ(m, "conditions");
  for (uint32_t i = 0; i < a->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(a->iter_vars.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    tvms_analyzer_bind_range(m->analyzer, axis->var, dom->min, dom->extent);
  }
  if (!outer) {
    if (of_a->iter_values.len != of_b->iter_values.len)
      return differ(m, "numbers of axes");
    for (uint32_t i = 0; i < of_a->iter_values.len; i++)
      if (!same_expr(m, of_a->iter_values.items[i], of_b->iter_values.items[i]))
        return differ(m, "values of axes");
    if (!same_axes(m, a->iter_vars, b->iter_vars)) return false;
    if (a->alloc_buffers.len || b->alloc_buffers.len)
      return differ(m, "buffers that are allocated");
  }
  return same_regions(m, a->writes, b->writes, outer)
         && same_regions(m, a->reads, b->reads, outer)
         && same_stmt(m, a->body, b->body);
}

static bool same_sequence(tvms_sched_tensor_match *m, tvms_list a, tvms_list b) {
  if (a.len != b.len) return differ(m, "numbers of statements");
  for (uint32_t i = 0; i < a.len; i++)
    if (!same_stmt(m, a.items[i], b.items[i])) return false;
  return true;
}

static bool same_stmt(tvms_sched_tensor_match *m, tvms_node *a, tvms_node *b) {
  if (a->kind != b->kind) return differ(m, "statements");
  switch ((int)a->kind) {
  case TVMS_NODE_FOR: return same_loop(m, tvms_as_for(a), tvms_as_for(b));
  case TVMS_NODE_SEQ:
    return same_sequence(m, tvms_as_seq(a)->stmts, tvms_as_seq(b)->stmts);
  case TVMS_NODE_BLOCK_REALIZE:
    return same_realize(m, tvms_as_block_realize(a), tvms_as_block_realize(b), false);
  case TVMS_NODE_STORE:
    return same_access(m, a, b)
           && same_expr(m, tvms_as_store(a)->value, tvms_as_store(b)->value);
  default: return differ(m, "statements");
  }
}

bool tvms_sched_tensor_match_open(tvms_sched_tensor_match *match, tvms_sched *sched,
                                  tvms_node *realize, tvms_node *described) {
  *match = (tvms_sched_tensor_match){.sched = sched};
  match->analyzer = tvms_analyzer_new(sched->unit);
  tvms_node_map_init(&match->vars, &sched->context->memory);
  return same_realize(match, tvms_as_block_realize(realize),
                      tvms_as_block_realize(described), true)
         || tvms_sched_refuse(
             sched, "the block is not what the intrinsic does: %s differ", match->why);
}

void tvms_sched_tensor_match_close(tvms_sched_tensor_match *match) {
  tvms_memory *memory = &match->sched->context->memory;
  tvms_analyzer_free(match->analyzer);
  tvms_node_map_fini(&match->vars);
  tvms_vec_fini(memory, &match->buffers);
}
