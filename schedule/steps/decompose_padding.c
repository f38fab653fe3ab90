// decompose_padding: a block that pads becomes one that fills everything with the constant, in front of a loop, and one that copies
// what is inside.
// TVM: src/s_tir/schedule/primitive/decompose_padding.cc.
#include "schedule/bindings.h"
#include "schedule/buffers.h"
#include "schedule/flags.h"
#include "schedule/make.h"
#include "schedule/region.h"
#include "schedule/steps.h"

typedef struct {
  tvms_sched *sched;
  int32_t block, scope;
  int32_t fill_at;  // loop in front of which everything is filled
  int32_t
      inner_at;  // loop that copies what is inside: the outermost one, up to `fill_at`, that has nothing else
  tvms_analyzer *analyzer;
  tvms_domain_vec loops;    // around the block, innermost first
  tvms_node *inside;        // condition in terms of loops
  tvms_node *value;         // inside; in terms of axes
  tvms_node *constant;      // outside
  tvms_iter_image *images;  // of the axes, inside
} decomposing;

// ---- Conditions ----

static bool find_loops(decomposing *d) {
  tvms_sched *s = d->sched;
  bool found = false, open = true;
  d->inner_at = TVMS_NO_SITE;
  for (int32_t at = tvms_sched_parent(s, d->block); tvms_sched_is_loop(s, at);
       at = tvms_sched_parent(s, at)) {
    const tvms_for *loop = tvms_sched_loop(s, at);
    tvms_analyzer_bind_range(d->analyzer, loop->var, loop->min, loop->extent);
    tvms_node_kind body = loop->body->kind;
    bool chain = body == TVMS_NODE_FOR || body == TVMS_NODE_BLOCK_REALIZE;
    found |= at == d->fill_at;
    // TVM loses what else stands in the loop to fill above.
    if (open && chain) d->inner_at = at;
    open &= chain && at != d->fill_at;
  }
  tvms_sched_domains(s, tvms_sched_parent(s, d->block), TVMS_NO_SITE, &d->loops);
  if (!found) return tvms_sched_refuse(s, "the loop is not around the block");
  return d->inner_at != TVMS_NO_SITE
         || tvms_sched_refuse(s, "the innermost loop has other statements");
}

static bool is_number(const tvms_node *node) {
  while (node->kind == TVMS_NODE_BROADCAST)
    node = tvms_as_broadcast(node)->value;
  return node->kind == TVMS_NODE_INT_IMM || node->kind == TVMS_NODE_FLOAT_IMM;
}

// `all` and the parts of a conjunction, one after the other, T.likely taken off.
static tvms_node *joined(tvms_sched *s, tvms_node *all, tvms_node *part) {
  if (part->kind == TVMS_NODE_AND) {
    const tvms_binary *both = tvms_as_binary(part);
    return joined(s, joined(s, all, both->a), both->b);
  }
  if (tvms_call_opcode(part) == TVMS_TIR_likely)
    part = tvms_as_call(part)->args.items[0];
  return tvms_sched_build(s, TVMS_NODE_AND, all, part);
}

static bool find_pattern(decomposing *d) {
  tvms_sched *s = d->sched;
  const tvms_block_realize *realize = tvms_sched_realize(s, d->block);
  const tvms_block *block = tvms_as_block(realize->block);
  if (block->body->kind != TVMS_NODE_STORE)
    return tvms_sched_refuse(s, "the block is not one store");
  const tvms_node *value = tvms_as_store(block->body)->value;
  if (tvms_call_opcode(value) != TVMS_TIR_if_then_else)
    return tvms_sched_refuse(s, "what the block stores is not a T.if_then_else");
  tvms_list args = tvms_as_call(value)->args;
  d->value = args.items[1];
  d->constant = args.items[2];
  if (!is_number(d->constant))
    return tvms_sched_refuse(s, "what is stored outside is not a constant");
  if (tvms_arith_effect_of(&s->context->memory, d->value) > TVMS_EFFECT_READ)
    return tvms_sched_refuse(s, "what is computed inside has effects");
  tvms_node *yes = tvms_bool_imm_new(s->unit, true, TVMS_NO_SPAN);
  tvms_node *both =
      joined(s, joined(s, yes, tvms_sched_bound(s, realize, args.items[0])),
             realize->predicate);
  d->inside = tvms_analyzer_simplify(d->analyzer, both);
  return !tvms_node_is_int(d->inside, 1) || tvms_sched_refuse(s, "nothing is outside");
}

