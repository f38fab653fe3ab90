// Nests of loops around one store, run by whole rows.
//
//   for a, b, c in T.grid(64, 576, 64):               row: c
//       C[a, b, c] = A[a * 64 + c, b // 9, b % 9]     at the start of each row: where the elements are,
//                                                     and how far apart; then 64 of them are copied
//
// Loops in whose variables all indices grow by constants are one row if the elements lie in it as in one
// loop. Values are elements, or arithmetic of float32 on them. A store may not touch what is loaded, so
// the order in which elements are computed cannot be seen. Nothing is reported here: what might be a
// fault, an index outside or a number that wraps, is left to register code, which says where.
#include "interp/nest.h"

#include "interp/meaning.h"
#include "ir/build.h"

#include <string.h>

enum {
  MOST_LOOPS = 8,
  MOST_ACCESSES = 6,
  MOST_DIMENSIONS = 8,
  MOST_DEPTH = 4,   // of arithmetic on elements
  LONG = 4096,      // iterations from which on it is worth looking
  SHORT_ROW = 8,    // elements below which it is not
  CHUNK = 512,      // elements that are computed together
  CLOCK = 1 << 16,  // elements between looks at the clock
  SMALL = 1 << 30,  // int32 cannot wrap below
};

// One load, or the store.
typedef struct {
  const tvms_node *node;
  const tvms_interp_view *view;
  tvms_list indices;
  int64_t step;  // bytes from one element of a row to the next
  char *at;      // the first element of the row
  // How far an index lies below and above that of the first element, at the most.
  int64_t below[MOST_DIMENSIONS], above[MOST_DIMENSIONS];
} access;

typedef struct {
  tvms_interp_frame *f;
  const tvms_for *loops[MOST_LOOPS];
  int64_t extents[MOST_LOOPS];
  int64_t at[MOST_LOOPS];  // where the loops stand; those of the row at 0
  uint32_t count;
  const tvms_block_realize *TVMS_NULLABLE realize;
  const tvms_store *store;
  access accesses[MOST_ACCESSES];  // the store first
  uint32_t access_count;
  uint32_t row;  // the loops from this one on are the row
  int64_t length;
  bool failed;
} nest;

// ---- What the function is ----

static const tvms_node *only_statement(const tvms_node *node) {
  while (node->kind == TVMS_NODE_SEQ && tvms_as_seq(node)->stmts.len == 1)
    node = tvms_as_seq(node)->stmts.items[0];
  return node;
}

static bool is_plain_block(const tvms_node *node) {
  const tvms_block_realize *realize = tvms_as_block_realize(node);
  const tvms_block *block = tvms_as_block(realize->block);
  bool always = !realize->predicate || tvms_node_is_true(realize->predicate);
  return always && !block->init && !block->alloc_buffers.len
         && !block->match_buffers.len
         && block->iter_vars.len == realize->iter_values.len;
}

static bool add_loop(nest *n, const tvms_node *node) {
  const tvms_for *loop = tvms_as_for(node);
  bool counts = n->count < MOST_LOOPS && !loop->step && tvms_node_is_int(loop->min, 0)
                && tvms_node_is_int_imm(loop->extent)
                && tvms_dtype_is_index(loop->var->dtype);
  int64_t extent = counts ? tvms_as_int_imm(loop->extent)->value : 0;
  if (extent <= 0 || extent >= SMALL) return false;
  n->loops[n->count] = loop;
  n->extents[n->count++] = extent;
  return true;
}

// Goes down to the store. The block around it may have variables, others may not.
static bool find_store(nest *n, const tvms_node *node) {
  for (;;) {
    node = only_statement(node);
    if (node->kind == TVMS_NODE_FOR) {
      if (n->realize || !add_loop(n, node)) return false;
      node = tvms_as_for(node)->body;
    } else if (node->kind == TVMS_NODE_BLOCK_REALIZE) {
      if (n->realize || !is_plain_block(node)) return false;
      const tvms_block_realize *realize = tvms_as_block_realize(node);
      if (realize->iter_values.len) n->realize = realize;
      node = tvms_as_block(realize->block)->body;
    } else {
      n->store = node->kind == TVMS_NODE_STORE ? tvms_as_store(node) : NULL;
      return n->store && !n->store->predicate;
    }
  }
}

// ---- Elements ----

static bool is_f32(tvms_dtype dtype) {
  return tvms_dtype_same(dtype, TVMS_DTYPE(FLOAT, 32));
}

// Is an element the same bytes in a register and in memory?
static bool is_copied(tvms_dtype dtype) {
  bool whole = dtype.code == TVMS_INT || dtype.code == TVMS_UINT;
  return dtype.lanes == 1
         && ((whole && dtype.bits >= 8)
             || (dtype.code == TVMS_FLOAT && dtype.bits >= 32));
}

