// Scopes are entered and left by the part of the parent that opens them: the body of a loop,
// a case of a branch, the block of a realization. Both directions ask count_of.
#include "arith/scopes.h"

#include "ir/fold.h"
#include "ir/fold_ops.h"

#include <stddef.h>

static bool is_part(const tvms_field *field, size_t offset) {
  return field->offset == offset;
}

// The condition under which one of two values is taken, or NULL; *holds says under which
// outcome. A value that is taken either way is under no condition.
static tvms_node *deciding(const tvms_node *parent, const tvms_field *field,
                           const tvms_node *part, bool *holds) {
  if (parent->kind == TVMS_NODE_SELECT) {
    *holds = is_part(field, offsetof(tvms_select, true_value));
    bool is_value = !is_part(field, offsetof(tvms_select, condition));
    return is_value ? tvms_as_select(parent)->condition : NULL;
  }
  if (parent->kind != TVMS_NODE_CALL || !is_part(field, offsetof(tvms_call, args)))
    return NULL;
  if (tvms_call_opcode(parent) != TVMS_TIR_if_then_else) return NULL;
  tvms_list args = tvms_as_call(parent)->args;
  bool is_choice = args.len == 3 && args.items[1] != args.items[2];
  if (!is_choice || (part != args.items[1] && part != args.items[2])) return NULL;
  *holds = part == args.items[1];
  return args.items[0];
}

