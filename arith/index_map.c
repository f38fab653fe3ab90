// The inverse of an index map is that of the iterators that its indices are.
#include "arith/index_map.h"

#include "arith/iter_map.h"
#include "ir/build.h"
#include "ir/clone.h"

#include <stdio.h>

enum { NAME_SIZE = 16 };

// A place that is a variable of the map has its name from 0.26 on, the others a number.
static tvms_node *place_var(tvms_unit *unit, const tvms_node *index, uint32_t at) {
  char text[NAME_SIZE];
  int len = snprintf(text, sizeof text, "axis%u", at);
  bool named = index->kind == TVMS_NODE_VAR
               && tvms_release_has(unit->dialect, TVMS_FACT_axes_keep_their_names);
  tvms_sym name = named ? tvms_as_var(index)->name
                        : tvms_symbol_intern(unit->context, text, (size_t)len);
  return tvms_var_new(unit, name, index->dtype, TVMS_NO_SPAN);
}

// The variables of a map as they run over a shape.
static tvms_iter_domain *domains_of(tvms_unit *unit, const tvms_index_map *map,
                                    tvms_list shape) {
  tvms_iter_domain *domains =
      tvms_arena_array(&unit->arena, tvms_iter_domain, shape.len + 1);
  for (uint32_t i = 0; i < shape.len; i++) {
    tvms_node *zero = tvms_int_imm_new(unit, shape.items[i]->dtype, 0, TVMS_NO_SPAN);
    domains[i] =
        (tvms_iter_domain){map->initial_indices.items[i], zero, shape.items[i]};
  }
  return domains;
}

bool tvms_arith_map_shape(tvms_unit *unit, tvms_analyzer *analyzer,
                          const tvms_node *map, tvms_list shape, tvms_node **extents,
                          bool *at_zero) {
  if (tvms_as_index_map(map)->initial_indices.len != shape.len) return false;
  const tvms_index_map *own = tvms_as_index_map(tvms_clone(unit, map, NULL));
  uint32_t count = own->final_indices.len;
  tvms_node **mins = tvms_arena_array(&unit->arena, tvms_node *, count + 1);
  if (!tvms_iter_map_ranges(unit, analyzer, domains_of(unit, own, shape), shape.len,
                            own->final_indices.items, count, mins, extents))
    return false;
  *at_zero = true;
  for (uint32_t i = 0; i < count; i++)
    *at_zero &= tvms_node_is_int(mins[i], 0);
  return true;
}

bool tvms_arith_map_inverse(tvms_unit *unit, tvms_analyzer *analyzer,
                            const tvms_node *map, tvms_list shape,
                            tvms_index_inverse *inverse) {
  const tvms_index_map *old = tvms_as_index_map(map);
  uint32_t rank = old->initial_indices.len, count = old->final_indices.len;
  if (rank != shape.len) return false;
  if (old->inverse) {
    inverse->map = tvms_clone(unit, old->inverse, NULL);
    inverse->padding = tvms_bool_imm_new(unit, false, TVMS_NO_SPAN);
    return true;
  }
  const tvms_index_map *own = tvms_as_index_map(tvms_clone(unit, map, NULL));
  tvms_iter_domain *domains = domains_of(unit, own, shape);
  tvms_index_map *made = tvms_node_make(unit, INDEX_MAP, TVMS_NO_SPAN);
  made->initial_indices = tvms_list_copy(unit, own->final_indices.items, count);
  for (uint32_t i = 0; i < count; i++)
    made->initial_indices.items[i] = place_var(unit, own->final_indices.items[i], i);
  made->final_indices = tvms_list_copy(unit, own->initial_indices.items, rank);
  inverse->map = &made->head;
  return tvms_iter_map_inverse(unit, analyzer, domains, rank, own->final_indices.items,
                               count, made->initial_indices.items,
                               made->final_indices.items, &inverse->padding);
}
