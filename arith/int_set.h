// Sets of integers as symbolic intervals: what an expression can be while some of its
// variables run over their domains.
#ifndef TVMS_ARITH_INT_SET_H
#define TVMS_ARITH_INT_SET_H

#include "arith/analyzer.h"
#include "ir/node_map.h"

// [min, max]; NULL is the infinity of that side. A single point has the same node twice.
typedef struct {
  tvms_node *TVMS_NULLABLE min;
  tvms_node *TVMS_NULLABLE max;
  bool empty;
} tvms_int_set;

// The variables that run, and over what.
typedef struct {
  tvms_unit *unit;
  tvms_node_map sets;  // VAR -> tvms_int_set
  uint32_t count;      // variables that have a set now
} tvms_domains;

// Prepares an empty map in the caller's storage; nodes that are made lie in `unit`.
void tvms_domains_init(tvms_domains *domains, tvms_unit *unit);

// Frees the map; sets that were returned stay valid.
void tvms_domains_fini(tvms_domains *domains);

// Lets `var` run over `set`; an earlier set is replaced.
void tvms_domains_set(tvms_domains *domains, const tvms_node *var, tvms_int_set set);

// Lets `var` stand for itself again; nothing happens if it does not run.
void tvms_domains_drop(tvms_domains *domains, const tvms_node *var);

// The set of a variable, or NULL: it does not run. Valid until the next change of the
// map.
const tvms_int_set *TVMS_NULLABLE tvms_domains_get(const tvms_domains *domains,
                                                   const tvms_node *var);

// The set of one value.
tvms_int_set tvms_int_set_point(tvms_node *value);

// [min, min + extent - 1]; a point if the extent is 1.
tvms_int_set tvms_int_set_of_range(tvms_unit *unit, tvms_node *min, tvms_node *extent);

// The lanes of a vector index as a set; a scalar is a point.
tvms_int_set tvms_int_set_of_index(tvms_unit *unit, tvms_node *index);

// Everything that `expr` or the members of `set` can be over the domains.
tvms_int_set tvms_int_set_of_expr(const tvms_domains *domains, tvms_node *expr);

// The hull of what the members of `set` can be over the domains: both its ends may
// mention variables that run.
tvms_int_set tvms_int_set_of_values(const tvms_domains *domains, tvms_int_set set);

// The same for the range [min, min + extent - 1].
tvms_int_set tvms_int_set_of_ranges(const tvms_domains *domains, tvms_node *min,
                                    tvms_node *extent);

// Hull and intersection, simplified.
tvms_int_set tvms_int_set_union(tvms_unit *unit, tvms_int_set a, tvms_int_set b);

// What both sets hold: the greater lower end, the smaller upper one, simplified. It is
// empty if the ends are proved to have crossed.
tvms_int_set tvms_int_set_intersect(tvms_unit *unit, tvms_int_set a, tvms_int_set b);

// Is it provably one value?
bool tvms_int_set_is_point(tvms_unit *unit, tvms_int_set set);

// The range that covers a bounded set; false if it is not bounded.
TVMS_NODISCARD bool tvms_int_set_cover(tvms_unit *unit, tvms_int_set set,
                                       tvms_node **min, tvms_node **extent);

#endif
