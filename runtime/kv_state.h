// What sequences have that a model keeps between its calls (kv_state_* of TVM): a paged cache or the state of recurrent
// layers, whichever an object is.
#ifndef TVMS_RUNTIME_KV_STATE_H
#define TVMS_RUNTIME_KV_STATE_H

#include "runtime/paged.h"

// The kind of an object: TVMS_STATE_.
uint32_t tvms_kv_kind(tvms_paged_host *host);

// The paged cache in the areas; leaves the call if it is something else.
tvms_paged tvms_kv_paged(tvms_paged_host *host);

// Leaves the call unless it is the state of recurrent layers.
void tvms_kv_check_rnn(tvms_paged_host *host);

// All sequences go.
void tvms_kv_clear(tvms_paged_host *host);

// A new sequence, if there is none of this id.
void tvms_kv_add(tvms_paged_host *host, int64_t id);

// A sequence goes.
void tvms_kv_remove(tvms_paged_host *host, int64_t id);

// A new sequence that begins as another one is, in a paged cache before a position (TVMS_PAGED_NONE: at its end).
void tvms_kv_fork(tvms_paged_host *host, int64_t parent, int64_t child,
                  int64_t position);

// Takes tokens from the end of a sequence.
void tvms_kv_pop(tvms_paged_host *host, int64_t id, int64_t count);

// Begins a batch: which sequences get how many tokens, and by `parents` the trees that these are (paged_tree.h); a state
// of recurrent layers takes chains only.
void tvms_kv_begin(tvms_paged_host *host, tvms_paged_shape ids,
                   tvms_paged_shape lengths,
                   const tvms_paged_shape *TVMS_NULLABLE parents);

// Ends it.
void tvms_kv_end(tvms_paged_host *host);

#endif
