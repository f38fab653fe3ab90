// What callers of a PrimFunc that was a Relax function pass and get (LowerRelaxToTIR).
//
// Its parameters are the arguments, tuples and shapes taken apart, then the results, then one
// buffer of bytes if it needs memory. Two texts say how values are made of these: 't' is a tensor,
// 'n' a number, 's' and a rank a shape, 'o' an object, which is passed as a pointer to a tvms_any, and a
// tuple stands in parentheses: "t(tn)s2".
#ifndef TVMS_IR_CONTRACT_H
#define TVMS_IR_CONTRACT_H

#include "ir/node.h"

// Keys of the attributes.
#define TVMS_CONTRACT_INPUTS      "tvms.inputs"
#define TVMS_CONTRACT_INPUT_COUNT "tvms.num_inputs"
#define TVMS_CONTRACT_RESULT      "tvms.result"
// Of a function that is called directly: how many of its last parameters are memory that nothing
// else overlaps (LiftAllocations).
#define TVMS_CONTRACT_SCRATCH "tvms.num_scratch"
// Of the form of a Relax function that is called directly, which has none of the others: the function's name.
#define TVMS_CONTRACT_DIRECT "tvms.direct_of"
// Of a PrimFunc: the number of the parameter where its result may lie, if nothing else of the call does (FuseAttention).
#define TVMS_CONTRACT_OVER "tvms.may_overwrite"

typedef struct {
  uint32_t inputs;                       // parameters that are arguments
  uint32_t results;                      // parameters behind them that are results
  bool has_workspace;                    // one more parameter
  const char *TVMS_NULLABLE input_text;  // NULL: one argument per parameter
  const char *TVMS_NULLABLE
      result_text;  // NULL: not such a function; all are arguments
} tvms_contract;

// Does a value begin with this letter of such a text?
static inline bool tvms_contract_is_value(char c) {
  return c == 't' || c == 'n' || c == 's' || c == 'o';
}

// The number of values up to the end of a tuple, whose text begins behind its parenthesis, or of the text.
uint32_t tvms_contract_items(const char *text);

// The contract of a PrimFunc. Attributes that do not fit its parameters count as if there were none.
tvms_contract tvms_call_contract(const tvms_prim_func *function);

// How many of the last parameters of a function are memory for it alone.
uint32_t tvms_call_scratch(const tvms_prim_func *function);

#endif
