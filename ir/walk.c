// Iterative visits over the schema, and what a part is there for.
//
// The walk keeps a stack of nodes with the place of the next part in each, so a sum of a
// hundred thousand terms is no deeper for it than one of two. A part that several nodes share
// is visited from each of them.
#include "ir/walk.h"

#include <string.h>

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

// A node that is being visited, and the place of its next part.
typedef struct {
  tvms_node *node;
  const tvms_child_field *field;  // the next one
  tvms_node **item;               // the next one of the field before
  tvms_node **end;
  uint8_t role;   // of the node
  uint8_t below;  // of the items
  bool inherits;  // all parts have one role, whatever their field says: that in `below`
} frame;

enum { FIRST_FRAMES = 16 };

typedef struct {
  frame first[FIRST_FRAMES];  // most trees are no deeper
  frame *frames;
  uint32_t len;
  uint32_t cap;
} stack;

static void grow(tvms_memory *memory, stack *s) {
  frame *frames = s->frames == s->first ? NULL : s->frames;
  s->cap *= 2;
  s->frames = tvms_memory_realloc(memory, frames, s->cap * sizeof *s->frames);
  if (!frames) memcpy(s->frames, s->first, sizeof s->first);
}

static frame frame_of(tvms_node *node, tvms_field_role role) {
  tvms_field_role any = tvms_role_below(node, role, TVMS_ROLE_USE);
  frame f = {.node = node,
             .field = tvms_walk_fields(node),
             .role = (uint8_t)role,
             .below = (uint8_t)any,
             .inherits = any != TVMS_ROLE_USE};
  return f;
}

// Goes to the next field; false behind the last one.
static bool take_field(frame *top) {
  const tvms_child_field *field = top->field;
  if (!field->size) return false;
  top->field++;
  top->item = tvms_walk_items(top->node, field, &top->end);
  if (!top->inherits) top->below = field->role;
  return true;
}

// Visits what is below the node of `top`. Returns false if the visitor stopped it.
static bool walk_below(tvms_memory *memory, stack *s, frame top,
                       const tvms_visitor *visitor) {
  void *self = visitor->self;
  for (;;) {
    if (top.item == top.end) {
      if (take_field(&top)) continue;
      if (visitor->leave) visitor->leave(self, top.node, (tvms_field_role)top.role);
      if (s->len == 0) return true;
      top = s->frames[--s->len];
      continue;
    }
    tvms_node *child = *top.item++;
    if (!child) continue;
    tvms_field_role role = (tvms_field_role)top.below;
    tvms_walk_step step =
        visitor->enter ? visitor->enter(self, child, role) : TVMS_WALK_ON;
    if (step == TVMS_WALK_STOP) return false;
    if (step == TVMS_WALK_ON && tvms_walk_fields(child)->size) {
      if (s->len == s->cap) grow(memory, s);
      s->frames[s->len++] = top;
      top = frame_of(child, role);
    } else if (visitor->leave) {
      visitor->leave(self, child, role);
    }
  }
}

bool tvms_walk(tvms_memory *memory, tvms_node *root, const tvms_visitor *visitor) {
  tvms_walk_step step = visitor->enter
                            ? visitor->enter(visitor->self, root, TVMS_ROLE_USE)
                            : TVMS_WALK_ON;
  if (step == TVMS_WALK_STOP) return false;
  if (step == TVMS_WALK_SKIP || !tvms_walk_fields(root)->size) {
    if (visitor->leave) visitor->leave(visitor->self, root, TVMS_ROLE_USE);
    return true;
  }
  stack s;
  s.frames = s.first;
  s.len = 0;
  s.cap = FIRST_FRAMES;
  bool whole = walk_below(memory, &s, frame_of(root, TVMS_ROLE_USE), visitor);
  if (s.frames != s.first) tvms_memory_free(memory, s.frames);
  return whole;
}

static tvms_walk_step is_wanted(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  return node == self ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_walk_contains(tvms_memory *memory, tvms_node *node, const tvms_node *wanted) {
  tvms_visitor visitor = {.self = (void *)(uintptr_t)wanted, .enter = is_wanted};
  return !tvms_walk(memory, node, &visitor);
}
