// Sums along the columns of large tensors, several rows at a time.
#include "passes/tir/cpu/wide_columns.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

enum {
  ROWS = 8,     // together
  VECTORS = 4,  // side by side
  NONE = TVMS_MOST_STAGE_AXES,
};

typedef struct {
  tvms_unit *unit;
  const tvms_line_member *member;
  const tvms_node *like;  // has the dtype of indices
  uint32_t line, rows;  // axes: the columns, and what is summed over inside of all else
  int64_t lanes, columns, group;
  tvms_node *sums, *begin,
      *row;  // the first column of a group; the first row of several
} columns;

// ---- Which sums ----

typedef struct {
  columns *c;
  int64_t bytes;  // between rows, the most of all loads
  uint32_t bits;  // of the widest element
  bool fits;
} load_check;

static tvms_walk_step check_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  load_check *l = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (tvms_node_class_of(node) == TVMS_CLASS_EXPR && node->dtype.bits > l->bits)
    l->bits = node->dtype.bits;
  // What is chosen may not be there to be loaded.
  if (tvms_call_opcode(node) == TVMS_TIR_if_then_else) l->fits = false;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  const tvms_stage *stage = &l->c->member->stage;
  int64_t step, down;
  bool known = tvms_cpu_step_of(l->c->unit, load->buffer, load->indices,
                                stage->axes[l->c->line].var, &step)
               && tvms_cpu_step_of(l->c->unit, load->buffer, load->indices,
                                   stage->axes[l->c->rows].var, &down);
  l->fits &= known && (step == 0 || step == 1);
  if (known && step == 1 && down * node->dtype.bits / 8 > l->bytes)
    l->bytes = down * node->dtype.bits / 8;
  return TVMS_WALK_SKIP;
}

// The axis that is stored along, and the innermost one that is summed over.
static bool find_axes(columns *c) {
  const tvms_stage *stage = &c->member->stage;
  const tvms_store *store = stage->store;
  c->line = c->rows = NONE;
  for (uint32_t i = 0; i < stage->count; i++) {
    int64_t step;
    if (stage->axes[i].sums) {
      c->rows = i;
      continue;
    }
    if (!tvms_cpu_step_of(c->unit, store->buffer, store->indices, stage->axes[i].var,
                          &step))
      return false;
    if (step == 1) c->line = i;
  }
  return c->line != NONE && c->rows != NONE;
}

// Is what is read, in rows that are so many bytes apart, more than the last cache has, or more than the second one and rows share their
// places in the first?
static bool is_large(const columns *c, const tvms_target *target, int64_t bytes) {
  enum { SECOND_CACHE = 1024 * 1024, LAST_CACHE = 32 * 1024 * 1024, SHARED = 2048 };
  int64_t rows = tvms_cpu_number(c->member->stage.axes[c->rows].extent), all;
  bool crowded = bytes > 0 && bytes % SHARED == 0;
  if (rows < 0) return crowded;
  int64_t most = crowded ? tvms_target_cache(target, 1, SECOND_CACHE)
                         : tvms_target_cache(target, 2, LAST_CACHE);
  return rows >= ROWS && (__builtin_mul_overflow(rows, bytes, &all) || all > most);
}

// Columns of a group: as many as the first cache holds the sums of, beside rows, and a part for each thread.
static int64_t group_size(const columns *c, const tvms_target *target, uint32_t bits,
                          int64_t cores) {
  enum { FIRST_CACHE = 32 * 1024 };
  int64_t most = tvms_target_cache(target, 0, FIRST_CACHE) / 2 * 8 / bits;
  int64_t step = c->lanes * VECTORS, groups = (c->columns + most - 1) / most;
  if (groups < cores) groups = cores;
  int64_t size = (c->columns + groups - 1) / groups;
  size = (size + step - 1) / step * step;
  return size < c->columns ? size : c->columns;
}

static bool is_wide(columns *c, const tvms_line_group *g, const tvms_target *target,
                    int64_t cores) {
  const tvms_line_member *m = c->member = &g->members[0];
  if (m->kind != TVMS_LINE_COLUMN || !m->term || !m->stage.init
      || m->stage.store->predicate || !find_axes(c))
    return false;
  for (uint32_t i = 1; i < g->count; i++) {
    if (tvms_stage_has_sums(&g->members[i].stage)) return false;
  }
  load_check l = {c, 0, 8, true};
  tvms_visitor visitor = {.self = &l, .enter = check_load};
  tvms_walk(&c->unit->context->memory, m->term, &visitor);
  c->columns = tvms_cpu_number(m->stage.axes[c->line].extent);
  c->lanes = (target->vector_bits ? target->vector_bits : 128) / l.bits;
  c->like = m->stage.axes[c->line].var;
  if (!l.fits || c->columns <= c->lanes * VECTORS || !is_large(c, target, l.bytes))
    return false;
  c->group = group_size(c, target, l.bits, cores);
  return true;
}

