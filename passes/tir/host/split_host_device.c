// SplitHostDevice: code of devices in functions of its own, which the host launches.
//
// Before: def main(A: T.Buffer((16,), "float32")):
//             tx = T.launch_thread("threadIdx.x", 16)
//             A[tx] = …
// After:  def main(A): T.call_packed("main_kernel", A.data, 16)
//         def main_kernel(A_ptr: T.handle("float32", "global")):
//             A = T.decl_buffer((16,), data=A_ptr)
//             …
//
// In a function whose target has a host, what is inside of threads or of "device_scope" is for
// the device; a region with an attribute "target" is for that target in any function. A region
// becomes a kernel: its parameters are the pointers of the buffers that it uses and then the
// variables, by name. How a kernel is called depends on both targets (kernel_launch.h). Every
// PrimFunc must have a target. Before 0.26 the parameters are the pointers of the buffers
// themselves. Up to 0.22 only an attribute "target" begins a region (AnnotateDeviceRegions puts
// it there), and calls are left to LowerDeviceKernelLaunch. TVM: tirx.transform.SplitHostDevice,
// tir.transform.SplitHostDevice up to 0.22.
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/tir/host/captured.h"
#include "passes/tir/host/function_target.h"
#include "passes/tir/host/kernel_launch.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_pass_run *run;
  tvms_node *function;  // at hand
  const tvms_node *target;
  tvms_host_captured captured;
} splitting;

// ---- Regions ----

// The target of the code behind a statement, or NULL if the statement begins no region.
static tvms_node *target_of_region(const splitting *s, tvms_unit *unit,
                                   const tvms_node *stmt) {
  if (stmt->kind != TVMS_NODE_ATTR_STMT) return NULL;
  const tvms_attr_stmt *attr = tvms_as_attr_stmt(stmt);
  if (tvms_bytes_is(attr->key, "target") && attr->node->kind == TVMS_NODE_OBJECT_TARGET)
    return tvms_host_without(unit, tvms_as_object_target(attr->node)->config);
  bool device = tvms_bytes_is(attr->key, "thread_extent")
                || tvms_bytes_is(attr->key, "device_scope");
  return device && s->target && tvms_host_of_target(s->target)
             ? tvms_host_without(unit, s->target)
             : NULL;
}

static bool can_fail(const tvms_node *target) {
  int device = tvms_host_device_type(tvms_as_object_target(target)->config);
  return device == TVMS_HOST_DEVICE_CPU || device == TVMS_HOST_DEVICE_EXTENSION
         || device == TVMS_HOST_DEVICE_HEXAGON;
}

// ---- Kernels ----

static tvms_sym name_of(const tvms_node *used) {
  return used->kind == TVMS_NODE_BUFFER ? tvms_as_buffer(used)->name
                                        : tvms_as_var(used)->name;
}

static bool is_pointer(const tvms_node *used) {
  return used->kind == TVMS_NODE_BUFFER || tvms_dtype_is_handle(used->dtype)
         || (used->sinfo && used->sinfo->kind == TVMS_NODE_SINFO_POINTER);
}

// Pointers first, then by name.
static bool comes_before(const tvms_context *context, const tvms_node *a,
                         const tvms_node *b) {
  if (is_pointer(a) != is_pointer(b)) return is_pointer(a);
  return strcmp(tvms_symbol_text(context, name_of(a)),
                tvms_symbol_text(context, name_of(b)))
         < 0;
}

static void sort_by_name(const tvms_context *context, tvms_node_vec *used) {
  for (uint32_t i = 1; i < used->len; i++) {
    tvms_node *moved = used->items[i];
    uint32_t at = i;
    while (at > 0 && comes_before(context, moved, used->items[at - 1])) {
      used->items[at] = used->items[at - 1];
      at--;
    }
    used->items[at] = moved;
  }
}

static tvms_sym with_suffix(tvms_context *context, tvms_sym name, const char *suffix) {
  char text[256];
  int len =
      snprintf(text, sizeof text, "%.200s%s", tvms_symbol_text(context, name), suffix);
  return tvms_symbol_intern(context, text, (size_t)len);
}

// A kernel in the making.
typedef struct {
  tvms_unit *unit;
  tvms_node_map known;  // node of the function -> node of the kernel
  tvms_node_vec params;
  tvms_node_vec args;  // of the call, in the function
  tvms_node_vec body;
} kernel;

