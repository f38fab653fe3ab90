// Scopes of variables and buffers, and the rules of blocks: what TVM refuses of a PrimFunc after
// it was read (src/tirx/analysis/verify_well_formed.cc, verify_tirx_well_formed.cc).
//
// Scopes. Everything is used inside the scope that defines it, and defined once at a time.
// `facts` has for each variable and buffer how many definitions are open; `open` is the stack of
// them, and leaving a scope takes off what it defined. A buffer is a definition of its own from
// 0.25 on. Before, it was as good as its pointer, and its shape was looked at wherever it was
// used. A parameter's buffer and a matched one also define the variables of their shapes
// (define_implicit).
//
// Blocks. A block is a unit of work that a schedule may move, so what it does depends on nothing
// but its axes. Its rules:
//
//   - its axes are bound to values outside of it, which are integers (checked by complete.c);
//   - inside a block that has axes no loop variable from outside is used: `C[vi]` and not
//     `C[i]`. The root block and others without axes may use what is around them;
//   - its own buffers are known in its regions (from 0.25 on), matched ones in its body only;
//   - what T.init() and the body define ends with them;
//   - only functions with s_tir=True have blocks, which up to 0.24 all functions are.
//
// Each variable is reported once, at its first wrong use, with a note at its definition.
#include "structinfo/well_formed_tir.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/node_map.h"
#include "ir/walk.h"
#include "structinfo/scope_ids.h"
#include "support/diag_ids.h"
#include "support/vec.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// What is known of a variable or a buffer.
typedef struct {
  uint32_t open;  // definitions in scope
  bool seen;      // it was defined
  bool thread;    // of an environment thread: may be defined again
  bool reported;  // nothing more is said about it
  bool is_loop;
  uint32_t blocks;  // blocks with axes around the loop that defines it
  const tvms_node *TVMS_NULLABLE value;  // that a let in an expression gave it
  tvms_span span;                        // of its definition
} fact;

typedef struct {
  tvms_unit *unit;
  tvms_context *context;
  tvms_memory *memory;
  tvms_node_map facts;  // VAR or BUFFER -> fact
  TVMS_VEC(fact *) open;
  TVMS_VEC(const tvms_block *) blocks;      // those with axes, outermost first
  tvms_span at;                             // innermost place that has a span
  bool buffers;                             // buffers must be declared, too
  const tvms_block *TVMS_NULLABLE regions;  // whose reads and writes are visited
  bool partial;  // definitions may be missing, because they could not be read
  uint32_t found;
} checker;

static void visit(checker *c, tvms_node *node);

// ---- Reports ----

const char *tvms_well_formed_name(tvms_context *context, const tvms_node *var) {
  char dtype[TVMS_DTYPE_TEXT], made[sizeof dtype + sizeof "T.()"];
  const char *name = tvms_symbol_text(context, tvms_as_var(var)->name);
  if (*name) return name;
  int size = snprintf(made, sizeof made, "T.%s()", tvms_dtype_text(var->dtype, dtype));
  return tvms_arena_text(&context->scratch, made, (size_t)size);
}

static const char *name_of(const checker *c, const tvms_node *node) {
  if (node->kind == TVMS_NODE_BUFFER)
    return tvms_symbol_text(c->context, tvms_as_buffer(node)->name);
  return tvms_well_formed_name(c->context, node);
}

static bool has_place(tvms_span span) {
  return span.end > span.begin;
}

static void note_definition(checker *c, tvms_diag *diag, const fact *f,
                            const char *text) {
  tvms_diags *diags = &c->context->diags;
  if (has_place(f->span))
    tvms_diag_note(diags, diag, f->span, "%s", text);
  else
    tvms_diag_remark(diags, diag, "%s", text);
}

static fact *fact_of(checker *c, const tvms_node *node) {
  fact *found = (fact *)(void *)tvms_node_map_get(&c->facts, node);
  if (found) return found;
  found = tvms_arena_new(&c->context->scratch, fact);
  tvms_node_map_put(&c->facts, node, (tvms_node *)(void *)found);
  return found;
}

// ---- What a block declares, in its own regions ----

typedef struct {
  const tvms_node *buffer;
  tvms_span span;  // of the last declaration
} declaration;

