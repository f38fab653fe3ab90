// SplitLayoutRewritePreproc: what only writes a weight in another layout becomes a PrimFunc of its
// own, which LiftTransformParams can move to where weights are prepared.
//
// Before: def f(X, W, Out): the block that writes W_rewrite from W, with the annotation
//         meta_schedule.layout_rewrite_preproc, and the block that computes Out
//         gv = R.call_tir(cls.f, (x, w), …)
// After:  def f_weight_prepack(W, W_rewrite), def f_prepacked(X, W_rewrite, Out)
//         lv = R.call_tir(cls.f_weight_prepack, (w,), …)
//         lv1 = R.call_tir(cls.f_prepacked, (x, lv), …); gv = lv1
//
// The marked blocks stand in statements of their own below the root block; each reads one parameter
// and writes one buffer of constant shape that the root block allocates; several may write parts of one. Dead code goes behind it.
// TVM: relax.transform.SplitLayoutRewritePreproc (SplitLayoutRewritePreproc).
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/op.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/relax/emit.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

static const char mark[] = "meta_schedule.layout_rewrite_preproc";

// A parameter that is rewritten. Nodes are those of the PrimFunc as it is.
typedef struct {
  uint32_t index;
  tvms_node *from, *to;  // BUFFER
} rewriting;

// A PrimFunc that is split.
typedef struct {
  tvms_memory *memory;
  const tvms_prim_func *function;
  const tvms_block *root;
  TVMS_VEC(rewriting) rewritings;  // in the order of their blocks
  tvms_node_vec before, behind;    // statements below the root
  int side;  // of the statement at hand: 1 marked, -1 not, 0 not known
  const char *TVMS_NULLABLE wrong;
} split;

typedef struct {
  tvms_pass_run *run;
  tvms_relax_emitter emitter;
} splitter;

// ---- What is to be split ----

static bool is_marked(const tvms_block *block) {
  int64_t set;
  const tvms_node *value = tvms_object_map_get(block->annotations, mark);
  return value && tvms_object_as_int(value, &set) && set == 1;
}

static void note_rewriting(split *s, const tvms_block *block) {
  bool plain = block->reads.len == 1 && block->writes.len == 1
               && !block->alloc_buffers.len && !block->match_buffers.len;
  s->wrong = plain ? s->wrong : "a marked block must read one buffer and write another";
  if (!plain) return;
  rewriting found = {.from = tvms_as_buffer_region(block->reads.items[0])->buffer,
                     .to = tvms_as_buffer_region(block->writes.items[0])->buffer};
  tvms_list buffers = s->function->buffers;
  while (found.index < buffers.len && buffers.items[found.index] != found.from)
    found.index++;
  if (found.index == buffers.len) s->wrong = "a marked block must read a parameter";
  tvms_list shape = tvms_as_buffer(found.to)->shape;
  for (uint32_t i = 0; i < shape.len; i++) {
    if (!tvms_node_is_int_imm(shape.items[i]))
      s->wrong = "what a marked block writes must have a constant shape";
  }
  for (uint32_t i = 0; i < s->rewritings.len; i++) {
    const rewriting *other = &s->rewritings.items[i];
    if (other->from == found.from && other->to == found.to) return;
  }
  tvms_vec_push(s->memory, &s->rewritings, found);
}

static tvms_walk_step see_block(void *self, tvms_node *node, tvms_field_role role) {
  split *s = self;
  (void)role;
  if (node->kind != TVMS_NODE_BLOCK) return TVMS_WALK_ON;
  bool marked = is_marked(tvms_as_block(node));
  if (s->side == -(marked ? 1 : -1))
    s->wrong = "a statement below the root must have marked blocks only, or none";
  s->side = marked ? 1 : -1;
  if (marked) note_rewriting(s, tvms_as_block(node));
  return TVMS_WALK_ON;
}

static void see_statement(split *s, tvms_node *stmt) {
  tvms_visitor visitor = {.self = s, .enter = see_block};
  s->side = 0;
  tvms_walk(s->memory, stmt, &visitor);
  tvms_vec_push(s->memory, s->side == 1 ? &s->before : &s->behind, stmt);
}

static void look(split *s, const tvms_node *node) {
  s->function = tvms_as_prim_func(node);
  const tvms_node *body = s->function->body;
  if (body->kind != TVMS_NODE_BLOCK_REALIZE) return;
  s->root = tvms_as_block(tvms_as_block_realize(body)->block);
  tvms_node *inside = s->root->body;
  tvms_list stmts = {&inside, 1};
  if (inside->kind == TVMS_NODE_SEQ) stmts = tvms_as_seq(inside)->stmts;
  for (uint32_t i = 0; i < stmts.len; i++)
    see_statement(s, stmts.items[i]);
  if (s->before.len && !s->behind.len) s->wrong = "it computes nothing else";
}

