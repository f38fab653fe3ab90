// Values: one LLVM value per TIR value, vectors as LLVM vectors.
//
// Integers wrap, except where they make an index: there overflow cannot happen inside a
// buffer, and saying so lets LLVM widen 32-bit loops. What could fault is computed only
// where it is wanted (Select, And, Or), as the interpreter does.
#include "backend/llvm/expr.h"

#include "backend/core/clamped.h"
#include "backend/llvm/buffer.h"
#include "backend/llvm/calls.h"
#include "backend/llvm/division.h"
#include "backend/llvm/emit.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/once.h"
#include "backend/llvm/quads.h"
#include "backend/llvm/scaled.h"
#include "backend/llvm/stmt.h"
#include "backend/llvm/types.h"
#include "support/diag_ids.h"

void tvms_emit_give_up(emitter *e) {
  tvms_memory_unwind(&e->context->memory, TVMS_FOUND_ERRORS);
}

void tvms_emit_refuse(emitter *e, tvms_span span, const char *what) {
  tvms_diag_report(&e->context->diags, TVMS_D_not_compiled, span, what);
  tvms_emit_give_up(e);
}

LLVMValueRef tvms_emit_int(emitter *e, int64_t value) {
  return LLVMConstInt(e->i64, (unsigned long long)value, true);
}

LLVMValueRef tvms_emit_lane(emitter *e, LLVMValueRef vector, uint32_t lane) {
  bool scalar = LLVMGetTypeKind(LLVMTypeOf(vector)) != LLVMVectorTypeKind;
  if (scalar) return vector;
  LLVMValueRef at = LLVMConstInt(e->i32, lane, false);
  return LLVMBuildExtractElement(e->builder, vector, at, "");
}

LLVMValueRef tvms_emit_splat(emitter *e, LLVMValueRef scalar, uint32_t lanes) {
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), lanes);
  LLVMValueRef zero = LLVMConstInt(e->i32, 0, false);
  LLVMValueRef first =
      LLVMBuildInsertElement(e->builder, LLVMGetUndef(type), scalar, zero, "");
  LLVMValueRef mask = LLVMConstNull(LLVMVectorType(e->i32, lanes));
  return LLVMBuildShuffleVector(e->builder, first, LLVMGetUndef(type), mask, "");
}

bool tvms_emit_is_safe(const tvms_node *node) {
  if (node->kind == TVMS_NODE_VAR || node->kind == TVMS_NODE_INT_IMM
      || node->kind == TVMS_NODE_FLOAT_IMM) {
    return true;
  }
  if (node->kind == TVMS_NODE_CAST) return tvms_emit_is_safe(tvms_as_cast(node)->value);
  if (node->kind == TVMS_NODE_NOT) return tvms_emit_is_safe(tvms_as_not(node)->a);
  if (!tvms_node_is_binary(node)) return false;
  const tvms_binary *binary = tvms_as_binary(node);
  bool divides = node->kind >= TVMS_NODE_DIV && node->kind <= TVMS_NODE_FLOOR_MOD;
  // Long chains are not worth computing early.
  bool simple = binary->b->kind == TVMS_NODE_VAR || binary->b->kind == TVMS_NODE_INT_IMM
                || binary->b->kind == TVMS_NODE_FLOAT_IMM;
  return !divides && simple && tvms_emit_is_safe(binary->a);
}

LLVMValueRef tvms_emit_choose(emitter *e, LLVMValueRef condition, choice *yes,
                              const void *yes_what, choice *no, const void *no_what) {
  LLVMBasicBlockRef yes_block = tvms_emit_block(e, "then");
  LLVMBasicBlockRef no_block = tvms_emit_block(e, "else");
  LLVMBasicBlockRef end = tvms_emit_block(e, "chosen");
  LLVMBuildCondBr(e->builder, condition, yes_block, no_block);
  LLVMValueRef values[2];
  LLVMBasicBlockRef blocks[2];
  tvms_emit_enter(e, yes_block);
  values[0] = yes(e, yes_what);
  blocks[0] = LLVMGetInsertBlock(e->builder);
  LLVMBuildBr(e->builder, end);
  tvms_emit_enter(e, no_block);
  values[1] = no(e, no_what);
  blocks[1] = LLVMGetInsertBlock(e->builder);
  LLVMBuildBr(e->builder, end);
  tvms_emit_enter(e, end);
  LLVMValueRef chosen = LLVMBuildPhi(e->builder, LLVMTypeOf(values[0]), "");
  LLVMAddIncoming(chosen, values, blocks, 2);
  return chosen;
}

