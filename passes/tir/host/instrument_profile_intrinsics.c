// InstrumentProfileIntrinsics: calls of a profiler stand around functions and loops.
//
// Before: for i in range(8): for j in range(16): …
// After:  T.start_profile_intrinsic(0)
//         for i in range(8): …            {lwp_max_depth=0,instr_siblings=false}: around this loop
//         T.end_profile_intrinsic(0)      T.start_profile_intrinsic(1) and its end, too
//
// Every function and every loop has a number, in the order of the text. Of the loops, those with
// siblings are taken, or, with instr_siblings=false, those at most lwp_max_depth loops deep; never
// loops inside of a parallel one, and none with fewer than lwp_min_height loops inside. Loops are
// looked for in sequences, branches and attributes; a loop behind a block inside of a loop is
// not found. TVM goes on counting where the last run of a process ended unless s_tir.reset_start_id
// is set; here numbers begin at 0. TVM: s_tir.transform.InstrumentProfileIntrinsics.
#include "ir/build.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/functions.h"

typedef struct {
  uint32_t id;
  int64_t depth;   // loops around
  int64_t height;  // most loops inside each other in it
  bool siblings;   // stands in a sequence with other loops
  bool parallel;   // inside of a parallel loop
} loop_info;

typedef struct {
  uint32_t next;  // the next number
  tvms_unit *unit;
  tvms_node_map loops;  // FOR -> loop_info
  int64_t max_depth;
  int64_t min_height;
  bool of_siblings;
  bool skips_functions;
} profiler;

// ---- What is known of loops ----

// Where loops are looked for: how deep, and inside of a parallel loop?
typedef struct {
  int64_t depth;
  bool parallel;
} position;

static int64_t measure(profiler *p, const tvms_node *stmt, position at);

static loop_info *number(profiler *p, const tvms_node *loop) {
  loop_info *info = tvms_arena_new(&p->unit->arena, loop_info);
  *info = (loop_info){.id = p->next++};
  tvms_node_map_put(&p->loops, loop, (tvms_node *)(void *)info);
  return info;
}

// A loop below `at`; returns its height.
static int64_t measure_loop(profiler *p, const tvms_node *node, position at) {
  const tvms_for *loop = tvms_as_for(node);
  loop_info *info = number(p, node);
  info->depth = at.depth + 1;
  info->parallel = at.parallel;
  bool parallel = at.parallel || loop->for_kind == TVMS_FOR_PARALLEL;
  tvms_memory *memory = &p->unit->context->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  info->height = measure(p, loop->body, (position){info->depth, parallel});
  tvms_memory_leave(memory);
  return info->height;
}

static bool goes_on_below(const tvms_node *stmt, tvms_dialect dialect) {
  bool bound = stmt->kind == TVMS_NODE_BIND || stmt->kind == TVMS_NODE_ALLOCATE;
  return stmt->kind == TVMS_NODE_ATTR_STMT
         || (bound && tvms_stmt_holds_body(stmt, dialect));
}

// The statements from `from` on. What holds them in TVM is looked through only where it
// comes first: behind other statements it is one of them, and no loop.
static int64_t measure_rest(profiler *p, const tvms_seq *seq, uint32_t from,
                            position at) {
  tvms_dialect dialect = p->unit->dialect;
  uint32_t count = seq->stmts.len - from;
  const tvms_node *first = seq->stmts.items[from];
  if (count > 1 && tvms_stmt_holds_body(first, dialect))
    return goes_on_below(first, dialect) ? measure_rest(p, seq, from + 1, at) : 0;
  if (count == 1) return measure(p, first, at);
  int64_t height = 0;
  uint32_t loops = 0;
  loop_info *last = NULL;
  for (uint32_t i = from; i < seq->stmts.len; i++) {
    const tvms_node *stmt = seq->stmts.items[i];
    if (tvms_stmt_holds_body(stmt, dialect)) break;
    if (stmt->kind != TVMS_NODE_FOR) continue;
    int64_t inner = measure_loop(p, stmt, at);
    if (inner > height) height = inner;
    if (last) last->siblings = true;
    last = (loop_info *)(void *)tvms_node_map_get(&p->loops, stmt);
    last->siblings = loops++ > 0;
  }
  return loops ? height + 1 : height;
}

