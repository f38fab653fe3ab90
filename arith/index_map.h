// Index maps and what undoes them.
#ifndef TVMS_ARITH_INDEX_MAP_H
#define TVMS_ARITH_INDEX_MAP_H

#include "arith/analyzer.h"

// Finds the shape that a tensor of `shape`, whose nodes lie in `unit`, gets by a map: one extent for each of its places. Puts in
// *at_zero whether all places begin at 0, as those of a tensor do. False if the map has another rank than
// the shape, or cannot be read as iterators that do not depend on each other. TVM: IndexMap::MapShape.
TVMS_NODISCARD bool tvms_arith_map_shape(tvms_unit *unit, tvms_analyzer *analyzer,
                                         const tvms_node *map, tvms_list shape,
                                         tvms_node **extents, bool *at_zero);

// A map and the one that undoes it.
typedef struct {
  tvms_node *map;  // INDEX_MAP; its variables are those of the places, in order
  tvms_node *
      padding;  // of the same variables: true where a place has no element; False: all have
} tvms_index_inverse;

// Finds the map from places back to elements of a tensor of `shape`, whose nodes lie in `unit`. A map that says its own
// inverse has that one, and no padding. False if it has another rank than the shape, or cannot be read as iterators that do not
// depend on each other. TVM: IndexMap::NonSurjectiveInverse.
TVMS_NODISCARD bool tvms_arith_map_inverse(tvms_unit *unit, tvms_analyzer *analyzer,
                                           const tvms_node *map, tvms_list shape,
                                           tvms_index_inverse *inverse);

#endif
