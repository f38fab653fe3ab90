// `tvms check FILE...`: read, infer, verify; --fix and --diff.
#include "cli/counts.h"
#include "cli/deliver.h"
#include "cli/files.h"
#include "cli/findings.h"
#include "cli/levels.h"
#include "cli/program.h"
#include "cli/settings.h"
#include "lint/suppress_add.h"
#include "support/edits.h"
#include "support/textdiff.h"
#include "support/trial.h"

#include <stdio.h>
#include <unistd.h>

// Mending one finding may uncover another; this many times at most.
enum { MOST_ROUNDS = 10 };

static void read_source(tvms_run *run, tvms_source *source) {
  run->files++;
  run->python_files += tvms_source_is_python(source);
  tvms_run_each_module(run, source, NULL, NULL);
  tvms_diags_sort(&run->context->diags);
}

static tvms_status check_source(tvms_run *run, tvms_source *source) {
  read_source(run, source);
  if (run->options.statistics) tvms_run_count_findings(run);
  return TVMS_OK;
}

// Appends the text with every fix that is asked for. Returns how many findings are mended by that.
static uint32_t apply_fixes(tvms_run *run, const tvms_source *source,
                            tvms_strbuf *out) {
  tvms_edits edits;
  tvms_edits_init(&edits, &run->context->memory, source);
  uint32_t mended =
      tvms_edits_add_fixes(&edits, &run->context->diags, run->options.unsafe_fixes);
  tvms_edits_apply(&edits, out);
  tvms_edits_fini(&edits);
  return mended;
}

static tvms_status diff_source(tvms_run *run, tvms_source *source) {
  read_source(run, source);
  tvms_strbuf mended;
  tvms_strbuf_init(&mended, &run->context->memory);
  if (apply_fixes(run, source, &mended)) {
    tvms_version before = {source->name, source->text, source->size};
    tvms_version after = {source->name, mended.text, mended.len};
    tvms_textdiff(&run->result, before, after, run->color_result);
  }
  return TVMS_OK;
}

// Applies what can be applied. Findings are shown only when nothing is left to mend.
static tvms_status fix_source(tvms_run *run, tvms_source *source) {
  tvms_trial trial;
  tvms_trial_begin(&trial, &run->context->diags);
  read_source(run, source);
  tvms_strbuf mended;
  tvms_strbuf_init(&mended, &run->context->memory);
  uint32_t count = run->last_round ? 0 : apply_fixes(run, source, &mended);
  run->mended = count > 0;
  if (!count) {
    tvms_trial_keep(&trial);
    if (run->options.statistics) tvms_run_count_findings(run);
    return TVMS_OK;
  }
  tvms_trial_drop(&trial);
  if (run->options.verbose) {
    tvms_run_tell(run, "%s: %u findings mended", source->name, count);
  }
  return tvms_files_replace(run, source->name, mended.text, mended.len);
}

// Writes comments. What is left is found by another look at the file.
static tvms_status suppress_source(tvms_run *run, tvms_source *source) {
  tvms_trial trial;
  tvms_trial_begin(&trial, &run->context->diags);
  tvms_run_each_module(run, source, NULL, NULL);
  tvms_diags_sort(&run->context->diags);
  tvms_edits edits;
  tvms_edits_init(&edits, &run->context->memory, source);
  tvms_strbuf text;
  tvms_strbuf_init(&text, &run->context->memory);
  uint32_t count = tvms_lint_suppress_all(run->context, source, &edits);
  tvms_edits_apply(&edits, &text);
  tvms_edits_fini(&edits);
  tvms_trial_drop(&trial);
  run->suppressed += count;
  if (!count) return TVMS_OK;
  return tvms_files_replace(run, source->name, text.text, text.len);
}

static const char *plural(uint32_t count) {
  return count == 1 ? "" : "s";
}

