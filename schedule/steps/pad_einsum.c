// pad_einsum: the axes of a contraction run to multiples of given numbers, over copies of its buffers that are filled with zeros.
// TVM: src/s_tir/schedule/primitive/pad_einsum.cc.
#include "ir/fold_ops.h"
#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/buffers.h"
#include "schedule/declared.h"
#include "schedule/flags.h"
#include "schedule/make.h"
#include "schedule/steps.h"
#include "schedule/storage_scope.h"
#include "schedule/taken.h"

#include <string.h>

typedef struct {
  tvms_sched *sched;
  int32_t block, scope;
  tvms_analyzer *analyzer;
  tvms_node_map extents;         // axis or loop variable -> how far it runs now
  tvms_node_map buffers;         // old -> padded
  tvms_node_vec before, behind;  // nests that copy
  tvms_node_vec padded;          // buffers
} padding;

// ---- Conditions ----

static bool is_axis(const tvms_block *block, const tvms_node *var) {
  for (uint32_t i = 0; i < block->iter_vars.len; i++)
    if (tvms_as_iter_var(block->iter_vars.items[i])->var == var) return true;
  return false;
}

// Is the region one element whose places are axes of the block and zeros? Others would lie outside of the copy, which TVM does not see.
static bool is_plain(const tvms_block *block, const tvms_buffer_region *region) {
  for (uint32_t i = 0; i < region->region.len; i++) {
    const tvms_range *range = tvms_as_range(region->region.items[i]);
    bool place = is_axis(block, range->min) || tvms_node_is_int(range->min, 0);
    if (!place || !tvms_node_is_int(range->extent, 1)) return false;
  }
  return true;
}

static bool check_regions(tvms_sched *s, const tvms_block *block) {
  tvms_node_vec seen = {0};
  bool fine = true;
  const tvms_list lists[] = {block->reads, block->writes};
  for (uint32_t k = 0; k < 2; k++)
    for (uint32_t i = 0; i < lists[k].len; i++) {
      const tvms_buffer_region *region = tvms_as_buffer_region(lists[k].items[i]);
      for (uint32_t n = 0; n < seen.len; n++)
        fine = fine && seen.items[n] != region->buffer;
      fine = fine && is_plain(block, region);
      tvms_vec_push(&s->context->memory, &seen, region->buffer);
    }
  tvms_vec_fini(&s->context->memory, &seen);
  return fine
         || tvms_sched_refuse(
             s,
             "the block is not a product of elements at its axes, each of another buffer");
}

static bool check_numbers(tvms_sched *s, const tvms_block *block,
                          const tvms_sched_value *numbers) {
  if (numbers->len != block->iter_vars.len)
    return tvms_sched_refuse(s, "%u numbers are given for %u axes", numbers->len,
                             block->iter_vars.len);
  for (uint32_t i = 0; i < numbers->len; i++)
    if (numbers->items[i].number <= 0)
      return tvms_sched_refuse(s, "number %u is not positive", i);
  return true;
}

// ---- How far axes run ----

// Loops become longer where an axis is one; a sum of loops stays as it is, and the block would not run over all of its axes any more. TVM does not
// ask.
static bool check_extents(const padding *p) {
  const tvms_block_realize *realize = tvms_sched_realize(p->sched, p->block);
  tvms_list axes = tvms_as_block(realize->block)->iter_vars;
  for (uint32_t i = 0; i < axes.len; i++)
    if (tvms_node_map_get(&p->extents, tvms_as_iter_var(axes.items[i])->var)
        && realize->iter_values.items[i]->kind != TVMS_NODE_VAR)
      return tvms_sched_refuse(p->sched, "axis %u is to be longer, and is not a loop",
                               i);
  return true;
}

static bool needs_padding(const padding *p, const tvms_buffer_region *region) {
  for (uint32_t i = 0; i < region->region.len; i++)
    if (tvms_node_map_get(&p->extents, tvms_as_range(region->region.items[i])->min))
      return true;
  return false;
}

