// A PrimFunc reshapes if its one statement copies an element, and the numbers that its two
// places have in row-major order are proved to be equal.
//
//   for i, j in T.grid(2, 6):
//       with T.sblock("reshape"):
//           v, w = T.axis.remap("SS", [i, j])
//           B[v, w] = A[(v * 6 + w) // 4, (v * 6 + w) % 4]      number of both: v * 6 + w
//
// Proofs are tried four times: over the variables of the block; where one side is the block's
// variables themselves, over their joint number, of which each variable is a digit; where the places of the source
// are the digits of one number, over that; and over the digits of variables whose extents are multiples of a number, as 8 * n.
// TVM: HasReshapePattern of src/relax/analysis/tir_op_pattern_kind.cc.
#include "passes/relax/lower/reshape_pattern.h"

#include "arith/analyzer.h"
#include "ir/clone.h"
#include "ir/fold.h"
#include "ir/rewrite.h"

typedef struct {
  tvms_unit *unit;
  tvms_analyzer *analyzer;
  const tvms_block *block;
  const tvms_node *source;  // first and last buffer of the function
  const tvms_node *target;
  tvms_node_map extents;  // of digits
} detector;

static tvms_node *TVMS_NULLABLE build(detector *d, tvms_node_kind kind,
                                      tvms_node *TVMS_NULLABLE a,
                                      tvms_node *TVMS_NULLABLE b) {
  return a && b ? tvms_build_binary(d->unit, kind, a, b, TVMS_NO_SPAN) : NULL;
}

// A sum of variables that counts without gaps, from the fastest one on:
// v * (n * 4) + w * 4 + u with extents m, n and 4.
enum { MOST_TERMS = 16 };

typedef struct {
  tvms_node *var[MOST_TERMS];
  tvms_node *factor[MOST_TERMS];
  tvms_node *extent[MOST_TERMS];
  uint32_t count;
} sum;

// The extent of a variable of the block, or of a digit, that runs from 0; NULL for anything else.
static tvms_node *TVMS_NULLABLE extent_of(const detector *d, const tvms_node *node) {
  for (uint32_t i = 0; i < d->block->iter_vars.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(d->block->iter_vars.items[i]);
    const tvms_range *dom = tvms_as_range(iter->dom);
    if (iter->var == node) return tvms_node_is_int(dom->min, 0) ? dom->extent : NULL;
  }
  return tvms_node_map_get(&d->extents, node);
}

// Takes a product of one variable and other factors.
static bool take_product(detector *d, tvms_node *node, sum *terms) {
  tvms_node **var = &terms->var[terms->count], **factor = &terms->factor[terms->count];
  if (node->kind == TVMS_NODE_MUL) {
    const tvms_binary *both = tvms_as_binary(node);
    return take_product(d, both->a, terms) && take_product(d, both->b, terms);
  }
  if (*var || !extent_of(d, node)) {
    *factor = *factor ? build(d, TVMS_NODE_MUL, *factor, node) : node;
    return *factor != NULL;
  }
  *var = node;
  terms->extent[terms->count] = extent_of(d, node);
  return true;
}

static bool take_terms(detector *d, tvms_node *node, sum *terms) {
  if (node->kind == TVMS_NODE_ADD) {
    const tvms_binary *both = tvms_as_binary(node);
    return take_terms(d, both->a, terms) && take_terms(d, both->b, terms);
  }
  tvms_node *sum_of = node, *factor = NULL;
  for (; sum_of->kind == TVMS_NODE_MUL; sum_of = tvms_as_binary(sum_of)->a) {
    tvms_node *other = tvms_as_binary(sum_of)->b;
    factor = factor ? build(d, TVMS_NODE_MUL, other, factor) : other;
  }
  if (factor && sum_of->kind == TVMS_NODE_ADD) {
    tvms_node *a = build(d, TVMS_NODE_MUL, tvms_as_binary(sum_of)->a, factor);
    tvms_node *b = build(d, TVMS_NODE_MUL, tvms_as_binary(sum_of)->b, factor);
    return a && b && take_terms(d, a, terms) && take_terms(d, b, terms);
  }
  if (terms->count == MOST_TERMS || !take_product(d, node, terms)) return false;
  return terms->var[terms->count++] != NULL;
}

