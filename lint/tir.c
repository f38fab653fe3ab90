// What a function of TIR defines and never uses.
//
// The walk notes definitions in order and marks, by id, what is used. A buffer is used where
// an element or a region of it stands, or where its data variable does, which another buffer
// over the same memory has, too. Inside of a buffer that is only used everything belongs to its
// definition, so that is not looked at again. It is a recursion of its own and not tvms_walk,
// because it runs on everything that is checked and needs no roles below a field.
//
//   B = T.alloc_buffer((n,))     defines B and its data, uses n
//   B[i] = A[i]                  stores B, reads A, i
//   x: T.int32 = A[i]            since 0.25: allocates a cell x, stores it, reads A, i
//
// Names that begin with '_' are meant to be unused. A parameter of a public function is its
// interface, which is looked at on request only, and an axis of extent 1 has nothing to say.
#include "lint/tir.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "lint/tir_values.h"
#include "support/diag_ids.h"

// How something is used. ASSIGNED: stored where it is defined, as x = A[i] does.
enum { STORED = 1, READ = 2, ASSIGNED = 4 };

typedef struct {
  tvms_lint *lint;
  tvms_memory *memory;
  uint8_t *uses;          // by id
  tvms_node_vec defined;  // BIND, BUFFER, ALLOC_BUFFER, BLOCK in order
  bool works;             // it does something, and is not the mark of a function
  bool cut;               // it nests so deeply that not all was seen
} search;

static void scan(search *s, tvms_node *node);

static void mark(search *s, const tvms_node *node, uint8_t use) {
  s->uses[node->id] |= use;
  if (node->kind == TVMS_NODE_BUFFER) s->uses[tvms_as_buffer(node)->data->id] |= use;
}

static void see_part(search *s, tvms_node *part, bool defines) {
  switch ((int)part->kind) {
  case TVMS_NODE_VAR:
    if (!defines) mark(s, part, READ);
    if (defines) tvms_lint_check_var(s->lint, part);
    break;
  case TVMS_NODE_INT_IMM:
  case TVMS_NODE_FLOAT_IMM:
  case TVMS_NODE_OPERATOR: break;
  case TVMS_NODE_BUFFER:
    if (defines)
      scan(s, part);
    else
      mark(s, part, READ);
    break;
  default: scan(s, part);
  }
}

// A buffer that is being defined: its data variable is defined with it.
static void scan_buffer(search *s, tvms_node *node) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  tvms_vec_push(s->memory, &s->defined, node);
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    see_part(s, buffer->shape.items[i], false);
  }
  for (uint32_t i = 0; i < buffer->strides.len; i++) {
    see_part(s, buffer->strides.items[i], false);
  }
  see_part(s, buffer->elem_offset, false);
  for (uint32_t i = 0; i < buffer->allocated_addr.len; i++) {
    see_part(s, buffer->allocated_addr.items[i], false);
  }
}

static void scan_parts(search *s, const tvms_node *node) {
  const tvms_child_field *field = tvms_walk_fields(node);
  for (; field->size; field++) {
    bool defines =
        field->role == TVMS_ROLE_DEFINE || field->role == TVMS_ROLE_DEFINE_REC;
    tvms_node **end;
    for (tvms_node **item = tvms_walk_items(node, field, &end); item != end; item++) {
      if (*item) see_part(s, *item, defines);
    }
  }
}

static tvms_walk_step find_effect(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  if (node->kind != TVMS_NODE_CALL) return TVMS_WALK_ON;
  tvms_tir_opcode op = tvms_call_opcode(node);
  bool harmless =
      op != TVMS_TIR_NONE && tvms_tir_op_row_of(op)->effect <= TVMS_EFFECT_READ;
  return harmless ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

static bool has_effect(const search *s, tvms_node *value) {
  tvms_visitor visitor = {.enter = find_effect};
  return !tvms_walk(&s->lint->context->memory, value, &visitor);
}

// One element: what an assignment to a name makes.
static bool is_cell(const tvms_node *node) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  return buffer->shape.len == 1 && tvms_node_is_int(buffer->shape.items[0], 1);
}

