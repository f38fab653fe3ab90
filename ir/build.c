// Raw constructors: one allocation and the dtype each.
//
// Nothing is folded, converted or checked: a pass or a reader that knows what it wants
// gets exactly that node. Text goes through ir/fold.h instead, which does what TVM's
// constructors do.
#include "ir/build.h"

#include <string.h>

tvms_node *tvms_int_imm_new(tvms_unit *unit, tvms_dtype dtype, int64_t value,
                            tvms_span span) {
  tvms_struct_INT_IMM *node = tvms_node_make(unit, INT_IMM, span);
  node->head.dtype = dtype;
  node->value = value;
  return &node->head;
}

tvms_node *tvms_bool_imm_new(tvms_unit *unit, bool value, tvms_span span) {
  return tvms_int_imm_new(unit, TVMS_DTYPE(BOOL, 1), value, span);
}

tvms_node *tvms_float_imm_new(tvms_unit *unit, tvms_dtype dtype, double value,
                              tvms_span span) {
  tvms_struct_FLOAT_IMM *node = tvms_node_make(unit, FLOAT_IMM, span);
  node->head.dtype = dtype;
  node->value = value;
  return &node->head;
}

tvms_node *tvms_string_imm_new(tvms_unit *unit, const char *text, size_t len,
                               tvms_span span) {
  tvms_struct_STRING_IMM *node = tvms_node_make(unit, STRING_IMM, span);
  node->head.dtype = TVMS_DTYPE(HANDLE, 64);
  node->value = tvms_bytes_copy(unit, text, len);
  return &node->head;
}

tvms_node *tvms_var_new(tvms_unit *unit, tvms_sym name, tvms_dtype dtype,
                        tvms_span span) {
  tvms_struct_VAR *node = tvms_node_make(unit, VAR, span);
  node->head.dtype = dtype;
  node->name = name;
  return &node->head;
}

tvms_node *tvms_pointer_var_new(tvms_unit *unit, tvms_sym name, tvms_dtype element,
                                tvms_sym scope, tvms_span span) {
  tvms_node *var = tvms_var_new(unit, name, TVMS_DTYPE(HANDLE, 64), span);
  if (tvms_dtype_is_void(element) && !scope) return var;
  tvms_struct_SINFO_POINTER *pointer = tvms_node_make(unit, SINFO_POINTER, span);
  pointer->head.dtype = element;
  pointer->scope = scope;
  var->sinfo = &pointer->head;
  return var;
}

tvms_node *tvms_var_like(tvms_unit *unit, const tvms_node *var) {
  tvms_node *copy = tvms_var_new(unit, tvms_as_var(var)->name, var->dtype, var->span);
  copy->flags = var->flags;
  copy->sinfo = var->sinfo;
  return copy;
}

static bool yields_bool(tvms_node_kind kind) {
  return kind >= TVMS_NODE_EQ && kind <= TVMS_NODE_OR;
}

tvms_node *tvms_binary_new(tvms_unit *unit, tvms_node_kind kind, tvms_node *a,
                           tvms_node *b, tvms_span span) {
  TVMS_CHECK(kind >= TVMS_NODE_ADD && kind <= TVMS_NODE_OR);
  tvms_binary *node = (tvms_binary *)(void *)tvms_node_new(unit, kind, span);
  node->a = a;
  node->b = b;
  node->head.dtype = yields_bool(kind)
                         ? tvms_dtype_with_lanes(TVMS_DTYPE(BOOL, 1), a->dtype.lanes)
                         : a->dtype;
  return &node->head;
}

tvms_node *tvms_not_new(tvms_unit *unit, tvms_node *a, tvms_span span) {
  tvms_struct_NOT *node = tvms_node_make(unit, NOT, span);
  node->head.dtype = a->dtype;
  node->a = a;
  return &node->head;
}

tvms_node *tvms_cast_new(tvms_unit *unit, tvms_dtype dtype, tvms_node *value,
                         tvms_span span) {
  tvms_struct_CAST *node = tvms_node_make(unit, CAST, span);
  node->head.dtype = dtype;
  node->value = value;
  return &node->head;
}

tvms_node *tvms_select_new(tvms_unit *unit, tvms_node *condition, tvms_node *true_value,
                           tvms_node *false_value, tvms_span span) {
  tvms_struct_SELECT *node = tvms_node_make(unit, SELECT, span);
  node->head.dtype = true_value->dtype;
  node->condition = condition;
  node->true_value = true_value;
  node->false_value = false_value;
  return &node->head;
}

