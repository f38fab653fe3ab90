// One walk with a stack of open scopes.
#include "passes/tir/analysis/linear_access.h"

#include "ir/build.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "support/diag_ids.h"
#include "support/vec.h"

#include <string.h>

// What was touched in a scope that is open; entries of `access` have it when it closes.
typedef struct {
  TVMS_VEC(uint32_t) touched;
} scope;

typedef struct {
  tvms_linear_access *access;
  tvms_memory *memory;
  TVMS_VEC(scope) scopes;
  tvms_node_map bound;  // variables that a statement binds
  bool addresses;
  bool in_threads;
  bool failed;
} finder;

static void visit(finder *f, tvms_node *node);

const tvms_node *tvms_linear_access_pointer(const tvms_node *node) {
  if (tvms_call_opcode(node) == TVMS_TIR_buffer_data) {
    node = tvms_as_call(node)->args.items[0];
  }
  if (node->kind == TVMS_NODE_BUFFER) return tvms_as_buffer(node)->data;
  return node->kind == TVMS_NODE_VAR ? node : NULL;
}

uint32_t tvms_linear_access_alloc_of(const tvms_linear_access *access,
                                     const tvms_node *node) {
  const tvms_node *pointer = tvms_linear_access_pointer(node);
  if (!pointer) return UINT32_MAX;
  const tvms_node *root = tvms_node_map_get(&access->roots, pointer);
  uintptr_t place =
      (uintptr_t)tvms_node_map_get(&access->places, root ? root : pointer);
  return place ? (uint32_t)(place - 1) : UINT32_MAX;
}

// ---- Scopes ----

static void open_scope(finder *f) {
  scope made = {0};
  tvms_vec_push(f->memory, &f->scopes, made);
}

// Closes the innermost scope and hands its accesses to `entry`.
static void close_scope(finder *f, tvms_access_entry *entry) {
  scope *s = &f->scopes.items[f->scopes.len - 1];
  for (uint32_t i = 0; i < s->touched.len; i++) {
    tvms_vec_push(f->memory, &entry->touched, s->touched.items[i]);
  }
  tvms_vec_fini(f->memory, &s->touched);
  f->scopes.len--;
}

// Memory has one dimension; that of a pointer as many as the buffer has parts.
static bool is_flat(const tvms_access_alloc *alloc, const tvms_buffer *accessed) {
  uint32_t dims = tvms_as_buffer(alloc->buffer)->shape.len;
  return dims == 1
         || (alloc->stmt->kind == TVMS_NODE_ALLOCATE
             && dims == accessed->axis_separators.len + 1);
}

static void touch(finder *f, const tvms_node *buffer, bool element) {
  uint32_t alloc = tvms_linear_access_alloc_of(f->access, buffer);
  if (alloc == UINT32_MAX) return;
  const tvms_access_alloc *found = &f->access->allocs.items[alloc];
  if (found->level >= f->scopes.len) return;
  tvms_vec_push(f->memory, &f->scopes.items[found->level].touched, alloc);
  if (!element || f->failed || is_flat(found, tvms_as_buffer(buffer))) return;
  f->failed = true;
  tvms_context *context = f->access->unit->context;
  tvms_diag_report(&context->diags, TVMS_D_buffer_not_flat, found->stmt->span,
                   tvms_symbol_text(context, tvms_as_buffer(found->buffer)->name));
}

static void touch_element(finder *f, tvms_node *buffer) {
  tvms_node_map_put(&f->access->used, buffer, buffer);
  touch(f, buffer, true);
}

static void visit_below(finder *f, tvms_node *node) {
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));) {
    if (at.role == TVMS_ROLE_DEFINE && child->kind == TVMS_NODE_VAR)
      tvms_node_map_put(&f->bound, child, node);
    bool seen = child->kind != TVMS_NODE_BUFFER && at.role != TVMS_ROLE_DEFINE
                && at.role != TVMS_ROLE_NOTE && at.role != TVMS_ROLE_TYPE;
    if (seen) visit(f, child);
  }
}

