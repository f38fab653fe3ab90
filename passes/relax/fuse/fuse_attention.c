// FuseAttention: attention over tiles of queries and keys, without the matrix of scores.
//
// Before: lv = R.matmul(q, kt); lv1 = R.multiply(lv, R.const(0.125)); lv2 = R.nn.softmax(lv1, axis=-1); gv = R.matmul(lv2, v)
// After:  gv = R.call_tir(cls.attention_tiles, (q, kt, v), out_ty=R.Tensor((1, 12, 1024, 64), "float32")), and a
//         private PrimFunc attention_tiles
//
// R.nn.attention and R.nn.attention_bias are taken, and what they are written out as: a product, element-wise steps with
// masks and scales (add, subtract, multiply, divide, maximum, minimum, where, casts), a softmax along the last axis, a
// second product. So is a softmax whose rows are 0 where all scores are -infinity, as PyTorch writes it (where with not any(x != -inf), or
// with isnan). What lies between must be used by nothing else. Operators that only move elements are read through:
// permute_dims in front and behind, repeat, and expand_dims, broadcast_to and reshape that repeat heads.
// The PrimFunc keeps the greatest score so far and the sum of powers of each query, and corrects what it has summed when
// a greater score comes; it adds up in float32 (float64 for float64), and sizes may be symbolic. Keys that a causal mask of the
// operator leaves out are not computed. Infinite values of keys that have no weight give what 0 weighs.
// Queries that lie as the result does may be written over, which the attribute tvms.may_overwrite says (DataflowUseInplaceCalls).
// It is done where it pays: where the scores are more than four times what the second cache of the machine
// holds. What fits there is faster as two products, and so are fewer than 16 queries; if their number is not known,
// the PrimFunc has both (for fewer than 48, unless keys are many). With always=true all are done.
// Run it before LegalizeOps; ScheduleCPU makes vectors of the PrimFunc. Attention that is lowered already, in windows or
// of ragged length, or dropped out, stays, and so does what is on a GPU. TVM has no such pass; there libraries do it.
#include "ir/contract.h"
#include "ir/object.h"
#include "ir/target.h"
#include "ir/walk.h"
#include "passes/relax/fuse/attention_match.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/lower/legalized_call.h"
#include "passes/relax/mutator.h"
#include "passes/relax/on_gpu.h"
#include "passes/remarks.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

enum {
  CACHES = 4,              // so many times what the second one holds
  SECOND_CACHE = 1 << 18,  // where it is not known
  LANES = 16,
};

typedef struct {
  tvms_relax_mutator m;
  tvms_relax_definitions definitions;
  int64_t cache;  // bytes of the second one
  bool always;
  tvms_attention **planned;  // by id of the variable; NULL: it stays
  bool *taken;               // by id: a variable that attention has taken in
  uint32_t ids;
  bool any;
} fuser;

// ---- Where it pays ----

static int64_t number_of(const tvms_node *dim) {
  int64_t value;
  return tvms_sinfo_dim_int(dim, &value) ? value : -1;
}

// Bytes of the scores; batch axes that are not known count once. -1: queries or keys are not known.
static double bytes_of_scores(const tvms_attention *a) {
  double bytes = a->dtype.bits / 8;
  for (uint32_t i = 0; i < a->rank; i++) {
    int64_t size = number_of(a->dims[i]);
    if (size < 0 && i + 2 >= a->rank) return -1;
    if (size >= 0) bytes *= (double)size;
  }
  return bytes;
}

// Why not, a sentence's end, in `room`; NULL: it pays.
static const char *TVMS_NULLABLE refuse(const fuser *f, const tvms_attention *a,
                                        char *room, size_t size) {
  int64_t queries = number_of(a->dims[a->rank - 2]);
  if (queries >= 0 && queries < TVMS_ATTENTION_FEW)
    return "few queries are faster as products";
  double bytes = bytes_of_scores(a), most = CACHES * (double)f->cache;
  if (bytes < 0 || bytes > most) return NULL;
  snprintf(room, size, "its scores have %.0f KiB, and up to %.0f they stay near",
           bytes / 1024, most / 1024);
  return room;
}