static bool find_images(decomposing *d) {
  tvms_sched *s = d->sched;
  tvms_list values = tvms_sched_realize(s, d->block)->iter_values;
  d->images = tvms_arena_array(&s->unit->arena, tvms_iter_image, values.len + 1);
  if (!tvms_iter_map_detect(s->unit, d->analyzer, d->loops.items, d->loops.len,
                            values.items, values.len, d->inside, false, d->images))
    return tvms_sched_refuse(s, "the axes depend on each other inside");
  for (uint32_t i = 0; i < values.len; i++) {
    tvms_iter_image *image = &d->images[i];
    if (!image->extent) {
      image->extent = tvms_sched_int(s, image->base->dtype, 1);
      continue;
    }
    tvms_node *one = tvms_sched_int(s, image->scale->dtype, 1);
    if (!tvms_analyzer_can_prove_equal(d->analyzer, image->scale, one))
      return tvms_sched_refuse(s, "an axis has gaps inside");
  }
  return true;
}

// ---- Expressions in terms of new variables ----

typedef struct {
  decomposing *d;
  tvms_node_map vars;
} renaming;

static tvms_node *renamed(renaming *n, tvms_node *expr) {
  tvms_unit *unit = n->d->sched->unit;
  return tvms_analyzer_simplify(n->d->analyzer, tvms_substitute(unit, expr, &n->vars));
}

static tvms_list renamed_list(renaming *n, tvms_list list) {
  tvms_list made = tvms_list_copy(n->d->sched->unit, list.items, list.len);
  for (uint32_t i = 0; i < list.len; i++)
    made.items[i] = renamed(n, list.items[i]);
  return made;
}

static tvms_list renamed_regions(renaming *n, tvms_list regions) {
  tvms_unit *unit = n->d->sched->unit;
  tvms_list made = tvms_list_copy(unit, regions.items, regions.len);
  for (uint32_t i = 0; i < regions.len; i++) {
    const tvms_buffer_region *region = tvms_as_buffer_region(regions.items[i]);
    tvms_list ranges = tvms_list_copy(unit, region->region.items, region->region.len);
    for (uint32_t k = 0; k < ranges.len; k++) {
      const tvms_range *range = tvms_as_range(ranges.items[k]);
      ranges.items[k] = tvms_range_new(unit, renamed(n, range->min),
                                       renamed(n, range->extent), TVMS_NO_SPAN);
    }
    made.items[i] = tvms_buffer_region_new(unit, region->buffer, ranges.items,
                                           ranges.len, TVMS_NO_SPAN);
  }
  return made;
}

static tvms_node *stored(renaming *n, const tvms_block *block, tvms_node *value) {
  tvms_store *store = tvms_as_store(tvms_node_copy(n->d->sched->unit, block->body));
  store->value = value;
  store->indices = renamed_list(n, store->indices);
  return &store->head;
}

// ---- The block that fills ----

