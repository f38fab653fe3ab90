// Building stages and turning them into a PrimFunc.
//
// Each stage is made of block variables from the start: the body never sees the loop
// variables, so nothing has to be substituted later.
#include "te/te.h"

#include "ir/fold_ops.h"
#include "ir/object.h"
#include "structinfo/complete.h"
#include "te/index_dtype.h"
#include "te/nest.h"

#include <stdio.h>
#include <string.h>

static tvms_memory *memory_of(tvms_te *te) {
  return &te->unit->context->memory;
}

void tvms_te_init(tvms_te *te, tvms_unit *unit) {
  *te = (tvms_te){.unit = unit, .analyzer = tvms_analyzer_new(unit)};
  tvms_analyzer_be_patient(te->analyzer);
}

void tvms_te_fini(tvms_te *te) {
  tvms_memory *memory = memory_of(te);
  tvms_vec_fini(memory, &te->params);
  tvms_vec_fini(memory, &te->buffers);
  tvms_vec_fini(memory, &te->outputs);
  tvms_vec_fini(memory, &te->sizes);
  tvms_vec_fini(memory, &te->allocs);
  tvms_vec_fini(memory, &te->stages);
  tvms_vec_fini(memory, &te->block_names);
  tvms_analyzer_free(te->analyzer);
}

static tvms_sym symbol(tvms_te *te, const char *text) {
  return tvms_symbol_intern(te->unit->context, text, strlen(text));
}

static const tvms_dtype index_dtype = {.code = TVMS_INT, .bits = 64, .lanes = 1};

// Dimensions of buffers are int64, whatever a description counts in.
static tvms_list wide_shape(tvms_te *te, tvms_list shape) {
  tvms_list wide = shape;
  for (uint32_t i = 0; i < shape.len; i++) {
    if (tvms_dtype_same(shape.items[i]->dtype, index_dtype)) continue;
    if (wide.items == shape.items)
      wide = tvms_list_copy(te->unit, shape.items, shape.len);
    wide.items[i] = tvms_te_normalize_index(te->unit, shape.items[i], index_dtype);
  }
  return wide;
}

static tvms_node *new_buffer(tvms_te *te, const char *name, tvms_list shape,
                             tvms_dtype dtype) {
  tvms_unit *unit = te->unit;
  tvms_sym sym = symbol(te, name);
  tvms_buffer *buffer = tvms_node_make(unit, BUFFER, TVMS_NO_SPAN);
  buffer->name = sym;
  buffer->data = tvms_pointer_var_new(unit, sym, dtype, 0, TVMS_NO_SPAN);
  buffer->element = dtype;
  buffer->shape = wide_shape(te, shape);
  tvms_dtype offset = shape.len ? index_dtype : TVMS_DTYPE(INT, 32);
  buffer->elem_offset = tvms_int_imm_new(unit, offset, 0, TVMS_NO_SPAN);
  buffer->align = 64;
  buffer->offset_factor = 1;
  return &buffer->head;
}

// Adds the parameter that hands over a buffer.
static void add_parameter(tvms_te *te, tvms_node *buffer) {
  tvms_mark mark = tvms_arena_mark(&te->unit->context->scratch);
  const char *name = tvms_symbol_text(te->unit->context, tvms_as_buffer(buffer)->name);
  for (int i = 0; i < 3; i++) {
    if (buffer == te->named[i]) name = te->names[i];
  }
  size_t room = strlen(name) + 5;
  char *text = tvms_arena_alloc(&te->unit->context->scratch, room);
  int len = snprintf(text, room, "var_%s", name);
  tvms_sym sym = tvms_symbol_intern(te->unit->context, text, (size_t)len);
  tvms_arena_reset(&te->unit->context->scratch, mark);
  tvms_node *param =
      tvms_pointer_var_new(te->unit, sym, (tvms_dtype){0}, 0, TVMS_NO_SPAN);
  tvms_vec_push(memory_of(te), &te->params, param);
  tvms_vec_push(memory_of(te), &te->buffers, buffer);
}

tvms_node *tvms_te_input(tvms_te *te, const char *name, tvms_list shape,
                         tvms_dtype dtype) {
  tvms_node *buffer = new_buffer(te, name, shape, dtype);
  add_parameter(te, buffer);
  return buffer;
}

