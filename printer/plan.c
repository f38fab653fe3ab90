// Where a variable that nothing defines is defined: in the innermost scope that holds all
// of its uses, which is TVM's rule.
//
// One walk over the function, made when the first such variable is met, notes for every
// variable and buffer the innermost scope common to its uses. As in TVM a part that
// occurs twice is entered once only, so uses in the second occurrence do not count.
#include "printer/plan.h"

#include "printer/scope.h"
#include "printer/state.h"
#include "printer/stmt.h"

// A scope of the function; those that TVM opens a frame for.
typedef struct {
  const tvms_node *node;
  uint32_t parent;
  uint32_t depth;
} scope;

struct tvms_scopes {
  TVMS_VEC(scope) scopes;     // [0] is the function
  TVMS_VEC(uint32_t) lowest;  // by node id: scope number + 1; 0: not seen
  TVMS_VEC(uint8_t) visited;  // by node id
  // By id of a pointer: its allocation, then the first buffer over all of it. By id of a
  // buffer: its declaration.
  TVMS_VEC(const tvms_node *) made;
  uint32_t now;
};

static uint32_t *lowest_of(tvms_printer *p, uint32_t id) {
  tvms_scopes *s = p->scopes;
  tvms_vec_reach(p->memory, &s->lowest, id);
  return &s->lowest.items[id];
}

static bool visit_first(tvms_printer *p, uint32_t id) {
  tvms_scopes *s = p->scopes;
  tvms_vec_reach(p->memory, &s->visited, id);
  bool first = !s->visited.items[id];
  s->visited.items[id] = 1;
  return first;
}

static uint32_t enter(tvms_printer *p, const tvms_node *node) {
  tvms_scopes *s = p->scopes;
  uint32_t before = s->now;
  if (s->scopes.len && s->scopes.items[before].node == node) return before;
  uint32_t depth = s->scopes.len ? s->scopes.items[before].depth + 1 : 0;
  scope added = {node, before, depth};
  s->now = s->scopes.len;
  tvms_vec_push(p->memory, &s->scopes, added);
  return before;
}

static uint32_t common(const tvms_scopes *s, uint32_t a, uint32_t b) {
  while (a != b) {
    if (s->scopes.items[a].depth >= s->scopes.items[b].depth)
      a = s->scopes.items[a].parent;
    else
      b = s->scopes.items[b].parent;
  }
  return a;
}

static void note_use(tvms_printer *p, const tvms_node *object) {
  uint32_t *lowest = lowest_of(p, object->id);
  *lowest =
      *lowest ? common(p->scopes, *lowest - 1, p->scopes->now) + 1 : p->scopes->now + 1;
}

static const tvms_node **made_of(tvms_printer *p, const tvms_node *object) {
  tvms_scopes *s = p->scopes;
  tvms_vec_reach(p->memory, &s->made, object->id);
  return &s->made.items[object->id];
}

// Nothing is said about the places of its elements.
static bool is_compact(const tvms_node *node) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  const tvms_node *offset = buffer->elem_offset;
  return (!offset || tvms_node_is_int(offset, 0)) && buffer->strides.len == 0
         && buffer->axis_separators.len == 0 && buffer->offset_factor == 1;
}

// Notes what makes a buffer: an allocation, a declaration, or a buffer that is just what
// an allocation allocates and that no statement declares.
static void note_made(tvms_printer *p, const tvms_node *node) {
  if (node->kind == TVMS_NODE_ALLOCATE) {
    *made_of(p, tvms_as_allocate(node)->var) = node;
  } else if (node->kind == TVMS_NODE_DECL_BUFFER) {
    *made_of(p, tvms_as_decl_buffer(node)->buffer) = node;
  } else if (node->kind == TVMS_NODE_BUFFER) {
    const tvms_node *data = tvms_as_buffer(node)->data;
    if (!data || *made_of(p, node)) return;
    const tvms_node **made = made_of(p, data);
    bool whole = *made && (*made)->kind == TVMS_NODE_ALLOCATE && is_compact(node)
                 && tvms_print_is_all_of(*made, node);
    if (whole) *made = node;
  }
}

static void visit(tvms_printer *p, const tvms_node *node);

