// Statements: loops as blocks and phis, scopes with what they define.
//
// Steps of loops run one after another, but for loops that are marked parallel; vectors and
// unrolled loops were made before (the pipelines native and native-checked). Blocks are gone.
#include "backend/llvm/stmt.h"

#include "backend/llvm/buffer.h"
#include "backend/llvm/debug.h"
#include "backend/llvm/emit.h"
#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/parallel.h"
#include "backend/llvm/types.h"
#include "interp/meaning.h"
#include "support/diag_ids.h"
LLVMBasicBlockRef tvms_emit_block(emitter *e, const char *name) {
  return LLVMAppendBasicBlockInContext(e->llvm, e->function, name);
}

void tvms_emit_enter(emitter *e, LLVMBasicBlockRef block) {
  LLVMBasicBlockRef last = LLVMGetLastBasicBlock(e->function);
  if (last != block) LLVMMoveBasicBlockAfter(block, last);
  LLVMPositionBuilderAtEnd(e->builder, block);
}

bool tvms_emit_is_open(emitter *e) {
  return !LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(e->builder));
}

static void jump(emitter *e, LLVMBasicBlockRef to) {
  if (tvms_emit_is_open(e)) LLVMBuildBr(e->builder, to);
}

static bool is_one(LLVMValueRef value) {
  return LLVMIsAConstantInt(value) && LLVMConstIntGetZExtValue(value) == 1;
}

// A loop in the making: its blocks and what counts its steps.
typedef struct {
  loop_target target;
  LLVMBasicBlockRef body;
  LLVMValueRef i;  // from 0 up to the extent
  LLVMValueRef extent;
  LLVMValueRef step;
  LLVMIntPredicate less;
} counted;

// for (i = 0; i < extent; i += step), up to its body.
static void open_loop(emitter *e, counted *loop, tvms_dtype dtype, LLVMValueRef extent,
                      LLVMValueRef step) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef type = LLVMTypeOf(extent);
  LLVMValueRef zero = LLVMConstNull(type);
  // LLVM would insert the block before a loop itself, in time quadratic in their number.
  LLVMBasicBlockRef before_body = tvms_emit_block(e, "loop");
  loop->body = tvms_emit_block(e, "body");
  LLVMBasicBlockRef next = tvms_emit_block(e, "next");
  LLVMBasicBlockRef end = tvms_emit_block(e, "end");
  loop->less = dtype.code == TVMS_INT ? LLVMIntSLT : LLVMIntULT;
  loop->extent = extent;
  loop->step = step;
  LLVMValueRef runs = LLVMBuildICmp(b, loop->less, zero, extent, "");
  if (LLVMIsAConstantInt(runs) && LLVMConstIntGetZExtValue(runs))
    LLVMBuildBr(b, before_body);
  else
    LLVMBuildCondBr(b, runs, before_body, end);
  tvms_emit_enter(e, before_body);
  LLVMBuildBr(b, loop->body);
  tvms_emit_enter(e, loop->body);
  loop->i = LLVMBuildPhi(b, type, "");
  LLVMAddIncoming(loop->i, &zero, &before_body, 1);
  loop->target = (loop_target){e->loop, next, end, e->memory.len};
  e->loop = &loop->target;
}

static void close_loop(emitter *e, counted *loop) {
  LLVMBuilderRef b = e->builder;
  LLVMBasicBlockRef next = loop->target.next, end = loop->target.end;
  e->loop = loop->target.outer;
  jump(e, next);
  tvms_emit_enter(e, next);
  LLVMValueRef following = LLVMBuildNSWAdd(b, loop->i, loop->step, ""), more;
  if (is_one(loop->step)) {
    more = LLVMBuildICmp(b, loop->less, following, loop->extent, "");
  } else {
    // extent - i > step, and not i + step < extent: the sum might not fit.
    LLVMValueRef rest = LLVMBuildSub(b, loop->extent, loop->i, "");
    more = LLVMBuildICmp(b, loop->less, loop->step, rest, "");
  }
  LLVMBuildCondBr(b, more, loop->body, end);
  LLVMAddIncoming(loop->i, &following, &next, 1);
  tvms_emit_enter(e, end);
}

