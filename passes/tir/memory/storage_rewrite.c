// StorageRewrite: allocations share memory, and move to where their function begins.
//
// Before: for i: B = T.alloc_buffer((8,)); C = T.alloc_buffer((8,)); B… of A; C… of B; D… of C
// After:  B = T.alloc_buffer((8,)); for i: C is a view of B, whose elements it replaces
//
// Which allocations share is planned in storage_plan.c. Buffers that nothing touches go. With
// merge_static_smem nothing shares, since MergeSharedMemoryAllocations will do it; targets of
// Vulkan and WebGPU share between elements of one dtype only. Then buffers that are accessed in
// vectors of one length hold vectors (vector_types.c). Buffers must be flat. In 0.22 buffers that
// nothing accesses are not declared. An allocation whose size a statement binds is left alone;
// TVM moves it above that statement. TVM: tirx.transform.StorageRewrite.
#include "ir/fold.h"
#include "ir/object.h"
#include "ir/target.h"
#include "passes/functions.h"
#include "passes/remarks.h"
#include "passes/tir/memory/storage_plan.h"
#include "passes/tir/memory/vector_types.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  tvms_unit *unit;
  tvms_linear_access access;
  tvms_storage_plan plan;
} rewriting;

// The memory behind a buffer or pointer; NULL: not planned here.
static const tvms_storage_entry *TVMS_NULLABLE entry_of(const rewriting *w,
                                                        const tvms_node *node) {
  uint32_t alloc = tvms_linear_access_alloc_of(&w->access, node);
  if (alloc == UINT32_MAX) return NULL;
  uint32_t entry = w->plan.entry_of[alloc];
  return entry == UINT32_MAX ? NULL : &w->plan.entries.items[entry];
}

// A buffer as a view of its memory, under the name of it.
static tvms_node *enter_buffer(tvms_rewriter *r, tvms_node *node) {
  rewriting *w = r->self;
  const tvms_storage_entry *e = entry_of(w, node);
  if (!e || e->backing == node) return node;
  if (e->renamed == node) return e->backing;
  tvms_node *copy = tvms_node_copy(w->unit, node);
  tvms_buffer *buffer = tvms_as_buffer(copy);
  const tvms_buffer *backing = tvms_as_buffer(e->backing);
  buffer->name = backing->name;
  if (!tvms_release_has(w->unit->dialect, TVMS_FACT_buffers_are_variables)) {
    buffer->data = backing->data;
    return copy;
  }
  buffer->data = tvms_var_like(w->unit, buffer->data);
  return copy;
}

// A pointer that is used on its own is that of the memory.
static tvms_node *enter_var(tvms_rewriter *r, tvms_node *node) {
  const tvms_storage_entry *e =
      r->role == TVMS_ROLE_USE ? entry_of(r->self, node) : NULL;
  return e ? tvms_as_buffer(e->backing)->data : node;
}

static tvms_node *declaration(rewriting *w, tvms_node *buffer,
                              const tvms_storage_entry *e) {
  tvms_decl_buffer *declare = tvms_node_make(w->unit, DECL_BUFFER, TVMS_NO_SPAN);
  declare->buffer = buffer;
  if (tvms_release_has(w->unit->dialect, TVMS_FACT_buffers_are_variables))
    declare->source = tvms_as_buffer(e->backing)->data;
  return &declare->head;
}

static tvms_node *enter_alloc(tvms_rewriter *r, tvms_node *node) {
  rewriting *w = r->self;
  tvms_node *buffer = tvms_as_alloc_buffer(node)->buffer;
  if (tvms_linear_access_alloc_of(&w->access, buffer) == UINT32_MAX)
    return TVMS_REWRITE_BELOW;
  const tvms_storage_entry *e = entry_of(w, buffer);
  if (!e || e->backing == buffer || e->renamed == buffer) return NULL;
  return declaration(w, tvms_rewrite(r, buffer), e);
}

// Allocations of pointers are made anew where their memory begins to live.
static tvms_node *enter_allocate(tvms_rewriter *r, tvms_node *node) {
  rewriting *w = r->self;
  const tvms_node *var = tvms_as_allocate(node)->var;
  return tvms_linear_access_alloc_of(&w->access, var) == UINT32_MAX ? TVMS_REWRITE_BELOW
                                                                    : NULL;
}

// Is the buffer declared where its memory is allocated, or never?
static bool needs_no_declaration(const rewriting *w, const tvms_node *buffer) {
  if (!tvms_release_has(w->unit->dialect, TVMS_FACT_definitions_hold_bodies))
    return false;
  if (!tvms_node_map_get(&w->access.used, buffer)) return true;
  const tvms_storage_entry *e = entry_of(w, buffer);
  return e && e->declared == buffer;
}

