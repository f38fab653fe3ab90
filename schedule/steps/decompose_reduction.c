// decompose_reduction: T.init() of a block becomes a block of its own, in front of a loop.
// TVM: src/s_tir/schedule/primitive/reduction.cc.
#include "schedule/bindings.h"
#include "schedule/buffers.h"
#include "schedule/flags.h"
#include "schedule/steps.h"
#include "schedule/taken.h"

#include <string.h>

// A loop from the given one down to the block that no axis uses does the reduction again, which then has to begin anew. TVM does not
// ask.
static bool check_loops(tvms_sched *s, int32_t block, int32_t loop) {
  int32_t at = tvms_sched_loop_of_no_axis(s, block, loop);
  return at == TVMS_NO_SITE
         || tvms_sched_refuse(
             s, "loop '%s' repeats the block",
             tvms_symbol_text(s->context,
                              tvms_as_var(tvms_sched_loop(s, at)->var)->name));
}

// How often iterators run together with one more.
static tvms_node *product(tvms_sched *s, tvms_node *so_far,
                          tvms_node *TVMS_NULLABLE extent) {
  if (!extent) return so_far;
  tvms_node *wide = tvms_sched_cast(s, TVMS_DTYPE(INT, 64), extent);
  return tvms_sched_build(s, TVMS_NODE_MUL, so_far, wide);
}

// May a spatial axis take a value again while the loops that it is made of run, as that of a window does?
static bool has_overlap(tvms_sched *s, const tvms_block_realize *realize,
                        tvms_analyzer *analyzer, const tvms_domain_vec *domains) {
  tvms_list axes = tvms_as_block(realize->block)->iter_vars;
  tvms_node *always = tvms_bool_imm_new(s->unit, true, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < axes.len; i++) {
    tvms_node *value = realize->iter_values.items[i];
    tvms_iter_image image;
    bool spatial = tvms_as_iter_var(axes.items[i])->iter_type == TVMS_ITER_DATA_PAR;
    if (!spatial
        || !tvms_iter_map_detect(s->unit, analyzer, domains->items, domains->len,
                                 &value, 1, always, true, &image))
      continue;
    tvms_node *runs = tvms_sched_int(s, TVMS_DTYPE(INT, 64), 1),
              *values = product(s, runs, image.extent);
    for (uint32_t k = 0; k < domains->len; k++)
      if (tvms_sched_uses(s, value, domains->items[k].var))
        runs = product(s, runs, domains->items[k].extent);
    if (!tvms_arith_prove_equal(s->unit, values, runs)) return true;
  }
  return false;
}

// Loops of which the axes use a part only, such as i % 4, come back to what was reduced before.
// TVM does not ask this either.
static bool check_parts(tvms_sched *s, int32_t block, int32_t loop) {
  const tvms_block_realize *realize = tvms_sched_realize(s, block);
  tvms_list values = realize->iter_values;
  tvms_domain_vec domains = {0};
  tvms_sched_domains(s, tvms_sched_parent(s, block), tvms_sched_parent(s, loop),
                     &domains);
  tvms_iter_image *images =
      tvms_arena_array(&s->unit->arena, tvms_iter_image, values.len + 1);
  tvms_analyzer *analyzer = tvms_sched_analyzer(s, block);
  bool sums = tvms_node_is_int(realize->predicate, 1)
              && tvms_iter_map_detect(s->unit, analyzer, domains.items, domains.len,
                                      values.items, values.len, realize->predicate,
                                      true, images);
  bool overlaps = !sums && has_overlap(s, realize, analyzer, &domains);
  tvms_analyzer_free(analyzer);
  tvms_node *runs = tvms_sched_int(s, TVMS_DTYPE(INT, 64), 1), *taken = runs;
  for (uint32_t i = 0; i < domains.len; i++)
    runs = product(s, runs, domains.items[i].extent);
  for (uint32_t i = 0; i < values.len && sums; i++)
    taken = product(s, taken, images[i].extent);
  tvms_vec_fini(&s->context->memory, &domains);
  bool repeats = overlaps || (sums && !tvms_arith_prove_equal(s->unit, runs, taken));
  return !repeats
         || tvms_sched_refuse(
             s, "the loops from '%s' on repeat the block",
             tvms_symbol_text(s->context,
                              tvms_as_var(tvms_sched_loop(s, loop)->var)->name));
}

