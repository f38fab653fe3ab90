// The state of recurrent layers: what each layer remembers of each sequence, and of its last steps.
//
// A layer has several tensors (storages), of which a sequence has a slot and each step of it a place in a ring:
//
//   storage [sequences, history, ...]      slot 1 of a sequence after 3 steps, history 2: step 3 is at [1, 1], step 2 at [1, 0]
//
// The functions that the state was made with read and write the storages, by the slots and places of a batch.
// Who has the state is asked as for a paged cache (runtime/paged.h): area 0 is its head there, too, which begins
// with its kind.
// TVM: src/runtime/vm/rnn_state.cc.
#ifndef TVMS_RUNTIME_RNN_H
#define TVMS_RUNTIME_RNN_H

#include "runtime/paged.h"

enum { TVMS_RNN_STATES = 9 };  // most tensors of a layer

// Arguments of vm.builtin.rnn_state_create: layers, sequences, history, and tuples as long as a layer has tensors.
enum {
  TVMS_RNN_MADE_GETS = 3,
  TVMS_RNN_MADE_SETS,
  TVMS_RNN_MADE_INITS,
  TVMS_RNN_ARGUMENTS
};

typedef struct {
  int64_t layers, sequences, history;
  int64_t gets, sets;  // how many functions there are
  int64_t states;      // how many tensors
  // The first values of each, borrowed.
  const tvms_dl_tensor *TVMS_NULLABLE inits[TVMS_RNN_STATES];
} tvms_rnn_made;

// Functions of the creation, as tvms_paged_host.call counts them.
static inline uint32_t tvms_rnn_get_function(int64_t state) {
  return (uint32_t)state;
}
static inline uint32_t tvms_rnn_set_function(int64_t state) {
  return TVMS_RNN_STATES + (uint32_t)state;
}

// How many areas a state needs; leaves the call if it cannot be made of this.
uint32_t tvms_rnn_areas(tvms_paged_host *host, const tvms_rnn_made *made);

// Makes a state without sequences.
void tvms_rnn_create(tvms_paged_host *host, const tvms_rnn_made *made);

// ---- Sequences: as kv_state_* of TVM ----

// All sequences go.
void tvms_rnn_clear(tvms_paged_host *host);

// A new sequence with the first values; leaves the call if there is one of this id, or no slot.
void tvms_rnn_add(tvms_paged_host *host, int64_t id);

// A sequence goes, and its slot is free.
void tvms_rnn_remove(tvms_paged_host *host, int64_t id);

// A new sequence with all that another one has, its history, too.
void tvms_rnn_fork(tvms_paged_host *host, int64_t parent, int64_t child);

// Goes so many steps back; leaves the call if the history is shorter.
void tvms_rnn_pop(tvms_paged_host *host, int64_t id, int64_t count);

// A batch of sequences, and how many steps each takes; `parents` are those of a tree of tokens, which must be a chain.
void tvms_rnn_begin(tvms_paged_host *host, tvms_paged_shape ids,
                    tvms_paged_shape lengths,
                    const tvms_paged_shape *TVMS_NULLABLE parents);

// The steps of the batch are done.
void tvms_rnn_end(tvms_paged_host *host);

// ---- Tensors ----

// Calls the function that gets (or sets) a tensor of a layer for the batch, with argument 3 of the call.
void tvms_rnn_use(tvms_paged_host *host, int64_t layer, int64_t state, bool sets);

// A tensor that one sequence has now: where it is, and what it is like.
const void *tvms_rnn_look(tvms_paged_host *host, int64_t layer, int64_t state,
                          int64_t id, tvms_paged_argument *tensor);

#endif
