#include "schedule/map_text.h"

#include "ir/dtype.h"
#include "ir/fold.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const tvms_map_operator operators[] = {
    {"Add", TVMS_NODE_ADD, "+", 2},
    {"Sub", TVMS_NODE_SUB, "-", 2},
    {"Mul", TVMS_NODE_MUL, "*", 3},
    {"Div", TVMS_NODE_DIV, "truncdiv", TVMS_MAP_FUNCTION},
    {"Mod", TVMS_NODE_MOD, "truncmod", TVMS_MAP_FUNCTION},
    {"FloorDiv", TVMS_NODE_FLOOR_DIV, "//", 3},
    {"FloorMod", TVMS_NODE_FLOOR_MOD, "%", 3},
    {"Min", TVMS_NODE_MIN, "min", TVMS_MAP_FUNCTION},
    {"Max", TVMS_NODE_MAX, "max", TVMS_MAP_FUNCTION},
    {"EQ", TVMS_NODE_EQ, "==", 1},
    {"NE", TVMS_NODE_NE, "!=", 1},
    {"LT", TVMS_NODE_LT, "<", 1},
    {"LE", TVMS_NODE_LE, "<=", 1},
    {"GT", TVMS_NODE_GT, ">", 1},
    {"GE", TVMS_NODE_GE, ">=", 1},
    {"And", TVMS_NODE_AND, "And", TVMS_MAP_FUNCTION},
    {"Or", TVMS_NODE_OR, "Or", TVMS_MAP_FUNCTION},
};

const tvms_map_operator *TVMS_NULLABLE tvms_sched_map_operator(tvms_node_kind kind) {
  for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
    if (operators[i].kind == kind) return &operators[i];
  return NULL;
}

const tvms_map_operator *TVMS_NULLABLE tvms_sched_map_operator_named(const char *type) {
  for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
    if (strcmp(operators[i].type, type) == 0) return &operators[i];
  return NULL;
}

// ---- Python ----

typedef struct {
  const tvms_context *context;
  tvms_strbuf *out;
} writer;

static void write_expr(const writer *w, const tvms_node *node);

static void write_list(const writer *w, tvms_list list) {
  for (uint32_t i = 0; i < list.len; i++) {
    if (i) tvms_strbuf_puts(w->out, ", ");
    write_expr(w, list.items[i]);
  }
}

// Constants say their type where it is not the one that a bare number has, or where a result is one.
static void write_constant(const writer *w, const tvms_node *node, bool result) {
  char text[TVMS_DTYPE_TEXT];
  bool whole = node->kind == TVMS_NODE_INT_IMM;
  bool bare =
      !result && whole && tvms_dtype_is_index(node->dtype) && node->dtype.bits == 32;
  if (!bare) tvms_strbuf_printf(w->out, "T.%s(", tvms_dtype_text(node->dtype, text));
  if (whole)
    tvms_strbuf_int(w->out, tvms_as_int_imm(node)->value);
  else
    tvms_strbuf_printf(w->out, "%.17g", tvms_as_float_imm(node)->value);
  if (!bare) tvms_strbuf_putc(w->out, ')');
}

// An operand on the right of an operator stands in parentheses where the operator binds as tightly as that on the left.
static void write_operand(const writer *w, const tvms_node *node, int binds) {
  const tvms_map_operator *row = tvms_sched_map_operator((tvms_node_kind)node->kind);
  bool enclosed = row && row->binds < binds;
  if (enclosed) tvms_strbuf_putc(w->out, '(');
  write_expr(w, node);
  if (enclosed) tvms_strbuf_putc(w->out, ')');
}

static void write_binary(const writer *w, const tvms_node *node,
                         const tvms_map_operator *row) {
  const tvms_binary *op = tvms_as_binary(node);
  if (row->binds == TVMS_MAP_FUNCTION) {
    tvms_strbuf_printf(w->out, "T.%s(", row->sign);
    write_expr(w, op->a);
    tvms_strbuf_puts(w->out, ", ");
    write_expr(w, op->b);
    tvms_strbuf_putc(w->out, ')');
    return;
  }
  write_operand(w, op->a,
                row->binds > 1 ? row->binds : 2);  // a < b < c is something else
  tvms_strbuf_printf(w->out, " %s ", row->sign);
  write_operand(w, op->b, row->binds + 1);
}

static void write_expr(const writer *w, const tvms_node *node) {
  const tvms_map_operator *row = tvms_sched_map_operator((tvms_node_kind)node->kind);
  if (row)
    write_binary(w, node, row);
  else if (node->kind == TVMS_NODE_INT_IMM || node->kind == TVMS_NODE_FLOAT_IMM)
    write_constant(w, node, false);
  else if (node->kind == TVMS_NODE_VAR)
    tvms_strbuf_puts(w->out, tvms_symbol_text(w->context, tvms_as_var(node)->name));
  else if (node->kind == TVMS_NODE_CALL) {
    tvms_strbuf_puts(w->out, "T.if_then_else(");
    write_list(w, tvms_as_call(node)->args);
    tvms_strbuf_putc(w->out, ')');
  }
}

