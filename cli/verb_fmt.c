// `tvms fmt FILE...`: one layout for source text; comments, meaning and dialect stay.
#include "cli/files.h"
#include "cli/textdiff.h"
#include "printer/format.h"

#include <sys/stat.h>

static bool is_same(const tvms_source *source, const tvms_strbuf *text) {
  return text->len == source->size
         && (!text->len || memcmp(text->text, source->text, text->len) == 0);
}

// What the options want done with the formatted text.
static tvms_status deliver(tvms_run *run, const tvms_source *source,
                           tvms_strbuf *text) {
  const tvms_options *options = &run->options;
  bool same = is_same(source, text);
  if (options->diff) {
    tvms_version before = {source->name, source->text, source->size};
    tvms_version after = {source->name, text->text, text->len};
    tvms_textdiff(&run->result, before, after, run->color_result);
  }
  if (options->check) {
    if (!same && !options->quiet) tvms_complain(run, "%s: not formatted", source->name);
    return same ? TVMS_OK : TVMS_FOUND_ERRORS;
  }
  if (options->in_place) {
    if (same) return TVMS_OK;
    if (options->verbose) tvms_complain(run, "%s: formatted", source->name);
    return tvms_replace_file(run, source->name, text->text, text->len);
  }
  if (!options->diff) tvms_strbuf_add(&run->result, text->text, text->len);
  return TVMS_OK;
}

static tvms_status format_source(tvms_run *run, tvms_source *source) {
  tvms_surface surface;
  tvms_surface_parse(&surface, run->context, source);
  tvms_strbuf text;
  tvms_strbuf_init(&text, &run->context->memory);
  tvms_status status = tvms_format_checked(&surface, (tvms_format_options){0}, &text);
  if (status == TVMS_OK) status = deliver(run, source, &text);
  return status;
}

static bool is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

tvms_status tvms_verb_fmt(tvms_run *run) {
  const tvms_texts *paths = &run->options.paths;
  bool several = paths->len > 1 || (paths->len && is_folder(paths->items[0]));
  if (several && !run->options.in_place && !run->options.check && !run->options.diff) {
    return tvms_misused(run, "several files need --in-place, --check or --diff");
  }
  for (uint32_t i = 0; run->options.in_place && i < paths->len; i++) {
    if (strcmp(paths->items[i], "-") == 0) {
      return tvms_misused(run, "standard input cannot be formatted in place");
    }
  }
  return tvms_each_file(run, format_source);
}