static void visit_in(tvms_printer *p, const tvms_node *scope_node,
                     const tvms_node *node) {
  uint32_t before = enter(p, scope_node);
  visit(p, node);
  p->scopes->now = before;
}

static void visit_seq(tvms_printer *p, const tvms_seq *seq) {
  uint32_t before = p->scopes->now;
  for (uint32_t i = 0; i < seq->stmts.len; i++) {
    const tvms_node *stmt = seq->stmts.items[i];
    if (tvms_print_opens(p, stmt)) enter(p, stmt);
    visit(p, stmt);
  }
  p->scopes->now = before;
}

static void visit_branches(tvms_printer *p, const tvms_if_then_else *stmt) {
  visit(p, stmt->condition);
  visit_in(p, tvms_print_only(p, stmt->then_case), stmt->then_case);
  if (stmt->else_case)
    visit_in(p, tvms_print_only(p, stmt->else_case), stmt->else_case);
}

static void visit_fields(tvms_printer *p, const tvms_node *node) {
  const tvms_node_schema *schema = tvms_node_schema_of((tvms_node_kind)node->kind);
  for (uint32_t i = 0; i < schema->field_count; i++) {
    const char *at = (const char *)node + schema->fields[i].offset;
    if (schema->fields[i].type == TVMS_TYPE_NODE) {
      visit(p, *(tvms_node *const *)(const void *)at);
    } else if (schema->fields[i].type == TVMS_TYPE_LIST) {
      const tvms_list *list = (const tvms_list *)(const void *)at;
      for (uint32_t k = 0; k < list->len; k++) {
        visit(p, list->items[k]);
      }
    }
  }
}

static bool is_scope(const tvms_node *node) {
  switch (node->kind) {
  case TVMS_NODE_PRIM_FUNC:
  case TVMS_NODE_FOR:
  case TVMS_NODE_WHILE:
  case TVMS_NODE_BLOCK:
  case TVMS_NODE_COMM_REDUCER:
  case TVMS_NODE_INDEX_MAP: return true;
  default: return false;
  }
}

static void visit_regions(tvms_printer *p, tvms_list regions) {
  for (uint32_t i = 0; i < regions.len; i++) {
    visit(p, regions.items[i]);
  }
}

static void visit_block(tvms_printer *p, const tvms_block *block) {
  tvms_block rest = *block;
  rest.init = NULL;
  // Where buffers must be declared, those of the regions stand outside of the block.
  bool converted =
      p->module
      && tvms_release_has(p->module->dialect, TVMS_FACT_buffers_need_no_declaration)
      && !tvms_release_has(p->dialect, TVMS_FACT_buffers_need_no_declaration);
  if (converted) {
    uint32_t inside = p->scopes->now;
    p->scopes->now = p->scopes->scopes.items[inside].parent;
    visit_regions(p, block->reads);
    visit_regions(p, block->writes);
    p->scopes->now = inside;
  }
  visit_fields(p, &rest.head);
  if (block->init) visit_in(p, tvms_print_only(p, block->init), block->init);
}

static void visit_parts(tvms_printer *p, const tvms_node *node) {
  if (node->kind == TVMS_NODE_SEQ) {
    visit_seq(p, tvms_as_seq(node));
  } else if (node->kind == TVMS_NODE_IF_THEN_ELSE) {
    visit_branches(p, tvms_as_if_then_else(node));
  } else if (node->kind == TVMS_NODE_BLOCK) {
    visit_block(p, tvms_as_block(node));
  } else {
    visit_fields(p, node);
  }
}

static void visit(tvms_printer *p, const tvms_node *node) {
  if (!node || node->id == 0) return;  // closed StructInfo mentions nothing
  bool is_var = node->kind == TVMS_NODE_VAR || node->kind == TVMS_NODE_BUFFER;
  if (visit_first(p, node->id)) {
    note_made(p, node);
    uint32_t before = is_scope(node) ? enter(p, node) : p->scopes->now;
    if (tvms_memory_enter(p->memory)) visit_parts(p, node);
    tvms_memory_leave(p->memory);
    if (is_var) note_use(p, node);
    p->scopes->now = before;
  } else if (is_var) {
    note_use(p, node);
  } else if (node->kind == TVMS_NODE_ITER_VAR) {
    note_use(p, tvms_as_iter_var(node)->var);  // launched once more
  }
}

