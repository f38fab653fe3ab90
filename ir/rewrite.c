// Copy on change over the schema: the order of work on one node is enter, its parts, the
// type in its head, leave, tidying up.
#include "ir/rewrite.h"

#include "ir/walk.h"

#include <string.h>

static tvms_memory *memory_of(const tvms_rewriter *r) {
  return &r->unit->context->memory;
}

void tvms_rewriter_init(tvms_rewriter *r, tvms_unit *unit, void *self) {
  *r = (tvms_rewriter){.unit = unit, .self = self, .roles = TVMS_IN_ALL};
  tvms_node_map_init(&r->known, &unit->context->memory);
  tvms_node_map_init(&r->typed, &unit->context->memory);
}

void tvms_rewriter_fini(tvms_rewriter *r) {
  tvms_node_map_fini(&r->known);
  tvms_node_map_fini(&r->typed);
  tvms_vec_fini(memory_of(r), &r->emitted);
}

void tvms_rewriter_enter_class(tvms_rewriter *r, tvms_node_class class,
                               tvms_rewrite_hook *hook) {
  for (int kind = TVMS_NODE_INVALID + 1; kind < TVMS_NODE_COUNT; kind++) {
    if (tvms_node_schema_of((tvms_node_kind)kind)->class == class)
      r->enter[kind] = hook;
  }
}

tvms_node *tvms_node_copy(tvms_unit *unit, const tvms_node *node) {
  const tvms_node_schema *schema = tvms_node_schema_of((tvms_node_kind)node->kind);
  tvms_node *copy = tvms_node_new(unit, (tvms_node_kind)node->kind, node->span);
  uint32_t id = copy->id;
  memcpy(copy, node, schema->size);
  copy->id = id;
  return copy;
}

static bool same_list(tvms_list a, tvms_list b) {
  return a.items == b.items && a.len == b.len;
}

static bool same_part(const tvms_node *a, const tvms_node *b, const tvms_field *field) {
  const void *left = (const char *)a + field->offset;
  const void *right = (const char *)b + field->offset;
  if (field->type == TVMS_TYPE_NODE)
    return *(tvms_node *const *)left == *(tvms_node *const *)right;
  return same_list(*(const tvms_list *)left, *(const tvms_list *)right);
}

tvms_node *tvms_node_copy_changed(tvms_unit *unit, tvms_node *node,
                                  const tvms_node *now) {
  const tvms_field *part = tvms_node_schema_of((tvms_node_kind)node->kind)->parts;
  for (; part->name; part++)
    if (!same_part(node, now, part)) return tvms_node_copy(unit, now);
  return node;
}

static bool has_identity(const tvms_node *node) {
  return node->kind == TVMS_NODE_VAR || node->kind == TVMS_NODE_BUFFER
         || node->kind == TVMS_NODE_ITER_VAR;
}

static tvms_node *TVMS_NULLABLE rewrite_as(tvms_rewriter *r, tvms_node *node,
                                           tvms_field_role role);

// ---- Parts ----

// A statement that is the whole body of its parent. What it emitted goes in front of it.
static tvms_node *TVMS_NULLABLE rewrite_body(tvms_rewriter *r, const tvms_node *parent,
                                             tvms_node *old, bool nullable) {
  uint32_t base = r->emitted.len;
  const tvms_node *outer = r->sequence;
  r->sequence = parent;
  tvms_node *made = rewrite_as(r, old, TVMS_ROLE_BODY);
  r->sequence = outer;
  if (r->emitted.len > base) {
    tvms_node_vec stmts = {0};
    for (uint32_t i = base; i < r->emitted.len; i++)
      tvms_vec_push(memory_of(r), &stmts, r->emitted.items[i]);
    r->emitted.len = base;
    if (made) tvms_stmt_push_last(memory_of(r), &stmts, made);
    return tvms_stmt_seq(r->unit, &stmts, old->span);
  }
  return made || nullable ? made : tvms_stmt_none(r->unit, old->span);
}

// Does the watch hear of what stands in `parent`?
static inline bool is_heard(const tvms_rewrite_watch *watch, const tvms_node *parent,
                            const tvms_node *part) {
  return !watch->parents
         || tvms_kind_set_has(watch->parents, (tvms_node_kind)parent->kind)
         || tvms_node_class_of(part) == TVMS_CLASS_STMT;
}