static tvms_walk_step find_declared(void *self, tvms_node *node, tvms_field_role role) {
  declaration *d = self;
  if (node->kind == TVMS_NODE_ALLOC_BUFFER || node->kind == TVMS_NODE_DECL_BUFFER)
    d->span = node->span;
  return node == d->buffer && role == TVMS_ROLE_DEFINE ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Who writes `x: T.int32 = ...` in a block sees a declaration, and no region that names x:
// the place is that declaration, and the reason is said.
static tvms_span place_in_regions(checker *c, const tvms_node *buffer) {
  declaration d = {.buffer = buffer};
  tvms_visitor visitor = {.self = &d, .enter = find_declared};
  bool found = c->regions->body && !tvms_walk(c->memory, c->regions->body, &visitor);
  return found && has_place(d.span) ? d.span : c->at;
}

static void remark_regions(checker *c, tvms_diag *diag, const tvms_node *buffer) {
  tvms_diag_remark(&c->context->diags, diag,
                   "the reads and writes of the block, inferred where they are not "
                   "written, name it, and what the block declares is unknown there");
  tvms_diag_remark(&c->context->diags, diag,
                   "declare it in front of the block, or bind a value that does not "
                   "change by '%s: T.let = ...'",
                   name_of(c, buffer));
}

static void report_use(checker *c, const tvms_node *node, fact *f, tvms_diag_id id) {
  if (f->reported || c->partial) return;
  f->reported = true;
  c->found++;
  bool regions = c->regions && node->kind == TVMS_NODE_BUFFER;
  tvms_span place = regions ? place_in_regions(c, node) : c->at;
  tvms_diag *diag = tvms_diag_report(&c->context->diags, id, place, name_of(c, node));
  if (f->seen)
    note_definition(c, diag, f, "it is defined here, in a scope that has ended");
  if (regions) remark_regions(c, diag, node);
}

// ---- Definitions ----

static void define(checker *c, const tvms_node *node, bool thread) {
  fact *f = fact_of(c, node);
  if (f->seen && !f->thread && !f->reported && !c->partial) {
    f->reported = true;
    c->found++;
    tvms_span place = has_place(c->at) ? c->at : node->span;
    tvms_diag *diag = tvms_diag_report(&c->context->diags, TVMS_D_defined_twice, place,
                                       name_of(c, node));
    note_definition(c, diag, f, "the first definition is here");
  }
  if (!f->seen) f->span = has_place(node->span) ? node->span : c->at;
  f->seen = true;
  f->thread = f->thread || thread;
  f->open++;
  tvms_vec_push(c->memory, &c->open, f);
}

// A let in an expression may stand there again, where what holds it was copied: one variable
// has one value. TVM: VarUseDefAnalyzer, "weaker SSA condition".
static void define_let(checker *c, const tvms_let *let) {
  fact *f = fact_of(c, let->var);
  if (f->value && tvms_node_same_expr(f->value, let->value)) {
    f->open++;
    tvms_vec_push(c->memory, &c->open, f);
    return;
  }
  define(c, let->var, false);
  f->value = let->value;
}

static void define_if_new(checker *c, const tvms_node *TVMS_NULLABLE node) {
  if (node && node->kind == TVMS_NODE_VAR && fact_of(c, node)->open == 0) {
    define(c, node, false);
  }
}

static void close_scope(checker *c, uint32_t mark) {
  while (c->open.len > mark)
    c->open.items[--c->open.len]->open--;
}

static bool is_word_byte(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

// Where the text of the innermost block names the variable, but for its axes, which may;
// nodes of variables have no place of their own. The block, if it does not.
static tvms_span use_in_block(const checker *c, const char *name) {
  const tvms_source *source = c->context->diags.source;
  tvms_span span = c->at;
  size_t len = strlen(name);
  if (!source || !len || !has_place(span) || span.end > source->size) return span;
  const char *text = source->text;
  for (uint32_t line = span.begin; line < span.end;) {
    const char *stop = memchr(text + line, '\n', span.end - line);
    uint32_t end = stop ? (uint32_t)(stop - text) : span.end;
    bool axis = false;
    for (uint32_t at = line; at + 6 <= end && !axis; at++) {
      axis = memcmp(text + at, ".axis.", 6) == 0;
    }
    for (uint32_t at = line; at + len <= end && !axis; at++) {
      bool whole = memcmp(text + at, name, len) == 0 && !is_word_byte(text[at + len])
                   && at > 0 && !is_word_byte(text[at - 1]) && text[at - 1] != '.'
                   && text[at - 1] != '"';
      if (whole) return (tvms_span){at, at + (uint32_t)len};
    }
    line = end + 1;
  }
  return span;
}

// Another loop of the line was just reported: that is one mistake.
static bool is_same_line(const checker *c, tvms_span use) {
  const tvms_diags *diags = &c->context->diags;
  const tvms_diag *last = diags->last;
  if (!diags->source || !last || last->id != TVMS_D_loop_var_in_block
      || last->source != diags->source || last->span.end > use.begin)
    return false;
  return !memchr(diags->source->text + last->span.end, '\n',
                 use.begin - last->span.end);
}

static void use_var(checker *c, const tvms_node *var) {
  fact *f = fact_of(c, var);
  if (var->flags & TVMS_FLAG_ASSUMED) return;
  if (!f->seen && var->flags & TVMS_FLAG_EARLY) return;
  if (f->open == 0) {
    report_use(c, var, f, TVMS_D_undefined_in_tir);
    return;
  }
  if (!f->is_loop || f->blocks >= c->blocks.len || f->reported) return;
  f->reported = true;
  c->found++;
  const tvms_block *block = c->blocks.items[c->blocks.len - 1];
  const char *name = block->name.text ? block->name.text : "";
  tvms_span use = use_in_block(c, name_of(c, var));
  if (is_same_line(c, use)) {
    tvms_diag_remark(&c->context->diags, c->context->diags.last, "nor does it see '%s'",
                     name_of(c, var));
    return;
  }
  tvms_diag *diag = tvms_diag_report(&c->context->diags, TVMS_D_loop_var_in_block, use,
                                     name_of(c, var), name);
  note_definition(c, diag, f, "the loop is outside the block");
  tvms_diag_remark(&c->context->diags, diag,
                   "give the block an axis: v%s = T.axis.spatial(<extent>, %s)",
                   name_of(c, var), name_of(c, var));
}

// ---- Buffers ----

static void visit_list(checker *c, tvms_list list) {
  for (uint32_t i = 0; i < list.len; i++) {
    if (list.items[i]) visit(c, list.items[i]);
  }
}

// A buffer's own expressions are uses where it is defined, and before 0.25 wherever it is
// used, too.
static void visit_buffer_parts(checker *c, const tvms_buffer *buffer) {
  visit(c, buffer->data);
  visit_list(c, buffer->shape);
  visit_list(c, buffer->strides);
  if (buffer->elem_offset) visit(c, buffer->elem_offset);
}

static void define_buffer(checker *c, tvms_node *node) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  visit_buffer_parts(c, buffer);
  if (c->buffers) define(c, node, false);
}

static tvms_walk_step define_in_dim(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  define_if_new(self, node);
  return TVMS_WALK_ON;
}

// Where a buffer is matched, what stands bare in it is defined by it; from 0.26 on all
// that its shape mentions, `n` in `n + 1` (tir_visitor_with_path.h).
static void define_implicit(checker *c, const tvms_buffer *buffer) {
  bool inside = tvms_release_has(c->unit->dialect, TVMS_FACT_shapes_define_all_dims);
  tvms_visitor dims = {.self = c, .enter = define_in_dim};
  define_if_new(c, buffer->data);
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    define_if_new(c, buffer->shape.items[i]);
    if (inside) (void)tvms_walk(c->memory, buffer->shape.items[i], &dims);
  }
  for (uint32_t i = 0; i < buffer->strides.len; i++) {
    define_if_new(c, buffer->strides.items[i]);
  }
  define_if_new(c, buffer->elem_offset);
}

