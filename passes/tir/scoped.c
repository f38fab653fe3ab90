// Loops bind the range of their variable, branches open a scope with their condition, and
// shapes of parameters say that their symbols are not negative.
#include "passes/tir/scoped.h"

#include "ir/clone.h"

static tvms_node *enter_for(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scoped *scoped = rewriter->self;
  const tvms_for *old = tvms_as_for(node);
  tvms_node *min = tvms_rewrite(rewriter, old->min);
  tvms_node *extent = tvms_rewrite(rewriter, old->extent);
  tvms_analyzer_bind_range(scoped->analyzer, old->var, min, extent);
  tvms_node *result = tvms_rewrite_below(rewriter, node);
  return rewriter->leave[TVMS_NODE_FOR]
             ? rewriter->leave[TVMS_NODE_FOR](rewriter, result)
             : result;
}

static tvms_node *rewrite_under(tvms_scoped *scoped, tvms_node *condition,
                                tvms_node *stmt) {
  tvms_scope_mark mark = tvms_analyzer_enter(scoped->analyzer, condition);
  scoped->conditions++;
  tvms_node *result = tvms_rewrite(&scoped->rewriter, stmt);
  scoped->conditions--;
  tvms_analyzer_leave(scoped->analyzer, mark);
  return result;
}

static tvms_node *enter_if(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scoped *scoped = rewriter->self;
  const tvms_if_then_else *old = tvms_as_if_then_else(node);
  tvms_node *condition = tvms_rewrite(rewriter, old->condition);
  tvms_node *yes = rewrite_under(scoped, condition, old->then_case);
  tvms_node *no = NULL;
  if (old->else_case) {
    tvms_node *negated = tvms_otherwise(scoped->unit, condition);
    no = rewrite_under(scoped, negated, old->else_case);
  }
  tvms_node *result = node;
  if (condition != old->condition || yes != old->then_case || no != old->else_case) {
    result = tvms_node_copy(scoped->unit, node);
    tvms_as_if_then_else(result)->condition = condition;
    tvms_as_if_then_else(result)->then_case = yes;
    tvms_as_if_then_else(result)->else_case = no;
  }
  return rewriter->leave[TVMS_NODE_IF_THEN_ELSE]
             ? rewriter->leave[TVMS_NODE_IF_THEN_ELSE](rewriter, result)
             : result;
}

static void bind_iterators(tvms_scoped *scoped, const tvms_block *block) {
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[i]);
    const tvms_range *dom = tvms_as_range(iter->dom);
    tvms_analyzer_bind_range(scoped->analyzer, iter->var, dom->min, dom->extent);
  }
}

static tvms_node *enter_realize(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scoped *scoped = rewriter->self;
  const tvms_block_realize *realize = tvms_as_block_realize(node);
  bind_iterators(scoped, tvms_as_block(realize->block));
  tvms_node *predicate = tvms_rewrite(rewriter, realize->predicate);
  tvms_scope_mark mark = tvms_analyzer_enter(scoped->analyzer, predicate);
  tvms_node *result = tvms_rewrite_below(rewriter, node);
  tvms_analyzer_leave(scoped->analyzer, mark);
  return rewriter->leave[TVMS_NODE_BLOCK_REALIZE]
             ? rewriter->leave[TVMS_NODE_BLOCK_REALIZE](rewriter, result)
             : result;
}

static void assume_shapes(tvms_scoped *scoped, const tvms_prim_func *function) {
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    if (!function->buffers.items[i]) continue;
    tvms_list shape = tvms_as_buffer(function->buffers.items[i])->shape;
    for (uint32_t j = 0; j < shape.len; j++) {
      tvms_analyzer_mark_nonnegative(scoped->analyzer, shape.items[j]);
    }
  }
}

static tvms_node *rewrite_function(tvms_scoped *scoped, const tvms_scoped_pass *pass,
                                   tvms_node *node) {
  tvms_rewriter *rewriter = &scoped->rewriter;
  tvms_prim_func *function = tvms_as_prim_func(node);
  rewriter->enter[TVMS_NODE_FOR] = enter_for;
  rewriter->enter[TVMS_NODE_IF_THEN_ELSE] = enter_if;
  rewriter->enter[TVMS_NODE_BLOCK_REALIZE] = enter_realize;
  pass->setup(scoped);
  assume_shapes(scoped, function);
  if (pass->begin) pass->begin(scoped, function);
  tvms_node *body = tvms_rewrite(rewriter, function->body);
  if (!body) body = tvms_stmt_none(scoped->unit, TVMS_NO_SPAN);
  if (pass->end) body = pass->end(scoped, function, body);
  if (body == function->body) return node;
  tvms_node *changed = tvms_node_copy(scoped->unit, node);
  tvms_as_prim_func(changed)->body = body;
  return changed;
}

void tvms_rewrite_scoped(tvms_pass_run *run, const tvms_scoped_pass *pass) {
  uint32_t count = run->module->member_count;
  for (uint32_t i = 0; i < count; i++) {
    tvms_node *old = run->module->members[i].function;
    if (!old || old->kind != TVMS_NODE_PRIM_FUNC) continue;
    tvms_scoped scoped = {.unit = tvms_open_unit(run)};
    tvms_rewriter_init(&scoped.rewriter, scoped.unit, &scoped);
    tvms_node_map_init(&scoped.buffers, &run->context->memory);
    scoped.analyzer = tvms_analyzer_new(scoped.unit);
    tvms_node *copy = tvms_clone(scoped.unit, old, NULL);
    tvms_node *new = rewrite_function(&scoped, pass, copy);
    tvms_analyzer_free(scoped.analyzer);
    tvms_node_map_fini(&scoped.buffers);
    tvms_rewriter_fini(&scoped.rewriter);
    if (new != copy) {
      tvms_replace_function(run, i, scoped.unit, new);
    } else {
      tvms_drop_unit(run, scoped.unit);
    }
  }
}
