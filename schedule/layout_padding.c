#include "schedule/layout_padding.h"

#include "ir/equal.h"
#include "ir/fold_ops.h"
#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/buffers.h"
#include "schedule/make.h"

// ---- Stores ----

// A store in the buffer: the loops that its indices depend on and all between them, and the innermost block around.
typedef struct {
  const tvms_store *store;
  tvms_node *TVMS_NULLABLE realize;
  tvms_node **loops;  // outermost first
  uint32_t count;
  bool in_order;  // the loops run over all elements, one after the other
} write_site;

typedef struct {
  const tvms_node *var;
  uint32_t first, last;  // of the loops around, on which it depends
} dependence;

typedef struct {
  const tvms_sched_padding *padding;
  tvms_node_vec loops;
  TVMS_VEC(dependence) known;
  tvms_node_map values;  // of axes and bound variables, in terms of loops
  tvms_node *TVMS_NULLABLE realize;
  TVMS_VEC(write_site) writes;
} planning;

static tvms_memory *memory_of(const planning *p) {
  return &p->padding->sched->context->memory;
}

// The loops on which an expression depends; false: on none.
static bool depends(const planning *p, tvms_node *expr, dependence *on) {
  bool found = false;
  for (uint32_t i = 0; i < p->known.len; i++) {
    const dependence *one = &p->known.items[i];
    if (!tvms_walk_contains(memory_of(p), expr, one->var)) continue;
    if (!found || one->first < on->first) on->first = one->first;
    if (!found || one->last > on->last) on->last = one->last;
    found = true;
  }
  return found;
}

static void bind(planning *p, const tvms_node *var, tvms_node *value) {
  dependence on = {0};
  if (!depends(p, value, &on)) return;
  on.var = var;
  tvms_vec_push(memory_of(p), &p->known, on);
  tvms_node_map_put(&p->values, var,
                    tvms_substitute(p->padding->sched->unit, value, &p->values));
}

// Is each index the variable of one loop, which runs over its dimension?
static bool runs_in_order(const planning *p, const write_site *w) {
  tvms_list shape = tvms_as_buffer(p->padding->old)->shape;
  tvms_list indices = w->store->indices;
  if (!w->count || w->count != shape.len || w->count != indices.len) return false;
  for (uint32_t i = 0; i < w->count; i++) {
    const tvms_for *loop = tvms_as_for(w->loops[i]);
    tvms_node *index =
        tvms_substitute(p->padding->sched->unit, indices.items[i], &p->values);
    if (index != loop->var || !tvms_node_is_int(loop->min, 0)
        || !tvms_node_same_expr(loop->extent, shape.items[i])
        || loop->for_kind != TVMS_FOR_SERIAL)
      return false;
  }
  return true;
}

static void see_store(planning *p, const tvms_store *store) {
  if (store->buffer != p->padding->old) return;
  write_site w = {.store = store, .realize = p->realize};
  dependence all = {0}, on;
  bool found = false;
  for (uint32_t i = 0; i < store->indices.len; i++) {
    if (!depends(p, store->indices.items[i], &on)) continue;
    if (!found || on.first < all.first) all.first = on.first;
    if (!found || on.last > all.last) all.last = on.last;
    found = true;
  }
  if (found) {
    w.count = all.last - all.first + 1;
    w.loops =
        tvms_list_copy(p->padding->sched->unit, p->loops.items + all.first, w.count)
            .items;
  }
  w.in_order = runs_in_order(p, &w);
  tvms_vec_push(memory_of(p), &p->writes, w);
}

static void see(planning *p, tvms_node *stmt);

static void see_below(planning *p, tvms_node *stmt) {
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(stmt, &at));)
    if (at.role == TVMS_ROLE_BODY) see(p, child);
}

static void see_loop(planning *p, tvms_node *stmt) {
  uint32_t depth = p->loops.len, mark = p->known.len;
  dependence own = {tvms_as_for(stmt)->var, depth, depth};
  tvms_vec_push(memory_of(p), &p->known, own);
  tvms_vec_push(memory_of(p), &p->loops, stmt);
  see_below(p, stmt);
  p->loops.len = depth;
  p->known.items[mark].var = NULL;  // axes that depend on it stay known
}

