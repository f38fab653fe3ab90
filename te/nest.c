// Loops and blocks of stages, level by level.
//
// Nearly every stage has one level. Where windows differ in size (adaptive pooling), the
// loops over the window stand inside of a block that binds the other axes.
#include "te/nest.h"

#include "ir/rewrite.h"
#include "ir/walk.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_stage *stage;
  tvms_te *te;
  uint32_t *depths;   // level at which each axis is defined
  uint32_t levels;    // how many there are
  tvms_node **outer;  // variables of the level around the one at hand, one per axis
  tvms_node **own;    // and those of this level
} nest;

static tvms_memory *memory_of(tvms_te *te) {
  return &te->unit->context->memory;
}

const char *tvms_te_block_name(tvms_te *te, const char *name) {
  char text[128];
  snprintf(text, sizeof text, "%s", name);
  for (uint32_t n = 1;; n++) {
    tvms_sym sym = tvms_symbol_intern(te->unit->context, text, strlen(text));
    uint32_t i = 0;
    while (i < te->block_names.len && te->block_names.items[i] != sym)
      i++;
    if (i == te->block_names.len) {
      tvms_vec_push(memory_of(te), &te->block_names, sym);
      return tvms_symbol_text(te->unit->context, sym);
    }
    snprintf(text, sizeof text, "%s_%u", name, n);
  }
}

// ---- Which axis belongs to which level ----

static tvms_walk_step note_axis(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  nest *n = self;
  for (uint32_t i = 0; node->kind == TVMS_NODE_VAR && i < n->stage->axes.len; i++) {
    if (n->stage->axes.items[i] == node && n->levels <= n->depths[i]) {
      n->levels = n->depths[i] + 1;
    }
  }
  return TVMS_WALK_ON;
}

// The level of an axis is one more than those of the axes that its extent mentions; these
// stand in front of it.
static void find_levels(nest *n) {
  tvms_stage *stage = n->stage;
  n->depths = tvms_arena_array(&n->te->unit->arena, uint32_t, stage->axes.len + 1);
  uint32_t deepest = 0;
  for (uint32_t i = 0; i < stage->axes.len; i++) {
    tvms_node *extent = stage->extents.items[i];
    n->depths[i] = n->levels = 0;
    if (extent->kind == TVMS_NODE_INT_IMM || extent->kind == TVMS_NODE_VAR) continue;
    stage->extents.items[i] = tvms_analyzer_simplify(n->te->analyzer, extent);
    tvms_visitor visitor = {.self = n, .enter = note_axis};
    tvms_walk(memory_of(n->te), stage->extents.items[i], &visitor);
    n->depths[i] = n->levels;
    if (n->levels > deepest) deepest = n->levels;
  }
  n->levels = deepest + 1;
}

// ---- Blocks ----

// What speaks of the stage's axes, said in the variables of a level.
static tvms_node *in_level(nest *n, tvms_node *const *vars, tvms_node *node) {
  tvms_node_map map;
  tvms_node_map_init(&map, memory_of(n->te));
  for (uint32_t i = 0; i < n->stage->axes.len; i++) {
    if (vars[i]) tvms_node_map_put(&map, n->stage->axes.items[i], vars[i]);
  }
  tvms_node *made = tvms_substitute(n->te->unit, node, &map);
  tvms_node_map_fini(&map);
  return made;
}

static tvms_node *iter_var(tvms_te *te, tvms_node *var, tvms_node *min,
                           tvms_node *extent, tvms_iter_type type) {
  tvms_iter_var *iter = tvms_node_make(te->unit, ITER_VAR, TVMS_NO_SPAN);
  iter->dom = tvms_range_new(te->unit, min, extent, TVMS_NO_SPAN);
  iter->var = var;
  iter->iter_type = type;
  return &iter->head;
}

// A block without axes still binds one variable: vi = T.axis.spatial(1, 0).
static void add_dummy_axis(tvms_te *te, tvms_block *block,
                           tvms_block_realize *realize) {
  tvms_dtype dtype = TVMS_DTYPE(INT, 32);
  tvms_sym name = tvms_symbol_intern(te->unit->context, "vi", 2);
  tvms_node *var = tvms_var_new(te->unit, name, dtype, TVMS_NO_SPAN);
  tvms_node *one = tvms_int_imm_new(te->unit, dtype, 1, TVMS_NO_SPAN);
  tvms_node *zero = tvms_int_imm_new(te->unit, dtype, 0, TVMS_NO_SPAN);
  tvms_node *iter = iter_var(te, var, zero, one, TVMS_ITER_DATA_PAR);
  block->iter_vars = tvms_list_copy(te->unit, &iter, 1);
  realize->iter_values = tvms_list_copy(te->unit, &zero, 1);
}

static tvms_iter_type type_of(const nest *n, uint32_t axis) {
  return axis < n->stage->shape.len ? TVMS_ITER_DATA_PAR : TVMS_ITER_COMM_REDUCE;
}

