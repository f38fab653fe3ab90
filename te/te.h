// Compute descriptions, and the PrimFunc that TVM's te.create_prim_func makes of one.
//
// A tensor is the BUFFER that holds it. A description is a run of *stages*: each opens with
// its shape, which gives its axes, and closes with the value of one element. Stages become
// loop nests with one block each, in the order in which they were closed.
//
//   tvms_stage stage;
//   tvms_te_open(te, &stage, shape, "ax");
//   tvms_node *value = tvms_te_load(te, x, stage.axes.items, stage.axes.len);
//   tvms_node *y = tvms_te_close(&stage, "T_copy", value);
//   tvms_te_output(te, y);
//
// An axis is the variable of the block from the beginning; the loop variable around it is
// seen by the block's binding only. tvms_te_reduce adds an axis that is folded, and
// tvms_te_close_fold closes such a stage with T.init(). What is loaded must be an input or
// the result of an earlier stage. Arguments become parameters in the order in which they
// were taken, then come scalars, then the outputs; other results are allocated in the root
// block, and regions of blocks are found by structinfo/complete.c.
//
// Dimensions may be int32, as numbers of attributes are: axes then are, too, until the
// PrimFunc is finished (te/index_dtype.h). The extent of a reduced axis may depend on other
// axes (te/nest.h).
//
// Every name here is printed: of axes, buffers and blocks, which is why stages have names
// and take the letters of their axes. TVM: te/operation/create_primfunc.cc; the stages of an
// operator and their names are those of topi.
#ifndef TVMS_TE_TE_H
#define TVMS_TE_TE_H

#include "arith/analyzer.h"
#include "ir/fold.h"
#include "support/vec.h"

typedef struct {
  tvms_unit *unit;  // where the PrimFunc is made
  tvms_analyzer *analyzer;
  tvms_node_vec params;   // VAR, one per parameter
  tvms_node_vec buffers;  // BUFFER of that parameter; NULL: a scalar
  tvms_node_vec outputs;  // BUFFER, become the last parameters
  tvms_node_vec sizes;    // VAR, parameters behind the outputs (0.22)
  tvms_node_vec allocs;   // BUFFER of stages that may turn out to be outputs
  tvms_node_vec stages;   // loop nests
  TVMS_VEC(tvms_sym) block_names;
  // Results whose parameters are called otherwise than their buffers (te/extern.h); NULL: none.
  const tvms_node *TVMS_NULLABLE named[3];
  const char *TVMS_NULLABLE names[3];
} tvms_te;

// A stage between open and close.
typedef struct {
  tvms_te *te;
  tvms_list shape;  // of the result
  tvms_node_vec
      axes;  // variables of the block: one per dimension, then the reduced ones
  tvms_node_vec loops;  // the loop variables of those
  tvms_node_vec extents;
  tvms_node *TVMS_NULLABLE annotations;  // OBJECT_MAP of the block
} tvms_stage;

// How a reduction combines two values; the identity depends on the dtype.
typedef enum {
  TVMS_FOLD_SUM,
  TVMS_FOLD_PROD,
  TVMS_FOLD_MAX,
  TVMS_FOLD_MIN,
  TVMS_FOLD_ANY,
} tvms_te_fold;

// Begins a PrimFunc in `unit`; the caller owns the struct, and tvms_te_fini ends it.
void tvms_te_init(tvms_te *te, tvms_unit *unit);

// Frees what describing needs; the PrimFunc stays with the unit.
void tvms_te_fini(tvms_te *te);

// A tensor that is an argument; its shape lies in te->unit.
tvms_node *tvms_te_input(tvms_te *te, const char *name, tvms_list shape,
                         tvms_dtype dtype);

// A tensor that a stage of statements will make, allocated unless it is a result.
tvms_node *tvms_te_tensor(tvms_te *te, const char *name, tvms_list shape,
                          tvms_dtype dtype);

// A buffer that statements allocate themselves in memory of `scope`.
tvms_node *tvms_te_scratch(tvms_te *te, const char *name, tvms_list shape,
                           tvms_dtype dtype, const char *scope);

