// What values are assumed to be that only Python knows.
#include "parser/eval/assume.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "parser/eval/convert.h"
#include "parser/eval/eval.h"
#include "parser/eval/ops.h"

#include <stdio.h>
#include <string.h>

static bool is_of_python(tvms_eval_value value) {
  return value.kind == TVMS_EVAL_UNKNOWN && value.flags & TVMS_EVAL_OF_PYTHON;
}

static bool is_settled(tvms_eval_value value) {
  if (value.kind == TVMS_EVAL_UNKNOWN) return is_of_python(value) && value.as.i == 0;
  bool settled = true;
  bool many = tvms_eval_value_is_sequence(value) && !(value.flags & TVMS_EVAL_SETTLED);
  for (uint32_t i = 0; many && settled && i < value.len; i++) {
    settled = is_settled(value.as.items[i]);
  }
  return settled;
}

tvms_eval_value tvms_eval_assume_of_python(tvms_reader *reader, tvms_eval_value value) {
  if (value.kind == TVMS_EVAL_UNKNOWN) return TVMS_UNKNOWN_OF_PYTHON;
  if (!is_settled(value)) {
    value.as.items = tvms_eval_keep_items(reader, value.as.items, value.len);
    for (uint32_t i = 0; i < value.len; i++)
      value.as.items[i] = tvms_eval_assume_of_python(reader, value.as.items[i]);
  }
  // Constants stand in each other, thousands deep: no part is gone through again.
  if (tvms_eval_value_is_sequence(value)) value.flags |= TVMS_EVAL_SETTLED;
  return value;
}

// ---- The table ------------------------------------------------------------------------

// More of them in one definition stay unknown.
enum { MOST = 256 };

// 1 + the number of the value that is called `text`, or 0.
static uint32_t find(tvms_reader *reader, uint32_t base, tvms_sym text) {
  tvms_assumptions *all = &reader->assumptions;
  for (uint32_t i = 0; i < all->items.len; i++) {
    const tvms_assumption *old = &all->items.items[i];
    if (old->base == base && old->text == text) return i + 1;
  }
  if (all->items.len == MOST) return 0;
  tvms_assumption made = {.base = base, .text = text};
  tvms_vec_push(&reader->context->memory, &all->items, made);
  return all->items.len;
}

static tvms_eval_value value_of(tvms_reader *reader, uint32_t index);

// 1 + the number of an item of what is called `name`, or 0.
static uint32_t find_item(tvms_reader *reader, uint32_t base, tvms_sym name,
                          uint32_t number) {
  char text[96];
  int len = snprintf(text, sizeof text, "%s[%u]",
                     tvms_symbol_text(reader->context, name), number);
  if (len < 0 || (size_t)len >= sizeof text) return 0;
  return find(reader, base, tvms_symbol_intern(reader->context, text, (size_t)len));
}

// A tuple of variables. The table has as many as there may be, so that readings with another
// number of them ask for nothing new.
static tvms_eval_value sequence(tvms_reader *reader, tvms_assumption whole,
                                uint32_t count) {
  tvms_eval_value items[TVMS_MOST_ASSUMED_ITEMS];
  for (uint32_t i = 0; i < TVMS_MOST_ASSUMED_ITEMS; i++) {
    uint32_t index = find_item(reader, whole.base, whole.text, i);
    if (!index) return TVMS_UNKNOWN_OF_PYTHON;
    tvms_assumption *item = &reader->assumptions.items.items[index - 1];
    if (item->wanted == TVMS_WANTED_NOTHING) item->wanted = TVMS_WANTED_NUMBER;
    item->part = true;
    items[i] = value_of(reader, index);
  }
  return tvms_eval_value_items(TVMS_EVAL_TUPLE,
                               tvms_eval_keep_items(reader, items, count), count);
}

