// Statements of a PrimFunc that hold others: loops, If, with.
#include "parser/tir/compound.h"

#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/reader.h"
#include "parser/eval/scope.h"
#include "parser/tir/convert.h"
#include "parser/tir/define.h"
#include "parser/tir/frame.h"
#include "parser/tir/loop.h"
#include "parser/tir/names.h"
#include "parser/tir/operator.h"
#include "parser/tir/stmt.h"
#include "support/diag_ids.h"

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
  tvms_eval_report_wrong_type(reader, ref, "the target of 'as'", "a variable or buffer",
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

// Loops of TVM's text may define variables that stand above them.
static void take_declared(tvms_reader *reader, tvms_ref target,
                          const tvms_frame *frame) {
  tvms_node **vars = frame->as.loop.vars;
  uint32_t i = 0;
  tvms_surface_each(reader->surface, item, target) {
    const tvms_surf *node = tvms_reader_at(reader, item);
    tvms_node *known =
        node->kind == TVMS_SURF_NAME ? tvms_tir_declared_early(reader, node->a) : NULL;
    if (i == frame->as.loop.count) return;
    if (known && tvms_dtype_same(known->dtype, vars[i]->dtype)) {
      tvms_tir_define_early(known);
      vars[i] = known;
    }
    i++;
  }
}

static void bind_loop_vars(tvms_reader *reader, tvms_ref target,
                           const tvms_frame *frame) {
  const tvms_surf *node = tvms_reader_at(reader, target);
  bool several = node->kind == TVMS_SURF_TUPLE || node->kind == TVMS_SURF_LIST;
  take_declared(reader, several ? node->a : target, frame);
  tvms_eval_value vars = loop_vars(reader, frame);
  if (several && vars.kind == TVMS_EVAL_NODE) {
    uint32_t count = tvms_surface_count(reader->surface, node->a);
    tvms_diag *diag = tvms_reader_report(reader, cannot_unpack, target, count,
                                         tvms_diag_plural(count), 1u, "");
    tvms_diag_remark(&reader->context->diags, diag,
                     "loops inside each other are T.grid(n, m)");
    reader->failed = true;
    tvms_tir_bind_unknown(reader, target);
    return;
  }
  tvms_tir_bind_targets(reader, target, vars, bind_loop_var, 0);
}

// `for i, j in (n, m)`, `for i in n`.
static void explain_loop(tvms_reader *reader, tvms_diag *diag, tvms_ref ref,
                         tvms_eval_value value) {
  tvms_diags *diags = &reader->context->diags;
  tvms_span span = tvms_reader_span_of(reader, ref);
  char first = reader->surface->source->text[span.begin];
  if (value.kind == TVMS_EVAL_TUPLE && first == '(') {
    tvms_diag_remark(diags, diag, "loops inside each other are T.grid(n, m)");
    tvms_diag_fix(diags, diag, (tvms_span){span.begin, span.begin}, false, "T.grid");
  } else if (value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_NODE) {
    tvms_diag_remark(diags, diag, "a loop of n steps is range(n)");
    tvms_diag_fix(diags, diag, (tvms_span){span.begin, span.begin}, false, "range(");
    tvms_diag_fix(diags, diag, (tvms_span){span.end, span.end}, false, ")");
  }
}

// `for i, j in T.grid(a, b, c)` is wrong whatever these are, of which some may be unknown.
static void check_grid(tvms_reader *reader, tvms_ref target, tvms_ref iterable) {
  const tvms_surf *call = tvms_reader_at(reader, iterable);
  const tvms_surf *names = tvms_reader_at(reader, target);
  if (call->kind != TVMS_SURF_CALL || names->kind != TVMS_SURF_TUPLE) return;
  const tvms_surf *callee = tvms_reader_at(reader, call->a);
  bool grid = callee->kind == TVMS_SURF_ATTRIBUTE && callee->b == TVMS_SYM_grid;
  uint32_t given = 0, count = tvms_surface_count(reader->surface, names->a);
  tvms_surface_each(reader->surface, arg, call->b) {
    tvms_surf_kind kind = (tvms_surf_kind)tvms_reader_at(reader, arg)->kind;
    grid = grid && kind != TVMS_SURF_STAR && kind != TVMS_SURF_DOUBLE_STAR;
    given += kind != TVMS_SURF_KEYWORD;
  }
  tvms_surface_each(reader->surface, name, names->a) {
    grid = grid && tvms_reader_at(reader, name)->kind != TVMS_SURF_STAR;
  }
  if (!grid || given == count) return;
  tvms_reader_report(reader, cannot_unpack, target, count, tvms_diag_plural(count),
                     given, tvms_diag_plural(given));
  if (given > count) reader->short_of_names = reader->unit;
}

void tvms_tir_read_for(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  const tvms_surf suites = *tvms_reader_at(reader, stmt.c);
  tvms_eval_value value = loop_iterable(reader, stmt.b);
  if (suites.b) tvms_reader_report(reader, loop_else, suites.b);
  bool sound =
      value.kind == TVMS_EVAL_FRAME && tvms_frame_of(value)->kind == TVMS_FRAME_FOR;
  if (!sound && tvms_eval_value_is_known(value)) {
    explain_loop(reader,
                 tvms_reader_report(reader, not_a_loop, stmt.b,
                                    tvms_eval_describe(reader, value)),
                 stmt.b, value);
  }
  uint8_t target = tvms_reader_at(reader, stmt.a)->kind;
  bool names = target == TVMS_SURF_NAME || target == TVMS_SURF_TUPLE
               || target == TVMS_SURF_LIST || target == TVMS_SURF_STAR;
  if (!names) reader->short_of_names = reader->unit;  // reported by the parser
  tvms_scope_push(reader);
  if (sound && tvms_frame_enter(reader, tvms_frame_of(value), false)) {
    tvms_frame_of(value)->ref = ref;
    bind_loop_vars(reader, stmt.a, tvms_frame_of(value));
    tvms_tir_body(reader, suites.a);
    tvms_frame_exit(reader, tvms_frame_of(value));
  } else {
    reader->failed = true;
    if (!tvms_reader_was_misread(reader, tvms_reader_span_of(reader, stmt.b)))
      check_grid(reader, stmt.a, stmt.b);
    tvms_tir_bind_unknown(reader, stmt.a);
    tvms_tir_body(reader, suites.a);
  }
  tvms_scope_pop(reader);
  // A loop without a body: what follows was meant to stand in it.
  const tvms_surf *first = tvms_reader_at(reader, suites.a);
  if (first->kind == TVMS_SURF_ERROR && first->begin == first->end) {
    tvms_scope_bind_words(reader, tvms_reader_span_of(reader, stmt.a));
  }
}

void tvms_tir_read_while(tvms_reader *reader, tvms_ref ref) {
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

// Nobody knows which branch is taken, nor that it is a scope: what it assigns is unknown.
static void bind_assigned(tvms_reader *reader, tvms_ref body) {
  if (!tvms_memory_enter(&reader->context->memory)) return;
  tvms_surface_each(reader->surface, stmt, body) {
    const tvms_surf node = *tvms_reader_at(reader, stmt);
    if (node.kind == TVMS_SURF_IF) {
      bind_assigned(reader, node.b);
      bind_assigned(reader, node.c);
    } else if (node.kind == TVMS_SURF_ASSIGN) {
      tvms_surface_each(reader->surface, target, node.a) {
        tvms_tir_bind_unknown(reader, target);
      }
    } else if (node.kind == TVMS_SURF_ANN_ASSIGN) {
      tvms_tir_bind_unknown(reader, node.a);
    }
  }
  tvms_memory_leave(&reader->context->memory);
}

void tvms_tir_read_if(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  tvms_eval_value test = tvms_eval(reader, stmt.a);
  if (test.kind == TVMS_EVAL_BOOL) {
    read_known_if(reader, &stmt, test.as.i != 0);
    return;
  }
  if (test.kind == TVMS_EVAL_UNKNOWN || tvms_eval_is_tir_operand(test)) {
    read_symbolic_if(reader, &stmt, test, ref);
    if (test.kind == TVMS_EVAL_UNKNOWN) {
      bind_assigned(reader, stmt.b);
      bind_assigned(reader, stmt.c);
    }
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

// `with T.sblock:` misses the call.
static void report_no_frame(tvms_reader *reader, tvms_eval_value value, tvms_ref ref) {
  tvms_diag *diag =
      tvms_reader_report(reader, not_a_frame, ref, tvms_eval_describe(reader, value));
  bool opens =
      value.kind == TVMS_EVAL_CALLABLE
      && (value.as.row->name == TVMS_SYM_sblock || value.as.row->name == TVMS_SYM_block
          || value.as.row->name == TVMS_SYM_init);
  if (opens) tvms_eval_suggest_call(reader, diag, ref);
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
  if (value.kind == TVMS_EVAL_FRAME && tvms_frame_of(value)->entered) {
    tvms_frame_of(value)->ref = node.a;  // where the second opening is reported
  }
  bool open = value.kind == TVMS_EVAL_FRAME
              && tvms_frame_enter(reader, tvms_frame_of(value), false);
  if (!open) {
    reader->failed = true;
    if (tvms_eval_value_is_known(value) && value.kind != TVMS_EVAL_FRAME) {
      report_no_frame(reader, value, node.a);
    }
    if (node.b) tvms_tir_bind_unknown(reader, node.b);
    tvms_tir_of(reader)->unopened++;
    read_items(reader, node.next, body, with);
    tvms_tir_of(reader)->unopened--;
    return;
  }
  tvms_frame *frame = tvms_frame_of(value);
  if (frame->kind == TVMS_FRAME_BLOCK) frame->ref = with;
  if (node.b) {
    tvms_eval_value result =
        frame->kind == TVMS_FRAME_FOR ? loop_vars(reader, frame) : frame->result;
    tvms_tir_bind_targets(reader, node.b, result, bind_with, node.b);
  }
  read_items(reader, node.next, body, with);
  tvms_frame_exit(reader, frame);
}

void tvms_tir_read_with(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  tvms_scope_push(reader);
  read_items(reader, stmt.a, stmt.b, ref);
  tvms_scope_pop(reader);
}