tvms_node *tvms_te_tensor(tvms_te *te, const char *name, tvms_list shape,
                          tvms_dtype dtype) {
  tvms_node *buffer = new_buffer(te, name, shape, dtype);
  tvms_vec_push(memory_of(te), &te->allocs, buffer);
  return buffer;
}

tvms_node *tvms_te_scratch(tvms_te *te, const char *name, tvms_list shape,
                           tvms_dtype dtype, const char *scope) {
  tvms_node *buffer = new_buffer(te, name, shape, dtype);
  tvms_as_buffer(buffer)->data = tvms_pointer_var_new(te->unit, symbol(te, name), dtype,
                                                      symbol(te, scope), TVMS_NO_SPAN);
  return buffer;
}

void tvms_te_scalar(tvms_te *te, tvms_node *var) {
  tvms_vec_push(memory_of(te), &te->params, var);
  tvms_vec_push(memory_of(te), &te->buffers, (tvms_node *)NULL);
}

static tvms_node *add_axis(tvms_stage *stage, const char *name, tvms_node *extent) {
  tvms_te *te = stage->te;
  char text[64];
  int len = snprintf(text, sizeof text, "v_%s", name);
  tvms_dtype dtype = extent->dtype;
  tvms_node *loop = tvms_var_new(te->unit, symbol(te, name), dtype, TVMS_NO_SPAN);
  tvms_sym sym = tvms_symbol_intern(te->unit->context, text, (size_t)len);
  tvms_node *axis = tvms_var_new(te->unit, sym, dtype, TVMS_NO_SPAN);
  tvms_vec_push(memory_of(te), &stage->loops, loop);
  tvms_vec_push(memory_of(te), &stage->axes, axis);
  tvms_vec_push(memory_of(te), &stage->extents, extent);
  return axis;
}

void tvms_te_open(tvms_te *te, tvms_stage *stage, tvms_list shape, const char *axis) {
  *stage = (tvms_stage){.te = te, .shape = shape};
  for (uint32_t i = 0; i < shape.len; i++) {
    char name[32];
    snprintf(name, sizeof name, "%s%u", axis, i);
    add_axis(stage, name, shape.items[i]);
  }
}

void tvms_te_open_named(tvms_te *te, tvms_stage *stage, tvms_list shape,
                        const char *const *names) {
  *stage = (tvms_stage){.te = te, .shape = shape};
  for (uint32_t i = 0; i < shape.len; i++)
    add_axis(stage, names[i], shape.items[i]);
}

tvms_node *tvms_te_reduce(tvms_stage *stage, const char *name, tvms_node *extent) {
  return add_axis(stage, name, extent);
}

tvms_node *tvms_te_load(tvms_te *te, tvms_node *tensor, tvms_node *const *indices,
                        uint32_t count) {
  return tvms_buffer_load_new(te->unit, tensor, indices, count, NULL, TVMS_NO_SPAN);
}

void tvms_te_end_stage(tvms_stage *stage) {
  tvms_memory *memory = memory_of(stage->te);
  tvms_vec_fini(memory, &stage->axes);
  tvms_vec_fini(memory, &stage->loops);
  tvms_vec_fini(memory, &stage->extents);
}

static tvms_node *store_at(tvms_te *te, tvms_node *buffer, tvms_node *const *indices,
                           uint32_t count, tvms_node *value) {
  tvms_store *node = tvms_node_make(te->unit, STORE, TVMS_NO_SPAN);
  node->buffer = buffer;
  node->value = value;
  node->indices = tvms_list_copy(te->unit, indices, count);
  return &node->head;
}

static tvms_node *store(tvms_stage *stage, tvms_node *buffer, tvms_node *value) {
  return store_at(stage->te, buffer, stage->axes.items, stage->shape.len, value);
}

static tvms_node *simplify(tvms_te *te, tvms_node *value) {
  return tvms_analyzer_simplify(te->analyzer, value);
}

tvms_node *tvms_te_close(tvms_stage *stage, const char *name, tvms_node *value) {
  tvms_te *te = stage->te;
  tvms_node *buffer = NULL;
  if (value) {
    buffer = new_buffer(te, name, stage->shape, value->dtype);
    tvms_vec_push(memory_of(te), &te->allocs, buffer);
    tvms_te_nest(stage, name, NULL, store(stage, buffer, simplify(te, value)));
  }
  tvms_te_end_stage(stage);
  return buffer;
}

