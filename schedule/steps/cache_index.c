// cache_index: what a block computes of its axes several times is computed beforehand, for all of them, and kept in buffers.
// TVM: src/s_tir/schedule/primitive/cache_index.cc, cache_index_helpers.cc.
#include "arith/int_set.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/buffers.h"
#include "schedule/cache_stage.h"
#include "schedule/flags.h"
#include "schedule/make.h"
#include "schedule/steps.h"

// An expression and how often it is computed.
typedef struct {
  tvms_node *expr;
  int64_t count;
} computation;

typedef TVMS_VEC(computation) computation_vec;

typedef struct {
  tvms_sched *sched;
  int32_t block, scope;
  int64_t least;  // how often an expression must be computed
  const char *scope_name;
  tvms_node_vec exprs;           // that are kept, most complex first
  tvms_node **buffers, **loads;  // by expression
} caching;

// ---- Expressions ----

static tvms_walk_step count_node(void *self, tvms_node *node, tvms_field_role role) {
  uint32_t *count = self;
  (void)role;
  bool counts =
      tvms_node_class_of(node) == TVMS_CLASS_EXPR && node->kind != TVMS_NODE_OPERATOR;
  *count += counts;
  return TVMS_WALK_ON;
}

static uint32_t complexity(const caching *c, tvms_node *expr) {
  uint32_t count = 0;
  tvms_visitor visitor = {.self = &count, .enter = count_node};
  (void)tvms_walk(&c->sched->context->memory, expr, &visitor);
  return count;
}

static bool is_eligible(const caching *c, tvms_node *node) {
  return tvms_node_class_of(node) == TVMS_CLASS_EXPR && node->kind != TVMS_NODE_RAMP
         && node->kind != TVMS_NODE_BROADCAST && node->kind != TVMS_NODE_OPERATOR
         && complexity(c, node) > 1
         && tvms_arith_effect_of(&c->sched->context->memory, node) <= TVMS_EFFECT_PURE;
}

static bool are_equivalent(const caching *c, tvms_node *a, tvms_node *b) {
  return tvms_node_same_expr(tvms_arith_simplify(c->sched->unit, a),
                             tvms_arith_simplify(c->sched->unit, b));
}

typedef struct {
  const caching *caching;
  const tvms_node *root;  // that does not count itself; NULL: it does
  tvms_node_vec *found;
} outermost;

static tvms_walk_step see_outermost(void *self, tvms_node *node, tvms_field_role role) {
  outermost *o = self;
  (void)role;
  if (node == o->root) return TVMS_WALK_ON;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (!is_eligible(o->caching, node)) return TVMS_WALK_ON;
  tvms_vec_push(&o->caching->sched->context->memory, o->found, node);
  return TVMS_WALK_SKIP;
}

// The outermost eligible expressions in `node`, without itself.
static void find_outermost(const caching *c, tvms_node *node, tvms_node_vec *found) {
  outermost o = {c, node, found};
  tvms_visitor visitor = {.self = &o, .enter = see_outermost};
  (void)tvms_walk(&c->sched->context->memory, node, &visitor);
}

// ---- Counting ----

static computation *TVMS_NULLABLE find_equivalent(const caching *c,
                                                  computation_vec *all,
                                                  tvms_node *expr) {
  for (uint32_t i = 0; i < all->len; i++)
    if (are_equivalent(c, all->items[i].expr, expr)) return &all->items[i];
  return NULL;
}

// Puts in a computation in front of the less complex ones; the search is TVM's, since the list need not be sorted.
static void insert_sorted(const caching *c, computation_vec *all, computation made) {
  uint32_t first = 0, size = complexity(c, made.expr);
  for (uint32_t len = all->len; len;) {
    uint32_t half = len / 2;
    bool behind = complexity(c, all->items[first + half].expr) >= size;
    first += behind ? half + 1 : 0;
    len = behind ? len - half - 1 : half;
  }
  tvms_vec_push(&c->sched->context->memory, all, made);
  for (uint32_t i = all->len - 1; i > first; i--)
    all->items[i] = all->items[i - 1];
  all->items[first] = made;
}

