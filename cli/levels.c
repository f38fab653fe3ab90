// --select, --ignore and --severity.
//
// Several uses of an option add up: all rules that any --select names run.
#include "cli/levels.h"

typedef bool apply_words(tvms_lint_levels *levels, const char *words,
                         tvms_strbuf *wrong);

static bool apply(tvms_run *run, const char *option, const char *words,
                  apply_words *how) {
  tvms_strbuf wrong;
  tvms_strbuf_init(&wrong, run->memory);
  bool right = how(&run->levels, words, &wrong);
  if (!right) {
    (void)tvms_run_misused(run,
                           "option '--%s': '%s' is not a lint, a warning or a note",
                           option, tvms_strbuf_text(&wrong));
  }
  tvms_strbuf_fini(&wrong);
  return right;
}

static bool apply_all(tvms_run *run, const char *option, const tvms_texts *list,
                      apply_words *how) {
  for (uint32_t i = 0; i < list->len; i++) {
    if (!apply(run, option, list->items[i], how)) return false;
  }
  return true;
}

bool tvms_run_read_levels(tvms_run *run) {
  const tvms_options *options = &run->options;
  run->levels = tvms_lint_levels_new(run->memory);
  if (options->select.len) tvms_lint_levels_clear(&run->levels);
  return apply_all(run, "select", &options->select, tvms_lint_levels_select)
         && apply_all(run, "ignore", &options->ignore, tvms_lint_levels_ignore)
         && apply_all(run, "severity", &options->severity, tvms_lint_levels_set);
}
