// loop_partition: a loop becomes several, one behind the other, each over a part of the range and in a block of its own.
// TVM: src/s_tir/schedule/primitive/loop_transformation.cc, LoopPartition; the factors: concrete_schedule.cc.
#include "ir/fold.h"
#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/buffers.h"
#include "schedule/flags.h"
#include "schedule/make.h"
#include "schedule/steps.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PARTS = 16 };

// One part: from `begin` up to `end`.
typedef struct {
  tvms_sched *sched;
  const char *suffix;  // of names
  tvms_node *var, *begin, *end;
  int64_t axis;              // of the block at hand, that the loop is; -1: none
  uint32_t depth, bound_at;  // blocks around, and around the axis
  bool nested;               // the axis is not one of an innermost block
  bool foreign;              // a region would be told by something that is not an axis
} part;

// ---- Ends of parts ----

static tvms_node *plus(tvms_sched *s, tvms_node *a, tvms_node *b) {
  return tvms_arith_simplify(s->unit, tvms_sched_build(s, TVMS_NODE_ADD, a, b));
}

// Do the factors leave something of the loop? TVM's sum of them may wrap.
static bool check_sum(tvms_sched *s, const tvms_for *loop,
                      const tvms_sched_value *list) {
  int64_t sum = 0, extent = tvms_as_int_imm(loop->extent)->value;
  bool less = extent > 0;
  for (uint32_t i = 0; i < list->len && less; i++)
    if (list->items[i].kind != TVMS_VALUE_NONE)
      less = !__builtin_add_overflow(sum, list->items[i].number, &sum) && sum < extent;
  return less
         || tvms_sched_refuse(
             s, "the sum of the factors is not less than the extent of the loop");
}

static bool read_ends(tvms_sched *s, const tvms_for *loop, const tvms_sched_value *list,
                      tvms_node **ends, uint32_t *count) {
  int32_t missing = -1;
  tvms_node *total = tvms_sched_int(s, TVMS_DTYPE(INT, 32), 0);
  if (list->len >= MOST_PARTS)
    return tvms_sched_refuse(s, "there are too many factors");
  for (uint32_t i = 0; i < list->len; i++) {
    const tvms_sched_value *item = &list->items[i];
    if (item->kind == TVMS_VALUE_NONE) {
      if (missing >= 0) return tvms_sched_refuse(s, "only one factor may be None");
      missing = (int32_t)i;
      continue;
    }
    if (item->number <= 0) return tvms_sched_refuse(s, "a factor is not positive");
    ends[i] =
        tvms_sched_cast(s, loop->extent->dtype,
                        tvms_build_literal_int(s->unit, item->number, TVMS_NO_SPAN));
    total = tvms_sched_build(s, TVMS_NODE_ADD, total, ends[i]);
  }
  if (!check_sum(s, loop, list)) return false;
  if (missing >= 0)
    ends[missing] = tvms_sched_build(s, TVMS_NODE_SUB, loop->extent, total);
  for (uint32_t i = 1; i < list->len; i++)
    ends[i] = plus(s, ends[i], ends[i - 1]);
  *count = list->len;
  if (missing < 0) ends[(*count)++] = loop->extent;
  return true;
}

// ---- Regions ----

// Where a block first accesses a buffer with nothing but variables: the region is told by the domains of these axes.
typedef struct {
  const tvms_node *buffer;
  tvms_list indices;
  bool found, others;  // others: an access elsewhere, too, of which TVM knows nothing
} first_access;

static bool are_variables(tvms_list list) {
  for (uint32_t i = 0; i < list.len; i++)
    if (list.items[i]->kind != TVMS_NODE_VAR) return false;
  return true;
}

static bool same_indices(tvms_list a, tvms_list b) {
  bool same = a.len == b.len;
  for (uint32_t i = 0; same && i < a.len; i++)
    same = a.items[i] == b.items[i];
  return same;
}

static tvms_walk_step see_access(void *self, tvms_node *node, tvms_field_role role) {
  first_access *f = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BUFFER_LOAD && node->kind != TVMS_NODE_STORE)
    return TVMS_WALK_ON;
  tvms_element element = tvms_node_element(node);
  bool same = tvms_as_buffer(*element.buffer)->name == tvms_as_buffer(f->buffer)->name;
  if (!same) return TVMS_WALK_ON;
  bool first = !f->found && are_variables(*element.indices);
  if (first) f->indices = *element.indices;
  f->others =
      f->others || !(first || (f->found && same_indices(f->indices, *element.indices)));
  f->found = f->found || first;
  return TVMS_WALK_ON;
}

static tvms_node *TVMS_NULLABLE domain_named(const tvms_block *block, tvms_sym name) {
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    if (tvms_as_var(axis->var)->name == name) return axis->dom;
  }
  return NULL;
}

