// Statements of a Relax function but assignments: dataflow blocks, If, local functions,
// return; and the bodies that they form.
#include "parser/relax/stmt.h"

#include "parser/eval/closure.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/meant_sign.h"
#include "parser/eval/origin.h"
#include "parser/eval/reader.h"
#include "parser/eval/scope.h"
#include "parser/eval/undefined.h"
#include "parser/relax/assign.h"
#include "parser/relax/convert.h"
#include "parser/relax/emit.h"
#include "parser/relax/function.h"
#include "parser/relax/state.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"
#include "support/trial.h"

#include <stdio.h>

// A packed function that returns nothing has to say so.
static void explain_unused(tvms_reader *reader, tvms_diag *diag, const tvms_node *node,
                           tvms_ref ref) {
  if (node->kind != TVMS_NODE_CALL) return;
  const tvms_call *call = tvms_as_call(node);
  if (call->callee->kind != TVMS_NODE_EXTERN_FUNC || call->type_args.len > 0) return;
  tvms_diags *diags = &reader->context->diags;
  const char *keyword =
      !tvms_release_has(reader->dialect, TVMS_FACT_types_are_called_ty) ? "sinfo_args"
                                                                        : "ty_args";
  uint32_t end = tvms_reader_span_of(reader, ref).end - 1;
  tvms_diag_remark(diags, diag,
                   "if the function returns nothing, say so with %s=R.Tuple()",
                   keyword);
  tvms_diag_fix(diags, diag, (tvms_span){end, end}, false, ", %s=R.Tuple()", keyword);
}

static void read_expression(tvms_reader *reader, tvms_ref stmt) {
  tvms_ref ref = tvms_reader_at(reader, stmt)->a;
  bool is_docstring = tvms_surface_is_string(reader->surface, ref);
  if (is_docstring || tvms_reader_at(reader, ref)->kind == TVMS_SURF_ELLIPSIS) return;
  if (tvms_eval_report_equality(reader, ref)) return;
  tvms_eval_value value = tvms_eval(reader, ref);
  if (value.kind == TVMS_EVAL_NONE) return;
  if (!tvms_eval_value_is_known(value)) {
    reader->failed = true;
    return;
  }
  tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  if (!node || !tvms_relax_is_expr(node)) {
    tvms_reader_report(reader, relax_statement, ref, tvms_eval_describe(reader, value));
    reader->failed = true;
    return;
  }
  tvms_relax_state *relax = tvms_relax_of(reader);
  tvms_sym name = relax->void_name ? relax->void_name : TVMS_SYM__;
  tvms_eval_value var = tvms_relax_emit_binding(reader, node, name, NULL, ref, ref);
  if (relax->void_name) {
    tvms_scope_bind(reader, name, var, tvms_reader_span_of(reader, ref));
    relax->void_name = 0;
  }
  if (var.kind == TVMS_EVAL_NODE && !tvms_sinfo_is_void(var.as.node->sinfo)) {
    tvms_diag *diag =
        tvms_reader_report(reader, unused_value, ref,
                           tvms_sinfo_describe(reader->unit, var.as.node->sinfo));
    explain_unused(reader, diag, node, ref);
    reader->failed = true;
    // The last line of a function: its `return` was left out.
    bool leaf = node->kind == TVMS_NODE_VAR || node->kind == TVMS_NODE_TUPLE;
    if (!tvms_reader_at(reader, stmt)->next && leaf) {
      tvms_span span = tvms_reader_span_of(reader, ref);
      tvms_diag_remark(&reader->context->diags, diag, "return it");
      tvms_diag_fix(&reader->context->diags, diag, (tvms_span){span.begin, span.begin},
                    false, "return ");
      relax->gave_up = true;
    }
  }
}

// Variables of the dataflow block that a returned value uses are outputs of it.
static void return_outputs(tvms_reader *reader, tvms_node *value) {
  if (value->kind == TVMS_NODE_VAR && value->flags & TVMS_FLAG_DATAFLOW) {
    tvms_vec_push(&reader->context->memory, &tvms_relax_of(reader)->outputs, value);
  }
  tvms_list parts = {NULL, 0};
  if (value->kind == TVMS_NODE_TUPLE) parts = tvms_as_tuple(value)->fields;
  if (value->kind == TVMS_NODE_CALL) parts = tvms_as_call(value)->args;
  for (uint32_t i = 0; i < parts.len; i++) {
    return_outputs(reader, parts.items[i]);
  }
  if (value->kind == TVMS_NODE_TUPLE_GET_ITEM) {
    return_outputs(reader, tvms_as_tuple_get_item(value)->tuple);
  }
}

