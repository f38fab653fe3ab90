// UnrollLoop: the steps of short loops written out.
//
// Before: for i in T.unroll(2): A[i] = 0.0   After: A[0] = 0.0; A[1] = 0.0
//
// Loops marked T.unroll are written out always, serial ones if they are short enough for
// the options and hold no loop that stays. The attributes pragma_auto_unroll_max_step and
// pragma_unroll_explicit set the options for what follows them, and go.
// TVM: tirx.transform.UnrollLoop. It does not have two of the options. With `fold`, numbers and conditions that the steps settle
// are computed, so that what no step does is not there to be compiled. With `local_bytes`, short loops over local buffers that are
// no larger are written out: what is in registers must be known by number.
#include "arith/analyzer.h"
#include "arith/internal.h"
#include "arith/quotients.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/remarks.h"
#include "passes/tir/memory/storage_bytes.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  const tvms_pass_run *run;
  int64_t max_step;
  int64_t max_depth;
  int64_t max_extent;
  bool explicit_unroll;
  bool local_access;
  int64_t local_bytes;
  tvms_node_map local;  // variables in indices of local buffers
  bool over;            // the bound was reported
  // Of the part of the function gone through so far:
  int64_t steps;
  int64_t unrolled;  // depth of loops written out
  int64_t kept;      // depth of loops that stay
} unroller;

// No program has more statements in one loop; without a bound nested loops fill all memory.
enum { MOST_STEPS = 1 << 20 };

// As many as there are registers.
enum { MOST_LOCAL_STEPS = 32 };

// Sizes beyond this count as not known, as in TVM.
static int64_t extent_of(tvms_unit *unit, const tvms_for *loop) {
  tvms_node *simple = tvms_arith_simplify(unit, loop->extent);
  if (!tvms_node_is_int_imm(simple)) return -1;
  int64_t extent = tvms_as_int_imm(simple)->value;
  return extent <= INT32_MAX ? extent : -1;
}

// Each step defines variables of its own.
static tvms_node *write_out(tvms_unit *unit, const tvms_for *loop, int64_t extent) {
  uint32_t count = (uint32_t)extent;
  tvms_arena *scratch = &unit->context->scratch;
  tvms_mark mark = tvms_arena_mark(scratch);
  tvms_node **values = tvms_arena_array(scratch, tvms_node *, count);
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < count; i++) {
    tvms_node *step = tvms_int_imm_new(unit, loop->var->dtype, i, TVMS_NO_SPAN);
    values[i] = tvms_build_binary(unit, TVMS_NODE_ADD, loop->min, step, TVMS_NO_SPAN);
  }
  tvms_node **copies = tvms_arena_array(scratch, tvms_node *, count);
  tvms_stmt_copies(unit, loop->body, loop->var, values, count, copies);
  for (uint32_t i = 0; i < count; i++)
    tvms_stmt_push(unit, &stmts, copies[i]);
  tvms_arena_reset(scratch, mark);
  return tvms_stmt_seq(unit, &stmts, loop->head.span);
}

// Why a serial loop stays, where the options let any be written out.
static const char *TVMS_NULLABLE reason_of(const unroller *u, const tvms_for *loop,
                                           int64_t extent) {
  bool wanted = u->max_step > 0 || u->max_extent > 0;
  if (!wanted || loop->for_kind != TVMS_FOR_SERIAL) return NULL;
  if (extent < 0) return "the number of its steps is not known";
  if (u->kept > 0) return "a loop inside of it stays";
  if (u->unrolled > u->max_depth) return "auto_max_depth loops inside of it are";
  return "it has more steps than auto_max_step or auto_max_extent allow";
}

static void tell(const unroller *u, const tvms_for *loop, int64_t extent,
                 bool unrolled) {
  const char *why = unrolled ? NULL : reason_of(u, loop, extent);
  if (unrolled) {
    tvms_pass_count(u->run, "loops written out", 1);
    tvms_pass_count(u->run, "steps written out", extent);
    tvms_pass_remark(u->run, TVMS_REMARK_PASSED, TVMS_D_unrolled, loop->head.span,
                     (long long)extent, tvms_diag_plural((uint64_t)extent));
  } else if (why) {
    tvms_pass_count(u->run, "loops that stay", 1);
    tvms_pass_remark(u->run, TVMS_REMARK_MISSED, TVMS_D_not_unrolled, loop->head.span,
                     why);
  }
}