// Does the block write all of the buffer, which is then copied back? Each dimension must be an axis of its own, over all of it. TVM does not ask.
static bool writes_all(const padding *p, const tvms_buffer_region *region) {
  tvms_list axes = tvms_sched_block(p->sched, p->block)->iter_vars;
  for (uint32_t i = 0; i < region->region.len; i++) {
    const tvms_node *at = tvms_as_range(region->region.items[i])->min;
    tvms_node *size = tvms_as_buffer(region->buffer)->shape.items[i];
    bool fits = at->kind == TVMS_NODE_INT_IMM && tvms_node_is_int(size, 1);
    for (uint32_t k = 0; k < axes.len; k++) {
      const tvms_iter_var *axis = tvms_as_iter_var(axes.items[k]);
      const tvms_range *dom = tvms_as_range(axis->dom);
      fits = fits
             || (axis->var == at && tvms_node_is_int(dom->min, 0)
                 && tvms_analyzer_can_prove_equal(p->analyzer, dom->extent, size));
    }
    for (uint32_t k = 0; k < i; k++)
      fits = fits
             && (at->kind == TVMS_NODE_INT_IMM
                 || tvms_as_range(region->region.items[k])->min != at);
    if (!fits) return false;
  }
  return true;
}

static bool check_writes(const padding *p) {
  tvms_list writes = tvms_sched_block(p->sched, p->block)->writes;
  for (uint32_t i = 0; i < writes.len; i++) {
    const tvms_buffer_region *region = tvms_as_buffer_region(writes.items[i]);
    if (needs_padding(p, region)
        && !tvms_sched_check_stores(p->sched, p->block, region->buffer))
      return false;
    if (needs_padding(p, region) && !writes_all(p, region))
      return tvms_sched_refuse(p->sched, "the block does not write all of '%s'",
                               tvms_sched_buffer_name(p->sched, region->buffer));
  }
  return true;
}

// Is a value zero where the elements that an axis tells apart are zeros?
static bool vanishes(const tvms_node *value, const tvms_node *axis) {
  switch ((int)value->kind) {
  case TVMS_NODE_CAST: return vanishes(tvms_as_cast(value)->value, axis);
  case TVMS_NODE_MUL:
    return vanishes(tvms_as_binary(value)->a, axis)
           || vanishes(tvms_as_binary(value)->b, axis);
  case TVMS_NODE_ADD:
  case TVMS_NODE_SUB:
    return vanishes(tvms_as_binary(value)->a, axis)
           && vanishes(tvms_as_binary(value)->b, axis);
  case TVMS_NODE_BUFFER_LOAD: {
    tvms_list indices = tvms_as_buffer_load(value)->indices;
    for (uint32_t i = 0; i < indices.len; i++)
      if (indices.items[i] == axis) return true;
    return false;
  }
  default: return false;
  }
}

static bool loads(const tvms_node *value, const tvms_node *buffer) {
  return value->kind == TVMS_NODE_BUFFER_LOAD
         && tvms_as_buffer_load(value)->buffer == buffer;
}

// Does a block add to its result what vanishes along an axis?
static bool adds_nothing(const tvms_block *block, const tvms_node *axis) {
  if (block->body->kind != TVMS_NODE_STORE) return false;
  const tvms_store *store = tvms_as_store(block->body);
  if (store->value->kind != TVMS_NODE_ADD) return false;
  tvms_node *a = tvms_as_binary(store->value)->a, *b = tvms_as_binary(store->value)->b;
  return (loads(a, store->buffer) && vanishes(b, axis))
         || (loads(b, store->buffer) && vanishes(a, axis));
}

// A reduced axis runs over the zeros that its buffers are filled with, too: only a sum of what is zero there stays. TVM does not ask.
static bool check_sums(const padding *p) {
  const tvms_block *block = tvms_sched_block(p->sched, p->block);
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    if (axis->iter_type == TVMS_ITER_COMM_REDUCE
        && tvms_node_map_get(&p->extents, axis->var) && !adds_nothing(block, axis->var))
      return tvms_sched_refuse(
          p->sched, "axis %u is to be longer, and zeros change what it reduces to", i);
  }
  return true;
}

