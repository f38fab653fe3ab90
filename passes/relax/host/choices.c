// A function that a branch gives is one of those that its sides give, and a number says which. What the
// function has captured in one side is copied to memory that is there behind the branch, unless it was made
// in front of it. A call is a branch over the number.
#include "passes/relax/host/choices.h"

#include "ir/build.h"
#include "ir/op.h"
#include "ir/stmt.h"
#include "passes/relax/host/bindings.h"
#include "passes/relax/host/calls.h"
#include "passes/relax/host/functions.h"
#include "passes/relax/host/leaves.h"
#include "passes/relax/host/objects.h"
#include "passes/relax/host/values.h"

#include <string.h>

static const tvms_dtype number_type = {.code = TVMS_INT, .bits = 64, .lanes = 1};

// Memory in front of the branch in whose side we are.
static tvms_host_value *TVMS_NULLABLE memory_around(tvms_host *h, tvms_dtype dtype,
                                                    tvms_list dims,
                                                    tvms_node_vec *around) {
  tvms_node_vec inner = h->stmts;
  h->stmts = *around;
  h->branches--;
  tvms_host_value *memory = tvms_host_tensor(h, "captured", dtype, dims, NULL);
  if (memory) memory->buffer = tvms_host_buffer_of(h, memory);
  h->branches++;
  *around = h->stmts;
  h->stmts = inner;
  return memory;
}

// Of a branch it is kept: the node itself says yes and its condition no. Branches are asked in order, so that
// those in front of it are known.
static bool branch_gives(tvms_host *h, const tvms_node *node) {
  const tvms_if *branch = tvms_as_if(node);
  const tvms_node *known = tvms_node_map_get(&h->giving, node);
  if (known) return known == node;
  bool yes = tvms_host_gives_function(h, branch->false_branch)
             && tvms_host_gives_function(h, branch->true_branch);
  tvms_node_map_put(&h->giving, node,
                    yes ? (tvms_node *)(uintptr_t)node : branch->condition);
  return yes;
}

bool tvms_host_gives_function(tvms_host *h, const tvms_node *expr) {
  while (expr) {
    switch ((int)expr->kind) {
    case TVMS_NODE_VAR:
      expr = tvms_relax_definitions_value(&h->definitions, expr);
      break;
    case TVMS_NODE_SEQ_EXPR: expr = tvms_as_seq_expr(expr)->body; break;
    case TVMS_NODE_IF: return branch_gives(h, expr);
    case TVMS_NODE_GLOBAL_VAR: return true;
    case TVMS_NODE_CALL:
      if (tvms_op_called(expr) != TVMS_R_make_closure) return false;
      expr = tvms_as_call(expr)->args.items[0];
      break;
    default: return false;
    }
  }
  return false;
}

tvms_host_value *tvms_host_choice(tvms_host *h) {
  tvms_host_value *choice = tvms_host_value_new(h, TVMS_HOST_CHOICE);
  choice->memory =
      tvms_host_tensor(h, "choice", number_type, (tvms_list){NULL, 0}, NULL);
  if (!choice->memory) return NULL;
  choice->memory->buffer = tvms_host_buffer_of(h, choice->memory);
  return choice;
}

static tvms_host_value *TVMS_NULLABLE outlive(tvms_host *h, tvms_host_value *value,
                                              tvms_node_vec *around);

static tvms_host_value *outlive_fields(tvms_host *h, const tvms_host_value *value,
                                       tvms_node_vec *around) {
  tvms_host_value *made = tvms_host_value_new(h, value->kind);
  *made = *value;
  made->depth = h->branches - 1;
  made->fields =
      tvms_arena_array(&h->run->context->scratch, tvms_host_value *, value->count);
  for (uint32_t i = 0; i < value->count && !h->failed; i++)
    made->fields[i] = outlive(h, value->fields[i], around);
  return made;
}

// A number or a shape is read behind the branch.
static tvms_host_value *outlive_numbers(tvms_host *h, tvms_host_value *value,
                                        tvms_node_vec *around) {
  bool single = value->kind == TVMS_HOST_NUMBER;
  tvms_node *count = tvms_host_int(h, value->dims.len);
  tvms_list dims = tvms_list_copy(h->unit, &count, single ? 0 : 1);
  tvms_host_value *made = tvms_host_value_new(h, value->kind);
  *made = *value;
  made->depth = h->branches - 1;
  made->memory =
      memory_around(h, single ? value->number->dtype : number_type, dims, around);
  if (made->memory) tvms_host_deliver(h, value, made->memory);
  return made;
}

