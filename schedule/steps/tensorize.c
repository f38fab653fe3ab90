// tensorize: a block that does what the description of a tensor intrinsic says does it by the implementation. Both are PrimFuncs of the
// module: those of the intrinsic "dot" are dot_desc and dot_impl.
// TVM: src/s_tir/schedule/primitive/blockize_tensorize.cc.
#include "arith/scopes.h"
#include "ir/clone.h"
#include "ir/index_dtype.h"
#include "ir/object.h"
#include "schedule/bindings.h"
#include "schedule/blockize_loop.h"
#include "schedule/buffers.h"
#include "schedule/flags.h"
#include "schedule/steps.h"
#include "schedule/tensor_match.h"

#include <string.h>

typedef struct {
  tvms_sched *sched;
  tvms_prim_func *described, *made;  // copies in the function's unit
} intrinsic;

// ---- The intrinsic ----

// Indices of an intrinsic get the data type that the function's have. TVM: IndexDataTypeNormalizer.
static tvms_node *enter_var(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = r->self;
  const tvms_dtype *wanted = d->self;
  bool changes = d->enabled && tvms_dtype_is_index(node->dtype)
                 && !tvms_dtype_same(node->dtype, *wanted);
  if (changes && !tvms_node_map_get(&d->vars, node))
    tvms_index_dtypes_replace(d, node, *wanted);
  return tvms_index_dtypes_var(d, node);
}

static tvms_node *enter_int(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = r->self;
  const tvms_dtype *wanted = d->self;
  if (!d->enabled || !tvms_dtype_is_index(node->dtype)) return node;
  return tvms_int_imm_new(r->unit, *wanted, tvms_as_int_imm(node)->value, node->span);
}

static tvms_node *normalized(tvms_sched *s, tvms_node *function, tvms_dtype dtype) {
  tvms_index_dtypes d;
  tvms_index_dtypes_init(&d, s->unit, &dtype);
  d.rewriter.enter[TVMS_NODE_VAR] = enter_var;
  d.rewriter.enter[TVMS_NODE_INT_IMM] = enter_int;
  // A first time to find the variables that are indices somewhere; then all that they are.
  (void)tvms_rewrite(&d.rewriter, tvms_as_prim_func(function)->body);
  tvms_node_map_fini(&d.rewriter.known);
  tvms_node_map_init(&d.rewriter.known, &s->context->memory);
  function = tvms_rewrite(&d.rewriter, function);
  tvms_index_dtypes_fini(&d);
  return function;
}

static tvms_prim_func *TVMS_NULLABLE find_function(tvms_step *step, const char *suffix,
                                                   tvms_dtype dtype) {
  tvms_sched *s = step->sched;
  const char *name =
      tvms_sched_joined(s, step->args[TVMS_ARG(Tensorize, tensor_intrin)].text, suffix);
  const tvms_member *member = tvms_module_find(
      step->schedule->module, tvms_symbol_intern(s->context, name, strlen(name)));
  tvms_node *found = member ? member->function : NULL;
  if (!found || found->kind != TVMS_NODE_PRIM_FUNC) {
    (void)!tvms_sched_refuse(s, "the module has no PrimFunc '%s'", name);
    return NULL;
  }
  found = normalized(s, tvms_clone_fresh(s->unit, found), dtype);
  if (tvms_as_prim_func(found)->body->kind == TVMS_NODE_BLOCK_REALIZE)
    return tvms_as_prim_func(found);
  (void)!tvms_sched_refuse(s, "the body of '%s' is not one block", name);
  return NULL;
}

static tvms_node *simplify(tvms_rewriter *r, tvms_node *node) {
  tvms_scopes *scopes = r->self;
  return tvms_analyzer_simplify(scopes->analyzer, node);
}

static tvms_node *keep(tvms_rewriter *r, tvms_node *node) {
  (void)r;
  return node;
}

