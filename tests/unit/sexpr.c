// Reading and writing S-expressions of TIR.
#include "sexpr.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
  const char *head;
  tvms_node_kind kind;
} binaries[] = {
    {"+", TVMS_NODE_ADD},   {"-", TVMS_NODE_SUB},        {"*", TVMS_NODE_MUL},
    {"/", TVMS_NODE_DIV},   {"%", TVMS_NODE_MOD},        {"//", TVMS_NODE_FLOOR_DIV},
    {"min", TVMS_NODE_MIN}, {"%%", TVMS_NODE_FLOOR_MOD}, {"max", TVMS_NODE_MAX},
    {"==", TVMS_NODE_EQ},   {"!=", TVMS_NODE_NE},        {"<", TVMS_NODE_LT},
    {"<=", TVMS_NODE_LE},   {">", TVMS_NODE_GT},         {">=", TVMS_NODE_GE},
    {"and", TVMS_NODE_AND}, {"or", TVMS_NODE_OR},
};
enum { BINARIES = sizeof binaries / sizeof binaries[0], LONGEST = 64 };

static tvms_dtype dtype_of_name(char first) {
  switch (first) {
  case 'l': return TVMS_DTYPE(INT, 64);
  case 'b': return TVMS_DTYPE(BOOL, 1);
  case 'f': return TVMS_DTYPE(FLOAT, 32);
  case 'h': return TVMS_DTYPE(FLOAT, 16);
  case 'u': return TVMS_DTYPE(UINT, 8);
  default: return TVMS_DTYPE(INT, 32);
  }
}

tvms_node *sexpr_var(sexpr *reader, const char *name) {
  tvms_sym sym = tvms_symbol_intern(reader->unit->context, name, strlen(name));
  for (uint32_t i = 0; i < reader->count; i++) {
    if (reader->vars[i].name == sym) return reader->vars[i].var;
  }
  cr_assert_lt(reader->count, 64);
  tvms_node *var =
      tvms_var_new(reader->unit, sym, dtype_of_name(name[0]), TVMS_NO_SPAN);
  reader->vars[reader->count].name = sym;
  reader->vars[reader->count++].var = var;
  return var;
}

static void skip_blanks(const char **at) {
  while (**at == ' ')
    ++*at;
}

static void read_word(const char **at, char word[LONGEST]) {
  skip_blanks(at);
  size_t len = 0;
  while (**at && **at != ' ' && **at != '(' && **at != ')') {
    cr_assert_lt(len, LONGEST - 1);
    word[len++] = *(*at)++;
  }
  word[len] = 0;
  cr_assert(len > 0, "word expected before '%s'", *at);
}

static tvms_node *read_atom(sexpr *reader, const char **at) {
  char word[LONGEST];
  read_word(at, word);
  tvms_unit *unit = reader->unit;
  if (strcmp(word, "true") == 0) return tvms_bool_imm_new(unit, true, TVMS_NO_SPAN);
  if (strcmp(word, "false") == 0) return tvms_bool_imm_new(unit, false, TVMS_NO_SPAN);
  if (!isdigit((unsigned char)word[word[0] == '-'])) return sexpr_var(reader, word);
  if (strchr(word, '.')) {
    tvms_dtype dtype = TVMS_DTYPE(FLOAT, 32);
    return tvms_float_imm_new(unit, dtype, strtod(word, NULL), TVMS_NO_SPAN);
  }
  tvms_dtype dtype = strchr(word, 'L') ? TVMS_DTYPE(INT, 64) : TVMS_DTYPE(INT, 32);
  return tvms_int_imm_new(unit, dtype, strtoll(word, NULL, 10), TVMS_NO_SPAN);
}

static tvms_node *build(sexpr *reader, const char *head, tvms_node **args,
                        uint32_t count) {
  tvms_unit *unit = reader->unit;
  for (int i = 0; i < BINARIES; i++) {
    if (strcmp(head, binaries[i].head) != 0) continue;
    cr_assert_eq(count, 2);
    return tvms_binary_new(unit, binaries[i].kind, args[0], args[1], TVMS_NO_SPAN);
  }
  if (strcmp(head, "not") == 0) return tvms_not_new(unit, args[0], TVMS_NO_SPAN);
  if (strcmp(head, "select") == 0) {
    return tvms_select_new(unit, args[0], args[1], args[2], TVMS_NO_SPAN);
  }
  if (strncmp(head, "cast:", 5) == 0) {
    tvms_dtype dtype;
    cr_assert(tvms_dtype_parse(head + 5, strlen(head + 5), &dtype));
    return tvms_cast_new(unit, dtype, args[0], TVMS_NO_SPAN);
  }
  if (strncmp(head, "broadcast:", 10) == 0) {
    return tvms_broadcast_new(unit, args[0], atoi(head + 10), TVMS_NO_SPAN);
  }
  if (strcmp(head, "ramp") == 0) {
    int lanes = (int)tvms_as_int_imm(args[2])->value;
    return tvms_ramp_new(unit, args[0], args[1], lanes, TVMS_NO_SPAN);
  }
  tvms_tir_opcode opcode = tvms_tir_op_find(head, strlen(head));
  cr_assert_neq(opcode, TVMS_TIR_NONE, "unknown head '%s'", head);
  tvms_dtype dtype = args[opcode == TVMS_TIR_if_then_else ? 1 : 0]->dtype;
  return tvms_call_new_of(unit, dtype, opcode, args, count, TVMS_NO_SPAN);
}