static void count_outermost(const caching *c, tvms_node *store, computation_vec *all) {
  tvms_node_vec found = {0};
  find_outermost(c, tvms_as_store(store)->value, &found);
  if (is_eligible(c, tvms_as_store(store)->value)) {
    found.len = 0;
    tvms_vec_push(&c->sched->context->memory, &found, tvms_as_store(store)->value);
  }
  tvms_list indices = tvms_as_store(store)->indices;
  for (uint32_t i = 0; i < indices.len; i++) {
    if (is_eligible(c, indices.items[i]))
      tvms_vec_push(&c->sched->context->memory, &found, indices.items[i]);
    else
      find_outermost(c, indices.items[i], &found);
  }
  for (uint32_t i = 0; i < found.len; i++) {
    computation *known = find_equivalent(c, all, found.items[i]);
    if (known) {
      known->count++;
      continue;
    }
    computation made = {found.items[i], 1};
    tvms_vec_push(&c->sched->context->memory, all, made);
  }
  tvms_vec_fini(&c->sched->context->memory, &found);
}

// What is not computed often enough as a whole may be so in its parts.
static void count_parts(const caching *c, computation_vec *all) {
  for (uint32_t i = 0; i < all->len; i++) {
    computation own = all->items[i];
    if (own.count >= c->least) continue;
    tvms_node_vec parts = {0};
    find_outermost(c, own.expr, &parts);
    for (uint32_t k = 0; k < parts.len; k++) {
      computation *known = find_equivalent(c, all, parts.items[k]);
      if (known)
        known->count += own.count;
      else
        insert_sorted(c, all, (computation){parts.items[k], own.count});
    }
    tvms_vec_fini(&c->sched->context->memory, &parts);
  }
}

typedef struct {
  caching *caching;
  const computation_vec *all;
} choosing;

static void choose(void *self, tvms_node *node, tvms_field_role role) {
  choosing *ch = self;
  caching *c = ch->caching;
  (void)role;
  if (tvms_node_class_of(node) != TVMS_CLASS_EXPR || node->kind == TVMS_NODE_OPERATOR)
    return;
  for (uint32_t i = 0; i < ch->all->len; i++) {
    const computation *one = &ch->all->items[i];
    if (one->count < c->least || !are_equivalent(c, node, one->expr)) continue;
    bool known = false;
    for (uint32_t k = 0; k < c->exprs.len; k++)
      known = known || c->exprs.items[k] == one->expr;
    if (!known) tvms_vec_push(&c->sched->context->memory, &c->exprs, one->expr);
  }
}

static tvms_walk_step skip_buffer(void *self, tvms_node *node, tvms_field_role role) {
  (void)self, (void)role;
  return node->kind == TVMS_NODE_BUFFER ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

static void sort_exprs(caching *c) {
  for (uint32_t i = 1; i < c->exprs.len; i++)
    for (uint32_t k = i;
         k > 0
         && complexity(c, c->exprs.items[k]) > complexity(c, c->exprs.items[k - 1]);
         k--) {
      tvms_node *one = c->exprs.items[k];
      c->exprs.items[k] = c->exprs.items[k - 1];
      c->exprs.items[k - 1] = one;
    }
}

static tvms_walk_step see_store(void *self, tvms_node *node, tvms_field_role role) {
  caching *c = self;
  (void)role;
  if (node->kind == TVMS_NODE_BLOCK) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_STORE) return TVMS_WALK_ON;
  computation_vec all = {0};
  count_outermost(c, node, &all);
  count_parts(c, &all);
  choosing ch = {c, &all};
  tvms_visitor visitor = {.self = &ch, .enter = skip_buffer, .leave = choose};
  (void)tvms_walk(&c->sched->context->memory, tvms_as_store(node)->value, &visitor);
  sort_exprs(c);
  tvms_vec_fini(&c->sched->context->memory, &all);
  return TVMS_WALK_SKIP;
}

// ---- Blocks that compute ----

// The variables of an expression, once each, in the order in which they stand there.
static tvms_walk_step see_var(void *self, tvms_node *node, tvms_field_role role) {
  tvms_list *vars = self;
  (void)role;
  if (node->kind != TVMS_NODE_VAR) return TVMS_WALK_ON;
  for (uint32_t i = 0; i < vars->len; i++)
    if (vars->items[i] == node) return TVMS_WALK_ON;
  vars->items[vars->len++] = node;
  return TVMS_WALK_ON;
}

