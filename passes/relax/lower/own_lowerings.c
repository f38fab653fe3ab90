// Lowerings of operators that the user has written: finding them, fitting them to calls.
#include "passes/relax/lower/own_lowerings.h"

#include "ir/clone.h"
#include "ir/object.h"
#include "passes/relax/make.h"
#include "passes/relax/own_functions.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "support/diag_ids.h"
#include "support/strbuf.h"

#include <stdarg.h>
#include <string.h>

static const char key[] = "tvms.lowers";

// ---- Finding them ----

static tvms_opcode operator_of(tvms_context *context, const char *name) {
  tvms_opcode opcode = tvms_op_find(tvms_symbol_intern(context, name, strlen(name)));
  return opcode != TVMS_R_NONE ? opcode : tvms_op_spelled(context, name, strlen(name));
}

static void add(void *self, tvms_context *context, const tvms_member *member) {
  tvms_own_lowerings *own = self;
  const tvms_node *function = member->function;
  bool prim = function->kind == TVMS_NODE_PRIM_FUNC;
  const tvms_node *attrs =
      prim ? tvms_as_prim_func(function)->attrs : tvms_as_function(function)->attrs;
  const tvms_node *said = attrs ? tvms_object_map_get(attrs, key) : NULL;
  if (!said) return;
  const char *name = tvms_object_as_text(said);
  tvms_opcode opcode = name ? operator_of(context, name) : TVMS_R_NONE;
  const char *why = !prim                   ? "it is not a PrimFunc"
                    : opcode == TVMS_R_NONE ? "its attribute names no operator of Relax"
                    : tvms_relax_own_function_stands_alone(context, member)
                        ? NULL
                        : "it calls another function";
  if (why) {
    tvms_diag_report(&context->diags, TVMS_D_no_lowering, member->name_span,
                     tvms_symbol_text(context, member->name), why);
    return;
  }
  tvms_own_lowering row = {member, opcode};
  tvms_vec_push(&context->memory, &own->items, row);
}

static void report_file(tvms_context *context, const char *name, const char *why) {
  tvms_diag_report(&context->diags, TVMS_D_lowerings_unread, (tvms_span){0, 0}, name,
                   why);
}

bool tvms_relax_own_lowerings_init(tvms_own_lowerings *own, tvms_pass_run *run,
                                   const char *name) {
  tvms_context *context = run->context;
  uint32_t errors = context->diags.errors;
  *own = (tvms_own_lowerings){.source = NULL};
  own->source = tvms_relax_own_functions_each(run, name, add, own);
  if (context->diags.errors == errors && !own->items.len)
    report_file(context, name, "no PrimFunc in it has the attribute \"tvms.lowers\"");
  return context->diags.errors == errors;
}

void tvms_relax_own_lowerings_fini(tvms_own_lowerings *own, tvms_memory *memory) {
  tvms_vec_fini(memory, &own->items);
}

// ---- Fitting one to a call ----

typedef struct {
  tvms_relax_mutator *m;
  tvms_node *node;  // the call
  const tvms_prim_func *function;
  tvms_node_map sizes;     // of the function → of the call
  tvms_node_vec operands;  // of the call, fields of tuples one by one
  uint32_t taken;          // operands
  tvms_node_vec args;      // what the PrimFunc gets
  tvms_strbuf why;         // it does not fit; empty: it does
} fit;

static bool unfit(fit *f, const char *format, ...) TVMS_PRINTF(2, 3);
static bool unfit(fit *f, const char *format, ...) {
  va_list list;
  va_start(list, format);
  tvms_strbuf_vprintf(&f->why, format, list);
  va_end(list);
  return false;
}

static const char *name_of(const fit *f, const tvms_node *var_or_buffer) {
  tvms_sym name = var_or_buffer->kind == TVMS_NODE_BUFFER
                      ? tvms_as_buffer(var_or_buffer)->name
                      : tvms_as_var(var_or_buffer)->name;
  return tvms_symbol_text(f->m->run->context, name);
}

// One size: a variable becomes what the call has, anything else must be the same.
static bool fit_size(fit *f, tvms_node *size, tvms_node *dim) {
  bool is_new = size->kind == TVMS_NODE_VAR && !tvms_node_map_get(&f->sizes, size);
  if (is_new) {
    tvms_node_map_put(&f->sizes, size, dim);
    return true;
  }
  tvms_node *wanted = tvms_clone(f->m->unit, size, &f->sizes);
  int64_t a, b;
  if (tvms_sinfo_dim_int(wanted, &a) && tvms_sinfo_dim_int(dim, &b)) return a == b;
  return tvms_dim_equal(&f->m->prover, wanted, dim);
}

