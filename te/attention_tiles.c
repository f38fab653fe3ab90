// Attention in tiles, stage by stage.
//
//   for each tile of queries:
//     rows = q, sums = 0, greatest = the least number, total = 0
//     for each tile of keys:
//       scores = f(rows k^T)
//       shrink = exp(greatest - max(greatest, scores)); greatest = max(greatest, scores)
//       powers = exp(scores - greatest); total = total * shrink + powers
//       sums = sums * shrink + powers v
//     result = sums / total
//
// Tiles of scores have as many columns as the target's vectors like. Where keys end within a tile, the last
// one is read again and what comes of it is left out; so are queries, if their number is known. The stages are those that
// ScheduleCPU knows: two products and rows.
//
// If the number of queries is not known, few of them get a tile of all keys.
#include "te/attention_tiles.h"

#include "te/element.h"
#include "te/legalize_call.h"
#include "te/legalizers.h"

#include <string.h>

typedef struct {
  tvms_legal *legal;
  tvms_te *te;
  const tvms_attention *what;
  tvms_dtype dtype;  // that is computed in
  uint32_t batch_rank;
  int64_t query_tile;
  tvms_node *key_tile;
  bool few;  // one tile holds all queries, and all keys
  tvms_node *dims[TVMS_MOST_ATTENTION_AXES];  // of the scores
  tvms_node *width, *depth;
  tvms_node *batch[TVMS_MOST_ATTENTION_AXES];  // indices of the tile at hand
  tvms_node *first_query, *first_key;
  tvms_node *rows, *stored_rows;  // queries of the tile: that are computed, that count
  tvms_node *columns;             // keys of the tile that count
  tvms_node *q, *k, *v;
  tvms_node *others[TVMS_MOST_ATTENTION_STEPS][2];
  tvms_node *result, *queries, *greatest, *total, *sums;
} tiles;

static tvms_node *queries_of(const tiles *t) {
  return t->dims[t->batch_rank];
}

static tvms_node *keys_of(const tiles *t) {
  return t->dims[t->batch_rank + 1];
}

static tvms_list shape(tiles *t, tvms_node *a, tvms_node *TVMS_NULLABLE b) {
  tvms_node *dims[] = {a, b};
  return tvms_list_copy(t->te->unit, dims, b ? 2 : 1);
}

// ---- Loads ----

// The index of an operand's element from that of the result of one operator.
static uint32_t move_back(tiles *t, const tvms_attention_move *move, tvms_node **at,
                          uint32_t count) {
  tvms_te *te = t->te;
  tvms_node *from[TVMS_MOST_ATTENTION_AXES];
  memcpy(from, at, count * sizeof *at);
  uint32_t rank = move->rank;
  switch (move->kind) {
  case TVMS_MOVE_PERMUTE:
    for (uint32_t i = 0; i < rank; i++)
      at[move->axes[i]] = from[i];
    return rank;
  case TVMS_MOVE_REPEAT:
    at[move->axis] = FLOOR_DIV(from[move->axis], INDEX(move->times));
    return rank;
  case TVMS_MOVE_EXPAND:
    rank = 0;
    for (uint32_t i = 0; i < count; i++)
      if (!move->axes[i]) at[rank++] = from[i];
    return rank;
  case TVMS_MOVE_BROADCAST:
    for (uint32_t i = 0; i < rank; i++)
      at[i] = move->axes[i] ? INDEX(0) : from[count - rank + i];
    return rank;
  case TVMS_MOVE_JOIN:
    at[move->axis] = FLOOR_DIV(from[move->axis], INDEX(move->times));
    at[move->axis + 1] = FLOOR_MOD(from[move->axis], INDEX(move->times));
    for (uint32_t i = move->axis + 1; i < count; i++)
      at[i + 1] = from[i];
    return rank;
  }
  TVMS_UNREACHABLE("operator that moves elements");
}

// The element of an operand at the last of these coordinates, where what has one step stays at 0.
static tvms_node *load(tiles *t, const tvms_attention_operand *operand,
                       tvms_node *tensor, tvms_node *const *coordinates,
                       uint32_t count) {
  tvms_te *te = t->te;
  tvms_node *at[TVMS_MOST_ATTENTION_AXES];
  uint32_t rank = operand->dims.len;
  for (uint32_t i = 0; i < rank; i++)
    at[i] = tvms_node_is_int(operand->dims.items[i], 1) ? INDEX(0)
                                                        : coordinates[count - rank + i];
  for (uint32_t i = 0; i < operand->move_count; i++)
    rank = move_back(t, &operand->moves[i], at, rank);
  return tvms_te_load(te, tensor, at, rank);
}

