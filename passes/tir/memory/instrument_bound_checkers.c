// InstrumentBoundCheckers: stores happen only where all indices are inside of the bounds.
//
// Before: T.attr(A, "buffer_bound", T.tvm_tuple(16)); A[i] = 0.0
// After:  if T.Cast("int64", i) >= T.int64(0) and T.Cast("int64", i) < T.Cast("int64", 16):
//             A[i] = 0.0
//         else: assert …, "OUT OF THE BOUNDS"
//
// Only buffers whose bounds an attribute says are checked: the attribute stands at the buffer, in
// releases before 0.26 at its pointer, and its value is a call with the sizes for arguments. An
// allocation of the buffer says them anew. What the stored value loads is checked with the store; loads elsewhere, and
// whatever stands behind a T.if_then_else of the same store, are not. Of a ramp the element
// behind its last one is checked, as in TVM: s_tir.transform.InstrumentBoundCheckers.
#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "support/diag_ids.h"

typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;
  tvms_node_map
      bounds;  // BUFFER, or VAR of its pointer -> CALL whose arguments are the sizes
  tvms_analyzer *analyzer;
  tvms_node *TVMS_NULLABLE condition;  // of the store at hand
  bool lazy;  // behind a T.if_then_else of it: what it guards may be out of bounds
} checker;

// ---- Bounds ----

// What an attribute names when it means the buffer.
static const tvms_node *key_of(const checker *c, const tvms_node *buffer) {
  bool itself = tvms_release_has(c->unit->dialect, TVMS_FACT_buffers_are_variables);
  return itself ? buffer : tvms_as_buffer(buffer)->data;
}

// Operators of bits are calls only where they have a name.
static bool is_call(const checker *c, const tvms_node *value) {
  if (value->kind != TVMS_NODE_CALL) return false;
  if (!tvms_release_has(c->unit->dialect, TVMS_FACT_bit_operators_have_no_name))
    return true;
  switch ((int)tvms_call_opcode(value)) {
  case TVMS_TIR_bitwise_and:
  case TVMS_TIR_bitwise_or:
  case TVMS_TIR_bitwise_xor:
  case TVMS_TIR_bitwise_not:
  case TVMS_TIR_shift_left:
  case TVMS_TIR_shift_right: return false;
  default: return true;
  }
}

static tvms_walk_step find_bounds(void *self, tvms_node *node, tvms_field_role role) {
  checker *c = self;
  (void)role;
  if (node->kind != TVMS_NODE_ATTR_STMT) return TVMS_WALK_ON;
  const tvms_attr_stmt *attr = tvms_as_attr_stmt(node);
  if (!tvms_bytes_is(attr->key, "buffer_bound")) return TVMS_WALK_ON;
  bool variable =
      attr->node->kind == TVMS_NODE_VAR
      || (attr->node->kind == TVMS_NODE_BUFFER && key_of(c, attr->node) == attr->node);
  if (variable && is_call(c, attr->value))
    tvms_node_map_put(&c->bounds, attr->node, attr->value);
  return TVMS_WALK_ON;
}

static bool is_size(const tvms_node *node) {
  if (!tvms_dtype_is_scalar(node->dtype)) return false;
  return !tvms_node_is_int_imm(node) || tvms_as_int_imm(node)->value >= 0;
}

// The sizes of an allocation, in elements of one lane, take the place of the bounds it has.
static void take_allocation(checker *c, const tvms_node *key, tvms_list sizes,
                            tvms_dtype element) {
  const tvms_node *old = tvms_node_map_get(&c->bounds, key);
  if (!old) return;
  tvms_dtype uint64 = TVMS_DTYPE(UINT, 64);
  tvms_node **scaled = tvms_arena_array(&c->unit->arena, tvms_node *, sizes.len);
  for (uint32_t i = 0; i < sizes.len; i++) {
    if (!is_size(sizes.items[i])) return;
    tvms_node *lanes = tvms_int_imm_new(c->unit, uint64, element.lanes, TVMS_NO_SPAN);
    scaled[i] =
        tvms_build_binary(c->unit, TVMS_NODE_MUL, lanes, sizes.items[i], TVMS_NO_SPAN);
  }
  tvms_node_map_put(&c->bounds, key,
                    tvms_call_new(c->unit, old->dtype, tvms_as_call(old)->callee,
                                  scaled, sizes.len, TVMS_NO_SPAN));
}

static tvms_node *see_alloc_buffer(tvms_rewriter *r, tvms_node *node) {
  checker *c = r->self;
  const tvms_node *buffer = tvms_as_alloc_buffer(node)->buffer;
  take_allocation(c, key_of(c, buffer), tvms_as_buffer(buffer)->shape,
                  tvms_as_buffer(buffer)->element);
  return TVMS_REWRITE_BELOW;
}

static tvms_node *see_allocate(tvms_rewriter *r, tvms_node *node) {
  const tvms_allocate *allocate = tvms_as_allocate(node);
  take_allocation(r->self, allocate->var, allocate->extents, allocate->element);
  return TVMS_REWRITE_BELOW;
}

// ---- Conditions ----

static tvms_node *as_int64(const checker *c, tvms_node *value) {
  return tvms_cast_new(c->unit, TVMS_DTYPE(INT, 64),
                       tvms_analyzer_simplify(c->analyzer, value), TVMS_NO_SPAN);
}

// base + lanes * stride
static tvms_node *end_of(const checker *c, const tvms_ramp *ramp) {
  tvms_node *width = tvms_build_binary(c->unit, TVMS_NODE_MUL, ramp->lanes,
                                       ramp->stride, TVMS_NO_SPAN);
  return tvms_build_binary(c->unit, TVMS_NODE_ADD, ramp->base, width, TVMS_NO_SPAN);
}

