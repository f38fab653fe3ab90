// A Relax function on its way to a PrimFunc: its values, where their bytes are, and the
// statements so far.
//
// The function is gone through once, in order. A value is what is known of it while the
// PrimFunc is made: tuples, shapes and storage exist only here, numbers are expressions of TIR,
// and a tensor is a pointer with sizes.
#ifndef TVMS_PASSES_RELAX_HOST_HOST_H
#define TVMS_PASSES_RELAX_HOST_HOST_H

#include "ir/node_map.h"
#include "passes/functions.h"
#include "structinfo/definitions.h"
#include "support/strbuf.h"
#include "support/vec.h"

typedef enum {
  TVMS_HOST_NOTHING,
  TVMS_HOST_TENSOR,
  TVMS_HOST_NUMBER,
  TVMS_HOST_SHAPE,
  TVMS_HOST_TUPLE,
  TVMS_HOST_STORAGE,  // a part of the workspace
} tvms_host_kind;

// Nodes are of the PrimFunc.
typedef struct tvms_host_value tvms_host_value;
struct tvms_host_value {
  tvms_host_kind kind;
  tvms_dtype dtype;                 // TENSOR: of its elements
  tvms_list dims;                   // TENSOR, SHAPE
  tvms_node *TVMS_NULLABLE data;    // TENSOR: the pointer
  tvms_node *TVMS_NULLABLE buffer;  // TENSOR: with these sizes, if it is declared
  tvms_node *TVMS_NULLABLE number;  // NUMBER; STORAGE: where it begins, in bytes
  tvms_host_value **fields;         // TUPLE
  uint32_t count;
};

// Memory that a tensor shall be made in: one of the results, or of those of a branch. The
// tensor is the leaf-th of what `node`, an allocation, a branch or a call, gives.
typedef struct {
  const tvms_node *node;
  uint32_t leaf;
  tvms_node *data;
} tvms_host_destination;

// What callers must know of a function of the module.
typedef struct {
  tvms_prim_func *TVMS_NULLABLE made;
  tvms_unit *TVMS_NULLABLE unit;
  tvms_sym direct;        // name of the form with pointers
  bool unpacked;          // a PrimFunc that has this form already
  bool called;            // by one of the module
  bool recursive;         // it has memory of its own and takes none
  bool has_workspace;     // the last parameter is one
  bool visited;
} tvms_host_function;

typedef struct {
  tvms_pass_run *run;
  tvms_host_function *functions;  // by member of the module before the pass
  uint32_t function_count;
  // Of the function in progress:
  uint32_t member;
  const tvms_function *source;
  tvms_unit *unit;
  tvms_node_map known;  // symbols of the Relax function: expressions of the PrimFunc
  tvms_relax_definitions definitions;
  tvms_host_value **values;  // by id of the variables of the Relax function
  tvms_node_vec params;
  tvms_node_vec buffers;    // by parameter; NULL: a number
  tvms_node_vec constants;  // statements that come first
  tvms_node_vec stmts;      // of the scope in progress
  TVMS_VEC(tvms_host_destination) destinations;
  tvms_node *workspace;  // a buffer of bytes
  struct {
    int64_t fixed;
    tvms_node *TVMS_NULLABLE sized;  // the bytes that depend on sizes; NULL: none
  } used;                            // of the workspace
  tvms_strbuf inputs;                // how the arguments are passed (docs/native.md)
  uint32_t input_count;              // of the parameters
  bool plain;                        // as the parameters, one by one
  bool failed;                       // something was reported
} tvms_host;

static inline tvms_memory *tvms_host_memory(const tvms_host *h) {
  return &h->run->context->memory;
}

// Reports why the function cannot be made, once; returns NULL.
void *TVMS_NULLABLE tvms_host_refuse(tvms_host *h, tvms_span span, const char *reason);

// ---- Values (values.c) ----

// A new value in scratch memory.
tvms_host_value *tvms_host_value_new(tvms_host *h, tvms_host_kind kind);

// An expression of the Relax function in the PrimFunc. NULL: refused, a size in it is not known.
tvms_node *TVMS_NULLABLE tvms_host_expr(tvms_host *h, tvms_node *expr, tvms_span span);

// The same for each item.
bool tvms_host_exprs(tvms_host *h, tvms_list exprs, tvms_span span, tvms_list *made);

tvms_host_value *tvms_host_number(tvms_host *h, tvms_node *number);

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

// The pointer to a byte of the workspace.
tvms_node *tvms_host_place(tvms_host *h, tvms_node *offset);

// A new tensor; at `data`, or somewhere in the workspace if it is NULL.
tvms_host_value *tvms_host_tensor(tvms_host *h, const char *name, tvms_dtype dtype,
                                  tvms_list dims, tvms_node *TVMS_NULLABLE data);

// The tensor of a constant.
tvms_host_value *tvms_host_constant(tvms_host *h, const tvms_node *node);

// Bytes of the workspace so far; NULL: none.
tvms_node *TVMS_NULLABLE tvms_host_used(tvms_host *h);

void tvms_host_push(tvms_host *h, tvms_node *stmt);

// ---- Leaves (leaves.c): what a type has that is not a tuple ----

// The number of leaves.
uint32_t tvms_host_leaves(const tvms_node *type);

// The leaf `at` of a value; NULL: it has none.
tvms_host_value *TVMS_NULLABLE tvms_host_leaf(tvms_host_value *value, uint32_t at);

// The type of a leaf.
const tvms_node *tvms_host_leaf_type(const tvms_node *type, uint32_t at);

// A value of tuples as the type has them, over leaves.
tvms_host_value *tvms_host_of_leaves(tvms_host *h, const tvms_node *type,
                                     tvms_host_value *const *leaves, uint32_t *next);

// Says that leaf `at` of `expr` shall be made at `data`, if what makes it can be seen.
void tvms_host_send(tvms_host *h, const tvms_node *expr, uint32_t at, tvms_node *data);

// Where a leaf of what `node` makes shall be; NULL: anywhere.
tvms_node *TVMS_NULLABLE tvms_host_sent(const tvms_host *h, const tvms_node *node,
                                        uint32_t leaf);

// Writes a leaf, a tensor, a number or a shape, to the tensor `to`, unless it is there.
void tvms_host_deliver(tvms_host *h, tvms_host_value *leaf, tvms_host_value *to);

// ---- Bindings (bindings.c) and calls (calls.c) ----

// The value of an expression. NULL: refused.
tvms_host_value *TVMS_NULLABLE tvms_host_eval(tvms_host *h, tvms_node *expr);

tvms_host_value *TVMS_NULLABLE tvms_host_call(tvms_host *h, tvms_node *node,
                                              const char *name);

// Asserts that a condition holds, unless that is proven.
void tvms_host_assert(tvms_host *h, tvms_node *condition, const char *kind,
                      const char *text);

#endif