static void write_result(const writer *w, const tvms_node *result, bool pairs) {
  if (result->kind == TVMS_NODE_INT_IMM && !pairs)
    write_constant(w, result, true);
  else
    write_expr(w, result);
}

void tvms_sched_map_write_python(const tvms_context *context, const tvms_node *map,
                                 bool pairs, tvms_strbuf *out) {
  const tvms_index_map *m = tvms_as_index_map(map);
  writer w = {context, out};
  tvms_strbuf_puts(out, "lambda ");
  write_list(&w, m->initial_indices);
  tvms_strbuf_puts(out, pairs ? ": [" : ": (");
  for (uint32_t i = 0; i < m->final_indices.len; i++) {
    if (i) tvms_strbuf_puts(out, ", ");
    if (pairs && i % 2 == 0) tvms_strbuf_putc(out, '(');
    write_result(&w, m->final_indices.items[i], pairs);
    if (pairs && i % 2) tvms_strbuf_putc(out, ')');
  }
  tvms_strbuf_puts(out, pairs ? "]" : ",)");
}

// ---- JSON ----

// A node of the text: what it stands for, a data type where `node` is NULL.
typedef struct {
  const tvms_node *TVMS_NULLABLE node;
  tvms_dtype dtype;
  uint32_t index;
} encoded;

// Node 0 is None. Data types and variables have one node each.
typedef struct {
  tvms_context *context;
  tvms_dialect dialect;
  tvms_strbuf *out;
  uint32_t count;
  TVMS_VEC(encoded) known;
} encoder;

static uint32_t begin(encoder *e, const char *type) {
  tvms_strbuf_printf(e->out, ",{\"type\":\"%s\",\"data\":", type);
  return e->count++;
}

static bool has(const encoder *e, tvms_release_fact fact) {
  return tvms_release_has(e->dialect, fact);
}

static uint32_t encode_dtype(encoder *e, tvms_dtype dtype) {
  bool shared = has(e, TVMS_FACT_dtypes_are_types);
  for (uint32_t i = 0; shared && i < e->known.len; i++)
    if (!e->known.items[i].node && tvms_dtype_same(e->known.items[i].dtype, dtype))
      return e->known.items[i].index;
  char text[TVMS_DTYPE_TEXT];
  uint32_t index = begin(e, "ir.PrimType");
  tvms_strbuf_printf(e->out, "{\"span\":0,\"dtype\":\"%s\"}}",
                     tvms_dtype_text(dtype, text));
  tvms_vec_push(&e->context->memory, &e->known, ((encoded){NULL, dtype, index}));
  return index;
}

// The number of the data type's node; 0 where it is a text in the node that has it.
static uint32_t type_before(encoder *e, const tvms_node *node) {
  return has(e, TVMS_FACT_dtypes_are_types) ? encode_dtype(e, node->dtype) : 0;
}

static uint32_t begin_typed(encoder *e, const char *type, const tvms_node *node,
                            uint32_t dtype) {
  char text[TVMS_DTYPE_TEXT];
  uint32_t index = begin(e, type);
  if (dtype)
    tvms_strbuf_printf(e->out, "{\"span\":0,\"ty\":%u", dtype);
  else
    tvms_strbuf_printf(e->out, "{\"span\":0,\"dtype\":\"%s\"",
                       tvms_dtype_text(node->dtype, text));
  return index;
}

static uint32_t encode(encoder *e, const tvms_node *node);

static uint32_t encode_list(encoder *e, tvms_list list) {
  TVMS_VEC(uint32_t) items = {0};
  tvms_memory *memory = &e->context->memory;
  for (uint32_t i = 0; i < list.len; i++)
    tvms_vec_push(memory, &items, encode(e, list.items[i]));
  uint32_t index = begin(e, "ffi.Array");
  tvms_strbuf_putc(e->out, '[');
  for (uint32_t i = 0; i < items.len; i++)
    tvms_strbuf_printf(e->out, i ? ",%u" : "%u", items.items[i]);
  tvms_strbuf_puts(e->out, "]}");
  tvms_vec_fini(memory, &items);
  return index;
}

