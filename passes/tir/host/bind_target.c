// BindTarget: every PrimFunc says for which machine it is compiled.
//
// Before: @T.prim_func def main   After: its attributes say "target": T.target({"kind": "llvm", "host": …})
//
// A public function gets the whole target, its host included; it keeps a target of its own, to
// which the host is added. A private one follows its callers, which are public ones: the host
// for those that are called outside of loops over threads of a GPU, the device for those
// called inside, and where both happen, a copy of the function for the host. "tirx.is_host_func"
// stands for the host. TVM: tirx.transform.BindTarget.
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/target_config.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/tir/host/function_target.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_pass_run *run;
  uint8_t *called;           // by member: CALLED_BY_HOST | CALLED_BY_DEVICE
  tvms_sym *for_hosts;       // by member: its copy for the host, or 0
  tvms_node_map redirected;  // calls of the function at hand that are for the host
} binding;

enum { CALLED_BY_HOST = 1, CALLED_BY_DEVICE = 2 };

// ---- Who calls whom from where ----

// A walk through one function that knows whether it is among the threads of a GPU.
typedef struct {
  binding *b;
  uint32_t threads;          // loops and attributes around
  TVMS_VEC(uint32_t) marks;  // `threads` where the open SEQs begin
  // What to do with the call of a member.
  void (*visit)(binding *b, uint32_t member, bool device, tvms_node *call);
} scan;

static bool is_thread_loop(const tvms_node *node) {
  return node->kind == TVMS_NODE_FOR
         && tvms_as_for(node)->for_kind == TVMS_FOR_THREAD_BINDING;
}

// The index of a member, or UINT32_MAX.
static uint32_t member_index(const binding *b, tvms_sym name) {
  const tvms_member *member = tvms_module_find(b->run->module, name);
  return member ? (uint32_t)(member - b->run->module->members) : UINT32_MAX;
}

static tvms_walk_step enter(void *self, tvms_node *node, tvms_field_role role) {
  scan *s = self;
  (void)role;
  if (node->kind == TVMS_NODE_SEQ)
    tvms_vec_push(&s->b->run->context->memory, &s->marks, s->threads);
  if (is_thread_loop(node)) s->threads++;
  if (node->kind != TVMS_NODE_CALL) return TVMS_WALK_ON;
  const tvms_node *callee = tvms_as_call(node)->callee;
  if (callee->kind != TVMS_NODE_GLOBAL_VAR) return TVMS_WALK_ON;
  uint32_t member = member_index(s->b, tvms_as_global_var(callee)->name);
  if (member != UINT32_MAX) s->visit(s->b, member, s->threads > 0, node);
  return TVMS_WALK_ON;
}

static void leave(void *self, tvms_node *node, tvms_field_role role) {
  scan *s = self;
  (void)role;
  if (node->kind == TVMS_NODE_SEQ) s->threads = s->marks.items[--s->marks.len];
  if (is_thread_loop(node)) s->threads--;
  if (tvms_attr_stmt_threads(node)) s->threads++;  // for the rest of its SEQ
}

static void scan_calls(binding *b, tvms_node *function,
                       void (*visit)(binding *, uint32_t, bool, tvms_node *)) {
  scan s = {.b = b, .visit = visit};
  tvms_visitor visitor = {&s, enter, leave};
  tvms_walk(&b->run->context->memory, tvms_as_prim_func(function)->body, &visitor);
  tvms_vec_fini(&b->run->context->memory, &s.marks);
}

static void note_call(binding *b, uint32_t member, bool device, tvms_node *call) {
  (void)call;
  b->called[member] |= device ? CALLED_BY_DEVICE : CALLED_BY_HOST;
}

static bool is_public_prim_func(const tvms_node *function) {
  return function && function->kind == TVMS_NODE_PRIM_FUNC
         && !(function->flags & TVMS_FLAG_PRIVATE);
}

// ---- Targets ----

// The target of an option as T.target(…), with `host` if it is not NULL; NULL after a
// report.
static tvms_node *target_of(tvms_pass_run *run, tvms_unit *unit, const char *text,
                            tvms_node *TVMS_NULLABLE host) {
  tvms_node *config = tvms_target_config_defaults(unit, text, strlen(text));
  if (!config) {
    tvms_diag_report(&run->context->diags, TVMS_D_target_unknown, TVMS_NO_SPAN, text);
    return NULL;
  }
  if (host)
    config =
        tvms_object_map_with(unit, config, "host", tvms_as_object_target(host)->config);
  tvms_object_target *target = tvms_node_make(unit, OBJECT_TARGET, TVMS_NO_SPAN);
  target->config = config;
  return &target->head;
}

static const char *device_text(const tvms_pass_run *run) {
  return TVMS_OPTION(run, BindTarget, target).text;
}

static tvms_node *host_target(tvms_pass_run *run, tvms_unit *unit) {
  return target_of(run, unit, TVMS_OPTION(run, BindTarget, host).text, NULL);
}

static tvms_node *with_attribute(tvms_unit *unit, tvms_node *function, const char *key,
                                 tvms_node *TVMS_NULLABLE value) {
  tvms_node *new = tvms_node_copy(unit, function);
  tvms_prim_func *prim_func = tvms_as_prim_func(new);
  prim_func->attrs = tvms_object_map_with(unit, prim_func->attrs, key, value);
  return new;
}

