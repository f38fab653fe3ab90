// The walk through a function of TIR, in the order of execution.
//
// What follows a jump, a loop without a known end or a part that nothing is known of is not
// executed for certain; the path says so, and the rules speak only of what is.
#include "lint/body_walk.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "lint/body_axes.h"
#include "lint/body_barrier.h"
#include "lint/body_bounds.h"
#include "lint/body_eval.h"
#include "lint/body_race.h"
#include "lint/body_reads.h"
#include "lint/body_regions.h"
#include "lint/body_style.h"

#include <string.h>

static void visit_stmt(tvms_lint_body *body, tvms_node *node);
static void visit_expr(tvms_lint_body *body, tvms_node *node);

// ---- Expressions ----

static void visit_exprs(tvms_lint_body *body, tvms_list list) {
  for (uint32_t i = 0; i < list.len; i++) {
    if (list.items[i]) visit_expr(body, list.items[i]);
  }
}

static void visit_under(tvms_lint_body *body, tvms_lint_condition_kind kind,
                        const tvms_node *condition, tvms_node *node) {
  tvms_lint_mark mark = tvms_lint_path_mark(&body->path);
  tvms_lint_path_condition(&body->path, kind, condition, NULL, NULL);
  visit_expr(body, node);
  tvms_lint_path_leave(&body->path, mark);
}

static void visit_choice(tvms_lint_body *body, tvms_node *condition, tvms_node *yes,
                         tvms_node *no) {
  visit_expr(body, condition);
  tvms_lint_body_style_condition(body, condition);
  visit_under(body, TVMS_LINT_HOLDS, condition, yes);
  visit_under(body, TVMS_LINT_FAILS, condition, no);
}

// What is behind the pointer may be read and written from here on.
static void use_pointer(tvms_lint_body *body, const tvms_node *pointer) {
  tvms_lint_memory *memory = tvms_lint_memory_behind(body, pointer);
  if (memory) memory->unknown = memory->written = true;
}

// An operand that an instruction may read or write, or take the address of.
static void visit_operand(tvms_lint_body *body, tvms_node *node) {
  if (node->kind == TVMS_NODE_BUFFER_LOAD) {
    use_pointer(body, tvms_as_buffer(tvms_as_buffer_load(node)->buffer)->data);
    visit_exprs(body, tvms_as_buffer_load(node)->indices);
  } else {
    visit_expr(body, node);
  }
}

// Does the operator only compute with the values of its arguments? Instructions of devices
// may write to a place that stands among them, even those without effects.
static bool is_arithmetic(tvms_tir_opcode opcode) {
  static const char *const devices[] = {"ptx", "cuda", "s_tir", "address_of",
                                        "buffer_data"};
  if (opcode == TVMS_TIR_NONE) return false;
  const tvms_tir_row *row = tvms_tir_op_row_of(opcode);
  for (uint32_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
    if (strncmp(row->name, devices[i], strlen(devices[i])) == 0) return false;
  }
  return row->effect <= TVMS_EFFECT_PURE;
}

static void visit_call(tvms_lint_body *body, tvms_node *node) {
  tvms_list args = tvms_as_call(node)->args;
  tvms_tir_opcode opcode = tvms_call_opcode(node);
  if (opcode == TVMS_TIR_if_then_else && args.len == 3) {
    visit_choice(body, args.items[0], args.items[1], args.items[2]);
    return;
  }
  bool pure = is_arithmetic(opcode);
  for (uint32_t i = 0; i < args.len; i++) {
    if (pure)
      visit_expr(body, args.items[i]);
    else
      visit_operand(body, args.items[i]);
  }
}

static void visit_indices(tvms_lint_body *body, tvms_list indices) {
  body->in_index++;
  visit_exprs(body, indices);
  body->in_index--;
}

