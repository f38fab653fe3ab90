// rfactor: a reduced loop becomes an axis of a buffer, over which a second block reduces.
// TVM: src/s_tir/schedule/primitive/reduction.cc.
#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/buffers.h"
#include "schedule/flags.h"
#include "schedule/reducer.h"
#include "schedule/steps.h"
#include "schedule/taken.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_sched *sched;
  int32_t block, loop, scope;
  tvms_site_vec loops;  // around the block
  tvms_reduction reduction;
  uint32_t axis;                          // of the new dimension
  tvms_node *buffers[TVMS_MOST_REDUCED];  // that are new
  tvms_node *extra;   // axis of the first block that runs with the loop
  tvms_list indices;  // of the new buffers
} factoring;

// ---- Checks ----

// Is a loop used by an axis of this type?
static bool drives(const factoring *f, int32_t loop, uint32_t type) {
  tvms_sched *s = f->sched;
  const tvms_block *block = tvms_sched_block(s, f->block);
  const tvms_block_realize *realize = tvms_sched_realize(s, f->block);
  for (uint32_t i = 0; i < block->iter_vars.len; i++)
    if (tvms_as_iter_var(block->iter_vars.items[i])->iter_type == type
        && tvms_sched_uses(s, realize->iter_values.items[i],
                           tvms_sched_loop(s, loop)->var))
      return true;
  return false;
}

static bool check_loops(factoring *f) {
  tvms_sched *s = f->sched;
  tvms_site_vec children = {0};
  tvms_sched_children(s, f->loops.items[0], &children);
  bool first = children.items[0] == f->block;
  tvms_vec_fini(&s->context->memory, &children);
  if (!first)
    return tvms_sched_refuse(s,
                             "the block is not the first one below its outermost loop");
  bool reduced = false;
  for (uint32_t i = 0; i < f->loops.len; i++) {
    int32_t loop = f->loops.items[i];
    bool spatial = drives(f, loop, TVMS_ITER_DATA_PAR),
         reduces = drives(f, loop, TVMS_ITER_COMM_REDUCE);
    if (spatial && reduces)
      return tvms_sched_refuse(s, "spatial and reduced axes follow the same loop");
    if (spatial && loop == f->loop)
      return tvms_sched_refuse(s, "a spatial axis follows the loop");
    tvms_site_vec below = {0};
    tvms_sched_children(s, loop, &below);
    uint32_t count = below.len;
    tvms_vec_fini(&s->context->memory, &below);
    if (reduces && !reduced && count > 1)
      return tvms_sched_refuse(s, "a reduced loop has other blocks in it, too");
    reduced = reduced || reduces;
    bool idle = !spatial && !reduces && reduced
                && !tvms_node_is_int(tvms_sched_loop(s, loop)->extent, 1);
    if (idle) return tvms_sched_refuse(s, "a loop below a reduced one drives no axis");
  }
  return true;
}

static bool check(factoring *f, int64_t axis) {
  tvms_sched *s = f->sched;
  tvms_site_vec children = {0};
  tvms_sched_children(s, f->loop, &children);
  uint32_t count = children.len;
  f->block = count ? children.items[0] : TVMS_NO_SITE;
  tvms_vec_fini(&s->context->memory, &children);
  if (count != 1)
    return tvms_sched_refuse(s, "the loop has %u blocks in it, not one", count);
  if (!tvms_sched_check_scope(s, f->block, true, &f->scope)) return false;
  const char *why = tvms_sched_why_no_reduction(s, f->block, f->scope);
  if (why) return tvms_sched_refuse(s, "the block is not a reduction: %s", why);
  if (tvms_sched_loop(s, f->loop)->for_kind != TVMS_FOR_SERIAL)
    return tvms_sched_refuse(s, "the loop is not serial");
  tvms_sched_loops(s, f->block, &f->loops);
  if (!tvms_sched_check_whole(s, f->block, true) || !check_loops(f)) return false;
  why = tvms_reducer_find(s->unit, tvms_sched_block(s, f->block), &f->reduction);
  if (why) return tvms_sched_refuse(s, "what the block reduces is not known: %s", why);
  int64_t rank = f->reduction.indices.len;
  if (axis < -(rank + 1) || axis > rank)
    return tvms_sched_refuse(s, "the new dimension must be from %lld to %lld",
                             (long long)(-rank - 1), (long long)rank);
  f->axis = (uint32_t)(axis < 0 ? axis + rank + 1 : axis);
  return true;
}

