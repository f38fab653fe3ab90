// Items of lists that are borrowed (backend/core/borrow.h).
//
// An item stays what it is if one statement outside of loops sets it, or none and it is a parameter, and if nobody gets
// a pointer to it, but to load from it.
#include "backend/core/borrow.h"

#include "backend/core/boxes.h"
#include "ir/build.h"
#include "ir/op.h"
#include "ir/walk.h"

typedef struct {
  uint32_t sets;
  bool escapes;
  const tvms_call *TVMS_NULLABLE getter;  // the call above that sets it
} item;

typedef struct {
  uint32_t count;
  bool param;
  item *items;
} list;

struct tvms_borrow {
  list *lists;  // by the id of the variable; of a parameter one item
};

typedef struct {
  tvms_context *context;
  tvms_borrow *b;
  uint32_t loops;   // around
  uint32_t loaded;  // T.tvm_struct_get around
} finder;

static list *list_of(const tvms_borrow *b, const tvms_node *node) {
  return node->kind == TVMS_NODE_VAR ? &b->lists[node->id] : NULL;
}

static item *item_of(const tvms_borrow *b, const tvms_node *node,
                     const tvms_node *index) {
  const list *l = list_of(b, node);
  if (!l || !tvms_node_is_int_imm(index)) return NULL;
  int64_t at = tvms_as_int_imm(index)->value;
  return at >= 0 && at < l->count ? &l->items[at] : NULL;
}

static void add_list(finder *f, const tvms_node *var, uint32_t count, bool param) {
  item *items = tvms_arena_array(&f->context->scratch, item, count);
  f->b->lists[var->id] = (list){count, param, items};
}

static bool is_getter(const tvms_call *call) {
  tvms_list args = call->args;
  return args.len == 5 && args.items[2]->kind == TVMS_NODE_STRING_IMM
         && tvms_bytes_is(tvms_as_string_imm(args.items[2])->value,
                          "vm.builtin.tuple_getitem")
         && tvms_node_is_int_imm(args.items[4]);
}

static void note_set(finder *f, const tvms_call *call, bool resets) {
  item *set = call->args.len > 1
                  ? item_of(f->b, call->args.items[0], call->args.items[1])
                  : NULL;
  if (!set) return;
  set->sets += resets || f->loops ? 2 : 1;
  if (!resets && is_getter(call)) set->getter = call;
}

// A pointer to item 0, or to one that lies so many bytes behind it.
static void note_pointer(finder *f, const tvms_node *var, int64_t bytes) {
  const list *l = list_of(f->b, var);
  int64_t at = bytes / 16;
  if (l && at >= 0 && at < l->count) l->items[at].escapes = true;
}

static tvms_walk_step enter(void *self, tvms_node *node, tvms_field_role role);

static void leave(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  finder *f = self;
  f->loops -= node->kind == TVMS_NODE_FOR || node->kind == TVMS_NODE_WHILE;
  f->loaded -=
      node->kind == TVMS_NODE_CALL && tvms_call_opcode(node) == TVMS_TIR_tvm_struct_get;
}

// What a call that sets an item is given: the list itself is not.
static void look_at_arguments(finder *f, const tvms_call *call) {
  tvms_visitor visitor = {f, enter, leave};
  for (uint32_t i = 2; i < call->args.len; i++)
    tvms_walk(&f->context->memory, call->args.items[i], &visitor);
}

static tvms_walk_step look_at_call(finder *f, const tvms_call *call) {
  tvms_list args = call->args;
  switch ((int)tvms_call_opcode(&call->head)) {
  case TVMS_TIR_anylist_getitem: return TVMS_WALK_SKIP;
  case TVMS_TIR_anylist_resetitem: note_set(f, call, true); return TVMS_WALK_SKIP;
  case TVMS_TIR_anylist_setitem_call_packed:
    note_set(f, call, false);
    look_at_arguments(f, call);
    return TVMS_WALK_SKIP;
  case TVMS_TIR_handle_add_byte_offset:
    if (args.len != 2 || f->loaded || !tvms_node_is_int_imm(args.items[1]))
      return TVMS_WALK_ON;
    note_pointer(f, args.items[0], tvms_as_int_imm(args.items[1])->value);
    return TVMS_WALK_SKIP;
  case TVMS_TIR_tvm_struct_get: f->loaded++; return TVMS_WALK_ON;
  default: return TVMS_WALK_ON;
  }
}

static tvms_walk_step enter(void *self, tvms_node *node, tvms_field_role role) {
  finder *f = self;
  f->loops += node->kind == TVMS_NODE_FOR || node->kind == TVMS_NODE_WHILE;
  if (node->kind == TVMS_NODE_BIND) {
    const tvms_bind *bind = tvms_as_bind(node);
    bool calls = bind->value->kind == TVMS_NODE_CALL
                 && tvms_call_opcode(bind->value) == TVMS_TIR_tvm_stack_alloca;
    int64_t count = calls ? tvms_boxes_of(tvms_as_call(bind->value)) : -1;
    if (count > 0) add_list(f, bind->var, (uint32_t)count, false);
  }
  if (node->kind == TVMS_NODE_VAR && role != TVMS_ROLE_DEFINE && !f->loaded)
    note_pointer(f, node, 0);
  return node->kind == TVMS_NODE_CALL ? look_at_call(f, tvms_as_call(node))
                                      : TVMS_WALK_ON;
}

const tvms_borrow *tvms_boxes_borrow(tvms_context *context, const tvms_unit *unit,
                                     const tvms_prim_func *function) {
  tvms_borrow *b = tvms_arena_new(&context->scratch, tvms_borrow);
  b->lists = tvms_arena_array(&context->scratch, list, unit->next_id);
  finder f = {.context = context, .b = b};
  for (uint32_t i = 0; i < function->params.len; i++)
    add_list(&f, function->params.items[i], 1, true);
  tvms_visitor visitor = {&f, enter, leave};
  tvms_walk(&context->memory, function->body, &visitor);
  return b;
}

bool tvms_boxes_is_borrowed(const tvms_borrow *b, const tvms_node *of,
                            const tvms_node *index) {
  const item *borrowed = item_of(b, of, index);
  if (!borrowed || !borrowed->getter || borrowed->sets != 1 || borrowed->escapes
      || list_of(b, of)->param)
    return false;
  const tvms_node *source = borrowed->getter->args.items[3];
  bool gets = source->kind == TVMS_NODE_CALL
              && tvms_call_opcode(source) == TVMS_TIR_anylist_getitem;
  if (!gets) return false;
  tvms_list from = tvms_as_call(source)->args;
  const item *tuple = item_of(b, from.items[0], from.items[1]);
  if (!tuple || tuple->escapes) return false;
  // Another list may go earlier.
  if (from.items[0] == of) return tuple->sets == 1;
  return list_of(b, from.items[0])->param && !tuple->sets;
}
