// What `tvms opt` shows between passes.
#include "cli/pass_notes.h"

#include "driver/optimize.h"
#include "passes/tables.h"
#include "support/json.h"
#include "support/textdiff.h"

#include <string.h>
#include <unistd.h>

static void write_note(tvms_run *run, const tvms_strbuf *text) {
  tvms_run_write(run, STDERR_FILENO, "standard error", text->text, text->len);
}

// Does an option name this pass, in either spelling?
static bool names_pass(const char *TVMS_NULLABLE option, const tvms_pass *pass) {
  char kebab[TVMS_KEBAB_SIZE];
  tvms_pass_kebab(pass->name, kebab);
  return option && (!strcmp(option, pass->name) || !strcmp(option, kebab));
}

// The module, under a line that says where it is.
static void show_module(const tvms_pass_notes *o, const char *where, const char *pass,
                        const tvms_module *module) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &o->run->context->memory);
  tvms_strbuf_printf(&text, "# %s %s\n", where, pass);
  tvms_optimize_print(o->program, module, o->dialect, &text);
  write_note(o->run, &text);
  tvms_strbuf_fini(&text);
}

void tvms_pass_notes_before(void *self, const tvms_pass_step *step,
                            const tvms_module *module) {
  tvms_pass_notes *o = self;
  if (names_pass(o->run->options.print_before, step->pass))
    show_module(o, "before", step->pass->name, module);
  if (!o->run->options.print_changed) return;
  o->before.len = 0;
  tvms_optimize_print(o->program, module, o->dialect, &o->before);
}

static void show_change(const tvms_pass_notes *o, const char *pass,
                        const tvms_module *module, bool changed) {
  tvms_strbuf after, text;
  tvms_strbuf_init(&after, &o->run->context->memory);
  tvms_strbuf_init(&text, &o->run->context->memory);
  tvms_strbuf_printf(&text, "# after %s%s\n", pass, changed ? "" : ": nothing changed");
  if (changed) tvms_optimize_print(o->program, module, o->dialect, &after);
  if (changed)
    tvms_textdiff(&text, (tvms_version){"before", o->before.text, o->before.len},
                  (tvms_version){"after", after.text, after.len}, false);
  write_note(o->run, &text);
  tvms_strbuf_fini(&text);
  tvms_strbuf_fini(&after);
}

void tvms_pass_notes_after(void *self, const tvms_pass_step *step,
                           const tvms_module *module, bool changed, double seconds) {
  tvms_pass_notes *o = self;
  (void)seconds;
  if (o->bisect) tvms_bisect_after(o->bisect, step, changed);
  if (names_pass(o->run->options.print_after, step->pass))
    show_module(o, "after", step->pass->name, module);
  if (o->run->options.print_changed) show_change(o, step->pass->name, module, changed);
}

void tvms_pass_notes_begin(void *self, tvms_pass_phase phase, const char *name) {
  tvms_timing_begin(&((tvms_pass_notes *)self)->timing, phase, name);
}

void tvms_pass_notes_end(void *self) {
  tvms_timing_end(&((tvms_pass_notes *)self)->timing);
}

// In a document as a result of the file, else on standard error.
static bool is_documented(const tvms_run *run) {
  return run->reports && tvms_report_takes_objects(&run->report);
}

void tvms_pass_notes_timing(const tvms_pass_notes *o) {
  tvms_run *run = o->run;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &run->context->memory);
  if (is_documented(run)) {
    tvms_timing_json(&o->timing, run->context->diags.source->name, &text);
    tvms_report_add_object(&run->report, text.text, text.len);
  } else {
    tvms_timing_show(&o->timing, &text);
    write_note(run, &text);
  }
  tvms_strbuf_fini(&text);
}

static void show_numbers(const tvms_pass_log *log, tvms_strbuf *out) {
  for (uint32_t i = 0; i < log->numbers.len; i++) {
    const tvms_pass_number *number = &log->numbers.items[i];
    tvms_strbuf_printf(out, "%12lld  %s: %s\n", (long long)number->value, number->pass,
                       number->name);
  }
}

static void put_numbers(const tvms_pass_log *log, const char *file, tvms_strbuf *out) {
  tvms_json json;
  tvms_json_init(&json, out);
  tvms_json_open(&json, '{');
  tvms_json_put_text(&json, "file", file);
  tvms_json_key(&json, "statistics");
  tvms_json_open(&json, '[');
  for (uint32_t i = 0; i < log->numbers.len; i++) {
    const tvms_pass_number *number = &log->numbers.items[i];
    tvms_json_open(&json, '{');
    tvms_json_put_text(&json, "pass", number->pass);
    tvms_json_put_text(&json, "name", number->name);
    tvms_json_put_int(&json, "value", number->value);
    tvms_json_close(&json, '}');
  }
  tvms_json_close(&json, ']');
  tvms_json_close(&json, '}');
}

void tvms_pass_notes_statistics(const tvms_pass_notes *o) {
  tvms_run *run = o->run;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &run->context->memory);
  if (is_documented(run)) {
    put_numbers(&o->log, run->context->diags.source->name, &text);
    tvms_report_add_object(&run->report, text.text, text.len);
  } else {
    show_numbers(&o->log, &text);
    write_note(run, &text);
  }
  tvms_strbuf_fini(&text);
}

// The pass that an option names; NULL after a complaint.
static const tvms_pass *TVMS_NULLABLE pass_of(tvms_run *run, const char *option,
                                              const char *name) {
  const tvms_pass *pass = tvms_pass_find(name, strlen(name));
  if (!pass) tvms_run_misused(run, "option '%s': there is no pass '%s'", option, name);
  return pass;
}

bool tvms_pass_notes_init(tvms_pass_notes *o) {
  tvms_run *run = o->run;
  const char *name = run->options.remarks, *before = run->options.print_before,
             *after = run->options.print_after;
  o->log = (tvms_pass_log){.memory = &run->context->memory, .remarks = name != NULL};
  tvms_timing_init(&o->timing, &run->context->arena);
  if (before && !pass_of(run, "--print-before", before)) return false;
  if (after && !pass_of(run, "--print-after", after)) return false;
  if (!name || !*name) return true;
  o->log.only = pass_of(run, "--remarks", name);
  return o->log.only != NULL;
}