// Of two returns the one in a dataflow block, which cannot return, is the wrong one.
static void report_second_return(tvms_reader *reader, tvms_ref stmt) {
  const tvms_relax_state *relax = tvms_relax_of(reader);
  tvms_diags *diags = &reader->context->diags;
  tvms_span first = relax->returned_span, second = tvms_reader_span_of(reader, stmt);
  bool inside = relax->returned_inside;
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_second_return, inside ? first : second);
  if (inside) {
    tvms_diag_note(diags, diag, second, "the function returns here");
    tvms_diag_remark(diags, diag, "a dataflow block ends with R.output(...)");
  } else {
    tvms_diag_note(diags, diag, first, "the function already returns here");
  }
}

static void read_return(tvms_reader *reader, tvms_ref stmt) {
  tvms_relax_state *relax = tvms_relax_of(reader);
  tvms_ref ref = tvms_reader_at(reader, stmt)->a;
  if (relax->has_return) {
    report_second_return(reader, stmt);
    reader->failed = true;
    return;
  }
  relax->has_return = true;
  relax->returned_span = tvms_reader_span_of(reader, stmt);
  relax->returned_inside = tvms_relax_in_dataflow(reader);
  if (!ref)
    tvms_eval_report_wrong_type(reader, stmt, "what a function returns",
                                "a value of Relax", TVMS_NOTHING);
  tvms_node *node =
      ref ? tvms_relax_to_value(reader, tvms_eval(reader, ref), ref) : NULL;
  if (!node) {
    reader->failed = true;
    return;
  }
  relax->returned = tvms_builder_normalize(&relax->builder, node);
  if (tvms_relax_in_dataflow(reader)) return_outputs(reader, relax->returned);
}

// Names that a body binds become unknown where it cannot be read.
static void bind_unknown(tvms_reader *reader, tvms_ref body) {
  if (!tvms_memory_enter(&reader->context->memory)) return;
  tvms_surface_each(reader->surface, stmt, body) {
    const tvms_surf *node = tvms_reader_at(reader, stmt);
    bool inner = node->kind == TVMS_SURF_WITH || node->kind == TVMS_SURF_IF;
    if (inner) bind_unknown(reader, node->b);
    if (node->kind == TVMS_SURF_IF) bind_unknown(reader, node->c);
    if (node->kind == TVMS_SURF_ASSIGN) tvms_relax_bind_target_unknown(reader, node->a);
    if (node->kind == TVMS_SURF_ANN_ASSIGN)
      tvms_relax_bind_target_unknown(reader, node->a);
  }
  tvms_memory_leave(&reader->context->memory);
}

// The statement `R.output(…)` of a body, or 0.
static tvms_ref output_of(tvms_reader *reader, tvms_ref body) {
  tvms_surface_each(reader->surface, stmt, body) {
    const tvms_surf *node = tvms_reader_at(reader, stmt);
    if (node->kind != TVMS_SURF_EXPRESSION) continue;
    const tvms_surf *call = tvms_reader_at(reader, node->a);
    if (call->kind != TVMS_SURF_CALL) continue;
    const tvms_surf *head = tvms_reader_at(reader, call->a);
    if (head->kind == TVMS_SURF_ATTRIBUTE && head->b == TVMS_SYM_output) return node->a;
  }
  return 0;
}

// What the block binds and does not hand out, for who uses it behind the block.
static void remember_inner(tvms_reader *reader, tvms_ref body) {
  tvms_relax_state *relax = tvms_relax_of(reader);
  tvms_ref output = output_of(reader, body), last = body;
  tvms_surface_each(reader->surface, stmt, body) {
    last = stmt;
  }
  const tvms_scope *scope = &reader->scopes.items[reader->scopes.len - 1];
  for (const tvms_binding *b = scope->newest; b; b = b->next) {
    if (!b->span.end) continue;
    tvms_relax_inner inner = {b->name, b->span, output, last};
    tvms_vec_push(&reader->context->memory, &relax->inner, inner);
  }
}

