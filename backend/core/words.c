// What the entry of a PrimFunc says of wrong arguments, in the words of TVM 0.27.
//
// Every text is a constant of the code. The signature, which nearly all of them have in their middle, stands
// there once: with hundreds of parameters it is long, and every parameter has ten checks. What only the call
// knows are two numbers, which a trace adds (tvms_raised). Names of sizes are those of the program in a
// signature, and the places that gave them their values in what is expected: "A.shape[0] + 1".
#include "backend/core/words.h"

#include "interp/interp.h"
#include "ir/build.h"
#include "support/strbuf.h"

#include <stdarg.h>
#include <stdlib.h>

const tvms_words_size_known *tvms_words_known(const tvms_words *n,
                                              const tvms_node *var) {
  for (uint32_t i = 0; i < n->known.len; i++) {
    if (n->known.items[i].var == var) return &n->known.items[i];
  }
  return NULL;
}

const char *tvms_words_of_var(const tvms_words *n, const tvms_node *var) {
  const char *name = tvms_symbol_text(n->context, tvms_as_var(var)->name);
  return *name ? name : "v";
}

const char *tvms_words_of_buffer(const tvms_words *n, const tvms_buffer *buffer) {
  return tvms_symbol_text(n->context, buffer->name);
}

// A size as TVM's messages have it: plain numbers, names, no types, no brackets. `paths`:
// variables by the place that defined them, "A.shape[0]".
static void add_size(tvms_words *n, tvms_strbuf *out, const tvms_node *size,
                     bool paths) {
  static const struct {
    tvms_node_kind kind;
    const char *before, *between, *after;
  } forms[] = {
      {TVMS_NODE_ADD, "", " + ", ""},
      {TVMS_NODE_SUB, "", " - ", ""},
      {TVMS_NODE_MUL, "", " * ", ""},
      {TVMS_NODE_DIV, "", " / ", ""},
      {TVMS_NODE_MOD, "", " % ", ""},
      {TVMS_NODE_FLOOR_DIV, "floordiv(", ", ", ")"},
      {TVMS_NODE_FLOOR_MOD, "floormod(", ", ", ")"},
      {TVMS_NODE_MIN, "min(", ", ", ")"},
      {TVMS_NODE_MAX, "max(", ", ", ")"},
      {TVMS_NODE_EQ, "", " == ", ""},
      {TVMS_NODE_NE, "", " != ", ""},
      {TVMS_NODE_LT, "", " < ", ""},
      {TVMS_NODE_LE, "", " <= ", ""},
      {TVMS_NODE_GT, "", " > ", ""},
      {TVMS_NODE_GE, "", " >= ", ""},
      {TVMS_NODE_AND, "", " and ", ""},
      {TVMS_NODE_OR, "", " or ", ""},
  };
  if (size->kind == TVMS_NODE_INT_IMM) {
    tvms_strbuf_int(out, tvms_as_int_imm(size)->value);
    return;
  }
  if (size->kind == TVMS_NODE_VAR) {
    const tvms_words_size_known *known = paths ? tvms_words_known(n, size) : NULL;
    tvms_strbuf_puts(out, known ? known->path : tvms_words_of_var(n, size));
  }
  if (size->kind == TVMS_NODE_CAST) add_size(n, out, tvms_as_cast(size)->value, paths);
  if (size->kind == TVMS_NODE_NOT) {
    tvms_strbuf_puts(out, "not ");
    add_size(n, out, tvms_as_not(size)->a, paths);
  }
  tvms_node_choice choice = tvms_node_choice_of(size);
  if (choice.condition) {
    tvms_strbuf_puts(out, "if_then_else(");
    add_size(n, out, choice.condition, paths);
    tvms_strbuf_puts(out, ", ");
    add_size(n, out, choice.yes, paths);
    tvms_strbuf_puts(out, ", ");
    add_size(n, out, choice.no, paths);
    tvms_strbuf_putc(out, ')');
  }
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    if (forms[i].kind != size->kind) continue;
    tvms_strbuf_puts(out, forms[i].before);
    add_size(n, out, tvms_as_binary(size)->a, paths);
    tvms_strbuf_puts(out, forms[i].between);
    add_size(n, out, tvms_as_binary(size)->b, paths);
    tvms_strbuf_puts(out, forms[i].after);
  }
}

// A size in a signature: compound ones as the program's text has them.
static void add_dimension(tvms_words *n, const tvms_unit *unit, tvms_strbuf *out,
                          const tvms_node *size) {
  tvms_context *context = n->context;
  bool plain = size->kind == TVMS_NODE_VAR || size->kind == TVMS_NODE_INT_IMM;
  if (plain || !context->describe)
    add_size(n, out, size, false);
  else
    tvms_strbuf_puts(out, context->describe(unit, size));
}

