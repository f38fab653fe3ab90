// What does nothing, and names that are given twice. On request only: programs that were made by
// a tool are full of it.
//
// A condition is constant if the bounds of what it compares decide it for all iterations; what the
// bounds do not tell is not constant. A store is dead if one behind it in the same sequence, with
// only stores between them that read nothing of the buffer, writes the same element.
#include "lint/body_style.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "lint/body_eval.h"
#include "support/diag_ids.h"

void tvms_lint_body_style_loop(tvms_lint_body *body, const tvms_for *loop) {
  if (!tvms_lint_wants(body->lint, TVMS_D_empty_loop)) return;
  tvms_lint_range extent = tvms_lint_path_range(&body->path, loop->extent);
  bool never = extent.max <= 0;
  if (!never && !tvms_stmt_is_none(loop->body)) return;
  if (!tvms_lint_is_first(body, loop->head.span)) return;
  tvms_diag *diag = tvms_diag_report(body->diags, TVMS_D_empty_loop, loop->head.span,
                                     tvms_lint_name_of(body, loop->var));
  if (never) tvms_diag_remark(body->diags, diag, "it has no iteration");
}

// Names are few enough to be compared in a table of the context: a symbol is a number.
void tvms_lint_body_style_block(tvms_lint_body *body, const tvms_block *block) {
  if (!block->name.len || !tvms_lint_wants(body->lint, TVMS_D_duplicate_block)) return;
  tvms_sym name =
      tvms_symbol_intern(body->lint->context, block->name.text, block->name.len);
  tvms_vec_reach(body->memory, &body->names, name);
  const tvms_block *first = body->names.items[name];
  if (!first) {
    body->names.items[name] = block;
    return;
  }
  if (first->head.span.begin == block->head.span.begin) return;
  if (!tvms_lint_is_first(body, block->head.span)) return;
  tvms_diag *diag =
      tvms_diag_report(body->diags, TVMS_D_duplicate_block, block->head.span,
                       tvms_symbol_text(body->lint->context, name));
  tvms_diag_note(body->diags, diag, first->head.span, "the first one is here");
}

void tvms_lint_body_style_store(tvms_lint_body *body, const tvms_store *store) {
  if (!tvms_lint_wants(body->lint, TVMS_D_self_store)) return;
  if (store->value->kind != TVMS_NODE_BUFFER_LOAD) return;
  const tvms_buffer_load *load = tvms_as_buffer_load(store->value);
  if (load->buffer != store->buffer || load->indices.len != store->indices.len) return;
  for (uint32_t i = 0; i < load->indices.len; i++) {
    if (!tvms_node_same_expr(load->indices.items[i], store->indices.items[i])) return;
  }
  if (tvms_lint_is_first(body, store->head.span))
    tvms_diag_report(body->diags, TVMS_D_self_store, store->head.span,
                     tvms_lint_name_of(body, store->buffer));
}

// ---- Conditions ----

typedef enum { NEVER, ALWAYS, UNKNOWN } truth;

static truth opposite(truth of) {
  return of == UNKNOWN ? UNKNOWN : of == NEVER ? ALWAYS : NEVER;
}

// a < b.
static truth is_less(const tvms_lint_path *path, const tvms_node *a,
                     const tvms_node *b) {
  if (tvms_lint_path_is_below(path, a, b)) return ALWAYS;
  if (tvms_node_same_expr(a, b)) return NEVER;
  tvms_lint_range left = tvms_lint_path_range(path, a);
  tvms_lint_range right = tvms_lint_path_range(path, b);
  if (left.max != INT64_MAX && left.max < right.min) return ALWAYS;
  return right.max != INT64_MAX && left.min >= right.max ? NEVER : UNKNOWN;
}

static truth is_equal(const tvms_lint_path *path, const tvms_node *a,
                      const tvms_node *b) {
  if (tvms_node_same_expr(a, b)) return ALWAYS;
  tvms_lint_range left = tvms_lint_path_range(path, a);
  tvms_lint_range right = tvms_lint_path_range(path, b);
  if (left.max < right.min || right.max < left.min) return NEVER;
  bool single = left.min == left.max && right.min == right.max;
  return single && left.min == right.min ? ALWAYS : UNKNOWN;
}