// Outputs of a dataflow block are ordinary variables, and are seen after it. What is
// unknown among them is so, silently; every name of a block that is left in a way that
// cannot be read (`R.outputs(gv)`) is.
static void end_dataflow(tvms_reader *reader, tvms_ref body) {
  tvms_relax_state *relax = tvms_relax_of(reader);
  remember_inner(reader, body);
  tvms_scope_pop(reader);
  if (reader->failed && !relax->outputs.len) bind_unknown(reader, body);
  for (uint32_t i = 0; i < relax->unknown_outputs.len; i++) {
    tvms_scope_bind(reader, relax->unknown_outputs.items[i], TVMS_UNKNOWN,
                    TVMS_NO_SPAN);
  }
  relax->unknown_outputs.len = 0;
  for (uint32_t i = 0; i < relax->outputs.len; i++) {
    tvms_node *var = relax->outputs.items[i];
    var->flags &= (uint8_t)~TVMS_FLAG_DATAFLOW;
    tvms_scope_bind(reader, tvms_as_var(var)->name, tvms_eval_value_node(var),
                    var->span);
  }
  relax->outputs.len = 0;
  tvms_builder_switch(&relax->builder, false);
}

static void report_with(tvms_reader *reader, tvms_eval_value value, tvms_ref ref) {
  tvms_diag *diag = tvms_reader_report(reader, relax_with, ref);
  const tvms_row *row = tvms_row_find(reader, TVMS_NS_R, TVMS_SYM_dataflow);
  if (value.kind != TVMS_EVAL_CALLABLE || value.as.row != row) return;
  tvms_eval_suggest_call(reader, diag, ref);
}

static void read_with(tvms_reader *reader, tvms_ref stmt) {
  const tvms_surf node = *tvms_reader_at(reader, stmt);
  const tvms_surf item = *tvms_reader_at(reader, node.a);
  if (item.next || item.b) {
    tvms_reader_report(reader, relax_with, item.next ? stmt : item.b);
    reader->failed = true;
  }
  tvms_eval_value value = tvms_eval(reader, item.a);
  bool dataflow = value.kind == TVMS_EVAL_RELAX && value.spare == TVMS_RELAX_DATAFLOW;
  if (tvms_eval_value_is_known(value) && !dataflow) {
    report_with(reader, value, item.a);
    reader->failed = true;
  }
  dataflow = dataflow || output_of(reader, node.b);
  tvms_builder *builder = &tvms_relax_of(reader)->builder;
  if (!dataflow) {
    tvms_scope_push(reader);
    tvms_relax_body(reader, node.b);
    tvms_scope_pop(reader);
    bind_unknown(reader, node.b);
    return;
  }
  if (tvms_relax_in_dataflow(reader)) {
    tvms_reader_report(reader, nested_dataflow, item.a);
    reader->failed = true;
    bind_unknown(reader, node.b);
    return;
  }
  bool failed = reader->failed;
  reader->failed = false;
  tvms_builder_switch(builder, true);
  tvms_scope_push(reader);
  tvms_relax_body(reader, node.b);
  end_dataflow(reader, node.b);
  reader->failed = reader->failed || failed;
}

static tvms_node *TVMS_NULLABLE read_branch(tvms_reader *reader, tvms_ref body,
                                            const char *suffix, tvms_sym *name,
                                            tvms_ref stmt) {
  tvms_relax_state *relax = tvms_relax_of(reader);
  bool failed = reader->failed;
  reader->failed = false;
  tvms_builder_begin_seq(&relax->builder);
  tvms_scope_push(reader);
  tvms_relax_body(reader, body);
  tvms_scope_pop(reader);
  tvms_node *seq = tvms_builder_end_branch(&relax->builder, suffix, name,
                                           tvms_reader_span_of(reader, stmt));
  if (!seq && !reader->failed) {
    tvms_reader_report(reader, branch_without_value, body ? body : stmt);
    reader->failed = true;
  }
  bool known = seq && !reader->failed;
  reader->failed = reader->failed || failed;
  return known ? seq : NULL;
}

// The target of the last binding of a branch, or the branch.
static tvms_span last_target(tvms_reader *reader, tvms_ref body) {
  tvms_ref last = body;
  tvms_surface_each(reader->surface, stmt, body) {
    last = stmt;
  }
  const tvms_surf *node = tvms_reader_at(reader, last);
  bool binds = node->kind == TVMS_SURF_ASSIGN || node->kind == TVMS_SURF_ANN_ASSIGN;
  return tvms_reader_span_of(reader, binds ? node->a : last);
}

