// Rules about how functions of Relax are written.
#ifndef TVMS_LINT_RELAX_STYLE_H
#define TVMS_LINT_RELAX_STYLE_H

#include "lint/lint.h"

// Reports redundant_annotation, weaker_annotation and outside_dataflow. RELAX.
void tvms_lint_relax_style(tvms_lint *lint);

#endif