// A number of steps, or of a step, that is at most the extent. LLVM cannot know that of what a function is
// given, and must: only then do indices of 32 bits become addresses outside of inner loops. A mask says it.
static LLVMValueRef at_most(emitter *e, LLVMValueRef value, const tvms_node *extent) {
  if (!tvms_node_is_int_imm(extent)) return value;
  int64_t most = tvms_as_int_imm(extent)->value;
  if (most <= 0 || most > INT32_MAX) return value;
  uint64_t mask = 1;
  while (mask <= (uint64_t)most)
    mask *= 2;
  LLVMValueRef bits = LLVMConstInt(LLVMTypeOf(value), mask - 1, false);
  return LLVMBuildAnd(e->builder, value, bits, "");
}

void tvms_emit_part(emitter *e, const tvms_for *source, LLVMValueRef first,
                    LLVMValueRef count) {
  LLVMBuilderRef b = e->builder;
  tvms_dtype dtype = source->var->dtype;
  LLVMTypeRef type = tvms_emit_type(e, dtype, source->head.span);
  bool before = e->in_index;
  e->in_index = true;
  LLVMValueRef min = tvms_emit_expr(e, source->min);
  e->in_index = before;
  first = at_most(e, first, source->extent);
  count = at_most(e, count, source->extent);
  min = LLVMBuildIntCast2(b, min, type, true, "");
  min = LLVMBuildAdd(b, min, LLVMBuildIntCast2(b, first, type, true, ""), "");
  count = LLVMBuildIntCast2(b, count, type, true, "");
  counted loop;
  open_loop(e, &loop, dtype, count, LLVMConstInt(type, 1, false));
  e->vars[source->var->id] = LLVMBuildNSWAdd(b, min, loop.i, "");
  tvms_emit_stmt(e, source->body);
  close_loop(e, &loop);
}

// for (i = 0; i < extent; i += step) with the variable at min + i.
static void emit_for(emitter *e, const tvms_node *node) {
  const tvms_for *source = tvms_as_for(node);
  LLVMBuilderRef b = e->builder;
  tvms_dtype dtype = source->var->dtype;
  LLVMTypeRef type = tvms_emit_type(e, dtype, node->span);
  bool before = e->in_index;
  e->in_index = true;
  LLVMValueRef min = tvms_emit_expr(e, source->min);
  LLVMValueRef extent = tvms_emit_expr(e, source->extent);
  LLVMValueRef step =
      source->step ? tvms_emit_expr(e, source->step) : LLVMConstInt(type, 1, false);
  e->in_index = before;
  min = LLVMBuildIntCast2(b, min, type, true, "");
  extent = LLVMBuildIntCast2(b, extent, type, true, "");
  step = LLVMBuildIntCast2(b, step, type, true, "");
  LLVMValueRef zero = LLVMConstNull(type);
  if (source->step && !tvms_node_is_int_imm(source->step)) {
    failure wrong = {.kind = "ValueError",
                     .text = "the step of a loop is not positive",
                     .span = node->span};
    tvms_emit_check(e, LLVMBuildICmp(b, LLVMIntSGT, step, zero, ""), &wrong);
  }
  counted loop;
  open_loop(e, &loop, dtype, extent, step);
  bool from_zero = tvms_node_is_int(source->min, 0);
  e->vars[source->var->id] = from_zero ? loop.i : LLVMBuildNSWAdd(b, min, loop.i, "");
  tvms_emit_stmt(e, source->body);
  close_loop(e, &loop);
}

static void emit_while(emitter *e, const tvms_node *node) {
  const tvms_while *source = tvms_as_while(node);
  LLVMBasicBlockRef test = tvms_emit_block(e, "test");
  LLVMBasicBlockRef body = tvms_emit_block(e, "body");
  LLVMBasicBlockRef end = tvms_emit_block(e, "end");
  LLVMBuildBr(e->builder, test);
  tvms_emit_enter(e, test);
  LLVMBuildCondBr(e->builder, tvms_emit_condition(e, source->condition), body, end);
  tvms_emit_enter(e, body);
  loop_target target = {e->loop, test, end, e->memory.len};
  e->loop = &target;
  tvms_emit_stmt(e, source->body);
  e->loop = target.outer;
  jump(e, test);
  tvms_emit_enter(e, end);
}