static truth truth_of(const tvms_lint_path *path, const tvms_node *node) {
  if (!tvms_node_is_binary(node)) {
    if (node->kind == TVMS_NODE_NOT)
      return opposite(truth_of(path, tvms_as_not(node)->a));
    return UNKNOWN;
  }
  const tvms_binary *op = tvms_as_binary(node);
  bool logic = node->kind == TVMS_NODE_AND || node->kind == TVMS_NODE_OR;
  if (logic) {
    truth strong = node->kind == TVMS_NODE_AND ? NEVER : ALWAYS;
    truth a = truth_of(path, op->a), b = truth_of(path, op->b);
    if (a == strong || b == strong) return strong;
    return a == b ? a : UNKNOWN;
  }
  if (tvms_dtype_is_real(op->a->dtype)) return UNKNOWN;
  switch ((int)node->kind) {
  case TVMS_NODE_LT: return is_less(path, op->a, op->b);
  case TVMS_NODE_GT: return is_less(path, op->b, op->a);
  case TVMS_NODE_GE: return opposite(is_less(path, op->a, op->b));
  case TVMS_NODE_LE: return opposite(is_less(path, op->b, op->a));
  case TVMS_NODE_EQ: return is_equal(path, op->a, op->b);
  case TVMS_NODE_NE: return opposite(is_equal(path, op->a, op->b));
  default: return UNKNOWN;
  }
}

void tvms_lint_body_style_condition(tvms_lint_body *body, const tvms_node *condition) {
  if (!tvms_lint_wants(body->lint, TVMS_D_constant_condition)) return;
  if (!condition->span.end) return;
  truth is = truth_of(&body->path, condition);
  if (is == UNKNOWN || !tvms_lint_is_first(body, condition->span)) return;
  tvms_diag_report(body->diags, TVMS_D_constant_condition, condition->span,
                   is == ALWAYS ? "always" : "never");
}

// ---- Dead stores ----

static bool is_same_element(const tvms_store *a, const tvms_store *b) {
  bool same = a->buffer == b->buffer && a->indices.len == b->indices.len;
  for (uint32_t i = 0; same && i < a->indices.len; i++)
    same = tvms_node_same_expr(a->indices.items[i], b->indices.items[i]);
  return same;
}

typedef struct {
  tvms_lint_body *body;
  const tvms_node *buffer;
} reading;

// May the expression read something of the buffer?
static tvms_walk_step find_read(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const reading *r = self;
  if (node->kind == TVMS_NODE_CALL) {
    tvms_tir_opcode op = tvms_call_opcode(node);
    bool pure =
        op != TVMS_TIR_NONE && tvms_tir_op_row_of(op)->effect <= TVMS_EFFECT_PURE;
    return pure ? TVMS_WALK_ON : TVMS_WALK_STOP;
  }
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_node *buffer = tvms_as_buffer_load(node)->buffer;
  const tvms_lint_memory *own = tvms_lint_memory_of(r->body, r->buffer);
  bool same =
      buffer == r->buffer || !own || own == tvms_lint_memory_of(r->body, buffer);
  return same ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool may_read(tvms_lint_body *body, const tvms_store *store,
                     const tvms_node *buffer) {
  reading r = {body, buffer};
  tvms_visitor visitor = {.self = &r, .enter = find_read};
  if (!tvms_walk(body->memory, store->value, &visitor)) return true;
  for (uint32_t i = 0; i < store->indices.len; i++) {
    if (!tvms_walk(body->memory, store->indices.items[i], &visitor)) return true;
  }
  return false;
}

enum { FURTHEST = 8 };  // statements behind a store that are looked at

static void check_store(tvms_lint_body *body, tvms_list stmts, uint32_t at) {
  const tvms_store *store = tvms_as_store(stmts.items[at]);
  for (uint32_t i = at + 1; i < stmts.len && i <= at + FURTHEST; i++) {
    if (stmts.items[i]->kind != TVMS_NODE_STORE) return;
    const tvms_store *next = tvms_as_store(stmts.items[i]);
    if (next->predicate || may_read(body, next, store->buffer)) return;
    if (!is_same_element(store, next)) continue;
    if (!tvms_lint_is_first(body, store->head.span)) return;
    tvms_diag *diag = tvms_diag_report(body->diags, TVMS_D_dead_store, store->head.span,
                                       tvms_lint_name_of(body, store->buffer));
    tvms_diag_note(body->diags, diag, next->head.span,
                   "the element is overwritten here");
    return;
  }
}

void tvms_lint_body_style_sequence(tvms_lint_body *body, tvms_list stmts) {
  if (!tvms_lint_wants(body->lint, TVMS_D_dead_store)) return;
  for (uint32_t i = 0; i + 1 < stmts.len; i++) {
    if (stmts.items[i]->kind == TVMS_NODE_STORE) check_store(body, stmts, i);
  }
}