static void visit_load(tvms_lint_body *body, const tvms_buffer_load *load) {
  visit_indices(body, load->indices);
  if (load->predicate) visit_expr(body, load->predicate);
  if (body->store && body->store->buffer == load->buffer) body->store_reads = true;
  tvms_lint_access access = {&load->head, load->buffer, load->indices, false};
  if (load->predicate) body->path.uncertain++;
  tvms_lint_body_bounds_access(body, &access);
  tvms_lint_body_regions_access(body, &access);
  tvms_lint_body_reads_load(body, &access);
  if (load->predicate) body->path.uncertain--;
}

static void visit_let(tvms_lint_body *body, const tvms_let *let) {
  visit_expr(body, let->value);
  tvms_lint_mark mark = tvms_lint_path_mark(&body->path);
  tvms_lint_path_bind(&body->path, let->var, let->value, NULL);
  visit_expr(body, let->body);
  tvms_lint_path_leave(&body->path, mark);
}

static void visit_children(tvms_lint_body *body, tvms_node *node) {
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));)
    visit_expr(body, child);
}

static void visit_expr_inner(tvms_lint_body *body, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_INT_IMM:
  case TVMS_NODE_FLOAT_IMM: return;
  case TVMS_NODE_VAR:
    if (tvms_dtype_is_handle(node->dtype)) use_pointer(body, node);
    return;
  case TVMS_NODE_BUFFER: use_pointer(body, tvms_as_buffer(node)->data); return;
  case TVMS_NODE_BUFFER_LOAD: visit_load(body, tvms_as_buffer_load(node)); return;
  case TVMS_NODE_CALL: visit_call(body, node); return;
  case TVMS_NODE_LET: visit_let(body, tvms_as_let(node)); return;
  case TVMS_NODE_SELECT: {
    const tvms_select *select = tvms_as_select(node);
    visit_choice(body, select->condition, select->true_value, select->false_value);
    return;
  }
  case TVMS_NODE_AND:
  case TVMS_NODE_OR: {
    const tvms_binary *op = tvms_as_binary(node);
    visit_expr(body, op->a);
    bool both = node->kind == TVMS_NODE_AND;
    visit_under(body, both ? TVMS_LINT_HOLDS : TVMS_LINT_FAILS, op->a, op->b);
    return;
  }
  case TVMS_NODE_REDUCE:
    body->path.uncertain++;
    visit_children(body, node);
    body->path.uncertain--;
    return;
  default: visit_children(body, node); return;
  }
}

static void visit_expr(tvms_lint_body *body, tvms_node *node) {
  if (!tvms_memory_enter(body->memory))
    tvms_memory_unwind(body->memory, TVMS_OVER_LIMIT);
  visit_expr_inner(body, node);
  tvms_memory_leave(body->memory);
}

// ---- Memory ----

static void allocate(tvms_lint_body *body, const tvms_node *pointer,
                     const tvms_node *TVMS_NULLABLE buffer) {
  tvms_lint_memory_add(body, pointer, buffer)->local = true;
}

// The pointer that an expression is, if it is one.
static const tvms_node *TVMS_NULLABLE pointer_of(const tvms_node *source) {
  if (tvms_call_opcode(source) == TVMS_TIR_buffer_data)
    source = tvms_as_call(source)->args.items[0];
  if (source->kind == TVMS_NODE_BUFFER) return tvms_as_buffer(source)->data;
  return source->kind == TVMS_NODE_VAR ? source : NULL;
}

static void declare(tvms_lint_body *body, const tvms_decl_buffer *decl) {
  if (!decl->source) return;
  const tvms_node *pointer = pointer_of(decl->source);
  if (!pointer) visit_expr(body, decl->source);
  tvms_lint_memory_alias(body, tvms_as_buffer(decl->buffer)->data, pointer);
}

// ---- Statements ----

static void visit_bind(tvms_lint_body *body, const tvms_bind *bind) {
  visit_expr(body, bind->value);
  if (tvms_dtype_is_handle(bind->var->dtype)) return;
  tvms_lint_path_bind(&body->path, bind->var, bind->value, NULL);
}