static tvms_node *make_fill(decomposing *d, tvms_node **made) {
  tvms_sched *s = d->sched;
  const tvms_block_realize *realize = tvms_sched_realize(s, d->block);
  const tvms_block *old = tvms_as_block(realize->block);
  renaming n = {.d = d};
  tvms_node_map_init(&n.vars, &s->context->memory);
  tvms_block *block = tvms_sched_block_new(
      s, tvms_sched_joined(s, tvms_sched_block_name(s, d->block), "pad_const"));
  block->iter_vars = tvms_list_copy(s->unit, old->iter_vars.items, old->iter_vars.len);
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    tvms_iter_var *axis =
        tvms_as_iter_var(tvms_node_copy(s->unit, old->iter_vars.items[i]));
    tvms_node *var = tvms_sched_var(s, axis->var, "", axis->var->dtype);
    tvms_node_map_put(&n.vars, axis->var, var);
    axis->var = var;
    axis->iter_type = TVMS_ITER_DATA_PAR;
    block->iter_vars.items[i] = &axis->head;
  }
  block->writes = renamed_regions(&n, old->writes);
  block->body = stored(&n, old, d->constant);
  tvms_node_vec vars = {0};
  for (int32_t at = tvms_sched_parent(s, d->block);; at = tvms_sched_parent(s, at)) {
    const tvms_node *loop_var = tvms_sched_loop(s, at)->var;
    tvms_node *var = tvms_sched_var(s, loop_var, "", loop_var->dtype);
    tvms_node_map_put(&n.vars, loop_var, var);
    tvms_vec_push(&s->context->memory, &vars, var);
    if (at == d->fill_at) break;
  }
  tvms_list values = renamed_list(&n, realize->iter_values);
  tvms_node *body = tvms_sched_realize_new(s, block, values.items, values.len,
                                           renamed(&n, realize->predicate));
  int32_t at = tvms_sched_parent(s, d->block);
  for (uint32_t i = 0; i < vars.len; i++, at = tvms_sched_parent(s, at)) {
    const tvms_for *loop = tvms_sched_loop(s, at);
    body = tvms_sched_for_from(s, vars.items[i], loop->min, loop->extent, body);
  }
  tvms_vec_fini(&s->context->memory, &vars);
  tvms_node_map_fini(&n.vars);
  *made = &block->head;
  return body;
}

// ---- The block that copies ----

// The loop of a variable, from the block up to `inner_at`; TVMS_NO_SITE: there is none.
static int32_t inner_loop_of(const decomposing *d, const tvms_node *var) {
  for (int32_t at = tvms_sched_parent(d->sched, d->block);;
       at = tvms_sched_parent(d->sched, at)) {
    if (tvms_sched_loop(d->sched, at)->var == var) return at;
    if (at == d->inner_at) return TVMS_NO_SITE;
  }
}

// Makes the axes, and what they are bound to. Loops that are axes run only as far as the inside; `extents` has how far.
static tvms_list make_axes(decomposing *d, renaming *n, tvms_list *axes,
                           tvms_node_map *extents) {
  tvms_sched *s = d->sched;
  const tvms_block_realize *realize = tvms_sched_realize(s, d->block);
  tvms_list values =
      tvms_list_copy(s->unit, realize->iter_values.items, realize->iter_values.len);
  *axes = tvms_list_copy(s->unit, tvms_as_block(realize->block)->iter_vars.items,
                         values.len);
  for (uint32_t i = 0; i < values.len; i++) {
    const tvms_node *old = tvms_as_iter_var(axes->items[i])->var;
    tvms_node *min = d->images[i].base, *value = values.items[i];
    tvms_node *var = tvms_sched_var(s, old, "", old->dtype);
    axes->items[i] = tvms_sched_axis(s, var, d->images[i].extent);
    tvms_node_map_put(&n->vars, old, tvms_sched_build(s, TVMS_NODE_ADD, var, min));
    if (value->kind == TVMS_NODE_VAR && inner_loop_of(d, value) != TVMS_NO_SITE) {
      tvms_node_map_put(extents, value, d->images[i].extent);
      tvms_node_map_put(&n->vars, value,
                        tvms_sched_build(s, TVMS_NODE_ADD, value, min));
      tvms_analyzer_bind_range(d->analyzer, value, tvms_sched_int(s, value->dtype, 0),
                               d->images[i].extent);
      continue;
    }
    values.items[i] = tvms_analyzer_simplify(
        d->analyzer, tvms_sched_build(s, TVMS_NODE_SUB, value, min));
  }
  return values;
}

