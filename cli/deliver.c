// --in-place, --check and --diff of the verbs that rewrite source text.
#include "cli/deliver.h"

#include "cli/files.h"
#include "cli/findings.h"
#include "driver/format.h"
#include "support/diag_ids.h"
#include "support/textdiff.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_same(const tvms_source *source, const tvms_strbuf *text) {
  return text->len == source->size
         && (!text->len || memcmp(text->text, source->text, text->len) == 0);
}

// In a format for machines it is a finding, at the first line that would change.
static void say_not_done(tvms_run *run, const tvms_source *source,
                         const tvms_strbuf *text, const char *done) {
  if (tvms_findings_are_text(run)) {
    if (!run->options.quiet) tvms_run_tell(run, "%s: not %s", source->name, done);
    return;
  }
  tvms_span line = {0, 0};
  uint32_t len = source->size < text->len ? source->size : (uint32_t)text->len;
  for (uint32_t i = 0; i < len && source->text[i] == text->text[i]; i++) {
    if (source->text[i] == '\n') line.begin = i + 1;
  }
  line.end = line.begin;
  while (line.end < source->size && source->text[line.end] != '\n') {
    line.end++;
  }
  tvms_diag_report(&run->context->diags, TVMS_D_would_change, line, done);
}

tvms_status tvms_deliver(tvms_run *run, const tvms_source *source,
                         const tvms_strbuf *text, const char *done) {
  const tvms_options *options = &run->options;
  bool same = is_same(source, text);
  if (options->diff) {
    tvms_version before = {source->name, source->text, source->size};
    tvms_version after = {source->name, text->text, text->len};
    tvms_textdiff(&run->result, before, after, run->color_result);
  }
  if (options->check) {
    if (same) return TVMS_OK;
    say_not_done(run, source, text, done);
    return TVMS_FOUND_ERRORS;
  }
  if (options->in_place) {
    if (same) return TVMS_OK;
    if (options->verbose) tvms_run_tell(run, "%s: %s", source->name, done);
    return tvms_files_replace(run, source->name, text->text, text->len);
  }
  if (!options->diff) tvms_strbuf_add(&run->result, text->text, text->len);
  return TVMS_OK;
}

static bool is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

tvms_status tvms_deliver_check(tvms_run *run, const char *done) {
  const tvms_texts *paths = &run->options.paths;
  bool several = paths->len > 1 || (paths->len && is_folder(paths->items[0]));
  if (several && !run->options.in_place && !run->options.check && !run->options.diff) {
    return tvms_run_misused(run, "several files need --in-place, --check or --diff");
  }
  for (uint32_t i = 0; run->options.in_place && i < paths->len; i++) {
    if (strcmp(paths->items[i], "-") == 0)
      return tvms_run_misused(run, "standard input cannot be %s in place", done);
  }
  return TVMS_OK;
}

static bool read_number(const char **text, uint32_t *out) {
  char *end;
  unsigned long number = strtoul(*text, &end, 10);
  bool right = end > *text && **text >= '0' && **text <= '9' && number >= 1
               && number < UINT32_MAX;
  *out = (uint32_t)number;
  *text = end;
  return right;
}

bool tvms_deliver_read_lines(tvms_run *run) {
  const char *text = run->options.lines, *at = text;
  if (!text) return true;
  bool right = read_number(&at, &run->first_line) && *at++ == ':'
               && read_number(&at, &run->last_line) && !*at
               && run->first_line <= run->last_line;
  if (!right) {
    (void)tvms_run_misused(run, "option '--lines' takes FIRST:LAST, not '%s'", text);
    return false;
  }
  const tvms_texts *paths = &run->options.paths;
  if (paths->len == 1 && !is_folder(paths->items[0])) return true;
  (void)tvms_run_misused(run, "option '--lines' goes with one file");
  return false;
}

static tvms_format_options layout(const tvms_run *run) {
  static const tvms_format_quotes quotes[] = {
      [TVMS_QUOTES_UNSET] = TVMS_FORMAT_DOUBLE,
      [TVMS_QUOTES_DOUBLE] = TVMS_FORMAT_DOUBLE,
      [TVMS_QUOTES_SINGLE] = TVMS_FORMAT_SINGLE,
      [TVMS_QUOTES_PRESERVE] = TVMS_FORMAT_PRESERVE,
  };
  return (tvms_format_options){
      .width = tvms_config_width(run->config, run->config_path),
      .quotes = quotes[run->config->quotes],
      .joins = run->config->joins,
  };
}

tvms_status tvms_deliver_formatted(tvms_run *run, tvms_source *source) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &run->context->memory);
  run->files++;
  tvms_status status =
      run->last_line ? tvms_format_source_lines(run->context, source, layout(run),
                                                run->first_line, run->last_line, &text)
                     : tvms_format_source(run->context, source, layout(run), &text);
  if (status == TVMS_OK) {
    run->changed += !is_same(source, &text);
    status = tvms_deliver(run, source, &text, "formatted");
  } else {
    run->failed++;
  }
  tvms_strbuf_fini(&text);
  return status;
}