static tvms_lint_loop_kind kind_of_tag(const char *tag) {
  if (strncmp(tag, "threadIdx", 9) == 0) return TVMS_LINT_THREAD;
  if (strncmp(tag, "blockIdx", 8) == 0) return TVMS_LINT_BLOCK;
  return TVMS_LINT_VTHREAD;
}

static void visit_attr(tvms_lint_body *body, const tvms_attr_stmt *attr) {
  const tvms_iter_var *iter = tvms_attr_stmt_threads(&attr->head);
  visit_expr(body, attr->value);
  if (!iter) return;
  const char *tag = tvms_symbol_text(body->lint->context, iter->thread_tag);
  tvms_lint_loop loop = {.var = iter->var,
                         .extent = attr->value,
                         .kind = kind_of_tag(tag),
                         .stmt = &attr->head};
  tvms_lint_path_loop(&body->path, loop);
}

static tvms_lint_loop_kind kind_of_loop(const tvms_lint_body *body,
                                        const tvms_for *loop) {
  switch (loop->for_kind) {
  case TVMS_FOR_PARALLEL: return TVMS_LINT_PARALLEL;
  case TVMS_FOR_VECTORIZED: return TVMS_LINT_VECTOR;
  case TVMS_FOR_THREAD_BINDING: {
    if (!loop->thread) return TVMS_LINT_VTHREAD;
    tvms_sym tag = tvms_as_iter_var(loop->thread)->thread_tag;
    return kind_of_tag(tvms_symbol_text(body->lint->context, tag));
  }
  default: return TVMS_LINT_SERIAL;
  }
}

static void visit_for(tvms_lint_body *body, const tvms_for *loop) {
  visit_expr(body, loop->min);
  visit_expr(body, loop->extent);
  tvms_lint_body_style_loop(body, loop);
  tvms_lint_mark mark = tvms_lint_path_mark(&body->path);
  tvms_lint_loop open = {.var = loop->var,
                         .min = loop->min,
                         .extent = loop->extent,
                         .step = loop->step,
                         .kind = kind_of_loop(body, loop),
                         .stmt = &loop->head};
  tvms_lint_path_loop(&body->path, open);
  visit_stmt(body, loop->body);
  tvms_lint_path_leave(&body->path, mark);
}

static void visit_case(tvms_lint_body *body, tvms_lint_condition_kind kind,
                       const tvms_if_then_else *branch, tvms_node *TVMS_NULLABLE node) {
  if (!node) return;
  tvms_lint_mark mark = tvms_lint_path_mark(&body->path);
  tvms_lint_path_condition(&body->path, kind, branch->condition, NULL, NULL);
  body->path.conditions.items[mark.conditions].stmt = &branch->head;
  visit_stmt(body, node);
  tvms_lint_path_leave(&body->path, mark);
}

static void visit_store(tvms_lint_body *body, const tvms_store *store) {
  body->store = store;
  body->store_reads = false;
  visit_expr(body, store->value);
  body->store = NULL;
  visit_indices(body, store->indices);
  if (store->predicate) visit_expr(body, store->predicate);
  tvms_lint_access access = {&store->head, store->buffer, store->indices, true};
  if (store->predicate) body->path.uncertain++;
  tvms_lint_body_bounds_access(body, &access);
  tvms_lint_body_regions_access(body, &access);
  tvms_lint_body_axes_store(body, store);
  tvms_lint_body_race_store(body, store);
  tvms_lint_body_style_store(body, store);
  tvms_lint_body_reads_store(body, &access);
  if (store->predicate) body->path.uncertain--;
}

// What is assumed or asserted is a condition for all that follows.
static void visit_evaluate(tvms_lint_body *body, tvms_node *value) {
  tvms_tir_opcode opcode = tvms_call_opcode(value);
  body->unused = value->kind != TVMS_NODE_CALL;
  visit_expr(body, value);
  body->unused = false;
  if (opcode == TVMS_TIR_assume)
    tvms_lint_path_condition(&body->path, TVMS_LINT_HOLDS,
                             tvms_as_call(value)->args.items[0], NULL, NULL);
  if (opcode != TVMS_TIR_NONE) tvms_lint_body_barrier_call(body, value, opcode);
}

