// RealizeVDevice: hints of devices become types with devices, and copies where those differ.
//
// Before: lv = R.hint_on_device(y, R.device(1, 0)); gv = R.add(x, lv)
// After:  x and y are R.Tensor(…, vdevice="llvm:0"); lv = y; gv = R.add(x, lv)
//
// What a value is computed from is on its device, except across R.hint_on_device and
// R.to_vdevice. First go the devices that types name and that hints give to their results, then
// those that hints suggest for their arguments. A hint for a value that is somewhere else becomes
// R.to_vdevice, any other its argument. Devices are those of the module's global infos.
// TVM: relax.transform.RealizeVDevice.
#include "ir/equal.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/relax/mutator.h"
#include "structinfo/definitions.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "support/diag_ids.h"

#include <string.h>

// Kinds of targets and the numbers of their devices.
static const struct {
  const char *kind;
  int64_t type;
} device_types[] = {
    {"llvm", 1},     {"c", 1},       {"cuda", 2},     {"nvptx", 2},
    {"opencl", 4},   {"vulkan", 7},  {"metal", 8},    {"rocm", 10},
    {"ext_dev", 12}, {"webgpu", 15}, {"hexagon", 16},
};

typedef struct {
  const tvms_node *var;
  uint32_t next;  // + 1 of the next entry of the same variable; 0: none
} neighbour;

typedef struct {
  tvms_relax_mutator m;
  tvms_node_map devices;  // VAR → its OBJECT_VDEVICE
  tvms_node_map hinted;   // VAR → that of a hint which takes it
  uint32_t *first;        // by id: its first neighbour + 1
  TVMS_VEC(neighbour) neighbours;
  tvms_node_vec known;  // variables with a device, in the order in which they got it
  tvms_node_vec hinted_known;              // variables in `hinted`
  const tvms_node *TVMS_NULLABLE binding;  // variable of the binding being looked at
} realization;

static tvms_memory *memory_of(realization *s) {
  return &s->m.unit->context->memory;
}

// ---- Devices of the module ----

static int64_t type_of_target(const tvms_node *target) {
  const tvms_node *config = tvms_as_object_target(target)->config;
  const char *kind = config->kind == TVMS_NODE_OBJECT_MAP
                         ? tvms_object_as_text(tvms_object_map_get(config, "kind"))
                         : tvms_object_as_text(config);
  for (size_t i = 0; kind && i < sizeof device_types / sizeof device_types[0]; i++)
    if (strcmp(device_types[i].kind, kind) == 0) return device_types[i].type;
  return -1;
}

static bool is_hint(const tvms_node *value) {
  return tvms_op_called(value) == TVMS_R_hint_on_device;
}

// The device that a hint means; a report and NULL if the module has none such.
static tvms_node *TVMS_NULLABLE device_of_hint(realization *s, const tvms_node *hint) {
  const tvms_call *call = tvms_as_call(hint);
  int64_t type = tvms_attr_int(call, TVMS_ATTR_hint_on_device_device_type, 0);
  int64_t index = tvms_attr_int(call, TVMS_ATTR_hint_on_device_index, 0);
  tvms_bytes scope = tvms_attr_text(call, TVMS_ATTR_hint_on_device_memory_scope);
  const tvms_node *list =
      tvms_object_map_get(s->m.run->module->global_infos, "vdevice");
  tvms_list devices = list ? tvms_as_object_array(list)->items : (tvms_list){0};
  for (uint32_t i = 0; i < devices.len; i++) {
    const tvms_object_vdevice *device = tvms_as_object_vdevice(devices.items[i]);
    bool fits = device->index == index && type_of_target(device->target) == type;
    if (fits && (!scope.text || tvms_bytes_same(device->scope, scope)))
      return devices.items[i];
  }
  tvms_diag_report(&s->m.unit->context->diags, TVMS_D_no_such_device, hint->span);
  return NULL;
}

// ---- What is known ----

static tvms_node *TVMS_NULLABLE device_of_type(const tvms_node *TVMS_NULLABLE type) {
  return tvms_sinfo_is_tensor(type) ? tvms_as_sinfo_tensor(type)->vdevice : NULL;
}