static tvms_node *make_inner(decomposing *d) {
  tvms_sched *s = d->sched;
  const tvms_block *old = tvms_sched_block(s, d->block);
  renaming n = {.d = d};
  tvms_node_map extents;
  tvms_node_map_init(&n.vars, &s->context->memory);
  tvms_node_map_init(&extents, &s->context->memory);
  tvms_block *block = tvms_as_block(tvms_node_copy(s->unit, &old->head));
  tvms_list values = make_axes(d, &n, &block->iter_vars, &extents);
  block->reads = renamed_regions(&n, old->reads);
  block->writes = renamed_regions(&n, old->writes);
  block->annotations = NULL;
  block->body = stored(&n, old, renamed(&n, d->value));
  tvms_node *body = tvms_sched_realize_new(s, block, values.items, values.len,
                                           renamed(&n, d->inside));
  for (int32_t at = tvms_sched_parent(s, d->block);; at = tvms_sched_parent(s, at)) {
    tvms_for *loop = tvms_as_for(tvms_node_copy(s->unit, tvms_sched_at(s, at)->node));
    tvms_node *extent = tvms_node_map_get(&extents, loop->var);
    if (extent) {
      loop->min = tvms_sched_int(s, loop->var->dtype, 0);
      loop->extent = extent;
    }
    loop->body = body;
    body = &loop->head;
    if (at == d->inner_at) break;
  }
  tvms_node_map_fini(&extents);
  tvms_node_map_fini(&n.vars);
  return body;
}

// ---- The whole ----

// Those that read what the block writes no longer read what was written below their common loop, if the filling block is above it.
static void note_cover(decomposing *d, uint16_t number, int32_t fill) {
  tvms_sched *s = d->sched;
  tvms_site_vec readers = {0};
  int32_t block = tvms_sched_find(s, (tvms_sched_ref){s, number, NULL, TVMS_MARK_NONE});
  tvms_sched_consumers(s, block, &readers);
  for (uint32_t i = 0; s->keeps_flags && i < readers.len; i++) {
    int32_t common = tvms_sched_common(s, readers.items[i], block);
    if (tvms_sched_is_in(s, fill, common)) continue;
    tvms_sched_flags_of(s, readers.items[i])->cover = false;
    tvms_sched_flags_of(s, tvms_sched_scope(s, block))->pipeline = false;
  }
  tvms_vec_fini(&s->context->memory, &readers);
}

static void replace(tvms_step *step, decomposing *d) {
  tvms_sched *s = d->sched;
  uint16_t number = tvms_sched_at(s, d->block)->node->spare;
  tvms_node *made, *fill = make_fill(d, &made);
  tvms_node *outer = tvms_sched_at(s, d->fill_at)->node;
  tvms_sched_edit edit = {tvms_sched_at(s, d->inner_at)->node, make_inner(d)};
  tvms_node *rest = tvms_sched_edited(s->unit, outer, &edit, 1);
  tvms_sched_replace_one(s, outer, tvms_stmt_pair(s->unit, fill, rest));
  int32_t site = tvms_sched_site_of(s, made);
  tvms_sched_flags_give(s, site);
  note_cover(d, number, site);
  tvms_step_give(step, site);
}

bool tvms_step_decompose_padding(tvms_step *step) {
  tvms_sched *s = step->sched;
  decomposing d = {.sched = s};
  d.block = tvms_step_site(step, TVMS_ARG(DecomposePadding, block));
  if (d.block == TVMS_NO_SITE) return false;
  d.fill_at = tvms_step_site(step, TVMS_ARG(DecomposePadding, loop));
  if (d.fill_at == TVMS_NO_SITE || !tvms_sched_check_scope(s, d.block, false, &d.scope))
    return false;
  const char *why = tvms_sched_why_incomplete(s, d.block, d.scope);
  if (why) return tvms_sched_refuse(s, "the block is not complete: %s", why);
  d.analyzer = tvms_analyzer_new(s->unit);
  bool fine = find_loops(&d) && find_pattern(&d) && find_images(&d);
  if (fine) replace(step, &d);
  tvms_analyzer_free(d.analyzer);
  tvms_vec_fini(&s->context->memory, &d.loops);
  return fine;
}
