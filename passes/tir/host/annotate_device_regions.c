// AnnotateDeviceRegions: what only a device can do is marked with the device's target.
//
// Before: in a function for "cuda" with a host: tx = T.launch_thread("threadIdx.x", 16); A[tx] = …
// After:  T.attr(T.target("cuda"), "target", 0); tx = T.launch_thread("threadIdx.x", 16); A[tx] = …
//
// Threads, "device_scope" and "pipeline_exec_scope" begin a region, which ends with its scope and
// becomes a kernel in SplitHostDevice. A region that has an attribute "target" keeps that one, and
// a function whose target has no host stays as it is. Every PrimFunc must have a target. Later
// releases do this in SplitHostDevice. TVM: tir.transform.AnnotateDeviceRegions.
#include "ir/build.h"
#include "ir/rewrite.h"
#include "passes/functions.h"
#include "passes/tir/host/function_target.h"
#include "passes/tir/host/kernel_launch.h"

static bool is_marked(const tvms_node *stmt) {
  return stmt->kind == TVMS_NODE_ATTR_STMT
         && tvms_bytes_is(tvms_as_attr_stmt((tvms_node *)(uintptr_t)stmt)->key,
                          "target");
}

static bool is_for_device(const tvms_node *stmt) {
  static const char *const keys[] = {"thread_extent", "pipeline_exec_scope",
                                     "device_scope"};
  if (stmt->kind != TVMS_NODE_ATTR_STMT) return false;
  const tvms_attr_stmt *attr = tvms_as_attr_stmt((tvms_node *)(uintptr_t)stmt);
  for (int i = 0; i < 3; i++) {
    if (tvms_bytes_is(attr->key, keys[i])) return true;
  }
  return false;
}

static tvms_node *mark_of(tvms_unit *unit, const tvms_node *config) {
  tvms_attr_stmt *mark = tvms_node_make(unit, ATTR_STMT, TVMS_NO_SPAN);
  mark->node = tvms_host_without(unit, config);
  mark->key = tvms_bytes_copy(unit, "target", 6);
  mark->value = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
  return &mark->head;
}

// A region is the rest of its sequence; nothing inside of it is marked again.
static tvms_node *enter_seq(tvms_rewriter *r, tvms_node *node) {
  tvms_memory *memory = &r->unit->context->memory;
  tvms_list old = tvms_as_seq(node)->stmts;
  uint32_t at = 0;
  while (at < old.len && !is_marked(old.items[at]) && !is_for_device(old.items[at]))
    at++;
  if (at == old.len) return TVMS_REWRITE_BELOW;
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < at; i++) {
    tvms_node *stmt = tvms_rewrite(r, old.items[i]);
    if (stmt) tvms_stmt_push(r->unit, &stmts, stmt);
  }
  if (!is_marked(old.items[at]))
    tvms_vec_push(memory, &stmts, mark_of(r->unit, r->self));
  for (uint32_t i = at; i < old.len; i++)
    tvms_vec_push(memory, &stmts, old.items[i]);
  return tvms_stmt_seq(r->unit, &stmts, node->span);
}

static tvms_node *annotate(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  (void)run;
  const tvms_node *config = tvms_host_target_of(function);
  if (!tvms_host_of_target(config)) return function;
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, (void *)(uintptr_t)config);
  r.roles = TVMS_IN(BODY);
  r.enter[TVMS_NODE_SEQ] = enter_seq;
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  return changed;
}

void tvms_pass_annotate_device_regions(tvms_pass_run *run) {
  if (tvms_host_have_targets(run, "AnnotateDeviceRegions"))
    tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, annotate);
}
