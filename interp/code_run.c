// Running register code: one label per instruction, and a jump from each to the next.
//
// Steps are counted down from the next number at which something happens (the clock is looked
// at, the limit is reached), and written back before anything else may look at them.
#include "interp/code_run.h"

#include "interp/buffer.h"
#include "interp/calls.h"
#include "interp/expr.h"
#include "interp/prim.h"
#include "interp/stmt.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  tvms_interp_frame *frame;
  const tvms_interp_code *code;
  uint32_t depth;  // levels of recursion around the code
  uint64_t chunk;  // steps from the last count of the interpreter to the next event
} machine;

static const tvms_interp_note *note_of(const machine *m, const tvms_interp_insn *pc) {
  return &m->code->notes[pc - m->code->insns];
}

static tvms_dl_type type_of(uint32_t operand) {
  return (tvms_dl_type){(uint8_t)(operand >> 8), (uint8_t)operand, 1};
}

// ---- Steps ----

// Begins to count again, from the steps that the interpreter has.
static uint64_t next_chunk(machine *m) {
  const tvms_interp *interp = m->frame->interp;
  enum { CLOCK = 4096 };
  m->chunk = CLOCK - interp->steps % CLOCK;
  uint64_t rest = interp->step_limit - interp->steps;
  if (interp->step_limit > interp->steps && rest < m->chunk) m->chunk = rest;
  return m->chunk;
}

// The last step of a chunk was taken.
static uint64_t count_steps(machine *m, const tvms_interp_insn *pc) {
  tvms_interp *interp = m->frame->interp;
  interp->steps += m->chunk - 1;
  tvms_interp_count_step(m->frame, note_of(m, pc)->node->span);
  return next_chunk(m);
}

// ---- The tree ----

// Before and after work of the tree, which may count steps and enter levels itself.
static void leave_code(machine *m, const tvms_interp_insn *pc, uint64_t left) {
  m->frame->interp->steps += m->chunk - left;
  m->frame->context->memory.depth = m->depth + note_of(m, pc)->depth;
}

static uint64_t enter_code(machine *m) {
  m->frame->context->memory.depth = m->depth;
  return next_chunk(m);
}

static uint64_t eval_tree(machine *m, const tvms_interp_insn *pc, uint64_t left,
                          tvms_scalar *slot) {
  leave_code(m, pc, left);
  *slot = tvms_interp_eval(m->frame, note_of(m, pc)->node, pc->n);
  return enter_code(m);
}

static uint64_t exec_tree(machine *m, const tvms_interp_insn *pc, uint64_t left) {
  leave_code(m, pc, left);
  tvms_interp_exec(m->frame, note_of(m, pc)->node);
  return enter_code(m);
}

static uint64_t allocate(machine *m, const tvms_interp_insn *pc, uint64_t left) {
  leave_code(m, pc, left);
  tvms_interp_allocate_buffer(m->frame, note_of(m, pc)->node);
  return enter_code(m);
}

static uint64_t match(machine *m, const tvms_interp_insn *pc, uint64_t left) {
  leave_code(m, pc, left);
  tvms_interp_match_region(m->frame, note_of(m, pc)->node);
  return enter_code(m);
}

// ---- Integers and reals ----

TVMS_NORETURN static void fail_division(machine *m, const tvms_interp_insn *pc) {
  fault(m->frame, TVMS_D_executed_division_by_zero, note_of(m, pc)->node->span);
}

static inline void check_shift(machine *m, const tvms_interp_insn *pc, int64_t amount) {
  if (amount >= 0 && amount < pc->n) return;
  fault(m->frame, TVMS_D_shift_too_far, note_of(m, pc)->node->span, (long long)amount,
        pc->n);
}

// By a constant above 0. Division of 32 bits takes a third of the time of that of 64.
static inline int64_t floor_div(int64_t a, int64_t b) {
  if ((uint64_t)(a | b) <= UINT32_MAX) return (uint32_t)a / (uint32_t)b;
  int64_t quotient = a / b;
  return quotient * b > a ? quotient - 1 : quotient;
}

