// Which parts of a workspace are free.
//
// Tensors are declared over numbered places of the workspace, or over other tensors (a reshape);
// each is in use from its declaration to the last statement that names it, to the end if a packed function gets it. Where anything else is
// done with the workspace, nothing is known.
#include "passes/tir/memory/lift_gaps.h"

#include "ir/op.h"
#include "ir/walk.h"
#include "passes/relax/make.h"
#include "passes/tir/memory/lift_allocations.h"

static bool is_base(const tvms_lift_gaps *g, const tvms_node *var) {
  for (uint32_t i = 0; i < g->bases.len; i++)
    if (g->bases.items[i] == var) return true;
  return false;
}

// The place in the workspace whose address this is; -1: it is not such an address.
static int64_t place_of(const tvms_lift_gaps *g, const tvms_node *source) {
  if (source->kind != TVMS_NODE_CALL || tvms_call_opcode(source) != TVMS_TIR_address_of)
    return -1;
  const tvms_node *node = tvms_as_call(source)->args.items[0];
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return -1;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  const tvms_buffer *buffer = tvms_as_buffer(load->buffer);
  bool known = is_base(g, buffer->data) && load->indices.len == 1
               && tvms_node_is_int_imm(load->indices.items[0]);
  return known ? tvms_as_int_imm(load->indices.items[0])->value : -1;
}

// The number of bytes; -1: it is not known.
static int64_t bytes_of(const tvms_buffer *buffer) {
  int64_t bytes = tvms_relax_element_bytes(buffer->element);
  if (buffer->strides.len) return -1;
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    const tvms_node *size = buffer->shape.items[i];
    if (!tvms_node_is_int_imm(size)
        || __builtin_mul_overflow(bytes, tvms_as_int_imm(size)->value, &bytes))
      return -1;
  }
  return bytes;
}

static void add_tensor(tvms_lift_gaps *g, tvms_node *var, int64_t begin, int64_t end,
                       uint32_t over) {
  tvms_lift_tensor made = {var, begin, end, g->at, g->at, over, false};
  tvms_vec_push(g->memory, &g->tensors, made);
}

// Does an expression lead into a tensor?
static bool leads_into_tensor(const tvms_lift_gaps *g, tvms_node *pointer) {
  for (uint32_t i = 0; i < g->tensors.len; i++)
    if (tvms_walk_contains(g->memory, pointer, g->tensors.items[i].var)) return true;
  return false;
}

// A declaration over memory of the workspace. False: it has a place or a size that is not known.
static bool look_at_declaration(tvms_lift_gaps *g, const tvms_decl_buffer *declared) {
  const tvms_buffer *buffer = tvms_as_buffer(declared->buffer);
  if (is_base(g, declared->source)) {
    tvms_vec_push(g->memory, &g->bases, buffer->data);
    return true;
  }
  for (uint32_t i = 0; i < g->tensors.len; i++) {
    tvms_lift_tensor around = g->tensors.items[i];
    if (around.var != declared->source) continue;
    add_tensor(g, buffer->data, around.begin, around.end, around.over);
    return true;
  }
  int64_t begin = place_of(g, declared->source), bytes = bytes_of(buffer);
  // Of other memory, or the walk finds the workspace below it.
  if (begin < 0) return !leads_into_tensor(g, declared->source);
  if (bytes < 0) return false;
  add_tensor(g, buffer->data, begin, begin + bytes, g->tensors.len);
  return true;
}

// What packed functions get is in use as long as what they return.
static void note_handed(tvms_lift_gaps *g, tvms_node *array) {
  for (uint32_t i = 0; i < g->tensors.len; i++) {
    tvms_lift_tensor *tensor = &g->tensors.items[i];
    tensor->handed |= tvms_walk_contains(g->memory, array, tensor->var);
  }
}

