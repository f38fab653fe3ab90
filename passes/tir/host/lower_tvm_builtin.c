// LowerTVMBuiltin: calls of the run time as the run time takes them.
//
// Before: T.call_packed("f", A.data, n)
//         B = T.alloc_buffer((n,), "float32")
// After:  stack_ffi_any = T.tvm_stack_alloca("tvm_ffi_any", 3), T.tvm_struct_set for each argument,
//         T.call_packed_lowered("f", stack_ffi_any, 0, 2)
//         B = T.decl_buffer((n,), data=T.TVMBackendAllocWorkspace(…)), freed at the end of its scope
//
// Arguments stand on stacks that are made once for a function, and once for the body of a
// parallel loop. On a CPU an allocation of less than 1 KB stays; others need the attribute
// "device_id" around them, which goes together with "device_type". Copies by DMA and allocations
// in textures stay as they are, and so do functions that are not for a host. Before 0.26 the
// pointer of what is allocated is bound instead of declared; up to 0.22 the allocation is freed at
// the end of the statements behind it. TVM: tirx.transform.LowerTVMBuiltin, tir.transform.
// LowerTVMBuiltin up to 0.22.
#include "ir/fold_ops.h"
#include "ir/object.h"
#include "passes/functions.h"
#include "passes/tir/host/builtin_stack.h"
#include "passes/tir/host/entry_point.h"
#include "passes/tir/host/function_target.h"
#include "schedule/storage_scope.h"
#include "support/diag_ids.h"

#include <string.h>

enum { MOST_STACK_BYTES = 1024, WORKSPACE_ALIGNMENT = 64 };

typedef struct {
  tvms_unit *unit;
  bool scheduled;  // s_tir
  tvms_node *TVMS_NULLABLE device_type;
  tvms_node *TVMS_NULLABLE device_id;
  tvms_builtin_stack stack;  // of the function or parallel loop at hand
  tvms_node_vec frees;       // of the open scopes
  uint32_t scope;            // where those of the innermost one begin
} lowering;

static tvms_memory *memory_of(const lowering *l) {
  return &l->unit->context->memory;
}

static tvms_node *int32(const lowering *l, int64_t value) {
  return tvms_int_imm_new(l->unit, TVMS_DTYPE(INT, 32), value, TVMS_NO_SPAN);
}

static tvms_node *as_int32(const lowering *l, tvms_node *value) {
  return tvms_build_cast(l->unit, TVMS_DTYPE(INT, 32), value, TVMS_NO_SPAN);
}

static tvms_node *call(const lowering *l, tvms_dtype dtype, tvms_tir_opcode opcode,
                       tvms_node **args, uint32_t count) {
  return tvms_call_new_of(l->unit, dtype, opcode, args, count, TVMS_NO_SPAN);
}

// ---- Scopes ----

static void lower_into(tvms_rewriter *r, tvms_node *stmt, tvms_node_vec *out);

// Appends what frees the allocations since `from`, the last one first.
static void push_frees(lowering *l, uint32_t from, tvms_node_vec *out) {
  while (l->frees.len > from)
    tvms_vec_push(memory_of(l), out, l->frees.items[--l->frees.len]);
}

// A statement and what was put in front of it.
static void lower_stmt(tvms_rewriter *r, tvms_node *stmt, tvms_node_vec *out) {
  const lowering *l = r->self;
  tvms_node_vec outer = r->emitted;
  const tvms_node *sequence = r->sequence;
  r->emitted = (tvms_node_vec){0};
  r->sequence = stmt;
  tvms_node *new = tvms_rewrite(r, stmt);
  r->sequence = sequence;
  for (uint32_t i = 0; i < r->emitted.len; i++)
    tvms_vec_push(memory_of(l), out, r->emitted.items[i]);
  tvms_vec_fini(memory_of(l), &r->emitted);
  r->emitted = outer;
  if (new) tvms_stmt_push(l->unit, out, new);
}

static void lower_list(tvms_rewriter *r, tvms_list list, tvms_node_vec *out);

