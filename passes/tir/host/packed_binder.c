// What taking packed arguments apart is made of: expressions, checks with TVM's messages, and
// variables that have a value.
//
// A variable is defined where its value is met first; every other place is compared with it.
// Compound sizes are compared when all variables are defined.
#include "passes/tir/host/packed_binder.h"

#include "structinfo/make.h"
#include "support/strbuf.h"

#include <stdio.h>
#include <string.h>

// A variable that has a value: where it came from first.
typedef struct {
  tvms_node *value;
  tvms_packed_path path;
} definition;

// ---- Building ----

tvms_node *tvms_packed_build(const tvms_packed_binder *b, tvms_node_kind kind,
                             tvms_node *x, tvms_node *y) {
  return tvms_build_binary(b->unit, kind, x, y, TVMS_NO_SPAN);
}

tvms_node *tvms_packed_int(const tvms_packed_binder *b, int64_t value) {
  return tvms_int_imm_new(b->unit, TVMS_DTYPE(INT, 32), value, TVMS_NO_SPAN);
}

tvms_node *tvms_packed_text(const tvms_packed_binder *b, const char *value) {
  return tvms_string_imm_new(b->unit, value, strlen(value), TVMS_NO_SPAN);
}

tvms_node *tvms_packed_field_of(const tvms_packed_binder *b, tvms_dtype dtype,
                                tvms_node *base, int64_t index,
                                tvms_packed_field field) {
  tvms_node *args[] = {base, tvms_packed_int(b, index), tvms_packed_int(b, field)};
  return tvms_call_new_of(b->unit, dtype, TVMS_TIR_tvm_struct_get, args, 3,
                          TVMS_NO_SPAN);
}

tvms_node *tvms_packed_is_null(const tvms_packed_binder *b, tvms_node *pointer) {
  return tvms_call_new_of(b->unit, TVMS_DTYPE(BOOL, 1), TVMS_TIR_isnullptr, &pointer, 1,
                          TVMS_NO_SPAN);
}

tvms_node *tvms_packed_is_not_null(const tvms_packed_binder *b, tvms_node *pointer) {
  return tvms_not_new(b->unit, tvms_packed_is_null(b, pointer), TVMS_NO_SPAN);
}

tvms_node *tvms_packed_variable(const tvms_packed_binder *b, tvms_dtype dtype,
                                const char *format, const char *first,
                                const char *second) {
  char name[256];
  int len = snprintf(name, sizeof name, format, first, second);
  if (len >= (int)sizeof name) len = (int)sizeof name - 1;
  tvms_sym sym = tvms_symbol_intern(b->unit->context, name, (size_t)len);
  return tvms_var_new(b->unit, sym, dtype, TVMS_NO_SPAN);
}

void tvms_packed_load(tvms_packed_binder *b, tvms_node *var, tvms_node *value) {
  tvms_bind *bind = tvms_node_make(b->unit, BIND, TVMS_NO_SPAN);
  bind->var = var;
  bind->value = value;
  tvms_vec_push(b->memory, &b->out->loads, &bind->head);
}

// The text of a node, types of constants included.
const char *tvms_packed_words_of(const tvms_packed_binder *b, const tvms_node *node) {
  const tvms_context *context = b->unit->context;
  return context->describe ? context->describe(b->unit, node)
                           : tvms_sinfo_describe(b->unit, node);
}

const char *tvms_packed_name_of(const tvms_packed_binder *b, uint32_t param) {
  const tvms_prim_func *function = b->out->function;
  const tvms_node *buffer = function->buffers.items[param];
  tvms_sym name = buffer ? tvms_as_buffer(buffer)->name
                         : tvms_as_var(function->params.items[param])->name;
  return tvms_symbol_text(b->unit->context, name);
}

const char *tvms_packed_holder_name(const tvms_packed_binder *b, uint32_t param) {
  if (!b->untyped) return tvms_packed_name_of(b, param);
  const tvms_node *var = b->out->function->params.items[param];
  return tvms_symbol_text(b->unit->context, tvms_as_var(var)->name);
}