static tvms_node *add_host(tvms_pass_run *run, tvms_unit *unit, tvms_node *function,
                           const tvms_node *config) {
  if (function->flags & TVMS_FLAG_PRIVATE || config->kind != TVMS_NODE_OBJECT_MAP
      || tvms_host_of_target(config))
    return function;
  tvms_node *host = host_target(run, unit);
  if (!host) return function;
  tvms_object_target *target = tvms_node_make(unit, OBJECT_TARGET, TVMS_NO_SPAN);
  target->config =
      tvms_object_map_with(unit, config, "host", tvms_as_object_target(host)->config);
  return with_attribute(unit, function, "target", &target->head);
}

static const char *host_key(const tvms_unit *unit) {
  return tvms_release_has(unit->dialect, TVMS_FACT_tir_is_tirx) ? "tirx.is_host_func"
                                                                : "tir.is_host_func";
}

static tvms_node *bind(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  binding *b = run->state;
  const tvms_prim_func *old = tvms_as_prim_func(function);
  const tvms_node *own = tvms_host_target_of(function);
  if (own) return add_host(run, unit, function, own);
  tvms_node *host = host_target(run, unit);
  if (!host) return function;
  int64_t marked;
  const char *key = host_key(unit);
  if (tvms_object_as_int(tvms_object_map_get(old->attrs, key), &marked) && marked) {
    function = with_attribute(unit, function, key, NULL);
    host = target_of(run, unit, TVMS_OPTION(run, BindTarget, host).text, host);
    return with_attribute(unit, function, "target", host);
  }
  uint32_t member = member_index(b, old->name);
  uint8_t called = member == UINT32_MAX ? 0 : b->called[member];
  bool public = !(function->flags & TVMS_FLAG_PRIVATE);
  if (!public && called == CALLED_BY_HOST)
    return with_attribute(unit, function, "target", host);
  tvms_node *target = target_of(run, unit, device_text(run), public ? host : NULL);
  return target ? with_attribute(unit, function, "target", target) : function;
}

// ---- Copies for the host ----

// Calls of the host, by node, and what they call from now on.
static void note_host_call(binding *b, uint32_t member, bool device, tvms_node *call) {
  if (device || !b->for_hosts[member]) return;
  tvms_node_map_put(&b->redirected, call, (tvms_node *)(uintptr_t)call);
}

static tvms_node *call_copy(tvms_rewriter *r, tvms_node *node) {
  binding *b = r->self;
  if (!tvms_node_map_get(&b->redirected, r->old)) return node;
  const tvms_node *callee = tvms_as_call(node)->callee;
  uint32_t member = member_index(b, tvms_as_global_var(callee)->name);
  tvms_node *new = tvms_node_copy(r->unit, node);
  tvms_node *copy = tvms_node_copy(r->unit, callee);
  tvms_as_global_var(copy)->name = b->for_hosts[member];
  tvms_as_call(new)->callee = copy;
  return new;
}

static tvms_node *call_copies(tvms_pass_run *run, tvms_unit *unit,
                              tvms_node *function) {
  binding *b = run->state;
  if (!is_public_prim_func(function)) return function;
  tvms_node_map_init(&b->redirected, &run->context->memory);
  scan_calls(b, function, note_host_call);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, b);
  r.leave[TVMS_NODE_CALL] = call_copy;
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  tvms_node_map_fini(&b->redirected);
  return changed;
}

static tvms_sym host_name(tvms_pass_run *run, tvms_sym name) {
  char text[256];
  snprintf(text, sizeof text, "%.240s_host", tvms_symbol_text(run->context, name));
  return tvms_functions_fresh_name(run, text);
}

// Copies what both sides call, and lets public functions call the copy on the host.
static void split(binding *b, uint32_t count) {
  bool any = false;
  for (uint32_t i = 0; i < count; i++) {
    const tvms_member *member = &b->run->module->members[i];
    bool both = b->called[i] == (CALLED_BY_HOST | CALLED_BY_DEVICE);
    if (!both || !member->function || member->function->kind != TVMS_NODE_PRIM_FUNC
        || is_public_prim_func(member->function))
      continue;
    tvms_unit *unit = tvms_functions_open_unit(b->run);
    tvms_node *copy = tvms_clone(unit, member->function, NULL);
    tvms_node *host = host_target(b->run, unit);
    if (!host) return;
    copy = with_attribute(unit, copy, "target", host);
    b->for_hosts[i] = host_name(b->run, member->name);
    tvms_as_prim_func(copy)->name = b->for_hosts[i];
    tvms_functions_add(b->run, b->for_hosts[i], unit, copy);
    any = true;
  }
  if (any) tvms_functions_change(b->run, TVMS_NODE_PRIM_FUNC, call_copies);
}

void tvms_pass_bind_target(tvms_pass_run *run) {
  tvms_arena *scratch = &run->context->scratch;
  tvms_mark mark = tvms_arena_mark(scratch);
  uint32_t count = run->module->member_count;
  binding b = {.run = run,
               .called = tvms_arena_array(scratch, uint8_t, count),
               .for_hosts = tvms_arena_array(scratch, tvms_sym, count)};
  run->state = &b;
  for (uint32_t i = 0; i < count; i++) {
    const tvms_member *member = &run->module->members[i];
    if (is_public_prim_func(member->function)
        && tvms_unit_has(member->unit, TVMS_NODE_GLOBAL_VAR))
      scan_calls(&b, member->function, note_call);
  }
  split(&b, count);
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, bind);
  tvms_arena_reset(scratch, mark);
}