// Is the loop to be unrolled? Counts it either way.
static bool judge(unroller *u, const tvms_for *loop, int64_t extent) {
  bool automatic = loop->for_kind == TVMS_FOR_SERIAL && extent >= 0 && u->kept == 0
                   && u->unrolled <= u->max_depth;
  automatic &= extent * u->steps <= u->max_step || extent <= u->max_extent;
  automatic |= loop->for_kind == TVMS_FOR_UNROLLED;
  bool local = u->local_access || extent * u->steps <= MOST_LOCAL_STEPS;
  bool left =
      u->local_bytes && tvms_object_map_get(loop->annotations, "irregular_loop_mark");
  automatic |= local && !left && extent > 0 && tvms_node_map_get(&u->local, loop->var);
  tell(u, loop, extent, automatic);
  if (automatic)
    u->unrolled++;
  else
    u->kept++;
  return automatic;
}

static tvms_node *leave_loop(tvms_rewriter *rewriter, tvms_node *node) {
  unroller *u = rewriter->self;
  const tvms_for *loop = tvms_as_for(node);
  int64_t extent = extent_of(rewriter->unit, loop);
  bool marked = loop->for_kind == TVMS_FOR_UNROLLED;
  if (marked && extent < 0) {
    tvms_diag_report(&rewriter->unit->context->diags, TVMS_D_unroll_extent, node->span);
    return node;
  }
  if (u->over) return node;
  bool unrolled = judge(u, loop, extent);
  // A loop of one step costs nothing.
  bool short_loop = 0 <= extent && extent <= u->max_extent && u->max_extent == 1;
  bool writes = (unrolled && u->explicit_unroll) || short_loop;
  if (writes && (u->steps + 1) * extent > MOST_STEPS) {
    u->over = true;
    tvms_diag_report(&rewriter->unit->context->diags, TVMS_D_unroll_limit, node->span,
                     (uint32_t)MOST_STEPS);
    return node;
  }
  if (unrolled) u->steps *= extent;
  if (writes) return write_out(rewriter->unit, loop, extent);
  if (marked || !unrolled) return node;
  tvms_node *copy = tvms_node_copy(rewriter->unit, node);
  tvms_as_for(copy)->for_kind = TVMS_FOR_UNROLLED;
  return copy;
}

static tvms_walk_step note_var(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_VAR) tvms_node_map_put(self, node, node);
  return TVMS_WALK_ON;
}

static bool is_small(const unroller *u, const tvms_buffer *buffer) {
  int64_t bytes = tvms_storage_bytes(buffer);
  return 0 <= bytes && bytes <= u->local_bytes;
}

// Variables that say where in a local buffer: unrolled, its elements may be registers.
static void note_access(unroller *u, tvms_context *context, const tvms_node *buffer,
                        tvms_list indices) {
  if (!u->local_access && !is_small(u, tvms_as_buffer(buffer))) return;
  const tvms_node *type = tvms_as_buffer(buffer)->data->sinfo;
  const char *scope = tvms_symbol_text(context, tvms_as_sinfo_pointer(type)->scope);
  if (strncmp(scope, "local", 5) != 0 && strncmp(scope, "warp", 4) != 0) return;
  tvms_visitor visitor = {.self = &u->local, .enter = note_var};
  for (uint32_t i = 0; i < indices.len; i++)
    tvms_walk(&context->memory, indices.items[i], &visitor);
}

static tvms_node *enter_load(tvms_rewriter *rewriter, tvms_node *node) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  note_access(rewriter->self, rewriter->unit->context, load->buffer, load->indices);
  return TVMS_REWRITE_BELOW;
}

static tvms_node *enter_store(tvms_rewriter *rewriter, tvms_node *node) {
  unroller *u = rewriter->self;
  const tvms_store *store = tvms_as_store(node);
  note_access(u, rewriter->unit->context, store->buffer, store->indices);
  u->steps++;
  return TVMS_REWRITE_BELOW;
}

static tvms_node *count_step(tvms_rewriter *rewriter, tvms_node *node) {
  unroller *u = rewriter->self;
  u->steps++;
  return node;
}

// Takes an option from an attribute, which says it for the rest of its sequence.
static bool take_option(unroller *u, const tvms_node *node) {
  if (node->kind != TVMS_NODE_ATTR_STMT) return false;
  const tvms_attr_stmt *attr = tvms_as_attr_stmt(node);
  if (!tvms_node_is_int_imm(attr->value)) return false;
  int64_t value = tvms_as_int_imm(attr->value)->value;
  if (tvms_bytes_is(attr->key, "pragma_auto_unroll_max_step"))
    u->max_step = value;
  else if (tvms_bytes_is(attr->key, "pragma_unroll_explicit"))
    u->explicit_unroll = value != 0;
  else
    return false;
  return true;
}