static void report_branches(tvms_reader *reader, const tvms_surf *stmt, tvms_sym name,
                            tvms_sym other) {
  tvms_diags *diags = &reader->context->diags;
  const char *first = tvms_symbol_text(reader->context, name);
  tvms_span place = last_target(reader, stmt->c);
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_branches_differ, place, first,
                                     tvms_symbol_text(reader->context, other));
  tvms_diag_note(diags, diag, last_target(reader, stmt->b),
                 "the first branch ends here");
  tvms_diag_fix(diags, diag, place, false, "%s", first);
}

// The condition of an If. An `elif` without `else` behind it is reported as a whole, as it may have
// been written for `else`, and so is an If in a dataflow block.
static tvms_node *TVMS_NULLABLE read_condition(tvms_reader *reader,
                                               const tvms_surf *stmt) {
  bool quiet =
      (!stmt->c && stmt->flags & TVMS_SURF_ELIF) || tvms_relax_in_dataflow(reader);
  if (quiet) tvms_trial_mute(&reader->context->diags);
  tvms_eval_value test = tvms_eval(reader, stmt->a);
  tvms_node *condition = tvms_relax_to_value(reader, test, stmt->a);
  if (quiet) tvms_trial_unmute(&reader->context->diags);
  return condition;
}

static void read_if(tvms_reader *reader, tvms_ref stmt) {
  const tvms_surf node = *tvms_reader_at(reader, stmt);
  tvms_relax_state *relax = tvms_relax_of(reader);
  tvms_node *condition = read_condition(reader, &node);
  if (tvms_relax_in_dataflow(reader)) {
    tvms_diag_report(&reader->context->diags, TVMS_D_if_in_dataflow,
                     tvms_reader_keyword(reader, stmt));
    reader->failed = true;
    bind_unknown(reader, node.b);
    bind_unknown(reader, node.c);
    return;
  }
  const tvms_surf *first = tvms_reader_at(reader, node.b);
  bool bodiless = first->kind == TVMS_SURF_ERROR && first->begin == first->end;
  if (!node.c && !bodiless) {
    tvms_diag_report(&reader->context->diags, TVMS_D_if_without_else,
                     tvms_reader_keyword(reader, stmt));
    reader->failed = true;
  }
  tvms_sym name = 0, other = 0;
  tvms_node *yes = read_branch(reader, node.b, "_then", &name, stmt);
  tvms_node *no = node.c ? read_branch(reader, node.c, "_else", &other, stmt) : NULL;
  if (yes && no && name != other) {
    report_branches(reader, &node, name, other);
    reader->failed = true;
    yes = NULL;
  }
  if (!condition || !yes || !no) {
    reader->failed = true;
    bind_unknown(reader, node.b);
    bind_unknown(reader, node.c);
    return;
  }
  tvms_if *branch = tvms_node_make(reader->unit, IF, tvms_reader_span_of(reader, stmt));
  branch->condition = condition;
  branch->true_branch = yes;
  branch->false_branch = no;
  tvms_node *a = tvms_builder_erase(&relax->builder, yes->sinfo);
  tvms_node *b = tvms_builder_erase(&relax->builder, no->sinfo);
  branch->head.sinfo = tvms_sinfo_join(relax->prover, a, b);
  tvms_eval_value var =
      tvms_relax_emit_binding(reader, &branch->head, name, NULL, stmt, stmt);
  tvms_scope_bind(reader, name, var, tvms_reader_span_of(reader, stmt));
}

static void read_local(tvms_reader *reader, tvms_ref stmt) {
  tvms_surf_definition def = tvms_surface_define(reader->surface, stmt);
  tvms_decoration decoration = reader->decorate(reader, stmt);
  if (decoration.kind == TVMS_DECORATED_MACRO
      && !tvms_decoration_says(&decoration, TVMS_OPTION_INLINE)) {
    tvms_scope_bind(reader, def.name,
                    tvms_closure_make_macro(reader, stmt, &decoration), def.name_span);
    return;
  }
  if (decoration.language != &tvms_relax_language) {
    if (decoration.kind == TVMS_DECORATED_FUNCTION) {
      tvms_reader_report(reader, inline_prim_func, stmt);
    } else if (decoration.kind == TVMS_DECORATED_NOT) {
      tvms_reader_report(reader, undecorated_function, stmt,
                         tvms_symbol_text(reader->context, def.name));
    }
    reader->failed = true;
    tvms_scope_bind(reader, def.name, TVMS_UNKNOWN, def.name_span);
    return;
  }
  tvms_node *reserved = NULL;
  tvms_node *function = tvms_relax_local_function(reader, stmt, decoration, &reserved);
  tvms_eval_value value = TVMS_UNKNOWN;
  if (function && tvms_relax_block_is_open(reader, stmt)) {
    tvms_builder *builder = &tvms_relax_of(reader)->builder;
    if (reserved) {
      tvms_builder_bind(builder, reserved, function, tvms_reader_span_of(reader, stmt));
      value = tvms_eval_value_node(reserved);
    } else {
      value = tvms_eval_value_node(
          tvms_builder_emit(builder, function, def.name, def.name_span, false));
    }
  } else {
    reader->failed = true;
  }
  tvms_scope_bind(reader, def.name, value, def.name_span);
}

