// What the body of a module says of the module itself: attributes, global infos, devices.
#include "ir/clone.h"
#include "ir/object.h"
#include "parser/eval/convert.h"
#include "parser/eval/eval.h"
#include "parser/eval/python.h"
#include "parser/handlers.h"
#include "parser/target.h"
#include "parser/tir/tir.h"

static bool inside_module(tvms_reader *reader, const tvms_call_args *call) {
  if (reader->module && !reader->language) return true;
  tvms_reader_report(reader, outside_module, call->ref,
                     tvms_row_text(reader, call->row));
  return false;
}

static bool truth_of(const tvms_reader *reader, tvms_eval_value value) {
  bool known;
  return tvms_eval_value_truth(reader, value, &known) && known;
}

tvms_eval_value tvms_call_module_attrs(tvms_reader *reader,
                                       const tvms_call_args *call) {
  tvms_node *map;
  if (!inside_module(reader, call)
      || !tvms_eval_to_map(reader, call->args[0], call->refs[0], &map)) {
    return TVMS_UNKNOWN;
  }
  tvms_module *module = reader->module;
  if (module->attrs && tvms_object_map_count(module->attrs)
      && !truth_of(reader, call->args[1])) {
    tvms_reader_report(reader, repeated_part, call->ref, "I.module_attrs");
    return TVMS_UNKNOWN;
  }
  if (map) module->attrs = tvms_object_map_join(&module->unit, module->attrs, map);
  return TVMS_NOTHING;
}

tvms_eval_value tvms_call_module_get_attr(tvms_reader *reader,
                                          const tvms_call_args *call) {
  tvms_bytes key;
  if (!inside_module(reader, call)
      || !tvms_eval_to_text(reader, call->args[0], call->refs[0], &key)) {
    return TVMS_UNKNOWN;
  }
  tvms_node *value = tvms_object_map_get(reader->module->attrs, key.text);
  return value ? tvms_eval_value_node(value) : TVMS_NOTHING;
}

// TVM hands over objects here: no plain numbers, and no texts that fit a register.
static bool is_plain(const tvms_reader *reader, tvms_eval_value value) {
  enum { SHORT = 7 };
  bool text = value.kind == TVMS_EVAL_STR;
  return value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_FLOAT
         || value.kind == TVMS_EVAL_BOOL
         || (text
             && (tvms_release_has(reader->dialect, TVMS_FACT_module_attrs_take_texts)
                 || value.len <= SHORT));
}

// I.module_set_attr(key, value, allow_overwrite=False); None takes the attribute away.
tvms_eval_value tvms_call_module_set_attr(tvms_reader *reader,
                                          const tvms_call_args *call) {
  tvms_bytes key;
  if (!inside_module(reader, call)
      || !tvms_eval_to_text(reader, call->args[0], call->refs[0], &key)) {
    return TVMS_UNKNOWN;
  }
  tvms_module *module = reader->module;
  if (call->args[1].kind == TVMS_EVAL_NONE) {
    module->attrs = tvms_object_map_with(&module->unit, module->attrs, key.text, NULL);
    return TVMS_NOTHING;
  }
  if (is_plain(reader, call->args[1])) {
    tvms_eval_report_wrong_type(reader, call->refs[1],
                                "the value given to I.module_set_attr", "an object",
                                call->args[1]);
    return TVMS_UNKNOWN;
  }
  if (tvms_object_map_get(module->attrs, key.text)
      && !truth_of(reader, call->args[2])) {
    tvms_reader_report(reader, repeated_attribute, call->ref, key.text);
    return TVMS_UNKNOWN;
  }
  tvms_node *value = tvms_eval_to_object(reader, call->args[1], call->refs[1]);
  if (!value) return TVMS_UNKNOWN;
  module->attrs = tvms_object_map_with(&module->unit, module->attrs, key.text, value);
  return TVMS_NOTHING;
}

tvms_eval_value tvms_call_module_global_infos(tvms_reader *reader,
                                              const tvms_call_args *call) {
  tvms_node *map;
  if (!inside_module(reader, call)
      || !tvms_eval_to_map(reader, call->args[0], call->refs[0], &map)) {
    return TVMS_UNKNOWN;
  }
  if (reader->module->global_infos) {
    tvms_reader_report(reader, repeated_part, call->ref, "I.module_global_infos");
    return TVMS_UNKNOWN;
  }
  // A device that the file defines before the class dies when the file is read.
  tvms_unit *unit = &reader->module->unit;
  reader->module->global_infos = tvms_clone(unit, map, NULL);
  return TVMS_NOTHING;
}

tvms_eval_value tvms_call_dummy_global_info(tvms_reader *reader,
                                            const tvms_call_args *call) {
  return tvms_eval_value_node(&tvms_node_make(reader->unit, OBJECT_DUMMY,
                                              tvms_reader_span_of(reader, call->ref))
                                   ->head);
}

// The target of a virtual device: a config, or the name of a kind.
static tvms_node *device_target(tvms_reader *reader, tvms_eval_value value,
                                tvms_ref ref) {
  tvms_node *target = tvms_eval_value_node_of(value, TVMS_NODE_OBJECT_TARGET);
  if (target) return target;
  tvms_object_target *made =
      tvms_node_make(reader->unit, OBJECT_TARGET, tvms_reader_span_of(reader, ref));
  made->config = tvms_target_config(reader, value, ref);
  return made->config ? &made->head : NULL;
}

tvms_eval_value tvms_call_vdevice(tvms_reader *reader, const tvms_call_args *call) {
  tvms_object_vdevice *device = tvms_node_make(reader->unit, OBJECT_VDEVICE,
                                               tvms_reader_span_of(reader, call->ref));
  device->target = device_target(reader, call->args[0], call->refs[0]);
  if (!device->target
      || !tvms_eval_to_int(reader, call->args[1], call->refs[1], &device->index)
      || !tvms_eval_to_text(reader, call->args[2], call->refs[2], &device->scope)) {
    return TVMS_UNKNOWN;
  }
  return tvms_eval_value_node(&device->head);
}

tvms_eval_value tvms_call_lookup_vdevice(tvms_reader *reader,
                                         const tvms_call_args *call) {
  tvms_node *list = reader->module
                        ? tvms_object_map_get(reader->module->global_infos, "vdevice")
                        : NULL;
  int64_t index;
  if (!tvms_eval_to_int(reader, call->args[1], call->refs[1], &index))
    return TVMS_UNKNOWN;
  if (index < 0) index = 0;
  if (list && list->kind == TVMS_NODE_OBJECT_ARRAY) {
    tvms_list items = tvms_as_object_array(list)->items;
    if (index < items.len) return tvms_eval_value_node(items.items[index]);
  }
  tvms_reader_report(reader, no_such_vdevice, call->ref);
  return TVMS_UNKNOWN;
}