static void split_fini(split *s) {
  tvms_vec_fini(s->memory, &s->rewritings);
  tvms_vec_fini(s->memory, &s->before);
  tvms_vec_fini(s->memory, &s->behind);
}

// ---- PrimFuncs ----

static tvms_node *unmark(tvms_rewriter *r, tvms_node *node) {
  const tvms_block *block = tvms_as_block(node);
  if (!is_marked(block)) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_node *left = tvms_object_map_with(r->unit, block->annotations, mark, NULL);
  tvms_as_block(copy)->annotations = tvms_object_map_count(left) ? left : NULL;
  return copy;
}

static bool is_rewritten(const split *s, const tvms_node *buffer) {
  bool found = false;
  for (uint32_t i = 0; i < s->rewritings.len; i++)
    found |= s->rewritings.items[i].to == buffer;
  return found;
}

// The root block with these statements, of the unit of the old function.
static tvms_node *root_with(const split *s, tvms_unit *unit, const tvms_node_vec *stmts,
                            bool allocates) {
  tvms_node *block = tvms_node_copy(unit, &s->root->head);
  tvms_block *root = tvms_as_block(block);
  root->body = stmts->len == 1
                   ? stmts->items[0]
                   : tvms_seq_new(unit, stmts->items, stmts->len, TVMS_NO_SPAN);
  tvms_node_vec buffers = {0};
  for (uint32_t i = 0; allocates && i < root->alloc_buffers.len; i++) {
    tvms_node *buffer = root->alloc_buffers.items[i];
    if (!is_rewritten(s, buffer)) tvms_vec_push(s->memory, &buffers, buffer);
  }
  root->alloc_buffers = tvms_list_copy(unit, buffers.items, buffers.len);
  root->annotations = NULL;
  tvms_vec_fini(s->memory, &buffers);
  tvms_node *made = tvms_node_copy(unit, s->function->body);
  tvms_as_block_realize(made)->block = block;
  return made;
}

static tvms_node *handle_for(tvms_unit *unit, const split *s, uint32_t index,
                             const tvms_node *buffer) {
  const tvms_node *old = s->function->params.items[index];
  tvms_node *made = tvms_var_like(unit, old);
  tvms_as_var(made)->name = tvms_as_buffer(buffer)->name;
  return made;
}

// The PrimFunc of the marked statements, or of the others, in a unit of its own; its name.
static tvms_sym add_part(splitter *p, const split *s, bool marked, const char *name) {
  tvms_unit *unit = tvms_functions_open_unit(p->run);
  tvms_prim_func made = *s->function;
  tvms_node_vec params = {0}, buffers = {0};
  for (uint32_t i = 0; marked && i < s->rewritings.len; i++) {
    uint32_t index = s->rewritings.items[i].index;
    tvms_vec_push(s->memory, &params, made.params.items[index]);
    tvms_vec_push(s->memory, &buffers, s->rewritings.items[i].from);
  }
  for (uint32_t i = 0; !marked && i < made.params.len; i++) {
    tvms_vec_push(s->memory, &params, made.params.items[i]);
    tvms_vec_push(s->memory, &buffers, made.buffers.items[i]);
  }
  for (uint32_t i = 0; i < s->rewritings.len; i++) {
    const rewriting *w = &s->rewritings.items[i];
    tvms_node *param = handle_for(unit, s, w->index, w->to);
    if (marked) {
      tvms_vec_push(s->memory, &params, param);
      tvms_vec_push(s->memory, &buffers, w->to);
    } else {
      params.items[w->index] = param;
      buffers.items[w->index] = w->to;
    }
  }
  made.params = tvms_list_copy(unit, params.items, params.len);
  made.buffers = tvms_list_copy(unit, buffers.items, buffers.len);
  made.body = root_with(s, unit, marked ? &s->before : &s->behind, !marked);
  made.attrs = tvms_object_map_with(unit, made.attrs, "layout_free_buffers", NULL);
  if (!tvms_object_map_count(made.attrs)) made.attrs = NULL;
  tvms_vec_fini(s->memory, &params);
  tvms_vec_fini(s->memory, &buffers);
  tvms_node *function = tvms_clone(unit, &made.head, NULL);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, NULL);
  rewriter.leave[TVMS_NODE_BLOCK] = unmark;
  function = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return tvms_functions_add_unique(p->run, name, unit, function);
}

// ---- Calls ----

static tvms_node *type_of(tvms_unit *unit, const tvms_node *buffer) {
  const tvms_buffer *b = tvms_as_buffer(buffer);
  tvms_node **dims = tvms_arena_array(&unit->arena, tvms_node *, b->shape.len);
  for (uint32_t i = 0; i < b->shape.len; i++)
    dims[i] = tvms_sinfo_dim_new(unit, tvms_as_int_imm(b->shape.items[i])->value);
  tvms_node *shape = tvms_sinfo_shape_value_new(unit, dims, b->shape.len, TVMS_NO_SPAN);
  return tvms_sinfo_tensor_new(unit, shape, b->element, NULL);
}

