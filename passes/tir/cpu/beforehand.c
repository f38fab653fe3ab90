// Laying constant operands out for the tiles, in a statement of its own.
//
//   packed[j // 32, k, j % 32] = W[k, j]      meta_schedule.layout_rewrite_preproc
//
// SplitLayoutRewritePreproc makes a PrimFunc of it, which runs where weights are prepared. A strip
// is read from end to end then, whatever the layout of the weights was. Operands that several products have of their own,
// such as the weights of groups of channels, lie one behind the other. Of words of bytes (quads.c) there may be sums:
//
//   packed[j // 32, 64, j % 32] = sum over k of the four bytes of packed[j // 32, k, j % 32]      of 64 steps, marked, too
#include "passes/tir/cpu/beforehand.h"

#include "ir/fold.h"
#include "ir/object.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/quad_operand.h"

#include <string.h>

static const char mark[] = "meta_schedule.layout_rewrite_preproc";

typedef struct {
  tvms_unit *unit;
  const tvms_prim_func *function;
  const tvms_contraction *c;
  const tvms_tile *tile;
  tvms_node *load;     // of the operand
  tvms_node *operand;  // that load, or the word of four of its bytes
  uint32_t loads;      // that could be it
  uint32_t uses;       // of its buffer in the function
  tvms_node *packed;   // buffer
} layout;

