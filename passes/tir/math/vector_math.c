// VectorMath: functions of C as polynomials, so that loops over them become vector code.
//
// Before: B[i] = T.sigmoid(A[i])
// After:
// y: T.float32 = T.max(T.float32(-104.0), …)
// …
// B[i] = T.Select(x < T.float32(0.0), e, T.float32(1.0)) / (T.float32(1.0) + e)
//
// The functions of vector_math.def: of float32, float16 and bfloat16, and without erf, fmod (truncmod) and rsqrt
// of float64, of scalars and of vectors; the two smaller types are computed in float32 and rounded once. Every step is written out, products
// that are added as T.fma, so the interpreter and native code give the same bits, contracted or not. Errors are below two
// units in the last place (docs/native.md). The steps stand in front of the statement; where the call may not be
// evaluated at all, or needs a variable of its expression, they stand in T.Let. T.fma must be an instruction of the
// machine, else native code becomes slower. TVM has no such pass.
#include "passes/functions.h"
#include "passes/remarks.h"
#include "passes/tir/math/vector_exp.h"
#include "passes/tir/math/vector_functions.h"
#include "support/vec.h"

typedef tvms_node *maker(vector_steps *s, tvms_node *const *x);

typedef struct {
  uint32_t arity;
  maker *make;
} function_row;

static const function_row functions[TVMS_TIR_COUNT] = {
#define FUNCTION(ident, arity, shape) [TVMS_TIR_##ident] = {arity, tvms_vector_##shape},
#include "passes/tir/math/vector_math.def"
};

static const function_row doubles[TVMS_TIR_COUNT] = {
#define DOUBLE(ident, arity, shape) [TVMS_TIR_##ident] = {arity, tvms_vector_##shape},
#include "passes/tir/math/vector_math.def"
};

enum { MOST_ARGUMENTS = 2 };

typedef struct {
  tvms_rewrite_watch watch;  // the first field
  tvms_pass_run *run;
  uint32_t
      bound;  // expressions around the one at hand from which steps must not move away
} replacer;

// What makes the function that a call names, of its type. A remainder of numbers is C's fmod.
static const function_row *row_of(const tvms_node *node) {
  bool remainder = node->kind == TVMS_NODE_MOD;
  tvms_tir_opcode name = remainder ? TVMS_TIR_fmod : tvms_call_opcode(node);
  return &(node->dtype.bits == 64 ? doubles : functions)[name];
}

static uint32_t argument_count(const tvms_node *node) {
  return node->kind == TVMS_NODE_MOD ? 2 : tvms_as_call(node)->args.len;
}

static tvms_node *argument(const tvms_node *node, uint32_t i) {
  if (node->kind != TVMS_NODE_MOD) return tvms_as_call(node)->args.items[i];
  return i ? tvms_as_binary(node)->b : tvms_as_binary(node)->a;
}

static bool is_known(const tvms_node *node) {
  const function_row *row = row_of(node);
  tvms_dtype type = node->dtype;
  bool real = (type.code == TVMS_FLOAT && type.bits >= 16 && type.bits <= 64)
              || (type.code == TVMS_BFLOAT && type.bits == 16);
  if (!real || !row->make) return false;
  if (argument_count(node) != row->arity) return false;
  for (uint32_t i = 0; i < row->arity; i++)
    if (!tvms_dtype_same(argument(node, i)->dtype, type)) return false;
  return true;
}

static bool is_constant(const tvms_node *node) {
  return tvms_node_in_lanes(node)->kind == TVMS_NODE_FLOAT_IMM;
}

// T.min(0, …), as ScheduleCPU writes for what cannot be more.
static bool is_below_zero(const tvms_node *node) {
  if (node->kind != TVMS_NODE_MIN) return false;
  double bound;
  return tvms_node_float_in_lanes(tvms_as_binary(node)->a, &bound) && bound <= 0;
}

// Puts the steps where they belong; what the call becomes.
static tvms_node *place(tvms_rewriter *r, vector_steps *s, tvms_node *value) {
  const replacer *self = r->self;
  bool within = self->bound || !r->sequence;
  for (uint32_t i = 0; !within && i < s->steps.len; i++)
    tvms_rewrite_emit(r, s->steps.items[i]);
  for (uint32_t i = s->steps.len; within && i-- > 0;) {
    const tvms_bind *step = tvms_as_bind(s->steps.items[i]);
    value = tvms_let_new(s->unit, step->var, step->value, value, TVMS_NO_SPAN);
  }
  return value;
}

static tvms_node *replace(tvms_rewriter *r, tvms_node *node) {
  const replacer *self = r->self;
  const function_row *row = row_of(node);
  bool narrow = node->dtype.bits < 32;
  tvms_dtype wide = {TVMS_FLOAT, narrow ? 32 : node->dtype.bits, node->dtype.lanes};
  vector_steps s = {.unit = r->unit, .dtype = wide};
  static const char *const names[MOST_ARGUMENTS] = {"x", "y"};
  tvms_node *x[MOST_ARGUMENTS];
  for (uint32_t i = 0; i < row->arity; i++) {
    x[i] = argument(node, i);
    if (narrow) x[i] = tvms_build_cast(r->unit, wide, x[i], TVMS_NO_SPAN);
    if (i == 0 || !is_constant(x[i])) x[i] = keep(&s, names[i], x[i]);
  }
  bool below = row->make == tvms_vector_exp && is_below_zero(argument(node, 0));
  tvms_node *value = below ? tvms_vector_exp_below(&s, x[0]) : row->make(&s, x);
  if (narrow) value = convert(&s, node->dtype, value);
  value = place(r, &s, value);
  tvms_vec_fini(&r->unit->context->memory, &s.steps);
  tvms_pass_count(self->run, "calls replaced", 1);
  return value;
}

// ---- Where steps must stay ----

// What is not evaluated once and always where its statement begins, or stands in the scope of a
// variable of the expression.
static bool is_bound(const tvms_node *parent, const tvms_node *part) {
  switch ((int)parent->kind) {
  case TVMS_NODE_LET:
  case TVMS_NODE_SELECT:
  case TVMS_NODE_AND:
  case TVMS_NODE_OR:
  case TVMS_NODE_COMM_REDUCER: return true;
  case TVMS_NODE_WHILE: return part == tvms_as_while(parent)->condition;
  default: return tvms_call_opcode(parent) == TVMS_TIR_if_then_else;
  }
}

static void enter_part(tvms_rewrite_watch *watch, const tvms_node *parent,
                       const tvms_field *field, const tvms_node *part) {
  (void)field;
  if (is_bound(parent, part)) ((replacer *)watch)->bound++;
}

static void leave_part(tvms_rewrite_watch *watch, const tvms_node *parent,
                       const tvms_field *field, const tvms_node *part,
                       const tvms_node *TVMS_NULLABLE made) {
  (void)field;
  (void)made;
  if (is_bound(parent, part)) ((replacer *)watch)->bound--;
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  return is_known(r->old) ? replace(r, node) : node;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  replacer self = {.watch = {.enter = enter_part, .leave = leave_part}, .run = run};
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &self);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  r.watch = &self.watch;
  r.leave[TVMS_NODE_CALL] = leave_call;
  r.leave[TVMS_NODE_MOD] = leave_call;
  tvms_node *made = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  return made;
}

void tvms_pass_vector_math(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