tvms_node *tvms_let_new(tvms_unit *unit, tvms_node *var, tvms_node *value,
                        tvms_node *body, tvms_span span) {
  tvms_struct_LET *node = tvms_node_make(unit, LET, span);
  node->head.dtype = body->dtype;
  node->value = value;
  node->var = var;
  node->body = body;
  return &node->head;
}

// The lanes of a vector node: a constant, or vscale times a constant.
static tvms_node *lanes_node(tvms_unit *unit, int lanes, tvms_span span) {
  tvms_dtype int32 = TVMS_DTYPE(INT, 32);
  if (lanes >= 0) return tvms_int_imm_new(unit, int32, lanes, span);
  tvms_node *vscale = tvms_call_new_of(unit, int32, TVMS_TIR_vscale, NULL, 0, span);
  tvms_node *factor = tvms_int_imm_new(unit, int32, -lanes, span);
  return tvms_binary_new(unit, TVMS_NODE_MUL, vscale, factor, span);
}

tvms_node *tvms_ramp_new(tvms_unit *unit, tvms_node *base, tvms_node *stride, int lanes,
                         tvms_span span) {
  tvms_struct_RAMP *node = tvms_node_make(unit, RAMP, span);
  node->head.dtype = tvms_dtype_with_lanes(base->dtype, lanes);
  node->base = base;
  node->stride = stride;
  node->lanes = lanes_node(unit, lanes, span);
  return &node->head;
}

tvms_node *tvms_broadcast_new(tvms_unit *unit, tvms_node *value, int lanes,
                              tvms_span span) {
  tvms_struct_BROADCAST *node = tvms_node_make(unit, BROADCAST, span);
  node->head.dtype = tvms_dtype_with_lanes(value->dtype, lanes);
  node->value = value;
  node->lanes = lanes_node(unit, lanes, span);
  return &node->head;
}

tvms_node *tvms_tir_operator_new(tvms_unit *unit, tvms_tir_opcode opcode) {
  tvms_struct_OPERATOR *node = tvms_node_make(unit, OPERATOR, TVMS_NO_SPAN);
  const char *name = tvms_tir_op_row_of(opcode)->name;
  node->head.flags = TVMS_FLAG_TIR;
  node->opcode = opcode;
  node->name = tvms_symbol_intern(unit->context, name, strlen(name));
  return &node->head;
}

tvms_node *tvms_call_new(tvms_unit *unit, tvms_dtype dtype, tvms_node *callee,
                         tvms_node *const *args, uint32_t count, tvms_span span) {
  tvms_struct_CALL *node = tvms_node_make(unit, CALL, span);
  node->head.dtype = dtype;
  node->callee = callee;
  node->args = tvms_list_copy(unit, args, count);
  return &node->head;
}

tvms_node *tvms_call_new_of(tvms_unit *unit, tvms_dtype dtype, tvms_tir_opcode opcode,
                            tvms_node *const *args, uint32_t count, tvms_span span) {
  return tvms_call_new(unit, dtype, tvms_tir_operator_new(unit, opcode), args, count,
                       span);
}

tvms_tir_opcode tvms_call_opcode(const tvms_node *node) {
  if (node->kind != TVMS_NODE_CALL) return TVMS_TIR_NONE;
  const tvms_node *callee = tvms_as_call(node)->callee;
  bool tir = callee->kind == TVMS_NODE_OPERATOR && (callee->flags & TVMS_FLAG_TIR);
  return tir ? (tvms_tir_opcode)tvms_as_operator(callee)->opcode : TVMS_TIR_NONE;
}

tvms_node_choice tvms_node_choice_of(const tvms_node *node) {
  if (node->kind == TVMS_NODE_SELECT) {
    const tvms_select *select = tvms_as_select(node);
    return (tvms_node_choice){select->condition, select->true_value,
                              select->false_value};
  }
  if (tvms_call_opcode(node) != TVMS_TIR_if_then_else) return (tvms_node_choice){0};
  tvms_list args = tvms_as_call(node)->args;
  if (args.len != 3) return (tvms_node_choice){0};
  return (tvms_node_choice){args.items[0], args.items[1], args.items[2]};
}

