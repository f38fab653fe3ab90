// A loop on threads is three functions: the one around it, which fills a record and calls
// TVM's run time or the pool of ours; a task, which reads the record and finds out which steps
// are its own; and the steps, whose parameters LLVM knows as much of as of those of a PrimFunc.
//
//   f.body:   record = {0, none, …, extent, values}; tvms.launch(f.task, record, extent)
//   f.task    (i32 task, ptr env, ptr record): f.steps(own error, values, first, count)
//   f.steps   (ptr error, values, i64 first, i64 count): the loop
#include "backend/llvm/parallel.h"

#include "backend/core/parallel.h"
#include "backend/llvm/buffer.h"
#include "backend/llvm/debug.h"
#include "backend/llvm/emit.h"
#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/frame.h"
#include "backend/llvm/helper.h"
#include "backend/llvm/index.h"
#include "backend/llvm/modules.h"
#include "backend/llvm/optimise.h"
#include "backend/llvm/past.h"
#include "backend/llvm/stmt.h"
#include "backend/llvm/types.h"
#include "backend/x86/kept.h"
#include "runtime/parallel.h"

#define LAUNCH "tvms.launch"
#define STEPS  ".steps"

// Fields of the record before the values that steps use.
enum { LOCK, TASK, RAISED, EXTENT, FIRST_VALUE };

typedef struct {
  emitter *e;
  const tvms_for *loop;
  tvms_parallel_nodes used;
  TVMS_VEC(LLVMValueRef) values;  // of the function around, that steps use
  LLVMTypeRef record;
  LLVMTypeRef raised;  // the part of a tvms_raised that errors fill in, as words
  LLVMValueRef task;
} outline;

// ---- What steps use ----

static void need(outline *o, LLVMValueRef value) {
  if (!value || LLVMIsConstant(value)) return;
  for (uint32_t i = 0; i < o->values.len; i++) {
    if (o->values.items[i] == value) return;
  }
  tvms_vec_push(&o->e->context->memory, &o->values, value);
}

static void need_all(outline *o) {
  emitter *e = o->e;
  tvms_parallel_collect(e->context, e->member->unit, o->loop, &o->used);
  for (uint32_t i = 0; i < o->used.len; i++) {
    const tvms_node *node = o->used.items[i];
    if (node->kind == TVMS_NODE_VAR) {
      need(o, e->vars[node->id]);
      continue;
    }
    const view *v = e->views[node->id];
    if (!v) continue;
    need(o, v->data);
    need(o, v->offset);
    for (uint32_t j = 0; j < v->ndim; j++) {
      need(o, v->shape[j]);
      need(o, v->strides[j]);
    }
  }
}

// What a value is passed to the steps as: integers as words, so that a task need not know of them.
static LLVMTypeRef passed_as(const outline *o, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? o->e->i64 : type;
}

// The same value in the function of the steps, where values are parameters behind the first.
static LLVMValueRef inside(const outline *o, LLVMValueRef value) {
  emitter *e = o->e;
  for (uint32_t i = 0; i < o->values.len; i++) {
    if (o->values.items[i] != value) continue;
    LLVMValueRef passed = LLVMGetParam(e->function, i + 1);
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMTypeOf(passed) == type ? passed
                                      : LLVMBuildTrunc(e->builder, passed, type, "");
  }
  return value;
}

static view *view_inside(const outline *o, const view *outer) {
  tvms_arena *arena = &o->e->context->scratch;
  view *v = tvms_arena_new(arena, view);
  *v = *outer;
  v->data = inside(o, outer->data);
  v->offset = inside(o, outer->offset);
  v->shape = tvms_arena_array(arena, LLVMValueRef, v->ndim);
  v->strides = tvms_arena_array(arena, LLVMValueRef, v->ndim);
  for (uint32_t j = 0; j < v->ndim; j++) {
    v->shape[j] = inside(o, outer->shape[j]);
    v->strides[j] = inside(o, outer->strides[j]);
  }
  return v;
}