// Each statement of a sequence is judged on its own; what it cost adds up.
static tvms_node *enter_seq(tvms_rewriter *rewriter, tvms_node *node) {
  unroller *u = rewriter->self;
  tvms_unit *unit = rewriter->unit;
  tvms_list old = tvms_as_seq(node)->stmts;
  tvms_node_vec stmts = {0};
  bool same = true;
  int64_t max_step = u->max_step;
  bool explicit_unroll = u->explicit_unroll;
  for (uint32_t i = 0; i < old.len; i++) {
    if (take_option(u, old.items[i])) {
      same = false;
      continue;
    }
    unroller before = *u;
    u->steps = u->unrolled = u->kept = 0;
    tvms_node *stmt = tvms_rewrite(rewriter, old.items[i]);
    u->steps += before.steps;
    if (before.kept > u->kept) u->kept = before.kept;
    if (before.unrolled > u->unrolled) u->unrolled = before.unrolled;
    same &= stmt == old.items[i];
    tvms_stmt_push(unit, &stmts, stmt);
  }
  u->max_step = max_step;
  u->explicit_unroll = explicit_unroll;
  if (!same) return tvms_stmt_seq(unit, &stmts, node->span);
  tvms_vec_fini(&unit->context->memory, &stmts);
  return node;
}

// ---- What the steps settle ----

static bool is_number(const tvms_node *node) {
  return node->kind == TVMS_NODE_INT_IMM;
}

// Integers alone: floats round, and vectors hold few numbers.
static tvms_node *fold_binary(tvms_rewriter *r, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  if (!is_number(op->a) && !is_number(op->b)) return node;
  return tvms_arith_fold_binary(r->unit, node->kind, op->a, op->b);
}

static tvms_node *fold_if(tvms_rewriter *r, tvms_node *node) {
  const tvms_if_then_else *branch = tvms_as_if_then_else(node);
  // A step may settle a condition whatever sizes are that are not known: (h - 1) // 2 * 2 - 6 <= h
  tvms_node *condition = branch->condition;
  if (!is_number(condition))
    condition =
        tvms_arith_simplify(r->unit, tvms_arith_join_quotients(r->unit, condition));
  if (!is_number(condition)) return node;
  tvms_node *taken =
      tvms_node_is_true(condition) ? branch->then_case : branch->else_case;
  return taken ? taken : tvms_stmt_none(r->unit, node->span);
}

static tvms_node *fold_call(tvms_rewriter *r, tvms_node *node) {
  (void)r;
  if (tvms_call_opcode(node) != TVMS_TIR_if_then_else) return node;
  tvms_node **args = tvms_as_call(node)->args.items;
  return is_number(args[0]) ? args[tvms_node_is_true(args[0]) ? 1 : 2] : node;
}

static tvms_node *fold_steps(tvms_unit *unit, tvms_node *function) {
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, NULL);
  for (int kind = TVMS_NODE_ADD; kind <= TVMS_NODE_OR; kind++)
    rewriter.leave[kind] = fold_binary;
  rewriter.leave[TVMS_NODE_IF_THEN_ELSE] = fold_if;
  rewriter.leave[TVMS_NODE_CALL] = fold_call;
  tvms_node *folded = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return folded;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  unroller u = {
      .run = run,
      .max_step = TVMS_OPTION(run, UnrollLoop, auto_max_step).number,
      .max_depth = TVMS_OPTION(run, UnrollLoop, auto_max_depth).number,
      .max_extent = TVMS_OPTION(run, UnrollLoop, auto_max_extent).number,
      .explicit_unroll = TVMS_OPTION(run, UnrollLoop, explicit_unroll).number,
      .local_access = TVMS_OPTION(run, UnrollLoop, unroll_local_access).number,
      .local_bytes = TVMS_OPTION(run, UnrollLoop, local_bytes).number,
  };
  tvms_node_map_init(&u.local, &run->context->memory);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &u);
  rewriter.leave[TVMS_NODE_FOR] = leave_loop;
  rewriter.enter[TVMS_NODE_BUFFER_LOAD] = enter_load;
  rewriter.enter[TVMS_NODE_STORE] = enter_store;
  rewriter.leave[TVMS_NODE_EVALUATE] = count_step;
  rewriter.enter[TVMS_NODE_SEQ] = enter_seq;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  tvms_node_map_fini(&u.local);
  bool folds = changed != function && TVMS_OPTION(run, UnrollLoop, fold).number != 0;
  return folds ? fold_steps(unit, changed) : changed;
}

void tvms_pass_unroll_loop(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