// The same of an operand behind the batch axes, in the dtype that is computed in.
static tvms_node *load_of_tile(tiles *t, const tvms_attention_operand *operand,
                               tvms_node *tensor, tvms_node *a, tvms_node *b) {
  tvms_node *coordinates[TVMS_MOST_ATTENTION_AXES];
  memcpy(coordinates, t->batch, t->batch_rank * sizeof *t->batch);
  coordinates[t->batch_rank] = a;
  coordinates[t->batch_rank + 1] = b;
  return load(t, operand, tensor, coordinates, t->batch_rank + 2);
}

static tvms_node *wide(tiles *t, tvms_node *value) {
  return tvms_te_convert(t->te, t->dtype, value);
}

// Does a tile, a number or all there is, leave nothing over?
static bool divides(tvms_node *extent, const tvms_node *tile) {
  bool known = tvms_node_is_int_imm(extent) && tvms_node_is_int_imm(tile);
  return known ? tvms_as_int_imm(extent)->value % tvms_as_int_imm(tile)->value == 0
               : extent == tile;
}

// The number of a query or key, or that of the last one if there are fewer.
static tvms_node *number(tiles *t, tvms_node *first, tvms_node *step, tvms_node *extent,
                         bool whole) {
  tvms_te *te = t->te;
  tvms_node *at = ADD(first, step);
  return whole ? at : MIN(at, SUB(extent, INDEX(1)));
}

static tvms_node *query_at(tiles *t, tvms_node *row) {
  return number(t, t->first_query, row, queries_of(t), t->rows == t->stored_rows);
}

static tvms_node *key_at(tiles *t, tvms_node *column) {
  return number(t, t->first_key, column, keys_of(t), divides(keys_of(t), t->key_tile));
}

// ---- Stages ----

static tvms_node *step_value(tiles *t, const tvms_attention_step *step,
                             tvms_node *score, tvms_node *const others[2]) {
  static const struct {
    tvms_opcode op;
    tvms_node_kind kind;
  } kinds[] = {{TVMS_R_add, TVMS_NODE_ADD},      {TVMS_R_subtract, TVMS_NODE_SUB},
               {TVMS_R_multiply, TVMS_NODE_MUL}, {TVMS_R_divide, TVMS_NODE_DIV},
               {TVMS_R_maximum, TVMS_NODE_MAX},  {TVMS_R_minimum, TVMS_NODE_MIN}};
  tvms_te *te = t->te;
  if (step->op == TVMS_R_where) {
    tvms_node *other = wide(t, others[1]);
    bool first = step->place == 1;
    return tvms_te_select(te, others[0], first ? score : other, first ? other : score);
  }
  uint32_t i = 0;
  while (kinds[i].op != step->op)
    i++;
  tvms_node *other = wide(t, others[0]), *a = step->place ? other : score;
  return tvms_te_apply(te, kinds[i].kind, a, step->place ? score : other);
}

// Is a step the same for all scores, so that queries may be scaled by it?
static bool scales(const tiles *t, uint32_t i) {
  const tvms_attention_step *step = &t->what->steps[i];
  bool product =
      step->op == TVMS_R_multiply || (step->op == TVMS_R_divide && step->place == 0);
  return product && step->others[0].value->kind == TVMS_NODE_CONSTANT
         && tvms_as_constant(step->others[0].value)->shape.len == 0;
}

// Steps in front of the first one that does not scale.
static uint32_t scaling_steps(const tiles *t) {
  uint32_t i = 0;
  while (i < t->what->step_count && scales(t, i))
    i++;
  return i;
}

static void write_queries(tiles *t) {
  tvms_te *te = t->te;
  static const char *const names[] = {"i", "d"};
  tvms_stage stage;
  tvms_te_open_named(te, &stage, shape(t, t->rows, t->depth), names);
  tvms_node *const *axes = stage.axes.items;
  tvms_node *value =
      wide(t, load_of_tile(t, &t->what->q, t->q, query_at(t, axes[0]), axes[1]));
  if (t->what->scale != 1)
    value = MUL(value, tvms_te_const(te, t->dtype, t->what->scale));
  uint32_t count = scaling_steps(t);
  for (uint32_t i = 0; i < count; i++)
    value = step_value(t, &t->what->steps[i], value, t->others[i]);
  tvms_te_close_at(&stage, "queries", t->queries, axes, 2, value);
}