static void visit_list(finder *f, tvms_list list, uint32_t from) {
  for (uint32_t i = from; i < list.len; i++) {
    if (list.items[i]) visit(f, list.items[i]);
  }
}

// A statement that counts if it touches anything.
static void visit_leaf(finder *f, tvms_node *node) {
  open_scope(f);
  visit_below(f, node);
  if (node->kind == TVMS_NODE_STORE) touch_element(f, tvms_as_store(node)->buffer);
  tvms_access_entry entry = {.stmt = node};
  close_scope(f, &entry);
  if (entry.touched.len) tvms_vec_push(f->memory, &f->access->entries, entry);
}

static int64_t begin(finder *f, const tvms_node *node) {
  int64_t at = f->access->entries.len;
  open_scope(f);
  tvms_access_entry entry = {.stmt = node};
  tvms_vec_push(f->memory, &f->access->entries, entry);
  return at;
}

static void end(finder *f, const tvms_node *node, int64_t first) {
  int64_t last = f->access->entries.len;
  tvms_access_entry entry = {.stmt = node, .pair = first - last};
  close_scope(f, &entry);
  tvms_vec_push(f->memory, &f->access->entries, entry);
  f->access->entries.items[first].pair = last - first;
}

static void visit_scope(finder *f, tvms_node *node) {
  int64_t first = begin(f, node);
  visit_below(f, node);
  end(f, node, first);
}

// Does what holds for the rest of its sequence open a scope? Of axes of threads only the
// outermost does.
static bool opens_scope(const finder *f, const tvms_node *stmt) {
  if (stmt->kind == TVMS_NODE_BIND || stmt->kind == TVMS_NODE_ASSERT)
    return tvms_stmt_holds_body(stmt, f->access->unit->dialect);
  if (stmt->kind != TVMS_NODE_ATTR_STMT) return false;
  const tvms_attr_stmt *attr = tvms_as_attr_stmt((tvms_node *)(uintptr_t)stmt);
  if (tvms_bytes_is(attr->key, "thread_extent")) return !f->in_threads;
  return tvms_bytes_is(attr->key, "extern_scope")
         || tvms_bytes_is(attr->key, "virtual_thread");
}

static void visit_alloc(finder *f, tvms_node *node,
                        const tvms_node *TVMS_NULLABLE next);

// Such a statement holds to the end of its sequence.
static void visit_seq(finder *f, tvms_list stmts, uint32_t from) {
  for (uint32_t i = from; i < stmts.len; i++) {
    tvms_node *node = stmts.items[i];
    if (node->kind == TVMS_NODE_ALLOCATE) {
      visit_alloc(f, node, i + 1 < stmts.len ? stmts.items[i + 1] : NULL);
      continue;
    }
    if (!opens_scope(f, node)) {
      visit(f, node);
      continue;
    }
    bool outer = f->in_threads, attr = node->kind == TVMS_NODE_ATTR_STMT;
    f->in_threads |=
        attr && tvms_bytes_is(tvms_as_attr_stmt(node)->key, "thread_extent");
    int64_t first = begin(f, node);
    if (attr)
      visit(f, tvms_as_attr_stmt(node)->value);
    else
      visit_below(f, node);
    visit_seq(f, stmts, i + 1);
    end(f, node, first);
    f->in_threads = outer;
    return;
  }
}

// ---- Buffers ----

static bool uses_bound(finder *f, tvms_node *node) {
  if (node->kind == TVMS_NODE_VAR) return tvms_node_map_get(&f->bound, node) != NULL;
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));) {
    if (at.role == TVMS_ROLE_USE && uses_bound(f, child)) return true;
  }
  return false;
}

static bool is_size_bound(finder *f, tvms_list shape) {
  for (uint32_t i = 0; i < shape.len; i++) {
    if (uses_bound(f, shape.items[i])) return true;
  }
  return false;
}

