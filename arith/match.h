// The matcher of rewrite rules: patterns, results and conditions as prefix code.
#ifndef TVMS_ARITH_MATCH_H
#define TVMS_ARITH_MATCH_H

#include "arith/internal.h"

// The first rule that applies, else the node itself.
tvms_node *tvms_simplifier_apply_rules(tvms_simplifier *s, tvms_node *node);

#endif