// The place of one part: what is around it hears of it.
static tvms_node *TVMS_NULLABLE rewrite_place(tvms_rewriter *r, const tvms_node *parent,
                                              const tvms_field *field, tvms_node *old) {
  tvms_field_role role = tvms_role_below(parent, r->role, field->role);
  if (!(r->roles >> role & 1)) return old;
  if (r->only_statements && role != TVMS_ROLE_BODY && !r->known.count) return old;
  bool heard = r->watch && is_heard(r->watch, parent, old);
  if (heard) r->watch->enter(r->watch, parent, field, old);
  bool alone = role == TVMS_ROLE_BODY && field->type == TVMS_TYPE_NODE
               && old->kind != TVMS_NODE_BLOCK
               && tvms_node_class_of(old) == TVMS_CLASS_STMT;
  tvms_node *made =
      alone ? rewrite_body(r, parent, old, field->nullable) : rewrite_as(r, old, role);
  if (heard) r->watch->leave(r->watch, parent, field, old, made);
  return made;
}

// Half of all nodes are numbers and names that no hook wants and nothing stands below. The
// type of a pointer is never gone into.
static inline bool is_left_alone(const tvms_rewriter *r, const tvms_node *node) {
  if (node->id == 0) return true;
  return tvms_node_schema_of((tvms_node_kind)node->kind)->leaf && !r->enter[node->kind]
         && !r->leave[node->kind]
         && (!node->sinfo || node->sinfo->kind == TVMS_NODE_SINFO_POINTER)
         && !(r->known.count && node->kind == TVMS_NODE_VAR);
}

static inline tvms_node *TVMS_NULLABLE rewrite_part(tvms_rewriter *r,
                                                    const tvms_node *parent,
                                                    const tvms_field *field,
                                                    tvms_node *old) {
  bool passed =
      is_left_alone(r, old) && (!r->watch || !is_heard(r->watch, parent, old));
  return passed ? old : rewrite_place(r, parent, field, old);
}

// Adds what a statement or binding became, behind what it emitted.
static void add_item(tvms_rewriter *r, tvms_node_vec *items, uint32_t base,
                     const tvms_node *old, tvms_node *TVMS_NULLABLE made, bool last) {
  tvms_memory *memory = memory_of(r);
  for (uint32_t i = base; i < r->emitted.len; i++)
    tvms_vec_push(memory, items, r->emitted.items[i]);
  r->emitted.len = base;
  if (!made) return;
  bool is_stmt = made != old && tvms_node_class_of(made) == TVMS_CLASS_STMT;
  if (is_stmt && tvms_stmt_is_none(made)) return;
  if (!is_stmt) {
    tvms_vec_push(memory, items, made);
  } else if (last) {
    tvms_stmt_push_last(memory, items, made);
  } else {
    tvms_stmt_push(r->unit, items, made);
  }
}

// The statements of a SEQ, the bindings of a BINDING_BLOCK.
static tvms_list rewrite_sequence(tvms_rewriter *r, const tvms_node *parent,
                                  const tvms_field *field, tvms_list old) {
  tvms_node_vec items = {0};
  bool same = true;
  const tvms_node *outer = r->sequence;
  r->sequence = parent;
  for (uint32_t i = 0; i < old.len; i++) {
    uint32_t base = r->emitted.len;
    tvms_node *made = rewrite_part(r, parent, field, old.items[i]);
    if (same && made == old.items[i] && r->emitted.len == base) continue;
    for (uint32_t k = 0; same && k < i; k++)
      tvms_vec_push(memory_of(r), &items, old.items[k]);
    same = false;
    add_item(r, &items, base, old.items[i], made, i + 1 == old.len);
  }
  r->sequence = outer;
  if (same) return old;
  tvms_list list = tvms_list_copy(r->unit, items.items, items.len);
  tvms_vec_fini(memory_of(r), &items);
  return list;
}

// Items that are removed close up; where a place may be empty, it becomes so.
static tvms_list rewrite_items(tvms_rewriter *r, const tvms_node *parent,
                               const tvms_field *field, tvms_list old) {
  tvms_list list = old;
  uint32_t len = 0;
  for (uint32_t i = 0; i < old.len; i++) {
    tvms_node *item = old.items[i];
    tvms_node *made = item ? rewrite_part(r, parent, field, item) : NULL;
    if (made != item && list.items == old.items)
      list = tvms_list_copy(r->unit, old.items, old.len);
    if (list.items == old.items) {
      len++;
    } else if (made || field->nullable) {
      list.items[len++] = made;
    }
  }
  list.len = len;
  return list;
}

