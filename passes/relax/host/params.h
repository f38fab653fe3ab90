// Parameters of a Relax function as those of a PrimFunc.
#ifndef TVMS_PASSES_RELAX_HOST_PARAMS_H
#define TVMS_PASSES_RELAX_HOST_PARAMS_H

#include "passes/relax/host/host.h"

// Adds a parameter: a number or a pointer, or with `buffer` the memory of that.
void tvms_host_add_param(tvms_host *h, tvms_node *param,
                         tvms_node *TVMS_NULLABLE buffer);

// Adds a buffer as a parameter.
void tvms_host_add_buffer_param(tvms_host *h, tvms_node *buffer);

// Adds what the parameters of the Relax function are taken apart into, and writes `inputs` of the host: the
// contract about them (ir/contract.h). Afterwards their values, and the symbols that they define, are known.
// What cannot be a parameter is reported, and `failed` set.
void tvms_host_add_params(tvms_host *h);

#endif