static tvms_relax_reading reading_of(tvms_reader *reader, tvms_ref stmt) {
  const tvms_surf *node = tvms_reader_at(reader, stmt);
  tvms_relax_reading reading = {false, false};
  switch ((int)node->kind) {
  case TVMS_SURF_EXPRESSION:
    reading.bools = tvms_reader_has_printed_header(reader);
    break;
  case TVMS_SURF_RETURN: {
    // TVM binds calls before it returns them.
    bool call = node->a && tvms_reader_at(reader, node->a)->kind == TVMS_SURF_CALL;
    reading.bools = !call && tvms_reader_has_printed_header(reader);
    break;
  }
  case TVMS_SURF_ANN_ASSIGN:
    reading.printed = reading.bools = tvms_reader_is_printed(reader);
    break;
  default: break;
  }
  return reading;
}

// What stands for a statement that Relax does not have.
static const struct {
  uint8_t kind;
  const char *text;
  const char *TVMS_NULLABLE instead;
} refused[] = {
    {TVMS_SURF_FOR, "'for'", "loops stand in a PrimFunc, which R.call_tir calls"},
    {TVMS_SURF_WHILE, "'while'", "a loop is a function that calls itself"},
    {TVMS_SURF_ASSERT, "'assert'", "write R.assert_op(condition)"},
    {TVMS_SURF_IMPORT, "'import'", "imports stand at the top of the file"},
    {TVMS_SURF_IMPORT_FROM, "'import'", "imports stand at the top of the file"},
    {TVMS_SURF_DELETE, "'del'", "a value is gone when nothing uses it"},
    {TVMS_SURF_BREAK, "'break'", NULL},
    {TVMS_SURF_CONTINUE, "'continue'", NULL},
    {TVMS_SURF_GLOBAL, "'global'", NULL},
    {TVMS_SURF_CLASS, "'class'", NULL},
};

// `y += x` is a binding of y.
// `bound`: what it changes has a value.
static void refuse_augmented(tvms_reader *reader, tvms_ref stmt, bool bound) {
  static const struct {
    uint8_t op;
    const char *name;
  } operators[] = {{TVMS_OP_ADD, "add"},
                   {TVMS_OP_SUB, "subtract"},
                   {TVMS_OP_MUL, "multiply"},
                   {TVMS_OP_DIV, "divide"},
                   {TVMS_OP_FLOOR_DIV, "floor_divide"},
                   {TVMS_OP_MATMUL, "matmul"},
                   {TVMS_OP_POWER, "power"}};
  const tvms_surf node = *tvms_reader_at(reader, stmt);
  tvms_diags *diags = &reader->context->diags;
  const char *text = reader->surface->source->text;
  tvms_span left = tvms_reader_span_of(reader, node.a),
            right = tvms_reader_span_of(reader, node.b);
  uint32_t end = right.begin;
  while (end > left.end && text[end - 1] != '=') {
    end--;
  }
  uint32_t begin = left.end;
  while (begin < end && text[begin] == ' ') {
    begin++;
  }
  char what[16];
  snprintf(what, sizeof what, "'%.*s'", (int)(end - begin), text + begin);
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_relax_unsupported, (tvms_span){begin, end}, what);
  if (!bound && tvms_reader_at(reader, node.b)->kind == TVMS_SURF_CALL) {
    tvms_diag_remark(diags, diag, "a name is bound with '='");
    tvms_diag_fix(diags, diag, (tvms_span){begin, end}, false, "=");
    return;
  }
  for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
    if (operators[i].op != node.op) continue;
    tvms_diag_remark(diags, diag, "bind the variable anew");
    tvms_diag_fix(diags, diag, (tvms_span){left.begin, right.end}, false,
                  "%.*s = R.%s(%.*s, %.*s)", (int)(left.end - left.begin),
                  text + left.begin, operators[i].name, (int)(left.end - left.begin),
                  text + left.begin, (int)(right.end - right.begin),
                  text + right.begin);
  }
}

