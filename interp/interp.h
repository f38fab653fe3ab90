// The reference interpreter: runs Relax functions and PrimFuncs as written.
//
// It checks what compiled code does not: every index against its buffer, every division,
// every use of a variable, every symbolic size. A fault is a diagnostic (09xx) at the
// expression that caused it, and ends the call. Loops of all kinds run one after another.
// Where `kernel` gives compiled code for a PrimFunc, that runs instead; so `run` has one
// Relax interpreter for all back ends.
#ifndef TVMS_INTERP_INTERP_H
#define TVMS_INTERP_INTERP_H

#include "ir/module.h"
#include "ir/op.h"
#include "runtime/value.h"

// What stands for the signature of a function in texts of its checks.
#define TVMS_SIGNATURE_MARK '\1'

// Where traced native code leaves why it failed (backend/backend.h, `traced`); it gets the
// address as its `self`. Texts are constants of that code.
typedef struct tvms_raised {
  const char *kind;  // "ValueError", "TypeError" …; NULL: nothing raised
  const char *text;
  const char *TVMS_NULLABLE
      signature;   // of what was called, where the text has its mark
  tvms_span span;  // of what failed; {0, 0}: an argument check
  int64_t got;     // valid if `compared`
  int64_t expected;
  int32_t compared;
  // What that code calls packed functions through, by a name that tvms_packed_find or the plug-ins know: 0,
  // or -1 after it has left here why it failed, with the span of the call. Filled in by the
  // caller.
  int (*call_packed)(struct tvms_raised *raised, const char *name, const tvms_any *args,
                     int32_t count, uint32_t begin, uint32_t end);
  tvms_memory *memory;
  const struct tvms_foreign *TVMS_NULLABLE foreign;
  // What a function of a plug-in has given, in both forms.
  int64_t whole;
  double real;
} tvms_raised;

// What runs PrimFuncs; the results are the same.
typedef enum {
  TVMS_INTERP_CHOOSES,   // as it pays
  TVMS_INTERP_WALKS,     // a walk over the tree
  TVMS_INTERP_COMPILES,  // register code, wherever there is some
} tvms_interp_engine;

// A call of a member that begins or has ended.
typedef struct {
  const tvms_member *member;
  const tvms_value *args;
  uint32_t count;
  tvms_span span;  // of the call; {0, 0}: from outside
  bool begins;
} tvms_interp_event;

// A program that can be called, again and again: tvms_interp_call. The caller fills it in
// and owns what it points to; callbacks get their `_state`.
typedef struct tvms_interp tvms_interp;
struct tvms_interp {
  tvms_context *context;
  const tvms_module *module;
  tvms_heap *heap;      // results and intermediate tensors
  uint64_t step_limit;  // most loop iterations and calls; 0: no limit
  uint64_t steps;       // taken so far
  // Compiled code of a member, or NULL to interpret it; the whole callback may be NULL.
  tvms_safe_call (*TVMS_NULLABLE kernel)(void *state, const tvms_member *member);
  void *kernel_state;
  // What R.print does; may be NULL. An empty format: the values, one after the other.
  void (*TVMS_NULLABLE print)(void *state, const char *format, const tvms_value *values,
                              uint32_t count);
  void *print_state;
  // Told before and after each call of a member; may be NULL.
  void (*TVMS_NULLABLE observe)(void *state, const tvms_interp_event *event);
  void *observe_state;
  // Calls a value of the kind FUNCTION with borrowed arguments, where such values are not the interpreter's; the
  // result is the caller's. May be NULL.
  tvms_value (*TVMS_NULLABLE invoke)(void *state, const void *function,
                                     const tvms_value *args, uint32_t count);
  void *invoke_state;
  // Says of a fault that was just reported in which functions it was, where these are not the interpreter's; may be NULL.
  void (*TVMS_NULLABLE tell)(void *state);
  // The name of the value that the instruction in progress checks, or NULL; may be NULL itself.
  const char *TVMS_NULLABLE (*TVMS_NULLABLE checked)(void *state);
  void *tell_state;  // of both
  // Functions of plug-ins (interp/foreign.h); NULL: there are none.
  const struct tvms_foreign *TVMS_NULLABLE foreign;
  uint8_t engine;  // tvms_interp_engine
  bool
      defines;  // operators of Relax are computed by their definition, if they have one
  int8_t undefined;   // what T.undef() is: any number will do
  uint32_t compiled;  // functions that register code was made of so far
  // What members have been compiled to during the call in progress; tvms_interp_call's own.
  struct tvms_interp_codes *TVMS_NULLABLE codes;
  // Runs a call of an operator of Relax that nothing else runs: lowering did not know the sizes or types of its
  // arguments, which are there now, borrowed. An argument that is not a value is NONE. The result is the caller's;
  // what cannot be run is reported, and unwinds. May be NULL.
  tvms_value (*TVMS_NULLABLE late)(void *state, tvms_interp *interp,
                                   const tvms_call *call, const tvms_value *args);
  void *late_state;
};

// The type of an element in memory; lanes 0 for void.
static inline tvms_dl_type tvms_interp_dl_type_of(tvms_dtype dtype) {
  uint8_t bits = dtype.code == TVMS_BOOL ? 8 : dtype.bits;
  return (tvms_dl_type){dtype.code, bits, dtype.lanes > 0 ? (uint16_t)dtype.lanes : 0};
}

#endif