static tvms_node *identity_of(tvms_te *te, tvms_te_fold fold, tvms_dtype dtype) {
  bool real = tvms_dtype_is_real(dtype);
  switch (fold) {
  case TVMS_FOLD_SUM:
  case TVMS_FOLD_ANY:
  case TVMS_FOLD_PROD: {
    int value = fold == TVMS_FOLD_PROD;
    return real ? tvms_build_float(te->unit, dtype, value, TVMS_NO_SPAN)
                : tvms_build_int(te->unit, dtype, value, TVMS_NO_SPAN);
  }
  case TVMS_FOLD_MAX: return tvms_build_min_value(te->unit, dtype, TVMS_NO_SPAN);
  case TVMS_FOLD_MIN: return tvms_build_max_value(te->unit, dtype, TVMS_NO_SPAN);
  }
  TVMS_UNREACHABLE("kind of fold");
}

// A product of truth values is a conjunction, since bool is a type of its own.
static bool multiplies_as_and(const tvms_te *te, tvms_dtype dtype) {
  return tvms_dtype_is_bool(dtype)
         && !tvms_release_has(te->unit->dialect, TVMS_FACT_bools_are_uint1);
}

void tvms_te_close_at(tvms_stage *stage, const char *name, tvms_node *tensor,
                      tvms_node *const *indices, uint32_t count, tvms_node *value) {
  value = simplify(stage->te, value);
  tvms_te_nest(stage, name, NULL, store_at(stage->te, tensor, indices, count, value));
  tvms_te_end_stage(stage);
}

void tvms_te_close_fold_at(tvms_stage *stage, const char *name, tvms_te_fold fold,
                           tvms_node *tensor, tvms_node *const *indices, uint32_t count,
                           tvms_node *value) {
  static const tvms_node_kind kinds[] = {
      [TVMS_FOLD_SUM] = TVMS_NODE_ADD, [TVMS_FOLD_PROD] = TVMS_NODE_MUL,
      [TVMS_FOLD_MAX] = TVMS_NODE_MAX, [TVMS_FOLD_MIN] = TVMS_NODE_MIN,
      [TVMS_FOLD_ANY] = TVMS_NODE_OR,
  };
  tvms_te *te = stage->te;
  tvms_node *identity = identity_of(te, fold, value->dtype);
  tvms_node *old = tvms_te_load(te, tensor, indices, count);
  tvms_node_kind kind = kinds[fold];
  if (fold == TVMS_FOLD_PROD && multiplies_as_and(te, value->dtype)) {
    kind = TVMS_NODE_AND;
  }
  tvms_node *both =
      tvms_build_binary(te->unit, kind, old, simplify(te, value), TVMS_NO_SPAN);
  tvms_te_nest(stage, name, store_at(te, tensor, indices, count, identity),
               store_at(te, tensor, indices, count, both));
  tvms_te_end_stage(stage);
}

tvms_node *tvms_te_close_fold(tvms_stage *stage, const char *name, tvms_te_fold fold,
                              tvms_node *value) {
  if (!value) {
    tvms_te_end_stage(stage);
    return NULL;
  }
  tvms_node *buffer = new_buffer(stage->te, name, stage->shape, value->dtype);
  tvms_vec_push(memory_of(stage->te), &stage->te->allocs, buffer);
  tvms_te_close_fold_at(stage, name, fold, buffer, stage->axes.items, stage->shape.len,
                        value);
  return buffer;
}

// v_NAME = combined; both are computed before either is stored.
static tvms_node *bind_result(tvms_stage *stage, tvms_node *buffer, tvms_node *value) {
  tvms_unit *unit = stage->te->unit;
  char text[128];
  snprintf(text, sizeof text, "v_%s",
           tvms_symbol_text(unit->context, tvms_as_buffer(buffer)->name));
  tvms_bind *bind = tvms_node_make(unit, BIND, TVMS_NO_SPAN);
  bind->value = value;
  bind->var = tvms_var_new(unit, symbol(stage->te, text), value->dtype, TVMS_NO_SPAN);
  return &bind->head;
}

