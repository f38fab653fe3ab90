// reverse_compute_inline: the producer of what a block reads stores what the block would have stored, and the block goes.
// TVM: src/s_tir/schedule/primitive/compute_inline.cc.
#include "arith/int_set.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/flags.h"
#include "schedule/injective.h"
#include "schedule/inline.h"
#include "schedule/steps.h"

typedef struct {
  tvms_sched *sched;
  int32_t consumer, producer, scope;
  tvms_node *buffer;   // between them
  tvms_store *store;   // of the consumer
  tvms_list indices;   // at which it loads
  tvms_node_map axes;  // of the consumer, in terms of the producer's indices
  tvms_node *TVMS_NULLABLE value;  // that the producer stores
  tvms_node *in_bounds;            // of the consumer's axes
} reversal;

// ---- Checks ----

// The one buffer that the block reads and the scope writes.
static bool find_buffer(reversal *v) {
  tvms_sched *s = v->sched;
  tvms_site_vec blocks = {0};
  tvms_sched_children(s, v->scope, &blocks);
  tvms_list reads = tvms_sched_block(s, v->consumer)->reads;
  uint32_t count = 0;
  for (uint32_t i = 0; i < reads.len; i++) {
    tvms_node *buffer = tvms_sched_region_buffer(reads, i);
    bool written = false;
    for (uint32_t k = 0; k < blocks.len; k++)
      written =
          written
          || tvms_sched_touches(tvms_sched_block(s, blocks.items[k])->writes, buffer);
    if (!written || buffer == v->buffer) continue;
    v->buffer = buffer;
    count++;
  }
  tvms_vec_fini(&s->context->memory, &blocks);
  return count == 1
         || tvms_sched_refuse(
             s, "the block does not read exactly one buffer that its scope writes");
}

// A block without blocks in it that writes the buffer.
static bool is_writing_leaf(const reversal *v, int32_t site) {
  const tvms_sched *s = v->sched;
  if (tvms_sched_is_loop(s, site)
      || !tvms_sched_touches(tvms_sched_block(s, site)->writes, v->buffer))
    return false;
  for (uint32_t i = (uint32_t)site + 1; i < tvms_sched_at(s, site)->end; i++)
    if (is_writing_leaf(v, (int32_t)i)) return false;
  return true;
}

static bool find_producer(reversal *v) {
  tvms_sched *s = v->sched;
  uint32_t count = 0;
  for (uint32_t i = (uint32_t)v->scope + 1; i < tvms_sched_at(s, v->scope)->end; i++) {
    if (!is_writing_leaf(v, (int32_t)i)) continue;
    v->producer = (int32_t)i;
    count++;
    const char *why = tvms_sched_why_incomplete(s, (int32_t)i, v->scope);
    if (why) return tvms_sched_refuse(s, "the producer is not complete: %s", why);
  }
  return count == 1
         || tvms_sched_refuse(s, "%u blocks produce what the block reads", count);
}

static bool check(reversal *v) {
  tvms_sched *s = v->sched;
  if (tvms_sched_block(s, v->consumer)->init)
    return tvms_sched_refuse(s, "the block has T.init()");
  if (!tvms_sched_check_scope(s, v->consumer, true, &v->scope) || !find_buffer(v))
    return false;
  const char *why = tvms_sched_why_incomplete(s, v->consumer, v->scope);
  if (why) return tvms_sched_refuse(s, "the block is not complete: %s", why);
  if (!find_producer(v)) return false;
  return !tvms_sched_writes_out(s, v->producer, v->scope)
         || tvms_sched_refuse(
             s, "the producer writes a buffer that its scope does not allocate");
}

// ---- What the consumer does ----

static tvms_walk_step see_load(void *self, tvms_node *node, tvms_field_role role) {
  reversal *v = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BUFFER_LOAD
      || tvms_as_buffer_load(node)->buffer != v->buffer)
    return TVMS_WALK_ON;
  tvms_list indices = tvms_as_buffer_load(node)->indices;
  bool same = !v->indices.items || v->indices.len == indices.len;
  for (uint32_t i = 0; v->indices.items && same && i < indices.len; i++)
    same = tvms_node_same_expr(v->indices.items[i], indices.items[i]);
  v->indices = indices;
  return same ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

// The loop that `body` is, if it is one in a block that copies.
static const tvms_for *TVMS_NULLABLE copying_loop(const tvms_block *block,
                                                  const tvms_node *body) {
  bool is_loop = body->kind == TVMS_NODE_FOR && block->annotations;
  return is_loop ? tvms_as_for(body) : NULL;
}

