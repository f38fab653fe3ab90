// Raw constructors of nodes: what is asked for is what is built.
//
// Nothing here folds, promotes or checks the user's program; ir/fold.h does. Pass
// {0, 0} as the span of a node that tvms itself makes.
#ifndef TVMS_IR_BUILD_H
#define TVMS_IR_BUILD_H

#include "ir/node.h"
#include "ir/tir_op.h"

#define TVMS_NO_SPAN ((tvms_span){0, 0})

// A constant of a scalar integer dtype that `value` fits.
tvms_node *tvms_int_imm_new(tvms_unit *unit, tvms_dtype dtype, int64_t value,
                            tvms_span span);

// The constant True or False of dtype bool.
tvms_node *tvms_bool_imm_new(tvms_unit *unit, bool value, tvms_span span);

// A constant of a scalar float dtype. The value is kept as a double; nothing rounds it.
tvms_node *tvms_float_imm_new(tvms_unit *unit, tvms_dtype dtype, double value,
                              tvms_span span);

// A text as an expression; the bytes are copied into the unit.
tvms_node *tvms_string_imm_new(tvms_unit *unit, const char *text, size_t len,
                               tvms_span span);

// A fresh variable of TIR; of Relax: void dtype, and the caller sets head.sinfo.
tvms_node *tvms_var_new(tvms_unit *unit, tvms_sym name, tvms_dtype dtype,
                        tvms_span span);

// A fresh pointer variable. `element` void: an opaque handle without a pointer type;
// `scope` 0 is "global".
tvms_node *tvms_pointer_var_new(tvms_unit *unit, tvms_sym name, tvms_dtype element,
                                tvms_sym scope, tvms_span span);

// A variable like `var` (dtype, type, flags) with a new identity.
tvms_node *tvms_var_like(tvms_unit *unit, const tvms_node *var);

// A binary operator, ADD to OR. The operands have equal dtypes, from which that of the node
// follows.
tvms_node *tvms_binary_new(tvms_unit *unit, tvms_node_kind kind, tvms_node *a,
                           tvms_node *b, tvms_span span);

// not a; the dtype is that of `a`.
tvms_node *tvms_not_new(tvms_unit *unit, tvms_node *a, tvms_span span);

// T.Cast: `value` as `dtype`, also where the two are equal.
tvms_node *tvms_cast_new(tvms_unit *unit, tvms_dtype dtype, tvms_node *value,
                         tvms_span span);

// T.Select: both values are computed. The dtype is that of `true_value`.
tvms_node *tvms_select_new(tvms_unit *unit, tvms_node *condition, tvms_node *true_value,
                           tvms_node *false_value, tvms_span span);

// T.Let: `body`, in which `var` is `value`. The dtype is that of the body.
tvms_node *tvms_let_new(tvms_unit *unit, tvms_node *var, tvms_node *value,
                        tvms_node *body, tvms_span span);

// T.Ramp: base, base + stride, … `lanes` as in tvms_dtype: negative for multiples of vscale, where the node's
// lanes become `T.vscale() * n`.
tvms_node *tvms_ramp_new(tvms_unit *unit, tvms_node *base, tvms_node *stride, int lanes,
                         tvms_span span);

// T.Broadcast: `lanes` times the same scalar.
tvms_node *tvms_broadcast_new(tvms_unit *unit, tvms_node *value, int lanes,
                              tvms_span span);

// The OPERATOR node of an operator of TIR, TVMS_TIR_if_then_else and so on.
tvms_node *tvms_tir_operator_new(tvms_unit *unit, tvms_tir_opcode opcode);

// A call of any callee; the arguments are copied into the unit. The caller sets
// head.sinfo where the result has a type of its own.
tvms_node *tvms_call_new(tvms_unit *unit, tvms_dtype dtype, tvms_node *callee,
                         tvms_node *const *args, uint32_t count, tvms_span span);

// A call of an operator of TIR: tvms_call_new with its OPERATOR node.
tvms_node *tvms_call_new_of(tvms_unit *unit, tvms_dtype dtype, tvms_tir_opcode opcode,
                            tvms_node *const *args, uint32_t count, tvms_span span);

// The operator of TIR that `node` calls, or TVMS_TIR_NONE if it is not such a call.
tvms_tir_opcode tvms_call_opcode(const tvms_node *node);

// Condition, value if it holds and value if it does not.
typedef struct {
  tvms_node *TVMS_NULLABLE condition;  // NULL: the node is not a choice
  tvms_node *yes, *no;
} tvms_node_choice;