static bool add_access(nest *n, const tvms_node *node, const tvms_node *buffer,
                       tvms_list indices) {
  if (n->access_count == MOST_ACCESSES || indices.len > MOST_DIMENSIONS) return false;
  const tvms_interp_view *view = n->f->views[buffer->id];
  if (!view || !view->defined || !view->whole || view->ndim != indices.len)
    return false;
  n->accesses[n->access_count++] =
      (access){.node = node, .view = view, .indices = indices};
  return true;
}

static bool is_arithmetic(const tvms_node *node) {
  return node->kind == TVMS_NODE_ADD || node->kind == TVMS_NODE_SUB
         || node->kind == TVMS_NODE_MUL || node->kind == TVMS_NODE_DIV;
}

static bool collect(nest *n, const tvms_node *node, uint32_t depth) {
  if (node->kind == TVMS_NODE_BUFFER_LOAD) {
    const tvms_buffer_load *load = tvms_as_buffer_load(node);
    return !load->predicate && is_copied(node->dtype)
           && tvms_dtype_same(tvms_as_buffer(load->buffer)->element, node->dtype)
           && add_access(n, node, load->buffer, load->indices);
  }
  if (!is_f32(node->dtype) || depth == MOST_DEPTH) return false;
  if (node->kind == TVMS_NODE_FLOAT_IMM) return true;
  return is_arithmetic(node) && collect(n, tvms_as_binary(node)->a, depth + 1)
         && collect(n, tvms_as_binary(node)->b, depth + 1);
}

// Does the store touch nothing that is loaded?
static bool is_apart(const nest *n) {
  const tvms_interp_region *to = &n->accesses[0].view->memory;
  for (uint32_t i = 1; i < n->access_count; i++) {
    const tvms_interp_region *from = &n->accesses[i].view->memory;
    if (to->base < from->base + from->bytes && from->base < to->base + to->bytes)
      return false;
  }
  return true;
}

// ---- Indices ----

// The place among the loops of a variable that counts one; MOST_LOOPS for another one.
static uint32_t loop_of(const nest *n, const tvms_node *var) {
  uint32_t i = 0;
  while (i < n->count && n->loops[i]->var != var)
    i++;
  return i < n->count ? i : MOST_LOOPS;
}

// What a variable of the block stands for, or NULL.
static const tvms_node *TVMS_NULLABLE meaning_of(const nest *n, const tvms_node *var) {
  if (!n->realize) return NULL;
  tvms_list axes = tvms_as_block(n->realize->block)->iter_vars;
  for (uint32_t i = 0; i < axes.len; i++) {
    if (tvms_as_iter_var(axes.items[i])->var == var)
      return n->realize->iter_values.items[i];
  }
  return NULL;
}

// Fails where 32 bits might wrap, in the row or at its start.
static int64_t checked(nest *n, int64_t value) {
  bool fits = value > -SMALL && value < SMALL;
  if (!fits) n->failed = true;
  return fits ? value : 0;
}

static bool is_divided(const tvms_node *node) {
  bool divides = node->kind == TVMS_NODE_FLOOR_DIV || node->kind == TVMS_NODE_FLOOR_MOD;
  const tvms_node *by = divides ? tvms_as_binary(node)->b : NULL;
  return by && tvms_node_is_int_imm(by) && tvms_as_int_imm(by)->value > 0;
}

static int64_t index_at(nest *n, const tvms_node *node);

static int64_t binary_at(nest *n, const tvms_node *node) {
  const tvms_binary *binary = tvms_as_binary(node);
  int64_t a = index_at(n, binary->a), b = index_at(n, binary->b);
  switch ((int)node->kind) {
  case TVMS_NODE_ADD: return checked(n, a + b);
  case TVMS_NODE_SUB: return checked(n, a - b);
  case TVMS_NODE_MUL: return checked(n, a * b);
  default: break;
  }
  if (!is_divided(node)) {
    n->failed = true;
    return 0;
  }
  int64_t quotient = a / b, rest = a % b;
  if (rest < 0) quotient--, rest += b;
  return node->kind == TVMS_NODE_FLOOR_DIV ? quotient : rest;
}

// The value of an index where the loops stand.
static int64_t index_at(nest *n, const tvms_node *node) {
  if (node->kind == TVMS_NODE_INT_IMM) return checked(n, tvms_as_int_imm(node)->value);
  bool plain = tvms_dtype_is_index(node->dtype) && node->dtype.bits >= 32;
  if (plain && node->kind == TVMS_NODE_CAST)
    return index_at(n, tvms_as_cast(node)->value);
  if (plain && tvms_node_is_binary(node)) return binary_at(n, node);
  if (plain && node->kind == TVMS_NODE_VAR) {
    uint32_t loop = loop_of(n, node);
    if (loop < MOST_LOOPS) return n->at[loop];
    const tvms_node *means = meaning_of(n, node);
    if (means) return index_at(n, means);
    if (n->f->bound[node->id]) return checked(n, n->f->vars[node->id].i);
  }
  n->failed = true;
  return 0;
}