// tensor[i] or tensor[i, d] = value for each query of the tile.
static void fill(tiles *t, const char *name, tvms_node *tensor, tvms_node *value) {
  tvms_te *te = t->te;
  static const char *const names[] = {"i", "d"};
  tvms_list dims = tvms_te_shape(tensor);
  tvms_stage stage;
  tvms_te_open_named(te, &stage, shape(t, t->rows, dims.len > 1 ? dims.items[1] : NULL),
                     names);
  tvms_te_close_at(&stage, name, tensor, stage.axes.items, dims.len, value);
}

static tvms_node *causal_offset(tiles *t) {
  tvms_te *te = t->te;
  if (strcmp(t->what->causal, "TopLeft") == 0) return INDEX(0);
  return tvms_build_abs(te->unit, SUB(queries_of(t), keys_of(t)), TVMS_NO_SPAN);
}

// Room for the scores of a tile: few queries have as many rows as there are, since nothing bounds their keys.
static tvms_list room_of_scores(tiles *t) {
  tvms_te *te = t->te;
  return shape(t, t->few ? t->rows : INDEX(t->query_tile), t->key_tile);
}

// The product, and all that is done with an element of it.
static tvms_node *write_scores(tiles *t) {
  tvms_te *te = t->te;
  static const char *const names[] = {"i", "j"};
  tvms_list dims = shape(t, t->rows, t->key_tile);
  tvms_list room = room_of_scores(t);
  tvms_stage stage;
  tvms_te_open_named(te, &stage, dims, names);
  tvms_node *d = tvms_te_reduce(&stage, "d", t->depth), *const *axes = stage.axes.items;
  tvms_node *at[] = {axes[0], d};
  tvms_node *key = load_of_tile(t, &t->what->k, t->k, d, key_at(t, axes[1]));
  tvms_node *product = MUL(tvms_te_load(te, t->queries, at, 2), wide(t, key));
  tvms_node *scores = tvms_te_tensor(te, "product", room, t->dtype);
  tvms_te_close_fold_at(&stage, "product", TVMS_FOLD_SUM, scores, axes, 2, product);
  uint32_t scaling = scaling_steps(t);
  if (scaling == t->what->step_count && !t->what->causal) return scores;
  tvms_te_open_named(te, &stage, dims, names);
  axes = stage.axes.items;
  tvms_node *value = tvms_te_load(te, scores, axes, 2);
  for (uint32_t i = scaling; i < t->what->step_count; i++) {
    const tvms_attention_step *step = &t->what->steps[i];
    tvms_node *others[2] = {0};
    for (uint32_t n = 0; n < (step->op == TVMS_R_where ? 2 : 1); n++) {
      bool is_tensor = t->others[i][n]->kind == TVMS_NODE_BUFFER;
      others[n] = is_tensor ? load_of_tile(t, &step->others[n], t->others[i][n],
                                           query_at(t, axes[0]), key_at(t, axes[1]))
                            : t->others[i][n];
    }
    value = step_value(t, step, value, others);
  }
  if (t->what->causal) {
    tvms_node *last = ADD(ADD(t->first_query, axes[0]), causal_offset(t));
    tvms_node *least = tvms_build_min_value(te->unit, t->dtype, TVMS_NO_SPAN);
    value = tvms_te_select(te, LE(ADD(t->first_key, axes[1]), last), value, least);
  }
  tvms_node *made = tvms_te_tensor(te, "scores", room, t->dtype);
  tvms_te_close_at(&stage, "scores", made, axes, 2, value);
  return made;
}

// Opens a stage along the queries of the tile.
static tvms_node *const *open_rows(tiles *t, tvms_stage *stage) {
  static const char *const names[] = {"i"};
  tvms_te_open_named(t->te, stage, shape(t, t->rows, NULL), names);
  return stage->axes.items;
}

static tvms_node *exp_of(tiles *t, tvms_node *a, tvms_node *b) {
  tvms_te *te = t->te;
  return tvms_te_call(te, TVMS_TIR_exp, SUB(a, b));
}