LLVMValueRef tvms_emit_condition(emitter *e, const tvms_node *node) {
  LLVMValueRef value = tvms_emit_expr(e, node);
  if (tvms_dtype_is_bool(node->dtype)) return value;
  tvms_dtype boolean = {TVMS_BOOL, 1, node->dtype.lanes};
  return tvms_emit_convert(e, node->dtype, boolean, value, node->span);
}

static LLVMValueRef choose_condition(emitter *e, const void *node) {
  return tvms_emit_condition(e, node);
}

static LLVMValueRef choose_expr(emitter *e, const void *node) {
  return tvms_emit_expr(e, node);
}

static LLVMValueRef choose_constant(emitter *e, const void *value) {
  return LLVMConstInt(e->i1, *(const bool *)value, false);
}

// A vector that is loaded as a whole, whichever lanes are chosen: as a masked load it would never make a page
// present of which no lane is chosen, and each such load of x86 processors takes some hundred cycles.
static LLVMValueRef choosable(emitter *e, const tvms_node *node) {
  LLVMValueRef value = tvms_emit_expr(e, node);
  bool loads = node->kind == TVMS_NODE_BUFFER_LOAD || node->kind == TVMS_NODE_BROADCAST;
  return loads && node->dtype.lanes > 1 ? LLVMBuildFreeze(e->builder, value, "")
                                        : value;
}

// One of two expressions by a scalar or vector condition.
static LLVMValueRef select(emitter *e, const tvms_node *condition, const tvms_node *yes,
                           const tvms_node *no) {
  LLVMValueRef test = tvms_emit_condition(e, condition);
  bool early =
      condition->dtype.lanes > 1 || (tvms_emit_is_safe(yes) && tvms_emit_is_safe(no));
  if (!early) return tvms_emit_choose(e, test, choose_expr, yes, choose_expr, no);
  LLVMValueRef a = choosable(e, yes);
  LLVMValueRef b = choosable(e, no);
  return LLVMBuildSelect(e->builder, test, a, b, "");
}

static LLVMValueRef logic(emitter *e, const tvms_node *node) {
  const tvms_binary *binary = tvms_as_binary(node);
  bool is_and = node->kind == TVMS_NODE_AND;
  LLVMValueRef a = tvms_emit_condition(e, binary->a);
  if (node->dtype.lanes > 1 || tvms_emit_is_safe(binary->b)) {
    LLVMValueRef b = tvms_emit_condition(e, binary->b);
    return is_and ? LLVMBuildAnd(e->builder, a, b, "")
                  : LLVMBuildOr(e->builder, a, b, "");
  }
  bool decided = !is_and;
  if (is_and) {
    return tvms_emit_choose(e, a, choose_condition, binary->b, choose_constant,
                            &decided);
  }
  return tvms_emit_choose(e, a, choose_constant, &decided, choose_condition, binary->b);
}

// ---- Arithmetic and comparison ----

// A sum of truths is true if it is not zero, as in the interpreter and in C.
static LLVMValueRef bool_arithmetic(emitter *e, const tvms_node *node, LLVMValueRef a,
                                    LLVMValueRef b) {
  switch ((int)node->kind) {
  case TVMS_NODE_ADD: return LLVMBuildOr(e->builder, a, b, "");
  case TVMS_NODE_SUB: return LLVMBuildXor(e->builder, a, b, "");
  case TVMS_NODE_MUL: return LLVMBuildAnd(e->builder, a, b, "");
  default: return tvms_emit_division(e, node, a, b);
  }
}