// Gives what is defined around the loop its place in the function of the steps.
static void define_inside(const outline *o, LLVMValueRef *const *vars,
                          view **const *views) {
  emitter *e = o->e;
  for (uint32_t i = 0; i < o->used.len; i++) {
    const tvms_node *node = o->used.items[i];
    if (node->kind == TVMS_NODE_VAR)
      e->vars[node->id] = inside(o, (*vars)[node->id]);
    else if ((*views)[node->id])
      e->views[node->id] = view_inside(o, (*views)[node->id]);
  }
}

// Memory that was allocated, or a parameter that nothing overlaps.
static bool is_apart(LLVMValueRef value) {
  if (LLVMIsAAllocaInst(value) || LLVMIsACallInst(value)) return true;
  if (!LLVMIsAArgument(value)) return false;
  LLVMValueRef function = LLVMGetParamParent(value);
  unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7), at = 0;
  while (LLVMGetParam(function, at) != value) {
    at++;
  }
  return LLVMGetEnumAttributeAtIndex(function, at + 1, kind) != NULL;
}

// A pointer that is made of another one would overlap it.
static void mark_apart(const outline *o) {
  emitter *e = o->e;
  unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7);
  for (uint32_t i = 0; i < o->values.len; i++) {
    if (LLVMTypeOf(o->values.items[i]) == e->pointer && !is_apart(o->values.items[i]))
      return;
  }
  for (uint32_t i = 0; i < o->values.len; i++) {
    if (LLVMTypeOf(o->values.items[i]) == e->pointer)
      LLVMAddAttributeAtIndex(e->function, i + 2,
                              LLVMCreateEnumAttribute(e->llvm, kind, 0));
  }
}

// ---- The functions ----

static LLVMValueRef add_function(emitter *e, const char *tail, const char *number,
                                 LLVMTypeRef *params, uint32_t count) {
  tvms_strbuf name;
  tvms_strbuf_init(&name, &e->context->memory);
  tvms_strbuf_printf(&name, "%s%s%s", tvms_symbol_text(e->context, e->member->name),
                     tail, number);
  LLVMTypeRef type = LLVMFunctionType(e->i32, params, count, false);
  LLVMValueRef function = LLVMAddFunction(e->module, tvms_strbuf_text(&name), type);
  tvms_strbuf_fini(&name);
  LLVMSetLinkage(function, LLVMInternalLinkage);
  return function;
}

// LLVM numbers steps of the same name, and a task has the number of its steps: tasks may be in either module, or in
// neither.
static LLVMValueRef add_task_of(emitter *e, const char *steps_name) {
  size_t begin = strlen(tvms_symbol_text(e->context, e->member->name));
  const char *number = steps_name + begin + strlen(STEPS);
  LLVMTypeRef params[] = {e->i32, e->pointer, e->pointer};
  return add_function(e, ".task", number, params, 3);
}

// Code from here on is of a function of its own.
static void enter_function(emitter *e, LLVMValueRef function) {
  e->function = function;
  e->entry = LLVMAppendBasicBlockInContext(e->llvm, function, "entry");
  LLVMPositionBuilderAtEnd(e->builder, e->entry);
  tvms_emit_debug_function(e, tvms_symbol_text(e->context, e->member->name),
                           e->source->head.span);
}

