// Windows of memory that are folded as they are.
//
//   sums[16:32] = T.max(sums[16:32], A[i * 56 + 2 : i * 56 + 18])
//
// What the next turn of a loop reads again GCC keeps from the one before, and whole lines of windows on the stack mostly: to
// store and load them there takes longer than to load them once more, where each serves one operation or two. (Where it is
// multiplied, arithmetic takes the time, and what is kept are registers that need no address.)
#include "backend/c/folds.h"

#include "backend/c/registers.h"
#include "ir/build.h"
#include "ir/equal.h"

static bool is_vector_load(const tvms_node *node) {
  return node->kind == TVMS_NODE_BUFFER_LOAD && node->dtype.lanes > 1;
}

// Windows read an element more than once.
static void note_read(c_emitter *e, const tvms_buffer_load *load) {
  enum { REMEMBERED = 64 };
  uint32_t first = e->folded.len > REMEMBERED ? e->folded.len - REMEMBERED : 0;
  for (uint32_t i = first; i < e->folded.len && !e->windowed; i++) {
    const tvms_buffer_load *before = tvms_as_buffer_load(e->folded.items[i]);
    e->windowed = before->buffer == load->buffer
                  && tvms_node_same_exprs(before->indices, load->indices);
  }
  tvms_vec_push(&e->context->memory, &e->folded, &load->head);
}

void tvms_c_note_fold(c_emitter *e, const tvms_store *store) {
  const tvms_node *value = store->value;
  if (value->kind != TVMS_NODE_ADD && value->kind != TVMS_NODE_MAX
      && value->kind != TVMS_NODE_MIN)
    return;
  const tvms_binary *sides = tvms_as_binary(value);
  if (!is_vector_load(sides->a) || !is_vector_load(sides->b)) return;
  const tvms_buffer_load *own = tvms_as_buffer_load(sides->a);
  const tvms_buffer_load *other = tvms_as_buffer_load(sides->b);
  if (own->buffer == store->buffer && tvms_node_same_exprs(own->indices, store->indices)
      && !tvms_c_register(e, other->buffer, other->indices))
    note_read(e, other);
}
