// Results of a Relax function as parameters of a PrimFunc.
#ifndef TVMS_PASSES_RELAX_HOST_RESULTS_H
#define TVMS_PASSES_RELAX_HOST_RESULTS_H

#include "passes/relax/host/host.h"
#include "support/strbuf.h"

// The type of what the function gives; NULL: it is not known.
const tvms_node *TVMS_NULLABLE tvms_host_result_type(const tvms_host *h);

// Adds a parameter for each leaf of a result of this type. `results` gets its buffer, or NULL for an object,
// `pattern` the contract about it (ir/contract.h); `single`: the result is not a tuple.
void tvms_host_result_params(tvms_host *h, const tvms_node *type, bool single,
                             tvms_node_vec *results, tvms_strbuf *pattern);

// Callers know the results of a recursive function before its body is there: a tensor of which the type does
// not say the sizes, by those of the parameters, becomes an object.
void tvms_host_size_results(tvms_host *h, tvms_node_vec *results, tvms_strbuf *pattern);

// Writes the value of the function to its results; a tensor that callers cannot have memory for becomes an
// object. What cannot be a result is reported, and `failed` set.
void tvms_host_deliver_results(tvms_host *h, tvms_host_value *value, bool single,
                               tvms_node_vec *results, tvms_strbuf *pattern);

#endif
