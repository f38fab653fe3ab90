// `tvms explain CODE`: what a diagnostic means and what to do. `tvms explain T.grid`: what a
// name of TVMScript takes, and which releases have it. `tvms explain --target host`: what is
// known of a machine.
#include "cli/findings.h"
#include "driver/explain.h"
#include "support/names.h"

static bool explain(tvms_run *run, const char *word, tvms_strbuf *out) {
  tvms_strbuf near;
  tvms_strbuf_init(&near, run->memory);
  bool known = tvms_explain(run->memory, word, out, &near);
  if (!known) {
    tvms_run_complain(run,
                      near.len
                          ? "there is no diagnostic or name '%s'; did you mean '%s'?"
                          : "there is no diagnostic or name '%s'",
                      word, tvms_strbuf_text(&near));
  }
  tvms_strbuf_fini(&near);
  return known;
}

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
  work->known = tvms_explain_target(&work->context, text, work->out, &why);
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
  if (!run->options.paths.len && !target) {
    return tvms_run_misused(run, "no code given");
  }
  tvms_strbuf text;
  tvms_strbuf_init(&text, run->memory);
  bool known = !target || explain_target(run, &text);
  for (uint32_t i = 0; i < run->options.paths.len; i++) {
    if (text.len) tvms_strbuf_putc(&text, '\n');
    known = explain(run, run->options.paths.items[i], &text) && known;
  }
  bool written = tvms_findings_show_result(run, NULL, &text);
  return written && known ? TVMS_OK : TVMS_FAILED_IO;
}