static LLVMValueRef emit_steps(outline *o) {
  emitter *e = o->e;
  uint32_t count = o->values.len + 3;
  LLVMTypeRef *params = tvms_arena_array(&e->context->scratch, LLVMTypeRef, count);
  params[0] = e->pointer;
  for (uint32_t i = 0; i < o->values.len; i++) {
    params[i + 1] = passed_as(o, o->values.items[i]);
  }
  params[count - 2] = params[count - 1] = e->i64;
  LLVMValueRef *outer_vars = e->vars;
  view **outer_views = e->views;
  uint32_t ids = e->member->unit->next_id;
  e->vars = tvms_arena_array(&e->context->scratch, LLVMValueRef, ids);
  e->wide = tvms_arena_array(&e->context->scratch, LLVMValueRef, ids);
  e->views = tvms_arena_array(&e->context->scratch, view *, ids);
  enter_function(e, add_function(e, STEPS, "", params, count));
  LLVMBasicBlockRef begin = tvms_emit_block(e, "start");
  LLVMBuildBr(e->builder, begin);
  tvms_emit_enter(e, begin);
  e->raised = LLVMGetParam(e->function, 0);
  define_inside(o, &outer_vars, &outer_views);
  mark_apart(o);
  tvms_emit_part(e, o->loop, LLVMGetParam(e->function, count - 2),
                 LLVMGetParam(e->function, count - 1));
  tvms_emit_order_stores(e);
  LLVMBuildRet(e->builder, LLVMConstNull(e->i32));
  tvms_llvm_mark_code(e->function, e->stores);
  return e->function;
}

static LLVMValueRef field(const outline *o, LLVMValueRef record, unsigned at) {
  return LLVMBuildStructGEP2(o->e->builder, o->record, record, at, "");
}

// Where a task begins, of so many steps for each and `rest` more of `tasks`.
static LLVMValueRef begin_of(LLVMBuilderRef b, LLVMValueRef task, LLVMValueRef tasks,
                             LLVMValueRef least, LLVMValueRef rest) {
  LLVMValueRef more = LLVMBuildSDiv(b, LLVMBuildMul(b, task, rest, ""), tasks, "");
  return LLVMBuildAdd(b, LLVMBuildMul(b, task, least, ""), more, "");
}

// The steps of a task: from `first` on, `count` of them. Tasks differ by one step at most, and so do halves and quarters of
// them all, which are what a thread goes through.
static void share(const outline *o, LLVMValueRef record, LLVMValueRef *first,
                  LLVMValueRef *count) {
  emitter *e = o->e;
  LLVMBuilderRef b = e->builder;
  LLVMValueRef place =
      tvms_helper_field(e, LLVMGetParam(e->function, 1), TVMS_LAYOUT_GROUP_TASKS);
  LLVMValueRef tasks =
      LLVMBuildSExt(b, LLVMBuildLoad2(b, e->i32, place, ""), e->i64, "");
  LLVMValueRef task = LLVMBuildSExt(b, LLVMGetParam(e->function, 0), e->i64, "");
  LLVMValueRef extent = LLVMBuildLoad2(b, e->i64, field(o, record, EXTENT), "");
  LLVMValueRef least = LLVMBuildSDiv(b, extent, tasks, "");
  LLVMValueRef rest = LLVMBuildSRem(b, extent, tasks, "");
  LLVMValueRef next = LLVMBuildAdd(b, task, tvms_emit_int(e, 1), "");
  *first = begin_of(b, task, tasks, least, rest);
  *count = LLVMBuildSub(b, begin_of(b, next, tasks, least, rest), *first, "");
}

// Writes the error of a task into the record, unless an earlier task has failed.
static void report(const outline *o, LLVMValueRef record, LLVMValueRef own) {
  emitter *e = o->e;
  LLVMBuilderRef b = e->builder;
  LLVMValueRef zero = LLVMConstNull(e->i32), one = LLVMConstInt(e->i32, 1, false);
  LLVMBasicBlockRef wait = tvms_emit_block(e, "wait"),
                    locked = tvms_emit_block(e, "locked");
  LLVMBasicBlockRef earlier = tvms_emit_block(e, "earlier"),
                    done = tvms_emit_block(e, "done");
  LLVMBuildBr(b, wait);
  tvms_emit_enter(e, wait);
  LLVMValueRef taken =
      LLVMBuildAtomicRMW(b, LLVMAtomicRMWBinOpXchg, field(o, record, LOCK), one,
                         LLVMAtomicOrderingAcquire, false);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, taken, zero, ""), locked, wait);
  tvms_emit_enter(e, locked);
  LLVMValueRef task = LLVMGetParam(e->function, 0), place = field(o, record, TASK);
  LLVMValueRef other = LLVMBuildLoad2(b, e->i32, place, "");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, task, other, ""), earlier, done);
  tvms_emit_enter(e, earlier);
  LLVMBuildStore(b, task, place);
  tvms_emit_copy_raised(e, field(o, record, RAISED), own);
  LLVMBuildBr(b, done);
  tvms_emit_enter(e, done);
  LLVMValueRef unlocked = LLVMBuildStore(b, zero, field(o, record, LOCK));
  LLVMSetOrdering(unlocked, LLVMAtomicOrderingRelease);
  LLVMSetAlignment(unlocked, 4);
  LLVMBuildRet(b, zero);
}