static inline int64_t floor_mod(int64_t a, int64_t b) {
  if ((uint64_t)(a | b) <= UINT32_MAX) return (uint32_t)a % (uint32_t)b;
  int64_t rest = a % b;
  return rest < 0 ? rest + b : rest;
}

static tvms_scalar convert(tvms_scalar value, const tvms_node *cast) {
  return tvms_scalar_convert(value,
                             tvms_interp_dl_type_of(tvms_as_cast(cast)->value->dtype),
                             tvms_interp_dl_type_of(cast->dtype));
}

static float math_f32(const machine *m, const tvms_interp_insn *pc,
                      const tvms_scalar *r) {
  const uint32_t *args = &m->code->lists[pc->a];
  double x[3];
  for (uint32_t i = 0; i < pc->b; i++)
    x[i] = (double)r[args[i]].s;
  return (float)tvms_interp_math((tvms_tir_opcode)pc->n,
                                 (tvms_dl_type){TVMS_DL_FLOAT, 32, 1}, x);
}

static double math_real(const machine *m, const tvms_interp_insn *pc,
                        const tvms_scalar *r) {
  const uint32_t *args = &m->code->lists[pc->a];
  double x[3];
  for (uint32_t i = 0; i < pc->b; i++)
    x[i] = r[args[i]].f;
  tvms_dtype dtype = note_of(m, pc)->node->dtype;
  return tvms_interp_math((tvms_tir_opcode)pc->n, tvms_interp_dl_type_of(dtype), x);
}

// ---- Buffers ----

static const tvms_node *buffer_of(const tvms_node *access) {
  return access->kind == TVMS_NODE_STORE ? tvms_as_store(access)->buffer
                                         : tvms_as_buffer_load(access)->buffer;
}

static void use(machine *m, const tvms_interp_insn *pc) {
  const tvms_interp_note *note = note_of(m, pc);
  m->frame->context->memory.depth = m->depth + note->depth;
  tvms_interp_use_buffer(m->frame, buffer_of(note->node), note->node->span);
  m->frame->context->memory.depth = m->depth;
}

static void check_index(machine *m, const tvms_interp_insn *pc, int64_t index) {
  const tvms_node *node = note_of(m, pc)->node;
  tvms_interp_check_index(m->frame, m->frame->views[pc->a], buffer_of(node), pc->n,
                          index, node->span);
}

// The way with all checks, and that of faults.
static char *careful(machine *m, const tvms_interp_insn *pc, const tvms_interp_view *v,
                     const int64_t *index) {
  const tvms_node *node = note_of(m, pc)->node;
  return tvms_interp_element_of(m->frame, v, buffer_of(node), index, node->span);
}

static inline bool is_below(int64_t index, int64_t extent) {
  return (uint64_t)index < (uint64_t)extent;  // of a whole view none is negative
}

static inline char *element(const tvms_interp_view *v, int64_t flat) {
  return (char *)v->data + flat * (int64_t)v->size;
}

static char *at_0(machine *m, const tvms_interp_insn *pc, const tvms_interp_view *v) {
  return careful(m, pc, v, NULL);
}

static inline char *at_1(machine *m, const tvms_interp_insn *pc,
                         const tvms_interp_view *v, int64_t i) {
  if (v->whole && is_below(i, v->shape[0]))
    return element(v, v->offset + i * v->strides[0]);
  return careful(m, pc, v, &i);
}

static inline char *at_2(machine *m, const tvms_interp_insn *pc, const uint32_t *list,
                         const tvms_interp_view *v, const tvms_scalar *r) {
  int64_t i[] = {r[list[0]].i, r[list[1]].i};
  if (v->whole && is_below(i[0], v->shape[0]) && is_below(i[1], v->shape[1]))
    return element(v, v->offset + i[0] * v->strides[0] + i[1] * v->strides[1]);
  return careful(m, pc, v, i);
}

static inline char *at_3(machine *m, const tvms_interp_insn *pc, const uint32_t *list,
                         const tvms_interp_view *v, const tvms_scalar *r) {
  int64_t i[] = {r[list[0]].i, r[list[1]].i, r[list[2]].i};
  bool good = v->whole && is_below(i[0], v->shape[0]) && is_below(i[1], v->shape[1])
              && is_below(i[2], v->shape[2]);
  if (good)
    return element(v, v->offset + i[0] * v->strides[0] + i[1] * v->strides[1]
                          + i[2] * v->strides[2]);
  return careful(m, pc, v, i);
}