// An attribute of devices, which is noted and goes. Its scope is the rest of the list.
static void lower_device(tvms_rewriter *r, tvms_node **device, tvms_node *value,
                         tvms_list rest, tvms_node_vec *out) {
  lowering *l = r->self;
  tvms_node *outer = *device;
  uint32_t from = l->frees.len;
  *device = value;
  lower_list(r, rest, out);
  push_frees(l, from, out);
  *device = outer;
}

// Another attribute. What was allocated before it is freed outside of it.
static void lower_attribute(tvms_rewriter *r, tvms_node *attr, tvms_list rest,
                            tvms_node_vec *out) {
  lowering *l = r->self;
  tvms_node_vec inner = {0};
  uint32_t from = l->frees.len;
  tvms_vec_push(memory_of(l), &inner, attr);
  lower_list(r, rest, &inner);
  push_frees(l, from, &inner);
  if (from > l->scope) {
    tvms_vec_push(memory_of(l), out, tvms_stmt_seq(l->unit, &inner, attr->span));
    return;
  }
  for (uint32_t i = 0; i < inner.len; i++)
    tvms_vec_push(memory_of(l), out, inner.items[i]);
  tvms_vec_fini(memory_of(l), &inner);
}

static void lower_allocate(tvms_rewriter *r, tvms_node *node, tvms_list rest,
                           tvms_node_vec *out);

static void lower_list(tvms_rewriter *r, tvms_list list, tvms_node_vec *out) {
  lowering *l = r->self;
  for (uint32_t i = 0; i < list.len; i++) {
    tvms_node *stmt = list.items[i];
    tvms_list rest = {list.items + i + 1, list.len - i - 1};
    if (stmt->kind == TVMS_NODE_ALLOCATE) {
      lower_allocate(r, stmt, rest, out);
      return;
    }
    if (stmt->kind != TVMS_NODE_ATTR_STMT) {
      lower_into(r, stmt, out);
      continue;
    }
    tvms_attr_stmt *attr = tvms_as_attr_stmt(stmt);
    if (tvms_bytes_is(attr->key, "device_id"))
      lower_device(r, &l->device_id, attr->value, rest, out);
    else if (tvms_bytes_is(attr->key, "device_type"))
      lower_device(r, &l->device_type, attr->value, rest, out);
    else
      lower_attribute(r, stmt, rest, out);
    return;
  }
}

static void lower_into(tvms_rewriter *r, tvms_node *stmt, tvms_node_vec *out) {
  const lowering *l = r->self;
  if (stmt->kind != TVMS_NODE_SEQ) {
    lower_stmt(r, stmt, out);
    return;
  }
  tvms_node_vec inner = {0};
  lower_list(r, tvms_as_seq(stmt)->stmts, &inner);
  tvms_stmt_push(l->unit, out, tvms_stmt_seq(l->unit, &inner, stmt->span));
}

// A body: a scope at whose end its allocations are freed.
static tvms_node *lower_body(tvms_rewriter *r, tvms_node *body) {
  lowering *l = r->self;
  tvms_node_vec out = {0};
  uint32_t outer = l->scope;
  l->scope = l->frees.len;
  if (body->kind == TVMS_NODE_SEQ)
    lower_list(r, tvms_as_seq(body)->stmts, &out);
  else
    lower_stmt(r, body, &out);
  push_frees(l, l->scope, &out);
  l->scope = outer;
  return tvms_stmt_seq(l->unit, &out, body->span);
}

// A body with stacks of its own.
static tvms_node *lower_with_stack(tvms_rewriter *r, tvms_node *body) {
  lowering *l = r->self;
  tvms_builtin_stack outer = l->stack;
  tvms_builtin_stack_init(&l->stack, l->unit, l->scheduled);
  tvms_node *lowered = lower_body(r, body);
  tvms_node_vec out = {0};
  tvms_builtin_stack_declare(&l->stack, &out);
  tvms_stmt_push_last(memory_of(l), &out, lowered);
  l->stack = outer;
  return tvms_stmt_seq(l->unit, &out, body->span);
}

// ---- Statements ----

static tvms_node *lower_for(tvms_rewriter *r, tvms_node *node) {
  const tvms_for *old = tvms_as_for(node);
  tvms_node *new = tvms_node_copy(r->unit, node);
  tvms_for *loop = tvms_as_for(new);
  loop->min = tvms_rewrite(r, old->min);
  loop->extent = tvms_rewrite(r, old->extent);
  loop->body = old->for_kind == TVMS_FOR_PARALLEL ? lower_with_stack(r, old->body)
                                                  : lower_body(r, old->body);
  return new;
}

