// Definitions and scopes (D of the list in ir/verify.c).
//
// A variable or buffer is in scope from its definition to the end of the node that holds
// it: for a parameter the function, for what a statement or binding defines the sequence in
// which it stands, for a variable of a dataflow block that block. Types and
// annotations are not looked into. The regions of a block may mention a buffer that is
// declared inside it, but none that is declared nowhere.
//
// What nothing defines is a defect in a Relax function and in one with blocks. In other
// functions of TIR it is free, as in TVM; up to 0.23 so is a buffer over a known pointer.
#include "ir/verify_scope.h"

#include "ir/build.h"
#include "ir/walk.h"

enum { NOT_SEEN, FREE, IN_SCOPE, OUT_OF_SCOPE };

typedef struct {
  tvms_unit *unit;
  bool free_variables;  // are allowed
  bool free_buffers;
  uint8_t *state;           // by id
  tvms_node_vec mentioned;  // buffers of regions, in front of their definitions
  tvms_node_vec defined;    // in scope, in order of their definitions
  tvms_violation found;
} scoping;

static void visit(scoping *s, tvms_node *node, tvms_field_role role);

static void fail(scoping *s, const tvms_node *node, const char *what) {
  if (!s->found.what) s->found = (tvms_violation){node, what};
}

static void close_scope(scoping *s, uint32_t first) {
  while (s->defined.len > first)
    s->state[s->defined.items[--s->defined.len]->id] = OUT_OF_SCOPE;
}

// A variable that belongs to its dataflow block ends with it.
static void close_dataflow(scoping *s, uint32_t first) {
  uint32_t kept = first;
  for (uint32_t i = first; i < s->defined.len; i++) {
    tvms_node *node = s->defined.items[i];
    bool ends = node->kind == TVMS_NODE_VAR && node->flags & TVMS_FLAG_DATAFLOW
                && tvms_dtype_is_void(node->dtype);
    if (ends) {
      s->state[node->id] = OUT_OF_SCOPE;
    } else {
      s->defined.items[kept++] = node;
    }
  }
  s->defined.len = kept;
}

// Do definitions inside end with the node?
static bool holds_scope(const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_SEQ:
  case TVMS_NODE_FOR:
  case TVMS_NODE_WHILE:
  case TVMS_NODE_IF_THEN_ELSE:
  case TVMS_NODE_BLOCK_REALIZE:
  case TVMS_NODE_BLOCK:
  case TVMS_NODE_LET:
  case TVMS_NODE_REDUCE:
  case TVMS_NODE_COMM_REDUCER:
  case TVMS_NODE_INDEX_MAP:
  case TVMS_NODE_SEQ_EXPR:
  case TVMS_NODE_IF:
  case TVMS_NODE_FUNCTION:
  case TVMS_NODE_PRIM_FUNC: return true;
  default: return false;
  }
}

static bool defines(tvms_field_role role) {
  return role == TVMS_ROLE_DEFINE || role == TVMS_ROLE_DEFINE_REC;
}

// A number of the Python around, which nothing binds.
static bool is_assumed(const tvms_node *node) {
  return node->kind == TVMS_NODE_VAR && node->flags & TVMS_FLAG_ASSUMED;
}

// As TVM writes it and does not read it: named in front of its definition.
static bool is_early(const tvms_node *node) {
  return node->kind == TVMS_NODE_VAR && node->flags & TVMS_FLAG_EARLY;
}

static void use(scoping *s, const tvms_node *node, bool may_be_free) {
  uint8_t *state = &s->state[node->id];
  if (*state == NOT_SEEN && is_early(node)) return;
  if (*state == NOT_SEEN && may_be_free) *state = FREE;
  if (*state == NOT_SEEN && !is_assumed(node))
    fail(s, node, "it is used in front of its definition");
  if (*state == OUT_OF_SCOPE) fail(s, node, "it is used behind its scope");
}

// Defines what was not seen before. `again`: in scope already is fine, too.
static void define(scoping *s, tvms_node *node, bool again) {
  uint8_t *state = &s->state[node->id];
  if (*state == FREE) fail(s, node, "it is used in front of its definition");
  if (*state == OUT_OF_SCOPE || (*state == IN_SCOPE && !again))
    fail(s, node, "it is defined in two places");
  if (*state != NOT_SEEN) return;
  *state = IN_SCOPE;
  tvms_vec_push(&s->unit->context->memory, &s->defined, node);
}

// An expression may stand in several places, and the variable of its T.Let with it.
static void forget_let(scoping *s, const tvms_node *node) {
  if (node->kind != TVMS_NODE_LET) return;
  uint8_t *state = &s->state[tvms_as_let(node)->var->id];
  if (*state == OUT_OF_SCOPE) *state = NOT_SEEN;
}

static void visit_variable(scoping *s, tvms_node *var, tvms_field_role role) {
  if (!defines(role)) {
    use(s, var, s->free_variables);
    return;
  }
  // Of the variables in a shape some are defined elsewhere.
  bool parts = role == TVMS_ROLE_DEFINE_REC;
  bool first = s->state[var->id] == NOT_SEEN;
  if (parts && s->state[var->id] == FREE) return;
  define(s, var, parts);
  // The type of a parameter defines the symbols in it.
  if (parts && first && var->sinfo) visit(s, var->sinfo, role);
}

