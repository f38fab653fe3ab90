// The statements of a nest of loops that stands around several of them, and where each touches memory.
#ifndef TVMS_PASSES_TIR_CPU_PIECES_H
#define TVMS_PASSES_TIR_CPU_PIECES_H

#include "ir/node_map.h"
#include "support/vec.h"

enum { TVMS_MOST_PIECES = 32, TVMS_MOST_PIECE_LOOPS = 16, TVMS_MOST_PIECE_DIMS = 8 };

// A store, or a block around one, and the loops around it, the outermost one first.
typedef struct {
  tvms_node *stmt;
  uint32_t depth;
  tvms_node *loops[TVMS_MOST_PIECE_LOOPS];
  tvms_node *TVMS_NULLABLE condition;  // while the nest is read: of the branches around
} tvms_piece;

enum { TVMS_MOST_PIECE_OUTER = 4 };

// An index as base + sum of coefficients times steps of the loops around, from 0 on, + sum of coefficients times variables that
// do not change in the nest; not `known`: it is something else. `linear`: it has no such variables.
typedef struct {
  bool linear, known;
  int64_t base;
  int64_t coefficients[TVMS_MOST_PIECE_LOOPS];
  const tvms_node *outer[TVMS_MOST_PIECE_OUTER];
  int64_t outer_coefficients[TVMS_MOST_PIECE_OUTER];
  uint32_t outer_count;
} tvms_piece_index;

typedef struct {
  const tvms_node *buffer;
  uint32_t piece;
  bool stores;
  uint32_t dims;
  tvms_piece_index indices[TVMS_MOST_PIECE_DIMS];
} tvms_piece_access;

typedef struct {
  tvms_unit *unit;
  uint32_t count;
  tvms_piece pieces[TVMS_MOST_PIECES];
  // Buffers that statements of the nest allocate.
  tvms_list allocated;
  // Variables that statements of the nest bind -> their values, which stand in the pieces instead.
  tvms_node_map values;
  bool reorders;  // 0 may be added to a float
  bool chosen;    // a branch became a choice of values
  bool parallel;  // a loop is marked as one whose steps may run on threads
  bool shifted;   // a loop does not begin with 0
  TVMS_VEC(tvms_piece_access) accesses;  // of all pieces, in their order
} tvms_pieces;

// Reads a nest of plain or parallel loops whose bounds do not change, around stores and simple blocks. False: it is
// something else, or touches memory otherwise than by loads and stores. Branches around one store by conditions on variables become
// choices of values, unless a float could become another, which `reorders` allows. tvms_cpu_pieces_fini must follow in any case.
TVMS_NODISCARD bool tvms_cpu_pieces_read(tvms_unit *unit, tvms_node *nest,
                                         bool reorders, tvms_pieces *pieces);

// Frees what it holds.
void tvms_cpu_pieces_fini(tvms_pieces *pieces);

// An integer expression of a piece as such a form, with variables of its block replaced by what they are bound to.
tvms_piece_index tvms_cpu_pieces_index(const tvms_piece *piece, tvms_node *expr);

#endif
