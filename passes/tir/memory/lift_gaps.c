// Which parts of a workspace are free.
//
// Tensors are declared over numbered places of the workspace, or over other tensors (a reshape);
// each is in use from its declaration to the last statement that names it, to the end if a packed function gets it. Where anything else is
// done with the workspace, nothing is known.
#include "passes/tir/memory/lift_gaps.h"

#include "ir/build.h"
#include "ir/op.h"
#include "ir/walk.h"
#include "passes/tir/memory/lift_place.h"
#include "passes/tir/memory/storage_bytes.h"

#include <string.h>

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

uint32_t tvms_lift_gaps_tensor(const tvms_lift_gaps *g, const tvms_node *var) {
  uint32_t at = var->id < g->ids ? g->tensor_of[var->id] : 0;
  return at && g->tensors.items[at - 1].var == var ? at - 1 : g->tensors.len;
}

static void add_tensor(tvms_lift_gaps *g, tvms_node *var, int64_t begin, int64_t end,
                       uint32_t over) {
  tvms_lift_tensor made = {var, begin, end, g->at, g->at, over, false};
  tvms_vec_push(g->memory, &g->tensors, made);
  if (var->id < g->ids) g->tensor_of[var->id] = g->tensors.len;
}

static tvms_walk_step find_tensor(void *self, tvms_node *node, tvms_field_role role) {
  const tvms_lift_gaps *g = self;
  (void)role;
  bool found =
      node->kind == TVMS_NODE_VAR && tvms_lift_gaps_tensor(g, node) < g->tensors.len;
  return found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Does an expression lead into a tensor?
static bool leads_into_tensor(tvms_lift_gaps *g, tvms_node *pointer) {
  tvms_visitor visitor = {.self = g, .enter = find_tensor};
  return !tvms_walk(g->memory, pointer, &visitor);
}

// A declaration over memory of the workspace. False: it has a place or a size that is not known.
static bool look_at_declaration(tvms_lift_gaps *g, const tvms_decl_buffer *declared) {
  const tvms_buffer *buffer = tvms_as_buffer(declared->buffer);
  if (is_base(g, declared->source)) {
    tvms_vec_push(g->memory, &g->bases, buffer->data);
    return true;
  }
  uint32_t at = tvms_lift_gaps_tensor(g, declared->source);
  if (at < g->tensors.len) {
    tvms_lift_tensor around = g->tensors.items[at];
    add_tensor(g, buffer->data, around.begin, around.end, around.over);
    return true;
  }
  int64_t begin = place_of(g, declared->source), bytes = tvms_storage_bytes(buffer);
  // Of other memory, or the walk finds the workspace below it.
  if (begin < 0) return !leads_into_tensor(g, declared->source);
  if (bytes < 0) return false;
  add_tensor(g, buffer->data, begin, begin + bytes, g->tensors.len);
  return true;
}

// What packed functions get is in use as long as what they return.
static tvms_walk_step note_handed(void *self, tvms_node *node, tvms_field_role role) {
  tvms_lift_gaps *g = self;
  (void)role;
  uint32_t at =
      node->kind == TVMS_NODE_VAR ? tvms_lift_gaps_tensor(g, node) : g->tensors.len;
  if (at < g->tensors.len) g->tensors.items[at].handed = true;
  return TVMS_WALK_ON;
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
  tvms_visitor handed = {.self = g, .enter = note_handed};
  if (tvms_call_opcode(node) == TVMS_TIR_tvm_stack_make_array)
    tvms_walk(g->memory, node, &handed);
  if (node->kind != TVMS_NODE_DECL_BUFFER) return TVMS_WALK_ON;
  const tvms_decl_buffer *declared = tvms_as_decl_buffer(node);
  if (!declared->source) return TVMS_WALK_ON;
  uint32_t tensors = g->tensors.len, bases = g->bases.len;
  if (!look_at_declaration(g, declared)) return TVMS_WALK_STOP;
  bool found = g->tensors.len > tensors || g->bases.len > bases;
  return found ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

static tvms_walk_step note_span(void *self, tvms_node *node, tvms_field_role role) {
  tvms_lift_gaps *g = self;
  (void)role;
  if (node->id >= g->ids) return TVMS_WALK_ON;
  tvms_lift_span *span = &g->spans[node->id];
  if (!span->found) span->first = g->at;
  *span = (tvms_lift_span){span->first, g->at, true};
  return TVMS_WALK_ON;
}

// True if all that is done with the workspace is known.
static bool find_tensors(tvms_lift_gaps *g) {
  tvms_visitor visitor = {.self = g, .enter = look_at},
               spans = {.self = g, .enter = note_span};
  for (g->at = 0; g->at < g->stmts.len; g->at++) {
    if (!tvms_walk(g->memory, g->stmts.items[g->at], &visitor)) return false;
    tvms_walk(g->memory, g->stmts.items[g->at], &spans);
  }
  for (uint32_t k = 0; k < g->tensors.len; k++) {
    tvms_lift_tensor *tensor = &g->tensors.items[k];
    tensor->last =
        tensor->handed ? g->stmts.len - 1 : tvms_lift_gaps_span(g, tensor->var).last;
  }
  return true;
}

static void *zeros(tvms_memory *memory, size_t count, size_t size) {
  return memset(tvms_memory_alloc(memory, count * size), 0, count * size);
}

void tvms_lift_gaps_init(tvms_lift_gaps *g, const tvms_unit *unit,
                         const tvms_prim_func *function) {
  tvms_memory *memory = &unit->context->memory;
  *g = (tvms_lift_gaps){.memory = memory, .ids = unit->next_id};
  g->tensor_of = zeros(memory, g->ids + 1u, sizeof *g->tensor_of);
  g->spans = zeros(memory, g->ids + 1u, sizeof *g->spans);
  uint32_t last = function->params.len - 1;
  const tvms_buffer *workspace = tvms_as_buffer(function->buffers.items[last]);
  int64_t size = tvms_storage_bytes(workspace);
  if (function->body->kind != TVMS_NODE_SEQ || size < 0) return;
  g->stmts = tvms_as_seq(function->body)->stmts;
  tvms_vec_push(memory, &g->bases, workspace->data);
  if (find_tensors(g)) g->size = size;
}

void tvms_lift_gaps_fini(tvms_lift_gaps *g) {
  tvms_memory_free(g->memory, g->tensor_of);
  tvms_memory_free(g->memory, g->spans);
  tvms_vec_fini(g->memory, &g->tensors);
  tvms_vec_fini(g->memory, &g->bases);
}

// What is not a part of the body may run at any time.
tvms_lift_span tvms_lift_gaps_span(const tvms_lift_gaps *g, const tvms_node *node) {
  if (node->id < g->ids && g->spans[node->id].found) return g->spans[node->id];
  return (tvms_lift_span){0, g->stmts.len, false};
}

int64_t tvms_lift_gaps_find(const tvms_lift_gaps *g, const tvms_node *node,
                            int64_t bytes) {
  tvms_lift_span span = tvms_lift_gaps_span(g, node);
  int64_t place = 0, before = -1;
  while (place != before) {
    before = place;
    for (uint32_t i = 0; i < g->tensors.len; i++) {
      const tvms_lift_tensor *t = &g->tensors.items[i];
      bool used = t->first <= span.last && t->last >= span.first;
      if (!used || t->end <= place || t->begin >= place + bytes) continue;
      place = tvms_lift_place_aligned(t->end);
    }
  }
  return place;
}
