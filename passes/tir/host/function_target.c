// Targets of PrimFuncs as passes for hosts and devices ask for them.
//
// A target stands in the attributes of a function, and the host that launches its code in the
// config of the target. Which device a kind is for is a table.
#include "passes/tir/host/function_target.h"

#include "ir/build.h"
#include "ir/object.h"
#include "support/diag_ids.h"

#include <string.h>

const tvms_node *TVMS_NULLABLE tvms_host_target_of(const tvms_node *function) {
  const tvms_node *attrs = tvms_as_prim_func(function)->attrs;
  const tvms_node *target = tvms_object_map_get(attrs, "target");
  if (!target || target->kind != TVMS_NODE_OBJECT_TARGET) return NULL;
  return tvms_as_object_target(target)->config;
}

const tvms_node *TVMS_NULLABLE tvms_host_of_target(const tvms_node *config) {
  if (config->kind != TVMS_NODE_OBJECT_MAP) return NULL;
  const tvms_node *host = tvms_object_map_get(config, "host");
  if (host && host->kind == TVMS_NODE_OBJECT_TARGET)
    return tvms_as_object_target(host)->config;
  return host;
}

tvms_node *tvms_host_without(tvms_unit *unit, const tvms_node *config) {
  tvms_object_target *target = tvms_node_make(unit, OBJECT_TARGET, TVMS_NO_SPAN);
  target->config = tvms_host_of_target(config)
                       ? tvms_object_map_with(unit, config, "host", NULL)
                       : (tvms_node *)(uintptr_t)config;
  return &target->head;
}

const char *tvms_host_target_kind(const tvms_node *config) {
  const tvms_node *kind = config->kind == TVMS_NODE_OBJECT_MAP
                              ? tvms_object_map_get(config, "kind")
                              : config;
  const char *text = tvms_object_as_text(kind);
  return text ? text : "";
}

typedef struct {
  const char *kind;
  int type;
  const char *name;
} device;

static const device devices[] = {
    {"llvm", TVMS_HOST_DEVICE_CPU, "cpu"},
    {"c", TVMS_HOST_DEVICE_CPU, "cpu"},
    {"composite", TVMS_HOST_DEVICE_CPU, "cpu"},
    {"test", TVMS_HOST_DEVICE_CPU, "cpu"},
    {"cuda", 2, "cuda"},
    {"nvptx", 2, "cuda"},
    {"opencl", 4, "opencl"},
    {"vulkan", 7, "vulkan"},
    {"metal", 8, "metal"},
    {"rocm", 10, "rocm"},
    {"ext_dev", TVMS_HOST_DEVICE_EXTENSION, "ext_dev"},
    {"webgpu", 15, "webgpu"},
    {"hexagon", TVMS_HOST_DEVICE_HEXAGON, "hexagon"},
};

static const device *device_of(const tvms_node *config) {
  const char *kind = tvms_host_target_kind(config);
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    if (!strcmp(kind, devices[i].kind)) return &devices[i];
  }
  return NULL;
}

int tvms_host_device_type(const tvms_node *config) {
  const device *found = device_of(config);
  return found ? found->type : -1;
}

const char *TVMS_NULLABLE tvms_host_device_name(const tvms_node *config) {
  const device *found = device_of(config);
  return found ? found->name : NULL;
}

void tvms_host_target_report(tvms_context *context, const tvms_node *function,
                             const char *name, const char *pass) {
  tvms_diag *diag =
      tvms_diag_report(&context->diags, TVMS_D_no_target, function->span, name, pass);
  tvms_diag_remark(&context->diags, diag, "run BindTarget{target=llvm} before it");
}