// The type in the head. A variable whose own type mentions it stands for itself there. A type
// that stayed where its variable is defined stays where it is used: looking again would take a
// walk over the types of all weights for each use of their tuple.
static tvms_node *TVMS_NULLABLE rewrite_type(tvms_rewriter *r, tvms_node *node) {
  tvms_node *old = node->sinfo;
  if (!old || old->id == 0 || old->kind == TVMS_NODE_SINFO_POINTER) return old;
  if (!(r->roles & TVMS_IN(TYPE))) return old;
  bool var = node->kind == TVMS_NODE_VAR;
  if (!var) return rewrite_as(r, old, TVMS_ROLE_TYPE);
  if (tvms_node_map_get(&r->typed, node) == old) return old;
  bool defined = r->role == TVMS_ROLE_DEFINE || r->role == TVMS_ROLE_DEFINE_REC;
  tvms_node_map_put(&r->known, node, node);
  tvms_node *made = rewrite_as(r, old, TVMS_ROLE_TYPE);
  tvms_node_map_put(&r->known, node, NULL);
  if (defined && made == old) tvms_node_map_put(&r->typed, node, old);
  return made;
}

tvms_node *tvms_rewrite_below(tvms_rewriter *r, tvms_node *node) {
  const tvms_field *field = tvms_node_schema_of((tvms_node_kind)node->kind)->parts;
  bool sequence = node->kind == TVMS_NODE_SEQ || node->kind == TVMS_NODE_BINDING_BLOCK;
  tvms_node *result = node;
  for (; field->name; field++) {
    if (field->type == TVMS_TYPE_NODE) {
      tvms_node *old = *(tvms_node **)(void *)((char *)node + field->offset);
      tvms_node *made = old ? rewrite_part(r, result, field, old) : NULL;
      if (made == old) continue;
      if (result == node) result = tvms_node_copy(r->unit, node);
      *(tvms_node **)(void *)((char *)result + field->offset) = made;
    } else {
      tvms_list old = *(tvms_list *)(void *)((char *)node + field->offset);
      tvms_list made = sequence ? rewrite_sequence(r, result, field, old)
                                : rewrite_items(r, result, field, old);
      if (same_list(made, old)) continue;
      if (result == node) result = tvms_node_copy(r->unit, node);
      *(tvms_list *)(void *)((char *)result + field->offset) = made;
    }
  }
  tvms_node *type = rewrite_type(r, node);
  if (type == node->sinfo) return result;
  if (result == node) result = tvms_node_copy(r->unit, node);
  result->sinfo = type;
  return result;
}

// ---- Nodes ----

// What is left of a sequence: nothing, its only statement, or itself.
static tvms_node *TVMS_NULLABLE tidy(tvms_rewriter *r, const tvms_node *old,
                                     tvms_node *TVMS_NULLABLE node) {
  if (!node || node == old) return node;
  if (node->kind == TVMS_NODE_BINDING_BLOCK) {
    return tvms_as_binding_block(node)->bindings.len ? node : NULL;
  }
  if (node->kind != TVMS_NODE_SEQ) return node;
  tvms_list stmts = tvms_as_seq(node)->stmts;
  if (stmts.len == 0) return tvms_stmt_none(r->unit, node->span);
  return stmts.len == 1 ? stmts.items[0] : node;
}

// Is this what stands for the node from now on? A hook may give a variable another value at
// each place where it is used, but where it is defined it says which variable it is.
static bool is_for_good(const tvms_node *node, const tvms_node *TVMS_NULLABLE result,
                        bool hooked, tvms_field_role role) {
  if (node->kind != TVMS_NODE_VAR) return true;
  bool defined = role == TVMS_ROLE_DEFINE || role == TVMS_ROLE_DEFINE_REC;
  return result && result != node && result->kind == TVMS_NODE_VAR
         && (!hooked || defined);
}