static tvms_node *lower_while(tvms_rewriter *r, tvms_node *node) {
  tvms_node *new = tvms_node_copy(r->unit, node);
  tvms_as_while(new)->condition = tvms_rewrite(r, tvms_as_while(node)->condition);
  tvms_as_while(new)->body = lower_body(r, tvms_as_while(node)->body);
  return new;
}

static tvms_node *lower_if(tvms_rewriter *r, tvms_node *node) {
  const tvms_if_then_else *old = tvms_as_if_then_else(node);
  tvms_node *new = tvms_node_copy(r->unit, node);
  tvms_if_then_else *branch = tvms_as_if_then_else(new);
  branch->condition = tvms_rewrite(r, old->condition);
  branch->then_case = lower_body(r, old->then_case);
  if (old->else_case) branch->else_case = lower_body(r, old->else_case);
  return new;
}

static tvms_node *throw_if(const lowering *l, tvms_node *condition) {
  tvms_if_then_else *branch = tvms_node_make(l->unit, IF_THEN_ELSE, TVMS_NO_SPAN);
  branch->condition = condition;
  branch->then_case = tvms_evaluate_new(
      l->unit, call(l, TVMS_DTYPE(INT, 32), TVMS_TIR_tvm_throw_last_error, NULL, 0),
      TVMS_NO_SPAN);
  return &branch->head;
}

static int64_t bytes_of(tvms_dtype dtype) {
  return ((int64_t)dtype.bits * dtype.lanes + 7) / 8;
}

// What is allocated: a buffer with its annotations, or up to 0.22 the pointer alone.
typedef struct {
  tvms_node *data;  // VAR
  tvms_dtype element;
  tvms_list shape;
  tvms_node *TVMS_NULLABLE annotations;
  const char *scope;
} allocation;

// A small allocation of a CPU, which code generation puts on the stack.
static bool stays(const lowering *l, const allocation *a) {
  int64_t kept;
  const tvms_node *mark = tvms_object_map_get(a->annotations, "disable_lower_builtin");
  if (tvms_object_as_int(mark, &kept) && kept) return true;
  if (a->element.lanes < 0) return true;
  bool cpu = l->device_type && tvms_node_is_int(l->device_type, TVMS_HOST_DEVICE_CPU);
  if (!cpu || strcmp(a->scope, "global") != 0) return false;
  int64_t size = bytes_of(a->element);
  for (uint32_t i = 0; i < a->shape.len; i++) {
    if (!tvms_node_is_int_imm(a->shape.items[i])) return false;
    int64_t extent = tvms_as_int_imm(a->shape.items[i])->value;
    if (extent <= 0 || extent >= MOST_STACK_BYTES) return false;
    size *= extent;
    if (size >= MOST_STACK_BYTES) return false;
  }
  return true;
}

static tvms_node *total_bytes(const lowering *l, const allocation *a) {
  tvms_node *total = tvms_int_imm_new(l->unit, TVMS_DTYPE(UINT, 64),
                                      bytes_of(a->element), TVMS_NO_SPAN);
  for (uint32_t i = 0; i < a->shape.len; i++)
    total = tvms_build_binary(l->unit, TVMS_NODE_MUL, total, a->shape.items[i],
                              TVMS_NO_SPAN);
  return total;
}

// The call that allocates; reports where it is not known on which device.
static tvms_node *TVMS_NULLABLE workspace(const lowering *l, const tvms_node *node,
                                          const allocation *a) {
  if (!l->device_type || !l->device_id) {
    tvms_diag_report(&l->unit->context->diags, TVMS_D_no_device, node->span,
                     tvms_symbol_text(l->unit->context, tvms_as_var(a->data)->name));
    return NULL;
  }
  // A bool takes a byte; up to 0.24 it is an unsigned integer of one bit.
  bool truth = tvms_dtype_is_bool(a->element);
  bool uint1 = truth && tvms_release_has(l->unit->dialect, TVMS_FACT_bools_are_uint1);
  tvms_node *args[] = {as_int32(l, l->device_type), as_int32(l, l->device_id),
                       total_bytes(l, a), int32(l, uint1 ? TVMS_UINT : a->element.code),
                       int32(l, truth && !uint1 ? 8 : a->element.bits)};
  tvms_node *made = call(l, a->data->dtype, TVMS_TIR_TVMBackendAllocWorkspace, args, 5);
  made->sinfo = a->data->sinfo;
  return made;
}