// Does the part open a scope of the analyzer?
static bool opens_scope(const tvms_node *parent, const tvms_field *field,
                        const tvms_node *part) {
  bool holds;
  switch ((int)parent->kind) {
  case TVMS_NODE_SELECT:
  case TVMS_NODE_CALL: return deciding(parent, field, part, &holds);
  case TVMS_NODE_FOR: return is_part(field, offsetof(tvms_for, body));
  case TVMS_NODE_IF_THEN_ELSE:
    return !is_part(field, offsetof(tvms_if_then_else, condition));
  case TVMS_NODE_BLOCK_REALIZE:
    return is_part(field, offsetof(tvms_block_realize, block));
  default: return false;
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

static tvms_node *compare(tvms_scopes *s, tvms_node_kind kind, tvms_node *a,
                          tvms_node *b) {
  return tvms_build_binary(s->unit, kind, a, b, TVMS_NO_SPAN);
}

static void enter_loop(tvms_scopes *s, const tvms_for *loop) {
  tvms_analyzer_bind_range(s->analyzer, loop->var, loop->min, loop->extent);
  if (s->loop_conditions) {
    tvms_analyzer_enter(s->analyzer, compare(s, TVMS_NODE_GE, loop->var, loop->min));
    tvms_node *end = compare(s, TVMS_NODE_ADD, loop->min, loop->extent);
    tvms_analyzer_enter(s->analyzer, compare(s, TVMS_NODE_LT, loop->var, end));
  }
  if (!tvms_release_has(s->unit->dialect, TVMS_FACT_bodies_of_loops_run)) return;
  tvms_node *zero = tvms_int_imm_new(s->unit, loop->extent->dtype, 0, TVMS_NO_SPAN);
  tvms_analyzer_enter_fact(s->analyzer, compare(s, TVMS_NODE_GT, loop->extent, zero));
}

// What holds where `condition` does, or does not.
static void enter_outcome(tvms_scopes *s, tvms_node *condition, bool holds) {
  if (tvms_arith_opcode(condition) == TVMS_TIR_likely)
    condition = tvms_as_call(condition)->args.items[0];
  if (holds) {
    tvms_analyzer_enter_fact(s->analyzer, condition);
    return;
  }
  tvms_node *negation = tvms_build_negation(s->unit, condition);
  tvms_analyzer_enter(s->analyzer,
                      tvms_analyzer_rewrite_simplify(s->analyzer, negation));
}

bool tvms_scopes_may_change(tvms_scopes *s, tvms_node *condition) {
  return !tvms_release_has(s->unit->dialect, TVMS_FACT_conditions_keep_memory)
         && tvms_arith_effect_of(&s->unit->context->memory, condition)
                > TVMS_EFFECT_PURE;
}

static void enter_case(tvms_scopes *s, const tvms_if_then_else *branch, bool holds) {
  if (!tvms_scopes_may_change(s, branch->condition))
    enter_outcome(s, branch->condition, holds);
}

static void enter_block(tvms_scopes *s, const tvms_block_realize *realize) {
  if (!tvms_release_has(s->unit->dialect, TVMS_FACT_axes_have_ranges)) return;
  tvms_list axes = tvms_as_block(realize->block)->iter_vars;
  for (uint32_t i = 0; i < axes.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(axes.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    tvms_analyzer_bind_range(s->analyzer, axis->var, dom->min, dom->extent);
  }
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
  bool holds = false, opens = opens_scope(parent, field, part);
  s->conditions += is_conditional(parent, field, part);
  if (opens) {
    tvms_scope_mark mark = tvms_analyzer_mark(s->analyzer);
    tvms_vec_push(&s->unit->context->memory, &s->marks, mark);
  }
  if (parent->kind == TVMS_NODE_FOR && is_part(field, offsetof(tvms_for, body)))
    enter_loop(s, tvms_as_for(parent));
  else if (parent->kind == TVMS_NODE_PRIM_FUNC
           && is_part(field, offsetof(tvms_prim_func, body)))
    enter_function(s, tvms_as_prim_func(parent));
  else if (opens && parent->kind == TVMS_NODE_IF_THEN_ELSE)
    enter_case(s, tvms_as_if_then_else(parent),
               is_part(field, offsetof(tvms_if_then_else, then_case)));
  else if (opens && parent->kind == TVMS_NODE_BLOCK_REALIZE)
    enter_block(s, tvms_as_block_realize(parent));
  else if (opens && parent->kind != TVMS_NODE_FOR) {
    tvms_node *condition = deciding(parent, field, part, &holds);
    enter_outcome(s, condition, holds);
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
  if (opens_scope(parent, field, part))
    tvms_analyzer_leave(s->analyzer, s->marks.items[--s->marks.len]);
  if (made && made->kind == TVMS_NODE_BIND && !s->ignores_bindings)
    learn_value(s, tvms_as_bind(made));
  if (made && made->kind == TVMS_NODE_ATTR_STMT)
    learn_thread(s, tvms_as_attr_stmt(made));
  if (made && made->kind == TVMS_NODE_ASSERT
      && !tvms_scopes_may_change(s, tvms_as_assert(made)->condition))
    tvms_analyzer_enter(s->analyzer, tvms_as_assert(made)->condition);
}

// Whose parts enter and leave ask about; statements are heard of anyway.
#define IN_WORD(word, KIND)                                                            \
  (TVMS_NODE_##KIND / 64 == (word) ? (uint64_t)1 << TVMS_NODE_##KIND % 64 : 0)
#define OPENING(word)                                                                  \
  (IN_WORD(word, SELECT) | IN_WORD(word, CALL) | IN_WORD(word, FOR)                    \
   | IN_WORD(word, IF_THEN_ELSE) | IN_WORD(word, BLOCK_REALIZE)                        \
   | IN_WORD(word, PRIM_FUNC))

_Static_assert(TVMS_NODE_COUNT <= 128, "a set of kinds has two words");
static const tvms_kind_set opening = {{OPENING(0), OPENING(1)}};

void tvms_scopes_init(tvms_scopes *scopes, tvms_unit *unit) {
  *scopes = (tvms_scopes){.watch = {&opening, enter, leave}, .unit = unit};
  scopes->analyzer = tvms_analyzer_new(unit);
}

void tvms_scopes_fini(tvms_scopes *scopes) {
  tvms_analyzer_free(scopes->analyzer);
  tvms_vec_fini(&scopes->unit->context->memory, &scopes->marks);
}

// ---- Constant conditions ----

static bool is_constant(const tvms_node *condition) {
  return tvms_node_is_int(condition, 0) || tvms_node_is_int(condition, 1);
}

tvms_node *tvms_scopes_choose(tvms_rewriter *r, tvms_node *node) {
  if (node->kind == TVMS_NODE_IF_THEN_ELSE) {
    const tvms_if_then_else *branch = tvms_as_if_then_else(node);
    tvms_node *condition = branch->condition;
    if (tvms_arith_opcode(condition) == TVMS_TIR_likely)
      condition = tvms_as_call(condition)->args.items[0];
    if (!is_constant(condition)) return node;
    if (tvms_node_is_true(condition)) return branch->then_case;
    return branch->else_case ? branch->else_case : tvms_stmt_none(r->unit, node->span);
  }
  if (node->kind == TVMS_NODE_SELECT) {
    const tvms_select *select = tvms_as_select(node);
    if (!is_constant(select->condition)) return node;
    return tvms_node_is_true(select->condition) ? select->true_value
                                                : select->false_value;
  }
  if (tvms_arith_opcode(node) != TVMS_TIR_if_then_else) return node;
  tvms_list args = tvms_as_call(node)->args;
  if (!is_constant(args.items[0])) return node;
  return args.items[tvms_node_is_true(args.items[0]) ? 1 : 2];
}

tvms_node *tvms_scopes_keep_predicate(tvms_rewriter *r, tvms_node *node) {
  if (tvms_release_has(r->unit->dialect, TVMS_FACT_masked_access_is_intrinsic))
    return node;
  if (node->kind == TVMS_NODE_STORE && r->old->kind == TVMS_NODE_STORE) {
    tvms_store now = *tvms_as_store(node);
    now.predicate = tvms_as_store(r->old)->predicate;
    return tvms_node_copy_changed(r->unit, node, &now.head);
  }
  if (node->kind == TVMS_NODE_BUFFER_LOAD && r->old->kind == TVMS_NODE_BUFFER_LOAD) {
    tvms_buffer_load now = *tvms_as_buffer_load(node);
    now.predicate = tvms_as_buffer_load(r->old)->predicate;
    return tvms_node_copy_changed(r->unit, node, &now.head);
  }
  return node;
}

void tvms_scopes_choose_all(tvms_rewriter *r) {
  r->leave[TVMS_NODE_IF_THEN_ELSE] = tvms_scopes_choose;
  r->leave[TVMS_NODE_SELECT] = tvms_scopes_choose;
  r->leave[TVMS_NODE_CALL] = tvms_scopes_choose;
}