// An analyzer that knows what the axes and the loops in a block run over. The caller frees it.
static tvms_analyzer *producer_analyzer(tvms_sched *s, const tvms_block *block) {
  tvms_analyzer *analyzer = tvms_analyzer_new(s->unit);
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    tvms_analyzer_bind_range(analyzer, axis->var, dom->min, dom->extent);
  }
  const tvms_node *body = block->body;
  for (const tvms_for *loop; (loop = copying_loop(block, body)); body = loop->body)
    tvms_analyzer_bind_range(analyzer, loop->var, loop->min, loop->extent);
  return analyzer;
}

// The store of the producer, below a condition perhaps.
static const tvms_store *TVMS_NULLABLE producer_store(const reversal *v) {
  const tvms_block *producer = tvms_sched_block(v->sched, v->producer);
  const tvms_node *body = producer->body;
  if (body->kind == TVMS_NODE_IF_THEN_ELSE) {
    if (tvms_as_if_then_else(body)->else_case) return NULL;
    body = tvms_as_if_then_else(body)->then_case;
  }
  for (const tvms_for *loop; (loop = copying_loop(producer, body));)
    body = loop->body;
  return body->kind == TVMS_NODE_STORE ? tvms_as_store(body) : NULL;
}

static bool solve_axes(reversal *v, const tvms_store *stored) {
  tvms_sched *s = v->sched;
  const tvms_block *consumer = tvms_sched_block(s, v->consumer);
  tvms_node **places = tvms_inline_places(s, v->indices);
  tvms_node_map found, map;
  tvms_node_map_init(&found, &s->context->memory);
  tvms_node_map_init(&map, &s->context->memory);
  bool fine = tvms_inline_inverse(s, consumer, v->indices, false, places, &found);
  for (uint32_t i = 0; i < stored->indices.len; i++)
    tvms_node_map_put(&map, places[i], stored->indices.items[i]);
  for (uint32_t i = 0; fine && i < consumer->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(consumer->iter_vars.items[i]);
    tvms_node *value = tvms_node_map_get(&found, axis->var);
    tvms_node_map_put(&v->axes, axis->var, tvms_substitute(s->unit, value, &map));
  }
  tvms_node_map_fini(&found);
  tvms_node_map_fini(&map);
  return fine;
}

// Is each element that the block reads that of one step only? TVM does not always ask, and then the others are not stored.
static bool reads_once(reversal *v) {
  tvms_sched *s = v->sched;
  tvms_list axes = tvms_sched_block(s, v->consumer)->iter_vars;
  tvms_list vars = tvms_list_copy(s->unit, axes.items, axes.len);
  tvms_list extents = tvms_list_copy(s->unit, axes.items, axes.len);
  for (uint32_t i = 0; i < axes.len; i++) {
    const tvms_range *dom = tvms_as_range(tvms_as_iter_var(axes.items[i])->dom);
    vars.items[i] = tvms_as_iter_var(axes.items[i])->var;
    extents.items[i] = dom->extent;
    if (!tvms_node_is_int(dom->min, 0)) return true;
  }
  return tvms_sched_is_injective(s, vars, extents, v->indices);
}