static void swap_terms(sum *terms, uint32_t a, uint32_t b) {
  tvms_node *var = terms->var[a], *factor = terms->factor[a],
            *extent = terms->extent[a];
  terms->var[a] = terms->var[b];
  terms->factor[a] = terms->factor[b];
  terms->extent[a] = terms->extent[b];
  terms->var[b] = var;
  terms->factor[b] = factor;
  terms->extent[b] = extent;
}

static tvms_node *one_of(detector *d, tvms_dtype dtype) {
  return tvms_int_imm_new(d->unit, dtype, 1, TVMS_NO_SPAN);
}

// Brings the terms into order: each has the product of the extents before it as its factor.
static bool sort_terms(detector *d, tvms_dtype dtype, sum *terms) {
  tvms_node *stride = one_of(d, dtype);
  for (uint32_t i = 0; i < terms->count; i++) {
    uint32_t next = i;
    for (; next < terms->count; next++) {
      tvms_node *factor = terms->factor[next] ? terms->factor[next] : one_of(d, dtype);
      if (tvms_analyzer_can_prove_equal(d->analyzer, factor, stride)) break;
    }
    if (next == terms->count) return false;
    swap_terms(terms, i, next);
    stride = build(d, TVMS_NODE_MUL, stride, terms->extent[i]);
    if (!stride) return false;
  }
  return true;
}

// The terms from `begin` to before `end` as a number of their own.
static tvms_node *TVMS_NULLABLE counted(detector *d, tvms_dtype dtype, const sum *terms,
                                        uint32_t begin, uint32_t end) {
  tvms_node *number = tvms_int_imm_new(d->unit, dtype, 0, TVMS_NO_SPAN);
  tvms_node *stride = one_of(d, dtype);
  for (uint32_t i = begin; i < end && number; i++) {
    number =
        build(d, TVMS_NODE_ADD, number, build(d, TVMS_NODE_MUL, terms->var[i], stride));
    stride = build(d, TVMS_NODE_MUL, stride, terms->extent[i]);
  }
  return number;
}

// How many of the terms, from the fastest on, count to `bound`; UINT32_MAX: none do.
static uint32_t terms_below(detector *d, const sum *terms, tvms_node *bound) {
  tvms_node *stride = one_of(d, bound->dtype);
  for (uint32_t i = 0; i < terms->count && stride; i++) {
    stride = build(d, TVMS_NODE_MUL, stride, terms->extent[i]);
    if (stride && tvms_analyzer_can_prove_equal(d->analyzer, stride, bound))
      return i + 1;
  }
  return UINT32_MAX;
}

// (v * n + w) % n is w and (v * n + w) // n is v, where w runs to n; so is x // 4 % n where x
// runs to n * 4. Analyzers prove it for constants only.
static tvms_node *settle(tvms_rewriter *r, tvms_node *node) {
  detector *d = r->self;
  const tvms_binary *old = tvms_as_binary(node);
  tvms_node *dividend = tvms_analyzer_simplify(d->analyzer, old->a), *bound = old->b;
  bool quotient = dividend->kind == TVMS_NODE_FLOOR_DIV;
  tvms_node *counts = dividend;
  while (counts->kind == TVMS_NODE_FLOOR_DIV) {
    bound = build(d, TVMS_NODE_MUL, bound, tvms_as_binary(counts)->b);
    counts = tvms_as_binary(counts)->a;
  }
  sum terms = {.count = 0};
  bool dense =
      bound && take_terms(d, counts, &terms) && sort_terms(d, node->dtype, &terms);
  uint32_t below = dense ? terms_below(d, &terms, bound) : UINT32_MAX;
  if (below == UINT32_MAX || (quotient && below < terms.count)) return node;
  bool rest = node->kind == TVMS_NODE_FLOOR_MOD;
  if (quotient && rest) return dividend;
  tvms_node *part = rest ? counted(d, node->dtype, &terms, 0, below)
                         : counted(d, node->dtype, &terms, below, terms.count);
  return part ? part : node;
}

