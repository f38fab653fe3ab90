// MergeSharedMemoryAllocations: the shared buffers of a kernel become parts of one.
//
// Before: tx = T.launch_thread(…); A = T.alloc_buffer((64,), scope="shared.dyn"); B = … the same
// After:  tx = T.launch_thread(…); buf_dyn_shmem = T.alloc_buffer((512,), "uint8", …);
//         A and B are views of it, B behind A
//
// Buffers that do not live at the same time share bytes (merge_plan.c). Scope shared.dyn is
// merged, with merge_static_smem also shared. Kernels begin at the outermost T.launch_thread; one
// with a single shared buffer stays. Buffers must be flat, and a pointer to one may stand in
// T.tvm_access_ptr and asynchronous copies only. TVM:
// s_tir.transform.MergeSharedMemoryAllocations.
#include "ir/fold.h"
#include "ir/object.h"
#include "passes/functions.h"
#include "passes/tir/memory/merge_plan.h"
#include "schedule/storage_scope.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;
  const char *scope;  // that is merged
  // Of the kernel at hand:
  bool in_kernel;
  tvms_linear_access access;
  tvms_merge_plan plan;
  bool *merged;           // by number of allocation
  tvms_node *whole;       // the merged buffer
  tvms_node_vec views;    // in order of first use
  tvms_node_map view_of;  // buffer -> view
  bool is_volatile;
  bool failed;
} merging;

// The number of the merged allocation behind a buffer or pointer; UINT32_MAX: none.
static uint32_t merged_of(const merging *m, const tvms_node *node) {
  if (!m->in_kernel) return UINT32_MAX;
  uint32_t alloc = tvms_linear_access_alloc_of(&m->access, node);
  return alloc != UINT32_MAX && m->merged[alloc] ? alloc : UINT32_MAX;
}

static tvms_node *view_of(merging *m, tvms_node *buffer) {
  tvms_node *view = tvms_node_map_get(&m->view_of, buffer);
  if (view) return view;
  view = tvms_node_copy(m->unit, buffer);
  tvms_as_buffer(view)->data = tvms_var_like(m->unit, tvms_as_buffer(buffer)->data);
  tvms_node_map_put(&m->view_of, buffer, view);
  tvms_vec_push(m->memory, &m->views, view);
  return view;
}

static tvms_node *build(merging *m, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  tvms_node *made = tvms_build_binary(m->unit, kind, a, b, TVMS_NO_SPAN);
  return made ? made : a;
}

// Elements of this size before an allocation; NULL after a report.
static tvms_node *TVMS_NULLABLE elements_before(merging *m, uint32_t alloc,
                                                tvms_dtype dtype) {
  tvms_node *offset = m->plan.offsets[alloc];
  const tvms_node *stmt = m->access.allocs.items[alloc].stmt;
  if (!offset) {
    tvms_context *context = m->unit->context;
    const tvms_buffer *buffer = tvms_as_buffer(m->access.allocs.items[alloc].buffer);
    if (!m->failed)
      tvms_diag_report(&context->diags, TVMS_D_shared_not_planned, stmt->span,
                       tvms_symbol_text(context, buffer->name));
    m->failed = true;
    return NULL;
  }
  tvms_node *size = tvms_int_imm_new(m->unit, offset->dtype,
                                     (dtype.bits * dtype.lanes + 7) / 8, TVMS_NO_SPAN);
  return build(m, TVMS_NODE_FLOOR_DIV, offset, size);
}

// ---- Accesses ----

static tvms_list moved(merging *m, uint32_t alloc, tvms_node *buffer,
                       tvms_list indices) {
  tvms_node *before = elements_before(m, alloc, tvms_as_buffer(buffer)->element);
  if (!before || indices.len != 1) return indices;
  tvms_node *place = build(m, TVMS_NODE_ADD, indices.items[0], before);
  return tvms_list_copy(m->unit, &place, 1);
}

static tvms_node *leave_element(tvms_rewriter *r, tvms_node *node) {
  merging *m = r->self;
  tvms_node *buffer = *tvms_node_element(r->old).buffer;
  uint32_t alloc = merged_of(m, buffer);
  if (alloc == UINT32_MAX) return node;
  tvms_node *copy = tvms_node_copy(m->unit, node);
  tvms_element element = tvms_node_element(copy);
  *element.indices = moved(m, alloc, buffer, *element.indices);
  *element.buffer = view_of(m, buffer);
  return copy;
}