static void find_extents(padding *p, const tvms_sched_value *numbers) {
  tvms_sched *s = p->sched;
  const tvms_block_realize *realize = tvms_sched_realize(s, p->block);
  tvms_list axes = tvms_as_block(realize->block)->iter_vars;
  for (uint32_t i = 0; i < axes.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(axes.items[i]);
    tvms_node *old = tvms_as_range(axis->dom)->extent;
    tvms_node *unit = tvms_sched_int(s, old->dtype, numbers->items[i].number);
    tvms_node *one = tvms_sched_int(s, old->dtype, 1);
    tvms_node *sum = tvms_sched_build(s, TVMS_NODE_ADD, old, unit);
    sum = tvms_sched_build(s, TVMS_NODE_SUB, sum, one);
    tvms_node *steps = tvms_sched_build(s, TVMS_NODE_FLOOR_DIV, sum, unit);
    tvms_node *made = tvms_analyzer_simplify(
        p->analyzer, tvms_sched_build(s, TVMS_NODE_MUL, steps, unit));
    if (tvms_analyzer_can_prove_equal(p->analyzer, made, old)) continue;
    tvms_node_map_put(&p->extents, axis->var, made);
    tvms_node *value = realize->iter_values.items[i];
    if (value->kind == TVMS_NODE_VAR) tvms_node_map_put(&p->extents, value, made);
  }
}

// ---- Copies ----

static tvms_node *padded_buffer(padding *p, const tvms_buffer_region *region) {
  tvms_sched *s = p->sched;
  tvms_list shape = tvms_list_copy(s->unit, region->region.items, region->region.len);
  for (uint32_t i = 0; i < shape.len; i++) {
    const tvms_node *at = tvms_as_range(region->region.items[i])->min;
    tvms_node *extent = tvms_node_map_get(&p->extents, at);
    shape.items[i] = at->kind == TVMS_NODE_INT_IMM ? tvms_sched_int(s, at->dtype, 1)
                     : extent                      ? extent
                              : tvms_as_buffer(region->buffer)->shape.items[i];
  }
  const tvms_buffer *old = tvms_as_buffer(region->buffer);
  const char *name =
      tvms_sched_joined(s, tvms_sched_buffer_name(s, region->buffer), "pad");
  return tvms_sched_buffer_new(
      s, tvms_symbol_intern(s->context, name, strlen(name)), old->element,
      tvms_storage_scope_of(s->context, region->buffer), &shape);
}

// What the padded copy has at `indices`: the element where there is one.
static tvms_node *filled(padding *p, tvms_node *old, const tvms_node *made,
                         tvms_node *const *indices, uint32_t rank) {
  tvms_sched *s = p->sched;
  tvms_node *inside = tvms_bool_imm_new(s->unit, true, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < rank; i++) {
    tvms_node *size = tvms_as_buffer(old)->shape.items[i];
    if (!tvms_analyzer_can_prove_equal(p->analyzer, size,
                                       tvms_as_buffer(made)->shape.items[i]))
      inside = tvms_sched_build(s, TVMS_NODE_AND, inside,
                                tvms_sched_build(s, TVMS_NODE_LT, indices[i], size));
  }
  tvms_node *value =
      tvms_buffer_load_new(s->unit, old, indices, rank, NULL, TVMS_NO_SPAN);
  tvms_node *zero = tvms_sched_zero(s, value->dtype);
  tvms_node *chosen =
      tvms_build_if_then_else(s->unit, inside, value, zero, TVMS_NO_SPAN);
  TVMS_CHECK(chosen);
  return chosen;
}