// Folds a matrix along the keys that count.
static tvms_node *fold(tiles *t, const char *name, tvms_te_fold how,
                       tvms_node *matrix) {
  tvms_te *te = t->te;
  tvms_stage stage;
  open_rows(t, &stage);
  tvms_node *j = tvms_te_reduce(&stage, "j", t->columns);
  tvms_node *at[] = {stage.axes.items[0], j};
  tvms_node *made =
      tvms_te_tensor(te, name, shape(t, INDEX(t->query_tile), NULL), t->dtype);
  tvms_te_close_fold_at(&stage, name, how, made, stage.axes.items, 1,
                        tvms_te_load(te, matrix, at, 2));
  return made;
}

// The greatest scores so far become those with this tile. Returns by what sums shrink.
static tvms_node *raise(tiles *t, tvms_node *most) {
  tvms_te *te = t->te;
  tvms_stage stage;
  tvms_node *const *i = open_rows(t, &stage);
  tvms_node *old = tvms_te_load(te, t->greatest, i, 1);
  tvms_node *now = MAX(old, tvms_te_load(te, most, i, 1));
  tvms_node *shrink =
      tvms_te_tensor(te, "shrink", shape(t, INDEX(t->query_tile), NULL), t->dtype);
  tvms_te_close_at(&stage, "shrink", shrink, i, 1, exp_of(t, old, now));
  i = open_rows(t, &stage);
  now = MAX(tvms_te_load(te, t->greatest, i, 1), tvms_te_load(te, most, i, 1));
  tvms_te_close_at(&stage, "greatest", t->greatest, i, 1, now);
  return shrink;
}

static tvms_node *write_powers(tiles *t, tvms_node *scores) {
  tvms_te *te = t->te;
  static const char *const names[] = {"i", "j"};
  tvms_stage stage;
  tvms_te_open_named(te, &stage, shape(t, t->rows, t->columns), names);
  tvms_node *const *axes = stage.axes.items;
  tvms_node *power = exp_of(t, tvms_te_load(te, scores, axes, 2),
                            tvms_te_load(te, t->greatest, axes, 1));
  tvms_node *powers = tvms_te_tensor(te, "powers", room_of_scores(t), t->dtype);
  tvms_te_close_at(&stage, "powers", powers, axes, 2, power);
  return powers;
}

static void add_to_total(tiles *t, tvms_node *shrink, tvms_node *part) {
  tvms_te *te = t->te;
  tvms_stage stage;
  tvms_node *const *i = open_rows(t, &stage);
  tvms_node *kept =
      MUL(tvms_te_load(te, t->total, i, 1), tvms_te_load(te, shrink, i, 1));
  tvms_te_close_at(&stage, "total", t->total, i, 1,
                   ADD(kept, tvms_te_load(te, part, i, 1)));
}

static void add_to_sums(tiles *t, tvms_node *shrink, tvms_node *powers) {
  tvms_te *te = t->te;
  static const char *const names[] = {"i", "d"};
  tvms_list dims = shape(t, t->rows, t->width);
  tvms_stage stage;
  tvms_te_open_named(te, &stage, dims, names);
  tvms_node *j = tvms_te_reduce(&stage, "j", t->columns), *const *axes =
                                                              stage.axes.items;
  tvms_node *at[] = {axes[0], j};
  tvms_node *value =
      wide(t, load_of_tile(t, &t->what->v, t->v, ADD(t->first_key, j), axes[1]));
  tvms_node *part =
      tvms_te_tensor(te, "part", shape(t, INDEX(t->query_tile), t->width), t->dtype);
  tvms_te_close_fold_at(&stage, "part", TVMS_FOLD_SUM, part, axes, 2,
                        MUL(tvms_te_load(te, powers, at, 2), value));
  tvms_te_open_named(te, &stage, dims, names);
  axes = stage.axes.items;
  tvms_node *kept =
      MUL(tvms_te_load(te, t->sums, axes, 2), tvms_te_load(te, shrink, axes, 1));
  tvms_te_close_at(&stage, "sums", t->sums, axes, 2,
                   ADD(kept, tvms_te_load(te, part, axes, 2)));
}

static tvms_node *tiles_of(tiles *t, tvms_node *extent, tvms_node *tile) {
  tvms_te *te = t->te;
  if (extent == tile) return INDEX(1);
  return FLOOR_DIV(ADD(extent, SUB(tile, INDEX(1))), tile);
}

