// Statements: loops as blocks and phis, scopes with what they define.
//
// Steps of loops run one after another, but for loops that are marked parallel; vectors and
// unrolled loops were made before (the pipelines native and native-checked). Blocks are gone.
#include "backend/llvm/stmt.h"

#include "backend/llvm/buffer.h"
#include "backend/llvm/counted.h"
#include "backend/llvm/debug.h"
#include "backend/llvm/emit.h"
#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/index.h"
#include "backend/llvm/modules.h"
#include "backend/llvm/parallel.h"
#include "backend/llvm/past.h"
#include "backend/llvm/types.h"
#include "interp/meaning.h"
#include "ir/nontemporal.h"
#include "support/diag_ids.h"

#include <stdio.h>

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

static void enter_loop(emitter *e, loop_target *loop) {
  if (loop->outer) loop->outer->around = true;
  e->loop = loop;
}

// What stores vectors beside elements, as at the edges of what is padded, does not become vectors.
static void leave_loop(emitter *e, const loop_target *loop) {
  bool mixed = loop->vectors && !loop->around;
  if (loop->stores && !loop->few && !mixed)
    e->stores |= loop->around ? STORES_ELEMENTS_AROUND_LOOPS : STORES_ELEMENTS_IN_LOOPS;
  if (loop->stays && (loop->sums || !loop->around)) e->stores |= STAYS_IN_LOOPS;
  e->loop = loop->outer;
}

// A loop in the making: its blocks and what counts its steps.
typedef struct {
  loop_target target;
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
  LLVMBasicBlockRef from = LLVMGetInsertBlock(b), before = tvms_emit_block(e, "loop");
  LLVMBasicBlockRef body = tvms_emit_block(e, "body");
  LLVMBasicBlockRef next = tvms_emit_block(e, "next");
  LLVMBasicBlockRef end = tvms_emit_block(e, "end");
  loop->less = dtype.code == TVMS_INT ? LLVMIntSLT : LLVMIntULT;
  loop->extent = extent;
  loop->step = step;
  LLVMValueRef runs = LLVMBuildICmp(b, loop->less, zero, extent, "");
  if (LLVMIsAConstantInt(runs) && LLVMConstIntGetZExtValue(runs))
    LLVMBuildBr(b, before);
  else
    LLVMBuildCondBr(b, runs, before, end);
  tvms_emit_enter(e, before);
  LLVMBuildBr(b, body);
  tvms_emit_enter(e, body);
  loop->i = LLVMBuildPhi(b, type, "");
  LLVMAddIncoming(loop->i, &zero, &before, 1);
  loop->target = (loop_target){.outer = e->loop,
                               .next = next,
                               .end = end,
                               .memory = e->memory.len,
                               .from = from,
                               .before = before,
                               .body = body};
  enter_loop(e, &loop->target);
}

static void close_loop(emitter *e, counted *loop) {
  LLVMBuilderRef b = e->builder;
  LLVMBasicBlockRef next = loop->target.next, end = loop->target.end;
  leave_loop(e, &loop->target);
  jump(e, next);
  tvms_emit_enter(e, next);
  tvms_emit_counted_end(e, &loop->target, next);
  LLVMValueRef following = LLVMBuildNSWAdd(b, loop->i, loop->step, ""), more;
  if (is_one(loop->step)) {
    // Of a comparison by order LLVM would make one of `i`, and keep both in registers.
    more = LLVMBuildICmp(b, LLVMIntNE, following, loop->extent, "");
  } else {
    // extent - i > step, and not i + step < extent: the sum might not fit.
    LLVMValueRef rest = LLVMBuildSub(b, loop->extent, loop->i, "");
    more = LLVMBuildICmp(b, loop->less, loop->step, rest, "");
  }
  LLVMBuildCondBr(b, more, loop->target.body, end);
  LLVMAddIncoming(loop->i, &following, &next, 1);
  tvms_emit_enter(e, end);
}

// Loops count in 64 bits, so that indices need no extension; checked code compares them as they are.
static LLVMTypeRef counter_type(emitter *e, const tvms_for *source) {
  tvms_dtype dtype = source->var->dtype;
  bool wide = dtype.code == TVMS_INT && dtype.bits == 32 && !e->options->checked;
  return wide ? e->i64 : tvms_emit_type(e, dtype, source->head.span);
}

// The body of a loop, whose variable is at min + i.
static void emit_loop_body(emitter *e, const tvms_for *source, counted *loop,
                           LLVMValueRef min) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef type = tvms_emit_type(e, source->var->dtype, source->head.span);
  bool from_zero = LLVMIsNull(min);
  LLVMValueRef value = from_zero ? loop->i : LLVMBuildNSWAdd(b, min, loop->i, "");
  uint32_t id = source->var->id;
  bool wide = LLVMTypeOf(value) != type;
  e->wide[id] = wide ? value : NULL;
  e->vars[id] = wide ? LLVMBuildTrunc(b, value, type, "") : value;
  if (from_zero) tvms_emit_counted_begin(e, source, &loop->target);
  tvms_emit_stmt(e, source->body);
  close_loop(e, loop);
}

