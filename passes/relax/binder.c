// Bindings go where the rewriter is; only the body of a sequence has no binding around it, so
// what it needs is collected and put behind the last block.
#include "passes/relax/binder.h"

#include "ir/build.h"
#include "passes/relax/make.h"
#include "passes/relax/retype.h"

void tvms_relax_binder_init(tvms_relax_binder *binder, tvms_pass_run *run,
                            tvms_relax_compute *compute) {
  *binder = (tvms_relax_binder){.module = run->module, .compute = compute};
  tvms_relax_emitter_init(&binder->emitter, &run->module->unit);
}

void tvms_relax_binder_enter(tvms_relax_binder *binder, tvms_unit *unit) {
  binder->emitter.unit = unit;
}

void tvms_relax_binder_fini(tvms_relax_binder *binder) {
  tvms_relax_emitter_fini(&binder->emitter);
}

// Does a binding that is made where the rewriter is belong to a dataflow block?
static bool in_dataflow(const tvms_rewriter *r) {
  const tvms_relax_binder *binder = r->self;
  return !binder->tail && r->sequence && r->sequence->flags & TVMS_FLAG_DATAFLOW;
}

void tvms_relax_binder_put(tvms_rewriter *r, tvms_node *binding) {
  tvms_relax_binder *binder = r->self;
  if (binder->tail)
    tvms_vec_push(&r->unit->context->memory, binder->tail, binding);
  else
    tvms_rewrite_emit(r, binding);
}

tvms_node *tvms_relax_binder_bind(tvms_rewriter *rewriter, tvms_node *value,
                                  const char *name) {
  tvms_relax_binder *binder = rewriter->self;
  tvms_node *binding =
      tvms_relax_bind(&binder->emitter, value, name, in_dataflow(rewriter));
  tvms_relax_binder_put(rewriter, binding);
  return tvms_as_var_binding(binding)->var;
}

tvms_node *tvms_relax_binder_cast(tvms_rewriter *rewriter, tvms_node *value,
                                  tvms_node *type, const char *name) {
  tvms_relax_binder *binder = rewriter->self;
  tvms_node *cast =
      tvms_relax_bind_cast(&binder->emitter, value, type, name, in_dataflow(rewriter));
  tvms_relax_binder_put(rewriter, cast);
  return tvms_as_match_cast(cast)->var;
}

// What compute() made, under a name.
static tvms_node *named(tvms_rewriter *r, tvms_node *made) {
  return made->kind == TVMS_NODE_VAR ? made : tvms_relax_binder_bind(r, made, "gv");
}

void tvms_relax_binder_do(tvms_rewriter *rewriter, tvms_node *call) {
  tvms_relax_binder_bind(rewriter, call, "_");
}

static tvms_node *rewrite_if(tvms_rewriter *r, tvms_node *node) {
  const tvms_if *old = tvms_as_if(node);
  tvms_relax_binder *binder = r->self;
  tvms_node_vec *outer = binder->tail;
  tvms_node *made = binder->compute(r, old->condition);
  binder->tail = NULL;
  tvms_node *first = tvms_rewrite(r, old->true_branch);
  tvms_node *second = tvms_rewrite(r, old->false_branch);
  binder->tail = outer;
  tvms_node *condition = made ? named(r, made) : tvms_rewrite(r, old->condition);
  bool same = first == old->true_branch && second == old->false_branch
              && condition == old->condition;
  if (same) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_if(copy)->true_branch = first;
  tvms_as_if(copy)->false_branch = second;
  tvms_as_if(copy)->condition = condition;
  return tvms_relax_retype_if(r, copy);
}

// Puts the bindings that have been collected into a block of their own.
static void push_block(tvms_unit *unit, tvms_node_vec *blocks,
                       tvms_node_vec *bindings) {
  if (!bindings->len) return;
  tvms_binding_block *block = tvms_node_make(unit, BINDING_BLOCK, TVMS_NO_SPAN);
  block->bindings = tvms_list_copy(unit, bindings->items, bindings->len);
  tvms_vec_push(&unit->context->memory, blocks, &block->head);
  bindings->len = 0;
}

static void push_all(tvms_unit *unit, tvms_node_vec *to, tvms_node *const *items,
                     uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    tvms_vec_push(&unit->context->memory, to, items[i]);
}

