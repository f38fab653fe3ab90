// Making the steps of an entry: values, checks, sizes.
#include "backend/core/entry_maker.h"

#include "interp/interp.h"
#include "ir/build.h"
#include "support/diag_ids.h"

// ---- Steps ----

uint32_t tvms_entry_add(tvms_entry_maker *m, tvms_entry_step step) {
  step.guarded = m->guards;
  step.fixed = m->fixes;
  m->guards = false;
  tvms_vec_push(&m->context->memory, &m->steps, step);
  return m->steps.len - 1;
}

uint32_t tvms_entry_take(tvms_entry_maker *m, tvms_entry_step_kind kind, uint32_t a,
                         uint32_t b) {
  return tvms_entry_add(m, (tvms_entry_step){.kind = (uint8_t)kind, .a = a, .b = b});
}

uint32_t tvms_entry_take_with(tvms_entry_maker *m, tvms_entry_step_kind kind,
                              uint32_t a, int64_t number) {
  return tvms_entry_add(
      m, (tvms_entry_step){.kind = (uint8_t)kind, .a = a, .number = number});
}

uint32_t tvms_entry_load(tvms_entry_maker *m, tvms_entry_step_kind kind, uint32_t a,
                         tvms_layout_field field) {
  return tvms_entry_add(m, (tvms_entry_step){.kind = (uint8_t)kind,
                                             .field = (uint8_t)field,
                                             .a = a,
                                             .number = tvms_layout_offset(field, 8)});
}

uint32_t tvms_entry_choose(tvms_entry_maker *m, uint32_t condition, uint32_t yes,
                           uint32_t no) {
  return tvms_entry_add(
      m, (tvms_entry_step){TVMS_ENTRY_CHOOSE, .a = condition, .b = yes, .c = no});
}

uint32_t tvms_entry_number(tvms_entry_maker *m, int64_t value) {
  return tvms_entry_take_with(m, TVMS_ENTRY_NUMBER, 0, value);
}

uint32_t tvms_entry_equals(tvms_entry_maker *m, uint32_t value, int64_t constant) {
  return tvms_entry_take_with(m, TVMS_ENTRY_IS, value, constant);
}

uint32_t tvms_entry_either(tvms_entry_maker *m, uint32_t a, uint32_t b) {
  return tvms_entry_take(m, TVMS_ENTRY_EITHER, a, b);
}

uint32_t tvms_entry_either_of(tvms_entry_maker *m, uint32_t value, int64_t one,
                              int64_t other) {
  uint32_t first = tvms_entry_equals(m, value, one);
  return tvms_entry_either(m, first, tvms_entry_equals(m, value, other));
}

uint32_t tvms_entry_negate(tvms_entry_maker *m, uint32_t truth) {
  return tvms_entry_take(m, TVMS_ENTRY_NOT, truth, 0);
}

void tvms_entry_guard(tvms_entry_maker *m) {
  m->guards = true;
}

// ---- Checks ----

void tvms_entry_require(tvms_entry_maker *m, uint32_t truth, const char *error,
                        const char *text) {
  tvms_entry_add(
      m, (tvms_entry_step){TVMS_ENTRY_CHECK, .a = truth, .error = error, .text = text});
}

void tvms_entry_require_same(tvms_entry_maker *m, uint32_t got, uint32_t wanted,
                             const char *text) {
  tvms_entry_add(m, (tvms_entry_step){TVMS_ENTRY_CHECK_EQUAL, .a = got, .b = wanted,
                                      .error = "ValueError", .text = text});
}

void tvms_entry_require_kind(tvms_entry_maker *m, uint32_t argument, uint32_t truth,
                             const char *kind) {
  tvms_entry_require(m, truth, "TypeError",
                     tvms_words_message(&m->words,
                                        tvms_words_expected(&m->words, "%s", kind),
                                        "Mismatched type on argument #%u", argument));
}

// ---- Sizes ----

TVMS_NORETURN static void refuse(tvms_entry_maker *m, const tvms_node *size) {
  tvms_diag_report(&m->context->diags, TVMS_D_not_compiled, size->span,
                   "this size of a parameter");
  tvms_memory_unwind(&m->context->memory, TVMS_FOUND_ERRORS);
}

uint32_t tvms_entry_narrow(tvms_entry_maker *m, uint32_t value, tvms_dtype dtype) {
  if (tvms_dtype_is_bool(dtype))
    return tvms_entry_negate(m, tvms_entry_equals(m, value, 0));
  if (dtype.bits >= 64) return value;
  bool is_signed = dtype.code == TVMS_INT;
  return tvms_entry_take_with(m, is_signed ? TVMS_ENTRY_SIGNED : TVMS_ENTRY_UNSIGNED,
                              value, dtype.bits);
}

// The same arithmetic without wrapping.
static tvms_entry_step_kind growing(tvms_entry_step_kind kind) {
  switch ((int)kind) {
  case TVMS_ENTRY_ADD: return TVMS_ENTRY_GROW_ADD;
  case TVMS_ENTRY_SUB: return TVMS_ENTRY_GROW_SUB;
  case TVMS_ENTRY_MUL: return TVMS_ENTRY_GROW_MUL;
  default: return kind;
  }
}

static uint32_t at_least(tvms_entry_maker *m, tvms_node *a, tvms_node *b) {
  uint32_t left = tvms_entry_size_of(m, a), right = tvms_entry_size_of(m, b);
  return tvms_entry_take(m, TVMS_ENTRY_AT_LEAST, left, right);
}

