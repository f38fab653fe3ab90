// Free pieces stand in one vector by size, equal sizes in the order in which they were freed. So
// what TVM finds in its multimap (TokenAllocatorMixed) is found by one walk; pools are small.
#include "passes/relax/lower/storage_pool.h"

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

tvms_relax_token *tvms_relax_pool_take(tvms_relax_pool *pool,
                                       const tvms_relax_token *wish) {
  if (wish->uses == 0) return NULL;
  int64_t size = tvms_relax_token_bytes(wish);
  if (size < 0) return take_equal(pool, wish);
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
