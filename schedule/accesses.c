#include "schedule/accesses.h"

#include "arith/int_set.h"
#include "ir/equal.h"
#include "ir/node_map.h"
#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/buffers.h"
#include "schedule/flags.h"
#include "schedule/make.h"

// ---- Finding ----

typedef struct {
  const tvms_node *buffer;
  tvms_sched_accesses found;
} finding;

static void see_access(finding *f, const tvms_node *node) {
  tvms_element element = tvms_node_element(node);
  if (*element.buffer != f->buffer) return;
  if (!f->found.count++) {
    f->found.indices = *element.indices;
    return;
  }
  for (uint32_t i = 0; i < f->found.indices.len; i++)
    if (!tvms_node_same_expr(f->found.indices.items[i], element.indices->items[i]))
      f->found.differ = true;
}

static tvms_walk_step see(void *self, tvms_node *node, tvms_field_role role) {
  finding *f = self;
  (void)role;
  switch ((int)node->kind) {
  case TVMS_NODE_BLOCK: f->found.nested = true; return TVMS_WALK_SKIP;
  case TVMS_NODE_BUFFER: return TVMS_WALK_SKIP;
  case TVMS_NODE_VAR:
    f->found.opaque = f->found.opaque || node == tvms_as_buffer(f->buffer)->data;
    return TVMS_WALK_ON;
  case TVMS_NODE_BUFFER_LOAD:
  case TVMS_NODE_STORE: see_access(f, node); return TVMS_WALK_ON;
  default: return TVMS_WALK_ON;
  }
}

tvms_sched_accesses tvms_sched_accesses_find(tvms_sched *sched, tvms_node *stmt,
                                             const tvms_node *buffer) {
  finding f = {.buffer = buffer};
  tvms_visitor visitor = {.self = &f, .enter = see};
  (void)tvms_walk(&sched->context->memory, stmt, &visitor);
  return f.found;
}

// ---- What is stored always ----

typedef struct {
  tvms_memory *memory;
  const tvms_node *buffer;
  bool skips;  // a branch stores to it where the other one does not
} storing;