tvms_list tvms_relax_binder_surround(tvms_unit *unit, const tvms_node_vec *first,
                                     tvms_list blocks, const tvms_node_vec *last) {
  tvms_node_vec all = {0}, bindings = {0};
  push_all(unit, &bindings, first->items, first->len);
  for (uint32_t i = 0; i < blocks.len; i++) {
    tvms_list part = tvms_as_binding_block(blocks.items[i])->bindings;
    if (blocks.items[i]->flags & TVMS_FLAG_DATAFLOW) {
      push_block(unit, &all, &bindings);
      tvms_vec_push(&unit->context->memory, &all, blocks.items[i]);
    } else {
      push_all(unit, &bindings, part.items, part.len);
    }
  }
  push_all(unit, &bindings, last->items, last->len);
  push_block(unit, &all, &bindings);
  tvms_list list = tvms_list_copy(unit, all.items, all.len);
  tvms_vec_fini(&unit->context->memory, &all);
  tvms_vec_fini(&unit->context->memory, &bindings);
  return list;
}

static tvms_node *rewrite_sequence(tvms_rewriter *r, tvms_node *node) {
  const tvms_seq_expr *old = tvms_as_seq_expr(node);
  tvms_relax_binder *binder = r->self;
  tvms_node_vec tail = {0}, *outer = binder->tail;
  binder->tail = NULL;
  tvms_list blocks = tvms_rewrite_list(r, old->blocks);
  binder->tail = &tail;
  tvms_node *body = tvms_rewrite(r, old->body);
  binder->tail = outer;
  tvms_node_vec none = {0};
  if (tail.len) blocks = tvms_relax_binder_surround(r->unit, &none, blocks, &tail);
  tvms_vec_fini(&r->unit->context->memory, &tail);
  bool same = blocks.items == old->blocks.items && blocks.len == old->blocks.len
              && body == old->body;
  if (same) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_seq_expr(copy)->blocks = blocks;
  tvms_as_seq_expr(copy)->body = body;
  return tvms_relax_retype_sequence(r, copy);
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  const tvms_relax_binder *binder = r->self;
  if (node != r->old) tvms_relax_infer_call(r->unit, binder->module, node);
  return node;
}

static tvms_node *rewrite_expr(tvms_rewriter *r, tvms_node *node) {
  if (r->role != TVMS_ROLE_USE) return TVMS_REWRITE_BELOW;
  const tvms_relax_binder *binder = r->self;
  tvms_node *made = binder->compute(r, node);
  if (!made) return TVMS_REWRITE_BELOW;
  return made == node ? node : named(r, made);
}

static tvms_node *finish_binding(tvms_rewriter *r, tvms_node *node) {
  const tvms_relax_binder *binder = r->self;
  return binder->bound ? binder->bound(r, node) : node;
}

// The value of a binding has a name already.
static tvms_node *rewrite_binding(tvms_rewriter *r, tvms_node *node) {
  const tvms_relax_binder *binder = r->self;
  tvms_node *made = binder->compute(r, tvms_as_var_binding(node)->value);
  if (!made) return TVMS_REWRITE_BELOW;
  if (made == tvms_as_var_binding(node)->value) return finish_binding(r, node);
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_var_binding(copy)->value = made;
  return finish_binding(r, tvms_relax_retype_binding(r, copy));
}

static tvms_node *leave_binding(tvms_rewriter *r, tvms_node *node) {
  bool same = node == r->old
              || tvms_as_var_binding(node)->value == tvms_as_var_binding(r->old)->value;
  return finish_binding(r, same ? node : tvms_relax_retype_binding(r, node));
}

void tvms_relax_binder_install(tvms_rewriter *rewriter) {
  tvms_relax_retype(rewriter);
  tvms_rewriter_enter_class(rewriter, TVMS_CLASS_EXPR, rewrite_expr);
  rewriter->enter[TVMS_NODE_VAR_BINDING] = rewrite_binding;
  rewriter->enter[TVMS_NODE_IF] = rewrite_if;
  rewriter->enter[TVMS_NODE_SEQ_EXPR] = rewrite_sequence;
  rewriter->leave[TVMS_NODE_CALL] = leave_call;
  rewriter->leave[TVMS_NODE_VAR_BINDING] = leave_binding;
}
