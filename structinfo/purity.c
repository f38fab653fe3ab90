// Purity of PrimFuncs: a walk over the body, where an allocation stands before its stores.
//
//   B = T.alloc_buffer((4,))
//   B[0] = A[0]                  pure so far: nobody else sees B
//   A[0] = B[0]                  not pure: the caller sees A
//
// This asks about a direct call, Module.f(x, out). R.call_tir of the same function is pure all the
// same, because nobody has the output before the call made it. A call of something that is no
// operator of TIR counts as an update.
#include "structinfo/purity.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "support/vec.h"

typedef struct {
  tvms_memory *memory;
  TVMS_VEC(const tvms_node *) own;  // data variables of what the function allocates
} checker;

static void add_own(checker *check, const tvms_node *data) {
  tvms_vec_push(check->memory, &check->own, data);
}

static bool is_own(const checker *check, const tvms_node *data) {
  for (uint32_t i = 0; i < check->own.len; i++) {
    if (check->own.items[i] == data) return true;
  }
  return false;
}

static const tvms_node *data_of(const tvms_node *buffer) {
  return tvms_as_buffer(buffer)->data;
}

static bool updates(const tvms_node *call) {
  tvms_tir_opcode op = tvms_call_opcode(call);
  return op == TVMS_TIR_NONE || tvms_tir_op_row_of(op)->effect == TVMS_EFFECT_UPDATE;
}

static tvms_walk_step enter(void *self, tvms_node *node, tvms_field_role role) {
  checker *check = self;
  (void)role;
  bool pure = true;
  switch ((int)node->kind) {
  case TVMS_NODE_ALLOCATE: add_own(check, tvms_as_allocate(node)->var); break;
  case TVMS_NODE_ALLOC_BUFFER:
    add_own(check, data_of(tvms_as_alloc_buffer(node)->buffer));
    break;
  case TVMS_NODE_STORE:
    pure = is_own(check, data_of(tvms_as_store(node)->buffer));
    break;
  case TVMS_NODE_CALL: pure = !updates(node); break;
  default: break;
  }
  return pure ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

bool tvms_purity_of_prim_func(tvms_memory *memory, const tvms_prim_func *func) {
  if (!func->body) return false;
  checker check = {.memory = memory};
  tvms_visitor visitor = {.self = &check, .enter = enter};
  bool pure = tvms_walk(memory, func->body, &visitor);
  tvms_vec_fini(memory, &check.own);
  return pure;
}