// Throws if the memory could not be had.
static tvms_node *check_of(const lowering *l, tvms_node *data) {
  return throw_if(l, call(l, TVMS_DTYPE(BOOL, 1), TVMS_TIR_isnullptr, &data, 1));
}

static tvms_node *free_of(const lowering *l, tvms_node *data) {
  tvms_node *args[] = {as_int32(l, l->device_type), as_int32(l, l->device_id), data};
  tvms_node *freed =
      call(l, TVMS_DTYPE(INT, 32), TVMS_TIR_TVMBackendFreeWorkspace, args, 3);
  return throw_if(
      l, tvms_binary_new(l->unit, TVMS_NODE_NE, freed, int32(l, 0), TVMS_NO_SPAN));
}

static tvms_node *bind_of(const lowering *l, tvms_node *var, tvms_node *value) {
  tvms_bind *bind = tvms_node_make(l->unit, BIND, TVMS_NO_SPAN);
  bind->var = var;
  bind->value = value;
  return &bind->head;
}

static tvms_node *lower_alloc(tvms_rewriter *r, tvms_node *node) {
  lowering *l = r->self;
  const tvms_alloc_buffer *alloc = tvms_as_alloc_buffer(node);
  const tvms_buffer *buffer = tvms_as_buffer(alloc->buffer);
  allocation a = {buffer->data, buffer->element, buffer->shape, alloc->annotations,
                  tvms_storage_scope_of(l->unit->context, alloc->buffer)};
  if (stays(l, &a)) return node;
  tvms_node *value = workspace(l, node, &a), *defined;
  if (!value) return node;
  if (tvms_release_has(l->unit->dialect, TVMS_FACT_buffers_are_variables)) {
    tvms_decl_buffer *declare = tvms_node_make(l->unit, DECL_BUFFER, node->span);
    declare->buffer = alloc->buffer;
    declare->source = value;
    defined = &declare->head;
  } else {
    defined = bind_of(l, a.data, value);
  }
  tvms_vec_push(memory_of(l), &l->frees, free_of(l, a.data));
  tvms_node *stmts[] = {defined, check_of(l, a.data)};
  return tvms_seq_new(l->unit, stmts, 2, node->span);
}

// An allocation of 0.22: its scope is the rest of the list.
static void lower_allocate(tvms_rewriter *r, tvms_node *node, tvms_list rest,
                           tvms_node_vec *out) {
  lowering *l = r->self;
  const tvms_allocate *old = tvms_as_allocate(node);
  const tvms_node *type = old->var->sinfo;
  tvms_sym scope = type ? tvms_as_sinfo_pointer(type)->scope : 0;
  const char *name = scope ? tvms_symbol_text(l->unit->context, scope) : "";
  allocation a = {old->var, old->element, old->extents, old->annotations,
                  *name ? name : "global"};
  tvms_node *value = stays(l, &a) ? NULL : workspace(l, node, &a);
  if (!value) {
    tvms_vec_push(memory_of(l), out, node);
    lower_list(r, rest, out);
    return;
  }
  tvms_node *align = int32(l, WORKSPACE_ALIGNMENT);
  tvms_vec_push(memory_of(l), out, bind_of(l, a.data, value));
  tvms_vec_push(memory_of(l), out,
                tvms_host_attribute(l->unit, a.data, "storage_alignment", align));
  tvms_vec_push(memory_of(l), out, check_of(l, a.data));
  lower_list(r, rest, out);
  tvms_vec_push(memory_of(l), out, free_of(l, a.data));
}

// ---- Calls ----