static void use_buffer(checker *c, tvms_node *node) {
  fact *f = fact_of(c, node);
  if (!c->buffers) {
    fact *data = fact_of(c, tvms_as_buffer(node)->data);
    if (data->open > 0)
      visit_buffer_parts(c, tvms_as_buffer(node));
    else if (!data->reported)
      data->reported = true, report_use(c, node, f, TVMS_D_undeclared_buffer);
    return;
  }
  if (f->open == 0) report_use(c, node, f, TVMS_D_undeclared_buffer);
}

// ---- Statements ----

static void visit_scope(checker *c, tvms_node *TVMS_NULLABLE body) {
  if (!body) return;
  uint32_t mark = c->open.len;
  visit(c, body);
  close_scope(c, mark);
}

// A view is defined for the rest of the scope, and with it what its shape names.
static void define_view(checker *c, tvms_node *view, tvms_node *whole) {
  use_buffer(c, whole);
  define_implicit(c, tvms_as_buffer(view));
  if (c->buffers) define(c, view, false);
}

static void visit_attr(checker *c, const tvms_attr_stmt *attr) {
  visit(c, attr->value);
  tvms_node *view = tvms_attr_stmt_view(&attr->head);
  if (view && tvms_release_has(c->unit->dialect, TVMS_FACT_attributes_bind_buffers)) {
    define_view(c, view, tvms_as_object_array(attr->node)->items.items[1]);
    return;
  }
  const tvms_iter_var *iter = tvms_attr_stmt_threads(&attr->head);
  if (iter) {
    if (iter->dom) visit(c, iter->dom);
    define(c, iter->var, iter->iter_type == TVMS_ITER_THREAD_INDEX);
  } else if (tvms_node_class_of(attr->node) == TVMS_CLASS_EXPR) {
    visit(c, attr->node);
  }
}

