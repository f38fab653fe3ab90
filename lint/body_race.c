// Two iterations of a loop that has no order, and one element between them.
//
// A store is a fault if its value reads an element that another iteration writes: the element
// itself (a sum over the loop) or a neighbour's; and if two iterations write one element, each
// with what it read elsewhere. Two iterations are looked for that are both executed; all other
// loops stay where they are, but for one inside of it, which one of the two may be further on in:
// pieces that overlap meet at their ends.
#include "lint/body_race.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "lint/body_eval.h"
#include "support/diag_ids.h"

#include <string.h>

enum { MOST_RANK = 8 };

// An iteration: of the loop that is looked at, and of one loop inside of it.
typedef struct {
  bool from_end;  // of the loop, `steps` before its last iteration
  int64_t steps;
  int64_t inner_steps;
} point;

typedef struct {
  tvms_lint_body *body;
  const tvms_store *store;
  uint32_t slot, inner;  // the same: no loop inside is moved
  tvms_span read;        // where the value reads what another iteration writes
  bool found;
  bool both_write;      // the same element, with values read at `read`
  point reader, other;  // the one that reads at `read`, and the other
} race;

static void go_to(race *r, point at) {
  tvms_lint_path *path = &r->body->path;
  tvms_lint_path_choose(path, r->slot, at.from_end, at.steps);
  if (r->inner != r->slot) tvms_lint_path_choose(path, r->inner, false, at.inner_steps);
}

typedef struct {
  tvms_lint_value at[MOST_RANK];
} element;

// Memory that the iterations of the loop share: it was there before, and threads see it.
static bool is_shared(const tvms_lint_memory *memory, uint32_t slot,
                      tvms_lint_loop_kind kind) {
  if (memory->local && memory->loops > slot) return false;
  const char *scope = memory->scope;
  bool global = !scope[0] || strcmp(scope, "global") == 0;
  switch (kind) {
  case TVMS_LINT_PARALLEL:
  case TVMS_LINT_VECTOR: return true;
  case TVMS_LINT_BLOCK: return global && !memory->local;
  case TVMS_LINT_THREAD:
    return (global && !memory->local) || strncmp(scope, "shared", 6) == 0;
  case TVMS_LINT_SERIAL:
  case TVMS_LINT_VTHREAD: break;
  }
  return false;
}

// Threads that reduce together: TVM makes a reduction across threads of such a block.
static bool is_cross_thread(const tvms_lint_body *body, uint32_t slot) {
  for (uint32_t i = 0; i < body->blocks.len; i++) {
    const tvms_lint_open_block *open = &body->blocks.items[i];
    const tvms_list axes = open->block->iter_vars, values = open->realize->iter_values;
    for (uint32_t k = 0; k < axes.len && k < values.len; k++) {
      bool reduces =
          tvms_as_iter_var(axes.items[k])->iter_type == TVMS_ITER_COMM_REDUCE;
      uint64_t loops = tvms_lint_path_loops_of(&body->path, values.items[k]);
      if (reduces && loops >> slot & 1) return true;
    }
  }
  return false;
}

static bool read_element(tvms_lint_path *path, tvms_list indices, element *out) {
  for (uint32_t i = 0; i < indices.len; i++) {
    out->at[i] = tvms_lint_path_value(path, indices.items[i]);
    if (!out->at[i].known) return false;
  }
  return true;
}

static bool same_element(const element *a, const element *b, uint32_t rank) {
  for (uint32_t i = 0; i < rank; i++) {
    if (!tvms_lint_same(&a->at[i], &b->at[i])) return false;
  }
  return true;
}

// The load that a node is, or NULL; says how to go on then: values that are chosen may not be loaded.
static tvms_walk_step find_load(tvms_node *node,
                                const tvms_buffer_load *TVMS_NULLABLE *load) {
  bool is_load = node->kind == TVMS_NODE_BUFFER_LOAD;
  *load = is_load ? tvms_as_buffer_load(node) : NULL;
  return tvms_call_opcode(node) == TVMS_TIR_if_then_else
                 || node->kind == TVMS_NODE_SELECT
             ? TVMS_WALK_SKIP
             : TVMS_WALK_ON;
}

