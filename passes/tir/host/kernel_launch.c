// Launches of kernels.
//
// What a kernel needs to be launched stands in its body: axes of threads with their
// extents, and dynamic shared memory. An extent is written in terms of the kernel's
// parameters and of values bound in it; the launch computes it from its own arguments.
#include "passes/tir/host/kernel_launch.h"

#include "ir/clone.h"
#include "ir/equal.h"
#include "ir/fold_ops.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/tir/host/function_target.h"
#include "schedule/storage_scope.h"
#include "support/diag_ids.h"

#include <string.h>

// Tags of launches that are no axes.
#define USE_DEPENDENT_LAUNCH   "tirx.use_programtic_dependent_launch"
#define USE_COOPERATIVE_LAUNCH "tirx.use_cooperative_launch"
#define USE_DYNAMIC_MEMORY     "tirx.use_dyn_shared_memory"
#define CLASSIC_DYNAMIC_MEMORY "tir.use_dyn_shared_memory"
#define DYNAMIC_BYTES          "tirx.dyn_smem_bytes"

enum { LAUNCHED = 1, CALLED_AS_EXTERN = 2 };

typedef struct {
  tvms_pass_run *run;
  uint8_t *called;                      // by member: LAUNCHED | CALLED_AS_EXTERN
  const tvms_node *target;              // of the function at hand, without its host
  const tvms_node *TVMS_NULLABLE host;  // of that target
} launching;

// ---- What a kernel asks for ----

typedef struct {
  const char *tag;
  tvms_node *extent;
} launch_axis;

typedef struct {
  tvms_pass_run *run;
  TVMS_VEC(launch_axis) axes;  // in order of their first use
  tvms_node_vec binds;         // BIND, in order
  tvms_node *TVMS_NULLABLE declared_bytes;
  bool dynamic;                // there is dynamic shared memory:
  tvms_list dynamic_extents;   // so many
  tvms_dtype dynamic_element;  // of these
  bool dependent;
  bool cooperative;
} kernel_info;

static void note_axis(kernel_info *info, const tvms_attr_stmt *attr) {
  const tvms_context *context = info->run->context;
  tvms_sym tag = attr->node->kind == TVMS_NODE_ITER_VAR
                     ? tvms_as_iter_var(attr->node)->thread_tag
                     : tvms_as_var(attr->node)->name;
  const char *text = tvms_symbol_text(context, tag);
  for (uint32_t i = 0; i < info->axes.len; i++) {
    if (!strcmp(info->axes.items[i].tag, text)) return;
  }
  launch_axis axis = {text, attr->value};
  tvms_vec_push(&info->run->context->memory, &info->axes, axis);
}

// Memory that is allocated for the pointer `data` counts if it is shared and dynamic.
static void note_memory(kernel_info *info, const tvms_node *data, tvms_list extents,
                        tvms_dtype element) {
  const tvms_node *type = data->sinfo;
  if (info->dynamic || !type || type->kind != TVMS_NODE_SINFO_POINTER) return;
  tvms_sym symbol = tvms_as_sinfo_pointer(type)->scope;
  if (!symbol) return;  // global
  const char *scope = tvms_symbol_text(info->run->context, symbol);
  info->dynamic = tvms_storage_rank_of(scope) == TVMS_STORAGE_SHARED
                  && !strcmp(tvms_storage_tag_of(scope), ".dyn");
  info->dynamic_extents = extents;
  info->dynamic_element = element;
}

static tvms_walk_step note_launch(void *self, tvms_node *node, tvms_field_role role) {
  kernel_info *info = self;
  (void)role;
  if (node->kind == TVMS_NODE_BIND)
    tvms_vec_push(&info->run->context->memory, &info->binds, node);
  if (node->kind == TVMS_NODE_ALLOC_BUFFER) {
    const tvms_buffer *buffer = tvms_as_buffer(tvms_as_alloc_buffer(node)->buffer);
    note_memory(info, buffer->data, buffer->shape, buffer->element);
  }
  if (node->kind == TVMS_NODE_ALLOCATE) {
    const tvms_allocate *alloc = tvms_as_allocate(node);
    note_memory(info, alloc->var, alloc->extents, alloc->element);
  }
  if (node->kind != TVMS_NODE_ATTR_STMT) return TVMS_WALK_ON;
  tvms_attr_stmt *attr = tvms_as_attr_stmt(node);
  if (tvms_bytes_is(attr->key, DYNAMIC_BYTES)) info->declared_bytes = attr->value;
  bool named =
      attr->node->kind == TVMS_NODE_ITER_VAR || attr->node->kind == TVMS_NODE_VAR;
  if (tvms_bytes_is(attr->key, "thread_extent") && named) note_axis(info, attr);
  return TVMS_WALK_ON;
}