static uint32_t truth_of(tvms_entry_maker *m, const tvms_node *condition) {
  const tvms_binary *binary =
      tvms_node_is_binary(condition) ? tvms_as_binary(condition) : NULL;
  switch ((int)condition->kind) {
  case TVMS_NODE_GE: return at_least(m, binary->a, binary->b);
  case TVMS_NODE_LE: return at_least(m, binary->b, binary->a);
  case TVMS_NODE_LT: return tvms_entry_negate(m, at_least(m, binary->a, binary->b));
  case TVMS_NODE_GT: return tvms_entry_negate(m, at_least(m, binary->b, binary->a));
  case TVMS_NODE_NOT:
    return tvms_entry_negate(m, truth_of(m, tvms_as_not(condition)->a));
  case TVMS_NODE_EQ:
  case TVMS_NODE_NE: {
    uint32_t a = tvms_entry_size_of(m, binary->a), b = tvms_entry_size_of(m, binary->b);
    uint32_t same = tvms_entry_take(m, TVMS_ENTRY_EQUAL, a, b);
    return condition->kind == TVMS_NODE_EQ ? same : tvms_entry_negate(m, same);
  }
  case TVMS_NODE_AND:
  case TVMS_NODE_OR: {
    uint32_t a = truth_of(m, binary->a), b = truth_of(m, binary->b);
    bool both = condition->kind == TVMS_NODE_AND;
    return tvms_entry_take(m, both ? TVMS_ENTRY_BOTH : TVMS_ENTRY_EITHER, a, b);
  }
  default: refuse(m, condition);
  }
}

static uint32_t chosen(tvms_entry_maker *m, const tvms_node_choice *choice) {
  bool outer = m->chooses;
  uint32_t truth = truth_of(m, choice->condition);
  m->chooses = true;
  uint32_t first = tvms_entry_size_of(m, choice->yes);
  uint32_t second = tvms_entry_size_of(m, choice->no);
  m->chooses = outer;
  return tvms_entry_choose(m, truth, first, second);
}

static uint32_t compound_size(tvms_entry_maker *m, const tvms_node *size) {
  static const struct {
    tvms_node_kind kind;
    tvms_entry_step_kind step;
  } forms[] = {
      {TVMS_NODE_ADD, TVMS_ENTRY_ADD},
      {TVMS_NODE_SUB, TVMS_ENTRY_SUB},
      {TVMS_NODE_MUL, TVMS_ENTRY_MUL},
      {TVMS_NODE_DIV, TVMS_ENTRY_DIV},
      {TVMS_NODE_MOD, TVMS_ENTRY_MOD},
      {TVMS_NODE_FLOOR_DIV, TVMS_ENTRY_FLOOR_DIV},
      {TVMS_NODE_FLOOR_MOD, TVMS_ENTRY_FLOOR_MOD},
      {TVMS_NODE_MIN, TVMS_ENTRY_MIN},
      {TVMS_NODE_MAX, TVMS_ENTRY_MAX},
  };
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    if (forms[i].kind != size->kind) continue;
    const tvms_binary *binary = tvms_as_binary(size);
    uint32_t a = tvms_entry_size_of(m, binary->a), b = tvms_entry_size_of(m, binary->b);
    bool divides =
        forms[i].step >= TVMS_ENTRY_DIV && forms[i].step <= TVMS_ENTRY_FLOOR_MOD;
    if (divides && binary->b->kind != TVMS_NODE_INT_IMM) {
      if (m->chooses) refuse(m, size);
      tvms_entry_add(
          m, (tvms_entry_step){TVMS_ENTRY_CHECK,
                               .a = tvms_entry_negate(m, tvms_entry_equals(m, b, 0)),
                               .error = "ZeroDivisionError", .text = "division by zero",
                               .span = size->span});
      tvms_entry_guard(m);
    }
    return tvms_entry_take(m, m->grows ? growing(forms[i].step) : forms[i].step, a, b);
  }
  refuse(m, size);
}

uint32_t tvms_entry_size_of(tvms_entry_maker *m, const tvms_node *size) {
  if (size->kind == TVMS_NODE_INT_IMM)
    return tvms_entry_number(m, tvms_as_int_imm(size)->value);
  if (size->kind == TVMS_NODE_VAR) {
    if (!m->vars[size->id]) refuse(m, size);
    return m->vars[size->id] - 1;
  }
  if (size->kind == TVMS_NODE_CAST) {
    uint32_t value = tvms_entry_size_of(m, tvms_as_cast(size)->value);
    return tvms_entry_narrow(m, value, size->dtype);
  }
  tvms_node_choice choice = tvms_node_choice_of(size);
  if (choice.condition) return chosen(m, &choice);
  return compound_size(m, size);
}

void tvms_entry_know(tvms_entry_maker *m, const tvms_node *var, const char *where,
                     uint32_t value) {
  tvms_words_size_known size = {var, where};
  tvms_vec_push(&m->context->memory, &m->words.known, size);
  m->vars[var->id] = value + 1;
}

int64_t tvms_entry_element_bytes(const tvms_buffer *buffer) {
  tvms_dl_type type = tvms_interp_dl_type_of(buffer->element);
  return (int64_t)(tvms_dl_element_size(type) * type.lanes);
}