// What is said of loops that go is left out of the first block's condition. TVM does not ask if it says something of others, too.
static bool check_condition(tvms_sched *s, int32_t block, int32_t loop) {
  const tvms_block *b = tvms_sched_block(s, block);
  const tvms_block_realize *realize = tvms_sched_realize(s, block);
  tvms_node_map map;
  tvms_node_map_init(&map, &s->context->memory);
  for (int32_t at = tvms_sched_parent(s, block); at >= loop;
       at = tvms_sched_parent(s, at)) {
    const tvms_for *around = tvms_sched_loop(s, at);
    bool stays = false;
    for (uint32_t i = 0; i < b->iter_vars.len; i++)
      stays =
          stays
          || (tvms_as_iter_var(b->iter_vars.items[i])->iter_type == TVMS_ITER_DATA_PAR
              && tvms_sched_uses(s, realize->iter_values.items[i], around->var));
    if (!stays) tvms_node_map_put(&map, around->var, around->min);
  }
  tvms_analyzer *analyzer = tvms_sched_analyzer(s, block);
  bool fine = true;
  for (tvms_node *rest = realize->predicate; rest && fine;) {
    bool both = rest->kind == TVMS_NODE_AND;
    tvms_node *claim = both ? tvms_as_binary(rest)->b : rest;
    tvms_node *first = tvms_substitute(s->unit, claim, &map);
    fine = first == claim || tvms_analyzer_can_prove(analyzer, first);
    rest = both ? tvms_as_binary(rest)->a : NULL;
  }
  tvms_analyzer_free(analyzer);
  tvms_node_map_fini(&map);
  return fine || tvms_sched_refuse(s, "a part of the block's condition would be lost");
}

static bool check(tvms_sched *s, int32_t block, int32_t loop, int32_t *scope) {
  if (!tvms_sched_check_scope(s, block, false, scope)) return false;
  if (!tvms_sched_is_in(s, block, loop) || tvms_sched_scope(s, loop) != *scope)
    return tvms_sched_refuse(s, "the loop is not around the block");
  const char *why = tvms_sched_why_no_reduction(s, block, *scope);
  if (why) return tvms_sched_refuse(s, "the block is not a reduction: %s", why);
  for (int32_t at = tvms_sched_parent(s, loop); at != *scope;
       at = tvms_sched_parent(s, at))
    if (tvms_sched_is_reduced_by(s, block, at))
      return tvms_sched_refuse(s, "a loop around the given one is reduced");
  return tvms_sched_check_whole(s, block, true) && check_loops(s, block, loop)
         && check_parts(s, block, loop) && check_condition(s, block, loop);
}

// ---- The block that initialises ----

typedef struct {
  tvms_sched *sched;
  const tvms_block *block;
  tvms_block_realize *realize;  // that is made
  tvms_node_map vars;           // old variable -> new one
} initial;

static void copy_axes(initial *in, const tvms_block_realize *old, tvms_block *made) {
  tvms_sched *s = in->sched;
  uint32_t len = in->block->iter_vars.len, count = 0;
  tvms_node **axes = tvms_arena_array(&s->unit->arena, tvms_node *, 2 * len + 1);
  tvms_node **values = axes + len;
  for (uint32_t i = 0; i < len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(in->block->iter_vars.items[i]);
    if (axis->iter_type != TVMS_ITER_DATA_PAR) continue;
    tvms_iter_var *copy = tvms_as_iter_var(tvms_node_copy(s->unit, &axis->head));
    copy->var = tvms_var_like(s->unit, axis->var);
    tvms_node_map_put(&in->vars, axis->var, copy->var);
    axes[count] = &copy->head;
    values[count++] = old->iter_values.items[i];
  }
  made->iter_vars = tvms_list_copy(s->unit, axes, count);
  in->realize->iter_values = tvms_list_copy(s->unit, values, count);
}

static void make_block(initial *in, const tvms_block_realize *old) {
  tvms_sched *s = in->sched;
  tvms_block *made = tvms_node_make(s->unit, BLOCK, TVMS_NO_SPAN);
  const char *name = tvms_sched_joined(s, in->block->name.text, "init");
  made->name = tvms_bytes_copy(s->unit, name, strlen(name));
  made->annotations = in->block->annotations;
  copy_axes(in, old, made);
  made->body = tvms_substitute(s->unit, in->block->init, &in->vars);
  made->writes =
      tvms_list_copy(s->unit, in->block->writes.items, in->block->writes.len);
  for (uint32_t i = 0; i < made->writes.len; i++)
    made->writes.items[i] = tvms_substitute(s->unit, made->writes.items[i], &in->vars);
  in->realize->block = &made->head;
}

static bool binds(const initial *in, const tvms_node *var) {
  for (uint32_t i = 0; i < in->realize->iter_values.len; i++)
    if (tvms_sched_uses(in->sched, in->realize->iter_values.items[i], var)) return true;
  return false;
}