static tvms_list wide_regions(part *p, const tvms_block *block, tvms_list regions) {
  tvms_sched *s = p->sched;
  tvms_list made = tvms_list_copy(s->unit, regions.items, regions.len);
  for (uint32_t i = 0; i < made.len; i++) {
    tvms_node *buffer = tvms_sched_region_buffer(made, i);
    first_access f = {.buffer = buffer};
    tvms_visitor visitor = {.self = &f, .enter = see_access};
    (void)tvms_walk(&s->context->memory, block->body, &visitor);
    if (!f.found || f.others) continue;
    tvms_list ranges = tvms_list_copy(s->unit, f.indices.items, f.indices.len);
    for (uint32_t d = 0; d < ranges.len; d++) {
      tvms_node *dom = domain_named(block, tvms_as_var(ranges.items[d])->name);
      if (!dom) p->foreign = true;
      ranges.items[d] = dom;
    }
    if (!p->foreign)
      made.items[i] = tvms_buffer_region_new(s->unit, buffer, ranges.items, ranges.len,
                                             TVMS_NO_SPAN);
  }
  return made;
}

// ---- A part ----

static void rename_block(part *p, tvms_block *block) {
  const char *name =
      tvms_sched_joined(p->sched, block->name.len ? block->name.text : "", p->suffix);
  block->name = tvms_bytes_copy(p->sched->unit, name, strlen(name));
}

static tvms_node *enter_realize(tvms_rewriter *r, tvms_node *node) {
  part *p = r->self;
  tvms_list values = tvms_as_block_realize(node)->iter_values;
  p->depth++;
  for (uint32_t i = 0; i < values.len; i++)
    if (values.items[i] == p->var) {
      p->axis = i;
      p->bound_at = p->depth;
      break;
    }
  return TVMS_REWRITE_BELOW;
}

static tvms_node *leave_realize(tvms_rewriter *r, tvms_node *node) {
  part *p = r->self;
  p->depth--;
  return node;
}

static tvms_node *leave_block(tvms_rewriter *r, tvms_node *node) {
  part *p = r->self;
  tvms_block *block = tvms_as_block(tvms_node_copy(r->unit, node));
  rename_block(p, block);
  if (!block->iter_vars.len || p->axis < 0 || p->axis >= block->iter_vars.len)
    return &block->head;
  p->nested |= p->depth != p->bound_at;
  block->iter_vars =
      tvms_list_copy(r->unit, block->iter_vars.items, block->iter_vars.len);
  tvms_iter_var *axis =
      tvms_as_iter_var(tvms_node_copy(r->unit, block->iter_vars.items[p->axis]));
  tvms_node *begin = tvms_sched_cast(p->sched, axis->var->dtype, p->begin);
  tvms_node *end = tvms_sched_cast(p->sched, axis->var->dtype, p->end);
  axis->dom = tvms_range_new(r->unit, begin,
                             tvms_sched_build(p->sched, TVMS_NODE_SUB, end, begin),
                             TVMS_NO_SPAN);
  block->iter_vars.items[p->axis] = &axis->head;
  p->axis = -1;
  block->writes = wide_regions(p, block, block->writes);
  block->reads = wide_regions(p, block, block->reads);
  return &block->head;
}

static tvms_node *make_part(part *p, const tvms_for *loop) {
  tvms_sched *s = p->sched;
  tvms_node *value = tvms_sched_cast(s, loop->var->dtype, p->var);
  tvms_node *body = tvms_substitute_one(s->unit, loop->body, loop->var, value);
  tvms_rewriter r;
  tvms_rewriter_init(&r, s->unit, p);
  r.roles = TVMS_IN(BODY);
  r.enter[TVMS_NODE_BLOCK_REALIZE] = enter_realize;
  r.leave[TVMS_NODE_BLOCK_REALIZE] = leave_realize;
  r.leave[TVMS_NODE_BLOCK] = leave_block;
  body = tvms_rewrite(&r, body);
  tvms_rewriter_fini(&r);
  body = tvms_sched_duplicate(s->unit, body);
  tvms_node *extent = tvms_sched_build(s, TVMS_NODE_SUB, p->end, p->begin);
  return tvms_sched_for_from(s, p->var, p->begin, extent, body);
}

// A block without axes around a statement.
static tvms_node *wrapped(tvms_sched *s, const char *name, tvms_node *body,
                          tvms_node *TVMS_NULLABLE predicate) {
  tvms_block *block = tvms_sched_block_new(s, name);
  block->body = body;
  return tvms_sched_realize_new(s, block, NULL, 0, predicate);
}

// The name of the block at the end of the chain of loops that a loop begins; NULL: it is no chain.
static const char *TVMS_NULLABLE name_in(const tvms_node *stmt) {
  while (stmt->kind == TVMS_NODE_FOR)
    stmt = tvms_as_for(stmt)->body;
  if (stmt->kind != TVMS_NODE_BLOCK_REALIZE) return NULL;
  const tvms_block *block = tvms_as_block(tvms_as_block_realize(stmt)->block);
  return block->name.len ? block->name.text : "";
}