static void know(realization *s, const tvms_node *var, tvms_node *device) {
  tvms_node *node = (tvms_node *)(uintptr_t)var;
  if (!tvms_node_map_get(&s->devices, var))
    tvms_vec_push(memory_of(s), &s->known, node);
  tvms_node_map_put(&s->devices, var, device);
}

static void know_type(realization *s, const tvms_node *var) {
  tvms_node *device = device_of_type(var->sinfo);
  if (device) know(s, var, device);
}

static void connect(realization *s, const tvms_node *a, const tvms_node *b) {
  neighbour entry = {b, s->first[a->id]};
  tvms_vec_push(memory_of(s), &s->neighbours, entry);
  s->first[a->id] = s->neighbours.len;
}

static tvms_walk_step connect_uses(void *self, tvms_node *node, tvms_field_role role) {
  realization *s = self;
  tvms_opcode opcode = tvms_op_called(node);
  if (opcode == TVMS_R_hint_on_device || opcode == TVMS_R_to_vdevice)
    return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_VAR_BINDING || node->kind == TVMS_NODE_MATCH_CAST)
    return TVMS_WALK_SKIP;
  bool value = node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_USE && node->sinfo
               && !tvms_sinfo_is_prim(node->sinfo);
  if (!value) return TVMS_WALK_ON;
  connect(s, s->binding, node);
  connect(s, node, s->binding);
  return TVMS_WALK_ON;
}

static void note_hint(realization *s, const tvms_node *var, const tvms_node *value) {
  tvms_node *device = device_of_hint(s, value);
  tvms_node *arg = tvms_as_call(value)->args.items[0];
  if (!device) return;
  know(s, var, device);
  if (arg->kind != TVMS_NODE_VAR) return;
  if (!tvms_node_map_get(&s->hinted, arg))
    tvms_vec_push(memory_of(s), &s->hinted_known, arg);
  tvms_node_map_put(&s->hinted, arg, device);
}

static tvms_walk_step note_binding(void *self, tvms_node *node, tvms_field_role role) {
  realization *s = self;
  (void)role;
  if (node->kind == TVMS_NODE_FUNCTION) {
    tvms_list params = tvms_as_function(node)->params;
    for (uint32_t i = 0; i < params.len; i++)
      know_type(s, params.items[i]);
  }
  if (node->kind != TVMS_NODE_VAR_BINDING && node->kind != TVMS_NODE_MATCH_CAST)
    return TVMS_WALK_ON;
  tvms_node *value = tvms_relax_binding_value(node);
  s->binding = tvms_relax_binding_var(node);
  know_type(s, s->binding);
  if (is_hint(value)) note_hint(s, s->binding, value);
  tvms_visitor visitor = {.self = s, .enter = connect_uses};
  if (!tvms_sinfo_is_prim(s->binding->sinfo)) tvms_walk(memory_of(s), value, &visitor);
  return TVMS_WALK_ON;
}

// What the type of the result says of the values that are returned.
static void note_result(realization *s, const tvms_relax_definitions *definitions,
                        tvms_node *expr, const tvms_node *type) {
  tvms_node *device = device_of_type(type);
  if (device && expr->kind == TVMS_NODE_VAR && !tvms_node_map_get(&s->devices, expr))
    know(s, expr, device);
  if (!type || type->kind != TVMS_NODE_SINFO_TUPLE) return;
  expr = tvms_relax_definitions_unwrap(definitions, expr);
  if (expr->kind != TVMS_NODE_TUPLE) return;
  tvms_list fields = tvms_as_tuple(expr)->fields;
  tvms_list types = tvms_as_sinfo_tuple(type)->fields;
  for (uint32_t i = 0; i < fields.len && fields.len == types.len; i++)
    note_result(s, definitions, fields.items[i], types.items[i]);
}

// Devices go along from the variables of `known` behind place `from`.
static void propagate(realization *s, uint32_t from) {
  tvms_node_vec queue = {0};
  for (uint32_t i = from; i < s->known.len; i++)
    tvms_vec_push(memory_of(s), &queue, s->known.items[i]);
  while (queue.len > 0) {
    const tvms_node *var = queue.items[--queue.len];
    tvms_node *device = tvms_node_map_get(&s->devices, var);
    for (uint32_t at = s->first[var->id]; at; at = s->neighbours.items[at - 1].next) {
      const tvms_node *next = s->neighbours.items[at - 1].var;
      if (tvms_node_map_get(&s->devices, next)) continue;
      know(s, next, device);
      tvms_vec_push(memory_of(s), &queue, (tvms_node *)(uintptr_t)next);
    }
  }
  tvms_vec_fini(memory_of(s), &queue);
}

