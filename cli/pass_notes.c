// What `tvms opt` shows between passes.
#include "cli/pass_notes.h"

#include "driver/optimize.h"
#include "passes/tables.h"
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
  if (o->run->options.timing) {
    tvms_timing row = {step->pass->name, seconds};
    tvms_vec_push(&o->run->context->memory, &o->timings, row);
  }
  if (names_pass(o->run->options.print_after, step->pass))
    show_module(o, "after", step->pass->name, module);
  if (o->run->options.print_changed) show_change(o, step->pass->name, module, changed);
}