// An iteration variable outside of a block: a thread, which may be launched again when its
// scope has ended, or one over which a reduction runs.
static void visit_iter_var(scoping *s, const tvms_iter_var *iter) {
  if (iter->dom) visit(s, iter->dom, TVMS_ROLE_USE);
  uint8_t *state = &s->state[iter->var->id];
  if (*state != IN_SCOPE) *state = NOT_SEEN;
  define(s, iter->var, true);
}

// A view that an attribute defines; NULL if it is none.
static tvms_node *view_of(const scoping *s, const tvms_node *node) {
  bool binds = tvms_release_has(s->unit->dialect, TVMS_FACT_attributes_bind_buffers);
  return binds ? tvms_attr_stmt_view(node) : NULL;
}

static void visit_parts(scoping *s, tvms_node *node, tvms_field_role role) {
  tvms_node *view = view_of(s, node), *part;
  if (view) visit(s, view, TVMS_ROLE_DEFINE_REC);
  for (tvms_child_at at = {0}; (part = tvms_walk_next_child(node, &at));) {
    if (s->found.what) return;
    tvms_field_role below = tvms_role_below(node, role, at.role);
    bool skipped = below == TVMS_ROLE_TYPE || below == TVMS_ROLE_NOTE;
    // A pragma in front of a loop names its variable, and what is known of the memory of a
    // buffer stands in front of its declaration.
    bool named = part->kind == TVMS_NODE_VAR || part->kind == TVMS_NODE_BUFFER;
    skipped |= node->kind == TVMS_NODE_ATTR_STMT && named
               && part == tvms_as_attr_stmt(node)->node;
    if (skipped) continue;
    bool outside = part->kind == TVMS_NODE_ITER_VAR && node->kind != TVMS_NODE_BLOCK;
    if (outside) {
      visit_iter_var(s, tvms_as_iter_var(part));
    } else {
      visit(s, part, below);
    }
  }
}

static void visit_buffer(scoping *s, tvms_node *node, tvms_field_role role) {
  if (role == TVMS_ROLE_ACCESS && s->state[node->id] == NOT_SEEN) {
    tvms_vec_push(&s->unit->context->memory, &s->mentioned, node);
    return;
  }
  if (!defines(role)) {
    use(s, node, s->free_buffers);
    return;
  }
  // Two parameters may share a buffer.
  bool shared = role == TVMS_ROLE_DEFINE_REC && s->state[node->id] == IN_SCOPE;
  if (shared) return;
  define(s, node, false);
  visit_parts(s, node, TVMS_ROLE_DEFINE);
}

// It may call itself: its variable is defined in front of its value.
static bool is_local_function(const tvms_node *node) {
  return node->kind == TVMS_NODE_VAR_BINDING
         && tvms_as_var_binding(node)->value->kind == TVMS_NODE_FUNCTION;
}

static void visit(scoping *s, tvms_node *node, tvms_field_role role) {
  if (node->id == 0) return;
  if (node->kind == TVMS_NODE_VAR) {
    visit_variable(s, node, role);
    return;
  }
  if (node->kind == TVMS_NODE_BUFFER) {
    visit_buffer(s, node, role);
    return;
  }
  tvms_memory *memory = &s->unit->context->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  uint32_t first = s->defined.len;
  forget_let(s, node);
  if (is_local_function(node)) {
    visit(s, tvms_as_var_binding(node)->var, TVMS_ROLE_DEFINE);
    visit(s, tvms_as_var_binding(node)->value, TVMS_ROLE_USE);
  } else {
    visit_parts(s, node, role);
  }
  if (node->kind == TVMS_NODE_BINDING_BLOCK) close_dataflow(s, first);
  if (holds_scope(node)) close_scope(s, first);
  tvms_memory_leave(memory);
}

tvms_violation tvms_verify_scopes(tvms_unit *unit, tvms_node *function) {
  tvms_memory *memory = &unit->context->memory;
  tvms_dialect dialect = unit->dialect;
  bool blocks = tvms_release_has(dialect, TVMS_FACT_prim_funcs_are_s_tir)
                || function->flags & TVMS_FLAG_S_TIR;
  bool tir = function->kind == TVMS_NODE_PRIM_FUNC;
  scoping s = {
      .unit = unit,
      .free_variables = tir && !blocks,
      .free_buffers =
          tir
          && (!blocks || tvms_release_has(dialect, TVMS_FACT_definitions_hold_bodies)),
      .state = tvms_memory_alloc(memory, unit->next_id),
  };
  visit(&s, function, TVMS_ROLE_USE);
  for (uint32_t i = 0; i < s.mentioned.len && !s.free_buffers; i++) {
    if (s.state[s.mentioned.items[i]->id] == NOT_SEEN)
      fail(&s, s.mentioned.items[i], "a block accesses it, but nothing defines it");
  }
  tvms_vec_fini(memory, &s.mentioned);
  tvms_memory_free(memory, s.state);
  tvms_vec_fini(memory, &s.defined);
  return s.found;
}
