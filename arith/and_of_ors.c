// Conditions as conjunctions of disjunctions, and what their parts say in pairs.
//
// (a and b) or c becomes (a or c) and (b or c). Then every two parts of a disjunction are
// simplified as `x or y`, and two disjunctions that differ in one part are simplified by
// those parts: (a or x) and (a or y) is a or (x and y). What simplifies can so be found
// although it does not stand side by side in the text. The form may be exponentially longer
// than the condition: beyond MOST_PARTS the condition stays as it is.
// TVM: src/arith/conjunctive_normal_form.cc.
#include "arith/and_of_ors.h"

#include "arith/rewrite.h"
#include "ir/equal.h"

enum { MOST_PARTS = 256 };

typedef struct {
  tvms_analyzer *analyzer;
  tvms_node_vec *chunks;  // the parts of each disjunction
  uint32_t len;
  uint32_t effort;  // parts made on the way
} conjunction;

static tvms_unit *unit_of(const conjunction *c) {
  return c->analyzer->unit;
}

static tvms_node *truth(const conjunction *c, bool value) {
  return tvms_bool_imm_new(unit_of(c), value, TVMS_NO_SPAN);
}

static tvms_node *join(const conjunction *c, tvms_node_kind kind, tvms_node *a,
                       tvms_node *b) {
  return tvms_arith_fold_binary(unit_of(c), kind, a, b);
}

static bool is_truth(const tvms_node *node, bool value) {
  return tvms_node_is_int(node, value);
}

// ---- Parts ----

// The parts of `node` as operands of `kind`, the other junction multiplied out.
static void push_parts(conjunction *c, tvms_node *node, tvms_node_kind kind,
                       tvms_node_vec *parts) {
  tvms_memory *memory = c->analyzer->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  if (c->effort > MOST_PARTS) {
    // Given up: the result is not used.
  } else if (node->kind == kind) {
    push_parts(c, tvms_as_binary(node)->a, kind, parts);
    push_parts(c, tvms_as_binary(node)->b, kind, parts);
  } else if (node->kind == TVMS_NODE_AND || node->kind == TVMS_NODE_OR) {
    tvms_node_vec left = {0}, right = {0};
    push_parts(c, tvms_as_binary(node)->a, kind, &left);
    push_parts(c, tvms_as_binary(node)->b, kind, &right);
    for (uint32_t i = 0; i < left.len * right.len && c->effort <= MOST_PARTS; i++) {
      tvms_node *a = left.items[i / right.len], *b = right.items[i % right.len];
      tvms_vec_push(memory, parts, join(c, (tvms_node_kind)node->kind, a, b));
      c->effort++;
    }
    tvms_vec_fini(memory, &left);
    tvms_vec_fini(memory, &right);
  } else {
    tvms_vec_push(memory, parts, node);
    c->effort++;
  }
  tvms_memory_leave(memory);
}

static bool contains(const tvms_node_vec *parts, const tvms_node *part) {
  for (uint32_t i = 0; i < parts->len; i++) {
    if (tvms_node_same_expr(parts->items[i], part)) return true;
  }
  return false;
}

static uint32_t count_shared(const tvms_node_vec *parts, const tvms_node_vec *others) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < parts->len; i++)
    count += contains(others, parts->items[i]);
  return count;
}

static void add_chunk(conjunction *c, tvms_node *disjunction) {
  tvms_memory *memory = c->analyzer->memory;
  tvms_node_vec parts = {0}, chunk = {0};
  push_parts(c, disjunction, TVMS_NODE_OR, &parts);
  for (uint32_t i = 0; i < parts.len; i++) {
    if (!contains(&chunk, parts.items[i]))
      tvms_vec_push(memory, &chunk, parts.items[i]);
  }
  tvms_vec_fini(memory, &parts);
  for (uint32_t i = 0; i < c->len; i++) {
    const tvms_node_vec *other = &c->chunks[i];
    if (other->len != chunk.len || count_shared(&chunk, other) != chunk.len) continue;
    tvms_vec_fini(memory, &chunk);
    return;
  }
  c->chunks[c->len++] = chunk;
}

// ---- Simplifying in pairs ----

// Simplifies `a kind b`. Where something was found the two are replaced: by the operands
// of what it became, or by the neutral element and all of it.
static void simplify_pair(conjunction *c, tvms_node_kind kind, tvms_node **a,
                          tvms_node **b) {
  tvms_node *joint = join(c, kind, *a, *b);
  tvms_node *simple = tvms_analyzer_rewrite_simplify(c->analyzer, joint);
  if (tvms_node_same_expr(simple, joint)) return;
  bool pair = simple->kind == kind;
  *a = pair ? tvms_as_binary(simple)->a : truth(c, kind == TVMS_NODE_AND);
  *b = pair ? tvms_as_binary(simple)->b : simple;
}

static void simplify_within(conjunction *c, tvms_node_vec *chunk) {
  for (uint32_t i = 0; i < chunk->len; i++) {
    for (uint32_t k = i + 1; k < chunk->len; k++)
      simplify_pair(c, TVMS_NODE_OR, &chunk->items[i], &chunk->items[k]);
  }
}

