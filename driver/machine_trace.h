// What the virtual machine did when: a table by instruction, and a trace for viewers.
#ifndef TVMS_DRIVER_MACHINE_TRACE_H
#define TVMS_DRIVER_MACHINE_TRACE_H

#include "support/strbuf.h"
#include "vm/machine.h"

// The begin or the end of a call.
typedef struct {
  int64_t instruction;  // index in the code
  uint64_t nanoseconds;
  bool begins;
} tvms_machine_event;

typedef struct {
  tvms_memory *memory;
  const tvms_vm_executable *code;
  TVMS_VEC(tvms_machine_event) events;
  uint64_t dropped;  // events beyond the most that are kept
} tvms_machine_trace;

// An empty trace.
void tvms_machine_trace_init(tvms_machine_trace *trace, tvms_memory *memory,
                             const tvms_vm_executable *code);

// Frees the events.
void tvms_machine_trace_fini(tvms_machine_trace *trace);

// For tvms_vm_machine.observe; the state is a tvms_machine_trace.
void tvms_machine_trace_note(void *state, int64_t instruction, bool begins);

// Appends a line per instruction that was executed: function, number in it, callee, calls,
// microseconds and their share of all.
void tvms_machine_trace_table(const tvms_machine_trace *trace, tvms_strbuf *out);

// Appends the trace in the format of Chrome's viewer (chrome://tracing, Perfetto): a JSON object with complete
// events, times in microseconds from the first one on.
void tvms_machine_trace_json(const tvms_machine_trace *trace, tvms_strbuf *out);

#endif
