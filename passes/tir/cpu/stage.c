// Reading stages, from the loops and the block of a nest to its axes and its store, and writing them.
#include "passes/tir/cpu/stage.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

uint32_t tvms_stage_axis_of(const tvms_stage *stage, const tvms_node *var) {
  uint32_t i = 0;
  while (i < stage->count && stage->axes[i].var != var)
    i++;
  return i < stage->count ? i : TVMS_MOST_STAGE_AXES;
}

// Indices may be wider where the value goes, or narrower: what is computed with them has the wider data type.
static tvms_node *match_widths(tvms_rewriter *r, tvms_node *node) {
  const tvms_binary *b = tvms_as_binary(node);
  bool number = node->kind < TVMS_NODE_EQ;
  bool same = b->a->dtype.bits == b->b->dtype.bits
              && (!number || node->dtype.bits == b->a->dtype.bits);
  if (same) return node;
  return tvms_build_binary(r->unit, (tvms_node_kind)node->kind, b->a, b->b, node->span);
}

tvms_node *tvms_stage_value_at(tvms_unit *unit, tvms_node *value,
                               const tvms_node_map *at) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, NULL);
  for (int kind = TVMS_NODE_ADD; kind <= TVMS_NODE_OR; kind++)
    r.leave[kind] = match_widths;
  for (uint32_t i = 0; i < at->cap; i++)
    if (at->pairs[i].key && at->pairs[i].value)
      tvms_node_map_put(&r.known, at->pairs[i].key, at->pairs[i].value);
  tvms_node *made = tvms_rewrite(&r, value);
  tvms_rewriter_fini(&r);
  return made;
}

bool tvms_stage_axis_is_single(const tvms_stage_axis *axis) {
  return tvms_node_is_int(axis->extent, 1);
}

int64_t tvms_stage_steps(const tvms_stage *stage, bool *known) {
  int64_t steps = 1;
  *known = true;
  for (uint32_t i = 0; i < stage->count; i++) {
    int64_t extent = tvms_cpu_number(stage->axes[i].extent);
    *known &= extent >= 0;
    if (__builtin_mul_overflow(steps, extent < 0 ? 64 : extent, &steps)) return -1;
  }
  return steps;
}

bool tvms_stage_begins_with_zero(const tvms_stage *stage) {
  const tvms_node *init = stage->init;
  return init && init->kind == TVMS_NODE_FLOAT_IMM
         && tvms_as_float_imm(init)->value == 0.0;
}

bool tvms_stage_has_sums(const tvms_stage *stage) {
  for (uint32_t i = 0; i < stage->count; i++) {
    if (stage->axes[i].sums) return true;
  }
  return false;
}

// The loops as axes; returns what they stand around, or NULL if one is not plain.
static tvms_node *TVMS_NULLABLE read_loops(tvms_node *nest, tvms_stage *stage) {
  stage->count = 0;
  while (nest->kind == TVMS_NODE_FOR) {
    const tvms_for *loop = tvms_as_for(nest);
    bool plain = loop->for_kind == TVMS_FOR_SERIAL && !loop->annotations && !loop->step
                 && tvms_node_is_int(loop->min, 0);
    if (!plain || stage->count == TVMS_MOST_STAGE_AXES) return NULL;
    stage->axes[stage->count++] = (tvms_stage_axis){loop->var, loop->extent, false};
    nest = loop->body;
  }
  return nest;
}

// Does how far a loop goes depend on one around it?
static bool is_skewed(tvms_memory *memory, const tvms_stage *stage) {
  for (uint32_t i = 1; i < stage->count; i++) {
    for (uint32_t k = 0; k < i; k++) {
      if (tvms_walk_contains(memory, stage->axes[i].extent, stage->axes[k].var))
        return true;
    }
  }
  return false;
}

static bool same_extent(tvms_unit *unit, tvms_node *a, tvms_node *b) {
  return tvms_node_same_expr(a, b) || tvms_arith_prove_equal(unit, a, b);
}