// The buffer whose pointer an argument is, among the merged ones.
static tvms_node *TVMS_NULLABLE buffer_behind(const merging *m, const tvms_node *arg) {
  uint32_t alloc = merged_of(m, arg);
  if (alloc == UINT32_MAX) return NULL;
  return m->access.allocs.items[alloc].buffer;
}

static tvms_node *moved_call(merging *m, const tvms_node *old, tvms_node *node,
                             uint32_t pointer, tvms_node *TVMS_NULLABLE marker) {
  const tvms_node *arg = tvms_as_call(old)->args.items[pointer];
  tvms_node *buffer = buffer_behind(m, arg);
  if (!buffer) return node;
  tvms_dtype dtype = marker ? marker->dtype : tvms_as_buffer(buffer)->element;
  tvms_node *before = elements_before(m, merged_of(m, arg), dtype);
  if (!before) return node;
  tvms_node *copy = tvms_node_copy(m->unit, node);
  tvms_call *call = tvms_as_call(copy);
  call->args = tvms_list_copy(m->unit, call->args.items, call->args.len);
  call->args.items[pointer] = tvms_as_buffer(view_of(m, buffer))->data;
  tvms_node **offset = &call->args.items[pointer + 1];
  *offset = build(m, TVMS_NODE_ADD, before, *offset);
  return copy;
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  const tvms_list args = tvms_as_call(node)->args;
  tvms_tir_opcode opcode = tvms_call_opcode(node);
  if (opcode == TVMS_TIR_tvm_access_ptr && args.len == 5)
    return moved_call(r->self, r->old, node, 1, args.items[0]);
  bool copies =
      opcode == TVMS_TIR_ptx__cp_async_raw || opcode == TVMS_TIR_s_tir__cp_async_raw;
  return copies && args.len >= 2 ? moved_call(r->self, r->old, node, 0, NULL) : node;
}

static tvms_node *enter_alloc(tvms_rewriter *r, tvms_node *node) {
  const tvms_node *buffer = tvms_as_alloc_buffer(node)->buffer;
  return merged_of(r->self, buffer) == UINT32_MAX ? TVMS_REWRITE_BELOW : NULL;
}

static tvms_node *enter_declaration(tvms_rewriter *r, tvms_node *node) {
  const tvms_node *buffer = tvms_as_decl_buffer(node)->buffer;
  return merged_of(r->self, buffer) == UINT32_MAX ? TVMS_REWRITE_BELOW : NULL;
}

// ---- Kernels ----

static bool *find_merged(merging *m, uint32_t *count) {
  bool *merged = tvms_arena_array(&m->unit->arena, bool, m->access.allocs.len + 1);
  *count = 0;
  m->is_volatile = false;
  for (uint32_t i = 0; i < m->access.allocs.len; i++) {
    tvms_node *stmt = m->access.allocs.items[i].stmt;
    merged[i] = false;
    if (stmt->kind != TVMS_NODE_ALLOC_BUFFER) continue;
    const tvms_alloc_buffer *alloc = tvms_as_alloc_buffer(stmt);
    const char *scope = tvms_storage_scope_of(m->unit->context, alloc->buffer);
    merged[i] = strcmp(scope, m->scope) == 0;
    *count += merged[i];
    if (merged[i] && tvms_object_map_get(alloc->annotations, "tirx.volatile"))
      m->is_volatile = true;
  }
  return merged;
}

static tvms_node *merged_buffer(merging *m) {
  const char *name = strcmp(m->scope, "shared") == 0 ? "buf_shmem" : "buf_dyn_shmem";
  tvms_buffer *buffer = tvms_node_make(m->unit, BUFFER, TVMS_NO_SPAN);
  tvms_context *context = m->unit->context;
  buffer->name = tvms_symbol_intern(context, name, strlen(name));
  buffer->element = TVMS_DTYPE(UINT, 8);
  buffer->data = tvms_pointer_var_new(
      m->unit, buffer->name, buffer->element,
      tvms_symbol_intern(context, m->scope, strlen(m->scope)), TVMS_NO_SPAN);
  buffer->shape = tvms_list_copy(m->unit, &m->plan.size, 1);
  buffer->elem_offset = tvms_int_imm_new(m->unit, m->plan.size->dtype, 0, TVMS_NO_SPAN);
  buffer->align = 64;
  buffer->offset_factor = 1;
  return &buffer->head;
}