static tvms_node *settled(detector *d, tvms_node *index) {
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, d->unit, d);
  rewriter.leave[TVMS_NODE_FLOOR_MOD] = settle;
  rewriter.leave[TVMS_NODE_FLOOR_DIV] = settle;
  index = tvms_rewrite(&rewriter, index);
  tvms_rewriter_fini(&rewriter);
  return index;
}

// The number of an element in row-major order.
static tvms_node *TVMS_NULLABLE number_of(detector *d, const tvms_node *buffer,
                                          tvms_list indices) {
  tvms_list shape = tvms_as_buffer(buffer)->shape;
  tvms_node *number = tvms_int_imm_new(d->unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < indices.len; i++) {
    number = build(d, TVMS_NODE_MUL, number, shape.items[i]);
    number = build(d, TVMS_NODE_ADD, number, settled(d, indices.items[i]));
  }
  return number ? tvms_analyzer_simplify(d->analyzer, number) : NULL;
}

// The indices are the variables of the block, which run over the whole buffer.
static bool is_trivial(detector *d, const tvms_block *block, const tvms_node *buffer,
                       tvms_list indices) {
  if (indices.len != block->iter_vars.len) return false;
  for (uint32_t i = 0; i < indices.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[i]);
    const tvms_range *dom = tvms_as_range(iter->dom);
    bool same = indices.items[i] == iter->var
                && tvms_analyzer_can_prove_ge(d->analyzer, dom->min, 0)
                && tvms_analyzer_can_prove_lt(d->analyzer, dom->min, 1)
                && tvms_analyzer_can_prove_equal(
                    d->analyzer, tvms_as_buffer(buffer)->shape.items[i], dom->extent);
    if (!same) return false;
  }
  return true;
}

static bool has_no_step(const tvms_block *block) {
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[i]);
    if (tvms_node_is_int(tvms_as_range(iter->dom)->extent, 0)) return true;
  }
  return block->iter_vars.len == 0;
}

// Is `number` the joint number of the variables, when they are its digits?
static bool is_joint_number(detector *d, const tvms_block *block, tvms_node *number) {
  tvms_context *context = d->unit->context;
  const tvms_iter_var *first = tvms_as_iter_var(block->iter_vars.items[0]);
  tvms_dtype dtype = first->var->dtype;
  tvms_node *joint = tvms_var_new(d->unit, tvms_symbol_intern(context, "fused", 5),
                                  dtype, TVMS_NO_SPAN);
  tvms_node *stride = tvms_int_imm_new(d->unit, dtype, 1, TVMS_NO_SPAN);
  tvms_node_map digits;
  tvms_node_map_init(&digits, &context->memory);
  for (uint32_t i = block->iter_vars.len; i > 0 && stride; i--) {
    const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[i - 1]);
    tvms_node *extent = tvms_as_range(iter->dom)->extent;
    tvms_node *digit = build(d, TVMS_NODE_FLOOR_DIV, joint, stride);
    digit = build(d, TVMS_NODE_FLOOR_MOD, digit, extent);
    tvms_node_map_put(&digits, iter->var, digit);
    stride = build(d, TVMS_NODE_MUL, stride, extent);
  }
  bool same = false;
  if (stride) {
    tvms_node *zero = tvms_int_imm_new(d->unit, dtype, 0, TVMS_NO_SPAN);
    tvms_analyzer_bind_range(d->analyzer, joint, zero, stride);
    number = tvms_substitute(d->unit, number, &digits);
    same = tvms_analyzer_can_prove_equal(d->analyzer, number, joint);
  }
  tvms_node_map_fini(&digits);
  return same;
}

// ---- Digits ----

