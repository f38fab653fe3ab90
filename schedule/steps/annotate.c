// annotate, unannotate: notes at blocks and loops. TVM: src/s_tir/schedule/primitive/annotate.cc.
#include "ir/object.h"
#include "schedule/steps.h"

#include <string.h>

static tvms_node *object_of(tvms_unit *unit, const tvms_sched_value *value) {
  tvms_node **items = NULL;
  uint32_t len =
      value->kind == TVMS_VALUE_LIST || value->kind == TVMS_VALUE_DICT ? value->len : 0;
  if (len) items = tvms_arena_array(&unit->arena, tvms_node *, len);
  for (uint32_t i = 0; i < len; i++)
    items[i] = object_of(unit, &value->items[i]);
  switch (value->kind) {
  case TVMS_VALUE_TEXT:
    return tvms_object_str_new(unit, value->text, strlen(value->text), TVMS_NO_SPAN);
  case TVMS_VALUE_INT: return tvms_object_int_new(unit, value->number, TVMS_NO_SPAN);
  case TVMS_VALUE_BOOL:
    return tvms_object_bool_new(unit, value->number != 0, TVMS_NO_SPAN);
  case TVMS_VALUE_FLOAT: return tvms_object_float_new(unit, value->real, TVMS_NO_SPAN);
  case TVMS_VALUE_LIST: return tvms_object_array_new(unit, items, len, TVMS_NO_SPAN);
  case TVMS_VALUE_DICT: {
    tvms_node **keys = tvms_arena_array(&unit->arena, tvms_node *, len + 1);
    for (uint32_t i = 0; i < len / 2; i++) {
      keys[i] = items[2 * i];
      items[i] = items[2 * i + 1];
    }
    return tvms_object_map_new(unit, keys, items, len / 2, TVMS_NO_SPAN);
  }
  case TVMS_VALUE_NONE:
  case TVMS_VALUE_BLOCK:
  case TVMS_VALUE_LOOP:
  case TVMS_VALUE_LAMBDA:
  default: return tvms_object_none_new(unit, TVMS_NO_SPAN);
  }
}

static const tvms_node *annotations_of(const tvms_node *node) {
  return node->kind == TVMS_NODE_FOR ? tvms_as_for(node)->annotations
                                     : tvms_as_block(node)->annotations;
}

static void set_annotations(tvms_sched *s, tvms_node *old, const char *key,
                            tvms_node *TVMS_NULLABLE value) {
  tvms_node *copy = tvms_node_copy(s->unit, old);
  tvms_node *notes = tvms_object_map_with(s->unit, annotations_of(old), key, value);
  if (!tvms_object_map_count(notes)) notes = NULL;
  if (copy->kind == TVMS_NODE_FOR)
    tvms_as_for(copy)->annotations = notes;
  else
    tvms_as_block(copy)->annotations = notes;
  tvms_sched_replace_one(s, old, copy);
}

bool tvms_step_annotate(tvms_step *step) {
  int32_t site = tvms_step_site(step, TVMS_ARG(Annotate, block_or_loop));
  if (site == TVMS_NO_SITE) return false;
  tvms_node *old = tvms_sched_at(step->sched, site)->node;
  const char *key = step->args[TVMS_ARG(Annotate, ann_key)].text;
  if (tvms_object_map_get(annotations_of(old), key))
    return true;  // as in TVM: it stays
  const tvms_sched_value *value = &step->args[TVMS_ARG(Annotate, ann_val)];
  set_annotations(step->sched, old, key, object_of(step->sched->unit, value));
  return true;
}

bool tvms_step_unannotate(tvms_step *step) {
  int32_t site = tvms_step_site(step, TVMS_ARG(Unannotate, block_or_loop));
  if (site == TVMS_NO_SITE) return false;
  tvms_node *old = tvms_sched_at(step->sched, site)->node;
  const char *key = step->args[TVMS_ARG(Unannotate, ann_key)].text;
  if (!tvms_object_map_get(annotations_of(old), key))
    return tvms_sched_refuse(step->sched, "there is no annotation '%s'", key);
  set_annotations(step->sched, old, key, NULL);
  return true;
}