static LLVMValueRef int_arithmetic(emitter *e, const tvms_node *node, LLVMValueRef a,
                                   LLVMValueRef b) {
  LLVMBuilderRef builder = e->builder;
  if (tvms_dtype_is_bool(node->dtype)) return bool_arithmetic(e, node, a, b);
  bool exact = e->in_index && node->dtype.code == TVMS_INT && node->dtype.bits >= 32;
  switch ((int)node->kind) {
  case TVMS_NODE_ADD:
    return exact ? tvms_emit_once(e, TVMS_ONCE_ADD, a, b)
                 : LLVMBuildAdd(builder, a, b, "");
  case TVMS_NODE_SUB:
    return exact ? tvms_emit_once(e, TVMS_ONCE_SUB, a, b)
                 : LLVMBuildSub(builder, a, b, "");
  case TVMS_NODE_MUL:
    return exact ? tvms_emit_once(e, TVMS_ONCE_MUL, a, b)
                 : LLVMBuildMul(builder, a, b, "");
  default: return tvms_emit_division(e, node, a, b);
  }
}

static LLVMValueRef int_compare(emitter *e, const tvms_node *node, LLVMValueRef a,
                                LLVMValueRef b) {
  bool is_signed = tvms_as_binary(node)->a->dtype.code == TVMS_INT;
  LLVMIntPredicate less = is_signed ? LLVMIntSLT : LLVMIntULT;
  LLVMBuilderRef builder = e->builder;
  bool once = is_signed && e->in_index;
  switch ((int)node->kind) {
  case TVMS_NODE_MIN: {
    if (once) return tvms_emit_once(e, TVMS_ONCE_MIN, a, b);
    LLVMValueRef test = LLVMBuildICmp(builder, less, a, b, "");
    return LLVMBuildSelect(builder, test, a, b, "");
  }
  case TVMS_NODE_MAX: {
    if (once) return tvms_emit_once(e, TVMS_ONCE_MAX, a, b);
    LLVMValueRef test = LLVMBuildICmp(builder, less, a, b, "");
    return LLVMBuildSelect(builder, test, b, a, "");
  }
  case TVMS_NODE_EQ: return LLVMBuildICmp(builder, LLVMIntEQ, a, b, "");
  case TVMS_NODE_NE: return LLVMBuildICmp(builder, LLVMIntNE, a, b, "");
  case TVMS_NODE_LT: return LLVMBuildICmp(builder, less, a, b, "");
  case TVMS_NODE_GT: return LLVMBuildICmp(builder, less, b, a, "");
  case TVMS_NODE_LE:
    return LLVMBuildICmp(builder, is_signed ? LLVMIntSLE : LLVMIntULE, a, b, "");
  default: return LLVMBuildICmp(builder, is_signed ? LLVMIntSGE : LLVMIntUGE, a, b, "");
  }
}

// A call of an intrinsic whose arguments and result are of one type.
static LLVMValueRef call_intrinsic(emitter *e, const char *name, LLVMValueRef *args,
                                   unsigned count) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMTypeRef type = LLVMTypeOf(args[0]);
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(e->module, id, &type, 1);
  LLVMTypeRef signature = LLVMIntrinsicGetType(e->llvm, id, &type, 1);
  return LLVMBuildCall2(e->builder, signature, function, args, count, "");
}

static LLVMValueRef call_floor(emitter *e, LLVMValueRef value) {
  return call_intrinsic(e, "llvm.floor", &value, 1);
}

static LLVMValueRef real_binary(emitter *e, const tvms_node *node, LLVMValueRef a,
                                LLVMValueRef b) {
  LLVMBuilderRef builder = e->builder;
  LLVMValueRef test;
  switch ((int)node->kind) {
  case TVMS_NODE_ADD: return LLVMBuildFAdd(builder, a, b, "");
  case TVMS_NODE_SUB: return LLVMBuildFSub(builder, a, b, "");
  case TVMS_NODE_MUL: return LLVMBuildFMul(builder, a, b, "");
  case TVMS_NODE_DIV: return LLVMBuildFDiv(builder, a, b, "");
  case TVMS_NODE_MOD: return LLVMBuildFRem(builder, a, b, "");
  case TVMS_NODE_FLOOR_DIV: return call_floor(e, LLVMBuildFDiv(builder, a, b, ""));
  case TVMS_NODE_FLOOR_MOD: {
    LLVMValueRef whole = call_floor(e, LLVMBuildFDiv(builder, a, b, ""));
    return LLVMBuildFSub(builder, a, LLVMBuildFMul(builder, whole, b, ""), "");
  }
  case TVMS_NODE_MIN:
    test = LLVMBuildFCmp(builder, LLVMRealOLT, a, b, "");
    return LLVMBuildSelect(builder, test, a, b, "");
  case TVMS_NODE_MAX:
    test = LLVMBuildFCmp(builder, LLVMRealOGT, a, b, "");
    return LLVMBuildSelect(builder, test, a, b, "");
  case TVMS_NODE_EQ: return LLVMBuildFCmp(builder, LLVMRealOEQ, a, b, "");
  case TVMS_NODE_NE: return LLVMBuildFCmp(builder, LLVMRealUNE, a, b, "");
  case TVMS_NODE_LT: return LLVMBuildFCmp(builder, LLVMRealOLT, a, b, "");
  case TVMS_NODE_LE: return LLVMBuildFCmp(builder, LLVMRealOLE, a, b, "");
  case TVMS_NODE_GT: return LLVMBuildFCmp(builder, LLVMRealOGT, a, b, "");
  default: return LLVMBuildFCmp(builder, LLVMRealOGE, a, b, "");
  }
}