// Puts a variable of the block in the place of the loop that it is bound to, or in front of all
// loops if it is bound to 0 and can be nothing else.
static bool bind(tvms_unit *unit, const tvms_iter_var *iter, tvms_node *value,
                 tvms_stage *stage) {
  bool known =
      iter->iter_type == TVMS_ITER_DATA_PAR || iter->iter_type == TVMS_ITER_COMM_REDUCE;
  const tvms_range *domain = tvms_as_range(iter->dom);
  if (!known || !tvms_node_is_int(domain->min, 0)) return false;
  uint32_t at = tvms_stage_axis_of(stage, value);
  if (at == TVMS_MOST_STAGE_AXES) {
    bool single = tvms_node_is_int(value, 0) && tvms_node_is_int(domain->extent, 1);
    if (!single || stage->count == TVMS_MOST_STAGE_AXES) return false;
    at = stage->count++;
    stage->axes[at].extent = domain->extent;
  }
  if (!same_extent(unit, stage->axes[at].extent, domain->extent)) return false;
  stage->axes[at].var = iter->var;
  stage->axes[at].sums = iter->iter_type == TVMS_ITER_COMM_REDUCE;
  return true;
}

bool tvms_stage_only_describes(const tvms_node *TVMS_NULLABLE annotations) {
  static const char *const known[] = {"axis", "layout_free_placeholders",
                                      "schedule_rule", "op_attrs"};
  if (!annotations) return true;
  tvms_list keys = tvms_as_object_map(annotations)->keys;
  for (uint32_t i = 0; i < keys.len; i++) {
    bool found = false;
    for (uint32_t k = 0; k < sizeof known / sizeof known[0]; k++)
      found |= keys.items[i]->kind == TVMS_NODE_OBJECT_STR
               && tvms_bytes_is(tvms_as_object_str(keys.items[i])->value, known[k]);
    if (!found) return false;
  }
  return true;
}

static bool read_block(tvms_unit *unit, const tvms_block_realize *realize,
                       tvms_stage *stage, tvms_node **body, tvms_node **init) {
  const tvms_block *block = tvms_as_block(realize->block);
  bool plain = tvms_node_is_true(realize->predicate) && !block->alloc_buffers.len
               && !block->match_buffers.len
               && tvms_stage_only_describes(block->annotations);
  if (!plain) return false;
  uint32_t loops = stage->count;
  tvms_node *loop_vars[TVMS_MOST_STAGE_AXES];
  for (uint32_t i = 0; i < loops; i++)
    loop_vars[i] = stage->axes[i].var;
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[i]);
    if (!bind(unit, iter, realize->iter_values.items[i], stage)) return false;
  }
  // A loop that no variable of the block stands for would repeat it.
  for (uint32_t i = 0; i < loops; i++) {
    if (stage->axes[i].var == loop_vars[i]
        && !tvms_stage_axis_is_single(&stage->axes[i]))
      return false;
  }
  stage->name = block->name.text ? block->name.text : "";
  *body = block->body;
  *init = block->init;
  return true;
}

static bool same_indices(tvms_list a, tvms_list b) {
  if (a.len != b.len) return false;
  for (uint32_t i = 0; i < a.len; i++) {
    if (!tvms_node_same_expr(a.items[i], b.items[i])) return false;
  }
  return true;
}

bool tvms_stage_same_place(const tvms_store *a, const tvms_store *b) {
  return a->buffer == b->buffer && same_indices(a->indices, b->indices);
}

bool tvms_stage_loads_place(const tvms_store *store, const tvms_node *node) {
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return false;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  return load->buffer == store->buffer && !load->predicate
         && same_indices(load->indices, store->indices);
}

bool tvms_stage_is_result(const tvms_stage *stage, const tvms_node *node) {
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return false;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  return load->buffer == stage->store->buffer && !load->predicate
         && tvms_node_same_exprs(load->indices, stage->store->indices);
}

tvms_node *TVMS_NULLABLE tvms_stage_term(const tvms_stage *stage, tvms_node_kind kind) {
  const tvms_node *value = stage->store->value;
  if (value->kind != kind) return NULL;
  const tvms_binary *both = tvms_as_binary(value);
  if (tvms_stage_is_result(stage, both->a)) return both->b;
  return tvms_stage_is_result(stage, both->b) ? both->a : NULL;
}

// Without a block the axes that the place of the store lacks are those that are summed over.
static void find_sums(tvms_memory *memory, tvms_stage *stage) {
  for (uint32_t i = 0; i < stage->count; i++) {
    bool used = tvms_stage_axis_is_single(&stage->axes[i]);
    for (uint32_t k = 0; k < stage->store->indices.len && !used; k++)
      used = tvms_walk_contains(memory, stage->store->indices.items[k],
                                stage->axes[i].var);
    stage->axes[i].sums = !used;
  }
}