// Are they all passed in registers of integers, or as such on the stack?
static bool are_words(const outline *o) {
  for (uint32_t i = 0; i < o->values.len; i++) {
    LLVMTypeRef type = passed_as(o, o->values.items[i]);
    if (type != o->e->pointer && type != o->e->i64) return false;
  }
  return true;
}

// The task as machine code, among the entries.
static LLVMValueRef add_task(const outline *o, const char *steps_name) {
  emitter *e = o->e;
  LLVMValueRef steps = LLVMGetNamedFunction(e->module, steps_name);
  LLVMValueRef task = add_task_of(e, steps_name);
  LLVMValueRef both[] = {steps, task};
  for (size_t i = 0; i < 2; i++) {
    LLVMSetLinkage(both[i], LLVMExternalLinkage);
    LLVMSetVisibility(both[i], LLVMHiddenVisibility);
  }
  size_t len;
  tvms_x86_add_task(e->direct, LLVMGetValueName2(task, &len), steps_name, o->values.len,
                    tvms_emit_raised_words(e));
  return task;
}

static LLVMValueRef emit_task(outline *o, const char *steps_name) {
  if (o->e->direct && are_words(o)) return add_task(o, steps_name);
  emitter *e = o->e;
  LLVMBuilderRef b = e->builder;
  LLVMModuleRef before = tvms_emit_go_around(e);
  LLVMValueRef steps = tvms_emit_function_named(e, steps_name);
  size_t len;
  enter_function(e, add_task_of(e, steps_name));
  tvms_llvm_make_fast(e->function);
  LLVMValueRef record = LLVMGetParam(e->function, 2);
  LLVMValueRef own = LLVMBuildAlloca(b, o->raised, "");
  LLVMSetAlignment(own, 8);
  LLVMBuildStore(b, LLVMConstNull(o->raised), own);
  uint32_t count = o->values.len + 3;
  LLVMValueRef *args = tvms_arena_array(&e->context->scratch, LLVMValueRef, count);
  args[0] = own;
  for (uint32_t i = 0; i < o->values.len; i++) {
    LLVMTypeRef type = passed_as(o, o->values.items[i]);
    args[i + 1] = LLVMBuildLoad2(b, type, field(o, record, FIRST_VALUE + i), "");
  }
  share(o, record, &args[count - 2], &args[count - 1]);
  LLVMBasicBlockRef failed = tvms_emit_block(e, "failed");
  LLVMBasicBlockRef fine = tvms_emit_block(e, "fine");
  LLVMValueRef status =
      LLVMBuildCall2(b, LLVMGlobalGetValueType(steps), steps, args, count, "");
  LLVMValueRef zero = LLVMConstNull(e->i32);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, status, zero, ""), fine, failed);
  tvms_emit_enter(e, failed);
  report(o, record, own);
  tvms_emit_enter(e, fine);
  LLVMBuildRet(b, zero);
  tvms_emit_go_back(e, before);
  return tvms_emit_function_named(e, LLVMGetValueName2(e->function, &len));
}

