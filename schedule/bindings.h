// Bindings of the axes of blocks to loops: what becomes of them when loops are replaced.
#ifndef TVMS_SCHEDULE_BINDINGS_H
#define TVMS_SCHEDULE_BINDINGS_H

#include "schedule/scope.h"

// `a` KIND `b`, folded as TVM folds. Both are integers or conditions; never NULL.
tvms_node *tvms_sched_build(tvms_sched *sched, tvms_node_kind kind, tvms_node *a,
                            tvms_node *b);

// The constant `value` of a dtype.
tvms_node *tvms_sched_int(tvms_sched *sched, tvms_dtype dtype, int64_t value);

// `value` as `dtype`; constants become constants.
tvms_node *tvms_sched_cast(tvms_sched *sched, tvms_dtype dtype, tvms_node *value);

// A variable named after another, with a suffix.
tvms_node *tvms_sched_var(tvms_sched *sched, const tvms_node *var, const char *suffix,
                          tvms_dtype dtype);

// A serial loop without annotations: `var` from 0 to `extent`.
tvms_node *tvms_sched_for(tvms_sched *sched, tvms_node *var, tvms_node *extent,
                          tvms_node *body);

// `stmt` with `condition` added to the predicates of its blocks (not of those in them).
tvms_node *tvms_sched_add_predicate(tvms_sched *sched, tvms_node *stmt,
                                    tvms_node *condition);

// Simplifies what the axes of blocks are bound to, as sums of the loops `outer` and of those in `stmt`. `keep_units`: loops of one
// step stay in them.
tvms_node *tvms_sched_simplify_bindings(tvms_sched *sched, tvms_node *stmt,
                                        const tvms_domain_vec *outer, bool keep_units);

// The statements of `body` with one more, as number `index`.
tvms_node *tvms_sched_inserted(tvms_sched *sched, tvms_node *body, uint32_t index,
                               tvms_node *stmt);

// Does `claim`, a comparison, hold while the variables run? Beyond what the analyzer proves: by the symbolic bounds of both sides. TVM:
// CanProve with kSymbolicBound.
bool tvms_sched_proves(tvms_sched *sched, tvms_analyzer *analyzer,
                       const tvms_domain_vec *domains, tvms_node *claim);

// Is the loop free of annotations and threads? Refuses otherwise.
TVMS_NODISCARD bool tvms_sched_check_plain_loop(tvms_sched *sched, int32_t loop);

// Does the loop begin at 0? Refuses otherwise.
TVMS_NODISCARD bool tvms_sched_check_zero(tvms_sched *sched, int32_t loop);

#endif
