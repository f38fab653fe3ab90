// Axes of blocks against what they are bound to and against what the block does with them.
//
// An axis that reduces is one whose iterations meet in an element; a spatial one has elements
// of its own in each. Where both are proved for two iterations of a loop, one of the letters
// is wrong.
#include "lint/body_axes.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "lint/body_eval.h"
#include "support/diag_ids.h"

#include <inttypes.h>
#include <string.h>

// ---- Domain and loops ----

typedef struct {
  const tvms_node *value;
  const tvms_range *domain;
  bool below;
} question;

static tvms_lint_value distance(tvms_lint_path *path, const void *self) {
  const question *q = self;
  tvms_lint_value rest = tvms_lint_add(tvms_lint_path_value(path, q->value),
                                       tvms_lint_path_value(path, q->domain->min), -1);
  if (q->below) return tvms_lint_add(tvms_lint_constant(-1), rest, -1);
  return tvms_lint_add(rest, tvms_lint_path_value(path, q->domain->extent), -1);
}

static void report_beyond(tvms_lint_body *body, const tvms_iter_var *axis,
                          const question *q, uint64_t loops) {
  if (!tvms_lint_is_first(body, axis->head.span)) return;
  tvms_lint_path *path = &body->path;
  tvms_lint_value value = tvms_lint_path_value(path, q->value);
  tvms_lint_value end = tvms_lint_add(tvms_lint_path_value(path, q->domain->min),
                                      tvms_lint_path_value(path, q->domain->extent), 1);
  tvms_diag *diag =
      tvms_diag_report(body->diags, TVMS_D_axis_out_of_range, axis->head.span,
                       tvms_lint_name_of(body, axis->var),
                       tvms_lint_text_of(body, value), tvms_lint_text_of(body, end));
  const char *text = tvms_lint_path_text(path, loops);
  if (text[0]) tvms_diag_remark(body->diags, diag, "that is so with %s", text);
}

static void check_beyond(tvms_lint_body *body, const tvms_iter_var *axis,
                         const tvms_node *value, bool below) {
  tvms_lint_path *path = &body->path;
  question q = {value, tvms_as_range(axis->dom), below};
  tvms_lint_range range = tvms_lint_path_range(path, value);
  tvms_lint_range min = tvms_lint_path_range(path, q.domain->min);
  tvms_lint_range extent = tvms_lint_path_range(path, q.domain->extent);
  bool constant = min.min == min.max && extent.min == extent.max;
  if (below ? min.max != INT64_MAX && range.min >= min.max
            : constant && range.max != INT64_MAX && range.max - min.min < extent.min)
    return;
  if (!below && tvms_node_is_int(q.domain->min, 0)
      && tvms_lint_path_is_below(path, value, q.domain->extent))
    return;
  if (constant && !below
      && tvms_lint_path_is_guarded(path, value, min.min + extent.min))
    return;
  uint64_t loops = tvms_lint_path_loops_of(path, value);
  uint64_t domain = tvms_lint_path_loops_of(path, q.domain->min)
                    | tvms_lint_path_loops_of(path, q.domain->extent);
  if (tvms_lint_search(path, loops | domain, tvms_lint_path_is_jagged(path, value),
                       distance, &q))
    report_beyond(body, axis, &q, loops);
}

// Is the value made of loop variables as a split makes it: io * 8 + ii?
static bool is_split(const tvms_node *value) {
  switch ((int)value->kind) {
  case TVMS_NODE_VAR: return true;
  case TVMS_NODE_ADD:
    return is_split(tvms_as_binary(value)->a) && is_split(tvms_as_binary(value)->b);
  case TVMS_NODE_MUL:
    return is_split(tvms_as_binary(value)->a)
           && tvms_node_is_int_imm(tvms_as_binary(value)->b);
  default: return false;
  }
}