static tvms_node *enter_declaration(tvms_rewriter *r, tvms_node *node) {
  rewriting *w = r->self;
  const tvms_decl_buffer *old = tvms_as_decl_buffer(node);
  if (needs_no_declaration(w, old->buffer)) return NULL;
  const tvms_storage_entry *e = entry_of(w, old->buffer);
  return e ? declaration(w, tvms_rewrite(r, old->buffer), e) : TVMS_REWRITE_BELOW;
}

// ---- Accesses of a part of a larger memory ----

static tvms_node *behind(rewriting *w, tvms_node *index, uint64_t elements) {
  tvms_node *first =
      tvms_build_int(w->unit, index->dtype, (int64_t)elements, TVMS_NO_SPAN);
  tvms_node *sum =
      first ? tvms_build_binary(w->unit, TVMS_NODE_ADD, first, index, TVMS_NO_SPAN)
            : NULL;
  return sum ? sum : index;
}

static tvms_list moved(rewriting *w, const tvms_node *buffer, tvms_list indices) {
  const tvms_storage_entry *e = entry_of(w, buffer);
  if (!e || e->offset == 0 || indices.len == 0) return indices;
  tvms_list made = tvms_list_copy(w->unit, indices.items, indices.len);
  tvms_node **last = &made.items[made.len - 1];
  *last = behind(w, *last, e->offset / tvms_as_buffer(buffer)->element.bits);
  return made;
}

static tvms_node *leave_element(tvms_rewriter *r, tvms_node *node) {
  tvms_list old = *tvms_node_element(node).indices;
  tvms_list made = moved(r->self, *tvms_node_element(r->old).buffer, old);
  if (made.items == old.items) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  *tvms_node_element(copy).indices = made;
  return copy;
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  rewriting *w = r->self;
  bool pointer = tvms_call_opcode(node) == TVMS_TIR_tvm_access_ptr;
  if (!pointer || tvms_as_call(node)->args.len != 5) return node;
  const tvms_storage_entry *e = entry_of(w, tvms_as_call(r->old)->args.items[1]);
  if (!e || e->offset == 0) return node;
  tvms_node *copy = tvms_node_copy(w->unit, node);
  tvms_call *call = tvms_as_call(copy);
  call->args = tvms_list_copy(w->unit, call->args.items, call->args.len);
  tvms_dtype dtype = call->args.items[0]->dtype;
  uint64_t bits = (uint64_t)dtype.bits * (uint64_t)dtype.lanes;
  call->args.items[2] = behind(w, call->args.items[2], e->offset / bits);
  return copy;
}

// ---- Where memory is allocated ----

// The allocations of a scope, and then `body`.
static tvms_node *attach(tvms_rewriter *r, const tvms_node *TVMS_NULLABLE scope,
                         tvms_node *body) {
  rewriting *w = r->self;
  tvms_memory *memory = &w->unit->context->memory;
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < w->plan.entries.len; i++) {
    const tvms_storage_entry *e = &w->plan.entries.items[i];
    if (e->attach != scope || !e->statement) continue;
    tvms_vec_push(memory, &stmts, e->statement);
    if (!e->declared) continue;
    tvms_node *declare = declaration(w, tvms_rewrite(r, e->declared), e);
    tvms_vec_push(memory, &stmts, declare);
  }
  if (stmts.len == 0) return body;
  tvms_stmt_push_last(memory, &stmts, body);
  return tvms_stmt_seq(w->unit, &stmts, body->span);
}

static tvms_node *leave_loop(tvms_rewriter *r, tvms_node *node) {
  tvms_node *old = tvms_as_for(node)->body;
  tvms_node *body =
      tvms_as_for(r->old)->for_kind == TVMS_FOR_PARALLEL ? attach(r, r->old, old) : old;
  if (body == old) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_for(copy)->body = body;
  return copy;
}

static bool is_scope_of_memory(const rewriting *w, const tvms_node *stmt) {
  for (uint32_t i = 0; i < w->plan.entries.len; i++) {
    if (w->plan.entries.items[i].attach == stmt) return true;
  }
  return false;
}

// What an attribute allocates stands behind it.
static tvms_node *enter_seq(tvms_rewriter *r, tvms_node *node) {
  rewriting *w = r->self;
  tvms_memory *memory = &w->unit->context->memory;
  tvms_list old = tvms_as_seq(node)->stmts;
  uint32_t at = 0;
  while (at < old.len
         && !(old.items[at]->kind == TVMS_NODE_ATTR_STMT
              && is_scope_of_memory(w, old.items[at])))
    at++;
  if (at == old.len) return TVMS_REWRITE_BELOW;
  tvms_node *rest = tvms_rewrite(
      r, tvms_seq_new(w->unit, old.items + at + 1, old.len - at - 1, node->span));
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i <= at; i++) {
    tvms_node *stmt = tvms_rewrite(r, old.items[i]);
    if (stmt) tvms_stmt_push(w->unit, &stmts, stmt);
  }
  if (!rest) rest = tvms_stmt_none(w->unit, node->span);
  tvms_stmt_push_last(memory, &stmts, attach(r, old.items[at], rest));
  return tvms_stmt_seq(w->unit, &stmts, node->span);
}

