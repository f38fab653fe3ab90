// What descriptions of operators ask of the call: arguments become parameters, sizes and
// constants expressions of the PrimFunc in the making.
#include "te/legalize.h"

#include "ir/omitted.h"
#include "ir/op.h"
#include "ir/walk.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "te/legalizers.h"

#include <stdio.h>
#include <string.h>

static tvms_memory *memory_of(tvms_legal *legal) {
  return &legal->caller->context->memory;
}

// Notes the variables of an expression that have not been seen, with fresh ones.
static tvms_walk_step note_variable(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  tvms_legal *legal = self;
  if (node->kind != TVMS_NODE_VAR) return TVMS_WALK_ON;
  if (tvms_node_map_get(&legal->known, node)) return TVMS_WALK_SKIP;
  tvms_node *fresh = tvms_clone(legal->te.unit, node, &legal->known);
  tvms_vec_push(memory_of(legal), &legal->outer, node);
  tvms_vec_push(memory_of(legal), &legal->inner, fresh);
  return TVMS_WALK_SKIP;
}

// A scalar variable of Relax. It becomes a parameter in the place of its argument; one of
// int64 counts as a symbolic variable from 0.26 on, and comes last.
static tvms_node *scalar_variable(tvms_legal *legal, const tvms_node *arg) {
  tvms_node *seen = tvms_node_map_get(&legal->known, arg);
  if (seen) return seen;
  tvms_unit *unit = legal->te.unit;
  tvms_dtype dtype = arg->sinfo->dtype;
  tvms_node *fresh = tvms_var_new(unit, tvms_as_var(arg)->name, dtype, TVMS_NO_SPAN);
  tvms_node *outer = (tvms_node *)(uintptr_t)arg;
  bool symbolic = tvms_release_has(unit->dialect, TVMS_FACT_dtypes_are_types)
                  && tvms_dtype_same(dtype, TVMS_DTYPE(INT, 64));
  tvms_node_map_put(&legal->known, outer, fresh);
  if (symbolic) {
    tvms_vec_push(memory_of(legal), &legal->outer, outer);
    tvms_vec_push(memory_of(legal), &legal->inner, fresh);
  } else {
    tvms_te_scalar(&legal->te, fresh);
    tvms_vec_push(memory_of(legal), &legal->args, outer);
  }
  return fresh;
}

tvms_node *tvms_legal_expr(tvms_legal *legal, const tvms_node *expr) {
  if (expr->kind == TVMS_NODE_PRIM_VALUE) expr = tvms_as_prim_value(expr)->value;
  if (expr->kind == TVMS_NODE_VAR && tvms_sinfo_is_prim(expr->sinfo)) {
    const tvms_node *value = tvms_as_sinfo_prim(expr->sinfo)->value;
    if (!value) return scalar_variable(legal, expr);
    expr = value;
  }
  tvms_visitor visitor = {.self = legal, .enter = note_variable};
  tvms_walk(memory_of(legal), (tvms_node *)(uintptr_t)expr, &visitor);
  return tvms_clone(legal->te.unit, expr, &legal->known);
}

static tvms_list expr_list(tvms_legal *legal, tvms_list exprs) {
  tvms_list list = tvms_list_copy(legal->te.unit, exprs.items, exprs.len);
  for (uint32_t i = 0; i < list.len; i++) {
    list.items[i] = tvms_legal_expr(legal, exprs.items[i]);
  }
  return list;
}

// The values of the shape in a type: SINFO_TENSOR or SINFO_SHAPE.
static bool known_shape(const tvms_node *sinfo, tvms_list *values) {
  if (!sinfo) return false;
  if (sinfo->kind == TVMS_NODE_SINFO_TENSOR) {
    const tvms_node *shape = tvms_as_sinfo_tensor(sinfo)->shape;
    if (!shape || shape->kind != TVMS_NODE_SHAPE_EXPR) return false;
    *values = tvms_as_shape_expr(shape)->values;
    return true;
  }
  if (sinfo->kind != TVMS_NODE_SINFO_SHAPE || !(sinfo->flags & TVMS_FLAG_KNOWN)) {
    return false;
  }
  *values = tvms_as_sinfo_shape(sinfo)->values;
  return true;
}

