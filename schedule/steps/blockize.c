// blockize: a loop with all that is in it becomes a block, whose axes are the loops around; or several blocks, one behind the other, become
// one.
// TVM: src/s_tir/schedule/primitive/blockize_tensorize.cc.
#include "arith/int_set.h"
#include "schedule/bindings.h"
#include "schedule/blockize_loop.h"
#include "schedule/buffers.h"
#include "schedule/flags.h"
#include "schedule/make.h"
#include "schedule/region.h"
#include "schedule/steps.h"

static void give(tvms_step *step, const tvms_node *block) {
  int32_t site = tvms_sched_site_of(step->sched, block);
  tvms_sched_flags_renew(step->sched, tvms_sched_scope(step->sched, site));
  tvms_step_give(step, site);
}

// A reduction begins in front of the loops of the block that is made; where one of them is no axis, it begins anew in each of its steps now, and
// would go on there. TVM does not ask.
static bool check_begins(tvms_sched *s, int32_t block, int32_t loop) {
  return !tvms_sched_block(s, block)->init
         || tvms_sched_loop_of_no_axis(s, block, loop) == TVMS_NO_SITE
         || tvms_sched_refuse(
             s, "block '%s' begins its reduction anew in a loop that no axis takes",
             tvms_sched_block_name(s, block));
}

static bool blockize_loop(tvms_step *step, bool keep_units) {
  tvms_sched *s = step->sched;
  tvms_sched_blockizing b;
  int32_t loop = tvms_step_site(step, TVMS_ARG(Blockize, target));
  if (loop == TVMS_NO_SITE) return false;
  bool fine = tvms_sched_blockize_begin(&b, s, loop, keep_units)
              && check_begins(s, b.block, loop);
  if (fine) {
    tvms_node *made = tvms_sched_blockize_loop(&b);
    tvms_sched_replace_one(s, tvms_sched_at(s, loop)->node, made);
    give(step, tvms_as_block_realize(made)->block);
  }
  tvms_sched_blockize_close(&b);
  return fine;
}

// ---- Several blocks ----

// What is used of a buffer, one set per dimension.
typedef struct {
  tvms_node *buffer;
  tvms_int_set *sets;
  uint32_t rank;
} part;

typedef TVMS_VEC(part) parts;

typedef struct {
  tvms_sched *sched;
  const int32_t *blocks;
  uint32_t count;
  int32_t common;       // loop or block that has all of them
  tvms_node_vec stmts;  // of the outer block
  parts reads, writes;
  const char *name;
} joining;

// What a range covers, as TVM has it: a point if its extent is 1.
static tvms_int_set set_of(tvms_sched *s, tvms_node *range) {
  const tvms_range *r = tvms_as_range(range);
  return tvms_int_set_of_range(s->unit, r->min, r->extent);
}

// Adds what one more block uses of buffers.
static void add_regions(joining *j, parts *all, tvms_list more) {
  tvms_sched *s = j->sched;
  for (uint32_t i = 0; i < more.len; i++) {
    const tvms_buffer_region *region = tvms_as_buffer_region(more.items[i]);
    uint32_t at = 0, rank = region->region.len;
    while (at < all->len && all->items[at].buffer != region->buffer)
      at++;
    bool fresh = at == all->len;
    if (fresh) {
      part made = {region->buffer,
                   tvms_arena_array(&s->unit->arena, tvms_int_set, rank + 1), rank};
      tvms_vec_push(&s->context->memory, all, made);
    }
    tvms_int_set *sets = all->items[at].sets;
    for (uint32_t d = 0; d < rank; d++) {
      tvms_int_set own = set_of(s, region->region.items[d]);
      sets[d] = fresh ? own : tvms_int_set_union(s->unit, sets[d], own);
    }
  }
}

