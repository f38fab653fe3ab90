// `tvms fmt FILE...`: one layout for source text.
#include "cli/deliver.h"
#include "cli/files.h"
#include "driver/format.h"

static tvms_status format_source(tvms_run *run, tvms_source *source) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &run->context->memory);
  tvms_status status = tvms_format_source(run->context, source, &text);
  if (status == TVMS_OK) status = tvms_deliver(run, source, &text, "formatted");
  tvms_strbuf_fini(&text);
  return status;
}

tvms_status tvms_verb_fmt(tvms_run *run) {
  run->reads_python = true;
  tvms_status status = tvms_deliver_check(run, "formatted");
  return status == TVMS_OK ? tvms_files_each(run, format_source) : status;
}