// ---- Parts ----

static tvms_list with_item(tvms_sched *s, tvms_list list, uint32_t at,
                           tvms_node *item) {
  tvms_list made = {tvms_arena_array(&s->unit->arena, tvms_node *, list.len + 1),
                    list.len + 1};
  for (uint32_t i = 0; i < made.len; i++)
    made.items[i] = i == at ? item : list.items[i - (i > at)];
  return made;
}

static void make_buffers(factoring *f) {
  tvms_sched *s = f->sched;
  tvms_node *extent = tvms_sched_loop(s, f->loop)->extent;
  for (uint32_t i = 0; i < f->reduction.count; i++) {
    tvms_buffer *made =
        tvms_as_buffer(tvms_node_copy(s->unit, f->reduction.buffers[i]));
    char name[128];
    int len = snprintf(name, sizeof name, "%s.rf",
                       tvms_sched_buffer_name(s, f->reduction.buffers[i]));
    size_t room = sizeof name - 1;
    made->name =
        tvms_symbol_intern(s->context, name, (size_t)len < room ? (size_t)len : room);
    const tvms_node *pointer = made->data->sinfo;
    made->data = tvms_pointer_var_new(
        s->unit, made->name, made->element,
        pointer ? tvms_as_sinfo_pointer(pointer)->scope : 0, TVMS_NO_SPAN);
    made->shape = with_item(s, made->shape, f->axis, extent);
    f->buffers[i] = &made->head;
  }
}

// An axis that runs with a loop: v and the loop's name.
static tvms_node *axis_of_loop(tvms_sched *s, const tvms_for *loop, uint32_t type) {
  char name[128];
  int len = snprintf(name, sizeof name, "v%s",
                     tvms_symbol_text(s->context, tvms_as_var(loop->var)->name));
  size_t room = sizeof name - 1;
  tvms_iter_var *axis = tvms_node_make(s->unit, ITER_VAR, TVMS_NO_SPAN);
  axis->dom = tvms_range_new(s->unit, loop->min, loop->extent, TVMS_NO_SPAN);
  axis->var = tvms_var_new(
      s->unit,
      tvms_symbol_intern(s->context, name, (size_t)len < room ? (size_t)len : room),
      loop->var->dtype, TVMS_NO_SPAN);
  axis->iter_type = type;
  return &axis->head;
}

// A block in the making.
typedef struct {
  factoring *f;
  tvms_node_vec axes, values;
  tvms_node_map vars;  // old variable -> what stands for it
  tvms_node *left[TVMS_MOST_REDUCED], *right[TVMS_MOST_REDUCED];  // that are combined
  tvms_node *const *to;  // buffers that are written …
  tvms_list at;          // … here
} making;

static void add_axis(making *m, tvms_node *axis, tvms_node *value) {
  tvms_memory *memory = &m->f->sched->context->memory;
  tvms_vec_push(memory, &m->axes, axis);
  tvms_vec_push(memory, &m->values, value);
}

static tvms_node *store(making *m, uint32_t i, tvms_node *value) {
  tvms_store *made = tvms_node_make(m->f->sched->unit, STORE, TVMS_NO_SPAN);
  made->buffer = m->to[i];
  made->indices = m->at;
  made->value = value;
  return &made->head;
}

static tvms_node *combined(making *m, uint32_t i) {
  tvms_sched *s = m->f->sched;
  const tvms_comm_reducer *reducer = tvms_as_comm_reducer(m->f->reduction.reducer);
  tvms_node_map map;
  tvms_node_map_init(&map, &s->context->memory);
  for (uint32_t k = 0; k < m->f->reduction.count; k++) {
    tvms_node_map_put(&map, reducer->lhs.items[k], m->left[k]);
    tvms_node_map_put(&map, reducer->rhs.items[k], m->right[k]);
  }
  tvms_node *made = tvms_substitute(s->unit, reducer->result.items[i], &map);
  tvms_node_map_fini(&map);
  return made;
}