void tvms_te_close_pair(tvms_stage *stage, const char *name, tvms_te_combine combine,
                        tvms_node *const init[2], tvms_node *const value[2],
                        tvms_node *result[2]) {
  tvms_te *te = stage->te;
  tvms_node *lhs[2], *rhs[2], *both[2], *inits[2], *body[4];
  for (int i = 0; i < 2; i++) {
    char text[128];
    snprintf(text, sizeof text, "%s_v%d", name, i);
    result[i] = new_buffer(te, text, stage->shape, value[i]->dtype);
    tvms_vec_push(memory_of(te), &te->allocs, result[i]);
    lhs[i] = tvms_te_load(te, result[i], stage->axes.items, stage->shape.len);
    rhs[i] = simplify(te, value[i]);
    inits[i] = store(stage, result[i], init[i]);
  }
  combine(te, lhs, rhs, both);
  for (int i = 0; i < 2; i++) {
    body[i] = bind_result(stage, result[i], both[i]);
    body[2 + i] = store(stage, result[i], tvms_as_bind(body[i])->var);
  }
  tvms_te_nest(stage, name, tvms_seq_new(te->unit, inits, 2, TVMS_NO_SPAN),
               tvms_seq_new(te->unit, body, 4, TVMS_NO_SPAN));
  tvms_te_end_stage(stage);
}

void tvms_te_output(tvms_te *te, tvms_node *tensor) {
  tvms_vec_push(memory_of(te), &te->outputs, tensor);
}

static bool is_output(const tvms_te *te, const tvms_node *buffer) {
  for (uint32_t i = 0; i < te->outputs.len; i++) {
    if (te->outputs.items[i] == buffer) return true;
  }
  return false;
}

// What a block allocates begins nowhere else.
static void begin_at_zero(const tvms_te *te, tvms_buffer *buffer) {
  if (!tvms_release_has(te->unit->dialect, TVMS_FACT_allocations_begin_at_zero)) return;
  buffer->elem_offset =
      tvms_int_imm_new(te->unit, buffer->elem_offset->dtype, 0, TVMS_NO_SPAN);
}

// Joins loop `at` of those around a block, as the next one further out, with what `all` has; the last one needs no remainder.
static void join_loop(tvms_te *te, tvms_for *all, const tvms_node_vec *loops,
                      tvms_list values, uint32_t at, bool last) {
  tvms_unit *unit = te->unit;
  tvms_node *extent = tvms_as_for(loops->items[at])->extent;
  tvms_node *value =
      tvms_build_binary(unit, TVMS_NODE_FLOOR_DIV, all->var, all->extent, TVMS_NO_SPAN);
  if (!last)
    value = tvms_build_binary(unit, TVMS_NODE_FLOOR_MOD, value, extent, TVMS_NO_SPAN);
  values.items[at] = simplify(te, value);
  all->extent = simplify(
      te, tvms_build_binary(unit, TVMS_NODE_MUL, extent, all->extent, TVMS_NO_SPAN));
}

static bool is_known(const tvms_node *loop) {
  return tvms_node_is_int_imm(tvms_as_for((tvms_node *)(uintptr_t)loop)->extent);
}

// The loops around a block as one, which runs on threads. Their variables become quotients and remainders, by constants: a quotient by
// what is not known would have to be computed wherever it is used, and may fail there. So loops of known extent are joined with the
// outermost of the others, and what is left of these stays, around the block.
static tvms_node *join_loops(tvms_te *te, tvms_node *nest) {
  tvms_unit *unit = te->unit;
  tvms_node_vec loops = {0};
  for (; nest->kind == TVMS_NODE_FOR; nest = tvms_as_for(nest)->body)
    tvms_vec_push(memory_of(te), &loops, nest);
  tvms_for *all = tvms_node_make(unit, FOR, TVMS_NO_SPAN);
  all->for_kind = TVMS_FOR_PARALLEL;
  all->var = tvms_var_new(unit, symbol(te, "tile"), index_dtype, TVMS_NO_SPAN);
  all->min = tvms_int_imm_new(unit, index_dtype, 0, TVMS_NO_SPAN);
  all->extent = tvms_int_imm_new(unit, index_dtype, 1, TVMS_NO_SPAN);
  tvms_list values = tvms_as_block_realize(nest)->iter_values;
  uint32_t unknown = 0, joined = 0;
  while (unknown < loops.len && is_known(loops.items[unknown]))
    unknown++;
  for (uint32_t i = loops.len; i-- > 0;) {
    if (is_known(loops.items[i]))
      join_loop(te, all, &loops, values, i, ++joined == loops.len);
  }
  if (unknown < loops.len) join_loop(te, all, &loops, values, unknown, true);
  for (uint32_t i = loops.len; i-- > unknown + 1;) {
    if (is_known(loops.items[i])) continue;
    tvms_as_for(loops.items[i])->body = nest;
    nest = loops.items[i];
  }
  all->body = nest;
  tvms_vec_fini(memory_of(te), &loops);
  return &all->head;
}

