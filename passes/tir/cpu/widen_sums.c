// WidenSums: sums of float16 and bfloat16 are taken in float32 and rounded once.
//
// Before: C[i, j] = 0; for k: C[i, j] = C[i, j] + A[i, k] * B[k, j]     all of float16
// After:  W[i, j] = 0; for k: W[i, j] = W[i, j] + float32(A[i, k]) * float32(B[k, j]); C[i, j] = float16(W[i, j])
//
// A function in which such sums (or products) are taken computes all its expressions of halves in float32. Results are
// rounded where they are stored to memory that the caller sees. Buffers that the function allocates for sums, greatest
// or least elements and for what is computed become float32; those that hold copies, which are not rounded, stay as
// they are. What the text itself converts from a wider float to a half stays rounded. Sums that are taken right in
// memory of the caller get a buffer of their own, W, where they are nests of plain loops; what such a sum begins with is
// added at the end unless it is a constant. Loops are straightened for that as ScheduleCPU does (prepare.c). Other
// sums in such memory (running sums, loops that are scheduled already) are rounded at each step, as the text has it.
// Integers, float32 and float64 stay as they are, and so does a function without a sum of halves.
// TVM has no such pass: it rounds at each step.
#include "ir/build.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/remarks.h"
#include "passes/tir/cpu/body.h"
#include "passes/tir/cpu/chain.h"
#include "passes/tir/cpu/initials.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/prepare.h"
#include "passes/tir/cpu/shared_memory.h"
#include "passes/tir/host/compute_values.h"
#include "support/diag_ids.h"

#include <stdio.h>

typedef struct {
  tvms_host_values values;  // first, for the hooks
  tvms_pass_run *run;
  tvms_unit *unit;
  tvms_preparation preparation;
  tvms_node_map data;   // data pointer of an allocated buffer of halves -> BUFFER
  tvms_node_map wide;   // BUFFER of these -> the one of float32
  tvms_node_vec added;  // buffers for the root block to allocate
  tvms_node_map gone;
} widening;

static bool is_half(tvms_dtype dtype) {
  return tvms_host_float_is(TVMS_HOST_HALF, dtype);
}

static bool holds_halves(const tvms_node *buffer) {
  return is_half(tvms_as_buffer(buffer)->element);
}

// ---- Is there a sum? ----

// Stores back what it has loaded and something more, by an operation that rounds.
static bool adds_up(tvms_unit *unit, const tvms_store *store) {
  tvms_node_kind kind = (tvms_node_kind)store->value->kind;
  return holds_halves(store->buffer) && (kind == TVMS_NODE_ADD || kind == TVMS_NODE_MUL)
         && tvms_cpu_mentions(unit, store->value, store->buffer);
}

static tvms_walk_step find_sum(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (tvms_node_class_of(node) != TVMS_CLASS_STMT && node->kind != TVMS_NODE_BLOCK)
    return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_STORE) return TVMS_WALK_ON;
  return adds_up(self, tvms_as_store(node)) ? TVMS_WALK_STOP : TVMS_WALK_SKIP;
}

static bool has_sum(tvms_unit *unit, tvms_node *body) {
  tvms_visitor visitor = {.self = unit, .enter = find_sum};
  return !tvms_walk(&unit->context->memory, body, &visitor);
}

// ---- Sums in memory of the caller ----

static const tvms_node *buffer_of(const tvms_stage *stage) {
  return stage->store->buffer;
}

// What is combined with the result in each step, if nothing else of its buffer is looked at; else NULL.
static tvms_node *TVMS_NULLABLE term_of(widening *w, const tvms_stage *stage) {
  tvms_node *term = stage->store->value->kind == TVMS_NODE_MUL
                        ? tvms_stage_term(stage, TVMS_NODE_MUL)
                        : tvms_cpu_all_addends(w->unit, stage);
  return term && !tvms_cpu_mentions(w->unit, term, buffer_of(stage)) ? term : NULL;
}

static tvms_node *buffer_like(widening *w, const tvms_node *old) {
  const tvms_buffer *like = tvms_as_buffer(old);
  char name[64];
  snprintf(name, sizeof name, "%.50s_wide",
           tvms_symbol_text(w->unit->context, like->name));
  return tvms_cpu_buffer(w->unit, name, like->element, "global", like->shape.items,
                         like->shape.len);
}