static tvms_node *make_body(making *m, bool reduces) {
  tvms_sched *s = m->f->sched;
  tvms_node_vec stmts = {0};
  uint32_t count = m->f->reduction.count;
  tvms_node *values[TVMS_MOST_REDUCED];
  for (uint32_t i = 0; i < count; i++) {
    values[i] = reduces ? combined(m, i) : m->right[i];
    if (count == 1 || !reduces) continue;
    char name[128];
    int len = snprintf(name, sizeof name, "v_%s", tvms_sched_buffer_name(s, m->to[i]));
    size_t room = sizeof name - 1;
    tvms_bind *bind = tvms_node_make(s->unit, BIND, TVMS_NO_SPAN);
    bind->value = values[i];
    bind->var = tvms_var_new(
        s->unit,
        tvms_symbol_intern(s->context, name, (size_t)len < room ? (size_t)len : room),
        values[i]->dtype, TVMS_NO_SPAN);
    values[i] = bind->var;
    tvms_vec_push(&s->context->memory, &stmts, &bind->head);
  }
  for (uint32_t i = 0; i < count; i++)
    tvms_vec_push(&s->context->memory, &stmts, store(m, i, values[i]));
  return tvms_stmt_seq(s->unit, &stmts, TVMS_NO_SPAN);
}

static tvms_node *make_init(making *m) {
  tvms_sched *s = m->f->sched;
  const tvms_comm_reducer *reducer = tvms_as_comm_reducer(m->f->reduction.reducer);
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < m->f->reduction.count; i++)
    tvms_vec_push(&s->context->memory, &stmts, store(m, i, reducer->identity.items[i]));
  return tvms_stmt_seq(s->unit, &stmts, TVMS_NO_SPAN);
}

// The block, with what reads and writes it in terms of the old one; the variables are replaced at the end.
static tvms_block *make_block(making *m, const char *name, tvms_list reads,
                              tvms_list writes) {
  tvms_sched *s = m->f->sched;
  tvms_block *made = tvms_node_make(s->unit, BLOCK, TVMS_NO_SPAN);
  bool reduces = false;
  for (uint32_t i = 0; i < m->axes.len; i++)
    reduces = reduces
              || tvms_as_iter_var(m->axes.items[i])->iter_type == TVMS_ITER_COMM_REDUCE;
  made->iter_vars = tvms_list_copy(s->unit, m->axes.items, m->axes.len);
  made->name = tvms_bytes_copy(s->unit, name, strlen(name));
  made->annotations = tvms_sched_block(s, m->f->block)->annotations;
  made->body = tvms_substitute(s->unit, make_body(m, reduces), &m->vars);
  if (reduces) made->init = tvms_substitute(s->unit, make_init(m), &m->vars);
  made->reads = tvms_list_copy(s->unit, reads.items, reads.len);
  made->writes = tvms_list_copy(s->unit, writes.items, writes.len);
  for (uint32_t i = 0; i < reads.len; i++)
    made->reads.items[i] = tvms_substitute(s->unit, reads.items[i], &m->vars);
  for (uint32_t i = 0; i < writes.len; i++)
    made->writes.items[i] = tvms_substitute(s->unit, writes.items[i], &m->vars);
  return made;
}