static void make_types(outline *o) {
  emitter *e = o->e;
  uint32_t count = FIRST_VALUE + o->values.len;
  LLVMTypeRef *fields = tvms_arena_array(&e->context->scratch, LLVMTypeRef, count);
  o->raised = LLVMArrayType2(e->i64, tvms_emit_raised_words(e));
  fields[LOCK] = fields[TASK] = e->i32;
  fields[RAISED] = o->raised;
  fields[EXTENT] = e->i64;
  for (uint32_t i = 0; i < o->values.len; i++) {
    fields[FIRST_VALUE + i] = passed_as(o, o->values.items[i]);
  }
  o->record = LLVMStructTypeInContext(e->llvm, fields, count, false);
}

// The functions of the loop. What is in progress goes on afterwards where it was.
static void emit_functions(outline *o) {
  emitter *e = o->e, outer = *e;
  emit_position here = tvms_emit_position(e);
  e->memory.items = NULL;
  e->memory.len = e->memory.cap = 0;
  e->frame = 0;
  e->loop = NULL;
  e->in_index = false;
  e->stores = 0;
  e->strided_count = 0;
  e->phased_count = 0;
  e->in_parallel = true;
  size_t len;
  o->task = emit_task(o, LLVMGetValueName2(emit_steps(o), &len));
  tvms_vec_fini(&e->context->memory, &e->memory);
  outer.data = e->data;
  if (e->stores & STORES_VECTORS) outer.stores |= THREADS_STORE_VECTORS;
  *e = outer;
  tvms_emit_go_on(e, here);
}

// ---- The call ----

static LLVMTypeRef launch_type(emitter *e) {
  LLVMTypeRef params[] = {e->pointer, e->pointer, e->i32};
  return LLVMFunctionType(e->i32, params, 3, false);
}

// Calls the one task there is.
static void call_alone(emitter *e, LLVMValueRef function) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef params[] = {e->i32, e->pointer, e->pointer};
  LLVMTypeRef type = LLVMFunctionType(e->i32, params, 3, false);
  LLVMTypeRef env_type = LLVMArrayType2(e->i64, sizeof(tvms_parallel_env) / 8);
  LLVMValueRef env = LLVMBuildAlloca(b, env_type, "");
  LLVMValueRef tasks = tvms_helper_field(e, env, TVMS_LAYOUT_GROUP_TASKS);
  LLVMBuildStore(b, LLVMConstNull(env_type), env);
  LLVMBuildStore(b, LLVMConstInt(e->i32, 1, false), tasks);
  LLVMValueRef args[] = {LLVMConstNull(e->i32), env, LLVMGetParam(function, 1)};
  LLVMBuildRet(b, LLVMBuildCall2(b, type, LLVMGetParam(function, 0), args, 3, ""));
}

static void fill_launch(emitter *e, LLVMValueRef function) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef null = LLVMConstNull(e->pointer);
  LLVMBasicBlockRef call = LLVMAppendBasicBlockInContext(e->llvm, function, "call");
  LLVMBasicBlockRef alone = LLVMAppendBasicBlockInContext(e->llvm, function, "alone");
  LLVMValueRef given =
      LLVMBuildLoad2(b, e->pointer, tvms_emit_slot(e, TVMS_PARALLEL_SLOT), "");
  LLVMValueRef own = tvms_emit_weak(e, TVMS_PARALLEL_LAUNCH, launch_type(e));
  LLVMValueRef filled = LLVMBuildICmp(b, LLVMIntNE, given, null, "");
  LLVMValueRef target = LLVMBuildSelect(b, filled, given, own, "");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, target, null, ""), call, alone);
  LLVMPositionBuilderAtEnd(b, call);
  // TVM takes 0 for as many tasks as it has threads.
  LLVMValueRef most =
      LLVMBuildSelect(b, filled, LLVMConstNull(e->i32), LLVMGetParam(function, 2), "");
  LLVMValueRef args[] = {LLVMGetParam(function, 0), LLVMGetParam(function, 1), most};
  LLVMBuildRet(b, LLVMBuildCall2(b, launch_type(e), target, args, 3, ""));
  LLVMPositionBuilderAtEnd(b, alone);
  call_alone(e, function);
}