// Values that the axis never has. Part of a domain may be done elsewhere, so what is found is
// judged at the end of the function.
static void check_short(tvms_lint_body *body, const tvms_block *block,
                        const tvms_iter_var *axis, const tvms_node *value) {
  const tvms_range *domain = tvms_as_range(axis->dom);
  tvms_lint_range range = tvms_lint_path_range(&body->path, value);
  tvms_lint_range min = tvms_lint_path_range(&body->path, domain->min);
  tvms_lint_range extent = tvms_lint_path_range(&body->path, domain->extent);
  if (min.min != min.max || extent.min != extent.max || range.max == INT64_MAX) return;
  if (range.min != min.min || !is_split(value)) return;
  if (range.max - min.min >= extent.min - 1) return;
  tvms_lint_path_restart(&body->path);
  if (!tvms_lint_path_is_reached(&body->path)) return;
  tvms_lint_short_axis found = {axis, block, range};
  tvms_vec_push(body->memory, &body->short_axes, found);
}

void tvms_lint_body_axes_block(tvms_lint_body *body,
                               const tvms_block_realize *realize) {
  const tvms_block *block = tvms_as_block(realize->block);
  if (body->path.uncertain) return;
  for (uint32_t i = 0; i < block->iter_vars.len && i < realize->iter_values.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    if (!axis->dom) continue;
    check_beyond(body, axis, realize->iter_values.items[i], true);
    check_beyond(body, axis, realize->iter_values.items[i], false);
    check_short(body, block, axis, realize->iter_values.items[i]);
  }
}

// Is the block the only one that writes what it writes, to the end of the function?
static bool writes_alone(tvms_lint_body *body, const tvms_block *block) {
  for (uint32_t i = 0; i < block->writes.len; i++) {
    const tvms_node *buffer = tvms_as_buffer_region(block->writes.items[i])->buffer;
    const tvms_lint_memory *memory = tvms_lint_memory_of(body, buffer);
    if (!memory || memory->unknown || memory->many_writers || memory->local
        || memory->writer != block)
      return false;
  }
  return block->writes.len > 0;
}

static void report_short_axes(tvms_lint_body *body) {
  for (uint32_t i = 0; i < body->short_axes.len; i++) {
    const tvms_lint_short_axis *found = &body->short_axes.items[i];
    const tvms_iter_var *axis = found->axis;
    if (!writes_alone(body, found->block)) continue;
    if (!tvms_lint_is_first(body, axis->head.span)) continue;
    const tvms_range *domain = tvms_as_range(axis->dom);
    int64_t end = tvms_lint_path_range(&body->path, domain->min).max
                  + tvms_lint_path_range(&body->path, domain->extent).max;
    tvms_diag *diag =
        tvms_diag_report(body->diags, TVMS_D_axis_not_covered, axis->head.span,
                         tvms_lint_name_of(body, axis->var), (long long)end,
                         (long long)(found->range.max + 1));
    tvms_diag_remark(body->diags, diag, "it is never %" PRId64, found->range.max + 1);
  }
}

// ---- Kind ----

// A store in a block, and one of its axes.
typedef struct {
  tvms_lint_body *body;
  const tvms_lint_open_block *open;
  const tvms_store *store;
  const tvms_iter_var *axis;
  const tvms_node *value;  // of the axis
} use;

enum { MOST_RANK = 8, MOST_KINDS = 64 };

typedef struct {
  tvms_lint_value at[MOST_RANK];
  tvms_lint_value axis;
} point;

static bool read_point(const use *u, point *p) {
  tvms_lint_path *path = &u->body->path;
  if (!tvms_lint_path_is_reached(path)) return false;
  p->axis = tvms_lint_path_value(path, u->axis->var);
  for (uint32_t i = 0; i < u->store->indices.len; i++) {
    p->at[i] = tvms_lint_path_value(path, u->store->indices.items[i]);
    if (!p->at[i].known) return false;
  }
  return p->axis.known;
}

static bool same_element(const use *u, const point *a, const point *b) {
  for (uint32_t i = 0; i < u->store->indices.len; i++) {
    if (!tvms_lint_same(&a->at[i], &b->at[i])) return false;
  }
  return true;
}