static tvms_node *variable(tvms_reader *reader, tvms_assumption *assumption,
                           const tvms_assumed *values) {
  if (assumption->unit != reader->unit) {
    assumption->unit = reader->unit;
    tvms_dtype dtype = assumption->real ? TVMS_DTYPE(FLOAT, 32) : values->number;
    // What has the sizes of tensors has 64 bits.
    bool sizes = reader->language && reader->language->declare;
    if (sizes && !assumption->real) dtype = TVMS_DTYPE(INT, 64);
    assumption->var = tvms_var_new(reader->unit, assumption->text, dtype, TVMS_NO_SPAN);
    assumption->var->flags |= TVMS_FLAG_ASSUMED;
  }
  return assumption->var;
}

// The value number `index` - 1 of the table.
static tvms_eval_value value_of(tvms_reader *reader, uint32_t index) {
  tvms_eval_value unknown = TVMS_UNKNOWN_OF_PYTHON;
  if (!index) return unknown;
  unknown.as.i = index;
  tvms_assumption *assumption = &reader->assumptions.items.items[index - 1];
  const tvms_assumed *values = reader->assumptions.values;
  if (!values) return unknown;
  switch (assumption->wanted) {
  case TVMS_WANTED_NOTHING: break;
  case TVMS_WANTED_NUMBER:
    if (values->constant && !assumption->real)
      return tvms_eval_value_int(values->constant);
    return tvms_eval_value_node(variable(reader, assumption, values));
  case TVMS_WANTED_TEXT: {
    const tvms_name *name =
        tvms_interner_name(&reader->context->names, assumption->text);
    return tvms_eval_value_text(name->text, name->len);
  }
  case TVMS_WANTED_DTYPE: {
    const char *dtype = assumption->dtype ? assumption->dtype : values->dtype;
    return tvms_eval_value_text(dtype, (uint32_t)strlen(dtype));
  }
  case TVMS_WANTED_ITEMS: return sequence(reader, *assumption, values->items);
  }
  return unknown;
}

// ---- Values of Python -----------------------------------------------------------------

static tvms_eval_value item_of(tvms_reader *reader, const tvms_binding *binding,
                               uint32_t number) {
  return value_of(reader,
                  find_item(reader, binding->span.begin, binding->name, number));
}

static tvms_eval_value assume_items(tvms_reader *reader, const tvms_binding *binding,
                                    tvms_eval_value value) {
  bool copied = false;
  for (uint32_t i = 0; i < value.len; i++) {
    if (!is_of_python(value.as.items[i])) continue;
    if (!copied)
      value.as.items = tvms_eval_keep_items(reader, value.as.items, value.len);
    copied = true;
    value.as.items[i] = item_of(reader, binding, i);
  }
  return value;
}

tvms_eval_value tvms_eval_assume_name(tvms_reader *reader, const tvms_binding *binding,
                                      tvms_eval_value value) {
  if (!reader->assumptions.open) return value;
  if (tvms_eval_value_is_sequence(value)) return assume_items(reader, binding, value);
  if (!is_of_python(value)) return value;
  // What a function of the file was called with has a number already.
  uint32_t index = (uint32_t)value.as.i;
  if (!index) index = find(reader, binding->span.begin, binding->name);
  return value_of(reader, index);
}

tvms_eval_value tvms_eval_assume_part(tvms_reader *reader, tvms_eval_value object,
                                      tvms_ref ref) {
  bool imported = object.kind == TVMS_EVAL_PYTHON;
  if (!reader->assumptions.open || !(imported || object.as.i)) return TVMS_UNKNOWN;
  const tvms_surf *node = tvms_reader_at(reader, ref);
  if (node->kind == TVMS_SURF_SUBSCRIPT) {
    tvms_surf_kind index = (tvms_surf_kind)tvms_reader_at(reader, node->b)->kind;
    if (index != TVMS_SURF_INT && index != TVMS_SURF_UNARY) return TVMS_UNKNOWN;
  }
  uint32_t base =
      imported ? 0 : reader->assumptions.items.items[(uint32_t)object.as.i - 1].base;
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_sym text =
      tvms_symbol_intern(reader->context, reader->surface->source->text + span.begin,
                         span.end - span.begin);
  return value_of(reader, find(reader, base, text));
}