tvms_packed_path tvms_packed_path_of(const tvms_packed_binder *b, uint32_t param,
                                     const char *field) {
  tvms_packed_path path = {.index = param};
  snprintf(path.text, sizeof path.text, "%.120s%s", tvms_packed_name_of(b, param),
           field);
  return path;
}

tvms_packed_path tvms_packed_element_path(const tvms_packed_binder *b, uint32_t param,
                                          const char *field, uint32_t i) {
  char text[40];
  snprintf(text, sizeof text, ".%s[%u]", field, i);
  return tvms_packed_path_of(b, param, text);
}

tvms_packed_digits tvms_packed_number(uint32_t value) {
  tvms_packed_digits d;
  snprintf(d.text, sizeof d.text, "%u", value);
  return d;
}

// ---- Checks ----

// An assertion whose message is `parts`, up to a NULL, with `when` and the signature in the
// place of the part "".
tvms_node *tvms_packed_assertion(tvms_packed_binder *b, tvms_node *condition,
                                 const char *kind, const char *const *parts) {
  enum { MOST = 12 };
  tvms_node *message[MOST];
  uint32_t count = 0;
  for (; *parts; parts++) {
    if (**parts) {
      message[count++] = tvms_packed_text(b, *parts);
      continue;
    }
    message[count++] = b->when;
    message[count++] = b->signature;
  }
  tvms_assert *check = tvms_node_make(b->unit, ASSERT, TVMS_NO_SPAN);
  check->condition = condition;
  check->error_kind = tvms_bytes_copy(b->unit, kind, (uint32_t)strlen(kind));
  check->message = tvms_list_copy(b->unit, message, count);
  return &check->head;
}

void tvms_packed_check_now(tvms_packed_binder *b, tvms_node *condition,
                           const char *kind, const char *const *parts) {
  tvms_vec_push(b->memory, &b->out->loads,
                tvms_packed_assertion(b, condition, kind, parts));
}

void tvms_packed_check_later(tvms_packed_binder *b, tvms_node *condition,
                             const char *const *parts) {
  tvms_vec_push(b->memory, &b->out->checks,
                tvms_packed_assertion(b, condition, "ValueError", parts));
}

void tvms_packed_check_kind(tvms_packed_binder *b, uint32_t param, tvms_node *condition,
                            const char *expected) {
  tvms_packed_digits n = tvms_packed_number(param);
  tvms_packed_check_now(b, condition, "TypeError",
                        TVMS_PACKED_PARTS("Mismatched type on argument #", n.text, "",
                                          "`,\n  expected ", expected));
}

// ---- Definitions ----

void tvms_packed_note_definition(tvms_packed_binder *b, tvms_node *var,
                                 tvms_node *value, const tvms_packed_path *path) {
  definition *d = tvms_arena_new(&b->unit->context->scratch, definition);
  *d = (definition){value, *path};
  tvms_node_map_put(&b->defined, var, (tvms_node *)(void *)d);
}

static const definition *definition_of(const tvms_packed_binder *b,
                                       const tvms_node *var) {
  return (const definition *)(const void *)tvms_node_map_get(&b->defined, var);
}

// The condition simplified, or NULL if it always holds.
static tvms_node *open_condition(tvms_packed_binder *b, tvms_node *x, tvms_node *y) {
  tvms_node *condition =
      tvms_analyzer_simplify(b->analyzer, tvms_packed_build(b, TVMS_NODE_EQ, x, y));
  return tvms_node_is_int_imm(condition) && tvms_node_is_true(condition) ? NULL
                                                                         : condition;
}

static void check_same(tvms_packed_binder *b, const definition *first, tvms_node *value,
                       const tvms_packed_path *path) {
  tvms_node *condition = open_condition(b, first->value, value);
  if (!condition) return;
  tvms_packed_digits n = tvms_packed_number(path->index);
  bool other = first->path.text[0] && strcmp(first->path.text, path->text);
  if (other)
    tvms_packed_check_later(
        b, condition,
        TVMS_PACKED_PARTS("Mismatched ", path->text, " on argument #", n.text, "",
                          "`,\n  expected to match ", first->path.text));
  else
    tvms_packed_check_later(b, condition,
                            TVMS_PACKED_PARTS("Mismatched ", path->text,
                                              " on argument #", n.text, "",
                                              "`,\n  expected matching value"));
}

