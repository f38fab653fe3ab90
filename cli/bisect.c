// Looking for the pass that makes a command fail.
#include "cli/bisect.h"

#include "cli/files.h"
#include "printer/print.h"
#include "support/diag_ids.h"

static void print(const tvms_bisect *b, tvms_strbuf *out) {
  tvms_print_options options = {.dialect = b->dialect};
  tvms_print_program(b->program, &options, out);
}

bool tvms_bisect_open(tvms_bisect *b) {
  tvms_context *context = b->run->context;
  tvms_strbuf_init(&b->good, &context->memory);
  if (!tvms_command_open(&b->command, b->run, b->run->options.bisect)) {
    b->failed = true;
    return false;
  }
  print(b, &b->good);
  char why[96];
  tvms_command_result result = tvms_command_try(&b->command, b->run, &b->good, why);
  b->failed = result == TVMS_COMMAND_IMPOSSIBLE;
  if (result == TVMS_COMMAND_BAD)
    tvms_diag_report(&context->diags, TVMS_D_bisect_nothing, (tvms_span){0, 0},
                     b->command.text, why);
  return result == TVMS_COMMAND_GOOD;
}

// --save PREFIX: the modules in front of the pass and behind it.
static void save(const tvms_bisect *b, const char *suffix, const tvms_strbuf *text) {
  const char *prefix = b->run->options.save;
  if (!prefix) return;
  tvms_strbuf path;
  tvms_strbuf_init(&path, &b->run->context->memory);
  tvms_strbuf_printf(&path, "%s.%s.tvms", prefix, suffix);
  tvms_run_worsen(b->run, tvms_files_create(b->run, tvms_strbuf_text(&path), text->text,
                                            text->len));
  tvms_strbuf_fini(&path);
}

static void report(tvms_bisect *b, const tvms_pass_step *step, const char *why) {
  tvms_diags *diags = &b->run->context->diags;
  tvms_source *source = diags->source;
  uint32_t index = (uint32_t)(step - b->pipeline->steps) + 1;
  diags->source = b->pipeline->source;
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_bisect_found, step->span, b->command.text,
                       step->pass->name, index, b->pipeline->count, why);
  diags->source = source;
  if (b->run->options.save)
    tvms_diag_remark(diags, diag, "the modules are in %s.before.tvms and %s.after.tvms",
                     b->run->options.save, b->run->options.save);
  b->found = true;
}

void tvms_bisect_after(tvms_bisect *b, const tvms_pass_step *step, bool changed) {
  b->pass++;
  if (!changed || b->found || b->failed || b->run->context->diags.errors) return;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &b->run->context->memory);
  print(b, &text);
  char why[96];
  tvms_command_result result = tvms_command_try(&b->command, b->run, &text, why);
  b->failed = result == TVMS_COMMAND_IMPOSSIBLE;
  if (result == TVMS_COMMAND_BAD) {
    save(b, "before", &b->good);
    save(b, "after", &text);
    report(b, step, why);
  }
  tvms_strbuf_fini(&b->good);
  b->good = text;
}

void tvms_bisect_close(tvms_bisect *b) {
  if (!b->found && !b->failed && !b->run->context->diags.errors)
    tvms_strbuf_printf(&b->run->result, "'%s' succeeds behind each of %u pass%s\n",
                       b->command.text, b->pass, b->pass == 1 ? "" : "es");
  tvms_command_close(&b->command);
  tvms_strbuf_fini(&b->good);
}
