// annotate_buffer_access, unsafe_hide_buffer_access: what a block declares to read and write, whatever it does.
// TVM: src/s_tir/schedule/primitive/annotate_buffer_access.cc, hide_buffer_access.cc.
#include "ir/object.h"
#include "schedule/bindings.h"
#include "schedule/cache_stage.h"
#include "schedule/make.h"
#include "schedule/steps.h"

#include <string.h>

// The axes of a block as variables.
static tvms_list axes_of(tvms_sched *s, const tvms_block *block) {
  tvms_list vars =
      tvms_list_copy(s->unit, block->iter_vars.items, block->iter_vars.len);
  for (uint32_t i = 0; i < vars.len; i++)
    vars.items[i] = tvms_as_iter_var(vars.items[i])->var;
  return vars;
}

// From each first value to the second one of a pair.
static tvms_node *region_of(tvms_sched *s, tvms_node *buffer, tvms_list ends) {
  uint32_t rank = ends.len / 2;
  tvms_node **ranges = tvms_arena_array(&s->unit->arena, tvms_node *, rank + 1);
  for (uint32_t i = 0; i < rank; i++) {
    tvms_node *size =
        tvms_sched_build(s, TVMS_NODE_SUB, ends.items[2 * i + 1], ends.items[2 * i]);
    ranges[i] = tvms_range_new(s->unit, ends.items[2 * i],
                               tvms_arith_simplify(s->unit, size), TVMS_NO_SPAN);
  }
  return tvms_buffer_region_new(s->unit, buffer, ranges, rank, TVMS_NO_SPAN);
}

static tvms_node *TVMS_NULLABLE map_of(tvms_step *step, const tvms_block *block) {
  uint32_t count = block->iter_vars.len;
  tvms_dtype *types = tvms_arena_array(&step->schedule->arena, tvms_dtype, count + 1);
  for (uint32_t i = 0; i < count; i++)
    types[i] = tvms_as_iter_var(block->iter_vars.items[i])->var->dtype;
  return tvms_step_map(step, TVMS_ARG(AnnotateBufferAccess, gen_new_ranges), types,
                       count);
}

// The note that the region is meant: the list of such buffers.
static void note(tvms_sched *s, tvms_block *block, bool write, int64_t index) {
  const char *key = write ? "explicit_write_region" : "explicit_read_region";
  const tvms_node *old = tvms_object_map_get(block->annotations, key);
  tvms_list items = {0};
  if (old && old->kind == TVMS_NODE_OBJECT_ARRAY)
    items = tvms_as_object_array(old)->items;
  tvms_node **made = tvms_arena_array(&s->unit->arena, tvms_node *, items.len + 1);
  uint32_t count = 0;
  bool found = false;
  for (uint32_t i = 0; i < items.len; i++) {
    int64_t number;
    found = found || (tvms_object_as_int(items.items[i], &number) && number == index);
    made[count++] = items.items[i];
  }
  if (!found) made[count++] = tvms_object_int_new(s->unit, index, TVMS_NO_SPAN);
  block->annotations =
      tvms_object_map_with(s->unit, block->annotations, key,
                           tvms_object_array_new(s->unit, made, count, TVMS_NO_SPAN));
}

bool tvms_step_annotate_buffer_access(tvms_step *step) {
  tvms_sched *s = step->sched;
  int32_t site = tvms_step_site(step, TVMS_ARG(AnnotateBufferAccess, block));
  if (site == TVMS_NO_SITE) return false;
  int64_t index = step->args[TVMS_ARG(AnnotateBufferAccess, buffer_index)].number;
  bool write =
      strcmp(step->args[TVMS_ARG(AnnotateBufferAccess, buf_type)].text, "write") == 0;
  tvms_node *buffer = tvms_cache_buffer(s, site, index, write);
  if (!buffer) return false;
  tvms_node *old = tvms_sched_at(s, site)->node;
  tvms_block *block = tvms_as_block(tvms_node_copy(s->unit, old));
  tvms_node *map = map_of(step, block);
  if (!map) return false;
  tvms_list ends = tvms_sched_mapped(s, tvms_as_index_map(map), axes_of(s, block));
  if (ends.len != 2 * tvms_as_buffer(buffer)->shape.len)
    return tvms_sched_refuse(
        s, "the function does not give a begin and an end for each dimension");
  tvms_list *regions = write ? &block->writes : &block->reads;
  *regions = tvms_list_copy(s->unit, regions->items, regions->len);
  regions->items[index] = region_of(s, buffer, ends);
  note(s, block, write, index);
  tvms_sched_replace_one(s, old, &block->head);
  return true;
}

bool tvms_step_unsafe_hide_buffer_access(tvms_step *step) {
  tvms_sched *s = step->sched;
  int32_t site = tvms_step_site(step, TVMS_ARG(UnsafeHideBufferAccess, block));
  if (site == TVMS_NO_SITE) return false;
  const char *type = step->args[TVMS_ARG(UnsafeHideBufferAccess, buf_type)].text;
  bool write = strcmp(type, "write") == 0;
  if (!write && strcmp(type, "read") != 0)
    return tvms_sched_refuse(s, "'%s' is neither \"read\" nor \"write\"", type);
  const tvms_sched_value *hidden =
      &step->args[TVMS_ARG(UnsafeHideBufferAccess, buf_index_array)];
  tvms_node *old = tvms_sched_at(s, site)->node;
  tvms_block *block = tvms_as_block(tvms_node_copy(s->unit, old));
  tvms_list *regions = write ? &block->writes : &block->reads;
  tvms_list made = {tvms_arena_array(&s->unit->arena, tvms_node *, regions->len + 1),
                    0};
  for (uint32_t i = 0; i < hidden->len; i++)
    if (!tvms_cache_buffer(s, site, hidden->items[i].number, write)) return false;
  for (uint32_t i = 0; i < regions->len; i++) {
    bool stays = true;
    for (uint32_t k = 0; k < hidden->len; k++)
      stays = stays && hidden->items[k].number != i;
    if (stays) made.items[made.len++] = regions->items[i];
  }
  *regions = made;
  tvms_sched_replace_one(s, old, &block->head);
  return true;
}
