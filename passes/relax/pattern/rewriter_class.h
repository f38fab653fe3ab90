// Patterns as text: the function `pattern` of an @R.rewriter class.
#ifndef TVMS_PASSES_RELAX_PATTERN_REWRITER_CLASS_H
#define TVMS_PASSES_RELAX_PATTERN_REWRITER_CLASS_H

#include "ir/module.h"
#include "passes/relax/pattern/pattern.h"

// The pattern of a rewriter class: its parameters match any value that fits their types, calls
// match calls of the same operator with any attributes, tuples and their items what they are.
// Nodes that it needs are copied into `unit`. NULL if the class has no such function, or something
// stands in it that no pattern can say. TVM: PatternMatchingRewriter::FromModule.
tvms_pattern *TVMS_NULLABLE tvms_relax_pattern_of_class(tvms_pattern_set *set,
                                                        tvms_unit *unit,
                                                        const tvms_module *rewriter);

// What its function_attr "Composite" says, or the name of the class.
const char *tvms_relax_pattern_class_name(const tvms_module *rewriter);

#endif
