// Questions about the call for which a rule of layout.def is asked, and parts of the answer.
#ifndef TVMS_PASSES_RELAX_GRAPH_LAYOUT_QUERY_H
#define TVMS_PASSES_RELAX_GRAPH_LAYOUT_QUERY_H

#include "ir/op.h"
#include "passes/literal.h"
#include "passes/relax/graph/layout.h"

enum { TVMS_LAYOUT_ARGUMENTS = 5 };

// One call, and what a rule says of it. Orders are nodes of layout.h.
typedef struct {
  tvms_unit *unit;
  const tvms_call *call;  // as it is in the source
  tvms_opcode opcode;
  const tvms_literal *TVMS_NULLABLE desired;  // of this operator: a list of layouts
  bool beyond_tvm;                            // rules need not say what TVM's do
  tvms_node *TVMS_NULLABLE *orders;           // that the arguments have now
  // Filled in by the rule:
  tvms_node *inputs[TVMS_LAYOUT_ARGUMENTS];  // that the first arguments shall have
  uint32_t input_count;
  tvms_node *output;                // that the result has
  tvms_list attrs;                  // of the new call: a copy, to be changed
  tvms_node *TVMS_NULLABLE second;  // the new second argument; NULL: it stays
} tvms_relax_layout_query;

// A rule of layout.def. False: see tvms_relax_layout_ask.
typedef bool tvms_relax_layout_rule(tvms_relax_layout_query *query);

// The type of argument `i` in the source.
const tvms_node *tvms_relax_layout_query_type(const tvms_relax_layout_query *q,
                                              uint32_t i);

// Its number of axes; -1 if it is not known.
int64_t tvms_relax_layout_query_ndim(const tvms_relax_layout_query *q, uint32_t i);

// The order of argument `i`. False: it is not a tensor.
bool tvms_relax_layout_query_order(const tvms_relax_layout_query *q, uint32_t i,
                                   tvms_layout *layout);

// The same, or the order of the source where an axis is split.
bool tvms_relax_layout_query_plain_order(const tvms_relax_layout_query *q, uint32_t i,
                                         tvms_layout *layout);

// The answer for one argument: its order and that of the result. Always true.
bool tvms_relax_layout_query_answer(tvms_relax_layout_query *q,
                                    const tvms_layout *input,
                                    const tvms_layout *output);

// Argument `i`, the last so far, shall have this order.
void tvms_relax_layout_query_set_input(tvms_relax_layout_query *q, uint32_t i,
                                       const tvms_layout *layout);

// … that of the source.
void tvms_relax_layout_query_set_initial(tvms_relax_layout_query *q, uint32_t i);

// Two arguments and the result have this order. Always true.
bool tvms_relax_layout_query_set_both(tvms_relax_layout_query *q,
                                      const tvms_layout *order);

// An attribute by name; NULL: unset, or the operator has none of that name.
tvms_node *TVMS_NULLABLE tvms_relax_layout_query_attr(const tvms_relax_layout_query *q,
                                                      const char *name);

// Sets an attribute of the new call.
void tvms_relax_layout_query_set_attr(tvms_relax_layout_query *q, const char *name,
                                      tvms_node *value);

// Sets it to a number.
void tvms_relax_layout_query_set_int(tvms_relax_layout_query *q, const char *name,
                                     int64_t value);

// Sets it to a text.
void tvms_relax_layout_query_set_text(tvms_relax_layout_query *q, const char *name,
                                      const char *text);

// Sets it to a list of numbers.
void tvms_relax_layout_query_set_ints(tvms_relax_layout_query *q, const char *name,
                                      const int64_t *values, uint32_t count);

// A number, `otherwise` if it is unset.
int64_t tvms_relax_layout_query_int(const tvms_relax_layout_query *q, const char *name,
                                    int64_t otherwise);

// The items of a list; none if it is unset.
tvms_list tvms_relax_layout_query_list(const tvms_relax_layout_query *q,
                                       const char *name);

// An attribute that is a layout. False if it is none.
bool tvms_relax_layout_query_layout(const tvms_relax_layout_query *q, const char *name,
                                    tvms_layout *layout);

// Moves the axes of a layout among the attributes as those of the tensor were.
bool tvms_relax_layout_query_move_attr(tvms_relax_layout_query *q, const char *name,
                                       const tvms_layout *order);

#endif
