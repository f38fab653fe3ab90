// Making code: instructions, slots and constants.
#include "interp/assemble.h"

#include "ir/build.h"
#include "ir/walk.h"

#include <string.h>

// ---- Who binds what ----

typedef struct {
  tvms_interp_fact *facts;
  uint32_t allocations;
  const tvms_node *TVMS_NULLABLE thread;  // of a loop, which binds the variable itself
} survey;

static void add_site(survey *s, const tvms_node *node) {
  uint8_t *sites = &s->facts[node->id].sites;
  if (*sites < 2) ++*sites;
}

// A size of a buffer that a block declares on a part of another: the part gives it its value.
static void add_sizes(survey *s, tvms_list sizes) {
  for (uint32_t i = 0; i < sizes.len; i++) {
    if (sizes.items[i]->kind == TVMS_NODE_VAR) add_site(s, sizes.items[i]);
  }
}

static void survey_match(survey *s, const tvms_node *node) {
  const tvms_buffer *buffer = tvms_as_buffer(tvms_as_match_buffer_region(node)->buffer);
  add_sizes(s, buffer->shape);
  add_sizes(s, buffer->strides);
  if (buffer->elem_offset && buffer->elem_offset->kind == TVMS_NODE_VAR)
    add_site(s, buffer->elem_offset);
}

static bool allocates(const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_ALLOCATE:
  case TVMS_NODE_ALLOCATE_CONST:
  case TVMS_NODE_ALLOC_BUFFER:
  case TVMS_NODE_BUFFER_REALIZE: return true;
  case TVMS_NODE_BLOCK: return tvms_as_block(node)->alloc_buffers.len > 0;
  default: return false;
  }
}

static tvms_walk_step survey_enter(void *self, tvms_node *node, tvms_field_role role) {
  survey *s = self;
  if (role == TVMS_ROLE_ACCESS || role == TVMS_ROLE_NOTE) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_FOR) s->thread = tvms_as_for(node)->thread;
  if (node == s->thread) return TVMS_WALK_SKIP;
  bool defined = role == TVMS_ROLE_DEFINE;
  if (node->kind == TVMS_NODE_VAR && defined) add_site(s, node);
  if (node->kind == TVMS_NODE_BUFFER) {
    const tvms_node *data = tvms_as_buffer(node)->data;
    if (defined) add_site(s, node);
    if (defined && data->kind == TVMS_NODE_VAR) add_site(s, data);
    return TVMS_WALK_SKIP;
  }
  if (node->kind == TVMS_NODE_MATCH_BUFFER_REGION) survey_match(s, node);
  bool scope = node->kind == TVMS_NODE_SEQ || node->kind == TVMS_NODE_BLOCK;
  if (scope) s->facts[node->id].since = s->allocations;
  if (allocates(node)) s->allocations++;
  return TVMS_WALK_ON;
}

static void survey_leave(void *self, tvms_node *node, tvms_field_role role) {
  survey *s = self;
  (void)role;
  bool scope = node->kind == TVMS_NODE_SEQ || node->kind == TVMS_NODE_BLOCK;
  if (scope) s->facts[node->id].allocates = s->facts[node->id].since != s->allocations;
}

// ---- Beginning and end ----

void tvms_interp_make_begin(tvms_interp_maker *m, const tvms_interp_frame *f,
                            tvms_arena *arena) {
  uint32_t ids = f->member->unit->next_id;
  *m = (tvms_interp_maker){.context = f->context,
                           .member = f->member,
                           .arena = arena,
                           .memory = &f->context->memory,
                           .ids = ids,
                           .slots = ids,
                           .now = 1};
  m->facts = tvms_arena_array(&f->context->scratch, tvms_interp_fact, ids);
  survey s = {.facts = m->facts};
  tvms_visitor visitor = {&s, survey_enter, survey_leave};
  tvms_walk(m->memory, tvms_as_prim_func(f->member->function)->body, &visitor);
  for (uint32_t id = 0; id < ids; id++) {
    bool defined = f->views[id] && f->views[id]->defined;
    if (!f->bound[id] && !defined) continue;
    if (m->facts[id].sites < 2) m->facts[id].sites++;
    m->facts[id].definite = m->facts[id].flagged = true;
  }
}

static void *keep(tvms_interp_maker *m, const void *items, size_t bytes) {
  void *kept = tvms_arena_alloc(m->arena, bytes ? bytes : 1);
  if (bytes) memcpy(kept, items, bytes);
  return kept;
}

#define KEEP(vec) keep(m, (vec).items, (vec).len * sizeof *(vec).items)