// ---- Writing ----

static tvms_node *number(const columns *c, int64_t value) {
  return tvms_int_imm_new(c->unit, c->like->dtype, value, TVMS_NO_SPAN);
}

static tvms_node *build(const columns *c, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_binary(c->unit, kind, a, b, TVMS_NO_SPAN);
}

// An expression of the member for a column of the group and a row.
static tvms_node *as_now(const columns *c, tvms_node *expr, tvms_node *column,
                         tvms_node *TVMS_NULLABLE row) {
  const tvms_stage *stage = &c->member->stage;
  tvms_node_map now;
  tvms_node_map_init(&now, &c->unit->context->memory);
  tvms_node_map_put(&now, stage->axes[c->line].var,
                    build(c, TVMS_NODE_ADD, c->begin, column));
  if (row) tvms_node_map_put(&now, stage->axes[c->rows].var, row);
  tvms_node *made = tvms_stage_value_at(c->unit, expr, &now);
  tvms_node_map_fini(&now);
  return made;
}

static tvms_node *sum_of(const columns *c, tvms_node *column) {
  return tvms_buffer_load_new(c->unit, c->sums, &column, 1, NULL, TVMS_NO_SPAN);
}

static tvms_node *store_sum(const columns *c, tvms_node *column, tvms_node *value) {
  return tvms_cpu_store(c->unit, c->sums, tvms_list_copy(c->unit, &column, 1), value);
}

// What is done with a column: begun with, combined with some rows, or stored.
typedef tvms_node *column_step(const columns *c, tvms_node *column);

static tvms_node *begin_column(const columns *c, tvms_node *column) {
  return store_sum(c, column, as_now(c, c->member->stage.init, column, NULL));
}

static tvms_node *add_row(const columns *c, tvms_node *column) {
  const tvms_line_member *m = c->member;
  tvms_node *term = as_now(c, m->term, column, c->row), *sum = sum_of(c, column);
  tvms_node *value =
      m->term_first ? build(c, m->combine, term, sum) : build(c, m->combine, sum, term);
  return store_sum(c, column, value);
}

static tvms_node *end_column(const columns *c, tvms_node *column) {
  const tvms_store *store = c->member->stage.store;
  tvms_list indices = tvms_list_copy(c->unit, store->indices.items, store->indices.len);
  for (uint32_t i = 0; i < indices.len; i++)
    indices.items[i] = as_now(c, indices.items[i], column, NULL);
  return tvms_cpu_store(c->unit, store->buffer, indices, sum_of(c, column));
}

// `count` vectors of `lanes` columns from `first` on, with each of `rows` rows.
static tvms_node *write_vectors(columns *c, column_step *step, tvms_node *first,
                                int64_t count, int64_t lanes, int64_t rows) {
  tvms_node *begin = c->row;
  tvms_node *u = count > 1 ? tvms_cpu_variable(c->unit, "u", c->like) : number(c, 0);
  tvms_node *lane = tvms_cpu_variable(c->unit, "lane", c->like);
  tvms_node *k = rows > 1 ? tvms_cpu_variable(c->unit, "k", c->like) : NULL;
  if (k) c->row = build(c, TVMS_NODE_ADD, begin, k);
  tvms_node *column = build(
      c, TVMS_NODE_ADD, first,
      build(c, TVMS_NODE_ADD, build(c, TVMS_NODE_MUL, u, number(c, lanes)), lane));
  tvms_node *made = tvms_cpu_loop(c->unit, lane, number(c, lanes), TVMS_FOR_VECTORIZED,
                                  step(c, column));
  if (count > 1)
    made = tvms_cpu_loop(c->unit, u, number(c, count), TVMS_FOR_UNROLLED, made);
  if (k) made = tvms_cpu_loop(c->unit, k, number(c, rows), TVMS_FOR_UNROLLED, made);
  c->row = begin;
  return made;
}

// All columns of the group.
static tvms_node *write_columns(columns *c, column_step *step, int64_t rows) {
  int64_t chunk = c->lanes * VECTORS, whole = c->group / chunk, done = whole * chunk;
  tvms_node_vec stmts = {0};
  tvms_node *j = tvms_cpu_variable(c->unit, "j", c->like);
  tvms_node *first = build(c, TVMS_NODE_MUL, j, number(c, chunk));
  tvms_node *body = write_vectors(c, step, first, VECTORS, c->lanes, rows);
  tvms_stmt_push(c->unit, &stmts,
                 tvms_cpu_loop(c->unit, j, number(c, whole), TVMS_FOR_SERIAL, body));
  int64_t more = (c->group - done) / c->lanes, rest = (c->group - done) % c->lanes;
  if (more)
    tvms_stmt_push(c->unit, &stmts,
                   write_vectors(c, step, number(c, done), more, c->lanes, rows));
  if (rest)
    tvms_stmt_push(c->unit, &stmts,
                   write_vectors(c, step, number(c, c->group - rest), 1, rest, rows));
  return tvms_stmt_seq(c->unit, &stmts, TVMS_NO_SPAN);
}