static void note_requested(kernel_info *info, const tvms_node *TVMS_NULLABLE tags) {
  if (!tags || tags->kind != TVMS_NODE_OBJECT_ARRAY) return;
  tvms_list items = tvms_as_object_array(tags)->items;
  for (uint32_t i = 0; i < items.len; i++) {
    const char *tag = tvms_object_as_text(items.items[i]);
    if (!tag) continue;
    info->dependent |= !strcmp(tag, USE_DEPENDENT_LAUNCH);
    info->cooperative |= !strcmp(tag, USE_COOPERATIVE_LAUNCH);
  }
}

static void collect(kernel_info *info, tvms_pass_run *run, tvms_node *function) {
  *info = (kernel_info){.run = run};
  const tvms_node *attrs = tvms_as_prim_func(function)->attrs;
  note_requested(info, tvms_object_map_get(attrs, "tirx.kernel_launch_params"));
  tvms_visitor visitor = {.self = info, .enter = note_launch};
  tvms_walk(&run->context->memory, tvms_as_prim_func(function)->body, &visitor);
}

static void forget(kernel_info *info) {
  tvms_vec_fini(&info->run->context->memory, &info->axes);
  tvms_vec_fini(&info->run->context->memory, &info->binds);
}

static bool is_kernel(const kernel_info *info) {
  return info->axes.len || info->dependent || info->cooperative || info->declared_bytes
         || info->dynamic;
}

// The tags of a launch, as an attribute.
static tvms_node *tags_of(const kernel_info *info, tvms_unit *unit) {
  tvms_node_vec tags = {0};
  tvms_memory *memory = &unit->context->memory;
  bool tirx = tvms_release_has(unit->dialect, TVMS_FACT_tir_is_tirx);
  const char *memory_tag = tirx ? USE_DYNAMIC_MEMORY : CLASSIC_DYNAMIC_MEMORY;
  const char *more[] = {
      info->dependent ? USE_DEPENDENT_LAUNCH : NULL,
      info->cooperative ? USE_COOPERATIVE_LAUNCH : NULL,
      info->dynamic || info->declared_bytes ? memory_tag : NULL,
  };
  for (uint32_t i = 0; i < info->axes.len + 3; i++) {
    const char *tag =
        i < info->axes.len ? info->axes.items[i].tag : more[i - info->axes.len];
    if (!tag) continue;
    tvms_vec_push(memory, &tags,
                  tvms_object_str_new(unit, tag, strlen(tag), TVMS_NO_SPAN));
  }
  tvms_node *array = tvms_object_array_new(unit, tags.items, tags.len, TVMS_NO_SPAN);
  tvms_vec_fini(memory, &tags);
  return array;
}

// ---- Calls ----

static tvms_node *dynamic_bytes(tvms_unit *unit, const kernel_info *info,
                                tvms_node_map *known) {
  tvms_dtype element = info->dynamic_element;
  tvms_node *size = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < info->dynamic_extents.len; i++) {
    tvms_node *extent = tvms_clone(unit, info->dynamic_extents.items[i], known);
    size = tvms_build_binary(unit, TVMS_NODE_MUL, size, extent, TVMS_NO_SPAN);
  }
  int64_t bytes = ((int64_t)element.bits * element.lanes + 7) / 8;
  bool wide = tvms_release_has(unit->dialect, TVMS_FACT_buffers_are_variables);
  tvms_dtype dtype = wide ? TVMS_DTYPE(INT, 64) : TVMS_DTYPE(INT, 32);
  tvms_node *each = tvms_int_imm_new(unit, dtype, bytes, TVMS_NO_SPAN);
  return tvms_build_binary(unit, TVMS_NODE_MUL, size, each, TVMS_NO_SPAN);
}

// Appends the extents of the kernel's axes as the caller computes them.
static void push_extents(const kernel_info *info, tvms_unit *unit,
                         const tvms_prim_func *kernel, const tvms_call *call,
                         tvms_node_vec *args) {
  tvms_memory *memory = &unit->context->memory;
  tvms_node_map known;
  tvms_node_map_init(&known, memory);
  for (uint32_t i = 0; i < kernel->params.len; i++)
    tvms_node_map_put(&known, kernel->params.items[i], call->args.items[i]);
  for (uint32_t i = 0; i < info->binds.len; i++) {
    const tvms_bind *bind = tvms_as_bind(info->binds.items[i]);
    if (tvms_node_class_of(bind->value) != TVMS_CLASS_EXPR) continue;
    tvms_node_map_put(&known, bind->var, tvms_clone(unit, bind->value, &known));
  }
  for (uint32_t i = 0; i < info->axes.len; i++)
    tvms_vec_push(memory, args, tvms_clone(unit, info->axes.items[i].extent, &known));
  if (info->declared_bytes)
    tvms_vec_push(memory, args, tvms_clone(unit, info->declared_bytes, &known));
  else if (info->dynamic)
    tvms_vec_push(memory, args, dynamic_bytes(unit, info, &known));
  tvms_node_map_fini(&known);
}