// The memory of an ALLOCATE as a buffer.
static tvms_node *memory_of(finder *f, tvms_allocate *allocate) {
  tvms_unit *unit = f->access->unit;
  tvms_buffer *made = tvms_node_make(unit, BUFFER, allocate->head.span);
  made->name = tvms_as_var(allocate->var)->name;
  made->element = allocate->element;
  made->data = allocate->var;
  made->shape = allocate->extents;
  made->elem_offset =
      tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 0, allocate->head.span);
  made->align = 64;
  made->offset_factor = 1;
  return &made->head;
}

// The buffer that the statement behind an allocation of `data` declares for it.
static tvms_node *TVMS_NULLABLE declared_for(const tvms_node *data,
                                             const tvms_node *TVMS_NULLABLE next) {
  if (next && next->kind == TVMS_NODE_SEQ)
    next = tvms_as_seq((tvms_node *)(uintptr_t)next)->stmts.items[0];
  if (!next || next->kind != TVMS_NODE_DECL_BUFFER) return NULL;
  tvms_node *buffer = tvms_as_decl_buffer((tvms_node *)(uintptr_t)next)->buffer;
  return tvms_as_buffer(buffer)->data == data ? buffer : NULL;
}

// `next` stands behind an ALLOCATE.
static void visit_alloc(finder *f, tvms_node *node,
                        const tvms_node *TVMS_NULLABLE next) {
  bool pointer = node->kind == TVMS_NODE_ALLOCATE;
  tvms_node *buffer = pointer ? memory_of(f, tvms_as_allocate(node))
                              : tvms_as_alloc_buffer(node)->buffer;
  tvms_list shape = tvms_as_buffer(buffer)->shape;
  visit_list(f, shape, 0);
  if (is_size_bound(f, shape)) return;
  tvms_access_alloc made = {.stmt = node, .buffer = buffer, .level = f->scopes.len};
  if (pointer) made.declared = declared_for(tvms_as_buffer(buffer)->data, next);
  tvms_vec_push(f->memory, &f->access->allocs, made);
  tvms_node_map_put(&f->access->places, tvms_as_buffer(buffer)->data,
                    (tvms_node *)(uintptr_t)f->access->allocs.len);
}

static void visit_declaration(finder *f, const tvms_decl_buffer *declare) {
  const tvms_node *source =
      declare->source ? tvms_linear_access_pointer(declare->source) : NULL;
  if (!source) return;
  tvms_node *root = tvms_node_map_get(&f->access->roots, source);
  tvms_node_map_put(&f->access->roots, tvms_as_buffer(declare->buffer)->data,
                    root ? root : (tvms_node *)(uintptr_t)source);
}

static void visit_call(finder *f, tvms_node *node) {
  tvms_list args = tvms_as_call(node)->args;
  tvms_tir_opcode opcode = tvms_call_opcode(node);
  bool element = opcode == TVMS_TIR_address_of && args.len == 1
                 && args.items[0]->kind == TVMS_NODE_BUFFER_LOAD;
  if (opcode == TVMS_TIR_buffer_data) {
    touch(f, node, false);
  } else if (element && !f->addresses) {
    visit_list(f, tvms_as_buffer_load(args.items[0])->indices, 0);
  } else {
    visit_list(f, args, 0);
  }
}

static void visit_inner(finder *f, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_ALLOC_BUFFER:
  case TVMS_NODE_ALLOCATE: visit_alloc(f, node, NULL); return;
  case TVMS_NODE_DECL_BUFFER: visit_declaration(f, tvms_as_decl_buffer(node)); return;
  case TVMS_NODE_STORE:
  case TVMS_NODE_EVALUATE:
  case TVMS_NODE_BIND:
  case TVMS_NODE_RETURN: visit_leaf(f, node); return;
  case TVMS_NODE_FOR:
  case TVMS_NODE_WHILE:
  case TVMS_NODE_IF_THEN_ELSE:
  case TVMS_NODE_ASSERT: visit_scope(f, node); return;
  case TVMS_NODE_SEQ: visit_seq(f, tvms_as_seq(node)->stmts, 0); return;
  case TVMS_NODE_ATTR_STMT: visit(f, tvms_as_attr_stmt(node)->value); return;
  case TVMS_NODE_BUFFER_LOAD:
    visit_below(f, node);
    touch_element(f, tvms_as_buffer_load(node)->buffer);
    return;
  case TVMS_NODE_VAR: touch(f, node, false); return;
  case TVMS_NODE_CALL: visit_call(f, node); return;
  default: visit_below(f, node); return;
  }
}

