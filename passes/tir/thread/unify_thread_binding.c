// UnifyThreadBinding: all loops of a kernel that are bound to one axis of threads become one.
//
// Before: for i bound to blockIdx.x: for j bound to threadIdx.x: …
//         for k bound to threadIdx.x: …
// After:  for blockIdx_x bound to blockIdx.x: for threadIdx_x bound to threadIdx.x: both bodies
//
// The loops move to where the kernel begins: the outermost loop that is bound. Their extents
// must be equal. A loop with annotations leaves a loop of one step that has them. TVM:
// s_tir.transform.UnifyThreadBinding.
#include "arith/analyzer.h"
#include "ir/fold.h"
#include "passes/functions.h"
#include "support/diag_ids.h"

#include <string.h>

// An axis of the kernel at hand.
typedef struct {
  tvms_sym tag;
  tvms_node *var, *min, *extent;
} axis;

typedef struct {
  tvms_unit *unit;
  tvms_analyzer *analyzer;
  TVMS_VEC(axis) axes;
  uint32_t depth;  // of kernels and of axes of blocks around
} unifying;

static bool starts_kernel(const char *tag) {
  static const char *const words[] = {"blockIdx.", "clusterIdx.", "clusterCtaIdx"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strncmp(tag, words[i], strlen(words[i])) == 0) return true;
  }
  return false;
}

// The variable of an axis; it is made where the axis is met first.
static tvms_node *variable_of(unifying *u, tvms_sym tag, tvms_node *min,
                              tvms_node *extent, tvms_span span) {
  for (uint32_t i = 0; i < u->axes.len; i++) {
    const axis *a = &u->axes.items[i];
    if (a->tag != tag) continue;
    bool same = tvms_analyzer_can_prove_equal(u->analyzer, min, a->min)
                && tvms_analyzer_can_prove_equal(u->analyzer, extent, a->extent);
    if (!same) {
      tvms_diag_report(&u->unit->context->diags, TVMS_D_thread_extents, span,
                       tvms_symbol_text(u->unit->context, tag));
    }
    return a->var;
  }
  tvms_node *var = tvms_var_new(u->unit, tag, extent->dtype, span);
  axis made = {tag, var, min, extent};
  tvms_vec_push(&u->unit->context->memory, &u->axes, made);
  return var;
}

static tvms_node *launch(unifying *u, const axis *a, tvms_node *body) {
  tvms_for *loop = tvms_node_make(u->unit, FOR, body->span);
  tvms_iter_var *thread = tvms_node_make(u->unit, ITER_VAR, body->span);
  thread->var = tvms_var_new(u->unit, tvms_symbol_intern(u->unit->context, "", 0),
                             TVMS_DTYPE(INT, 32), body->span);
  thread->iter_type = TVMS_ITER_THREAD_INDEX;
  thread->thread_tag = a->tag;
  loop->var = a->var;
  loop->min = a->min;
  loop->extent = a->extent;
  loop->for_kind = TVMS_FOR_THREAD_BINDING;
  loop->thread = &thread->head;
  loop->body = body;
  return &loop->head;
}

// `body` with its axis replaced by that of the kernel. Where the kernel begins, its loops
// stand around it.
static tvms_node *unify(tvms_rewriter *r, const tvms_node *old_var, tvms_sym tag,
                        tvms_node *min, tvms_node *extent, tvms_node *body) {
  unifying *u = r->self;
  uint32_t depth = u->depth;
  bool begins = depth == 0;
  if (begins) u->axes.len = 0;
  if (begins || starts_kernel(tvms_symbol_text(u->unit->context, tag))) u->depth++;
  tvms_node *var = variable_of(u, tag, min, extent, body->span);
  if (!tvms_dtype_same(var->dtype, old_var->dtype))
    var = tvms_build_cast(u->unit, old_var->dtype, var, TVMS_NO_SPAN);
  tvms_node_map_put(&r->known, old_var, var);
  tvms_node *made = tvms_rewrite(r, body);
  u->depth = depth;
  if (!made) made = tvms_stmt_none(u->unit, body->span);
  if (!begins) return made;
  for (uint32_t i = u->axes.len; i-- > 0;)
    made = launch(u, &u->axes.items[i], made);
  u->axes.len = 0;
  return made;
}

static tvms_node *enter_loop(tvms_rewriter *r, tvms_node *node) {
  unifying *u = r->self;
  const tvms_for *loop = tvms_as_for(node);
  if (loop->for_kind != TVMS_FOR_THREAD_BINDING || !loop->thread)
    return TVMS_REWRITE_BELOW;
  tvms_node *made = unify(r, loop->var, tvms_as_iter_var(loop->thread)->thread_tag,
                          loop->min, loop->extent, loop->body);
  if (!loop->annotations) return made;
  if (made->kind == TVMS_NODE_FOR) {
    tvms_node *copy = tvms_node_copy(u->unit, made);
    tvms_as_for(copy)->annotations = loop->annotations;
    return copy;
  }
  tvms_for *once = tvms_node_make(u->unit, FOR, node->span);
  tvms_dtype dtype = loop->var->dtype;
  once->var = tvms_var_new(u->unit, tvms_symbol_intern(u->unit->context, "var", 3),
                           dtype, node->span);
  once->min = tvms_int_imm_new(u->unit, dtype, 0, TVMS_NO_SPAN);
  once->extent = tvms_int_imm_new(u->unit, dtype, 1, TVMS_NO_SPAN);
  once->body = made;
  once->annotations = loop->annotations;
  return &once->head;
}

// An attribute holds to the end of its sequence.
static tvms_node *enter_seq(tvms_rewriter *r, tvms_node *node) {
  unifying *u = r->self;
  tvms_list stmts = tvms_as_seq(node)->stmts;
  uint32_t at = 0;
  while (at < stmts.len && !tvms_attr_stmt_threads(stmts.items[at]))
    at++;
  if (at == stmts.len) return TVMS_REWRITE_BELOW;
  const tvms_iter_var *threads = tvms_attr_stmt_threads(stmts.items[at]);
  tvms_memory *memory = &u->unit->context->memory;
  tvms_node_vec made = {0};
  for (uint32_t i = 0; i < at; i++) {
    tvms_node *stmt = tvms_rewrite(r, stmts.items[i]);
    if (stmt) tvms_stmt_push(u->unit, &made, stmt);
  }
  tvms_node_vec below = {0};
  for (uint32_t i = at + 1; i < stmts.len; i++)
    tvms_vec_push(memory, &below, stmts.items[i]);
  tvms_node *rest = tvms_stmt_seq(u->unit, &below, node->span);
  tvms_node *extent = tvms_as_attr_stmt(stmts.items[at])->value;
  tvms_node *zero = tvms_int_imm_new(u->unit, extent->dtype, 0, TVMS_NO_SPAN);
  tvms_stmt_push_last(memory, &made,
                      unify(r, threads->var, threads->thread_tag, zero, extent, rest));
  return tvms_stmt_seq(u->unit, &made, node->span);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  unifying u = {.unit = unit, .analyzer = tvms_analyzer_new(unit)};
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &u);
  r.enter[TVMS_NODE_FOR] = enter_loop;
  r.enter[TVMS_NODE_SEQ] = enter_seq;
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  tvms_vec_fini(&run->context->memory, &u.axes);
  tvms_analyzer_free(u.analyzer);
  return changed;
}

void tvms_pass_unify_thread_binding(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