static tvms_node *element(widening *w, tvms_node *buffer, const tvms_store *like) {
  return tvms_buffer_load_new(w->unit, buffer, like->indices.items, like->indices.len,
                              NULL, TVMS_NO_SPAN);
}

// The sum in a buffer of its own, and what stores it where it belongs, together with what it begins with if that is no
// constant.
static bool move_sum(widening *w, const tvms_stage *stage, tvms_node *parts[2],
                     tvms_node **buffer) {
  const tvms_store *out = stage->store;
  tvms_node_kind kind = (tvms_node_kind)out->value->kind;
  tvms_node *term = term_of(w, stage), *begin = stage->init;
  if (!term || !tvms_as_buffer(out->buffer)->shape.len) return false;
  *buffer = buffer_like(w, out->buffer);
  tvms_node *sum = element(w, *buffer, out), *all = sum;
  tvms_node *next = tvms_binary_new(w->unit, kind, sum, term, out->value->span);
  if (!begin || begin->kind != TVMS_NODE_FLOAT_IMM) {
    if (!begin) begin = element(w, out->buffer, out);
    all = tvms_binary_new(w->unit, kind, begin, sum, out->value->span);
    begin = tvms_build_float(w->unit, out->value->dtype, kind == TVMS_NODE_MUL,
                             TVMS_NO_SPAN);
  }
  parts[0] = tvms_stage_write(w->unit, stage, stage->name,
                              tvms_cpu_store(w->unit, *buffer, out->indices, next),
                              tvms_cpu_store(w->unit, *buffer, out->indices, begin));
  parts[1] =
      tvms_stage_write_each(w->unit, stage, "rounded",
                            tvms_cpu_store(w->unit, out->buffer, out->indices, all));
  return true;
}

// A constant that the statement in front stores is what the sum begins with; true: that statement is spare.
static bool begin_with(widening *w, tvms_node *first, tvms_stage *stage) {
  tvms_stage before;
  if (stage->init || tvms_stage_read(w->unit, first, &before)
      || !tvms_chain_begins(w->unit, &before, stage))
    return false;
  stage->init = before.store->value;
  return true;
}

static tvms_list move_sums(widening *w, tvms_list stmts) {
  tvms_list made = {tvms_arena_array(&w->unit->arena, tvms_node *, 2 * stmts.len), 0};
  for (uint32_t i = 0; i < stmts.len; i++) {
    tvms_stage stage;
    tvms_node *parts[2], *buffer = NULL;
    bool sums =
        !tvms_stage_read(w->unit, stmts.items[i], &stage) && tvms_stage_has_sums(&stage)
        && holds_halves(buffer_of(&stage))
        && !tvms_node_map_get(&w->data, tvms_as_buffer(buffer_of(&stage))->data);
    bool joined = sums && made.len && begin_with(w, made.items[made.len - 1], &stage);
    tvms_span outer = w->unit->origin;
    if (sums) w->unit->origin = stage.store->head.span;
    bool moved = sums && move_sum(w, &stage, parts, &buffer);
    w->unit->origin = outer;
    if (!moved) {
      made.items[made.len++] = stmts.items[i];
      continue;
    }
    if (joined) made.len--;
    for (uint32_t k = 0; k < 2; k++)
      made.items[made.len++] = parts[k];
    tvms_stmt_push(w->unit, &w->added, buffer);
  }
  return made;
}

// Are there elements that the function stores to through one buffer and uses through another?
static bool has_shared_memory(widening *w, tvms_node *body) {
  tvms_memory *memory = &w->unit->context->memory;
  tvms_cpu_views views;
  tvms_cpu_views_init(&views, memory, body);
  tvms_node_map shared;
  tvms_node_map_init(&shared, memory);
  bool found = tvms_cpu_views_share(&views, body, &shared);
  tvms_node_map_fini(&shared);
  tvms_cpu_views_fini(&views);
  return found;
}