// Does the producer store for every step of the consumer?
static bool is_covered(reversal *v) {
  tvms_sched *s = v->sched;
  const tvms_block *consumer = tvms_sched_block(s, v->consumer),
                   *producer = tvms_sched_block(s, v->producer);
  tvms_domains sets;
  tvms_domains_init(&sets, s->unit);
  tvms_sched_add_axes(&sets, producer);
  const tvms_node *body = producer->body;
  for (const tvms_for *loop; (loop = copying_loop(producer, body)); body = loop->body)
    tvms_domains_set(&sets, loop->var,
                     tvms_int_set_of_range(s->unit, loop->min, loop->extent));
  tvms_analyzer *analyzer = tvms_analyzer_new(s->unit);
  bool covered = true;
  for (uint32_t i = 0; covered && i < consumer->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(consumer->iter_vars.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    tvms_int_set set =
        tvms_int_set_of_expr(&sets, tvms_node_map_get(&v->axes, axis->var));
    tvms_node *end = tvms_sched_build(s, TVMS_NODE_ADD, dom->min, dom->extent);
    end = tvms_sched_build(s, TVMS_NODE_SUB, end, tvms_sched_int(s, end->dtype, 1));
    bool above = set.min
                 && tvms_analyzer_can_prove(
                     analyzer, tvms_sched_build(s, TVMS_NODE_GT, set.min, dom->min));
    bool below = set.max
                 && tvms_analyzer_can_prove(
                     analyzer, tvms_sched_build(s, TVMS_NODE_LT, set.max, end));
    covered = !above && !below;
  }
  tvms_analyzer_free(analyzer);
  tvms_domains_fini(&sets);
  return covered;
}

static bool takes_axis(tvms_sched *s, const tvms_block *block, tvms_node *index) {
  bool takes = false;
  for (uint32_t i = 0; !takes && i < block->iter_vars.len; i++)
    takes = tvms_sched_uses(s, index, tvms_as_iter_var(block->iter_vars.items[i])->var);
  return takes;
}

// Does the producer store at the places that the consumer takes without its axes, and at no others? TVM does not ask.
static bool stores_only_there(const reversal *v, const tvms_store *stored) {
  tvms_sched *s = v->sched;
  tvms_analyzer *analyzer = producer_analyzer(s, tvms_sched_block(s, v->producer));
  bool only = true;
  for (uint32_t d = 0; only && d < v->indices.len; d++)
    only = takes_axis(s, tvms_sched_block(s, v->consumer), v->indices.items[d])
           || tvms_analyzer_can_prove_equal(analyzer, v->indices.items[d],
                                            stored->indices.items[d]);
  tvms_analyzer_free(analyzer);
  return only;
}

static bool read_consumer(reversal *v) {
  tvms_sched *s = v->sched;
  const tvms_block *consumer = tvms_sched_block(s, v->consumer);
  bool plain = tvms_node_is_int(tvms_sched_realize(s, v->consumer)->predicate, 1)
               && consumer->body->kind == TVMS_NODE_STORE;
  if (!plain) return false;
  v->store = tvms_as_store(consumer->body);
  tvms_visitor visitor = {.self = v, .enter = see_load};
  if (!tvms_walk(&s->context->memory, consumer->body, &visitor) || !v->indices.items)
    return false;
  const tvms_store *stored = producer_store(v);
  return stored && reads_once(v) && stores_only_there(v, stored)
         && solve_axes(v, stored) && is_covered(v);
}

// ---- The producer ----

static tvms_node *replace_load(tvms_rewriter *r, tvms_node *node) {
  const reversal *v = r->self;
  bool own = tvms_as_buffer_load(node)->buffer == v->buffer && v->value;
  return own ? v->value : node;
}

// A node of the consumer in terms of the producer.
static tvms_node *translate(reversal *v, tvms_node *node) {
  tvms_sched *s = v->sched;
  tvms_rewriter r;
  tvms_rewriter_init(&r, s->unit, v);
  r.leave[TVMS_NODE_BUFFER_LOAD] = replace_load;
  tvms_list axes = tvms_sched_block(s, v->consumer)->iter_vars;
  for (uint32_t i = 0; i < axes.len; i++) {
    const tvms_node *var = tvms_as_iter_var(axes.items[i])->var;
    tvms_node_map_put(&r.known, var, tvms_node_map_get(&v->axes, var));
  }
  tvms_node *made = tvms_rewrite(&r, node);
  tvms_rewriter_fini(&r);
  return made;
}

// What the producer itself reads of the buffer is what the consumer has stored.
static tvms_node *read_own(tvms_rewriter *r, tvms_node *node) {
  reversal *v = r->self;
  if (tvms_as_buffer_load(node)->buffer != v->buffer) return node;
  tvms_node *load =
      tvms_buffer_load_new(r->unit, v->store->buffer, v->store->indices.items,
                           v->store->indices.len, NULL, TVMS_NO_SPAN);
  return translate(v, load);
}

static tvms_node *replace_store(tvms_rewriter *r, tvms_node *node) {
  reversal *v = r->self;
  tvms_rewriter inner;
  tvms_rewriter_init(&inner, r->unit, v);
  inner.leave[TVMS_NODE_BUFFER_LOAD] = read_own;
  v->value = NULL;
  tvms_node *value = tvms_rewrite(&inner, tvms_as_store(node)->value);
  tvms_rewriter_fini(&inner);
  v->value = value;
  return translate(v, &v->store->head);
}

// The condition that the consumer's axes are in their ranges.
static tvms_node *bounds_of(reversal *v) {
  tvms_sched *s = v->sched;
  tvms_list axes = tvms_sched_block(s, v->consumer)->iter_vars;
  tvms_node *all = tvms_bool_imm_new(s->unit, true, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < axes.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(axes.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    tvms_node *end = tvms_sched_build(s, TVMS_NODE_ADD, dom->min, dom->extent);
    tvms_node *own = tvms_sched_build(
        s, TVMS_NODE_AND, tvms_sched_build(s, TVMS_NODE_GE, axis->var, dom->min),
        tvms_sched_build(s, TVMS_NODE_LT, axis->var, end));
    all = tvms_sched_build(s, TVMS_NODE_AND, all, own);
  }
  return all;
}

// Where the condition of the producer's body says less than the bounds, both become its predicate.
static tvms_node *join_condition(reversal *v, tvms_analyzer *analyzer,
                                 tvms_node *predicate, tvms_block *block) {
  if (block->body->kind != TVMS_NODE_IF_THEN_ELSE) return predicate;
  const tvms_if_then_else *branch = tvms_as_if_then_else(block->body);
  if (branch->else_case) return predicate;
  tvms_node *own = tvms_analyzer_simplify(analyzer, branch->condition);
  if (tvms_node_equal(v->sched->context, predicate, own)) return predicate;
  block->body = branch->then_case;
  return tvms_analyzer_simplify(
      analyzer,
      tvms_sched_build(v->sched, TVMS_NODE_AND, predicate, branch->condition));
}

// Does a condition of the loops say all that the producer's says?
static bool says_as_much(reversal *v, int32_t site, tvms_node *predicate) {
  tvms_sched *s = v->sched;
  tvms_analyzer *analyzer = tvms_sched_analyzer(s, tvms_sched_parent(s, site));
  (void)tvms_analyzer_enter(analyzer, predicate);
  bool as_much =
      tvms_analyzer_can_prove(analyzer, tvms_sched_realize(s, site)->predicate);
  tvms_analyzer_free(analyzer);
  return as_much;
}

// Returns false if a condition of the producer would be lost. TVM does not ask.
static bool add_predicate(reversal *v, tvms_sched_ref ref, tvms_node *bounds) {
  tvms_sched *s = v->sched;
  int32_t site = tvms_sched_find(s, ref);
  tvms_block_realize *old = tvms_sched_realize(s, site);
  tvms_block *block = tvms_as_block(tvms_node_copy(s->unit, old->block));
  tvms_analyzer *analyzer = producer_analyzer(s, block);
  tvms_node_map map;
  tvms_node_map_init(&map, &s->context->memory);
  for (uint32_t i = 0; i < block->iter_vars.len; i++)
    tvms_node_map_put(&map, tvms_as_iter_var(block->iter_vars.items[i])->var,
                      old->iter_values.items[i]);
  tvms_node *predicate = tvms_analyzer_simplify(analyzer, bounds);
  bool narrow = !tvms_node_is_int(predicate, 1);
  bool fine = true;
  if (narrow) {
    predicate = join_condition(v, analyzer, predicate, block);
    tvms_block_realize *made =
        tvms_as_block_realize(tvms_node_copy(s->unit, &old->head));
    made->block = &block->head;
    made->predicate =
        tvms_analyzer_simplify(analyzer, tvms_substitute(s->unit, predicate, &map));
    fine = tvms_sched_runs_always(s, site) || says_as_much(v, site, made->predicate);
    if (fine) tvms_sched_replace_one(s, &old->head, &made->head);
  }
  tvms_node_map_fini(&map);
  tvms_analyzer_free(analyzer);
  return fine;
}

static bool run(reversal *v) {
  tvms_sched *s = v->sched;
  if (!check(v)) return false;
  if (!read_consumer(v))
    return tvms_sched_refuse(
        s, "the block does more than store one value for each element that it reads");
  const tvms_node *leaf = tvms_inline_leaf(s, v->consumer);
  if (!leaf || !tvms_inline_check_opaque(s, v->scope, v->buffer)) return false;
  tvms_sched_ref producer = tvms_sched_ref_of(s, v->producer);
  tvms_node *bounds = translate(v, bounds_of(v));
  tvms_node *before = s->function;
  tvms_inline_rewrite(s, v->scope, leaf, v->buffer, TVMS_NODE_STORE, replace_store, v);
  if (!add_predicate(v, producer, bounds)) {
    tvms_sched_restore(s, before);
    return tvms_sched_refuse(s, "the condition of the producer would be lost");
  }
  tvms_sched_flags_axes(s, tvms_sched_find(s, producer));
  return true;
}

bool tvms_step_reverse_compute_inline(tvms_step *step) {
  reversal v = {.sched = step->sched};
  v.consumer = tvms_step_site(step, TVMS_ARG(ReverseComputeInline, block));
  if (v.consumer == TVMS_NO_SITE) return false;
  tvms_node_map_init(&v.axes, &step->sched->context->memory);
  bool fine = run(&v);
  tvms_node_map_fini(&v.axes);
  return fine;
}
