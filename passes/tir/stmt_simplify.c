// StmtSimplify (Simplify up to 0.22): every expression in its simplest form.
//
// Before: if i < n: A[i * 1 + 0] = B[i] inside for i in range(n)   After: A[i] = B[i]
//
// Loops, conditions and bound variables around an expression are facts for it. Branches
// that cannot be taken go, and stores of what a buffer holds already. Definitions of
// buffers stay as they are written. TVM: tirx.transform.StmtSimplify.
#include "arith/analyzer.h"
#include "ir/clone.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "passes/tir/stmts.h"

#include <string.h>

typedef struct {
  tvms_unit *unit;
  tvms_analyzer *analyzer;
  tvms_node_map bound;  // variables of pure T.bind: their values
} simplifier;

static tvms_memory *memory_of(simplifier *s) {
  return &s->unit->context->memory;
}

static tvms_node *visit(simplifier *s, tvms_node *node, tvms_field_role role);

// The list with every item visited; the same items if none changed.
static tvms_list visit_list(simplifier *s, tvms_list old, tvms_field_role role) {
  tvms_list new = old;
  for (uint32_t i = 0; i < old.len; i++) {
    tvms_node *item = old.items[i] ? visit(s, old.items[i], role) : NULL;
    if (item == old.items[i]) continue;
    if (new.items == old.items) new = tvms_list_copy(s->unit, old.items, old.len);
    new.items[i] = item;
  }
  return new;
}

// The node with every part visited; a copy if one of them changed.
static tvms_node *visit_parts(simplifier *s, tvms_node *node) {
  const tvms_node_schema *schema = tvms_node_schema_of((tvms_node_kind)node->kind);
  tvms_node *result = node;
  for (uint32_t i = 0; i < schema->field_count; i++) {
    const tvms_field *field = &schema->fields[i];
    char *place = (char *)node + field->offset;
    if (field->type == TVMS_TYPE_NODE) {
      tvms_node *old = *(tvms_node **)(void *)place;
      tvms_node *new = old ? visit(s, old, field->role) : NULL;
      if (new == old) continue;
      if (result == node) result = tvms_node_copy(s->unit, node);
      *(tvms_node **)(void *)((char *)result + field->offset) = new;
    } else if (field->type == TVMS_TYPE_LIST) {
      tvms_list old = *(tvms_list *)(void *)place,
                new = visit_list(s, old, field->role);
      if (new.items == old.items) continue;
      if (result == node) result = tvms_node_copy(s->unit, node);
      *(tvms_list *)(void *)((char *)result + field->offset) = new;
    }
  }
  return result;
}

static tvms_node *visit_under(simplifier *s, tvms_node *condition, tvms_node *stmt) {
  tvms_scope_mark mark = tvms_analyzer_enter(s->analyzer, condition);
  tvms_node *result = visit(s, stmt, TVMS_ROLE_USE);
  tvms_analyzer_leave(s->analyzer, mark);
  return result;
}

