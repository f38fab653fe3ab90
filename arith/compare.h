// Comparison of expressions: by bounds of their difference, by known inequalities.
#ifndef TVMS_ARITH_COMPARE_H
#define TVMS_ARITH_COMPARE_H

#include "arith/internal.h"

// The parts of a conjunction that hold each on their own.
void tvms_analyzer_enter_inequalities(tvms_analyzer *analyzer, tvms_node *condition);

// What is known of `expr` against a constant, as a set of results: by bounds, then by
// divisibility. TVM: RewriteSimplifier::TryCompare with a constant.
tvms_compare tvms_simplifier_compare_to(tvms_simplifier *s, tvms_node *expr,
                                        int64_t value);

// What is known of two expressions: by the bounds of their difference, then by known
// inequalities. TVM: RewriteSimplifier::TryCompare.
tvms_compare tvms_simplifier_compare_exprs(tvms_simplifier *s, tvms_node *a,
                                           tvms_node *b);

// What the known inequalities say of two expressions, and nothing else: those between
// the two, or also chains of them over others. TVM: TransitiveComparisonAnalyzer.
tvms_compare tvms_analyzer_compare_by_facts(tvms_analyzer *analyzer, const tvms_node *a,
                                            const tvms_node *b, bool transitively);

#endif
