// Short forms for expressions of elements: what a description of an operator is made of.
//
// Each expects a variable `te` where it is used, and hands on NULL (an error that was
// reported) without a look at the other operand. Constants fold as TVM folds them.
#ifndef TVMS_TE_ELEMENT_H
#define TVMS_TE_ELEMENT_H

#include "ir/fold_ops.h"
#include "te/topi.h"

// An operator of TIR with two operands, brought to one dtype.
static inline tvms_node *TVMS_NULLABLE tvms_te_apply(tvms_te *te, tvms_node_kind kind,
                                                     tvms_node *TVMS_NULLABLE a,
                                                     tvms_node *TVMS_NULLABLE b) {
  return a && b ? tvms_build_binary(te->unit, kind, a, b, TVMS_NO_SPAN) : NULL;
}

// if_then_else: only one of the values is computed.
static inline tvms_node *TVMS_NULLABLE tvms_te_if(tvms_te *te,
                                                  tvms_node *TVMS_NULLABLE condition,
                                                  tvms_node *TVMS_NULLABLE yes,
                                                  tvms_node *TVMS_NULLABLE no) {
  return condition && yes && no
             ? tvms_build_if_then_else(te->unit, condition, yes, no, TVMS_NO_SPAN)
             : NULL;
}

// A value of another dtype.
static inline tvms_node *TVMS_NULLABLE tvms_te_convert(tvms_te *te, tvms_dtype dtype,
                                                       tvms_node *TVMS_NULLABLE value) {
  return value ? tvms_build_cast(te->unit, dtype, value, TVMS_NO_SPAN) : NULL;
}

// A number as Python or C++ hands it to TVM: int32.
static inline tvms_node *tvms_te_int32(tvms_te *te, int64_t value) {
  return tvms_int_imm_new(te->unit, TVMS_DTYPE(INT, 32), value, TVMS_NO_SPAN);
}

#define ADD(a, b)       tvms_te_apply(te, TVMS_NODE_ADD, (a), (b))
#define SUB(a, b)       tvms_te_apply(te, TVMS_NODE_SUB, (a), (b))
#define MUL(a, b)       tvms_te_apply(te, TVMS_NODE_MUL, (a), (b))
#define DIV(a, b)       tvms_te_apply(te, TVMS_NODE_DIV, (a), (b))
#define FLOOR_DIV(a, b) tvms_te_apply(te, TVMS_NODE_FLOOR_DIV, (a), (b))
#define FLOOR_MOD(a, b) tvms_te_apply(te, TVMS_NODE_FLOOR_MOD, (a), (b))
#define MIN(a, b)       tvms_te_apply(te, TVMS_NODE_MIN, (a), (b))
#define MAX(a, b)       tvms_te_apply(te, TVMS_NODE_MAX, (a), (b))
#define LT(a, b)        tvms_te_apply(te, TVMS_NODE_LT, (a), (b))
#define LE(a, b)        tvms_te_apply(te, TVMS_NODE_LE, (a), (b))
#define GT(a, b)        tvms_te_apply(te, TVMS_NODE_GT, (a), (b))
#define GE(a, b)        tvms_te_apply(te, TVMS_NODE_GE, (a), (b))
#define EQ(a, b)        tvms_te_apply(te, TVMS_NODE_EQ, (a), (b))
#define NE(a, b)        tvms_te_apply(te, TVMS_NODE_NE, (a), (b))
#define AND(a, b)       tvms_te_apply(te, TVMS_NODE_AND, (a), (b))
#define OR(a, b)        tvms_te_apply(te, TVMS_NODE_OR, (a), (b))
#define IF(c, a, b)     tvms_te_if(te, (c), (a), (b))
#define SELECT(c, a, b) tvms_te_choose(te, (c), (a), (b))
#define INT32(value)    tvms_te_int32(te, (value))
#define INDEX(value)    tvms_te_index(te, (value))

#endif