static tvms_walk_step look_at(void *self, tvms_node *node, tvms_field_role role) {
  tvms_lift_gaps *g = self;
  (void)role;
  if (node->kind == TVMS_NODE_VAR)
    return is_base(g, node) ? TVMS_WALK_STOP : TVMS_WALK_ON;
  if (node->kind == TVMS_NODE_BIND) {
    const tvms_bind *bind = tvms_as_bind(node);
    bool pointer = tvms_dtype_is_handle(bind->var->dtype);
    return pointer && leads_into_tensor(g, bind->value) ? TVMS_WALK_STOP : TVMS_WALK_ON;
  }
  if (tvms_call_opcode(node) == TVMS_TIR_tvm_stack_make_array) note_handed(g, node);
  if (node->kind != TVMS_NODE_DECL_BUFFER) return TVMS_WALK_ON;
  const tvms_decl_buffer *declared = tvms_as_decl_buffer(node);
  if (!declared->source) return TVMS_WALK_ON;
  uint32_t tensors = g->tensors.len, bases = g->bases.len;
  if (!look_at_declaration(g, declared)) return TVMS_WALK_STOP;
  bool found = g->tensors.len > tensors || g->bases.len > bases;
  return found ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

// True if all that is done with the workspace is known.
static bool find_tensors(tvms_lift_gaps *g) {
  tvms_visitor visitor = {.self = g, .enter = look_at};
  for (g->at = 0; g->at < g->stmts.len; g->at++)
    if (!tvms_walk(g->memory, g->stmts.items[g->at], &visitor)) return false;
  for (uint32_t k = 0; k < g->tensors.len; k++) {
    tvms_lift_tensor *tensor = &g->tensors.items[k];
    if (tensor->handed) tensor->last = g->stmts.len - 1;
    for (uint32_t i = g->stmts.len; i > tensor->last + 1; i--) {
      if (!tvms_walk_contains(g->memory, g->stmts.items[i - 1], tensor->var)) continue;
      tensor->last = i - 1;
      break;
    }
  }
  return true;
}

void tvms_lift_gaps_init(tvms_lift_gaps *g, tvms_memory *memory,
                         const tvms_prim_func *function) {
  *g = (tvms_lift_gaps){.memory = memory};
  uint32_t last = function->params.len - 1;
  const tvms_buffer *workspace = tvms_as_buffer(function->buffers.items[last]);
  int64_t size = bytes_of(workspace);
  if (function->body->kind != TVMS_NODE_SEQ || size < 0) return;
  g->stmts = tvms_as_seq(function->body)->stmts;
  tvms_vec_push(memory, &g->bases, workspace->data);
  if (find_tensors(g)) g->size = size;
}

void tvms_lift_gaps_fini(tvms_lift_gaps *g) {
  tvms_vec_fini(g->memory, &g->tensors);
  tvms_vec_fini(g->memory, &g->bases);
}

void tvms_lift_gaps_span(const tvms_lift_gaps *g, tvms_node *node, uint32_t *first,
                         uint32_t *last) {
  *first = g->stmts.len;
  *last = 0;
  for (uint32_t i = 0; i < g->stmts.len; i++) {
    if (!tvms_walk_contains(g->memory, g->stmts.items[i], node)) continue;
    if (i < *first) *first = i;
    *last = i;
  }
  // What is not a part of the body may run at any time.
  if (*first > *last) {
    *first = 0;
    *last = g->stmts.len;
  }
}

int64_t tvms_lift_gaps_find(const tvms_lift_gaps *g, tvms_node *node, int64_t bytes) {
  uint32_t first, last;
  tvms_lift_gaps_span(g, node, &first, &last);
  int64_t place = 0, before = -1;
  while (place != before) {
    before = place;
    for (uint32_t i = 0; i < g->tensors.len; i++) {
      const tvms_lift_tensor *t = &g->tensors.items[i];
      bool used = t->first <= last && t->last >= first;
      if (!used || t->end <= place || t->begin >= place + bytes) continue;
      place = (t->end + TVMS_FRAME_ALIGNMENT - 1) / TVMS_FRAME_ALIGNMENT
              * TVMS_FRAME_ALIGNMENT;
    }
  }
  return place;
}
