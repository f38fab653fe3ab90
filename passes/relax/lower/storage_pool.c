// Free pieces stand in one vector by size, equal sizes in the order in which they were freed. So
// what TVM finds in its multimap (TokenAllocatorMixed) is found by one walk; pools are small.
#include "passes/relax/lower/storage_pool.h"

#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"

enum { RANGE = 16 };

int64_t tvms_relax_token_bytes(const tvms_relax_token *token) {
  bool known = token->bytes->kind == TVMS_NODE_INT_IMM;
  return known ? tvms_as_int_imm(token->bytes)->value : -1;
}

static bool is_alike(const tvms_relax_token *a, const tvms_relax_token *b) {
  return tvms_dtype_same(a->dtype, b->dtype) && tvms_bytes_same(a->scope, b->scope);
}

static tvms_relax_token *take_at(tvms_relax_pool *pool, uint32_t at, uint32_t uses) {
  tvms_relax_token *token = pool->free.items[at];
  for (uint32_t i = at + 1; i < pool->free.len; i++)
    pool->free.items[i - 1] = pool->free.items[i];
  pool->free.len--;
  token->uses = uses;
  return token;
}

static tvms_relax_token *TVMS_NULLABLE take_equal(tvms_relax_pool *pool,
                                                  const tvms_relax_token *wish) {
  for (uint32_t i = 0; i < pool->free.len; i++) {
    const tvms_relax_token *free = pool->free.items[i];
    if (tvms_relax_token_bytes(free) >= 0) break;
    if (is_alike(free, wish)
        && tvms_analyzer_can_prove_equal(pool->analyzer, wish->bytes, free->bytes))
      return take_at(pool, i, wish->uses);
  }
  return NULL;
}

// ---- Unknown sizes ----

static tvms_node *take_as_some(tvms_rewriter *r, tvms_node *node) {
  enum { SOME = 64 };
  return tvms_int_imm_new(r->unit, node->dtype, SOME, node->span);
}

// How much a size is if each symbol is 64, which is what planning goes by; -1: that is not known, either.
static int64_t probable_bytes(const tvms_relax_pool *pool, tvms_node *bytes) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, pool->unit, NULL);
  r.leave[TVMS_NODE_VAR] = take_as_some;
  tvms_node *some = tvms_arith_simplify(pool->unit, tvms_rewrite(&r, bytes));
  tvms_rewriter_fini(&r);
  return some->kind == TVMS_NODE_INT_IMM ? tvms_as_int_imm(some)->value : -1;
}

typedef struct {
  tvms_memory *memory;
  tvms_node *other;
} symbol_search;

static tvms_walk_step find_symbol(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const symbol_search *s = self;
  bool new =
      node->kind == TVMS_NODE_VAR && !tvms_walk_contains(s->memory, s->other, node);
  return new ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Is a wish of symbols that the size of a piece has? Others may not be there yet where the piece is allocated.
static bool has_symbols(const tvms_relax_pool *pool, const tvms_relax_token *piece,
                        const tvms_relax_token *wish) {
  symbol_search s = {pool->memory, piece->bytes};
  tvms_visitor visitor = {.self = &s, .enter = find_symbol};
  return tvms_walk(pool->memory, wish->bytes, &visitor);
}

static tvms_relax_token *TVMS_NULLABLE take_unknown(tvms_relax_pool *pool,
                                                    const tvms_relax_token *wish) {
  int64_t size = probable_bytes(pool, wish->bytes), best = 0;
  uint32_t found = UINT32_MAX;
  for (uint32_t i = 0; i < pool->free.len && size > 0; i++) {
    const tvms_relax_token *piece = pool->free.items[i];
    if (tvms_relax_token_bytes(piece) >= 0) break;
    int64_t bytes = probable_bytes(pool, piece->bytes);
    if (!is_alike(piece, wish) || !has_symbols(pool, piece, wish)
        || bytes < size / RANGE || bytes / RANGE > size)
      continue;
    bool better = bytes >= size ? best < size || bytes < best : bytes > best;
    if (found < UINT32_MAX && !better) continue;
    found = i;
    best = bytes;
  }
  if (found == UINT32_MAX) return NULL;
  tvms_relax_token *token = take_at(pool, found, wish->uses);
  tvms_node *larger = tvms_build_binary(pool->unit, TVMS_NODE_MAX, token->bytes,
                                        wish->bytes, TVMS_NO_SPAN);
  token->bytes = tvms_analyzer_simplify(pool->analyzer, larger);
  return token;
}

tvms_relax_token *tvms_relax_pool_take(tvms_relax_pool *pool,
                                       const tvms_relax_token *wish) {
  if (wish->uses == 0) return NULL;
  int64_t size = tvms_relax_token_bytes(wish);
  if (size < 0) {
    tvms_relax_token *equal = take_equal(pool, wish);
    return equal || !pool->shares_unknown ? equal : take_unknown(pool, wish);
  }
  int64_t least = size / RANGE,
          most = size < INT64_MAX / RANGE ? size * RANGE : INT64_MAX;
  uint32_t smaller = UINT32_MAX;
  for (uint32_t i = 0; i < pool->free.len; i++) {
    const tvms_relax_token *free = pool->free.items[i];
    int64_t bytes = tvms_relax_token_bytes(free);
    if (bytes < least || !is_alike(free, wish)) continue;
    if (bytes > most) break;
    if (bytes >= size) return take_at(pool, i, wish->uses);
    smaller = i;
  }
  if (smaller == UINT32_MAX) return NULL;
  tvms_relax_token *token = take_at(pool, smaller, wish->uses);
  token->bytes = wish->bytes;
  return token;
}

void tvms_relax_pool_release(tvms_relax_pool *pool, tvms_relax_token *token) {
  int64_t size = tvms_relax_token_bytes(token);
  tvms_vec_push(pool->memory, &pool->free, token);
  uint32_t at = pool->free.len - 1;
  while (at > 0 && tvms_relax_token_bytes(pool->free.items[at - 1]) > size) {
    pool->free.items[at] = pool->free.items[at - 1];
    at--;
  }
  pool->free.items[at] = token;
}

void tvms_relax_pool_drop_block(tvms_relax_pool *pool, const tvms_node *block) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < pool->free.len; i++) {
    if (pool->free.items[i]->block != block)
      pool->free.items[kept++] = pool->free.items[i];
  }
  pool->free.len = kept;
}