// What the index grows by with a loop; fails if that is not the same everywhere.
static int64_t slope_of(nest *n, const tvms_node *node, uint32_t loop) {
  if (node->kind == TVMS_NODE_INT_IMM) return 0;
  if (node->kind == TVMS_NODE_CAST) return slope_of(n, tvms_as_cast(node)->value, loop);
  if (node->kind == TVMS_NODE_VAR) {
    uint32_t own = loop_of(n, node);
    const tvms_node *means = own < MOST_LOOPS ? NULL : meaning_of(n, node);
    return means ? slope_of(n, means, loop) : own == loop;
  }
  if (!tvms_node_is_binary(node)) {
    n->failed = true;
    return 0;
  }
  const tvms_binary *binary = tvms_as_binary(node);
  int64_t a = slope_of(n, binary->a, loop), b = slope_of(n, binary->b, loop), s = 0;
  bool constant = !a && !b;
  if (node->kind == TVMS_NODE_ADD)
    s = a + b;
  else if (node->kind == TVMS_NODE_SUB)
    s = a - b;
  else if (node->kind == TVMS_NODE_MUL && tvms_node_is_int_imm(binary->b) && !b)
    s = a * checked(n, tvms_as_int_imm(binary->b)->value);
  else if (node->kind == TVMS_NODE_MUL && tvms_node_is_int_imm(binary->a) && !a)
    s = b * checked(n, tvms_as_int_imm(binary->a)->value);
  else if (!constant)
    n->failed = true;
  bool small = s > -SMALL && s < SMALL && s * n->extents[loop] > -SMALL
               && s * n->extents[loop] < SMALL;
  if (!small) n->failed = true;
  return small ? s : 0;
}

// ---- Rows ----

// Bytes that an access moves by with a loop; fails where it would leave its buffer.
static int64_t step_of(nest *n, const access *x, uint32_t loop) {
  int64_t step = 0;
  for (uint32_t i = 0; i < x->indices.len; i++) {
    int64_t slope = slope_of(n, x->indices.items[i], loop);
    int64_t reach = slope * (n->extents[loop] - 1), extent = x->view->shape[i];
    if (reach >= extent || reach <= -extent) n->failed = true;
    if (reach && !n->failed) step += slope * x->view->strides[i];
  }
  return step * (int64_t)x->view->size;
}

// Takes one loop more into the row, if its elements lie behind those of the row.
static bool lengthen(nest *n, uint32_t loop) {
  int64_t steps[MOST_ACCESSES];
  bool first = n->length == 1, single = n->extents[loop] == 1;
  for (uint32_t i = 0; i < n->access_count; i++) {
    steps[i] = step_of(n, &n->accesses[i], loop);
    if (n->failed) return false;
    if (!first && !single && steps[i] != n->accesses[i].step * n->length) return false;
  }
  for (uint32_t i = 0; i < n->access_count && first && !single; i++)
    n->accesses[i].step = steps[i];
  n->length *= n->extents[loop];
  n->row = loop;
  return true;
}

static void find_reach(nest *n, access *x) {
  for (uint32_t k = 0; k < x->indices.len; k++) {
    for (uint32_t i = n->row; i < n->count; i++) {
      int64_t reach = slope_of(n, x->indices.items[k], i) * (n->extents[i] - 1);
      if (reach < 0)
        x->below[k] -= reach;
      else
        x->above[k] += reach;
    }
  }
}

static bool find_row(nest *n) {
  n->length = 1;
  n->row = n->count;
  while (n->row && lengthen(n, n->row - 1)) {
  }
  n->failed = false;
  for (uint32_t i = 0; i < n->access_count; i++)
    find_reach(n, &n->accesses[i]);
  return n->length >= SHORT_ROW;
}

// Finds where the elements of the row are; false if some might be outside.
static bool open_row(nest *n) {
  for (uint32_t i = 0; i < n->access_count; i++) {
    access *x = &n->accesses[i];
    int64_t flat = x->view->offset;
    for (uint32_t k = 0; k < x->indices.len; k++) {
      int64_t index = index_at(n, x->indices.items[k]);
      bool inside = index >= x->below[k] && index + x->above[k] < x->view->shape[k];
      if (!inside) return false;
      flat += index * x->view->strides[k];
    }
    x->at = (char *)x->view->data + flat * (int64_t)x->view->size;
  }
  return !n->failed;
}

// The next row; false behind the last one.
static bool next_row(nest *n) {
  for (uint32_t i = n->row; i-- > 0;) {
    if (++n->at[i] < n->extents[i]) return true;
    n->at[i] = 0;
  }
  return false;
}