static void fix_file(tvms_run *run, const char *path) {
  if (run->options.add_noqa) {
    tvms_load_counts counts = run->counts;
    if (tvms_files_read_one(run, path, suppress_source) > TVMS_FOUND_ERRORS) return;
    run->counts = counts;
    (void)tvms_files_read_one(run, path, check_source);
    return;
  }
  for (uint32_t round = 1; round <= MOST_ROUNDS; round++) {
    run->last_round = round == MOST_ROUNDS;
    if (tvms_files_read_one(run, path, fix_source) > TVMS_FOUND_ERRORS || !run->mended)
      return;
  }
}

static tvms_status format_file(tvms_run *run, tvms_source *source) {
  tvms_trial trial;
  tvms_trial_begin(&trial, &run->context->diags);
  tvms_status status = tvms_deliver_formatted(run, source);
  // Mistakes in the text have been shown.
  if (status == TVMS_FOUND_ERRORS)
    tvms_trial_drop(&trial);
  else
    tvms_trial_keep(&trial);
  return status;
}

static tvms_status fix_files(tvms_run *run) {
  if (!run->options.paths.len) return tvms_run_misused(run, "no file given");
  tvms_texts files = tvms_files_collect(run);
  for (uint32_t i = 0; i < files.len; i++) {
    if (strcmp(files.items[i], "-") == 0) {
      return tvms_run_misused(run,
                              "standard input cannot be changed in place; use --diff");
    }
    fix_file(run, files.items[i]);
    // What is wrong with the program does not keep its text from being laid out.
    run->options.in_place = run->options.fmt;
    if (run->options.fmt) tvms_files_read_one(run, files.items[i], format_file);
  }
  if (run->options.add_noqa && !run->options.quiet)
    tvms_run_tell(run, "%u finding%s suppressed", run->suppressed,
                  plural(run->suppressed));
  return run->status;
}

// Silence means that all is well only if something was read: in Python files, which may hold
// nothing of TVMScript or what only Python knows, that is said.
static void tell_counts(tvms_run *run) {
  bool asked = run->python_files && !run->options.quiet && tvms_findings_are_text(run);
  if (!asked || run->status >= TVMS_FAILED_IO) return;
  const tvms_load_counts *counts = &run->counts;
  const struct {
    uint32_t count;
    const char *how;
  } kinds[] = {{counts->general, "for any values"},
               {counts->in_part, "in part"},
               {counts->assumed, "with assumptions"}};
  if (!counts->definitions) {
    tvms_run_tell(run, "no TVMScript found in %u file%s", run->files,
                  plural(run->files));
    return;
  }
  char rest[128] = "";
  for (size_t i = 0, len = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (!kinds[i].count) continue;
    len += (size_t)snprintf(rest + len, sizeof rest - len, ", %u %s", kinds[i].count,
                            kinds[i].how);
  }
  tvms_run_tell(run, "%u definition%s read%s", counts->definitions,
                plural(counts->definitions), rest);
}

static tvms_status check_files(tvms_run *run) {
  if (run->options.fmt && (!run->options.fix || run->options.diff))
    return tvms_run_misused(run, "option '--fmt' goes with --fix");
  if (run->options.diff) return tvms_files_each(run, diff_source);
  if (run->options.fix || run->options.add_noqa) return fix_files(run);
  tvms_status status = tvms_files_each(run, check_source);
  tell_counts(run);
  return status;
}

tvms_status tvms_verb_check(tvms_run *run) {
  run->reads_python = true;
  if (!tvms_run_check_dialects(run, false)) return TVMS_FAILED_IO;
  if (!tvms_run_read_levels(run) || !tvms_settings_open(run)) return TVMS_FAILED_IO;
  if (run->options.unsafe_fixes && !run->options.fix && !run->options.diff)
    return tvms_run_misused(run, "option '--unsafe-fixes' needs '--fix' or '--diff'");
  tvms_status status = check_files(run);
  if (run->options.statistics && !tvms_run_show_counts(run)) return TVMS_FAILED_IO;
  if (run->options.exit_zero && run->status == TVMS_FOUND_ERRORS)
    status = run->status = TVMS_OK;
  return status;
}