static tvms_node *TVMS_NULLABLE rewrite_as(tvms_rewriter *r, tvms_node *node,
                                           tvms_field_role role) {
  if (is_left_alone(r, node)) return node;
  bool lasting = has_identity(node);
  tvms_node *known =
      lasting && r->known.count ? tvms_node_map_get(&r->known, node) : NULL;
  if (known) return known;
  if (!tvms_memory_enter(memory_of(r)))
    tvms_memory_unwind(memory_of(r), TVMS_OVER_LIMIT);
  tvms_field_role outer = r->role;
  const tvms_node *outer_old = r->old;
  r->role = role;
  tvms_span outer_origin = r->unit->origin;
  if (node->span.end) r->unit->origin = node->span;
  tvms_node *result = TVMS_REWRITE_BELOW;
  if (r->enter[node->kind]) result = r->enter[node->kind](r, node);
  bool hooked = result != TVMS_REWRITE_BELOW;
  if (!hooked) {
    result = tvms_rewrite_below(r, node);
    r->old = node;
    if (r->leave[node->kind]) result = r->leave[node->kind](r, result);
  }
  result = tidy(r, node, result);
  r->role = outer;
  r->old = outer_old;
  r->unit->origin = outer_origin;
  tvms_memory_leave(memory_of(r));
  if (lasting && is_for_good(node, result, hooked, role))
    tvms_node_map_put(&r->known, node, result);
  return result;
}

// The role of a part that a hook rewrites by itself.
static tvms_field_role role_here(const tvms_rewriter *r, const tvms_node *node) {
  bool below = r->role == TVMS_ROLE_TYPE || r->role == TVMS_ROLE_NOTE
               || r->role == TVMS_ROLE_ACCESS || r->role == TVMS_ROLE_DEFINE_REC;
  if (below) return r->role;
  bool body = tvms_node_class_of(node) == TVMS_CLASS_STMT
              || node->kind == TVMS_NODE_BINDING_BLOCK
              || node->kind == TVMS_NODE_VAR_BINDING
              || node->kind == TVMS_NODE_MATCH_CAST;
  return body ? TVMS_ROLE_BODY : TVMS_ROLE_USE;
}

// Looks how far the hooks reach. Returns false if they reach nothing in the unit.
static bool look_at_hooks(tvms_rewriter *r) {
  bool reaches = false;
  r->only_statements = true;
  for (int kind = TVMS_NODE_INVALID + 1; kind < TVMS_NODE_COUNT; kind++) {
    if (!r->enter[kind] && !r->leave[kind]) continue;
    // Devices and meshes lie in the unit of the module.
    if (kind != TVMS_NODE_OBJECT_VDEVICE && kind != TVMS_NODE_OBJECT_MESH
        && !tvms_unit_has(r->unit, (tvms_node_kind)kind))
      continue;
    reaches = true;
    r->only_statements &=
        kind == TVMS_NODE_PRIM_FUNC
        || tvms_node_schema_of((tvms_node_kind)kind)->class == TVMS_CLASS_STMT;
  }
  return reaches;
}

tvms_node *TVMS_NULLABLE tvms_rewrite(tvms_rewriter *r, tvms_node *node) {
  if (r->depth == 0 && !look_at_hooks(r) && !r->known.count && !r->watch) return node;
  r->depth++;
  tvms_node *made = rewrite_as(r, node, role_here(r, node));
  r->depth--;
  return made;
}

tvms_list tvms_rewrite_list(tvms_rewriter *r, tvms_list old) {
  tvms_list list = old;
  uint32_t len = 0;
  for (uint32_t i = 0; i < old.len; i++) {
    tvms_node *made = old.items[i] ? tvms_rewrite(r, old.items[i]) : NULL;
    if (made != old.items[i] && list.items == old.items)
      list = tvms_list_copy(r->unit, old.items, old.len);
    if (list.items == old.items) {
      len++;
    } else if (made || !old.items[i]) {
      list.items[len++] = made;
    }
  }
  list.len = len;
  return list;
}

void tvms_rewrite_emit(tvms_rewriter *r, tvms_node *node) {
  TVMS_CHECK(r->sequence);
  tvms_vec_push(memory_of(r), &r->emitted, node);
}

// ---- Substitution ----

tvms_node *tvms_substitute(tvms_unit *unit, tvms_node *node, const tvms_node_map *map) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, NULL);
  for (uint32_t i = 0; i < map->cap; i++) {
    const tvms_node_pair *pair = &map->pairs[i];
    if (pair->key && pair->value) tvms_node_map_put(&r.known, pair->key, pair->value);
  }
  tvms_node *result = tvms_rewrite(&r, node);
  tvms_rewriter_fini(&r);
  return result;
}

tvms_node *tvms_substitute_one(tvms_unit *unit, tvms_node *node, const tvms_node *var,
                               tvms_node *value) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, NULL);
  tvms_node_map_put(&r.known, var, value);
  tvms_node *result = tvms_rewrite(&r, node);
  tvms_rewriter_fini(&r);
  return result;
}