// ---- Tiles ----

// As many steps of `size` at once as cut it into the fewest tiles of at most `most`, in whole vectors where
// something is left over. What is not known is cut into tiles of `otherwise`.
static int64_t tile_for(const tvms_node *dim, int64_t most, int64_t otherwise) {
  int64_t size = number_of(dim);
  if (size < 0) return otherwise;
  if (size <= most) return size > 0 ? size : 1;
  int64_t count = (size + most - 1) / most, tile = (size + count - 1) / count;
  if (tile * count == size) return tile;
  return (tile + LANES - 1) / LANES * LANES;
}

// Scores, keys, values, queries and sums of a tile are to fit in half of the second cache.
static void choose_tiles(const fuser *f, tvms_attention *a) {
  enum { QUERIES = 128, KEYS = 512, FEWEST_KEYS = 64, KEYS_NOT_KNOWN = 64 };
  int64_t bytes = a->dtype.bits == 64 ? 8 : 4, room = f->cache / 2 / bytes;
  int64_t depth = number_of(a->depth), width = number_of(a->width);
  a->query_tile = tile_for(a->dims[a->rank - 2], QUERIES, QUERIES / 2);
  int64_t keys = KEYS;
  while (keys > FEWEST_KEYS
         && 2 * a->query_tile * keys + (keys + a->query_tile) * (depth + width) > room)
    keys /= 2;
  a->key_tile = tile_for(a->dims[a->rank - 1], keys,
                         keys < KEYS_NOT_KNOWN ? keys : KEYS_NOT_KNOWN);
}

// ---- The plan ----

static void tell_left(fuser *f, const tvms_node *value, const char *why) {
  tvms_pass_remark(f->m.run, TVMS_REMARK_MISSED, TVMS_D_attention_left, value->span,
                   why);
}

// Decides for one binding, if its value is attention; `inner`: the variable that a permute_dims takes in.
static void plan(fuser *f, const tvms_node *binding,
                 const tvms_node *TVMS_NULLABLE inner) {
  const tvms_node *var = tvms_relax_binding_var(binding);
  const tvms_node *value = tvms_relax_binding_value(binding);
  tvms_attention_matcher matcher = {f->m.unit, &f->definitions, &f->m.prover};
  tvms_attention found;
  const char *why;
  if (!tvms_relax_attention_match(&matcher, value, &found, &why)) {
    if (why) tell_left(f, value, why);
    return;
  }
  for (; inner && inner->kind == TVMS_NODE_VAR;
       inner = tvms_relax_definitions_value(&f->definitions, inner))
    if (inner->id < f->ids) f->taken[inner->id] = true;
  char room[96];
  why = tvms_relax_is_on_gpu(f->m.unit, value->sinfo) ? "it is on a GPU" : NULL;
  if (!why && !f->always) why = refuse(f, &found, room, sizeof room);
  if (why) {
    tell_left(f, value, why);
    return;
  }
  choose_tiles(f, &found);
  f->planned[var->id] = tvms_arena_new(&f->m.unit->arena, tvms_attention);
  *f->planned[var->id] = found;
  f->any = true;
}

static bool may_be_planned(const fuser *f, const tvms_node *binding) {
  return binding->kind == TVMS_NODE_VAR_BINDING
         && tvms_relax_binding_var(binding)->id < f->ids
         && tvms_relax_binding_value(binding)->kind == TVMS_NODE_CALL;
}

static tvms_walk_step plan_moved(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  fuser *f = self;
  if (!may_be_planned(f, node)) return TVMS_WALK_ON;
  const tvms_node *value = tvms_relax_binding_value(node);
  if (tvms_op_called(value) == TVMS_R_permute_dims)
    plan(f, node, tvms_as_call(value)->args.items[0]);
  return TVMS_WALK_ON;
}

static tvms_walk_step plan_others(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  fuser *f = self;
  if (may_be_planned(f, node) && !f->taken[tvms_relax_binding_var(node)->id]
      && tvms_op_called(tvms_relax_binding_value(node)) != TVMS_R_permute_dims)
    plan(f, node, NULL);
  return TVMS_WALK_ON;
}

