// Making values, expressions and memory of a Relax function that becomes a PrimFunc.
#ifndef TVMS_PASSES_RELAX_HOST_VALUES_H
#define TVMS_PASSES_RELAX_HOST_VALUES_H

#include "passes/relax/host/host.h"

// Reports why the function cannot be made, once; returns NULL.
void *TVMS_NULLABLE tvms_host_refuse(tvms_host *h, tvms_span span, const char *reason);

// A new value in scratch memory.
tvms_host_value *tvms_host_value_new(tvms_host *h, tvms_host_kind kind);

// The same, with room for fields.
tvms_host_value *tvms_host_value_of(tvms_host *h, tvms_host_kind kind, uint32_t count);

// An expression of the Relax function in the PrimFunc. NULL: refused, a size in it is not known.
tvms_node *TVMS_NULLABLE tvms_host_expr(tvms_host *h, tvms_node *expr, tvms_span span);

// The same for each item.
bool tvms_host_exprs(tvms_host *h, tvms_list exprs, tvms_span span, tvms_list *made);

// Are all sizes in these expressions known?
bool tvms_host_knows(tvms_host *h, tvms_list exprs);

// The value of an expression of TIR.
tvms_host_value *tvms_host_number(tvms_host *h, tvms_node *number);

// A new variable of this name.
tvms_node *tvms_host_number_var(tvms_host *h, const char *name, tvms_dtype dtype);

// A number in a variable of this name, computed once.
tvms_host_value *tvms_host_bound(tvms_host *h, const char *name, tvms_node *number);

// An int64 constant.
tvms_node *tvms_host_int(tvms_host *h, int64_t value);

// A buffer with these elements and sizes, whose data is a variable of its own.
tvms_node *tvms_host_buffer(tvms_host *h, const char *name, tvms_dtype element,
                            tvms_list dims);

// A buffer that is declared over a pointer.
tvms_node *tvms_host_declare(tvms_host *h, const char *name, tvms_dtype element,
                             tvms_list dims, tvms_node *pointer);

// The buffer of a tensor; declares it unless that was done.
tvms_node *tvms_host_buffer_of(tvms_host *h, tvms_host_value *tensor);

// The number of elements.
tvms_node *tvms_host_product(tvms_host *h, tvms_list dims);

// Bytes of a tensor.
tvms_node *tvms_host_bytes(tvms_host *h, tvms_dtype dtype, tvms_list dims);

// Takes bytes of the workspace; returns where they begin.
tvms_node *tvms_host_take(tvms_host *h, tvms_node *bytes);

// The pointer to an element of a vector.
tvms_node *tvms_host_place_in(tvms_host *h, tvms_node *buffer, tvms_node *offset);

// The pointer to a byte of the workspace.
tvms_node *tvms_host_place(tvms_host *h, tvms_node *offset);

// A new tensor; at `data`, or somewhere in the workspace if it is NULL: as an object if callers do not know
// its sizes.
tvms_host_value *tvms_host_tensor(tvms_host *h, const char *name, tvms_dtype dtype,
                                  tvms_list dims, tvms_node *TVMS_NULLABLE data);

// The tensor of a constant.
tvms_host_value *tvms_host_constant(tvms_host *h, const tvms_node *node);

// Bytes of the workspace so far; NULL: none.
tvms_node *TVMS_NULLABLE tvms_host_used(tvms_host *h);

// Appends a statement.
void tvms_host_push(tvms_host *h, tvms_node *stmt);

// Asserts that a condition holds, unless that is proven.
void tvms_host_assert(tvms_host *h, tvms_node *condition, const char *kind,
                      const char *text);

#endif
