// fuse_reduction_epilogue: a block that adds to the result of a reduction, or clips it, becomes a part of the reduction. The buffer
// between them stays allocated, as in TVM.
// TVM: src/s_tir/schedule/primitive/compute_inline.cc.
#include "ir/equal.h"
#include "ir/fold_ops.h"
#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/buffers.h"
#include "schedule/flags.h"
#include "schedule/inline.h"
#include "schedule/region.h"
#include "schedule/steps.h"
#include "schedule/taken.h"

typedef struct {
  tvms_sched *sched;
  int32_t reduction, epilogue, scope;
  tvms_node *buffer;        // that the reduction writes
  const tvms_store *store;  // of the epilogue
  tvms_node_map axes;       // of the epilogue, as those of the reduction
} fusion;

// ---- Checks ----

typedef struct {
  const tvms_node *buffer;
  uint32_t loads;
} usage;

static tvms_walk_step see(void *self, tvms_node *node, tvms_field_role role) {
  usage *u = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_BUFFER_LOAD)
    u->loads += tvms_as_buffer_load(node)->buffer == u->buffer;
  return TVMS_WALK_ON;
}

// How often a statement or an expression reads the result of the reduction.
static uint32_t count_loads(const fusion *f, tvms_node *node) {
  usage u = {.buffer = f->buffer};
  tvms_visitor visitor = {.self = &u, .enter = see};
  (void)tvms_walk(&f->sched->context->memory, node, &visitor);
  return u.loads;
}

// Is 0, which the reduction begins with, within a limit? Of variables TVM's own tests take it for granted.
static bool begins_within(tvms_node_kind kind, const tvms_node *limit) {
  double value;
  if (limit->kind == TVMS_NODE_INT_IMM)
    value = (double)tvms_as_int_imm(limit)->value;
  else if (limit->kind == TVMS_NODE_FLOAT_IMM)
    value = tvms_as_float_imm(limit)->value;
  else
    return limit->kind == TVMS_NODE_VAR;
  return kind == TVMS_NODE_MAX ? value <= 0 : value >= 0;
}

// What is wrong with what the second block does with the result, from the outermost operator to the load; NULL: it limits a sum, at each step
// of the reduction then, which TVM's own tests have of floats: another result where the sum goes beyond the limit and comes back. TVM refuses
// products and quotients only, and computes something else with all others.
static const char *TVMS_NULLABLE why_no_epilogue(const fusion *f, tvms_node *value) {
  bool summed = false;
  while (value->kind != TVMS_NODE_BUFFER_LOAD) {
    bool limits = value->kind == TVMS_NODE_MAX || value->kind == TVMS_NODE_MIN;
    bool scales = value->kind == TVMS_NODE_MUL || value->kind == TVMS_NODE_DIV
                  || value->kind == TVMS_NODE_MOD;
    if (scales) return "the second block scales the result";
    if (limits && summed) return "the second block adds to a result that it limits";
    if (!limits && value->kind != TVMS_NODE_ADD)
      return "the second block does more than to add to the result and to limit it";
    const tvms_binary *pair = tvms_as_binary(value);
    bool left = count_loads(f, pair->a) > 0;
    if (limits && !begins_within(value->kind, left ? pair->b : pair->a))
      return "the reduction may begin beyond a limit of the second block";
    if (limits && !tvms_dtype_is_real(value->dtype))
      return "the sum may go beyond a limit of the second block and come back";
    summed = summed || !limits;
    value = left ? pair->a : pair->b;
  }
  return tvms_as_buffer_load(value)->buffer == f->buffer
             ? NULL
             : "the second block takes the result for a place";
}

static bool check_blocks(fusion *f) {
  tvms_sched *s = f->sched;
  const tvms_block *reduction = tvms_sched_block(s, f->reduction);
  if (!tvms_sched_check_scope(s, f->epilogue, true, &f->scope)) return false;
  if (reduction->writes.len != 1)
    return tvms_sched_refuse(s, "the reduction does not write exactly one buffer");
  f->buffer = tvms_sched_region_buffer(reduction->writes, 0);
  const char *why = tvms_sched_why_no_reduction(s, f->reduction, f->scope);
  if (why) return tvms_sched_refuse(s, "the first block is not a reduction: %s", why);
  why = tvms_sched_why_incomplete(s, f->epilogue, f->scope);
  if (why) return tvms_sched_refuse(s, "the second block is not complete: %s", why);
  // TVM does not ask whether the second block takes all that the reduction gives.
  if (tvms_sched_scope(s, f->reduction) != f->scope)
    return tvms_sched_refuse(s, "the blocks are in different scopes");
  if (!tvms_sched_check_whole(s, f->epilogue, false)) return false;
  return !tvms_sched_is_output(s, f->reduction)
         || tvms_sched_refuse(
             s, "the reduction writes a buffer that its scope does not allocate");
}

