// Statements of a PrimFunc, except assignments (parser/tir/assign.c).
#include "parser/tir/stmt.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "parser/eval/closure.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/names.h"
#include "parser/tir/assign.h"
#include "parser/tir/convert.h"
#include "parser/tir/define.h"
#include "parser/tir/frame.h"
#include "parser/tir/loop.h"
#include "parser/tir/names.h"
#include "parser/tir/operator.h"
#include "parser/tir/simple.h"

#include <stdio.h>
#include <string.h>

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

// "int32", or a pointer as its annotation is written.
static const char *let_type_text(tvms_reader *reader, const tvms_node *node) {
  char dtype[TVMS_DTYPE_TEXT];
  const tvms_node *type = node->sinfo;
  if (!type || type->kind != TVMS_NODE_SINFO_POINTER) {
    const char *plain = tvms_dtype_text(node->dtype, dtype);
    return tvms_arena_text(&reader->values, plain, strlen(plain));
  }
  tvms_sym scope = tvms_as_sinfo_pointer(type)->scope;
  char text[TVMS_DTYPE_TEXT + 128];
  int len = snprintf(text, sizeof text, "T.handle(\"%s\"%s%.64s%s)",
                     tvms_dtype_text(type->dtype, dtype), scope ? ", \"" : "",
                     scope ? tvms_symbol_text(reader->context, scope) : "",
                     scope ? "\"" : "");
  return tvms_arena_text(&reader->values, text, (size_t)len);
}

// A typed pointer or a plain handle; not a tensor map.
static bool is_pointer(const tvms_node *node) {
  return tvms_dtype_is_handle(node->dtype)
         && (!node->sinfo || node->sinfo->kind == TVMS_NODE_SINFO_POINTER);
}

// Its type; NULL if it points to anything.
static const tvms_node *TVMS_NULLABLE pointer_type(const tvms_node *node) {
  const tvms_node *type = node->sinfo;
  bool plain =
      !type || (tvms_dtype_is_void(type->dtype) && !tvms_as_sinfo_pointer(type)->scope);
  return plain ? NULL : type;
}

// Up to 0.25 all pointers are handles.
static bool same_let_type(tvms_reader *reader, const tvms_node *var,
                          const tvms_node *value) {
  if (!tvms_dtype_same(var->dtype, value->dtype)) return false;
  bool typed = tvms_release_has(reader->dialect, TVMS_FACT_expressions_have_types)
               && is_pointer(var) && is_pointer(value);
  if (!typed) return true;
  const tvms_node *a = pointer_type(var), *b = pointer_type(value);
  return a && b ? tvms_node_equal(reader->context, a, b) : a == b;
}

bool tvms_tir_check_let(tvms_reader *reader, const tvms_node *var,
                        const tvms_node *value, tvms_ref ref) {
  if (same_let_type(reader, var, value)) return true;
  // Some device intrinsics of later releases say their type by an argument.
  bool text = value->kind == TVMS_NODE_STRING_IMM && tvms_dtype_is_void(var->dtype);
  if (text && tvms_release_has(reader->dialect, TVMS_FACT_texts_are_void)) return true;
  if (tvms_dtype_is_void(value->dtype)
      && tvms_release_has(reader->dialect, TVMS_FACT_void_can_be_bound))
    return true;
  tvms_reader_report(reader, let_dtype, ref, let_type_text(reader, var),
                     let_type_text(reader, value));
  reader->failed = true;
  return false;
}

void tvms_tir_enter_let(tvms_reader *reader, tvms_node *var, tvms_node *value,
                        tvms_ref ref) {
  if (!tvms_tir_check_let(reader, var, value, ref)) return;
  tvms_struct_BIND *bind =
      tvms_node_make(reader->unit, BIND, tvms_reader_span_of(reader, ref));
  bind->var = var;
  bind->value = value;
  tvms_eval_value frame =
      tvms_frame_binder(reader, &bind->head, tvms_eval_value_node(var), ref);
  tvms_frame_enter(reader, frame.as.frame, true);
}

