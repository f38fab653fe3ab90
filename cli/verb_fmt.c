// `tvms fmt FILE...`: one layout for source text.
#include "cli/deliver.h"
#include "cli/files.h"
#include "cli/settings.h"
#include "driver/format.h"

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

static tvms_status format_source(tvms_run *run, tvms_source *source) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &run->context->memory);
  tvms_status status = tvms_format_source(run->context, source, layout(run), &text);
  if (status == TVMS_OK) status = tvms_deliver(run, source, &text, "formatted");
  tvms_strbuf_fini(&text);
  return status;
}

tvms_status tvms_verb_fmt(tvms_run *run) {
  run->reads_python = true;
  if (!tvms_settings_open(run)) return TVMS_FAILED_IO;
  tvms_status status = tvms_deliver_check(run, "formatted");
  return status == TVMS_OK ? tvms_files_each(run, format_source) : status;
}