// What TVM asks of every argument and of the result before it legalises.
static bool all_known(const tvms_node *sinfo) {
  tvms_list values;
  if (!sinfo) return false;
  if (sinfo->kind == TVMS_NODE_SINFO_PRIM) return true;
  if (sinfo->kind != TVMS_NODE_SINFO_TUPLE) return known_shape(sinfo, &values);
  tvms_list fields = tvms_as_sinfo_tuple(sinfo)->fields;
  for (uint32_t i = 0; i < fields.len; i++) {
    if (!all_known(fields.items[i])) return false;
  }
  return true;
}

static bool is_known_dtype(const tvms_node *sinfo) {
  if (sinfo->kind == TVMS_NODE_SINFO_TENSOR) return !tvms_dtype_is_void(sinfo->dtype);
  if (sinfo->kind != TVMS_NODE_SINFO_TUPLE) return true;
  tvms_list fields = tvms_as_sinfo_tuple(sinfo)->fields;
  for (uint32_t i = 0; i < fields.len; i++) {
    if (!is_known_dtype(fields.items[i])) return false;
  }
  return true;
}

// A value of TIR, a shape or an attribute has no StructInfo to ask.
static bool is_possible(const tvms_call *call, bool (*fits)(const tvms_node *sinfo)) {
  tvms_opcode opcode = tvms_op_called(&call->head);
  for (uint32_t i = 0; i < call->args.len; i++) {
    const tvms_node *arg = call->args.items[i];
    if (arg->kind == TVMS_NODE_PRIM_VALUE || !arg->sinfo) continue;
    bool found_later = opcode == TVMS_R_full && i == 0;  // the sizes
    if (!found_later && !fits(arg->sinfo)) return false;
  }
  // The shape of the result may depend on data.
  if (opcode == TVMS_R_dynamic_strided_slice || opcode == TVMS_R_full) return true;
  return fits(call->head.sinfo);
}

static bool is_whole(const tvms_node *sinfo) {
  return all_known(sinfo) && is_known_dtype(sinfo);
}

bool tvms_legalize_knows_sizes(const tvms_call *call) {
  return is_possible(call, all_known);
}

bool tvms_legalize_is_possible(const tvms_call *call) {
  return is_possible(call, is_whole);
}

bool tvms_legal_shape(tvms_legal *legal, const tvms_node *shape, tvms_list *values) {
  tvms_list given;
  if (shape->kind == TVMS_NODE_SHAPE_EXPR) {
    given = tvms_as_shape_expr(shape)->values;
  } else if (!known_shape(shape->sinfo, &given)) {
    return false;
  }
  *values = expr_list(legal, given);
  return true;
}

bool tvms_legal_result_shape(tvms_legal *legal, tvms_list *values) {
  tvms_list given;
  if (!known_shape(legal->call->head.sinfo, &given)) return false;
  *values = expr_list(legal, given);
  return true;
}

tvms_dtype tvms_legal_result_dtype(const tvms_legal *legal) {
  return legal->call->head.sinfo->dtype;
}

// Variables give their name to the parameter, other values a letter by their place.
static const char *parameter_name(tvms_legal *legal, const tvms_node *arg, char *buffer,
                                  size_t size) {
  if (arg->kind == TVMS_NODE_VAR) {
    return tvms_symbol_text(legal->caller->context, tvms_as_var(arg)->name);
  }
  uint32_t place = legal->args.len;
  if (place < 26) {
    snprintf(buffer, size, "%c", 'A' + (int)place);
  } else {
    snprintf(buffer, size, "tensor_input_%u", place);
  }
  return buffer;
}