static bool fit_tensor(fit *f, const tvms_node *buffer, const tvms_node *sinfo,
                       const char *what) {
  const tvms_buffer *b = tvms_as_buffer(buffer);
  tvms_list dims;
  char wanted[TVMS_DTYPE_TEXT], got[TVMS_DTYPE_TEXT];
  if (!sinfo || sinfo->kind != TVMS_NODE_SINFO_TENSOR
      || !tvms_sinfo_tensor_dims(sinfo, &dims)) {
    return unfit(f, "%s '%s' is not a tensor of known shape", what, name_of(f, buffer));
  }
  if (!tvms_dtype_same(sinfo->dtype, b->element)) {
    return unfit(f, "%s '%s' is %s and not %s", what, name_of(f, buffer),
                 tvms_dtype_text(sinfo->dtype, got),
                 tvms_dtype_text(b->element, wanted));
  }
  if (dims.len != b->shape.len) {
    return unfit(f, "%s '%s' has rank %u and not %u", what, name_of(f, buffer),
                 dims.len, b->shape.len);
  }
  for (uint32_t i = 0; i < dims.len; i++) {
    if (fit_size(f, b->shape.items[i], dims.items[i])) continue;
    return unfit(f, "dimension %u of %s '%s' is %s", i, what, name_of(f, buffer),
                 tvms_sinfo_describe(f->m->unit, dims.items[i]));
  }
  return true;
}

// The number that an attribute is, as a value of the parameter's dtype; NULL: it is none.
static tvms_node *attribute_as(fit *f, const tvms_node *value, tvms_dtype dtype) {
  tvms_unit *unit = f->m->unit;
  bool real = tvms_dtype_is_real(dtype);
  if (dtype.lanes != 1 || tvms_dtype_is_handle(dtype) || !value) return NULL;
  switch ((int)value->kind) {
  case TVMS_NODE_OBJECT_FLOAT:
    if (!real) return NULL;
    return tvms_float_imm_new(unit, dtype, tvms_as_object_float(value)->value,
                              TVMS_NO_SPAN);
  case TVMS_NODE_OBJECT_INT: {
    int64_t number = tvms_as_object_int(value)->value;
    return real ? tvms_float_imm_new(unit, dtype, (double)number, TVMS_NO_SPAN)
                : tvms_int_imm_new(unit, dtype, number, TVMS_NO_SPAN);
  }
  case TVMS_NODE_OBJECT_BOOL:
    if (real) return NULL;
    return tvms_dtype_is_bool(dtype)
               ? tvms_bool_imm_new(unit, tvms_as_object_bool(value)->value,
                                   TVMS_NO_SPAN)
               : tvms_int_imm_new(unit, dtype, tvms_as_object_bool(value)->value,
                                  TVMS_NO_SPAN);
  default: return NULL;
  }
}

static bool fit_scalar(fit *f, const tvms_node *var) {
  tvms_memory *memory = &f->m->run->context->memory;
  const tvms_call *call = tvms_as_call(f->node);
  const char *name = name_of(f, var);
  const tvms_attr_schema *schema = tvms_op_schema(tvms_op_called(f->node));
  int place = tvms_attr_find(schema, name, strlen(name));
  if (place >= 0) {
    const tvms_node *value = tvms_attr(call, (uint32_t)place);
    tvms_node *number = attribute_as(f, value, var->dtype);
    char text[TVMS_DTYPE_TEXT];
    if (!number) {
      return unfit(f, "attribute '%s' is %s %s", name, value ? "no" : "not set, and no",
                   tvms_dtype_text(var->dtype, text));
    }
    tvms_vec_push(memory, &f->args, number);
    return true;
  }
  tvms_node *operand = f->taken < f->operands.len ? f->operands.items[f->taken] : NULL;
  const tvms_node *number = operand ? tvms_relax_scalar_of(operand) : NULL;
  if (!number || !tvms_dtype_same(number->dtype, var->dtype))
    return unfit(f, "there is neither an attribute nor an operand for '%s'", name);
  f->taken++;
  tvms_vec_push(memory, &f->args, operand);
  return true;
}

static const tvms_node *result_at(const fit *f, uint32_t i, uint32_t *count) {
  const tvms_node *type = f->node->sinfo;
  bool tuple = type && type->kind == TVMS_NODE_SINFO_TUPLE;
  *count = tuple ? tvms_as_sinfo_tuple(type)->fields.len : 1;
  if (!tuple) return type;
  return i < *count ? tvms_as_sinfo_tuple(type)->fields.items[i] : NULL;
}