static tvms_node *build(layout *l, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(l->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(layout *l, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(l->unit, like->dtype, value, TVMS_NO_SPAN);
}

// ---- Which operand ----

static bool is_free(const layout *l, const tvms_node *buffer) {
  const tvms_node *list =
      tvms_object_map_get(l->function->attrs, "layout_free_buffers");
  if (!list || list->kind != TVMS_NODE_OBJECT_ARRAY) return false;
  tvms_list items = tvms_as_object_array(list)->items;
  for (uint32_t i = 0; i < items.len; i++) {
    int64_t at;
    if (!tvms_object_as_int(items.items[i], &at)) continue;
    if (at >= 0 && at < l->function->buffers.len
        && l->function->buffers.items[at] == buffer)
      return true;
  }
  return false;
}

static int64_t steps_of(const layout *l, tvms_axis_role role) {
  int64_t steps = 1;
  for (uint32_t i = 0; i < l->c->stage.count; i++) {
    if (l->c->roles[i] == role) steps *= tvms_cpu_number(l->c->stage.axes[i].extent);
  }
  return steps;
}

static int64_t strips_of(const layout *l) {
  int64_t columns = tvms_contraction_column_steps(l->c), strip = l->tile->strip;
  return (columns + strip - 1) / strip;
}

// Do the indices depend on every axis of the columns and sums, and of the products of which each has an operand of its own,
// and on no other one?
static bool fits(const layout *l, const tvms_node *load) {
  tvms_list indices = tvms_as_buffer_load(load)->indices;
  // What is added up of words of bytes is one product's.
  bool quads = tvms_cpu_quad_factors(l->c->term);
  for (uint32_t i = 0; i < l->c->stage.count; i++) {
    const tvms_stage_axis *axis = &l->c->stage.axes[i];
    tvms_axis_role role = l->c->roles[i];
    bool wanted = role == TVMS_AXIS_COLUMN || role == TVMS_AXIS_SUM
                  || (role == TVMS_AXIS_BATCH && !quads);
    bool found = false;
    for (uint32_t k = 0; k < indices.len; k++)
      found |=
          tvms_walk_contains(&l->unit->context->memory, indices.items[k], axis->var);
    if (found != wanted && !tvms_stage_axis_is_single(axis)) return false;
  }
  return true;
}

static tvms_walk_step find_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  layout *l = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (load->predicate || !is_free(l, load->buffer) || !fits(l, node))
    return TVMS_WALK_SKIP;
  l->load = node;
  l->loads++;
  return TVMS_WALK_SKIP;
}

static bool is_known(tvms_list sizes) {
  for (uint32_t i = 0; i < sizes.len; i++)
    if (tvms_cpu_number(sizes.items[i]) < 0) return false;
  return true;
}

// Are the numbers of columns, of steps of the sum and of products known, and the operand's sizes?
static bool knows_sizes(const layout *l) {
  for (uint32_t i = 0; i < l->c->stage.count; i++) {
    bool counts = l->c->roles[i] == TVMS_AXIS_BATCH;
    if (counts && tvms_cpu_number(l->c->stage.axes[i].extent) < 0) return false;
  }
  return tvms_contraction_column_steps(l->c) >= 0 && tvms_contraction_steps(l->c) >= 0
         && is_known(tvms_as_buffer(tvms_as_buffer_load(l->load)->buffer)->shape);
}

// Is each element of the operand for one column and one step? What is for many, such as a scale or a word
// of several weights, would be as many copies.
static bool is_read_once(const layout *l) {
  int64_t elements = 1;
  tvms_list shape = tvms_as_buffer(tvms_as_buffer_load(l->load)->buffer)->shape;
  for (uint32_t i = 0; i < shape.len; i++)
    elements *= tvms_cpu_number(shape.items[i]);
  int64_t places = tvms_contraction_column_steps(l->c) * tvms_contraction_steps(l->c)
                   * steps_of(l, TVMS_AXIS_BATCH);
  if (!tvms_cpu_quad_factors(l->c->term)) return elements == places;
  return elements <= TVMS_QUAD * places && 2 * elements > places;
}

static tvms_walk_step count_use(void *self, tvms_node *node, tvms_field_role role) {
  layout *l = self;
  if (role == TVMS_ROLE_ACCESS || node->kind == TVMS_NODE_BUFFER_REGION)
    return TVMS_WALK_SKIP;
  const tvms_node *buffer = tvms_as_buffer_load(l->load)->buffer;
  bool used = node->kind == TVMS_NODE_BUFFER_LOAD
              && tvms_as_buffer_load(node)->buffer == buffer;
  used |= node == tvms_as_buffer(buffer)->data;
  used |= node->kind == TVMS_NODE_STORE && tvms_as_store(node)->buffer == buffer;
  l->uses += used;
  return node->kind == TVMS_NODE_BUFFER ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

static bool find_operand(layout *l) {
  tvms_memory *memory = &l->unit->context->memory;
  tvms_visitor finder = {.self = l, .enter = find_load};
  tvms_walk(memory, l->c->term, &finder);
  bool quads = tvms_cpu_quad_factors(l->c->term) != NULL;
  if (l->loads != (quads ? TVMS_QUAD : 1) || !knows_sizes(l) || !is_read_once(l))
    return false;
  l->operand = quads ? l->c->moving : l->load;
  tvms_visitor counter = {.self = l, .enter = count_use};
  tvms_walk(memory, l->function->body, &counter);
  return l->uses == 1;
}

// ---- The copy ----

// Axes of a role, counted as one.
static tvms_node *flat(layout *l, tvms_axis_role role) {
  tvms_node *sum = NULL;
  for (uint32_t i = 0; i < l->c->stage.count; i++) {
    const tvms_stage_axis *axis = &l->c->stage.axes[i];
    if (l->c->roles[i] != role || tvms_stage_axis_is_single(axis)) continue;
    sum = sum ? build(l, TVMS_NODE_ADD, build(l, TVMS_NODE_MUL, sum, axis->extent),
                      axis->var)
              : axis->var;
  }
  return sum ? sum : number(l, l->c->stage.axes[l->c->column].var, 0);
}

// `sums`: with a step more, for these.
static void make_buffer(layout *l, bool sums) {
  const tvms_node *like = l->c->stage.axes[l->c->column].var;
  tvms_node *shape[] = {number(l, like, steps_of(l, TVMS_AXIS_BATCH) * strips_of(l)),
                        number(l, like, tvms_contraction_steps(l->c) + sums),
                        number(l, like, l->tile->strip)};
  l->packed = tvms_cpu_buffer(l->unit, "packed", l->operand->dtype, "global", shape, 3);
}

// The strip of a column; those of one product lie behind those of the one before it.
static tvms_node *strip_at(layout *l, tvms_node *column) {
  tvms_node *strip =
      build(l, TVMS_NODE_FLOOR_DIV, column, number(l, column, l->tile->strip));
  if (steps_of(l, TVMS_AXIS_BATCH) == 1) return strip;
  tvms_node *product = flat(l, TVMS_AXIS_BATCH);
  if (strips_of(l) == 1) return product;
  tvms_node *first = build(l, TVMS_NODE_MUL, product, number(l, column, strips_of(l)));
  return build(l, TVMS_NODE_ADD, first, strip);
}

static tvms_node *replace(tvms_rewriter *r, tvms_node *node) {
  layout *l = r->self;
  if (r->old != l->operand) return node;
  tvms_node *column = flat(l, TVMS_AXIS_COLUMN);
  tvms_node *strip = number(l, column, l->tile->strip);
  tvms_node *at[] = {strip_at(l, column), flat(l, TVMS_AXIS_SUM),
                     build(l, TVMS_NODE_FLOOR_MOD, column, strip)};
  return tvms_buffer_load_new(l->unit, l->packed, at, 3, NULL, TVMS_NO_SPAN);
}

static const tvms_store *reading_packed(layout *l) {
  const tvms_store *old = l->c->stage.store;
  tvms_rewriter r;
  tvms_rewriter_init(&r, l->unit, l);
  r.leave[l->operand->kind] = replace;
  tvms_node *term = tvms_rewrite(&r, l->c->term);
  tvms_rewriter_fini(&r);
  tvms_node *result = tvms_buffer_load_new(l->unit, old->buffer, old->indices.items,
                                           old->indices.len, NULL, TVMS_NO_SPAN);
  tvms_node *store = tvms_node_copy(l->unit, &old->head);
  tvms_as_store(store)->value = build(l, TVMS_NODE_ADD, result, term);
  return tvms_as_store(store);
}

// ---- Filling it ----

static tvms_node *digits(layout *l, tvms_axis_role role, tvms_node *number_of,
                         tvms_node_map *at) {
  uint32_t first = 0;
  while (l->c->roles[first] != role
         || tvms_stage_axis_is_single(&l->c->stage.axes[first])) {
    if (++first == l->c->stage.count) return number_of;
  }
  for (uint32_t i = l->c->stage.count; i-- > first;) {
    const tvms_stage_axis *axis = &l->c->stage.axes[i];
    if (l->c->roles[i] != role || tvms_stage_axis_is_single(axis)) continue;
    tvms_node *digit =
        i == first ? number_of : build(l, TVMS_NODE_FLOOR_MOD, number_of, axis->extent);
    tvms_node_map_put(at, axis->var, digit);
    if (i != first) number_of = build(l, TVMS_NODE_FLOOR_DIV, number_of, axis->extent);
  }
  return number_of;
}

static tvms_node *iteration(layout *l, const char *name, tvms_node *extent) {
  tvms_iter_var *iter = tvms_node_make(l->unit, ITER_VAR, TVMS_NO_SPAN);
  iter->dom = tvms_range_new(l->unit, number(l, extent, 0), extent, TVMS_NO_SPAN);
  iter->var = tvms_cpu_variable(l->unit, name, extent);
  iter->iter_type = TVMS_ITER_DATA_PAR;
  return &iter->head;
}

// What lies at one place; 0 behind the last column.
static tvms_node *element_at(layout *l, tvms_node *const *vars) {
  tvms_node *strip = number(l, vars[0], l->tile->strip), *at_strip = vars[0];
  tvms_node *strips = number(l, vars[0], strips_of(l));
  bool several = steps_of(l, TVMS_AXIS_BATCH) > 1;
  if (several) at_strip = build(l, TVMS_NODE_FLOOR_MOD, at_strip, strips);
  tvms_node *column =
      build(l, TVMS_NODE_ADD, build(l, TVMS_NODE_MUL, at_strip, strip), vars[2]);
  tvms_node_map at;
  tvms_node_map_init(&at, &l->unit->context->memory);
  if (several)
    digits(l, TVMS_AXIS_BATCH, build(l, TVMS_NODE_FLOOR_DIV, vars[0], strips), &at);
  digits(l, TVMS_AXIS_COLUMN, column, &at);
  digits(l, TVMS_AXIS_SUM, vars[1], &at);
  tvms_node *value = tvms_substitute(l->unit, l->operand, &at);
  tvms_node_map_fini(&at);
  int64_t columns = tvms_contraction_column_steps(l->c);
  if (columns % l->tile->strip == 0) return value;
  tvms_node *inside = build(l, TVMS_NODE_LT, column, number(l, column, columns));
  tvms_node *zero = tvms_build_cast(
      l->unit, value->dtype,
      tvms_int_imm_new(l->unit, l->c->stage.axes[l->c->column].var->dtype, 0,
                       TVMS_NO_SPAN),
      TVMS_NO_SPAN);
  tvms_node *choice[] = {inside, value, zero};
  return tvms_call_new_of(l->unit, value->dtype, TVMS_TIR_if_then_else, choice, 3,
                          TVMS_NO_SPAN);
}

// A marked statement: loops over strips, steps and columns around a block with these axes that stores.
static tvms_node *marked(layout *l, tvms_node *const *iters, tvms_node *store,
                         tvms_node *TVMS_NULLABLE init) {
  static const char *const names[] = {"strip", "step", "column"};
  tvms_node *loops[3], *made;
  made = tvms_cpu_block(l->unit, "layout_rewrite", (tvms_list){0}, store);
  tvms_block_realize *realize = tvms_as_block_realize(made);
  tvms_block *block = tvms_as_block(realize->block);
  block->iter_vars = tvms_list_copy(l->unit, iters, 3);
  block->init = init;
  // What a sum adds to itself is not read.
  tvms_list reads = {tvms_arena_array(&l->unit->arena, tvms_node *, block->reads.len),
                     0};
  for (uint32_t i = 0; i < block->reads.len; i++) {
    tvms_node *read = block->reads.items[i];
    if (tvms_as_buffer_region(read)->buffer != l->packed)
      reads.items[reads.len++] = read;
  }
  block->reads = reads;
  block->annotations =
      tvms_object_map_with(l->unit, block->annotations, mark,
                           tvms_object_bool_new(l->unit, true, TVMS_NO_SPAN));
  for (uint32_t i = 0; i < 3; i++)
    loops[i] = tvms_cpu_variable(l->unit, names[i], tvms_as_iter_var(iters[i])->var);
  realize->iter_values = tvms_list_copy(l->unit, loops, 3);
  for (uint32_t i = 3; i-- > 0;) {
    tvms_node *extent = tvms_as_range(tvms_as_iter_var(iters[i])->dom)->extent;
    made = tvms_cpu_loop(l->unit, loops[i], extent, TVMS_FOR_SERIAL, made);
  }
  return made;
}

static void make_axes(layout *l, tvms_node **iters, tvms_node **vars) {
  static const char *const axes[] = {"vs", "vk", "vj"};
  tvms_list shape = tvms_as_buffer(l->packed)->shape;
  for (uint32_t i = 0; i < 3; i++) {
    tvms_node *extent = i == 1 ? number(l, shape.items[i], tvms_contraction_steps(l->c))
                               : shape.items[i];
    iters[i] = iteration(l, axes[i], extent);
    vars[i] = tvms_as_iter_var(iters[i])->var;
  }
}

static tvms_node *preparer(layout *l) {
  tvms_node *iters[3], *vars[3];
  make_axes(l, iters, vars);
  tvms_node *store = tvms_cpu_store(
      l->unit, l->packed, tvms_list_copy(l->unit, vars, 3), element_at(l, vars));
  return marked(l, iters, store, NULL);
}

// ---- Sums of words ----

static tvms_node *adder(layout *l) {
  tvms_node *iters[3], *vars[3];
  make_axes(l, iters, vars);
  tvms_as_iter_var(iters[1])->iter_type = TVMS_ITER_COMM_REDUCE;
  tvms_node *word = element_at(l, vars), *one, *at[] = {vars[0], NULL, vars[2]};
  at[1] = number(l, vars[1], tvms_contraction_steps(l->c));
  one = tvms_int_imm_new(l->unit, word->dtype, TVMS_QUAD_OF_ONES, TVMS_NO_SPAN);
  bool first = tvms_cpu_quad_factors(l->c->term)[0] == l->operand;
  tvms_node *bytes =
      tvms_cpu_quad_product(l->unit, first ? word : one, first ? one : word);
  tvms_node *sum = tvms_buffer_load_new(l->unit, l->packed, at, 3, NULL, TVMS_NO_SPAN);
  tvms_list place = tvms_list_copy(l->unit, at, 3);
  tvms_node *zero = tvms_int_imm_new(l->unit, word->dtype, 0, TVMS_NO_SPAN);
  return marked(
      l, iters,
      tvms_cpu_store(l->unit, l->packed, place, build(l, TVMS_NODE_ADD, sum, bytes)),
      tvms_cpu_store(l->unit, l->packed, place, zero));
}

// The stage that takes the sums from where they lie.
static tvms_node *from_packed(layout *l, const tvms_stage *stage) {
  const tvms_store *out = stage->store;
  tvms_list shape = tvms_as_buffer(out->buffer)->shape;
  tvms_node *column = out->indices.items[0];
  for (uint32_t i = 1; i < shape.len; i++)
    column = build(l, TVMS_NODE_ADD, build(l, TVMS_NODE_MUL, column, shape.items[i]),
                   out->indices.items[i]);
  tvms_node *strip = number(l, column, l->tile->strip);
  tvms_node *at[] = {build(l, TVMS_NODE_FLOOR_DIV, column, strip),
                     number(l, column, tvms_contraction_steps(l->c)),
                     build(l, TVMS_NODE_FLOOR_MOD, column, strip)};
  tvms_node *sum = tvms_buffer_load_new(l->unit, l->packed, at, 3, NULL, TVMS_NO_SPAN);
  return tvms_stage_write_each(l->unit, stage, stage->name,
                               tvms_cpu_store(l->unit, out->buffer, out->indices, sum));
}

// Does the statement add up the operand, which nobody else reads in the text?
static bool adds_up(layout *l, tvms_node *TVMS_NULLABLE *before, tvms_stage *stage) {
  const tvms_node *parameter = tvms_as_buffer_load(l->load)->buffer;
  return before && tvms_cpu_quad_factors(l->c->term)
         && tvms_cpu_mentions(l->unit, *before, parameter)
         && !tvms_stage_read(l->unit, *before, stage);
}

bool tvms_cpu_lay_out_beforehand(tvms_unit *unit, const tvms_prim_func *function,
                                 const tvms_contraction *contraction,
                                 const tvms_tile *tile,
                                 tvms_node *TVMS_NULLABLE *before,
                                 tvms_beforehand *made) {
  layout l = {.unit = unit, .function = function, .c = contraction, .tile = tile};
  tvms_stage sums;
  if (!find_operand(&l)) return false;
  bool adds = adds_up(&l, before, &sums);
  make_buffer(&l, adds);
  made->stage = contraction->stage;
  made->stage.store = reading_packed(&l);
  made->buffer = l.packed;
  made->preparer = preparer(&l);
  made->adder = adds ? adder(&l) : NULL;
  if (adds) *before = from_packed(&l, &sums);
  return true;
}