// A load of the buffer that is written. `last_lane` and vectors inside of the loop are left
// out before.
static tvms_walk_step see_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  race *r = self;
  tvms_lint_path *path = &r->body->path;
  const tvms_buffer_load *load;
  tvms_walk_step on = find_load(node, &load);
  if (!load) return on;
  uint32_t rank = r->store->indices.len;
  if (load->buffer != r->store->buffer || load->indices.len != rank)
    return TVMS_WALK_ON;
  for (int second_reads = 0; second_reads < 2; second_reads++) {
    element read, written;
    tvms_lint_path_choose(path, r->slot, false, second_reads);
    if (!tvms_lint_path_is_reached(path)) return TVMS_WALK_ON;
    if (!read_element(path, load->indices, &read)) return TVMS_WALK_ON;
    tvms_lint_path_choose(path, r->slot, false, !second_reads);
    if (!tvms_lint_path_is_reached(path)) return TVMS_WALK_ON;
    if (!read_element(path, r->store->indices, &written)) return TVMS_WALK_ON;
    if (!same_element(&read, &written, rank)) continue;
    r->found = true;
    r->read = node->span;
    r->reader = (point){.steps = second_reads};
    r->other = (point){.steps = !second_reads};
    return TVMS_WALK_STOP;
  }
  return TVMS_WALK_ON;
}

// A load at another element in the later iteration, of memory that all iterations see: what
// is read in one of them is not what is read in the other. Memory that an iteration has for
// itself may hold the same in all of them.
static tvms_walk_step see_source(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  race *r = self;
  tvms_lint_path *path = &r->body->path;
  const tvms_buffer_load *load;
  tvms_walk_step on = find_load(node, &load);
  if (!load) return on;
  const tvms_lint_memory *memory = tvms_lint_memory_of(r->body, load->buffer);
  if (!memory || load->indices.len > MOST_RANK) return TVMS_WALK_ON;
  if (!is_shared(memory, r->slot, path->loops.items[r->slot].kind)) return TVMS_WALK_ON;
  element first, later;
  go_to(r, r->other);
  if (!read_element(path, load->indices, &first)) return TVMS_WALK_ON;
  go_to(r, r->reader);
  if (!read_element(path, load->indices, &later)) return TVMS_WALK_ON;
  // An update of the element counts each of the two.
  bool update = r->inner != r->slot && tvms_lint_updates(r->body, r->store);
  if (!update && same_element(&first, &later, load->indices.len)) return TVMS_WALK_ON;
  r->found = r->both_write = true;
  r->read = node->span;
  return TVMS_WALK_STOP;
}

// The element that is written at a point that is executed, or false.
static bool written_at(race *r, point at, element *out) {
  tvms_lint_path *path = &r->body->path;
  go_to(r, at);
  return tvms_lint_path_is_reached(path) && read_element(path, r->store->indices, out);
}

// Do two iterations write the same element?
static void check_writes(race *r, point first, point later) {
  const tvms_store *store = r->store;
  element one, two;
  r->other = first;
  r->reader = later;
  if (!written_at(r, first, &one) || !written_at(r, later, &two)) return;
  if (!same_element(&one, &two, store->indices.len)) return;
  tvms_visitor visitor = {.self = r, .enter = see_source};
  (void)tvms_walk(r->body->memory, store->value, &visitor);
}

// After how many steps of a loop that moves an element from `from` to `step` it is at `to`; 0: never.
static int64_t steps_to(const element *from, const element *step, const element *to,
                        uint32_t rank) {
  for (uint32_t i = 0; i < rank; i++) {
    tvms_lint_value stride = tvms_lint_add(step->at[i], from->at[i], -1);
    tvms_lint_value way = tvms_lint_add(to->at[i], from->at[i], -1);
    if (!tvms_lint_is_constant(&stride) || !tvms_lint_is_constant(&way)) return 0;
    if (stride.constant == 0) continue;
    bool meets = way.constant > INT64_MIN && way.constant % stride.constant == 0
                 && way.constant / stride.constant > 0;
    return meets ? way.constant / stride.constant : 0;
  }
  return 0;
}

