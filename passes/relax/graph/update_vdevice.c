// UpdateVDevice: values of one device are values of another, and so is the device of the module.
//
// Before: I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("cuda", 0)]})
//         x: R.Tensor((4,), "float32", "llvm:0")
// After, with new_vdevice=metal and index 0: [I.vdevice("metal"), I.vdevice("cuda", 0)]
//         x: R.Tensor((4,), "float32", "metal:0")
//
// The new device is the kind of a target, its number and its memory scope: metal, metal:1,
// metal:1:global. Nothing is copied, and nothing is checked that the new device may not have.
// R.to_vdevice goes to the new device, too; in TVM it goes on naming the old one, which is gone.
// TVM: relax.transform.UpdateVDevice.
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/object.h"
#include "ir/op.h"
#include "ir/target_config.h"
#include "passes/functions.h"
#include "support/diag_ids.h"

#include <stdlib.h>
#include <string.h>

// The device that the option describes, a node of the module.
static tvms_node *TVMS_NULLABLE new_device(tvms_pass_run *run, const char *text) {
  tvms_unit *unit = &run->module->unit;
  size_t kind = strcspn(text, ":");
  if (!kind) return NULL;
  tvms_object_vdevice *made = tvms_node_make(unit, OBJECT_VDEVICE, TVMS_NO_SPAN);
  tvms_object_target *target = tvms_node_make(unit, OBJECT_TARGET, TVMS_NO_SPAN);
  tvms_node *config = tvms_target_config_defaults(unit, text, kind);
  if (!config) return NULL;
  target->config = tvms_target_config_complete(unit, config, NULL);
  made->target = &target->head;
  made->scope = tvms_bytes_copy(unit, "global", 6);
  if (text[kind] == ':') {
    char *end;
    made->index = strtol(text + kind + 1, &end, 10);
    if (end == text + kind + 1 || made->index < 0) return NULL;
    if (*end == ':') made->scope = tvms_bytes_copy(unit, end + 1, strlen(end + 1));
    if (*end && *end != ':') return NULL;
  }
  return &made->head;
}

typedef struct {
  tvms_pass_run *run;
  tvms_node *from, *to;
} update;

static tvms_node *leave_type(tvms_rewriter *r, tvms_node *node) {
  const update *u = r->self;
  tvms_sinfo_tensor *tensor = tvms_as_sinfo_tensor(node);
  bool meant =
      tensor->vdevice && tvms_node_equal(r->unit->context, tensor->vdevice, u->from);
  if (!meant) return node;
  tvms_node *copy = node == r->old ? tvms_node_copy(r->unit, node) : node;
  tvms_as_sinfo_tensor(copy)->vdevice = u->to;
  return copy;
}

// R.to_vdevice names a device, too.
static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  const update *u = r->self;
  tvms_list attrs = tvms_as_call(node)->attrs;
  if (tvms_op_called(node) != TVMS_R_to_vdevice) return node;
  tvms_list made = tvms_list_copy(r->unit, attrs.items, attrs.len);
  bool any = false;
  for (uint32_t i = 0; i < made.len; i++) {
    bool meant = made.items[i] && made.items[i]->kind == TVMS_NODE_OBJECT_VDEVICE
                 && tvms_node_equal(r->unit->context, made.items[i], u->from);
    if (meant) made.items[i] = u->to;
    any |= meant;
  }
  if (!any) return node;
  tvms_node *copy = node == r->old ? tvms_node_copy(r->unit, node) : node;
  tvms_as_call(copy)->attrs = made;
  return copy;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, run->state);
  rewriter.leave[TVMS_NODE_SINFO_TENSOR] = leave_type;
  rewriter.leave[TVMS_NODE_CALL] = leave_call;
  function = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return function;
}

void tvms_pass_update_vdevice(tvms_pass_run *run) {
  tvms_module *module = run->module;
  tvms_diags *diags = &run->context->diags;
  int64_t index = TVMS_OPTION(run, UpdateVDevice, index).number;
  const tvms_node *list = tvms_object_map_get(module->global_infos, "vdevice");
  tvms_list devices = list ? tvms_as_object_array(list)->items : (tvms_list){0};
  const char *text = TVMS_OPTION(run, UpdateVDevice, new_vdevice).text;
  update u = {.run = run, .to = new_device(run, text)};
  if (!u.to) tvms_diag_report(diags, TVMS_D_vdevice_text, module->name_span, text);
  bool inside = index >= 0 && index < devices.len;
  if (!inside)
    tvms_diag_report(diags, TVMS_D_vdevice_index, module->name_span, (long long)index,
                     devices.len);
  if (!u.to || !inside) return;
  u.from = devices.items[index];
  // Types of the new functions name the new device, which the module must know by then.
  tvms_list made = tvms_list_copy(&module->unit, devices.items, devices.len);
  for (uint32_t i = 0; i < made.len; i++) {
    if (tvms_node_equal(run->context, made.items[i], u.from)) made.items[i] = u.to;
  }
  tvms_node *array =
      tvms_object_array_new(&module->unit, made.items, made.len, TVMS_NO_SPAN);
  run->state = &u;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = NULL;
  module->global_infos =
      tvms_object_map_with(&module->unit, module->global_infos, "vdevice", array);
  run->changed = true;
}