// The call by name: `opcode` with the name and the arguments, and what a launch adds.
static tvms_node *call_by_name(tvms_unit *unit, const tvms_node *node,
                               const tvms_member *member,
                               const kernel_info *TVMS_NULLABLE info) {
  const tvms_call *call = tvms_as_call(node);
  tvms_memory *memory = &unit->context->memory;
  const char *name = tvms_symbol_text(unit->context, member->name);
  const tvms_node *attrs = tvms_as_prim_func(member->function)->attrs;
  const char *symbol =
      info ? tvms_object_as_text(tvms_object_map_get(attrs, "global_symbol")) : NULL;
  if (symbol) name = symbol;
  tvms_node_vec args = {0};
  tvms_vec_push(memory, &args,
                tvms_string_imm_new(unit, name, strlen(name), TVMS_NO_SPAN));
  for (uint32_t i = 0; i < call->args.len; i++)
    tvms_vec_push(memory, &args, call->args.items[i]);
  tvms_dtype dtype = node->dtype;
  if (info) {
    push_extents(info, unit, tvms_as_prim_func(member->function), call, &args);
    if (tvms_dtype_is_void(dtype)) dtype = TVMS_DTYPE(INT, 32);
  }
  bool attributes = tvms_release_has(unit->dialect, TVMS_FACT_launches_have_attributes);
  tvms_tir_opcode launch =
      attributes ? TVMS_TIR_call_ffi_kernel : TVMS_TIR_tvm_call_packed;
  tvms_node *new = tvms_call_new_of(unit, dtype, info ? launch : TVMS_TIR_call_extern,
                                    args.items, args.len, node->span);
  if (info && attributes) {
    tvms_node *map =
        tvms_object_map_with(unit, NULL, "launch_params", tags_of(info, unit));
    tvms_as_call(new)->attrs = tvms_list_copy(unit, &map, 1);
  }
  tvms_vec_fini(memory, &args);
  return new;
}

// By which means `caller` gets at a function of another target: 0 if it needs none.
static uint8_t means_of(const launching *l, tvms_unit *unit, const tvms_node *callee,
                        const kernel_info *info) {
  const tvms_node *caller = l->host ? l->host : l->target;
  if (l->host && is_kernel(info)) return LAUNCHED;
  tvms_context *context = unit->context;
  const tvms_node *own = tvms_as_object_target(tvms_host_without(unit, callee))->config;
  if (tvms_node_equal(context, caller, own)) return 0;
  int device = tvms_host_device_type(caller);
  return device == tvms_host_device_type(callee) && device >= 0 ? CALLED_AS_EXTERN
                                                                : LAUNCHED;
}

static tvms_node *lower_call(tvms_rewriter *r, tvms_node *node) {
  launching *l = r->self;
  const tvms_node *name = tvms_as_call(node)->callee;
  const tvms_member *member =
      tvms_module_function_named(l->run->module, name, TVMS_NODE_PRIM_FUNC);
  if (!member) return node;
  const tvms_node *callee = tvms_host_target_of(member->function);
  const tvms_prim_func *function = tvms_as_prim_func(member->function);
  if (function->params.len != tvms_as_call(node)->args.len) return node;
  kernel_info info;
  collect(&info, l->run, member->function);
  // The config is only compared: parts of two units may stand in it for that long.
  uint8_t means = means_of(l, r->unit, callee, &info);
  l->called[member - l->run->module->members] |= means;
  if (means)
    node = call_by_name(r->unit, node, member, means == LAUNCHED ? &info : NULL);
  forget(&info);
  return node;
}

static tvms_node *lower_calls(tvms_pass_run *run, tvms_unit *unit,
                              tvms_node *function) {
  launching *l = run->state;
  const tvms_node *config = tvms_host_target_of(function);
  // Up to 0.22 the caller is code for its device, whoever may be its host.
  bool hosts = !tvms_release_has(unit->dialect, TVMS_FACT_definitions_hold_bodies);
  l->host = hosts ? tvms_host_of_target(config) : NULL;
  l->target = tvms_as_object_target(tvms_host_without(unit, config))->config;
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, l);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  r.leave[TVMS_NODE_CALL] = lower_call;
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  return changed;
}

// ---- What is called by name ----

typedef struct {
  bool keeps_returns;
} launched_body;