// One function per module chooses who has the threads.
static LLVMValueRef launch_function(emitter *e) {
  if (e->direct) return tvms_helper_direct(e, LAUNCH, launch_type(e));
  tvms_helper h;
  if (tvms_helper_begin(e, &h, LAUNCH, launch_type(e))) {
    tvms_llvm_make_fast(h.function);
    fill_launch(e, h.function);
    tvms_helper_end(e, &h);
  }
  return h.function;
}

static LLVMValueRef fill_record(outline *o, LLVMValueRef extent) {
  emitter *e = o->e;
  LLVMBuilderRef b = e->builder;
  LLVMValueRef record = tvms_emit_alloca(e, o->record, 0);
  LLVMBuildStore(b, LLVMConstNull(e->i32), field(o, record, LOCK));
  LLVMBuildStore(b, LLVMConstInt(e->i32, TVMS_PARALLEL_NO_TASK, false),
                 field(o, record, TASK));
  LLVMBuildStore(b, extent, field(o, record, EXTENT));
  for (uint32_t i = 0; i < o->values.len; i++) {
    LLVMValueRef value = o->values.items[i];
    if (LLVMTypeOf(value) != passed_as(o, value))
      value = LLVMBuildSExt(b, value, e->i64, "");
    LLVMBuildStore(b, value, field(o, record, FIRST_VALUE + i));
  }
  return record;
}

static void emit_call(outline *o) {
  emitter *e = o->e;
  LLVMBuilderRef b = e->builder;
  tvms_emit_order_stores(e);
  e->stores |= STARTS_THREADS;
  LLVMValueRef extent = tvms_emit_index(e, o->loop->extent);
  LLVMValueRef record = fill_record(o, extent);
  LLVMValueRef limit = tvms_emit_int(e, INT32_MAX);
  LLVMValueRef fits = LLVMBuildICmp(b, LLVMIntSLT, extent, limit, "");
  LLVMValueRef most = LLVMBuildSelect(b, fits, extent, limit, "");
  LLVMValueRef args[] = {o->task, record, LLVMBuildTrunc(b, most, e->i32, "")};
  LLVMValueRef status =
      LLVMBuildCall2(b, launch_type(e), launch_function(e), args, 3, "");
  LLVMValueRef failed_task = LLVMBuildLoad2(b, e->i32, field(o, record, TASK), "");
  LLVMValueRef none = LLVMConstInt(e->i32, TVMS_PARALLEL_NO_TASK, false);
  LLVMBasicBlockRef failed = tvms_emit_block(e, "failed");
  LLVMBasicBlockRef fine = tvms_emit_block(e, "fine");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, failed_task, none, ""), fine, failed);
  tvms_emit_enter(e, failed);
  tvms_emit_raise_again(e, field(o, record, RAISED));
  tvms_emit_enter(e, fine);
  failure passed_up = {.span = o->loop->head.span};
  tvms_emit_check(e, LLVMBuildICmp(b, LLVMIntEQ, status, LLVMConstNull(e->i32), ""),
                  &passed_up);
}

bool tvms_emit_parallel(emitter *e, const tvms_node *node) {
  outline o = {.e = e, .loop = tvms_as_for(node)};
  if (e->in_parallel
      || !tvms_parallel_is_apart(e->context, e->program, e->member->unit, o.loop))
    return false;
  need_all(&o);
  make_types(&o);
  emit_functions(&o);
  emit_call(&o);
  tvms_vec_fini(&e->context->memory, &o.used);
  tvms_vec_fini(&e->context->memory, &o.values);
  return true;
}

void tvms_emit_parallel_end(emitter *e) {
  if (e->direct && tvms_helper_is_used(e, LAUNCH))
    tvms_x86_add_launch(e->direct, LAUNCH);
}
