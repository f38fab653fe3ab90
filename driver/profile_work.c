// A walk over the body that multiplies what is inside of a loop by its length. Lengths are
// computed from the sizes of the arguments; one that depends on something else makes the whole
// unknown, and so does a loop without a length (while).
#include "driver/profile_work.h"

#include "ir/build.h"
#include "ir/walk.h"

typedef struct {
  tvms_memory *memory;
  int64_t *values;  // by id of a variable
  bool *known;
  bool failed;
} work;

static bool value_of(const work *w, const tvms_node *expr, int64_t *value);

static bool binary_value(const work *w, const tvms_node *expr, int64_t *value) {
  const tvms_binary *binary = tvms_as_binary(expr);
  int64_t a, b;
  if (!value_of(w, binary->a, &a) || !value_of(w, binary->b, &b)) return false;
  switch ((int)expr->kind) {
  case TVMS_NODE_ADD: return !__builtin_add_overflow(a, b, value);
  case TVMS_NODE_SUB: return !__builtin_sub_overflow(a, b, value);
  case TVMS_NODE_MUL: return !__builtin_mul_overflow(a, b, value);
  case TVMS_NODE_MIN: *value = a < b ? a : b; return true;
  case TVMS_NODE_MAX: *value = a > b ? a : b; return true;
  case TVMS_NODE_FLOOR_DIV:
    if (a < 0 || b <= 0) return false;
    *value = a / b;
    return true;
  case TVMS_NODE_FLOOR_MOD:
    if (a < 0 || b <= 0) return false;
    *value = a % b;
    return true;
  case TVMS_NODE_EQ: *value = a == b; return true;
  case TVMS_NODE_NE: *value = a != b; return true;
  case TVMS_NODE_LT: *value = a < b; return true;
  case TVMS_NODE_LE: *value = a <= b; return true;
  case TVMS_NODE_GT: *value = a > b; return true;
  case TVMS_NODE_GE: *value = a >= b; return true;
  default: return false;
  }
}

static bool value_of(const work *w, const tvms_node *expr, int64_t *value) {
  if (expr->kind == TVMS_NODE_VAR) {
    *value = w->values[expr->id];
    return w->known[expr->id];
  }
  if (tvms_node_is_int_imm(expr)) {
    *value = tvms_as_int_imm(expr)->value;
    return true;
  }
  if (expr->kind == TVMS_NODE_CAST)
    return value_of(w, tvms_as_cast(expr)->value, value);
  tvms_node_choice choice = tvms_node_choice_of(expr);
  int64_t truth;
  if (choice.condition)
    return value_of(w, choice.condition, &truth)
           && value_of(w, truth ? choice.yes : choice.no, value);
  return tvms_node_is_binary(expr) && binary_value(w, expr, value);
}

static void bind(work *w, const tvms_node *var, int64_t value) {
  if (var->kind != TVMS_NODE_VAR || w->known[var->id]) return;
  w->values[var->id] = value;
  w->known[var->id] = true;
}

static void bind_arguments(work *w, const tvms_prim_func *function,
                           const tvms_value *args, uint32_t count) {
  for (uint32_t i = 0; i < function->params.len && i < count; i++) {
    const tvms_node *buffer = function->buffers.items[i];
    if (!buffer) {
      if (args[i].kind == TVMS_VALUE_INT) bind(w, function->params.items[i], args[i].i);
      continue;
    }
    if (args[i].kind != TVMS_VALUE_TENSOR) continue;
    const tvms_tensor *tensor = args[i].tensor;
    tvms_list shape = tvms_as_buffer(buffer)->shape;
    for (uint32_t k = 0; k < shape.len && (int32_t)k < tensor->view.ndim; k++)
      bind(w, shape.items[k], tensor->shape[k]);
  }
}

static double lanes_of(tvms_dtype dtype) {
  return dtype.lanes > 1 ? dtype.lanes : 1;
}

typedef struct {
  work *w;
  double sum;
} counting;

static double count_below(work *w, tvms_node *node);

static double count_loop(work *w, const tvms_for *loop) {
  int64_t extent;
  if (!value_of(w, loop->extent, &extent)) {
    w->failed = true;
    return 0;
  }
  // Its variable is one of its values, so that lengths of inner loops may depend on it.
  bind(w, loop->var, 0);
  return (double)extent * count_below(w, loop->body);
}

static tvms_walk_step count_node(void *self, tvms_node *node, tvms_field_role role) {
  counting *c = self;
  (void)role;
  if (node->kind == TVMS_NODE_FOR) {
    c->sum += count_loop(c->w, tvms_as_for(node));
    return TVMS_WALK_SKIP;
  }
  if (node->kind == TVMS_NODE_WHILE) c->w->failed = true;
  bool operates =
      node->kind != TVMS_NODE_CAST
      && (tvms_node_is_binary(node) || tvms_call_opcode(node) != TVMS_TIR_NONE);
  if (operates && tvms_dtype_is_float(node->dtype)) c->sum += lanes_of(node->dtype);
  return TVMS_WALK_ON;
}

static double count_below(work *w, tvms_node *node) {
  counting c = {w, 0};
  tvms_visitor visitor = {.self = &c, .enter = count_node};
  (void)tvms_walk(w->memory, node, &visitor);
  return c.sum;
}

double tvms_profile_work(tvms_memory *memory, const tvms_member *member,
                         const tvms_value *args, uint32_t count) {
  if (!member->function || member->function->kind != TVMS_NODE_PRIM_FUNC) return 0;
  const tvms_prim_func *function = tvms_as_prim_func(member->function);
  tvms_arena arena;
  tvms_arena_init(&arena, memory);
  uint32_t ids = member->unit->next_id;
  work w = {.memory = memory,
            .values = tvms_arena_array(&arena, int64_t, ids),
            .known = tvms_arena_array(&arena, bool, ids)};
  bind_arguments(&w, function, args, count);
  double sum = function->body ? count_below(&w, function->body) : 0;
  tvms_arena_fini(&arena);
  return w.failed ? 0 : sum;
}
