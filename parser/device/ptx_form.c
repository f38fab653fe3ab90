// The rows of ir/ptx.def, read where they are needed: their texts are short, and a call of
// an instruction looks at those of its family only.
#include "parser/device/ptx_form.h"

#include <string.h>

typedef struct {
  tvms_tir_opcode op;
  const char *family, *modifiers, *operands, *rule;
} form_row;

static const form_row rows[] = {
#define PTX(op, family, modifiers, operands, rule)                                     \
  {TVMS_TIR_##op, family, modifiers, operands, rule},
#include "ir/ptx.def"
};

static const struct {
  const char *type, *dtypes;
} types[] = {
#define PTX_TYPE(type, dtypes) {type, dtypes},
#include "ir/ptx.def"
};

static const struct {
  const char *name, *modifiers, *values;
} maps[] = {
#define PTX_MAP(name, modifiers, values) {name, modifiers, values},
#include "ir/ptx.def"
};

static const struct {
  const char *name, *text;
} rules[] = {
#define PTX_RULE(name, text) {name, text},
#include "ir/ptx.def"
};

#define COUNT(array) ((int)(sizeof array / sizeof array[0]))

// ---- Text -----------------------------------------------------------------------------------

static bool is(tvms_ptx_text piece, const char *text) {
  return piece.len == strlen(text) && memcmp(piece.text, text, piece.len) == 0;
}

static tvms_ptx_text whole(const char *text) {
  return (tvms_ptx_text){text, strlen(text)};
}

// Cuts off what stands before the next `separator`; false at the end.
static bool cut(tvms_ptx_text *rest, char separator, tvms_ptx_text *piece) {
  if (!rest->text) return false;
  const char *end = memchr(rest->text, separator, rest->len);
  piece->text = rest->text;
  piece->len = end ? (size_t)(end - rest->text) : rest->len;
  rest->len -= piece->len + (end != NULL);
  rest->text = end ? end + 1 : NULL;
  return true;
}

// Cuts `text` in two at `separator`; the second piece is empty if there is none.
static tvms_ptx_text split(tvms_ptx_text text, char separator, tvms_ptx_text *second) {
  tvms_ptx_text first = {text.text, 0};
  (void)cut(&text, separator, &first);
  *second = text.text ? text : (tvms_ptx_text){"", 0};
  return first;
}

static int index_in(tvms_ptx_text list, char separator, const char *text, size_t len) {
  tvms_ptx_text piece;
  for (int i = 0; cut(&list, separator, &piece); i++) {
    if (piece.len == len && memcmp(piece.text, text, len) == 0) return i;
  }
  return -1;
}

bool tvms_ptx_lists(tvms_ptx_text list, char separator, const char *text, size_t len) {
  return index_in(list, separator, text, len) >= 0;
}

// ---- Families -------------------------------------------------------------------------------

bool tvms_ptx_next_form(const char *family, size_t len, int after,
                        tvms_ptx_form *form) {
  for (int i = after + 1; i < COUNT(rows); i++) {
    if (strlen(rows[i].family) != len || memcmp(rows[i].family, family, len) != 0) {
      continue;
    }
    form->row = (uint16_t)i;
    memset(form->chosen, -1, sizeof form->chosen);
    return true;
  }
  return false;
}

bool tvms_ptx_is_family(const char *family, size_t len) {
  tvms_ptx_form form;
  return tvms_ptx_next_form(family, len, -1, &form);
}

tvms_tir_opcode tvms_ptx_opcode(const tvms_ptx_form *form) {
  return rows[form->row].op;
}

// ---- Modifiers ------------------------------------------------------------------------------

typedef struct {
  tvms_ptx_text name, choices;
  bool optional;
} modifier;

static modifier modifier_of(tvms_ptx_text text) {
  modifier result = {0};
  result.name = split(text, '=', &result.choices);
  result.optional =
      result.choices.len && result.choices.text[result.choices.len - 1] == '?';
  result.choices.len -= result.optional;
  return result;
}

static tvms_ptx_text choice(tvms_ptx_text choices, int number) {
  tvms_ptx_text piece = {"", 0};
  for (int i = 0; i <= number; i++) {
    (void)cut(&choices, '|', &piece);
  }
  return piece;
}

static bool next_modifier(tvms_ptx_text *rest, modifier *result) {
  tvms_ptx_text piece;
  if (!rest->len || !cut(rest, ' ', &piece)) return false;
  *result = modifier_of(piece);
  return true;
}

bool tvms_ptx_choose(tvms_ptx_form *form, const char *token, size_t len) {
  tvms_ptx_text rest = whole(rows[form->row].modifiers);
  modifier at;
  for (uint32_t i = 0; next_modifier(&rest, &at); i++) {
    if (form->chosen[i] >= 0) continue;
    int number = index_in(at.choices, '|', token, len);
    if (number < 0) continue;
    form->chosen[i] = (int8_t)number;
    return true;
  }
  return false;
}

bool tvms_ptx_modifier(const tvms_ptx_form *form, uint32_t i, tvms_ptx_text *name,
                       tvms_ptx_text *chosen) {
  tvms_ptx_text rest = whole(rows[form->row].modifiers);
  modifier at;
  for (uint32_t k = 0; next_modifier(&rest, &at); k++) {
    if (k < i) continue;
    *name = at.name;
    *chosen = choice(at.choices, form->chosen[i]);
    return true;
  }
  return false;
}

bool tvms_ptx_is_complete(const tvms_ptx_form *form, tvms_ptx_text *missing) {
  tvms_ptx_text rest = whole(rows[form->row].modifiers);
  modifier at;
  for (uint32_t i = 0; next_modifier(&rest, &at); i++) {
    if (at.optional || form->chosen[i] >= 0) continue;
    *missing = at.name;
    return false;
  }
  return true;
}

// What was chosen for the modifier of this name; false if the form has none of it.
static bool chosen(const tvms_ptx_form *form, tvms_ptx_text name,
                   tvms_ptx_text *result) {
  tvms_ptx_text at;
  for (uint32_t i = 0; tvms_ptx_modifier(form, i, &at, result); i++) {
    if (at.len == name.len && memcmp(at.text, name.text, at.len) == 0) return true;
  }
  return false;
}

// Is "name=x|y" true of the form? "-" stands for nothing.
static bool holds_one(const tvms_ptx_form *form, tvms_ptx_text text) {
  tvms_ptx_text values, value;
  tvms_ptx_text name = split(text, '=', &values);
  if (!chosen(form, name, &value)) return false;
  if (!value.len) value = (tvms_ptx_text){"-", 1};
  return tvms_ptx_lists(values, '|', value.text, value.len);
}

// The same for several of them, joined by '&'.
static bool holds(const tvms_ptx_form *form, tvms_ptx_text text) {
  tvms_ptx_text one;
  while (text.len && cut(&text, '&', &one)) {
    if (!holds_one(form, one)) return false;
  }
  return true;
}

// "a=x:b=y", where choices may hold ':' themselves: the ':' is the one behind which a name
// and '=' stand, so the last one in front of the last '='.
static tvms_ptx_text condition_of(tvms_ptx_text text, tvms_ptx_text *then) {
  size_t i = text.len - 1;
  while (text.text[i] != '=') {
    i--;
  }
  while (text.text[i] != ':') {
    i--;
  }
  *then = (tvms_ptx_text){text.text + i + 1, text.len - i - 1};
  return (tvms_ptx_text){text.text, i};
}

static const char *rule_of(const char *name) {
  for (int i = 0; name[0] && i < COUNT(rules); i++) {
    if (strcmp(rules[i].name, name) == 0) return rules[i].text;
  }
  return "";
}

bool tvms_ptx_is_allowed(const tvms_ptx_form *form) {
  tvms_ptx_text rest = whole(rule_of(rows[form->row].rule)), piece, then;
  while (rest.len && cut(&rest, ' ', &piece)) {
    tvms_ptx_text condition = condition_of(piece, &then);
    if (holds(form, condition) && !holds(form, then)) return false;
  }
  return true;
}

// ---- What modifiers decide ------------------------------------------------------------------

// Do the modifiers named have the choices "x,y|z"?
static bool matches(const tvms_ptx_form *form, tvms_ptx_text names,
                    tvms_ptx_text choices) {
  tvms_ptx_text name, list, value;
  while (cut(&names, ' ', &name)) {
    if (!cut(&choices, ',', &list) || !chosen(form, name, &value)) return false;
    if (!value.len) value = (tvms_ptx_text){"-", 1};
    if (!tvms_ptx_lists(list, '|', value.text, value.len)) return false;
  }
  return true;
}

static tvms_ptx_text decided(const tvms_ptx_form *form, tvms_ptx_text name) {
  tvms_ptx_text piece, value;
  for (int i = 0; i < COUNT(maps); i++) {
    if (!is(name, maps[i].name)) continue;
    tvms_ptx_text rest = whole(maps[i].values);
    while (cut(&rest, ' ', &piece)) {
      tvms_ptx_text choices = split(piece, '=', &value);
      if (matches(form, whole(maps[i].modifiers), choices)) return value;
    }
  }
  return (tvms_ptx_text){"", 0};
}

// ---- Operands -------------------------------------------------------------------------------

static uint32_t number_of(tvms_ptx_text text) {
  uint32_t value = 0;
  for (size_t i = 0; i < text.len; i++) {
    value = value * 10 + (uint32_t)(text.text[i] - '0');
  }
  return value;
}

// "[4]", "[?cache]" or "[tcgen05_ld.r]", without its brackets.
static uint32_t count_of(const tvms_ptx_form *form, tvms_ptx_text text) {
  tvms_ptx_text value;
  if (text.text[0] == '?') {
    tvms_ptx_text name = {text.text + 1, text.len - 1};
    return chosen(form, name, &value) && value.len != 0;
  }
  bool digit = text.text[0] >= '0' && text.text[0] <= '9';
  return number_of(digit ? text : decided(form, text));
}

static tvms_ptx_text type_of(const tvms_ptx_form *form, tvms_ptx_text text) {
  tvms_ptx_text name = {text.text + 1, text.len - 1}, value;
  if (text.text[0] == '%') return decided(form, name);
  if (text.text[0] != '=') return text;
  if (chosen(form, name, &value) && value.len) return value;
  return chosen(form, whole("type"), &value) ? value : (tvms_ptx_text){"", 0};
}

static void describe(const tvms_ptx_form *form, tvms_ptx_text text,
                     tvms_ptx_operand *operand) {
  tvms_ptx_text rest = {text.text + 1, text.len ? text.len - 1 : 0};
  switch (text.len ? text.text[0] : '*') {
  case '@':
    operand->kind = TVMS_PTX_ADDRESS;
    operand->offset = rest.len && rest.text[rest.len - 1] == '+';
    rest.len -= operand->offset;
    operand->what = rest;
    if (!rest.len) (void)chosen(form, whole("space"), &operand->what);
    break;
  case '#':
    operand->kind = TVMS_PTX_NUMBER;
    operand->what = rest;
    break;
  case ':': operand->what = type_of(form, rest); break;
  default: operand->kind = TVMS_PTX_POINTER;
  }
}

bool tvms_ptx_next_operand(const tvms_ptx_form *form, const char **at,
                           tvms_ptx_operand *operand) {
  const char *text = *at ? *at : rows[form->row].operands;
  text += strspn(text, " ");
  tvms_ptx_text rest = {text, strcspn(text, " ")};
  *at = text + rest.len;
  if (!rest.len) return false;
  *operand = (tvms_ptx_operand){.name = {text, strcspn(text, "><~[:@*# ")}, .count = 1};
  size_t i = operand->name.len;
  operand->written = text[i] == '>' || text[i] == '<';
  operand->read = text[i] != '>';
  i += operand->written;
  operand->sinks = text[i] == '~';
  i += operand->sinks;
  if (text[i] == '[') {
    size_t len = strcspn(text + i, "]");
    operand->count = count_of(form, (tvms_ptx_text){text + i + 1, len - 1});
    i += len + 1;
  }
  describe(form, (tvms_ptx_text){text + i, rest.len - i}, operand);
  return true;
}

const char *tvms_ptx_dtypes(tvms_ptx_text type) {
  for (int i = 0; i < COUNT(types); i++) {
    if (is(type, types[i].type)) return types[i].dtypes;
  }
  return "";
}