static void scan_store(search *s, const tvms_node *node) {
  const tvms_store *store = tvms_as_store(node);
  bool cell = is_cell(store->buffer);
  mark(s, store->buffer, cell && has_effect(s, store->value) ? READ : STORED);
  if (cell && node->span.begin == store->buffer->span.begin)
    mark(s, store->buffer, ASSIGNED);
  see_part(s, store->value, false);
  for (uint32_t i = 0; i < store->indices.len; i++) {
    see_part(s, store->indices.items[i], false);
  }
  if (store->predicate) see_part(s, store->predicate, false);
}

static void scan_node(search *s, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_BIND:
  case TVMS_NODE_BLOCK:
  case TVMS_NODE_ALLOC_BUFFER: tvms_vec_push(s->memory, &s->defined, node); break;
  default: break;
  }
  switch ((int)node->kind) {
  case TVMS_NODE_BUFFER: scan_buffer(s, node); break;
  case TVMS_NODE_VAR: mark(s, node, READ); break;
  case TVMS_NODE_STORE: scan_store(s, node); break;
  default: scan_parts(s, node);
  }
}

static void scan(search *s, tvms_node *node) {
  // Sums are as deep as they are long, on their left.
  while (tvms_node_is_binary(node)) {
    see_part(s, tvms_as_binary(node)->b, false);
    node = tvms_as_binary(node)->a;
  }
  if (tvms_memory_enter(s->memory)) {
    tvms_lint_check_tir_node(s->lint, node);
    if (node->kind == TVMS_NODE_STORE || node->kind == TVMS_NODE_CALL) s->works = true;
    scan_node(s, node);
  } else {
    s->cut = true;
  }
  tvms_memory_leave(s->memory);
}

static bool is_nameless(const tvms_lint *lint, tvms_sym name) {
  const char *text = tvms_symbol_text(lint->context, name);
  return text[0] == '\0' || text[0] == '_';
}

static void report(const search *s, tvms_diag_id id, tvms_span span, tvms_sym name) {
  if (!span.end || is_nameless(s->lint, name)) return;
  tvms_diag_report(&s->lint->context->diags, id, span,
                   tvms_symbol_text(s->lint->context, name));
}

// How often the name stands in the text of the function, parameters aside.
static uint32_t count_name(const search *s, tvms_sym name) {
  const tvms_surface *surface = s->lint->surface;
  tvms_span span = s->lint->function->span;
  uint32_t count = 0;
  for (tvms_ref ref = 1; ref < surface->count; ref++) {
    const tvms_surf *node = tvms_surface_at(surface, ref);
    bool inside = node->begin >= span.begin && node->end <= span.end;
    count += node->kind == TVMS_SURF_NAME && node->a == name && inside;
  }
  return count;
}

// Where the name stands that an assignment defines, `x` of x = A[i], whose value or statement
// begins at `place`: the last one up to there.
static tvms_span target_before(const search *s, uint32_t place, tvms_sym name) {
  const tvms_surface *surface = s->lint->surface;
  tvms_span found = {0};
  for (tvms_ref ref = 1; ref < surface->count; ref++) {
    const tvms_surf *node = tvms_surface_at(surface, ref);
    if (node->kind == TVMS_SURF_NAME && node->a == name && node->begin <= place
        && node->begin >= found.begin)
      found = tvms_surface_span(surface, ref);
  }
  return found;
}

// ---- Values ----

static void check_value(const search *s, const tvms_node *stmt) {
  const tvms_bind *bind = tvms_as_bind(stmt);
  if (s->uses[bind->var->id] || has_effect(s, bind->value)) return;
  report(s, TVMS_D_unused_tir_value, bind->var->span, tvms_as_var(bind->var)->name);
}