// Runs `then` if the condition holds, else `otherwise`, which may be NULL.
static void emit_guarded(emitter *e, LLVMValueRef condition, const tvms_node *then,
                         const tvms_node *TVMS_NULLABLE otherwise) {
  // What is decided here is straight-line code: loads beside each other are seen as such.
  if (LLVMIsAConstantInt(condition)) {
    const tvms_node *taken = LLVMConstIntGetZExtValue(condition) ? then : otherwise;
    if (taken) tvms_emit_stmt(e, taken);
    return;
  }
  LLVMBasicBlockRef yes = tvms_emit_block(e, "then");
  LLVMBasicBlockRef end = tvms_emit_block(e, "end");
  LLVMBasicBlockRef no = otherwise ? tvms_emit_block(e, "else") : end;
  LLVMBuildCondBr(e->builder, condition, yes, no);
  tvms_emit_enter(e, yes);
  tvms_emit_stmt(e, then);
  jump(e, end);
  if (otherwise) {
    tvms_emit_enter(e, no);
    tvms_emit_stmt(e, otherwise);
    jump(e, end);
  }
  tvms_emit_enter(e, end);
}

// ---- The rest ----

static void emit_return(emitter *e, const tvms_node *TVMS_NULLABLE value) {
  if (value && !tvms_dtype_is_void(e->result_dtype)) {
    LLVMValueRef computed = tvms_emit_expr(e, value);
    tvms_dtype to = e->result_dtype;
    computed = tvms_emit_convert(e, value->dtype, to, computed, value->span);
    tvms_emit_store(e, to, computed, e->result, value->span);
  } else if (value) {
    tvms_emit_expr(e, value);
  }
  tvms_emit_free_from(e, 0);
  LLVMBuildRet(e->builder, LLVMConstNull(e->i32));
}

static void emit_jump(emitter *e, const tvms_node *node, bool leaves) {
  if (!e->loop) tvms_emit_refuse(e, node->span, "a jump outside a loop");
  tvms_emit_free_from(e, e->loop->memory);
  LLVMBuildBr(e->builder, leaves ? e->loop->end : e->loop->next);
}

static void emit_evaluate(emitter *e, const tvms_node *node) {
  const tvms_node *result;
  switch (tvms_meaning_of_evaluate(node, &result)) {
  case TVMS_MEANING_RETURN: emit_return(e, result); return;
  case TVMS_MEANING_BREAK: emit_jump(e, node, true); return;
  case TVMS_MEANING_CONTINUE: emit_jump(e, node, false); return;
  case TVMS_MEANING_CALL: tvms_emit_expr(e, tvms_as_evaluate(node)->value);
  }
}

static void emit_assert(emitter *e, const tvms_node *node) {
  const tvms_assert *assertion = tvms_as_assert(node);
  tvms_strbuf text;
  tvms_strbuf_init(&text, &e->context->memory);
  tvms_meaning_assertion(assertion, &text);
  failure failed = {.kind = assertion->error_kind.len ? assertion->error_kind.text
                                                      : "RuntimeError",
                    .text = tvms_strbuf_text(&text),
                    .span = node->span};
  tvms_emit_check(e, tvms_emit_condition(e, assertion->condition), &failed);
  tvms_strbuf_fini(&text);
}

static void emit_allocate_const(emitter *e, const tvms_node *node) {
  const tvms_allocate_const *source = tvms_as_allocate_const(node);
  LLVMValueRef bytes =
      LLVMConstStringInContext(e->llvm, source->data.text, source->data.len, true);
  LLVMValueRef place = LLVMAddGlobal(e->module, LLVMTypeOf(bytes), "constant");
  LLVMSetInitializer(place, bytes);
  LLVMSetLinkage(place, LLVMPrivateLinkage);
  LLVMSetGlobalConstant(place, true);
  LLVMSetAlignment(place, 64);
  e->vars[source->var->id] = place;
}

static void emit_rest(emitter *e, tvms_list stmts, uint32_t from);

