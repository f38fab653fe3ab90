// ApplyTrace: the steps of a schedule, which a file has, are done.
//
// Before: for i in range(64): …   After: for i_0, i_1 in T.grid(16, 4): …
//
// The file is a trace of TVM's Schedule, in Python's form or in JSON, or calls of the same methods that
// somebody has written: `i, = sch.get_loops(sch.get_sblock("C"))`, `sch.split(i, [None, 4])`. Steps that
// TVM refuses are refused for the same reasons, and then the module stays as it is. Without a file
// the steps are those in the program's own comments, behind a line `# SCHEDULE:`.
// docs/schedules.md has all of them.
//
// TVM: Schedule(mod) and its methods; Trace.apply_to_schedule.
#include "ir/build.h"
#include "ir/object.h"
#include "passes/functions.h"
#include "schedule/script.h"
#include "schedule/trace.h"
#include "support/diag_ids.h"

#include <errno.h>
#include <string.h>

static uint32_t index_of(const tvms_module *module, tvms_sym name) {
  uint32_t index = 0;
  while (module->members[index].name != name)
    index++;
  return index;
}

static bool do_steps(tvms_pass_run *run, tvms_schedule *schedule) {
  const char *path = TVMS_OPTION(run, ApplyTrace, file).text;
  tvms_context *context = run->context;
  if (!*path) return tvms_schedule_run_comments(schedule, run->module->source);
  tvms_source *source = tvms_source_read(&context->memory, path);
  if (source) return tvms_schedule_run_script(schedule, source);
  tvms_diag_report(&context->diags, TVMS_D_pass_file, (tvms_span){0, 0}, path,
                   strerror(errno));
  return false;
}

// The trace in Python's form: a list of lines.
static tvms_node *python_trace(tvms_unit *unit, const tvms_schedule *schedule) {
  uint32_t count = schedule->done.len;
  tvms_node **lines = tvms_arena_array(&unit->arena, tvms_node *, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    tvms_strbuf text;
    tvms_strbuf_init(&text, &schedule->context->memory);
    tvms_trace_write_python(schedule, i, &text);
    lines[i] = tvms_object_str_new(unit, text.text, text.len, TVMS_NO_SPAN);
    tvms_strbuf_fini(&text);
  }
  return tvms_object_array_new(unit, lines, count, TVMS_NO_SPAN);
}

static tvms_node *json_trace(tvms_unit *unit, const tvms_schedule *schedule) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &schedule->context->memory);
  tvms_trace_write_json(schedule, &text);
  tvms_node *made = tvms_object_str_new(unit, text.text, text.len, TVMS_NO_SPAN);
  tvms_strbuf_fini(&text);
  return made;
}

// The trace as an attribute of the module.
static void keep_trace(tvms_pass_run *run, const tvms_schedule *schedule) {
  const char *form = TVMS_OPTION(run, ApplyTrace, trace).text;
  tvms_module *module = run->module;
  if (!*form) return;
  bool json = strcmp(form, "json") == 0;
  tvms_node *value = json ? json_trace(&module->unit, schedule)
                          : python_trace(&module->unit, schedule);
  module->attrs =
      tvms_object_map_with(&module->unit, module->attrs, "schedule_trace", value);
  run->changed = true;
}

void tvms_pass_apply_trace(tvms_pass_run *run) {
  tvms_schedule schedule;
  tvms_schedule_init(&schedule, run->module);
  bool done = do_steps(run, &schedule);
  // Functions of indices in the trace belong to the functions' units.
  if (done) keep_trace(run, &schedule);
  for (uint32_t i = 0; done && i < schedule.functions.len; i++) {
    tvms_unit *unit;
    uint32_t index = index_of(run->module, schedule.functions.items[i]->name);
    tvms_node *function = tvms_schedule_take(&schedule, i, &unit);
    tvms_functions_replace(run, index, unit, function);
  }
  tvms_schedule_fini(&schedule);
}