tvms_eval_value tvms_eval_assume_result(tvms_reader *reader, tvms_ref ref, bool real) {
  if (!reader->assumptions.open || !reader->assumptions.values) return TVMS_UNKNOWN;
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_sym text =
      tvms_symbol_intern(reader->context, reader->surface->source->text + span.begin,
                         span.end - span.begin);
  uint32_t index = find(reader, span.begin, text);
  if (!index) return TVMS_UNKNOWN;
  reader->assumptions.items.items[index - 1].real = real;
  reader->assumptions.items.items[index - 1].wanted = TVMS_WANTED_NUMBER;
  return value_of(reader, index);
}

static tvms_assumption *TVMS_NULLABLE asked_of(tvms_reader *reader,
                                               tvms_eval_value value) {
  if (!is_of_python(value) || !value.as.i || !reader->assumptions.open) return NULL;
  return &reader->assumptions.items.items[(uint32_t)value.as.i - 1];
}

void tvms_eval_assume_compared(tvms_reader *reader, tvms_eval_value value) {
  tvms_assumption *assumption = asked_of(reader, value);
  if (!assumption || assumption->wanted >= TVMS_WANTED_DTYPE) return;
  tvms_eval_assume_wanted(reader, value, TVMS_WANTED_DTYPE);
  assumption->compared = true;
}

void tvms_eval_assume_wanted(tvms_reader *reader, tvms_eval_value value,
                             tvms_wanted wanted) {
  tvms_assumption *assumption = asked_of(reader, value);
  if (!assumption) return;
  if (wanted == TVMS_WANTED_DTYPE) assumption->compared = false;
  if (assumption->wanted >= wanted) return;
  assumption->wanted = wanted;
  reader->assumptions.more = true;
}

static tvms_walk_step look_for_other(void *self, tvms_node *node,
                                     tvms_field_role role) {
  (void)self, (void)role;
  bool other = (node->kind == TVMS_NODE_VAR && !(node->flags & TVMS_FLAG_ASSUMED))
               || node->kind == TVMS_NODE_BUFFER_LOAD || node->kind == TVMS_NODE_CALL;
  return other ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// An integer of Python's: a constant, or what is built of assumed ones alone.
static bool is_integer(tvms_reader *reader, tvms_eval_value value) {
  if (value.kind == TVMS_EVAL_INT) return true;
  if (value.kind != TVMS_EVAL_NODE || !tvms_dtype_is_int(value.as.node->dtype))
    return false;
  tvms_visitor visitor = {.enter = look_for_other};
  return tvms_walk(&reader->context->memory, value.as.node, &visitor);
}

tvms_eval_value tvms_eval_assume_operator(tvms_reader *reader, tvms_surf_op op,
                                          tvms_eval_value left, tvms_eval_value right,
                                          tvms_ref ref) {
  if (!reader->assumptions.values || (op != TVMS_OP_POWER && op != TVMS_OP_DIV))
    return TVMS_UNKNOWN;
  bool assumed =
      tvms_eval_assume_is_in(reader, left) || tvms_eval_assume_is_in(reader, right);
  if (!assumed || !is_integer(reader, left) || !is_integer(reader, right))
    return TVMS_UNKNOWN;
  return tvms_eval_assume_result(reader, ref, op == TVMS_OP_DIV);
}

static tvms_walk_step look_for_assumed(void *self, tvms_node *node,
                                       tvms_field_role role) {
  (void)self, (void)role;
  bool assumed = node->kind == TVMS_NODE_VAR && node->flags & TVMS_FLAG_ASSUMED;
  return assumed ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_eval_assume_is_in(tvms_reader *reader, tvms_eval_value value) {
  if (!reader->assumptions.values || value.kind != TVMS_EVAL_NODE) return false;
  tvms_visitor visitor = {.enter = look_for_assumed};
  return !tvms_walk(&reader->context->memory, value.as.node, &visitor);
}
