// Loops: range and its relatives, nests of loops as T.grid.
//
// A nest is one line, `for i, j in T.grid(4, 8):`, as far inwards as each loop is the only
// statement of the one around it, is serial, begins at 0, has neither a step nor annotations, and
// has an extent without variables of the nest: `for j in range(i):` is a loop of its own. A single
// loop is a `range`, unless its kind or its annotations need a name of T.
#include "printer/loop.h"

#include "ir/object.h"
#include "printer/expr.h"
#include "printer/names.h"
#include "printer/object.h"
#include "printer/plan.h"
#include "printer/state.h"
#include "printer/stmt.h"
#include "printer/text.h"

static bool is_plain_step(const tvms_for *loop) {
  return !loop->step || tvms_node_is_int(loop->step, 1);
}

static bool has_annotations(const tvms_for *loop) {
  return tvms_object_map_count(loop->annotations) > 0;
}

// Loop variables of a nest, marked by their owner while the nest is collected.
typedef struct {
  tvms_printer *p;
  tvms_node *const *loops;
  uint32_t count;
} nest;

static bool is_outside(void *self, const tvms_node *var) {
  const nest *n = self;
  for (uint32_t i = 0; i < n->count; i++) {
    if (tvms_as_for(n->loops[i])->var == var) return false;
  }
  return true;
}

// The loops that T.grid merges, from `stmt` inwards.
static void collect_grid(tvms_printer *p, const tvms_node *stmt, tvms_vec_nodes *grid) {
  while (stmt->kind == TVMS_NODE_FOR) {
    const tvms_for *loop = tvms_as_for(stmt);
    nest n = {p, grid->items, grid->len};
    if (loop->for_kind != TVMS_FOR_SERIAL || !tvms_node_is_int(loop->min, 0)
        || has_annotations(loop) || !is_plain_step(loop)
        || !tvms_print_each_var(p, loop->extent, is_outside, &n)) {
      return;
    }
    tvms_vec_push(p->memory, grid, (tvms_node *)(uintptr_t)stmt);
    stmt = tvms_print_only(p, loop->body);
  }
}

static void define_loop(tvms_printer *p, const tvms_node *stmt, uint32_t frame) {
  const tvms_for *loop = tvms_as_for(stmt);
  tvms_print_sym(p, tvms_print_define(p, loop->var, frame));
  print_name *name = tvms_print_name_of(p, loop->var);
  if (name->how == NAMED_TEXT) name->owner = stmt;
}

static const char *callee_of(const tvms_for *loop) {
  switch ((tvms_for_kind)loop->for_kind) {
  case TVMS_FOR_PARALLEL: return "parallel";
  case TVMS_FOR_VECTORIZED: return "vectorized";
  case TVMS_FOR_UNROLLED: return "unroll";
  case TVMS_FOR_THREAD_BINDING: return "thread_binding";
  case TVMS_FOR_SERIAL: break;
  }
  return has_annotations(loop) ? "serial" : NULL;
}

static void print_loop_annotations(tvms_printer *p, const tvms_for *loop) {
  const tvms_object_map *map = tvms_as_object_map(loop->annotations);
  const char *only =
      map->keys.len == 1 ? tvms_object_as_text(map->keys.items[0]) : NULL;
  bool modern = tvms_release_has(p->dialect, TVMS_FACT_loops_take_unroll) && only;
  if (modern && strcmp(only, "disable_unroll") == 0) {
    PUT(p, ", unroll=False");
  } else if (modern && strcmp(only, "pragma_unroll") == 0) {
    PUT(p, ", unroll=");
    if (tvms_release_has(p->dialect, TVMS_FACT_unroll_takes_number))
      tvms_print_object(p, map->values.items[0]);
    else
      PUT(p, "True");
  } else {
    PUT(p, ", annotations=");
    tvms_print_object(p, loop->annotations);
  }
}

static void check_dtype(tvms_printer *p, const tvms_for *loop) {
  if (tvms_release_has(p->dialect, TVMS_FACT_bools_are_uint1)
      || !tvms_dtype_is_bool(loop->var->dtype))
    return;
  tvms_print_cannot(p, &loop->head, "a loop whose variable is a bool");
}

static void print_iteration(tvms_printer *p, const tvms_for *loop) {
  check_dtype(p, loop);
  const char *callee = callee_of(loop);
  if (callee)
    tvms_print_t(p, callee);
  else
    PUT(p, "range");
  PUT(p, "(");
  bool stepped = !is_plain_step(loop);
  if (stepped && !tvms_release_has(p->dialect, TVMS_FACT_loops_have_step)) {
    tvms_print_cannot(p, loop->step, "the step of a loop");
  }
  if (stepped || !tvms_node_is_int(loop->min, 0)) {
    tvms_print_any(p, loop->min);
    PUT(p, ", ");
    tvms_mark mark = tvms_arena_mark(&p->scratch.arena);
    tvms_print_any(p, tvms_print_fold(p, TVMS_NODE_ADD, loop->min, loop->extent));
    tvms_arena_reset(&p->scratch.arena, mark);
  } else {
    tvms_print_any(p, loop->extent);
  }
  if (loop->thread && loop->for_kind == TVMS_FOR_THREAD_BINDING) {
    PUT(p, ", thread=\"");
    tvms_print_sym(p, tvms_as_iter_var(loop->thread)->thread_tag);
    PUT(p, "\"");
  }
  if (has_annotations(loop)) print_loop_annotations(p, loop);
  if (stepped) {
    tvms_print_put(p, callee ? ", step=" : ", ");
    tvms_print_any(p, loop->step);
  }
  PUT(p, ")");
}

void tvms_print_for(tvms_printer *p, const tvms_node *stmt) {
  tvms_vec_nodes grid = {0};
  collect_grid(p, stmt, &grid);
  PUT(p, "for ");
  uint32_t frame = tvms_print_push(p, FRAME_TIR, stmt);
  // What TVM defines in the loop stands in its body, which begins on the next line.
  uint32_t first_late = p->lates.len;
  tvms_print_top(p)->at = PRINT_PENDING;
  tvms_print_top(p)->indent = p->indent + 1;
  const tvms_node *body = tvms_as_for(stmt)->body;
  if (grid.len > 1) {
    for (uint32_t i = 0; i < grid.len; i++) {
      check_dtype(p, tvms_as_for(grid.items[i]));
      if (i) PUT(p, ", ");
      define_loop(p, grid.items[i], frame);
    }
    PUT(p, " in ");
    tvms_print_t(p, "grid");
    PUT(p, "(");
    for (uint32_t i = 0; i < grid.len; i++) {
      if (i) PUT(p, ", ");
      tvms_print_any(p, tvms_as_for(grid.items[i])->extent);
    }
    PUT(p, ")");
    body = tvms_as_for(grid.items[grid.len - 1])->body;
  } else {
    define_loop(p, stmt, frame);
    PUT(p, " in ");
    print_iteration(p, tvms_as_for(stmt));
  }
  PUT(p, ":");
  tvms_print_end(p);
  tvms_vec_fini(p->memory, &grid);
  tvms_print_settle(p, first_late);
  tvms_print_top(p)->at = p->main.len;
  p->indent++;
  tvms_print_body(p, body);
  p->indent--;
  tvms_print_pop(p);
}