// A scalar argument.
void tvms_te_scalar(tvms_te *te, tvms_node *var);

// Opens a stage with one axis per dimension, called `axis`0, `axis`1 …
void tvms_te_open(tvms_te *te, tvms_stage *stage, tvms_list shape, const char *axis);

// As tvms_te_open with a name for each axis.
void tvms_te_open_named(tvms_te *te, tvms_stage *stage, tvms_list shape,
                        const char *const *names);

// Adds an axis to reduce over and returns its variable.
tvms_node *tvms_te_reduce(tvms_stage *stage, const char *name, tvms_node *extent);

// Closes a stage whose elements are `value`; returns the new tensor. `value` NULL (an
// error that was reported) gives NULL.
tvms_node *TVMS_NULLABLE tvms_te_close(tvms_stage *stage, const char *name,
                                       tvms_node *TVMS_NULLABLE value);

// Closes a stage whose elements are `value` combined over the reduced axes.
tvms_node *TVMS_NULLABLE tvms_te_close_fold(tvms_stage *stage, const char *name,
                                            tvms_te_fold fold,
                                            tvms_node *TVMS_NULLABLE value);

// Closes a stage with two results, reduced together: an index and a value.
// combine(te, i0, v0, i1, v1, &i, &v) gives what two pairs become.
typedef void (*tvms_te_combine)(tvms_te *te, tvms_node *const lhs[2],
                                tvms_node *const rhs[2], tvms_node *result[2]);

// Closes a stage with two results that are reduced together, as argmax is:
// combine(te, i0, v0, i1, v1, &i, &v) gives what two pairs become.
void tvms_te_close_pair(tvms_stage *stage, const char *name, tvms_te_combine combine,
                        tvms_node *const init[2], tvms_node *const value[2],
                        tvms_node *result[2]);

// Closes a stage that stores `value` at a place of a tensor that there is already, an input excepted:
// it may be one that the value reads at the same place.
void tvms_te_close_at(tvms_stage *stage, const char *name, tvms_node *tensor,
                      tvms_node *const *indices, uint32_t count, tvms_node *value);

// As tvms_te_close_at with values that are combined over the reduced axes, beginning with the identity.
void tvms_te_close_fold_at(tvms_stage *stage, const char *name, tvms_te_fold fold,
                           tvms_node *tensor, tvms_node *const *indices, uint32_t count,
                           tvms_node *value);

// Where a block begins that is to hold the stages from here on.
typedef struct {
  uint32_t stages, allocs;
} tvms_te_mark;

static inline tvms_te_mark tvms_te_begin(const tvms_te *te) {
  return (tvms_te_mark){te->stages.len, te->allocs.len};
}

// Closes a stage of which each step is all that was closed since the mark: one block in the loops of the
// stage, which allocates what these stages made. `threads`: its loops become one, T.parallel.
void tvms_te_close_around(tvms_stage *stage, const char *name, tvms_te_mark mark,
                          bool threads);

// The last two statements become one: the first of them if the condition holds, else the second.
void tvms_te_either(tvms_te *te, tvms_node *condition);

// Ends a stage that is not closed by one of these: its axes are known no longer.
void tvms_te_end_stage(tvms_stage *stage);

// The element of a tensor at `count` indices.
tvms_node *tvms_te_load(tvms_te *te, tvms_node *tensor, tvms_node *const *indices,
                        uint32_t count);

static inline tvms_list tvms_te_shape(const tvms_node *tensor) {
  return tvms_as_buffer(tensor)->shape;
}
static inline tvms_dtype tvms_te_dtype(const tvms_node *tensor) {
  return tvms_as_buffer(tensor)->element;
}

// Makes a tensor a result. Results become parameters in the order of these calls.
void tvms_te_output(tvms_te *te, tvms_node *tensor);

// The PrimFunc, private, without name. The description is used up.
tvms_node *tvms_te_finish(tvms_te *te);

#endif