// `arg` of the function is `value` of the caller. Returns true if that defined a variable.
bool tvms_packed_bind_scalar(tvms_packed_binder *b, tvms_node *arg, tvms_node *value,
                             const tvms_packed_path *path) {
  if (arg->kind == TVMS_NODE_VAR) {
    const definition *first = definition_of(b, arg);
    if (first) {
      check_same(b, first, value, path);
      return false;
    }
    tvms_packed_note_definition(b, arg, arg, path);
    tvms_packed_load(b, arg, value);
    return true;
  }
  tvms_node *condition = open_condition(b, arg, value);
  if (!condition) return false;
  tvms_packed_pending check = {condition, arg, *path};
  tvms_vec_push(b->memory, &b->pending, check);
  return false;
}

// ---- Words for compound sizes ----

static void write_expression(const tvms_packed_binder *b, tvms_strbuf *out,
                             const tvms_node *node);

static void write_call(const tvms_packed_binder *b, tvms_strbuf *out, const char *name,
                       const tvms_binary *binary) {
  tvms_strbuf_printf(out, "%s(", name);
  write_expression(b, out, binary->a);
  tvms_strbuf_puts(out, ", ");
  write_expression(b, out, binary->b);
  tvms_strbuf_puts(out, ")");
}

static void write_infix(const tvms_packed_binder *b, tvms_strbuf *out, const char *sign,
                        const tvms_binary *binary) {
  write_expression(b, out, binary->a);
  tvms_strbuf_printf(out, " %s ", sign);
  write_expression(b, out, binary->b);
}

static void write_variable(const tvms_packed_binder *b, tvms_strbuf *out,
                           const tvms_node *var) {
  const definition *d = definition_of(b, var);
  const char *name = tvms_symbol_text(b->unit->context, tvms_as_var(var)->name);
  tvms_strbuf_puts(out, d && d->path.text[0] ? d->path.text : name);
}

// With paths for variables, without types and, as TVM does, without parentheses.
static void write_expression(const tvms_packed_binder *b, tvms_strbuf *out,
                             const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_VAR: write_variable(b, out, node); break;
  case TVMS_NODE_INT_IMM:
    tvms_strbuf_printf(out, "%lld", (long long)tvms_as_int_imm(node)->value);
    break;
  case TVMS_NODE_CAST: write_expression(b, out, tvms_as_cast(node)->value); break;
  case TVMS_NODE_ADD: write_infix(b, out, "+", tvms_as_binary(node)); break;
  case TVMS_NODE_SUB: write_infix(b, out, "-", tvms_as_binary(node)); break;
  case TVMS_NODE_MUL: write_infix(b, out, "*", tvms_as_binary(node)); break;
  case TVMS_NODE_DIV: write_infix(b, out, "/", tvms_as_binary(node)); break;
  case TVMS_NODE_MOD: write_infix(b, out, "%", tvms_as_binary(node)); break;
  case TVMS_NODE_FLOOR_DIV: write_call(b, out, "floordiv", tvms_as_binary(node)); break;
  case TVMS_NODE_FLOOR_MOD: write_call(b, out, "floormod", tvms_as_binary(node)); break;
  case TVMS_NODE_MIN: write_call(b, out, "min", tvms_as_binary(node)); break;
  case TVMS_NODE_MAX: write_call(b, out, "max", tvms_as_binary(node)); break;
  default: tvms_strbuf_puts(out, tvms_packed_words_of(b, node)); break;
  }
}

void tvms_packed_check_pending(tvms_packed_binder *b) {
  for (uint32_t i = 0; i < b->pending.len; i++) {
    tvms_packed_pending *check = &b->pending.items[i];
    tvms_strbuf expected;
    tvms_strbuf_init(&expected, b->memory);
    write_expression(b, &expected, check->expected);
    tvms_packed_digits n = tvms_packed_number(check->path.index);
    tvms_packed_check_later(
        b, check->condition,
        TVMS_PACKED_PARTS("Invalid ", check->path.text, " on argument #", n.text, "",
                          "`,\n  expected ", tvms_strbuf_text(&expected)));
    tvms_strbuf_fini(&expected);
  }
}