// The merged allocation and the views of it, the last one first, then the kernel.
static void push_declarations(merging *m, tvms_node_vec *stmts) {
  tvms_alloc_buffer *alloc = tvms_node_make(m->unit, ALLOC_BUFFER, TVMS_NO_SPAN);
  alloc->buffer = m->whole;
  if (m->is_volatile) {
    tvms_node *yes = tvms_object_bool_new(m->unit, true, TVMS_NO_SPAN);
    alloc->annotations = tvms_object_map_with(m->unit, NULL, "tirx.volatile", yes);
  }
  tvms_vec_push(m->memory, stmts, &alloc->head);
  for (uint32_t i = m->views.len; i-- > 0;) {
    tvms_decl_buffer *view = tvms_node_make(m->unit, DECL_BUFFER, TVMS_NO_SPAN);
    view->source = tvms_as_buffer(m->whole)->data;
    view->buffer = m->views.items[i];
    tvms_vec_push(m->memory, stmts, &view->head);
  }
}

// `rest` is what stands behind the attribute that launches the kernel.
static tvms_node *merge_kernel(tvms_rewriter *r, tvms_node *launch, tvms_node *rest) {
  merging *m = r->self;
  tvms_node *pair[] = {launch, rest};
  tvms_node *kernel = tvms_seq_new(m->unit, pair, 2, rest->span);
  if (rest->kind == TVMS_NODE_SEQ) kernel = tvms_stmt_pair(m->unit, launch, rest);
  uint32_t count = 0;
  tvms_node *made = rest;
  if (tvms_linear_access_init(&m->access, m->unit, kernel, false)) {
    m->merged = find_merged(m, &count);
    m->in_kernel = count > 1;
    if (m->in_kernel) {
      m->plan = tvms_merge_plan_make(m->unit, &m->access, m->merged);
      m->whole = merged_buffer(m);
      m->views.len = 0;
      tvms_node *body = tvms_rewrite(r, rest);
      tvms_node_vec stmts = {0};
      push_declarations(m, &stmts);
      if (body) tvms_stmt_push_last(m->memory, &stmts, body);
      made = tvms_stmt_seq(m->unit, &stmts, rest->span);
      m->in_kernel = false;
    }
  } else {
    m->failed = true;
  }
  tvms_linear_access_fini(&m->access);
  return made;
}

static bool launches(const tvms_node *stmt) {
  return stmt->kind == TVMS_NODE_ATTR_STMT
         && tvms_bytes_is(tvms_as_attr_stmt(stmt)->key, "thread_extent");
}

static tvms_node *enter_seq(tvms_rewriter *r, tvms_node *node) {
  merging *m = r->self;
  tvms_list old = tvms_as_seq(node)->stmts;
  uint32_t at = 0;
  while (at < old.len && !launches(old.items[at]))
    at++;
  if (m->in_kernel || m->failed || at + 1 >= old.len) return TVMS_REWRITE_BELOW;
  tvms_node_vec below = {0}, stmts = {0};
  for (uint32_t i = at + 1; i < old.len; i++)
    tvms_vec_push(m->memory, &below, old.items[i]);
  tvms_node *rest = tvms_stmt_seq(m->unit, &below, node->span);
  tvms_node *made = merge_kernel(r, old.items[at], rest);
  if (made == rest) return node;
  for (uint32_t i = 0; i < at; i++) {
    tvms_node *stmt = tvms_rewrite(r, old.items[i]);
    if (stmt) tvms_stmt_push(m->unit, &stmts, stmt);
  }
  tvms_vec_push(m->memory, &stmts, old.items[at]);
  tvms_stmt_push_last(m->memory, &stmts, made);
  return tvms_stmt_seq(m->unit, &stmts, node->span);
}

static tvms_node *merge(tvms_unit *unit, tvms_node *function, const char *scope) {
  merging m = {.unit = unit, .memory = &unit->context->memory, .scope = scope};
  tvms_node_map_init(&m.view_of, m.memory);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &m);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  r.enter[TVMS_NODE_SEQ] = enter_seq;
  r.enter[TVMS_NODE_ALLOC_BUFFER] = enter_alloc;
  r.enter[TVMS_NODE_DECL_BUFFER] = enter_declaration;
  r.leave[TVMS_NODE_BUFFER_LOAD] = leave_element;
  r.leave[TVMS_NODE_STORE] = leave_element;
  r.leave[TVMS_NODE_CALL] = leave_call;
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  tvms_vec_fini(m.memory, &m.views);
  tvms_node_map_fini(&m.view_of);
  return changed;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  tvms_node *changed = merge(unit, function, "shared.dyn");
  bool merge_static =
      TVMS_OPTION(run, MergeSharedMemoryAllocations, merge_static_smem).number != 0;
  return merge_static ? merge(unit, changed, "shared") : changed;
}

void tvms_pass_merge_shared_memory_allocations(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