void tvms_te_close_around(tvms_stage *stage, const char *name, tvms_te_mark mark,
                          bool threads) {
  tvms_te *te = stage->te;
  tvms_list made = tvms_list_copy(te->unit, te->allocs.items + mark.allocs,
                                  te->allocs.len - mark.allocs);
  for (uint32_t i = 0; i < made.len; i++)
    begin_at_zero(te, tvms_as_buffer(made.items[i]));
  tvms_node *body = tvms_seq_new(te->unit, te->stages.items + mark.stages,
                                 te->stages.len - mark.stages, TVMS_NO_SPAN);
  te->allocs.len = mark.allocs;
  te->stages.len = mark.stages;
  tvms_te_nest(stage, name, NULL, body);
  tvms_te_end_stage(stage);
  tvms_node **nest = &te->stages.items[mark.stages], *inner = *nest;
  while (inner->kind == TVMS_NODE_FOR)
    inner = tvms_as_for(inner)->body;
  tvms_as_block(tvms_as_block_realize(inner)->block)->alloc_buffers = made;
  if (threads) *nest = join_loops(te, *nest);
}

void tvms_te_either(tvms_te *te, tvms_node *condition) {
  tvms_if_then_else *choice = tvms_node_make(te->unit, IF_THEN_ELSE, TVMS_NO_SPAN);
  tvms_node **last = &te->stages.items[te->stages.len - 2];
  choice->condition = condition;
  choice->then_case = last[0];
  choice->else_case = last[1];
  last[0] = &choice->head;
  te->stages.len--;
}

tvms_node *tvms_te_finish(tvms_te *te) {
  for (uint32_t i = 0; i < te->outputs.len; i++)
    add_parameter(te, te->outputs.items[i]);
  for (uint32_t i = 0; i < te->sizes.len; i++)
    tvms_te_scalar(te, te->sizes.items[i]);
  tvms_node_vec allocs = {0};
  for (uint32_t i = 0; i < te->allocs.len; i++) {
    if (is_output(te, te->allocs.items[i])) continue;
    begin_at_zero(te, tvms_as_buffer(te->allocs.items[i]));
    tvms_vec_push(memory_of(te), &allocs, te->allocs.items[i]);
  }
  tvms_unit *unit = te->unit;
  tvms_prim_func *function = tvms_node_make(unit, PRIM_FUNC, TVMS_NO_SPAN);
  function->head.flags = TVMS_FLAG_PRIVATE | TVMS_FLAG_S_TIR;
  function->params = tvms_list_copy(unit, te->params.items, te->params.len);
  function->buffers = tvms_list_copy(unit, te->buffers.items, te->buffers.len);
  tvms_node *yes = tvms_object_bool_new(unit, true, TVMS_NO_SPAN);
  const char *key = tvms_release_has(unit->dialect, TVMS_FACT_tir_is_tirx)
                        ? "tirx.noalias"
                        : "tir.noalias";
  function->attrs = tvms_object_map_with(unit, NULL, key, yes);
  tvms_node *body = te->stages.len == 1 ? te->stages.items[0]
                                        : tvms_seq_new(unit, te->stages.items,
                                                       te->stages.len, TVMS_NO_SPAN);
  function->body = body;
  tvms_complete_prim_func(unit, &function->head, allocs.items, allocs.len);
  tvms_vec_fini(memory_of(te), &allocs);
  function->body = tvms_te_normalize_indices(unit, function->body, index_dtype);
  return &function->head;
}
