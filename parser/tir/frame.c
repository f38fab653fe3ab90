// Frames of a PrimFunc: opened, closed, and the statements in between.
//
// The statements of all open frames are on one stack. When a frame is closed, those since it was
// opened are taken off as its body. T.evaluate(0) among others is dropped; a body that has nothing
// else, or ends in a definition that holds for what follows, has it. A sequence inside of a
// sequence is put in flat, unless it stands in the middle and begins with a definition whose
// scope it is.
#include "parser/tir/frame.h"

#include "ir/build.h"
#include "ir/stmt.h"
#include "parser/eval/reader.h"
#include "parser/tir/tir.h"

#include <string.h>

tvms_frame *tvms_frame_new(tvms_reader *reader, tvms_frame_kind kind, tvms_ref ref) {
  tvms_frame *frame = tvms_arena_new(&reader->values, tvms_frame);
  frame->kind = kind;
  frame->ref = ref;
  frame->result = TVMS_NOTHING;
  return frame;
}

tvms_eval_value tvms_frame_value(tvms_frame *frame) {
  return (tvms_eval_value){.kind = TVMS_EVAL_FRAME, .as.object = frame};
}

tvms_eval_value tvms_frame_binder(tvms_reader *reader, tvms_node *stmt,
                                  tvms_eval_value result, tvms_ref ref) {
  tvms_frame *frame = tvms_frame_new(reader, TVMS_FRAME_BINDER, ref);
  frame->as.binder.stmt = stmt;
  // An empty body is written out.
  frame->as.binder.scoped = tvms_stmt_holds_body(stmt, reader->dialect);
  frame->result = result;
  return tvms_frame_value(frame);
}

void tvms_frame_emit(tvms_reader *reader, tvms_node *stmt) {
  tvms_vec_push(&reader->context->memory, &tvms_tir_of(reader)->stmts, stmt);
}

tvms_frame *tvms_frame_find(tvms_reader *reader, tvms_frame_kind kind) {
  for (uint32_t i = tvms_tir_of(reader)->frames.len; i > 0; i--) {
    if (tvms_tir_of(reader)->frames.items[i - 1]->kind == kind) {
      return tvms_tir_of(reader)->frames.items[i - 1];
    }
  }
  return NULL;
}

tvms_frame *tvms_frame_top(tvms_reader *reader, tvms_frame_kind kind, const char *what,
                           tvms_ref ref) {
  static const char *const names[] = {[TVMS_FRAME_FUNC] = "a PrimFunc",
                                      [TVMS_FRAME_BLOCK] = "a block",
                                      [TVMS_FRAME_IF] = "T.If"};
  tvms_frame *last = tvms_frame_last(reader);
  if (last->kind == kind) return last;
  reader->failed = true;
  if (tvms_tir_of(reader)->unopened) return NULL;  // it may stand in just that scope
  // So of the next statements, whose scope is missing too.
  const tvms_diags *diags = &reader->context->diags;
  if (diags->last && diags->last->id == TVMS_D_not_at_top
      && diags->last->source == diags->source && kind == TVMS_FRAME_BLOCK
      && !tvms_frame_find(reader, kind)
      && diags->last->span.begin >= tvms_reader_span_of(reader, last->ref).begin)
    return NULL;
  tvms_diag *diag = tvms_reader_report(
      reader, not_at_top, tvms_reader_callee(reader, ref), what, names[kind]);
  tvms_frame *outer = tvms_frame_find(reader, kind);
  if (outer) {
    tvms_diag_note(&reader->context->diags, diag,
                   tvms_reader_span_of(reader, last->ref),
                   "this lies between it and %s", names[kind]);
  }
  return NULL;
}

// ---- Bodies ---------------------------------------------------------------------------------

static bool is_no_op(const tvms_node *stmt) {
  if (stmt->kind != TVMS_NODE_EVALUATE) return false;
  return tvms_node_is_int(tvms_as_evaluate(stmt)->value, 0);
}