static tvms_node *give_buffers(widening *w, tvms_node *old) {
  if (has_shared_memory(w, old)) return old;
  tvms_cpu_body b = tvms_cpu_body_read(w->unit, old);
  bool row = b.stages->kind == TVMS_NODE_SEQ;
  tvms_list stmts = row ? tvms_as_seq(b.stages)->stmts : (tvms_list){&b.stages, 1};
  tvms_preparation p = {.run = w->run,
                        .rooted = b.root || b.allocated.len,
                        .body = {w->unit, true, b.allocated, &w->added, &w->gone}};
  tvms_list made = move_sums(w, tvms_cpu_straighten(&p, stmts));
  if (!w->added.len) return old;
  tvms_list added = {w->added.items, w->added.len};
  tvms_list kept = tvms_cpu_allocations(w->unit, added, b.allocated, &w->gone);
  tvms_node *stages = made.len == 1
                          ? made.items[0]
                          : tvms_seq_new(w->unit, made.items, made.len, b.stages->span);
  return tvms_cpu_body_write(w->unit, &b, kept, stages);
}

// ---- Buffers that become float32 ----

static void note_allocated(widening *w, tvms_node *buffer) {
  const tvms_buffer *b = tvms_as_buffer(buffer);
  if (is_half(b->element)) tvms_node_map_put(&w->data, b->data, buffer);
}

static tvms_walk_step find_allocated(void *self, tvms_node *node,
                                     tvms_field_role role) {
  widening *w = self;
  (void)role;
  if (node->kind == TVMS_NODE_ALLOC_BUFFER)
    note_allocated(w, tvms_as_alloc_buffer(node)->buffer);
  if (node->kind == TVMS_NODE_BLOCK) {
    tvms_list list = tvms_as_block(node)->alloc_buffers;
    for (uint32_t i = 0; i < list.len; i++)
      note_allocated(w, list.items[i]);
  }
  return TVMS_WALK_ON;
}

// A pointer that goes somewhere else, or another buffer over the same memory, takes a buffer out.
static tvms_walk_step find_pointers(void *self, tvms_node *node, tvms_field_role role) {
  widening *w = self;
  const tvms_node *data = node;
  if (node->kind == TVMS_NODE_BUFFER) {
    data = tvms_as_buffer(node)->data;
    if (tvms_node_map_get(&w->data, data) != node)
      tvms_node_map_put(&w->data, data, NULL);
    return TVMS_WALK_SKIP;
  }
  if (node->kind == TVMS_NODE_CALL && tvms_dtype_is_handle(node->dtype)) {
    tvms_list args = tvms_as_call(node)->args;
    for (uint32_t i = 0; i < args.len; i++)
      if (args.items[i]->kind == TVMS_NODE_BUFFER_LOAD)
        tvms_node_map_put(
            &w->data, tvms_as_buffer(tvms_as_buffer_load(args.items[i])->buffer)->data,
            NULL);
  }
  if (node->kind == TVMS_NODE_VAR && role != TVMS_ROLE_DEFINE)
    tvms_node_map_put(&w->data, data, NULL);
  return TVMS_WALK_ON;
}

static void find_own(widening *w, tvms_node *body) {
  tvms_memory *memory = &w->unit->context->memory;
  tvms_visitor allocated = {.self = w, .enter = find_allocated};
  tvms_visitor pointers = {.self = w, .enter = find_pointers};
  tvms_node_map_clear(&w->data);
  tvms_walk(memory, body, &allocated);
  tvms_walk(memory, body, &pointers);
}

// What a value is: rounded, loaded from what became float32, chosen by a condition, gone on with from what `own` holds.
typedef struct {
  const widening *w;
  const tvms_node *own;
  bool rounds, loads_wide, chosen, goes_on;
} traits;

static bool only_moves(const tvms_node *call) {
  switch ((int)tvms_call_opcode(call)) {
  case TVMS_TIR_if_then_else:
  case TVMS_TIR_reinterpret:
  case TVMS_TIR_fabs: return true;
  default: return false;
  }
}