static void visit(finder *f, tvms_node *node) {
  if (!tvms_memory_enter(f->memory)) tvms_memory_unwind(f->memory, TVMS_OVER_LIMIT);
  visit_inner(f, node);
  tvms_memory_leave(f->memory);
}

// ---- Liveness ----

static uint32_t place_of_event(const tvms_linear_access *access, uint32_t i) {
  int64_t pair = access->entries.items[i].pair;
  return pair < 0 ? (uint32_t)(i + pair) : i;
}

const tvms_access_event *tvms_linear_access_event(const tvms_linear_access *access,
                                                  uint32_t i) {
  return &access->events[place_of_event(access, i)];
}

static void find_events(finder *f) {
  tvms_linear_access *access = f->access;
  uint32_t count = access->entries.len, allocs = access->allocs.len;
  tvms_arena *arena = &access->unit->arena;
  access->events = tvms_arena_array(arena, tvms_access_event, count + 1);
  memset(access->events, 0, (count + 1) * sizeof *access->events);
  bool *seen = tvms_arena_array(arena, bool, allocs + 1);
  memset(seen, 0, allocs + 1);
  for (uint32_t i = count; i-- > 0;) {
    const tvms_access_entry *e = &access->entries.items[i];
    for (uint32_t k = 0; k < e->touched.len; k++) {
      uint32_t alloc = e->touched.items[k];
      if (seen[alloc]) continue;
      seen[alloc] = true;
      tvms_vec_push(f->memory, &access->events[place_of_event(access, i)].dead, alloc);
    }
  }
  memset(seen, 0, allocs + 1);
  for (uint32_t i = 0; i < count; i++) {
    int64_t pair = access->entries.items[i].pair;
    if (pair < 0) continue;
    const tvms_access_entry *e = &access->entries.items[i + pair];
    for (uint32_t k = 0; k < e->touched.len; k++) {
      uint32_t alloc = e->touched.items[k];
      if (seen[alloc]) continue;
      seen[alloc] = true;
      tvms_vec_push(f->memory, &access->events[i].born, alloc);
    }
  }
}

bool tvms_linear_access_init(tvms_linear_access *access, tvms_unit *unit,
                             tvms_node *body, bool addresses) {
  *access = (tvms_linear_access){.unit = unit};
  finder f = {
      .access = access, .memory = &unit->context->memory, .addresses = addresses};
  tvms_node_map_init(&access->roots, f.memory);
  tvms_node_map_init(&access->places, f.memory);
  tvms_node_map_init(&access->used, f.memory);
  tvms_node_map_init(&f.bound, f.memory);
  visit(&f, body);
  find_events(&f);
  tvms_vec_fini(f.memory, &f.scopes);
  tvms_node_map_fini(&f.bound);
  return !f.failed;
}

void tvms_linear_access_fini(tvms_linear_access *access) {
  tvms_memory *memory = &access->unit->context->memory;
  for (uint32_t i = 0; i < access->entries.len; i++) {
    tvms_vec_fini(memory, &access->entries.items[i].touched);
    tvms_vec_fini(memory, &access->events[i].born);
    tvms_vec_fini(memory, &access->events[i].dead);
  }
  tvms_vec_fini(memory, &access->entries);
  tvms_vec_fini(memory, &access->allocs);
  tvms_node_map_fini(&access->roots);
  tvms_node_map_fini(&access->places);
  tvms_node_map_fini(&access->used);
}