static tvms_node *digit(detector *d, const tvms_node *var, tvms_node *extent) {
  tvms_node *made = tvms_var_like(d->unit, var);
  tvms_node_map_put(&d->extents, made, extent);
  tvms_analyzer_bind_range(d->analyzer, made,
                           tvms_int_imm_new(d->unit, var->dtype, 0, TVMS_NO_SPAN),
                           extent);
  return made;
}

// Which digits of a variable that runs to many * 12 come first: `many`, then 2, 2, 3 or 3, 2, 2; or those, then `many`.
typedef enum { SMALL_FIRST, LARGE_FIRST, MANY_LAST, WAYS } digit_order;

enum { MOST_DIGITS = 64 };

static uint32_t prime_factors(int64_t number, int64_t factors[MOST_DIGITS]) {
  uint32_t count = 0;
  for (int64_t prime = 2; number > 1 && prime < MOST_DIGITS; prime++)
    for (; number % prime == 0; number /= prime)
      factors[count++] = prime;
  if (number > 1) factors[count++] = number;
  return count;
}

// number * extent + a new digit
static tvms_node *TVMS_NULLABLE append_digit(detector *d, const tvms_node *var,
                                             tvms_node *TVMS_NULLABLE number,
                                             tvms_node *extent) {
  tvms_node *last = digit(d, var, extent);
  return number ? build(d, TVMS_NODE_ADD, build(d, TVMS_NODE_MUL, number, extent), last)
                : last;
}

static tvms_node *TVMS_NULLABLE digits_of(detector *d, const tvms_node *var,
                                          const tvms_binary *extent, digit_order way) {
  int64_t factors[MOST_DIGITS];
  uint32_t count = prime_factors(tvms_as_int_imm(extent->b)->value, factors);
  tvms_node *number = way == MANY_LAST ? NULL : append_digit(d, var, NULL, extent->a);
  for (uint32_t i = 0; i < count; i++) {
    int64_t factor = factors[way == LARGE_FIRST ? count - 1 - i : i];
    number = append_digit(d, var, number,
                          tvms_int_imm_new(d->unit, var->dtype, factor, TVMS_NO_SPAN));
  }
  return way == MANY_LAST ? append_digit(d, var, number, extent->a) : number;
}

// Variables that run to a multiple of a number become sums of digits. False if there is none.
static bool split_variables(detector *d, const tvms_block *block, digit_order way,
                            tvms_node_map *sums) {
  bool any = false;
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    tvms_node *var = tvms_as_iter_var(block->iter_vars.items[i])->var;
    tvms_node *extent = extent_of(d, var);
    if (!extent || extent->kind != TVMS_NODE_MUL) continue;
    const tvms_binary *product = tvms_as_binary(extent);
    if (!tvms_node_is_int_imm(product->b) || tvms_as_int_imm(product->b)->value < 2)
      continue;
    tvms_node *number = digits_of(d, var, product, way);
    any |= number != NULL;
    if (number) tvms_node_map_put(sums, var, number);
  }
  return any;
}

static tvms_list substituted(detector *d, tvms_list indices, tvms_node_map *sums) {
  tvms_list made = tvms_list_copy(d->unit, indices.items, indices.len);
  for (uint32_t i = 0; i < made.len; i++)
    made.items[i] = tvms_substitute(d->unit, made.items[i], sums);
  return made;
}

// What a variable is multiplied with in all terms together.
static tvms_node *TVMS_NULLABLE factor_of(detector *d, const sum *terms,
                                          const tvms_node *var) {
  tvms_node *all = tvms_int_imm_new(d->unit, var->dtype, 0, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < terms->count; i++) {
    tvms_node *factor = terms->factor[i] ? terms->factor[i] : one_of(d, var->dtype);
    if (terms->var[i] == var) all = build(d, TVMS_NODE_ADD, all, factor);
  }
  return all;
}

