// Statements of a PrimFunc, except assignments (parser/tir/assign.c).
#include "parser/tir/stmt.h"

#include "ir/build.h"
#include "parser/eval/closure.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/meant_sign.h"
#include "parser/eval/reader.h"
#include "parser/eval/scope.h"
#include "parser/eval/undefined.h"
#include "parser/tir/assign.h"
#include "parser/tir/compound.h"
#include "parser/tir/convert.h"
#include "parser/tir/define.h"
#include "parser/tir/frame.h"
#include "parser/tir/simple.h"
#include "support/diag_ids.h"

static void read_stmt(tvms_reader *reader, tvms_ref ref);

void tvms_tir_body(tvms_reader *reader, tvms_ref body) {
  tvms_memory *memory = &reader->context->memory;
  if (!tvms_memory_enter(memory)) {
    tvms_memory_leave(memory);
    tvms_eval_report_too_deep(reader, body);
    reader->failed = true;
    return;
  }
  for (tvms_ref ref = body; ref;) {
    read_stmt(reader, ref);
    ref = tvms_reader_at(reader, ref)->next;
  }
  tvms_memory_leave(memory);
}

static void emit_evaluate(tvms_reader *reader, tvms_node *value, tvms_ref ref) {
  tvms_frame_emit(
      reader, tvms_evaluate_new(reader->unit, value, tvms_reader_span_of(reader, ref)));
}

// ---- Plain statements -----------------------------------------------------------------------

static void read_expression(tvms_reader *reader, tvms_ref ref) {
  tvms_ref expr = tvms_reader_at(reader, ref)->a;
  if (tvms_surface_is_string(reader->surface, expr)) return;  // a docstring
  if (tvms_eval_report_equality(reader, expr)) return;
  tvms_eval_value value = tvms_eval(reader, expr);
  switch (value.kind) {
  case TVMS_EVAL_UNKNOWN: reader->failed = true; return;
  case TVMS_EVAL_NONE:
  case TVMS_EVAL_STR:
  case TVMS_EVAL_META: return;
  case TVMS_EVAL_FRAME: tvms_frame_enter(reader, tvms_frame_of(value), true); return;
  case TVMS_EVAL_INT:
  case TVMS_EVAL_BOOL:
    emit_evaluate(reader, tvms_eval_to_expr(reader, value, expr), ref);
    return;
  case TVMS_EVAL_NODE: break;
  default:
    tvms_eval_report_wrong_type(reader, expr, "a statement", "a statement of TIR",
                                value);
    return;
  }
  tvms_node *node = value.as.node;
  switch (tvms_node_class_of(node)) {
  case TVMS_CLASS_EXPR:
    if (node->kind == TVMS_NODE_STRING_IMM) return;
    if (node->kind == TVMS_NODE_VAR
        && tvms_release_has(reader->dialect, TVMS_FACT_lone_names_are_dropped))
      return;
    emit_evaluate(reader, node, ref);
    return;
  case TVMS_CLASS_STMT: tvms_frame_emit(reader, node); return;
  case TVMS_CLASS_OBJECT:
    if (node->kind == TVMS_NODE_BUFFER
        && tvms_release_has(reader->dialect, TVMS_FACT_lone_names_are_dropped))
      return;
    break;
  case TVMS_CLASS_SINFO:
  case TVMS_CLASS_TOP: break;
  }
  tvms_eval_report_wrong_type(reader, expr, "a statement", "a statement of TIR", value);
}

static void read_assert(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  if (!stmt.b) {
    if (!tvms_reader_was_misread(reader, tvms_reader_span_of(reader, ref)))
      tvms_reader_report(reader, assert_without_message, ref);
    reader->failed = true;
    return;
  }
  tvms_eval_value condition = tvms_eval(reader, stmt.a);
  tvms_eval_value message = tvms_eval(reader, stmt.b);
  tvms_eval_value frame =
      tvms_tir_assert_frame(reader, condition, message, TVMS_NOTHING, ref);
  if (frame.kind == TVMS_EVAL_FRAME) {
    tvms_frame_enter(reader, tvms_frame_of(frame), true);
  } else {
    reader->failed = true;
  }
}

tvms_node *tvms_tir_to_returned(tvms_reader *reader, tvms_eval_value value,
                                tvms_ref ref) {
  tvms_node *buffer = tvms_eval_value_node_of(value, TVMS_NODE_BUFFER);
  if (buffer && tvms_release_has(reader->dialect, TVMS_FACT_buffers_are_variables))
    return buffer;
  return tvms_eval_to_expr(reader, value, ref);
}

static void read_return(tvms_reader *reader, tvms_ref ref) {
  tvms_ref expr = tvms_reader_at(reader, ref)->a;
  tvms_eval_value value = expr ? tvms_eval(reader, expr) : TVMS_NOTHING;
  if (value.kind == TVMS_EVAL_NONE) {
    tvms_reader_report(reader, return_without_value, ref);
    reader->failed = true;
    return;
  }
  tvms_node *node = tvms_tir_to_returned(reader, value, expr);
  if (!node) {
    reader->failed = true;
    return;
  }
  tvms_tir_emit_return(reader, node, ref);
}

