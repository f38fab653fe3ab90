// Iterator maps: indices as sums of loop variables, and of quotients and remainders of them,
// each of which takes every value of a range.
//
// With i in [0, 4) and j in [0, 8) the index i * 8 + j + 2 is one iterator of 32 steps behind 2;
// of [i // 2, i % 2] each is one, and they do not depend on each other; j // 3 is one of 3
// steps, since padding may be added; i + j is none. Unlike interval evaluation
// (arith/int_set.h) it knows that all values in between are taken, and it understands
// conditions such as i * 8 + j < 30. TVM: src/arith/iter_affine_map.cc.
#ifndef TVMS_ARITH_ITER_MAP_H
#define TVMS_ARITH_ITER_MAP_H

#include "arith/analyzer.h"

// A variable that runs over [min, min + extent).
typedef struct {
  tvms_node *var, *min, *extent;
} tvms_iter_domain;

// What an index takes: base + scale * [0, extent); NULL for extent and scale: base only.
typedef struct {
  tvms_node *base;
  tvms_node *TVMS_NULLABLE extent, *TVMS_NULLABLE scale;
} tvms_iter_image;

// Finds what every index takes while the variables run and `predicate` holds. False if one of
// them is not an iterator, or if they depend on each other: then `images` means nothing. The
// map need not be onto one another (TVM: IterMapLevel::Surjective). `keep_units`: variables of one step
// are iterators, too (TVM: simplify_trivial_iterators is false).
TVMS_NODISCARD bool tvms_iter_map_detect(tvms_unit *unit, tvms_analyzer *analyzer,
                                         const tvms_iter_domain *domains,
                                         uint32_t domain_count,
                                         tvms_node *const *indices,
                                         uint32_t index_count, tvms_node *predicate,
                                         bool keep_units, tvms_iter_image *images);

// Writes indices as the sums of iterators that they are, which is how TVM simplifies places in
// flat buffers. What is no iterator under the predicate may be one without it, from 0.27 on only
// where no extent must be padded. False if they are none. `keep_units` is as above. TVM: IterMapSimplify,
// which then keeps the indices.
TVMS_NODISCARD bool tvms_iter_map_simplify(tvms_unit *unit, tvms_analyzer *analyzer,
                                           const tvms_iter_domain *domains,
                                           uint32_t domain_count,
                                           tvms_node *const *indices,
                                           uint32_t index_count, tvms_node *predicate,
                                           bool keep_units, tvms_node **simplified);

// An index as outer * inner_extent + inner.
typedef struct {
  tvms_node *outer, *outer_extent, *inner, *inner_extent;
} tvms_iter_part;

// All indices so, and the conditions under which variables of either side run: the caller gives room for the parts.
typedef struct {
  tvms_iter_part *parts;
  tvms_node *outer_condition, *inner_condition;
} tvms_iter_parts;

// Divides indices between the first `outer_count` variables and the others. False if they are no iterators, or cannot be divided. TVM:
// SubspaceDivide.
TVMS_NODISCARD bool tvms_iter_map_divide(tvms_unit *unit, tvms_analyzer *analyzer,
                                         const tvms_iter_domain *domains,
                                         uint32_t domain_count, uint32_t outer_count,
                                         tvms_node *const *indices,
                                         uint32_t index_count, tvms_node *predicate,
                                         bool keep_units, tvms_iter_parts *parts);

// Finds where every index begins and how many values it may have, padded places included. False if they are
// no iterators. TVM: IndexMap::MapRanges.
TVMS_NODISCARD bool tvms_iter_map_ranges(tvms_unit *unit, tvms_analyzer *analyzer,
                                         const tvms_iter_domain *domains,
                                         uint32_t domain_count,
                                         tvms_node *const *indices,
                                         uint32_t index_count, tvms_node **mins,
                                         tvms_node **extents);

// Finds the variables from the indices: inverse[i] is domains[i].var where index k is the
// variable values[k]. Gets in `padding` the condition on `values` under which no variables have
// these indices; False: there are always some. Indices may tell less than all about
// a variable: then the inverse is one of its values. False if they are no iterators. `padding` may be NULL:
// then the inverse is not simplified. TVM: IndexMap::NonSurjectiveInverse, InverseAffineIterMap.
TVMS_NODISCARD bool tvms_iter_map_inverse(
    tvms_unit *unit, tvms_analyzer *analyzer, const tvms_iter_domain *domains,
    uint32_t domain_count, tvms_node *const *indices, uint32_t index_count,
    tvms_node *const *values, tvms_node **inverse, tvms_node **TVMS_NULLABLE padding);

#endif