// ---- The change ----

// Each tile reads its queries before it stores its results: where both have one form, and lie alike, these
// may lie there.
static bool may_overwrite_queries(const tvms_attention *a) {
  if (a->q.move_count || a->q.dims.len != a->rank) return false;
  for (uint32_t i = 0; i < a->rank; i++)
    if (a->order[i] != (int64_t)i) return false;
  return true;
}

static void mark(tvms_unit *unit, tvms_node *function) {
  tvms_prim_func *f = tvms_as_prim_func(function);
  tvms_node *queries = tvms_object_int_new(unit, 0, TVMS_NO_SPAN);
  f->attrs = tvms_object_map_with(unit, f->attrs, TVMS_CONTRACT_OVER, queries);
}

static tvms_node *enter_binding(tvms_rewriter *r, tvms_node *binding) {
  tvms_relax_mutator *m = r->self;
  fuser *f = m->self;
  const tvms_node *var = tvms_relax_binding_var(binding);
  const tvms_attention *a = var->id < f->ids ? f->planned[var->id] : NULL;
  if (!a) return TVMS_REWRITE_BELOW;
  const tvms_call *call = tvms_as_call(tvms_relax_binding_value(binding));
  tvms_unit *unit = tvms_functions_open_unit(m->run);
  unit->origin = call->head.span;
  tvms_legalized made = {0};
  if (!tvms_legalize_attention_tiles(unit, m->unit, call, a, &made)) {
    tvms_functions_drop_unit(m->run, unit);
    return TVMS_REWRITE_BELOW;
  }
  if (may_overwrite_queries(a)) mark(unit, made.function);
  tvms_sym name = tvms_functions_add_unique(m->run, made.name, unit, made.function);
  tvms_node *fused = tvms_relax_call_legalized(m->unit, call, name, &made);
  tvms_pass_count(m->run, "attention fused", 1);
  tvms_pass_remark(m->run, TVMS_REMARK_PASSED, TVMS_D_attention_fused, call->head.span,
                   (long long)a->query_tile, (long long)a->key_tile);
  return tvms_relax_rebind(m, binding, tvms_rewrite(r, fused));
}

static int64_t second_cache(tvms_pass_run *run, tvms_unit *unit) {
  const char *text = TVMS_OPTION(run, FuseAttention, target).text;
  tvms_target target = {0};
  tvms_strbuf why;
  tvms_strbuf_init(&why, &unit->context->memory);
  if (!tvms_target_parse(unit, *text ? text : "host", &target, &why))
    tvms_diag_report(&unit->context->diags, TVMS_D_target_unknown, TVMS_NO_SPAN, text);
  tvms_strbuf_fini(&why);
  return tvms_target_cache(&target, 1, SECOND_CACHE);
}

static tvms_node *fuse(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  fuser f = {.always = TVMS_OPTION(run, FuseAttention, always).number != 0,
             .ids = unit->next_id};
  f.cache = second_cache(run, unit);
  f.planned = tvms_arena_array(&unit->arena, tvms_attention *, f.ids + 1);
  f.taken = tvms_arena_array(&unit->arena, bool, f.ids + 1);
  tvms_relax_mutator_init(&f.m, run, unit, &f);
  tvms_relax_mutator_assume(&f.m, function);
  tvms_relax_definitions_init(&f.definitions, unit, function);
  tvms_visitor moved = {.self = &f, .enter = plan_moved};
  tvms_walk(&run->context->memory, function, &moved);
  tvms_visitor others = {.self = &f, .enter = plan_others};
  tvms_walk(&run->context->memory, function, &others);
  f.m.rewriter.enter[TVMS_NODE_VAR_BINDING] = enter_binding;
  tvms_node *made = f.any ? tvms_relax_mutate(&f.m, function) : function;
  tvms_relax_definitions_fini(&f.definitions);
  tvms_relax_mutator_fini(&f.m);
  return made == function ? function : tvms_dead_code_clean(run, unit, made);
}

void tvms_pass_fuse_attention(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, fuse);
}
