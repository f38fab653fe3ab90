// reindex: a block uses a copy of a buffer that has one dimension for each axis that indexes it.
// TVM: src/s_tir/schedule/primitive/cache_read_write.cc, ReIndex.
#include "schedule/accesses.h"
#include "schedule/bindings.h"
#include "schedule/buffer_argument.h"
#include "schedule/buffers.h"
#include "schedule/declared.h"
#include "schedule/ends.h"
#include "schedule/flags.h"
#include "schedule/make.h"
#include "schedule/steps.h"
#include "schedule/taken.h"

typedef struct {
  tvms_sched *sched;
  int32_t block, scope;
  uint32_t index;  // of the statement of the scope that the copy stands before
  bool write;
  tvms_node *old, *made;  // buffers
  tvms_list indices;      // of the old one
  tvms_list used;         // axes that stand in them
} reindexing;

// ---- Conditions ----

static bool find_indices(reindexing *x) {
  tvms_sched *s = x->sched;
  const tvms_block *block = tvms_sched_block(s, x->block);
  tvms_sched_accesses found = tvms_sched_accesses_find(s, block->body, x->old);
  const char *name = tvms_sched_buffer_name(s, x->old);
  if (found.nested) return tvms_sched_refuse(s, "there are blocks in the block");
  if (found.opaque) return tvms_sched_refuse(s, "the pointer of '%s' is used", name);
  if (!found.count) return tvms_sched_refuse(s, "the block does not access '%s'", name);
  if (found.differ)
    return tvms_sched_refuse(s, "the block accesses '%s' at several places", name);
  if (!x->write && tvms_sched_touches(block->writes, x->old))
    return tvms_sched_refuse(s, "the block writes '%s', too", name);
  tvms_analyzer *analyzer = tvms_analyzer_new(s->unit);
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    tvms_analyzer_bind_range(analyzer, axis->var, dom->min, dom->extent);
  }
  x->indices = tvms_list_copy(s->unit, found.indices.items, found.indices.len);
  for (uint32_t i = 0; i < x->indices.len; i++) {
    tvms_node *simple = tvms_analyzer_simplify(analyzer, x->indices.items[i]);
    if (simple->kind != TVMS_NODE_INT_IMM) x->indices.items[i] = simple;
  }
  tvms_analyzer_free(analyzer);
  if (!tvms_sched_accesses_leave(s, block, x->old, x->indices)) return true;
  return tvms_sched_refuse(
      s, "some axes lead out of '%s', where the block has a condition", name);
}

static void find_used(reindexing *x) {
  tvms_sched *s = x->sched;
  tvms_list axes = tvms_sched_block(s, x->block)->iter_vars;
  x->used.items = tvms_arena_array(&s->unit->arena, tvms_node *, axes.len + 1);
  for (uint32_t i = 0; i < axes.len; i++) {
    bool used = false;
    for (uint32_t k = 0; k < x->indices.len; k++)
      used = used
             || tvms_sched_uses(s, x->indices.items[k],
                                tvms_as_iter_var(axes.items[i])->var);
    if (used) x->used.items[x->used.len++] = axes.items[i];
  }
}

// The copy stands in front of all loops, or behind them: no other block in them may need it earlier. TVM does not ask.
static bool check_others(const reindexing *x, int32_t top) {
  tvms_sched *s = x->sched;
  tvms_site_vec blocks = {0};
  tvms_sched_children(s, top, &blocks);
  bool fine = true;
  for (uint32_t i = 0; fine && i < blocks.len; i++) {
    const tvms_block *block = tvms_sched_block(s, blocks.items[i]);
    if (blocks.items[i] == x->block) continue;
    fine = !tvms_sched_touches(block->writes, x->old)
           && !(x->write && tvms_sched_touches(block->reads, x->old));
  }
  tvms_vec_fini(&s->context->memory, &blocks);
  return fine
         || tvms_sched_refuse(s, "another block in the loops uses '%s'",
                              tvms_sched_buffer_name(s, x->old));
}

// The block must be the end of a chain of loops of its scope, whose place is that of the outermost one.
static bool find_place(reindexing *x) {
  tvms_sched *s = x->sched;
  int32_t at = tvms_sched_parent(s, x->block);
  if (at == x->scope) return tvms_sched_refuse(s, "the block has no loop around it");
  for (; tvms_sched_parent(s, at) != x->scope; at = tvms_sched_parent(s, at))
    if (tvms_sched_loop(s, tvms_sched_parent(s, at))->body
        != tvms_sched_at(s, at)->node)
      return tvms_sched_refuse(s, "a loop around the block has other statements");
  if (!check_others(x, at)) return false;
  const tvms_node *body = tvms_sched_block(s, x->scope)->body;
  tvms_node *loop = tvms_sched_at(s, at)->node;
  x->index = x->write;
  if (body->kind != TVMS_NODE_SEQ) return true;
  for (uint32_t i = 0; i < tvms_as_seq(body)->stmts.len; i++)
    if (tvms_as_seq(body)->stmts.items[i] == loop) x->index = i + x->write;
  return true;
}