static tvms_node *rewrite(rewriting *w, tvms_node *function) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, w->unit, w);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  r.enter[TVMS_NODE_BUFFER] = enter_buffer;
  r.enter[TVMS_NODE_VAR] = enter_var;
  r.enter[TVMS_NODE_ALLOC_BUFFER] = enter_alloc;
  r.enter[TVMS_NODE_ALLOCATE] = enter_allocate;
  r.enter[TVMS_NODE_DECL_BUFFER] = enter_declaration;
  r.enter[TVMS_NODE_SEQ] = enter_seq;
  r.leave[TVMS_NODE_BUFFER_LOAD] = leave_element;
  r.leave[TVMS_NODE_STORE] = leave_element;
  r.leave[TVMS_NODE_CALL] = leave_call;
  r.leave[TVMS_NODE_FOR] = leave_loop;
  tvms_node *old = tvms_as_prim_func(function)->body;
  tvms_node *body = tvms_rewrite(&r, old);
  if (!body) body = tvms_stmt_none(w->unit, old->span);
  body = attach(&r, NULL, body);
  tvms_rewriter_fini(&r);
  if (body == old) return function;
  tvms_node *copy = tvms_node_copy(w->unit, function);
  tvms_as_prim_func(copy)->body = body;
  return copy;
}

static bool is_exact(tvms_unit *unit, const tvms_prim_func *function) {
  const tvms_node *node = tvms_object_map_get(function->attrs, "target");
  if (!node || node->kind != TVMS_NODE_OBJECT_TARGET) return false;
  const tvms_node *config = tvms_as_object_target(node)->config;
  if (config->kind != TVMS_NODE_OBJECT_MAP) return false;
  tvms_target target;
  tvms_target_from_config(unit, config, &target);
  return target.kind
         && (strcmp(target.kind, "vulkan") == 0 || strcmp(target.kind, "webgpu") == 0);
}

// ---- Remarks ----

// The first allocation of memory that others take later needs no remark of its own.
static void say_planned(const tvms_pass_run *run, const rewriting *w, uint32_t number) {
  const tvms_node *stmt = w->access.allocs.items[number].stmt;
  const tvms_buffer *buffer = tvms_as_buffer(w->access.allocs.items[number].buffer);
  const char *name = tvms_symbol_text(run->context, buffer->name);
  uint32_t entry = w->plan.entry_of[number];
  if (entry == UINT32_MAX) {
    tvms_pass_count(run, "buffers removed", 1);
    tvms_pass_remark(run, TVMS_REMARK_PASSED, TVMS_D_memory_removed, stmt->span, name);
    return;
  }
  const tvms_storage_entry *e = &w->plan.entries.items[entry];
  const tvms_buffer *backing = tvms_as_buffer(e->backing);
  if (e->allocs.items[0] != number || !e->statement) {
    tvms_pass_count(run, "buffers in shared memory", 1);
    tvms_pass_remark(run, TVMS_REMARK_PASSED, TVMS_D_memory_shared, stmt->span, name,
                     tvms_symbol_text(run->context, backing->name));
  } else if (e->allocs.len == 1) {
    tvms_pass_count(run, "buffers alone", 1);
    const char *why = w->plan.why[number];
    tvms_pass_remark(run, TVMS_REMARK_MISSED, TVMS_D_memory_alone, stmt->span, name,
                     why ? why : "nothing else fits");
  }
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  const tvms_prim_func *old = tvms_as_prim_func(function);
  rewriting w = {.unit = unit};
  tvms_node *changed = function;
  if (tvms_linear_access_init(&w.access, unit, old->body, true)) {
    tvms_storage_options options = {
        .reuse = !TVMS_OPTION(run, StorageRewrite, merge_static_smem).number,
        .exact_elements = is_exact(unit, old)};
    tvms_storage_plan_init(&w.plan, unit, &w.access, options);
    bool bodies = tvms_release_has(unit->dialect, TVMS_FACT_definitions_hold_bodies);
    if (w.access.allocs.len || bodies) changed = rewrite(&w, function);
    for (uint32_t i = 0; i < w.access.allocs.len; i++)
      say_planned(run, &w, i);
    tvms_storage_plan_fini(&w.plan);
    tvms_vector_type_options vectors = {0};
    changed = tvms_vector_types_rewrite(unit, changed, vectors);
  }
  tvms_linear_access_fini(&w.access);
  return changed;
}

void tvms_pass_storage_rewrite(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
