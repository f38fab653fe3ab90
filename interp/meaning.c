// Reading the meaning of statements and calls off their nodes.
//
// The interpreter and the code generator are written apart, so that one judges the other;
// what a node says is no matter of opinion and is read in one place.
#include "interp/meaning.h"

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
