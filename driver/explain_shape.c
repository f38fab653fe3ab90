// Following dimensions back from a value to what its program says.
//
// The bindings of a function are collected first. Then each dimension that was asked for is
// a step, and explaining a step adds the steps of the dimensions that it comes from, each
// once, until all come from an annotation, a number or a call that states its type.
#include "driver/explain_shape.h"

#include "ir/op.h"
#include "printer/print.h"
#include "structinfo/make.h"

#include <stdio.h>
#include <string.h>

enum { MOST_STEPS = 2000 };

// A variable and what binds it: a parameter if there is no binding.
typedef struct {
  tvms_node *var;
  tvms_node *TVMS_NULLABLE binding;
} bound;

typedef struct {
  const tvms_module *module;
  tvms_unit *unit;
  tvms_context *context;
  tvms_printer *printer;
  tvms_prover prover;
  const char *function;
  TVMS_VEC(bound) bound;  // of the function, local functions and branches included
  tvms_shape_explanation *result;
} tracer;

// ---- Bindings -------------------------------------------------------------------------------

static void collect_body(tracer *t, tvms_node *body);

static void collect_function(tracer *t, const tvms_function *function) {
  for (uint32_t i = 0; i < function->params.len; i++) {
    bound param = {function->params.items[i], NULL};
    tvms_prover_assume(&t->prover, param.var->sinfo);
    tvms_vec_push(&t->context->memory, &t->bound, param);
  }
  if (function->body) collect_body(t, function->body);
}

static void collect_binding(tracer *t, tvms_node *binding) {
  bool cast = binding->kind == TVMS_NODE_MATCH_CAST;
  tvms_node *value =
      cast ? tvms_as_match_cast(binding)->value : tvms_as_var_binding(binding)->value;
  if (value->kind == TVMS_NODE_IF) {
    collect_body(t, tvms_as_if(value)->true_branch);
    collect_body(t, tvms_as_if(value)->false_branch);
  } else if (value->kind == TVMS_NODE_FUNCTION) {
    collect_function(t, tvms_as_function(value));
  }
  if (cast) tvms_prover_assume(&t->prover, tvms_as_match_cast(binding)->type);
  bound here = {cast ? tvms_as_match_cast(binding)->var
                     : tvms_as_var_binding(binding)->var,
                binding};
  tvms_vec_push(&t->context->memory, &t->bound, here);
}

static void collect_body(tracer *t, tvms_node *body) {
  if (body->kind != TVMS_NODE_SEQ_EXPR) return;
  tvms_list blocks = tvms_as_seq_expr(body)->blocks;
  for (uint32_t i = 0; i < blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++) {
      collect_binding(t, bindings.items[k]);
    }
  }
}

static const bound *TVMS_NULLABLE binding_of(const tracer *t, const tvms_node *var) {
  for (uint32_t i = t->bound.len; i-- > 0;) {
    if (t->bound.items[i].var == var) return &t->bound.items[i];
  }
  return NULL;
}

// ---- Texts ----------------------------------------------------------------------------------

static const char *kept(tracer *t, tvms_strbuf *text) {
  return tvms_arena_text(&t->context->arena, tvms_strbuf_text(text), text->len);
}

static const char *text_of(tracer *t, const tvms_node *node) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &t->context->memory);
  tvms_print_one(t->printer, t->unit, node, &text);
  const char *result = kept(t, &text);
  tvms_strbuf_fini(&text);
  return result;
}

// A dimension as it is written in a shape, where numbers need no type.
static const char *dim_text(tracer *t, tvms_node *dim) {
  static const char before[] = "R.Shape([", behind[] = "])";
  enum { BEFORE = sizeof before - 1, BEHIND = sizeof behind - 1 };
  const char *shape = text_of(t, tvms_sinfo_shape_new(t->unit, &dim, 1));
  size_t len = strlen(shape);
  if (len <= BEFORE + BEHIND || strncmp(shape, before, BEFORE) != 0) return shape;
  return tvms_arena_text(&t->context->arena, shape + BEFORE, len - BEFORE - BEHIND);
}