// ---- Making ----

static void make_buffer(reindexing *x) {
  tvms_sched *s = x->sched;
  const char *name = tvms_sched_joined(s, tvms_sched_buffer_name(s, x->old), "reindex");
  tvms_list shape = tvms_list_copy(s->unit, x->used.items, x->used.len);
  for (uint32_t i = 0; i < shape.len; i++) {
    const tvms_range *dom = tvms_as_range(tvms_as_iter_var(x->used.items[i])->dom);
    shape.items[i] = tvms_sched_build(s, TVMS_NODE_ADD, dom->min, dom->extent);
  }
  x->made = tvms_sched_buffer_renamed(s, x->old, name);
  tvms_as_buffer(x->made)->shape = shape;
  tvms_as_buffer(x->made)->strides = (tvms_list){0};
}

static tvms_node *make_stage(reindexing *x, tvms_node **block) {
  tvms_sched *s = x->sched;
  uint32_t count = x->used.len;
  tvms_node **room = tvms_arena_array(&s->unit->arena, tvms_node *, 3 * count + 1);
  tvms_node **axes = room, **vars = room + count, **loops = room + 2 * count;
  tvms_node_map map;
  tvms_node_map_init(&map, &s->context->memory);
  for (uint32_t i = 0; i < count; i++) {
    tvms_iter_var *axis = tvms_as_iter_var(tvms_node_copy(s->unit, x->used.items[i]));
    vars[i] = tvms_sched_numbered(s, "v", i, axis->var->dtype);
    loops[i] = tvms_sched_numbered(s, "ax", i, axis->var->dtype);
    tvms_node_map_put(&map, axis->var, vars[i]);
    axis->var = vars[i];
    axis->iter_type = TVMS_ITER_DATA_PAR;
    axes[i] = &axis->head;
  }
  tvms_list old_at = tvms_list_copy(s->unit, x->indices.items, x->indices.len);
  for (uint32_t i = 0; i < old_at.len; i++)
    old_at.items[i] = tvms_substitute(s->unit, old_at.items[i], &map);
  tvms_node_map_fini(&map);
  tvms_node *to = x->write ? x->old : x->made;
  tvms_copy_block copy = {
      .name = tvms_sched_joined(s, tvms_sched_buffer_name(s, to), "reindex"),
      .from = x->write ? x->made : x->old,
      .to = to,
      .axes = axes,
      .values = loops,
      .count = count,
      .from_at = x->write ? vars : old_at.items,
      .to_at = x->write ? old_at.items : vars,
      .from_rank = x->write ? count : old_at.len,
      .to_rank = x->write ? old_at.len : count};
  tvms_node *body = tvms_sched_copy_block(s, &copy, block);
  for (uint32_t i = count; i-- > 0;) {
    const tvms_range *dom = tvms_as_range(tvms_as_iter_var(axes[i])->dom);
    body = tvms_sched_for_from(s, loops[i], dom->min, dom->extent, body);
  }
  return body;
}

static void replace(reindexing *x, tvms_node *stage) {
  tvms_sched *s = x->sched;
  tvms_node *old = tvms_sched_at(s, x->scope)->node;
  tvms_list places = tvms_list_copy(s->unit, x->used.items, x->used.len);
  for (uint32_t i = 0; i < places.len; i++)
    places.items[i] = tvms_as_iter_var(x->used.items[i])->var;
  tvms_sched_moved_access moved = {.from = x->old, .to = x->made, .indices = places};
  tvms_node *block = tvms_sched_at(s, x->block)->node;
  tvms_sched_edit edit = {block, tvms_sched_accesses_moved(s, block, &moved)};
  tvms_block *scope =
      tvms_as_block(tvms_node_copy(s->unit, tvms_sched_edited(s->unit, old, &edit, 1)));
  scope->body = tvms_sched_inserted(s, scope->body, x->index, stage);
  tvms_sched_add_alloc(s, scope, x->made);
  tvms_sched_replace_one(s, old, &scope->head);
}

bool tvms_step_reindex(tvms_step *step) {
  tvms_sched *s = step->sched;
  reindexing x = {.sched = s};
  x.block = tvms_step_site(step, TVMS_ARG(ReIndex, block));
  if (x.block == TVMS_NO_SITE) return false;
  x.old = tvms_step_buffer(step, TVMS_ARG(ReIndex, buffer), x.block, &x.write);
  bool fine = x.old && tvms_sched_check_scope(s, x.block, true, &x.scope)
              && tvms_sched_check_declared(s, x.scope, x.old) && find_indices(&x)
              && find_place(&x)
              && (!x.write
                  || (tvms_sched_check_whole(s, x.block, false)
                      && tvms_sched_check_stores(s, x.block, x.old)));
  if (!fine) return false;
  find_used(&x);
  make_buffer(&x);
  tvms_node *made, *stage = make_stage(&x, &made);
  replace(&x, stage);
  tvms_sched_flags_give(s, tvms_sched_site_of(s, made));
  tvms_step_give(step, tvms_sched_site_of(s, made));
  return true;
}
