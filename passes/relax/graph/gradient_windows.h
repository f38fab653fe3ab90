// The gradient of a convolution.
#ifndef TVMS_PASSES_RELAX_GRAPH_GRADIENT_WINDOWS_H
#define TVMS_PASSES_RELAX_GRAPH_GRADIENT_WINDOWS_H

#include "passes/relax/graph/gradient_rules.h"

// The rule of nn.conv2d with the layouts NCHW and OIHW. False for others, and for shapes that are
// not constant.
bool tvms_relax_gradient_conv2d(tvms_gradient_query *query);

#endif
