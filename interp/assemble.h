// The code of a function while it is made: instructions, slots, constants, and what is known of
// variables and buffers at the place that has been reached.
#ifndef TVMS_INTERP_ASSEMBLE_H
#define TVMS_INTERP_ASSEMBLE_H

#include "interp/code.h"

// What is known of a node: of a variable or a buffer who binds it, of a SEQ or a block whether
// it allocates.
typedef struct {
  uint8_t sites;   // places that bind the variable or define the buffer; 2: or more
  bool definite;   // bound or defined on every way to here
  bool flagged;    // the frame says so too, if it is definite
  bool allocates;  // of a SEQ or BLOCK: memory, in itself or below
  bool counts;     // the variable of a loop
  uint32_t since;  // tvms_interp_maker::now when it was bound
  // An expression without effects whose value the variable has from there on; NULL: not known.
  const tvms_node *TVMS_NULLABLE means;
} tvms_interp_fact;

// A `for` around the place that has been reached.
typedef struct tvms_interp_around {
  struct tvms_interp_around *TVMS_NULLABLE outer;
  uint32_t var;    // slot of its variable
  uint32_t loop;   // slots of its state
  uint32_t pairs;  // streams that have slots among them
  uint32_t begin;  // tvms_interp_maker::now when it began
  bool streams;    // may it have some?
  bool plain;      // from a constant on, by one
  bool narrow;     // its variable has 32 bits
  int64_t min;     // the constant
  const tvms_node *TVMS_NULLABLE extent;
  uint32_t marks;                        // scopes of memory around it
  TVMS_VEC(uint32_t) nexts;              // jumps to its next iteration
  TVMS_VEC(uint32_t) ends;               // jumps behind it
  TVMS_VEC(uint32_t) opened;             // streams that are opened ahead of it,
  TVMS_VEC(uint32_t) passed;             // and slots of those that only pass it
  TVMS_VEC(uint32_t) hoisted;            // variables that are bound before it begins,
  TVMS_VEC(const tvms_node *) meanings;  // and what they mean
} tvms_interp_around;

typedef struct {
  tvms_context *context;
  const tvms_member *member;
  tvms_arena *arena;  // of the code
  tvms_memory *memory;
  tvms_interp_fact *facts;  // by id
  uint32_t ids;
  bool failed;     // the function cannot be compiled: the tree runs it
  uint32_t lane;   // of the vectors in the expression that is made
  uint32_t depth;  // levels of recursion that a walk over the tree has entered here
  uint32_t deepest;
  uint32_t now;                              // counts what was bound
  tvms_interp_around *TVMS_NULLABLE around;  // the innermost loop
  bool ahead;  // the code is put in front of `around`: what it binds is not bound
  TVMS_VEC(tvms_interp_insn) insns;
  TVMS_VEC(tvms_interp_note) notes;
  TVMS_VEC(uint32_t) lists;
  TVMS_VEC(tvms_interp_stream) streams;
  TVMS_VEC(const tvms_node *) accesses;  // by stream: the load or store that it is of
  TVMS_VEC(uint32_t) lanes;              // and which of its lanes
  TVMS_VEC(tvms_interp_constant) constants;
  TVMS_VEC(uint32_t) temporaries;  // slots of intermediate values, used again and again
  uint32_t used;                   // of `temporaries`
  TVMS_VEC(uint32_t) bound;        // ids that became definite, in order
  TVMS_VEC(uint32_t) marks;        // slots of the scopes of memory around
  uint32_t slots;
} tvms_interp_maker;

// Begins the code of a function whose arguments are bound in `f`. It is made in `arena`, with
// blocks of `memory` in between, which tvms_interp_make_end gives back.
void tvms_interp_make_begin(tvms_interp_maker *m, const tvms_interp_frame *f,
                            tvms_arena *arena);

// The finished code, in the arena; NULL if it failed.
const tvms_interp_code *TVMS_NULLABLE tvms_interp_make_end(tvms_interp_maker *m);

// Appends an instruction and returns its number. `node` is what it is made of.
uint32_t tvms_interp_emit(tvms_interp_maker *m, tvms_interp_opcode op,
                          const tvms_node *TVMS_NULLABLE node, uint32_t d, uint32_t a,
                          uint32_t b);

// The same with operand n.
uint32_t tvms_interp_emit_n(tvms_interp_maker *m, tvms_interp_opcode op,
                            const tvms_node *TVMS_NULLABLE node, uint32_t n, uint32_t d,
                            uint32_t a, uint32_t b);

// Lets the instruction `at` pass by what stands between it and the next instruction, by n; if
// that is too far it does nothing any more.
void tvms_interp_pass_by(tvms_interp_maker *m, uint32_t at);

// Makes the jump `at` go to the next instruction.
void tvms_interp_land(tvms_interp_maker *m, uint32_t at);

// The distance from instruction `at` to instruction `to`, as an operand of it.
uint32_t tvms_interp_distance(uint32_t at, uint32_t to);

// A slot of its own, and `count` in a row.
uint32_t tvms_interp_new_slots(tvms_interp_maker *m, uint32_t count);

// A slot for an intermediate value, which `used` of the maker gives back.
uint32_t tvms_interp_new_temporary(tvms_interp_maker *m);

// A slot with a constant.
uint32_t tvms_interp_new_constant(tvms_interp_maker *m, tvms_scalar value);

// Appends slots to the lists and returns where they begin.
uint32_t tvms_interp_new_list(tvms_interp_maker *m, const uint32_t *slots,
                              uint32_t count);

// The variable or buffer `id` is bound or defined from here on; `flagged`: the frame knows.
void tvms_interp_make_definite(tvms_interp_maker *m, uint32_t id, bool flagged);

// Forgets what became definite since `bound` had the length `mark`: it happened on some ways
// only.
void tvms_interp_forget(tvms_interp_maker *m, uint32_t mark);

#endif
