// Which device a value is on.
#include "passes/relax/on_gpu.h"

#include "ir/target.h"

bool tvms_relax_is_on_gpu(tvms_unit *unit, const tvms_node *sinfo) {
  if (!sinfo) return false;
  if (sinfo->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(sinfo)->fields;
    for (uint32_t i = 0; i < fields.len; i++) {
      if (tvms_relax_is_on_gpu(unit, fields.items[i])) return true;
    }
    return false;
  }
  if (sinfo->kind != TVMS_NODE_SINFO_TENSOR) return false;
  const tvms_node *device = tvms_as_sinfo_tensor(sinfo)->vdevice;
  const tvms_node *named = device ? tvms_as_object_vdevice(device)->target : NULL;
  if (!named || named->kind != TVMS_NODE_OBJECT_TARGET) return false;
  const tvms_node *config = tvms_as_object_target(named)->config;
  if (!config || config->kind != TVMS_NODE_OBJECT_MAP) return false;
  tvms_target target;
  tvms_target_from_config(unit, config, &target);
  return tvms_target_has_key(&target, "gpu");
}
