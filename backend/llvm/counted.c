// Addresses that are counted along the innermost loop of a register tile, and of vectors that go downwards.
//
//   for k in range(n):                       before:  p0 = B + j * 512
//       sums[...] += A[i, k]                 body:    p = phi [p0, before], [p + 128, next]
//                    * B[j, k * 32 + 16]              load p + 64
//
// A product of the counter with a number takes instructions in each step, beside multiply-add units that
// have something to do in every cycle: on a Sapphire Rapids a tile of 14 rows by 2 vectors loses 4 % of its
// time to five of them. LLVM's loop-reduce does this for all loops and takes a sixth of the time of all passes.
#include "backend/llvm/counted.h"

#include "backend/llvm/expr.h"
#include "backend/llvm/frame.h"
#include "backend/llvm/index.h"
#include "backend/llvm/types.h"
#include "ir/walk.h"

// Each takes a register.
enum { MOST_PLACES = 4, MOST_TERMS = 8 };

// A sum of products of variables with numbers, and a number.
typedef struct {
  uint32_t count;
  const tvms_node *vars[MOST_TERMS];
  int64_t by[MOST_TERMS];
  int64_t number;
  int64_t step;  // what the counter is multiplied with
} linear;

typedef struct {
  tvms_memory *memory;
  const tvms_node *var;
} down_search;

struct counted_place {
  struct counted_place *next;
  LLVMValueRef data, offset, pointer;
  linear at;  // in elements
  int64_t bytes;
};

// ---- Loops ----

// Statements of a loop's body that `fits` holds for, one behind the other.
typedef bool statement_check(const emitter *e, const tvms_node *stmt);

static bool is_line_of(const emitter *e, const tvms_node *body, statement_check *fits) {
  if (body->kind != TVMS_NODE_SEQ) return fits(e, body);
  tvms_list stmts = tvms_as_seq(body)->stmts;
  for (uint32_t i = 0; i < stmts.len; i++) {
    if (!fits(e, stmts.items[i])) return false;
  }
  return true;
}

static bool keeps_sums(const emitter *e, const tvms_node *stmt) {
  if (stmt->kind == TVMS_NODE_EVALUATE) return true;
  if (stmt->kind != TVMS_NODE_STORE) return false;
  const tvms_store *store = tvms_as_store(stmt);
  const view *place = e->views[store->buffer->id];
  return store->value->dtype.lanes > 1 && place && place->defined
         && LLVMIsAAllocaInst(place->data);
}

static bool is_vector(const emitter *e, const tvms_node *stmt) {
  (void)e;
  return stmt->kind == TVMS_NODE_BIND
         || (stmt->kind == TVMS_NODE_STORE
             && tvms_as_store(stmt)->value->dtype.lanes > 1);
}