// ---- Blocks ----

static void know_block_buffers(tvms_lint_body *body, const tvms_block *block) {
  for (uint32_t i = 0; i < block->alloc_buffers.len; i++) {
    const tvms_node *buffer = block->alloc_buffers.items[i];
    allocate(body, tvms_as_buffer(buffer)->data, buffer);
  }
  for (uint32_t i = 0; i < block->match_buffers.len; i++) {
    const tvms_match_buffer_region *match =
        tvms_as_match_buffer_region(block->match_buffers.items[i]);
    const tvms_node *source = tvms_as_buffer_region(match->source)->buffer;
    tvms_lint_memory_alias(body, tvms_as_buffer(match->buffer)->data,
                           tvms_as_buffer(source)->data);
  }
}

// T.init() runs where all axes that reduce are at their begin.
static void visit_init(tvms_lint_body *body, const tvms_block *block) {
  if (!block->init) return;
  tvms_lint_mark mark = tvms_lint_path_mark(&body->path);
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[i]);
    if (iter->iter_type != TVMS_ITER_COMM_REDUCE || !iter->dom) continue;
    tvms_lint_path_condition(&body->path, TVMS_LINT_EQUALS, iter->var,
                             tvms_as_range(iter->dom)->min, NULL);
  }
  body->blocks.items[body->blocks.len - 1].in_init = true;
  visit_stmt(body, block->init);
  body->blocks.items[body->blocks.len - 1].in_init = false;
  tvms_lint_path_leave(&body->path, mark);
}

static void open_axes(tvms_lint_body *body, const tvms_block_realize *realize) {
  const tvms_block *block = tvms_as_block(realize->block);
  if (!tvms_node_is_true(realize->predicate)) {
    tvms_lint_body_style_condition(body, realize->predicate);
    tvms_lint_path_condition(&body->path, TVMS_LINT_HOLDS, realize->predicate, NULL,
                             NULL);
  }
  tvms_lint_body_axes_block(body, realize);
  for (uint32_t i = 0; i < block->iter_vars.len && i < realize->iter_values.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[i]);
    const tvms_range *domain = iter->dom ? tvms_as_range(iter->dom) : NULL;
    tvms_lint_path_bind(&body->path, iter->var, realize->iter_values.items[i], domain);
    if (!domain) continue;
    tvms_lint_path_condition(&body->path, TVMS_LINT_INSIDE, iter->var, domain->min,
                             domain->extent);
  }
}

static void visit_realize(tvms_lint_body *body, const tvms_block_realize *realize) {
  const tvms_block *block = tvms_as_block(realize->block);
  visit_exprs(body, realize->iter_values);
  visit_expr(body, realize->predicate);
  tvms_lint_body_style_block(body, block);
  tvms_lint_mark mark = tvms_lint_path_mark(&body->path);
  open_axes(body, realize);
  tvms_lint_open_block open = {
      .block = block, .realize = realize, .memories = body->memories.len};
  tvms_vec_push(body->memory, &body->blocks, open);
  know_block_buffers(body, block);
  visit_init(body, block);
  visit_stmt(body, block->body);
  body->blocks.len--;
  tvms_lint_path_leave(&body->path, mark);
}

// ---- Scope ids ----

static void visit_scope_id(tvms_lint_body *body, const tvms_scope_id *id) {
  const char *scope = tvms_symbol_text(body->lint->context, id->scope);
  bool of_blocks = strncmp(scope, "cta_id", 6) == 0 || strcmp(scope, "cluster_id") == 0;
  if (id->extents.len != id->vars.len || !(of_blocks || body->ids_of_threads)) return;
  for (uint32_t i = 0; i < id->vars.len; i++) {
    tvms_lint_loop loop = {.var = id->vars.items[i],
                           .extent = id->extents.items[i],
                           .kind = of_blocks ? TVMS_LINT_BLOCK : TVMS_LINT_THREAD,
                           .stmt = &id->head};
    tvms_lint_path_loop(&body->path, loop);
  }
}