static void emit_evaluate(tvms_reader *reader, tvms_node *value, tvms_ref ref) {
  tvms_frame_emit(
      reader, tvms_evaluate_new(reader->unit, value, tvms_reader_span_of(reader, ref)));
}

// ---- Plain statements -----------------------------------------------------------------------

static void read_expression(tvms_reader *reader, tvms_ref ref) {
  tvms_ref expr = tvms_reader_at(reader, ref)->a;
  if (tvms_surface_is_string(reader->surface, expr)) return;  // a docstring
  tvms_eval_value value = tvms_eval(reader, expr);
  switch (value.kind) {
  case TVMS_EVAL_UNKNOWN: reader->failed = true; return;
  case TVMS_EVAL_NONE:
  case TVMS_EVAL_STR:
  case TVMS_EVAL_META: return;
  case TVMS_EVAL_FRAME: tvms_frame_enter(reader, value.as.frame, true); return;
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
    tvms_reader_report(reader, assert_without_message, ref);
    reader->failed = true;
    return;
  }
  tvms_eval_value condition = tvms_eval(reader, stmt.a);
  tvms_eval_value message = tvms_eval(reader, stmt.b);
  tvms_eval_value frame =
      tvms_tir_assert_frame(reader, condition, message, TVMS_NOTHING, ref);
  if (frame.kind == TVMS_EVAL_FRAME) {
    tvms_frame_enter(reader, frame.as.frame, true);
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

// ---- Compound statements --------------------------------------------------------------------

// Values of a loop are variables; they take the name of the target.
static tvms_eval_value bind_loop_var(tvms_reader *reader, tvms_sym name,
                                     tvms_eval_value value, tvms_ref ref) {
  (void)ref;
  tvms_eval_items items;
  if (value.kind == TVMS_EVAL_TUPLE || value.kind == TVMS_EVAL_LIST) {
    items = (tvms_eval_items){value.as.items, value.len};
    for (uint32_t i = 0; i < items.len; i++) {
      tvms_tir_name_part(reader, items.items[i], name, i);
    }
  } else if (value.kind == TVMS_EVAL_NODE) {
    tvms_tir_name_node(reader, value.as.node, name);
  }
  return value;
}

// `with frame as name`.
static tvms_eval_value bind_with(tvms_reader *reader, tvms_sym name,
                                 tvms_eval_value value, tvms_ref ref) {
  bool nameable = value.kind == TVMS_EVAL_NODE
                  && (value.as.node->kind == TVMS_NODE_VAR
                      || value.as.node->kind == TVMS_NODE_BUFFER);
  if (nameable || tvms_eval_value_is_sequence(value)) {
    return bind_loop_var(reader, name, value, ref);
  }
  tvms_eval_report_wrong_type(reader, ref, "what 'as' names", "a variable or buffer",
                              value);
  return TVMS_UNKNOWN;
}

// `range(…)` of a `for` is a loop, also where Python's function is meant elsewhere.
static tvms_eval_value loop_iterable(tvms_reader *reader, tvms_ref iterable) {
  const tvms_surf node = *tvms_reader_at(reader, iterable);
  if (node.kind == TVMS_SURF_CALL
      && tvms_reader_at(reader, node.a)->kind == TVMS_SURF_NAME
      && tvms_reader_at(reader, node.a)->a == TVMS_SYM_range) {
    return tvms_tir_range_loop(reader, iterable);
  }
  return tvms_eval(reader, iterable);
}

static tvms_eval_value loop_vars(tvms_reader *reader, const tvms_frame *frame) {
  uint32_t count = frame->as.loop.count;
  tvms_eval_value *vars = tvms_arena_array(&reader->values, tvms_eval_value, count);
  for (uint32_t i = 0; i < count; i++) {
    vars[i] = tvms_eval_value_node(frame->as.loop.vars[i]);
  }
  if (frame->as.loop.single || count == 1) return vars[0];
  return tvms_eval_value_items(TVMS_EVAL_LIST, vars, count);
}

static void bind_loop_vars(tvms_reader *reader, tvms_ref target,
                           const tvms_frame *frame) {
  const tvms_surf *node = tvms_reader_at(reader, target);
  bool several = node->kind == TVMS_SURF_TUPLE || node->kind == TVMS_SURF_LIST;
  tvms_eval_value vars = loop_vars(reader, frame);
  if (several && vars.kind == TVMS_EVAL_NODE) {
    tvms_reader_report(reader, cannot_unpack, target,
                       tvms_surface_count(reader->surface, node->a), 1u, "");
    reader->failed = true;
    tvms_tir_bind_unknown(reader, target);
    return;
  }
  tvms_tir_bind_targets(reader, target, vars, bind_loop_var, 0);
}

static void read_for(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  const tvms_surf suites = *tvms_reader_at(reader, stmt.c);
  tvms_eval_value value = loop_iterable(reader, stmt.b);
  if (suites.b) tvms_reader_report(reader, loop_else, suites.b);
  bool sound = value.kind == TVMS_EVAL_FRAME && value.as.frame->kind == TVMS_FRAME_FOR;
  if (!sound && tvms_eval_value_is_known(value)) {
    tvms_reader_report(reader, not_a_loop, stmt.b, tvms_eval_describe(reader, value));
  }
  tvms_scope_push(reader);
  if (sound && tvms_frame_enter(reader, value.as.frame, false)) {
    value.as.frame->ref = ref;
    bind_loop_vars(reader, stmt.a, value.as.frame);
    tvms_tir_body(reader, suites.a);
    tvms_frame_exit(reader, value.as.frame);
  } else {
    reader->failed = true;
    tvms_tir_bind_unknown(reader, stmt.a);
    tvms_tir_body(reader, suites.a);
  }
  tvms_scope_pop(reader);
}

static void read_while(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  if (stmt.c) tvms_reader_report(reader, loop_else, stmt.c);
  tvms_scope_push(reader);
  tvms_eval_value test = tvms_eval(reader, stmt.a);
  bool text = test.kind == TVMS_EVAL_STR;
  if (text)
    tvms_eval_report_wrong_type(reader, stmt.a, "a condition", "a boolean", test);
  tvms_node *condition = text ? NULL : tvms_eval_to_expr(reader, test, stmt.a);
  if (!condition || !tvms_tir_check_while(reader, condition, ref))
    reader->failed = true;
  tvms_frame *frame = tvms_frame_new(reader, TVMS_FRAME_WHILE, ref);
  frame->as.branch.condition = condition;
  tvms_frame_enter(reader, frame, false);
  tvms_tir_body(reader, stmt.b);
  tvms_frame_exit(reader, frame);
  tvms_scope_pop(reader);
}

static void read_case(tvms_reader *reader, tvms_frame_kind kind, tvms_ref body,
                      tvms_ref ref) {
  tvms_frame *frame = tvms_frame_new(reader, kind, ref);
  tvms_frame_enter(reader, frame, false);
  tvms_scope_push(reader);
  tvms_tir_body(reader, body);
  tvms_scope_pop(reader);
  tvms_frame_exit(reader, frame);
}

static void read_symbolic_if(tvms_reader *reader, const tvms_surf *stmt,
                             tvms_eval_value test, tvms_ref ref) {
  tvms_node *condition = tvms_eval_to_expr(reader, test, stmt->a);
  if (!condition) reader->failed = true;
  tvms_frame *frame = tvms_frame_new(reader, TVMS_FRAME_IF, ref);
  frame->as.branch.condition = condition;
  tvms_frame_enter(reader, frame, false);
  read_case(reader, TVMS_FRAME_THEN, stmt->b, ref);
  if (stmt->c) read_case(reader, TVMS_FRAME_ELSE, stmt->c, ref);
  tvms_frame_exit(reader, frame);
}

// A condition that is known now: only the branch taken is read. From 0.25 on it is no
// scope of its own.
static void read_known_if(tvms_reader *reader, const tvms_surf *stmt, bool truth) {
  tvms_ref body = truth ? stmt->b : stmt->c;
  bool scope = tvms_release_has(reader->dialect, TVMS_FACT_known_ifs_are_scopes);
  if (!body) return;
  if (scope) tvms_scope_push(reader);
  tvms_tir_body(reader, body);
  if (scope) tvms_scope_pop(reader);
}

static void read_if(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  tvms_eval_value test = tvms_eval(reader, stmt.a);
  if (test.kind == TVMS_EVAL_BOOL) {
    read_known_if(reader, &stmt, test.as.i != 0);
    return;
  }
  if (test.kind == TVMS_EVAL_UNKNOWN || tvms_eval_is_tir_operand(test)) {
    read_symbolic_if(reader, &stmt, test, ref);
    return;
  }
  tvms_eval_report_wrong_type(reader, stmt.a, "a condition", "a boolean", test);
}

static bool is_loop(tvms_reader *reader, tvms_ref expr) {
  const tvms_surf *call = tvms_reader_at(reader, expr);
  if (call->kind != TVMS_SURF_CALL) return false;
  const tvms_surf *callee = tvms_reader_at(reader, call->a);
  if (callee->kind != TVMS_SURF_ATTRIBUTE
      || tvms_reader_at(reader, callee->a)->kind != TVMS_SURF_NAME) {
    return false;
  }
  const tvms_binding *binding =
      tvms_scope_lookup(reader, tvms_reader_at(reader, callee->a)->a);
  if (!binding || binding->value.kind != TVMS_EVAL_NAMESPACE) return false;
  const tvms_row *row =
      tvms_row_find(reader, (tvms_namespace)binding->value.as.i, callee->b);
  return row && tvms_row_has(row, TVMS_TRAIT_LOOP);
}

// TVM takes loops for items of `with`, and prints them as `for`.
static void report_with_loop(tvms_reader *reader, tvms_ref item, tvms_ref with) {
  const tvms_surf node = *tvms_reader_at(reader, item);
  tvms_diags *diags = &reader->context->diags;
  const char *text = reader->surface->source->text;
  tvms_span loop = tvms_reader_span_of(reader, node.a);
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_with_loop, loop);
  bool alone = tvms_reader_at(reader, with)->a == item && !node.next;
  if (!alone || !node.b || tvms_reader_at(reader, with)->flags & TVMS_SURF_PAREN)
    return;
  tvms_span target = tvms_reader_span_of(reader, node.b);
  tvms_diag_fix(diags, diag,
                (tvms_span){tvms_reader_span_of(reader, with).begin, target.end}, true,
                "for %.*s in %.*s", (int)(target.end - target.begin),
                text + target.begin, (int)(loop.end - loop.begin), text + loop.begin);
}

// Opens the items of a `with` from `item` on, reads the body inside, and closes them.
static void read_items(tvms_reader *reader, tvms_ref item, tvms_ref body,
                       tvms_ref with) {
  if (!item) {
    tvms_tir_body(reader, body);
    return;
  }
  const tvms_surf node = *tvms_reader_at(reader, item);
  if (!reader->lenient && is_loop(reader, node.a)) report_with_loop(reader, item, with);
  tvms_eval_value value = tvms_eval(reader, node.a);
  if (value.kind == TVMS_EVAL_FRAME && value.as.frame->entered) {
    value.as.frame->ref = node.a;  // where the second opening is reported
  }
  bool open =
      value.kind == TVMS_EVAL_FRAME && tvms_frame_enter(reader, value.as.frame, false);
  if (!open) {
    reader->failed = true;
    if (tvms_eval_value_is_known(value) && value.kind != TVMS_EVAL_FRAME) {
      tvms_reader_report(reader, not_a_frame, node.a,
                         tvms_eval_describe(reader, value));
    }
    if (node.b) tvms_tir_bind_unknown(reader, node.b);
    reader->tir->unopened++;
    read_items(reader, node.next, body, with);
    reader->tir->unopened--;
    return;
  }
  tvms_frame *frame = value.as.frame;
  if (frame->kind == TVMS_FRAME_BLOCK) frame->ref = with;
  if (node.b) {
    tvms_eval_value result =
        frame->kind == TVMS_FRAME_FOR ? loop_vars(reader, frame) : frame->result;
    tvms_tir_bind_targets(reader, node.b, result, bind_with, node.b);
  }
  read_items(reader, node.next, body, with);
  tvms_frame_exit(reader, frame);
}

static void read_with(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  tvms_scope_push(reader);
  read_items(reader, stmt.a, stmt.b, ref);
  tvms_scope_pop(reader);
}

// A local function: a macro.
static void read_def(tvms_reader *reader, tvms_ref ref) {
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  tvms_decoration decoration = reader->decorate(reader, ref);
  uint8_t flags = 0;
  if (decoration.kind == TVMS_DECORATED_INLINE) {
    flags = TVMS_EVAL_INLINE | TVMS_EVAL_HYGIENIC;
  } else {
    reader->failed = true;
    if (decoration.kind != TVMS_DECORATED_UNKNOWN) {
      bool macro = decoration.kind == TVMS_DECORATED_MACRO;
      tvms_diag_report(&reader->context->diags, TVMS_D_not_in_tir, def.name_span,
                       macro ? "a macro" : "a nested function");
    }
    tvms_scope_bind(reader, def.name, TVMS_UNKNOWN, def.name_span);
    return;
  }
  tvms_tir_define(reader, def.name, tvms_closure_make_macro(reader, ref, flags),
                  def.name_span);
}

static void not_in_tir(tvms_reader *reader, tvms_ref ref, const char *what) {
  tvms_reader_report(reader, not_in_tir, ref, what);
  reader->failed = true;
}

static void read_stmt(tvms_reader *reader, tvms_ref ref) {
  switch (tvms_reader_at(reader, ref)->kind) {
  case TVMS_SURF_EXPRESSION: read_expression(reader, ref); break;
  case TVMS_SURF_ASSIGN: tvms_tir_read_assign(reader, ref); break;
  case TVMS_SURF_ANN_ASSIGN: tvms_tir_read_ann_assign(reader, ref); break;
  case TVMS_SURF_AUG_ASSIGN: tvms_tir_read_aug_assign(reader, ref); break;
  case TVMS_SURF_RETURN: read_return(reader, ref); break;
  case TVMS_SURF_ASSERT: read_assert(reader, ref); break;
  case TVMS_SURF_PASS: break;
  case TVMS_SURF_BREAK: read_jump(reader, ref, TVMS_TIR_break_loop); break;
  case TVMS_SURF_CONTINUE: read_jump(reader, ref, TVMS_TIR_continue_loop); break;
  case TVMS_SURF_FOR: read_for(reader, ref); break;
  case TVMS_SURF_WHILE: read_while(reader, ref); break;
  case TVMS_SURF_IF: read_if(reader, ref); break;
  case TVMS_SURF_WITH: read_with(reader, ref); break;
  case TVMS_SURF_DEF: read_def(reader, ref); break;
  case TVMS_SURF_NONLOCAL: break;
  case TVMS_SURF_CLASS: not_in_tir(reader, ref, "a class"); break;
  case TVMS_SURF_DELETE: not_in_tir(reader, ref, "'del'"); break;
  case TVMS_SURF_GLOBAL: not_in_tir(reader, ref, "'global'"); break;
  case TVMS_SURF_IMPORT:
  case TVMS_SURF_IMPORT_FROM: not_in_tir(reader, ref, "an import"); break;
  default: reader->failed = true; break;  // reported by the parser
  }
}

tvms_eval_value tvms_tir_expand_body(tvms_reader *reader, tvms_ref body, uint32_t calls,
                                     tvms_ref call) {
  (void)call;
  uint32_t saved = reader->tir->macro_calls;
  reader->tir->macro_calls = calls;
  tvms_tir_body(reader, body);
  reader->tir->macro_calls = saved;
  return TVMS_NOTHING;
}
