// Runs of calls that become one call of a PrimFunc, for FuseAndUnpackContinuousTIRCalls.
//
// A run is a list of calls over tensors: those that it is given, those that it gives, and those
// that only it knows. Its PrimFunc takes the first two, and finds memory for the others.
#ifndef TVMS_PASSES_RELAX_FUSE_BULK_FUNCTION_H
#define TVMS_PASSES_RELAX_FUSE_BULK_FUNCTION_H

#include "passes/relax/fuse/tir_call.h"

enum { TVMS_FUSE_BULK_NO_CALL = -1 };

// A tensor that a run works on.
typedef struct {
  const tvms_node *var;   // of Relax, whose value it is …
  int64_t field;          // … or a field of it; -1: all of it
  const tvms_node *like;  // buffer of the first callee that is given it
  tvms_list shape;        // its sizes: numbers, and expressions of the caller
  bool made;              // by a call of the run that gives a new tensor
  bool leaves;            // used outside of the run, too
  int last;               // call of the run that uses it last
  tvms_node *buffer;      // in the PrimFunc of the run
} tvms_fuse_bulk_tensor;

// What a call of the run passes for one parameter of its callee.
typedef struct {
  uint32_t tensor;                  // of the run …
  tvms_node *TVMS_NULLABLE number;  // … or an expression of the caller
} tvms_fuse_bulk_operand;

// A variable that is bound to a field of a result of the run.
typedef struct {
  tvms_node *var;
  uint32_t tensor;
  uint32_t inside;  // uses by calls of the run
} tvms_fuse_bulk_item;

typedef struct {
  tvms_node *binding;
  uint32_t callee;  // member
  uint32_t first;   // operand
  uint32_t count;
} tvms_fuse_bulk_call;

typedef struct {
  tvms_fuse_caller in;
  tvms_node_vec made;  // bindings of the block being made
  // The run at hand:
  TVMS_VEC(tvms_fuse_bulk_call) calls;
  TVMS_VEC(tvms_fuse_bulk_operand) operands;
  TVMS_VEC(tvms_fuse_bulk_tensor) tensors;
  TVMS_VEC(tvms_fuse_bulk_item) items;
  tvms_node_vec bindings;  // calls and what stands between them
  tvms_node_vec symbols;   // of the caller that are passed as numbers
  bool in_place;           // its calls write into tensors that they are given
} tvms_fuse_bulk_run;

// Adds the PrimFunc of the run at hand, and the functions that it calls, to the module; returns
// its name. Its parameters are the tensors that the run is given, the numbers that are put
// into `f->symbols`, and the tensors that leave. Every `leaves` must be known.
tvms_sym tvms_fuse_bulk_function_add(tvms_fuse_bulk_run *f);

#endif
