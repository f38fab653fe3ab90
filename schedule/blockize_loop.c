#include "schedule/blockize_loop.h"

#include "schedule/bindings.h"
#include "schedule/buffers.h"
#include "schedule/make.h"

#include <string.h>

// ---- What initialises ----

static tvms_node *init_loops(tvms_sched_blockizing *b, tvms_node *stmt,
                             const tvms_node_vec *values, tvms_node_map *vars) {
  tvms_sched *s = b->sched;
  for (int32_t at = tvms_sched_parent(s, b->block); at != b->above;
       at = tvms_sched_parent(s, at)) {
    const tvms_for *old = tvms_sched_loop(s, at);
    bool used = false;
    for (uint32_t i = 0; i < values->len; i++)
      used = used || tvms_sched_uses(s, values->items[i], old->var);
    if (used) {
      tvms_for *loop = tvms_as_for(tvms_node_copy(s->unit, &old->head));
      loop->var = tvms_var_like(s->unit, old->var);
      tvms_node_map_put(vars, old->var, loop->var);
      loop->body = stmt;
      stmt = &loop->head;
    }
  }
  return stmt;
}

static tvms_node *make_init(tvms_sched_blockizing *b, const tvms_block *inner,
                            tvms_node *init) {
  tvms_sched *s = b->sched;
  tvms_memory *memory = &s->context->memory;
  tvms_node_vec axes = {0}, values = {0};
  tvms_node_map vars;
  tvms_node_map_init(&vars, memory);
  for (uint32_t i = 0; i < inner->iter_vars.len; i++) {
    const tvms_iter_var *old = tvms_as_iter_var(inner->iter_vars.items[i]);
    if (old->iter_type != TVMS_ITER_DATA_PAR || !tvms_sched_uses(s, init, old->var))
      continue;
    tvms_iter_var *axis = tvms_as_iter_var(tvms_node_copy(s->unit, &old->head));
    axis->var = tvms_sched_var(s, old->var, "_init", old->var->dtype);
    tvms_node_map_put(&vars, old->var, axis->var);
    tvms_vec_push(memory, &axes, &axis->head);
    tvms_vec_push(memory, &values, b->inner_values.items[i]);
  }
  tvms_block *block = tvms_node_make(s->unit, BLOCK, TVMS_NO_SPAN);
  const char *name = tvms_sched_joined(s, inner->name.text, "init");
  block->name = tvms_bytes_copy(s->unit, name, strlen(name));
  block->iter_vars = tvms_list_copy(s->unit, axes.items, axes.len);
  block->writes = inner->writes;
  block->body = init;
  tvms_node *stmt = tvms_sched_blockize_realize(b, block, &values, b->inner_predicate);
  stmt = init_loops(b, stmt, &values, &vars);
  stmt = tvms_substitute(s->unit, stmt, &vars);
  tvms_node_map_fini(&vars);
  tvms_vec_fini(memory, &axes);
  tvms_vec_fini(memory, &values);
  return stmt;
}

// ---- The whole ----

bool tvms_sched_blockize_begin(tvms_sched_blockizing *b, tvms_sched *sched,
                               int32_t loop, bool keep_units) {
  tvms_site_vec blocks = {0};
  tvms_sched_children(sched, loop, &blocks);
  uint32_t count = blocks.len;
  int32_t block = count ? blocks.items[0] : loop;
  tvms_vec_fini(&sched->context->memory, &blocks);
  tvms_sched_blockize_open(b, sched, block, tvms_sched_parent(sched, loop), keep_units);
  if (count != 1)
    return tvms_sched_refuse(sched, "the loop has %u blocks in it, not one", count);
  return tvms_sched_blockize_divide(b, NULL);
}

tvms_node *tvms_sched_blockize_loop(tvms_sched_blockizing *b) {
  tvms_sched *s = b->sched;
  tvms_block *whole = tvms_sched_blockize_renamed(b);
  tvms_block *inner = tvms_sched_blockize_inner(b, whole);
  tvms_block *outer =
      tvms_sched_block_new(s, tvms_sched_joined(s, whole->name.text, "o"));
  outer->iter_vars = tvms_list_copy(s->unit, b->outer_axes.items, b->outer_axes.len);
  outer->reads = tvms_sched_blockize_widened(b, whole->reads);
  outer->writes = tvms_sched_blockize_widened(b, whole->writes);
  if (whole->init) outer->init = make_init(b, inner, whole->init);
  outer->body = tvms_sched_blockize_loops(
      b, tvms_sched_blockize_realize(b, inner, &b->inner_values, b->inner_predicate));
  return tvms_sched_blockize_realize(b, outer, &b->outer_values, b->outer_predicate);
}