// A nested scope in the middle of a sequence stays apart only if what it begins with ends
// with it.
static bool is_scope(const tvms_reader *reader, const tvms_node *stmt) {
  return tvms_stmt_holds_body(tvms_as_seq(stmt)->stmts.items[0], reader->dialect);
}

static void put_flat(tvms_reader *reader, tvms_nodes *out, tvms_node *stmt, bool last) {
  tvms_memory *memory = &reader->context->memory;
  if (stmt->kind != TVMS_NODE_SEQ || (!last && is_scope(reader, stmt))) {
    tvms_vec_push(memory, out, stmt);
    return;
  }
  tvms_list inner = tvms_as_seq(stmt)->stmts;
  for (uint32_t i = 0; i < inner.len; i++) {
    tvms_vec_push(memory, out, inner.items[i]);
  }
}

// True if `stmts` need a statement after the last one: an empty body.
static bool wants_no_op(const tvms_reader *reader, const tvms_nodes *stmts) {
  return stmts->len == 0
         || tvms_stmt_holds_body(stmts->items[stmts->len - 1], reader->dialect);
}

tvms_node *tvms_frame_take_body(tvms_reader *reader, uint32_t begin, tvms_span span) {
  tvms_nodes *stack = &tvms_tir_of(reader)->stmts;
  tvms_memory *memory = &reader->context->memory;
  uint32_t end = stack->len;
  while (end > begin && is_no_op(stack->items[end - 1])) {
    end--;
  }
  if (end == begin + 1
      && !tvms_stmt_holds_body(stack->items[begin],
                               reader->dialect)) {  // the usual case
    stack->len = begin;
    return stack->items[begin];
  }
  tvms_nodes out = {0};
  for (uint32_t i = begin; i < end; i++) {
    if (!is_no_op(stack->items[i])) {
      put_flat(reader, &out, stack->items[i], i + 1 == end);
    }
  }
  stack->len = begin;
  if (wants_no_op(reader, &out)) {
    tvms_node *zero =
        tvms_int_imm_new(reader->unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
    tvms_vec_push(memory, &out, tvms_evaluate_new(reader->unit, zero, TVMS_NO_SPAN));
  }
  tvms_node *body = out.len == 1 ? out.items[0]
                                 : tvms_seq_new(reader->unit, out.items, out.len, span);
  tvms_vec_fini(memory, &out);
  return body;
}

// ---- Entering ---------------------------------------------------------------------------------

static void emit_binders(tvms_reader *reader, tvms_frame *frame) {
  tvms_frame_emit(reader, frame->as.binder.stmt);
  for (uint32_t i = 0; i < frame->as.binder.count; i++) {
    tvms_frame_emit(reader, frame->as.binder.more[i]);
  }
}

static bool enter_branch(tvms_reader *reader, tvms_frame *frame) {
  bool is_then = frame->kind == TVMS_FRAME_THEN;
  tvms_frame *branch =
      tvms_frame_top(reader, TVMS_FRAME_IF, is_then ? "T.Then" : "T.Else", frame->ref);
  if (!branch) return false;
  bool again = is_then ? branch->as.branch.has_then : branch->as.branch.has_else;
  bool early = !is_then && !branch->as.branch.has_then;
  if (!again && !early) return true;
  tvms_reader_report(reader, misplaced_branch, frame->ref,
                     early ? "T.Else must follow T.Then"
                           : "this branch already exists");
  return false;
}

static bool may_enter(tvms_reader *reader, tvms_frame *frame) {
  if (frame->entered) {
    tvms_reader_report(reader, frame_reused, frame->ref);
    return false;
  }
  if (frame->kind == TVMS_FRAME_THEN || frame->kind == TVMS_FRAME_ELSE) {
    return enter_branch(reader, frame);
  }
  if (frame->kind != TVMS_FRAME_INIT) return true;
  tvms_frame *block = tvms_frame_top(reader, TVMS_FRAME_BLOCK, "T.init", frame->ref);
  if (!block) return false;
  if (!block->as.block.init) return true;
  tvms_reader_report(reader, repeated_part, frame->ref, "T.init");
  return false;
}

bool tvms_frame_enter(tvms_reader *reader, tvms_frame *frame, bool flat) {
  if (!may_enter(reader, frame)) {
    reader->failed = true;
    return false;
  }
  frame->entered = true;
  frame->flat =
      flat && frame->kind <= TVMS_FRAME_BINDERS && frame->kind >= TVMS_FRAME_BINDER;
  frame->begin = tvms_tir_of(reader)->stmts.len;
  if (frame->kind == TVMS_FRAME_BINDER || frame->kind == TVMS_FRAME_BINDERS) {
    emit_binders(reader, frame);
    // What has no body adds its statement and is done.
    if (frame->flat && !frame->as.binder.scoped) return true;
  }
  tvms_vec_push(&reader->context->memory, &tvms_tir_of(reader)->frames, frame);
  return true;
}

// ---- Leaving ----------------------------------------------------------------------------------

static tvms_node *make_iter_var(tvms_reader *reader, const tvms_frame *frame,
                                tvms_span span) {
  tvms_unit *unit = reader->unit;
  tvms_iter_var *iter_var = tvms_node_make(unit, ITER_VAR, span);
  tvms_sym name = tvms_symbol_intern(reader->context, "iter", 4);
  iter_var->var = tvms_var_new(unit, name, frame->as.loop.vars[0]->dtype, span);
  iter_var->iter_type = TVMS_ITER_THREAD_INDEX;
  iter_var->thread_tag = frame->as.loop.thread;
  iter_var->head.dtype = iter_var->var->dtype;
  return &iter_var->head;
}

static void exit_loop(tvms_reader *reader, tvms_frame *frame) {
  tvms_span span = tvms_reader_span_of(reader, frame->ref);
  tvms_node *body = tvms_frame_take_body(reader, frame->begin, span);
  for (uint32_t i = frame->as.loop.count; i > 0; i--) {
    tvms_for *loop = tvms_node_make(reader->unit, FOR, span);
    loop->min = frame->as.loop.mins[i - 1];
    loop->extent = frame->as.loop.extents[i - 1];
    loop->step = frame->as.loop.steps[i - 1];
    loop->var = frame->as.loop.vars[i - 1];
    loop->for_kind = frame->as.loop.kind;
    loop->annotations = frame->as.loop.annotations;
    if (frame->as.loop.kind == TVMS_FOR_THREAD_BINDING) {
      loop->thread = make_iter_var(reader, frame, span);
    }
    loop->body = body;
    body = &loop->head;
  }
  tvms_frame_emit(reader, body);
}

static tvms_list take_list(tvms_reader *reader, tvms_nodes *nodes) {
  tvms_list list = tvms_list_copy(reader->unit, nodes->items, nodes->len);
  tvms_vec_fini(&reader->context->memory, nodes);
  return list;
}

static bool check_bare_block(tvms_reader *reader, const tvms_frame *frame) {
  const char *what = frame->as.block.iter_values.len ? "axes with a binding"
                     : frame->as.block.predicate     ? "predicate"
                                                     : NULL;
  if (!what) return true;
  tvms_reader_report(reader, not_in_bare_block, frame->ref, what);
  reader->failed = true;
  return false;
}

static void exit_block(tvms_reader *reader, tvms_frame *frame) {
  tvms_unit *unit = reader->unit;
  tvms_span span = tvms_reader_span_of(reader, frame->ref);
  tvms_block *block = tvms_node_make(unit, BLOCK, span);
  block->body = tvms_frame_take_body(reader, frame->begin, span);
  block->iter_vars = take_list(reader, &frame->as.block.iter_vars);
  block->reads = frame->as.block.reads;
  block->writes = frame->as.block.writes;
  block->name = tvms_bytes_copy(unit, frame->as.block.name, frame->as.block.name_len);
  block->init = frame->as.block.init;
  block->annotations = frame->as.block.annotations;
  block->alloc_buffers = take_list(reader, &frame->as.block.alloc_buffers);
  block->match_buffers = take_list(reader, &frame->as.block.match_buffers);
  if (!frame->as.block.has_reads) block->head.flags |= TVMS_FLAG_READS_MISSING;
  if (!frame->as.block.has_writes) block->head.flags |= TVMS_FLAG_WRITES_MISSING;
  if (frame->as.block.no_realize) {
    check_bare_block(reader, frame);
    tvms_vec_fini(&reader->context->memory, &frame->as.block.iter_values);
    tvms_frame_emit(reader, &block->head);
    return;
  }
  tvms_block_realize *realize = tvms_node_make(unit, BLOCK_REALIZE, span);
  realize->iter_values = take_list(reader, &frame->as.block.iter_values);
  realize->predicate = frame->as.block.predicate ? frame->as.block.predicate
                                                 : tvms_bool_imm_new(unit, true, span);
  realize->block = &block->head;
  tvms_frame_emit(reader, &realize->head);
}

static void exit_if(tvms_reader *reader, tvms_frame *frame) {
  tvms_span span = tvms_reader_span_of(reader, frame->ref);
  if (!frame->as.branch.has_then) {
    tvms_reader_report(reader, misplaced_branch, frame->ref, "T.If needs a T.Then");
    reader->failed = true;
    return;
  }
  tvms_if_then_else *stmt = tvms_node_make(reader->unit, IF_THEN_ELSE, span);
  stmt->condition = frame->as.branch.condition;
  stmt->then_case = frame->as.branch.then_case;
  stmt->else_case = frame->as.branch.else_case;
  tvms_frame_emit(reader, &stmt->head);
}

static void exit_case(tvms_reader *reader, tvms_frame *frame) {
  tvms_node *body = tvms_frame_take_body(reader, frame->begin,
                                         tvms_reader_span_of(reader, frame->ref));
  tvms_frame *branch = tvms_frame_last(reader);
  if (frame->kind == TVMS_FRAME_THEN) {
    branch->as.branch.then_case = body;
    branch->as.branch.has_then = true;
  } else {
    branch->as.branch.else_case = body;
    branch->as.branch.has_else = true;
  }
}

static void exit_while(tvms_reader *reader, tvms_frame *frame) {
  tvms_span span = tvms_reader_span_of(reader, frame->ref);
  tvms_while *loop = tvms_node_make(reader->unit, WHILE, span);
  loop->condition = frame->as.branch.condition;
  loop->body = tvms_frame_take_body(reader, frame->begin, span);
  tvms_frame_emit(reader, &loop->head);
}

// A scope of its own, unless the frame was opened flat: its statements stay where they are.
static void exit_binder(tvms_reader *reader, tvms_frame *frame) {
  if (frame->flat) return;
  tvms_frame_emit(reader,
                  tvms_frame_take_body(reader, frame->begin,
                                       tvms_reader_span_of(reader, frame->ref)));
}

static void close_last(tvms_reader *reader) {
  tvms_frame *frame =
      tvms_tir_of(reader)->frames.items[--tvms_tir_of(reader)->frames.len];
  switch (frame->kind) {
  case TVMS_FRAME_FUNC: break;
  case TVMS_FRAME_BLOCK: exit_block(reader, frame); break;
  case TVMS_FRAME_INIT: {
    tvms_frame *block = tvms_frame_last(reader);
    block->as.block.init = tvms_frame_take_body(
        reader, frame->begin, tvms_reader_span_of(reader, frame->ref));
    break;
  }
  case TVMS_FRAME_FOR: exit_loop(reader, frame); break;
  case TVMS_FRAME_WHILE: exit_while(reader, frame); break;
  case TVMS_FRAME_IF: exit_if(reader, frame); break;
  case TVMS_FRAME_THEN:
  case TVMS_FRAME_ELSE: exit_case(reader, frame); break;
  case TVMS_FRAME_BINDER:
  case TVMS_FRAME_BINDERS: exit_binder(reader, frame); break;
  case TVMS_FRAME_COLLECT: frame->as.collect.close(reader, frame); break;
  }
}

void tvms_frame_exit(tvms_reader *reader, tvms_frame *frame) {
  while (tvms_frame_last(reader) != frame) {
    close_last(reader);
  }
  close_last(reader);
}