// How many of the tiles of keys a tile of queries sees.
static tvms_node *seen_tiles(tiles *t) {
  tvms_te *te = t->te;
  tvms_node *all = tiles_of(t, keys_of(t), t->key_tile);
  if (!t->what->causal || tvms_node_is_int(all, 1)) return all;
  tvms_node *last = ADD(t->first_query, INDEX(t->query_tile - 1));
  last = FLOOR_DIV(ADD(last, causal_offset(t)), t->key_tile);
  return MIN(all, ADD(last, INDEX(1)));
}

static tvms_node *counting(tiles *t, tvms_node *extent, tvms_node *first,
                           tvms_node *tile) {
  tvms_te *te = t->te;
  return divides(extent, tile) ? tile : MIN(tile, SUB(extent, first));
}

static void over_keys(tiles *t) {
  tvms_te *te = t->te;
  tvms_stage stage;
  tvms_te_open(te, &stage, (tvms_list){0}, "");
  tvms_node *tile = tvms_te_reduce(&stage, "key_tile", seen_tiles(t));
  t->first_key = t->few ? INDEX(0) : MUL(tile, t->key_tile);
  t->columns = counting(t, keys_of(t), t->first_key, t->key_tile);
  tvms_te_mark mark = tvms_te_begin(te);
  tvms_node *scores = write_scores(t);
  tvms_node *shrink = raise(t, fold(t, "most", TVMS_FOLD_MAX, scores));
  tvms_node *powers = write_powers(t, scores);
  add_to_total(t, shrink, fold(t, "sum", TVMS_FOLD_SUM, powers));
  add_to_sums(t, shrink, powers);
  tvms_te_close_around(&stage, "keys", mark, false);
}

// A sum by the total of the powers, which is 1 at least unless all scores are -infinity (0) or one is NaN.
static tvms_node *share_of(tiles *t, tvms_node *sum, tvms_node *total) {
  tvms_te *te = t->te;
  tvms_node *zero = tvms_te_const(te, t->dtype, 0);
  if (t->what->empty == TVMS_EMPTY_ZERO)
    total = tvms_te_select(te, GT(total, zero), total,
                           ADD(total, tvms_te_const(te, t->dtype, 1)));
  tvms_node *share = DIV(sum, total);
  if (t->what->empty != TVMS_EMPTY_ZERO_AND_NAN) return share;
  return tvms_te_select(te, GT(total, zero), share, zero);
}

static void write_result(tiles *t) {
  tvms_te *te = t->te;
  static const char *const names[] = {"i", "d"};
  tvms_stage stage;
  tvms_te_open_named(te, &stage, shape(t, t->stored_rows, t->width), names);
  tvms_node *const *axes = stage.axes.items;
  tvms_node *product[TVMS_MOST_ATTENTION_AXES], *at[TVMS_MOST_ATTENTION_AXES];
  memcpy(product, t->batch, t->batch_rank * sizeof *t->batch);
  product[t->batch_rank] = ADD(t->first_query, axes[0]);
  product[t->batch_rank + 1] = axes[1];
  for (uint32_t i = 0; i < t->what->rank; i++)
    at[i] = product[t->what->order[i]];
  tvms_node *share = share_of(t, tvms_te_load(te, t->sums, axes, 2),
                              tvms_te_load(te, t->total, axes, 1));
  tvms_te_close_at(&stage, "result", t->result, at, t->what->rank,
                   tvms_te_convert(te, t->what->dtype, share));
}