static bool check_epilogue(fusion *f) {
  tvms_sched *s = f->sched;
  const tvms_block *epilogue = tvms_sched_block(s, f->epilogue);
  bool plain = tvms_node_is_int(tvms_sched_realize(s, f->epilogue)->predicate, 1)
               && epilogue->body->kind == TVMS_NODE_STORE;
  if (!plain)
    return tvms_sched_refuse(s, "the second block does more than store one value");
  f->store = tvms_as_store(epilogue->body);
  uint32_t loads = count_loads(f, epilogue->body);
  if (loads != 1)
    return tvms_sched_refuse(s, "the second block reads the result %u times", loads);
  const char *why = why_no_epilogue(f, f->store->value);
  if (why) return tvms_sched_refuse(s, "%s", why);
  tvms_list axes = tvms_sched_block(s, f->reduction)->iter_vars;
  for (uint32_t i = 0; i < axes.len; i++)
    if (tvms_as_iter_var(axes.items[i])->iter_type == TVMS_ITER_COMM_REDUCE)
      return true;
  return tvms_sched_refuse(s, "the first block has no reduced axis");
}

static bool same_domain(const tvms_iter_var *a, const tvms_iter_var *b) {
  const tvms_range *of_a = tvms_as_range(a->dom), *of_b = tvms_as_range(b->dom);
  return tvms_node_same_expr(of_a->min, of_b->min)
         && tvms_node_same_expr(of_a->extent, of_b->extent);
}

// The axes must be as many and, though TVM does not ask, have the same domains.
static bool pair_axes(fusion *f) {
  tvms_list a = tvms_sched_block(f->sched, f->reduction)->iter_vars,
            b = tvms_sched_block(f->sched, f->epilogue)->iter_vars;
  uint32_t next = 0, spatial = 0;
  for (uint32_t i = 0; i < a.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(a.items[i]);
    if (axis->iter_type != TVMS_ITER_DATA_PAR) continue;
    spatial++;
    if (next >= b.len) continue;
    const tvms_iter_var *other = tvms_as_iter_var(b.items[next++]);
    if (!same_domain(axis, other))
      return tvms_sched_refuse(
          f->sched, "axis '%s' of the second block has another domain",
          tvms_symbol_text(f->sched->context, tvms_as_var(other->var)->name));
    tvms_node_map_put(&f->axes, other->var, axis->var);
  }
  return (next == b.len && spatial == next)
         || tvms_sched_refuse(f->sched,
                              "the blocks have different numbers of spatial axes");
}

// What the second block reads besides must be there before the first one runs. TVM does not ask.
static bool check_reads(const fusion *f) {
  tvms_sched *s = f->sched;
  tvms_list reads = tvms_sched_block(s, f->epilogue)->reads;
  tvms_site_vec blocks = {0};
  tvms_sched_children(s, f->scope, &blocks);
  const tvms_node *late = NULL;
  for (uint32_t i = 0; i < blocks.len; i++)
    for (uint32_t k = 0; k < reads.len; k++) {
      const tvms_node *buffer = tvms_sched_region_buffer(reads, k);
      if (blocks.items[i] >= f->reduction && buffer != f->buffer
          && tvms_sched_touches(tvms_sched_block(s, blocks.items[i])->writes, buffer))
        late = buffer;
    }
  tvms_vec_fini(&s->context->memory, &blocks);
  return !late
         || tvms_sched_refuse(s, "'%s' is written after the reduction",
                              tvms_sched_buffer_name(s, late));
}

// Does a step of the reduction add to what there is?
static bool is_sum(const fusion *f) {
  tvms_node *body = tvms_sched_block(f->sched, f->reduction)->body;
  if (body->kind != TVMS_NODE_STORE) return false;
  tvms_node *value = tvms_as_store(body)->value;
  if (count_loads(f, value) != 1) return false;
  while (value->kind == TVMS_NODE_ADD) {
    const tvms_binary *sum = tvms_as_binary(value);
    value = count_loads(f, sum->a) ? sum->a : sum->b;
  }
  return value->kind == TVMS_NODE_BUFFER_LOAD
         && tvms_as_buffer_load(value)->buffer == f->buffer;
}