static tvms_node *make_realize(making *m, tvms_block *block, tvms_node *predicate) {
  tvms_sched *s = m->f->sched;
  tvms_block_realize *realize = tvms_node_make(s->unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->iter_values = tvms_list_copy(s->unit, m->values.items, m->values.len);
  realize->predicate = predicate;
  realize->block = &block->head;
  tvms_vec_fini(&s->context->memory, &m->axes);
  tvms_vec_fini(&s->context->memory, &m->values);
  tvms_node_map_fini(&m->vars);
  return &realize->head;
}

static tvms_node *load(factoring *f, tvms_node *buffer, tvms_list indices) {
  return tvms_buffer_load_new(f->sched->unit, buffer, indices.items, indices.len, NULL,
                              TVMS_NO_SPAN);
}

static tvms_node *region_at(factoring *f, tvms_node *buffer, tvms_list indices) {
  tvms_sched *s = f->sched;
  tvms_list ranges = tvms_list_copy(s->unit, indices.items, indices.len);
  for (uint32_t i = 0; i < ranges.len; i++)
    ranges.items[i] =
        tvms_range_new(s->unit, indices.items[i],
                       tvms_sched_int(s, indices.items[i]->dtype, 1), TVMS_NO_SPAN);
  return tvms_buffer_region_new(s->unit, buffer, ranges.items, ranges.len,
                                TVMS_NO_SPAN);
}

// ---- The first block ----

typedef struct {
  making *m;
  tvms_node_map axes;  // loop variable -> variable of the axis that runs with it
} loop_axes;

static tvms_walk_step take_loop(void *self, tvms_node *node, tvms_field_role role) {
  loop_axes *l = self;
  (void)role;
  if (node->kind != TVMS_NODE_VAR || tvms_node_map_get(&l->axes, node))
    return TVMS_WALK_ON;
  factoring *f = l->m->f;
  for (uint32_t i = 0; i < f->loops.len; i++) {
    const tvms_for *loop = tvms_sched_loop(f->sched, f->loops.items[i]);
    if (loop->var != node) continue;
    tvms_node *axis = axis_of_loop(f->sched, loop, TVMS_ITER_COMM_REDUCE);
    tvms_node_map_put(&l->axes, node, tvms_as_iter_var(axis)->var);
    add_axis(l->m, axis, node);
  }
  return TVMS_WALK_ON;
}

static void split_axes(making *m) {
  factoring *f = m->f;
  tvms_sched *s = f->sched;
  const tvms_for *factor = tvms_sched_loop(s, f->loop);
  const tvms_block *old = tvms_sched_block(s, f->block);
  tvms_list values = tvms_sched_realize(s, f->block)->iter_values;
  loop_axes l = {.m = m};
  tvms_node_map_init(&l.axes, &s->context->memory);
  tvms_node_map_put(&l.axes, factor->var, tvms_as_iter_var(f->extra)->var);
  add_axis(m, f->extra, factor->var);
  for (uint32_t i = 0; i < old->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(old->iter_vars.items[i]);
    bool stays = axis->iter_type == TVMS_ITER_DATA_PAR
                 || !tvms_sched_uses(s, values.items[i], factor->var);
    if (stays) {
      add_axis(m, old->iter_vars.items[i], values.items[i]);
      continue;
    }
    tvms_visitor visitor = {.self = &l, .enter = take_loop};
    (void)tvms_walk(&s->context->memory, values.items[i], &visitor);
    tvms_node_map_put(&m->vars, axis->var,
                      tvms_substitute(s->unit, values.items[i], &l.axes));
  }
  tvms_node_map_fini(&l.axes);
}

static tvms_list written_regions(factoring *f) {
  tvms_sched *s = f->sched;
  tvms_list writes = tvms_sched_block(s, f->block)->writes;
  tvms_list made = tvms_list_copy(s->unit, writes.items, writes.len);
  tvms_node *var = tvms_as_iter_var(f->extra)->var;
  tvms_node *one = tvms_sched_int(s, var->dtype, 1);
  for (uint32_t i = 0; i < made.len; i++) {
    const tvms_buffer_region *region = tvms_as_buffer_region(writes.items[i]);
    tvms_node *buffer = f->buffers[0];
    for (uint32_t k = 0; k < f->reduction.count; k++)
      if (f->reduction.buffers[k] == region->buffer) buffer = f->buffers[k];
    tvms_list ranges = with_item(s, region->region, f->axis,
                                 tvms_range_new(s->unit, var, one, TVMS_NO_SPAN));
    made.items[i] =
        tvms_buffer_region_new(s->unit, buffer, ranges.items, ranges.len, TVMS_NO_SPAN);
  }
  return made;
}

static tvms_node *make_first(factoring *f) {
  tvms_sched *s = f->sched;
  making m = {.f = f, .to = f->buffers, .at = f->indices};
  tvms_node_map_init(&m.vars, &s->context->memory);
  split_axes(&m);
  for (uint32_t i = 0; i < f->reduction.count; i++) {
    m.left[i] = load(f, f->buffers[i], f->indices);
    m.right[i] = f->reduction.values[i];
  }
  const tvms_block *old = tvms_sched_block(s, f->block);
  const char *name = tvms_sched_joined(s, old->name.text, "rf");
  tvms_block *block = make_block(&m, name, old->reads, written_regions(f));
  return make_realize(&m, block, tvms_sched_realize(s, f->block)->predicate);
}

// All loops around once more, with variables of their own.
static tvms_node *in_new_loops(factoring *f, tvms_node *realize) {
  tvms_sched *s = f->sched;
  tvms_node_map vars;
  tvms_node_map_init(&vars, &s->context->memory);
  tvms_node *body = realize;
  for (uint32_t i = f->loops.len; i-- > 0;) {
    const tvms_for *old = tvms_sched_loop(s, f->loops.items[i]);
    tvms_for *loop = tvms_as_for(tvms_node_copy(s->unit, &old->head));
    loop->var = tvms_var_like(s->unit, old->var);
    tvms_node_map_put(&vars, old->var, loop->var);
    loop->body = body;
    body = &loop->head;
  }
  tvms_node *made = tvms_substitute(s->unit, body, &vars);
  tvms_node_map_fini(&vars);
  return made;
}

// ---- The second block ----

static tvms_node *make_second(factoring *f) {
  tvms_sched *s = f->sched;
  const tvms_block *old = tvms_sched_block(s, f->block);
  tvms_list values = tvms_sched_realize(s, f->block)->iter_values;
  const tvms_for *loop = tvms_sched_loop(s, f->loop);
  making m = {.f = f, .to = f->reduction.buffers, .at = f->reduction.indices};
  tvms_node_map_init(&m.vars, &s->context->memory);
  tvms_node *extra = axis_of_loop(s, loop, TVMS_ITER_COMM_REDUCE);
  add_axis(&m, extra, loop->var);
  tvms_node_map_put(&m.vars, tvms_as_iter_var(f->extra)->var,
                    tvms_as_iter_var(extra)->var);
  for (uint32_t i = 0; i < old->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(old->iter_vars.items[i]);
    if (axis->iter_type != TVMS_ITER_DATA_PAR) continue;
    tvms_iter_var *copy = tvms_as_iter_var(tvms_node_copy(s->unit, &axis->head));
    copy->var = tvms_var_like(s->unit, axis->var);
    tvms_node_map_put(&m.vars, axis->var, copy->var);
    add_axis(&m, &copy->head, values.items[i]);
  }
  tvms_node *reads[TVMS_MOST_REDUCED], *writes[TVMS_MOST_REDUCED];
  for (uint32_t i = 0; i < f->reduction.count; i++) {
    m.left[i] = load(f, f->reduction.buffers[i], f->reduction.indices);
    m.right[i] = load(f, f->buffers[i], f->indices);
    reads[i] = region_at(f, f->buffers[i], f->indices);
    writes[i] = region_at(f, f->reduction.buffers[i], f->reduction.indices);
  }
  tvms_block *block =
      make_block(&m, old->name.text, (tvms_list){reads, f->reduction.count},
                 (tvms_list){writes, f->reduction.count});
  block->head.spare = old->head.spare;  // it is what references to the old block mean
  return make_realize(&m, block, tvms_bool_imm_new(s->unit, true, TVMS_NO_SPAN));
}

// The old nest around the second block, without the other reduced loops.
static tvms_node *old_nest(factoring *f, tvms_node *first, tvms_node *second) {
  tvms_sched *s = f->sched;
  tvms_node *made = second;
  const tvms_node *inner = tvms_sched_at(s, f->block)->realize;
  for (uint32_t i = f->loops.len; i-- > 0;) {
    const tvms_for *old = tvms_sched_loop(s, f->loops.items[i]);
    made = tvms_sched_edited(s->unit, old->body, &(tvms_sched_edit){inner, made}, 1);
    inner = &old->head;
    bool stays = f->loops.items[i] == f->loop
                 || !drives(f, f->loops.items[i], TVMS_ITER_COMM_REDUCE);
    if (!stays) continue;
    tvms_for *loop = tvms_as_for(tvms_node_copy(s->unit, &old->head));
    loop->body = made;
    made = &loop->head;
  }
  return tvms_stmt_pair(s->unit, first, made);
}

static void replace(factoring *f, tvms_node *first, tvms_node *second) {
  tvms_sched *s = f->sched;
  tvms_node *scope = tvms_sched_at(s, f->scope)->node;
  const tvms_node *outer = tvms_sched_at(s, f->loops.items[0])->node;
  tvms_node *nest = old_nest(f, in_new_loops(f, first), second);
  tvms_node *made =
      tvms_sched_edited(s->unit, scope, &(tvms_sched_edit){outer, nest}, 1);
  tvms_block *block = tvms_as_block(tvms_node_copy(s->unit, made));
  for (uint32_t i = 0; i < f->reduction.count; i++)
    tvms_sched_add_alloc(s, block, f->buffers[i]);
  tvms_sched_replace_one(s, scope, &block->head);
}

static void give_flags(tvms_sched *s, int32_t block) {
  tvms_sched_flags *flags = tvms_sched_flags_of(s, block);
  if (flags) *flags = (tvms_sched_flags){true, true, true};
}

// The second block runs without the condition of the old one, and uses each part of the first one's buffer: the condition may say
// nothing about other axes, and each step of the loop must have a first step of the other reduced loops. TVM does not ask for it.
static bool check_condition(factoring *f) {
  tvms_sched *s = f->sched;
  tvms_node_map map;
  tvms_node_map_init(&map, &s->context->memory);
  for (uint32_t i = 0; i < f->loops.len; i++) {
    const tvms_for *loop = tvms_sched_loop(s, f->loops.items[i]);
    if (f->loops.items[i] != f->loop
        && drives(f, f->loops.items[i], TVMS_ITER_COMM_REDUCE))
      tvms_node_map_put(&map, loop->var, loop->min);
  }
  tvms_node *claim =
      tvms_substitute(s->unit, tvms_sched_realize(s, f->block)->predicate, &map);
  tvms_node_map_fini(&map);
  tvms_analyzer *analyzer = tvms_sched_analyzer(s, f->loops.items[f->loops.len - 1]);
  bool fine = tvms_analyzer_can_prove(analyzer, claim);
  tvms_analyzer_free(analyzer);
  return fine
         || tvms_sched_refuse(s, "the block does not run in every step of its loops");
}

static bool run(tvms_step *step, factoring *f) {
  tvms_sched *s = f->sched;
  if (!check(f, step->args[TVMS_ARG(RFactor, factor_axis)].number)
      || !check_condition(f))
    return false;
  make_buffers(f);
  f->extra = axis_of_loop(s, tvms_sched_loop(s, f->loop), TVMS_ITER_DATA_PAR);
  f->indices =
      with_item(s, f->reduction.indices, f->axis, tvms_as_iter_var(f->extra)->var);
  tvms_node *first = make_first(f);
  uint16_t number = (uint16_t)(s->numbers + 1);
  tvms_sched_ref second = tvms_sched_ref_of(s, f->block);
  replace(f, first, make_second(f));
  int32_t site = tvms_sched_find(s, (tvms_sched_ref){s, number, NULL, TVMS_MARK_NONE});
  give_flags(s, site);
  give_flags(s, tvms_sched_find(s, second));
  tvms_step_give(step, site);
  return true;
}

bool tvms_step_rfactor(tvms_step *step) {
  factoring f = {.sched = step->sched};
  f.loop = tvms_step_site(step, TVMS_ARG(RFactor, loop));
  if (f.loop == TVMS_NO_SITE) return false;
  bool fine = run(step, &f);
  tvms_vec_fini(&step->sched->context->memory, &f.loops);
  return fine;
}