static void visit_seq(tvms_lint_body *body, const tvms_seq *seq) {
  tvms_lint_mark mark = tvms_lint_path_mark(&body->path);
  tvms_lint_body_style_sequence(body, seq->stmts);
  for (uint32_t i = 0; i < seq->stmts.len; i++)
    visit_stmt(body, seq->stmts.items[i]);
  tvms_lint_path_leave(&body->path, mark);
}

static void visit_stmt_inner(tvms_lint_body *body, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_SEQ: visit_seq(body, tvms_as_seq(node)); return;
  case TVMS_NODE_BIND: visit_bind(body, tvms_as_bind(node)); return;
  case TVMS_NODE_ATTR_STMT: visit_attr(body, tvms_as_attr_stmt(node)); return;
  case TVMS_NODE_ASSERT: {
    const tvms_assert *assertion = tvms_as_assert(node);
    visit_expr(body, assertion->condition);
    tvms_lint_path_condition(&body->path, TVMS_LINT_HOLDS, assertion->condition, NULL,
                             NULL);
    return;
  }
  case TVMS_NODE_STORE: visit_store(body, tvms_as_store(node)); return;
  case TVMS_NODE_FOR: visit_for(body, tvms_as_for(node)); return;
  case TVMS_NODE_WHILE:
    visit_expr(body, tvms_as_while(node)->condition);
    body->path.uncertain++;
    visit_stmt(body, tvms_as_while(node)->body);
    body->path.uncertain--;
    return;
  case TVMS_NODE_IF_THEN_ELSE: {
    const tvms_if_then_else *branch = tvms_as_if_then_else(node);
    visit_expr(body, branch->condition);
    tvms_lint_body_style_condition(body, branch->condition);
    visit_case(body, TVMS_LINT_HOLDS, branch, branch->then_case);
    visit_case(body, TVMS_LINT_FAILS, branch, branch->else_case);
    return;
  }
  case TVMS_NODE_BLOCK_REALIZE:
    visit_realize(body, tvms_as_block_realize(node));
    return;
  case TVMS_NODE_EVALUATE: visit_evaluate(body, tvms_as_evaluate(node)->value); return;
  case TVMS_NODE_ALLOCATE:
    visit_exprs(body, tvms_as_allocate(node)->extents);
    allocate(body, tvms_as_allocate(node)->var, NULL);
    return;
  case TVMS_NODE_ALLOC_BUFFER: {
    const tvms_node *buffer = tvms_as_alloc_buffer(node)->buffer;
    allocate(body, tvms_as_buffer(buffer)->data, buffer);
    return;
  }
  case TVMS_NODE_DECL_BUFFER: declare(body, tvms_as_decl_buffer(node)); return;
  case TVMS_NODE_SCOPE_ID: visit_scope_id(body, tvms_as_scope_id(node)); return;
  case TVMS_NODE_ALLOCATE_CONST:
  case TVMS_NODE_BUFFER_REALIZE: return;
  default:
    body->path.uncertain++;
    visit_children(body, node);
    body->path.uncertain--;
    return;
  }
}

static void visit_stmt(tvms_lint_body *body, tvms_node *node) {
  if (!tvms_memory_enter(body->memory))
    tvms_memory_unwind(body->memory, TVMS_OVER_LIMIT);
  visit_stmt_inner(body, node);
  tvms_memory_leave(body->memory);
}

// ---- Functions ----

// What a look at the statements alone tells before the walk.
typedef struct {
  const tvms_context *context;
  uint32_t depth;  // of loops and branches
  bool jumps;      // before the end
  bool threads;    // T.thread_id
  uint32_t parts;  // other ids of threads
} survey;

