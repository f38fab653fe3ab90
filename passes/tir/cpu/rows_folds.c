// Lanes of folds: what they begin with in front of a pass, and how they become one value behind it.
#include "passes/tir/cpu/rows_folds.h"

#define number tvms_line_number
#define build  tvms_line_build

static const tvms_line_pass_plan *pass_plan(const tvms_line_writer *w) {
  return &w->plan->passes[w->pass];
}

tvms_node *tvms_line_lane(tvms_line_writer *w, tvms_node *lanes, tvms_node *place) {
  return tvms_buffer_load_new(w->unit, lanes, &place, 1, NULL, TVMS_NO_SPAN);
}

tvms_node *tvms_line_store_lane(tvms_line_writer *w, tvms_node *lanes, tvms_node *place,
                                tvms_node *value) {
  return tvms_cpu_store(w->unit, lanes, tvms_list_copy(w->unit, &place, 1), value);
}

static bool is_extreme(const tvms_line_member *m) {
  return m->combine == TVMS_NODE_MIN || m->combine == TVMS_NODE_MAX;
}

static bool is_neutral(const tvms_line_member *m, const tvms_node *value) {
  double neutral = m->combine == TVMS_NODE_MUL;
  if (value->kind == TVMS_NODE_FLOAT_IMM)
    return tvms_as_float_imm(value)->value == neutral;
  return tvms_node_is_int(value, (int64_t)neutral);
}

// What lanes begin with: the initial value where it may count often or there is one lane, else
// what changes nothing.
static tvms_node *first_value(tvms_line_writer *w, uint32_t at) {
  const tvms_line_member *m = &w->g->members[at];
  if (!is_extreme(m) && !w->plan->places[at].one_by_one) {
    tvms_dtype dtype = m->stage.store->value->dtype;
    return tvms_build_float(w->unit, dtype, m->combine == TVMS_NODE_MUL, TVMS_NO_SPAN);
  }
  return m->stage.init ? tvms_line_as_now(w, m->stage.init) : tvms_line_load(w, at);
}

static int64_t lane_count(const tvms_line_writer *w, uint32_t at) {
  const tvms_line_pass_plan *p = pass_plan(w);
  return w->plan->places[at].one_by_one ? 1 : p->lanes * p->sums;
}

void tvms_line_begin_fold(tvms_line_writer *w, uint32_t at, tvms_node_vec *stmts,
                          tvms_node_vec *allocated) {
  const tvms_line_member *m = &w->g->members[at];
  tvms_node *size = number(w, w->streams * lane_count(w, at));
  tvms_dtype dtype = m->stage.store->value->dtype;
  w->lanes[at] = tvms_cpu_buffer(w->unit, "lanes", dtype, "local", &size, 1);
  tvms_vec_push(&w->unit->context->memory, allocated, w->lanes[at]);
  w->chunk =
      (tvms_line_chunk){.begin = number(w, 0), .tile = 1, .vectors = 1, .lanes = 1};
  if (!w->plan->places[at].one_by_one) {
    w->chunk.vectors = pass_plan(w)->sums;
    w->chunk.lanes = pass_plan(w)->lanes;
  }
  tvms_line_element e = tvms_line_open(w);
  tvms_node *stored =
      tvms_line_store_lane(w, w->lanes[at], w->place, first_value(w, at));
  tvms_stmt_push(w->unit, stmts, tvms_line_close(w, &e, false, stored));
}

// Where the lanes of the row at hand begin.
static tvms_node *first_lane(tvms_line_writer *w, uint32_t at) {
  if (!w->stream) return number(w, 0);
  return build(w, TVMS_NODE_MUL, w->stream, number(w, lane_count(w, at)));
}

// lanes[begin:begin + n] = itself combined with what lies `from` lanes behind.
static void combine_lanes(tvms_line_writer *w, uint32_t at, int64_t begin,
                          int64_t count, int64_t from, tvms_node_vec *stmts) {
  const tvms_line_member *m = &w->g->members[at];
  tvms_node *lane =
      count > 1 ? tvms_cpu_variable(w->unit, "lane", w->like) : number(w, 0);
  tvms_node *first = build(w, TVMS_NODE_ADD, first_lane(w, at), number(w, begin));
  tvms_node *place = build(w, TVMS_NODE_ADD, first, lane);
  tvms_node *other = build(w, TVMS_NODE_ADD, place, number(w, from));
  tvms_node *a = tvms_line_lane(w, w->lanes[at], place);
  tvms_node *b = tvms_line_lane(w, w->lanes[at], other);
  tvms_node *stored =
      tvms_line_store_lane(w, w->lanes[at], place, build(w, m->combine, a, b));
  if (count > 1)
    stored =
        tvms_cpu_loop(w->unit, lane, number(w, count), TVMS_FOR_VECTORIZED, stored);
  tvms_stmt_push(w->unit, stmts, stored);
}

// The result, from vectors, then halves of one, then the initial value.
void tvms_line_end_fold(tvms_line_writer *w, uint32_t at, tvms_node_vec *stmts) {
  const tvms_line_member *m = &w->g->members[at];
  int64_t lanes = pass_plan(w)->lanes, count = lane_count(w, at);
  while (count > 1) {
    int64_t half = count > lanes ? (count / lanes + 1) / 2 * lanes : (count + 1) / 2;
    for (int64_t begin = 0; begin < count - half; begin += lanes) {
      int64_t rest = count - half - begin;
      combine_lanes(w, at, begin, rest < lanes ? rest : lanes, half, stmts);
    }
    count = half;
  }
  tvms_node *value = tvms_line_lane(w, w->lanes[at], first_lane(w, at));
  bool done = is_extreme(m) || w->plan->places[at].one_by_one
              || (m->stage.init && is_neutral(m, m->stage.init));
  if (!done) {
    tvms_node *first =
        m->stage.init ? tvms_line_as_now(w, m->stage.init) : tvms_line_load(w, at);
    value = build(w, m->combine, first, value);
  }
  tvms_stmt_push(w->unit, stmts, tvms_line_store(w, at, value));
}
