// Splitting loops into the digits that blocks and stores take from their variables.
#include "passes/tir/cpu/digit_loops.h"

#include "arith/analyzer.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

enum { MOST_DIGITS = 8 };

// The variable of a loop, and where its digits begin: numbers of steps, in any order, 1 and that of all steps not among them.
typedef struct {
  tvms_memory *memory;
  const tvms_node *var;
  int64_t extent;
  int64_t cuts[MOST_DIGITS];
  uint32_t count;
  bool fits;
} digits;

static bool is_quotient(const tvms_node *node) {
  return node->kind == TVMS_NODE_FLOOR_DIV || node->kind == TVMS_NODE_DIV;
}

static bool is_remainder(const tvms_node *node) {
  return node->kind == TVMS_NODE_FLOOR_MOD || node->kind == TVMS_NODE_MOD;
}

// How many steps of the variable a step of the expression is, which is a digit of it or all that is above one; 0: it is something else.
static int64_t step_of(const digits *d, const tvms_node *node) {
  if (node == d->var) return 1;
  if (!is_quotient(node) && !is_remainder(node)) return 0;
  int64_t step = step_of(d, tvms_as_binary(node)->a);
  int64_t by = tvms_cpu_number(tvms_as_binary(node)->b);
  if (!step || by < 1) return 0;
  if (is_remainder(node)) return step;
  return __builtin_mul_overflow(step, by, &step) ? 0 : step;
}

static void add_cut(digits *d, int64_t cut) {
  for (uint32_t i = 0; i < d->count; i++)
    if (d->cuts[i] == cut) return;
  if (cut == 1 || cut >= d->extent) return;
  d->fits &= d->count < MOST_DIGITS;
  if (d->fits) d->cuts[d->count++] = cut;
}

static tvms_walk_step note_digit(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  digits *d = self;
  if (!is_quotient(node) && !is_remainder(node)) return TVMS_WALK_ON;
  int64_t step = step_of(d, tvms_as_binary(node)->a), cut;
  int64_t by = tvms_cpu_number(tvms_as_binary(node)->b);
  if (step && by > 0 && !__builtin_mul_overflow(step, by, &cut)) add_cut(d, cut);
  return TVMS_WALK_ON;
}

static void note_digits(digits *d, tvms_list exprs) {
  tvms_visitor visitor = {.self = d, .enter = note_digit};
  for (uint32_t i = 0; i < exprs.len; i++)
    tvms_walk(d->memory, exprs.items[i], &visitor);
}

// What loads compute from a variable does not count: it goes through memory as it is written.
static tvms_walk_step note_place(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  digits *d = self;
  if (node->kind == TVMS_NODE_BLOCK_REALIZE)
    note_digits(d, tvms_as_block_realize(node)->iter_values);
  if (node->kind == TVMS_NODE_STORE) note_digits(d, tvms_as_store(node)->indices);
  return tvms_node_class_of(node) == TVMS_CLASS_STMT ? TVMS_WALK_ON : TVMS_WALK_SKIP;
}

// The least one first. Does each digit have all its values?
static bool sort_cuts(digits *d) {
  for (uint32_t i = 1; i < d->count; i++) {
    for (uint32_t k = i; k > 0 && d->cuts[k] < d->cuts[k - 1]; k--) {
      int64_t cut = d->cuts[k];
      d->cuts[k] = d->cuts[k - 1];
      d->cuts[k - 1] = cut;
    }
  }
  for (uint32_t i = 0; i < d->count; i++) {
    int64_t next = i + 1 < d->count ? d->cuts[i + 1] : d->extent;
    if (next % d->cuts[i]) return false;
  }
  return d->fits && d->count > 0;
}

static tvms_node *simplify(tvms_rewriter *r, tvms_node *node) {
  return node == r->old ? node : tvms_analyzer_simplify(r->self, node);
}

// The loop as one for each digit, the highest one outermost.
static tvms_node *write(tvms_unit *unit, const digits *d, const tvms_for *loop) {
  tvms_node *vars[MOST_DIGITS + 1], *extents[MOST_DIGITS + 1], *all = NULL;
  const tvms_node *like = loop->var;
  tvms_analyzer *analyzer = tvms_analyzer_new(unit);
  for (uint32_t i = d->count + 1; i-- > 0;) {
    int64_t step = i ? d->cuts[i - 1] : 1;
    int64_t next = i < d->count ? d->cuts[i] : d->extent;
    vars[i] = tvms_var_new(unit, tvms_as_var(like)->name, like->dtype, TVMS_NO_SPAN);
    extents[i] = tvms_int_imm_new(unit, like->dtype, next / step, TVMS_NO_SPAN);
    tvms_node *zero = tvms_int_imm_new(unit, like->dtype, 0, TVMS_NO_SPAN);
    tvms_analyzer_bind_range(analyzer, vars[i], zero, extents[i]);
    tvms_node *steps = tvms_int_imm_new(unit, like->dtype, step, TVMS_NO_SPAN);
    tvms_node *part =
        tvms_build_binary(unit, TVMS_NODE_MUL, vars[i], steps, TVMS_NO_SPAN);
    all = all ? tvms_build_binary(unit, TVMS_NODE_ADD, all, part, TVMS_NO_SPAN) : part;
  }
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, analyzer);
  tvms_node_map_put(&r.known, loop->var, all);
  r.leave[TVMS_NODE_FLOOR_DIV] = r.leave[TVMS_NODE_FLOOR_MOD] = simplify;
  r.leave[TVMS_NODE_DIV] = r.leave[TVMS_NODE_MOD] = simplify;
  tvms_node *made = tvms_rewrite(&r, loop->body);
  tvms_rewriter_fini(&r);
  tvms_analyzer_free(analyzer);
  for (uint32_t i = 0; i <= d->count; i++)
    made = tvms_cpu_loop(unit, vars[i], extents[i], TVMS_FOR_SERIAL, made);
  return made;
}

static tvms_node *split_loop(tvms_rewriter *r, tvms_node *node) {
  const tvms_for *loop = tvms_as_for(node);
  digits d = {.memory = &r->unit->context->memory,
              .var = loop->var,
              .extent = tvms_cpu_number(loop->extent),
              .fits = true};
  bool plain = loop->for_kind == TVMS_FOR_SERIAL && !loop->annotations && !loop->step
               && tvms_node_is_int(loop->min, 0) && d.extent > 1
               && !tvms_stmt_jumps(d.memory, loop->body);
  if (!plain) return node;
  tvms_visitor visitor = {.self = &d, .enter = note_place};
  tvms_walk(d.memory, loop->body, &visitor);
  if (!sort_cuts(&d)) return node;
  tvms_node *made = write(r->unit, &d, loop);
  made->span = node->span;
  return made;
}

tvms_node *tvms_cpu_split_digits(tvms_unit *unit, tvms_node *stmt) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, NULL);
  r.leave[TVMS_NODE_FOR] = split_loop;
  tvms_node *made = tvms_rewrite(&r, stmt);
  tvms_rewriter_fini(&r);
  return made;
}