static void over_queries(tiles *t) {
  tvms_te *te = t->te;
  static const char *const names[] = {"b0", "b1", "b2", "b3", "b4", "b5"};
  tvms_node *size = INDEX(t->query_tile);
  tvms_node *dims[TVMS_MOST_ATTENTION_AXES];
  const char *axes[TVMS_MOST_ATTENTION_AXES];
  for (uint32_t i = 0; i < t->batch_rank; i++) {
    dims[i] = t->dims[i];
    axes[i] = names[i];
  }
  dims[t->batch_rank] = t->few ? INDEX(1) : tiles_of(t, queries_of(t), size);
  axes[t->batch_rank] = "query_tile";
  tvms_stage stage;
  tvms_te_open_named(te, &stage, tvms_list_copy(te->unit, dims, t->batch_rank + 1),
                     axes);
  memcpy(t->batch, stage.axes.items, t->batch_rank * sizeof *t->batch);
  tvms_node *tile = stage.axes.items[t->batch_rank];
  t->first_query = t->few ? INDEX(0) : MUL(tile, size);
  t->stored_rows =
      t->few ? queries_of(t) : counting(t, queries_of(t), t->first_query, size);
  t->rows = tvms_node_is_int_imm(queries_of(t)) ? size : t->stored_rows;
  if (divides(queries_of(t), size)) t->rows = t->stored_rows;
  tvms_te_mark mark = tvms_te_begin(te);
  t->queries = tvms_te_tensor(te, "queries", shape(t, size, t->depth), t->dtype);
  t->greatest = tvms_te_tensor(te, "greatest", shape(t, size, NULL), t->dtype);
  t->total = tvms_te_tensor(te, "total", shape(t, size, NULL), t->dtype);
  t->sums = tvms_te_tensor(te, "sums", shape(t, size, t->width), t->dtype);
  write_queries(t);
  fill(t, "greatest", t->greatest,
       tvms_build_min_value(te->unit, t->dtype, TVMS_NO_SPAN));
  fill(t, "total", t->total, tvms_te_const(te, t->dtype, 0));
  fill(t, "sums", t->sums, tvms_te_const(te, t->dtype, 0));
  over_keys(t);
  write_result(t);
  tvms_te_close_around(&stage, "attention", mark, true);
}

static void make_result(tiles *t) {
  const tvms_attention *what = t->what;
  tvms_node *product[TVMS_MOST_ATTENTION_AXES], *dims[TVMS_MOST_ATTENTION_AXES];
  memcpy(product, t->dims, (t->batch_rank + 1) * sizeof *t->dims);
  product[t->batch_rank + 1] = t->width;
  for (uint32_t i = 0; i < what->rank; i++)
    dims[i] = product[what->order[i]];
  tvms_list made = tvms_list_copy(t->te->unit, dims, what->rank);
  t->result = tvms_te_tensor(t->te, "result", made, what->dtype);
}

// The tiles are for many queries only, or for some with many keys: of 24 queries and keys they take a third longer
// than products, of 32 queries and 2048 keys a tenth less.
static void or_few_queries(tiles *t) {
  enum { MANY = 48, MANY_KEYS = 512 };
  tvms_te *te = t->te;
  tvms_node *queries = queries_of(t), *keys = keys_of(t);
  t->query_tile = MANY - 1;
  t->key_tile = keys;
  t->few = true;
  over_queries(t);
  tvms_node *some =
      AND(GE(queries, INDEX(TVMS_ATTENTION_FEW)), GE(keys, INDEX(MANY_KEYS)));
  tvms_te_either(te, OR(GE(queries, INDEX(MANY)), some));
}

static bool describe(tvms_legal *legal) {
  const tvms_attention *what = legal->what;
  legal->name = "attention_tiles";
  bool exact = what->dtype.bits == 64;
  tiles t = {.legal = legal,
             .te = &legal->te,
             .what = what,
             .dtype = TVMS_DTYPE(FLOAT, exact ? 64 : 32),
             .batch_rank = what->rank - 2};
  t.q = tvms_legal_tensor(legal, what->q.value);
  t.k = tvms_legal_tensor(legal, what->k.value);
  t.v = tvms_legal_tensor(legal, what->v.value);
  for (uint32_t i = 0; i < what->step_count; i++) {
    const tvms_attention_step *step = &what->steps[i];
    for (uint32_t n = 0; n < (step->op == TVMS_R_where ? 2 : 1); n++)
      t.others[i][n] = tvms_legal_operand(legal, step->others[n].value);
  }
  for (uint32_t i = 0; i < what->rank; i++)
    t.dims[i] = tvms_legal_expr(legal, what->dims[i]);
  t.width = tvms_legal_expr(legal, what->width);
  t.depth = tvms_legal_expr(legal, what->depth);
  make_result(&t);
  t.query_tile = what->query_tile;
  t.key_tile = tvms_te_index(t.te, what->key_tile);
  over_queries(&t);
  if (!tvms_node_is_int_imm(queries_of(&t))) or_few_queries(&t);
  return tvms_legal_return(legal, t.result);
}

bool tvms_legalize_attention_tiles(tvms_unit *unit, tvms_unit *caller,
                                   const tvms_call *call,
                                   const tvms_attention *attention,
                                   tvms_legalized *result) {
  return tvms_legalize_as(describe, unit, caller, call, attention, result);
}
