// Functions of Relax: signature, symbolic variables, bindings, dataflow, branches.
#include "printer/function_relax.h"

#include "ir/equal.h"
#include "ir/object.h"
#include "ir/op.h"
#include "printer/comments.h"
#include "printer/expr.h"
#include "printer/function_tir.h"
#include "printer/module.h"
#include "printer/names.h"
#include "printer/object.h"
#include "printer/sinfo.h"
#include "printer/state.h"
#include "printer/text.h"

// ---- Bindings ----

static bool is_void_type(const tvms_node *sinfo) {
  return sinfo && sinfo->kind == TVMS_NODE_SINFO_TUPLE
         && tvms_as_sinfo_tuple(sinfo)->fields.len == 0;
}

// The type of a call_tir is in its own text.
static bool says_type(tvms_printer *p, const tvms_node *value, const tvms_node *type) {
  if (value->kind != TVMS_NODE_CALL || !type) return false;
  tvms_opcode opcode = tvms_op_called(value);
  if (opcode != TVMS_R_call_tir && opcode != TVMS_R_call_dps_packed) return false;
  const tvms_call *call = tvms_as_call(value);
  return call->type_args.len == 1
         && tvms_node_equal(p->context, call->type_args.items[0], type);
}

static void print_type(tvms_printer *p, const tvms_node *var) {
  bool scalar = !tvms_dtype_is_void(var->dtype);
  if (!scalar && var->sinfo) {
    tvms_print_sinfo(p, var->sinfo);
  } else if (scalar && !tvms_release_has(p->dialect, TVMS_FACT_scalars_are_tir)) {
    tvms_print_r(p, "Prim(");
    tvms_print_quoted_dtype(p, var->dtype);
    PUT(p, ")");
  } else {
    tvms_print_type_of_var(p, var);
  }
}

static void print_right_side(tvms_printer *p, const tvms_node *value) {
  if (value->kind == TVMS_NODE_TUPLE && tvms_as_tuple(value)->fields.len > 1)
    tvms_print_list(p, tvms_as_tuple(value)->fields);
  else
    tvms_print_any(p, value);
}

// Writes `name: type = ` before the text since `from`.
static void put_left_side(tvms_printer *p, const tvms_node *var, bool typed,
                          size_t from) {
  size_t end = p->out->len;
  if (typed) {
    PUT(p, ": ");
    print_type(p, var);
  }
  size_t name = p->out->len;
  tvms_print_sym(p, tvms_print_define(p, var, tvms_print_top_index(p)));
  tvms_print_move(p, end, name);
  PUT(p, " = ");
  tvms_print_move(p, from, end);
}

static void print_seq_expr(tvms_printer *p, const tvms_node *node,
                           const tvms_node *TVMS_NULLABLE result, const char *type,
                           size_t type_len);

static void print_branch(tvms_printer *p, const tvms_node *branch, const tvms_node *var,
                         const tvms_strbuf *type) {
  p->indent++;
  print_seq_expr(p, branch, var, type->text, type->len);
  p->indent--;
}

static void print_if(tvms_printer *p, const tvms_node *node, const tvms_node *var) {
  const tvms_if *value = tvms_as_if(node);
  tvms_strbuf type;
  tvms_strbuf_init(&type, p->memory);
  tvms_strbuf *before = tvms_print_redirect(p, &type);
  print_type(p, var);
  tvms_print_redirect(p, before);
  tvms_print_define(p, var, tvms_print_top_index(p));
  PUT(p, "if ");
  tvms_print_any(p, value->condition);
  PUT(p, ":");
  tvms_print_end(p);
  print_branch(p, value->true_branch, var, &type);
  p->blank = false;
  tvms_strbuf_fill(p->out, ' ', (size_t)p->indent * 4);
  PUT(p, "else:");
  tvms_print_end(p);
  print_branch(p, value->false_branch, var, &type);
  tvms_strbuf_fini(&type);
}

// A function inside a function comes with the header comments known so far.
static void print_local(tvms_printer *p, const tvms_node *function,
                        const tvms_node *var) {
  size_t start = p->out->len - (size_t)p->indent * 4;
  tvms_sym name = tvms_print_define(p, var, tvms_print_top_index(p));
  p->out->len = start;
  tvms_print_relax_function(p, function, name, start, false);
}

