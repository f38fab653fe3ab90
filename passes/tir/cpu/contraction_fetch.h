// Fetching what the next panel is made of, rows of the next tile, and lines of the result.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_FETCH_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_FETCH_H

#include "passes/tir/cpu/contraction_writer.h"

// Adds the statements by which the tile at hand fetches its share of what the panel of the next strip is made
// of into the second cache, if the tile is to do that (tile->panel_fetch). Sets the variables of columns
// and sums anew.
void tvms_contraction_fetch_next(tvms_contraction_writer *w, tvms_node_vec *stmts);

// Does the tile at hand fetch what the next tile of rows reads of the resting operand?
bool tvms_contraction_fetches_resting(const tvms_contraction_writer *w);

// A statement that does so from the step of the sum at hand on, a line of each row, into the second cache; NULL if the
// tile is not to do that. Leaves the variable of the rows at the next tile.
tvms_node *TVMS_NULLABLE tvms_contraction_fetch_resting(tvms_contraction_writer *w);

// Does the tile at hand fetch the lines of the result, and of what is read along with it, that no near cache holds: some
// steps before the end of its sums if `late`, else when they begin?
bool tvms_contraction_fetches_far(const tvms_contraction_writer *w, bool late);

// Adds the statements that do so, for the rows at hand.
void tvms_contraction_fetch_far(tvms_contraction_writer *w, tvms_node_vec *stmts);

// Does the tile at hand fetch, in front of each round, its share of the next panel (of the next block, or strip), or of what that is made of?
bool tvms_contraction_fetches_ahead(const tvms_contraction_writer *w);

// Statements that do so in front of round number `round` of `rounds`, each of `steps` steps of the sum. Sets the variables of columns
// and sums anew.
tvms_node *tvms_contraction_fetch_ahead(tvms_contraction_writer *w, tvms_node *round,
                                        int64_t rounds, int64_t steps);

#endif