// Analyzers multiply no sums out.
static bool are_equal_sums(detector *d, tvms_node *a, tvms_node *b) {
  sum left = {.count = 0}, right = {.count = 0};
  if (!take_terms(d, a, &left) || !take_terms(d, b, &right)) return false;
  bool same = true;
  for (uint32_t i = 0; i < left.count + right.count && same; i++) {
    const tvms_node *var = i < left.count ? left.var[i] : right.var[i - left.count];
    tvms_node *one = factor_of(d, &left, var), *other = factor_of(d, &right, var);
    same = one && other && tvms_analyzer_can_prove_equal(d->analyzer, one, other);
  }
  return same;
}

static bool is_equal_in_digits(detector *d, const tvms_block *block,
                               const tvms_store *store, const tvms_buffer_load *load,
                               digit_order way) {
  tvms_node_map sums;
  tvms_node_map_init(&sums, &d->unit->context->memory);
  bool same = false;
  if (split_variables(d, block, way, &sums)) {
    tvms_node *from = number_of(d, load->buffer, substituted(d, load->indices, &sums));
    tvms_node *to = number_of(d, store->buffer, substituted(d, store->indices, &sums));
    same = from && to && are_equal_sums(d, from, to);
  }
  tvms_node_map_fini(&sums);
  return same;
}

// ---- Places that are digits ----

// The number of all elements of a buffer.
static tvms_node *TVMS_NULLABLE size_of(detector *d, const tvms_node *buffer) {
  tvms_list shape = tvms_as_buffer(buffer)->shape;
  tvms_node *size = one_of(d, shape.len ? shape.items[0]->dtype : TVMS_DTYPE(INT, 32));
  for (uint32_t i = 0; i < shape.len && size; i++)
    size = build(d, TVMS_NODE_MUL, size, shape.items[i]);
  return size;
}

// x, of an index that is x // below % size; the first index need not have the rest. NULL: it is something else.
static tvms_node *TVMS_NULLABLE counted_by(detector *d, tvms_node *index,
                                           tvms_node *size, tvms_node *below,
                                           bool first) {
  const bool rest = index->kind == TVMS_NODE_FLOOR_MOD;
  if (rest
      && !tvms_analyzer_can_prove_equal(d->analyzer, tvms_as_binary(index)->b, size))
    return NULL;
  if (!rest && !first) return NULL;
  tvms_node *number = rest ? tvms_as_binary(index)->a : index;
  tvms_node *divisor = one_of(d, below->dtype);
  for (; number->kind == TVMS_NODE_FLOOR_DIV; number = tvms_as_binary(number)->a) {
    divisor = build(d, TVMS_NODE_MUL, divisor, tvms_as_binary(number)->b);
    if (!divisor) return NULL;
  }
  return tvms_analyzer_can_prove_equal(d->analyzer, divisor, below) ? number : NULL;
}

// The number x that the places are the digits of: A[x // 5 // m, x // 5 % m, x % 5] of a buffer (n, m, 5) with as many elements
// as x counts. NULL: there is none.
static tvms_node *TVMS_NULLABLE number_of_digits(detector *d,
                                                 const tvms_buffer_load *load) {
  tvms_list shape = tvms_as_buffer(load->buffer)->shape;
  tvms_node *number = NULL;
  if (!shape.len || shape.len != load->indices.len) return NULL;
  tvms_node *below = one_of(d, shape.items[0]->dtype);
  for (uint32_t i = shape.len; i-- > 0 && below;) {
    tvms_node *counted =
        counted_by(d, load->indices.items[i], shape.items[i], below, i == 0);
    bool same =
        counted
        && (!number || tvms_analyzer_can_prove_equal(d->analyzer, counted, number));
    if (!same) return NULL;
    number = counted;
    below = build(d, TVMS_NODE_MUL, below, shape.items[i]);
  }
  return number;
}

// Sizes are the same sums of products, which analyzers do not order.
static bool are_as_large(detector *d, const tvms_node *a, const tvms_node *b) {
  tvms_node *one = size_of(d, a), *other = size_of(d, b);
  if (!one || !other) return false;
  one = tvms_analyzer_canonical_simplify(d->analyzer, one);
  other = tvms_analyzer_canonical_simplify(d->analyzer, other);
  return tvms_analyzer_can_prove_equal(d->analyzer, one, other);
}