static void print_var_binding(tvms_printer *p, const tvms_node *node) {
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  const tvms_node *value = binding->value;
  const tvms_node *var = binding->var;
  if (value->kind == TVMS_NODE_IF) {
    print_if(p, value, var);
    return;
  }
  if (value->kind == TVMS_NODE_FUNCTION) {
    print_local(p, value, var);
    return;
  }
  if (is_void_type(value->sinfo) && is_void_type(var->sinfo)) {
    tvms_print_any(p, value);
    tvms_print_end(p);
    return;
  }
  size_t from = p->out->len;
  print_right_side(p, value);
  put_left_side(p, var, !says_type(p, value, var->sinfo), from);
  tvms_print_end(p);
}

static void print_match_cast(tvms_printer *p, const tvms_node *node) {
  const tvms_match_cast *binding = tvms_as_match_cast(node);
  size_t from = p->out->len;
  // TVM renders the type of the variable before the cast.
  tvms_strbuf type;
  tvms_strbuf_init(&type, p->memory);
  tvms_strbuf *before = tvms_print_redirect(p, &type);
  print_type(p, binding->var);
  tvms_print_redirect(p, before);
  tvms_print_r(p, "match_cast(");
  tvms_print_any(p, binding->value);
  PUT(p, ", ");
  tvms_print_object(p, binding->type);
  PUT(p, ")");
  size_t end = p->out->len;
  tvms_print_sym(p, tvms_print_define(p, binding->var, tvms_print_top_index(p)));
  PUT(p, ": ");
  tvms_strbuf_add(p->out, type.text, type.len);
  PUT(p, " = ");
  tvms_print_move(p, from, end);
  tvms_strbuf_fini(&type);
  tvms_print_end(p);
}

void tvms_print_binding(tvms_printer *p, const tvms_node *binding) {
  if (!tvms_memory_enter(p->memory)) {
    tvms_memory_leave(p->memory);
    tvms_print_too_deep(p, binding);
    return;
  }
  tvms_print_note(p, binding);
  tvms_print_begin(p);
  if (binding->kind == TVMS_NODE_MATCH_CAST)
    print_match_cast(p, binding);
  else
    print_var_binding(p, binding);
  tvms_memory_leave(p->memory);
}

static const tvms_node *bound_var(const tvms_node *binding) {
  return binding->kind == TVMS_NODE_MATCH_CAST ? tvms_as_match_cast(binding)->var
                                               : tvms_as_var_binding(binding)->var;
}

static void print_dataflow(tvms_printer *p, tvms_list bindings) {
  tvms_print_begin(p);
  PUT(p, "with ");
  tvms_print_r(p, "dataflow():");
  tvms_print_end(p);
  // A dataflow block has no frame of its own.
  tvms_print_top(p)->is_fixed = true;
  p->indent++;
  for (uint32_t i = 0; i < bindings.len; i++) {
    tvms_print_binding(p, bindings.items[i]);
  }
  tvms_print_begin(p);
  tvms_print_r(p, "output(");
  bool first = true;
  for (uint32_t i = 0; i < bindings.len; i++) {
    const tvms_node *var = bound_var(bindings.items[i]);
    if (var->flags & TVMS_FLAG_DATAFLOW) continue;
    tvms_print_comma(p, &first);
    tvms_print_var(p, var);
  }
  PUT(p, ")");
  tvms_print_end(p);
  p->indent--;
  tvms_print_top(p)->is_fixed = false;
}

// Bindings and result. `result`: the variable that a branch assigns; NULL: `return`.
static void print_seq_expr(tvms_printer *p, const tvms_node *node,
                           const tvms_node *result, const char *type, size_t type_len) {
  const tvms_seq_expr *seq = tvms_as_seq_expr(node);
  tvms_print_push(p, FRAME_RELAX, NULL);
  for (uint32_t i = 0; i < seq->blocks.len; i++) {
    const tvms_node *block = seq->blocks.items[i];
    tvms_list bindings = tvms_as_binding_block(block)->bindings;
    if (block->flags & TVMS_FLAG_DATAFLOW) {
      print_dataflow(p, bindings);
      continue;
    }
    for (uint32_t k = 0; k < bindings.len; k++) {
      tvms_print_binding(p, bindings.items[k]);
    }
  }
  tvms_print_begin(p);
  if (result) {
    tvms_print_var(p, result);
    PUT(p, ": ");
    tvms_strbuf_add(p->out, type, type_len);
    PUT(p, " = ");
    print_right_side(p, seq->body);
  } else {
    PUT(p, "return ");
    tvms_print_any(p, seq->body);
  }
  tvms_print_end(p);
  tvms_print_pop(p);
}

// ---- Functions ----