static const char *name_of(const tracer *t, const tvms_node *var) {
  return tvms_symbol_text(t->context, tvms_as_var(var)->name);
}

static const char *place_name(tracer *t, const tvms_node *var, tvms_dim_place place) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &t->context->memory);
  tvms_strbuf_puts(&text, name_of(t, var));
  if (place.field != TVMS_NO_FIELD) tvms_strbuf_printf(&text, "[%d]", (int)place.field);
  tvms_strbuf_printf(&text, "[%u]", place.dim);
  const char *result = kept(t, &text);
  tvms_strbuf_fini(&text);
  return result;
}

// ---- Steps ----------------------------------------------------------------------------------

// The step of a dimension of a variable, which is made if it is new. False if there is none:
// the shape is not known there, or there are too many steps.
static bool step_of(tracer *t, const tvms_node *var, tvms_dim_place place,
                    uint32_t *index) {
  tvms_shape_explanation *result = t->result;
  for (uint32_t i = 0; i < result->steps.len; i++) {
    const tvms_shape_step *step = &result->steps.items[i];
    bool same = step->value == var && step->place.field == place.field
                && step->place.dim == place.dim;
    *index = i;
    if (same) return true;
  }
  tvms_list dims;
  if (!tvms_dims_at(var->sinfo, place.field, &dims) || place.dim >= dims.len)
    return false;
  result->left_out = result->left_out || result->steps.len >= MOST_STEPS;
  if (result->steps.len >= MOST_STEPS) return false;
  tvms_shape_step step = {.value = var,
                          .place = place,
                          .name = place_name(t, var, place),
                          .is = dim_text(t, dims.items[place.dim]),
                          .span = var->span,
                          .rule = ""};
  *index = result->steps.len;
  tvms_vec_push(&t->context->memory, &result->steps, step);
  return true;
}

static void add_source(tracer *t, uint32_t step, const tvms_node *value,
                       tvms_dim_place place) {
  uint32_t from;
  if (value->kind != TVMS_NODE_VAR || !step_of(t, value, place, &from)) return;
  tvms_shape_step *made = &t->result->steps.items[step];
  for (uint32_t i = 0; i < made->from.len; i++) {
    if (made->from.items[i] == from) return;
  }
  tvms_vec_push(&t->context->memory, &made->from, from);
}

// The argument of a call, or the item of a tuple that stands there.
static void add_argument(tracer *t, uint32_t step, const tvms_call *call,
                         const tvms_dim_source *source) {
  const tvms_node *value = call->args.items[source->argument];
  tvms_dim_place place = source->place;
  if (value->kind == TVMS_NODE_TUPLE && place.field != TVMS_NO_FIELD) {
    value = tvms_as_tuple(value)->fields.items[place.field];
    place.field = TVMS_NO_FIELD;
  }
  add_source(t, step, value, place);
}

static const char *rule_of(tracer *t, const tvms_call *call) {
  tvms_opcode op = tvms_op_called(&call->head);
  tvms_strbuf text;
  tvms_strbuf_init(&text, &t->context->memory);
  if (op != TVMS_R_NONE)
    tvms_strbuf_printf(&text, "R.%s", tvms_op_of(op)->name);
  else
    tvms_strbuf_printf(&text, "call of %s", text_of(t, call->callee));
  const char *result = kept(t, &text);
  tvms_strbuf_fini(&text);
  return result;
}

static void explain_call(tracer *t, uint32_t index, const tvms_call *call) {
  tvms_opcode op = tvms_op_called(&call->head);
  tvms_inference in = {.prover = &t->prover,
                       .unit = t->unit,
                       .module = t->module,
                       .call = call,
                       .op = op};
  tvms_dim_origin origin = tvms_infer_origin(&in, t->result->steps.items[index].place);
  for (uint32_t i = 0; i < origin.count; i++) {
    add_argument(t, index, call, &origin.sources[i]);
  }
  tvms_shape_step *step = &t->result->steps.items[index];
  step->rule = rule_of(t, call);
  step->words =
      op == TVMS_R_NONE
          ? "the type of the callee, with what the arguments are for its symbols"
          : tvms_infer_words(op);
  bool says_more = origin.formula && origin.count
                   && origin.formula->kind != TVMS_NODE_VAR
                   && origin.formula->kind != TVMS_NODE_INT_IMM;
  if (says_more) t->result->steps.items[index].formula = dim_text(t, origin.formula);
}

