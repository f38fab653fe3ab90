// Where the accesses of a stage move to when one of its axes takes a step.
#ifndef TVMS_PASSES_TIR_CPU_PLACES_H
#define TVMS_PASSES_TIR_CPU_PLACES_H

#include "arith/analyzer.h"
#include "passes/tir/cpu/stage.h"

// How many elements further an access of a compact buffer is with each step of `var`, 0 if it
// stays. False: that is not one constant.
bool tvms_cpu_step_of(tvms_unit *unit, const tvms_node *buffer, tvms_list indices,
                      const tvms_node *var, int64_t *step);

// By how much an index grows with each step of `var`. False: that is not one constant.
bool tvms_cpu_index_step(tvms_unit *unit, tvms_node *index, const tvms_node *var,
                         int64_t *step);

// Does an expression depend on any of these axes of a stage?
bool tvms_cpu_mentions_axes(tvms_memory *memory, const tvms_stage *stage,
                            tvms_node *node, const uint32_t *axes, uint32_t count);

// Do the elements lie one after the other along these axes of a stage, the last one innermost, counted as one?
// Dimensions behind that are 1.
bool tvms_cpu_goes_through(tvms_memory *memory, const tvms_stage *stage,
                           const tvms_node *buffer, tvms_list indices,
                           const uint32_t *axes, uint32_t count);

// An analyzer that knows the ranges of a stage's axes; to be freed.
tvms_analyzer *tvms_stage_analyzer(tvms_unit *unit, const tvms_stage *stage);

// Do two stages store in different places of one buffer, whatever steps they are in?
bool tvms_cpu_store_apart(tvms_unit *unit, const tvms_stage *a, const tvms_stage *b);

// Does a load of a stage take what none of its steps stores?
bool tvms_cpu_load_apart(tvms_unit *unit, const tvms_stage *stage,
                         const tvms_buffer_load *load);

// Does each step of the axes that the stage does not sum over store at a place of its own?
bool tvms_cpu_is_injective(tvms_unit *unit, const tvms_stage *stage);

// Are all indices inside of the buffer, by what the analyzer knows of their variables?
bool tvms_cpu_is_inside(tvms_analyzer *analyzer, tvms_unit *unit,
                        const tvms_node *buffer, tvms_list indices);

// Does any of the indices depend on `var`?
bool tvms_cpu_depends(tvms_unit *unit, tvms_list indices, const tvms_node *var);

// The number that an expression is, or -1.
int64_t tvms_cpu_number(const tvms_node *extent);

#endif