// What a reduction begins with is lost, which must be nothing, and it must be a sum. TVM does not ask.
static bool check_begin(const fusion *f) {
  tvms_sched *s = f->sched;
  const tvms_node *init = tvms_sched_block(s, f->reduction)->init;
  bool plain = init && init->kind == TVMS_NODE_STORE;
  const tvms_node *value = plain ? tvms_as_store(init)->value : NULL;
  bool zero = value
              && (tvms_node_is_int(value, 0)
                  || (value->kind == TVMS_NODE_FLOAT_IMM
                      && tvms_as_float_imm(value)->value == 0));
  if (!zero) return tvms_sched_refuse(s, "the reduction does not begin with 0");
  return is_sum(f) || tvms_sched_refuse(s, "the reduction is no sum");
}

// The second block must read what the first one writes where the axes have the same values. TVM does not ask.
static bool check_places(const fusion *f) {
  tvms_sched *s = f->sched;
  tvms_node *read = tvms_sched_region_of(tvms_sched_block(s, f->epilogue)->reads,
                                         f->buffer),
            *written = tvms_sched_region_of(tvms_sched_block(s, f->reduction)->writes,
                                            f->buffer);
  tvms_list to = tvms_as_buffer_region(written)->region;
  tvms_list from =
      tvms_as_buffer_region(tvms_substitute(s->unit, read, &f->axes))->region;
  bool same = f->store->indices.len == to.len;
  for (uint32_t d = 0; same && d < to.len; d++) {
    tvms_node *at = tvms_as_range(to.items[d])->min;
    tvms_node *store = tvms_substitute(s->unit, f->store->indices.items[d], &f->axes);
    same = tvms_node_same_expr(tvms_as_range(from.items[d])->min, at)
           && tvms_node_same_expr(store, at);
  }
  return same
         || tvms_sched_refuse(s, "the blocks use '%s' at different places",
                              tvms_sched_buffer_name(s, f->buffer));
}

// ---- The fused block ----

// What the rewriting of an expression puts in for loads of the result.
typedef struct {
  const fusion *fusion;
  tvms_node *value;
} filling;

static tvms_node *fill_load(tvms_rewriter *r, tvms_node *node) {
  const filling *fill = r->self;
  return tvms_as_buffer_load(node)->buffer == fill->fusion->buffer ? fill->value : node;
}

// What is added to the result is in it already: only the first value has it.
static tvms_node *drop_addend(tvms_rewriter *r, tvms_node *node) {
  const filling *fill = r->self;
  const tvms_binary *sum = tvms_as_binary(node);
  if (count_loads(fill->fusion, sum->a)) return tvms_rewrite(r, sum->a);
  if (count_loads(fill->fusion, sum->b)) return tvms_rewrite(r, sum->b);
  return TVMS_REWRITE_BELOW;
}

static tvms_node *filled(const fusion *f, tvms_node *value, bool update) {
  filling fill = {f, value};
  tvms_rewriter r;
  tvms_rewriter_init(&r, f->sched->unit, &fill);
  r.leave[TVMS_NODE_BUFFER_LOAD] = fill_load;
  if (update) r.enter[TVMS_NODE_ADD] = drop_addend;
  tvms_node *mapped = tvms_substitute(f->sched->unit, f->store->value, &f->axes);
  tvms_node *made = tvms_rewrite(&r, mapped);
  tvms_rewriter_fini(&r);
  return made;
}

static tvms_node *make_init(fusion *f) {
  tvms_sched *s = f->sched;
  tvms_store *init = tvms_as_store(tvms_node_copy(s->unit, &f->store->head));
  tvms_dtype dtype = tvms_as_buffer(f->store->buffer)->element;
  tvms_node *zero = dtype.code == TVMS_INT || dtype.code == TVMS_UINT
                        ? tvms_sched_int(s, dtype, 0)
                        : tvms_float_imm_new(s->unit, dtype, 0, TVMS_NO_SPAN);
  init->value = tvms_arith_simplify(s->unit, filled(f, zero, false));
  for (uint32_t i = 0; i < init->indices.len; i++) {
    if (!i)
      init->indices = tvms_list_copy(s->unit, init->indices.items, init->indices.len);
    init->indices.items[i] = tvms_substitute(s->unit, init->indices.items[i], &f->axes);
  }
  return &init->head;
}

