// The rewriting visit: children first, then constants, known conditions and rules.
#ifndef TVMS_ARITH_REWRITE_H
#define TVMS_ARITH_REWRITE_H

#include "arith/internal.h"

// One visit of an expression by rewriting, or to normal form, as the simplifier says.
tvms_node *tvms_simplifier_visit(tvms_simplifier *s, tvms_node *node);

// The rewriting part of a visit: children through tvms_simplifier_visit, then the rules.
tvms_node *tvms_simplifier_visit_rewrite(tvms_simplifier *s, tvms_node *node);

// A visit for a rule that wants its result simplified; gives up at some depth.
tvms_node *tvms_simplifier_revisit(tvms_simplifier *s, tvms_node *node);

// Pushes `not` inwards, one level at a time, as constraints are compared.
tvms_node *tvms_arith_normalize_bool(tvms_unit *unit, tvms_node *node);

#endif