static const struct {
  tvms_tir_opcode packed;
  tvms_tir_opcode lowered;
} packed_calls[] = {
    {TVMS_TIR_tvm_call_packed, TVMS_TIR_tvm_call_packed_lowered},
    {TVMS_TIR_tvm_call_cpacked, TVMS_TIR_tvm_call_cpacked_lowered},
    {TVMS_TIR_tvm_call_trace_packed, TVMS_TIR_tvm_call_trace_packed_lowered},
    {TVMS_TIR_call_ffi_kernel, TVMS_TIR_tvm_call_packed_lowered},
};

// The same, with the result put into a list.
static const struct {
  tvms_tir_opcode packed;
  tvms_tir_opcode lowered;
} item_calls[] = {
    {TVMS_TIR_anylist_setitem_call_packed, TVMS_TIR_tvm_call_packed_lowered},
    {TVMS_TIR_anylist_setitem_call_cpacked, TVMS_TIR_tvm_call_cpacked_lowered},
};

static tvms_node *lower_array(tvms_rewriter *r, tvms_node *node) {
  lowering *l = r->self;
  if (l->device_id && l->device_type)
    return tvms_builtin_stack_array(&l->stack, r, node, as_int32(l, l->device_id),
                                    as_int32(l, l->device_type));
  tvms_diag_report(&r->unit->context->diags, TVMS_D_no_device, node->span,
                   "T.tvm_stack_make_array");
  return node;
}

static tvms_node *lower_call(tvms_rewriter *r, tvms_node *node) {
  lowering *l = r->self;
  tvms_tir_opcode opcode = tvms_call_opcode(node);
  for (size_t i = 0; i < sizeof packed_calls / sizeof *packed_calls; i++) {
    if (packed_calls[i].packed == opcode)
      return tvms_builtin_stack_call(&l->stack, r, node, packed_calls[i].lowered);
  }
  for (size_t i = 0; i < sizeof item_calls / sizeof *item_calls; i++) {
    if (item_calls[i].packed == opcode)
      return tvms_builtin_stack_set_item(&l->stack, r, node, item_calls[i].lowered);
  }
  if (opcode == TVMS_TIR_tvm_stack_make_shape)
    return tvms_builtin_stack_shape(&l->stack, r, node);
  if (opcode == TVMS_TIR_tvm_stack_make_array) return lower_array(r, node);
  if (opcode == TVMS_TIR_tvm_context_id)
    return tvms_int_imm_new(r->unit, node->dtype, 0, node->span);
  return TVMS_REWRITE_BELOW;
}

// ---- Functions ----

// Is the function marked as one of the host, or for a machine that can be one?
static bool is_for_host(const tvms_node *function) {
  const tvms_node *attrs = tvms_as_prim_func(function)->attrs;
  static const char *const marks[] = {"tirx.is_host_func", "tir.is_host_func"};
  int64_t marked;
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    if (tvms_object_as_int(tvms_object_map_get(attrs, marks[i]), &marked) && marked)
      return true;
  }
  const tvms_node *config = tvms_host_target_of(function);
  int device = config ? tvms_host_device_type(config) : -1;
  return device == TVMS_HOST_DEVICE_CPU || device == TVMS_HOST_DEVICE_HEXAGON;
}

static tvms_node *lower(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  (void)run;
  if (!is_for_host(function)) return function;
  lowering l = {.unit = unit, .scheduled = function->flags & TVMS_FLAG_S_TIR};
  const tvms_node *config = tvms_host_target_of(function);
  if (config) l.device_type = int32(&l, tvms_host_device_type(config));
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &l);
  r.roles = TVMS_IN(BODY) | TVMS_IN(USE);
  r.enter[TVMS_NODE_FOR] = lower_for;
  r.enter[TVMS_NODE_WHILE] = lower_while;
  r.enter[TVMS_NODE_IF_THEN_ELSE] = lower_if;
  r.enter[TVMS_NODE_ALLOC_BUFFER] = lower_alloc;
  r.enter[TVMS_NODE_CALL] = lower_call;
  tvms_node *body = lower_with_stack(&r, tvms_as_prim_func(function)->body);
  tvms_rewriter_fini(&r);
  tvms_vec_fini(memory_of(&l), &l.frees);
  tvms_node *new = tvms_node_copy(unit, function);
  tvms_as_prim_func(new)->body = body;
  return new;
}

void tvms_pass_lower_tvm_builtin(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, lower);
}