// Does one iteration, further on in a loop inside, write what the next one or the one before
// begins with?
static void check_inner(race *r) {
  uint32_t rank = r->store->indices.len;
  const tvms_lint_path *path = &r->body->path;
  for (uint32_t inner = r->slot + 1; inner < path->loops.len; inner++) {
    if (path->loops.items[inner].kind != TVMS_LINT_SERIAL) continue;
    r->inner = inner;
    for (int64_t far = 0; far < 2 && !r->found; far++) {
      element from, step, to;
      point begin = {.steps = far}, next = {.steps = far, .inner_steps = 1};
      point target = {.steps = !far};
      if (!written_at(r, begin, &from) || !written_at(r, next, &step)
          || !written_at(r, target, &to))
        continue;
      point meeting = {.steps = far, .inner_steps = steps_to(&from, &step, &to, rank)};
      if (meeting.inner_steps) check_writes(r, meeting, target);
    }
    if (r->found) return;
    tvms_lint_path_restart(&r->body->path);
  }
  r->inner = r->slot;
}

static const char *const kinds[] = {
    [TVMS_LINT_PARALLEL] = "T.parallel",
    [TVMS_LINT_VECTOR] = "T.vectorized",
    [TVMS_LINT_BLOCK] = "blocks of threads",
    [TVMS_LINT_THREAD] = "threads",
};

static void report(race *r) {
  tvms_lint_body *body = r->body;
  tvms_lint_path *path = &body->path;
  if (!tvms_lint_is_first(body, r->store->head.span)) return;
  const tvms_lint_loop *loop = &path->loops.items[r->slot];
  tvms_diag *diag = tvms_diag_report(
      body->diags, TVMS_D_race, r->store->head.span, tvms_lint_name_of(body, loop->var),
      tvms_lint_name_of(body, r->store->buffer), kinds[loop->kind]);
  uint64_t bits = (uint64_t)1 << r->slot | (uint64_t)1 << r->inner;
  go_to(r, r->reader);
  const char *reader = tvms_lint_path_text(path, bits);
  go_to(r, r->other);
  const char *other = tvms_lint_path_text(path, bits);
  const char *format =
      r->both_write
          ? "the iteration %s writes what it reads here over what the iteration %s wrote"
          : "the iteration %s reads here what the iteration %s writes";
  tvms_diag_note(body->diags, diag, r->read, format, reader, other);
  tvms_diag_remark(
      body->diags, diag, "%s",
      r->both_write
          ? "iterations of this loop run at the same time; give each its own element, "
            "or reduce them by an axis of its own"
          : "iterations of this loop run at the same time; use a serial loop");
}

static void check_slot(race *r) {
  tvms_lint_path *path = &r->body->path;
  r->found = false;
  tvms_lint_path_restart(path);
  if (!tvms_lint_path_is_reached(path)) return;
  tvms_visitor visitor = {.self = r, .enter = see_load};
  if (r->body->store_reads) (void)tvms_walk(r->body->memory, r->store->value, &visitor);
  point first = {0}, second = {.steps = 1}, last = {.from_end = true};
  tvms_lint_path_restart(path);
  if (!r->found) check_writes(r, first, second);
  if (!r->found) check_writes(r, first, last);
  tvms_lint_path_restart(path);
  if (!r->found) check_inner(r);
  if (r->found) report(r);
  tvms_lint_path_restart(path);
}

void tvms_lint_body_race_store(tvms_lint_body *body, const tvms_store *store) {
  tvms_lint_path *path = &body->path;
  if (path->uncertain || path->loops.len > 62 || store->indices.len > MOST_RANK) return;
  // A value that only moves changes nothing when it stays where it is.
  if (store->value->kind == TVMS_NODE_BUFFER_LOAD && tvms_lint_updates(body, store))
    return;
  if (body->blocks.len && body->blocks.items[body->blocks.len - 1].in_init) return;
  const tvms_lint_memory *memory = tvms_lint_memory_of(body, store->buffer);
  // Views are left out: a matched buffer moves with the block.
  if (!memory || memory->buffer != store->buffer) return;
  for (uint32_t slot = 0; slot < path->loops.len; slot++) {
    tvms_lint_loop_kind kind = path->loops.items[slot].kind;
    if (kind == TVMS_LINT_SERIAL || kind == TVMS_LINT_VTHREAD) continue;
    if (!is_shared(memory, slot, kind)) continue;
    if (kind == TVMS_LINT_THREAD && is_cross_thread(body, slot)) continue;
    race r = {.body = body, .store = store, .slot = slot, .inner = slot};
    check_slot(&r);
    if (r.found) return;
  }
}
