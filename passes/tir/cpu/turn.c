// Squares of elements turned by shuffles of pairs of rows.
#include "passes/tir/cpu/turn.h"

#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/fold_ops.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

enum { NONE = TVMS_MOST_STAGE_AXES, MOST_LANES = 64 };

// ---- Which load ----

typedef struct {
  tvms_unit *unit;
  const tvms_line_member *member;
  tvms_node *TVMS_NULLABLE load;  // that moves along the line otherwise than one by one
  uint32_t others;                // further ones of other places
} far_loads;

// Does a load of a compact buffer move by whole rows, however long they are?
static bool moves_by_rows(tvms_unit *unit, const tvms_buffer_load *load,
                          const tvms_node *line) {
  const tvms_buffer *buffer = tvms_as_buffer(load->buffer);
  if (buffer->strides.len || buffer->layout) return false;
  int64_t step = 0;
  for (uint32_t i = 0; i < load->indices.len; i++) {
    if (!tvms_cpu_index_step(unit, load->indices.items[i], line, &step)) return false;
  }
  return step == 0;
}

static tvms_walk_step note_far(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  far_loads *f = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  // What is chosen may not be there to be loaded.
  if (tvms_call_opcode(node) == TVMS_TIR_if_then_else) f->others++;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  const tvms_line_member *m = f->member;
  const tvms_node *line = m->stage.axes[m->own[m->own_count - 1]].var;
  int64_t step;
  bool known = tvms_cpu_step_of(f->unit, load->buffer, load->indices, line, &step);
  if (known && (step == 0 || step == 1)) return TVMS_WALK_ON;
  bool far = known || moves_by_rows(f->unit, load, line);
  if (!far || (f->load && !tvms_node_same_expr(f->load, node))) f->others++;
  if (!f->load) f->load = node;
  return TVMS_WALK_ON;
}

// The place among the axes of the pass of the one along which the load takes neighbours.
static uint32_t neighbours_of(tvms_unit *unit, const tvms_line_member *m,
                              const tvms_node *node) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  for (uint32_t i = 0; i + 1 < m->own_count; i++) {
    int64_t step;
    if (tvms_cpu_step_of(unit, load->buffer, load->indices,
                         m->stage.axes[m->own[i]].var, &step)
        && step == 1)
      return i;
  }
  return NONE;
}

tvms_node *TVMS_NULLABLE tvms_line_turned_load(tvms_unit *unit,
                                               tvms_line_group *group) {
  tvms_line_member *m = &group->members[0];
  if (group->count != 1 || m->kind != TVMS_LINE_MAP || m->own_count < 2) return NULL;
  const tvms_node *line = m->stage.axes[m->own[m->own_count - 1]].var;
  const tvms_store *store = m->stage.store;
  int64_t step;
  if (!tvms_cpu_step_of(unit, store->buffer, store->indices, line, &step) || step != 1)
    return NULL;
  far_loads f = {.unit = unit, .member = m};
  tvms_visitor visitor = {.self = &f, .enter = note_far};
  tvms_walk(&unit->context->memory, store->value, &visitor);
  if (!f.load || f.others) return NULL;
  uint32_t at = neighbours_of(unit, m, f.load);
  if (at == NONE) return NULL;
  uint32_t axis = m->own[at];
  for (; at + 2 < m->own_count; at++)
    m->own[at] = m->own[at + 1];
  m->own[at] = axis;
  return f.load;
}

// ---- Turning ----

typedef struct {
  tvms_unit *unit;
  const tvms_node *like;
  int64_t rows, lanes;
} turning;

static tvms_node *number(const turning *t, int64_t value) {
  return tvms_int_imm_new(t->unit, t->like->dtype, value, TVMS_NO_SPAN);
}

static tvms_node *build(const turning *t, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_binary(t->unit, kind, a, b, TVMS_NO_SPAN);
}

// The elements of a row, as an index.
static tvms_node *row(const turning *t, tvms_node *which) {
  tvms_node *begin = build(t, TVMS_NODE_MUL, which, number(t, t->lanes));
  return tvms_ramp_new(t->unit, begin, number(t, 1), (int)t->lanes, TVMS_NO_SPAN);
}

static tvms_node *load_row(const turning *t, tvms_node *buffer, tvms_node *which) {
  tvms_node *index = row(t, which);
  return tvms_buffer_load_new(t->unit, buffer, &index, 1, NULL, TVMS_NO_SPAN);
}