static void visit_for(checker *c, const tvms_for *loop) {
  visit(c, loop->min);
  visit(c, loop->extent);
  if (loop->step) visit(c, loop->step);
  uint32_t mark = c->open.len;
  define(c, loop->var, false);
  fact *f = fact_of(c, loop->var);
  f->is_loop = true;
  f->blocks = c->blocks.len;
  visit_scope(c, loop->body);
  close_scope(c, mark);
}

static void define_block_buffers(checker *c, const tvms_block *block) {
  for (uint32_t i = 0; i < block->alloc_buffers.len; i++) {
    define(c, tvms_as_buffer(block->alloc_buffers.items[i])->data, false);
    define_buffer(c, block->alloc_buffers.items[i]);
  }
}

static void visit_block(checker *c, const tvms_block *block) {
  uint32_t mark = c->open.len;
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[i]);
    if (iter->dom) visit(c, iter->dom);
    define(c, iter->var, false);
  }
  bool has_axes = block->iter_vars.len > 0;
  if (has_axes) tvms_vec_push(c->memory, &c->blocks, block);
  bool allocs_first =
      tvms_release_has(c->unit->dialect, TVMS_FACT_block_buffers_precede_regions);
  if (allocs_first) define_block_buffers(c, block);
  c->regions = block;
  visit_list(c, block->reads);
  visit_list(c, block->writes);
  c->regions = NULL;
  if (!allocs_first) define_block_buffers(c, block);
  for (uint32_t i = 0; i < block->match_buffers.len; i++) {
    visit(c, tvms_as_match_buffer_region(block->match_buffers.items[i])->source);
  }
  for (uint32_t i = 0; i < block->match_buffers.len; i++) {
    tvms_node *buffer =
        tvms_as_match_buffer_region(block->match_buffers.items[i])->buffer;
    define_implicit(c, tvms_as_buffer(buffer));
    if (c->buffers) define(c, buffer, false);
  }
  visit_scope(c, block->init);
  visit_scope(c, block->body);
  if (has_axes) c->blocks.len--;
  close_scope(c, mark);
}

