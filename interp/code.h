// Register code of a PrimFunc: what compile.c makes of its body and code_run.c runs.
//
// The registers of a call are the variables of its frame, one slot per id of a node, and behind
// them slots for constants, intermediate values, loops and streams. So an instruction may hand
// any expression or statement to the functions that walk the tree (interp/expr.c,
// interp/stmt.c), which find every variable where they look for it:
//
//   for i in range(n):               FOR     i, loop, → end
//       A[i] = A[i] + x              LOAD_AT …                       (interp/code.def)
//
// A slot of float32 holds a float (`s`) if the code made it, and a double (`f`) if it is a
// variable; all other kinds are held as runtime/number.h says.
#ifndef TVMS_INTERP_CODE_H
#define TVMS_INTERP_CODE_H

#include "interp/frame.h"

typedef enum {
#define OP(NAME, ...) TVMS_CODE_##NAME,
#include "interp/code.def"
  TVMS_CODE_COUNT,
} tvms_interp_opcode;

// One instruction. What the operands are is said by its row; a jump is counted from the
// instruction behind it.
typedef struct {
  uint16_t op;  // tvms_interp_opcode
  uint16_t n;   // a small constant
  uint32_t d;   // mostly the slot of the result
  uint32_t a;
  uint32_t b;
} tvms_interp_insn;

// What an instruction was made of, for faults and for what the tree runs.
typedef struct {
  const tvms_node *TVMS_NULLABLE node;
  uint32_t depth;  // levels of recursion that a walk over the tree has entered there
} tvms_interp_note;

// A loop that the indices of a stream move with.
typedef struct {
  uint32_t var;     // slot of its variable, for the outermost
  uint32_t loop;    // slots of its state (TVMS_LOOP_*), for the outermost
  uint32_t extent;  // slot of its extent, for the others, which begin at a constant
  int64_t min;
  bool narrow;     // the variable has 32 bits
  int64_t *slope;  // by dimension: what the index grows by with the variable
  const tvms_node *TVMS_NULLABLE bound;  // what the extent is
} tvms_interp_level;

// An access whose every index grows by constants with the variables of the loops around it. When
// the outermost of them begins, the corners of the space of the loops are checked; if they are
// good then so is all between, and an access is `origin + variable * step`, where the origin
// moves with the loops further out. See interp/compile_stream.c.
typedef struct {
  uint32_t buffer;  // its id
  // Where `origin` (0: not checked, or not good) and `step` go: of the innermost loop, and, one
  // pair behind the other, of those around it (0: there are none).
  uint32_t slot;
  uint32_t outer;
  uint32_t ndim;
  uint32_t levels;
  uint32_t *index;           // by dimension: slot of the index in the first iteration,
  bool *narrow;              // and whether it has 32 bits
  tvms_interp_level *level;  // the innermost first
} tvms_interp_stream;

// The list of a FOR: slots of its bounds, and how far it is from it to the end of the loop and to
// what stands ahead of its body, or the body.
enum {
  TVMS_FOR_MIN,
  TVMS_FOR_EXTENT,
  TVMS_FOR_STEP,
  TVMS_FOR_END,
  TVMS_FOR_AHEAD,
  TVMS_FOR_LEN,
};

// Slots of the state of a loop, from its first.
enum {
  TVMS_LOOP_REST,  // iterations that follow the one in progress
  TVMS_LOOP_STEP,
  TVMS_LOOP_SPAN,  // last value of the variable less the first; -1: it wraps
  // The first streams of the loop stand next to it: what an iteration touches is close together.
  TVMS_LOOP_STREAMS,
  TVMS_LOOP_PAIRS = 6,
  TVMS_LOOP_SLOTS = TVMS_LOOP_STREAMS + 2 * TVMS_LOOP_PAIRS,
};

typedef struct {
  uint32_t slot;
  tvms_scalar value;
} tvms_interp_constant;

// The code of one function.
typedef struct {
  const tvms_interp_insn *insns;
  const tvms_interp_note *notes;  // one per instruction
  const uint32_t *lists;          // operands of instructions that have many
  const tvms_interp_stream *streams;
  const tvms_interp_constant *constants;
  uint32_t constant_count;
  uint32_t slots;
  uint32_t depth;  // most levels of recursion that a walk over the tree would enter
} tvms_interp_code;

#endif