static bool fit_parameters(fit *f) {
  tvms_memory *memory = &f->m->run->context->memory;
  uint32_t results = 0, count;
  (void)result_at(f, 0, &count);
  for (uint32_t i = 0; i < f->function->params.len; i++) {
    const tvms_node *buffer = f->function->buffers.items[i];
    if (!buffer) {
      if (results) return unfit(f, "a scalar stands behind its results");
      if (!fit_scalar(f, f->function->params.items[i])) return false;
      continue;
    }
    if (f->taken == f->operands.len) {
      const tvms_node *type = result_at(f, results++, &count);
      if (results > count) return unfit(f, "it has more results than the operator");
      if (!fit_tensor(f, buffer, type, "result")) return false;
      continue;
    }
    tvms_node *operand = f->operands.items[f->taken++];
    if (!fit_tensor(f, buffer, operand->sinfo, "operand")) return false;
    tvms_vec_push(memory, &f->args, operand);
  }
  if (f->taken < f->operands.len) return unfit(f, "it takes fewer operands");
  return results == count || unfit(f, "it has fewer results than the operator");
}

static void collect_operands(fit *f, tvms_list args) {
  for (uint32_t i = 0; i < args.len; i++) {
    if (args.items[i]->kind == TVMS_NODE_TUPLE) {
      collect_operands(f, tvms_as_tuple(args.items[i])->fields);
    } else {
      tvms_vec_push(&f->m->run->context->memory, &f->operands, args.items[i]);
    }
  }
}

// ---- The call ----

static tvms_node *call_of(fit *f, const tvms_member *member) {
  tvms_pass_run *run = f->m->run;
  tvms_unit *unit = tvms_functions_open_unit(run);
  tvms_node *function = tvms_clone_fresh(unit, member->function);
  function->flags |= TVMS_FLAG_PRIVATE;
  tvms_prim_func *prim = tvms_as_prim_func(function);
  const char *const marks[] = {key, NULL};
  prim->attrs = tvms_relax_own_function_attrs(unit, f->function->attrs, marks);
  const char *name = tvms_symbol_text(run->context, member->name);
  tvms_sym symbol = tvms_functions_add_unique(run, name, unit, function);
  tvms_list args = tvms_list_copy(f->m->unit, f->args.items, f->args.len);
  return tvms_relax_make_call_tir(f->m->unit, symbol, args, f->node->sinfo,
                                  f->node->span);
}

static tvms_node *try_one(const tvms_own_lowerings *own, tvms_relax_mutator *m,
                          tvms_node *node, const tvms_member *member, bool reports) {
  tvms_context *context = m->run->context;
  fit f = {.m = m, .node = node, .function = tvms_as_prim_func(member->function)};
  tvms_node_map_init(&f.sizes, &context->memory);
  tvms_strbuf_init(&f.why, &context->memory);
  collect_operands(&f, tvms_as_call(node)->args);
  tvms_node *made = fit_parameters(&f) ? call_of(&f, member) : NULL;
  if (!made && reports) {
    tvms_diag *diag = tvms_diag_report(
        &context->diags,
        own->must_fit ? TVMS_D_lowering_must_fit : TVMS_D_lowering_unfit, node->span,
        tvms_symbol_text(context, member->name), tvms_strbuf_text(&f.why));
    tvms_diag_note_in(&context->diags, diag, own->source, member->name_span,
                      "the lowering is here");
  }
  tvms_node_map_fini(&f.sizes);
  tvms_strbuf_fini(&f.why);
  tvms_vec_fini(&context->memory, &f.operands);
  tvms_vec_fini(&context->memory, &f.args);
  return made;
}

tvms_node *tvms_relax_own_lowering_of(const tvms_own_lowerings *own,
                                      tvms_relax_mutator *m, tvms_node *node) {
  tvms_opcode opcode = tvms_op_called(node);
  uint32_t left = 0;
  for (uint32_t i = 0; i < own->items.len; i++)
    left += own->items.items[i].opcode == opcode;
  for (uint32_t i = 0; i < own->items.len; i++) {
    const tvms_own_lowering *row = &own->items.items[i];
    if (row->opcode != opcode) continue;
    tvms_node *made = try_one(own, m, node, row->member, --left == 0);
    if (made) return made;
  }
  return NULL;
}