// Reports a statement that Relax does not have. Nothing is said of the names that it may
// have bound, and of the value that it may have returned.
static void refuse(tvms_reader *reader, tvms_ref stmt) {
  reader->failed = true;
  const tvms_surf node = *tvms_reader_at(reader, stmt);
  tvms_relax_of(reader)->gave_up = true;
  const tvms_surf *left =
      node.kind == TVMS_SURF_AUG_ASSIGN ? tvms_reader_at(reader, node.a) : NULL;
  bool bound =
      !left || left->kind != TVMS_SURF_NAME || tvms_scope_lookup(reader, left->a);
  tvms_scope_bind_words(reader, tvms_reader_span_of(reader, stmt));
  if (node.kind == TVMS_SURF_AUG_ASSIGN) {
    refuse_augmented(reader, stmt, bound);
    return;
  }
  tvms_diags *diags = &reader->context->diags;
  const char *text = "this statement", *instead = NULL;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    if (refused[i].kind != node.kind) continue;
    text = refused[i].text;
    instead = refused[i].instead;
  }
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_relax_unsupported,
                                     tvms_reader_keyword(reader, stmt), text);
  if (instead) tvms_diag_remark(diags, diag, "%s", instead);
}

static void read_stmt(tvms_reader *reader, tvms_ref stmt) {
  tvms_relax_state *relax = tvms_relax_of(reader);
  tvms_relax_reading around = relax->reading;
  relax->reading = reading_of(reader, stmt);
  switch ((int)tvms_reader_at(reader, stmt)->kind) {
  case TVMS_SURF_EXPRESSION: read_expression(reader, stmt); break;
  case TVMS_SURF_ASSIGN: tvms_relax_read_assign(reader, stmt); break;
  case TVMS_SURF_ANN_ASSIGN:
    if (!tvms_eval_report_annotated_equality(reader, stmt))
      tvms_relax_read_annotated(reader, stmt);
    break;
  case TVMS_SURF_RETURN: read_return(reader, stmt); break;
  case TVMS_SURF_WITH: read_with(reader, stmt); break;
  case TVMS_SURF_IF: read_if(reader, stmt); break;
  case TVMS_SURF_DEF: read_local(reader, stmt); break;
  case TVMS_SURF_PASS:
  case TVMS_SURF_NONLOCAL: break;
  case TVMS_SURF_ERROR:
  case TVMS_SURF_UNSUPPORTED:
    reader->failed = true;
    relax->gave_up = true;
    tvms_scope_bind_words(reader, tvms_reader_span_of(reader, stmt));
    break;
  default: refuse(reader, stmt);
  }
  relax->reading = around;
}

void tvms_relax_body(tvms_reader *reader, tvms_ref body) {
  tvms_memory *memory = &reader->context->memory;
  if (!tvms_memory_enter(memory)) {
    tvms_eval_report_too_deep(reader, body);
    tvms_memory_leave(memory);
    return;
  }
  tvms_surface_each(reader->surface, stmt, body) {
    read_stmt(reader, stmt);
  }
  tvms_memory_leave(memory);
}

// ---- Macros ----

tvms_eval_value tvms_relax_expand(tvms_reader *reader, tvms_ref body, uint32_t calls,
                                  tvms_ref call) {
  (void)calls;
  tvms_eval_value result = TVMS_UNKNOWN;
  bool returned = false;
  tvms_surface_each(reader->surface, stmt, body) {
    const tvms_surf *node = tvms_reader_at(reader, stmt);
    if (returned) {
      tvms_reader_report(reader, macro_after_return, stmt);
      reader->failed = true;
      break;
    }
    if (node->kind == TVMS_SURF_RETURN && node->a) {
      tvms_ref value = node->a;
      result = tvms_eval(reader, value);
      returned = true;
    } else {
      read_stmt(reader, stmt);
    }
  }
  if (!returned) {
    tvms_reader_report(reader, macro_without_return, call);
    reader->failed = true;
  }
  return result;
}