// From 0.27 on the scopes do not tell how far axes run.
static tvms_node *enter_block(tvms_rewriter *r, tvms_node *node) {
  tvms_scopes *scopes = r->self;
  tvms_list axes = tvms_as_block(node)->iter_vars;
  for (uint32_t i = 0; i < axes.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(axes.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    tvms_analyzer_bind_range(scopes->analyzer, axis->var, dom->min, dom->extent);
  }
  return TVMS_REWRITE_BELOW;
}

// The description as it is compared: places in it are simple where its own loops and axes make them so. TVM: StmtSimplify.
static tvms_node *simplified(tvms_sched *s, tvms_node *body) {
  tvms_scopes scopes;
  tvms_scopes_init(&scopes, s->unit);
  tvms_rewriter r;
  tvms_rewriter_init(&r, s->unit, &scopes);
  r.watch = &scopes.watch;
  r.roles = TVMS_IN(BODY) | TVMS_IN(USE) | TVMS_IN(ACCESS);
  tvms_rewriter_enter_class(&r, TVMS_CLASS_EXPR, simplify);
  r.enter[TVMS_NODE_BUFFER] = keep;
  r.enter[TVMS_NODE_BLOCK] = enter_block;
  tvms_node *made = tvms_rewrite(&r, body);
  tvms_rewriter_fini(&r);
  tvms_scopes_fini(&scopes);
  return made;
}

static const tvms_block *root_of(const tvms_prim_func *function) {
  return tvms_as_block(tvms_as_block_realize(function->body)->block);
}

static bool check_parameters(const intrinsic *in) {
  tvms_list a = in->described->buffers, b = in->made->buffers;
  bool fits = a.len == b.len;
  for (uint32_t i = 0; fits && i < a.len; i++)
    fits = a.items[i] && b.items[i];
  return fits
         || tvms_sched_refuse(in->sched,
                              "the two functions of the intrinsic do not have "
                              "the same number of buffers as parameters");
}

// The widest data type of what a block declares.
static tvms_dtype index_dtype(const tvms_block *block) {
  tvms_dtype wide = TVMS_DTYPE(INT, 32);
  tvms_list all[] = {block->reads, block->writes};
  for (uint32_t k = 0; k < 2; k++)
    for (uint32_t i = 0; i < all[k].len; i++) {
      tvms_list region = tvms_as_buffer_region(all[k].items[i])->region;
      for (uint32_t d = 0; d < region.len; d++) {
        tvms_dtype own = tvms_as_range(region.items[d])->min->dtype;
        if (own.bits > wide.bits) wide = own;
      }
    }
  return wide;
}

// ---- The block ----

static const tvms_buffer_region *TVMS_NULLABLE region_in(const tvms_block *root,
                                                         const tvms_node *buffer) {
  tvms_list all[] = {root->reads, root->writes};
  for (uint32_t k = 0; k < 2; k++)
    for (uint32_t i = 0; i < all[k].len; i++)
      if (tvms_as_buffer_region(all[k].items[i])->buffer == buffer)
        return tvms_as_buffer_region(all[k].items[i]);
  return NULL;
}

// The part of the function's buffer that a parameter of the implementation is; NULL after a refusal.
static tvms_node *TVMS_NULLABLE match_buffer(const intrinsic *in,
                                             const tvms_sched_tensor_match *match,
                                             uint32_t index) {
  tvms_sched *s = in->sched;
  tvms_node *own = in->made->buffers.items[index];
  const tvms_sched_tensor_buffer *found =
      tvms_sched_tensor_match_find(match, in->described->buffers.items[index]);
  const tvms_buffer_region *declared = region_in(root_of(in->made), own);
  if (!found || !declared || declared->region.len > found->base.len) {
    (void)!tvms_sched_refuse(s, "the intrinsic does not declare how it uses '%s'",
                             tvms_sched_buffer_name(s, own));
    return NULL;
  }
  tvms_list region = declared->region;
  uint32_t rank = found->base.len, more = rank - region.len;
  tvms_list ranges = tvms_list_copy(s->unit, found->base.items, rank);
  for (uint32_t d = 0; d < rank; d++) {
    tvms_node *min = found->base.items[d];
    tvms_node *extent =
        d < more ? tvms_sched_int(s, min->dtype, 1)
                 : tvms_sched_cast(s, min->dtype,
                                   tvms_as_range(region.items[d - more])->extent);
    ranges.items[d] = tvms_range_new(s->unit, min, extent, TVMS_NO_SPAN);
  }
  tvms_node *source =
      tvms_buffer_region_new(s->unit, found->buffer, ranges.items, rank, TVMS_NO_SPAN);
  tvms_match_buffer_region *made =
      tvms_node_make(s->unit, MATCH_BUFFER_REGION, TVMS_NO_SPAN);
  made->source = source;
  made->buffer = own;
  return &made->head;
}

// The realization by the implementation; NULL after a refusal.
static tvms_node *TVMS_NULLABLE implemented(tvms_step *step, tvms_node *realize) {
  tvms_sched *s = step->sched;
  tvms_block *block =
      tvms_as_block(tvms_node_copy(s->unit, tvms_as_block_realize(realize)->block));
  tvms_dtype dtype = index_dtype(block);
  intrinsic in = {.sched = s, .described = find_function(step, "desc", dtype)};
  in.made = in.described ? find_function(step, "impl", dtype) : NULL;
  if (!in.made || !check_parameters(&in)) return NULL;
  tvms_sched_tensor_match match;
  bool fine = tvms_sched_tensor_match_open(&match, s, realize,
                                           simplified(s, in.described->body));
  uint32_t count = in.made->buffers.len;
  tvms_node **parts = tvms_arena_array(&s->unit->arena, tvms_node *, count + 1);
  for (uint32_t i = 0; i < count && fine; i++) {
    parts[i] = match_buffer(&in, &match, i);
    fine = parts[i] != NULL;
  }
  tvms_sched_tensor_match_close(&match);
  if (!fine) return NULL;
  block->match_buffers = tvms_list_copy(s->unit, parts, count);
  block->body = root_of(in.made)->body;
  tvms_node *notes = root_of(in.made)->annotations;
  // What the block has said itself stays.
  block->annotations = notes && block->annotations
                           ? tvms_object_map_join(s->unit, notes, block->annotations)
                       : notes ? notes
                               : block->annotations;
  tvms_block_realize *made = tvms_as_block_realize(tvms_node_copy(s->unit, realize));
  made->block = &block->head;
  return &made->head;
}

static void replace(tvms_sched *s, const tvms_node *old, tvms_node *realize) {
  tvms_node *block = tvms_as_block_realize(realize)->block;
  tvms_sched_replace_one(s, old, old->kind == TVMS_NODE_BLOCK ? block : realize);
  int32_t site = tvms_sched_site_of(s, block);
  tvms_sched_flags_renew(s, tvms_sched_scope(s, site));
}

bool tvms_step_tensorize(tvms_step *step) {
  tvms_sched *s = step->sched;
  int32_t site = tvms_step_site(step, TVMS_ARG(Tensorize, block_or_loop));
  if (site == TVMS_NO_SITE) return false;
  const tvms_site *at = tvms_sched_at(s, site);
  tvms_node *made = at->realize, *old = at->node;
  if (tvms_sched_is_loop(s, site)) {
    tvms_sched_blockizing b;
    bool keep = step->args[TVMS_ARG(Tensorize, preserve_unit_iters)].number != 0;
    made = tvms_sched_blockize_begin(&b, s, site, keep) ? tvms_sched_blockize_loop(&b)
                                                        : NULL;
    tvms_sched_blockize_close(&b);
  } else if (tvms_sched_scope(s, site) == TVMS_NO_SITE) {
    return tvms_sched_refuse(s, "the block is all of the function");
  }
  made = made ? implemented(step, made) : NULL;
  if (!made) return false;
  replace(s, old, made);
  return true;
}