static tvms_node *build(simplifier *s, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_binary(s->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *visit_for(simplifier *s, tvms_node *node) {
  const tvms_for *loop = tvms_as_for(node);
  tvms_analyzer_bind_range(s->analyzer, loop->var, loop->min, loop->extent);
  tvms_scope_mark outer =
      tvms_analyzer_enter(s->analyzer, build(s, TVMS_NODE_GE, loop->var, loop->min));
  tvms_node *end = build(s, TVMS_NODE_ADD, loop->min, loop->extent);
  tvms_scope_mark inner =
      tvms_analyzer_enter(s->analyzer, build(s, TVMS_NODE_LT, loop->var, end));
  tvms_node *result = visit_parts(s, node);
  tvms_analyzer_leave(s->analyzer, inner);
  tvms_analyzer_leave(s->analyzer, outer);
  return result;
}

// The condition with bound variables replaced, as a constant if it is one.
static tvms_node *decide(simplifier *s, tvms_node *condition) {
  return tvms_analyzer_simplify(s->analyzer,
                                tvms_substitute(s->unit, condition, &s->bound));
}

static tvms_node *visit_if(simplifier *s, tvms_node *node) {
  const tvms_if_then_else *branch = tvms_as_if_then_else(node);
  tvms_node *decided = decide(s, branch->condition);
  if (tvms_node_is_int_imm(decided)) {
    tvms_node *taken =
        tvms_node_is_true(decided) ? branch->then_case : branch->else_case;
    return taken ? visit(s, taken, TVMS_ROLE_USE) : tvms_stmt_none(s->unit, node->span);
  }
  tvms_node *condition = tvms_analyzer_simplify(s->analyzer, branch->condition);
  tvms_node *yes = visit_under(s, condition, branch->then_case);
  tvms_node *no = branch->else_case;
  if (no) no = visit_under(s, tvms_otherwise(s->unit, condition), no);
  bool same = condition == branch->condition && yes == branch->then_case
              && no == branch->else_case;
  if (same) return node;
  tvms_node *copy = tvms_node_copy(s->unit, node);
  tvms_as_if_then_else(copy)->condition = condition;
  tvms_as_if_then_else(copy)->then_case = yes;
  tvms_as_if_then_else(copy)->else_case = no;
  return copy;
}

// The predicate holds inside the block and stays as it is. Ranges of block variables are
// not used, as in TVM: the block says what it binds them to.
static tvms_node *visit_realize(simplifier *s, tvms_node *node) {
  const tvms_block_realize *realize = tvms_as_block_realize(node);
  tvms_list values = visit_list(s, realize->iter_values, TVMS_ROLE_USE);
  tvms_scope_mark mark = tvms_analyzer_enter(s->analyzer, realize->predicate);
  tvms_node *block = visit(s, realize->block, TVMS_ROLE_USE);
  tvms_analyzer_leave(s->analyzer, mark);
  if (block == realize->block && values.items == realize->iter_values.items)
    return node;
  tvms_node *copy = tvms_node_copy(s->unit, node);
  tvms_as_block_realize(copy)->iter_values = values;
  tvms_as_block_realize(copy)->block = block;
  return copy;
}

static bool same_places(tvms_list a, tvms_list b) {
  if (a.len != b.len) return false;
  for (uint32_t i = 0; i < a.len; i++) {
    if (!tvms_node_same_expr(a.items[i], b.items[i])) return false;
  }
  return true;
}

static tvms_node *visit_store(simplifier *s, tvms_node *node) {
  tvms_node *result = visit_parts(s, node);
  const tvms_store *store = tvms_as_store(result);
  if (store->value->kind != TVMS_NODE_BUFFER_LOAD) return result;
  const tvms_buffer_load *load = tvms_as_buffer_load(store->value);
  bool same =
      load->buffer == store->buffer && same_places(load->indices, store->indices);
  return same ? tvms_stmt_none(s->unit, node->span) : result;
}

static tvms_node *visit_bind(simplifier *s, tvms_node *node) {
  tvms_node *result = visit_parts(s, node);
  const tvms_bind *bind = tvms_as_bind(result);
  if (tvms_arith_effect_of(memory_of(s), bind->value) <= TVMS_EFFECT_PURE) {
    tvms_analyzer_bind(s->analyzer, bind->var, bind->value);
    tvms_node_map_put(&s->bound, bind->var, bind->value);
  }
  return result;
}

// The range of a thread index holds for the rest of its scope.
static tvms_node *visit_attr(simplifier *s, tvms_node *node) {
  const tvms_attr_stmt *attr = tvms_as_attr_stmt(node);
  bool thread = tvms_bytes_is(attr->key, "thread_extent")
                || tvms_bytes_is(attr->key, "virtual_thread");
  if (thread && attr->node->kind == TVMS_NODE_ITER_VAR) {
    tvms_node *var = tvms_as_iter_var(attr->node)->var;
    tvms_node *zero = tvms_int_imm_new(s->unit, var->dtype, 0, TVMS_NO_SPAN);
    tvms_analyzer_bind_range(s->analyzer, var, zero, attr->value);
  }
  return visit_parts(s, node);
}

// Empty statements go, sequences in sequences are laid flat.
static tvms_node *visit_seq(simplifier *s, tvms_node *node) {
  tvms_list old = tvms_as_seq(node)->stmts;
  tvms_stmt_vec stmts = {0};
  bool same = true;
  for (uint32_t i = 0; i < old.len; i++) {
    tvms_node *stmt = visit(s, old.items[i], TVMS_ROLE_USE);
    same &= stmt == old.items[i];
    if (stmt != old.items[i] && tvms_stmt_is_none(stmt)) continue;
    if (i + 1 == old.len) {
      tvms_stmt_push_last(memory_of(s), &stmts, stmt);
    } else {
      tvms_stmt_push(memory_of(s), &stmts, stmt);
    }
  }
  if (!same) return tvms_stmt_seq(s->unit, &stmts, node->span);
  tvms_vec_fini(memory_of(s), &stmts);
  return node;
}

static tvms_node *visit_stmt(simplifier *s, tvms_node *node) {
  switch (node->kind) {
  case TVMS_NODE_FOR: return visit_for(s, node);
  case TVMS_NODE_IF_THEN_ELSE: return visit_if(s, node);
  case TVMS_NODE_BLOCK_REALIZE: return visit_realize(s, node);
  case TVMS_NODE_STORE: return visit_store(s, node);
  case TVMS_NODE_BIND: return visit_bind(s, node);
  case TVMS_NODE_ATTR_STMT: return visit_attr(s, node);
  case TVMS_NODE_SEQ: return visit_seq(s, node);
  default: return visit_parts(s, node);
  }
}

static bool can_simplify(const tvms_node *node) {
  return !tvms_dtype_is_void(node->dtype) && !tvms_dtype_is_handle(node->dtype);
}

static tvms_node *visit(simplifier *s, tvms_node *node, tvms_field_role role) {
  if (role != TVMS_ROLE_USE || node->kind == TVMS_NODE_BUFFER) return node;
  if (!tvms_memory_enter(memory_of(s)))
    tvms_memory_unwind(memory_of(s), TVMS_OVER_LIMIT);
  tvms_node *result;
  switch (tvms_node_class_of(node)) {
  case TVMS_CLASS_EXPR:
    result = can_simplify(node) ? tvms_analyzer_simplify(s->analyzer, node)
                                : visit_parts(s, node);
    break;
  case TVMS_CLASS_STMT: result = visit_stmt(s, node); break;
  case TVMS_CLASS_OBJECT: result = visit_parts(s, node); break;
  case TVMS_CLASS_SINFO:
  case TVMS_CLASS_TOP:
  default: result = node; break;
  }
  tvms_memory_leave(memory_of(s));
  return result;
}

static void assume_shapes(simplifier *s, const tvms_prim_func *function) {
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    if (!function->buffers.items[i]) continue;
    tvms_list shape = tvms_as_buffer(function->buffers.items[i])->shape;
    for (uint32_t j = 0; j < shape.len; j++) {
      tvms_analyzer_mark_nonnegative(s->analyzer, shape.items[j]);
    }
  }
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *node) {
  simplifier s = {.unit = unit, .analyzer = tvms_analyzer_new(unit)};
  tvms_node_map_init(&s.bound, &run->context->memory);
  const tvms_prim_func *function = tvms_as_prim_func(node);
  assume_shapes(&s, function);
  tvms_node *body = visit(&s, function->body, TVMS_ROLE_USE);
  tvms_node *result = node;
  if (body != function->body) {
    result = tvms_node_copy(unit, node);
    tvms_as_prim_func(result)->body = body;
  }
  tvms_node_map_fini(&s.bound);
  tvms_analyzer_free(s.analyzer);
  return result;
}

void tvms_pass_stmt_simplify(tvms_pass_run *run) {
  tvms_change_functions(run, TVMS_NODE_PRIM_FUNC, change);
}
