// What blocks of a scope are to each other, and what kind of block each is: the conditions under which the steps of
// a schedule are allowed. TVM: src/s_tir/schedule/analysis/analysis.cc, src/s_tir/sblock_scope.cc.
//
// A scope is a block with the blocks right below it (loops may be in between). Everything is found from the
// function as it is at the moment.
#ifndef TVMS_SCHEDULE_SCOPE_H
#define TVMS_SCHEDULE_SCOPE_H

#include "arith/int_set.h"
#include "arith/iter_map.h"
#include "schedule/state.h"

typedef TVMS_VEC(int32_t) tvms_site_vec;
typedef TVMS_VEC(tvms_iter_domain) tvms_domain_vec;

// ---- Where things are ----

// Loops right around a site, within its scope, outermost first.
void tvms_sched_loops(const tvms_sched *sched, int32_t site, tvms_site_vec *loops);

// Blocks below a site that are in no other block below it.
void tvms_sched_children(const tvms_sched *sched, int32_t site, tvms_site_vec *blocks);

// The lowest site that holds both, which may be one of them.
int32_t tvms_sched_common(const tvms_sched *sched, int32_t a, int32_t b);

// What the loops from `site` on upwards run over, to the block around or up to the site `above`, which does not
// count (TVMS_NO_SITE: to the block), innermost first.
void tvms_sched_domains(const tvms_sched *sched, int32_t site, int32_t above,
                        tvms_domain_vec *domains);

// The same as sets of integers by variable. `sets` is the caller's, to be freed with tvms_domains_fini.
void tvms_sched_domain_sets(const tvms_sched *sched, int32_t site, int32_t above,
                            tvms_domains *sets);

// Lets the axes of a block run over their domains.
void tvms_sched_add_axes(tvms_domains *domains, const tvms_block *block);

// Lets all axes and loops run, from a site on upwards.
void tvms_sched_add_all(tvms_domains *domains, const tvms_sched *sched, int32_t site);

// An analyzer that knows the ranges of all loops around a site and of that site. The caller frees it.
tvms_analyzer *tvms_sched_analyzer(const tvms_sched *sched, int32_t site);

// Tells an analyzer that no dimension of a parameter is negative. TVM: AddShapeVarBounds.
void tvms_sched_mark_sizes(const tvms_sched *sched, tvms_analyzer *analyzer);

// ---- Regions ----

// Does a list of regions name this buffer?
bool tvms_sched_touches(tvms_list regions, const tvms_node *buffer);

// The buffer of item `index` of a list of regions.
tvms_node *tvms_sched_region_buffer(tvms_list regions, uint32_t index);

// ---- Blocks ----

// Blocks of the same scope from which `block` reads, or that write the same buffers before it; in the order of
// the text. TVM: GetProducers.
void tvms_sched_producers(const tvms_sched *sched, int32_t block, tvms_site_vec *found);

// Blocks of the same scope that read what `block` writes, or write over it. TVM: GetConsumers.
void tvms_sched_consumers(const tvms_sched *sched, int32_t block, tvms_site_vec *found);

// Does the block write a buffer that its scope does not allocate?
bool tvms_sched_is_output(const tvms_sched *sched, int32_t block);

// The same of a block `above` that is further up.
bool tvms_sched_writes_out(const tvms_sched *sched, int32_t block, int32_t above);

// Is every value of a block's axes a sum of loops, and do they not depend on each other? `above` as in
// tvms_sched_domains.
bool tvms_sched_is_affine(const tvms_sched *sched, int32_t block, int32_t above);

// Does the variable of a loop stand in the value of an axis of the block?
bool tvms_sched_takes_loop(const tvms_sched *sched, int32_t block, int32_t loop);

// The innermost loop of several steps, from the block out to `loop` around it, that no axis of the block takes; TVMS_NO_SITE: there is none.
int32_t tvms_sched_loop_of_no_axis(const tvms_sched *sched, int32_t block,
                                   int32_t loop);

// Does the variable of a loop stand in the value of a reduced axis?
bool tvms_sched_is_reduced_by(const tvms_sched *sched, int32_t block, int32_t loop);

// NULL: the block is a complete block below `scope` (a block or a loop around it). Otherwise the condition that
// it violates: "the block has axes other than spatial ones".
const char *TVMS_NULLABLE tvms_sched_why_incomplete(const tvms_sched *sched,
                                                    int32_t block, int32_t scope);

// The same of reduction blocks.
const char *TVMS_NULLABLE tvms_sched_why_no_reduction(const tvms_sched *sched,
                                                      int32_t block, int32_t scope);

// Are all blocks right below a site complete or reduction blocks there? Refuses otherwise. TVM:
// CheckSubtreeCompactDataflow.
TVMS_NODISCARD bool tvms_sched_check_compact(tvms_sched *sched, int32_t site);

// Does a block of the scope write what an earlier one reads?
bool tvms_sched_has_write_after_read(const tvms_sched *sched, int32_t scope);

// Finds the scope of a site, and refuses if there is none, or, with `pipeline`, if its blocks do more than read what
// those before them wrote. TVM: GetScopeRoot.
TVMS_NODISCARD bool tvms_sched_check_scope(tvms_sched *sched, int32_t site,
                                           bool pipeline, int32_t *scope);

// Refuses a block that is neither complete nor a reduction.
TVMS_NODISCARD bool tvms_sched_check_block(tvms_sched *sched, int32_t block,
                                           int32_t scope);

// Is the condition of a block true in every step of the loops around it?
bool tvms_sched_runs_always(const tvms_sched *sched, int32_t block);

// The name of a block, for messages and for names.
const char *tvms_sched_block_name(const tvms_sched *sched, int32_t block);

// Does `var` stand in an expression or statement? Not in what blocks declare.
bool tvms_sched_uses(const tvms_sched *sched, tvms_node *node, const tvms_node *var);

#endif