// A value that is there behind the branch.
static tvms_host_value *TVMS_NULLABLE outlive(tvms_host *h, tvms_host_value *value,
                                              tvms_node_vec *around) {
  if (value->depth < h->branches) return value;
  switch ((int)value->kind) {
  case TVMS_HOST_NOTHING:
  case TVMS_HOST_TEXT:
  case TVMS_HOST_OBJECT: return value;
  case TVMS_HOST_NUMBER:
  case TVMS_HOST_SHAPE: return outlive_numbers(h, value, around);
  case TVMS_HOST_TUPLE:
  case TVMS_HOST_FUNCTION: return outlive_fields(h, value, around);
  case TVMS_HOST_CHOICE: return tvms_host_boxed(h, value);
  case TVMS_HOST_TENSOR: {
    // The list of objects outlives the branch; whoever takes the tensor reads its sizes there.
    if (tvms_host_is_late(h, value->dims)) return tvms_host_boxed(h, value);
    tvms_host_value *made = memory_around(h, value->dtype, value->dims, around);
    if (made) tvms_host_deliver(h, value, made);
    return made;
  }
  default: break;
  }
  return tvms_host_refuse(
      h, TVMS_NO_SPAN, "a branch gives a function that holds what only the branch has");
}

// Where in a choice a function is that was there in front of the branch; the count if it is new.
static uint32_t place_in(const tvms_host_value *choice,
                         const tvms_host_value *function) {
  uint32_t k = 0;
  for (; k < choice->count; k++) {
    const tvms_host_value *there = choice->fields[k];
    bool same = there->member == function->member && there->count == function->count;
    for (uint32_t i = 0; same && i < function->count; i++)
      same = there->fields[i] == function->fields[i];
    if (same) break;
  }
  return k;
}

// The place of a function in a choice, which it is added to unless it is there.
static uint32_t add(tvms_host *h, tvms_host_value *choice, tvms_host_value *function,
                    tvms_node_vec *around) {
  enum { MOST = 64 };
  uint32_t place = place_in(choice, function);
  if (place < choice->count) return place;
  if (place == MOST) {
    tvms_host_refuse(h, TVMS_NO_SPAN, "branches choose among more than 64 functions");
    return place;
  }
  tvms_host_value **all =
      tvms_arena_array(&h->run->context->scratch, tvms_host_value *, place + 1);
  if (place) memcpy(all, choice->fields, place * sizeof(tvms_host_value *));
  tvms_host_value *added = outlive(h, function, around);
  if (!added) return place;
  all[place] = added;
  choice->fields = all;
  choice->count = place + 1;
  return place;
}

// The number of what `function`, a choice, is now that its k-th alternative is at places[k].
static tvms_node *renumbered(tvms_host *h, const tvms_host_value *function,
                             const uint32_t *places) {
  tvms_unit *unit = h->unit;
  bool in_order = true, one = true;
  for (uint32_t k = 1; k < function->count; k++) {
    in_order &= places[k] == places[0] + k;
    one &= places[k] == places[0];
  }
  tvms_node *number = tvms_host_int(h, places[0]);
  if (one) return number;
  if (in_order && !places[0]) return function->number;
  if (in_order)
    return tvms_binary_new(unit, TVMS_NODE_ADD, function->number, number, TVMS_NO_SPAN);
  for (uint32_t k = 1; k < function->count; k++) {
    tvms_node *is_this = tvms_binary_new(unit, TVMS_NODE_EQ, function->number,
                                         tvms_host_int(h, k), TVMS_NO_SPAN);
    number = tvms_select_new(unit, is_this, tvms_host_int(h, places[k]), number,
                             TVMS_NO_SPAN);
  }
  return number;
}

void tvms_host_choose(tvms_host *h, tvms_host_value *function, tvms_host_value *choice,
                      tvms_node_vec *around) {
  bool chosen = function->kind == TVMS_HOST_CHOICE;
  if (!chosen && function->kind != TVMS_HOST_FUNCTION) {
    tvms_host_refuse(h, TVMS_NO_SPAN, "which function a branch gives is not known");
    return;
  }
  tvms_host_value **given = chosen ? function->fields : &function;
  uint32_t count = chosen ? function->count : 1;
  uint32_t *places = tvms_arena_array(&h->run->context->scratch, uint32_t, count);
  for (uint32_t k = 0; k < count && !h->failed; k++)
    places[k] = add(h, choice, given[k], around);
  if (h->failed) return;
  tvms_node *number =
      chosen ? renumbered(h, function, places) : tvms_host_int(h, places[0]);
  tvms_host_deliver(h, tvms_host_number(h, number), choice->memory);
}