// The pointer of a buffer becomes the parameter, and the kernel declares the buffer.
static tvms_node *add_buffer(kernel *k, tvms_node *buffer) {
  tvms_node *own = tvms_clone(k->unit, buffer, &k->known);
  const tvms_node *data = tvms_as_buffer(own)->data;
  tvms_dtype element = tvms_as_buffer(own)->element;
  tvms_sym scope = data->sinfo && data->sinfo->kind == TVMS_NODE_SINFO_POINTER
                       ? tvms_as_sinfo_pointer(data->sinfo)->scope
                       : 0;
  tvms_sym name = with_suffix(k->unit->context, tvms_as_buffer(own)->name, "_ptr");
  tvms_node *pointer =
      tvms_pointer_var_new(k->unit, name, element, scope, TVMS_NO_SPAN);
  tvms_decl_buffer *declare = tvms_node_make(k->unit, DECL_BUFFER, TVMS_NO_SPAN);
  declare->buffer = own;
  declare->source = pointer;
  tvms_memory *memory = &k->unit->context->memory;
  tvms_vec_push(memory, &k->body, &declare->head);
  return pointer;
}

// Before 0.26 the kernel declares the buffer for its own variable. A buffer over memory that the
// region allocates is not known before; TVM declares it all the same.
static void add_view(kernel *k, tvms_node *buffer) {
  if (!tvms_node_map_get(&k->known, tvms_as_buffer(buffer)->data)) return;
  tvms_decl_buffer *declare = tvms_node_make(k->unit, DECL_BUFFER, TVMS_NO_SPAN);
  declare->buffer = tvms_clone(k->unit, buffer, &k->known);
  tvms_vec_push(&k->unit->context->memory, &k->body, &declare->head);
}

// The buffer that was used last is declared first.
static void declare_buffers(kernel *k, const tvms_host_captured *captured,
                            tvms_node_map *pointers) {
  const tvms_node_vec *used = &captured->used, *views = &captured->views;
  for (uint32_t i = views->len; i-- > 0;)
    add_view(k, views->items[i]);
  for (uint32_t i = used->len; i-- > 0;) {
    tvms_node *node = used->items[i];
    if (node->kind == TVMS_NODE_BUFFER)
      tvms_node_map_put(pointers, node, add_buffer(k, node));
  }
}

static void add_params(kernel *k, tvms_host_captured *captured) {
  tvms_memory *memory = &k->unit->context->memory;
  tvms_node_vec *used = &captured->used;
  tvms_node_map pointers;
  tvms_node_map_init(&pointers, memory);
  for (uint32_t i = 0; i < used->len; i++) {
    if (used->items[i]->kind == TVMS_NODE_VAR)
      tvms_clone(k->unit, used->items[i], &k->known);
  }
  declare_buffers(k, captured, &pointers);
  sort_by_name(k->unit->context, used);
  for (uint32_t i = 0; i < used->len; i++) {
    tvms_node *node = used->items[i];
    bool buffer = node->kind == TVMS_NODE_BUFFER;
    tvms_node *param = tvms_node_map_get(buffer ? &pointers : &k->known, node);
    tvms_vec_push(memory, &k->params, param);
    tvms_vec_push(memory, &k->args, buffer ? tvms_as_buffer(node)->data : node);
  }
  tvms_node_map_fini(&pointers);
}

static tvms_node *zero(tvms_unit *unit) {
  return tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
}

// ---- Bounds of launches, which are attributes of kernels for CUDA ----

static const char *const bounds[] = {"tirx.launch_bounds_min_blocks_per_sm",
                                     "tirx.launch_bounds_max_blocks_per_cluster"};

typedef struct {
  tvms_node *TVMS_NULLABLE found[2];
} launch_bounds;

static tvms_node *take_bound(tvms_rewriter *r, tvms_node *node) {
  launch_bounds *b = r->self;
  const tvms_attr_stmt *attr = tvms_as_attr_stmt(node);
  for (int i = 0; i < 2; i++) {
    if (!tvms_bytes_is(attr->key, bounds[i])) continue;
    b->found[i] = attr->value;
    return NULL;
  }
  return node;
}

static tvms_node *take_bounds(tvms_unit *unit, tvms_node *body, launch_bounds *b) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, b);
  r.leave[TVMS_NODE_ATTR_STMT] = take_bound;
  body = tvms_rewrite(&r, body);
  tvms_rewriter_fini(&r);
  return body;
}

// ---- Functions ----

