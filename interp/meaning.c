// Reading the meaning of statements and calls off their nodes.
//
// The interpreter and the code generator are written apart, so that one judges the other;
// what a node says is no matter of opinion and is read in one place.
#include "interp/meaning.h"

#include "interp/interp.h"

#include <stdio.h>
#include <string.h>

tvms_meaning_jump tvms_meaning_of_evaluate(const tvms_node *node,
                                           const tvms_node **result) {
  const tvms_node *value = tvms_as_evaluate(node)->value;
  *result = NULL;
  switch ((int)tvms_call_opcode(value)) {
  case TVMS_TIR_ret: {
    tvms_list args = tvms_as_call(value)->args;
    if (args.len) *result = args.items[0];
    return TVMS_MEANING_RETURN;
  }
  case TVMS_TIR_thread_return: return TVMS_MEANING_RETURN;
  case TVMS_TIR_break_loop: return TVMS_MEANING_BREAK;
  case TVMS_TIR_continue_loop: return TVMS_MEANING_CONTINUE;
  default: return TVMS_MEANING_CALL;
  }
}

bool tvms_meaning_is_reduced(const tvms_iter_var *axis) {
  return axis->iter_type == TVMS_ITER_COMM_REDUCE && axis->dom;
}

void tvms_meaning_assertion(const tvms_assert *assertion, tvms_strbuf *text) {
  for (uint32_t i = 0; i < assertion->message.len; i++) {
    const tvms_node *part = assertion->message.items[i];
    if (part->kind != TVMS_NODE_STRING_IMM) continue;
    tvms_bytes bytes = tvms_as_string_imm(part)->value;
    tvms_strbuf_add(text, bytes.text, bytes.len);
  }
}

static const char *const sides_of[] = {"{left}", "{right}"};

bool tvms_meaning_sides(const tvms_assert *assertion, const char *text,
                        const tvms_node *sides[2]) {
  const tvms_node *condition = assertion->condition;
  if (condition->kind != TVMS_NODE_EQ) return false;
  sides[0] = tvms_as_binary(condition)->a;
  sides[1] = tvms_as_binary(condition)->b;
  const char *left = strstr(text, sides_of[0]), *right = strstr(text, sides_of[1]);
  return left && right && left < right && tvms_dtype_is_index(sides[0]->dtype)
         && tvms_dtype_is_index(sides[1]->dtype);
}

void tvms_meaning_put_sides(tvms_strbuf *out, const char *text, const char *left,
                            const char *right) {
  const char *values[] = {left, right};
  for (int side = 0; side < 2; side++) {
    const char *at = strstr(text, sides_of[side]);
    if (!at) break;
    tvms_strbuf_add(out, text, (size_t)(at - text));
    tvms_strbuf_puts(out, values[side]);
    text = at + strlen(sides_of[side]);
  }
  tvms_strbuf_puts(out, text);
}

void tvms_meaning_put_numbers(tvms_strbuf *out, const char *text, int64_t left,
                              int64_t right) {
  char numbers[2][32];
  snprintf(numbers[0], sizeof numbers[0], "%lld", (long long)left);
  snprintf(numbers[1], sizeof numbers[1], "%lld", (long long)right);
  tvms_meaning_put_sides(out, text, numbers[0], numbers[1]);
}

void tvms_meaning_put_signature(tvms_strbuf *out, const char *text,
                                const char *signature) {
  for (; *text; text++) {
    if (*text == TVMS_SIGNATURE_MARK)
      tvms_strbuf_puts(out, signature);
    else
      tvms_strbuf_putc(out, *text);
  }
}

tvms_tir_opcode tvms_meaning_of_extern(const tvms_call *call, const char **name) {
  static const char *const functions[TVMS_TIR_COUNT] = {
#define MATH(ident, arity, function, how) [TVMS_TIR_##ident] = #function,
#include "interp/math.def"
  };
  const tvms_node *first = call->args.len ? call->args.items[0] : NULL;
  bool named = first && first->kind == TVMS_NODE_STRING_IMM;
  tvms_bytes text = named ? tvms_as_string_imm(first)->value : (tvms_bytes){NULL, 0};
  *name = text.len ? text.text : "?";
  for (uint32_t i = 0; i < TVMS_TIR_COUNT; i++) {
    size_t len = functions[i] ? strlen(functions[i]) : 0;
    bool same = len && text.len >= len && memcmp(text.text, functions[i], len) == 0;
    bool single = text.len == len + 1 && text.text[len] == 'f';
    if (same && (text.len == len || single)) return (tvms_tir_opcode)i;
  }
  return TVMS_TIR_NONE;
}

static bool is_of_c(tvms_dtype dtype) {
  if (dtype.lanes != 1) return false;
  const bool wide = dtype.bits == 32 || dtype.bits == 64;
  switch (dtype.code) {
  case TVMS_BOOL:
  case TVMS_HANDLE: return true;
  case TVMS_FLOAT: return wide || dtype.bits == 16;
  case TVMS_BFLOAT: return dtype.bits == 16;
  case TVMS_INT:
  case TVMS_UINT: return wide || dtype.bits == 8 || dtype.bits == 16;
  default: return false;
  }
}

const tvms_node *tvms_meaning_not_of_c(const tvms_call *call) {
  for (uint32_t i = 1; i < call->args.len; i++) {
    const tvms_node *arg = call->args.items[i];
    if (arg->kind != TVMS_NODE_STRING_IMM && !is_of_c(arg->dtype)) return arg;
  }
  bool good = tvms_dtype_is_void(call->head.dtype) || is_of_c(call->head.dtype);
  return good ? NULL : &call->head;
}

bool tvms_meaning_is_name_of_c(const char *name) {
  static const char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$0123456789";
  return *name && strspn(name, letters) == strlen(name) && (*name < '0' || *name > '9');
}

const tvms_member *tvms_meaning_of_named(const tvms_module *module,
                                         const tvms_node *name) {
  if (name->kind != TVMS_NODE_STRING_IMM) return NULL;
  tvms_bytes text = tvms_as_string_imm(name)->value;
  tvms_sym symbol = tvms_symbol_intern(module->context, text.text, text.len);
  const tvms_member *member = tvms_module_find(module, symbol);
  bool callable =
      member && member->function && member->function->kind == TVMS_NODE_PRIM_FUNC;
  return callable ? member : NULL;
}

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

tvms_meaning_match tvms_meaning_of_match(const tvms_node *node, uint32_t ndim) {
  const tvms_match_buffer_region *match = tvms_as_match_buffer_region(node);
  const tvms_buffer_region *part = tvms_as_buffer_region(match->source);
  const tvms_buffer *buffer = tvms_as_buffer(match->buffer);
  uint32_t region = part->region.len, own = buffer->shape.len;
  uint32_t skipped = ndim > own ? ndim - own : 0;
  return (tvms_meaning_match){
      .part = part,
      .buffer = buffer,
      .offsets = least(region, ndim),
      .skipped = skipped,
      .extents = least(own, region > skipped ? region - skipped : 0),
      .strides = least(buffer->strides.len, ndim - skipped),
  };
}