tvms_node *tvms_legal_tensor(tvms_legal *legal, const tvms_node *arg) {
  tvms_list values;
  char buffer[32];
  const char *name = parameter_name(legal, arg, buffer, sizeof buffer);
  if (arg->kind == TVMS_NODE_CONSTANT) {
    values = tvms_as_constant(arg)->shape;
  } else {
    bool known = known_shape(arg->sinfo, &values);
    TVMS_CHECK(known);
  }
  tvms_dtype dtype = arg->kind == TVMS_NODE_CONSTANT ? tvms_as_constant(arg)->element
                                                     : arg->sinfo->dtype;
  tvms_list shape = expr_list(legal, values);
  tvms_vec_push(memory_of(legal), &legal->args, (tvms_node *)(uintptr_t)arg);
  return tvms_te_input(&legal->te, name, shape, dtype);
}

static double half_to_double(uint16_t bits, bool bfloat) {
  if (bfloat) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
  }
  int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  double value = exponent ? 1.0 + fraction / 1024.0 : fraction / 1024.0;
  for (int e = exponent ? exponent : 1; e < 15; e++)
    value /= 2;
  for (int e = exponent; e > 15; e--)
    value *= 2;
  if (exponent == 31)
    value = fraction ? (double)__builtin_nanf("") : (double)__builtin_inff();
  return bits & 0x8000 ? -value : value;
}

static tvms_node *scalar_of(tvms_te *te, tvms_dtype dtype, const char *data) {
  if (dtype.code == TVMS_FLOAT && dtype.bits == 64) {
    double value;
    memcpy(&value, data, sizeof value);
    return tvms_te_const(te, dtype, value);
  }
  if (dtype.code == TVMS_FLOAT && dtype.bits == 32) {
    float value;
    memcpy(&value, data, sizeof value);
    return tvms_te_const(te, dtype, (double)value);
  }
  if (dtype.bits == 16 && (dtype.code == TVMS_FLOAT || dtype.code == TVMS_BFLOAT)) {
    uint16_t bits;
    memcpy(&bits, data, sizeof bits);
    return tvms_te_const(te, dtype, half_to_double(bits, dtype.code == TVMS_BFLOAT));
  }
  bool is_int =
      dtype.code == TVMS_INT || dtype.code == TVMS_UINT || dtype.code == TVMS_BOOL;
  if (!is_int || (dtype.bits != 1 && dtype.bits % 8 != 0)) return NULL;
  uint32_t size = dtype.bits == 1 ? 1 : dtype.bits / 8u;
  uint64_t value = 0;
  memcpy(&value, data, size);
  bool negative = dtype.code == TVMS_INT && size < 8 && value >> (8 * size - 1);
  if (negative) value |= ~(uint64_t)0 << (8 * size);
  return tvms_int_imm_new(te->unit, dtype, (int64_t)value, TVMS_NO_SPAN);
}

tvms_node *tvms_legal_constant(tvms_legal *legal, const tvms_node *arg) {
  if (arg->kind != TVMS_NODE_CONSTANT) return NULL;
  const tvms_constant *constant = tvms_as_constant(arg);
  if (constant->shape.len != 0) return NULL;
  if (!tvms_node_refuse_omitted(legal->caller->context, arg, "LegalizeOps"))
    return NULL;
  return scalar_of(&legal->te, constant->element, constant->data.text);
}

tvms_node *TVMS_NULLABLE tvms_legal_scalar(tvms_legal *legal, const tvms_node *arg) {
  return tvms_legal_is_prim(arg) ? tvms_legal_expr(legal, arg)
                                 : tvms_legal_constant(legal, arg);
}

tvms_node *tvms_legal_operand(tvms_legal *legal, const tvms_node *arg) {
  tvms_node *value = tvms_legal_scalar(legal, arg);
  return value ? value : tvms_legal_tensor(legal, arg);
}

bool *tvms_legal_axes(tvms_legal *legal, uint32_t rank, tvms_list axes, bool all) {
  bool *flags = tvms_arena_array(&legal->te.unit->arena, bool, rank + 1);
  for (uint32_t i = 0; i < rank; i++)
    flags[i] = all;
  for (uint32_t i = 0; i < axes.len && !all; i++) {
    flags[tvms_legal_axis(tvms_attr_item_int(axes.items[i]), rank)] = true;
  }
  return flags;
}

bool tvms_legal_return(tvms_legal *legal, tvms_node *tensor) {
  if (tensor) tvms_te_output(&legal->te, tensor);
  return tensor != NULL;
}