typedef struct {
  tvms_list axes,
      values;       // of the old block, in an expression; and what they are bound to
  tvms_list loops;  // variables in these
} dependence;

static const tvms_for *TVMS_NULLABLE loop_of(const caching *c, const tvms_node *var) {
  for (int32_t at = tvms_sched_parent(c->sched, c->block);
       tvms_sched_is_loop(c->sched, at); at = tvms_sched_parent(c->sched, at))
    if (tvms_sched_loop(c->sched, at)->var == var) return tvms_sched_loop(c->sched, at);
  return NULL;
}

static bool find_dependence(const caching *c, tvms_node *expr, dependence *d) {
  tvms_sched *s = c->sched;
  tvms_memory *memory = &s->context->memory;
  const tvms_block_realize *realize = tvms_sched_realize(s, c->block);
  tvms_list all = tvms_as_block(realize->block)->iter_vars;
  uint32_t room = complexity(c, expr) + all.len + s->sites.len + 1;
  d->axes = (tvms_list){tvms_arena_array(&s->unit->arena, tvms_node *, room), 0};
  d->values = (tvms_list){tvms_arena_array(&s->unit->arena, tvms_node *, room), 0};
  uint32_t width = room;
  for (uint32_t i = 0; i < realize->iter_values.len; i++)
    width += complexity(c, realize->iter_values.items[i]);
  d->loops = (tvms_list){tvms_arena_array(&s->unit->arena, tvms_node *, width), 0};
  tvms_visitor axes = {.self = &d->axes, .enter = see_var};
  tvms_visitor loops = {.self = &d->loops, .enter = see_var};
  (void)tvms_walk(memory, expr, &axes);
  for (uint32_t i = 0; i < d->axes.len; i++) {
    tvms_node *value = NULL;
    for (uint32_t k = 0; k < all.len; k++)
      if (tvms_as_iter_var(all.items[k])->var == d->axes.items[i])
        value = realize->iter_values.items[k];
    if (!value) return false;
    d->values.items[d->values.len++] = value;
    (void)tvms_walk(memory, value, &loops);
  }
  for (uint32_t i = 0; i < d->loops.len; i++)
    if (!loop_of(c, d->loops.items[i])
        || !tvms_node_is_int(loop_of(c, d->loops.items[i])->min, 0))
      return false;
  return d->axes.len <= d->loops.len;
}

// Loops that take an axis below 0, where a condition keeps the block from running, would do so with the copy, which has none.
static bool check_values(const caching *c, const dependence *d) {
  tvms_sched *s = c->sched;
  tvms_analyzer *analyzer = tvms_sched_analyzer(s, c->block);
  tvms_sched_mark_sizes(s, analyzer);
  const tvms_node *axis = NULL;
  for (uint32_t i = 0; i < d->values.len && !axis; i++)
    if (!tvms_analyzer_can_prove_ge(analyzer, d->values.items[i], 0))
      axis = d->axes.items[i];
  tvms_analyzer_free(analyzer);
  return !axis
         || tvms_sched_refuse(
             s, "loops take axis '%s' below 0 where the block does not run",
             tvms_symbol_text(s->context, tvms_as_var(axis)->name));
}

static tvms_node *make_buffer(const caching *c, uint32_t index, const dependence *d,
                              tvms_node *like) {
  tvms_sched *s = c->sched;
  tvms_domains sets;
  tvms_domains_init(&sets, s->unit);
  for (uint32_t i = 0; i < d->loops.len; i++) {
    const tvms_for *loop = loop_of(c, d->loops.items[i]);
    tvms_domains_set(&sets, loop->var,
                     tvms_int_set_of_range(s->unit, loop->min, loop->extent));
  }
  tvms_list shape = tvms_list_copy(s->unit, d->axes.items, d->axes.len);
  for (uint32_t i = 0; i < shape.len; i++) {
    tvms_int_set set = tvms_int_set_of_expr(&sets, d->values.items[i]);
    tvms_node *one = tvms_sched_int(s, d->values.items[i]->dtype, 1);
    shape.items[i] = set.max ? tvms_sched_build(s, TVMS_NODE_ADD, set.max, one) : one;
  }
  tvms_domains_fini(&sets);
  tvms_node *name = tvms_sched_numbered(s, "index_var_", index, like->dtype);
  tvms_node *stride = tvms_sched_int(s, TVMS_DTYPE(INT, 32), 1);
  tvms_buffer *buffer = tvms_as_buffer(tvms_sched_buffer_new(
      s, tvms_as_var(name)->name, like->dtype, c->scope_name, &shape));
  buffer->strides = tvms_list_copy(s->unit, &stride, 1);
  return &buffer->head;
}

