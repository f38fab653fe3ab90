// Conditions that narrow what variables run over: in `if i < n:` the domain of `i` is what the
// inequalities leave of it. TVM: ConditionalBoundsContext.
#ifndef TVMS_ARITH_NARROW_H
#define TVMS_ARITH_NARROW_H

#include "arith/int_set.h"

// Variables of one condition; a condition with more is not understood.
enum { TVMS_MOST_NARROWED = 16 };

// What the domains were before a condition.
typedef struct {
  tvms_node *vars[TVMS_MOST_NARROWED];
  tvms_int_set old[TVMS_MOST_NARROWED];
  bool known[TVMS_MOST_NARROWED];
  uint32_t len;
} tvms_narrowing;

// Narrows the domains of the variables of `condition` where it holds: those that run in
// `domains`, and in `hints` all others. False if the condition says more than domains can:
// then they stay as they are. `narrowing`, in the caller's storage, takes them back.
bool tvms_domains_narrow(tvms_domains *domains, tvms_domains *hints,
                         tvms_node *condition, tvms_narrowing *narrowing);

// Takes a narrowing back; the last one first.
void tvms_domains_widen(tvms_domains *domains, tvms_domains *hints,
                        const tvms_narrowing *narrowing);

#endif