// The parts of a SELECT or a call of T.if_then_else.
tvms_node_choice tvms_node_choice_of(const tvms_node *node);

// The address of `T.prefetch(address, write, locality, cache)` or of what this is in LLVM's words,
// T.call_llvm_intrin("void", "llvm.prefetch", ...). `kinds` are the three numbers behind it; those not given are
// as of GCC (0, 3, 1). NULL for any other node, and if they are not numbers that LLVM takes.
tvms_node *TVMS_NULLABLE tvms_call_prefetched(const tvms_node *node, int64_t kinds[3]);

// The axis of threads (thread_extent, virtual_thread) that an ATTR_STMT binds for the rest of
// its SEQ; NULL for any other node.
const tvms_iter_var *TVMS_NULLABLE tvms_attr_stmt_threads(const tvms_node *node);

// The buffer that an attribute defines as a view of another one, which is behind it in the list
// that the attribute is about: `T.attr([view, whole], "buffer_bind_scope", ...)`, in releases
// that have TVMS_FACT_attributes_bind_buffers. Else NULL.
tvms_node *TVMS_NULLABLE tvms_attr_stmt_view(const tvms_node *node);

// An element of a buffer, or a vector of them if the last index is one. The indices are copied
// into the unit.
tvms_node *tvms_buffer_load_new(tvms_unit *unit, tvms_node *buffer,
                                tvms_node *const *indices, uint32_t count,
                                tvms_node *TVMS_NULLABLE predicate, tvms_span span);

// From `min` on, `extent` long; both have one dtype.
tvms_node *tvms_range_new(tvms_unit *unit, tvms_node *min, tvms_node *extent,
                          tvms_span span);

// The part of a buffer that `count` ranges give, one per dimension; they are copied
// into the unit.
tvms_node *tvms_buffer_region_new(tvms_unit *unit, tvms_node *buffer,
                                  tvms_node *const *ranges, uint32_t count,
                                  tvms_span span);

// Dtype of an element access with these indices: lanes of buffer times lanes of the
// last index.
tvms_dtype tvms_buffer_access_dtype(const tvms_node *buffer, tvms_node *const *indices,
                                    uint32_t count);

// Statements one after the other; they are copied into the unit, and an inner SEQ stays one.
tvms_node *tvms_seq_new(tvms_unit *unit, tvms_node *const *stmts, uint32_t count,
                        tvms_span span);

// An expression as a statement.
tvms_node *tvms_evaluate_new(tvms_unit *unit, tvms_node *value, tvms_span span);

// A constant of an integer dtype, bool too.
static inline bool tvms_node_is_int_imm(const tvms_node *node) {
  return node->kind == TVMS_NODE_INT_IMM;
}

// What is the same in all lanes of a vector: what a broadcast repeats; a scalar is itself.
static inline tvms_node *tvms_node_in_lanes(const tvms_node *node) {
  return node->kind == TVMS_NODE_BROADCAST ? tvms_as_broadcast(node)->value
                                           : (tvms_node *)(uintptr_t)node;
}

// Is it a literal integer, or one in all lanes? Which, then.
static inline bool tvms_node_int_in_lanes(const tvms_node *node, int64_t *value) {
  node = tvms_node_in_lanes(node);
  if (!tvms_node_is_int_imm(node)) return false;
  *value = tvms_as_int_imm(node)->value;
  return true;
}

// The same of a float.
static inline bool tvms_node_float_in_lanes(const tvms_node *node, double *value) {
  node = tvms_node_in_lanes(node);
  if (node->kind != TVMS_NODE_FLOAT_IMM) return false;
  *value = tvms_as_float_imm(node)->value;
  return true;
}

// The constant `value` of any integer dtype; constants past INT64_MAX do not count.
static inline bool tvms_node_is_int(const tvms_node *node, int64_t value) {
  return node->kind == TVMS_NODE_INT_IMM && !(node->flags & TVMS_FLAG_LARGE)
         && tvms_as_int_imm(node)->value == value;
}
// The constant true or false of any boolean-like dtype.
static inline bool tvms_node_is_true(const tvms_node *node) {
  return node->kind == TVMS_NODE_INT_IMM && tvms_as_int_imm(node)->value != 0;
}
// int32 and int64 scalars: the dtypes of indices, which TVM folds more eagerly.
static inline bool tvms_dtype_is_index(tvms_dtype d) {
  return d.code == TVMS_INT && d.lanes == 1 && (d.bits == 32 || d.bits == 64);
}

#endif
