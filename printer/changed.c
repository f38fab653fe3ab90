// Calls of instructions whose arguments changed with 0.27 (ir/tir_changed.def): matched
// against the pattern of the one release and written by that of the other.
#include "printer/changed.h"

#include "printer/object.h"
#include "printer/state.h"
#include "printer/text.h"

#include <string.h>

static const struct {
  tvms_tir_opcode older;
  const char *older_args;
  tvms_tir_opcode newer;
  const char *newer_args;
} rows[] = {
#define TIR_CHANGED(older, older_args, newer, newer_args)                              \
  {TVMS_TIR_##older, older_args, TVMS_TIR_##newer, newer_args},
#include "ir/tir_changed.def"
};

enum { MOST = 8 };

// One item of a pattern: `text` up to the next comma.
typedef struct {
  const char *text;
  size_t len;
} item;

// The arguments that stand for the names of a pattern.
typedef struct {
  item names[MOST];
  const tvms_node *values[MOST];
  uint32_t count;
} captures;

static bool next_item(const char **pattern, item *result) {
  if (!**pattern) return false;
  result->text = *pattern;
  result->len = strcspn(*pattern, ",");
  *pattern += result->len;
  if (**pattern) *pattern += 2;
  return true;
}

static bool says(item i, const char *text) {
  return i.len == strlen(text) && memcmp(i.text, text, i.len) == 0;
}

static bool is_text(const tvms_node *arg, item quoted) {
  if (arg->kind != TVMS_NODE_STRING_IMM) return false;
  tvms_bytes value = tvms_as_string_imm(arg)->value;
  return value.len == quoted.len - 2
         && memcmp(value.text, quoted.text + 1, value.len) == 0;
}

// The argument of a call of this operator, or NULL.
static const tvms_node *TVMS_NULLABLE operand(const tvms_node *arg,
                                              tvms_tir_opcode opcode) {
  bool called = tvms_call_opcode(arg) == opcode;
  return called ? tvms_as_call(arg)->args.items[0] : NULL;
}

// What an item does with the name behind it: '&', 'u', '@', or 0 for nothing.
static char take_mark(item *i) {
  char mark = *i->text;
  if (mark == 'u' && (i->len < 2 || i->text[1] != ':')) mark = 0;
  if (mark != '&' && mark != 'u' && mark != '@') return 0;
  size_t len = mark == 'u' ? 2 : 1;
  *i = (item){i->text + len, i->len - len};
  return mark;
}

// What was made an uint32.
static const tvms_node *plain_number(const tvms_node *arg) {
  bool cast = arg->kind == TVMS_NODE_CAST
              && tvms_dtype_same(tvms_as_cast(arg)->value->dtype, TVMS_DTYPE(INT, 32));
  return cast ? tvms_as_cast(arg)->value : arg;
}

static bool matches(const tvms_node *arg, item i, captures *found) {
  if (*i.text == '"') return is_text(arg, i);
  if (says(i, "True") || says(i, "1")) return tvms_node_is_int(arg, 1);
  if (says(i, "False") || says(i, "0")) return tvms_node_is_int(arg, 0);
  if (says(i, "2")) return tvms_node_is_int(arg, 2);
  char mark = take_mark(&i);
  if (mark == '&') arg = operand(arg, TVMS_TIR_address_of);
  if (mark == '@') arg = operand(arg, TVMS_TIR_cuda__cvta_generic_to_shared);
  if (mark == 'u') arg = plain_number(arg);
  if (!arg) return false;
  found->names[found->count] = i;
  found->values[found->count++] = arg;
  return true;
}

static bool matches_all(tvms_list args, const char *pattern, captures *found) {
  item i;
  *found = (captures){0};
  for (uint32_t k = 0; k < args.len; k++) {
    if (!next_item(&pattern, &i) || !matches(args.items[k], i, found)) return false;
  }
  return !next_item(&pattern, &i);
}

static const tvms_node *captured(item name, const captures *found) {
  uint32_t k = 0;
  while (name.len != found->names[k].len
         || memcmp(name.text, found->names[k].text, name.len) != 0) {
    k++;
  }
  return found->values[k];
}

// A number as older releases have them, or an uint32.
static void print_number(tvms_printer *p, const tvms_node *value, bool is_unsigned) {
  bool constant = value->kind == TVMS_NODE_INT_IMM;
  bool as_is = tvms_dtype_same(value->dtype, TVMS_DTYPE(UINT, 32)) == is_unsigned;
  if (as_is || (!constant && !is_unsigned)) {
    tvms_print_object(p, value);
  } else if (constant) {
    tvms_dtype dtype = is_unsigned ? TVMS_DTYPE(UINT, 32) : TVMS_DTYPE(INT, 32);
    int64_t number = tvms_as_int_imm(value)->value;
    tvms_print_object(p, tvms_int_imm_new(&p->scratch, dtype, number, value->span));
  } else {
    tvms_print_t(p, "Cast(\"uint32\", ");
    tvms_print_object(p, value);
    PUT(p, ")");
  }
}

static void print_item(tvms_printer *p, item i, const captures *found) {
  if (*i.text == '"' || (*i.text >= '0' && *i.text <= '9')) {
    tvms_strbuf_add(p->out, i.text, i.len);
    return;
  }
  if (says(i, "True") || says(i, "False")) {
    tvms_print_t(p, says(i, "True") ? "bool(True)" : "bool(False)");
    return;
  }
  char mark = take_mark(&i);
  if (mark == '&') tvms_print_t(p, "address_of(");
  if (mark == '@') tvms_print_t(p, "cuda.cvta_generic_to_shared(");
  const tvms_node *value = captured(i, found);
  if (tvms_dtype_is_int(value->dtype) || tvms_dtype_is_uint(value->dtype))
    print_number(p, value, mark == 'u');
  else
    tvms_print_object(p, value);
  if (mark == '&' || mark == '@') PUT(p, ")");
}

bool tvms_print_changed(tvms_printer *p, const tvms_node *node,
                        tvms_tir_opcode opcode) {
  if (!p->module
      || tvms_release_has(p->module->dialect, TVMS_FACT_ptx_names_are_classic)
      || tvms_release_has(p->dialect, TVMS_FACT_ptx_names_are_classic))
    return false;
  bool was_new = tvms_release_has(p->module->dialect, TVMS_FACT_ptx_has_forms);
  if (was_new == (tvms_release_has(p->dialect, TVMS_FACT_ptx_has_forms))) return false;
  captures found;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tvms_tir_opcode to = was_new ? rows[i].older : rows[i].newer;
    const char *spelling = tvms_tir_op_spelling(to, p->dialect);
    if (opcode != (was_new ? rows[i].newer : rows[i].older) || !spelling) continue;
    const char *from = was_new ? rows[i].newer_args : rows[i].older_args;
    if (!matches_all(tvms_as_call(node)->args, from, &found)) continue;
    const char *args = was_new ? rows[i].older_args : rows[i].newer_args;
    item argument;
    bool first = true;
    tvms_print_t(p, spelling);
    PUT(p, "(");
    while (next_item(&args, &argument)) {
      tvms_print_comma(p, &first);
      print_item(p, argument, &found);
    }
    PUT(p, ")");
    return true;
  }
  return false;
}
