// What a call of an intrinsic that is written with other arguments may be given: choices of
// its parameters, and which of them go together.
#include "parser/device/wrapper_check.h"

#include "ir/tir_op.h"
#include "parser/eval/convert.h"

#include <stdio.h>
#include <string.h>

int tvms_wrapper_param(const tvms_wrapper_work *w, const char *name) {
  tvms_context *context = w->reader->context;
  for (uint32_t i = 0; i < w->signature->count; i++) {
    if (strcmp(tvms_symbol_text(context, w->signature->params[i].name), name) == 0)
      return (int)i;
  }
  return TVMS_WRAPPER_NO_PARAM;
}

// The value of a parameter; nothing if the signature has it not.
tvms_eval_value tvms_wrapper_arg(const tvms_wrapper_work *w, int param) {
  return param == TVMS_WRAPPER_NO_PARAM ? TVMS_NOTHING : w->args[param];
}

bool tvms_wrapper_is_true(tvms_eval_value value) {
  switch (value.kind) {
  case TVMS_EVAL_NONE: return false;
  case TVMS_EVAL_BOOL:
  case TVMS_EVAL_INT: return value.as.i != 0;
  case TVMS_EVAL_STR: return value.len != 0;
  case TVMS_EVAL_NODE:
    return value.as.node->kind != TVMS_NODE_INT_IMM
           || tvms_as_int_imm(value.as.node)->value != 0;
  default: return true;
  }
}

int64_t tvms_wrapper_count_of(tvms_eval_value value) {
  if (value.kind == TVMS_EVAL_NONE) return 0;
  return tvms_eval_value_is_sequence(value) ? value.len : 1;
}

static bool is_choice(tvms_wrapper_slice texts, const char *text, size_t len) {
  for (uint32_t i = 0; i < texts.count; i++) {
    const char *choice = tvms_wrapper_texts[texts.first + i];
    if (strlen(choice) == len && memcmp(choice, text, len) == 0) return true;
  }
  return false;
}

enum { NUMBER = 24 };

// The text of a value that is a text or a number; NULL for another.
static const char *text_of(tvms_eval_value value, char number[NUMBER], size_t *len) {
  *len = value.len;
  if (value.kind == TVMS_EVAL_STR) return value.as.text;
  if (value.kind != TVMS_EVAL_INT) return NULL;
  *len = (size_t)snprintf(number, NUMBER, "%lld", (long long)value.as.i);
  return number;
}

static void check_choice(tvms_wrapper_work *w, const tvms_wrapper_choice *choice) {
  int i = choice->param;
  tvms_eval_value value = w->args[i];
  char number[NUMBER];
  size_t len;
  const char *text = text_of(value, number, &len);
  if (value.kind == TVMS_EVAL_INT) {
    // Numbers were always looked at.
  } else if (value.kind != TVMS_EVAL_STR
             || !tvms_release_has(w->reader->dialect, TVMS_FACT_wrappers_are_checked)) {
    return;
  }
  if (is_choice(choice->texts, text, len)) return;
  const char *name = tvms_symbol_text(w->reader->context, w->signature->params[i].name);
  char allowed[256];
  (void)snprintf(allowed, sizeof allowed, "one of %s", choice->allowed);
  tvms_eval_report_wrong_type(w->reader, w->refs[i] ? w->refs[i] : w->call, name,
                              allowed, value);
  w->failed = true;
}

// Integers as addresses are those of shared memory, in 32 bits.
static void check_address(tvms_wrapper_work *w, const char *parameter) {
  int i = tvms_wrapper_param(w, parameter);
  tvms_eval_value value = tvms_wrapper_arg(w, i),
                  space = tvms_wrapper_arg(w, tvms_wrapper_param(w, "space"));
  tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  if (i < 0 || !node || tvms_node_class_of(node) != TVMS_CLASS_EXPR) return;
  bool integer = node->dtype.code == TVMS_INT || node->dtype.code == TVMS_UINT;
  bool shared = space.kind != TVMS_EVAL_STR
                || (space.len >= 6 && memcmp(space.as.text, "shared", 6) == 0);
  bool narrow = node->dtype.code == TVMS_UINT && node->dtype.bits == 32;
  if (!integer || (narrow && shared)) return;
  tvms_eval_report_wrong_type(w->reader, w->refs[i], "an address",
                              "a pointer, or uint32 in a shared space", value);
  w->failed = true;
}

static bool holds(const tvms_wrapper_work *w, const tvms_wrapper_term *term) {
  tvms_eval_value value = tvms_wrapper_arg(w, term->param);
  bool given =
      tvms_eval_value_is_sequence(value) ? value.len != 0 : tvms_wrapper_is_true(value);
  char number[NUMBER];
  size_t len;
  switch ((tvms_wrapper_term_kind)term->kind) {
  case TVMS_WRAPPER_TERM_GIVEN: return given;
  case TVMS_WRAPPER_TERM_NOT_GIVEN: return !given;
  case TVMS_WRAPPER_TERM_LIST: return tvms_eval_value_is_sequence(value);
  case TVMS_WRAPPER_TERM_COUNT: return tvms_wrapper_count_of(value) == term->count;
  case TVMS_WRAPPER_TERM_ONE_OF: break;
  }
  const char *text = text_of(value, number, &len);
  return text && is_choice(term->texts, text, len);
}

static bool hold(const tvms_wrapper_work *w, tvms_wrapper_slice terms) {
  for (uint32_t i = 0; i < terms.count; i++) {
    if (!holds(w, &tvms_wrapper_terms[terms.first + i])) return false;
  }
  return true;
}

// True if a term depends on what only Python knows.
static bool is_open(const tvms_wrapper_work *w, tvms_wrapper_slice terms) {
  for (uint32_t i = 0; i < terms.count; i++) {
    tvms_eval_value value =
        tvms_wrapper_arg(w, tvms_wrapper_terms[terms.first + i].param);
    if (!tvms_eval_value_is_known(value)) return true;
  }
  return false;
}

// Reports the first rule that is not kept; false: there is one.
static bool keeps_rules(tvms_wrapper_work *w) {
  tvms_wrapper_slice rules = w->wrapper->rules;
  for (uint32_t i = 0; i < rules.count; i++) {
    const tvms_wrapper_rule *rule = &tvms_wrapper_rules[rules.first + i];
    if (!hold(w, rule->when) || hold(w, rule->needs)) continue;
    if (is_open(w, rule->when) || is_open(w, rule->needs)) continue;
    tvms_reader_report(w->reader, wrapper_rule, w->call, w->wrapper->path,
                       rule->when_text, rule->needs_text);
    w->failed = true;
    return false;
  }
  return true;
}

void tvms_wrapper_check(tvms_wrapper_work *w) {
  bool checked = tvms_release_has(w->reader->dialect, TVMS_FACT_wrappers_are_checked);
  tvms_wrapper_slice choices = w->wrapper->choices;
  if (checked && !keeps_rules(w)) return;
  for (uint32_t i = 0; i < choices.count; i++) {
    check_choice(w, &tvms_wrapper_choices[choices.first + i]);
  }
  if (!checked) return;
  if (w->wrapper->opcode == TVMS_TIR_ptx__ld) check_address(w, "addr");
  if (w->wrapper->opcode == TVMS_TIR_ptx__st) check_address(w, "address");
}