static tvms_node *attributes(const splitting *s, tvms_unit *unit, tvms_node *target,
                             const launch_bounds *b) {
  tvms_node *yes = tvms_object_bool_new(unit, true, TVMS_NO_SPAN);
  tvms_node *attrs = tvms_object_map_with(unit, NULL, "target", target);
  bool tirx = tvms_release_has(unit->dialect, TVMS_FACT_tir_is_tirx);
  attrs = tvms_object_map_with(unit, attrs, tirx ? "tirx.noalias" : "tir.noalias", yes);
  attrs = tvms_object_map_with(
      unit, attrs, tirx ? "tirx.is_global_func" : "tir.is_global_func", yes);
  static const char *const taken[] = {"num_inputs", "tirx.kernel_launch_params"};
  int count = !tirx ? 0 : s->captured.pointers ? 1 : 2;
  const tvms_node *old = tvms_as_prim_func(s->function)->attrs;
  for (int i = 0; i < count; i++) {
    tvms_node *value = tvms_object_map_get(old, taken[i]);
    if (!value) continue;
    attrs = tvms_object_map_with(unit, attrs, taken[i], tvms_clone(unit, value, NULL));
  }
  const tvms_node *config = tvms_as_object_target(target)->config;
  bool cuda = !strcmp(tvms_host_target_kind(config), "cuda");
  for (int i = 0; cuda && i < 2; i++) {
    int64_t value;
    if (!tvms_object_as_int(b->found[i], &value)) continue;
    attrs = tvms_object_map_with(unit, attrs, bounds[i],
                                 tvms_object_int_new(unit, value, TVMS_NO_SPAN));
  }
  return attrs;
}

// "main_kernel", or "main_kernel_1" and so on.
static tvms_sym kernel_name(const splitting *s) {
  tvms_context *context = s->run->context;
  const tvms_prim_func *function = tvms_as_prim_func(s->function);
  const char *symbol =
      tvms_object_as_text(tvms_object_map_get(function->attrs, "global_symbol"));
  tvms_sym base =
      symbol ? tvms_symbol_intern(context, symbol, strlen(symbol)) : function->name;
  tvms_sym name = with_suffix(context, base, "_kernel");
  for (uint32_t i = 1; tvms_module_find(s->run->module, name); i++) {
    char suffix[32];
    snprintf(suffix, sizeof suffix, "_kernel_%u", i);
    name = with_suffix(context, base, suffix);
  }
  return name;
}

// The region, and whether it went well if a kernel can say so.
static tvms_node *kernel_body(kernel *k, tvms_node *const *stmts, uint32_t count,
                              bool fails) {
  tvms_memory *memory = &k->unit->context->memory;
  tvms_node_vec region = {0};
  for (uint32_t i = 0; i < count; i++)
    tvms_vec_push(memory, &region, tvms_clone(k->unit, stmts[i], &k->known));
  tvms_node *seq = tvms_stmt_seq(k->unit, &region, TVMS_NO_SPAN);
  if (fails) {
    tvms_stmt_push(k->unit, &k->body, seq);
    tvms_vec_push(memory, &k->body,
                  tvms_stmt_return(k->unit, zero(k->unit), TVMS_NO_SPAN));
  } else {
    tvms_stmt_push_last(memory, &k->body, seq);
  }
  return tvms_stmt_seq(k->unit, &k->body, TVMS_NO_SPAN);
}

static void finish(splitting *s, kernel *k, tvms_node *body, tvms_node *target,
                   tvms_sym name) {
  launch_bounds b = {{NULL, NULL}};
  tvms_prim_func *function = tvms_node_make(k->unit, PRIM_FUNC, TVMS_NO_SPAN);
  function->name = name;
  function->params = tvms_list_copy(k->unit, k->params.items, k->params.len);
  function->buffers = (tvms_list){
      tvms_arena_array(&k->unit->arena, tvms_node *, k->params.len), k->params.len};
  function->body = take_bounds(k->unit, body, &b);
  function->attrs = attributes(s, k->unit, tvms_clone(k->unit, target, NULL), &b);
  function->head.flags =
      (uint8_t)(TVMS_FLAG_PRIVATE | (s->function->flags & TVMS_FLAG_S_TIR));
  if (can_fail(target)) {
    tvms_sinfo_prim *result = tvms_node_make(k->unit, SINFO_PRIM, TVMS_NO_SPAN);
    result->head.dtype = TVMS_DTYPE(INT, 32);
    function->ret = &result->head;
  }
  tvms_functions_add(s->run, name, k->unit, &function->head);
}

// ---- Calls ----