// The hull of what is used of each buffer. Nothing is simplified here, as in TVM, which has the buffers in a hash table: the last comes first.
static tvms_list hulls(joining *j, const parts *all) {
  tvms_sched *s = j->sched;
  tvms_list made = {tvms_arena_array(&s->unit->arena, tvms_node *, all->len + 1), 0};
  for (uint32_t i = all->len; i-- > 0;) {
    const part *p = &all->items[i];
    tvms_list ranges = tvms_sched_full_ranges(s, p->buffer);
    for (uint32_t d = 0; d < p->rank; d++) {
      tvms_node *min = p->sets[d].min, *max = p->sets[d].max;
      if (!min || !max) continue;
      tvms_node *end =
          tvms_sched_build(s, TVMS_NODE_ADD, max, tvms_sched_int(s, max->dtype, 1));
      if (!tvms_node_is_int(min, 0)) end = tvms_sched_build(s, TVMS_NODE_SUB, end, min);
      ranges.items[d] = tvms_range_new(s->unit, min, end, TVMS_NO_SPAN);
    }
    made.items[made.len++] = tvms_buffer_region_new(s->unit, p->buffer, ranges.items,
                                                    ranges.len, TVMS_NO_SPAN);
  }
  return made;
}

// The statement of the common site in which a block is.
static uint32_t index_of(const joining *j, tvms_list stmts, int32_t block) {
  int32_t at = block, parent;
  while ((parent = tvms_sched_parent(j->sched, at)) != j->common)
    at = parent;
  const tvms_site *site = tvms_sched_at(j->sched, at);
  const tvms_node *stmt = site->realize ? site->realize : site->node;
  for (uint32_t i = 0; i < stmts.len; i++)
    if (stmts.items[i] == stmt) return i;
  return stmts.len;
}

// A statement goes with all that is in it: it must have no other block. TVM does not ask.
static bool check_alone(const joining *j) {
  tvms_sched *s = j->sched;
  for (uint32_t i = 0; i < j->count; i++) {
    int32_t at = j->blocks[i];
    tvms_site_vec blocks = {0};
    while (tvms_sched_parent(s, at) != j->common)
      at = tvms_sched_parent(s, at);
    if (at != j->blocks[i]) tvms_sched_children(s, at, &blocks);
    bool alone = blocks.len <= 1;
    tvms_vec_fini(&s->context->memory, &blocks);
    if (!alone)
      return tvms_sched_refuse(s, "another block is in the loops of block '%s'",
                               tvms_sched_block_name(s, j->blocks[i]));
  }
  return true;
}

static bool same_outside(joining *j, const tvms_sched_blockizing *first,
                         const tvms_sched_blockizing *b) {
  bool same = first->outer_values.len == b->outer_values.len;
  for (uint32_t i = 0; same && i < b->outer_values.len; i++)
    same = tvms_arith_prove_equal(j->sched->unit, first->outer_values.items[i],
                                  b->outer_values.items[i])
           && tvms_arith_prove_equal(j->sched->unit, first->axes[i].outer_extent,
                                     b->axes[i].outer_extent);
  return same || tvms_sched_refuse(j->sched, "the blocks have different axes outside");
}

static bool add_block(joining *j, tvms_sched_blockizing *b) {
  tvms_sched *s = j->sched;
  tvms_block *whole = tvms_sched_blockize_renamed(b);
  if (whole->init)
    return tvms_sched_refuse(s, "block '%s' has T.init()",
                             tvms_sched_block_name(s, b->block));
  tvms_block *inner = tvms_sched_blockize_inner(b, whole);
  add_regions(j, &j->reads, tvms_sched_blockize_widened(b, whole->reads));
  add_regions(j, &j->writes, tvms_sched_blockize_widened(b, whole->writes));
  j->name = tvms_sched_joined(s, j->name, whole->name.len ? whole->name.text : "");
  tvms_node *stmt =
      tvms_sched_blockize_realize(b, inner, &b->inner_values, b->inner_predicate);
  tvms_vec_push(&s->context->memory, &j->stmts, tvms_sched_blockize_loops(b, stmt));
  return true;
}

// The realization of the outer block; NULL after a refusal.
static tvms_node *TVMS_NULLABLE join(joining *j, bool keep_units) {
  tvms_sched *s = j->sched;
  tvms_sched_blockizing first, other;
  tvms_sched_blockize_open(&first, s, j->blocks[0], j->common, keep_units);
  bool fine = tvms_sched_blockize_divide(&first, NULL) && add_block(j, &first);
  for (uint32_t i = 1; fine && i < j->count; i++) {
    tvms_sched_blockize_open(&other, s, j->blocks[i], j->common, keep_units);
    fine = tvms_sched_block(s, j->blocks[i])->iter_vars.len == first.outer_axes.len
               ? tvms_sched_blockize_divide(&other, &first)
               : tvms_sched_refuse(s, "the blocks have different numbers of axes");
    fine = fine && same_outside(j, &first, &other) && add_block(j, &other);
    tvms_sched_blockize_close(&other);
  }
  tvms_node *made = NULL;
  if (fine) {
    tvms_block *outer = tvms_sched_block_new(s, tvms_sched_joined(s, j->name, ""));
    outer->iter_vars =
        tvms_list_copy(s->unit, first.outer_axes.items, first.outer_axes.len);
    outer->reads = hulls(j, &j->reads);
    outer->writes = hulls(j, &j->writes);
    outer->body = tvms_stmt_seq(s->unit, &j->stmts, TVMS_NO_SPAN);
    made = tvms_sched_blockize_realize(&first, outer, &first.outer_values,
                                       first.outer_predicate);
  }
  tvms_sched_blockize_close(&first);
  return made;
}