static void require(checker *c, tvms_node_kind kind, tvms_node *x, tvms_node *y,
                    tvms_node **condition) {
  tvms_node *holds = tvms_binary_new(c->unit, kind, x, y, TVMS_NO_SPAN);
  *condition = *condition ? tvms_binary_new(c->unit, TVMS_NODE_AND, *condition, holds,
                                            TVMS_NO_SPAN)
                          : holds;
}

static void check_index(checker *c, tvms_node *index, tvms_node *bound) {
  tvms_node *place =
      index->kind == TVMS_NODE_RAMP ? end_of(c, tvms_as_ramp(index)) : index;
  place = as_int64(c, place);
  tvms_node *zero = tvms_int_imm_new(c->unit, TVMS_DTYPE(INT, 64), 0, TVMS_NO_SPAN);
  tvms_node *inside = NULL;
  require(c, TVMS_NODE_GE, place, zero, &inside);
  require(c, TVMS_NODE_LT, place, as_int64(c, bound), &inside);
  c->condition = c->condition ? tvms_binary_new(c->unit, TVMS_NODE_AND, c->condition,
                                                inside, TVMS_NO_SPAN)
                              : inside;
}

// Ramps of a number of lanes that is not known are not checked.
static bool can_be_checked(tvms_list indices) {
  for (uint32_t i = 0; i < indices.len; i++) {
    const tvms_node *index = indices.items[i];
    if (index->kind == TVMS_NODE_RAMP
        && !tvms_node_is_int_imm(tvms_as_ramp(index)->lanes))
      return false;
  }
  return true;
}

static const char *TVMS_NULLABLE misfit(tvms_list indices, tvms_list bounds) {
  if (indices.len != bounds.len) return "its bounds have another number of dimensions";
  for (uint32_t i = 0; i < indices.len; i++) {
    const tvms_node *index = indices.items[i];
    if (index->kind != TVMS_NODE_RAMP && !tvms_dtype_is_scalar(index->dtype))
      return "an index is a vector of another form than a ramp";
    if (bounds.items[i]->kind == TVMS_NODE_STRING_IMM) return "a bound is a text";
  }
  return NULL;
}

// A load or a store.
static void check_access(checker *c, const tvms_node *buffer, tvms_list indices,
                         tvms_span span) {
  const tvms_node *bounds = tvms_node_map_get(&c->bounds, key_of(c, buffer));
  if (!bounds || c->lazy || !can_be_checked(indices)) return;
  tvms_list sizes = tvms_as_call(bounds)->args;
  const char *why = misfit(indices, sizes);
  if (why) {
    tvms_context *context = c->unit->context;
    tvms_diag_report(&context->diags, TVMS_D_bounds_unfit, span,
                     tvms_symbol_text(context, tvms_as_buffer(buffer)->name), why);
    return;
  }
  for (uint32_t i = 0; i < indices.len; i++) {
    check_index(c, indices.items[i], sizes.items[i]);
  }
}

static tvms_walk_step see_value(void *self, tvms_node *node, tvms_field_role role) {
  checker *c = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (tvms_call_opcode(node) == TVMS_TIR_if_then_else) c->lazy = true;
  if (node->kind == TVMS_NODE_BUFFER_LOAD) {
    const tvms_buffer_load *load = tvms_as_buffer_load(node);
    check_access(c, load->buffer, load->indices, node->span);
  }
  return TVMS_WALK_ON;
}

// ---- Stores ----

static tvms_node *failure(tvms_unit *unit, tvms_node *condition) {
  tvms_assert *check = tvms_node_make(unit, ASSERT, TVMS_NO_SPAN);
  check->condition = condition;
  check->error_kind = tvms_bytes_copy(unit, "RuntimeError", 12);
  tvms_node *message = tvms_string_imm_new(unit, "OUT OF THE BOUNDS", 17, TVMS_NO_SPAN);
  check->message = tvms_list_copy(unit, &message, 1);
  if (!tvms_release_has(unit->dialect, TVMS_FACT_definitions_hold_bodies))
    return &check->head;
  tvms_node *one = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
  tvms_node *stmts[] = {&check->head, tvms_evaluate_new(unit, one, TVMS_NO_SPAN)};
  return tvms_seq_new(unit, stmts, 2, TVMS_NO_SPAN);
}

static tvms_node *check_store(tvms_rewriter *r, tvms_node *node) {
  checker *c = r->self;
  const tvms_store *store = tvms_as_store(node);
  c->condition = NULL;
  c->lazy = false;
  tvms_visitor visitor = {.self = c, .enter = see_value};
  tvms_walk(c->memory, node, &visitor);
  check_access(c, store->buffer, store->indices, node->span);
  if (!c->condition) return node;
  tvms_if_then_else *branch = tvms_node_make(r->unit, IF_THEN_ELSE, TVMS_NO_SPAN);
  branch->condition = c->condition;
  branch->then_case = node;
  branch->else_case = failure(r->unit, c->condition);
  return &branch->head;
}

static tvms_node *check(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  (void)run;
  checker c = {.unit = unit, .memory = &unit->context->memory};
  tvms_node_map_init(&c.bounds, c.memory);
  c.analyzer = tvms_analyzer_new(unit);
  tvms_visitor visitor = {.self = &c, .enter = find_bounds};
  tvms_walk(c.memory, function, &visitor);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &c);
  r.enter[TVMS_NODE_STORE] = check_store;
  r.enter[TVMS_NODE_ALLOC_BUFFER] = see_alloc_buffer;
  r.enter[TVMS_NODE_ALLOCATE] = see_allocate;
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  tvms_analyzer_free(c.analyzer);
  tvms_node_map_fini(&c.bounds);
  return changed;
}

void tvms_pass_instrument_bound_checkers(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, check);
}
