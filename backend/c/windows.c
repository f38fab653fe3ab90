// Loads in steps that are beside each other: they read the same whole vectors.
//
//   A[T.Ramp(i * 32, 2, 16)]      even elements of  [o, o + 16)  and  [o + 16, o + 32)
//   A[T.Ramp(i * 32 + 1, 2, 16)]  odd ones of the same
//
// Compilers join loads of one place, but do not find that loads which begin at different places can be those of the
// same ones. backend/llvm/strided.c does as much while it emits code; text is not changed once it is written, so that
// here all loads are looked at before.
#include "backend/c/windows.h"

#include "backend/c/sums.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/tir_op.h"
#include "ir/walk.h"

enum { MOST_STEP = 8, MOST_SEEN = 512 };

// What a load reads beside its own elements.
struct c_window {
  uint32_t code;  // number of the code without branches that it stands in
  tvms_c_around around;
};

// A load in steps in the code at hand.
typedef struct {
  const tvms_node *load;
  c_sum place;
  int64_t step;
  uint64_t lanes;  // that are loaded
  bool shared;     // with one that came before
} step_load;

typedef struct {
  c_emitter *e;
  uint32_t code;
  step_load seen[MOST_SEEN];
  uint32_t count;
} search;

// A load of a buffer with one index, of every second to eighth element; of every second one also of lanes that are known.
static bool read_load(const tvms_node *node, step_load *s) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (load->indices.len != 1 || tvms_as_buffer(load->buffer)->strides.len) return false;
  const tvms_node *index = load->indices.items[0];
  if (index->kind != TVMS_NODE_RAMP) return false;
  const tvms_ramp *ramp = tvms_as_ramp(index);
  *s = (step_load){.load = node, .lanes = UINT64_MAX};
  bool some = load->predicate != NULL;
  if (some
      && (!tvms_node_is_int(ramp->stride, 2)
          || !tvms_lanes_truths(load->predicate, &s->lanes)))
    return false;
  return tvms_node_is_int_imm(ramp->stride)
         && (s->step = tvms_as_int_imm(ramp->stride)->value) > 1 && s->step <= MOST_STEP
         && tvms_c_sum_add(&s->place, ramp->base);
}

static bool is_beside(const step_load *a, const step_load *b) {
  const tvms_node *x = a->load, *y = b->load;
  bool alike = a->lanes == b->lanes && a->step == b->step
               && a->place.count == b->place.count
               && tvms_dtype_same(x->dtype, y->dtype)
               && tvms_as_buffer_load(x)->buffer == tvms_as_buffer_load(y)->buffer;
  for (uint32_t i = 0; alike && i < a->place.count; i++)
    alike = a->place.minus[i] == b->place.minus[i]
            && tvms_node_same_expr(a->place.terms[i], b->place.terms[i]);
  return alike;
}

// ---- Code without branches ----

// What loads from `first` on want is read by each of them.
static void share(search *s, step_load *first) {
  step_load *end = s->seen + s->count;
  int64_t last = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (step_load *other = first; other < end; other++) {
      int64_t distance = other->place.number - first->place.number;
      bool near = !other->shared && distance >= 0 && distance < first->step;
      if (!near || !is_beside(first, other)) continue;
      if (pass == 0) {
        last = distance > last ? distance : last;
        continue;
      }
      other->shared = true;
      c_window *w = s->e->windows[other->load->id];
      w->around = (tvms_c_around){(int)distance, (int)(last - distance)};
    }
  }
}

static void end_code(search *s) {
  for (step_load *first = s->seen; first < s->seen + s->count; first++)
    if (!first->shared) share(s, first);
  s->count = 0;
  s->code++;
}

// A node that stands in several pieces of code shares with none.
static void note(search *s, const tvms_node *load) {
  c_window **known = &s->e->windows[load->id];
  if (*known && (*known)->code != s->code) **known = (c_window){0};
  if (*known) return;
  if (s->count == MOST_SEEN) end_code(s);
  if (!read_load(load, &s->seen[s->count])) return;
  s->count++;
  *known = tvms_arena_new(&s->e->context->scratch, c_window);
  (*known)->code = s->code;
}

// What stands here is done once, or not at all, each time that what stands around it is done.
static bool is_branch(const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_FOR:
  case TVMS_NODE_WHILE:
  case TVMS_NODE_IF_THEN_ELSE:
  case TVMS_NODE_ASSERT:
  case TVMS_NODE_RETURN:
  case TVMS_NODE_EVALUATE: return true;
  default: return false;
  }
}

// Operands of these may be left out.
static bool chooses(const tvms_node *node) {
  return node->kind == TVMS_NODE_SELECT || node->kind == TVMS_NODE_AND
         || node->kind == TVMS_NODE_OR
         || (node->kind == TVMS_NODE_CALL
             && tvms_call_opcode(node) == TVMS_TIR_if_then_else);
}

static tvms_walk_step enter(void *self, tvms_node *node, tvms_field_role role) {
  search *s = self;
  (void)role;
  if (is_branch(node)) end_code(s);
  if (node->kind == TVMS_NODE_BUFFER_LOAD) note(s, node);
  return node->kind == TVMS_NODE_BUFFER || chooses(node) ? TVMS_WALK_SKIP
                                                         : TVMS_WALK_ON;
}

static void leave(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (is_branch(node)) end_code(self);
}

void tvms_c_windows_find(c_emitter *e, tvms_node *body) {
  search *s = tvms_arena_new(&e->context->scratch, search);
  *s = (search){.e = e, .code = 1};
  tvms_visitor visitor = {.self = s, .enter = enter, .leave = leave};
  tvms_walk(&e->context->memory, body, &visitor);
  end_code(s);
}

tvms_c_around tvms_c_windows_around(const c_emitter *e, const tvms_node *load) {
  const c_window *w = e->windows[load->id];
  return w ? w->around : (tvms_c_around){0};
}

void tvms_c_windows_widen(const c_emitter *e, const tvms_node *load,
                          tvms_lanes *lanes) {
  tvms_c_around around = tvms_c_windows_around(e, load);
  lanes->least -= around.before;
  lanes->span += around.before + around.behind;
}