// Appends the call of the kernel, and the check of what it returns.
static void push_call(tvms_unit *unit, tvms_node_vec *stmts, tvms_sym name,
                      const tvms_node_vec *args, bool fails) {
  tvms_memory *memory = &unit->context->memory;
  tvms_global_var *callee = tvms_node_make(unit, GLOBAL_VAR, TVMS_NO_SPAN);
  callee->name = name;
  tvms_dtype dtype = fails ? TVMS_DTYPE(INT, 32) : (tvms_dtype){0};
  tvms_node *call =
      tvms_call_new(unit, dtype, &callee->head, args->items, args->len, TVMS_NO_SPAN);
  if (!fails) {
    tvms_vec_push(memory, stmts, tvms_evaluate_new(unit, call, TVMS_NO_SPAN));
    return;
  }
  tvms_sym code = tvms_symbol_intern(unit->context, "kernel_error_code", 17);
  tvms_bind *bind = tvms_node_make(unit, BIND, TVMS_NO_SPAN);
  bind->var = tvms_var_new(unit, code, dtype, TVMS_NO_SPAN);
  bind->value = call;
  tvms_assert *check = tvms_node_make(unit, ASSERT, TVMS_NO_SPAN);
  static const char kind[] = "RuntimeError", text[] = "Error executing compute kernel";
  check->condition =
      tvms_binary_new(unit, TVMS_NODE_EQ, bind->var, zero(unit), TVMS_NO_SPAN);
  check->error_kind = tvms_bytes_copy(unit, kind, sizeof kind - 1);
  tvms_node *message = tvms_string_imm_new(unit, text, sizeof text - 1, TVMS_NO_SPAN);
  check->message = tvms_list_copy(unit, &message, 1);
  tvms_vec_push(memory, stmts, &bind->head);
  tvms_vec_push(memory, stmts, &check->head);
  // An assertion that holds a body says that there is none.
  if (tvms_stmt_holds_body(&check->head, unit->dialect))
    tvms_vec_push(memory, stmts, tvms_stmt_none(unit, TVMS_NO_SPAN));
}

// ---- Functions with regions ----

// Moves the statements of a region into a kernel and appends its call.
static void split_region(splitting *s, tvms_unit *unit, tvms_node_vec *stmts,
                         tvms_list region, tvms_node *target) {
  tvms_memory *memory = &unit->context->memory;
  tvms_sym name = kernel_name(s);
  kernel k = {.unit = tvms_functions_open_unit(s->run)};
  tvms_node_map_init(&k.known, memory);
  tvms_host_captured_find(&s->captured, region.items, region.len);
  add_params(&k, &s->captured);
  bool fails = can_fail(target);
  tvms_node *body = kernel_body(&k, region.items, region.len, fails);
  finish(s, &k, body, target, name);
  push_call(unit, stmts, name, &k.args, fails);
  tvms_node_map_fini(&k.known);
  tvms_vec_fini(memory, &k.params);
  tvms_vec_fini(memory, &k.args);
}

static tvms_node *split_seq(tvms_rewriter *r, tvms_node *node) {
  splitting *s = r->self;
  tvms_list old = tvms_as_seq(node)->stmts;
  tvms_node *target = NULL;
  uint32_t at = 0;
  while (at < old.len && !(target = target_of_region(s, r->unit, old.items[at])))
    at++;
  if (!target) return TVMS_REWRITE_BELOW;
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < at; i++) {
    tvms_node *stmt = tvms_rewrite(r, old.items[i]);
    if (stmt) tvms_stmt_push(r->unit, &stmts, stmt);
  }
  // A target is said once, by the kernel itself.
  bool said = tvms_bytes_is(tvms_as_attr_stmt(old.items[at])->key, "target");
  uint32_t from = at + said;
  split_region(s, r->unit, &stmts, (tvms_list){old.items + from, old.len - from},
               target);
  return tvms_stmt_seq(r->unit, &stmts, node->span);
}

// Up to 0.22 regions are marked before, and calls are lowered later.
static bool has_three_passes(tvms_dialect dialect) {
  return tvms_release_has(dialect, TVMS_FACT_definitions_hold_bodies);
}

static tvms_node *split(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  splitting s = {.run = run, .function = function};
  if (!has_three_passes(unit->dialect)) s.target = tvms_host_target_of(function);
  bool pointers = !tvms_release_has(unit->dialect, TVMS_FACT_buffers_are_variables);
  tvms_host_captured_init(&s.captured, &run->context->memory, function, pointers);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &s);
  r.roles = TVMS_IN(BODY);
  r.enter[TVMS_NODE_SEQ] = split_seq;
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  tvms_host_captured_fini(&s.captured);
  return changed;
}

void tvms_pass_split_host_device(tvms_pass_run *run) {
  bool alone = has_three_passes(run->module->dialect);
  if (!alone && !tvms_host_have_targets(run, "SplitHostDevice")) return;
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, split);
  if (!alone) tvms_host_lower_launches(run);
}