// A product of floats that a sum takes: rounded once with it, if that is asked for. The text decides, not LLVM, which
// would look for products elsewhere: C text gives the same bits.
static const tvms_binary *TVMS_NULLABLE product(const emitter *e,
                                                const tvms_node *node) {
  bool wide = node->dtype.code == TVMS_FLOAT && node->dtype.bits >= 32;
  return e->options->contract && wide && node->kind == TVMS_NODE_MUL
             ? tvms_as_binary(node)
             : NULL;
}

// A sum or a difference with a product, the first one of two; NULL if it has none.
static LLVMValueRef TVMS_NULLABLE contracted(emitter *e, const tvms_node *node) {
  const tvms_binary *sum = tvms_as_binary(node);
  bool differs = node->kind == TVMS_NODE_SUB;
  if (node->kind != TVMS_NODE_ADD && !differs) return NULL;
  const tvms_binary *times = product(e, sum->a);
  bool first = times != NULL;
  if (!first) times = product(e, sum->b);
  if (!times) return NULL;
  LLVMValueRef args[] = {tvms_emit_expr(e, times->a), tvms_emit_expr(e, times->b),
                         tvms_emit_expr(e, first ? sum->b : sum->a)};
  LLVMValueRef *turned = &args[first ? 2 : 0];
  if (differs) *turned = LLVMBuildFNeg(e->builder, *turned, "");
  return call_intrinsic(e, "llvm.fmuladd", args, 3);
}

static LLVMValueRef binary_expr(emitter *e, const tvms_node *node) {
  if (node->kind == TVMS_NODE_AND || node->kind == TVMS_NODE_OR) return logic(e, node);
  const tvms_binary *binary = tvms_as_binary(node);
  LLVMValueRef fused = tvms_emit_quad(e, node);
  if (!fused) fused = tvms_emit_scaled(e, node);
  if (!fused) fused = contracted(e, node);
  if (fused) return fused;
  LLVMValueRef a = tvms_emit_expr(e, binary->a);
  LLVMValueRef b = tvms_emit_expr(e, binary->b);
  if (tvms_dtype_is_real(binary->a->dtype)) {
    LLVMValueRef value = real_binary(e, node, a, b);
    // The greater of two is as round as they are.
    bool chooses = tvms_dtype_is_bool(node->dtype) || node->kind == TVMS_NODE_MIN
                   || node->kind == TVMS_NODE_MAX;
    return chooses ? value : tvms_emit_round(e, node->dtype, value);
  }
  bool arithmetic = node->kind <= TVMS_NODE_FLOOR_MOD;
  return arithmetic ? int_arithmetic(e, node, a, b) : int_compare(e, node, a, b);
}

// ---- Vectors ----