static tvms_node *make_stage(caching *c, uint32_t index, const dependence *d) {
  tvms_sched *s = c->sched;
  uint32_t rank = d->axes.len, depth = d->loops.len;
  tvms_node **room =
      tvms_arena_array(&s->unit->arena, tvms_node *, 3 * rank + depth + 1);
  tvms_node **axes = room, **vars = room + rank, **values = room + 2 * rank,
            **loops = room + 3 * rank;
  tvms_node_map map;
  tvms_node_map_init(&map, &s->context->memory);
  for (uint32_t i = 0; i < depth; i++) {
    loops[i] = tvms_sched_numbered(s, "ax", i, TVMS_DTYPE(INT, 32));
    tvms_node_map_put(&map, d->loops.items[i], loops[i]);
  }
  for (uint32_t i = 0; i < rank; i++) {
    vars[i] = tvms_sched_numbered(s, "v", i, d->axes.items[i]->dtype);
    tvms_node_map_put(&map, d->axes.items[i], vars[i]);
    // TVM takes the extent of the loop in this place, which is another one where axes are sums of loops.
    tvms_node *extent = tvms_as_buffer(c->buffers[index])->shape.items[i];
    axes[i] = tvms_sched_axis(s, vars[i], tvms_sched_cast(s, vars[i]->dtype, extent));
    values[i] = tvms_substitute(s->unit, d->values.items[i], &map);
  }
  tvms_node *name = tvms_sched_numbered(s, "index_", index, vars[0]->dtype);
  tvms_block *block =
      tvms_sched_block_new(s, tvms_symbol_text(s->context, tvms_as_var(name)->name));
  tvms_node *writes = tvms_sched_point(s, c->buffers[index], vars, rank);
  block->iter_vars = tvms_list_copy(s->unit, axes, rank);
  block->writes = tvms_list_copy(s->unit, &writes, 1);
  block->body = tvms_sched_store(s, c->buffers[index], vars, rank,
                                 tvms_substitute(s->unit, c->exprs.items[index], &map));
  tvms_node_map_fini(&map);
  tvms_node *body = tvms_sched_realize_new(s, block, values, rank, NULL);
  for (uint32_t i = depth; i-- > 0;)
    body = tvms_sched_for(s, loops[i], loop_of(c, d->loops.items[i])->extent, body);
  return body;
}

// ---- Using what was computed ----

typedef struct {
  const caching *caching;
  uint32_t index;
} replacing;

static tvms_node *replace_expr(tvms_rewriter *r, tvms_node *node) {
  const replacing *p = r->self;
  const caching *c = p->caching;
  if (node->kind == TVMS_NODE_OPERATOR || node->kind == TVMS_NODE_VAR)
    return TVMS_REWRITE_BELOW;
  return are_equivalent(c, node, c->exprs.items[p->index]) ? c->loads[p->index]
                                                           : TVMS_REWRITE_BELOW;
}

static tvms_node *keep(tvms_rewriter *r, tvms_node *node) {
  (void)r;
  return node;
}

static tvms_node *rewrite_store(tvms_rewriter *outer, tvms_node *node) {
  caching *c = outer->self;
  for (uint32_t i = 0; i < c->exprs.len; i++) {
    replacing p = {c, i};
    tvms_rewriter r;
    tvms_rewriter_init(&r, c->sched->unit, &p);
    tvms_rewriter_enter_class(&r, TVMS_CLASS_EXPR, replace_expr);
    r.enter[TVMS_NODE_BUFFER] = keep;
    node = tvms_rewrite_below(&r, node);
    tvms_rewriter_fini(&r);
  }
  return node;
}

static tvms_node *rewritten_body(caching *c, tvms_node *body) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, c->sched->unit, c);
  r.roles = TVMS_IN(BODY);
  r.enter[TVMS_NODE_STORE] = rewrite_store;
  r.enter[TVMS_NODE_BLOCK] = keep;
  tvms_node *made = tvms_rewrite(&r, body);
  tvms_rewriter_fini(&r);
  return made;
}