static tvms_walk_step find_down(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const down_search *d = self;
  bool down = node->kind == TVMS_NODE_SUB
              && tvms_walk_contains(d->memory, tvms_as_binary(node)->b, d->var);
  return down ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Does it subtract the counter from something? A machine adds a multiple of a register in an address for nothing,
// and subtracts none.
static bool goes_down(const emitter *e, const tvms_for *source) {
  down_search d = {&e->context->memory, source->var};
  tvms_visitor visitor = {.self = &d, .enter = find_down};
  return !tvms_walk(d.memory, source->body, &visitor);
}

void tvms_emit_counted_begin(emitter *e, const tvms_for *source, loop_target *loop) {
  if (e->options->checked || source->step) return;
  if (is_line_of(e, source->body, keeps_sums)
      || (is_line_of(e, source->body, is_vector) && goes_down(e, source)))
    loop->var = source->var;
}

// ---- Indices ----

static bool add_term(linear *sum, const tvms_node *var, int64_t by) {
  uint32_t i = 0;
  while (i < sum->count && sum->vars[i] != var)
    i++;
  if (i == MOST_TERMS) return false;
  if (i == sum->count) {
    sum->vars[sum->count] = var;
    sum->by[sum->count++] = 0;
  }
  tvms_emit_index_add(&sum->by[i], by, 1);
  return true;
}

static bool read_linear(emitter *e, const tvms_node *node, int64_t by, linear *sum);

static bool read_product(emitter *e, const tvms_binary *product, int64_t by,
                         linear *sum) {
  bool first = tvms_node_is_int_imm(product->a);
  const tvms_node *number = first ? product->a : product->b;
  if (!tvms_node_is_int_imm(number)) return false;
  int64_t factor = 0;
  tvms_emit_index_add(&factor, tvms_as_int_imm(number)->value, by);
  return read_linear(e, first ? product->b : product->a, factor, sum);
}

static bool read_parts(emitter *e, const tvms_node *node, int64_t by, linear *sum) {
  const tvms_binary *binary = tvms_node_is_binary(node) ? tvms_as_binary(node) : NULL;
  switch ((int)node->kind) {
  case TVMS_NODE_INT_IMM:
    tvms_emit_index_add(&sum->number, tvms_as_int_imm(node)->value, by);
    return true;
  case TVMS_NODE_VAR:
    if (node != e->loop->var) return add_term(sum, node, by);
    tvms_emit_index_add(&sum->step, by, 1);
    return true;
  case TVMS_NODE_CAST: return read_linear(e, tvms_as_cast(node)->value, by, sum);
  case TVMS_NODE_RAMP: return read_linear(e, tvms_as_ramp(node)->base, by, sum);
  case TVMS_NODE_BROADCAST:
    return read_linear(e, tvms_as_broadcast(node)->value, by, sum);
  case TVMS_NODE_ADD:
    return read_linear(e, binary->a, by, sum) && read_linear(e, binary->b, by, sum);
  case TVMS_NODE_SUB:
    return read_linear(e, binary->a, by, sum)
           && read_linear(e, binary->b, (int64_t)(0 - (uint64_t)by), sum);
  case TVMS_NODE_MUL: return read_product(e, binary, by, sum);
  default: return false;
  }
}

// Adds `node` times a number to a sum. False: it is more than such a sum.
static bool read_linear(emitter *e, const tvms_node *node, int64_t by, linear *sum) {
  bool whole = node->dtype.code == TVMS_INT && node->dtype.bits >= 32;
  bool linear_here =
      tvms_memory_enter(&e->context->memory) && whole && read_parts(e, node, by, sum);
  tvms_memory_leave(&e->context->memory);
  return linear_here;
}

static bool read_indices(emitter *e, const view *v, tvms_list indices, linear *sum) {
  if (indices.len != v->ndim) return false;
  for (uint32_t i = 0; i < indices.len; i++) {
    LLVMValueRef stride = v->strides[i];
    if (!LLVMIsAConstantInt(stride)) return false;
    if (!read_linear(e, indices.items[i], LLVMConstIntGetSExtValue(stride), sum))
      return false;
  }
  return true;
}

// ---- Addresses ----

// Is it computed in front of the loop, which so far is one block?
static bool is_outside(LLVMValueRef value, LLVMBasicBlockRef body) {
  return !LLVMIsAInstruction(value) || LLVMGetInstructionParent(value) != body;
}

static LLVMValueRef variable(const emitter *e, const tvms_node *var) {
  return e->wide[var->id] ? e->wide[var->id] : e->vars[var->id];
}

static bool all_outside(const emitter *e, const view *v, const linear *sum) {
  LLVMBasicBlockRef body = e->loop->body;
  for (uint32_t i = 0; i < sum->count; i++) {
    LLVMValueRef value = variable(e, sum->vars[i]);
    if (!value || !is_outside(value, body)) return false;
  }
  return is_outside(v->data, body) && is_outside(v->offset, body);
}

static bool same_place(const struct counted_place *place, const view *v,
                       const linear *sum) {
  const linear *at = &place->at;
  if (place->data != v->data || place->offset != v->offset || at->step != sum->step
      || at->count != sum->count)
    return false;
  for (uint32_t i = 0; i < sum->count; i++) {
    if (at->vars[i] != sum->vars[i] || at->by[i] != sum->by[i]) return false;
  }
  return true;
}

// The address at the first step, without the number; emitted in front of the loop.
static LLVMValueRef first_address(emitter *e, const view *v, const linear *sum,
                                  LLVMTypeRef type) {
  LLVMBuilderRef b = e->builder;
  LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(e->loop->before));
  LLVMValueRef flat = v->offset;
  for (uint32_t i = 0; i < sum->count; i++) {
    LLVMValueRef value =
        LLVMBuildIntCast2(b, variable(e, sum->vars[i]), e->i64, true, "");
    value = LLVMBuildNSWMul(b, value, tvms_emit_int(e, sum->by[i]), "");
    flat = LLVMBuildNSWAdd(b, flat, value, "");
  }
  return LLVMBuildGEP2(b, type, v->data, &flat, 1, "");
}

static struct counted_place *add_place(emitter *e, const view *v, const linear *sum,
                                       LLVMTypeRef type, int64_t bytes) {
  loop_target *loop = e->loop;
  emit_position here = tvms_emit_position(e);
  LLVMValueRef first = first_address(e, v, sum, type);
  LLVMPositionBuilderBefore(e->builder, LLVMGetFirstInstruction(loop->body));
  LLVMValueRef pointer = LLVMBuildPhi(e->builder, e->pointer, "");
  LLVMAddIncoming(pointer, &first, &loop->before, 1);
  tvms_emit_go_on(e, here);
  struct counted_place *place =
      tvms_arena_new(&e->context->scratch, struct counted_place);
  *place =
      (struct counted_place){loop->places, v->data, v->offset, pointer, *sum, bytes};
  loop->places = place;
  loop->place_count++;
  return place;
}

LLVMValueRef tvms_emit_counted(emitter *e, const view *v, tvms_list indices,
                               tvms_dtype element, tvms_span span) {
  loop_target *loop = e->loop;
  if (!loop || !loop->var || LLVMGetInsertBlock(e->builder) != loop->body) return NULL;
  linear sum = {0};
  if (element.lanes > 1 || element.bits % 8 || !read_indices(e, v, indices, &sum))
    return NULL;
  int64_t size = element.bits / 8, bytes = 0;
  tvms_emit_index_add(&bytes, sum.step, size);
  if (!bytes || !all_outside(e, v, &sum)) return NULL;
  struct counted_place *place = loop->places;
  while (place && !same_place(place, v, &sum))
    place = place->next;
  LLVMTypeRef type = tvms_emit_memory_type(e, element, span);
  if (!place && loop->place_count == MOST_PLACES) return NULL;
  if (!place) place = add_place(e, v, &sum, type, bytes);
  if (!sum.number) return place->pointer;
  LLVMValueRef number = tvms_emit_int(e, sum.number);
  return LLVMBuildGEP2(e->builder, type, place->pointer, &number, 1, "");
}

void tvms_emit_counted_end(emitter *e, const loop_target *loop,
                           LLVMBasicBlockRef next) {
  for (struct counted_place *place = loop->places; place; place = place->next) {
    LLVMValueRef bytes = tvms_emit_int(e, place->bytes);
    LLVMValueRef following =
        LLVMBuildGEP2(e->builder, e->i8, place->pointer, &bytes, 1, "");
    LLVMAddIncoming(place->pointer, &following, &next, 1);
  }
}
