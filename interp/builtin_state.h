// A state of the interpreter (a paged cache, the state of recurrent layers) in a call of a built-in function.
#ifndef TVMS_INTERP_BUILTIN_STATE_H
#define TVMS_INTERP_BUILTIN_STATE_H

#include "interp/builtin.h"
#include "runtime/paged.h"

// Items of the value; the first is the name of its kind, one of those below.
enum { TVMS_STATE_NAME, TVMS_STATE_MADE, TVMS_STATE_AREAS };

extern const char tvms_interp_state_paged[];
extern const char tvms_interp_state_rnn[];

typedef struct {
  tvms_paged_host host;  // first
  const tvms_builtin *b;
  tvms_items *TVMS_NULLABLE state;
} tvms_interp_state_owner;

// The owner of a state in a call. Without a state it can only refuse.
tvms_interp_state_owner tvms_interp_state_owner_of(const tvms_builtin *b,
                                                   tvms_items *TVMS_NULLABLE state);

// A new state of so many areas, with room for so many values that it is made of: tvms_paged_host.call counts them.
tvms_items *tvms_interp_state_new(const tvms_builtin *b, const char *kind,
                                  uint32_t areas, uint32_t made);

// The state that is the first argument; a fault if it is none.
tvms_interp_state_owner tvms_interp_state_open(const tvms_builtin *b);

// An argument that is a shape, borrowed; a fault if it is none.
tvms_paged_shape tvms_interp_state_shape(const tvms_builtin *b, uint32_t i);

#endif