static void see_realize(planning *p, tvms_node *stmt) {
  const tvms_block_realize *realize = tvms_as_block_realize(stmt);
  tvms_list axes = tvms_as_block(realize->block)->iter_vars;
  for (uint32_t i = 0; i < axes.len; i++)
    bind(p, tvms_as_iter_var(axes.items[i])->var, realize->iter_values.items[i]);
  tvms_node *outer = p->realize;
  p->realize = stmt;
  see_below(p, realize->block);
  p->realize = outer;
}

static void see(planning *p, tvms_node *stmt) {
  switch ((int)stmt->kind) {
  case TVMS_NODE_FOR: see_loop(p, stmt); break;
  case TVMS_NODE_BLOCK_REALIZE: see_realize(p, stmt); break;
  case TVMS_NODE_STORE: see_store(p, tvms_as_store(stmt)); break;
  case TVMS_NODE_BIND:
    bind(p, tvms_as_bind(stmt)->var, tvms_as_bind(stmt)->value);
    break;
  default: see_below(p, stmt);
  }
}

// ---- Loops over all places ----

static tvms_node *value_at(const tvms_sched_padding *l, tvms_list places) {
  return tvms_sched_mapped(l->sched, l->value, places).items[0];
}

static tvms_node *in_loops(const tvms_sched_padding *l, tvms_node *body) {
  tvms_list shape = tvms_as_buffer(l->made)->shape;
  for (uint32_t i = shape.len; i-- > 0;)
    body = tvms_sched_for(l->sched, l->inverse->initial_indices.items[i],
                          shape.items[i], body);
  return body;
}

// A block whose axes are the places; `vars` are their variables.
typedef struct {
  tvms_block *block;
  tvms_list vars;
  tvms_node_map map;  // loops of the places -> variables
} places_block;

static void make_axes(const tvms_sched_padding *l, tvms_list *vars, tvms_list *axes,
                      tvms_node_map *map) {
  tvms_sched *s = l->sched;
  tvms_list loops = l->inverse->initial_indices;
  tvms_list shape = tvms_as_buffer(l->made)->shape;
  *vars = tvms_list_copy(s->unit, loops.items, loops.len);
  *axes = tvms_list_copy(s->unit, loops.items, loops.len);
  for (uint32_t i = 0; i < loops.len; i++) {
    const char *name = tvms_symbol_text(s->context, tvms_as_var(loops.items[i])->name);
    tvms_node *var =
        tvms_sched_named(s, tvms_sched_joined(s, "v", name), loops.items[i]->dtype);
    vars->items[i] = var;
    axes->items[i] = tvms_sched_axis(s, var, shape.items[i]);
    tvms_node_map_put(map, loops.items[i], var);
  }
}

static void open_places(const tvms_sched_padding *l, const char *what,
                        places_block *made) {
  tvms_sched *s = l->sched;
  const char *name = tvms_sched_joined(s, "buffer", tvms_sched_buffer_name(s, l->made));
  made->block = tvms_sched_block_new(s, tvms_sched_joined(s, name, what));
  tvms_node_map_init(&made->map, &s->context->memory);
  make_axes(l, &made->vars, &made->block->iter_vars, &made->map);
}

static tvms_node *close_places(const tvms_sched_padding *l, places_block *made,
                               tvms_node *TVMS_NULLABLE predicate) {
  tvms_node_map_fini(&made->map);
  tvms_list loops = l->inverse->initial_indices;
  return in_loops(l, tvms_sched_realize_new(l->sched, made->block, loops.items,
                                            loops.len, predicate));
}

static tvms_node *make_prologue(const tvms_sched_padding *l) {
  tvms_sched *s = l->sched;
  places_block p;
  open_places(l, "assumptions", &p);
  tvms_node *padding = tvms_substitute(s->unit, l->padding, &p.map);
  tvms_node *load = tvms_buffer_load_new(s->unit, l->made, p.vars.items, p.vars.len,
                                         NULL, TVMS_NO_SPAN);
  tvms_node *same = tvms_sched_build(s, TVMS_NODE_EQ, load, value_at(l, p.vars));
  tvms_node *claim =
      tvms_sched_build(s, TVMS_NODE_OR, tvms_build_negation(s->unit, padding), same);
  tvms_node *call = tvms_call_new_of(s->unit, TVMS_DTYPE(BOOL, 1), TVMS_TIR_assume,
                                     &claim, 1, TVMS_NO_SPAN);
  tvms_node *reads = tvms_sched_point(s, l->made, p.vars.items, p.vars.len);
  p.block->reads = tvms_list_copy(s->unit, &reads, 1);
  p.block->body = tvms_evaluate_new(s->unit, call, TVMS_NO_SPAN);
  return close_places(l, &p, NULL);
}

