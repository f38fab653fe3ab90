// Scopes are entered and left by the part of the parent that opens them: the body of a loop,
// a case of a branch, the block of a realization. Both directions ask count_of.
#include "arith/scopes.h"

#include "ir/fold.h"
#include "ir/fold_ops.h"

#include <stddef.h>

static bool is_part(const tvms_field *field, size_t offset) {
  return field->offset == offset;
}

// How many scopes of the analyzer the part opens.
static uint32_t count_of(const tvms_scopes *s, const tvms_node *parent,
                         const tvms_field *field) {
  switch ((int)parent->kind) {
  case TVMS_NODE_FOR:
    return is_part(field, offsetof(tvms_for, body)) && s->loop_conditions ? 2 : 0;
  case TVMS_NODE_IF_THEN_ELSE:
    return !is_part(field, offsetof(tvms_if_then_else, condition));
  case TVMS_NODE_BLOCK_REALIZE:
    return is_part(field, offsetof(tvms_block_realize, block));
  default: return 0;
  }
}

// Does a condition decide whether the part is evaluated at all?
static bool is_conditional(const tvms_node *parent, const tvms_field *field,
                           const tvms_node *part) {
  switch ((int)parent->kind) {
  case TVMS_NODE_IF_THEN_ELSE:
    return !is_part(field, offsetof(tvms_if_then_else, condition));
  case TVMS_NODE_CALL:
    return tvms_call_opcode(parent) == TVMS_TIR_if_then_else
           && is_part(field, offsetof(tvms_call, args))
           && part != tvms_as_call(parent)->args.items[0];
  default: return false;
  }
}

static void open_scope(tvms_scopes *s, tvms_node *condition) {
  tvms_scope_mark mark = tvms_analyzer_enter(s->analyzer, condition);
  tvms_vec_push(&s->unit->context->memory, &s->marks, mark);
}

static tvms_node *compare(tvms_scopes *s, tvms_node_kind kind, tvms_node *a,
                          tvms_node *b) {
  return tvms_build_binary(s->unit, kind, a, b, TVMS_NO_SPAN);
}

static void enter_loop(tvms_scopes *s, const tvms_for *loop) {
  tvms_analyzer_bind_range(s->analyzer, loop->var, loop->min, loop->extent);
  if (!s->loop_conditions) return;
  open_scope(s, compare(s, TVMS_NODE_GE, loop->var, loop->min));
  tvms_node *end = compare(s, TVMS_NODE_ADD, loop->min, loop->extent);
  open_scope(s, compare(s, TVMS_NODE_LT, loop->var, end));
}

static void enter_branch(tvms_scopes *s, const tvms_if_then_else *branch,
                         const tvms_field *field) {
  bool taken = is_part(field, offsetof(tvms_if_then_else, then_case));
  open_scope(s, taken ? branch->condition
                      : tvms_build_negation(s->unit, branch->condition));
}

static void enter_block(tvms_scopes *s, const tvms_block_realize *realize) {
  tvms_list axes = tvms_as_block(realize->block)->iter_vars;
  for (uint32_t i = 0; i < axes.len && !s->no_block_ranges; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(axes.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    tvms_analyzer_bind_range(s->analyzer, axis->var, dom->min, dom->extent);
  }
  open_scope(s, realize->predicate);
}

static void enter_function(tvms_scopes *s, const tvms_prim_func *function) {
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    if (!function->buffers.items[i]) continue;
    tvms_list shape = tvms_as_buffer(function->buffers.items[i])->shape;
    for (uint32_t k = 0; k < shape.len; k++)
      tvms_analyzer_mark_nonnegative(s->analyzer, shape.items[k]);
  }
}

static void enter(tvms_rewrite_watch *watch, const tvms_node *parent,
                  const tvms_field *field, const tvms_node *part) {
  tvms_scopes *s = (tvms_scopes *)(void *)watch;
  s->conditions += is_conditional(parent, field, part);
  if (parent->kind == TVMS_NODE_FOR && is_part(field, offsetof(tvms_for, body))) {
    enter_loop(s, tvms_as_for(parent));
  } else if (parent->kind == TVMS_NODE_PRIM_FUNC
             && is_part(field, offsetof(tvms_prim_func, body))) {
    enter_function(s, tvms_as_prim_func(parent));
  } else if (count_of(s, parent, field) == 0) {
    return;
  } else if (parent->kind == TVMS_NODE_IF_THEN_ELSE) {
    enter_branch(s, tvms_as_if_then_else(parent), field);
  } else {
    enter_block(s, tvms_as_block_realize(parent));
  }
}

// ---- What a finished statement says for the rest of its sequence ----

static void learn_value(tvms_scopes *s, const tvms_bind *bind) {
  tvms_memory *memory = &s->unit->context->memory;
  if (tvms_arith_effect_of(memory, bind->value) > TVMS_EFFECT_PURE) return;
  tvms_analyzer_bind(s->analyzer, bind->var, bind->value);
}

static void learn_thread(tvms_scopes *s, const tvms_attr_stmt *attr) {
  const tvms_iter_var *axis = tvms_attr_stmt_threads(&attr->head);
  if (!axis) return;
  tvms_node *var = axis->var;
  tvms_node *zero = tvms_int_imm_new(s->unit, var->dtype, 0, TVMS_NO_SPAN);
  tvms_analyzer_bind_range(s->analyzer, var, zero, attr->value);
}

static void leave(tvms_rewrite_watch *watch, const tvms_node *parent,
                  const tvms_field *field, const tvms_node *part,
                  const tvms_node *TVMS_NULLABLE made) {
  tvms_scopes *s = (tvms_scopes *)(void *)watch;
  s->conditions -= is_conditional(parent, field, part);
  for (uint32_t i = count_of(s, parent, field); i > 0; i--)
    tvms_analyzer_leave(s->analyzer, s->marks.items[--s->marks.len]);
  if (made && made->kind == TVMS_NODE_BIND) learn_value(s, tvms_as_bind(made));
  if (made && made->kind == TVMS_NODE_ATTR_STMT)
    learn_thread(s, tvms_as_attr_stmt(made));
}

void tvms_scopes_init(tvms_scopes *scopes, tvms_unit *unit) {
  *scopes = (tvms_scopes){.watch = {enter, leave}, .unit = unit};
  scopes->analyzer = tvms_analyzer_new(unit);
}

void tvms_scopes_fini(tvms_scopes *scopes) {
  tvms_analyzer_free(scopes->analyzer);
  tvms_vec_fini(&scopes->unit->context->memory, &scopes->marks);
}