// A name to which values without effects are assigned, and that is never read. Cells that are
// allocated by a call are left out: they may stand for memory that something else looks at.
static void check_cell(const search *s, const tvms_node *stmt) {
  const tvms_node *buffer = tvms_as_alloc_buffer(stmt)->buffer;
  if (!is_cell(buffer) || is_nameless(s->lint, tvms_as_buffer(buffer)->name)) return;
  uint8_t uses = s->uses[buffer->id] | s->uses[tvms_as_buffer(buffer)->data->id];
  if (!(uses & STORED) || uses & READ || !buffer->span.end) return;
  tvms_sym name = tvms_as_buffer(buffer)->name;
  tvms_span span = target_before(s, buffer->span.begin, name);
  bool declared = span.end && span.begin == buffer->span.begin;
  if (uses & ASSIGNED || declared) report(s, TVMS_D_unused_tir_value, span, name);
}

// ---- Axes ----

// A block that does nothing is a piece of a test or a mark.
static bool does_nothing(const tvms_node *body) {
  return body->kind == TVMS_NODE_EVALUATE
         && tvms_as_evaluate(body)->value->kind == TVMS_NODE_INT_IMM;
}

static void check_axes(const search *s, const tvms_node *node) {
  const tvms_block *block = tvms_as_block(node);
  if (does_nothing(block->body)) return;
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    if (s->uses[axis->var->id] || !axis->dom) continue;
    if (tvms_node_is_int(tvms_as_range(axis->dom)->extent, 1)) continue;
    report(s, TVMS_D_unused_axis, axis->var->span, tvms_as_var(axis->var)->name);
  }
}

// ---- Buffers and parameters ----

static bool is_buffer_used(const search *s, const tvms_node *buffer) {
  return s->uses[buffer->id] || s->uses[tvms_as_buffer(buffer)->data->id];
}

static bool is_of_parameter(const tvms_prim_func *function, const tvms_node *buffer) {
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    if (function->buffers.items[i] == buffer) return true;
  }
  return false;
}

static void check_parameters(const search *s, const tvms_prim_func *function) {
  tvms_diag_id id = tvms_lint_is_inner(s->lint) ? TVMS_D_unused_tir_parameter
                                                : TVMS_D_unused_public_tir_parameter;
  if (!s->works || !tvms_lint_wants(s->lint, id)) return;
  for (uint32_t i = 0; i < function->params.len; i++) {
    const tvms_node *param = function->params.items[i];
    const tvms_node *buffer =
        i < function->buffers.len ? function->buffers.items[i] : NULL;
    if (buffer ? is_buffer_used(s, buffer) : s->uses[param->id] != 0) continue;
    tvms_sym name = buffer ? tvms_as_buffer(buffer)->name : tvms_as_var(param)->name;
    // A branch that was not taken while reading may use it. Matching a buffer names it once.
    bool matched = buffer && buffer->span.begin != param->span.begin;
    if (count_name(s, name) > matched) continue;
    report(s, id, param->span, name);
  }
}

static void report_unused(const search *s) {
  const tvms_node *node = s->lint->function;
  const tvms_prim_func *function = tvms_as_prim_func(node);
  check_parameters(s, function);
  for (uint32_t i = 0; i < s->defined.len; i++) {
    const tvms_node *what = s->defined.items[i];
    switch ((int)what->kind) {
    case TVMS_NODE_BIND: check_value(s, what); break;
    case TVMS_NODE_ALLOC_BUFFER: check_cell(s, what); break;
    case TVMS_NODE_BLOCK: check_axes(s, what); break;
    case TVMS_NODE_BUFFER:
      if (is_buffer_used(s, what) || is_of_parameter(function, what)) break;
      // What is made of a buffer, such as a view, may know no more of it than where it lies.
      if (count_name(s, tvms_as_buffer(what)->name) > 1) break;
      report(s, TVMS_D_unused_buffer, what->span, tvms_as_buffer(what)->name);
      break;
    default: break;
    }
  }
}

void tvms_lint_prim_func(tvms_lint *lint) {
  tvms_memory *memory = &lint->context->memory;
  search s = {.lint = lint,
              .memory = memory,
              .uses = tvms_memory_alloc(memory, lint->unit->next_id)};
  scan(&s, lint->function);
  if (!s.cut) report_unused(&s);
  tvms_vec_fini(memory, &s.defined);
  tvms_memory_free(memory, s.uses);
}