static char *at_n(machine *m, const tvms_interp_insn *pc, const tvms_interp_view *v,
                  const tvms_scalar *r) {
  enum { FEW = 16 };
  const uint32_t *list = &m->code->lists[pc->b];
  int64_t few[FEW], flat = v->offset;
  int64_t *index =
      v->ndim <= FEW ? few
                     : tvms_arena_array(&m->frame->context->scratch, int64_t, v->ndim);
  bool good = v->whole;
  for (uint32_t i = 0; i < v->ndim; i++) {
    index[i] = r[list[i]].i;
    good = good && is_below(index[i], v->shape[i]);
    if (good) flat += index[i] * v->strides[i];
  }
  return good ? element(v, flat) : careful(m, pc, v, index);
}

// ---- Streams ----

// Does `first` plus slope * span for any of the spans stay in [0, extent)?
static bool is_good(const tvms_interp_stream *s, uint32_t dimension, int64_t first,
                    const int64_t *spans, int64_t extent) {
  int64_t end = s->narrow[dimension] && extent > INT32_MAX ? INT32_MAX : extent;
  int64_t least = first, most = first;
  for (uint32_t k = 0; k < s->levels; k++) {
    int64_t far;
    if (__builtin_mul_overflow(s->level[k].slope[dimension], spans[k], &far))
      return false;
    int64_t *corner = far < 0 ? &least : &most;
    if (__builtin_add_overflow(*corner, far, corner)) return false;
  }
  return least >= 0 && most < end;
}

// The last value less the first of a loop's variable; negative if it has none, or wraps.
static int64_t span_of(const tvms_interp_stream *s, uint32_t k, const tvms_scalar *r) {
  const tvms_interp_level *level = &s->level[k];
  if (k + 1 == s->levels) return r[level->loop + TVMS_LOOP_SPAN].i;
  int64_t span = r[level->extent].i - 1, last;
  bool wraps = __builtin_add_overflow(level->min, span, &last)
               || (level->narrow && last > INT32_MAX);
  return wraps ? -1 : span;
}

// See tvms_interp_stream. Addresses are computed modulo 2^64: an origin is what would stand
// where all variables are 0.
static void open_stream(const machine *m, const tvms_interp_insn *pc, tvms_scalar *r) {
  enum { MOST = 8 };
  const tvms_interp_stream *s = &m->code->streams[pc->a];
  const tvms_interp_view *v = m->frame->views[s->buffer];
  int64_t spans[MOST];
  bool good = v->whole;
  for (uint32_t k = 0; k < s->levels; k++) {
    spans[k] = span_of(s, k, r);
    good = good && spans[k] >= 0;
  }
  uint64_t origin = (uint64_t)v->offset;
  for (uint32_t i = 0; good && i < s->ndim; i++) {
    int64_t first = r[s->index[i]].i;
    good = is_good(s, i, first, spans, v->shape[i]);
    origin += (uint64_t)first * (uint64_t)v->strides[i];
  }
  origin = (uint64_t)(uintptr_t)v->data + origin * v->size;
  for (uint32_t k = 0; k < s->levels; k++) {
    const tvms_interp_level *level = &s->level[k];
    tvms_scalar *slots = &r[k ? s->outer + 2 * (k - 1) : s->slot];
    bool outermost = k + 1 == s->levels;
    uint64_t step = 0;
    for (uint32_t i = 0; i < s->ndim; i++)
      step += (uint64_t)level->slope[i] * (uint64_t)v->strides[i];
    step *= v->size;
    origin -= step * (uint64_t)(outermost ? r[level->var].i : level->min);
    slots[1].i = (int64_t)step;
    if (outermost) slots[0].i = good ? (int64_t)origin : 0;
  }
}

static inline char *stream_element(const tvms_scalar *r, uint32_t stream,
                                   uint32_t var) {
  uint64_t at = (uint64_t)r[stream].i + (uint64_t)r[var].i * (uint64_t)r[stream + 1].i;
  return (char *)(uintptr_t)at;
}