// Puts the outer block in the place of the statements from the first block's to the last one's.
static void replace(joining *j, tvms_list stmts, tvms_node *made) {
  tvms_sched *s = j->sched;
  tvms_node *old = tvms_sched_at(s, j->common)->node;
  uint32_t begin = index_of(j, stmts, j->blocks[0]);
  tvms_node_vec all = {0};
  for (uint32_t i = 0; i < stmts.len; i++) {
    if (i == begin) tvms_stmt_push(s->unit, &all, made);
    if (i < begin || i >= begin + j->count)
      tvms_stmt_push(s->unit, &all, stmts.items[i]);
  }
  tvms_node *copy = tvms_node_copy(s->unit, old);
  tvms_node *body = tvms_stmt_seq(s->unit, &all, TVMS_NO_SPAN);
  if (copy->kind == TVMS_NODE_FOR)
    tvms_as_for(copy)->body = body;
  else
    tvms_as_block(copy)->body = body;
  tvms_sched_replace_one(s, old, copy);
}

static bool blockize_blocks(tvms_step *step, bool keep_units) {
  tvms_sched *s = step->sched;
  uint32_t index = TVMS_ARG(Blockize, target), count = step->args[index].len;
  int32_t *sites = tvms_arena_array(&s->unit->arena, int32_t, count + 1);
  if (!tvms_step_sites(step, index, sites)) return false;
  if (count < 2) return tvms_sched_refuse(s, "there are not several blocks");
  joining j = {.sched = s, .blocks = sites, .count = count, .name = "outer"};
  j.common = sites[0];
  for (uint32_t i = 1; i < count; i++)
    j.common = tvms_sched_common(s, j.common, sites[i]);
  tvms_node *node = tvms_sched_at(s, j.common)->node;
  tvms_node *body =
      node->kind == TVMS_NODE_FOR ? tvms_as_for(node)->body : tvms_as_block(node)->body;
  bool inside = body->kind != TVMS_NODE_SEQ;
  for (uint32_t i = 0; i < count; i++)
    inside = inside || sites[i] == j.common;
  if (inside) return tvms_sched_refuse(s, "a block is in another one, or twice there");
  for (uint32_t i = 1; i < count; i++)
    if (tvms_sched_scope(s, tvms_sched_parent(s, sites[i]))
        != tvms_sched_scope(s, tvms_sched_parent(s, sites[0])))
      return tvms_sched_refuse(s, "the blocks are not in one scope");
  tvms_list stmts = tvms_as_seq(body)->stmts;
  for (uint32_t i = 0; i < count; i++)
    if (index_of(&j, stmts, sites[i]) != index_of(&j, stmts, sites[0]) + i)
      return tvms_sched_refuse(s, "the blocks do not stand one behind the other");
  if (!check_alone(&j)) return false;
  tvms_node *made = join(&j, keep_units);
  if (made) {
    replace(&j, stmts, made);
    give(step, tvms_as_block_realize(made)->block);
  }
  tvms_vec_fini(&s->context->memory, &j.stmts);
  tvms_vec_fini(&s->context->memory, &j.reads);
  tvms_vec_fini(&s->context->memory, &j.writes);
  return made != NULL;
}

bool tvms_step_blockize(tvms_step *step) {
  bool keep_units = step->args[TVMS_ARG(Blockize, preserve_unit_iters)].number != 0;
  bool several = step->args[TVMS_ARG(Blockize, target)].kind == TVMS_VALUE_LIST;
  return several ? blockize_blocks(step, keep_units) : blockize_loop(step, keep_units);
}