static bool are_digits(detector *d, const tvms_store *store,
                       const tvms_buffer_load *load, tvms_node *to) {
  tvms_node *number = number_of_digits(d, load);
  return number && are_as_large(d, load->buffer, store->buffer)
         && tvms_analyzer_can_prove_equal(d->analyzer, number, to);
}

static bool copies_in_order(detector *d, const tvms_block *block) {
  d->block = block;
  if (block->body->kind != TVMS_NODE_STORE) return false;
  const tvms_store *store = tvms_as_store(block->body);
  if (store->value->kind != TVMS_NODE_BUFFER_LOAD) return false;
  const tvms_buffer_load *load = tvms_as_buffer_load(store->value);
  if (store->buffer != d->target || load->buffer != d->source) return false;
  tvms_node *from = number_of(d, load->buffer, load->indices);
  tvms_node *to = number_of(d, store->buffer, store->indices);
  if (!from || !to) return false;
  if (!has_no_step(block)) {
    tvms_node *other = NULL;
    if (is_trivial(d, block, store->buffer, store->indices))
      other = from;
    else if (is_trivial(d, block, load->buffer, load->indices))
      other = to;
    if (other && is_joint_number(d, block, other)) return true;
  }
  bool same = tvms_analyzer_can_prove_equal(d->analyzer, from, to);
  same = same || are_digits(d, store, load, to);
  for (int way = SMALL_FIRST; way < WAYS && !same; way++)
    same = is_equal_in_digits(d, block, store, load, (digit_order)way);
  return same;
}

static bool bind_block(detector *d, const tvms_block *block) {
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[i]);
    if (iter->iter_type != TVMS_ITER_DATA_PAR || !iter->dom) return false;
  }
  bool outer = block->body->kind == TVMS_NODE_FOR;
  for (uint32_t i = 0; i < block->iter_vars.len && !outer; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[i]);
    const tvms_range *dom = tvms_as_range(iter->dom);
    tvms_analyzer_bind_range(d->analyzer, iter->var, dom->min, dom->extent);
  }
  return true;
}

// Down through loops and blocks, of which each holds one other, to the one that copies.
static bool detect(detector *d, const tvms_node *stmt) {
  while (true) {
    if (stmt->kind == TVMS_NODE_FOR) {
      const tvms_for *loop = tvms_as_for(stmt);
      tvms_analyzer_bind_range(d->analyzer, loop->var, loop->min, loop->extent);
      stmt = loop->body;
      bool goes_on =
          stmt->kind == TVMS_NODE_FOR || stmt->kind == TVMS_NODE_BLOCK_REALIZE;
      if (!goes_on) return false;
    } else if (stmt->kind == TVMS_NODE_BLOCK_REALIZE) {
      const tvms_block *block = tvms_as_block(tvms_as_block_realize(stmt)->block);
      if (!bind_block(d, block)) return false;
      if (block->body->kind != TVMS_NODE_FOR) return copies_in_order(d, block);
      stmt = block->body;
    } else {
      return false;
    }
  }
}

bool tvms_relax_reshapes(tvms_context *context, tvms_dialect dialect,
                         const tvms_node *function) {
  tvms_unit unit;
  tvms_unit_init(&unit, context, dialect);
  const tvms_prim_func *copy = tvms_as_prim_func(tvms_clone(&unit, function, NULL));
  detector d = {.unit = &unit};
  uint32_t buffers = 0;
  for (uint32_t i = 0; i < copy->buffers.len; i++) {
    if (!copy->buffers.items[i]) continue;
    if (buffers++ == 0) d.source = copy->buffers.items[i];
    d.target = copy->buffers.items[i];
  }
  bool holds = false;
  if (buffers > 1) {
    d.analyzer = tvms_analyzer_new(&unit);
    tvms_node_map_init(&d.extents, &context->memory);
    holds = detect(&d, copy->body);
    tvms_node_map_fini(&d.extents);
    tvms_analyzer_free(d.analyzer);
  }
  tvms_unit_fini(&unit);
  return holds;
}