static void explain_value(tracer *t, uint32_t index, const tvms_node *value) {
  tvms_dim_place place = t->result->steps.items[index].place;
  const char *rule = "its value";
  switch ((int)value->kind) {
  case TVMS_NODE_CALL: explain_call(t, index, tvms_as_call(value)); return;
  case TVMS_NODE_VAR:
    rule = "another name";
    add_source(t, index, value, place);
    break;
  case TVMS_NODE_TUPLE:
    rule = "an item of the tuple";
    if (place.field != TVMS_NO_FIELD)
      add_source(t, index, tvms_as_tuple(value)->fields.items[place.field],
                 (tvms_dim_place){TVMS_NO_FIELD, place.dim});
    break;
  case TVMS_NODE_TUPLE_GET_ITEM: {
    const tvms_tuple_get_item *item = tvms_as_tuple_get_item(value);
    rule = "an item of a tuple";
    add_source(t, index, item->tuple,
               (tvms_dim_place){(int32_t)item->index, place.dim});
    break;
  }
  case TVMS_NODE_IF: {
    rule = "what both branches agree on";
    const tvms_node *sides[] = {tvms_as_if(value)->true_branch,
                                tvms_as_if(value)->false_branch};
    for (int i = 0; i < 2; i++) {
      if (sides[i]->kind != TVMS_NODE_SEQ_EXPR) continue;
      add_source(t, index, tvms_as_seq_expr(sides[i])->body, place);
    }
    break;
  }
  case TVMS_NODE_CONSTANT: rule = "the shape of the constant"; break;
  case TVMS_NODE_SHAPE_EXPR: rule = "the shape as it is written"; break;
  default: break;
  }
  t->result->steps.items[index].rule = rule;
}

static void explain_step(tracer *t, uint32_t index) {
  const bound *found = binding_of(t, t->result->steps.items[index].value);
  tvms_shape_step *step = &t->result->steps.items[index];
  if (!found || !found->binding) {
    step->rule = "the annotation of the parameter";
    return;
  }
  const tvms_node *binding = found->binding;
  bool written = binding->span.end || binding->kind == TVMS_NODE_MATCH_CAST;
  step->span = written ? binding->span : tvms_as_var_binding(binding)->value->span;
  if (binding->kind == TVMS_NODE_MATCH_CAST) {
    step->rule = "R.match_cast";
    step->words = "the type that it states; it is checked when the program runs";
    return;
  }
  explain_value(t, index, tvms_as_var_binding(binding)->value);
  step = &t->result->steps.items[index];
  if (binding->flags & TVMS_FLAG_ANNOTATED && !step->from.len && !step->words)
    step->rule = "the annotation of the variable";
}

// ---- Values ---------------------------------------------------------------------------------

static void add_roots(tracer *t, tvms_shape_value *value, const tvms_node *type,
                      int32_t field) {
  tvms_list dims;
  if (!tvms_dims_at(type, field, &dims)) return;
  for (uint32_t i = 0; i < dims.len; i++) {
    uint32_t index;
    if (step_of(t, value->var, (tvms_dim_place){field, i}, &index)) value->root_count++;
  }
}

static uint32_t add_value(tracer *t, const tvms_node *var) {
  tvms_shape_value value = {.function = t->function,
                            .name = name_of(t, var),
                            .type = var->sinfo ? text_of(t, var->sinfo) : "?",
                            .span = var->span,
                            .var = var,
                            .first_root = t->result->steps.len};
  if (var->sinfo && var->sinfo->kind == TVMS_NODE_SINFO_TUPLE) {
    for (uint32_t i = 0; i < tvms_as_sinfo_tuple(var->sinfo)->fields.len; i++) {
      add_roots(t, &value, var->sinfo, (int32_t)i);
    }
  } else {
    add_roots(t, &value, var->sinfo, TVMS_NO_FIELD);
  }
  tvms_vec_push(&t->context->memory, &t->result->values, value);
  for (uint32_t i = value.first_root; i < t->result->steps.len; i++) {
    explain_step(t, i);
  }
  return t->result->values.len - 1;
}

