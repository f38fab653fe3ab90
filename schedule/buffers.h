// Buffers that a schedule makes, and statements that use one in the place of another.
#ifndef TVMS_SCHEDULE_BUFFERS_H
#define TVMS_SCHEDULE_BUFFERS_H

#include "schedule/scope.h"

// A buffer like another one with a name, a scope and a shape of its own. `shape` NULL: that of the other.
tvms_node *tvms_sched_buffer_like(tvms_sched *sched, const tvms_node *buffer,
                                  const char *name, const char *scope,
                                  const tvms_list *TVMS_NULLABLE shape);

// A copy of a buffer, scope and all, with a name and a pointer of its own, whose shape the caller may change.
tvms_node *tvms_sched_buffer_renamed(tvms_sched *sched, const tvms_node *buffer,
                                     const char *name);

// A new compact buffer of elements of `dtype`.
tvms_node *tvms_sched_buffer_new(tvms_sched *sched, tvms_sym name, tvms_dtype dtype,
                                 const char *scope, const tvms_list *shape);

// A name made of two: "A_local".
const char *tvms_sched_joined(tvms_sched *sched, const char *a, const char *b);

// The name of a buffer.
const char *tvms_sched_buffer_name(const tvms_sched *sched, const tvms_node *buffer);

// A buffer and what stands in its place. `offsets`: ranges, from whose beginnings indices count then; NULL: from the same
// place.
typedef struct {
  tvms_node *from, *to;
  const tvms_list *TVMS_NULLABLE offsets;
} tvms_sched_swap;

// A statement in which all accesses, declared regions and uses of the pointer are those of the other buffer.
tvms_node *tvms_sched_swapped(tvms_sched *sched, tvms_node *stmt,
                              const tvms_sched_swap *swap);

// Does a block match a part of the buffer?
bool tvms_sched_has_view(const tvms_sched *sched, tvms_node *stmt, tvms_node *buffer);

// A buffer that a block matches to a part of one in memory of another kind; NULL: there is none.
const tvms_node *TVMS_NULLABLE tvms_sched_view_elsewhere(const tvms_sched *sched,
                                                         tvms_node *stmt);

// The block that allocates a buffer, from `site` on upwards, or TVMS_NO_SITE: it is a parameter, or matched. In the latter
// case `*matched` is true.
int32_t tvms_sched_definer(const tvms_sched *sched, int32_t site,
                           const tvms_node *buffer, bool *matched);

// The block that has all uses of a buffer in its scope: the one that allocates it or, of a parameter, the scope of `block`, which must be
// the root. TVMS_NO_SITE after a refusal.
int32_t tvms_sched_owner(tvms_sched *sched, int32_t block, const tvms_node *buffer,
                         bool *parameter);

// Puts another buffer in the place of a parameter's; the body is the caller's.
void tvms_sched_replace_parameter(tvms_sched *sched, const tvms_node *old,
                                  tvms_node *made);

// `block` (a copy of its node) with one more allocation.
void tvms_sched_add_alloc(tvms_sched *sched, tvms_block *block, tvms_node *buffer);

#endif