static void visit_stmt(checker *c, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_SEQ: {
    uint32_t mark = c->open.len;
    visit_list(c, tvms_as_seq(node)->stmts);
    close_scope(c, mark);
    return;
  }
  case TVMS_NODE_BIND:
    visit(c, tvms_as_bind(node)->value);
    define(c, tvms_as_bind(node)->var, false);
    return;
  case TVMS_NODE_ATTR_STMT: visit_attr(c, tvms_as_attr_stmt(node)); return;
  case TVMS_NODE_STORE: {
    const tvms_store *store = tvms_as_store(node);
    visit(c, store->value);
    use_buffer(c, store->buffer);
    visit_list(c, store->indices);
    return;
  }
  case TVMS_NODE_FOR: visit_for(c, tvms_as_for(node)); return;
  case TVMS_NODE_WHILE:
    visit(c, tvms_as_while(node)->condition);
    visit_scope(c, tvms_as_while(node)->body);
    return;
  case TVMS_NODE_IF_THEN_ELSE:
    visit(c, tvms_as_if_then_else(node)->condition);
    visit_scope(c, tvms_as_if_then_else(node)->then_case);
    visit_scope(c, tvms_as_if_then_else(node)->else_case);
    return;
  case TVMS_NODE_BLOCK: visit_block(c, tvms_as_block(node)); return;
  case TVMS_NODE_ALLOCATE:
    visit(c, tvms_as_allocate(node)->condition);
    visit_list(c, tvms_as_allocate(node)->extents);
    define(c, tvms_as_allocate(node)->var, false);
    return;
  case TVMS_NODE_ALLOCATE_CONST:
    define(c, tvms_as_allocate_const(node)->var, false);
    return;
  case TVMS_NODE_ALLOC_BUFFER:
    define_if_new(c, tvms_as_buffer(tvms_as_alloc_buffer(node)->buffer)->data);
    define_buffer(c, tvms_as_alloc_buffer(node)->buffer);
    return;
  case TVMS_NODE_DECL_BUFFER: {
    tvms_node *buffer = tvms_as_decl_buffer(node)->buffer;
    tvms_node *source = tvms_as_decl_buffer(node)->source;
    if (source) visit(c, source);
    // From 0.26 on a declared buffer is its own variable.
    if (tvms_release_has(c->unit->dialect, TVMS_FACT_buffers_are_variables)) {
      define_if_new(c, tvms_as_buffer(buffer)->data);
    }
    define_buffer(c, buffer);
    return;
  }
  case TVMS_NODE_BUFFER_REALIZE: {
    const tvms_buffer_realize *realize = tvms_as_buffer_realize(node);
    visit(c, realize->condition);
    visit_list(c, realize->bounds);
    define_if_new(c, tvms_as_buffer(realize->buffer)->data);
    use_buffer(c, realize->buffer);
    return;
  }
  case TVMS_NODE_SCOPE_ID: {
    const tvms_scope_id *id = tvms_as_scope_id(node);
    visit_list(c, id->extents);
    visit_list(c, id->preferred);
    for (uint32_t i = 0; i < id->vars.len; i++)
      define(c, id->vars.items[i], false);
    return;
  }
  default: {
    tvms_node *child;
    for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));)
      visit(c, child);
  }
  }
}

// ---- Expressions ----

static void visit_expr(checker *c, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_VAR: use_var(c, node); return;
  case TVMS_NODE_BUFFER: use_buffer(c, node); return;
  case TVMS_NODE_BUFFER_LOAD:
    use_buffer(c, tvms_as_buffer_load(node)->buffer);
    visit_list(c, tvms_as_buffer_load(node)->indices);
    return;
  case TVMS_NODE_BUFFER_REGION:
    use_buffer(c, tvms_as_buffer_region(node)->buffer);
    visit_list(c, tvms_as_buffer_region(node)->region);
    return;
  case TVMS_NODE_LET: {
    const tvms_let *let = tvms_as_let(node);
    visit(c, let->value);
    uint32_t mark = c->open.len;
    define_let(c, let);
    visit(c, let->body);
    close_scope(c, mark);
    return;
  }
  case TVMS_NODE_REDUCE: {
    const tvms_reduce *reduce = tvms_as_reduce(node);
    for (uint32_t i = 0; i < reduce->axis.len; i++) {
      const tvms_iter_var *axis = tvms_as_iter_var(reduce->axis.items[i]);
      if (axis->dom) visit(c, axis->dom);
      visit(c, axis->var);
    }
    visit_list(c, reduce->source);
    visit_list(c, reduce->init);
    visit(c, reduce->condition);
    return;
  }
  case TVMS_NODE_CALL: visit_list(c, tvms_as_call(node)->args); return;
  case TVMS_NODE_RANGE:
    visit(c, tvms_as_range(node)->min);
    visit(c, tvms_as_range(node)->extent);
    return;
  default: break;
  }
  if (tvms_node_class_of(node) != TVMS_CLASS_EXPR) return;
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));)
    visit(c, child);
}