static bool is_called(const tracer *t, const tvms_node *var, const char *name) {
  size_t len = strlen(t->function);
  if (strncmp(name, t->function, len) == 0 && name[len] == '.') name += len + 1;
  return strcmp(name_of(t, var), name) == 0;
}

static tvms_shape_pair pair_of(tracer *t, uint32_t i, tvms_node *a, tvms_node *b) {
  tvms_shape_pair pair = {
      .dimension = i, .left = dim_text(t, a), .right = dim_text(t, b)};
  tvms_counter_example example;
  if (tvms_dim_equal(&t->prover, a, b)) return pair;
  pair.verdict =
      tvms_dim_differ(&t->prover, a, b) ? TVMS_DIMS_DIFFER : TVMS_DIMS_UNPROVED;
  if (!tvms_dim_counter_example(&t->prover, a, b, &example)) return pair;
  pair.example = tvms_dim_example_text(t->unit, &example);
  pair.left_value = example.left;
  pair.right_value = example.right;
  return pair;
}

static void compare(tracer *t, uint32_t left, uint32_t right) {
  tvms_shape_comparison comparison = {.left = left, .right = right};
  tvms_list a, b;
  bool known =
      tvms_dims_at(t->result->values.items[left].var->sinfo, TVMS_NO_FIELD, &a)
      && tvms_dims_at(t->result->values.items[right].var->sinfo, TVMS_NO_FIELD, &b);
  comparison.ranks_differ = !known || a.len != b.len;
  for (uint32_t i = 0; !comparison.ranks_differ && i < a.len; i++) {
    tvms_shape_pair pair = pair_of(t, i, a.items[i], b.items[i]);
    tvms_vec_push(&t->context->memory, &comparison.pairs, pair);
  }
  tvms_vec_push(&t->context->memory, &t->result->comparisons, comparison);
}

static void explain_function(tracer *t, const char *name,
                             const char *TVMS_NULLABLE other) {
  uint32_t values = t->bound.len;
  uint32_t first = t->result->values.len, end;
  for (uint32_t i = 0; i < values; i++) {
    if (is_called(t, t->bound.items[i].var, name)) add_value(t, t->bound.items[i].var);
  }
  end = t->result->values.len;
  for (uint32_t i = 0; other && end > first && i < values; i++) {
    if (!is_called(t, t->bound.items[i].var, other)) continue;
    uint32_t right = add_value(t, t->bound.items[i].var);
    for (uint32_t left = first; left < end; left++) {
      compare(t, left, right);
    }
  }
}

void tvms_explain_shape(const tvms_module *module, tvms_dialect dialect,
                        const char *name, const char *TVMS_NULLABLE other,
                        tvms_shape_explanation *result) {
  tracer t = {.module = module, .context = module->context, .result = result};
  t.printer = tvms_print_nodes(module->context, dialect);
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    tvms_node *function = member->function ? member->function : member->partial;
    if (!function || function->kind != TVMS_NODE_FUNCTION) continue;
    t.unit = member->unit;
    t.function = tvms_symbol_text(module->context, member->name);
    t.bound.len = 0;
    tvms_prover_init(&t.prover, t.unit);
    collect_function(&t, tvms_as_function(function));
    explain_function(&t, name, other);
    tvms_prover_fini(&t.prover);
  }
  tvms_vec_fini(&module->context->memory, &t.bound);
  tvms_print_close(t.printer);
}

void tvms_explain_shape_fini(tvms_memory *memory, tvms_shape_explanation *result) {
  for (uint32_t i = 0; i < result->steps.len; i++) {
    tvms_vec_fini(memory, &result->steps.items[i].from);
  }
  for (uint32_t i = 0; i < result->comparisons.len; i++) {
    tvms_vec_fini(memory, &result->comparisons.items[i].pairs);
  }
  tvms_vec_fini(memory, &result->steps);
  tvms_vec_fini(memory, &result->values);
  tvms_vec_fini(memory, &result->comparisons);
}