static tvms_walk_step survey_enter(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  survey *s = self;
  if (tvms_node_class_of(node) != TVMS_CLASS_STMT)
    return node->kind == TVMS_NODE_PRIM_FUNC ? TVMS_WALK_ON : TVMS_WALK_SKIP;
  switch ((int)node->kind) {
  case TVMS_NODE_STORE:
  case TVMS_NODE_BIND: return TVMS_WALK_SKIP;
  case TVMS_NODE_FOR:
  case TVMS_NODE_WHILE:
  case TVMS_NODE_IF_THEN_ELSE: s->depth++; return TVMS_WALK_ON;
  case TVMS_NODE_RETURN: s->jumps = s->jumps || s->depth > 0; return TVMS_WALK_SKIP;
  case TVMS_NODE_EVALUATE: {
    tvms_tir_opcode opcode = tvms_call_opcode(tvms_as_evaluate(node)->value);
    bool jump = opcode != TVMS_TIR_NONE
                && tvms_tir_op_row_of(opcode)->effect == TVMS_EFFECT_JUMP;
    bool ends = opcode == TVMS_TIR_ret && s->depth == 0;
    s->jumps = s->jumps || (jump && !ends) || opcode == TVMS_TIR_thread_return;
    return TVMS_WALK_SKIP;
  }
  case TVMS_NODE_SCOPE_ID: {
    const char *scope = tvms_symbol_text(s->context, tvms_as_scope_id(node)->scope);
    if (strcmp(scope, "thread_id") == 0)
      s->threads = true;
    else if (strstr(scope, "cta_id") == NULL && strcmp(scope, "cluster_id") != 0)
      s->parts++;
    return TVMS_WALK_SKIP;
  }
  default: return TVMS_WALK_ON;
  }
}

static void survey_leave(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  survey *s = self;
  if (node->kind == TVMS_NODE_FOR || node->kind == TVMS_NODE_WHILE
      || node->kind == TVMS_NODE_IF_THEN_ELSE)
    s->depth--;
}

static void open_body(tvms_lint_body *body, tvms_lint *lint) {
  *body = (tvms_lint_body){.lint = lint};
  body->diags = &lint->context->diags;
  body->memory = &lint->context->memory;
  body->function = tvms_as_prim_func(lint->function);
  tvms_lint_path_init(&body->path, lint->unit, body->function);
  for (uint32_t i = 0; i < body->function->buffers.len; i++) {
    const tvms_node *buffer = body->function->buffers.items[i];
    if (buffer) tvms_lint_memory_add(body, tvms_as_buffer(buffer)->data, buffer);
  }
}

static void close_body(tvms_lint_body *body) {
  tvms_lint_path_fini(&body->path);
  tvms_vec_fini(body->memory, &body->blocks);
  tvms_vec_fini(body->memory, &body->memories);
  tvms_vec_fini(body->memory, &body->memory_of);
  tvms_vec_fini(body->memory, &body->short_axes);
  tvms_vec_fini(body->memory, &body->names);
  tvms_vec_fini(body->memory, &body->said);
  tvms_vec_fini(body->memory, &body->outside);
  tvms_vec_fini(body->memory, &body->undeclared);
  tvms_vec_fini(body->memory, &body->stored);
  tvms_vec_fini(body->memory, &body->kinds);
}

void tvms_lint_bodies(tvms_lint *lint) {
  survey s = {.context = lint->context};
  tvms_visitor visitor = {.self = &s, .enter = survey_enter, .leave = survey_leave};
  (void)tvms_walk(&lint->context->memory, lint->function, &visitor);
  tvms_lint_body body;
  open_body(&body, lint);
  body.ids_of_threads = !s.threads || s.parts == 0;
  if (s.jumps) body.path.uncertain++;
  visit_stmt(&body, body.function->body);
  tvms_lint_body_reads_end(&body);
  tvms_lint_body_axes_end(&body);
  close_body(&body);
}
