// A place in a flat buffer is put together dimension by dimension. Where two neighbouring
// indices are the quotient and the remainder of one number by the size of the dimension the
// number itself is the place. The simplifiers find this for constants; here it is looked for
// among the terms of the sum, so that symbolic sizes are found as well.
#include "arith/merge_mod.h"

#include "arith/internal.h"
#include "ir/equal.h"

typedef struct {
  tvms_analyzer *analyzer;
  tvms_node_vec products;
  tvms_node_vec remainders;         // floor modulos, as they stand
  tvms_node *TVMS_NULLABLE others;  // sum of what is neither
  bool anywhere;                    // quotients need not be the last terms of sums
} terms;

static tvms_node *build(const terms *t, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_binary(t->analyzer->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *join(const terms *t, tvms_node_kind kind, tvms_node *TVMS_NULLABLE a,
                       tvms_node *b) {
  return a ? build(t, kind, a, b) : b;
}

// What was inserted: products, remainders.
typedef struct {
  bool product, remainder;
} inserted;

static void insert_terms(terms *t, tvms_node *sum, inserted *found) {
  while (sum->kind == TVMS_NODE_ADD) {
    insert_terms(t, tvms_as_binary(sum)->a, found);
    sum = tvms_as_binary(sum)->b;
  }
  tvms_memory *memory = t->analyzer->memory;
  if (sum->kind == TVMS_NODE_FLOOR_MOD) {
    found->remainder = true;
    tvms_vec_push(memory, &t->remainders, sum);
  } else if (sum->kind == TVMS_NODE_MUL) {
    found->product = true;
    tvms_vec_push(memory, &t->products, sum);
  } else {
    t->others = join(t, TVMS_NODE_ADD, t->others, sum);
  }
}

// Is there a quotient in a sum, or in a product in it?
static bool has_quotient(const tvms_node *node) {
  if (node->kind == TVMS_NODE_MUL) return has_quotient(tvms_as_binary(node)->a);
  if (node->kind == TVMS_NODE_ADD)
    return has_quotient(tvms_as_binary(node)->a)
           || has_quotient(tvms_as_binary(node)->b);
  return node->kind == TVMS_NODE_FLOOR_DIV;
}

// (a + c // k * m) * n with m * n == k, and c % k: a * n + c. NULL: it is not that.
static tvms_node *TVMS_NULLABLE merge(const terms *t, tvms_node *product,
                                      const tvms_binary *remainder) {
  tvms_node *outer = tvms_as_binary(product)->b, *at = tvms_as_binary(product)->a;
  for (; at->kind == TVMS_NODE_MUL; at = tvms_as_binary(at)->a)
    outer = build(t, TVMS_NODE_MUL, tvms_as_binary(at)->b, outer);
  tvms_node *inner = NULL, *rest = NULL;
  for (;;) {
    if (at->kind == TVMS_NODE_MUL) {
      const tvms_binary *op = tvms_as_binary(at);
      inner = inner ? build(t, TVMS_NODE_MUL, op->b, inner) : op->b;
      at = op->a;
    } else if (at->kind == TVMS_NODE_ADD && !inner) {
      const tvms_binary *sum = tvms_as_binary(at);
      bool first = t->anywhere && !has_quotient(sum->b) && has_quotient(sum->a);
      rest = join(t, TVMS_NODE_ADD, rest, first ? sum->b : sum->a);
      at = first ? sum->a : sum->b;
    } else {
      break;
    }
  }
  if (at->kind != TVMS_NODE_FLOOR_DIV) return NULL;
  const tvms_binary *quotient = tvms_as_binary(at);
  tvms_node *size = join(t, TVMS_NODE_MUL, inner, outer);
  if (!tvms_node_same_expr(size, quotient->b)
      || !tvms_node_same_expr(size, remainder->b))
    return NULL;
  tvms_node *diff = build(t, TVMS_NODE_SUB, quotient->a, remainder->a);
  diff = build(t, TVMS_NODE_FLOOR_MOD, diff, remainder->b);
  tvms_node *zero = tvms_arith_number(t->analyzer->unit, diff->dtype, 0);
  if (!tvms_analyzer_can_prove_equal(t->analyzer, diff, zero)) return NULL;
  if (!rest) return quotient->a;
  rest = build(t, TVMS_NODE_MUL, rest, outer);
  return build(t, TVMS_NODE_ADD, rest, quotient->a);
}

static void remove_at(tvms_node_vec *list, uint32_t at) {
  list->len--;
  for (uint32_t i = at; i < list->len; i++)
    list->items[i] = list->items[i + 1];
}

// Merges the remainder with the first product that fits.
static bool merge_one(terms *t, uint32_t at, inserted *found) {
  const tvms_binary *remainder = tvms_as_binary(t->remainders.items[at]);
  for (uint32_t i = 0; i < t->products.len; i++) {
    tvms_node *merged = merge(t, t->products.items[i], remainder);
    if (!merged) continue;
    remove_at(&t->remainders, at);
    remove_at(&t->products, i);
    insert_terms(t, merged, found);
    return true;
  }
  return false;
}

static bool merge_all(terms *t) {
  bool any = false;
  for (uint32_t at = 0; at < t->remainders.len;) {
    inserted found = {0};
    bool last = at + 1 == t->remainders.len;
    if (!merge_one(t, at, &found)) {
      at++;
      continue;
    }
    any = true;
    // A new product may fit a remainder that was passed.
    if (found.product)
      at = 0;
    else if (found.remainder && last)
      at = t->remainders.len - 1;
  }
  return any;
}

static tvms_node *sum_of(const terms *t) {
  tvms_node *sum = t->others;
  for (uint32_t i = 0; i < t->products.len; i++)
    sum = join(t, TVMS_NODE_ADD, sum, t->products.items[i]);
  for (uint32_t i = 0; i < t->remainders.len; i++)
    sum = join(t, TVMS_NODE_ADD, sum, t->remainders.items[i]);
  return sum;
}

// x // y * y + x % y.
static tvms_node *whole_of(tvms_node *place) {
  if (place->kind != TVMS_NODE_ADD) return place;
  const tvms_node *product = tvms_as_binary(place)->a, *rest = tvms_as_binary(place)->b;
  if (product->kind != TVMS_NODE_MUL || rest->kind != TVMS_NODE_FLOOR_MOD) return place;
  const tvms_node *quotient = tvms_as_binary(product)->a;
  const tvms_node *size = tvms_as_binary(product)->b;
  if (quotient->kind != TVMS_NODE_FLOOR_DIV) return place;
  const tvms_binary *div = tvms_as_binary(quotient), *mod = tvms_as_binary(rest);
  bool fits = tvms_node_same_expr(div->a, mod->a) && tvms_node_same_expr(div->b, mod->b)
              && tvms_node_same_expr(div->b, size);
  return fits ? div->a : place;
}

tvms_node *tvms_analyzer_merge_mod(tvms_analyzer *analyzer, tvms_node *place,
                                   bool anywhere) {
  terms t = {.analyzer = analyzer, .anywhere = anywhere};
  inserted found = {0};
  place = tvms_analyzer_simplify(analyzer, whole_of(place));
  insert_terms(&t, place, &found);
  tvms_node *result = merge_all(&t) ? sum_of(&t) : place;
  tvms_vec_fini(analyzer->memory, &t.products);
  tvms_vec_fini(analyzer->memory, &t.remainders);
  return result;
}
