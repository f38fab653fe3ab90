// `tvms fmt FILE...`: one layout for source text; comments, meaning and dialect stay.
#include "cli/deliver.h"
#include "cli/files.h"
#include "printer/format.h"

static tvms_status format_source(tvms_run *run, tvms_source *source) {
  tvms_surface surface;
  tvms_surface_parse(&surface, run->context, source);
  tvms_strbuf text;
  tvms_strbuf_init(&text, &run->context->memory);
  tvms_status status = tvms_format_checked(&surface, (tvms_format_options){0}, &text);
  if (status == TVMS_OK) status = tvms_deliver(run, source, &text, "formatted");
  return status;
}

tvms_status tvms_verb_fmt(tvms_run *run) {
  tvms_status status = tvms_check_delivery(run, "formatted");
  return status == TVMS_OK ? tvms_each_file(run, format_source) : status;
}
