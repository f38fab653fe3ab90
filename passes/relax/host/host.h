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
#include "structinfo/dims.h"
#include "support/strbuf.h"
#include "support/vec.h"

typedef enum {
  TVMS_HOST_NOTHING,
  TVMS_HOST_TENSOR,
  TVMS_HOST_NUMBER,
  TVMS_HOST_SHAPE,
  TVMS_HOST_TUPLE,
  TVMS_HOST_STORAGE,  // a part of the workspace
  TVMS_HOST_FUNCTION,  // a Relax function of the module, and what goes behind its arguments
  TVMS_HOST_OBJECT,  // an item of a list of objects
  TVMS_HOST_CHOICE,  // one of several functions
  TVMS_HOST_TEXT,    // a text, or with `dtype` the name of a data type
} tvms_host_kind;

// Nodes are of the PrimFunc.
typedef struct tvms_host_value tvms_host_value;
struct tvms_host_value {
  tvms_host_kind kind;
  tvms_dtype dtype;                 // TENSOR: of its elements; TEXT
  tvms_list dims;                   // TENSOR, SHAPE
  tvms_node *TVMS_NULLABLE data;    // TENSOR: the pointer; OBJECT: the list; TEXT
  tvms_node *TVMS_NULLABLE buffer;  // TENSOR: with these sizes, if it is declared
  tvms_node *TVMS_NULLABLE
      number;  // NUMBER; STORAGE: where it begins, in bytes, NULL: it has no memory; CHOICE: which it is
  tvms_host_value **fields;  // TUPLE; FUNCTION: what it has captured; CHOICE: of what
  uint32_t count;
  uint32_t member;                     // FUNCTION
  uint32_t index;                      // OBJECT: of the item
  tvms_host_value *TVMS_NULLABLE box;  // TENSOR: the object whose memory it is
  tvms_host_value *TVMS_NULLABLE
      memory;      // NUMBER, SHAPE, CHOICE: where a branch writes it
  uint32_t depth;  // branches that it was made in
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
  uint32_t input_count;  // of its parameters
  uint32_t result_count;
  tvms_sym direct;     // name of the form with pointers
  bool unpacked;       // a PrimFunc that has this form already
  bool called;         // by one of the module
  bool recursive;      // it has memory of its own and takes none
  bool has_workspace;  // the last parameter is one
  bool boxed;          // an object is made of it, which calls its entry
  bool visited;
  const tvms_node *TVMS_NULLABLE result;  // the type of its result; NULL: not known
} tvms_host_function;

// A constant of the function, which is there once.
typedef struct {
  const tvms_constant *node;
  tvms_host_value *value;
} tvms_host_kept;

typedef struct {
  tvms_pass_run *run;
  tvms_host_function *functions;  // by member of the module before the pass
  uint32_t function_count;
  // Of the function in progress:
  uint32_t member;
  const tvms_function *source;
  tvms_unit *unit;
  tvms_node_map known;   // symbols of the Relax function: expressions of the PrimFunc
  tvms_node_map told;    // variables of the PrimFunc that callers know
  tvms_node_map giving;  // branches that were asked: do they give a function?
  tvms_relax_definitions definitions;
  tvms_prover
      prover;  // sizes of tensors among the arguments, and of those that are cast, are not negative
  tvms_host_value **values;         // by id of the variables of the Relax function
  uint8_t *uses;                    // likewise: how often each stands there, up to 2
  bool unused;                      // nothing uses what is evaluated
  const char *TVMS_NULLABLE binds;  // the variable that gets what is evaluated
  tvms_node_vec params;
  tvms_node_vec buffers;    // by parameter; NULL: a number
  tvms_node_vec constants;  // statements that come first
  TVMS_VEC(tvms_host_kept) kept;
  tvms_node_vec stmts;  // of the scope in progress
  uint32_t branches;    // that it stands in
  TVMS_VEC(tvms_host_destination) destinations;
  tvms_node *TVMS_NULLABLE objects;  // the list of its objects, a pointer
  uint32_t object_count;
  tvms_node *workspace;  // a buffer of bytes
  struct {
    int64_t fixed;
    tvms_node *TVMS_NULLABLE sized;  // the bytes that depend on sizes; NULL: none
  } used;                            // of the workspace
  tvms_strbuf inputs;                // how the arguments are passed (docs/native.md)
  uint32_t input_count;              // of the parameters
  bool plain;                        // as the parameters, one by one
  tvms_prim_func *made;              // what the function becomes
  tvms_node_vec results;  // buffers of the leaves of its result; NULL: an object
  tvms_strbuf pattern;    // how they are passed
  bool single;            // the result is not a tuple
  bool failed;            // something was reported
} tvms_host;

static inline tvms_memory *tvms_host_memory(const tvms_host *h) {
  return &h->run->context->memory;
}

#endif