static tvms_node *swap_load(tvms_rewriter *r, tvms_node *node) {
  const fusion *f = r->self;
  if (tvms_as_buffer_load(node)->buffer != f->buffer) return node;
  tvms_buffer_load *load = tvms_as_buffer_load(tvms_node_copy(r->unit, node));
  load->buffer = f->store->buffer;
  return &load->head;
}

static tvms_node *swap_store(tvms_rewriter *r, tvms_node *node) {
  const fusion *f = r->self;
  if (tvms_as_store(node)->buffer != f->buffer) return node;
  tvms_store *store = tvms_as_store(tvms_node_copy(r->unit, node));
  store->buffer = f->store->buffer;
  store->value = filled(f, store->value, true);
  return &store->head;
}

static tvms_node *make_body(fusion *f) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, f->sched->unit, f);
  r.roles = TVMS_IN(BODY) | TVMS_IN(USE);
  r.leave[TVMS_NODE_BUFFER_LOAD] = swap_load;
  r.leave[TVMS_NODE_STORE] = swap_store;
  tvms_node *made = tvms_rewrite(&r, tvms_sched_block(f->sched, f->reduction)->body);
  tvms_rewriter_fini(&r);
  return made;
}

static void add_reads(fusion *f, tvms_list regions, bool map, tvms_node_vec *reads) {
  tvms_sched *s = f->sched;
  for (uint32_t i = 0; i < regions.len; i++) {
    const tvms_node *buffer = tvms_sched_region_buffer(regions, i);
    bool known =
        buffer == f->buffer
        || (!map && tvms_sched_touches((tvms_list){reads->items, reads->len}, buffer));
    if (known) continue;
    tvms_node *region = regions.items[i];
    if (map) region = tvms_substitute(s->unit, region, &f->axes);
    tvms_vec_push(&s->context->memory, reads, region);
  }
}

static tvms_node *make_block(fusion *f) {
  tvms_sched *s = f->sched;
  const tvms_block *old = tvms_sched_block(s, f->reduction);
  tvms_block *made = tvms_as_block(tvms_node_copy(s->unit, &old->head));
  made->init = make_init(f);
  made->body = make_body(f);
  tvms_list ranges = tvms_as_buffer_region(old->writes.items[0])->region;
  tvms_node *written = tvms_buffer_region_new(s->unit, f->store->buffer, ranges.items,
                                              ranges.len, TVMS_NO_SPAN);
  made->writes = tvms_list_copy(s->unit, &written, 1);
  tvms_node_vec reads = {0};
  add_reads(f, tvms_sched_block(s, f->epilogue)->reads, true, &reads);
  add_reads(f, old->reads, false, &reads);
  made->reads = tvms_list_copy(s->unit, reads.items, reads.len);
  tvms_vec_fini(&s->context->memory, &reads);
  return &made->head;
}

static bool run(fusion *f) {
  tvms_sched *s = f->sched;
  if (!check_blocks(f) || !check_epilogue(f) || !pair_axes(f) || !check_begin(f)
      || !check_reads(f) || !check_places(f))
    return false;
  tvms_sched_edit edits[] = {{tvms_sched_at(s, f->reduction)->node, make_block(f)},
                             {tvms_sched_at(s, f->epilogue)->realize, NULL}};
  tvms_sched_ref reduction = tvms_sched_ref_of(s, f->reduction);
  tvms_sched_replace(s, edits, 2);
  tvms_sched_flags_renew(s, tvms_sched_scope(s, tvms_sched_find(s, reduction)));
  return true;
}

bool tvms_step_fuse_reduction_epilogue(tvms_step *step) {
  fusion f = {.sched = step->sched};
  f.reduction = tvms_step_site(step, TVMS_ARG(FuseReductionEpilogue, reduction_block));
  if (f.reduction == TVMS_NO_SITE) return false;
  f.epilogue = tvms_step_site(step, TVMS_ARG(FuseReductionEpilogue, epilogue_block));
  if (f.epilogue == TVMS_NO_SITE) return false;
  tvms_node_map_init(&f.axes, &step->sched->context->memory);
  bool fine = run(&f);
  tvms_node_map_fini(&f.axes);
  return fine;
}