// Which lane of two rows, the second one's behind the first one's, becomes `lane` of the first or
// (`high`) of the second row of a pair.
typedef int64_t turned_lane(const turning *t, int64_t lane, int64_t apart, bool high);

// Lanes whose bit `apart` is that of the row stay, the others come from the other row.
static int64_t exchanged_lane(const turning *t, int64_t lane, int64_t apart,
                              bool high) {
  if (!(lane & apart)) return high ? lane + apart : lane;
  return high ? lane + t->lanes : lane + t->lanes - apart;
}

// Neighbours come from both rows in turns, 2 * `apart` lanes for themselves: of the lower lanes of
// these the first row is made, of the higher ones the second.
static int64_t zipped_lane(const turning *t, int64_t lane, int64_t apart, bool high) {
  int64_t within = lane % (2 * apart);
  return lane - within + within / 2 + (high ? apart : 0) + (within % 2 ? t->lanes : 0);
}

static tvms_node *store_pair(const turning *t, tvms_node *const *buffers,
                             tvms_node *const *from, tvms_node *to, turned_lane *turned,
                             int64_t apart, bool high) {
  tvms_node *indices[MOST_LANES];
  for (int64_t lane = 0; lane < t->lanes; lane++)
    indices[lane] =
        tvms_build_literal_int(t->unit, turned(t, lane, apart, high), TVMS_NO_SPAN);
  tvms_node *vectors[] = {load_row(t, buffers[0], from[0]),
                          load_row(t, buffers[0], from[1])};
  tvms_node *value = tvms_build_shuffle(t->unit, vectors, 2, indices,
                                        (uint32_t)t->lanes, TVMS_NO_SPAN);
  tvms_node *index = row(t, to);
  return tvms_cpu_store(t->unit, buffers[1], tvms_list_copy(t->unit, &index, 1), value);
}

// All pairs of rows that many rows apart exchange their lanes, or are zipped: pair i of 2 * `apart`
// rows then becomes the rows 2 * i and 2 * i + 1 of these.
static tvms_node *turn_pairs(const turning *t, tvms_node *const *buffers,
                             turned_lane *turned, int64_t apart) {
  tvms_node *var = tvms_cpu_variable(t->unit, "pair", t->like);
  tvms_node *first = build(t, TVMS_NODE_MUL, var, number(t, 2)), *zipped = first;
  if (apart > 1) {
    tvms_node *block = build(t, TVMS_NODE_FLOOR_DIV, var, number(t, apart));
    first =
        build(t, TVMS_NODE_ADD, build(t, TVMS_NODE_MUL, block, number(t, 2 * apart)),
              build(t, TVMS_NODE_FLOOR_MOD, var, number(t, apart)));
  }
  tvms_node *from[] = {first, build(t, TVMS_NODE_ADD, first, number(t, apart))};
  tvms_node *to[] = {from[0], from[1]};
  if (turned == zipped_lane) {
    to[0] = zipped;
    to[1] = build(t, TVMS_NODE_ADD, zipped, number(t, 1));
  }
  tvms_node *body =
      tvms_stmt_pair(t->unit, store_pair(t, buffers, from, to[0], turned, apart, false),
                     store_pair(t, buffers, from, to[1], turned, apart, true));
  return tvms_cpu_loop(t->unit, var, number(t, t->rows / 2), TVMS_FOR_UNROLLED, body);
}

tvms_node *tvms_line_turn(tvms_unit *unit, const tvms_node *like, int64_t rows,
                          int64_t lanes, tvms_node *const *buffers,
                          tvms_node **turned) {
  turning t = {unit, like, rows, lanes};
  tvms_node *now[] = {buffers[0], buffers[1]};
  // What processors do with 16 bytes at a time is one instruction each: whole ones are exchanged,
  // and the elements of each are zipped.
  int64_t group = 128 / tvms_as_buffer(buffers[0])->element.bits;
  if (group > lanes) group = lanes;
  tvms_node_vec stmts = {0};
  for (int64_t apart = lanes / 2; apart > 0; apart /= 2) {
    bool whole = apart >= group;
    tvms_stmt_push(unit, &stmts,
                   turn_pairs(&t, now, whole ? exchanged_lane : zipped_lane,
                              whole ? apart : group / 2));
    tvms_node *next = now[1];
    now[1] = now[0];
    now[0] = next;
  }
  *turned = now[0];
  return tvms_stmt_seq(unit, &stmts, TVMS_NO_SPAN);
}
