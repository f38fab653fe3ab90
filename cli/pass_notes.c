// What `tvms opt` shows between passes.
#include "cli/pass_notes.h"

#include "cli/pass_names.h"
#include "driver/optimize.h"
#include "passes/tables.h"
#include "support/json.h"
#include "support/textdiff.h"

#include <string.h>
#include <unistd.h>

static void write_note(tvms_run *run, const tvms_strbuf *text) {
  tvms_run_write(run, STDERR_FILENO, "standard error", text->text, text->len);
}

// Does --print-only name a function? Commas stand between names.
static bool is_wanted(const tvms_pass_notes *o, const char *name) {
  const tvms_texts *only = &o->run->options.print_only;
  for (uint32_t i = 0; i < only->len; i++) {
    for (const char *at = only->items[i]; *at;) {
      size_t len = strcspn(at, ",");
      if (len == strlen(name) && memcmp(at, name, len) == 0) return true;
      at += len + (at[len] == ',');
    }
  }
  return !only->len;
}

// Appends the module, or what --print-only leaves of it: the others are declared and not defined.
static void print(const tvms_pass_notes *o, const tvms_module *module,
                  tvms_strbuf *out) {
  tvms_context *context = o->run->context;
  size_t size = module->member_count * sizeof *module->members;
  tvms_module part = *module;
  part.members = tvms_memory_alloc(&context->memory, size + 1);
  if (size) memcpy(part.members, module->members, size);
  uint32_t wanted = 0;
  for (uint32_t i = 0; i < part.member_count; i++) {
    if (is_wanted(o, tvms_symbol_text(context, part.members[i].name)))
      wanted++;
    else
      part.members[i].function = NULL;
  }
  if (wanted) tvms_optimize_print(o->program, &part, o->dialect, out);
  tvms_memory_free(&context->memory, part.members);
}

// The module, under a line that says where it is.
static void show_module(const tvms_pass_notes *o, const char *where, const char *pass,
                        const tvms_module *module) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &o->run->context->memory);
  tvms_strbuf_printf(&text, "# %s %s\n", where, pass);
  print(o, module, &text);
  write_note(o->run, &text);
  tvms_strbuf_fini(&text);
}

void tvms_pass_notes_before(void *self, const tvms_pass_step *step,
                            const tvms_module *module) {
  tvms_pass_notes *o = self;
  if (tvms_pass_names_have(&o->run->options.print_before, step->pass))
    show_module(o, "before", step->pass->name, module);
  if (!o->run->options.print_changed) return;
  o->before.len = 0;
  print(o, module, &o->before);
}

static void show_change(const tvms_pass_notes *o, const char *pass,
                        const tvms_module *module, bool changed) {
  tvms_strbuf after, text;
  tvms_strbuf_init(&after, &o->run->context->memory);
  tvms_strbuf_init(&text, &o->run->context->memory);
  if (changed) print(o, module, &after);
  if (after.len == o->before.len
      && (!after.len || memcmp(after.text, o->before.text, after.len) == 0))
    changed = false;
  tvms_strbuf_printf(&text, "# after %s%s\n", pass, changed ? "" : ": nothing changed");
  if (changed)
    tvms_textdiff(
        &text,
        (tvms_version){"before", o->before.text ? o->before.text : "", o->before.len},
        (tvms_version){"after", tvms_strbuf_text(&after), after.len}, false);
  write_note(o->run, &text);
  tvms_strbuf_fini(&text);
  tvms_strbuf_fini(&after);
}

// What a pass left behind that failed is nothing to look at.
static void show_failure(const tvms_pass_notes *o, const char *pass) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &o->run->context->memory);
  tvms_strbuf_printf(&text, "# %s failed\n", pass);
  write_note(o->run, &text);
  tvms_strbuf_fini(&text);
}

void tvms_pass_notes_after(void *self, const tvms_pass_step *step,
                           const tvms_module *module, bool changed, double seconds) {
  tvms_pass_notes *o = self;
  (void)seconds;
  if (o->bisect) tvms_bisect_after(o->bisect, step, changed);
  bool shown = tvms_pass_names_have(&o->run->options.print_after, step->pass);
  if (o->run->context->diags.errors) {
    if (shown || o->run->options.print_changed) show_failure(o, step->pass->name);
    return;
  }
  if (shown) show_module(o, "after", step->pass->name, module);
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

bool tvms_pass_notes_init(tvms_pass_notes *o, const tvms_pipeline *pipeline) {
  tvms_run *run = o->run;
  const tvms_options *given = &run->options;
  const char *name = given->remarks;
  tvms_texts remarks = {.items = &name, .len = name && *name};
  o->log = (tvms_pass_log){.memory = &run->context->memory, .remarks = name != NULL};
  tvms_timing_init(&o->timing, &run->context->arena);
  if (remarks.len) o->log.only = tvms_pass_find(name, strlen(name));
  return tvms_pass_names_check(run, "--print-before", &given->print_before, pipeline)
         && tvms_pass_names_check(run, "--print-after", &given->print_after, pipeline)
         && tvms_pass_names_check(run, "--remarks", &remarks, NULL);
}