// The place of the first part of `chunk` that `other` lacks; its length if there is none.
static uint32_t find_distinct(const tvms_node_vec *chunk, const tvms_node_vec *other) {
  uint32_t i = 0;
  while (i < chunk->len && contains(other, chunk->items[i]))
    i++;
  return i;
}

static void set_true(conjunction *c, tvms_node_vec *chunk) {
  chunk->len = 0;
  tvms_vec_push(c->analyzer->memory, chunk, truth(c, true));
}

// (a or x) and (a or y): x and y, where a is known to fail.
static void simplify_distinct(conjunction *c, tvms_node_vec *a, uint32_t at_a,
                              tvms_node_vec *b, uint32_t at_b) {
  tvms_node *known = truth(c, true);
  for (uint32_t i = 0; i < a->len; i++) {
    if (i == at_a) continue;
    tvms_node *fails = tvms_not_new(unit_of(c), a->items[i], TVMS_NO_SPAN);
    fails = tvms_analyzer_simplify(c->analyzer, fails);
    known = join(c, TVMS_NODE_AND, known, fails);
  }
  tvms_scope_mark mark = tvms_analyzer_enter(c->analyzer, known);
  simplify_pair(c, TVMS_NODE_AND, &a->items[at_a], &b->items[at_b]);
  tvms_analyzer_leave(c->analyzer, mark);
}

static void simplify_across(conjunction *c, tvms_node_vec *a, tvms_node_vec *b) {
  if (a->len == 1 && b->len == 1) {
    simplify_pair(c, TVMS_NODE_AND, &a->items[0], &b->items[0]);
    return;
  }
  uint32_t at_a = find_distinct(a, b), at_b = find_distinct(b, a);
  if (at_a == a->len) {
    set_true(c, b);  // `a` says more
  } else if (at_b == b->len) {
    set_true(c, a);
  } else if (a->len == b->len && count_shared(b, a) + 1 == a->len) {
    simplify_distinct(c, a, at_a, b, at_b);
  }
}

// True ends a disjunction and leaves the conjunction; false the other way round.
static void remove_constants(conjunction *c) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < c->len; i++) {
    tvms_node_vec *chunk = &c->chunks[i];
    uint32_t len = 0;
    bool holds = false;
    for (uint32_t k = 0; k < chunk->len; k++) {
      holds = holds || is_truth(chunk->items[k], true);
      if (!is_truth(chunk->items[k], false)) chunk->items[len++] = chunk->items[k];
    }
    chunk->len = len;
    if (holds) {
      tvms_vec_fini(c->analyzer->memory, chunk);
      continue;
    }
    c->chunks[kept++] = *chunk;
    if (len == 0) {
      // Nothing else matters; what follows is freed with the rest.
      for (uint32_t k = i + 1; k < c->len; k++)
        tvms_vec_fini(c->analyzer->memory, &c->chunks[k]);
      for (uint32_t k = 0; k < kept; k++)
        tvms_vec_fini(c->analyzer->memory, &c->chunks[k]);
      c->chunks[0] = (tvms_node_vec){0};
      kept = 1;
      break;
    }
  }
  c->len = kept;
}

static void simplify_all(conjunction *c) {
  for (uint32_t i = 0; i < c->len; i++)
    simplify_within(c, &c->chunks[i]);
  remove_constants(c);
  for (uint32_t i = 0; i < c->len; i++) {
    for (uint32_t k = i + 1; k < c->len; k++)
      simplify_across(c, &c->chunks[i], &c->chunks[k]);
  }
  remove_constants(c);
}

static tvms_node *build(conjunction *c) {
  tvms_node *result = truth(c, true);
  for (uint32_t i = 0; i < c->len; i++) {
    tvms_node *chunk = truth(c, false);
    for (uint32_t k = 0; k < c->chunks[i].len; k++)
      chunk = join(c, TVMS_NODE_OR, chunk, c->chunks[i].items[k]);
    result = join(c, TVMS_NODE_AND, result, chunk);
  }
  return result;
}

tvms_node *tvms_arith_and_of_ors(tvms_analyzer *analyzer, tvms_node *condition) {
  uint32_t extensions = analyzer->extensions;
  tvms_memory *memory = analyzer->memory;
  conjunction c = {.analyzer = analyzer};
  tvms_node_vec parts = {0};
  // What is simplified on the way is not converted in turn.
  tvms_analyzer_extend(analyzer, extensions & ~(uint32_t)TVMS_CONVERT_TO_AND_OF_ORS);
  push_parts(&c, tvms_analyzer_simplify(analyzer, condition), TVMS_NODE_AND, &parts);
  c.chunks = tvms_memory_alloc(memory, (parts.len + 1) * sizeof *c.chunks);
  for (uint32_t i = 0; i < parts.len; i++)
    add_chunk(&c, parts.items[i]);
  bool small = c.effort <= MOST_PARTS;
  if (small) simplify_all(&c);
  tvms_node *result = small ? build(&c) : condition;
  for (uint32_t i = 0; i < c.len; i++)
    tvms_vec_fini(memory, &c.chunks[i]);
  tvms_memory_free(memory, c.chunks);
  tvms_vec_fini(memory, &parts);
  tvms_analyzer_extend(analyzer, extensions);
  return result;
}