tvms_node *tvms_call_prefetched(const tvms_node *node, int64_t kinds[3]) {
  static const int64_t usual[] = {0, 3, 1}, most[] = {1, 3, 1};
  tvms_tir_opcode opcode = tvms_call_opcode(node);
  if (opcode != TVMS_TIR_prefetch && opcode != TVMS_TIR_call_llvm_intrin) return NULL;
  tvms_list args = tvms_as_call(node)->args;
  uint32_t first = opcode == TVMS_TIR_call_llvm_intrin;
  if (args.len <= first || args.len > first + 4) return NULL;
  if (first
      && (args.items[0]->kind != TVMS_NODE_STRING_IMM
          || !tvms_bytes_is(tvms_as_string_imm(args.items[0])->value, "llvm.prefetch")))
    return NULL;
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t at = first + 1 + i;
    kinds[i] = usual[i];
    if (at >= args.len) continue;
    if (!tvms_node_is_int_imm(args.items[at])) return NULL;
    kinds[i] = tvms_as_int_imm(args.items[at])->value;
    if (kinds[i] < 0 || kinds[i] > most[i]) return NULL;
  }
  return tvms_dtype_is_handle(args.items[first]->dtype) ? args.items[first] : NULL;
}

const tvms_iter_var *tvms_attr_stmt_threads(const tvms_node *node) {
  if (node->kind != TVMS_NODE_ATTR_STMT) return NULL;
  const tvms_attr_stmt *attr = tvms_as_attr_stmt(node);
  bool named = tvms_bytes_is(attr->key, "thread_extent")
               || tvms_bytes_is(attr->key, "virtual_thread");
  bool axis = attr->node && attr->node->kind == TVMS_NODE_ITER_VAR;
  return named && axis ? tvms_as_iter_var(attr->node) : NULL;
}

tvms_node *tvms_attr_stmt_view(const tvms_node *node) {
  if (node->kind != TVMS_NODE_ATTR_STMT) return NULL;
  const tvms_attr_stmt *attr = tvms_as_attr_stmt(node);
  bool binds = tvms_bytes_is(attr->key, "buffer_bind_scope") && attr->node
               && attr->node->kind == TVMS_NODE_OBJECT_ARRAY;
  if (!binds) return NULL;
  tvms_list buffers = tvms_as_object_array(attr->node)->items;
  if (buffers.len != 2) return NULL;
  for (uint32_t i = 0; i < buffers.len; i++) {
    if (buffers.items[i]->kind != TVMS_NODE_BUFFER) return NULL;
  }
  return buffers.items[0];
}

tvms_dtype tvms_buffer_access_dtype(const tvms_node *buffer, tvms_node *const *indices,
                                    uint32_t count) {
  tvms_dtype element = tvms_as_buffer(buffer)->element;
  int lanes = count ? indices[count - 1]->dtype.lanes : 1;
  return tvms_dtype_with_lanes(element, element.lanes * lanes);
}

tvms_node *tvms_buffer_load_new(tvms_unit *unit, tvms_node *buffer,
                                tvms_node *const *indices, uint32_t count,
                                tvms_node *TVMS_NULLABLE predicate, tvms_span span) {
  tvms_struct_BUFFER_LOAD *node = tvms_node_make(unit, BUFFER_LOAD, span);
  node->head.dtype = tvms_buffer_access_dtype(buffer, indices, count);
  node->buffer = buffer;
  node->indices = tvms_list_copy(unit, indices, count);
  node->predicate = predicate;
  return &node->head;
}

tvms_node *tvms_range_new(tvms_unit *unit, tvms_node *min, tvms_node *extent,
                          tvms_span span) {
  tvms_struct_RANGE *node = tvms_node_make(unit, RANGE, span);
  node->min = min;
  node->extent = extent;
  return &node->head;
}

tvms_node *tvms_buffer_region_new(tvms_unit *unit, tvms_node *buffer,
                                  tvms_node *const *ranges, uint32_t count,
                                  tvms_span span) {
  tvms_struct_BUFFER_REGION *node = tvms_node_make(unit, BUFFER_REGION, span);
  node->head.dtype = tvms_as_buffer(buffer)->element;
  node->buffer = buffer;
  node->region = tvms_list_copy(unit, ranges, count);
  return &node->head;
}

tvms_node *tvms_seq_new(tvms_unit *unit, tvms_node *const *stmts, uint32_t count,
                        tvms_span span) {
  tvms_struct_SEQ *node = tvms_node_make(unit, SEQ, span);
  node->stmts = tvms_list_copy(unit, stmts, count);
  return &node->head;
}

tvms_node *tvms_evaluate_new(tvms_unit *unit, tvms_node *value, tvms_span span) {
  tvms_struct_EVALUATE *node = tvms_node_make(unit, EVALUATE, span);
  node->value = value;
  return &node->head;
}