// A thread axis holds for the rest of the SEQ, which is run once per thread.
static void emit_threads(emitter *e, const tvms_attr_stmt *attr, tvms_list stmts,
                         uint32_t from) {
  const tvms_node *var = tvms_attr_stmt_threads(&attr->head)->var;
  LLVMTypeRef type = tvms_emit_type(e, var->dtype, var->span);
  LLVMValueRef extent = tvms_emit_index(e, attr->value);
  extent = LLVMBuildIntCast2(e->builder, extent, type, true, "");
  counted loop;
  open_loop(e, &loop, var->dtype, extent, LLVMConstInt(type, 1, false));
  e->vars[var->id] = loop.i;
  emit_rest(e, stmts, from);
  close_loop(e, &loop);
}

static void emit_rest(emitter *e, tvms_list stmts, uint32_t from) {
  uint32_t memory = e->memory.len;
  for (uint32_t i = from; i < stmts.len && tvms_emit_is_open(e); i++) {
    const tvms_node *stmt = stmts.items[i];
    if (tvms_attr_stmt_threads(stmt)) {
      emit_threads(e, tvms_as_attr_stmt(stmt), stmts, i + 1);
      break;
    }
    tvms_emit_stmt(e, stmt);
  }
  tvms_emit_end_memory(e, memory);
}

static void stmt_kind(emitter *e, const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_SEQ: emit_rest(e, tvms_as_seq(node)->stmts, 0); return;
  case TVMS_NODE_FOR:
    if (!tvms_emit_parallel(e, node)) emit_for(e, node);
    return;
  case TVMS_NODE_WHILE: emit_while(e, node); return;
  case TVMS_NODE_IF_THEN_ELSE: {
    const tvms_if_then_else *branch = tvms_as_if_then_else(node);
    LLVMValueRef condition = tvms_emit_condition(e, branch->condition);
    emit_guarded(e, condition, branch->then_case, branch->else_case);
    return;
  }
  case TVMS_NODE_EVALUATE: emit_evaluate(e, node); return;
  case TVMS_NODE_STORE: tvms_emit_buffer_store(e, node); return;
  case TVMS_NODE_BIND: {
    const tvms_bind *bind = tvms_as_bind(node);
    e->vars[bind->var->id] = tvms_emit_expr(e, bind->value);
    return;
  }
  case TVMS_NODE_ASSERT: emit_assert(e, node); return;
  case TVMS_NODE_ALLOCATE: {
    const tvms_allocate *source = tvms_as_allocate(node);
    e->vars[source->var->id] =
        tvms_emit_allocate(e, source->element, source->extents, node->span);
    return;
  }
  case TVMS_NODE_ALLOCATE_CONST: emit_allocate_const(e, node); return;
  case TVMS_NODE_ALLOC_BUFFER:
    tvms_emit_allocate_buffer(e, tvms_as_alloc_buffer(node)->buffer);
    return;
  case TVMS_NODE_BUFFER_REALIZE:
    tvms_emit_allocate_buffer(e, tvms_as_buffer_realize(node)->buffer);
    return;
  case TVMS_NODE_DECL_BUFFER: {
    const tvms_decl_buffer *declare = tvms_as_decl_buffer(node);
    const tvms_node *data = tvms_as_buffer(declare->buffer)->data;
    if (declare->source) e->vars[data->id] = tvms_emit_expr(e, declare->source);
    tvms_emit_define_buffer(e, declare->buffer, NULL);
    return;
  }
  case TVMS_NODE_RETURN: emit_return(e, tvms_as_return(node)->value); return;
  case TVMS_NODE_ATTR_STMT: return;  // a hint
  default:
    tvms_emit_refuse(e, node->span,
                     tvms_node_schema_of((tvms_node_kind)node->kind)->name);
  }
}

void tvms_emit_stmt(emitter *e, const tvms_node *node) {
  if (!tvms_emit_is_open(e)) return;  // what follows a jump
  if (!tvms_memory_enter(&e->context->memory)) {
    tvms_diag_report(&e->context->diags, TVMS_D_too_deep, node->span,
                     e->context->memory.depth_limit);
    tvms_emit_give_up(e);
  }
  LLVMMetadataRef before = tvms_emit_debug_at(e, node->span);
  stmt_kind(e, node);
  tvms_emit_debug_back(e, before);
  tvms_memory_leave(&e->context->memory);
}