static LLVMValueRef ramp(emitter *e, const tvms_node *node) {
  const tvms_ramp *source = tvms_as_ramp(node);
  if (source->base->dtype.lanes > 1)
    tvms_emit_refuse(e, node->span, "a ramp of vectors");
  uint32_t lanes = (uint32_t)node->dtype.lanes;
  LLVMTypeRef type = tvms_emit_type(e, node->dtype, node->span);
  LLVMTypeRef element = LLVMGetElementType(type);
  LLVMValueRef base = tvms_emit_splat(e, tvms_emit_expr(e, source->base), lanes);
  LLVMValueRef stride = tvms_emit_splat(e, tvms_emit_expr(e, source->stride), lanes);
  LLVMValueRef *steps = tvms_arena_array(&e->context->scratch, LLVMValueRef, lanes);
  for (uint32_t i = 0; i < lanes; i++) {
    steps[i] = LLVMConstInt(element, i, false);
  }
  LLVMValueRef offsets =
      LLVMBuildMul(e->builder, stride, LLVMConstVector(steps, lanes), "");
  return LLVMBuildAdd(e->builder, base, offsets, "");
}

static LLVMValueRef broadcast(emitter *e, const tvms_node *node) {
  const tvms_node *value = tvms_as_broadcast(node)->value;
  if (value->dtype.lanes > 1) tvms_emit_refuse(e, node->span, "a broadcast of vectors");
  (void)tvms_emit_type(e, node->dtype, node->span);
  return tvms_emit_splat(e, tvms_emit_expr(e, value), (uint32_t)node->dtype.lanes);
}

// Lane `wanted` of several vectors laid end to end.
static LLVMValueRef shuffled(emitter *e, const tvms_node *node, LLVMValueRef *vectors,
                             int64_t wanted) {
  tvms_list sources = tvms_as_shuffle(node)->vectors;
  for (uint32_t i = 0; i < sources.len; i++) {
    int64_t lanes = sources.items[i]->dtype.lanes;
    if (wanted < lanes) return tvms_emit_lane(e, vectors[i], (uint32_t)wanted);
    wanted -= lanes;
  }
  tvms_emit_refuse(e, node->span, "a shuffle of lanes that are not there");
}

// One instruction for lanes of one vector or of two that are alike: put together lane by lane they
// would be traced through every shuffle in front of this one. NULL: there are others.
static LLVMValueRef TVMS_NULLABLE shuffle_alike(emitter *e, const tvms_node *node,
                                                LLVMValueRef *vectors) {
  const tvms_shuffle *source = tvms_as_shuffle(node);
  int64_t lanes = source->vectors.items[0]->dtype.lanes, all = 0;
  if (node->dtype.lanes <= 1 || lanes <= 1 || source->vectors.len > 2) return NULL;
  for (uint32_t i = 0; i < source->vectors.len; i++) {
    if (source->vectors.items[i]->dtype.lanes != lanes) return NULL;
    all += lanes;
  }
  LLVMValueRef *mask =
      tvms_arena_array(&e->context->scratch, LLVMValueRef, source->indices.len);
  for (uint32_t i = 0; i < source->indices.len; i++) {
    const tvms_node *index = source->indices.items[i];
    if (!tvms_node_is_int_imm(index)) return NULL;
    int64_t lane = tvms_as_int_imm(index)->value;
    if (lane < 0 || lane >= all) return NULL;
    mask[i] = LLVMConstInt(e->i32, (uint64_t)lane, false);
  }
  LLVMValueRef second =
      source->vectors.len > 1 ? vectors[1] : LLVMGetUndef(LLVMTypeOf(vectors[0]));
  return LLVMBuildShuffleVector(e->builder, vectors[0], second,
                                LLVMConstVector(mask, source->indices.len), "");
}

static LLVMValueRef shuffle(emitter *e, const tvms_node *node) {
  const tvms_shuffle *source = tvms_as_shuffle(node);
  tvms_arena *arena = &e->context->scratch;
  LLVMValueRef *vectors = tvms_arena_array(arena, LLVMValueRef, source->vectors.len);
  for (uint32_t i = 0; i < source->vectors.len; i++) {
    vectors[i] = tvms_emit_expr(e, source->vectors.items[i]);
  }
  LLVMTypeRef type = tvms_emit_type(e, node->dtype, node->span);
  LLVMValueRef alike = shuffle_alike(e, node, vectors);
  if (alike) return alike;
  LLVMValueRef result = LLVMGetUndef(type);
  for (uint32_t i = 0; i < source->indices.len; i++) {
    const tvms_node *index = source->indices.items[i];
    if (!tvms_node_is_int_imm(index))
      tvms_emit_refuse(e, node->span, "a computed shuffle");
    LLVMValueRef item = shuffled(e, node, vectors, tvms_as_int_imm(index)->value);
    if (node->dtype.lanes <= 1) return item;
    LLVMValueRef at = LLVMConstInt(e->i32, i, false);
    result = LLVMBuildInsertElement(e->builder, result, item, at, "");
  }
  return result;
}

