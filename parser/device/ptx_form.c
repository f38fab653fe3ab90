// Choosing modifiers of forms and deciding what follows from them. A text of a program is
// looked up among the words of the tables once; everything else compares numbers.
#include "parser/device/ptx_form.h"

#include <string.h>

// ---- Words ----------------------------------------------------------------------------------

// The number of a word, or 0 if the tables have none that reads so.
static tvms_ptx_word find_word(const char *text, size_t len) {
  uint32_t low = 1, high = tvms_ptx_word_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const char *word = tvms_ptx_words[middle];
    int order = strncmp(word, text, len);
    if (order == 0 && !word[len]) return (tvms_ptx_word)middle;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return 0;
}

// Where a word stands in a list, or -1.
static int index_in(tvms_ptx_slice list, tvms_ptx_word word) {
  for (uint32_t i = 0; i < list.count; i++) {
    if (tvms_ptx_lists[list.first + i] == word) return (int)i;
  }
  return -1;
}

// ---- Families -------------------------------------------------------------------------------

tvms_ptx_slice tvms_ptx_forms_of(const char *family, size_t len) {
  tvms_ptx_word word = find_word(family, len);
  uint32_t low = 0, high = word ? tvms_ptx_family_count : 0;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (tvms_ptx_families[middle].family == word)
      return tvms_ptx_families[middle].forms;
    if (tvms_ptx_families[middle].family < word)
      low = middle + 1;
    else
      high = middle;
  }
  return (tvms_ptx_slice){0, 0};
}

tvms_ptx_form tvms_ptx_form_of(uint32_t row) {
  tvms_ptx_form form = {.row = (uint16_t)row};
  memset(form.chosen, -1, sizeof form.chosen);
  return form;
}

static const tvms_ptx_form_row *row_of(const tvms_ptx_form *form) {
  return &tvms_ptx_forms[form->row];
}

tvms_tir_opcode tvms_ptx_opcode(const tvms_ptx_form *form) {
  return (tvms_tir_opcode)row_of(form)->opcode;
}

// ---- Modifiers ------------------------------------------------------------------------------

static const tvms_ptx_modifier *modifier_of(const tvms_ptx_form *form, uint32_t i) {
  return &tvms_ptx_modifiers[row_of(form)->modifiers.first + i];
}

bool tvms_ptx_choose(tvms_ptx_form *form, const char *token, size_t len) {
  tvms_ptx_word word = find_word(token, len);
  for (uint32_t i = 0; word && i < row_of(form)->modifiers.count; i++) {
    if (form->chosen[i] >= 0) continue;
    int number = index_in(modifier_of(form, i)->choices, word);
    if (number < 0) continue;
    form->chosen[i] = (int8_t)number;
    return true;
  }
  return false;
}

// The word that was chosen for modifier `i`; 0: none.
static tvms_ptx_word chosen(const tvms_ptx_form *form, uint32_t i) {
  if (form->chosen[i] < 0) return 0;
  return tvms_ptx_lists[modifier_of(form, i)->choices.first
                        + (uint32_t)form->chosen[i]];
}

const char *tvms_ptx_modifier_text(const tvms_ptx_form *form, uint32_t i) {
  if (i >= row_of(form)->modifiers.count) return NULL;
  return tvms_ptx_words[chosen(form, i)];
}

bool tvms_ptx_is_complete(const tvms_ptx_form *form, const char **missing) {
  for (uint32_t i = 0; i < row_of(form)->modifiers.count; i++) {
    if (modifier_of(form, i)->optional || form->chosen[i] >= 0) continue;
    *missing = tvms_ptx_words[modifier_of(form, i)->name];
    return false;
  }
  return true;
}

// The form has the modifier that a term speaks of: tools/gen_device.py sees to that.
static bool holds(const tvms_ptx_form *form, const tvms_ptx_term *term) {
  uint32_t i = 0;
  while (modifier_of(form, i)->name != term->modifier) {
    i++;
  }
  return index_in(term->choices, chosen(form, i)) >= 0;
}

static bool all_hold(const tvms_ptx_form *form, tvms_ptx_slice terms) {
  for (uint32_t i = 0; i < terms.count; i++) {
    if (!holds(form, &tvms_ptx_terms[terms.first + i])) return false;
  }
  return true;
}

bool tvms_ptx_is_allowed(const tvms_ptx_form *form) {
  tvms_ptx_slice rules = row_of(form)->rules;
  for (uint32_t i = 0; i < rules.count; i++) {
    const tvms_ptx_rule *rule = &tvms_ptx_rules[rules.first + i];
    if (all_hold(form, rule->when) && !holds(form, &tvms_ptx_terms[rule->then]))
      return false;
  }
  return true;
}

// ---- Operands -------------------------------------------------------------------------------

static uint16_t value_of(const tvms_ptx_form *form, const tvms_ptx_source *source) {
  switch ((tvms_ptx_origin)source->origin) {
  case TVMS_PTX_FIXED: return source->value;
  case TVMS_PTX_GIVEN: return form->chosen[source->value] >= 0;
  case TVMS_PTX_CHOSEN: {
    tvms_ptx_word word = chosen(form, source->value);
    return word || source->otherwise < 0 ? word
                                         : chosen(form, (uint32_t)source->otherwise);
  }
  case TVMS_PTX_BY_TABLE: break;
  }
  tvms_ptx_slice cases = tvms_ptx_maps[source->value].cases;
  for (uint32_t i = 0; i < cases.count; i++) {
    const tvms_ptx_case *found = &tvms_ptx_cases[cases.first + i];
    if (all_hold(form, found->when)) return found->value;
  }
  return 0;
}

bool tvms_ptx_operand_of(const tvms_ptx_form *form, uint32_t i,
                         tvms_ptx_operand *operand) {
  if (i >= row_of(form)->operands.count) return false;
  const tvms_ptx_operand_row *row =
      &tvms_ptx_operands[row_of(form)->operands.first + i];
  *operand = (tvms_ptx_operand){
      .name = tvms_ptx_words[row->name],
      .kind = (tvms_ptx_kind)row->kind,
      .read = row->read,
      .written = row->written,
      .sinks = row->sinks,
      .offset = row->offset,
      .count = value_of(form, &row->count),
      .what = value_of(form, &row->what),
      .numbers = row->numbers,
  };
  return true;
}

const tvms_ptx_type *tvms_ptx_type_of(tvms_ptx_word type) {
  static const tvms_ptx_type none = {.text = ""};
  uint32_t low = 0, high = tvms_ptx_type_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (tvms_ptx_types[middle].name == type) return &tvms_ptx_types[middle];
    if (tvms_ptx_types[middle].name < type)
      low = middle + 1;
    else
      high = middle;
  }
  return &none;
}
