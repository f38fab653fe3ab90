#include "schedule/make.h"

#include "ir/fold.h"
#include "schedule/bindings.h"

#include <stdio.h>
#include <string.h>

tvms_node *tvms_sched_named(tvms_sched *sched, const char *name, tvms_dtype dtype) {
  return tvms_var_new(sched->unit,
                      tvms_symbol_intern(sched->context, name, strlen(name)), dtype,
                      TVMS_NO_SPAN);
}

tvms_node *tvms_sched_numbered(tvms_sched *sched, const char *letters, uint32_t number,
                               tvms_dtype dtype) {
  char name[32];
  snprintf(name, sizeof name, "%s%u", letters, number);
  return tvms_sched_named(sched, name, dtype);
}

tvms_node *tvms_sched_axis(tvms_sched *sched, tvms_node *var, tvms_node *extent) {
  tvms_iter_var *axis = tvms_node_make(sched->unit, ITER_VAR, TVMS_NO_SPAN);
  axis->dom = tvms_range_new(sched->unit, tvms_sched_int(sched, extent->dtype, 0),
                             extent, TVMS_NO_SPAN);
  axis->var = var;
  axis->iter_type = TVMS_ITER_DATA_PAR;
  return &axis->head;
}

tvms_node *tvms_sched_point(tvms_sched *sched, tvms_node *buffer,
                            tvms_node *const *indices, uint32_t rank) {
  tvms_node **ranges = tvms_arena_array(&sched->unit->arena, tvms_node *, rank + 1);
  for (uint32_t i = 0; i < rank; i++)
    ranges[i] =
        tvms_range_new(sched->unit, indices[i],
                       tvms_sched_int(sched, indices[i]->dtype, 1), TVMS_NO_SPAN);
  return tvms_buffer_region_new(sched->unit, buffer, ranges, rank, TVMS_NO_SPAN);
}

tvms_node *tvms_sched_store(tvms_sched *sched, tvms_node *buffer,
                            tvms_node *const *indices, uint32_t rank,
                            tvms_node *value) {
  tvms_store *store = tvms_node_make(sched->unit, STORE, TVMS_NO_SPAN);
  store->buffer = buffer;
  store->indices = tvms_list_copy(sched->unit, indices, rank);
  store->value = value;
  return &store->head;
}

tvms_block *tvms_sched_block_new(tvms_sched *sched, const char *name) {
  tvms_block *block = tvms_node_make(sched->unit, BLOCK, TVMS_NO_SPAN);
  block->name = tvms_bytes_copy(sched->unit, name, strlen(name));
  return block;
}

tvms_node *tvms_sched_realize_new(tvms_sched *sched, tvms_block *block,
                                  tvms_node *const *values, uint32_t count,
                                  tvms_node *TVMS_NULLABLE predicate) {
  tvms_block_realize *realize =
      tvms_node_make(sched->unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->iter_values = tvms_list_copy(sched->unit, values, count);
  realize->predicate =
      predicate ? predicate : tvms_bool_imm_new(sched->unit, true, TVMS_NO_SPAN);
  realize->block = &block->head;
  return &realize->head;
}

tvms_node *tvms_sched_copy_block(tvms_sched *sched, const tvms_copy_block *copy,
                                 tvms_node **block) {
  tvms_unit *unit = sched->unit;
  tvms_block *made = tvms_sched_block_new(sched, copy->name);
  tvms_node *reads =
      tvms_sched_point(sched, copy->from, copy->from_at, copy->from_rank);
  tvms_node *writes = tvms_sched_point(sched, copy->to, copy->to_at, copy->to_rank);
  tvms_node *value = tvms_buffer_load_new(unit, copy->from, copy->from_at,
                                          copy->from_rank, NULL, TVMS_NO_SPAN);
  made->iter_vars = tvms_list_copy(unit, copy->axes, copy->count);
  made->reads = tvms_list_copy(unit, &reads, 1);
  made->writes = tvms_list_copy(unit, &writes, 1);
  made->body = tvms_sched_store(sched, copy->to, copy->to_at, copy->to_rank, value);
  *block = &made->head;
  return tvms_sched_realize_new(sched, made, copy->values, copy->count, NULL);
}

tvms_node *tvms_sched_for_from(tvms_sched *sched, tvms_node *var, tvms_node *min,
                               tvms_node *extent, tvms_node *body) {
  tvms_node *made = tvms_sched_for(sched, var, extent, body);
  tvms_as_for(made)->min = tvms_sched_cast(sched, var->dtype, min);
  return made;
}

tvms_node *tvms_sched_zero(tvms_sched *sched, tvms_dtype dtype) {
  tvms_node *made =
      dtype.code == TVMS_INT || dtype.code == TVMS_UINT || dtype.code == TVMS_BOOL
          ? tvms_build_int(sched->unit, dtype, 0, TVMS_NO_SPAN)
          : tvms_build_float(sched->unit, dtype, 0, TVMS_NO_SPAN);
  TVMS_CHECK(made);
  return made;
}

tvms_node *tvms_sched_block_in(const tvms_node *nest) {
  while (nest->kind == TVMS_NODE_FOR)
    nest = tvms_as_for(nest)->body;
  return tvms_as_block_realize(nest)->block;
}

tvms_list tvms_sched_mapped(tvms_sched *sched, const tvms_index_map *map,
                            tvms_list values) {
  tvms_node_map vars;
  tvms_node_map_init(&vars, &sched->context->memory);
  for (uint32_t i = 0; i < values.len; i++) {
    const tvms_node *var = map->initial_indices.items[i];
    tvms_node_map_put(&vars, var, tvms_sched_cast(sched, var->dtype, values.items[i]));
  }
  tvms_list made =
      tvms_list_copy(sched->unit, map->final_indices.items, map->final_indices.len);
  for (uint32_t i = 0; i < made.len; i++)
    made.items[i] = tvms_arith_simplify(
        sched->unit, tvms_substitute(sched->unit, made.items[i], &vars));
  tvms_node_map_fini(&vars);
  return made;
}