static tvms_scopes *scopes_of(tvms_printer *p) {
  if (!p->scopes && p->function) {
    p->scopes = tvms_memory_alloc(p->memory, sizeof *p->scopes);
    visit(p, p->function);
  }
  return p->scopes;
}

void tvms_print_forget_scopes(tvms_printer *p) {
  tvms_scopes *s = p->scopes;
  if (!s) return;
  tvms_vec_fini(p->memory, &s->scopes);
  tvms_vec_fini(p->memory, &s->lowest);
  tvms_vec_fini(p->memory, &s->visited);
  tvms_vec_fini(p->memory, &s->made);
  tvms_memory_free(p->memory, s);
  p->scopes = NULL;
}

// The outermost frame that stands for `node`, or UINT32_MAX. TVM keeps one frame per
// object and prefers the outer one.
static uint32_t frame_of(const tvms_printer *p, const tvms_node *node) {
  for (uint32_t i = 0; i < p->frames.len; i++) {
    const print_frame *f = &p->frames.items[i];
    if (f->kind == FRAME_TIR && f->node == node) return i;
  }
  return UINT32_MAX;
}

uint32_t tvms_print_lowest_frame(tvms_printer *p, const tvms_node *object) {
  tvms_scopes *s = scopes_of(p);
  if (!s || !*lowest_of(p, object->id)) return UINT32_MAX;
  for (uint32_t at = *lowest_of(p, object->id) - 1;; at = s->scopes.items[at].parent) {
    uint32_t frame = frame_of(p, s->scopes.items[at].node);
    if (frame != UINT32_MAX || at == 0) return frame;
  }
}

bool tvms_print_encloses(tvms_printer *p, const tvms_node *stmt,
                         const tvms_node *object) {
  tvms_scopes *s = scopes_of(p);
  if (!s || !*lowest_of(p, object->id)) return false;
  for (uint32_t at = *lowest_of(p, object->id) - 1;; at = s->scopes.items[at].parent) {
    if (s->scopes.items[at].node == stmt) return true;
    if (at == 0) return false;
  }
}

const tvms_node *tvms_print_buffer_over_all(tvms_printer *p,
                                            const tvms_node *allocate) {
  if (!scopes_of(p)) return NULL;
  const tvms_node *made = *made_of(p, tvms_as_allocate(allocate)->var);
  return made && made->kind == TVMS_NODE_BUFFER ? made : NULL;
}

bool tvms_print_each_var(tvms_printer *p, const tvms_node *node,
                         bool (*see)(void *self, const tvms_node *var), void *self) {
  if (!node) return true;
  if (node->kind == TVMS_NODE_VAR) return see(self, node);
  if (node->kind == TVMS_NODE_INT_IMM) return true;
  bool go_on = tvms_memory_enter(p->memory);
  const tvms_node_schema *schema = tvms_node_schema_of((tvms_node_kind)node->kind);
  for (uint32_t i = 0; go_on && i < schema->field_count; i++) {
    const char *at = (const char *)node + schema->fields[i].offset;
    if (schema->fields[i].type == TVMS_TYPE_NODE) {
      go_on = tvms_print_each_var(p, *(tvms_node *const *)(const void *)at, see, self);
    } else if (schema->fields[i].type == TVMS_TYPE_LIST) {
      const tvms_list *list = (const tvms_list *)(const void *)at;
      for (uint32_t k = 0; go_on && k < list->len; k++) {
        go_on = tvms_print_each_var(p, list->items[k], see, self);
      }
    }
  }
  tvms_memory_leave(p->memory);
  return go_on;
}

static bool stop(void *self, const tvms_node *var) {
  (void)self;
  (void)var;
  return false;
}

bool tvms_print_has_var(tvms_printer *p, const tvms_node *node) {
  return !tvms_print_each_var(p, node, stop, NULL);
}

static bool is_no_type_var(void *self, const tvms_node *var) {
  return !tvms_print_name_of(self, var)->type_var;
}

bool tvms_print_mentions_type_var(tvms_printer *p, const tvms_node *node) {
  return !tvms_print_each_var(p, node, is_no_type_var, p);
}