static tvms_node *drop_return(tvms_rewriter *r, tvms_node *node) {
  const launched_body *body = r->self;
  if (tvms_node_is_int(tvms_as_return(node)->value, 0))
    return body->keeps_returns ? node : NULL;
  tvms_diag_report(&r->unit->context->diags, TVMS_D_kernel_returns, node->span);
  return node;
}

// Before 0.26 a return is the call of an operator.
static tvms_node *drop_classic_return(tvms_rewriter *r, tvms_node *node) {
  const launched_body *body = r->self;
  const tvms_node *value = tvms_as_evaluate(node)->value;
  if (tvms_call_opcode(value) != TVMS_TIR_ret) return node;
  tvms_list args = tvms_as_call((tvms_node *)(uintptr_t)value)->args;
  if (args.len == 1 && tvms_node_is_int(args.items[0], 0))
    return body->keeps_returns ? node : NULL;
  tvms_diag_report(&r->unit->context->diags, TVMS_D_kernel_returns, node->span);
  return node;
}

static tvms_node *drop_dynamic_bytes(tvms_rewriter *r, tvms_node *node) {
  (void)r;
  return tvms_bytes_is(tvms_as_attr_stmt(node)->key, DYNAMIC_BYTES) ? NULL : node;
}

static tvms_node *launched(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  kernel_info info;
  collect(&info, run, function);
  tvms_node *tags = tags_of(&info, unit);
  forget(&info);
  launched_body body = {
      !strcmp(tvms_host_target_kind(tvms_host_target_of(function)), "cuda")};
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &body);
  r.leave[TVMS_NODE_RETURN] = drop_return;
  r.leave[TVMS_NODE_EVALUATE] = drop_classic_return;
  r.leave[TVMS_NODE_ATTR_STMT] = drop_dynamic_bytes;
  tvms_node *new = tvms_node_copy(unit, tvms_rewrite(&r, function));
  tvms_rewriter_fini(&r);
  tvms_prim_func *kernel = tvms_as_prim_func(new);
  kernel->ret = NULL;
  kernel->attrs = tvms_object_map_with(unit, kernel->attrs, "calling_conv",
                                       tvms_object_int_new(unit, 2, TVMS_NO_SPAN));
  bool tirx = tvms_release_has(unit->dialect, TVMS_FACT_tir_is_tirx);
  const char *key = tirx ? "tirx.kernel_launch_params" : "tir.kernel_launch_params";
  kernel->attrs = tvms_object_map_with(unit, kernel->attrs, key, tags);
  return new;
}

static tvms_node *publish(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  const launching *l = run->state;
  const tvms_member *member =
      tvms_module_find(run->module, tvms_as_prim_func(function)->name);
  uint8_t called = member ? l->called[member - run->module->members] : 0;
  if (!called) return function;
  const char *name = tvms_symbol_text(unit->context, member->name);
  if (called == (LAUNCHED | CALLED_AS_EXTERN)) {
    tvms_diag_report(&unit->context->diags, TVMS_D_called_both_ways, function->span,
                     name);
    return function;
  }
  tvms_node *new =
      called &LAUNCHED ? launched(run, unit, function) : tvms_node_copy(unit, function);
  tvms_prim_func *prim_func = tvms_as_prim_func(new);
  bool tirx = tvms_release_has(unit->dialect, TVMS_FACT_tir_is_tirx);
  prim_func->attrs = tvms_object_map_with(
      unit, prim_func->attrs, tirx ? "tirx.is_global_func" : "tir.is_global_func",
      tvms_object_bool_new(unit, true, TVMS_NO_SPAN));
  new->flags &= (uint8_t)~TVMS_FLAG_PRIVATE;
  return new;
}

void tvms_host_lower_launches(tvms_pass_run *run) {
  tvms_arena *scratch = &run->context->scratch;
  tvms_mark mark = tvms_arena_mark(scratch);
  launching l = {.run = run,
                 .called =
                     tvms_arena_array(scratch, uint8_t, run->module->member_count)};
  void *outer = run->state;
  run->state = &l;
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, lower_calls);
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, publish);
  run->state = outer;
  tvms_arena_reset(scratch, mark);
}

bool tvms_host_have_targets(tvms_pass_run *run, const char *pass) {
  bool all = true;
  for (uint32_t i = 0; i < run->module->member_count; i++) {
    const tvms_member *member = &run->module->members[i];
    if (!member->function || member->function->kind != TVMS_NODE_PRIM_FUNC) continue;
    if (tvms_host_target_of(member->function)) continue;
    tvms_host_target_report(run->context, member->function,
                            tvms_symbol_text(run->context, member->name), pass);
    all = false;
  }
  return all;
}