static tvms_walk_step find_store(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  bool found = node->kind == TVMS_NODE_STORE && tvms_as_store(node)->buffer == self;
  return found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool stores(const storing *w, tvms_node *TVMS_NULLABLE stmt) {
  tvms_visitor visitor = {.self = (void *)(uintptr_t)w->buffer, .enter = find_store};
  return stmt && !tvms_walk(w->memory, stmt, &visitor);
}

static tvms_walk_step see_choice(void *self, tvms_node *node, tvms_field_role role) {
  storing *w = self;
  (void)role;
  if (node->kind != TVMS_NODE_IF_THEN_ELSE) return TVMS_WALK_ON;
  const tvms_if_then_else *choice = tvms_as_if_then_else(node);
  w->skips = stores(w, choice->then_case) != stores(w, choice->else_case);
  return w->skips ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_sched_check_stores(tvms_sched *sched, int32_t block,
                             const tvms_node *buffer) {
  storing w = {.memory = &sched->context->memory, .buffer = buffer};
  tvms_visitor visitor = {.self = &w, .enter = see_choice};
  (void)tvms_walk(w.memory, tvms_sched_block(sched, block)->body, &visitor);
  return !w.skips
         || tvms_sched_refuse(sched, "block '%s' does not store to '%s' in every step",
                              tvms_sched_block_name(sched, block),
                              tvms_sched_buffer_name(sched, buffer));
}

// ---- What blocks leave out ----

typedef struct {
  const tvms_block *block;
  const tvms_node *TVMS_NULLABLE only;  // the buffer that is asked for
  tvms_node_map own;                    // buffers that begin in the block
  tvms_node_map stored;                 // those that the function stores to
  tvms_node *TVMS_NULLABLE found;
} declaring;

static tvms_node *matched_source(const tvms_node *match) {
  return tvms_as_buffer_region(tvms_as_match_buffer_region(match)->source)->buffer;
}

// What a block matches and declares to write is stored to under another name.
static tvms_walk_step see_stored(void *self, tvms_node *node, tvms_field_role role) {
  declaring *d = self;
  (void)role;
  if (node->kind == TVMS_NODE_STORE)
    tvms_node_map_put(&d->stored, tvms_as_store(node)->buffer, node);
  if (node->kind != TVMS_NODE_BLOCK) return TVMS_WALK_ON;
  const tvms_block *block = tvms_as_block(node);
  for (uint32_t i = 0; i < block->match_buffers.len; i++) {
    tvms_node *source = matched_source(block->match_buffers.items[i]);
    if (tvms_sched_touches(block->writes, source))
      tvms_node_map_put(&d->stored, source, node);
  }
  return TVMS_WALK_ON;
}

static tvms_walk_step see_undeclared(void *self, tvms_node *node,
                                     tvms_field_role role) {
  declaring *d = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_BLOCK) {
    const tvms_block *block = tvms_as_block(node);
    for (uint32_t i = 0; i < block->alloc_buffers.len; i++)
      tvms_node_map_put(&d->own, block->alloc_buffers.items[i], node);
    for (uint32_t i = 0; i < block->match_buffers.len; i++) {
      const tvms_node *match = block->match_buffers.items[i];
      tvms_node_map_put(&d->own, tvms_as_match_buffer_region(match)->buffer, node);
    }
  }
  bool store = node->kind == TVMS_NODE_STORE,
       match = node->kind == TVMS_NODE_MATCH_BUFFER_REGION;
  if (!store && !match && node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  tvms_node *buffer = match ? matched_source(node) : *tvms_node_element(node).buffer;
  if (d->only && buffer != d->only) return TVMS_WALK_ON;
  if (!tvms_node_map_get(&d->stored, buffer)) return TVMS_WALK_ON;
  bool declared = tvms_sched_touches(d->block->writes, buffer)
                  || (!store && tvms_sched_touches(d->block->reads, buffer));
  if (declared || tvms_node_map_get(&d->own, buffer)) return TVMS_WALK_ON;
  d->found = buffer;
  return TVMS_WALK_STOP;
}

static tvms_node *TVMS_NULLABLE undeclared(const tvms_sched *sched, int32_t block,
                                           const tvms_node *TVMS_NULLABLE only) {
  tvms_memory *memory = &sched->context->memory;
  declaring d = {.block = tvms_sched_block(sched, block), .only = only};
  tvms_node_map_init(&d.own, memory);
  tvms_node_map_init(&d.stored, memory);
  tvms_visitor visitor = {.self = &d, .enter = see_stored};
  (void)tvms_walk(memory, tvms_as_prim_func(sched->function)->body, &visitor);
  visitor.enter = see_undeclared;
  (void)tvms_walk(memory, tvms_sched_at(sched, block)->node, &visitor);
  tvms_node_map_fini(&d.stored);
  tvms_node_map_fini(&d.own);
  return d.found;
}

bool tvms_sched_check_declared(tvms_sched *sched, int32_t scope,
                               const tvms_node *only) {
  tvms_site_vec blocks = {0};
  tvms_sched_children(sched, scope, &blocks);
  bool fine = true;
  for (uint32_t i = 0; fine && i < blocks.len; i++) {
    tvms_node *buffer = undeclared(sched, blocks.items[i], only);
    fine = !buffer
           || tvms_sched_refuse(sched, "block '%s' uses '%s', and does not declare it",
                                tvms_sched_block_name(sched, blocks.items[i]),
                                tvms_sched_buffer_name(sched, buffer));
  }
  tvms_vec_fini(&sched->context->memory, &blocks);
  return fine;
}

// ---- Moving ----

typedef struct {
  tvms_sched *sched;
  const tvms_sched_moved_access *moved;
  tvms_node *region;
  const tvms_node *stmt;
} moving;

static tvms_node *move_access(tvms_rewriter *r, tvms_node *node) {
  const moving *m = r->self;
  if (*tvms_node_element(node).buffer != m->moved->from) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_element element = tvms_node_element(copy);
  *element.buffer = m->moved->to;
  *element.indices = m->moved->indices;
  return copy;
}

static tvms_node *move_region(tvms_rewriter *r, tvms_node *node) {
  const moving *m = r->self;
  return tvms_as_buffer_region(node)->buffer == m->moved->from ? m->region : node;
}

static tvms_node *keep_inner(tvms_rewriter *r, tvms_node *node) {
  const moving *m = r->self;
  return node == m->stmt || m->moved->inner ? TVMS_REWRITE_BELOW : node;
}

static tvms_node *keep_buffer(tvms_rewriter *r, tvms_node *node) {
  return r->role == TVMS_ROLE_DEFINE ? TVMS_REWRITE_BELOW : node;
}

tvms_node *tvms_sched_accesses_moved(tvms_sched *sched, tvms_node *stmt,
                                     const tvms_sched_moved_access *moved) {
  moving m = {
      sched, moved,
      tvms_sched_point(sched, moved->to, moved->indices.items, moved->indices.len),
      stmt};
  tvms_rewriter r;
  tvms_rewriter_init(&r, sched->unit, &m);
  r.leave[TVMS_NODE_BUFFER_LOAD] = move_access;
  r.leave[TVMS_NODE_STORE] = move_access;
  r.leave[TVMS_NODE_BUFFER_REGION] = move_region;
  r.enter[TVMS_NODE_BUFFER] = keep_buffer;
  r.enter[TVMS_NODE_BLOCK] = keep_inner;
  tvms_node *made = tvms_rewrite(&r, stmt);
  tvms_rewriter_fini(&r);
  return made;
}

// ---- Where the ends of a buffer are ----

// Is a place negative whatever the sizes of the parameters are, from 2 on? A remainder by a size is, whose sign analysis does not know.
static bool is_negative(tvms_sched *sched, tvms_node *place) {
  tvms_list buffers = tvms_as_prim_func(sched->function)->buffers;
  tvms_analyzer *analyzer = tvms_analyzer_new(sched->unit);
  for (uint32_t i = 0; i < buffers.len; i++) {
    if (!buffers.items[i]) continue;
    tvms_list shape = tvms_as_buffer(buffers.items[i])->shape;
    for (uint32_t k = 0; k < shape.len; k++) {
      tvms_node *size = shape.items[k], *two = tvms_sched_int(sched, size->dtype, 2);
      if (size->kind == TVMS_NODE_VAR)
        (void)tvms_analyzer_enter(analyzer,
                                  tvms_sched_build(sched, TVMS_NODE_GE, size, two));
    }
  }
  tvms_node *zero = tvms_sched_int(sched, place->dtype, 0);
  bool negative = tvms_analyzer_can_prove(
      analyzer, tvms_sched_build(sched, TVMS_NODE_LT, place, zero));
  tvms_analyzer_free(analyzer);
  return negative;
}

static bool is_out(tvms_sched *sched, tvms_int_set at, tvms_node *size) {
  tvms_unit *unit = sched->unit;
  if (!at.min || !at.max) return false;
  tvms_node *low = tvms_arith_simplify(unit, at.min);
  tvms_node *high = tvms_arith_simplify(unit, at.max);
  bool below = is_negative(sched, low);
  bool above = high->kind == TVMS_NODE_INT_IMM && size->kind == TVMS_NODE_INT_IMM
               && tvms_as_int_imm(high)->value >= tvms_as_int_imm(size)->value;
  return below || above;
}

static void add_axes(tvms_domains *domains, const tvms_block *block) {
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    tvms_domains_set(domains, axis->var,
                     tvms_int_set_of_range(domains->unit, dom->min, dom->extent));
  }
}

static tvms_walk_step see_condition(void *self, tvms_node *node, tvms_field_role role) {
  (void)self, (void)role;
  bool found = node->kind == TVMS_NODE_IF_THEN_ELSE || node->kind == TVMS_NODE_SELECT
               || node->kind == TVMS_NODE_AND || node->kind == TVMS_NODE_OR
               || (node->kind == TVMS_NODE_CALL
                   && tvms_arith_opcode(node) == TVMS_TIR_if_then_else);
  return found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Does a block do something only where a condition holds?
static bool has_condition(const tvms_sched *sched, const tvms_block *block) {
  tvms_visitor visitor = {.enter = see_condition};
  return !tvms_walk(&sched->context->memory, block->body, &visitor);
}

static bool is_inside(tvms_sched *sched, tvms_analyzer *analyzer, tvms_int_set at,
                      tvms_node *size) {
  if (!at.min || !at.max) return false;
  tvms_node *low = tvms_sched_build(sched, TVMS_NODE_GE, at.min,
                                    tvms_sched_int(sched, at.min->dtype, 0));
  return tvms_analyzer_can_prove(analyzer, low)
         && tvms_analyzer_can_prove(
             analyzer, tvms_sched_build(sched, TVMS_NODE_LT, at.max, size));
}

// A question about places while the axes of a block run.
typedef struct {
  tvms_sched *sched;
  tvms_analyzer *analyzer;
  tvms_domains domains;
  bool conditional, leaves;
} leaving;

static tvms_walk_step see_place(void *self, tvms_node *node, tvms_field_role role);

// The indices, and the places in memory that they are read from.
static void look_at_places(leaving *l, const tvms_node *buffer, tvms_list indices) {
  tvms_visitor visitor = {.self = l, .enter = see_place};
  for (uint32_t d = 0; d < indices.len && !l->leaves; d++) {
    tvms_node *one = tvms_sched_int(l->sched, indices.items[d]->dtype, 1);
    tvms_node *size = tvms_as_buffer(buffer)->shape.items[d];
    tvms_int_set at = tvms_int_set_of_ranges(&l->domains, indices.items[d], one);
    l->leaves = is_out(l->sched, at, size)
                || (l->conditional && !is_inside(l->sched, l->analyzer, at, size))
                || !tvms_walk(&l->sched->context->memory, indices.items[d], &visitor);
  }
}

static tvms_walk_step see_place(void *self, tvms_node *node, tvms_field_role role) {
  leaving *l = self;
  (void)role;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  tvms_element element = tvms_node_element(node);
  look_at_places(l, *element.buffer, *element.indices);
  return l->leaves ? TVMS_WALK_STOP : TVMS_WALK_SKIP;
}

bool tvms_sched_accesses_leave(tvms_sched *sched, const tvms_block *block,
                               const tvms_node *buffer, tvms_list indices) {
  leaving l = {.sched = sched,
               .analyzer = tvms_analyzer_new(sched->unit),
               .conditional = has_condition(sched, block)};
  tvms_domains_init(&l.domains, sched->unit);
  add_axes(&l.domains, block);
  tvms_sched_mark_sizes(sched, l.analyzer);
  look_at_places(&l, buffer, indices);
  tvms_analyzer_free(l.analyzer);
  tvms_domains_fini(&l.domains);
  return l.leaves;
}

// Adds all axes and loops from a site on upwards.
static void add_all(tvms_domains *domains, const tvms_sched *sched, int32_t site) {
  for (; site != TVMS_NO_SITE; site = tvms_sched_parent(sched, site)) {
    if (!tvms_sched_is_loop(sched, site)) {
      add_axes(domains, tvms_sched_block(sched, site));
      continue;
    }
    const tvms_for *loop = tvms_sched_loop(sched, site);
    tvms_domains_set(domains, loop->var,
                     tvms_int_set_of_range(sched->unit, loop->min, loop->extent));
  }
}

// Is it not known that a symbolic size is above all places?
static bool may_be_out(tvms_sched *sched, tvms_int_set at, tvms_node *size) {
  if (size->kind == TVMS_NODE_INT_IMM) return is_out(sched, at, size);
  if (!at.max) return true;
  tvms_analyzer *analyzer = tvms_analyzer_new(sched->unit);
  tvms_node *below = tvms_sched_build(sched, TVMS_NODE_LT, at.max, size);
  bool inside = tvms_analyzer_can_prove(analyzer, below);
  tvms_analyzer_free(analyzer);
  return !inside;
}

static bool any_range(tvms_sched *sched, int32_t site, const tvms_node *buffer,
                      tvms_list ranges,
                      bool (*out)(tvms_sched *, tvms_int_set, tvms_node *)) {
  tvms_domains domains;
  tvms_domains_init(&domains, sched->unit);
  add_all(&domains, sched, site);
  bool any = false;
  for (uint32_t d = 0; d < ranges.len; d++) {
    const tvms_range *range = tvms_as_range(ranges.items[d]);
    tvms_int_set at = tvms_int_set_of_ranges(&domains, range->min, range->extent);
    any = any || out(sched, at, tvms_as_buffer(buffer)->shape.items[d]);
  }
  tvms_domains_fini(&domains);
  return any;
}

bool tvms_sched_ranges_leave(tvms_sched *sched, int32_t site, const tvms_node *buffer,
                             tvms_list ranges) {
  return any_range(sched, site, buffer, ranges, is_out);
}

bool tvms_sched_ranges_may_leave(tvms_sched *sched, int32_t site,
                                 const tvms_node *buffer, tvms_list ranges) {
  return any_range(sched, site, buffer, ranges, may_be_out);
}

// ---- Which steps are taken ----

// Tells an analyzer that `a` has the relation `kind` to `b`, and what follows of what `a` is a quotient of.
static void enter_bound(tvms_sched *sched, tvms_analyzer *analyzer, tvms_node_kind kind,
                        tvms_node *a, tvms_node *b) {
  while (a->kind == TVMS_NODE_FLOOR_DIV
         && tvms_as_binary(a)->b->kind == TVMS_NODE_INT_IMM) {
    b = tvms_sched_build(sched, TVMS_NODE_MUL, b, tvms_as_binary(a)->b);
    a = tvms_as_binary(a)->a;
  }
  tvms_node *bound = tvms_sched_build(sched, kind, a, b);
  if (bound->kind == kind) (void)tvms_analyzer_enter(analyzer, bound);
}

// Does the condition of a block say no more than that the axes stay in their domains?
static bool is_bound(tvms_sched *sched, int32_t block) {
  const tvms_block_realize *realize = tvms_sched_realize(sched, block);
  if (tvms_node_is_int(realize->predicate, 1)) return true;
  tvms_list axes = tvms_sched_block(sched, block)->iter_vars;
  tvms_analyzer *analyzer = tvms_sched_analyzer(sched, block);
  for (uint32_t i = 0; i < axes.len; i++) {
    const tvms_range *dom = tvms_as_range(tvms_as_iter_var(axes.items[i])->dom);
    tvms_node *end = tvms_sched_build(sched, TVMS_NODE_ADD, dom->min, dom->extent);
    tvms_node *value = realize->iter_values.items[i];
    enter_bound(sched, analyzer, TVMS_NODE_LT, value, end);
    enter_bound(sched, analyzer, TVMS_NODE_GE, value, dom->min);
  }
  bool bound = tvms_analyzer_can_prove(analyzer, realize->predicate);
  tvms_analyzer_free(analyzer);
  return bound;
}

bool tvms_sched_check_steps(tvms_sched *sched, int32_t block) {
  if (tvms_sched_flags_affine(sched, block)) return true;
  tvms_list values = tvms_sched_realize(sched, block)->iter_values;
  for (int32_t at = tvms_sched_parent(sched, block);
       at != TVMS_NO_SITE && tvms_sched_is_loop(sched, at);
       at = tvms_sched_parent(sched, at)) {
    const tvms_for *loop = tvms_sched_loop(sched, at);
    if (tvms_node_is_int(loop->min, 0)) continue;
    for (uint32_t i = 0; i < values.len; i++)
      if (values.items[i] != loop->var
          && tvms_sched_uses(sched, values.items[i], loop->var))
        return tvms_sched_refuse(
            sched,
            "block '%s' does not take all steps of its axes: loop '%s' begins late",
            tvms_sched_block_name(sched, block),
            tvms_symbol_text(sched->context, tvms_as_var(loop->var)->name));
  }
  return true;
}

// Is `a` known to be less than `b`?
static bool is_less(tvms_unit *unit, tvms_node *TVMS_NULLABLE a,
                    tvms_node *TVMS_NULLABLE b) {
  if (!a || !b) return false;
  a = tvms_arith_simplify(unit, a);
  b = tvms_arith_simplify(unit, b);
  return a->kind == TVMS_NODE_INT_IMM && b->kind == TVMS_NODE_INT_IMM
         && tvms_as_int_imm(a)->value < tvms_as_int_imm(b)->value;
}

// Does a value that runs over the first domains leave out something of a range for some step of the second ones?
static bool leaves_out(const tvms_domains *inner, const tvms_domains *outer,
                       tvms_node *value, const tvms_range *dom) {
  tvms_int_set taken = tvms_int_set_of_expr(inner, value);
  tvms_int_set wanted = tvms_int_set_of_range(inner->unit, dom->min, dom->extent);
  tvms_int_set low = {0}, high = {0};
  // One step of a number that only the run tells.
  bool one = taken.min && taken.max && tvms_node_same_expr(taken.min, taken.max);
  if (one && dom->extent->kind != TVMS_NODE_INT_IMM) return true;
  if (taken.min) low = tvms_int_set_of_expr(outer, taken.min);
  if (taken.max) high = tvms_int_set_of_expr(outer, taken.max);
  return is_less(inner->unit, wanted.min, low.max)
         || is_less(inner->unit, high.min, wanted.max);
}

static tvms_walk_step see_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)self, (void)role;
  return node->kind == TVMS_NODE_BUFFER_LOAD ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_sched_loads(const tvms_sched *sched, tvms_node *expr) {
  tvms_visitor visitor = {.enter = see_load};
  return !tvms_walk(&sched->context->memory, expr, &visitor);
}

// How far a value moves when a loop takes the step `at` after its first one, the other variables being what they are; 0: not known.
static int64_t moved_by(tvms_sched *s, tvms_node *value, const tvms_for *loop,
                        int64_t at) {
  tvms_node_map map;
  tvms_node_map_init(&map, &s->context->memory);
  tvms_node *step = tvms_sched_int(s, loop->var->dtype, at);
  tvms_node_map_put(&map, loop->var,
                    tvms_sched_build(s, TVMS_NODE_ADD, loop->var, step));
  tvms_node *there = tvms_substitute(s->unit, value, &map);
  tvms_node_map_fini(&map);
  tvms_node *by =
      tvms_arith_simplify(s->unit, tvms_sched_build(s, TVMS_NODE_SUB, there, value));
  int64_t far = by->kind == TVMS_NODE_INT_IMM ? tvms_as_int_imm(by)->value : 0;
  return far < 0 ? -far : far;
}

// Does a sum of loops take a value twice: do the shorter steps lead as far as a longer one?
static bool takes_twice(tvms_sched *s, int32_t block, tvms_node *value) {
  for (int32_t at = tvms_sched_parent(s, block); tvms_sched_is_loop(s, at);
       at = tvms_sched_parent(s, at)) {
    int64_t step = moved_by(s, value, tvms_sched_loop(s, at), 1), reach = 0;
    if (tvms_node_is_int(tvms_sched_loop(s, at)->extent, 1)) continue;
    for (int32_t k = tvms_sched_parent(s, block); tvms_sched_is_loop(s, k);
         k = tvms_sched_parent(s, k)) {
      const tvms_for *other = tvms_sched_loop(s, k);
      int64_t own = moved_by(s, value, other, 1);
      if (k == at || own > step || (own == step && k > at)
          || other->extent->kind != TVMS_NODE_INT_IMM)
        continue;
      reach += own * (tvms_as_int_imm(other->extent)->value - 1);
    }
    if (step && reach >= step) return true;
  }
  return false;
}

static bool windows_overlap(tvms_sched *s, int32_t block) {
  tvms_list axes = tvms_sched_block(s, block)->iter_vars;
  tvms_list values = tvms_sched_realize(s, block)->iter_values;
  for (uint32_t i = 0; i < axes.len; i++)
    if (tvms_as_iter_var(axes.items[i])->iter_type != TVMS_ITER_COMM_REDUCE
        && takes_twice(s, block, values.items[i]))
      return true;
  return false;
}

bool tvms_sched_repeats_steps(tvms_sched *s, int32_t block) {
  bool unused = false, spatial = false, across = false;
  for (int32_t at = tvms_sched_parent(s, block); tvms_sched_is_loop(s, at);
       at = tvms_sched_parent(s, at)) {
    bool unit = tvms_node_is_int(tvms_sched_loop(s, at)->extent, 1);
    bool used = tvms_sched_takes_loop(s, block, at),
         reduced = tvms_sched_is_reduced_by(s, block, at);
    if (unused && reduced) return true;
    unused = unused || (!unit && !used);
    across = across || (reduced && spatial);
    spatial = spatial || (!unit && used && !reduced);
  }
  return across && windows_overlap(s, block);
}

bool tvms_sched_check_condition(tvms_sched *sched, int32_t block) {
  return is_bound(sched, block)
         || tvms_sched_refuse(sched, "block '%s' runs under a condition of its own",
                              tvms_sched_block_name(sched, block));
}

bool tvms_sched_check_whole(tvms_sched *sched, int32_t block, bool reduced) {
  if (!reduced && !tvms_sched_check_condition(sched, block)) return false;
  tvms_domains inner, outer;
  tvms_sched_domain_sets(sched, tvms_sched_parent(sched, block), TVMS_NO_SITE, &inner);
  tvms_domains_init(&outer, sched->unit);
  add_all(&outer, sched, tvms_sched_scope(sched, block));
  tvms_list axes = tvms_sched_block(sched, block)->iter_vars;
  tvms_list values = tvms_sched_realize(sched, block)->iter_values;
  const tvms_node *part = NULL;
  for (uint32_t i = 0; i < axes.len && !part; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(axes.items[i]);
    if (reduced && axis->iter_type != TVMS_ITER_COMM_REDUCE) continue;
    if (leaves_out(&inner, &outer, values.items[i], tvms_as_range(axis->dom)))
      part = axis->var;
  }
  tvms_domains_fini(&inner);
  tvms_domains_fini(&outer);
  if (!part) return tvms_sched_check_steps(sched, block);
  return tvms_sched_refuse(
      sched, "block '%s' does not take all steps of axis '%s' in its scope",
      tvms_sched_block_name(sched, block),
      tvms_symbol_text(sched->context, tvms_as_var(part)->name));
}

tvms_node *tvms_sched_accesses_stored(tvms_sched *sched, const tvms_block *block,
                                      tvms_node *region) {
  if (block->body->kind != TVMS_NODE_STORE) return region;
  const tvms_store *store = tvms_as_store(block->body);
  tvms_list at = tvms_list_copy(sched->unit, store->indices.items, store->indices.len);
  for (uint32_t d = 0; d < at.len; d++)
    at.items[d] =
        tvms_range_new(sched->unit, at.items[d],
                       tvms_sched_int(sched, at.items[d]->dtype, 1), TVMS_NO_SPAN);
  return tvms_buffer_region_new(sched->unit, tvms_as_buffer_region(region)->buffer,
                                at.items, at.len, TVMS_NO_SPAN);
}