static uint32_t encode_var(encoder *e, const tvms_node *node) {
  for (uint32_t i = 0; i < e->known.len; i++)
    if (e->known.items[i].node == node) return e->known.items[i].index;
  uint32_t type = type_before(e, node), name = begin(e, "ffi.String");
  tvms_strbuf_printf(e->out, "\"%s\"}",
                     tvms_symbol_text(e->context, tvms_as_var(node)->name));
  uint32_t annotation = type ? 0 : encode_dtype(e, node->dtype);
  uint32_t index = begin_typed(e, type ? "ir.Var" : "tirx.Var", node, type);
  tvms_strbuf_printf(e->out, ",\"name\":%u", name);
  if (!type) tvms_strbuf_printf(e->out, ",\"type_annotation\":%u", annotation);
  tvms_strbuf_puts(e->out, "}}");
  tvms_vec_push(&e->context->memory, &e->known, ((encoded){node, node->dtype, index}));
  return index;
}

static uint32_t encode_number(encoder *e, const tvms_node *node) {
  bool whole = node->kind == TVMS_NODE_INT_IMM;
  uint32_t type = type_before(e, node);
  int64_t value = whole ? tvms_as_int_imm(node)->value : 0;
  if (whole && has(e, TVMS_FACT_numbers_are_any)) {
    uint32_t any = begin(e, "int");
    tvms_strbuf_int(e->out, value);
    tvms_strbuf_putc(e->out, '}');
    value = any;
  }
  uint32_t index = begin_typed(e, whole ? "ir.IntImm" : "ir.FloatImm", node, type);
  tvms_strbuf_puts(e->out, ",\"value\":");
  if (whole)
    tvms_strbuf_int(e->out, value);
  else
    tvms_strbuf_printf(e->out, "%.17g", tvms_as_float_imm(node)->value);
  tvms_strbuf_puts(e->out, "}}");
  return index;
}

// T.if_then_else, the one function of index maps.
static uint32_t encode_choice(encoder *e, const tvms_call *call) {
  uint32_t type = type_before(e, &call->head), op = begin(e, "ir.Op");
  tvms_strbuf_printf(e->out, "\"%s.if_then_else\"}",
                     has(e, TVMS_FACT_math_is_prim) ? "prim" : "tirx");
  uint32_t args = encode_list(e, call->args);
  uint32_t types = type ? encode_list(e, (tvms_list){0}) : 0;
  uint32_t index = begin_typed(e, type ? "ir.Call" : "tirx.Call", &call->head, type);
  tvms_strbuf_printf(e->out, ",\"op\":%u,\"args\":%u,\"attrs\":0", op, args);
  if (type) tvms_strbuf_printf(e->out, ",\"ty_args\":%u", types);
  tvms_strbuf_puts(e->out, "}}");
  return index;
}

static uint32_t encode_binary(encoder *e, const tvms_node *node,
                              const tvms_map_operator *row) {
  char name[32];
  const tvms_binary *op = tvms_as_binary(node);
  uint32_t type = type_before(e, node), a = encode(e, op->a), b = encode(e, op->b);
  (void)snprintf(name, sizeof name, "%s.%s",
                 has(e, TVMS_FACT_math_is_prim) ? "prim" : "tirx", row->type);
  uint32_t index = begin_typed(e, name, node, type);
  tvms_strbuf_printf(e->out, ",\"a\":%u,\"b\":%u}}", a, b);
  return index;
}

static uint32_t encode(encoder *e, const tvms_node *node) {
  const tvms_map_operator *row = tvms_sched_map_operator((tvms_node_kind)node->kind);
  if (row) return encode_binary(e, node, row);
  switch ((int)node->kind) {
  case TVMS_NODE_VAR: return encode_var(e, node);
  case TVMS_NODE_INT_IMM:
  case TVMS_NODE_FLOAT_IMM: return encode_number(e, node);
  case TVMS_NODE_CALL: return encode_choice(e, tvms_as_call(node));
  default: return 0;
  }
}

void tvms_sched_map_write_json(tvms_context *context, tvms_dialect dialect,
                               const tvms_node *map, tvms_strbuf *out) {
  tvms_strbuf nodes;
  tvms_strbuf_init(&nodes, &context->memory);
  encoder e = {context, dialect, &nodes, 1, {0}};
  const tvms_index_map *m = tvms_as_index_map(map);
  uint32_t from = encode_list(&e, m->initial_indices);
  uint32_t to = encode_list(&e, m->final_indices);
  uint32_t root = begin(&e, "tirx.IndexMap");
  tvms_strbuf_printf(
      &nodes, "{\"initial_indices\":%u,\"final_indices\":%u,\"inverse_index_map\":0}}",
      from, to);
  tvms_strbuf_printf(out, "{\"root_index\":%u,\"nodes\":[{\"type\":\"None\"}", root);
  tvms_strbuf_add(out, nodes.text, nodes.len);
  tvms_strbuf_printf(out, "],\"metadata\":{\"tvm_version\":\"%s\"}}",
                     tvms_release_row_of(dialect)->version);
  tvms_vec_fini(&context->memory, &e.known);
  tvms_strbuf_fini(&nodes);
}
