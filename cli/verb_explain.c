// `tvms explain CODE`: what a diagnostic means and what to do. `tvms explain FuseOps`: the page
// of a pass. `tvms explain T.grid`: what a name of TVMScript takes, and which releases have it.
// `tvms explain --target host`: what is known of a machine. `tvms explain --shape y FILE`: why
// the shape of a value is what it is.
//
// A target is looked up as `tvms build --target` does it, by asking the back end, so that both
// know the same machines, processors and features. The static program, which cannot load one,
// leaves targets to its twin (cli/restart.c).
#include "backend/load.h"
#include "cli/explain.h"
#include "cli/explain_shape.h"
#include "driver/explain_target.h"
#include "support/names.h"

typedef struct {
  tvms_run *run;
  tvms_context context;
  tvms_strbuf *out;
  bool known;
} target_work;

static void work_on_target(void *argument) {
  target_work *work = argument;
  const char *text = work->run->options.target;
  tvms_strbuf why;
  tvms_strbuf_init(&why, &work->context.memory);
  const tvms_backend *backend = tvms_backend_load(&why);
  tvms_strbuf_fini(&why);  // without a plug-in `build` says why
  tvms_strbuf_init(&why, &work->context.memory);
  work->known = tvms_explain_target(&work->context, backend, text, work->out, &why);
  if (!work->known) {
    tvms_run_complain(work->run, "option '--target': %s", tvms_strbuf_text(&why));
  }
}

static bool explain_target(tvms_run *run, tvms_strbuf *out) {
  target_work work = {.run = run, .out = out};
  tvms_context_init(&work.context, &tvms_names);
  tvms_status status = tvms_memory_protect(&work.context.memory, work_on_target, &work);
  tvms_context_fini(&work.context);
  if (status != TVMS_OK) tvms_memory_unwind(run->memory, status);
  return work.known;
}

tvms_status tvms_verb_explain(tvms_run *run) {
  const char *target = run->options.target;
  if (run->options.shape || run->options.equals) return tvms_run_explain_shape(run);
  if (!run->options.paths.len && !target) {
    return tvms_run_misused(run, "no code given");
  }
  tvms_strbuf text;
  tvms_strbuf_init(&text, run->memory);
  bool known = !target || explain_target(run, &text);
  tvms_status status = tvms_run_explain(run, &text);
  return known ? status : TVMS_FAILED_IO;
}