static tvms_node *make_epilogue(const tvms_sched_padding *l) {
  tvms_sched *s = l->sched;
  places_block p;
  open_places(l, "padding", &p);
  tvms_node *writes = tvms_sched_point(s, l->made, p.vars.items, p.vars.len);
  p.block->writes = tvms_list_copy(s->unit, &writes, 1);
  p.block->body =
      tvms_sched_store(s, l->made, p.vars.items, p.vars.len, value_at(l, p.vars));
  return close_places(l, &p, l->padding);
}

// ---- Stores of all places ----

typedef struct {
  const tvms_sched_padding *padding;
  const write_site *site;
  tvms_list places;        // indices of the new buffer
  tvms_node *outside;      // where there is no element, in terms of them
  tvms_list axes, values;  // of the innermost block; empty items: they stay
  bool renewed;            // these are new
  bool all;                // every store is one of the buffer, at the same place
} replacement;

// Where the axes that index the buffer begin among those of the block, or -1: they are not a row of spatial axes.
static int64_t first_index_axis(const tvms_block *block, tvms_list indices) {
  tvms_list axes = block->iter_vars;
  if (!indices.len || axes.len < indices.len) return -1;
  uint32_t first = 0, spare = axes.len - indices.len;
  while (first < spare && tvms_as_iter_var(axes.items[first])->var != indices.items[0])
    first++;
  for (uint32_t i = 0; i < indices.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(axes.items[first + i]);
    if (axis->var != indices.items[i] || axis->iter_type != TVMS_ITER_DATA_PAR)
      return -1;
  }
  return first;
}

// The axes of the block that index the buffer become axes of places.
static void renew_axes(replacement *x, tvms_rewriter *r) {
  const tvms_sched_padding *l = x->padding;
  tvms_sched *s = l->sched;
  if (!x->site->realize) return;
  const tvms_block_realize *realize = tvms_as_block_realize(x->site->realize);
  const tvms_block *block = tvms_as_block(realize->block);
  tvms_list indices = x->site->store->indices, old = block->iter_vars;
  int64_t first = first_index_axis(block, indices);
  if (first < 0) return;
  tvms_list vars, axes;
  tvms_node_map map;
  tvms_node_map_init(&map, &s->context->memory);
  make_axes(l, &vars, &axes, &map);
  uint32_t room = old.len + axes.len + 1;
  x->axes.items = tvms_arena_array(&s->unit->arena, tvms_node *, 2 * room);
  x->values.items = x->axes.items + room;
  for (uint32_t i = 0; i <= old.len; i++) {
    for (uint32_t k = 0; i == (uint32_t)first && k < axes.len; k++) {
      x->axes.items[x->axes.len++] = axes.items[k];
      x->values.items[x->values.len++] = l->inverse->initial_indices.items[k];
    }
    bool indexes = i >= (uint32_t)first && i < (uint32_t)first + indices.len;
    if (i == old.len || indexes) continue;
    x->axes.items[x->axes.len++] = old.items[i];
    x->values.items[x->values.len++] = realize->iter_values.items[i];
  }
  for (uint32_t i = 0; i < indices.len; i++)
    tvms_node_map_put(
        &r->known, indices.items[i],
        tvms_substitute(s->unit, l->inverse->final_indices.items[i], &map));
  x->places = vars;
  x->outside = tvms_substitute(s->unit, x->outside, &map);
  x->renewed = true;
  tvms_node_map_fini(&map);
}

static bool is_site(const replacement *x, const tvms_store *store) {
  const tvms_store *own = x->site->store;
  if (store->buffer != own->buffer) return false;
  for (uint32_t i = 0; i < own->indices.len; i++)
    if (!tvms_node_same_expr(own->indices.items[i], store->indices.items[i]))
      return false;
  return true;
}

static tvms_node *replace_store(tvms_rewriter *r, tvms_node *node) {
  replacement *x = r->self;
  const tvms_sched_padding *l = x->padding;
  const tvms_store *store = tvms_as_store(node);
  if (!is_site(x, store)) {
    x->all = false;
    return node;
  }
  tvms_node *value = tvms_build_if_then_else(
      r->unit, x->outside, value_at(l, x->places), store->value, TVMS_NO_SPAN);
  TVMS_CHECK(value);
  return tvms_rewrite_below(
      r, tvms_sched_store(l->sched, l->made, x->places.items, x->places.len, value));
}