static uint32_t index_in_scope(const caching *c) {
  tvms_sched *s = c->sched;
  const tvms_node *body = tvms_sched_block(s, c->scope)->body;
  const tvms_node *realize = tvms_sched_at(s, c->block)->realize;
  if (body->kind != TVMS_NODE_SEQ) return 0;
  tvms_list stmts = tvms_as_seq(body)->stmts;
  for (uint32_t i = 0; i < stmts.len; i++)
    if (tvms_walk_contains(&s->context->memory, stmts.items[i], realize)) return i;
  return 0;
}

// Puts the nests in front of the block, which uses what they compute.
static void replace(caching *c, tvms_node *const *nests) {
  tvms_sched *s = c->sched;
  uint32_t index = index_in_scope(c);
  tvms_node *old = tvms_sched_at(s, c->block)->node;
  tvms_block *block = tvms_as_block(tvms_node_copy(s->unit, old));
  block->body = rewritten_body(c, block->body);
  if (block->init) block->init = rewritten_body(c, block->init);
  tvms_node *scope = tvms_sched_at(s, c->scope)->node;
  tvms_sched_edit edit = {old, &block->head};
  tvms_block *made = tvms_as_block(
      tvms_node_copy(s->unit, tvms_sched_edited(s->unit, scope, &edit, 1)));
  for (uint32_t i = 0; i < c->exprs.len; i++) {
    made->body = tvms_sched_inserted(s, made->body, index + i, nests[i]);
    tvms_sched_add_alloc(s, made, c->buffers[i]);
  }
  tvms_sched_replace_one(s, scope, &made->head);
}

static bool run(tvms_step *step, caching *c) {
  tvms_sched *s = c->sched;
  tvms_visitor visitor = {.self = c, .enter = see_store};
  (void)tvms_walk(&s->context->memory, tvms_sched_block(s, c->block)->body, &visitor);
  uint32_t count = c->exprs.len;
  if (count < 2)
    return tvms_sched_refuse(s, "%s computed often enough; two or more must be",
                             count ? "one expression is" : "no expression is");
  tvms_node **room = tvms_arena_array(&s->unit->arena, tvms_node *, 3 * count);
  tvms_node **nests = room + 2 * count;
  c->buffers = room;
  c->loads = room + count;
  for (uint32_t i = 0; i < count; i++) {
    dependence d;
    if (!find_dependence(c, c->exprs.items[i], &d) || !d.axes.len)
      return tvms_sched_refuse(
          s, "what is computed depends on more than the axes of the block");
    if (!check_values(c, &d)) return false;
    c->buffers[i] = make_buffer(c, i, &d, c->exprs.items[i]);
    c->loads[i] = tvms_buffer_load_new(s->unit, c->buffers[i], d.axes.items, d.axes.len,
                                       NULL, TVMS_NO_SPAN);
    nests[i] = make_stage(c, i, &d);
  }
  replace(c, nests);
  int32_t *sites = tvms_arena_array(&s->unit->arena, int32_t, count);
  for (uint32_t i = 0; i < count; i++)
    sites[i] = tvms_sched_site_of(s, tvms_sched_block_in(nests[i]));
  for (uint32_t i = 0; i < count; i++)
    tvms_sched_flags_give(s, sites[i]);
  tvms_step_give_list(step, sites, count);
  return true;
}

bool tvms_step_cache_index(tvms_step *step) {
  tvms_sched *s = step->sched;
  caching c = {.sched = s,
               .least = step->args[TVMS_ARG(CacheIndex, cse_thresh)].number,
               .scope_name = step->args[TVMS_ARG(CacheIndex, storage_scope)].text};
  c.block = tvms_step_site(step, TVMS_ARG(CacheIndex, block));
  if (c.block == TVMS_NO_SITE) return false;
  if (c.least < 0) return tvms_sched_refuse(s, "the threshold is negative");
  bool fine = tvms_cache_check_scope(s, c.scope_name)
              && tvms_sched_check_scope(s, c.block, false, &c.scope) && run(step, &c);
  tvms_vec_fini(&s->context->memory, &c.exprs);
  return fine;
}