static tvms_node *emit(tvms_rewriter *r, tvms_node *value) {
  splitter *p = r->self;
  bool dataflow = r->sequence && r->sequence->flags & TVMS_FLAG_DATAFLOW;
  return tvms_relax_emit(&p->emitter, r, value, dataflow ? "lv" : "gv");
}

// Which rewriting is of this parameter; their number: none.
static uint32_t rewriting_of(const split *s, uint32_t index) {
  uint32_t i = 0;
  while (i < s->rewritings.len && s->rewritings.items[i].index != index)
    i++;
  return i;
}

// The call that prepares the weights, and the arguments with what it returns in their place.
static tvms_list prepare(tvms_rewriter *r, const split *s, tvms_list args,
                         tvms_sym name) {
  tvms_unit *unit = r->unit;
  uint32_t count = s->rewritings.len;
  tvms_list given = {tvms_arena_array(&unit->arena, tvms_node *, count), count};
  tvms_list types = {tvms_arena_array(&unit->arena, tvms_node *, count), count};
  for (uint32_t i = 0; i < count; i++) {
    given.items[i] = args.items[s->rewritings.items[i].index];
    types.items[i] = type_of(unit, s->rewritings.items[i].to);
  }
  tvms_node *type =
      count == 1 ? types.items[0] : tvms_sinfo_tuple_new(unit, types.items, count);
  tvms_node *call = tvms_relax_make_call_tir(unit, name, given, type, TVMS_NO_SPAN);
  tvms_node *prepared = emit(r, call);
  tvms_list made = tvms_list_copy(unit, args.items, args.len);
  for (uint32_t k = 0; k < args.len; k++) {
    uint32_t i = rewriting_of(s, k);
    if (i == count) continue;
    made.items[k] = prepared;
    if (count == 1) continue;
    tvms_tuple_get_item *item = tvms_node_make(unit, TUPLE_GET_ITEM, TVMS_NO_SPAN);
    item->tuple = prepared;
    item->index = i;
    item->head.sinfo = types.items[i];
    made.items[k] = emit(r, &item->head);
  }
  return made;
}

static void report(const splitter *p, const split *s, const char *name) {
  tvms_diag_report(&p->run->context->diags, TVMS_D_cannot_split, s->function->head.span,
                   name, s->wrong);
}

static tvms_node *split_call(tvms_rewriter *r, const split *s, tvms_node *node,
                             const char *name) {
  splitter *p = r->self;
  char text[2][160];
  snprintf(text[0], sizeof text[0], "%.120s_weight_prepack", name);
  snprintf(text[1], sizeof text[1], "%.120s_prepacked", name);
  tvms_sym once = add_part(p, s, true, text[0]);
  tvms_sym always = add_part(p, s, false, text[1]);
  const tvms_call *call = tvms_as_call(node);
  tvms_list args = tvms_as_tuple(call->args.items[1])->fields;
  args = prepare(r, s, args, once);
  tvms_node *made = tvms_relax_make_call_tir(r->unit, always, args,
                                             call->type_args.items[0], node->span);
  return emit(r, made);
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  splitter *p = r->self;
  const tvms_call *call = tvms_as_call(node);
  bool taken = tvms_op_called(node) == TVMS_R_call_tir
               && call->args.items[0]->kind == TVMS_NODE_GLOBAL_VAR
               && call->args.items[1]->kind == TVMS_NODE_TUPLE;
  if (!taken) return node;
  tvms_sym symbol = tvms_as_global_var(call->args.items[0])->name;
  const char *name = tvms_symbol_text(r->unit->context, symbol);
  const tvms_member *member = tvms_module_find(p->run->module, symbol);
  if (!member || !member->function || member->function->kind != TVMS_NODE_PRIM_FUNC)
    return node;
  split s = {.memory = &r->unit->context->memory};
  look(&s, member->function);
  if (s.wrong && s.before.len)
    report(p, &s, name);
  else if (s.before.len)
    node = split_call(r, &s, node, name);
  split_fini(&s);
  return node;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *node) {
  splitter *p = run->state;
  p->emitter.unit = unit;
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, p);
  rewriter.leave[TVMS_NODE_CALL] = leave_call;
  node = tvms_rewrite(&rewriter, node);
  tvms_rewriter_fini(&rewriter);
  return node;
}

void tvms_pass_split_layout_rewrite_preproc(tvms_pass_run *run) {
  splitter p = {.run = run};
  tvms_relax_emitter_init(&p.emitter, &run->module->unit);
  run->state = &p;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = NULL;
  tvms_relax_emitter_fini(&p.emitter);
  tvms_dead_code_eliminate(run, "");
}