// Most loops inside each other in `stmt`.
static int64_t measure(profiler *p, const tvms_node *stmt, position at) {
  if (stmt->kind == TVMS_NODE_SEQ) return measure_rest(p, tvms_as_seq(stmt), 0, at);
  if (stmt->kind == TVMS_NODE_FOR) return measure_loop(p, stmt, at) + 1;
  if (stmt->kind != TVMS_NODE_IF_THEN_ELSE) return 0;
  tvms_memory *memory = &p->unit->context->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  const tvms_if_then_else *branch = tvms_as_if_then_else(stmt);
  int64_t height = measure(p, branch->then_case, at);
  int64_t other = branch->else_case ? measure(p, branch->else_case, at) : 0;
  tvms_memory_leave(memory);
  return other > height ? other : height;
}

// An outermost loop. That it is parallel does not count for those inside.
static tvms_walk_step find_outermost(void *self, tvms_node *node,
                                     tvms_field_role role) {
  profiler *p = self;
  (void)role;
  if (node->kind != TVMS_NODE_FOR) return TVMS_WALK_ON;
  loop_info *info = number(p, node);
  info->height = measure(p, tvms_as_for(node)->body, (position){0, false});
  return TVMS_WALK_SKIP;
}

// ---- Calls of the profiler ----

static tvms_node *call(tvms_unit *unit, tvms_tir_opcode opcode, uint32_t id) {
  tvms_node *number = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), id, TVMS_NO_SPAN);
  bool typed = tvms_release_has(unit->dialect, TVMS_FACT_expressions_have_types);
  tvms_dtype dtype = typed ? (tvms_dtype){0} : TVMS_DTYPE(HANDLE, 64);
  return tvms_evaluate_new(
      unit, tvms_call_new_of(unit, dtype, opcode, &number, 1, TVMS_NO_SPAN),
      TVMS_NO_SPAN);
}

static tvms_node *surround(tvms_unit *unit, uint32_t id, tvms_node *stmt) {
  tvms_memory *memory = &unit->context->memory;
  tvms_node_vec stmts = {0};
  tvms_vec_push(memory, &stmts, call(unit, TVMS_TIR_start_profile_intrinsic, id));
  tvms_stmt_push(unit, &stmts, stmt);
  tvms_vec_push(memory, &stmts, call(unit, TVMS_TIR_end_profile_intrinsic, id));
  return tvms_stmt_seq(unit, &stmts, stmt->span);
}

static bool is_profiled(const profiler *p, const loop_info *info) {
  if (info->parallel || info->height < p->min_height) return false;
  return p->of_siblings ? info->siblings : info->depth <= p->max_depth;
}

static tvms_node *profile_loop(tvms_rewriter *r, tvms_node *node) {
  const profiler *p = r->self;
  const loop_info *info =
      (const loop_info *)(void *)tvms_node_map_get(&p->loops, r->old);
  return info && is_profiled(p, info) ? surround(r->unit, info->id, node) : node;
}

static tvms_node *profile(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  profiler *p = run->state;
  tvms_memory *memory = &unit->context->memory;
  p->unit = unit;
  uint32_t id = p->next++;
  tvms_node_map_init(&p->loops, memory);
  tvms_node *body = tvms_as_prim_func(function)->body;
  tvms_visitor visitor = {.self = p, .enter = find_outermost};
  tvms_walk(memory, body, &visitor);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, p);
  r.leave[TVMS_NODE_FOR] = profile_loop;
  tvms_node *changed = tvms_rewrite(&r, body);
  tvms_rewriter_fini(&r);
  tvms_node_map_fini(&p->loops);
  if (!p->skips_functions) changed = surround(unit, id, changed);
  if (changed == body) return function;
  tvms_node *copy = tvms_node_copy(unit, function);
  tvms_as_prim_func(copy)->body = changed;
  return copy;
}

#define OPTION_OF(run, option) TVMS_OPTION(run, InstrumentProfileIntrinsics, option)

void tvms_pass_instrument_profile_intrinsics(tvms_pass_run *run) {
  profiler p = {
      .max_depth = OPTION_OF(run, lwp_max_depth).number,
      .min_height = OPTION_OF(run, lwp_min_height).number,
      .of_siblings = OPTION_OF(run, instr_siblings).number,
      .skips_functions = OPTION_OF(run, lwp_disable_func_prof).number,
  };
  run->state = &p;
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, profile);
}