// Sizes of 1, for which the first element is the last one, do not count.
static bool other_element(const use *u, const point *a, const point *b) {
  for (uint32_t i = 0; i < u->store->indices.len; i++) {
    if (tvms_lint_same(&a->at[i], &b->at[i])) continue;
    tvms_lint_value d = tvms_lint_add(a->at[i], b->at[i], -1);
    if (tvms_lint_at_least(&d, 0) || tvms_lint_at_most(&d, 0)) return true;
  }
  return false;
}

// Do the other axes of a kind not move with loop `slot`?
static bool moves_alone(const use *u, uint32_t slot) {
  const tvms_block_realize *realize = u->open->realize;
  for (uint32_t i = 0; i < realize->iter_values.len; i++) {
    const tvms_node *value = realize->iter_values.items[i];
    if (value == u->value) continue;
    if (tvms_lint_path_loops_of(&u->body->path, value) >> slot & 1) return false;
  }
  return true;
}

// The letter of the axis in T.axis.remap("SR", …), or its kind in T.axis.spatial(…).
static void offer_kind(tvms_lint_body *body, const tvms_lint_kind *found,
                       tvms_diag *diag, bool reduce) {
  const tvms_source *source = body->diags->source;
  tvms_span span = found->axis->head.span;
  if (!source || span.end > source->size || span.end <= span.begin) return;
  const char *text = source->text + span.begin, *end = source->text + span.end;
  static const char remap[] = "T.axis.remap(", spatial[] = "T.axis.spatial(",
                    reduces[] = "T.axis.reduce(";
  size_t size = (size_t)(end - text);
  uint32_t place = 0;
  for (uint32_t i = 0; i < found->block->iter_vars.len; i++) {
    const tvms_iter_var *other = tvms_as_iter_var(found->block->iter_vars.items[i]);
    if (other == found->axis) break;
    place += other->head.span.begin == span.begin;
  }
  if (size > sizeof remap + place && strncmp(text, remap, sizeof remap - 1) == 0) {
    uint32_t at = span.begin + (uint32_t)sizeof remap + place;
    if (source->text[at] != (reduce ? 'S' : 'R')) return;
    tvms_diag_fix(body->diags, diag, (tvms_span){at, at + 1}, false, "%s",
                  reduce ? "R" : "S");
    return;
  }
  const char *old = reduce ? spatial : reduces;
  if (size < strlen(old) || strncmp(text, old, strlen(old)) != 0) return;
  uint32_t begin = span.begin + 7;  // behind "T.axis."
  tvms_diag_fix(body->diags, diag,
                (tvms_span){begin, span.begin + (uint32_t)strlen(old) - 1}, false, "%s",
                reduce ? "reduce" : "spatial");
}

// What was found is kept to the end: memory that is set anew in each iteration of the loop is
// a scratch, whatever the axis is.
static void keep_kind(const use *u, const char *first, const char *second) {
  tvms_lint_body *body = u->body;
  for (uint32_t i = 0; i < body->kinds.len; i++) {
    if (body->kinds.items[i].axis == u->axis) return;
  }
  tvms_lint_kind found = {u->open->block, u->axis, u->store, first, second};
  if (body->kinds.len < MOST_KINDS) tvms_vec_push(body->memory, &body->kinds, found);
}

static void report_kind(tvms_lint_body *body, const tvms_lint_kind *found) {
  bool reduce = found->axis->iter_type == TVMS_ITER_DATA_PAR;
  const tvms_node *buffer = found->store->buffer;
  const tvms_lint_memory *memory = tvms_lint_memory_of(body, buffer);
  if (reduce && memory->local && memory->many_writers) return;
  if (!tvms_lint_is_first(body, found->axis->head.span)) return;
  tvms_diag *diag = tvms_diag_report(
      body->diags, reduce ? TVMS_D_spatial_axis_reduces : TVMS_D_reduce_axis_is_spatial,
      found->axis->head.span, tvms_lint_name_of(body, found->axis->var));
  tvms_diag_note(body->diags, diag, found->store->head.span,
                 "with %s and with %s %s element of '%s' is written", found->first,
                 found->second, reduce ? "the same" : "another",
                 tvms_lint_name_of(body, buffer));
  offer_kind(body, found, diag, reduce);
}