static const char *keep_text(tvms_words *n, tvms_strbuf *text) {
  const char *kept = tvms_arena_text(&n->context->scratch, text->text, text->len);
  tvms_strbuf_fini(text);
  return kept;
}

static void add_parameter(tvms_words *n, const tvms_member *member, tvms_strbuf *out,
                          uint32_t at) {
  char dtype[TVMS_DTYPE_TEXT];
  const tvms_node *param = n->function->params.items[at];
  const tvms_node *bound = n->function->buffers.items[at];
  if (!bound) {
    bool pointer = tvms_dtype_is_handle(param->dtype);
    bool typed = pointer && param->sinfo && n->context->describe;
    tvms_strbuf_printf(out, "%s: %s", tvms_words_of_var(n, param),
                       typed     ? n->context->describe(member->unit, param->sinfo)
                       : pointer ? "T.handle"
                                 : tvms_dtype_text(param->dtype, dtype));
    return;
  }
  const tvms_buffer *buffer = tvms_as_buffer(bound);
  tvms_strbuf_printf(out, "%s: Tensor([", tvms_words_of_buffer(n, buffer));
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    if (i) tvms_strbuf_puts(out, ", ");
    add_dimension(n, member->unit, out, buffer->shape.items[i]);
  }
  tvms_strbuf_printf(out, "], %s)", tvms_dtype_text(buffer->element, dtype));
}

static const char *add_shape(tvms_words *n, tvms_strbuf *out, const char *text,
                             uint32_t *next) {
  char *end;
  uint32_t rank = (uint32_t)strtoul(text, &end, 10);
  tvms_strbuf_puts(out, "Shape([");
  for (uint32_t i = 0; i < rank; i++) {
    if (i) tvms_strbuf_puts(out, ", ");
    tvms_strbuf_puts(out, tvms_words_of_var(n, n->function->params.items[(*next)++]));
  }
  tvms_strbuf_puts(out, "])");
  return end;
}

// Arguments as the text of a contract has them, up to the end of a tuple or of the text, where it returns.
static const char *add_values(tvms_words *n, const tvms_member *member,
                              tvms_strbuf *out, const char *text, uint32_t *next) {
  for (const char *first = text; *text && *text != ')';) {
    if (text != first) tvms_strbuf_puts(out, ", ");
    char kind = *text++;
    if (kind == '(') {
      tvms_strbuf_puts(out, "Tuple(");
      text = add_values(n, member, out, text, next) + 1;
      tvms_strbuf_putc(out, ')');
    } else if (kind == 's') {
      text = add_shape(n, out, text, next);
    } else {
      add_parameter(n, member, out, (*next)++);
    }
  }
  return text;
}

const char *tvms_words_signature(tvms_words *n, const tvms_member *member,
                                 const tvms_contract *contract) {
  uint32_t next = 0;
  tvms_strbuf out;
  tvms_strbuf_init(&out, &n->context->memory);
  tvms_strbuf_printf(&out, "%s(", tvms_symbol_text(n->context, member->name));
  if (contract->input_text) {
    add_values(n, member, &out, contract->input_text, &next);
  } else {
    for (uint32_t i = 0; i < contract->inputs; i++) {
      if (i) tvms_strbuf_puts(&out, ", ");
      add_parameter(n, member, &out, i);
    }
  }
  tvms_strbuf_putc(&out, ')');
  return keep_text(n, &out);
}

const char *tvms_words_message(tvms_words *n, const char *more, const char *format,
                               ...) {
  tvms_strbuf out;
  tvms_strbuf_init(&out, &n->context->memory);
  va_list arguments;
  va_start(arguments, format);
  tvms_strbuf_vprintf(&out, format, arguments);
  va_end(arguments);
  tvms_strbuf_printf(&out, " when calling:\n  `%c`%s", TVMS_SIGNATURE_MARK, more);
  return keep_text(n, &out);
}

const char *tvms_words_path(tvms_words *n, const tvms_buffer *buffer, const char *field,
                            int at) {
  tvms_strbuf out;
  tvms_strbuf_init(&out, &n->context->memory);
  tvms_strbuf_printf(&out, "%s.%s", tvms_words_of_buffer(n, buffer), field);
  if (at >= 0) tvms_strbuf_printf(&out, "[%d]", at);
  return keep_text(n, &out);
}

const char *tvms_words_expected(tvms_words *n, const char *format, ...) {
  tvms_strbuf out;
  tvms_strbuf_init(&out, &n->context->memory);
  tvms_strbuf_puts(&out, ",\n  expected ");
  va_list arguments;
  va_start(arguments, format);
  tvms_strbuf_vprintf(&out, format, arguments);
  va_end(arguments);
  return keep_text(n, &out);
}

const char *tvms_words_of_size(tvms_words *n, const tvms_node *size) {
  tvms_strbuf out;
  tvms_strbuf_init(&out, &n->context->memory);
  add_size(n, &out, size, true);
  return keep_text(n, &out);
}
