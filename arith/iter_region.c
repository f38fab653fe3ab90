#include "arith/iter_region.h"

#include "ir/fold.h"

static tvms_node *number(const tvms_iter_region *r, const tvms_node *like,
                         int64_t value) {
  return tvms_int_imm_new(r->unit, like->dtype, value, TVMS_NO_SPAN);
}

static tvms_node *build(const tvms_iter_region *r, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_binary(r->unit, kind, a, b, TVMS_NO_SPAN);
}

static bool proves(const tvms_iter_region *r, tvms_node_kind kind, tvms_node *a,
                   tvms_node *b) {
  tvms_node *claim = build(r, kind, a, b);
  return claim && tvms_analyzer_can_prove(r->analyzer, claim);
}

// Everything that `extent` elements from an iterator on are. False: there are gaps.
static bool set_of_image(const tvms_iter_region *r, const tvms_iter_image *image,
                         tvms_node *extent, tvms_int_set *set) {
  *set = (tvms_int_set){.empty = true};
  if (proves(r, TVMS_NODE_EQ, extent, number(r, extent, 0))) return true;
  tvms_node *min = image->base, *size = extent;
  if (image->extent) {
    if (proves(r, TVMS_NODE_EQ, image->extent, number(r, image->extent, 0)))
      return true;
    if (!proves(r, TVMS_NODE_GE, extent, image->scale)) return false;
    tvms_node *zero = number(r, image->scale, 0);
    if (r->falls
        && !proves(r, TVMS_NODE_GE, extent,
                   build(r, TVMS_NODE_SUB, zero, image->scale)))
      return false;
    tvms_node *steps =
        build(r, TVMS_NODE_SUB, image->extent, number(r, image->extent, 1));
    steps = build(r, TVMS_NODE_MUL, steps, image->scale);
    if (proves(r, TVMS_NODE_LT, image->scale, number(r, image->scale, 0))) {
      min = build(r, TVMS_NODE_ADD, min, steps);
      size = build(r, TVMS_NODE_SUB, extent, steps);
    } else {
      size = build(r, TVMS_NODE_ADD, extent, steps);
    }
  }
  *set = tvms_int_set_of_range(r->unit, min, size);
  return true;
}

bool tvms_iter_region_strict(const tvms_iter_region *region, tvms_int_set *sets) {
  for (uint32_t i = 0; i < region->rank; i++)
    if (region->extents[i]->kind != TVMS_NODE_INT_IMM) return false;
  tvms_iter_image *images =
      tvms_arena_array(&region->unit->arena, tvms_iter_image, region->rank + 1);
  if (!tvms_iter_map_detect(region->unit, region->analyzer, region->domains,
                            region->domain_count, region->mins, region->rank,
                            region->predicate, false, images))
    return false;
  for (uint32_t i = 0; i < region->rank; i++)
    if (!set_of_image(region, &images[i], region->extents[i], &sets[i])) return false;
  return true;
}

void tvms_iter_region_upper(const tvms_iter_region *region, const tvms_domains *sets_of,
                            tvms_int_set *sets) {
  if (tvms_iter_region_strict(region, sets)) return;
  for (uint32_t i = 0; i < region->rank; i++) {
    tvms_iter_image image;
    bool found = tvms_iter_map_detect(region->unit, region->analyzer, region->domains,
                                      region->domain_count, &region->mins[i], 1,
                                      region->predicate, false, &image)
                 && set_of_image(region, &image, region->extents[i], &sets[i]);
    if (!found)
      sets[i] = tvms_int_set_of_ranges(sets_of, region->mins[i], region->extents[i]);
  }
}