// Two iterations of a loop that moves the axis and no other one.
static void check_slot(const use *u, uint32_t slot, bool spatial) {
  tvms_lint_path *path = &u->body->path;
  point a, b;
  tvms_lint_path_restart(path);
  if (!read_point(u, &a)) return;
  const char *first = NULL;
  uint64_t bit = (uint64_t)1 << slot;
  tvms_lint_value at_first = tvms_lint_path_value(path, path->loops.items[slot].var);
  tvms_lint_path_choose(path, slot, false, 1);
  if (!read_point(u, &b)) {
    tvms_lint_path_choose(path, slot, true, 0);
    if (!read_point(u, &b)) return;
  }
  tvms_lint_value at_second = tvms_lint_path_value(path, path->loops.items[slot].var);
  if (tvms_lint_same(&at_first, &at_second) || tvms_lint_same(&a.axis, &b.axis)) return;
  bool found = spatial ? same_element(u, &a, &b) : other_element(u, &a, &b);
  if (!found) return;
  const char *second = tvms_lint_path_text(path, bit);
  tvms_lint_path_restart(path);
  first = tvms_lint_path_text(path, bit);
  keep_kind(u, first, second);
}

static tvms_walk_step find_node(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  return node == *(tvms_node *const *)self ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// An axis in no index can move no element, one in an index moves it most likely.
static bool stands_in(const use *u) {
  for (uint32_t i = 0; i < u->store->indices.len; i++) {
    const tvms_node *index = u->store->indices.items[i];
    tvms_node *var = u->axis->var;
    tvms_visitor visitor = {.self = &var, .enter = find_node};
    if (index == var
        || !tvms_walk(u->body->memory, (tvms_node *)(uintptr_t)index, &visitor))
      return true;
  }
  return false;
}

static void check_axis(const use *u) {
  bool spatial = u->axis->iter_type == TVMS_ITER_DATA_PAR;
  if (!spatial && u->axis->iter_type != TVMS_ITER_COMM_REDUCE) return;
  if (spatial != u->body->store_reads) return;
  if (stands_in(u) == spatial) return;
  if (spatial && !tvms_lint_updates(u->body, u->store)) return;
  uint64_t loops = tvms_lint_path_loops_of(&u->body->path, u->value);
  for (uint32_t slot = 0; slot < u->body->path.loops.len && slot < 62; slot++) {
    if (loops >> slot & 1 && moves_alone(u, slot)) check_slot(u, slot, spatial);
  }
  tvms_lint_path_restart(&u->body->path);
}

void tvms_lint_body_axes_store(tvms_lint_body *body, const tvms_store *store) {
  if (!body->blocks.len || body->path.uncertain || store->indices.len > MOST_RANK)
    return;
  const tvms_lint_open_block *open = &body->blocks.items[body->blocks.len - 1];
  const tvms_lint_memory *memory = tvms_lint_memory_of(body, store->buffer);
  if (open->in_init || !memory || memory >= body->memories.items + open->memories)
    return;
  // Views are left out: a matched buffer moves with the axes.
  if (memory->buffer != store->buffer) return;
  const tvms_block *block = open->block;
  for (uint32_t i = 0; i < block->iter_vars.len && i < open->realize->iter_values.len;
       i++) {
    use u = {.body = body, .open = open, .store = store};
    u.axis = tvms_as_iter_var(block->iter_vars.items[i]);
    u.value = open->realize->iter_values.items[i];
    check_axis(&u);
  }
}

void tvms_lint_body_axes_end(tvms_lint_body *body) {
  report_short_axes(body);
  for (uint32_t i = 0; i < body->kinds.len; i++)
    report_kind(body, &body->kinds.items[i]);
}
