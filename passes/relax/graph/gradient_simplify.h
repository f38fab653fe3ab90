// Products and transposes that Gradient leaves behind.
#ifndef TVMS_PASSES_RELAX_GRAPH_GRADIENT_SIMPLIFY_H
#define TVMS_PASSES_RELAX_GRAPH_GRADIENT_SIMPLIFY_H

#include "passes/functions.h"

// `function` with transposes of transposes dropped, and transposes of products turned into
// products of transposes, (a @ b)^T = b^T @ a^T; bindings that nothing uses go.
tvms_node *tvms_relax_gradient_simplify(tvms_pass_run *run, tvms_unit *unit,
                                        tvms_node *function);

#endif