const tvms_interp_code *tvms_interp_make_end(tvms_interp_maker *m) {
  tvms_interp_code *code = NULL;
  if (!m->failed) {
    code = tvms_arena_new(m->arena, tvms_interp_code);
    code->insns = KEEP(m->insns);
    code->notes = KEEP(m->notes);
    code->lists = KEEP(m->lists);
    code->streams = KEEP(m->streams);
    code->constants = KEEP(m->constants);
    code->constant_count = m->constants.len;
    code->slots = m->slots;
    code->depth = m->deepest;
  }
  tvms_vec_fini(m->memory, &m->insns);
  tvms_vec_fini(m->memory, &m->notes);
  tvms_vec_fini(m->memory, &m->lists);
  tvms_vec_fini(m->memory, &m->streams);
  tvms_vec_fini(m->memory, &m->accesses);
  tvms_vec_fini(m->memory, &m->lanes);
  tvms_vec_fini(m->memory, &m->constants);
  tvms_vec_fini(m->memory, &m->temporaries);
  tvms_vec_fini(m->memory, &m->bound);
  tvms_vec_fini(m->memory, &m->marks);
  return code;
}

// ---- Instructions ----

uint32_t tvms_interp_emit_n(tvms_interp_maker *m, tvms_interp_opcode op,
                            const tvms_node *node, uint32_t n, uint32_t d, uint32_t a,
                            uint32_t b) {
  tvms_interp_insn insn = {(uint16_t)op, (uint16_t)n, d, a, b};
  tvms_interp_note note = {node, m->depth};
  tvms_vec_push(m->memory, &m->insns, insn);
  tvms_vec_push(m->memory, &m->notes, note);
  return m->insns.len - 1;
}

uint32_t tvms_interp_emit(tvms_interp_maker *m, tvms_interp_opcode op,
                          const tvms_node *node, uint32_t d, uint32_t a, uint32_t b) {
  return tvms_interp_emit_n(m, op, node, 0, d, a, b);
}

uint32_t tvms_interp_distance(uint32_t at, uint32_t to) {
  return to - at - 1;  // wraps: it is signed
}

void tvms_interp_pass_by(tvms_interp_maker *m, uint32_t at) {
  uint32_t distance = m->insns.len - at - 1;
  tvms_interp_insn *insn = &m->insns.items[at];
  insn->n = (uint16_t)distance;
  if (distance > UINT16_MAX) *insn = (tvms_interp_insn){.op = TVMS_CODE_JUMP};
}

void tvms_interp_land(tvms_interp_maker *m, uint32_t at) {
  m->insns.items[at].d = tvms_interp_distance(at, m->insns.len);
}

// ---- Slots ----

uint32_t tvms_interp_new_slots(tvms_interp_maker *m, uint32_t count) {
  m->slots += count;
  return m->slots - count;
}

uint32_t tvms_interp_new_temporary(tvms_interp_maker *m) {
  if (m->used == m->temporaries.len) {
    uint32_t slot = tvms_interp_new_slots(m, 1);
    tvms_vec_push(m->memory, &m->temporaries, slot);
  }
  return m->temporaries.items[m->used++];
}

uint32_t tvms_interp_new_constant(tvms_interp_maker *m, tvms_scalar value) {
  enum { NEWEST = 16 };  // the same one often comes again soon
  uint32_t len = m->constants.len;
  for (uint32_t i = len; i > 0 && len - i < NEWEST; i--) {
    const tvms_interp_constant *known = &m->constants.items[i - 1];
    if (known->value.i == value.i) return known->slot;
  }
  tvms_interp_constant constant = {tvms_interp_new_slots(m, 1), value};
  tvms_vec_push(m->memory, &m->constants, constant);
  return constant.slot;
}

uint32_t tvms_interp_new_list(tvms_interp_maker *m, const uint32_t *slots,
                              uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    tvms_vec_push(m->memory, &m->lists, slots[i]);
  return m->lists.len - count;
}

// ---- What is definite ----

void tvms_interp_make_definite(tvms_interp_maker *m, uint32_t id, bool flagged) {
  tvms_interp_fact *fact = &m->facts[id];
  fact->since = ++m->now;
  fact->flagged = flagged;
  if (fact->definite) return;
  fact->definite = true;
  tvms_vec_push(m->memory, &m->bound, id);
}

void tvms_interp_forget(tvms_interp_maker *m, uint32_t mark) {
  while (m->bound.len > mark)
    m->facts[m->bound.items[--m->bound.len]].definite = false;
}