static tvms_node *read_from(sexpr *reader, const char **at) {
  skip_blanks(at);
  if (**at != '(') return read_atom(reader, at);
  ++*at;
  char head[LONGEST];
  read_word(at, head);
  tvms_node *args[8];
  uint32_t count = 0;
  for (skip_blanks(at); **at != ')'; skip_blanks(at)) {
    cr_assert(**at && count < 8, "closing bracket expected");
    args[count++] = read_from(reader, at);
  }
  ++*at;
  return build(reader, head, args, count);
}

tvms_node *sexpr_read(sexpr *reader, const char *text) {
  const char *at = text;
  tvms_node *node = read_from(reader, &at);
  cr_assert_eq(*at, 0, "text after the expression: '%s'", at);
  return node;
}

// ---- Writing ----

static void write_node(tvms_strbuf *out, const tvms_unit *unit, const tvms_node *node);

static void write_list(tvms_strbuf *out, const tvms_unit *unit, const char *head,
                       tvms_node *const *args, uint32_t count) {
  tvms_strbuf_putc(out, '(');
  tvms_strbuf_puts(out, head);
  for (uint32_t i = 0; i < count; i++) {
    tvms_strbuf_putc(out, ' ');
    write_node(out, unit, args[i]);
  }
  tvms_strbuf_putc(out, ')');
}

static void write_int(tvms_strbuf *out, const tvms_node *node) {
  int64_t value = tvms_as_int_imm(node)->value;
  if (tvms_dtype_is_bool(node->dtype)) {
    tvms_strbuf_puts(out, value ? "true" : "false");
    return;
  }
  tvms_strbuf_int(out, value);
  if (node->dtype.bits == 64) tvms_strbuf_putc(out, 'L');
}

static void write_vector(tvms_strbuf *out, const tvms_unit *unit,
                         const tvms_node *node) {
  if (node->kind == TVMS_NODE_RAMP) {
    const tvms_ramp *ramp = tvms_as_ramp(node);
    tvms_node *args[] = {ramp->base, ramp->stride, ramp->lanes};
    write_list(out, unit, "ramp", args, 3);
    return;
  }
  tvms_node *value = tvms_as_broadcast(node)->value;
  char head[LONGEST];
  snprintf(head, sizeof head, "broadcast:%d", node->dtype.lanes);
  write_list(out, unit, head, &value, 1);
}

static void write_other(tvms_strbuf *out, const tvms_unit *unit,
                        const tvms_node *node) {
  if (node->kind == TVMS_NODE_SELECT) {
    const tvms_select *select = tvms_as_select(node);
    tvms_node *args[] = {select->condition, select->true_value, select->false_value};
    write_list(out, unit, "select", args, 3);
  } else if (node->kind == TVMS_NODE_CAST) {
    tvms_node *value = tvms_as_cast(node)->value;
    char buffer[TVMS_DTYPE_TEXT], head[LONGEST];
    snprintf(head, sizeof head, "cast:%s", tvms_dtype_text(node->dtype, buffer));
    write_list(out, unit, head, &value, 1);
  } else if (node->kind == TVMS_NODE_NOT) {
    tvms_node *value = tvms_as_not(node)->a;
    write_list(out, unit, "not", &value, 1);
  } else if (node->kind == TVMS_NODE_CALL) {
    tvms_list args = tvms_as_call(node)->args;
    const char *name = tvms_tir_op_row_of(tvms_call_opcode(node))->name;
    write_list(out, unit, name, args.items, args.len);
  } else {
    cr_assert_fail("no notation for %s", tvms_node_schema_of(node->kind)->name);
  }
}

static void write_node(tvms_strbuf *out, const tvms_unit *unit, const tvms_node *node) {
  for (int i = 0; i < BINARIES; i++) {
    if (node->kind != binaries[i].kind) continue;
    const tvms_binary *binary = tvms_as_binary(node);
    tvms_node *args[] = {binary->a, binary->b};
    write_list(out, unit, binaries[i].head, args, 2);
    return;
  }
  if (node->kind == TVMS_NODE_VAR)
    tvms_strbuf_puts(out, tvms_symbol_text(unit->context, tvms_as_var(node)->name));
  else if (node->kind == TVMS_NODE_INT_IMM)
    write_int(out, node);
  else if (node->kind == TVMS_NODE_FLOAT_IMM)
    tvms_strbuf_printf(out, "%#.9g", tvms_as_float_imm(node)->value);
  else if (node->kind == TVMS_NODE_RAMP || node->kind == TVMS_NODE_BROADCAST)
    write_vector(out, unit, node);
  else
    write_other(out, unit, node);
}

const char *sexpr_text(tvms_unit *unit, const tvms_node *node) {
  tvms_strbuf out;
  tvms_strbuf_init(&out, &unit->context->memory);
  write_node(&out, unit, node);
  return tvms_arena_text(&unit->arena, out.text, out.len);
}