// The nest that copies all of `from` to `to`, of which `made` is the padded buffer.
static tvms_node *copy_nest(padding *p, tvms_node *old, tvms_node *made, bool read) {
  tvms_sched *s = p->sched;
  tvms_list shape = tvms_as_buffer(read ? made : old)->shape;
  uint32_t rank = shape.len;
  tvms_node **room = tvms_arena_array(&s->unit->arena, tvms_node *, 3 * rank + 1);
  tvms_node **loops = room, **vars = room + rank, **axes = room + 2 * rank;
  for (uint32_t i = 0; i < rank; i++) {
    loops[i] = tvms_sched_numbered(s, "i", i, shape.items[i]->dtype);
    vars[i] = tvms_sched_numbered(s, "v", i, shape.items[i]->dtype);
    axes[i] = tvms_sched_axis(s, vars[i], shape.items[i]);
  }
  tvms_copy_block copy = {.name = tvms_sched_buffer_name(s, made),
                          .from = read ? old : made,
                          .to = read ? made : old,
                          .axes = axes,
                          .values = loops,
                          .count = rank,
                          .from_at = vars,
                          .to_at = vars,
                          .from_rank = rank,
                          .to_rank = rank};
  tvms_node *block, *body = tvms_sched_copy_block(s, &copy, &block);
  if (read)
    tvms_as_store(tvms_as_block(block)->body)->value = filled(p, old, made, vars, rank);
  for (uint32_t i = rank; i-- > 0;)
    body = tvms_sched_for(s, loops[i], shape.items[i], body);
  return body;
}

static void make_copies(padding *p, bool read) {
  tvms_memory *memory = &p->sched->context->memory;
  const tvms_block *block = tvms_sched_block(p->sched, p->block);
  tvms_list regions = read ? block->reads : block->writes;
  for (uint32_t i = 0; i < regions.len; i++) {
    const tvms_buffer_region *region = tvms_as_buffer_region(regions.items[i]);
    if (!needs_padding(p, region)) continue;
    tvms_node *made = padded_buffer(p, region);
    tvms_node_map_put(&p->buffers, region->buffer, made);
    tvms_node *nest = copy_nest(p, region->buffer, made, read);
    tvms_vec_push(memory, read ? &p->before : &p->behind, nest);
    tvms_vec_push(memory, &p->padded, made);
  }
}

// ---- The statement of the block ----

static tvms_node *swap_access(tvms_rewriter *r, tvms_node *node) {
  const padding *p = r->self;
  tvms_node *made = tvms_node_map_get(&p->buffers, *tvms_node_element(node).buffer);
  if (!made) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  *tvms_node_element(copy).buffer = made;
  return copy;
}

static tvms_node *swap_region(tvms_rewriter *r, tvms_node *node) {
  const padding *p = r->self;
  const tvms_buffer_region *region = tvms_as_buffer_region(node);
  tvms_node *made = tvms_node_map_get(&p->buffers, region->buffer);
  return made ? tvms_buffer_region_new(r->unit, made, region->region.items,
                                       region->region.len, TVMS_NO_SPAN)
              : node;
}

static tvms_node *widen_loop(tvms_rewriter *r, tvms_node *node) {
  const padding *p = r->self;
  tvms_node *extent = tvms_node_map_get(&p->extents, tvms_as_for(node)->var);
  if (!extent) return node;
  tvms_for *loop = tvms_as_for(tvms_node_copy(r->unit, node));
  loop->extent = extent;
  return &loop->head;
}

static tvms_node *widen_block(tvms_rewriter *r, tvms_node *node) {
  const padding *p = r->self;
  tvms_block *block = tvms_as_block(tvms_node_copy(r->unit, node));
  block->iter_vars =
      tvms_list_copy(r->unit, block->iter_vars.items, block->iter_vars.len);
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    tvms_iter_var *axis =
        tvms_as_iter_var(tvms_node_copy(r->unit, block->iter_vars.items[i]));
    tvms_node *extent = tvms_node_map_get(&p->extents, axis->var);
    if (!extent) continue;
    axis->dom =
        tvms_range_new(r->unit, tvms_as_range(axis->dom)->min, extent, TVMS_NO_SPAN);
    block->iter_vars.items[i] = &axis->head;
  }
  return &block->head;
}

static tvms_node *keep_buffer(tvms_rewriter *r, tvms_node *node) {
  return r->role == TVMS_ROLE_DEFINE ? TVMS_REWRITE_BELOW : node;
}

static tvms_node *widened(padding *p, tvms_node *stmt) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, p->sched->unit, p);
  r.enter[TVMS_NODE_BUFFER] = keep_buffer;
  r.leave[TVMS_NODE_BUFFER_LOAD] = swap_access;
  r.leave[TVMS_NODE_STORE] = swap_access;
  r.leave[TVMS_NODE_BUFFER_REGION] = swap_region;
  r.leave[TVMS_NODE_FOR] = widen_loop;
  r.leave[TVMS_NODE_BLOCK] = widen_block;
  tvms_node *made = tvms_rewrite(&r, stmt);
  tvms_rewriter_fini(&r);
  return made;
}