static void infer_devices(realization *s, tvms_node *function) {
  tvms_visitor visitor = {.self = s, .enter = note_binding};
  tvms_walk(memory_of(s), function, &visitor);
  tvms_relax_definitions definitions;
  tvms_relax_definitions_init(&definitions, s->m.unit, function);
  note_result(s, &definitions, tvms_as_seq_expr(tvms_as_function(function)->body)->body,
              tvms_as_function(function)->ret);
  tvms_relax_definitions_fini(&definitions);
  propagate(s, 0);
  uint32_t from = s->known.len;
  for (uint32_t i = 0; i < s->hinted_known.len; i++) {
    const tvms_node *var = s->hinted_known.items[i];
    if (!tvms_node_map_get(&s->devices, var))
      know(s, var, tvms_node_map_get(&s->hinted, var));
  }
  propagate(s, from);
}

// ---- Types and copies ----

static tvms_node *type_with_device(realization *s, const tvms_node *type,
                                   tvms_node *device) {
  const tvms_sinfo_tensor *tensor = tvms_as_sinfo_tensor(type);
  if (tensor->shape)
    return tvms_sinfo_tensor_new(s->m.unit, tensor->shape, type->dtype, device);
  return tvms_sinfo_tensor_new_ndim(s->m.unit, tensor->ndim, type->dtype, device);
}

static tvms_node *enter_function(tvms_rewriter *r, tvms_node *node) {
  const tvms_relax_mutator *m = r->self;
  realization *s = m->self;
  tvms_list params = tvms_as_function(node)->params;
  for (uint32_t i = 0; i < params.len; i++) {
    tvms_node *param = params.items[i];
    tvms_node *device = tvms_node_map_get(&s->devices, param);
    if (!device || !tvms_sinfo_is_tensor(param->sinfo)) continue;
    if (device_of_type(param->sinfo) == device) continue;
    tvms_node *placed = tvms_node_copy(m->unit, param);
    placed->sinfo = type_with_device(s, param->sinfo, device);
    tvms_node_map_put(&r->known, param, placed);
  }
  return TVMS_REWRITE_BELOW;
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  const tvms_relax_mutator *m = r->self;
  realization *s = m->self;
  node = tvms_relax_leave_call(r, node);
  if (!is_hint(node)) return node;
  tvms_node *arg = tvms_as_call(node)->args.items[0];
  tvms_node *device = device_of_hint(s, node), *has = device_of_type(arg->sinfo);
  if (!device || (has && tvms_node_equal(m->unit->context, has, device))) return arg;
  return tvms_relax_op_with(&s->m, TVMS_R_to_vdevice, &arg, 1, &device);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  realization s = {0};
  tvms_memory *memory = &run->context->memory;
  size_t size = unit->next_id * sizeof *s.first;
  s.first = memset(tvms_memory_alloc(memory, size), 0, size);
  tvms_relax_mutator_init(&s.m, run, unit, &s);
  tvms_node_map_init(&s.devices, memory);
  tvms_node_map_init(&s.hinted, memory);
  uint32_t errors = run->context->diags.errors;
  infer_devices(&s, function);
  s.m.rewriter.enter[TVMS_NODE_FUNCTION] = enter_function;
  s.m.rewriter.leave[TVMS_NODE_CALL] = leave_call;
  if (run->context->diags.errors == errors)
    function = tvms_relax_mutate(&s.m, function);
  tvms_vec_fini(memory, &s.neighbours);
  tvms_vec_fini(memory, &s.known);
  tvms_vec_fini(memory, &s.hinted_known);
  tvms_node_map_fini(&s.hinted);
  tvms_node_map_fini(&s.devices);
  tvms_relax_mutator_fini(&s.m);
  tvms_memory_free(memory, s.first);
  return function;
}

void tvms_pass_realize_vdevice(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
