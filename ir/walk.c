// Iterative visits over the schema, and what a part is there for.
//
// The walk keeps a stack of nodes with the place of the next part in each, so a sum of a
// hundred thousand terms is no deeper for it than one of two. A part that several nodes share
// is visited from each of them.
#include "ir/walk.h"

#include "support/vec.h"

static const void *field_of(const tvms_node *node, const tvms_field *field) {
  return (const char *)node + field->offset;
}

tvms_node *TVMS_NULLABLE tvms_walk_next_child(const tvms_node *node,
                                              tvms_child_at *at) {
  const tvms_node_schema *schema = tvms_node_schema_of((tvms_node_kind)node->kind);
  for (; at->field < schema->field_count; at->field++, at->item = 0) {
    const tvms_field *field = &schema->fields[at->field];
    at->role = field->role;
    if (field->type == TVMS_TYPE_NODE && at->item == 0) {
      tvms_node *child = *(tvms_node *const *)field_of(node, field);
      at->item = 1;
      if (child) return child;
    }
    if (field->type != TVMS_TYPE_LIST) continue;
    const tvms_list *list = field_of(node, field);
    while (at->item < list->len) {
      tvms_node *child = list->items[at->item++];
      if (child) return child;
    }
  }
  return NULL;
}

// Fields of each kind without its plain data, ended by one of size 0.
#define CHILD_NODE(KIND, name, role)                                                   \
  {offsetof(tvms_struct_##KIND, name), 1, TVMS_ROLE_##role},
#define CHILD_LIST(KIND, name, role)                                                   \
  {offsetof(tvms_struct_##KIND, name), 2, TVMS_ROLE_##role},
#define CHILD_OPTIONAL  CHILD_NODE
#define CHILD_OPTIONALS CHILD_LIST
#define CHILD_SYM(KIND, name, role)
#define CHILD_INT(KIND, name, role)
#define CHILD_FLOAT(KIND, name, role)
#define CHILD_DTYPE(KIND, name, role)
#define CHILD_FLAG(KIND, name, role)
#define CHILD_TEXT(KIND, name, role)
#define CHILD_BYTES(KIND, name, role)

#define NODE(KIND, name, class)              static const tvms_child_field children_##KIND[] = {
#define FIELD(KIND, TYPE, name, role, holds) CHILD_##TYPE(KIND, name, role)
#define END(KIND)                                                                      \
  { 0 }                                                                                \
  }                                                                                    \
  ;
#include "ir/nodes.def"

const tvms_child_field *const tvms_walk_table[] = {
#define NODE(KIND, name, class) [TVMS_NODE_##KIND] = children_##KIND,
#define FIELD(KIND, TYPE, name, role, holds)
#define END(KIND)
#include "ir/nodes.def"
};

typedef struct {
  tvms_node *node;
  const tvms_child_field *field;  // the next one
  tvms_node **item;               // the next one of the field before
  tvms_node **end;
  tvms_field_role role;   // of the node
  tvms_field_role below;  // of the items
} frame;

typedef struct {
  TVMS_VEC(frame) stack;
  tvms_memory *memory;
  const tvms_visitor *visitor;
} walk;

// Enters a node; returns false if the walk must end.
static bool enter(walk *w, tvms_node *node, tvms_field_role role) {
  const tvms_visitor *visitor = w->visitor;
  tvms_walk_step step =
      visitor->enter ? visitor->enter(visitor->self, node, role) : TVMS_WALK_ON;
  if (step == TVMS_WALK_STOP) return false;
  const tvms_child_field *field = tvms_walk_fields(node);
  if (step == TVMS_WALK_SKIP || !field->size) {
    if (visitor->leave) visitor->leave(visitor->self, node, role);
    return true;
  }
  tvms_vec_reserve(w->memory, &w->stack, 1);
  frame *top = &w->stack.items[w->stack.len++];
  top->node = node;
  top->field = field;
  top->item = top->end = NULL;
  top->role = role;
  return true;
}

// Goes to the next field of the node on top; false behind the last one.
static bool take_field(frame *top) {
  const tvms_child_field *field = top->field;
  if (!field->size) return false;
  top->field++;
  top->item = tvms_walk_items(top->node, field, &top->end);
  top->below = tvms_role_below(top->node, top->role, (tvms_field_role)field->role);
  return true;
}

bool tvms_walk(tvms_memory *memory, tvms_node *root, const tvms_visitor *visitor) {
  walk w = {.memory = memory, .visitor = visitor};
  bool going = enter(&w, root, TVMS_ROLE_USE);
  while (going && w.stack.len > 0) {
    frame *top = &w.stack.items[w.stack.len - 1];
    if (top->item != top->end) {
      tvms_node *child = *top->item++;
      if (child) going = enter(&w, child, top->below);
    } else if (!take_field(top)) {
      if (visitor->leave) visitor->leave(visitor->self, top->node, top->role);
      w.stack.len--;
    }
  }
  tvms_vec_fini(memory, &w.stack);
  return going;
}

static tvms_walk_step is_wanted(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  return node == self ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_walk_contains(tvms_memory *memory, tvms_node *node, const tvms_node *wanted) {
  tvms_visitor visitor = {.self = (void *)(uintptr_t)wanted, .enter = is_wanted};
  return !tvms_walk(memory, node, &visitor);
}