static inline const char *stream_at(const tvms_interp_insn *pc, const tvms_scalar *r) {
  return stream_element(r, pc->a, pc->b);
}

static inline char *to_stream(const tvms_interp_insn *pc, const tvms_scalar *r) {
  return stream_element(r, pc->a, pc->d);
}

#define READ(NAME, type)                                                               \
  static inline type NAME(const char *at) {                                            \
    type value;                                                                        \
    memcpy(&value, at, sizeof value);                                                  \
    return value;                                                                      \
  }
READ(read_f32, float)
READ(read_f64, double)
READ(read_i16, int16_t)
READ(read_i32, int32_t)
READ(read_i64, int64_t)

static inline bool multiply_add(const tvms_interp_insn *pc, const uint32_t *list,
                                const tvms_scalar *r) {
  if (!r[list[0]].i || !r[list[1]].i || !r[list[2]].i || !r[list[3]].i) return false;
  float product = read_f32(stream_element(r, list[2], pc->b))
                  * read_f32(stream_element(r, list[3], pc->b));
  float sum = read_f32(stream_element(r, list[1], pc->b)) + product;
  memcpy(stream_element(r, list[0], pc->b), &sum, sizeof sum);
  return true;
}

// ---- Loops ----

// Gives the variable its first value, if there is one.
static bool begin_loop(machine *m, const tvms_interp_insn *pc, tvms_scalar *r) {
  const uint32_t *list = &m->code->lists[pc->b];
  tvms_scalar *state = &r[pc->a];
  int64_t step = r[list[TVMS_FOR_STEP]].i, extent = r[list[TVMS_FOR_EXTENT]].i;
  int64_t first = r[list[TVMS_FOR_MIN]].i, last;
  if (step <= 0)
    fault(m->frame, TVMS_D_step_not_positive, note_of(m, pc)->node->span,
          (long long)step);
  if (extent <= 0) return false;
  if (pc->n) first = (int32_t)first;
  int64_t rest = step == 1 ? extent - 1 : (extent - 1) / step, span = rest * step;
  bool wraps = __builtin_add_overflow(first, span, &last);
  if (pc->n) wraps = wraps || last > INT32_MAX;
  r[pc->d].i = first;
  state[TVMS_LOOP_REST].i = rest;
  state[TVMS_LOOP_STEP].i = step;
  state[TVMS_LOOP_SPAN].i = wraps ? -1 : span;
  return true;
}

// Where a FOR goes on.
static int32_t way_of(const machine *m, const tvms_interp_insn *pc, bool runs) {
  return (int32_t)m->code->lists[pc->b + (runs ? TVMS_FOR_AHEAD : TVMS_FOR_END)];
}

// ---- All of it ----

#define D          r[pc->d]
#define A          r[pc->a]
#define B          r[pc->b]
#define NODE       (note_of(&m, pc)->node)
#define JUMP_BY(x) (pc += (int32_t)pc->x)

// Addresses of labels are an extension of GCC and Clang.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
void tvms_interp_run_code(tvms_interp_frame *f, const tvms_interp_code *code) {
  static const void *const labels[] = {
#define OP(NAME, ...) &&label_##NAME,
#include "interp/code.def"
  };
  machine m = {.frame = f, .code = code, .depth = f->context->memory.depth};
  tvms_scalar *r = f->vars;
  tvms_interp_view *const *views = f->views;
  const uint32_t *lists = code->lists;
  uint64_t left = next_chunk(&m);
  const tvms_interp_insn *pc = code->insns;
  for (uint32_t i = 0; i < code->constant_count; i++)
    r[code->constants[i].slot] = code->constants[i].value;
  goto *labels[pc->op];
#define OP(NAME, ...)                                                                  \
  label_##NAME : {                                                                     \
    __VA_ARGS__;                                                                       \
  }                                                                                    \
  pc++;                                                                                \
  goto *labels[pc->op];
#include "interp/code.def"
halt:
  f->interp->steps += m.chunk - left;
}
#pragma GCC diagnostic pop