static LLVMValueRef bound(emitter *e, const tvms_node *node, LLVMTypeRef type) {
  bool before = e->in_index;
  e->in_index = true;
  LLVMValueRef value = tvms_emit_expr(e, node);
  e->in_index = before;
  return LLVMBuildIntCast2(e->builder, value, type, true, "");
}

void tvms_emit_part(emitter *e, const tvms_for *source, LLVMValueRef first,
                    LLVMValueRef count) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef type = counter_type(e, source);
  LLVMValueRef min = bound(e, source->min, type);
  min = LLVMBuildNSWAdd(b, min, LLVMBuildIntCast2(b, first, type, true, ""), "");
  counted loop;
  open_loop(e, &loop, source->var->dtype, LLVMBuildIntCast2(b, count, type, true, ""),
            LLVMConstInt(type, 1, false));
  emit_loop_body(e, source, &loop, min);
}

// What a division by a small number leaves.
static bool has_few_steps(const tvms_node *extent) {
  enum { FEW = 64 };
  while (extent->kind == TVMS_NODE_CAST)
    extent = tvms_as_cast(extent)->value;
  if (extent->kind != TVMS_NODE_FLOOR_MOD && extent->kind != TVMS_NODE_MOD)
    return false;
  const tvms_node *by = tvms_as_binary(extent)->b;
  return tvms_node_is_int_imm(by) && tvms_as_int_imm(by)->value <= FEW;
}

// for (i = 0; i < extent; i += step) with the variable at min + i.
static void emit_for(emitter *e, const tvms_node *node) {
  const tvms_for *source = tvms_as_for(node);
  LLVMTypeRef type = counter_type(e, source);
  LLVMValueRef min = bound(e, source->min, type);
  LLVMValueRef extent = bound(e, source->extent, type);
  LLVMValueRef step =
      source->step ? bound(e, source->step, type) : LLVMConstInt(type, 1, false);
  if (source->step && !tvms_node_is_int_imm(source->step)) {
    failure wrong = {.kind = "ValueError",
                     .text = "the step of a loop is not positive",
                     .span = node->span};
    LLVMValueRef zero = LLVMConstNull(type);
    tvms_emit_check(e, LLVMBuildICmp(e->builder, LLVMIntSGT, step, zero, ""), &wrong);
  }
  counted loop;
  open_loop(e, &loop, source->var->dtype, extent, step);
  loop.target.few = has_few_steps(source->extent);
  emit_loop_body(e, source, &loop, min);
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
  loop_target target = {
      .outer = e->loop, .next = test, .end = end, .memory = e->memory.len};
  enter_loop(e, &target);
  tvms_emit_stmt(e, source->body);
  leave_loop(e, &target);
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
  tvms_emit_order_stores(e);
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
  const tvms_node *sides[2];
  if (tvms_meaning_sides(assertion, failed.text, sides)) {
    failed.got = tvms_emit_index(e, sides[0]);
    failed.expected = tvms_emit_index(e, sides[1]);
  }
  tvms_emit_check(e, tvms_emit_condition(e, assertion->condition), &failed);
  tvms_strbuf_fini(&text);
}

// The variable for what the object has beside what LLVM makes.
static LLVMValueRef data_beside(emitter *e, tvms_bytes bytes, LLVMTypeRef type) {
  uint32_t known = 0;
  while (known < e->data.len && e->data.items[known].bytes != bytes.text)
    known++;
  char name[32];
  snprintf(name, sizeof name, "tvms.data.%u", known);
  if (known == e->data.len) {
    tvms_object_data data = {tvms_arena_text(&e->context->arena, name, strlen(name)),
                             bytes.text, bytes.len};
    tvms_vec_push(&e->context->memory, &e->data, data);
  }
  LLVMValueRef place = tvms_emit_variable_named(e, name);
  if (!place) place = LLVMAddGlobal(e->module, type, name);
  LLVMSetVisibility(place, LLVMHiddenVisibility);
  return place;
}

static void emit_allocate_const(emitter *e, const tvms_node *node) {
  enum { LARGE = 4096 };  // LLVM computes with what is smaller
  const tvms_allocate_const *source = tvms_as_allocate_const(node);
  tvms_bytes data = source->data;
  LLVMTypeRef type = LLVMArrayType2(e->i8, data.len);
  LLVMValueRef place;
  if (e->joins && data.len > LARGE) {
    place = data_beside(e, data, type);
  } else {
    place = LLVMAddGlobal(e->module, type, "constant");
    LLVMSetInitializer(place,
                       LLVMConstStringInContext(e->llvm, data.text, data.len, true));
    LLVMSetLinkage(place, LLVMPrivateLinkage);
  }
  LLVMSetGlobalConstant(place, true);
  LLVMSetAlignment(place, TVMS_OBJECT_DATA_ALIGN);
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
    e->past += tvms_stmt_is_nontemporal(tvms_as_for(node));
    if (!tvms_emit_parallel(e, node)) emit_for(e, node);
    e->past -= tvms_stmt_is_nontemporal(tvms_as_for(node));
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