// The comparisons of a predicate that say nothing of the loops that are left out.
static tvms_node *remake_predicate(tvms_sched *s, tvms_node *old,
                                   const tvms_site_vec *left_out) {
  tvms_node *made = tvms_bool_imm_new(s->unit, true, TVMS_NO_SPAN);
  bool reversed =
      tvms_release_has(s->unit->dialect, TVMS_FACT_initial_conditions_are_reversed);
  for (tvms_node *rest = old; rest && !tvms_node_is_int(rest, 1);) {
    bool both = rest->kind == TVMS_NODE_AND;
    tvms_node *claim = both ? tvms_as_binary(rest)->b : rest;
    bool kept = true;
    for (uint32_t i = 0; i < left_out->len; i++)
      kept = kept
             && !tvms_sched_uses(s, claim, tvms_sched_loop(s, left_out->items[i])->var);
    if (kept && reversed)
      made = tvms_sched_build(s, TVMS_NODE_AND, made, claim);
    else if (kept)
      made = tvms_sched_build(s, TVMS_NODE_AND, claim, made);
    rest = both ? tvms_as_binary(rest)->a : NULL;
  }
  return made;
}

// A loop like another one around `body`, with a variable of its own.
static tvms_node *loop_like(initial *in, const tvms_for *old, tvms_node *body) {
  tvms_sched *s = in->sched;
  tvms_for *loop = tvms_as_for(tvms_node_copy(s->unit, &old->head));
  loop->var = tvms_sched_var(s, old->var, "_init", old->var->dtype);
  tvms_node_map_put(&in->vars, old->var, loop->var);
  if (old->thread) {
    tvms_iter_var *thread = tvms_as_iter_var(tvms_node_copy(s->unit, old->thread));
    thread->var = tvms_var_like(s->unit, thread->var);
    loop->thread = &thread->head;
  }
  loop->body = body;
  return &loop->head;
}

static tvms_node *make_nest(initial *in, int32_t block, int32_t loop) {
  tvms_sched *s = in->sched;
  const tvms_block_realize *old = tvms_sched_realize(s, block);
  tvms_memory *memory = &s->context->memory;
  in->realize = tvms_node_make(s->unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  make_block(in, old);
  tvms_site_vec chosen = {0}, left_out = {0};
  for (int32_t at = tvms_sched_parent(s, block);; at = tvms_sched_parent(s, at)) {
    bool used = binds(in, tvms_sched_loop(s, at)->var);
    tvms_vec_push(memory, used ? &chosen : &left_out, at);
    if (at == loop) break;
  }
  in->realize->predicate = remake_predicate(s, old->predicate, &left_out);
  tvms_node *body = &in->realize->head;
  for (uint32_t i = 0; i < chosen.len; i++)
    body = loop_like(in, tvms_sched_loop(s, chosen.items[i]), body);
  tvms_vec_fini(memory, &chosen);
  tvms_vec_fini(memory, &left_out);
  return tvms_substitute(s->unit, body, &in->vars);
}

// ---- The block that updates ----

static tvms_node *make_update(tvms_sched *s, const tvms_block *old) {
  tvms_block *made = tvms_as_block(tvms_node_copy(s->unit, &old->head));
  const char *name = tvms_sched_joined(s, old->name.text, "update");
  made->name = tvms_bytes_copy(s->unit, name, strlen(name));
  made->init = NULL;
  tvms_node_vec reads = {0};
  tvms_memory *memory = &s->context->memory;
  for (uint32_t i = 0; i < old->writes.len; i++)
    if (!tvms_sched_touches(old->reads, tvms_sched_region_buffer(old->writes, i)))
      tvms_vec_push(memory, &reads, old->writes.items[i]);
  for (uint32_t i = 0; i < old->reads.len; i++)
    tvms_vec_push(memory, &reads, old->reads.items[i]);
  made->reads = tvms_list_copy(s->unit, reads.items, reads.len);
  tvms_vec_fini(memory, &reads);
  return &made->head;
}

bool tvms_step_decompose_reduction(tvms_step *step) {
  tvms_sched *s = step->sched;
  int32_t block = tvms_step_site(step, TVMS_ARG(DecomposeReduction, block)), scope;
  if (block == TVMS_NO_SITE) return false;
  int32_t loop = tvms_step_site(step, TVMS_ARG(DecomposeReduction, loop));
  if (loop == TVMS_NO_SITE || !check(s, block, loop, &scope)) return false;
  initial in = {.sched = s, .block = tvms_sched_block(s, block)};
  tvms_node_map_init(&in.vars, &s->context->memory);
  tvms_node *first = make_nest(&in, block, loop);
  tvms_node_map_fini(&in.vars);
  tvms_node *old = tvms_sched_at(s, loop)->node;
  tvms_node *update = make_update(s, in.block);
  tvms_node *second =
      tvms_sched_edited(s->unit, old, &(tvms_sched_edit){&in.block->head, update}, 1);
  uint16_t number = (uint16_t)(s->numbers + 1);
  tvms_sched_replace_one(s, old, tvms_stmt_pair(s->unit, first, second));
  int32_t site = tvms_sched_find(s, (tvms_sched_ref){s, number, NULL, TVMS_MARK_NONE});
  tvms_sched_flags_renew(s, tvms_sched_scope(s, site));
  tvms_step_give(step, site);
  return true;
}