static bool make_parts(tvms_sched *s, const tvms_for *loop, const char *name,
                       tvms_node **ends, uint32_t count, tvms_node **vars,
                       tvms_node_vec *made) {
  tvms_node *begin = loop->min;
  for (uint32_t i = 0; i < count; i++) {
    char suffix[16];
    snprintf(suffix, sizeof suffix, "%u", i);
    tvms_node *end = tvms_arith_simplify(s->unit, ends[i]);
    vars[i] = tvms_sched_var(s, loop->var, suffix, loop->var->dtype);
    part p = {.sched = s,
              .suffix = tvms_symbol_text(s->context, tvms_as_var(vars[i])->name),
              .var = vars[i],
              .begin = begin,
              .end = end,
              .axis = -1};
    tvms_node *nest = make_part(&p, loop);
    // TVM gives the part of the loop to an axis of the inner block.
    if (p.nested)
      return tvms_sched_refuse(s,
                               "the block with the axis of the loop has blocks in it");
    if (p.foreign)
      return tvms_sched_refuse(
          s, "a block accesses a buffer at a variable that is not one of its axes");
    const char *own =
        tvms_sched_joined(s, tvms_sched_joined(s, name, p.suffix), "partition");
    tvms_node *some =
        tvms_sched_build(s, TVMS_NODE_GT, end, tvms_sched_int(s, end->dtype, 0));
    tvms_vec_push(&s->context->memory, made, wrapped(s, own, nest, some));
    begin = end;
  }
  return true;
}

typedef struct {
  tvms_sched *sched;
  const tvms_node *var;
} reducing;

static tvms_walk_step see_reduction(void *self, tvms_node *node, tvms_field_role role) {
  const reducing *r = self;
  (void)role;
  if (node->kind != TVMS_NODE_BLOCK_REALIZE) return TVMS_WALK_ON;
  const tvms_block_realize *realize = tvms_as_block_realize(node);
  const tvms_block *block = tvms_as_block(realize->block);
  for (uint32_t i = 0; block->init && i < realize->iter_values.len; i++)
    if (tvms_as_iter_var(block->iter_vars.items[i])->iter_type != TVMS_ITER_DATA_PAR
        && tvms_sched_uses(r->sched, realize->iter_values.items[i], r->var))
      return TVMS_WALK_STOP;
  return TVMS_WALK_ON;
}

// A part of the steps of a reduced axis would begin the reduction anew, in blocks of blocks as well. TVM does not ask.
static bool check_reductions(tvms_sched *s, const tvms_for *loop) {
  reducing r = {s, loop->var};
  tvms_visitor visitor = {.self = &r, .enter = see_reduction};
  return tvms_walk(&s->context->memory, loop->body, &visitor)
         || tvms_sched_refuse(s, "the loop is reduced by a block with T.init()");
}

bool tvms_step_loop_partition(tvms_step *step) {
  tvms_sched *s = step->sched;
  int32_t site = tvms_step_site(step, TVMS_ARG(LoopPartition, loop));
  if (site == TVMS_NO_SITE) return false;
  const tvms_for *loop = tvms_sched_loop(s, site);
  if (loop->min->kind != TVMS_NODE_INT_IMM || loop->extent->kind != TVMS_NODE_INT_IMM)
    return tvms_sched_refuse(s, "the range of the loop is not constant");
  tvms_node *ends[MOST_PARTS + 1], *vars[MOST_PARTS + 1];
  uint32_t count = 0;
  const char *name = name_in(loop->body);
  if (!read_ends(s, loop, &step->args[TVMS_ARG(LoopPartition, factors)], ends, &count)
      || !tvms_sched_check_plain_loop(s, site) || !tvms_sched_check_zero(s, site)
      || !check_reductions(s, loop))
    return false;
  if (!name || count < 2)
    return tvms_sched_refuse(s, "the loop is not one of a chain around a block");
  tvms_node_vec parts = {0};
  if (!make_parts(s, loop, name, ends, count, vars, &parts)) {
    tvms_vec_fini(&s->context->memory, &parts);
    return false;
  }
  const char *loop_name = tvms_symbol_text(s->context, tvms_as_var(loop->var)->name);
  const char *common =
      tvms_sched_joined(s, tvms_sched_joined(s, name, loop_name), "common");
  tvms_node *body = tvms_stmt_seq(s->unit, &parts, TVMS_NO_SPAN);
  tvms_sched_replace_one(s, &loop->head, wrapped(s, common, body, NULL));
  int32_t sites[MOST_PARTS + 1];
  for (uint32_t i = 0; i < count; i++)
    sites[i] = tvms_sched_find(s, (tvms_sched_ref){s, 0, vars[i], TVMS_MARK_NONE});
  // The scope is that of the block that has all parts.
  int32_t inner = tvms_sched_scope(s, sites[0]);
  tvms_sched_flags_renew(s, tvms_sched_scope(s, tvms_sched_scope(s, inner)));
  tvms_step_give_list(step, sites, count);
  return true;
}