static tvms_node *replace_block(replacement *x, tvms_rewriter *r, tvms_node *node) {
  tvms_block *block = tvms_as_block(tvms_node_copy(r->unit, node));
  tvms_list axes = x->renewed ? x->axes : block->iter_vars;
  block->iter_vars = (tvms_list){0};
  block = tvms_as_block(tvms_node_copy(r->unit, tvms_rewrite_below(r, &block->head)));
  block->iter_vars = axes;
  return &block->head;
}

static tvms_node *replace_realize(tvms_rewriter *r, tvms_node *node) {
  replacement *x = r->self;
  if (node != x->site->realize) return TVMS_REWRITE_BELOW;
  tvms_block_realize *made = tvms_as_block_realize(tvms_node_copy(r->unit, node));
  tvms_node *predicate = tvms_rewrite(r, made->predicate);
  TVMS_CHECK(predicate);
  made->predicate = predicate;
  made->block = replace_block(x, r, made->block);
  if (x->renewed) made->iter_values = x->values;
  return &made->head;
}

// The loops of a store as loops over all places; NULL: they do more than that.
static tvms_node *TVMS_NULLABLE over_all_places(const tvms_sched_padding *l,
                                                const write_site *site) {
  replacement x = {.padding = l,
                   .site = site,
                   .places = l->inverse->initial_indices,
                   .outside = l->padding,
                   .all = true};
  tvms_rewriter r;
  tvms_rewriter_init(&r, l->sched->unit, &x);
  for (uint32_t i = 0; i < site->count; i++)
    tvms_node_map_put(&r.known, tvms_as_for(site->loops[i])->var,
                      l->inverse->final_indices.items[i]);
  renew_axes(&x, &r);
  r.enter[TVMS_NODE_STORE] = replace_store;
  r.enter[TVMS_NODE_BLOCK_REALIZE] = replace_realize;
  tvms_node *body = tvms_rewrite(&r, tvms_as_for(site->loops[site->count - 1])->body);
  tvms_rewriter_fini(&r);
  // Several nests may run over the places, each with variables of its own.
  return body && x.all ? tvms_stmt_copy(l->sched->unit, in_loops(l, body)) : NULL;
}

// ---- Deciding ----

// Is there nothing but the next loop in each loop? TVM does not ask, and drops it.
static bool is_chain(const write_site *site) {
  for (uint32_t i = 1; i < site->count; i++)
    if (tvms_as_for(site->loops[i - 1])->body != site->loops[i]) return false;
  return true;
}

// Does it store whenever it runs? What stands under an `if` would ask its condition of places without an element.
static bool always_stores(const tvms_node *stmt) {
  switch ((int)stmt->kind) {
  case TVMS_NODE_FOR: return always_stores(tvms_as_for(stmt)->body);
  case TVMS_NODE_BLOCK_REALIZE:
    return always_stores(tvms_as_block(tvms_as_block_realize(stmt)->block)->body);
  case TVMS_NODE_IF_THEN_ELSE: return false;
  default: return true;
  }
}

static void decide(tvms_sched_padding *l, const planning *p) {
  if (!p->writes.len) {
    l->prologue = make_prologue(l);
    return;
  }
  for (uint32_t i = 0; i < p->writes.len; i++) {
    const write_site *w = &p->writes.items[i];
    bool fits = w->in_order && is_chain(w) && always_stores(w->loops[0]);
    tvms_node *made = fits ? over_all_places(l, w) : NULL;
    if (made) tvms_node_map_put(&l->loops, w->loops[0], made);
  }
  if (l->loops.count) return;
  const write_site *last = &p->writes.items[p->writes.len - 1];
  l->behind = last->count ? last->loops[0] : last->realize;
  if (l->behind) l->epilogue = make_epilogue(l);
}

void tvms_sched_padding_plan(tvms_sched_padding *padding, tvms_node *scope) {
  planning p = {.padding = padding};
  tvms_memory *memory = memory_of(&p);
  tvms_node_map_init(&p.values, memory);
  see_below(&p, scope);
  decide(padding, &p);
  tvms_node_map_fini(&p.values);
  tvms_vec_fini(memory, &p.loops);
  tvms_vec_fini(memory, &p.known);
  tvms_vec_fini(memory, &p.writes);
}