static void print_decorator(tvms_printer *p, const tvms_node *function, bool top) {
  const struct {
    bool said;
    const char *text;
  } words[] = {
      {!(function->flags & TVMS_FLAG_PURE), "pure=False"},
      {top && (function->flags & TVMS_FLAG_PRIVATE), "private=True"},
      {p->unchecked && (function->flags & TVMS_FLAG_UNCHECKED),
       "check_well_formed=False"},
  };
  bool first = true;
  PUT(p, "@");
  tvms_print_r(p, "function");
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (!words[i].said) continue;
    tvms_print_put(p, first ? "(" : ", ");
    tvms_print_put(p, words[i].text);
    first = false;
  }
  if (!first) PUT(p, ")");
  tvms_print_end(p);
}

// Scalar parameters are not type variables even where a type mentions them first.
static void mark_prim_params(tvms_printer *p, const tvms_function *f) {
  for (uint32_t i = 0; i < f->params.len; i++) {
    const tvms_node *param = f->params.items[i];
    if (tvms_dtype_is_void(param->dtype)) continue;
    tvms_print_name_of(p, param)->index = PRINT_PRIM_PARAM;
  }
}

static void print_params(tvms_printer *p, const tvms_function *f, uint32_t frame) {
  mark_prim_params(p, f);
  for (uint32_t i = 0; i < f->params.len; i++) {
    if (i) PUT(p, ", ");
    tvms_print_sym(p, tvms_print_define(p, f->params.items[i], frame));
    PUT(p, ": ");
    print_type(p, f->params.items[i]);
  }
}

static void print_signature(tvms_printer *p, const tvms_function *f, tvms_sym name,
                            uint32_t frame) {
  tvms_strbuf ret;
  tvms_strbuf_init(&ret, p->memory);
  bool ret_first = tvms_release_has(p->dialect, TVMS_FACT_return_type_is_first);
  p->quotes = true;
  if (ret_first && f->ret) {
    tvms_strbuf *before = tvms_print_redirect(p, &ret);
    tvms_print_sinfo(p, f->ret);
    tvms_print_redirect(p, before);
  }
  tvms_strbuf_fill(p->out, ' ', (size_t)p->indent * 4);
  PUT(p, "def ");
  tvms_print_sym(p, name);
  PUT(p, "(");
  print_params(p, f, frame);
  PUT(p, ")");
  if (f->ret) {
    PUT(p, " -> ");
    if (ret_first)
      tvms_strbuf_add(p->out, ret.text, ret.len);
    else
      tvms_print_sinfo(p, f->ret);
  }
  p->quotes = false;
  for (uint32_t i = 0; i < p->signed_vars.len; i++) {
    tvms_print_name_of(p, p->signed_vars.items[i])->signature = false;
  }
  p->signed_vars.len = 0;
  PUT(p, ":");
  tvms_print_end(p);
  tvms_strbuf_fini(&ret);
}

// Functions inside functions have header comments of their own, for the prefixes that
// occurred so far.
static void add_local_header(tvms_printer *p, size_t at) {
  tvms_strbuf header;
  tvms_strbuf_init(&header, p->memory);
  tvms_print_header(&header, p->dialect, p->used, p->indent);
  tvms_print_add_at(p, at, header.text, header.len);
  tvms_strbuf_fini(&header);
}

void tvms_print_relax_function(tvms_printer *p, const tvms_node *function,
                               tvms_sym name, size_t head, bool top) {
  const tvms_function *f = tvms_as_function(function);
  print_token before = p->token;
  p->token = PRINT_RELAX;
  uint32_t first_type_var = p->type_vars.len;
  if (top) tvms_print_note(p, function);
  if (top)
    tvms_print_begin(p);
  else
    tvms_strbuf_fill(p->out, ' ', (size_t)p->indent * 4);
  print_decorator(p, function, top);
  uint32_t frame = tvms_print_push(p, FRAME_RELAX, function);
  print_frame *top_frame = tvms_print_top(p);
  top_frame->at = PRINT_PENDING;
  top_frame->is_function = true;
  top_frame->indent = p->indent + 1;
  uint32_t first_late = p->lates.len;
  print_signature(p, f, name, frame);
  p->indent++;
  tvms_print_settle(p, first_late);
  tvms_print_func_attrs(p, f->attrs, tvms_symbol_text(p->context, name), true, !top);
  // Definitions that the body needs stand before all of it.
  tvms_print_top(p)->at = p->main.len;
  print_seq_expr(p, f->body, NULL, NULL, 0);
  if (p->comments && top) tvms_print_rest_comments(p, function);
  p->indent--;
  if (p->type_vars.len > first_type_var) p->used |= USED_TYPE_VAR;
  if (!top) add_local_header(p, head);
  tvms_print_type_vars(p, head, first_type_var, !top);
  tvms_print_pop(p);
  p->blank = true;
  p->token = before;
}