static void give_flags(tvms_sched *s, const tvms_node *nest) {
  tvms_sched_flags_give(s, tvms_sched_site_of(s, tvms_sched_block_in(nest)));
}

static void replace(padding *p) {
  tvms_sched *s = p->sched;
  tvms_node *old = tvms_sched_at(s, p->scope)->node;
  tvms_block *scope = tvms_as_block(tvms_node_copy(s->unit, old));
  const tvms_node *target = tvms_sched_at(s, p->block)->realize;
  tvms_list stmts = scope->body->kind == TVMS_NODE_SEQ
                        ? tvms_as_seq(scope->body)->stmts
                        : tvms_list_copy(s->unit, &scope->body, 1);
  tvms_node_vec made = {0};
  for (uint32_t i = 0; i < stmts.len; i++) {
    bool own = stmts.items[i] == target
               || tvms_walk_contains(&s->context->memory, stmts.items[i], target);
    for (uint32_t k = 0; own && k < p->before.len; k++)
      tvms_stmt_push(s->unit, &made, p->before.items[k]);
    tvms_stmt_push(s->unit, &made, own ? widened(p, stmts.items[i]) : stmts.items[i]);
    for (uint32_t k = 0; own && k < p->behind.len; k++)
      tvms_stmt_push(s->unit, &made, p->behind.items[k]);
  }
  scope->body = tvms_stmt_seq(s->unit, &made, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < p->padded.len; i++)
    tvms_sched_add_alloc(s, scope, p->padded.items[i]);
  tvms_sched_replace_one(s, old, &scope->head);
  for (uint32_t i = 0; i < p->before.len; i++)
    give_flags(s, p->before.items[i]);
  for (uint32_t i = 0; i < p->behind.len; i++)
    give_flags(s, p->behind.items[i]);
}

// The loops become longer, and other blocks in them would run too often. TVM does not ask.
static bool check_alone(const padding *p) {
  tvms_sched *s = p->sched;
  int32_t top = p->block;
  while (tvms_sched_parent(s, top) != p->scope)
    top = tvms_sched_parent(s, top);
  tvms_site_vec blocks = {0};
  if (top != p->block) tvms_sched_children(s, top, &blocks);
  bool alone = blocks.len <= 1;
  tvms_vec_fini(&s->context->memory, &blocks);
  return alone || tvms_sched_refuse(s, "there are other blocks in the loops");
}

bool tvms_step_pad_einsum(tvms_step *step) {
  tvms_sched *s = step->sched;
  padding p = {.sched = s};
  p.block = tvms_step_site(step, TVMS_ARG(PadEinsum, block));
  if (p.block == TVMS_NO_SITE) return false;
  const tvms_sched_value *numbers = &step->args[TVMS_ARG(PadEinsum, padding)];
  const tvms_block *block = tvms_sched_block(s, p.block);
  bool fine = tvms_sched_check_scope(s, p.block, true, &p.scope) && check_alone(&p)
              && check_numbers(s, block, numbers) && check_regions(s, block)
              && tvms_sched_check_whole(s, p.block, false);
  if (!fine) return false;
  tvms_memory *memory = &s->context->memory;
  p.analyzer = tvms_analyzer_new(s->unit);
  tvms_node_map_init(&p.extents, memory);
  tvms_node_map_init(&p.buffers, memory);
  find_extents(&p, numbers);
  fine = check_extents(&p) && check_sums(&p) && check_writes(&p);
  if (fine) {
    make_copies(&p, true);
    make_copies(&p, false);
    replace(&p);
  }
  tvms_analyzer_free(p.analyzer);
  tvms_node_map_fini(&p.extents);
  tvms_node_map_fini(&p.buffers);
  tvms_vec_fini(memory, &p.before);
  tvms_vec_fini(memory, &p.behind);
  tvms_vec_fini(memory, &p.padded);
  return fine;
}