// ---- All kinds ----

static LLVMValueRef variable(emitter *e, const tvms_node *node) {
  if (e->vars[node->id]) return e->vars[node->id];
  tvms_diag_report(&e->context->diags, TVMS_D_no_value_yet, node->span,
                   tvms_symbol_text(e->context, tvms_as_var(node)->name));
  tvms_emit_give_up(e);
}

static LLVMValueRef let(emitter *e, const tvms_node *node) {
  const tvms_let *source = tvms_as_let(node);
  e->vars[source->var->id] = tvms_emit_expr(e, source->value);
  return tvms_emit_expr(e, source->body);
}

static LLVMValueRef cast(emitter *e, const tvms_node *node) {
  const tvms_node *value = tvms_as_cast(node)->value;
  if (tvms_clamped_to(value, node->dtype)) {
    LLVMTypeRef type = tvms_emit_type(e, node->dtype, node->span);
    LLVMValueRef clamped = tvms_emit_expr(e, value);
    return node->dtype.code == TVMS_INT
               ? LLVMBuildFPToSI(e->builder, clamped, type, "")
               : LLVMBuildFPToUI(e->builder, clamped, type, "");
  }
  return tvms_emit_convert(e, value->dtype, node->dtype, tvms_emit_expr(e, value),
                           node->span);
}

static LLVMValueRef float_constant(emitter *e, const tvms_node *node) {
  tvms_scalar value = {.f = tvms_as_float_imm(node)->value};
  value = tvms_scalar_fit(value, tvms_interp_dl_type_of(node->dtype));
  return LLVMConstReal(tvms_emit_type(e, node->dtype, node->span), value.f);
}

static LLVMValueRef expr_kind(emitter *e, const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_VAR: return variable(e, node);
  case TVMS_NODE_INT_IMM:
    return LLVMConstInt(tvms_emit_type(e, node->dtype, node->span),
                        (unsigned long long)tvms_as_int_imm(node)->value, true);
  case TVMS_NODE_FLOAT_IMM: return float_constant(e, node);
  case TVMS_NODE_NOT:
    return LLVMBuildNot(e->builder, tvms_emit_condition(e, tvms_as_not(node)->a), "");
  case TVMS_NODE_SELECT: {
    const tvms_select *source = tvms_as_select(node);
    return select(e, source->condition, source->true_value, source->false_value);
  }
  case TVMS_NODE_CAST: return cast(e, node);
  case TVMS_NODE_LET: return let(e, node);
  case TVMS_NODE_RAMP: return ramp(e, node);
  case TVMS_NODE_BROADCAST: return broadcast(e, node);
  case TVMS_NODE_SHUFFLE: return shuffle(e, node);
  case TVMS_NODE_BUFFER_LOAD: return tvms_emit_buffer_load(e, node);
  case TVMS_NODE_CALL: {
    const tvms_call *call = tvms_as_call(node);
    if (tvms_call_opcode(node) == TVMS_TIR_if_then_else && call->args.len == 3) {
      return select(e, call->args.items[0], call->args.items[1], call->args.items[2]);
    }
    return tvms_emit_call(e, call);
  }
  default:
    tvms_emit_refuse(e, node->span,
                     tvms_node_schema_of((tvms_node_kind)node->kind)->name);
  }
}

LLVMValueRef tvms_emit_expr(emitter *e, const tvms_node *node) {
  if (!tvms_memory_enter(&e->context->memory)) {
    tvms_diag_report(&e->context->diags, TVMS_D_too_deep, node->span,
                     e->context->memory.depth_limit);
    tvms_emit_give_up(e);
  }
  LLVMValueRef value =
      tvms_node_is_binary(node) ? binary_expr(e, node) : expr_kind(e, node);
  tvms_memory_leave(&e->context->memory);
  return value;
}