static void visit(checker *c, tvms_node *node) {
  if (!tvms_memory_enter(c->memory)) tvms_memory_unwind(c->memory, TVMS_OVER_LIMIT);
  tvms_span outer = c->at;
  // A variable's span is that of its definition.
  bool own = node->kind != TVMS_NODE_VAR && node->kind != TVMS_NODE_BUFFER;
  if (own && has_place(node->span)) c->at = node->span;
  if (tvms_node_class_of(node) == TVMS_CLASS_STMT)
    visit_stmt(c, node);
  else
    visit_expr(c, node);
  c->at = outer;
  tvms_memory_leave(c->memory);
}

// ---- Functions ----

static void check_scopes(checker *c, const tvms_prim_func *func) {
  for (uint32_t i = 0; i < func->params.len; i++)
    define(c, func->params.items[i], false);
  for (uint32_t i = 0; i < func->buffers.len; i++) {
    if (func->buffers.items[i])
      define_implicit(c, tvms_as_buffer(func->buffers.items[i]));
  }
  for (uint32_t i = 0; i < func->buffers.len; i++) {
    if (func->buffers.items[i]) define_buffer(c, func->buffers.items[i]);
  }
  visit_scope(c, func->body);
}

// Whether the function already has such a finding.
static bool is_reported(const checker *c, tvms_diag_id id) {
  const tvms_diag *diag = c->context->diags.first;
  for (; diag; diag = diag->next) {
    bool inside = diag->source == c->context->diags.source
                  && diag->span.begin >= c->at.begin && diag->span.end <= c->at.end;
    if (diag->id == id && inside) return true;
  }
  return false;
}

static tvms_walk_step report_block(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  checker *c = self;
  if (node->kind == TVMS_NODE_BLOCK) {
    c->found++;
    if (!c->partial || !is_reported(c, TVMS_D_needs_s_tir))
      tvms_diag_report(&c->context->diags, TVMS_D_block_without_s_tir, node->span);
    return TVMS_WALK_SKIP;
  }
  return tvms_node_class_of(node) == TVMS_CLASS_STMT ? TVMS_WALK_ON : TVMS_WALK_SKIP;
}

static bool check_prim_func(tvms_unit *unit, tvms_node *function, bool s_tir,
                            bool partial) {
  tvms_context *context = unit->context;
  checker c = {.unit = unit,
               .context = context,
               .memory = &context->memory,
               .at = function->span,
               .partial = partial,
               .buffers =
                   tvms_release_has(unit->dialect, TVMS_FACT_buffers_must_be_declared)};
  tvms_prim_func *func = tvms_as_prim_func(function);
  if (!s_tir) {
    tvms_visitor visitor = {.self = &c, .enter = report_block};
    tvms_walk(c.memory, func->body, &visitor);
    if (!partial) c.found += tvms_scope_ids_check(unit, func->body);
    // Before 0.27 nothing looks at the scopes of tile programs.
    if (!tvms_release_has(unit->dialect, TVMS_FACT_tile_scopes_are_verified) || c.found)
      return c.found == 0;
  }
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  tvms_node_map_init(&c.facts, c.memory);
  check_scopes(&c, func);
  tvms_node_map_fini(&c.facts);
  tvms_vec_fini(c.memory, &c.open);
  tvms_vec_fini(c.memory, &c.blocks);
  tvms_arena_reset(&context->scratch, mark);
  return c.found == 0;
}

bool tvms_well_formed_check_prim_func(tvms_unit *unit, tvms_node *function,
                                      bool s_tir) {
  return check_prim_func(unit, function, s_tir, false);
}

bool tvms_well_formed_check_tir(tvms_module *module) {
  bool fine = true;
  if (!module->bare && module->unchecked) return true;
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    tvms_node *function = member->function ? member->function : member->partial;
    if (!function || function->kind != TVMS_NODE_PRIM_FUNC) continue;
    if (module->bare && (function->flags & TVMS_FLAG_UNCHECKED)) continue;
    bool s_tir = tvms_release_has(module->dialect, TVMS_FACT_prim_funcs_are_s_tir)
                 || module->s_tir || (function->flags & TVMS_FLAG_S_TIR);
    fine = check_prim_func(member->unit, function, s_tir, !member->function) && fine;
  }
  return fine;
}