const char *TVMS_NULLABLE tvms_stage_read_nest(tvms_unit *unit, tvms_node *nest,
                                               tvms_stage *stage, tvms_node **body,
                                               tvms_node **init, bool *blocked) {
  *stage = (tvms_stage){.nest = nest, .name = ""};
  *init = NULL;
  *body = read_loops(nest, stage);
  if (!*body) return "a loop is scheduled already";
  if (is_skewed(&unit->context->memory, stage))
    return "how far a loop goes depends on one around it";
  *blocked = (*body)->kind == TVMS_NODE_BLOCK_REALIZE;
  if (*blocked && !read_block(unit, tvms_as_block_realize(*body), stage, body, init))
    return "the variables of its block are not those of its loops";
  return NULL;
}

const char *TVMS_NULLABLE tvms_stage_read(tvms_unit *unit, tvms_node *nest,
                                          tvms_stage *stage) {
  tvms_node *body, *init;
  bool blocked;
  const char *why = tvms_stage_read_nest(unit, nest, stage, &body, &init, &blocked);
  if (why) return why;
  if (body->kind != TVMS_NODE_STORE || tvms_as_store(body)->predicate)
    return "it is more than one store";
  stage->store = tvms_as_store(body);
  if (!blocked) find_sums(&unit->context->memory, stage);
  if (!init) return NULL;
  bool fits = init->kind == TVMS_NODE_STORE && !tvms_as_store(init)->predicate
              && tvms_stage_same_place(tvms_as_store(init), stage->store);
  if (!fits) return "it begins with more than one value";
  stage->init = tvms_as_store(init)->value;
  return NULL;
}

static tvms_node *write(tvms_unit *unit, const tvms_stage *stage, const char *name,
                        tvms_node *store, tvms_node *TVMS_NULLABLE init, bool sums) {
  tvms_node *iters[TVMS_MOST_STAGE_AXES], *loops[TVMS_MOST_STAGE_AXES];
  tvms_node *extents[TVMS_MOST_STAGE_AXES];
  uint32_t count = 0;
  tvms_node_map fresh;
  tvms_node_map_init(&fresh, &unit->context->memory);
  for (uint32_t i = 0; i < stage->count; i++) {
    const tvms_stage_axis *axis = &stage->axes[i];
    if (axis->sums && !sums) continue;
    tvms_iter_var *iter = tvms_node_make(unit, ITER_VAR, TVMS_NO_SPAN);
    tvms_node *zero = tvms_int_imm_new(unit, axis->var->dtype, 0, TVMS_NO_SPAN);
    iter->dom = tvms_range_new(unit, zero, axis->extent, TVMS_NO_SPAN);
    iter->var = tvms_cpu_variable(unit, "v", axis->var);
    iter->iter_type = axis->sums ? TVMS_ITER_COMM_REDUCE : TVMS_ITER_DATA_PAR;
    tvms_node_map_put(&fresh, axis->var, iter->var);
    iters[count] = &iter->head;
    extents[count] = axis->extent;
    loops[count++] = tvms_cpu_variable(unit, "i", axis->var);
  }
  store = tvms_substitute(unit, store, &fresh);
  if (init) init = tvms_substitute(unit, init, &fresh);
  tvms_node_map_fini(&fresh);
  tvms_node *made = tvms_cpu_block(unit, name, (tvms_list){0}, store);
  tvms_block_realize *realize = tvms_as_block_realize(made);
  tvms_block *block = tvms_as_block(realize->block);
  block->iter_vars = tvms_list_copy(unit, iters, count);
  block->init = init;
  realize->iter_values = tvms_list_copy(unit, loops, count);
  for (uint32_t i = count; i-- > 0;)
    made = tvms_cpu_loop(unit, loops[i], extents[i], TVMS_FOR_SERIAL, made);
  made->span = stage->nest->span;
  return made;
}

tvms_node *tvms_stage_write(tvms_unit *unit, const tvms_stage *stage, const char *name,
                            tvms_node *store, tvms_node *TVMS_NULLABLE init) {
  return write(unit, stage, name, store, init, true);
}

tvms_node *tvms_stage_write_each(tvms_unit *unit, const tvms_stage *stage,
                                 const char *name, tvms_node *store) {
  return write(unit, stage, name, store, NULL, false);
}