// The variables of a block at `level`: those that are new there run over a loop, the others
// stand still at what the level around has bound.
static void bind_axes(nest *n, uint32_t level, tvms_block *block,
                      tvms_block_realize *realize) {
  tvms_unit *unit = n->te->unit;
  tvms_node_vec iters = {0}, values = {0};
  for (uint32_t i = 0; i < n->stage->axes.len; i++) {
    if (n->depths[i] > level) continue;
    tvms_dtype dtype = n->stage->axes.items[i]->dtype;
    bool is_new = n->depths[i] == level;
    tvms_node *min =
        is_new ? tvms_int_imm_new(unit, dtype, 0, TVMS_NO_SPAN) : n->outer[i];
    tvms_node *extent = is_new ? n->stage->extents.items[i]
                               : tvms_int_imm_new(unit, dtype, 1, TVMS_NO_SPAN);
    if (is_new && level) extent = in_level(n, n->outer, extent);
    tvms_vec_push(memory_of(n->te), &iters,
                  iter_var(n->te, n->own[i], min, extent, type_of(n, i)));
    tvms_vec_push(memory_of(n->te), &values,
                  is_new ? n->stage->loops.items[i] : n->outer[i]);
  }
  block->iter_vars = tvms_list_copy(unit, iters.items, iters.len);
  realize->iter_values = tvms_list_copy(unit, values.items, values.len);
  tvms_vec_fini(memory_of(n->te), &iters);
  tvms_vec_fini(memory_of(n->te), &values);
}

// Whether the block at `level` starts the reduction: the outermost one that has a reduced
// axis, up to 0.26 those inside as well.
static bool begins_reduction(const nest *n, uint32_t level) {
  uint32_t outermost = n->levels - 1;
  for (uint32_t i = n->stage->shape.len; i < n->stage->axes.len; i++) {
    if (n->depths[i] < outermost) outermost = n->depths[i];
  }
  return level == outermost
         || (level > outermost
             && !tvms_release_has(n->te->unit->dialect,
                                  TVMS_FACT_nested_reductions_begin_once));
}

static tvms_node *loops_around(nest *n, uint32_t level, tvms_node *body) {
  tvms_unit *unit = n->te->unit;
  for (uint32_t i = n->stage->axes.len; i > 0; i--) {
    if (n->depths[i - 1] != level) continue;
    tvms_node *extent = n->stage->extents.items[i - 1];
    tvms_for *loop = tvms_node_make(unit, FOR, TVMS_NO_SPAN);
    loop->min = tvms_int_imm_new(unit, extent->dtype, 0, TVMS_NO_SPAN);
    loop->extent = level ? in_level(n, n->outer, extent) : extent;
    loop->var = n->stage->loops.items[i - 1];
    loop->body = body;
    body = &loop->head;
  }
  return body;
}

// The variables of a level: the axes themselves in the innermost one.
static tvms_node **variables_of(nest *n, uint32_t level) {
  uint32_t count = n->stage->axes.len;
  tvms_node **vars = tvms_arena_array(&n->te->unit->arena, tvms_node *, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    tvms_node *axis = n->stage->axes.items[i];
    bool known = n->depths[i] <= level;
    if (level + 1 < n->levels) {
      axis = known ? tvms_node_copy(n->te->unit, axis) : NULL;
    }
    vars[i] = axis;
  }
  return vars;
}

void tvms_te_nest(tvms_stage *stage, const char *name, tvms_node *init,
                  tvms_node *body) {
  nest n = {.stage = stage, .te = stage->te};
  tvms_unit *unit = n.te->unit;
  find_levels(&n);
  n.own = variables_of(&n, n.levels - 1);
  for (uint32_t level = n.levels; level-- > 0; n.own = n.outer) {
    bool is_leaf = level + 1 == n.levels;
    n.outer = level ? variables_of(&n, level - 1) : NULL;
    tvms_block *block = tvms_node_make(unit, BLOCK, TVMS_NO_SPAN);
    tvms_block_realize *realize = tvms_node_make(unit, BLOCK_REALIZE, TVMS_NO_SPAN);
    char text[128];
    snprintf(text, sizeof text, "%s_l%u", name, level + 1);
    const char *fresh = tvms_te_block_name(n.te, is_leaf ? name : text);
    block->name = tvms_bytes_copy(unit, fresh, strlen(fresh));
    block->annotations = stage->annotations;
    if (init && begins_reduction(&n, level)) {
      block->init = is_leaf ? init : in_level(&n, n.own, init);
    }
    block->body = body;
    block->head.flags |= TVMS_FLAG_READS_MISSING | TVMS_FLAG_WRITES_MISSING;
    realize->predicate = tvms_bool_imm_new(unit, true, TVMS_NO_SPAN);
    realize->block = &block->head;
    bind_axes(&n, level, block, realize);
    if (stage->axes.len == 0) add_dummy_axis(n.te, block, realize);
    body = loops_around(&n, level, &realize->head);
  }
  tvms_vec_push(memory_of(n.te), &n.te->stages, body);
}