static tvms_walk_step look_at(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  traits *t = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  bool half = is_half(node->dtype);
  switch ((int)node->kind) {
  case TVMS_NODE_ADD:
  case TVMS_NODE_SUB:
  case TVMS_NODE_MUL:
  case TVMS_NODE_DIV: t->rounds |= half; break;
  case TVMS_NODE_CAST:
    t->rounds |= half && !tvms_dtype_is_real(tvms_as_cast(node)->value->dtype);
    break;
  case TVMS_NODE_CALL:
    t->rounds |= half && !only_moves(node);
    t->chosen |= tvms_call_opcode(node) == TVMS_TIR_if_then_else;
    break;
  case TVMS_NODE_SELECT: t->chosen = true; break;
  case TVMS_NODE_BUFFER_LOAD:
    t->goes_on |= tvms_as_buffer_load(node)->buffer == t->own;
    t->loads_wide |=
        tvms_node_map_get(&t->w->wide, tvms_as_buffer_load(node)->buffer) != NULL;
    break;
  default: break;
  }
  return TVMS_WALK_ON;
}

static tvms_node *widened(widening *w, const tvms_node *old) {
  tvms_node *made = tvms_node_copy(w->unit, old);
  tvms_buffer *buffer = tvms_as_buffer(made);
  const tvms_node *data = buffer->data;
  tvms_sym scope = data->sinfo && data->sinfo->kind == TVMS_NODE_SINFO_POINTER
                       ? tvms_as_sinfo_pointer(data->sinfo)->scope
                       : 0;
  buffer->element = w->values.promoted;
  buffer->data = tvms_pointer_var_new(w->unit, tvms_as_var(data)->name, buffer->element,
                                      scope, TVMS_NO_SPAN);
  return made;
}

// What is computed is kept in float32, and so are whole copies of that; padded ones stay as small as they were. The
// greatest element is kept so, too: it would be converted to and fro in each step.
static tvms_walk_step find_computed(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  widening *w = self;
  if (node->kind != TVMS_NODE_STORE) return TVMS_WALK_ON;
  const tvms_store *store = tvms_as_store(node);
  const tvms_node *buffer = store->buffer;
  bool own = tvms_node_map_get(&w->data, tvms_as_buffer(buffer)->data) == buffer;
  if (!own || tvms_node_map_get(&w->wide, buffer)) return TVMS_WALK_SKIP;
  traits t = {.w = w, .own = buffer};
  tvms_visitor visitor = {.self = &t, .enter = look_at};
  tvms_walk(&w->unit->context->memory, store->value, &visitor);
  if (t.rounds || t.goes_on || (t.loads_wide && !t.chosen))
    tvms_node_map_put(&w->wide, buffer, widened(w, buffer));
  return TVMS_WALK_SKIP;
}

static void find_wide(widening *w, tvms_node *body) {
  tvms_visitor visitor = {.self = w, .enter = find_computed};
  for (uint32_t before = UINT32_MAX; before != w->wide.count;) {
    before = w->wide.count;
    tvms_walk(&w->unit->context->memory, body, &visitor);
  }
}

// ---- Writing ----

static tvms_node *in_dtype(tvms_rewriter *r, tvms_node *value, tvms_dtype element) {
  tvms_dtype wanted = tvms_dtype_with_lanes(element, value->dtype.lanes);
  if (tvms_dtype_same(value->dtype, wanted)) return value;
  return tvms_build_cast(r->unit, wanted, value, value->span);
}

static tvms_node *leave_store(tvms_rewriter *r, tvms_node *node) {
  if (node == r->old) return node;
  tvms_store *store = tvms_as_store(node);
  tvms_dtype element = tvms_as_buffer(store->buffer)->element;
  bool real = element.code == TVMS_FLOAT || element.code == TVMS_BFLOAT;
  if (real) store->value = in_dtype(r, store->value, element);
  return node;
}

// Variables keep their dtype.
static tvms_node *leave_bind(tvms_rewriter *r, tvms_node *node) {
  const tvms_bind *old = tvms_as_bind(r->old);
  if (node == r->old || !is_half(old->value->dtype)) return node;
  tvms_as_bind(node)->value = in_dtype(r, tvms_as_bind(node)->value, old->value->dtype);
  return node;
}