// ---- Elements of a row ----

#define COPY(type)                                                                     \
  for (int64_t i = 0; i < count; i++) {                                                \
    type element;                                                                      \
    memcpy(&element, from + i * from_step, sizeof element);                            \
    memcpy(to + i * to_step, &element, sizeof element);                                \
  }                                                                                    \
  return

static void copy(char *to, int64_t to_step, const char *from, int64_t from_step,
                 int64_t count, size_t size) {
  if (to_step == (int64_t)size && from_step == to_step) {
    memcpy(to, from, (size_t)count * size);
    return;
  }
  switch (size) {
  case 1: COPY(uint8_t);
  case 2: COPY(uint16_t);
  case 4: COPY(uint32_t);
  default: COPY(uint64_t);
  }
}

static const access *access_of(const nest *n, const tvms_node *node) {
  uint32_t i = 1;
  while (n->accesses[i].node != node)
    i++;
  return &n->accesses[i];
}

// out = a op b, element by element.
static void combine(int kind, float *out, const float *other, int64_t count) {
  switch (kind) {
  case TVMS_NODE_ADD:
    for (int64_t i = 0; i < count; i++)
      out[i] = out[i] + other[i];
    return;
  case TVMS_NODE_SUB:
    for (int64_t i = 0; i < count; i++)
      out[i] = out[i] - other[i];
    return;
  case TVMS_NODE_MUL:
    for (int64_t i = 0; i < count; i++)
      out[i] = out[i] * other[i];
    return;
  default:
    for (int64_t i = 0; i < count; i++)
      out[i] = out[i] / other[i];
  }
}

// Elements `from` to `from + count` of the value of a row.
static void compute(const nest *n, const tvms_node *node, int64_t from, int64_t count,
                    float *out) {
  if (node->kind == TVMS_NODE_BUFFER_LOAD) {
    const access *x = access_of(n, node);
    copy((char *)out, sizeof *out, x->at + from * x->step, x->step, count, sizeof *out);
  } else if (node->kind == TVMS_NODE_FLOAT_IMM) {
    for (int64_t i = 0; i < count; i++)
      out[i] = (float)tvms_as_float_imm(node)->value;
  } else {
    float other[CHUNK];
    compute(n, tvms_as_binary(node)->a, from, count, out);
    compute(n, tvms_as_binary(node)->b, from, count, other);
    combine((int)node->kind, out, other, count);
  }
}

static void run_row(const nest *n) {
  const access *to = &n->accesses[0];
  if (n->store->value->kind == TVMS_NODE_BUFFER_LOAD) {
    const access *from = &n->accesses[1];
    copy(to->at, to->step, from->at, from->step, n->length, to->view->size);
    return;
  }
  for (int64_t at = 0; at < n->length; at += CHUNK) {
    float chunk[CHUNK];
    int64_t count = n->length - at < CHUNK ? n->length - at : CHUNK;
    compute(n, n->store->value, at, count, chunk);
    copy(to->at + at * to->step, to->step, (const char *)chunk, sizeof *chunk, count,
         sizeof *chunk);
  }
}

// ---- All of it ----

// Steps of all loops, which a program has a limit of; 0 if they are few or too many.
static uint64_t count_steps(const nest *n) {
  uint64_t steps = 0, product = 1;
  for (uint32_t i = 0; i < n->count; i++) {
    if (__builtin_mul_overflow(product, (uint64_t)n->extents[i], &product)) return 0;
    if (__builtin_add_overflow(steps, product, &steps)) return 0;
  }
  const tvms_interp *interp = n->f->interp;
  bool fits = !interp->step_limit
              || (interp->steps < interp->step_limit
                  && steps < interp->step_limit - interp->steps);
  return fits && product >= LONG ? steps : 0;
}

bool tvms_interp_run_nest(tvms_interp_frame *f) {
  nest n = {.f = f};
  if (!find_store(&n, tvms_as_prim_func(f->member->function)->body)) return false;
  uint64_t steps = count_steps(&n);
  const tvms_node *buffer = n.store->buffer, *value = n.store->value;
  bool fits = steps && is_copied(tvms_as_buffer(buffer)->element)
              && tvms_dtype_same(tvms_as_buffer(buffer)->element, value->dtype)
              && add_access(&n, &n.store->head, buffer, n.store->indices)
              && collect(&n, value, 0) && is_apart(&n) && find_row(&n);
  if (!fits) return false;
  int64_t clock = 0;
  do {
    if (!open_row(&n)) return false;
    run_row(&n);
    clock += n.length;
    if (clock >= CLOCK) tvms_memory_check_time(&f->context->memory), clock = 0;
  } while (next_row(&n));
  f->interp->steps += steps;
  return true;
}
