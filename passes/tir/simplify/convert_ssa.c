// ConvertSSA: every variable is defined once.
//
// Before: x = T.int32(); T.bind(n + 1, var=x); A[0] = x; T.bind(n + 2, var=x); A[1] = x
// After:  x: T.let[T.int32] = n + 1; A[0] = x; x_1: T.let[T.int32] = n + 2; A[1] = x_1
//
// A definition of a variable that has been defined before defines a new one of the same name, which
// stands for the old one to the end of the scope. Loop variables, block variables, bindings and
// pointers of allocations are looked at; axes of threads, which several launches share, stay. Only
// text that says var= or where= has such variables, and it is not well-formed, so its module says
// check_well_formed=False. Functions never share variables here. TVM: tirx.transform.ConvertSSA.
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/functions.h"

// What stood for a variable or a buffer before; it does again at the end of a scope.
typedef struct {
  const tvms_node *key;
  tvms_node *TVMS_NULLABLE value;
} standing;

typedef struct {
  tvms_memory *memory;
  tvms_node_map defined;  // VAR -> itself
  tvms_node_vec buffers;  // all of the function
  TVMS_VEC(standing) changes;
  TVMS_VEC(uint32_t) scopes;  // changes when they were opened
} conversion;

static tvms_walk_step find_buffers(void *self, tvms_node *node, tvms_field_role role) {
  conversion *c = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) tvms_vec_push(c->memory, &c->buffers, node);
  return TVMS_WALK_ON;
}

// ---- Scopes ----

static void let_stand(tvms_rewriter *r, const tvms_node *key,
                      tvms_node *TVMS_NULLABLE value) {
  conversion *c = r->self;
  standing before = {key, tvms_node_map_get(&r->known, key)};
  tvms_vec_push(c->memory, &c->changes, before);
  tvms_node_map_put(&r->known, key, value);
}

static void open_scope(tvms_rewriter *r) {
  conversion *c = r->self;
  tvms_vec_push(c->memory, &c->scopes, c->changes.len);
}

static void close_scope(tvms_rewriter *r) {
  conversion *c = r->self;
  uint32_t mark = c->scopes.items[--c->scopes.len];
  while (c->changes.len > mark) {
    const standing *change = &c->changes.items[--c->changes.len];
    tvms_node_map_put(&r->known, change->key, change->value);
  }
}

// `var` is defined here; buffers that are made of it are others from here on, too.
static void define(tvms_rewriter *r, tvms_node *var) {
  conversion *c = r->self;
  if (!tvms_node_map_get(&c->defined, var)) {
    tvms_node_map_put(&c->defined, var, var);
    return;
  }
  let_stand(r, var, tvms_var_like(r->unit, var));
  for (uint32_t i = 0; i < c->buffers.len; i++) {
    tvms_node *buffer = c->buffers.items[i];
    if (tvms_walk_contains(c->memory, buffer, var)) let_stand(r, buffer, NULL);
  }
}

// ---- Definitions ----

// The value is computed before the variable is there.
static tvms_node *convert_bind(tvms_rewriter *r, tvms_node *node) {
  tvms_bind now = *tvms_as_bind(node);
  now.value = tvms_rewrite(r, now.value);
  bool alone = !r->sequence || r->sequence->kind != TVMS_NODE_SEQ;
  if (alone) open_scope(r);
  define(r, now.var);
  now.var = tvms_rewrite(r, now.var);
  if (alone) close_scope(r);
  return tvms_node_copy_changed(r->unit, node, &now.head);
}

static tvms_node *convert_let(tvms_rewriter *r, tvms_node *node) {
  tvms_let now = *tvms_as_let(node);
  now.value = tvms_rewrite(r, now.value);
  open_scope(r);
  define(r, now.var);
  now.var = tvms_rewrite(r, now.var);
  now.body = tvms_rewrite(r, now.body);
  close_scope(r);
  return tvms_node_copy_changed(r->unit, node, &now.head);
}

static tvms_node *enter_loop(tvms_rewriter *r, tvms_node *node) {
  open_scope(r);
  define(r, tvms_as_for(node)->var);
  return TVMS_REWRITE_BELOW;
}

static tvms_node *enter_block(tvms_rewriter *r, tvms_node *node) {
  tvms_list iter_vars = tvms_as_block(node)->iter_vars;
  open_scope(r);
  for (uint32_t i = 0; i < iter_vars.len; i++) {
    define(r, tvms_as_iter_var(iter_vars.items[i])->var);
  }
  return TVMS_REWRITE_BELOW;
}

static tvms_node *enter_seq(tvms_rewriter *r, tvms_node *node) {
  (void)node;
  open_scope(r);
  return TVMS_REWRITE_BELOW;
}

static tvms_node *leave_scope(tvms_rewriter *r, tvms_node *node) {
  close_scope(r);
  return node;
}

static tvms_node *enter_allocate(tvms_rewriter *r, tvms_node *node) {
  define(r, tvms_as_allocate(node)->var);
  return TVMS_REWRITE_BELOW;
}

// ---- Functions ----

static tvms_walk_step define_outside(void *self, tvms_node *node,
                                     tvms_field_role role) {
  conversion *c = self;
  (void)role;
  if (node->kind == TVMS_NODE_VAR) tvms_node_map_put(&c->defined, node, node);
  return TVMS_WALK_ON;
}

static void define_parameters(conversion *c, const tvms_prim_func *function) {
  tvms_visitor visitor = {.self = c, .enter = define_outside};
  for (uint32_t i = 0; i < function->params.len; i++) {
    tvms_walk(c->memory, function->params.items[i], &visitor);
    tvms_node *buffer = function->buffers.items[i];
    if (buffer) tvms_walk(c->memory, buffer, &visitor);
  }
}

static void set_hooks(tvms_rewriter *r) {
  r->enter[TVMS_NODE_BIND] = convert_bind;
  r->enter[TVMS_NODE_LET] = convert_let;
  r->enter[TVMS_NODE_FOR] = enter_loop;
  r->leave[TVMS_NODE_FOR] = leave_scope;
  r->enter[TVMS_NODE_BLOCK] = enter_block;
  r->leave[TVMS_NODE_BLOCK] = leave_scope;
  r->enter[TVMS_NODE_SEQ] = enter_seq;
  r->leave[TVMS_NODE_SEQ] = leave_scope;
  r->enter[TVMS_NODE_ALLOCATE] = enter_allocate;
}

static tvms_node *convert(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  (void)run;
  conversion c = {.memory = &unit->context->memory};
  tvms_node_map_init(&c.defined, c.memory);
  tvms_visitor visitor = {.self = &c, .enter = find_buffers};
  tvms_walk(c.memory, tvms_as_prim_func(function)->body, &visitor);
  define_parameters(&c, tvms_as_prim_func(function));
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &c);
  set_hooks(&r);
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  tvms_vec_fini(c.memory, &c.scopes);
  tvms_vec_fini(c.memory, &c.changes);
  tvms_vec_fini(c.memory, &c.buffers);
  tvms_node_map_fini(&c.defined);
  return changed;
}

void tvms_pass_convert_ssa(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, convert);
}
