// The PrimFunc that samples from running sums of probabilities, as TVM has it written out: its
// sizes are symbols of its own, whatever the caller's are.
#include "te/sample_index.h"

#include "structinfo/complete.h"
#include "te/element.h"
#include "te/extern.h"
#include "te/nest.h"

#include <string.h>

enum { SUMS, SAMPLES, ROWS, PLACES, TENSORS };

typedef struct {
  tvms_te *te;
  tvms_node *tensors[TENSORS];
  tvms_node *row, *place;  // the sample, and the place that is looked at
  tvms_node *width;        // of the rows of sums
} sampler;

static tvms_sym symbol(tvms_te *te, const char *text) {
  return tvms_symbol_intern(te->unit->context, text, strlen(text));
}

static tvms_node *size(tvms_te *te, const char *name) {
  return tvms_var_new(te->unit, symbol(te, name), TVMS_DTYPE(INT, 64), TVMS_NO_SPAN);
}

// A parameter and its buffer.
static tvms_node *tensor(tvms_te *te, const char *param, const char *name,
                         tvms_dtype dtype, tvms_node *rows, tvms_node *columns) {
  tvms_unit *unit = te->unit;
  tvms_node *both[] = {rows, columns};
  tvms_buffer *buffer = tvms_node_make(unit, BUFFER, TVMS_NO_SPAN);
  buffer->name = symbol(te, name);
  buffer->data = tvms_pointer_var_new(unit, buffer->name, dtype, 0, TVMS_NO_SPAN);
  buffer->element = dtype;
  buffer->shape = tvms_list_copy(unit, both, 2);
  buffer->elem_offset = INDEX(0);
  buffer->align = 64;
  buffer->offset_factor = 1;
  tvms_node *var =
      tvms_pointer_var_new(unit, symbol(te, param), (tvms_dtype){0}, 0, TVMS_NO_SPAN);
  tvms_vec_push(&unit->context->memory, &te->params, var);
  tvms_vec_push(&unit->context->memory, &te->buffers, &buffer->head);
  return &buffer->head;
}

static tvms_node *of_sample(sampler *s, uint32_t which) {
  tvms_te *te = s->te;
  tvms_node *at[] = {s->row, INDEX(0)};
  return tvms_te_load(te, s->tensors[which], at, 2);
}

static tvms_node *sum_at(sampler *s, tvms_node *place) {
  tvms_node *at[] = {of_sample(s, ROWS), place};
  return tvms_te_load(s->te, s->tensors[SUMS], at, 2);
}

static tvms_node *found(sampler *s, tvms_node *place) {
  tvms_te *te = s->te;
  tvms_node *at[] = {s->row, INT32(0)};
  return tvms_te_store(te, s->tensors[PLACES], at, 2, place);
}

// The place is found if the sum there is greater, and the one before it is not.
static tvms_node *look(sampler *s) {
  tvms_te *te = s->te;
  tvms_node *before = sum_at(s, SUB(s->place, INT32(1)));
  tvms_node *is_first = EQ(s->place, INT32(0));
  tvms_node *is_last = EQ(ADD(s->place, INT32(1)), s->width);
  tvms_node *greater = LT(of_sample(s, SAMPLES), sum_at(s, s->place));
  tvms_node *otherwise =
      tvms_te_when(te, GE(of_sample(s, SAMPLES), before), found(s, s->place));
  tvms_node *turn = tvms_te_when(te, is_first, found(s, INT32(0)));
  if (!turn || !otherwise) return NULL;
  tvms_as_if_then_else(turn)->else_case = otherwise;
  return tvms_te_when(te, OR(greater, is_last), turn);
}

static tvms_node *function_of(tvms_te *te) {
  tvms_unit *unit = te->unit;
  tvms_prim_func *function = tvms_node_make(unit, PRIM_FUNC, TVMS_NO_SPAN);
  function->head.flags = TVMS_FLAG_PRIVATE | TVMS_FLAG_S_TIR;
  function->params = tvms_list_copy(unit, te->params.items, te->params.len);
  function->buffers = tvms_list_copy(unit, te->buffers.items, te->buffers.len);
  function->body = te->stages.items[0];
  tvms_complete_prim_func(unit, &function->head, NULL, 0);
  return &function->head;
}

tvms_node *tvms_te_sample_index(tvms_unit *unit, const tvms_te_sample_dtypes *dtypes) {
  bool same = tvms_dtype_same(dtypes->sums, dtypes->samples);
  if (!same && !tvms_release_has(unit->dialect, TVMS_FACT_relax_overrides_orderings))
    return NULL;
  tvms_te description, *te = &description;
  tvms_te_init(te, unit);
  sampler s = {.te = te, .width = size(te, "vocab_size")};
  tvms_node *batch = size(te, "batch"), *samples = size(te, "out_batch");
  tvms_node *one = INT32(1);
  s.tensors[SUMS] = tensor(te, "A", "prob", dtypes->sums, batch, s.width);
  s.tensors[SAMPLES] = tensor(te, "B", "usample", dtypes->samples, samples, one);
  s.tensors[ROWS] = tensor(te, "C", "sample_indices", dtypes->rows, samples, one);
  s.tensors[PLACES] = tensor(te, "D", "output_index", dtypes->places, samples, one);
  tvms_node *extents[] = {samples, s.width};
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_list_copy(unit, extents, 2), "ax");
  s.row = stage.axes.items[0];
  s.place = stage.axes.items[1];
  tvms_node *body = look(&s);
  if (body) tvms_te_nest(&stage, "T_get_sample_index", NULL, body);
  tvms_te_end_stage(&stage);
  tvms_node *function = body ? function_of(te) : NULL;
  tvms_te_fini(te);
  return function;
}
