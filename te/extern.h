// Stages that are statements: what TVM's topi writes with an IRBuilder inside of te.extern.
//
// Tensors are indexed by one number there, the place in row-major order, which becomes one
// index per dimension here. Nothing is simplified.
//
//   tvms_te_extern_input(te, x);                       for each operand
//   tvms_node *i, *stmt;
//   i = tvms_te_loop_var(te, "i", extent);
//   stmt = tvms_te_loop(te, TVMS_FOR_PARALLEL, i, extent,
//                       tvms_te_flat_store(te, out, i, tvms_te_flat_load(te, x, i)));
//   tvms_te_extern_close(te, out, "copy.generic", &stmt, 1);
#ifndef TVMS_TE_EXTERN_H
#define TVMS_TE_EXTERN_H

#include "te/te.h"

// Says that statements read `tensor`: a parameter may then begin anywhere in its memory.
void tvms_te_extern_input(tvms_te *te, tvms_node *tensor);

// The tensor that the statements write. `floats`: it may begin anywhere in its memory.
tvms_node *tvms_te_extern_output(tvms_te *te, const char *name, tvms_list shape,
                                 tvms_dtype dtype, bool floats);

// Calls a parameter by the name that the statements have for it.
void tvms_te_extern_rename(tvms_te *te, tvms_node *tensor, const char *name);

// A block of the statements, which make the tensor `output`.
void tvms_te_extern_close(tvms_te *te, tvms_node *output, const char *name,
                          tvms_node *const *stmts, uint32_t count);

// The same for results that the statements make together with others, at most three, from the
// one with number `first` on: parameters name_v0, name_v1 …
void tvms_te_extern_number(tvms_te *te, tvms_node *const *outputs, uint32_t count,
                           const char *name, uint32_t first);

// One number in memory that statements may change.
tvms_node *tvms_te_cell(tvms_te *te, tvms_dtype dtype);

// The same with a name, which it has up to 0.23.
tvms_node *tvms_te_named_cell(tvms_te *te, const char *name, tvms_dtype dtype);

// The statement that allocates such memory, in front of those that use it.
tvms_node *tvms_te_allocation(tvms_te *te, tvms_node *buffer);

// What stands in a cell.
tvms_node *TVMS_NULLABLE tvms_te_cell_get(tvms_te *te, tvms_node *cell);

// The statement that puts a value into a cell; NULL for NULL.
tvms_node *TVMS_NULLABLE tvms_te_cell_set(tvms_te *te, tvms_node *cell,
                                          tvms_node *TVMS_NULLABLE value);

// The element at a place of the flat tensor; NULL for NULL.
tvms_node *TVMS_NULLABLE tvms_te_flat_load(tvms_te *te, tvms_node *tensor,
                                           tvms_node *TVMS_NULLABLE place);

// A store there; NULL if one of both is.
tvms_node *TVMS_NULLABLE tvms_te_flat_store(tvms_te *te, tvms_node *tensor,
                                            tvms_node *TVMS_NULLABLE place,
                                            tvms_node *TVMS_NULLABLE value);

// A store at one index per dimension; the value is brought to the tensor's dtype. NULL if it
// is NULL.
tvms_node *TVMS_NULLABLE tvms_te_store(tvms_te *te, tvms_node *tensor,
                                       tvms_node *const *indices, uint32_t count,
                                       tvms_node *TVMS_NULLABLE value);

// A statement where a condition holds; NULL if one of both is.
tvms_node *TVMS_NULLABLE tvms_te_when(tvms_te *te, tvms_node *TVMS_NULLABLE condition,
                                      tvms_node *TVMS_NULLABLE body);

// T.attr({"pragma_scope": "seq"}), which holds for the statements behind it: the frame in
// which TVM's builder puts several loops.
tvms_node *tvms_te_extern_scope(tvms_te *te);

// The number of places in dimensions `from` to before `to`; one if there are none.
tvms_node *TVMS_NULLABLE tvms_te_product(tvms_te *te, tvms_list shape, uint32_t from,
                                         uint32_t to);

// A variable for a loop from 0 to `extent`. From 0.24 on all have one name.
tvms_node *tvms_te_loop_var(tvms_te *te, const char *name, tvms_node *extent);

// The loop; NULL without a body. From 0.24 on its extent is simplified.
tvms_node *TVMS_NULLABLE tvms_te_loop(tvms_te *te, tvms_for_kind kind, tvms_node *var,
                                      tvms_node *extent, tvms_node *TVMS_NULLABLE body);

// One statement of several; NULL if one of them is.
tvms_node *TVMS_NULLABLE tvms_te_sequence(tvms_te *te, tvms_node *const *stmts,
                                          uint32_t count);

#endif