// Rows of the innermost sum, ROWS at a time, and those that are left over.
static tvms_node *write_rows(columns *c) {
  tvms_node *extent = c->member->stage.axes[c->rows].extent,
            *together = number(c, ROWS);
  tvms_node *count = build(c, TVMS_NODE_FLOOR_DIV, extent, together);
  tvms_node *rest = build(c, TVMS_NODE_FLOOR_MOD, extent, together);
  tvms_node_vec stmts = {0};
  tvms_node *var = tvms_cpu_variable(c->unit, "k0", c->like);
  c->row = build(c, TVMS_NODE_MUL, var, together);
  tvms_node *body = write_columns(c, add_row, ROWS);
  tvms_stmt_push(c->unit, &stmts,
                 tvms_cpu_loop(c->unit, var, count, TVMS_FOR_SERIAL, body));
  if (!tvms_node_is_int(rest, 0)) {
    var = tvms_cpu_variable(c->unit, "k1", c->like);
    c->row = build(c, TVMS_NODE_ADD, build(c, TVMS_NODE_MUL, count, together), var);
    body = write_columns(c, add_row, 1);
    tvms_stmt_push(c->unit, &stmts,
                   tvms_cpu_loop(c->unit, var, rest, TVMS_FOR_SERIAL, body));
  }
  return tvms_stmt_seq(c->unit, &stmts, TVMS_NO_SPAN);
}

// Loops of other axes that are summed over, or are not.
static tvms_node *write_others(const columns *c, tvms_node *body, bool sums,
                               uint8_t outer) {
  const tvms_stage *stage = &c->member->stage;
  uint32_t others[TVMS_MOST_STAGE_AXES], count = 0;
  for (uint32_t i = 0; i < stage->count; i++) {
    if (i != c->line && i != c->rows && stage->axes[i].sums == sums)
      others[count++] = i;
  }
  for (uint32_t i = count; i-- > 0;)
    body =
        tvms_cpu_loop(c->unit, stage->axes[others[i]].var,
                      stage->axes[others[i]].extent, i ? TVMS_FOR_SERIAL : outer, body);
  return body;
}

static tvms_node *write_group(columns *c) {
  tvms_dtype element = c->member->stage.store->value->dtype;
  tvms_node *size = number(c, c->group);
  c->sums = tvms_cpu_buffer(c->unit, "sums", element, "local", &size, 1);
  tvms_node_vec stmts = {0};
  tvms_stmt_push(c->unit, &stmts, write_columns(c, begin_column, 1));
  tvms_stmt_push(c->unit, &stmts,
                 write_others(c, write_rows(c), true, TVMS_FOR_SERIAL));
  tvms_stmt_push(c->unit, &stmts, write_columns(c, end_column, 1));
  return tvms_cpu_block(c->unit, "columns", (tvms_list){&c->sums, 1},
                        tvms_stmt_seq(c->unit, &stmts, TVMS_NO_SPAN));
}

tvms_node *TVMS_NULLABLE tvms_cpu_wide_columns(tvms_unit *unit,
                                               const tvms_line_group *group,
                                               const tvms_target *target,
                                               int64_t cores) {
  columns c = {.unit = unit};
  if (!is_wide(&c, group, target, cores)) return NULL;
  uint8_t kind = cores > 1 ? TVMS_FOR_PARALLEL : TVMS_FOR_SERIAL;
  int64_t groups = (c.columns + c.group - 1) / c.group;
  tvms_node *var = tvms_cpu_variable(unit, "g", c.like);
  // The last group begins further left where it would be shorter.
  tvms_node *begin = build(&c, TVMS_NODE_MUL, var, number(&c, c.group));
  c.begin = groups == 1 ? number(&c, 0)
            : c.columns % c.group
                ? build(&c, TVMS_NODE_MIN, begin, number(&c, c.columns - c.group))
                : begin;
  tvms_node *made = write_group(&c);
  if (groups > 1) made = tvms_cpu_loop(unit, var, number(&c, groups), kind, made);
  made = write_others(&c, made, false, groups > 1 ? TVMS_FOR_SERIAL : kind);
  made->span = c.member->stage.nest->span;
  return made;
}