// Reads what was written in the sides of the branch.
static void settle_value(tvms_host *h, tvms_host_value *value) {
  for (uint32_t i = 0; i < value->count; i++)
    settle_value(h, value->fields[i]);
  if (!value->memory) return;
  tvms_node *buffer = value->memory->buffer;
  value->memory = NULL;
  if (value->kind != TVMS_HOST_SHAPE) value->number = tvms_host_load(h, buffer, NULL);
  tvms_node_vec sizes = {0};
  for (uint32_t i = 0; i < value->dims.len; i++)
    tvms_vec_push(tvms_host_memory(h), &sizes,
                  tvms_host_load(h, buffer, tvms_host_int(h, i)));
  value->dims = tvms_list_copy(h->unit, sizes.items, sizes.len);
  tvms_vec_fini(tvms_host_memory(h), &sizes);
}

void tvms_host_settle(tvms_host *h, tvms_host_value *choice) {
  settle_value(h, choice);
}

// ---- What is done with the function that it is ----

// What is done with each: a call, whose results are written to `merged`, or an object is made of it.
typedef struct {
  tvms_node *TVMS_NULLABLE node;
  tvms_list args;
  tvms_host_value **merged;
  uint32_t count;
  const tvms_host_value *TVMS_NULLABLE object;
} use;

static void use_function(tvms_host *h, const tvms_host_value *function, const use *u) {
  if (u->object) {
    tvms_host_box_function(h, function, u->object);
    return;
  }
  tvms_host_value *value = tvms_host_call_function(h, u->node, function, u->args);
  for (uint32_t i = 0; i < u->count && value; i++)
    tvms_host_deliver(h, tvms_host_leaf(value, i), u->merged[i]);
}

static tvms_node *alternative(tvms_host *h, const tvms_host_value *function,
                              const use *u, tvms_span span) {
  tvms_node_vec around = h->stmts;
  h->stmts = (tvms_node_vec){0};
  h->branches++;
  use_function(h, function, u);
  h->branches--;
  tvms_node *made = tvms_stmt_seq(h->unit, &h->stmts, span);
  tvms_vec_fini(tvms_host_memory(h), &h->stmts);
  h->stmts = around;
  return made;
}

// A branch over the number. False: refused.
static bool use_choice(tvms_host *h, const tvms_host_value *choice, const use *u,
                       tvms_span span) {
  tvms_node *uses = NULL;
  for (uint32_t k = choice->count; k > 0 && !h->failed; k--) {
    tvms_node *made = alternative(h, choice->fields[k - 1], u, span);
    if (uses) {
      tvms_if_then_else *test = tvms_node_make(h->unit, IF_THEN_ELSE, span);
      test->condition = tvms_binary_new(h->unit, TVMS_NODE_EQ, choice->number,
                                        tvms_host_int(h, k - 1), TVMS_NO_SPAN);
      test->then_case = made;
      test->else_case = uses;
      made = &test->head;
    }
    uses = made;
  }
  if (!h->failed) tvms_host_push(h, uses);
  return !h->failed;
}

bool tvms_host_box_choice(tvms_host *h, const tvms_host_value *choice,
                          const tvms_host_value *to) {
  return use_choice(h, choice, &(use){.object = to}, TVMS_NO_SPAN);
}

tvms_host_value *tvms_host_invoke_choice(tvms_host *h, tvms_node *node,
                                         const tvms_host_value *choice,
                                         tvms_list args) {
  uint32_t count = node->sinfo ? tvms_host_leaves(node->sinfo) : 0, next = 0;
  tvms_arena *scratch = &h->run->context->scratch;
  tvms_host_value **merged = tvms_arena_array(scratch, tvms_host_value *, count);
  if (!count)
    return tvms_host_refuse(h, node->span,
                            "the type of what the call gives is not known");
  for (uint32_t i = 0; i < count && !h->failed; i++)
    merged[i] = tvms_host_merged_leaf(h, node, i);
  for (uint32_t i = 0; i < count && !h->failed; i++)
    if (merged[i]->kind == TVMS_HOST_TENSOR)
      tvms_host_send(h, node, i, merged[i]->data);
  if (h->failed
      || !use_choice(h, choice, &(use){node, args, merged, count, NULL}, node->span))
    return NULL;
  tvms_host_value **leaves = tvms_arena_array(scratch, tvms_host_value *, count);
  for (uint32_t i = 0; i < count && !h->failed; i++)
    leaves[i] = tvms_host_read(h, tvms_host_leaf_type(node->sinfo, i), merged[i]);
  return h->failed ? NULL : tvms_host_of_leaves(h, node->sinfo, leaves, &next);
}
