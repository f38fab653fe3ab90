// Four products of bytes: how they are written, and known again.
#include "ir/quad.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/fold_ops.h"

enum { BYTE = 8, HIGHEST = 24, MASK = 255 };

// ---- Writing ----

static tvms_node *number(tvms_unit *unit, int64_t value) {
  return tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), value, TVMS_NO_SPAN);
}

static tvms_node *bits(tvms_unit *unit, tvms_tir_opcode op, tvms_node *word,
                       int64_t with) {
  if (with == 0) return word;
  tvms_node *args[] = {word, number(unit, with)};
  return tvms_call_new_of(unit, word->dtype, op, args, 2, TVMS_NO_SPAN);
}

static tvms_node *byte_of(tvms_unit *unit, tvms_node *word, uint32_t at, bool sign) {
  if (!sign) {
    tvms_node *low = bits(unit, TVMS_TIR_shift_right, word, BYTE * at);
    return bits(unit, TVMS_TIR_bitwise_and, low, MASK);
  }
  tvms_node *high = bits(unit, TVMS_TIR_shift_left, word, HIGHEST - BYTE * (int)at);
  return bits(unit, TVMS_TIR_shift_right, high, HIGHEST);
}

tvms_node *tvms_build_quad(tvms_unit *unit, tvms_node *u, tvms_node *s) {
  tvms_node *all = NULL;
  for (uint32_t at = 0; at < TVMS_QUAD; at++) {
    tvms_node *one;
    if (tvms_node_is_int(u, TVMS_QUAD_OF_ONES))
      one = byte_of(unit, s, at, true);
    else if (tvms_node_is_int(s, TVMS_QUAD_OF_ONES))
      one = byte_of(unit, u, at, false);
    else
      one = tvms_build_binary(unit, TVMS_NODE_MUL, byte_of(unit, u, at, false),
                              byte_of(unit, s, at, true), TVMS_NO_SPAN);
    all = all ? tvms_build_binary(unit, TVMS_NODE_ADD, all, one, TVMS_NO_SPAN) : one;
  }
  return all;
}

// ---- Knowing it again ----

// What is shifted or masked by `with`; NULL: something else is done.
static tvms_node *TVMS_NULLABLE without(tvms_node *TVMS_NULLABLE node,
                                        tvms_tir_opcode op, int64_t with) {
  if (!node || with == 0) return node;
  if (tvms_call_opcode(node) != op) return NULL;
  tvms_list args = tvms_as_call(node)->args;
  return args.len == 2 && tvms_node_is_int(tvms_node_in_lanes(args.items[1]), with)
             ? args.items[0]
             : NULL;
}

// The word of which `node` is that byte.
static tvms_node *TVMS_NULLABLE word_of(tvms_node *node, uint32_t at, bool sign) {
  node = tvms_node_in_lanes(node);
  tvms_node *word;
  if (sign) {
    word = without(node, TVMS_TIR_shift_right, HIGHEST);
    word = without(word, TVMS_TIR_shift_left, HIGHEST - BYTE * (int)at);
  } else {
    word = without(node, TVMS_TIR_bitwise_and, MASK);
    word = without(word, TVMS_TIR_shift_right, BYTE * at);
  }
  if (word) word = tvms_node_in_lanes(word);
  bool fits = word && word->dtype.code == TVMS_INT && word->dtype.bits == 32;
  return fits ? word : NULL;
}

// Is `*word` the same as the one found before?
static bool agree(tvms_node *TVMS_NULLABLE *word, tvms_node *TVMS_NULLABLE found,
                  uint32_t at) {
  if (at + 1 == TVMS_QUAD) {
    *word = found;
    return true;
  }
  if (!*word || !found) return !*word && !found;
  return tvms_node_same_expr(*word, found);
}

static bool read_product(tvms_node *node, uint32_t at, tvms_quad *q) {
  tvms_node *u = NULL, *s = NULL;
  if (node->kind == TVMS_NODE_MUL) {
    u = word_of(tvms_as_binary(node)->a, at, false);
    s = word_of(tvms_as_binary(node)->b, at, true);
    if (!u || !s) return false;
  } else {
    s = word_of(node, at, true);
    if (!s) u = word_of(node, at, false);
    if (!u && !s) return false;
  }
  return agree(&q->u, u, at) && agree(&q->s, s, at);
}

tvms_quad tvms_node_quad_of(const tvms_node *node) {
  static const tvms_quad none;
  if (node->kind != TVMS_NODE_ADD || node->dtype.code != TVMS_INT
      || node->dtype.bits != 32)
    return none;
  tvms_quad q = {.sum = tvms_as_binary(node)->a};
  tvms_node *products = tvms_as_binary(node)->b;
  for (uint32_t at = TVMS_QUAD; at-- > 1; products = tvms_as_binary(products)->a) {
    if (products->kind != TVMS_NODE_ADD
        || !read_product(tvms_as_binary(products)->b, at, &q))
      return none;
  }
  return read_product(products, 0, &q) ? q : none;
}