static tvms_node *leave_let(tvms_rewriter *r, tvms_node *node) {
  const tvms_let *old = tvms_as_let(r->old);
  if (node == r->old) return node;
  tvms_let *let = tvms_as_let(node);
  if (is_half(old->value->dtype))
    let->value = in_dtype(r, let->value, old->value->dtype);
  node->dtype = let->body->dtype;
  return node;
}

static tvms_node *widen(widening *w, tvms_node *body) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, w->unit, w);
  r.roles = TVMS_IN(BODY) | TVMS_IN(USE) | TVMS_IN(DEFINE) | TVMS_IN(ACCESS);
  tvms_host_values_install(&r);
  r.leave[TVMS_NODE_STORE] = leave_store;
  r.leave[TVMS_NODE_BIND] = leave_bind;
  r.leave[TVMS_NODE_LET] = leave_let;
  for (uint32_t i = 0; i < w->wide.cap; i++) {
    tvms_node_pair pair = w->wide.pairs[i];
    if (!pair.key || !pair.value) continue;
    tvms_node_map_put(&r.known, pair.key, pair.value);
    tvms_node_map_put(&r.known, tvms_as_buffer(pair.key)->data,
                      tvms_as_buffer(pair.value)->data);
  }
  tvms_node *made = tvms_rewrite(&r, body);
  tvms_rewriter_fini(&r);
  return made;
}

// ---- Functions ----

// Is it what adds a sum that was moved to what lies there?
static bool uses_moved(widening *w, const tvms_store *store) {
  bool uses = false;
  for (uint32_t i = 0; i < w->added.len; i++)
    uses |= store->buffer != w->added.items[i]
            && tvms_cpu_mentions(w->unit, store->value, w->added.items[i]);
  return uses;
}

static tvms_walk_step tell(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  widening *w = self;
  if (tvms_node_class_of(node) != TVMS_CLASS_STMT && node->kind != TVMS_NODE_BLOCK)
    return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_STORE) return TVMS_WALK_ON;
  if (!adds_up(w->unit, tvms_as_store(node)) || uses_moved(w, tvms_as_store(node)))
    return TVMS_WALK_SKIP;
  const tvms_node *buffer = tvms_as_store(node)->buffer;
  const char *name = tvms_symbol_text(w->unit->context, tvms_as_buffer(buffer)->name);
  bool wide = tvms_node_map_get(&w->wide, buffer) != NULL;
  tvms_pass_remark(w->run, wide ? TVMS_REMARK_PASSED : TVMS_REMARK_MISSED,
                   wide ? TVMS_D_sum_widened : TVMS_D_sum_not_widened, node->span,
                   name);
  if (wide) tvms_pass_count(w->run, "sums in float32", 1);
  return TVMS_WALK_SKIP;
}

static tvms_node *change_body(widening *w, tvms_node *old) {
  find_own(w, old);
  tvms_node *body = give_buffers(w, old);
  find_own(w, body);
  find_wide(w, body);
  tvms_visitor visitor = {.self = w, .enter = tell};
  tvms_walk(&w->unit->context->memory, body, &visitor);
  return widen(w, body);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  tvms_node *old = tvms_as_prim_func(function)->body;
  if (!has_sum(unit, old)) return function;
  widening w = {.run = run, .unit = unit};
  w.values =
      (tvms_host_values){unit, TVMS_HOST_HALF, TVMS_DTYPE(FLOAT, 32), .casts = true};
  tvms_node_map *maps[] = {&w.data, &w.wide, &w.gone};
  for (uint32_t i = 0; i < 3; i++)
    tvms_node_map_init(maps[i], &unit->context->memory);
  tvms_node *body = change_body(&w, old);
  for (uint32_t i = 0; i < 3; i++)
    tvms_node_map_fini(maps[i]);
  tvms_vec_fini(&unit->context->memory, &w.added);
  if (body == old) return function;
  tvms_node *copy = tvms_node_copy(unit, function);
  tvms_as_prim_func(copy)->body = body;
  if (tvms_cpu_holds_block(unit, body)) copy->flags |= TVMS_FLAG_S_TIR;
  return copy;
}

void tvms_pass_widen_sums(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
