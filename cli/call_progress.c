// Watching the calls of a run for the line of progress.
#include "cli/call_progress.h"

#include "vm/executable.h"

#include <string.h>

static void show_call(tvms_call_progress *progress, int len, const char *name) {
  progress->calls++;
  if (tvms_progress_is_due(&progress->line))
    tvms_progress_show(&progress->line, "call %llu, of '%.*s'",
                       (unsigned long long)progress->calls, len, name);
}

static void note_call(void *state, const tvms_interp_event *event) {
  tvms_call_progress *progress = state;
  if (progress->observe) progress->observe(progress->observe_state, event);
  if (!event->begins) return;
  const char *name = tvms_symbol_text(progress->interp->context, event->member->name);
  show_call(progress, (int)strlen(name), name);
}

static void note_instruction(void *state, int64_t instruction, bool begins) {
  tvms_call_progress *progress = state;
  if (progress->observe_machine)
    progress->observe_machine(progress->observe_state, instruction, begins);
  if (!begins) return;
  const tvms_vm_executable *code = progress->machine->code;
  const int64_t *words = tvms_vm_instruction(code, instruction);
  tvms_bytes name = code->functions.items[words[2]].name;
  show_call(progress, (int)name.len, name.text);
}

void tvms_progress_watch(tvms_call_progress *progress, tvms_run *run,
                         tvms_interp *interp) {
  *progress = (tvms_call_progress){.observe = interp->observe,
                                   .observe_state = interp->observe_state};
  tvms_progress_begin(&progress->line, run);
  if (!progress->line.wanted) return;
  progress->interp = interp;
  interp->observe = note_call;
  interp->observe_state = progress;
}

void tvms_progress_watch_machine(tvms_call_progress *progress, tvms_run *run,
                                 tvms_vm_machine *machine) {
  *progress = (tvms_call_progress){.observe_machine = machine->observe,
                                   .observe_state = machine->observe_state};
  tvms_progress_begin(&progress->line, run);
  if (!progress->line.wanted) return;
  progress->machine = machine;
  machine->observe = note_instruction;
  machine->observe_state = progress;
}

void tvms_progress_unwatch(tvms_call_progress *progress) {
  tvms_progress_end(&progress->line);
  if (progress->interp) {
    progress->interp->observe = progress->observe;
    progress->interp->observe_state = progress->observe_state;
  }
  if (progress->machine) {
    progress->machine->observe = progress->observe_machine;
    progress->machine->observe_state = progress->observe_state;
  }
}