void tvms_tir_emit_return(tvms_reader *reader, tvms_node *value, tvms_ref ref) {
  tvms_span span = tvms_reader_span_of(reader, ref);
  if (!tvms_release_has(reader->dialect, TVMS_FACT_returns_are_statements)) {
    tvms_node *call =
        tvms_call_new_of(reader->unit, value->dtype, TVMS_TIR_ret, &value, 1, span);
    emit_evaluate(reader, call, ref);
    return;
  }
  tvms_return *stmt = tvms_node_make(reader->unit, RETURN, span);
  stmt->value = value;
  tvms_frame_emit(reader, &stmt->head);
}

static void read_jump(tvms_reader *reader, tvms_ref ref, tvms_tir_opcode name) {
  tvms_node *call = tvms_call_new_of(reader->unit, (tvms_dtype){0}, name, NULL, 0,
                                     tvms_reader_span_of(reader, ref));
  emit_evaluate(reader, call, ref);
}

// ---- All together -----------------------------------------------------------------------------

// A local function: a macro.
static void read_def(tvms_reader *reader, tvms_ref ref) {
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  tvms_decoration decoration = reader->decorate(reader, ref);
  bool macro = decoration.kind == TVMS_DECORATED_MACRO;
  if (!macro || !tvms_decoration_says(&decoration, TVMS_OPTION_INLINE)) {
    reader->failed = true;
    if (decoration.kind != TVMS_DECORATED_UNKNOWN) {
      tvms_diag_report(&reader->context->diags, TVMS_D_not_in_tir, def.name_span,
                       macro ? "a macro" : "a nested function");
    }
    tvms_scope_bind(reader, def.name, TVMS_UNKNOWN, def.name_span);
    return;
  }
  tvms_tir_define(reader, def.name, tvms_closure_make_macro(reader, ref, &decoration),
                  def.name_span);
}

static tvms_diag *not_in_tir(tvms_reader *reader, tvms_ref ref, const char *what) {
  reader->failed = true;
  return tvms_diag_report(&reader->context->diags, TVMS_D_not_in_tir,
                          tvms_reader_keyword(reader, ref), what);
}

// What was to be imported is not missed a second time where it is used.
static void read_import(tvms_reader *reader, tvms_ref ref) {
  tvms_diag *diag = not_in_tir(reader, ref, "an import");
  tvms_diag_remark(&reader->context->diags, diag,
                   "imports stand at the top of the file");
  tvms_scope_bind_words(reader, tvms_reader_span_of(reader, ref));
}

static void read_stmt(tvms_reader *reader, tvms_ref ref) {
  switch (tvms_reader_at(reader, ref)->kind) {
  case TVMS_SURF_EXPRESSION: read_expression(reader, ref); break;
  case TVMS_SURF_ASSIGN: tvms_tir_read_assign(reader, ref); break;
  case TVMS_SURF_ANN_ASSIGN:
    if (!tvms_eval_report_annotated_equality(reader, ref))
      tvms_tir_read_ann_assign(reader, ref);
    break;
  case TVMS_SURF_AUG_ASSIGN: tvms_tir_read_aug_assign(reader, ref); break;
  case TVMS_SURF_RETURN: read_return(reader, ref); break;
  case TVMS_SURF_ASSERT: read_assert(reader, ref); break;
  case TVMS_SURF_PASS: break;
  case TVMS_SURF_BREAK: read_jump(reader, ref, TVMS_TIR_break_loop); break;
  case TVMS_SURF_CONTINUE: read_jump(reader, ref, TVMS_TIR_continue_loop); break;
  case TVMS_SURF_FOR: tvms_tir_read_for(reader, ref); break;
  case TVMS_SURF_WHILE: tvms_tir_read_while(reader, ref); break;
  case TVMS_SURF_IF: tvms_tir_read_if(reader, ref); break;
  case TVMS_SURF_WITH: tvms_tir_read_with(reader, ref); break;
  case TVMS_SURF_DEF: read_def(reader, ref); break;
  case TVMS_SURF_NONLOCAL: break;
  case TVMS_SURF_CLASS: not_in_tir(reader, ref, "a class"); break;
  case TVMS_SURF_DELETE: not_in_tir(reader, ref, "'del'"); break;
  case TVMS_SURF_GLOBAL: not_in_tir(reader, ref, "'global'"); break;
  case TVMS_SURF_IMPORT:
  case TVMS_SURF_IMPORT_FROM: read_import(reader, ref); break;
  default:  // reported by the parser
    reader->failed = true;
    tvms_scope_bind_words(reader, tvms_reader_span_of(reader, ref));
    break;
  }
}

tvms_eval_value tvms_tir_expand_body(tvms_reader *reader, tvms_ref body, uint32_t calls,
                                     tvms_ref call) {
  (void)call;
  tvms_tir_state *state = tvms_tir_of(reader);
  tvms_tir_expansion here = {state->expansion, calls};
  state->expansion = &here;
  tvms_tir_body(reader, body);
  state->expansion = here.outer;
  return TVMS_NOTHING;
}
